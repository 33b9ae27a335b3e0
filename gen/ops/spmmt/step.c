/* A step: up to `slots` vectors of a row block, which are the rows of mma, times the row block's rows of B.
 * What comes is added to accumulators in shared memory, at the row that a vector's column says.
 *
 * A row of accumulators is 64 bytes, of 16 columns of C: lane t has the 16 bytes from 16 t on, columns 2 t
 * and 2 t + 1 of the first 8 and of the last 8. Eight lanes, two lane groups, read 128 bytes at once. These
 * are all banks if one lane group has an even row and the other one an odd row, to which the packer sees
 * where it can. */
#include "ops/spmmt/kernel.h"
#include "parts/words.h"

void spmmt_declare_steps(spmmt_emitter *e) {
    const spmmt_plan *plan = e->plan;
    spmmt_stream *s = &e->stream;
    spmmt_sums *x = &e->sums;
    mc_builder *b = e->b;
    int turn = spmmt_turn(plan), rows = 2 * plan->mmas;
    b32_array(b, "step", 2 * turn, s->step);
    b32_array(b, "slot_word", turn * plan->mmas, s->word);
    b32_array(b, "value", plan->ahead * rows * spmmt_a_words(plan), s->value);
    b32_array(b, "acc", rows * spmmt_halves(plan) * 4, x->acc);
    b32_array(b, "b_operand", plan->fragments, x->fragment);
    b32_array(b, "acc_at", rows, x->at);
    pred_array(b, "there", rows, x->there);
    x->row = b32(b, "b_row"), x->bits = b32(b, "bits");
    x->vector_at = b64(b, "vector_at"), x->first_at = b64(b, "first_at"), x->valued = pred(b, "loads");
    note(b, "what no lane loads stays zero");
    for (int i = 0; i < plan->ahead * rows * spmmt_a_words(plan); i++) EMIT(b, mov_b32, s->value[i], I(0));
    for (int i = 0; i < rows * spmmt_halves(plan) * 4; i++) EMIT(b, mov_b32, x->acc[i], I(0));
}

void spmmt_load_step(spmmt_emitter *e, int step, int offset) {
    const spmmt_plan *plan = e->plan;
    const spmmt_stream *s = &e->stream;
    const mc_reg none = {0};
    int words = plan->mmas * TRANSPOSED_GROUPS;
    emit_load_words(e->b, none, WORDS_RELAXED, TRANSPOSED_STEP_WORDS * WORD, &s->step[2 * step],
                    AT(s->steps_at, (int64_t)offset * TRANSPOSED_STEP_WORDS * WORD));
    emit_load_words(e->b, none, WORDS_RELAXED, plan->mmas * WORD, &s->word[step * plan->mmas],
                    AT(s->slots_at, (int64_t)offset * words * WORD));
}

/* Sets x->bits to the half word of slot row ROW of step STEP, [mma][half], with others above it. */
static mc_reg half_of(const spmmt_emitter *e, int step, int row) {
    mc_reg word = e->stream.word[step * e->plan->mmas + row / 2];
    if (row % 2 == 0) return word;
    EMIT(e->b, shr_u32, e->sums.bits, word, I(TRANSPOSED_HALF_BITS));
    return e->sums.bits;
}

/* THERE = whether HALF, which may be x->bits, is a vector; and, unless it is none, WHERE. */
static void test_vector(const spmmt_emitter *e, mc_reg half, mc_reg there, mc_reg where) {
    mc_reg bits = e->sums.bits;
    EMIT(e->b, and_b32, bits, half, I(TRANSPOSED_NONE));
    if (where.id) EMIT(e->b, setp_eq_and, there, bits, I(0), where);
    else EMIT(e->b, setp_eq, there, bits, I(0));
}

void spmmt_load_values(spmmt_emitter *e, int step) {
    const spmmt_plan *plan = e->plan;
    const spmmt_stream *s = &e->stream;
    const spmmt_sums *x = &e->sums;
    mc_builder *b = e->b;
    int words = spmmt_a_words(plan), rows = 2 * plan->mmas, bytes = plan->vec * SPMMT_ELEMENT;
    const mc_reg *value = &s->value[step % plan->ahead * rows * words];
    EMIT(b, mad_wide, x->first_at, s->step[2 * step], I(bytes), e->lane.a);
    for (int row = 0; row < rows; row++) {
        mc_reg half = half_of(e, step, row);
        EMIT(b, and_b32, x->row, half, I(TRANSPOSED_VECTOR_MASK));
        test_vector(e, half, x->valued, e->lane.valued);
        EMIT(b, mad_wide, x->vector_at, x->row, I(bytes), x->first_at);
        for (int w = 0; w < words; w++)
            emit_load_words(b, x->valued, WORDS_RELAXED, bytes < WORD ? bytes : WORD, &value[row * words + w],
                            AT(x->vector_at, w * SPMMT_COLUMNS * SPMMT_ELEMENT));
    }
}

