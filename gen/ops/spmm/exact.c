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
#include "ops/spmm/emit.h"

void spmm_declare_totals(spmm_emitter *e, int count) {
    mc_builder *b = e->b;
    if (!e->plan->output.exact) return;
    b64_array(b, "total", count, e->total);
    if (!e->plan->flush_strides) return;
    e->rounds = label(b, "ROUNDS");
    e->done = b32(b, "done");
    e->in_round = pred(b, "in_round");
}

void spmm_emit_begin_rounds(spmm_emitter *e, int count) {
    mc_builder *b = e->b;
    if (!e->plan->flush_strides) return;
    heading(b, "Rounds of %d strides, after which the accumulators may be full", e->plan->flush_strides);
    for (int i = 0; i < count; i++) EMIT(b, mov_b64, e->total[i], I(0));
    set_label(b, e->rounds);
    EMIT(b, mov_b32, e->done, I(0));
}

mc_reg spmm_emit_end_stride(spmm_emitter *e, mc_reg more) {
    mc_builder *b = e->b;
    if (!e->plan->flush_strides) return more;
    EMIT(b, add_s32, e->done, e->done, I(1));
    EMIT(b, setp_lt_and, e->in_round, e->done, I(e->plan->flush_strides), more);
    return e->in_round;
}

/* Adds the accumulators to the totals, and starts them from zero again. */
static void emit_flush(spmm_emitter *e, int count, mc_reg more) {
    mc_builder *b = e->b;
    heading(b, "The accumulators' products are added to the totals, in s64");
    for (int i = 0; i < count * e->plan->sums; i++) {
        int64_t weight = (int64_t)1 << spmm_sum_weight(e->plan, i / count);
        EMIT(b, mad_wide, e->total[i % count], e->acc[i], I(weight), e->total[i % count]);
        EMIT(b, mov_b32, e->acc[i], I(0));
    }
    spmm_emit_zero_bias(e);
    EMIT_IF(b, more, bra, TO(e->rounds));
}

static void emit_widen(spmm_emitter *e, int count) {
    mc_builder *b = e->b;
    heading(b, "k is small enough for the accumulators: the totals, in s64");
    for (int i = 0; i < count; i++) EMIT(b, cvt_s64, e->total[i], e->acc[i]);
    for (int i = count; i < count * e->plan->sums; i++) {
        int64_t weight = (int64_t)1 << spmm_sum_weight(e->plan, i / count);
        EMIT(b, mad_wide, e->total[i % count], e->acc[i], I(weight), e->total[i % count]);
    }
}

void spmm_emit_totals(spmm_emitter *e, int count, mc_reg more) {
    if (e->plan->flush_strides) emit_flush(e, count, more);
    else emit_widen(e, count);
    spmm_emit_unstack(e, count);
}
