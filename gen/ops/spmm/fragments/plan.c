/* How the plan of the solver `fragments` follows from a point, and what fields have against each other. */
#include "ops/spmm/fragments/fragments.h"
#include "ops/spmm/by_columns.h"

/* Bytes of shared memory of a thread block of sm_90a: at most; beside its own; where another one has as
   many. */
enum { ROOM = 227 << 10, RESERVED = 1 << 10, HALF_ROOM = (ROOM - RESERVED) / 2 };

bool fragments_are_paired(const fragments_plan *p) {
    enum { FEW_SUMS = 32, MOST_COLUMNS = 128 /* whose wgmma ptxas fits into the registers at launch */ };
    const bool one = p->consumers == 1 && p->base.tile_n <= MOST_COLUMNS,
               two = p->consumers == 2 && fragments_sums(p) <= FEW_SUMS;
    return (one || two) && fragments_shared_bytes(p) <= HALF_ROOM;
}

/* -- Layout --------------------------------------------------------------------------------------------- */

shared_tile fragments_b(const fragments_plan *p) {
    return (shared_tile){.rows = p->base.tile_n, .k = FRAGMENTS_K, .bytes = 1, .span = FRAGMENTS_K};
}

int fragments_values_at(const fragments_plan *p) {
    const shared_tile b = fragments_b(p);
    return tile_bytes(&b);
}

int fragments_bits_at(const fragments_plan *p) { return fragments_values_at(p) + p->tile_rows * FRAGMENTS_K; }

int fragments_stage_bytes(const fragments_plan *p) {
    const int bytes = fragments_bits_at(p) + fragments_bits(p);
    return (bytes + TILE_ALIGN - 1) / TILE_ALIGN * TILE_ALIGN;
}

/* Octets of columns of a lane's blocks of rows count as octets of one block: so a slice has all rows of some
   columns. */
exchange_shape fragments_exchange(const fragments_plan *p) {
    return exchange_shape_of(p->parts, p->consumers, 1, p->base.tile_n / TILE_LINES * p->blocks, p->blocks);
}

int fragments_zeros_at(const fragments_plan *p) {
    const int stages = p->stages * fragments_stage_bytes(p);
    if (!fragments_are_split(p)) return stages;
    const exchange_shape shape = fragments_exchange(p);
    return exchange_bytes(&shape) > stages ? exchange_bytes(&shape) : stages;
}

int fragments_gap(const fragments_plan *p) {
    return fragments_zeros_at(p) + FRAGMENTS_ZEROS - p->stages * fragments_stage_bytes(p);
}

int fragments_shared_bytes(const fragments_plan *p) {
    return pipeline_bytes(p->stages, fragments_stage_bytes(p)) + fragments_gap(p) +
           (fragments_are_split(p) ? EXCHANGE_BARRIER_BYTES : 0);
}

stream_sums fragments_pieces(const fragments_plan *p) {
    return (stream_sums){.threads = p->consumers * WARPGROUP,
                         .blocks = p->blocks,
                         .sums = p->base.tile_n / 2,
                         .most = (fragments_are_paired(p) ? 2 : 1) * STREAM_MULTIPROCESSORS};
}

int64_t fragments_stream_k(const fragments_plan *p) {
    const stream_sums pieces = fragments_pieces(p);
    return stream_most_stages(&pieces) * FRAGMENTS_K;
}

/* -- Checks --------------------------------------------------------------------------------------------- */

/* Leaves a form in any case, so that the rest of the plan can be made. */
static void plan_types(fragments_plan *plan, mc_complaints *complaints) {
    const spmm_arithmetic *math = &plan->base.math;
    plan->form = math->kind->real ? NULL : wgmma_form_of(math->lhs, math->rhs, "s32");
    if (plan->form) return;
    complain(complaints, F_LHS, "staging = \"fragments\" multiplies s8 and u8, not \"%s\" by \"%s\"",
             math->lhs, math->rhs);
    plan->form = wgmma_form_of("s8", "s8", "s32");
}

enum { MOST_CONSUMERS = 3 };

