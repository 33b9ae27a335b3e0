/* A step: up to `slots` columns of a row block or two, whose vectors are the rows of mma, times the row
 * blocks' rows of B. What comes is added to accumulators in shared memory, at the row that the column says.
 *
 * A row of accumulators is 64 bytes, of 16 columns of C: lane t has the 16 bytes from 16 t on, columns 2 t
 * and 2 t + 1 of the first 8 and of the last 8. Eight lanes, two lane groups, read 128 bytes at once. These
 * are all banks if one lane group has an even row and the other one an odd row, to which the packer sees
 * where it can.
 *
 * Of a row block that has no vector in a slot nothing is added: zeros times an infinity of B were no
 * number. */
#include "ops/spmmt/kernel.h"
#include "parts/words.h"

void spmmt_declare_steps(spmmt_emitter *e) {
    const spmmt_plan *plan = e->plan;
    spmmt_stream *s = &e->stream;
    spmmt_step_sums *x = &e->sums;
    mc_builder *b = e->b;
    int turn = spmmt_turn(plan), rows = spmmt_rows(plan), values = 2 * turn * spmmt_values(plan),
        sums = 2 * spmmt_sums(plan);
    b32_array(b, "step", 2 * turn, s->step);
    b32_array(b, "column", 2 * rows * turn, s->column);
    b32_array(b, "vector", rows * plan->blocks * turn, s->vector);
    b32_array(b, "value", values, s->value);
    b32_array(b, "acc", sums, x->acc);
    b32_array(b, "product", sums * plan->blocks, x->product);
    b32_array(b, "b_operand", 2 * plan->fragments, x->fragment);
    b32_array(b, "acc_at", 2 * rows, x->at);
    pred_array(b, "there", 2 * rows, x->there);
    x->row = b32(b, "b_row"), x->bits = b32(b, "bits");
    x->vector_at = b64(b, "vector_at"), x->has = pred(b, "has_vector");
    x->zero = mov_b32(b, "no_sum", I(0));
    note(b, "what no lane loads stays zero");
    for (int i = 0; i < values; i++) EMIT(b, mov_b32, s->value[i], I(0));
    for (int i = 0; i < sums; i++) EMIT(b, mov_b32, x->acc[i], I(0));
}

static void load_words(spmmt_emitter *e, int count, const mc_reg *to, mc_reg from, int64_t offset) {
    const mc_reg none = {0};
    for (int i = 0; i < count; i += 4)
        emit_load_words(e->b, none, WORDS_RELAXED, (count < 4 ? count : 4) * WORD, &to[i],
                        AT(from, offset + i * WORD));
}

/* OFFSET steps on from the stream. */
static void load_step(spmmt_emitter *e, int step, int offset) {
    const spmmt_plan *plan = e->plan;
    const spmmt_stream *s = &e->stream;
    int rows = spmmt_rows(plan), bytes = spmmt_step_words(plan) * WORD;
    load_words(e, 1, &s->step[step], s->steps_at, (int64_t)offset * WORD);
    load_words(e, rows, &s->column[rows * step], s->columns_at, (int64_t)offset * bytes);
}

/* The vectors of step STEP of a turn: of row block BLOCK, [row]. */
static const mc_reg *vectors_of(const spmmt_emitter *e, int step, int block) {
    const spmmt_plan *plan = e->plan;
    return &e->stream.vector[(step % spmmt_turn(plan) * plan->blocks + block) * spmmt_rows(plan)];
}

static void load_vectors(spmmt_emitter *e, int step, int offset) {
    const spmmt_plan *plan = e->plan;
    int bytes = spmmt_step_words(plan) * WORD;
    load_words(e, plan->blocks * spmmt_rows(plan), vectors_of(e, step, 0), e->stream.vectors_at,
               (int64_t)offset * bytes);
}

static mc_reg column_of(const spmmt_emitter *e, int step, int row) {
    return e->stream.column[step * spmmt_rows(e->plan) + row];
}

/* The values of step STEP: of row block BLOCK, [row][word]. */
static const mc_reg *values_of(const spmmt_emitter *e, int step, int block) {
    int values = spmmt_values(e->plan);
    return &e->stream.value[step * values + block * values / e->plan->blocks];
}

static void load_vector(const spmmt_emitter *e, mc_reg vector, const mc_reg *value) {
    const spmmt_step_sums *x = &e->sums;
    mc_builder *b = e->b;
    int bytes = e->plan->vec * SPMMT_ELEMENT;
    if (e->lane.valued.id) EMIT(b, setp_ge_and, x->has, vector, I(0), e->lane.valued);
    else EMIT(b, setp_ge, x->has, vector, I(0));
    EMIT(b, mad_wide, x->vector_at, vector, I(bytes), e->lane.a);
    for (int w = 0; w < spmmt_a_words(e->plan); w++)
        emit_load_words(b, x->has, WORDS_RELAXED, bytes < WORD ? bytes : WORD, &value[w],
                        AT(x->vector_at, w * SPMMT_COLUMNS * SPMMT_ELEMENT));
}

