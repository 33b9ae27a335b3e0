/* Plans' configurations: what is refused, and with which words; what is put in for what is left out; that
   specs take the settings. */
#include <math.h>
#include <stdlib.h>
#include "check.h"
#include "mcrt_internal.h"
#include "problem/problem.h"

static mc_diag *diag;

/* Two row blocks of 8 rows, with 3 and 1 vectors, 40 columns. */
static int64_t row_ptr[] = {0, 3, 4};
static int32_t col_idx[] = {0, 7, 39, 5};

static mc_vsparse matrix_of(mc_type type) {
    return (mc_vsparse){.type = type,
                        .vec = 8,
                        .rows = 16,
                        .cols = 40,
                        .row_blocks = 2,
                        .vectors = 4,
                        .row_ptr = row_ptr,
                        .col_idx = col_idx};
}

#define SPMM(C, N, ...) ((mc_plan_config){.size = sizeof(mc_plan_config), .c = C, .n = N, __VA_ARGS__})
#define SDDMM(C, K, ...)                                                                                     \
    ((mc_plan_config){.size = sizeof(mc_plan_config), .op = MC_OP_SDDMM, .c = C, .k = K, __VA_ARGS__})

static const struct refusal {
    mc_plan_config config;
    mc_type matrix;
    mc_status status;
    const char *message;
} refusals[] = {
    {SPMM(MC_S32, 32, .op = (mc_op)10), MC_S8, MC_USAGE, "op is 10, must be one of its 10 choices"},
    {SPMM(MC_S32, 32, .b = (mc_type)17), MC_S8, MC_USAGE, "b is 17, must be one of its 17 choices"},
    {SPMM(MC_S32, 32, .tuning = (mc_tuning)-1), MC_S8, MC_USAGE, "tuning is"},
    {SPMM(MC_S32, 32, .align = 8), MC_S8, MC_USAGE, "align is 8, must be 1, 4 or 16 (0: 16)"},
    {SDDMM(MC_S32, 64, .c_order = (mc_order)8), MC_S8, MC_USAGE, "c_order is 8, must be 0, 16 or 32"},
    {SPMM(MC_S32, 32, .spec_count = 1), MC_S8, MC_USAGE, "spec_count is 1, and specs NULL"},
    {SPMM(MC_S32, 32, .spec_count = 1, .specs = (const char *const[]){NULL}), MC_S8, MC_USAGE,
     "specs[0] is NULL"},
    {SPMM(MC_S32, 32, .lda = 64), MC_S8, MC_USAGE, "lda is set, which an SpMM has not"},
    {SPMM(MC_S32, 32, .mask_values = true), MC_S8, MC_USAGE, "mask_values is set, which an SpMM has not"},
    {SPMM(MC_S32, 32, .c_order = MC_ORDER_SRBCRS16), MC_S8, MC_USAGE, "c_order is set"},
    {SPMM(MC_S32, 32, .b_layout = MC_LAYOUT_ROWS), MC_S8, MC_USAGE, "b_layout is set"},
    {SDDMM(MC_S32, 64, .ldc = 64), MC_S8, MC_USAGE, "ldc is set, which an SDDMM has not"},
    {SDDMM(MC_S32, 64, .bias = MC_PER_ROW), MC_S8, MC_USAGE, "bias is set, which an SDDMM has not"},
    {SDDMM(MC_S32, 64, .exact = true), MC_S8, MC_USAGE, "exact is set"},
    {SDDMM(MC_S32, 64, .activation = MC_ACTIVATION_RELU), MC_S8, MC_USAGE, "activation is set"},
    {SPMM(MC_S32, 32, .a = MC_U8), MC_S8, MC_USAGE, "a is u8, the matrix holds s8: leave a out"},
    {SPMM(MC_S32, 32, .align = 16), MC_F32, MC_CANNOT,
     "the matrix's type is f32, b is s8: there are kernels for two sides of integers, or of floats"},
    {SPMM(MC_S32, 32, .b = MC_S32), MC_S8, MC_CANNOT,
     "b is s32, there are kernels for s8, u8, s16, u16, s4, u4, s12, u12, f16, bf16, f32, tf32, e4m3, e5m2 "
     "and tf32rz"},
    {SDDMM(MC_S32, 64, .a = MC_S32), MC_S8, MC_CANNOT, "a is s32, there are kernels for s8, u8, s16"},
    {SDDMM(MC_S32, 64, .a = MC_F16), MC_S8, MC_CANNOT,
     "a is f16, b is s8: there are kernels for two sides of integers, or of floats"},
    {SPMM(MC_F32, 32, .b = MC_S8), MC_BF16, MC_CANNOT,
     "the matrix's type is bf16, b is s8: there are kernels for two sides of integers, or of floats, or for "
     "integers of at most 8 bits by f16 or bf16"},
    {SPMM(MC_F32, 32, .b = MC_F16), MC_S16, MC_CANNOT,
     "the matrix's type is s16, b is f16: there are kernels"},
    {SPMM(MC_S32, 32, .b = MC_F16), MC_F16, MC_CANNOT,
     "c is s32, an SpMM of floats gives s8, u8, s4, u4, f16, bf16, f32, e4m3 or e5m2"},
    {SPMM(MC_S4, 32, .b = MC_F16), MC_F16, MC_USAGE, "c is s4, which wants a scale"},
    {SPMM(MC_S64, 32, .b = MC_F16, .exact = true), MC_F16, MC_CANNOT, "c is s64, an SpMM of floats"},
    {SPMM(MC_F32, 32, .b = MC_F16, .exact = true), MC_F16, MC_CANNOT,
     "exact sums are of integers, not of floats"},
    {SPMM(MC_S8, 32, .b = MC_F16), MC_F16, MC_USAGE, "c is s8, which wants a scale"},
    {SPMM(MC_F16, 32, .b = MC_F16, .bias = MC_PER_TENSOR), MC_F16, MC_USAGE, "bias is MC_PER_TENSOR"},
    {SPMM(MC_F16, 32, .b = MC_F16, .c_scale = MC_PER_TENSOR), MC_F16, MC_USAGE,
     "c is f16: c_scale goes with s8, u8, s4, u4, e4m3 and e5m2, zero with the first four"},
    {SPMM(MC_F32, 32, .b = MC_TF32, .given_values = true), MC_TF32, MC_CANNOT,
     "given_values wants a matrix of 4, 8 or 16 bits, this one is of tf32"},
    {SPMM(MC_S32, 32, .b = MC_S8, .given_values = true), MC_S12, MC_CANNOT,
     "given_values wants a matrix of 4, 8 or 16 bits, this one is of s12"},
    {SPMM(MC_F32, 32, .b = MC_F16, .given_values = true), MC_S4, MC_CANNOT,
     "given_values of s4 want a b of integers, not of f16"},
    {SPMM(MC_S32, 32, .b = MC_F16), MC_S8, MC_CANNOT, "c is s32, an SpMM of floats gives"},
    {SPMM(MC_F32, 32, .b = MC_F16, .exact = true), MC_S8, MC_CANNOT,
     "exact sums are of integers, not of floats"},
    {SDDMM(MC_F32, 64, .a = MC_S8, .b = MC_F16), MC_S8, MC_CANNOT,
     "a is s8, b is f16: there are kernels for two sides of integers, or of floats"},
    {SDDMM(MC_S32, 64, .a = MC_F16, .b = MC_F16), MC_S8, MC_CANNOT,
     "c is s32, an SDDMM of floats gives s8, u8, f16, bf16, f32, e4m3 or e5m2"},
    {SPMM(MC_S12, 32, .align = 16), MC_S8, MC_CANNOT,
     "c is s12, an SpMM gives s8, u8, s32, s64, s4, u4, f16, bf16, f32, e4m3 or e5m2"},
    {SPMM(MC_S4, 32, .align = 16), MC_S8, MC_USAGE, "c is s4, which wants a scale"},
    {SPMM(MC_U4, 31, .scale = MC_PER_ROW, .ldc = 33), MC_S8, MC_CANNOT,
     "ldc is 33, must be even: two elements of u4 share a byte"},
    {SDDMM(MC_S4, 64, .scale = MC_PER_ROW), MC_S8, MC_CANNOT,
     "c is s4, an SDDMM gives s8, u8, s32, f16, bf16, f32, e4m3 or e5m2"},
    {SPMM(MC_S8, 32, .align = 16), MC_S8, MC_USAGE, "c is s8, which wants a scale"},
    {SPMM(MC_S32, 32, .b_scale = MC_PER_COLUMN), MC_S8, MC_USAGE,
     "c is s32: scale, bias, residual, activation"},
    {SPMM(MC_F16, 32, .scale = MC_PER_ROW, .b_scale = MC_PER_ROW), MC_S8, MC_USAGE,
     "b_scale must be MC_PER_NONE or by column"},
    {SPMM(MC_F16, 32, .scale = MC_PER_ROW, .c_scale = MC_PER_TENSOR), MC_S8, MC_USAGE,
     "c is f16: c_scale goes with s8, u8, s4, u4, e4m3 and e5m2, zero with the first four"},
    {SPMM(MC_E4M3, 32, .scale = MC_PER_ROW, .zero = MC_PER_TENSOR), MC_S8, MC_USAGE,
     "c is e4m3: c_scale goes with s8, u8, s4, u4, e4m3 and e5m2, zero with the first four"},
    {SPMM(MC_F16, 32, .scale = MC_PER_ROW, .zero = MC_PER_TENSOR), MC_S8, MC_USAGE,
     "c is f16: c_scale goes with s8, u8, s4, u4, e4m3 and e5m2, zero with the first four"},
    {SPMM(MC_S8, 32, .scale = MC_PER_ROW, .c_scale = MC_PER_ROW), MC_S8, MC_USAGE,
     "c_scale and zero must be MC_PER_NONE or MC_PER_TENSOR"},
    {SPMM(MC_S32, 32, .residual = MC_RESIDUAL_F32), MC_S8, MC_USAGE, "c is s32: scale, bias, residual"},
    {SPMM(MC_F16, 32, .scale = MC_PER_ROW, .residual = (mc_residual)MC_S16), MC_S8, MC_USAGE,
     "residual is 2, must be 0, 10, 11 or 12"},
    {SPMM(MC_F16, 32, .scale = MC_PER_ROW, .residual = MC_RESIDUAL_F16, .ldr = 31), MC_S8, MC_USAGE,
     "ldr is 31, less than the row length of 32"},
    {SPMM(MC_F16, 32, .scale = MC_PER_ROW, .ldr = 32), MC_S8, MC_USAGE,
     "ldr is set, which goes with residual"},
    {SPMM(MC_S4, 32, .scale = MC_PER_ROW, .c_major = MC_MAJOR_COLUMN), MC_S8, MC_CANNOT,
     "c is s4, of which two columns share a byte"},
    {SPMM(MC_S32, 32, .c_major = MC_MAJOR_COLUMN, .ldc = 7), MC_S8, MC_USAGE,
     "ldc is 7, less than the row length of"},
    {SPMM(MC_S32, 32, .c_major = (mc_major)2), MC_S8, MC_USAGE, "c_major is 2, must be one of its 2 choices"},
    {SDDMM(MC_S8, 64, .scale = MC_PER_ROW, .c_major = MC_MAJOR_COLUMN), MC_S8, MC_USAGE,
     "c_major is set, which only an SpMM has"},
    {SDDMM(MC_S8, 64, .scale = MC_PER_ROW, .exp = MC_EXP_APPROX), MC_S8, MC_USAGE,
     "exp is set, which only a softmax has"},
    {{.size = sizeof(mc_plan_config), .op = MC_OP_SOFTMAX, .a = MC_F16, .c = MC_F16, .exp = (mc_exp)2},
     MC_S8,
     MC_USAGE,
     "exp is 2, must be one of its 2 choices"},
    {SPMM(MC_S32, 32, .b = MC_S4, .b_major = MC_MAJOR_COLUMN, .ldb = 41), MC_S8, MC_CANNOT,
     "ldb is 41, must be even: two elements of s4 share a byte"},
    {SPMM(MC_S32, 32, .b_major = MC_MAJOR_COLUMN, .ldb = 39), MC_S8, MC_USAGE,
     "ldb is 39, less than the row length of 40"},
    {SPMM(MC_S32, 32, .b_major = (mc_major)2), MC_S8, MC_USAGE, "b_major is 2, must be one of its 2 choices"},
    {SDDMM(MC_S32, 64, .b_major = MC_MAJOR_COLUMN), MC_S8, MC_USAGE,
     "b_major is set, which only an SpMM has"},
    {SPMM(MC_F16, 32, .scale = MC_PER_ROW, .residual = MC_RESIDUAL_F16, .r_stride = 4096), MC_S8, MC_USAGE,
     "r_stride is set, which goes with batch"},
    {SPMM(MC_F16, 32, .scale = MC_PER_ROW, .batch = 2, .r_stride = 4096), MC_S8, MC_USAGE,
     "r_stride is set, which goes with residual"},
    {SPMM(MC_F16, 32, .b = MC_F16, .beta = MC_PER_TENSOR), MC_F16, MC_USAGE,
     "beta is set, which goes with residual"},
    {SPMM(MC_F16, 32, .b = MC_F16, .residual = MC_RESIDUAL_F16, .beta = MC_PER_ROW), MC_F16, MC_USAGE,
     "beta must be MC_PER_NONE or MC_PER_TENSOR"},
    {SPMM(MC_F16, 32, .b = MC_F16, .residual = MC_RESIDUAL_F16, .beta = MC_PER_TENSOR,
          .c_major = MC_MAJOR_COLUMN),
     MC_F16, MC_CANNOT, "beta wants a c by rows"},
    {SDDMM(MC_S8, 64, .scale = MC_PER_ROW, .beta = MC_PER_TENSOR), MC_S8, MC_USAGE,
     "beta is set, which only an SpMM has"},
    {SDDMM(MC_S8, 64, .scale = MC_PER_ROW, .residual = MC_RESIDUAL_F16), MC_S8, MC_USAGE,
     "residual is set, which an SDDMM has not"},
    {SDDMM(MC_S8, 64, .scale = MC_PER_ROW, .b_scale = MC_PER_COLUMN), MC_S8, MC_USAGE, "b_scale is set"},
    {SDDMM(MC_S8, 64, .scale = MC_PER_ROW, .c_scale = MC_PER_TENSOR), MC_S8, MC_USAGE, "c_scale is set"},
    {SDDMM(MC_S64, 64, .align = 16), MC_S8, MC_CANNOT,
     "c is s64, an SDDMM gives s8, u8, s32, f16, bf16, f32, e4m3 or e5m2"},
    {SPMM(MC_F16, 32, .align = 16), MC_S8, MC_USAGE, "c is f16, which wants a scale"},
    {SPMM(MC_S32, 32, .scale = MC_PER_ROW), MC_S8, MC_USAGE, "c is s32: scale, bias, residual, activation"},
    {SPMM(MC_S32, 32, .activation = MC_ACTIVATION_RELU), MC_S8, MC_USAGE,
     "c is s32: scale, bias, residual, activation"},
    {SPMM(MC_F16, 32, .scale = MC_PER_ROW, .bias = MC_PER_TENSOR), MC_S8, MC_USAGE, "bias is MC_PER_TENSOR"},
    {SPMM(MC_S64, 32, .align = 16), MC_S8, MC_USAGE, "c is s64, which wants exact sums"},
    {SPMM(MC_S32, 32, .exact = true), MC_S8, MC_USAGE,
     "exact sums want a c of s64, f16, bf16, f32, e4m3 or e5m2, not s32"},
    {SDDMM(MC_F16, 64, .scale = MC_PER_ROW, .mask_values = true), MC_S8, MC_USAGE,
     "mask_values wants a matrix of f32, this one is of s8"},
    {SPMM(MC_S32, -1, .align = 16), MC_S8, MC_USAGE, "n is -1, less than 0"},
    {SPMM(MC_S32, (int64_t)1 << 31, .align = 16), MC_S8, MC_CANNOT,
     "n is 2147483648, kernels take sizes up to 2147483647"},
    {SDDMM(MC_S32, -5, .align = 16), MC_S8, MC_USAGE, "k is -5, less than 0"},
    {SPMM(MC_S32, 32, .k = 41), MC_S8, MC_USAGE, "k is 41, the matrix has 40 columns"},
    {SDDMM(MC_S32, 64, .n = 41), MC_S8, MC_USAGE, "n is 41, the matrix has 40 columns"},
    {SPMM(MC_S32, 32, .ldb = 31), MC_S8, MC_USAGE, "ldb is 31, less than the row length of 32"},
    {SPMM(MC_S32, 32, .ldb = -32), MC_S8, MC_USAGE, "ldb is -32, less than 0"},
    {SPMM(MC_S32, 32, .ldc = 31), MC_S8, MC_USAGE, "ldc is 31, less than the row length of 32"},
    {SDDMM(MC_S32, 64, .lda = 63), MC_S8, MC_USAGE, "lda is 63, less than the row length of 64"},
    {SDDMM(MC_S32, 64, .ldb = 63), MC_S8, MC_USAGE, "ldb is 63, less than the row length of 64"},
    {SDDMM(MC_S32, 64, .ldb = 39, .b_layout = MC_LAYOUT_ROWS), MC_S8, MC_USAGE,
     "ldb is 39, less than the row length of 40"},
    {SPMM(MC_S32, 32, .b = MC_S4, .ldb = 33), MC_S8, MC_CANNOT,
     "ldb is 33, must be even: two elements of s4 share a byte"},
    {SPMM(MC_S32, INT32_MAX, .b = MC_U4), MC_S8, MC_CANNOT, "ldb is 2147483648, kernels take sizes up to"},
};

