#include "problem_ops.h"
#include "ops/operator.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "proof.h"

static const problem_ops *const ops[OPERATORS] = {&problem_spmm, &problem_sddmm};

/* As mcrun makes random ones. */
static void fill(const char *operand, float *values, int64_t count, mc_value_law law, uint64_t seed) {
    operator_of(MC_OP_SPMM)
        ->operands[operator_operand(operator_of(MC_OP_SPMM), operand)]
        .fill(values, count, law, seed);
}

/* Enough for any kernel's output: by row, by column, or the first for all. mc_scale_fill suits products of 16 bits; longer
   ones are scaled down and those of floats, which are some 2^8 times smaller, and of one side of floats up, so that f16 can tell
   one wrong sum from another. */
static mc_status make_factors(problem *p, mc_diag *diag) {
    int longer = mc_type_bits(p->kind.lhs) + mc_type_bits(p->kind.rhs) - 16,
        exponent = mc_type_is_real(p->kind.rhs) ? mc_type_is_real(p->kind.lhs) ? 8 : 4
                   : longer > 0                 ? -longer
                                                : 0;
    int64_t rows = (int64_t)p->spec->row_blocks * p->kind.vec, count = rows > p->spec->n ? rows : p->spec->n;
    p->scale = calloc((size_t)count + 1, sizeof *p->scale);
    p->bias = calloc((size_t)count + 1, sizeof *p->bias);
    p->b_scale = calloc((size_t)count + 1, sizeof *p->b_scale);
    if (!p->scale || !p->bias || !p->b_scale) return mc_fail(diag, MC_NOMEM, "out of memory");
    mc_scale_fill(p->scale, count, p->spec->values, 3);
    mc_bias_fill(p->bias, count, p->spec->values, 4);
    fill("b_scale", p->b_scale, count, p->spec->values, 5);
    fill("c_scale", &p->c_scale, 1, p->spec->values, 6);
    fill("zero", &p->zero, 1, p->spec->values, 7);
    fill("beta", &p->beta, 1, p->spec->values, 9);
    for (int64_t i = 0; i < count; i++) p->scale[i] = ldexpf(p->scale[i], exponent);
    return MC_OK;
}

static problem_operator family_of_kernel(const mc_kernel *kernel) {
    return strcmp(mc_kernel_contract(kernel)->family, "sddmm") == 0 ? OPERATOR_SDDMM : OPERATOR_SPMM;
}

static bool is_by_columns(const mc_kernel *kernel, const char *field) {
    const char *major = mc_kernel_field_text(kernel, field);
    return major != NULL && strcmp(major, "column") == 0;
}

mc_status problem_kind_of(const mc_kernel *kernel, problem_kind *kind, mc_diag *diag) {
    *kind = (problem_kind){.vec = (int)mc_kernel_field(kernel, "vec"), .op = family_of_kernel(kernel)};
    mc_status status = mc_type_of(kernel, "lhs", &kind->lhs, diag);
    if (status == MC_OK) status = mc_type_of(kernel, "rhs", &kind->rhs, diag);
    if (status == MC_OK && kind->op == OPERATOR_SDDMM) return mc_layout_of(kernel, &kind->layout, diag);
    const char *residual = mc_kernel_field_text(kernel, "residual");
    if (status == MC_OK && residual != NULL && strcmp(residual, "none") != 0) {
        mc_type type;
        status = mc_type_from_text(residual, &type, diag);
        kind->residual = (mc_residual)type;
    }
    if (status == MC_OK) status = mc_type_of(kernel, "out", &kind->out, diag);
    kind->b_columns = is_by_columns(kernel, "b_major");
    const char *format = mc_kernel_contract(kernel)->format;
    kind->panels = strcmp(format, "panels") == 0 || strcmp(format, "hrpb") == 0;
    kind->c_columns = is_by_columns(kernel, "c_major");
    kind->most = status == MC_OK ? mc_pack_most(kernel, kind->lhs) : 0;
    return status;
}

static int leading(mc_type type, int length, int gap) {
    int ld = length + gap;
    if (mc_type_bits(type) >= 8) return ld;
    ld += ld % 2;
    return gap > 0 && ld % 16 != 0 && ld % 4 == 0 ? ld + 2 : ld;
}

/* What tensor copies take of elements of any type. */
static int for_tensor_copies(int length, int gap) { return (length + gap + 15) / 16 * 16; }

