/* The arithmetic of floats of 8, 16 and 32 bits, with sums in f32: the pairs of parts/real/mma.c.
 *
 * An mma takes K = 256 / bits, and a lane of it K / 4 of each row or column, in two registers: lane t has of
 * the first one the places from t K / 8 on, of the second one those K / 2 further on (PTX ISA, "Matrix
 * Fragments for mma.m16n8k16" and its neighbours), of both operands. A lane's unit has four registers, and a
 * chunk the k of two mma: the first one takes of each lane's unit the first half, and the second one the
 * other. So words as loaded are operands; those of tf32 are rounded, A's once a panel, B's for each mma. A
 * step is one mma, of a row-major B both.
 *
 * Where a GPU has no mma of 8 bits, values are made f16, A's once a panel and B's for each mma. A word then
 * becomes both registers of an mma, so that a chunk is the k of four mma, and a step is two mma, of a
 * row-major B four.
 *
 * Zero times infinity is NaN. So where k ends, zeros stand on both sides (sddmm_arithmetic_kind.real). */
#include "ops/sddmm/arithmetic.h"
#include "ops/sddmm/fields.h"
#include "parts/emit.h"
#include "parts/fragment.h"
#include "parts/side.h"
#include <limits.h>
#include <stdio.h>

enum {
    LANE_REGS = 2, /* a lane's registers of a row of an mma */
    UNIT_WORDS = SDDMM_UNIT / WORD,
    FIXED_SPARE = 8, /* registers that ptxas 13 takes besides where k is fixed */
};

/* -- Plan --------------------------------------------------------------------------------------------- */

/* The mma for both sides, whose values have as many bits each; NULL: none. */
static const real_pair *pair_of(const int64_t *point, int sm) {
    int lhs = (int)point[F_LHS], rhs = (int)point[F_RHS];
    const real_pair *pair = real_pair_wide(side_type_names[lhs], side_type_names[rhs], sm);
    bool fits = pair && real_stored_bits(pair, pair->a_form) == side_value_bits(lhs) &&
                real_stored_bits(pair, pair->b_form) == side_value_bits(rhs) &&
                side_value_bits(lhs) == side_value_bits(rhs);
    return fits ? pair : NULL;
}

/* Complains of a point that has no mma, and returns another one. */
static const real_pair *refuse(const int64_t *point, const char *lhs, mc_complaints *complaints) {
    char takes[REAL_TAKES];
    const real_pair *other = real_pair_with(lhs, INT_MAX, false, takes);
    if (other)
        complain(complaints, F_RHS, "lhs = \"%s\" takes rhs = %s, not \"%s\"", lhs, takes,
                 side_type_names[point[F_RHS]]);
    else complain(complaints, F_LHS, "there is no mma for \"%s\" here", lhs);
    return other ? other : real_pair_of("f16", "f16", INT_MAX);
}

/* What the contract says of A, of B by columns, of B by rows. */
static void describe(sddmm_arithmetic *a) {
    static const char *const what[] = {[SDDMM_MATRIX_A] = "A: %s[m][lda], row-major",
                                       [SDDMM_MATRIX_COLUMNS] = "B: %s[n][ldb], columns of B",
                                       [SDDMM_MATRIX_ROWS] = "B: %s[k][ldb], row-major"};
    for (int i = 0; i < SDDMM_MATRICES; i++)
        snprintf(a->real.docs[i], sizeof a->real.docs[i], what[i], i ? a->rhs.name : a->lhs.name);
}

static void plan_pair(const int64_t *point, sddmm_arithmetic *a, mc_complaints *complaints) {
    const char *lhs = side_type_names[point[F_LHS]];
    int sm = mc_archs[point[FIELD_ARCH]].sm;
    a->real.pair = pair_of(point, sm);
    if (!a->real.pair) a->real.pair = refuse(point, lhs, complaints);
    a->real.b_form = a->real.pair->b_form;
    a->real.a_form = a->real.b_form == REAL_ROUNDED ? REAL_ROUNDED : a->real.pair->a_form; /* A is dense */
    a->lhs = (sddmm_values){lhs, real_stored_bits(a->real.pair, a->real.a_form)};
    a->rhs = (sddmm_values){side_type_names[point[F_RHS]], a->lhs.bits};
}

static void plan(const int64_t *point, bool by_rows, sddmm_arithmetic *a, mc_complaints *complaints) {
    plan_pair(point, a, complaints);
    int wider = a->real.pair->bits / a->lhs.bits; /* registers that a word becomes */
    a->steps = by_rows ? 1 : 2;
    a->a_words = a->b_words = UNIT_WORDS / a->steps;
    a->a_operands = a->a_words * wider;
    a->mma = a->a_operands / LANE_REGS;
    a->unit_k = 8 * SDDMM_UNIT / a->lhs.bits;
    a->step_k = a->unit_k / a->steps;
    a->a_is_plain = a->real.a_form == REAL_AS_IT_IS;
    a->b_is_plain = a->real.b_form == REAL_AS_IT_IS;
    a->accs = SDDMM_ACC;
    if (point[F_K] != MC_OPEN) a->spare = FIXED_SPARE;
    if (point[F_PRECISION_SPLIT])
        complain(complaints, F_PRECISION_SPLIT, "lhs = \"%s\": its values are no digits; leave it out",
                 a->lhs.name);
    describe(a);
}