/* -- A step ------------------------------------------------------------------------------------------- */

/* Each lane names a row of 16 bytes, and gets operands of two or four. */
static void load_fragments(const spmmt_emitter *e, int step) {
    const spmmt_sums *x = &e->sums;
    mc_builder *b = e->b;
    mc_reg row = e->stream.step[2 * step + 1];
    if (step == 0) {
        EMIT(b, and_b32, x->row, row, H(~TRANSPOSED_NEXT_STAGE));
        row = x->row;
    }
    EMIT(b, mad_s32, x->row, row, e->lane.b_step, e->lane.b);
    if (e->plan->fragments == 2) EMIT(b, ldmatrix_x2_trans, V2(x->fragment), AT(x->row, 0));
    for (int i = 0; i + 4 <= e->plan->fragments; i += 4)
        EMIT(b, ldmatrix_x4_trans, V4(&x->fragment[i]), AT(x->row, i * SPMMT_COLUMNS));
}

static const mc_reg *acc_of(const spmmt_emitter *e, int row, int half) {
    return &e->sums.acc[(row * spmmt_halves(e->plan) + half) * 4];
}

static void load_sums(const spmmt_emitter *e, int step) {
    const spmmt_plan *plan = e->plan;
    const spmmt_sums *x = &e->sums;
    mc_builder *b = e->b;
    for (int row = 0; row < 2 * plan->mmas; row++) {
        mc_reg half = half_of(e, step, row);
        EMIT(b, and_b32, x->at[row], half, H(TRANSPOSED_ROW_MASK));
        EMIT(b, add_s32, x->at[row], x->at[row], e->lane.acc);
        test_vector(e, half, x->there[row], (mc_reg){0});
        for (int q = 0; q < spmmt_halves(plan); q++)
            EMIT_IF(b, x->there[row], lds_v4, V4(acc_of(e, row, q)),
                    AT(x->at[row], q * spmmt_half_bytes(plan)));
    }
}

static void store_sums(const spmmt_emitter *e) {
    const spmmt_plan *plan = e->plan;
    const spmmt_sums *x = &e->sums;
    for (int row = 0; row < 2 * plan->mmas; row++)
        for (int q = 0; q < spmmt_halves(plan); q++)
            EMIT_IF(e->b, x->there[row], sts_v4, AT(x->at[row], q * spmmt_half_bytes(plan)),
                    V4(acc_of(e, row, q)));
}

/* 16 vectors from mma MMA on by 8 columns: VALUES are [half][word]. */
static void multiply(const spmmt_emitter *e, const mc_reg *values, int mma, int column) {
    mc_builder *b = e->b;
    bool bf16 = e->plan->side == SPMMT_BF16;
    const mc_reg *low = acc_of(e, 2 * mma, column / 2) + column % 2 * 2,
                 *high = acc_of(e, 2 * mma + 1, column / 2) + column % 2 * 2;
    const mc_reg sums[4] = {low[0], low[1], high[0], high[1]};
    if (spmmt_a_words(e->plan) == 1) {
        mc_opcode op = bf16 ? OP_mma_bf16_k8 : OP_mma_f16_k8;
        builder_emit(b, (mc_reg){0}, op,
                     MC_OPERANDS(V4(sums), V2(values), e->sums.fragment[column], V4(sums)));
        return;
    }
    const mc_reg a[4] = {values[0], values[2], values[1], values[3]};
    builder_emit(b, (mc_reg){0}, bf16 ? OP_mma_bf16 : OP_mma_f16,
                 MC_OPERANDS(V4(sums), V4(a), V2(&e->sums.fragment[2 * column]), V4(sums)));
}

void spmmt_take_step(spmmt_emitter *e, int step) {
    const spmmt_plan *plan = e->plan;
    int of_mma = 2 * spmmt_a_words(plan), turn = spmmt_turn(plan);
    const mc_reg *values = &e->stream.value[step % plan->ahead * plan->mmas * of_mma];
    note(e->b, "step %d of the turn", step);
    load_fragments(e, step);
    load_sums(e, step);
    for (int mma = 0; mma < plan->mmas; mma++)
        for (int column = 0; column < plan->warp_n / SPMMT_COLUMNS; column++)
            multiply(e, values + mma * of_mma, mma, column);
    spmmt_load_values(e, (step + plan->ahead) % turn);
    store_sums(e);
    EMIT(e->b, bar_warp_sync, H(0xffffffff));
    spmmt_load_step(e, step, turn + step);
}
