/* The arithmetic of floats, of f16, bf16, f32, tf32 and narrower ones, and of small integers by floats, with
 * sums in f32.
 *
 * The reference adds up in one order: of an SpMM the vectors of a row block by ascending columns, of an
 * SDDMM by ascending k. Each step is sum = fmaf(a, b, sum), from +0 on. So every step rounds once, to
 * nearest even.
 *
 * A kernel may add in any order, and in any tree. Products of types of at most 16 bits are exact in f32,
 * those of tf32, whose factors are rounded before (real_factor), as well, and those of f32 are rounded.
 * Tensor cores add several terms and the sum so far at once: what lies more than 23 bits below the largest
 * of them is cut off (Fasi, Higham, Mikaitis and Pranesh, "Numerical behavior of NVIDIA tensor cores",
 * 2021). So each term, and for each term the sum so far, may lose 2^-23 of the largest. A product is as
 * large there as its factors' exponent fields say, by which a subnormal factor counts as the least normal
 * number (docs/simulator.md, "Sums of mma"): so it does in M, the sum of the products' magnitudes. With n
 * terms a sum is then off the exact one by at most (Higham, "Accuracy and Stability of Numerical
 * Algorithms", chapter 3)
 *
 *     g(N, u) M + n 2^-149        g(N, u) = N u / (1 - N u)
 *
 * with N = n and u = 2^-24 for the reference, and with N = 2 n + 1 and u = 2^-23 for a kernel. The second
 * term is for subnormal results. A kernel and the reference differ by the sum of both at most. M is added up
 * by the reference as the sum is, and so it is too small by g(n, 2^-24) at most. */
#include <math.h>
#include "arithmetic/float_loops.h"
#include "base/element.h"
#include "base/real.h"

static const double reference_unit = 0x1p-24, kernel_unit = 0x1p-23, least_subnormal = 0x1p-149;

/* -- Sums --------------------------------------------------------------------------------------------- */

/* What is multiplied of ELEMENT. */
static float value_of(mc_type type, int64_t element) {
    if (!mc_type_is_real(type)) return (float)element;
    return real_factor_value(type, element);
}

static void widen(mc_type type, const void *data, int64_t first, int64_t step, int64_t count, void *to) {
    float *wide = to;
    for (int64_t i = 0; i < count; i++) wide[i] = value_of(type, element_get(type, data, first + i * step));
}

static float least_normal(mc_type type) { return ldexpf(1, 2 - (1 << (element_rows[type].exponent - 1))); }

/* Infinities and NaNs count nothing: where finite sums overflow in no order, they make the same of a sum in
   every order. Subnormal numbers become the least normal one, which integers have not. */
static float magnitude_of(mc_type type, float value) {
    if (!isfinite(value)) return 0;
    if (!mc_type_is_real(type)) return fabsf(value);
    return value != 0 && fabsf(value) < least_normal(type) ? least_normal(type) : fabsf(value);
}

static void widen_magnitudes(mc_type type, const void *data, int64_t first, int64_t step, int64_t count,
                             void *to) {
    float *wide = to;
    widen(type, data, first, step, count, to);
    for (int64_t i = 0; i < count; i++) wide[i] = magnitude_of(type, wide[i]);
}

static void multiply_with(const block_product *p, bool magnitudes) {
    const mc_vsparse *a = p->a;
    for (int64_t v = a->row_ptr[p->block]; v < a->row_ptr[p->block + 1]; v++)
        for (int r = 0; r < a->vec; r++) {
            float value = value_of(a->type, mc_vsparse_value(a, v, r));
            float_add_products((float *)p->sums + r * p->n, (const float *)p->rows + a->col_idx[v] * p->n,
                               magnitudes ? magnitude_of(a->type, value) : value, p->n);
        }
}

static bool multiply(const block_product *p) { return multiply_with(p, false), true; }
static bool multiply_magnitudes(const block_product *p) { return multiply_with(p, true), true; }

static bool dot(const void *a, const void *b, int64_t k, void *sum) {
    const float *x = a, *y = b;
    float total = 0;
    for (int64_t i = 0; i < k; i++) total = fmaf(x[i], y[i], total);
    *(float *)sum = total;
    return true;
}

static const sum_loops *loops(mc_type a, mc_type b) {
    static const sum_loops all = {sizeof(float), 0, widen, multiply, dot, float_sample};
    (void)a, (void)b;
    return &all;
}

static const sum_loops *magnitude_loops(mc_type a, mc_type b) {
    static const sum_loops all = {sizeof(float), 0, widen_magnitudes, multiply_magnitudes, dot, float_sample};
    (void)a, (void)b;
    return &all;
}

/* -- Bounds ------------------------------------------------------------------------------------------- */

static double growth(double terms, double unit) {
    return terms * unit < 0.5 ? terms * unit / (1 - terms * unit) : INFINITY;
}

/* Where finite values are so large that some order of additions overflows, a kernel's sum may be anything. */
static double bound(double magnitude, int64_t terms) {
    double n = (double)terms, whole = magnitude * (1 + growth(n, reference_unit));
    double error =
        (growth(n, reference_unit) + growth(2 * n + 1, kernel_unit)) * whole + 2 * n * least_subnormal;
    return whole + error < 0x1.fffffep127 ? error : INFINITY;
}

/* -- The arithmetic ----------------------------------------------------------------------------------- */

/* Every C is rounded from the sums. */
static bool holds_sums(mc_type type) { return (void)type, false; }

static float real_of_sum(int64_t sum, bool exact) {
    (void)exact;
    return real_from_bits(MC_F32, (uint32_t)sum);
}

/* There is one way. */
static mc_coding of_kernel(const mc_kernel *kernel) { return (void)kernel, 0; }

static mc_type unit(mc_type type, mc_type digits) { return (void)digits, type; }

static mc_status code_one(value_code *code, mc_diag *diag) {
    bool whole = code->unit == code->type && code->coding == 0;
    code->pieces = 1;
    if (whole) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "the packed format holds integers of at most 16 bits, the matrix %s",
                   mc_type_text(code->type));
}

static void split(const value_code *code, int64_t value, int64_t pieces[CODE_PIECES]) {
    pieces[0] = real_packed(code->type, (uint32_t)value);
}

static int64_t join(const value_code *code, const int64_t pieces[CODE_PIECES]) {
    return element_low(pieces[0], mc_type_bits(code->type));
}

static int64_t most(const value_code *code) { return mc_type_max(code->type); }

static mc_status check(const value_code *code, const mc_vsparse *a, mc_diag *diag) {
    return (void)code, (void)a, (void)diag, MC_OK;
}

static const code_kind bits_kind = {of_kernel, unit, code_one, split, join, most, check};

const arithmetic float_arithmetic = {.name = "floats",
                                     .sums = MC_F32,
                                     .loops = loops,
                                     .magnitude_loops = magnitude_loops,
                                     .bound = bound,
                                     .holds_sums = holds_sums,
                                     .real_of_sum = real_of_sum,
                                     .code = &bits_kind};