/* -- Contract ----------------------------------------------------------------------------------------- */

/* Sums of floats have no bound of this kind. */
static mc_sums sums_contract(const sddmm_arithmetic *a, int64_t k) {
    return (void)a, (void)k, (mc_sums){.lhs = NULL};
}

static const char *matrix_doc(const sddmm_arithmetic *a, sddmm_matrix which) { return a->real.docs[which]; }

static const char *mma_doc(const sddmm_arithmetic *a, sddmm_share share) {
    static const char *const by_bytes[][SDDMM_SHARES] = {
        [1] = {"m16n8k32 instructions, a group and panel", "m16n8k32 instructions, a warp and stage"},
        [2] = {"m16n8k16 instructions, a group and panel", "m16n8k16 instructions, a warp and stage"},
        [4] = {"m16n8k8 instructions, a group and panel", "m16n8k8 instructions, a warp and stage"}};
    return by_bytes[a->real.pair->bits / 8][share];
}

/* -- Instructions ------------------------------------------------------------------------------------- */

static void declare(sddmm_multiplier *m) {
    const sddmm_real *of = &m->arithmetic->real;
    m->real.a = real_declare_widener(m->b, of->a_form, "a");
    m->real.b = real_declare_widener(m->b, of->b_form, "b");
    if (!m->arithmetic->b_is_plain)
        b32_array(m->b, real_widens(of->b_form) ? "wide" : "rounded", SDDMM_ACC, m->real.operand);
}

static void emit_a_step(const sddmm_multiplier *m, const mc_reg *words, const mc_reg *operands) {
    const sddmm_arithmetic *a = m->arithmetic;
    bool widens = real_widens(a->real.a_form);
    if (a->a_is_plain) return;
    if (widens) note(m->b, "values of A become %s", real_wide_name(a->real.a_form));
    for (int i = 0; i < a->a_words; i++) {
        if (widens) real_widen(&m->real.a, words[i], REAL_NEIGHBOURS, &operands[LANE_REGS * i]);
        else EMIT(m->b, cvt_tf32_f32, operands[i], words[i]);
    }
}

/* Puts two rows' registers in the order of an mma's operand. */
static void arrange(const mc_reg *x, const mc_reg *y, mc_reg rows[SDDMM_ACC]) {
    for (int half = 0; half < LANE_REGS; half++) {
        rows[frag_a_reg(0, half)] = x[half];
        rows[frag_a_reg(1, half)] = y[half];
    }
}

/* Makes mma MMA's operand of B's words of a step. */
static void emit_b_operand(const sddmm_multiplier *m, const mc_reg *x, const mc_reg *y, int mma,
                           mc_reg rows[SDDMM_ACC]) {
    const mc_reg *operand = m->real.operand;
    if (real_widens(m->arithmetic->real.b_form)) {
        real_widen(&m->real.b, x[mma], REAL_NEIGHBOURS, operand);
        real_widen(&m->real.b, y[mma], REAL_NEIGHBOURS, operand + LANE_REGS);
        arrange(operand, operand + LANE_REGS, rows);
        return;
    }
    arrange(&x[LANE_REGS * mma], &y[LANE_REGS * mma], rows);
    if (m->arithmetic->b_is_plain) return;
    for (int i = 0; i < SDDMM_ACC; i++) {
        EMIT(m->b, cvt_tf32_f32, operand[i], rows[i]);
        rows[i] = operand[i];
    }
}

/* Mma MMA of a step, for each factor. */
static void emit_mma(const sddmm_multiplier *m, const mc_reg *x, const mc_reg *y, const sddmm_factor *factors,
                     int count, int mma) {
    mc_reg rows[SDDMM_ACC];
    emit_b_operand(m, x, y, mma, rows);
    for (int i = 0; i < count; i++) {
        const mc_reg *acc = factors[i].acc, *a = &factors[i].operands[LANE_REGS * mma];
        builder_emit(m->b, (mc_reg){0}, m->arithmetic->real.pair->swapped,
                     MC_OPERANDS(V4(acc), V4(rows), V2(a), V4(acc)));
    }
}

static void emit_step(const sddmm_multiplier *m, const mc_reg *x, const mc_reg *y,
                      const sddmm_factor *factors, int count) {
    real_form form = m->arithmetic->real.b_form;
    if (real_widens(form)) note(m->b, "values of B become %s", real_wide_name(form));
    for (int i = 0; i < m->arithmetic->mma; i++) emit_mma(m, x, y, factors, count, i);
}

/* Accumulators are sums. */
static void emit_settle(const sddmm_multiplier *m, const mc_reg *acc) { (void)m, (void)acc; }
static void emit_add(const sddmm_multiplier *m, mc_reg sum, mc_reg other) {
    EMIT(m->b, add_f32, sum, sum, other);
}

static const sddmm_emitters emitters = {
    .declare = declare, .a_step = emit_a_step, .products = emit_step, .settle = emit_settle, .add = emit_add};

const sddmm_arithmetic_kind sddmm_reals = {
    .real = true,
    .plan = plan,
    .sums_contract = sums_contract,
    .matrix_doc = matrix_doc,
    .mma_doc = mma_doc,
    .emit = &emitters,
};
