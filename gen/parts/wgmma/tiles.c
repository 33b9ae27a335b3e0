/* Tiles of a wgmma kernel: how they lie in shared memory, and which of C's a thread block takes. */
#include "parts/wgmma/wgmma.h"
#include "parts/emit.h"
#include "parts/packed24.h"

shared_tile wgmma_lhs(const wgmma_plan *plan) {
    int bytes = plan->form->bytes;
    return (shared_tile){.rows = plan->tile_m,
                         .k = WGMMA_STAGE_BYTES / bytes,
                         .bytes = bytes,
                         .span = plan->span && !plan->problem.sparse ? plan->span : WGMMA_STAGE_BYTES,
                         .mn_major = plan->a_mn_major};
}

shared_tile wgmma_rhs(const wgmma_plan *plan) {
    shared_tile lhs = wgmma_lhs(plan), rhs = lhs;
    rhs.rows = plan->tile_n, rhs.k = lhs.k * (plan->problem.sparse ? 2 : 1);
    rhs.mn_major = plan->problem.b_rows, rhs.span = plan->span ? plan->span : WGMMA_STAGE_BYTES;
    return rhs;
}

int wgmma_meta_at(const wgmma_plan *plan) {
    shared_tile lhs = wgmma_lhs(plan), rhs = wgmma_rhs(plan);
    return tile_bytes(&lhs) + tile_bytes(&rhs);
}

int wgmma_stage_bytes(const wgmma_plan *plan) {
    int meta = plan->problem.sparse ? plan->tile_m * packed24_meta_row(plan->form->bytes) : 0;
    return wgmma_meta_at(plan) + meta;
}

int wgmma_copied_bytes(const wgmma_plan *plan) {
    shared_tile rhs = wgmma_rhs(plan);
    return wgmma_stage_bytes(plan) - (plan->expand_vec ? tile_bytes(&rhs) : 0);
}

/* Tiles of 64 columns that are not split stay as they were measured: one to a multiprocessor. */
bool wgmma_is_narrow(const wgmma_plan *plan) {
    enum { FEW_SUMS = 32, MEASURED = 64 };
    return plan->consumers == 1 && !plan->helpers && wgmma_sum_registers(plan) <= FEW_SUMS &&
           (wgmma_is_split(plan) || plan->tile_n < MEASURED);
}

/* -- Split -------------------------------------------------------------------------------------------- */

/* stmatrix stores 16 columns of 2 bytes, and of 4 bytes pairs of 8 columns are exchanged with those 16 on. */
int wgmma_store_columns(const wgmma_plan *plan) {
    if (plan->store != STORE_TENSOR) return TILE_LINES;
    return out_element_bytes(plan->problem.output.element) == WORD ? 4 * TILE_LINES : 2 * TILE_LINES;
}

exchange_shape wgmma_exchange(const wgmma_plan *plan) {
    return exchange_shape_of(plan->split, plan->consumers, wgmma_blocks(plan), plan->tile_n / TILE_LINES,
                             wgmma_store_columns(plan) / TILE_LINES);
}

int wgmma_result_columns(const wgmma_plan *plan) {
    return wgmma_is_split(plan) ? wgmma_exchange(plan).slice_octets * TILE_LINES : plan->tile_n;
}

/* -- Stream ------------------------------------------------------------------------------------------- */

stream_sums wgmma_stream(const wgmma_plan *plan) {
    int beside = wgmma_is_narrow(plan) ? 2 : 1;
    return (stream_sums){.threads = (plan->turns ? 1 : plan->consumers) * WARPGROUP,
                         .blocks = wgmma_blocks(plan),
                         .sums = plan->tile_n / 2,
                         .most = beside * STREAM_MULTIPROCESSORS,
                         .real = plan->problem.output.real};
}

int64_t wgmma_stream_k(const wgmma_plan *plan) {
    const stream_sums sums = wgmma_stream(plan);
    const shared_tile rhs = wgmma_rhs(plan);
    return stream_most_stages(&sums) * rhs.k;
}

/* -- Shared memory ------------------------------------------------------------------------------------ */

/* Split: bytes of the thread blocks' sums on their way. Their barriers lie behind those of the stages. */
int wgmma_parts_bytes(const wgmma_plan *plan) {
    const exchange_shape shape = wgmma_exchange(plan);
    return wgmma_is_split(plan) ? exchange_bytes(&shape) : 0;
}

/* All but what C takes on its way. */
static int other_bytes(const wgmma_plan *plan) {
    return pipeline_bytes(plan->stages, wgmma_stage_bytes(plan)) + wgmma_parts_bytes(plan) +
           (wgmma_is_split(plan) ? EXCHANGE_BARRIER_BYTES : 0);
}

static bool fits(const wgmma_plan *plan, store_slots slots) {
    enum { ROOM = 227 << 10 }; /* of a thread block of sm_90a */
    return other_bytes(plan) + store_bytes(wgmma_consumer_warps(plan), slots) <= ROOM;
}

/* The most that there is room for. */
store_slots wgmma_slots(const wgmma_plan *plan) {
    const store_slots two = {2, STORE_ROWS}, one = {1, STORE_ROWS}, half = {1, STORE_HALF};
    int bytes = out_element_bytes(plan->problem.output.element);
    bool halves = bytes > 1 && store_span(wgmma_result_columns(plan), bytes) >= STORE_LINE / 2;
    return fits(plan, two) ? two : fits(plan, one) || !halves ? one : half;
}

int wgmma_slot_bytes(const wgmma_plan *plan) {
    if (plan->store != STORE_TENSOR) return 0;
    return store_bytes(wgmma_consumer_warps(plan), wgmma_slots(plan));
}

int wgmma_table_at(const wgmma_plan *plan) { return other_bytes(plan) + wgmma_slot_bytes(plan); }

int wgmma_shared_bytes(const wgmma_plan *plan) {
    return wgmma_table_at(plan) + (plan->helpers ? EXPAND_TABLE : 0);
}

bool wgmma_has_halves(const wgmma_plan *plan) { return strcmp(plan->form->sums, "f16") == 0; }

bool wgmma_stores_sums(const wgmma_plan *plan) {
    const out_kind *o = &plan->problem.output;
    bool plain = o->element == OUT_F16 && !o->scale && !o->bias && !o->act && !o->b_scale && !o->residual;
    return plain && wgmma_has_halves(plan) && plan->store == STORE_TENSOR;
}

tile_schedule wgmma_schedule(const wgmma_kernel *g, mc_reg turn) {
    const wgmma_plan *plan = g->plan;
    tile_schedule s = {.b = g->b,
                       .tile_rows = plan->tile_m,
                       .tile_columns = plan->tile_n,
                       .group = plan->group,
                       .cluster = plan->cluster,
                       .rank = g->roles.rank,
                       .turn = turn,
                       .turns = turn.id ? plan->consumers : 1,
                       .stream = plan->stream,
                       .line = {.stages = g->k_stages}};
    schedule_begin(&s, g->m, g->n);
    return s;
}