/* Products of floats: with and without a scale, with all that an epilogue does. */
static const struct {
    mc_plan_config config;
    mc_type matrix;
} floats[] = {
    {SPMM(MC_F32, 32, .b = MC_F16), MC_F16},
    {SPMM(MC_BF16, 32, .b = MC_BF16), MC_BF16},
    {SPMM(MC_F32, 32, .b = MC_BF16), MC_F16},
    {SPMM(MC_F32, 32, .b = MC_TF32), MC_TF32},
    {SPMM(MC_F16, 32, .b = MC_F16, .bias = MC_PER_ROW, .activation = MC_ACTIVATION_SILU), MC_F16},
    {SPMM(MC_F16, 32, .b = MC_F16, .residual = MC_RESIDUAL_F16), MC_F16},
    {SPMM(MC_F16, 32, .b = MC_F16, .residual = MC_RESIDUAL_F32, .beta = MC_PER_TENSOR), MC_F16},
    {SPMM(MC_F32, 32, .b = MC_F16, .scale = MC_PER_ROW, .b_scale = MC_PER_COLUMN), MC_F16},
    {SPMM(MC_U8, 32, .b = MC_F16, .scale = MC_PER_ROW, .zero = MC_PER_TENSOR), MC_F16},
    {SDDMM(MC_F16, 64, .a = MC_F16, .b = MC_F16), MC_S8},
    {SDDMM(MC_F32, 64, .a = MC_BF16, .b = MC_BF16, .scale = MC_PER_ROW), MC_S8},
};