static void plan_tile(const int64_t *point, fragments_plan *plan, mc_complaints *complaints) {
    spmm_plan *base = &plan->base;
    if (base->tile_n < 32 || base->tile_n > 256)
        complain(complaints, F_TILE_N, "staging = \"fragments\" wants 32 to 256 columns, not %d",
                 base->tile_n);
    if (base->vec % TILE_LINES)
        complain(complaints, F_VEC, "staging = \"fragments\" wants vectors of 8 or 16 rows, not %d",
                 base->vec);
    const bool whole = base->warps % WARPGROUP_WARPS == 0 && base->warps <= MOST_CONSUMERS * WARPGROUP_WARPS;
    if (!whole)
        complain(complaints, F_WARPS, "staging = \"fragments\" wants 4, 8 or 12 warps, not %d", base->warps);
    base->tile_n = base->tile_n < 32 ? 32 : base->tile_n > 256 ? 256 : base->tile_n;
    base->vec = base->vec % TILE_LINES ? TILE_LINES : base->vec;
    plan->consumers = whole ? base->warps / WARPGROUP_WARPS : 1;
    plan->tile_rows = (int)point[F_BLOCK_ROWS];
    plan->blocks = plan->tile_rows / WARPGROUP_ROWS / plan->consumers;
}

static void check_sums(fragments_plan *plan, mc_complaints *complaints) {
    const int rows = plan->tile_rows, most = plan->consumers == MOST_CONSUMERS ? 64 : 128;
    if (plan->blocks * plan->consumers * WARPGROUP_ROWS != rows || plan->blocks < 1)
        complain(complaints, F_BLOCK_ROWS, "%d rows for %d warps: they have 16 each, or a multiple", rows,
                 plan->base.warps);
    else if (plan->blocks > FRAGMENTS_BLOCKS || fragments_sums(plan) > most)
        complain(complaints, F_BLOCK_ROWS, "%d x %d sums of %d warps: too many for their registers", rows,
                 plan->base.tile_n, plan->base.warps);
    else return;
    plan->blocks = 1, plan->tile_rows = plan->consumers * WARPGROUP_ROWS;
}

static void check_store(const fragments_plan *plan, mc_complaints *complaints) {
    if (fragments_store_rows(plan) > 1 && plan->base.align < 2 * WORD)
        complain(complaints, F_ALIGN, "C is stored four elements at a time, which wants %d", 2 * WORD);
}

/* A slice of the sums is of whole octets of columns. */
static void check_parts(fragments_plan *plan, mc_complaints *complaints) {
    const int most = plan->base.tile_n / TILE_LINES;
    if (plan->parts <= most) return;
    complain(complaints, F_PARTS, "%d thread blocks for %d columns: at most %d, which finish 8 each",
             plan->parts, plan->base.tile_n, most);
    plan->parts = most;
}

static void check_stream(fragments_plan *plan, mc_complaints *complaints) {
    const int64_t most = fragments_stream_k(plan), k = plan->base.k;
    if (!plan->stream) return;
    if (fragments_are_split(plan))
        complain(complaints, F_STREAM_K, "tiles are dealt out along k in one way: parts = 1");
    if (k > most)
        complain(complaints, F_K, "%lld: with stream_k at most %lld", (long long)k, (long long)most);
    plan->parts = 1;
}

static void check_room(const fragments_plan *plan, mc_complaints *complaints) {
    const int wanted = fragments_shared_bytes(plan);
    if (wanted > ROOM)
        complain(complaints, F_STAGES, "%d stages of %d bytes: %d bytes of shared memory, %d there are",
                 plan->stages, fragments_stage_bytes(plan), wanted, ROOM);
}

/* -- Plan ----------------------------------------------------------------------------------------------- */

_Static_assert(sizeof(fragments_plan) <= MC_PLAN_BYTES, "a plan is made where there are MC_PLAN_BYTES");

void spmm_fragments_make_plan(const int64_t *point, void *out, mc_complaints *complaints) {
    fragments_plan *plan = out;
    spmm_plan_problem(point, false, &plan->base, complaints);
    if (!mc_archs[point[FIELD_ARCH]].wgmma)
        complain(complaints, F_STAGING, "\"fragments\" wants arch = \"sm_90a\"");
    plan->stages = (int)point[F_STAGES];
    plan->parts = (int)point[F_PARTS];
    plan->stream = point[F_STREAM_K] != 0;
    plan_types(plan, complaints);
    plan_tile(point, plan, complaints);
    check_sums(plan, complaints);
    check_store(plan, complaints);
    check_parts(plan, complaints);
    check_stream(plan, complaints);
    spmm_check_by_columns(point, plan->base.staging_name, complaints);
    check_room(plan, complaints);
    plan->base.threads = roles_threads(plan->consumers, 0);
    plan->base.shared_bytes = (unsigned)fragments_shared_bytes(plan);
}
