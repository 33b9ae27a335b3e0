/* The arithmetic of floats: f16 and bf16, multiplied by m16n8k16, with sums in f32.
 *
 * A lane's unit has 8 k of a row, in four registers, and a chunk has 32 k: those of two mma. Lane t of an mma
 * has k = 2 t, 2 t + 1 and 2 t + 8, 2 t + 9, of both operands (PTX ISA, "Matrix Fragments for mma.m16n8k16").
 * Those are k = 8 t, 8 t + 1 and 8 t + 2, 8 t + 3 of the chunk in the first mma, and the next four in the
 * second: words as loaded are operands. A step is one mma, of a row-major B both.
 *
 * Zero times infinity is NaN. So where k ends, zeros stand on both sides (sddmm_arithmetic_kind.real). */
#include "ops/sddmm/arithmetic.h"
#include "ops/sddmm/fields.h"
#include "parts/emit.h"
#include "parts/fragment.h"
#include "parts/real/mma.h"
#include "parts/side.h"

enum {
    LANE_K = 4,      /* a lane's k of an mma */
    LANE_REGS = 2,   /* registers that these take */
    UNIT_MMA = 2,    /* mma of a unit */
    FIXED_SPARE = 8, /* registers that ptxas 13 takes besides where k is fixed */
};

/* -- Plan --------------------------------------------------------------------------------------------- */

static void check(const int64_t *point, const sddmm_arithmetic *a, mc_complaints *complaints) {
    if (point[F_LHS] != point[F_RHS])
        complain(complaints, F_RHS, "lhs = \"%s\" takes rhs = \"%s\", not \"%s\"", a->lhs.name, a->lhs.name,
                 a->rhs.name);
    if (point[F_PRECISION_SPLIT])
        complain(complaints, F_PRECISION_SPLIT, "lhs = \"%s\": its values are no digits; leave it out",
                 a->lhs.name);
}

static void plan(const int64_t *point, bool by_rows, sddmm_arithmetic *a, mc_complaints *complaints) {
    a->lhs = (sddmm_values){side_type_names[point[F_LHS]], REAL_BITS};
    a->rhs = (sddmm_values){side_type_names[point[F_RHS]], REAL_BITS};
    a->mma = by_rows ? UNIT_MMA : 1;
    a->steps = UNIT_MMA / a->mma;
    a->step_k = a->mma * LANE_K;
    a->unit_k = UNIT_MMA * LANE_K;
    a->a_words = a->a_operands = a->b_words = a->mma * LANE_REGS;
    a->a_is_plain = a->b_is_plain = true;
    a->accs = SDDMM_ACC;
    if (point[F_K] != MC_OPEN) a->spare = FIXED_SPARE;
    a->real.mma = real_mma(a->lhs.name);
    if (a->real.mma == MC_OPCODES) {
        complain(complaints, F_LHS, "there is no mma for \"%s\" here", a->lhs.name);
        a->real.mma = OP_mma_f16;
    }
    check(point, a, complaints);
}

/* -- Contract ----------------------------------------------------------------------------------------- */

/* Sums of floats have no bound of this kind. */
static mc_sums sums_contract(const sddmm_arithmetic *a, int64_t k) {
    return (void)a, (void)k, (mc_sums){.lhs = NULL};
}

/* Of A, of B by columns, of B by rows. */
#define DOCS(type)                                                                                           \
    {                                                                                                        \
        "A: " type "[m][lda], row-major", "B: " type "[n][ldb], columns of B",                               \
            "B: " type "[k][ldb], row-major"                                                                 \
    }

static const char *matrix_doc(const sddmm_arithmetic *a, sddmm_matrix which) {
    static const char *const docs[][3] = {DOCS("f16"), DOCS("bf16")};
    return docs[a->real.mma == OP_mma_bf16][which];
}
#undef DOCS

/* -- Instructions ------------------------------------------------------------------------------------- */

static void declare(sddmm_multiplier *m) { (void)m; }
static void emit_a_step(const sddmm_multiplier *m, const mc_reg *words, const mc_reg *operands) {
    (void)m, (void)words, (void)operands;
}

/* Multiplies words FIRST and FIRST + 1 of a step: an mma for each factor. */
static void emit_mma(const sddmm_multiplier *m, const mc_reg *x, const mc_reg *y, const sddmm_factor *factors,
                     int count, int first) {
    mc_reg rows[SDDMM_ACC];
    for (int half = 0; half < LANE_REGS; half++) {
        rows[frag_a_reg(0, half)] = x[first + half];
        rows[frag_a_reg(1, half)] = y[first + half];
    }
    for (int i = 0; i < count; i++) {
        const mc_reg *acc = factors[i].acc, *a = &factors[i].operands[first];
        builder_emit(m->b, (mc_reg){0}, m->arithmetic->real.mma,
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
    .group_mma_doc = "m16n8k16 instructions, a group and panel",
    .stage_mma_doc = "m16n8k16 instructions, a warp and stage",
    .emit = &emitters,
};