static void test_floats(void) {
    for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++) {
        const mc_vsparse matrix = matrix_of(floats[i].matrix);
        plan_problem problem;
        mc_diag_clear(diag);
        mc_status status = plan_problem_of(&floats[i].config, &matrix, &problem, diag);
        CHECK(status == MC_OK, "row %zu: %s", i, mc_diag_text(diag));
        CHECK(mc_type_is_real(problem.lhs) && problem.exact == false, "row %zu", i);
    }
}

static void test_refusals(void) {
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        const struct refusal *r = &refusals[i];
        const mc_vsparse matrix = matrix_of(r->matrix);
        plan_problem problem, zero = {0};
        mc_diag_clear(diag);
        mc_status status = plan_problem_of(&r->config, &matrix, &problem, diag);
        CHECK(status == r->status, "row %zu: %s", i, mc_status_text(status));
        CHECK(mc_diag_count(diag) == 1, "row %zu: %zu messages", i, mc_diag_count(diag));
        CHECK_TEXT(mc_diag_text(diag), r->message);
        CHECK(memcmp(&problem, &zero, sizeof problem) == 0, "row %zu: something is left", i);
    }
    mc_vsparse matrix = matrix_of(MC_S8);
    plan_problem problem;
    matrix.vec = 16, matrix.rows = 32;
    CHECK(plan_problem_of(&SPMM(MC_S32, 1, .align = 16), &matrix, &problem, NULL) == MC_OK);
    CHECK(plan_problem_of(&SDDMM(MC_F32, 64, .a = MC_F16, .b = MC_F16), &matrix, &problem, NULL) == MC_OK);
    matrix.vec = 1, matrix.rows = 2;
    CHECK(plan_problem_of(&SDDMM(MC_S32, 64, .b = MC_S8), &matrix, &problem, NULL) == MC_OK);
    matrix.vec = 32, matrix.rows = 64;
    CHECK(plan_problem_of(&SDDMM(MC_S32, 64, .b = MC_S8), &matrix, &problem, diag) == MC_CANNOT);
    CHECK_TEXT(mc_diag_text(diag), "vectors of 32 elements, there are kernels for 1, 2, 4, 8 and 16");
    matrix.vec = 16, matrix.rows = 32;
    matrix.type = MC_F16;
    CHECK(plan_problem_of(&SPMM(MC_F32, 1, .b = MC_F16), &matrix, &problem, NULL) == MC_OK);
    matrix.vec = 12, matrix.rows = 24;
    mc_diag_clear(diag);
    CHECK(plan_problem_of(&SPMM(MC_F32, 1, .b = MC_F16), &matrix, &problem, diag) == MC_CANNOT);
    CHECK_TEXT(mc_diag_text(diag), "vectors of 12 elements, there are kernels for 1, 2, 4, 8 and 16");
    matrix.type = MC_S8;
    matrix.vec = 8;
    matrix.rows = (int64_t)1 << 31;
    CHECK(plan_problem_of(&SPMM(MC_S32, 1, .align = 16), &matrix, &problem, NULL) == MC_CANNOT);
}

