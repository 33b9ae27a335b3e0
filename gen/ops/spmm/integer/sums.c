/* Accumulators from their declaration to the sums of C that they amount to. */
#include "ops/spmm/integer/products.h"

/* Adds up the accumulators by their weights: the first `count` become the sums. */
static void emit_weigh(const spmm_sums *s) {
    mc_builder *b = s->b;
    int count = s->count;
    int weight = 1 << spmm_sum_weight(s->of, 1);
    for (int top = s->of->sums - 1; top > 0; top--) {
        note(b, "a digit weighs %d times the one below", weight);
        for (int i = count * (top - 1); i < count * top; i++)
            EMIT(b, mad_s32, s->acc[i], s->acc[count + i], I(weight), s->acc[i]);
    }
    spmm_emit_unstack(s);
}

void integer_sums_begin(spmm_sums *s) { spmm_declare_bias(s); }

void integer_sums_declare(spmm_sums *s, int count) {
    s->count = count;
    b32_array(s->b, "acc", count * s->of->sums, s->acc);
    spmm_declare_totals(s);
}

void integer_sums_zero(spmm_sums *s) {
    for (int i = 0; i < s->count * s->of->sums; i++) EMIT(s->b, mov_b32, s->acc[i], I(0));
    spmm_emit_zero_bias(s);
}

void integer_sums_settle(spmm_sums *s, int odd_column, mc_reg more) {
    spmm_emit_settle_halves(s, odd_column);
    if (s->of->exact) spmm_emit_totals(s, more);
    else emit_weigh(s);
}

mc_opcode integer_sums_add(const spmm_sums *s) { return s->of->exact ? OP_add_s64 : OP_add_s32; }
