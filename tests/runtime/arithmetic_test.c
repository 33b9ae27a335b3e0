/* The arithmetic of floats: the reference's order, and bounds that hold in any order and with additions that cut
   off, as tensor cores have them, and that a lost term leaves. How floats are packed. */
#include <math.h>
#include "arithmetic/integer/digit.h"
#include "base/element.h"
#include "base/real.h"
#include "matrix/random.h"
#include "scratch.h"

static const mc_type floats[] = {MC_F16, MC_BF16, MC_F32};
enum { FLOATS = sizeof floats / sizeof floats[0], PACKED_FLOATS = 2, TERMS = 200, ORDERS = 20 };

/* -- Sums in other orders ----------------------------------------------------------------------------- */

/* EXACT cut off to 24 bits. */
static float cut(double exact) {
    float rounded = (float)exact;
    return fabs((double)rounded) > fabs(exact) ? nextafterf(rounded, 0) : rounded;
}

/* Adds up products in an order of SEED's, in fours, each step cut off. */
static float sum_anyhow(const double *products, int count, uint64_t seed) {
    double mixed[TERMS];
    mcrt_random random = random_start(seed, 7);
    float sum = 0;
    for (int i = 0; i < count; i++) {
        int at = (int)(random_next(&random) % (uint64_t)(i + 1));
        mixed[i] = mixed[at], mixed[at] = products[i];
    }
    for (int i = 0; i < count; i += 4) {
        float some = 0;
        for (int j = i; j < i + 4 && j < count; j++) some = cut((double)some + (double)cut(mixed[j]));
        sum = cut((double)sum + some);
    }
    return sum;
}

static uint32_t float_near(mc_type type, mcrt_random *random, int spread) {
    int exponent = (int)(random_next(random) % (unsigned)(2 * spread + 1)) - spread;
    return real_to_bits(type, (float)ldexp(random_normal(random), exponent));
}

/* A float of TYPE, or any of its odd integers. */
static uint32_t element_near(mc_type type, mcrt_random *random, int spread) {
    if (mc_type_is_real(type)) return float_near(type, random, spread);
    return ((uint32_t)random_next(random) & ((1u << mc_type_bits(type)) - 1)) | 1;
}

/* A row of A, a column of B of TYPE, and the products. */
typedef struct row_product {
    mc_type type;
    int terms;
    int64_t row_ptr[2];
    int32_t columns[TERMS];
    mc_vsparse a;
    mc_dense b;
    double products[TERMS];
} row_product;

static void make_sides(row_product *p, mc_type lhs, mc_type type, int terms, int spread, uint64_t seed,
                       mc_diag *diag) {
    mcrt_random random = random_start(seed, 1);
    *p = (row_product){.type = type, .terms = terms, .row_ptr = {0, terms}};
    p->a = (mc_vsparse){.type = lhs, .vec = 1, .rows = 1, .cols = TERMS, .row_blocks = 1, .vectors = terms};
    p->a.row_ptr = p->row_ptr, p->a.col_idx = p->columns;
    p->a.values = calloc(TERMS, sizeof(uint32_t));
    expect_ok("create", mc_dense_create(type, TERMS, 1, 1, &p->b, diag), diag);
    for (int i = 0; i < terms; i++) {
        p->columns[i] = i;
        mc_vsparse_set_value(&p->a, i, 0, element_near(lhs, &random, spread));
        mc_dense_set(&p->b, i, 0, element_near(type, &random, spread));
        int64_t value = mc_vsparse_value(&p->a, i, 0);
        double a = mc_type_is_real(lhs) ? (double)real_from_bits(lhs, (uint32_t)value) : (double)value;
        p->products[i] = a * mc_dense_real(&p->b, i, 0);
    }
}

static void make_row(row_product *p, mc_type type, int terms, int spread, uint64_t seed, mc_diag *diag) {
    make_sides(p, type, type, terms, spread, seed, diag);
}

static void free_row(row_product *p) {
    free(p->a.values);
    mc_dense_free(&p->b);
}

static void check_orders(const row_product *p, double sum, double bound) {
    double exact = 0, most = 0;
    for (int i = 0; i < p->terms; i++) {
        exact += p->products[i];
        most = fmax(most, fabs(p->products[i]));
    }
    CHECK(fabs(exact - sum) <= bound, "%s: %g, exactly %g, bound %g", mc_type_text(p->type), sum, exact,
          bound);
    for (uint64_t seed = 0; seed < ORDERS; seed++) {
        double other = sum_anyhow(p->products, p->terms, seed);
        CHECK(fabs(other - sum) <= bound, "%s, order %d: %.9g for %.9g, bound %g", mc_type_text(p->type),
              (int)seed, other, sum, bound);
    }
    CHECK(p->terms == 0 || bound < most, "the bound %g hides the term %g", bound, most);
}