static plan_problem problem_of(const mc_plan_config *config, mc_type type) {
    const mc_vsparse matrix = matrix_of(type);
    plan_problem problem;
    mc_diag_clear(diag);
    CHECK(plan_problem_of(config, &matrix, &problem, diag) == MC_OK, "%s", mc_diag_text(diag));
    return problem;
}

static void test_defaults(void) {
    plan_problem p = problem_of(&SPMM(MC_S32, 33, .b = MC_U4), MC_S16);
    CHECK(p.lhs == MC_S16 && p.rhs == MC_U4 && p.out == MC_S32 && p.vec == 8 && p.align == 16);
    CHECK(p.m == 16 && p.n == 33 && p.k == 40 && p.lda == 0 && p.ldc == 33);
    CHECK(p.ldb == 34, "a row of 33 halves of a byte: %lld", (long long)p.ldb);
    p = problem_of(&SPMM(MC_S4, 33, .scale = MC_PER_ROW), MC_S8);
    CHECK(p.ldc == 34, "a row of C of 33 halves of a byte: %lld", (long long)p.ldc);
    p = problem_of(&SPMM(MC_F16, 33, .scale = MC_PER_ROW, .residual = MC_RESIDUAL_BF16), MC_S8);
    CHECK(p.residual == MC_RESIDUAL_BF16 && p.ldr == 33 && p.r_stride == 0);
    p = problem_of(
        &SPMM(MC_F16, 33, .scale = MC_PER_ROW, .residual = MC_RESIDUAL_BF16, .c_major = MC_MAJOR_COLUMN),
        MC_S8);
    CHECK(p.c_major == MC_MAJOR_COLUMN && p.ldc == p.m && p.ldr == p.m);
    p = problem_of(&SDDMM(MC_S32, 64, .a = MC_U8, .lda = 80), MC_F32);
    CHECK(p.lhs == MC_U8 && p.m == 16 && p.n == 40 && p.k == 64 && p.lda == 80 && p.ldb == 64 && p.ldc == 0);
    p = problem_of(&SDDMM(MC_S32, 64, .b_layout = MC_LAYOUT_ROWS), MC_S8);
    CHECK(p.ldb == 40, "%lld", (long long)p.ldb);
    p = problem_of(&SPMM(MC_S32, 0, .align = 16), MC_S8);
    CHECK(p.n == 0 && p.ldb == 1 && p.ldc == 1, "leading dimensions are never 0");
}

