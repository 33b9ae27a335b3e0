/* Exact sums of the gather kernel (sum = "exact"): accumulators in s32 become totals in s64.
 *
 * An accumulator holds products of digits of one weight. It is exact as long as no more slots were added than
 * spmm_accumulator_bound says. Where the spec's k is no larger than that, accumulators are widened once,
 * behind the loop over strides. Elsewhere that loop runs inside of another one, whose branch is hardly ever
 * taken:
 *
 *   ROUNDS    done = 0
 *   STRIDES   a stride; done += 1; STRIDES again, if there are more and done < flush_strides
 *             totals += weight * accumulators, accumulators = 0; ROUNDS again, if there are more */
#include "ops/spmm/integer/products.h"

void spmm_declare_totals(spmm_sums *s) {
    mc_builder *b = s->b;
    if (!s->of->exact) return;
    b64_array(b, "total", s->count, s->total);
    if (!s->of->flush_strides) return;
    s->rounds = label(b, "ROUNDS");
}

void integer_sums_begin_rounds(spmm_sums *s) {
    mc_builder *b = s->b;
    if (!s->of->flush_strides) return;
    heading(b, "Rounds of %d strides, after which the accumulators may be full", s->of->flush_strides);
    for (int i = 0; i < s->count; i++) EMIT(b, mov_b64, s->total[i], I(0));
    set_label(b, s->rounds);
    s->done = carried(b, "done", I(0));
}

mc_reg integer_sums_end_stride(spmm_sums *s, mc_reg more) {
    mc_builder *b = s->b;
    if (!s->of->flush_strides) return more;
    EMIT(b, add_s32, s->done, s->done, I(1));
    return setp_lt_and(b, "in_round", s->done, I(s->of->flush_strides), more);
}

/* Adds the accumulators to the totals, and starts them from zero again. */
static void emit_flush(const spmm_sums *s, mc_reg more) {
    mc_builder *b = s->b;
    int count = s->count;
    heading(b, "The accumulators' products are added to the totals, in s64");
    for (int i = 0; i < count * s->of->sums; i++) {
        int64_t weight = (int64_t)1 << spmm_sum_weight(s->of, i / count);
        EMIT(b, mad_wide, s->total[i % count], s->acc[i], I(weight), s->total[i % count]);
        EMIT(b, mov_b32, s->acc[i], I(0));
    }
    spmm_emit_zero_bias(s);
    EMIT_IF(b, more, bra, TO(s->rounds));
}

static void emit_widen(const spmm_sums *s) {
    mc_builder *b = s->b;
    int count = s->count;
    heading(b, "k is small enough for the accumulators: the totals, in s64");
    for (int i = 0; i < count; i++) EMIT(b, cvt_s64, s->total[i], s->acc[i]);
    for (int i = count; i < count * s->of->sums; i++) {
        int64_t weight = (int64_t)1 << spmm_sum_weight(s->of, i / count);
        EMIT(b, mad_wide, s->total[i % count], s->acc[i], I(weight), s->total[i % count]);
    }
}

void spmm_emit_totals(const spmm_sums *s, mc_reg more) {
    if (s->of->flush_strides) emit_flush(s, more);
    else emit_widen(s);
    spmm_emit_unstack(s);
}