static void test_orders(mc_diag *diag) {
    static const int terms[] = {0, 1, 2, 7, TERMS}, spreads[] = {0, 3, 6};
    static const mc_type sides[][2] = {{MC_F16, MC_F16}, {MC_BF16, MC_BF16}, {MC_F32, MC_F32},
                                       {MC_S8, MC_F16},  {MC_U8, MC_F16},    {MC_S4, MC_F16},
                                       {MC_S8, MC_BF16}, {MC_U4, MC_BF16}};
    for (size_t t = 0; t < sizeof sides / sizeof *sides; t++)
        for (int n = 0; n < 5; n++)
            for (int s = 0; s < 3; s++) {
                row_product p;
                mc_dense sums, bounds;
                make_sides(&p, sides[t][0], sides[t][1], terms[n], spreads[s], (uint64_t)(n * 3 + s), diag);
                expect_ok("sums", mc_reference_spmm(&p.a, &p.b, &sums, diag), diag);
                expect_ok("bounds", mc_reference_spmm_bounds(&p.a, &p.b, &bounds, diag), diag);
                CHECK(sums.type == MC_F32 && bounds.type == MC_F32, "types");
                check_orders(&p, mc_dense_real(&sums, 0, 0), mc_dense_real(&bounds, 0, 0));
                mc_dense_free(&sums);
                mc_dense_free(&bounds);
                free_row(&p);
            }
}

/* 1 + 2^-24 - 1 in the reference's order: the middle term is lost, at a tie. The SDDMM's is the same along k. */
static void test_order(mc_diag *diag) {
    static const float a[] = {1, 0x1p-24f, -1}, ones[] = {1, 1, 1};
    int64_t row_ptr[] = {0, 3}, one[] = {0, 1};
    int32_t columns[] = {0, 1, 2}, first[] = {0};
    float values[3], nothing[1] = {0};
    mc_dense left, right, sums;
    memcpy(values, a, sizeof a);
    const mc_vsparse row = {MC_F32, 1, 1, 3, 1, 3, row_ptr, columns, values, {0}};
    const mc_vsparse mask = {MC_F32, 1, 1, 1, 1, 1, one, first, nothing, {0}};
    expect_ok("create", mc_dense_create(MC_F32, 3, 1, 1, &right, diag), diag);
    expect_ok("create", mc_dense_create(MC_F32, 1, 3, 3, &left, diag), diag);
    memcpy(left.data, a, sizeof a);
    memcpy(right.data, ones, sizeof ones);
    expect_ok("spmm", mc_reference_spmm(&row, &right, &sums, diag), diag);
    CHECK(mc_dense_real(&sums, 0, 0) == 0, "%g", mc_dense_real(&sums, 0, 0));
    mc_dense_free(&sums);
    for (int layout = MC_LAYOUT_COLUMNS; layout <= MC_LAYOUT_ROWS; layout++) {
        mc_dense b = layout == MC_LAYOUT_ROWS ? right : left;
        if (layout == MC_LAYOUT_COLUMNS) b.data = right.data;
        expect_ok("sddmm", mc_reference_sddmm(&mask, &left, &b, (mc_layout)layout, &sums, diag), diag);
        CHECK(mc_dense_real(&sums, 0, 0) == 0, "%g", mc_dense_real(&sums, 0, 0));
        mc_dense_free(&sums);
        expect_ok("bounds", mc_reference_sddmm_bounds(&mask, &left, &b, (mc_layout)layout, &sums, diag),
                  diag);
        double bound = mc_dense_real(&sums, 0, 0);
        CHECK(bound > 0x1p-24 && bound < 0x1p-18, "%g", bound);
        mc_dense_free(&sums);
    }
    mc_dense_free(&left);
    mc_dense_free(&right);
}

/* -- Values that are no finite numbers, and sums that leave f32 --------------------------------------- */

/* 2^-24 * 2^15 lets an mma of f16 cut off what lies 23 bits below 2^-14 * 2^15, in every term. */
static void test_subnormal(mc_diag *diag) {
    row_product p;
    mc_dense bounds;
    make_row(&p, MC_F16, 3, 0, 1, diag);
    for (int i = 0; i < 3; i++) {
        mc_vsparse_set_value(&p.a, i, 0, i == 1 ? 0x8001 : 0);
        mc_dense_set(&p.b, i, 0, 0x7800);
    }
    expect_ok("bounds", mc_reference_spmm_bounds(&p.a, &p.b, &bounds, diag), diag);
    double bound = mc_dense_real(&bounds, 0, 0);
    CHECK(bound > 3 * 0x1p-22 && bound < 0x1.8p-19, "bound %g", bound);
    mc_dense_free(&bounds);
    free_row(&p);
}