static int64_t quantile(const int64_t *sorted, int64_t count, int64_t q) {
    return sorted[(count - 1) * q / (ROW_QUANTILES - 1)];
}

static int ascending(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Against a sorted copy and mc_problem_of. */
static void check_features(const int64_t *lengths, int64_t count) {
    enum { MOST = 64 };
    int64_t offsets[MOST + 1] = {0}, sorted[MOST] = {0};
    for (int64_t i = 0; i < count; i++) offsets[i + 1] = offsets[i] + (sorted[i] = lengths[i]);
    qsort(sorted, (size_t)count, sizeof *sorted, ascending);
    const mc_vsparse matrix = {.type = MC_S8,
                               .vec = 2,
                               .rows = 2 * count,
                               .cols = 1000,
                               .row_blocks = count,
                               .vectors = offsets[count],
                               .row_ptr = offsets};
    matrix_features f = matrix_features_of(&matrix);
    mc_problem want = mc_problem_of(&matrix, 1, 1);
    CHECK(f.vectors == matrix.vectors && fabs(f.spread - want.spread) < 1e-9);
    for (int q = 0; q < ROW_QUANTILES; q++)
        CHECK(f.quantiles[q] == (count ? quantile(sorted, count, q) : 0), "quantile %d: %lld", q,
              (long long)f.quantiles[q]);
    CHECK(f.quantiles[ROW_QUANTILES - 1] == want.longest);
}

static void test_features(void) {
    check_features((const int64_t[]){0}, 0);
    check_features((const int64_t[]){7}, 1);
    check_features((const int64_t[]){5, 5, 5, 5}, 4);
    check_features((const int64_t[]){0, 0, 900}, 3);
    check_features((const int64_t[]){9, 3, 1, 8, 2, 2, 7, 100, 0, 55}, 10);
}

static const char *setting(const problem_settings *settings, const char *field) {
    for (size_t i = 0; i < settings->count; i++)
        if (strcmp(settings->items[i].field, field) == 0) return settings->items[i].value;
    return "none";
}

/* The settings are fields of the family, and the kernel is then one for the problem. */
static void check_spec(const mc_plan_config *config, mc_type type, const char *spec_path, const char *want) {
    plan_problem problem = problem_of(config, type);
    problem_settings settings;
    mc_spec *spec = NULL;
    plan_problem_settings(&problem, &settings);
    mc_diag_clear(diag);
    CHECK(mc_spec_read(spec_path, settings.items, settings.count, &spec, diag) == MC_OK, "%s",
          mc_diag_text(diag));
    char *text = spec ? mc_spec_variant_text(spec, mc_spec_default(spec), true) : NULL;
    CHECK_TEXT(text ? text : "", want);
    free(text);
    mc_spec_destroy(spec);
}

static void test_settings(void) {
    problem_settings settings;
    plan_problem p = problem_of(&SPMM(MC_S32, 0, .align = 16), MC_S8);
    plan_problem_settings(&p, &settings);
    CHECK(strcmp(setting(&settings, "n"), "open") == 0, "no kernel is made for n = 0");
    CHECK(strcmp(setting(&settings, "k"), "40") == 0);
    check_spec(&SPMM(MC_F16, 32, .scale = MC_PER_ROW, .bias = MC_PER_COLUMN, .align = 4, .ldb = 48), MC_S8,
               SPECS "/spmm_l8r8.lua", "align=4 m=16 n=32 k=40 ldb=48 ldc=32");
    check_spec(&SPMM(MC_F16, 32, .scale = MC_PER_ROW, .residual = MC_RESIDUAL_F32, .ldr = 40), MC_S8,
               SPECS "/spmm_l8r8.lua", "ldb=32 ldc=32 residual=f32 ldr=40");
    check_spec(&SPMM(MC_S64, 32, .exact = true, .shapes = MC_SHAPES_OPEN), MC_U16, SPECS "/spmm_l16r8.lua",
               "m=open n=open k=open ldb=open ldc=open");
    check_spec(&SPMM(MC_S64, 32, .exact = true), MC_U16, SPECS "/spmm_l16r8.lua", "lhs=u16 rhs=s8 out=s64");
    check_spec(&SDDMM(MC_F32, 64, .scale = MC_PER_TENSOR, .mask_values = true, .lda = 96, .a = MC_U8), MC_F32,
               SPECS "/sddmm_l8r8.lua", "m=16 n=40 k=64 lda=96 ldb=64");
    check_spec(&SDDMM(MC_S32, 64, .c_order = MC_ORDER_SRBCRS32, .b_layout = MC_LAYOUT_ROWS), MC_S8,
               SPECS "/sddmm_l8r8.lua", "order=srbcrs32 layout=rows");
}

int main(void) {
    diag = mc_diag_create();
    test_refusals();
    test_floats();
    test_defaults();
    test_features();
    test_settings();
    mc_diag_destroy(diag);
    return check_end();
}