static void load_values(spmmt_emitter *e, int step) {
    const spmmt_plan *plan = e->plan;
    for (int block = 0; block < plan->blocks; block++)
        for (int row = 0; row < spmmt_rows(plan); row++)
            load_vector(e, vectors_of(e, step, block)[row],
                        values_of(e, step, block) + row * spmmt_a_words(plan));
}

void spmmt_load_first(spmmt_emitter *e) {
    int turn = spmmt_turn(e->plan);
    for (int i = 0; i < turn; i++) load_vectors(e, i, i);
    for (int i = 0; i < turn; i++) load_step(e, i, i);
    for (int i = 0; i < turn; i++) load_values(e, i);
    for (int i = 0; i < turn; i++) load_vectors(e, i, turn + i);
}

/* All loads of a turn stand together, before its steps: a warp waits for a load by one of few counters, and
   so for all that were asked for later by the same one. */
void spmmt_load_turn(spmmt_emitter *e, int turn) {
    int steps = spmmt_turn(e->plan), other = (1 - turn) * steps;
    note(e->b, "for the next turn: values, rows of B and columns; and vectors of the one behind it");
    for (int i = 0; i < steps; i++) load_values(e, other + i);
    for (int i = 0; i < steps; i++) load_vectors(e, i, 2 * steps + i);
    for (int i = 0; i < steps; i++) load_step(e, other + i, steps + i);
}

/* -- A step ------------------------------------------------------------------------------------------- */

/* The operands of B of step STEP of the turn. */
static const mc_reg *fragments_of(const spmmt_emitter *e, int step) {
    return &e->sums.fragment[step % 2 * e->plan->fragments];
}

/* Each lane names a row of 16 bytes, and gets operands of two or four. */
static void load_fragments(const spmmt_emitter *e, int step) {
    const spmmt_step_sums *x = &e->sums;
    const mc_reg *fragment = fragments_of(e, step);
    mc_builder *b = e->b;
    mc_reg row = e->stream.step[step];
    int per_column = spmmt_row_parts(e->plan), column_bytes = SPMMT_COLUMNS * SPMMT_ELEMENT;
    if (step % spmmt_turn(e->plan) == 0) {
        EMIT(b, and_b32, x->row, row, H(~TRANSPOSED_NEXT_STAGE));
        row = x->row;
    }
    EMIT(b, mad_s32, x->row, row, e->lane.b_step, e->lane.b);
    if (e->plan->fragments == 2) EMIT(b, ldmatrix_x2_trans, V2(fragment), AT(x->row, 0));
    for (int i = 0; i + 4 <= e->plan->fragments; i += 4)
        EMIT(b, ldmatrix_x4_trans, V4(&fragment[i]), AT(x->row, i / per_column * column_bytes));
}

/* Where the accumulators of step STEP lie: of row ROW, and whether there is one. */
static int place_of(const spmmt_emitter *e, int step, int row) {
    return step % 2 * spmmt_rows(e->plan) + row;
}

static void find_sums(const spmmt_emitter *e, int step) {
    const spmmt_step_sums *x = &e->sums;
    mc_builder *b = e->b;
    for (int row = 0; row < spmmt_rows(e->plan); row++) {
        mc_reg column = column_of(e, step, row), at = x->at[place_of(e, step, row)], bytes = column;
        if (e->plan->blocks > 1) EMIT(b, and_b32, bytes = x->bits, column, H(TRANSPOSED_ROW_MASK));
        EMIT(b, add_s32, at, bytes, e->lane.acc);
        EMIT(b, setp_ge, x->there[place_of(e, step, row)], column, I(0));
    }
}

/* The four sums of step STEP's row ROW, in half HALF of the warp's columns: in shared memory's order. */
static const mc_reg *acc_of(const spmmt_emitter *e, int step, int row, int half) {
    return &e->sums.acc[(place_of(e, step, row) * spmmt_halves(e->plan) + half) * 4];
}

/* The products of step STEP of row block BLOCK and mma MMA by 8 columns, COLUMN: as the mma has them. */
static const mc_reg *products_of(const spmmt_emitter *e, int step, int block, int mma, int column) {
    const spmmt_plan *plan = e->plan;
    int columns = plan->warp_n / SPMMT_COLUMNS, group = step % 2 * plan->blocks + block;
    return &e->sums.product[((group * plan->mmas + mma) * columns + column) * 4];
}

