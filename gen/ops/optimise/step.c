/* What an element becomes, in f32, each operation rounded to nearest even. docs/optimise.md has the order. */
#include "ops/optimise/kernel.h"

enum { QUAD = 4 /* numbers of a load */ };
static const uint32_t sign_bit = 0x80000000;

static void derive_numbers(optimise_emitter *e) {
    mc_builder *b = e->b;
    optimise_numbers *n = &e->numbers;
    mc_reg rate = n->hyper[MC_HYPER_RATE];
    n->minus_rate = xor_b32(b, "minus_rate", rate, H(sign_bit));
    if (!optimise_is_adam(e->plan)) return;
    mc_reg one = mov_b32(b, "one", F32(1));
    n->rest1 = sub_f32(b, "rest1", one, n->hyper[MC_HYPER_MOMENTUM]);
    n->rest2 = sub_f32(b, "rest2", one, n->hyper[MC_HYPER_BETA2]);
    if (e->plan->rule == MC_RULE_ADAMW)
        n->minus_decay = mul_f32(b, "minus_decay", n->minus_rate, n->hyper[MC_HYPER_DECAY]);
}

void optimise_load_numbers(optimise_emitter *e) {
    mc_builder *b = e->b;
    int count = optimise_is_adam(e->plan) ? MC_HYPERS : QUAD;
    note(b, "the step's numbers");
    mc_reg at = load_array(b, "hyper");
    b32_array(b, "hyper_of", count, e->numbers.hyper);
    for (int i = 0; i < count; i += QUAD)
        EMIT(b, ldg_v4, V4(e->numbers.hyper + i), AT(at, (int64_t)i * WORD));
    derive_numbers(e);
}

static void emit_sgd(const optimise_emitter *e) {
    mc_builder *b = e->b;
    const optimise_element *x = &e->element;
    const mc_reg *hyper = e->numbers.hyper;
    EMIT(b, fma_f32, x->g, hyper[MC_HYPER_DECAY], x->w, x->g);
    EMIT(b, fma_f32, x->first, hyper[MC_HYPER_MOMENTUM], x->first, x->g);
    bool nesterov = e->plan->rule == MC_RULE_NESTEROV;
    if (nesterov) EMIT(b, fma_f32, x->g, hyper[MC_HYPER_MOMENTUM], x->first, x->g);
    EMIT(b, fma_f32, x->w, e->numbers.minus_rate, nesterov ? x->g : x->first, x->w);
}

static void emit_moments(const optimise_emitter *e) {
    mc_builder *b = e->b;
    const optimise_element *x = &e->element;
    const optimise_numbers *n = &e->numbers;
    EMIT(b, mul_f32, x->over, n->rest1, x->g);
    EMIT(b, fma_f32, x->first, n->hyper[MC_HYPER_MOMENTUM], x->first, x->over);
    EMIT(b, mul_f32, x->over, n->rest2, x->g);
    EMIT(b, mul_f32, x->over, x->over, x->g);
    EMIT(b, fma_f32, x->second, n->hyper[MC_HYPER_BETA2], x->second, x->over);
}

static void emit_adam(const optimise_emitter *e) {
    mc_builder *b = e->b;
    const optimise_element *x = &e->element;
    const optimise_numbers *n = &e->numbers;
    if (e->plan->rule == MC_RULE_ADAMW) EMIT(b, fma_f32, x->w, n->minus_decay, x->w, x->w);
    else EMIT(b, fma_f32, x->g, n->hyper[MC_HYPER_DECAY], x->w, x->g);
    emit_moments(e);
    EMIT(b, mul_f32, x->over, x->second, n->hyper[MC_HYPER_CORRECT2]);
    EMIT(b, sqrt_f32, x->over, x->over);
    EMIT(b, add_f32, x->over, x->over, n->hyper[MC_HYPER_EPSILON]);
    EMIT(b, mul_f32, x->g, x->first, n->hyper[MC_HYPER_CORRECT1]);
    EMIT(b, div_f32, x->g, x->g, x->over);
    EMIT(b, fma_f32, x->w, n->minus_rate, x->g, x->w);
}

void optimise_step(const optimise_emitter *e) {
    const optimise_element *x = &e->element;
    EMIT(e->b, mul_f32, x->g, x->g, e->numbers.hyper[MC_HYPER_UNSCALE]);
    if (optimise_is_adam(e->plan)) emit_adam(e);
    else emit_sgd(e);
}