int problem_lda(const problem_case *spec, const problem_kind *kind) {
    return leading(kind->lhs, spec->k, spec->lda_gap);
}

int problem_ldb(const problem_case *spec, const problem_kind *kind) {
    bool columns = kind->op == OPERATOR_SDDMM && kind->layout == MC_LAYOUT_COLUMNS;
    if (kind->b_columns) return for_tensor_copies(spec->k, spec->ldb_gap);
    return leading(kind->rhs, columns ? spec->k : spec->n, spec->ldb_gap);
}

int problem_ldc(const problem_case *spec, const problem_kind *kind) {
    bool pairs = mc_type_bits(kind->out) < 8;
    if (kind->b_columns) return for_tensor_copies(spec->row_blocks * kind->vec, spec->ldc_gap);
    if (kind->c_columns) return spec->row_blocks * kind->vec + spec->ldc_gap;
    return pairs ? leading(kind->out, spec->n, spec->ldc_gap) : spec->n + spec->ldc_gap;
}

int problem_ldr(const problem_case *spec, const problem_kind *kind) {
    int row = kind->c_columns ? spec->row_blocks * kind->vec : spec->n;
    if (kind->b_columns) return for_tensor_copies(row, spec->ldb_gap);
    return row + spec->ldb_gap + (spec->pattern == PATTERN_ONE_FULL);
}

mc_status problem_make_of(const mc_csr *mask, const problem_case *spec, const problem_kind *kind, problem *p,
                          mc_diag *diag) {
    *p = (problem){.spec = spec, .kind = *kind, .ldc = problem_ldc(spec, kind)};
    mc_status status = ops[kind->op]->make(p, mask, diag);
    if (status == MC_OK) status = make_factors(p, diag);
    if (status != MC_OK) problem_free(p);
    return status;
}

mc_status problem_make(const problem_case *spec, const problem_kind *kind, problem *p, mc_diag *diag) {
    mc_csr mask = {0};
    int columns = kind->op == OPERATOR_SDDMM ? spec->n : spec->k;
    *p = (problem){0};
    mc_status status = pattern_make(spec->pattern, spec->row_blocks, columns, &mask, diag);
    if (status == MC_OK) status = problem_make_of(&mask, spec, kind, p, diag);
    mc_csr_free(&mask);
    return status;
}

void problem_free(problem *p) {
    mc_vsparse_free(&p->a);
    mc_dense_free(&p->dense_a);
    mc_dense_free(&p->b);
    mc_dense_free(&p->sums);
    mc_dense_free(&p->bounds);
    mc_dense_free(&p->residual);
    mc_dense_free(&p->stored_b);
    mc_dense_free(&p->stored_residual);
    free(p->scale);
    free(p->bias);
    free(p->b_scale);
    *p = (problem){0};
}

void problem_expect(mc_device *device, const mc_kernel *kernel, int64_t ld, const reference_result *want) {
    const mc_contract *contract = mc_kernel_contract(kernel);
    size_t c = 0;
    while (c < contract->param_count && strcmp(contract->params[c].name, "c") != 0) c++;
    if (c == contract->param_count) return; /* C is stored by a tensor map: there are no proofs of it */
    proof_expect_within(device, c, want->low.type, ld, &want->low,
                        want->high.data != NULL ? &want->high : NULL);
}

mc_status problem_run(const problem *p, mc_device *device, const mc_kernel *kernel, const char *ptx,
                      mc_diag *diag) {
    return proof_settle(device, ops[p->kind.op]->run(p, device, kernel, ptx, diag), diag);
}

void problem_fix(const problem_case *spec, const problem_kind *kind, fixed_settings *fixed) {
    int values[PROBLEM_SHAPES];
    ops[kind->op]->shapes(spec, kind, values);
    for (int i = 0; i < PROBLEM_SHAPES; i++) {
        snprintf(fixed->text[i], sizeof fixed->text[i], "%d", values[i]);
        fixed->settings[i] = (mc_setting){ops[kind->op]->shape_names[i], fixed->text[i]};
    }
    fixed->count = PROBLEM_SHAPES + (kind->residual != MC_RESIDUAL_NONE);
    snprintf(fixed->text[PROBLEM_SHAPES], sizeof fixed->text[0], "%d", problem_ldr(spec, kind));
    fixed->settings[PROBLEM_SHAPES] = (mc_setting){"ldr", fixed->text[PROBLEM_SHAPES]};
}