static void load_sums(const spmmt_emitter *e, int step) {
    const spmmt_step_sums *x = &e->sums;
    for (int row = 0; row < spmmt_rows(e->plan); row++)
        for (int q = 0; q < spmmt_halves(e->plan); q++) {
            int place = place_of(e, step, row);
            EMIT_IF(e->b, x->there[place], lds_v4, V4(acc_of(e, step, row, q)),
                    AT(x->at[place], q * spmmt_half_bytes(e->plan)));
        }
}

static void store_sums(const spmmt_emitter *e, int step) {
    const spmmt_step_sums *x = &e->sums;
    for (int row = 0; row < spmmt_rows(e->plan); row++)
        for (int q = 0; q < spmmt_halves(e->plan); q++) {
            int place = place_of(e, step, row);
            EMIT_IF(e->b, x->there[place], sts_v4, AT(x->at[place], q * spmmt_half_bytes(e->plan)),
                    V4(acc_of(e, step, row, q)));
        }
}

/* A lane's sums of a row, two of each 8 columns, lie side by side in shared memory; those of an mma are of
   two rows. So they are added by additions of their own, which also keeps the mma from waiting for the
   sums. */
static void add_row(const spmmt_emitter *e, int step, int block, int row) {
    const mc_reg always = {0}, has = e->plan->blocks > 1 ? e->sums.has : always;
    if (has.id) {
        EMIT(e->b, and_b32, e->sums.bits, column_of(e, step, row), I(1 << block));
        EMIT(e->b, setp_eq, has, e->sums.bits, I(0));
    }
    for (int column = 0; column < e->plan->warp_n / SPMMT_COLUMNS; column++) {
        const mc_reg *product = products_of(e, step, block, row / 2, column) + row % 2 * 2,
                     *sum = acc_of(e, step, row, column / 2) + column % 2 * 2;
        for (int i = 0; i < 2; i++) EMIT_IF(e->b, has, add_f32, sum[i], sum[i], product[i]);
    }
}

static void add_products(const spmmt_emitter *e, int step) {
    for (int row = 0; row < spmmt_rows(e->plan); row++)
        for (int block = 0; block < e->plan->blocks; block++) add_row(e, step, block, row);
}

/* 16 vectors by 8 columns: VALUES are [half][word], OPERAND is of B. */
static void multiply(const spmmt_emitter *e, const mc_reg *values, const mc_reg *operand,
                     const mc_reg *product) {
    mc_builder *b = e->b;
    bool bf16 = e->plan->side == SPMMT_BF16;
    const mc_reg none = e->sums.zero, zeros[4] = {none, none, none, none};
    if (spmmt_a_words(e->plan) == 1) {
        mc_opcode op = bf16 ? OP_mma_bf16_k8 : OP_mma_f16_k8;
        builder_emit(b, (mc_reg){0}, op, MC_OPERANDS(V4(product), V2(values), operand[0], V4(zeros)));
        return;
    }
    const mc_reg a[4] = {values[0], values[2], values[1], values[3]};
    builder_emit(b, (mc_reg){0}, bf16 ? OP_mma_bf16 : OP_mma_f16,
                 MC_OPERANDS(V4(product), V4(a), V2(operand), V4(zeros)));
}

static void multiply_block(const spmmt_emitter *e, int step, int block) {
    const spmmt_plan *plan = e->plan;
    const mc_reg *values = values_of(e, step, block);
    for (int mma = 0; mma < plan->mmas; mma++)
        for (int column = 0; column < plan->warp_n / SPMMT_COLUMNS; column++)
            multiply(e, values + mma * 2 * spmmt_a_words(plan),
                     fragments_of(e, step) + column * spmmt_row_parts(plan) + block,
                     products_of(e, step, block, mma, column));
}

static void multiply_all(const spmmt_emitter *e, int step) {
    for (int block = 0; block < e->plan->blocks; block++) multiply_block(e, step, block);
}

void spmmt_begin_steps(spmmt_emitter *e) {
    for (int i = 0; i < TRANSPOSED_LEAD; i++) load_fragments(e, i);
    multiply_all(e, 0);
    find_sums(e, 0);
    load_sums(e, 0);
}

/* The sums have been asked for. What does not wait for them comes before their additions. */
void spmmt_take_step(spmmt_emitter *e, int step) {
    int steps = 2 * spmmt_turn(e->plan), next = (step + 1) % steps;
    note(e->b, "step %d", step);
    multiply_all(e, next);
    load_fragments(e, (step + TRANSPOSED_LEAD) % steps);
    find_sums(e, next);
    add_products(e, step);
    store_sums(e, step);
    EMIT(e->b, bar_warp_sync, H(0xffffffff));
    load_sums(e, next);
}