static void test_ends(void) {
    const arithmetic *of = &float_arithmetic;
    CHECK(isinf(of->bound(0x1p128, 10)), "beyond f32");
    CHECK(isinf(of->bound(0x1.fffffep127, 10)), "nearly beyond f32");
    CHECK(of->bound(0, 0) == 0 && of->bound(1, 1) > 0x1p-23 && of->bound(1, 1) < 0x1p-20, "one term");
    CHECK(isinf(of->bound(1, 1 << 24)), "too many terms for any bound");
    CHECK(integer_arithmetic.bound == NULL && integer_arithmetic.sums == MC_S64, "integers are exact");
}

/* The first product of three is VALUE times 1e38, the second one OTHER. */
static void check_end_value(float value, float other, bool bounded, mc_diag *diag) {
    row_product p;
    mc_dense sums, bounds;
    make_row(&p, MC_F32, 3, 0, 1, diag);
    mc_vsparse_set_value(&p.a, 0, 0, real_to_bits(MC_F32, value));
    mc_dense_set(&p.b, 0, 0, real_to_bits(MC_F32, 1e38f));
    mc_vsparse_set_value(&p.a, 1, 0, real_to_bits(MC_F32, other));
    mc_dense_set(&p.b, 1, 0, real_to_bits(MC_F32, 1));
    expect_ok("sums", mc_reference_spmm(&p.a, &p.b, &sums, diag), diag);
    expect_ok("bounds", mc_reference_spmm_bounds(&p.a, &p.b, &bounds, diag), diag);
    double sum = mc_dense_real(&sums, 0, 0), bound = mc_dense_real(&bounds, 0, 0);
    CHECK(isnan(value) || isnan(other) ? isnan(sum) : isinf(sum), "%g: %g", (double)value, sum);
    CHECK(bounded ? isfinite(bound) : isinf(bound), "%g, %g: bound %g", (double)value, (double)other, bound);
    mc_dense_free(&sums);
    mc_dense_free(&bounds);
    free_row(&p);
}

/* -- Results ------------------------------------------------------------------------------------------ */

/* What an SpMM of P with OUTPUT must give, by way of the operator's row. */
static void expect_result(row_product *p, plan_problem *problem, const float *scale, const float *bias,
                          reference_result *want, mc_diag *diag) {
    const mc_operator *spmm = operator_named("spmm");
    host_operands operands = {.problem = problem, .matrix = &p->a};
    operands.inputs[operator_operand(spmm, "b")] = &p->b;
    operands.factors[operator_operand(spmm, "scale")] = scale;
    operands.factors[operator_operand(spmm, "bias")] = bias;
    expect_ok("expect", operator_expect(spmm, &operands, want, diag), diag);
}

static void check_result(mc_type type, mc_type out, float scale, mc_activation activation, mc_diag *diag) {
    row_product p;
    reference_result want;
    static const float bias = 0.25f;
    make_row(&p, type, TERMS, 2, 3, diag);
    plan_problem problem = {.lhs = type, .rhs = type, .out = out, .activation = activation};
    if (scale != 1) problem.scale = MC_PER_TENSOR, problem.bias = MC_PER_ROW;
    expect_result(&p, &problem, &scale, &bias, &want, diag);
    CHECK(want.low.type == out && want.high.data != NULL, "bounds");
    const mc_output output = operator_output(&problem);
    for (uint64_t seed = 0; seed < ORDERS; seed++) {
        float sum = sum_anyhow(p.products, p.terms, seed);
        const mc_dense sums = {MC_F32, 1, 1, 1, &sum};
        mc_dense c;
        expect_ok(
            "output",
            mc_reference_output(&output, &(mc_factors){.scale = &scale, .bias = &bias}, &sums, &c, diag),
            diag);
        expect_ok("order", mc_result_compare(&c, &want, diag), diag);
        mc_dense_set(&c, 0, 0, real_to_bits(out, -1000));
        expect_failure("wrong", mc_result_compare(&c, &want, diag), MC_MISMATCH, diag, "C[0][0] is -1000");
        mc_dense_free(&c);
    }
    mc_result_free(&want);
    free_row(&p);
}

static void test_results(mc_diag *diag) {
    static const float scales[] = {1, 0.5f, -2};
    for (int t = 0; t < FLOATS; t++)
        for (int o = 0; o < FLOATS; o++)
            for (int s = 0; s < 3; s++) {
                check_result(floats[t], floats[o], scales[s], MC_ACTIVATION_NONE, diag);
                check_result(floats[t], floats[o], scales[s], MC_ACTIVATION_RELU, diag);
            }
}

