/* How the plan of the solver `expand` follows from a point, and what fields have against each other. */
#include "ops/spmm/expand/expand.h"
#include "ops/spmm/by_columns.h"
#include "parts/emit.h"

static void check_fields(const int64_t *point, const spmm_plan *base, mc_complaints *complaints) {
    spmm_check_by_columns(point, base->staging_name, complaints);
    if (point[F_WARPS] != WARPGROUP_WARPS)
        complain(complaints, F_WARPS, "its warps follow from tile_n: leave it out");
    if (point[F_B_SCALE] != 0)
        complain(complaints, F_B_SCALE, "it has no scales of B's columns yet: b_scale = \"none\"");
}

/* Leaves a form in any case, so that the rest of the plan can be made. */
static void plan_types(expand_plan *plan, mc_complaints *complaints) {
    const spmm_plan *base = &plan->base;
    plan->product.form = base->math.kind->real ? NULL : wgmma_form_of(base->math.rhs, base->math.lhs, "s32");
    if (plan->product.form) return;
    complain(complaints, F_LHS, "staging = \"expand\" multiplies s8 and u8, not \"%s\" by \"%s\"",
             base->math.lhs, base->math.rhs);
    plan->product.form = wgmma_form_of("s8", "s8", "s32");
}

/* -- The transpose -------------------------------------------------------------------------------------- */

static out_per turned(out_per per) {
    return per == OUT_PER_ROW ? OUT_PER_COLUMN : per == OUT_PER_COLUMN ? OUT_PER_ROW : per;
}

static gemm_problem problem_of(const int64_t *point, const spmm_plan *base) {
    gemm_problem p = {.lhs = gemm_side_of(point[F_RHS]),
                      .rhs = gemm_side_of(point[F_LHS]),
                      .output = base->output,
                      .turned = true,
                      .align = base->align,
                      .m = base->n,
                      .n = base->m,
                      .k = base->k,
                      .lda = base->ldb,
                      .ldc = base->ldc,
                      .ldr = base->ldr};
    p.output.scale = turned(p.output.scale), p.output.bias = turned(p.output.bias);
    return p;
}

/* -- Tiles ---------------------------------------------------------------------------------------------- */

enum { HELPERS = 2, MOST_SUMS = 128, INSTRUCTION = 32 /* registers of a wgmma beside its sums */ };

/* Sets of registers that a helper's thread has room for, by the octets of a stage that it has. */
static int sets_of(const wgmma_plan *product) {
    static const int beside_one[] = {[1] = 4, 4, 3, 1}, beside_two[] = {[1] = 2, 1, 1, 1};
    const int octets = wgmma_expand_items(product);
    if (octets < 1 || octets > EXPAND_ITEMS) return 1;
    return product->consumers > 1 ? beside_two[octets] : beside_one[octets];
}

/* ptxas 13 wants room for a wgmma's sums in the registers that a thread has at launch. */
static int most_rows(const wgmma_plan *product) {
    const int launch = roles_shares(product->consumers, product->helpers).launch;
    return 2 * (launch - INSTRUCTION);
}

static void check_rows(const wgmma_plan *product, mc_complaints *complaints) {
    const int warps = product->helpers * WARPGROUP_WARPS, octets = product->tile_n / TILE_LINES;
    if (octets % warps || octets / warps > EXPAND_ITEMS)
        complain(complaints, F_BLOCK_ROWS, "%d rows for %d warps: each expands 8, 16 or 24", product->tile_n,
                 warps);
    else if (product->tile_n > most_rows(product) || wgmma_sum_registers(product) > MOST_SUMS)
        complain(complaints, F_BLOCK_ROWS, "%d x %d sums of a warpgroup: too many for its registers",
                 product->tile_n, product->tile_m / product->consumers);
}

/* Who does what, by how many columns of C a tile has. */
static void plan_tile(const int64_t *point, expand_plan *plan, mc_complaints *complaints) {
    wgmma_plan *product = &plan->product;
    const int columns = plan->base.tile_n;
    if (columns != 64 && columns != 128 && columns != 256)
        complain(complaints, F_TILE_N, "staging = \"expand\" wants 64, 128 or 256 columns, not %d", columns);
    if (plan->base.vec % TILE_LINES)
        complain(complaints, F_VEC, "staging = \"expand\" wants vectors of 8 or 16 rows, not %d",
                 plan->base.vec);
    product->tile_m = columns < 64 ? 64 : columns;
    product->tile_n = (int)point[F_BLOCK_ROWS];
    product->consumers = product->tile_m > 64 ? 2 : 1;
    product->helpers = HELPERS;
    product->expand_vec = plan->base.vec;
    check_rows(product, complaints);
    product->expand_sets = sets_of(product);
}

static void plan_store(expand_plan *plan, mc_complaints *complaints) {
    wgmma_plan *product = &plan->product;
    const int bytes = out_element_bytes(plan->base.output.element);
    product->store = bytes == 2 || bytes == WORD ? STORE_TENSOR : STORE_PAIRS;
    if (product->store == STORE_PAIRS && product->problem.align < 2 * bytes)
        complain(complaints, F_ALIGN, "C is stored two elements at a time, which wants %d", 2 * bytes);
    if (product->tile_n % wgmma_store_columns(product))
        complain(complaints, F_BLOCK_ROWS, "%d: %s is stored %d rows at a time", product->tile_n,
                 out_element_name(plan->base.output.element), wgmma_store_columns(product));
}

static void check_room(const int64_t *point, const wgmma_plan *product, mc_complaints *complaints) {
    const int room = (int)mc_archs[point[FIELD_ARCH]].shared << 10, wanted = wgmma_shared_bytes(product);
    if (wanted > room)
        complain(complaints, F_STAGES,
                 "%d stages of %d bytes, and C: %d bytes of shared memory, %d there are", product->stages,
                 wgmma_stage_bytes(product), wanted, room);
}

/* -- Plan ------------------------------------------------------------------------------------------------ */

_Static_assert(sizeof(expand_plan) <= MC_PLAN_BYTES, "a plan is made where there are MC_PLAN_BYTES");

void spmm_expand_make_plan(const int64_t *point, void *out, mc_complaints *complaints) {
    expand_plan *plan = out;
    wgmma_plan *product = &plan->product;
    spmm_plan_problem(point, false, &plan->base, complaints);
    if (!mc_archs[point[FIELD_ARCH]].wgmma)
        complain(complaints, F_STAGING, "\"expand\" wants arch = \"sm_90a\"");
    *product = (wgmma_plan){.problem = problem_of(point, &plan->base),
                            .stages = (int)point[F_STAGES],
                            .split = (int)point[F_PARTS],
                            .group = 4,
                            .overlap = plan->base.overlap};
    plan_types(plan, complaints);
    plan_tile(point, plan, complaints);
    plan_store(plan, complaints);
    check_fields(point, &plan->base, complaints);
    check_room(point, product, complaints);
    plan->base.threads = roles_threads(product->consumers, product->helpers);
    plan->base.shared_bytes = (unsigned)wgmma_shared_bytes(product);
}
