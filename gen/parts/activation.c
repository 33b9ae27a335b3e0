#include "parts/activation.h"

#define NAME_OF(NAME, text) text,
const char *const out_act_names[] = {MC_ACTIVATION_LIST(NAME_OF) NULL};
#undef NAME_OF

enum { FRACTION_BITS = 23 };
static const uint32_t sign = 0x80000000;

static const float power_terms[] = ACTIVATION_POWER_TERMS, tail_terms[] = ACTIVATION_TAIL_TERMS,
                   tanh_terms[] = ACTIVATION_TANH_TERMS, inverse_terms[] = ACTIVATION_INVERSE_TERMS;
enum {
    POWER_TERMS = sizeof power_terms / sizeof *power_terms,
    TAIL_TERMS = sizeof tail_terms / sizeof *tail_terms
};
_Static_assert((int)POWER_TERMS <= (int)ACTIVATION_MAX_TERMS && (int)TAIL_TERMS <= (int)ACTIVATION_MAX_TERMS,
               "more terms");

/* -- Constants ---------------------------------------------------------------------------------------- */

static void declare_terms(mc_builder *b, const char *name, const float *terms, int count, mc_reg *regs) {
    b32_array(b, name, count, regs);
    for (int i = 0; i < count; i++) EMIT(b, mov_b32, regs[i], F32(terms[i]));
}

void activation_declare_power(activation *a, mc_builder *b) {
    declare_terms(b, "power_term", power_terms, POWER_TERMS, a->power);
    a->whole = mov_b32(b, "to_whole", F32(ACTIVATION_WHOLE));
    a->exponent = b32(b, "exponent"), a->scratch = b32(b, "fraction");
    a->clamped = b32(b, "clamped");
}

void activation_declare(activation *a, mc_builder *b, out_act act) {
    *a = (activation){.act = act};
    if (act == ACT_RELU) {
        a->least = b32(b, "least");
        EMIT(b, mov_b32, a->least, I(0));
    }
    if (act == ACT_NONE || act == ACT_RELU) return;
    note(b, "the constants of %s", out_act_names[act]);
    activation_declare_power(a, b);
    if (act == ACT_GELU) {
        a->least = mov_b32(b, "least", F32(0));
        declare_terms(b, "tail_term", tail_terms, TAIL_TERMS, a->tail);
        a->tail_of = b32(b, "tail");
        return;
    }
    a->one = mov_b32(b, "one", F32(1)), a->minus_one = mov_b32(b, "minus_one", F32(-1));
    declare_terms(b, "inverse_term", inverse_terms, 2, a->inverse_term);
    a->inverse = b32(b, "inverse");
    a->least_power = mov_b32(b, "least_power", F32(ACTIVATION_LEAST_POWER));
    a->least = mov_b32(b, "least", F32(act == ACT_SILU ? ACTIVATION_SILU_LEAST : ACTIVATION_TANH_LEAST));
    if (act == ACT_SILU) a->by[0] = mov_b32(b, "minus_log2_e", F32(ACTIVATION_SILU_BY));
    else declare_terms(b, "tanh_term", tanh_terms, 2, a->by);
}

/* -- Arithmetic --------------------------------------------------------------------------------------- */

/* TO = the polynomial at X. */
static void emit_polynomial(mc_builder *b, const mc_reg *terms, int count, mc_reg x, mc_reg to) {
    EMIT(b, fma_f32, to, x, terms[count - 1], terms[count - 2]);
    for (int i = count - 3; i >= 0; i--) EMIT(b, fma_f32, to, to, x, terms[i]);
}

void activation_emit_power(const activation *a, mc_builder *b, mc_reg t) {
    mc_reg whole = a->exponent, fraction = a->scratch;
    EMIT(b, add_f32, whole, t, a->whole);
    EMIT(b, sub_f32, fraction, whole, a->whole);
    EMIT(b, sub_f32, fraction, t, fraction);
    emit_polynomial(b, a->power, POWER_TERMS, fraction, t);
    EMIT(b, shl_b32, whole, whole, I(FRACTION_BITS));
    EMIT(b, add_s32, t, t, whole);
}

/* MINUS is the divisor with its sign turned, and becomes scratch. Returns the register with 1 / divisor. */
static mc_reg emit_inverse(const activation *a, mc_builder *b, mc_reg minus) {
    mc_reg near = a->inverse, term = a->scratch;
    EMIT(b, sub_s32, near, H(ACTIVATION_INVERSE_BITS | sign), minus);
    EMIT(b, mul_f32, term, minus, near);
    EMIT(b, fma_f32, term, term, a->inverse_term[1], a->inverse_term[0]);
    EMIT(b, mul_f32, near, near, term);
    EMIT(b, fma_f32, minus, minus, near, a->one);
    EMIT(b, fma_f32, near, near, minus, near);
    return near;
}

/* y / (1 + 2^t): REAL becomes t, and what follows. */
static void emit_sigmoid(const activation *a, mc_builder *b, mc_reg real) {
    mc_reg y = a->clamped;
    EMIT(b, max_nan_f32, y, real, a->least);
    if (a->act == ACT_SILU) EMIT(b, mul_f32, real, y, a->by[0]);
    else {
        EMIT(b, mul_f32, real, y, y);
        EMIT(b, fma_f32, real, real, a->by[1], a->by[0]);
        EMIT(b, mul_f32, real, real, y);
    }
    EMIT(b, max_nan_f32, real, real, a->least_power);
    activation_emit_power(a, b, real);
    EMIT(b, sub_f32, real, a->minus_one, real);
    EMIT(b, mul_f32, real, y, emit_inverse(a, b, real));
}

/* Of floats with a sign the greater integer is the nearer one to zero, and a NaN is no nearer than -8. */
static void emit_gelu(const activation *a, mc_builder *b, mc_reg real) {
    mc_reg minus = a->clamped, tail = a->tail_of;
    EMIT(b, or_b32, minus, real, H(sign));
    EMIT(b, min_s32, minus, minus, F32(-ACTIVATION_GELU_MOST));
    EMIT(b, max_nan_f32, real, real, a->least);
    emit_polynomial(b, a->tail, TAIL_TERMS, minus, tail);
    activation_emit_power(a, b, tail);
    EMIT(b, fma_f32, real, minus, tail, real);
}

void activation_emit(const activation *a, mc_builder *b, mc_reg real) {
    switch (a->act) {
    case ACT_NONE: break;
    case ACT_RELU: EMIT(b, max_nan_f32, real, real, a->least); break;
    case ACT_SILU:
    case ACT_GELU_TANH: emit_sigmoid(a, b, real); break;
    case ACT_GELU: emit_gelu(a, b, real);
    }
}