/* Integers have one right result: there is no highest one. */
static void test_exact(mc_diag *diag) {
    int64_t row_ptr[] = {0, 1};
    int32_t columns[] = {0};
    int8_t value = 3, other = -5;
    row_product p = {.a = {MC_S8, 1, 1, 1, 1, 1, row_ptr, columns, &value, {0}},
                     .b = {MC_S8, 1, 1, 1, &other}};
    plan_problem problem = {.lhs = MC_S8, .rhs = MC_S8, .out = MC_S32};
    reference_result want;
    mc_dense bounds;
    expect_result(&p, &problem, NULL, NULL, &want, diag);
    CHECK(want.high.data == NULL && mc_dense_get(&want.low, 0, 0) == -15, "3 * -5");
    expect_ok("exact", mc_result_compare(&want.low, &want, diag), diag);
    expect_ok("bounds", mc_reference_spmm_bounds(&p.a, &p.b, &bounds, diag), diag);
    CHECK(mc_dense_real(&bounds, 0, 0) == 0, "exact");
    mc_dense_free(&bounds);
    p.a.type = MC_F32;
    mc_dense sums;
    expect_failure("mixed", mc_reference_spmm(&p.a, &p.b, &sums, diag), MC_USAGE, diag, "A is f32, B is s8");
    mc_result_free(&want);
}

static void test_within(mc_diag *diag) {
    static const struct {
        float got, low, high;
        bool right;
    } rows[] = {{1, 1, 1, true},
                {1, 0, 2, true},
                {-0.0f, 0, 0, true},
                {2.5f, 0, 2, false},
                {NAN, 0, 2, false},
                {NAN, NAN, NAN, true},
                {1, NAN, NAN, false},
                {INFINITY, INFINITY, INFINITY, true},
                {1, INFINITY, INFINITY, false},
                {NAN, -INFINITY, INFINITY, true},
                {3, -INFINITY, INFINITY, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        float got = rows[i].got, low = rows[i].low, high = rows[i].high;
        const mc_dense is = {MC_F32, 1, 1, 1, &got}, least = {MC_F32, 1, 1, 1, &low},
                       most = {MC_F32, 1, 1, 1, &high};
        mc_status status = mc_dense_within(&is, &least, &most, diag);
        CHECK(status == (rows[i].right ? MC_OK : MC_MISMATCH), "row %d: %s", (int)i, mc_diag_text(diag));
        mc_diag_clear(diag);
    }
}

/* -- Codes -------------------------------------------------------------------------------------------- */

static void test_codes(mc_diag *diag) {
    value_code code;
    int64_t pieces[CODE_PIECES];
    expect_failure("f32", code_make(MC_F32, 0, MC_U8, &code, diag), MC_CANNOT, diag,
                   "the packed format holds integers of at most 16 bits, the matrix f32");
    expect_failure("digits", code_make(MC_F32, 1, MC_F32, &code, diag), MC_CANNOT, diag,
                   "the packed format holds integers of at most 16 bits, the matrix f32");
    CHECK(code_unit(MC_BF16, MC_U8) == MC_BF16 && code_unit(MC_S16, MC_U8) == MC_U8 &&
              code_unit(MC_S4, MC_U4) == MC_U4,
          "units");
    for (int t = 0; t < PACKED_FLOATS; t++) {
        expect_ok("whole", code_make(floats[t], 0, floats[t], &code, diag), diag);
        CHECK(code.pieces == 1 && !code.ones && code_rows(&code, 8) == 8, "one piece");
        for (int64_t bits = 0; bits <= mc_type_max(floats[t]); bits++) {
            code_split(&code, bits, pieces);
            CHECK(pieces[0] == bits && code_join(&code, pieces) == bits, "%llx", (long long)bits);
        }
        expect_failure("bytes", code_make(floats[t], 0, MC_U8, &code, diag), MC_CANNOT, diag,
                       "the packed format holds integers");
    }
    expect_ok("digits", code_make(MC_S16, MC_DIGITS_OFFSET, MC_U4, &code, diag), diag);
    CHECK(code.pieces == 4 && code.ones && code_rows(&code, 8) == 33, "four digits and the ones");
    for (int64_t value = -32768; value <= 32767; value += 7) {
        code_split(&code, value, pieces);
        CHECK(code_join(&code, pieces) == value, "%lld", (long long)value);
    }
    expect_failure("s8", code_make(MC_S8, MC_DIGITS_OFFSET, MC_U8, &code, diag), MC_CANNOT, diag, "offset");
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    test_orders(diag);
    test_order(diag);
    test_subnormal(diag);
    test_ends();
    check_end_value(1e30f, 1, false, diag);
    check_end_value(INFINITY, 1, true, diag);
    check_end_value(NAN, 1, true, diag);
    check_end_value(1e30f, INFINITY, false, diag); /* -1e68 would make a NaN of it */
    check_end_value(1e30f, NAN, false, diag);
    test_results(diag);
    test_exact(diag);
    test_within(diag);
    test_codes(diag);
    mc_diag_destroy(diag);
    return check_end();
}
