/* The kernel as a whole.
 *
 *   stage 0 asked for -> accumulators zero -> first steps and values asked for
 *   -> wait for stage 0, ask for stage 1 -> rows of B of the first two steps, products of the first
 *   -> [ if the turn reads rows of the next stage: wait for it, ask for the one behind it
 *        turn of 2 * ahead steps ]
 *   -> C
 *
 * Rows of B are read two steps before their products are added. Some of a stage may be read in the turn in
 * which the first ones of the next stage are. So there are three stages: that, the next one, and the one
 * that is on its way. */
#include "ops/spmmt/kernel.h"

static const char shared_name[] = "tile";
enum { TILE_ALIGN = 128 };

/* -- Places ------------------------------------------------------------------------------------------- */

static mc_reg row_bytes(mc_builder *b, const char *name, const char *shape, int64_t fixed, int element) {
    if (fixed != MC_OPEN) return mov_b32(b, name, I(fixed * element));
    return mul_s32(b, name, load_shape(b, shape, true), I(element));
}

static void load_shapes(spmmt_emitter *e) {
    const spmmt_plan *plan = e->plan;
    mc_builder *b = e->b;
    spmmt_shapes *s = &e->shapes;
    s->m = dim_operand(plan->m, load_shape(b, "m", plan->m == MC_OPEN));
    s->n = dim_operand(plan->n, load_shape(b, "n", plan->n == MC_OPEN));
    s->k = dim_operand(plan->k, load_shape(b, "k", plan->k == MC_OPEN));
    s->b_row = row_bytes(b, "b_row_bytes", "ldb", plan->ldb, SPMMT_ELEMENT);
    s->c_row = row_bytes(b, "c_row_bytes", "ldc", plan->ldc, out_element_bytes(plan->out));
}

static void find_place(spmmt_emitter *e) {
    const spmmt_plan *plan = e->plan;
    mc_builder *b = e->b;
    heading(b, "The tile, and the warp's share of it; lane = 4 g + t");
    e->place = load_thread_place(b, 2 * MC_WARP);
    e->shared = mov_shared(b, "shared", NAME(shared_name));
    load_shapes(e);
    e->share = mad_s32(b, "share", e->place.warp, I(spmmt_share_bytes(plan)), e->shared);
    e->part = shr_u32(b, "part_in_tile", e->place.warp, I(log2_of(plan->beside)));
    e->side = and_b32(b, "side", e->place.warp, I(plan->beside - 1));
    mc_reg tile = mul_s32(b, "tile_row", load_special(b, "block_x", "ctaid.x"), I(plan->tile_k));
    e->first_row = mad_s32(b, "first_row", e->part, I(plan->warp_k), tile);
    e->tile_column = mul_s32(b, "tile_column", load_special(b, "block_y", "ctaid.y"), I(plan->tile_n));
    e->first_column = mad_s32(b, "first_column", e->side, I(plan->warp_n), e->tile_column);
}

/* -- Lanes -------------------------------------------------------------------------------------------- */

/* Matrix MATRIX of an ldmatrix is of 8 rows and 8 columns of the warp's. Where a step has two parts of
   rows, a row block's halves or two row blocks, those of the same columns come one after another. ROW is
   the first of the part that the matrix has, and IN_PART the lane's row of it. */
typedef struct spmmt_operand_row {
    mc_reg first, in_part, column;
} spmmt_operand_row;

static spmmt_operand_row find_matrix(const spmmt_emitter *e, mc_reg matrix) {
    const spmmt_plan *plan = e->plan;
    mc_builder *b = e->b;
    spmmt_operand_row r = {.in_part = and_b32(b, "matrix_row", e->place.lane, I(SPMMT_COLUMNS - 1))};
    r.column = matrix;
    if (spmmt_row_parts(plan) == 1) return r;
    int rows = plan->vec < SPMMT_COLUMNS ? plan->vec : SPMMT_COLUMNS;
    r.first = mul_s32(b, "part_row", and_b32(b, "row_part", matrix, I(1)), I(rows));
    r.column = shr_u32(b, "operand_column", matrix, I(1));
    return r;
}

