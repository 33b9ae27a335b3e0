/* The arithmetic of floats of 8, 16 and 32 bits, with sums in f32: the pairs of parts/real/mma.c.
 *
 * An mma takes K = 256 / bits, and a lane of it K / 4 of each row or column, in two registers: lane t has of
 * the first one the places from t K / 8 on, of the second one those K / 2 further on (PTX ISA, "Matrix
 * Fragments for mma.m16n8k16" and its neighbours), of both operands. A lane's unit has four registers, and a
 * chunk the k of two mma: the first one takes of each lane's unit the first half, and the second one the
 * other. So words as loaded are operands; those of tf32 are rounded, A's once a panel, B's for each mma. A
 * step is one mma, of a row-major B both.
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
    LANE_REGS = 2,   /* a lane's registers of a row of an mma */
    UNIT_MMA = 2,    /* mma of a unit */
    FIXED_SPARE = 8, /* registers that ptxas 13 takes besides where k is fixed */
    EMULATION = 48,  /* the same for an mma that it makes of others */
};

/* -- Plan --------------------------------------------------------------------------------------------- */

/* The mma whose operands are words of both sides as they lie in memory; NULL: none. */
static const real_pair *pair_of(const int64_t *point, int sm) {
    int lhs = (int)point[F_LHS], rhs = (int)point[F_RHS];
    const real_pair *pair = real_pair_of(side_type_names[lhs], side_type_names[rhs], sm);
    bool fits = pair && pair->bits == side_value_bits(lhs) && pair->bits == side_value_bits(rhs);
    return fits ? pair : NULL;
}

/* Complains of a point that has no mma, and returns another one. */
static const real_pair *refuse(const int64_t *point, const char *lhs, mc_complaints *complaints) {
    char takes[REAL_TAKES];
    const real_pair *later = pair_of(point, INT_MAX), *other = real_pair_with(lhs, INT_MAX, false, takes);
    if (later) complain(complaints, F_LHS, "the mma for \"%s\" wants sm_%d or later", lhs, later->sm);
    else if (other)
        complain(complaints, F_RHS, "lhs = \"%s\" takes rhs = %s, not \"%s\"", lhs, takes,
                 side_type_names[point[F_RHS]]);
    else complain(complaints, F_LHS, "there is no mma for \"%s\" here", lhs);
    if (later) return later;
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
    if (real_is_emulated(a->real.pair, sm)) a->in_mma = EMULATION;
    a->lhs = (sddmm_values){lhs, a->real.pair->bits};
    a->rhs = (sddmm_values){side_type_names[point[F_RHS]], a->real.pair->bits};
}

static void plan(const int64_t *point, bool by_rows, sddmm_arithmetic *a, mc_complaints *complaints) {
    plan_pair(point, a, complaints);
    int lane_k = real_slots(a->real.pair) / 4;
    a->mma = by_rows ? UNIT_MMA : 1;
    a->steps = UNIT_MMA / a->mma;
    a->step_k = a->mma * lane_k;
    a->unit_k = UNIT_MMA * lane_k;
    a->a_words = a->a_operands = a->b_words = a->mma * LANE_REGS;
    a->a_is_plain = a->b_is_plain = a->real.pair->b_form == REAL_AS_IT_IS; /* A is dense, as B is */
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
    m->b->spare += m->arithmetic->in_mma;
    if (!m->arithmetic->b_is_plain) b32_array(m->b, "rounded", SDDMM_ACC, m->real.rounded);
}

static void emit_a_step(const sddmm_multiplier *m, const mc_reg *words, const mc_reg *operands) {
    const sddmm_arithmetic *a = m->arithmetic;
    if (a->a_is_plain) return;
    for (int i = 0; i < a->a_words; i++) EMIT(m->b, cvt_tf32_f32, operands[i], words[i]);
}

/* Makes operands of B's words of an mma. */
static void emit_b_operand(const sddmm_multiplier *m, mc_reg rows[SDDMM_ACC]) {
    if (m->arithmetic->b_is_plain) return;
    for (int i = 0; i < SDDMM_ACC; i++) {
        EMIT(m->b, cvt_tf32_f32, m->real.rounded[i], rows[i]);
        rows[i] = m->real.rounded[i];
    }
}

/* Multiplies words FIRST and FIRST + 1 of a step: an mma for each factor. */
static void emit_mma(const sddmm_multiplier *m, const mc_reg *x, const mc_reg *y, const sddmm_factor *factors,
                     int count, int first) {
    mc_reg rows[SDDMM_ACC];
    for (int half = 0; half < LANE_REGS; half++) {
        rows[frag_a_reg(0, half)] = x[first + half];
        rows[frag_a_reg(1, half)] = y[first + half];
    }
    emit_b_operand(m, rows);
    for (int i = 0; i < count; i++) {
        const mc_reg *acc = factors[i].acc, *a = &factors[i].operands[first];
        builder_emit(m->b, (mc_reg){0}, m->arithmetic->real.pair->swapped,
                     MC_OPERANDS(V4(acc), V4(rows), V2(a), V4(acc)));
    }
}

static void emit_step(const sddmm_multiplier *m, const mc_reg *x, const mc_reg *y,
                      const sddmm_factor *factors, int count) {
    for (int i = 0; i < m->arithmetic->mma; i++) emit_mma(m, x, y, factors, count, LANE_REGS * i);
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