/* Lanes of rows that a vector does not have read the row of zeros. */
static void find_operand_row(spmmt_emitter *e) {
    const spmmt_plan *plan = e->plan;
    mc_builder *b = e->b;
    spmmt_lane *l = &e->lane;
    int matrices = plan->fragments < 4 ? plan->fragments : 4;
    mc_reg number = shr_u32(b, "lane_matrix", e->place.lane, I(log2_of(SPMMT_COLUMNS)));
    const spmmt_operand_row r = find_matrix(e, and_b32(b, "matrix", number, I(matrices - 1)));
    mc_reg row = r.first.id ? add_s32(b, "operand_row", r.first, r.in_part) : r.in_part;
    mc_reg at = mad_s32(b, "b_row_at", row, I(plan->pitch), e->shared);
    at = mad_s32(b, "b_column_at", r.column, I(SPMMT_COPY), at);
    l->b = carried(b, "b_lane", mad_s32(b, "b_side_at", e->side, I(plan->warp_n * SPMMT_ELEMENT), at));
    EMIT(b, add_s32, l->b, l->b, I(spmmt_stages_at(plan)));
    l->b_step = carried(b, "b_step", I(plan->pitch));
    if (!spmmt_has_zeros(plan)) return;
    mc_reg zeros = setp_ge(b, "reads_zeros", r.in_part, I(plan->vec));
    EMIT_IF(b, zeros, add_s32, l->b, e->shared, I(spmmt_zeros_at(plan)));
    EMIT_IF(b, zeros, mov_b32, l->b_step, I(0));
}

static void find_lane(spmmt_emitter *e) {
    const spmmt_plan *plan = e->plan;
    mc_builder *b = e->b;
    spmmt_lane *l = &e->lane;
    note(b, "lane t has values 2 t and 2 t + 1 of a vector, and 16 bytes of a row of accumulators");
    l->a = mad_wide(b, "a_lane", e->place.t, I(WORD), load_array(b, "a"));
    l->acc = mad_s32(b, "acc_lane", e->place.t, I(4 * WORD), e->share);
    if (spmmt_has_zeros(plan)) l->valued = setp_lt(b, "valued", e->place.t, I((plan->vec + 1) / 2));
    find_operand_row(e);
}

/* -- The walk ----------------------------------------------------------------------------------------- */

static void begin_stream(spmmt_emitter *e) {
    const spmmt_plan *plan = e->plan;
    spmmt_stream *s = &e->stream;
    mc_builder *b = e->b;
    heading(b, "The steps of the warp's part");
    mc_reg part = mad_s32(b, "part", load_special(b, "tile_x", "ctaid.x"), I(plan->parts), e->part);
    mc_reg at = mad_wide(b, "part_at", part, I(WORD), load_array(b, "part_ptr"));
    mc_reg first = ldg_b32(b, "first_step", AT(at, 0)), end = ldg_b32(b, "end_step", AT(at, WORD));
    s->left = carried(b, "steps_left",
                      sub_s32(b, "part_steps", add_s32(b, "last_step", end, I(-TRANSPOSED_LEAD)), first));
    s->steps_at =
        carried_b64(b, "steps_at", mad_wide(b, "steps_first", first, I(WORD), load_array(b, "steps")));
    mc_reg slots =
        mad_wide(b, "slots_first", first, I(spmmt_step_words(plan) * WORD), load_array(b, "step_slots"));
    int rows = spmmt_rows(plan) * WORD;
    s->columns_at = carried_b64(b, "columns_at", mad_wide(b, "columns_lane", e->place.g, I(rows), slots));
    mc_reg vectors = mad_wide(b, "vectors_lane", e->place.g, I(rows * plan->blocks), slots);
    s->vectors_at = carried_b64(b, "vectors_at", vectors);
    EMIT(b, add_s64, s->vectors_at, s->vectors_at, I(plan->slots * WORD));
    spmmt_declare_steps(e);
}

/* All threads have copied the stage that comes next, and have left the one that the copy behind it
   replaces. */
static void emit_stage(spmmt_emitter *e, const char *prefix) {
    mc_builder *b = e->b;
    note(b, "the next stage has come; the one behind it replaces what all warps have left");
    EMIT_BARE(b, cp_async_wait_all);
    EMIT(b, bar_sync, I(0));
    spmmt_copy_stage(e, prefix);
}

/* If turn TURN, 0 or 1, reads from it first. */
static void emit_next_stage(spmmt_emitter *e, int turn) {
    static const char *const prefixes[] = {"even_", "odd_"}, *const names[] = {"even_stays", "odd_stays"},
                             *const labels[] = {"EVEN_STAY", "ODD_STAY"};
    mc_builder *b = e->b;
    mc_label stay = label(b, labels[turn]);
    mc_reg first = e->stream.step[turn * spmmt_turn(e->plan)];
    EMIT_IF(b, setp_ge(b, names[turn], first, I(0)), bra_uni, TO(stay));
    emit_stage(e, prefixes[turn]);
    set_label(b, stay);
}

static void advance_stream(spmmt_emitter *e) {
    const spmmt_stream *s = &e->stream;
    mc_builder *b = e->b;
    int turn = spmmt_turn(e->plan);
    int64_t bytes = (int64_t)turn * spmmt_step_words(e->plan) * WORD;
    EMIT(b, add_s64, s->steps_at, s->steps_at, I(turn * WORD));
    EMIT(b, add_s64, s->columns_at, s->columns_at, I(bytes));
    EMIT(b, add_s64, s->vectors_at, s->vectors_at, I(bytes));
    EMIT(b, sub_s32, s->left, s->left, I(turn));
}

/* No turn has ended before its steps have. But ptxas would move what it computes of later steps to before
   it has come, across all that is no branch. */
static void emit_turn(spmmt_emitter *e, int turn, mc_label done) {
    mc_builder *b = e->b;
    int steps = spmmt_turn(e->plan);
    heading(b, "Turn %d of two: %d steps", turn, steps);
    emit_next_stage(e, turn);
    spmmt_load_turn(e, turn);
    mc_reg ended = setp_lt(b, turn ? "odd_ended" : "even_ended", e->stream.left, I(0));
    for (int i = 0; i < steps; i++) {
        EMIT_IF(b, ended, bra, TO(done));
        spmmt_take_step(e, turn * steps + i);
    }
    advance_stream(e);
}

static void emit_walk(spmmt_emitter *e) {
    spmmt_stream *s = &e->stream;
    mc_builder *b = e->b;
    mc_label done = label(b, "DONE"), again = label(b, "TURNS");
    EMIT_IF(b, setp_eq(b, "no_steps", s->left, I(0)), bra_uni, TO(done));
    spmmt_load_first(e);
    emit_stage(e, "second_");
    spmmt_begin_steps(e);
    set_label(b, again);
    emit_turn(e, 0, done);
    EMIT_IF(b, setp_eq(b, "even_last", s->left, I(0)), bra_uni, TO(done));
    emit_turn(e, 1, done);
    EMIT_IF(b, setp_gt(b, "more_steps", s->left, I(0)), bra_uni, TO(again));
    set_label(b, done);
}

void spmmt_emit(const void *data, mc_builder *b) {
    const spmmt_plan *plan = data;
    spmmt_emitter e = {.b = b, .plan = plan};
    shared_dynamic(b, shared_name, TILE_ALIGN);
    b->fills_shared = true;
    find_place(&e);
    spmmt_begin_copies(&e);
    spmmt_copy_stage(&e, "begin_");
    spmmt_zero_sums(&e);
    find_lane(&e);
    begin_stream(&e);
    emit_walk(&e);
    spmmt_store(&e);
    EMIT_RET(b);
}
