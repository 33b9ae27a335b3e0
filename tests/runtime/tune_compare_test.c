/* What tuning compares a kernel's C with, of floats and of integers: the reference of all bands is that of the whole, and
   each element just outside of its bounds, each NaN and each byte around C that is not as it must be is found. */
#include <math.h>
#include <time.h>
#include "base/element.h"
#include "base/real.h"
#include "scratch.h"
#include "tune/measurement.h"

enum { BLOCKS = 9, COLS = 300, VEC = 4, N = 37, LDC = 40 };

static bool listen(void *user, const tune_event *event) { return (void)user, (void)event, true; }

/* A measurement as far as its reference. */
typedef struct setting {
    mc_vsparse a;
    plan_problem problem;
    tune_race race;
    measurement m;
} setting;

static void make_matrix(mc_type type, mc_vsparse *a, mc_diag *diag) {
    const mc_pattern pattern = {BLOCKS, COLS, 0.7, MC_PATTERN_UNIFORM, 0, 3};
    mc_csr csr;
    expect_ok("generate", mc_csr_generate(&pattern, &csr, diag), diag);
    expect_ok("dilate", mc_vsparse_dilate(&csr, VEC, type, a, diag), diag);
    mc_csr_free(&csr);
}

static void open_setting(setting *s, const mc_plan_config *config, mc_type type, mc_diag *diag) {
    *s = (setting){0};
    make_matrix(type, &s->a, diag);
    expect_ok("problem", plan_problem_of(config, &s->a, &s->problem, diag), diag);
    s->race = (tune_race){.problem = &s->problem, .matrix = &s->a};
    s->m = (measurement){.operator= operator_of(s->problem.op), .race = &s->race, .listener = listen};
    expect_ok("operands", tune_operands_make(&s->m, diag), diag);
    expect_ok("reference", tune_reference(&s->m, diag), diag);
}

static void close_setting(setting *s) {
    tune_operands_free(&s->m);
    mc_vsparse_free(&s->a);
}

/* C in MEMORY. */
static mc_dense c_in(const setting *s, unsigned char *memory) {
    mc_dense c = s->m.operands.c;
    c.data = memory + s->m.operands.guard;
    return c;
}

static unsigned char *copy_of(const setting *s, const unsigned char *memory) {
    unsigned char *copy = malloc(s->m.operands.want_bytes);
    if (copy == NULL) abort();
    return memcpy(copy, memory, s->m.operands.want_bytes);
}

/* -- The reference ------------------------------------------------------------------------------------ */

static void expect_whole(setting *s, reference_result *want, mc_diag *diag) {
    const tune_operands *o = &s->m.operands;
    host_operands operands = {.problem = &s->problem, .matrix = &o->matrix};
    for (size_t i = 0; i < s->m.operator->operand_count; i++)
        operands.inputs[i] = &o->inputs[i], operands.factors[i] = o->factors[i];
    expect_ok("expect", operator_expect(s->m.operator, & operands, want, diag), diag);
}

static void check_reference(setting *s, mc_diag *diag) {
    const tune_operands *o = &s->m.operands;
    reference_result want;
    expect_whole(s, &want, diag);
    CHECK((o->most != NULL) == (want.high.data != NULL), "bounds");
    const mc_dense low = c_in(s, o->want), high = o->most != NULL ? c_in(s, o->most) : low;
    expect_ok("low", mc_dense_compare(&low, &want.low, diag), diag);
    if (o->most != NULL) expect_ok("high", mc_dense_compare(&high, &want.high, diag), diag);
    int64_t wide = 0;
    for (int64_t i = 0; i < low.rows; i++)
        for (int64_t j = 0; j < low.cols; j++) {
            CHECK(isfinite(mc_dense_real(&low, i, j)) && isfinite(mc_dense_real(&high, i, j)), "finite");
            wide += mc_dense_get(&low, i, j) != mc_dense_get(&high, i, j);
        }
    CHECK((wide > 0) == (o->most != NULL), "%lld wide ranges", (long long)wide);
    mc_result_free(&want);
}

/* -- Elements ----------------------------------------------------------------------------------------- */

/* The element next to ELEMENT, up or down. */
static int64_t next_to(mc_type type, int64_t element, bool up) {
    const float_bits f = float_bits_of(type);
    int64_t order = float_order(&f, element) + (up ? 1 : -1);
    return order < 0 ? -order | (f.magnitude + 1) : order;
}

static void expect_wrong(const setting *s, int64_t i, int64_t j, int64_t element, const char *message,
                         mc_diag *diag) {
    const tune_operands *o = &s->m.operands;
    unsigned char *got = copy_of(s, o->want);
    mc_dense c = c_in(s, got);
    mc_dense_set(&c, i, j, element);
    char at[96];
    snprintf(at, sizeof at, "C[%d][%d] is", (int)i, (int)j);
    mc_status status = tune_check_result(o, got, diag);
    if (message == NULL) expect_ok("right", status, diag);
    else {
        CHECK_TEXT(mc_diag_text(diag), at);
        expect_failure("wrong", status, MC_MISMATCH, diag, message);
    }
    free(got);
}

static void check_element(const setting *s, int64_t i, int64_t j, mc_diag *diag) {
    const tune_operands *o = &s->m.operands;
    const mc_dense low = c_in(s, o->want), high = c_in(s, o->most);
    int64_t least = mc_dense_get(&low, i, j), most = mc_dense_get(&high, i, j);
    expect_wrong(s, i, j, most, NULL, diag);
    expect_wrong(s, i, j, next_to(o->c.type, least, false), "must be from", diag);
    expect_wrong(s, i, j, next_to(o->c.type, most, true), "must be from", diag);
    expect_wrong(s, i, j, real_to_bits(o->c.type, NAN), "must be from", diag);
    expect_wrong(s, i, j, real_to_bits(o->c.type, INFINITY), "(1 of", diag);
}

static void check_elements(const setting *s, mc_diag *diag) {
    const mc_dense *c = &s->m.operands.c;
    check_element(s, 0, 0, diag);
    check_element(s, c->rows - 1, c->cols - 1, diag);
    check_element(s, c->rows / 2, c->cols / 3, diag);
}

/* -- What lies around C, and a second launch ---------------------------------------------------------- */

static void check_byte(const setting *s, size_t at, const char *message, mc_diag *diag) {
    const tune_operands *o = &s->m.operands;
    unsigned char *got = copy_of(s, o->want);
    got[at] ^= 1;
    expect_failure(message, tune_check_result(o, got, diag), MC_MISMATCH, diag, message);
    CHECK(tune_check_again(o, o->want, got, diag) == MC_MISMATCH, "%s", message);
    mc_diag_clear(diag);
    free(got);
}

static void check_around(const setting *s, mc_diag *diag) {
    const tune_operands *o = &s->m.operands;
    size_t row = (size_t)mc_type_size(o->c.type, o->c.ld), cols = (size_t)mc_type_size(o->c.type, o->c.cols);
    check_byte(s, 0, "in front of C", diag);
    check_byte(s, o->guard - 1, "in front of C", diag);
    check_byte(s, o->want_bytes - o->guard, "behind C", diag);
    check_byte(s, o->want_bytes - 1, "behind C", diag);
    if (row == cols) return;
    check_byte(s, o->guard + 5 * row + cols, "C's gap in row 5", diag);
    check_byte(s, o->want_bytes - o->guard - 1, "C's gap in row", diag);
}

/* Both are right, and they differ. */
static void check_again(const setting *s, mc_diag *diag) {
    const tune_operands *o = &s->m.operands;
    unsigned char *other = copy_of(s, o->want);
    mc_dense c = c_in(s, other);
    expect_ok("the same", tune_check_again(o, o->want, other, diag), diag);
    const mc_dense high = c_in(s, o->most);
    for (int64_t i = 0; i < c.rows; i++)
        for (int64_t j = 0; j < c.cols; j++) mc_dense_set(&c, i, j, mc_dense_get(&high, i, j));
    expect_ok("right", tune_check_result(o, other, diag), diag);
    expect_failure("again", tune_check_again(o, o->want, other, diag), MC_MISMATCH, diag,
                   "a second launch: C[");
    mc_dense_set(&c, 0, 0, 0x7fff);
    unsigned char *another = copy_of(s, other);
    mc_dense d = c_in(s, another);
    mc_dense_set(&d, 0, 0, 0x7ffe);
    if (o->c.type == MC_F16)
        expect_failure("NaNs", tune_check_again(o, other, another, diag), MC_MISMATCH, diag,
                       "a second launch gave other bytes");
    free(another);
    free(other);
}

/* -- Problems ----------------------------------------------------------------------------------------- */

static const struct {
    mc_plan_config config;
    mc_type matrix;
} cases[] = {
    {{.c = MC_F32, .b = MC_F16, .n = N, .ldc = LDC}, MC_F16},
    {{.c = MC_F16, .b = MC_F16, .n = N, .ldc = LDC, .scale = MC_PER_ROW, .activation = MC_ACTIVATION_GELU},
     MC_F16},
    {{.c = MC_BF16, .b = MC_BF16, .n = N, .ldc = LDC, .bias = MC_PER_COLUMN, .residual = MC_RESIDUAL_F16},
     MC_BF16},
    {{.op = MC_OP_SDDMM, .a = MC_F16, .b = MC_F16, .c = MC_F32, .k = 64}, MC_S8},
    {{.op = MC_OP_SDDMM, .a = MC_BF16, .b = MC_BF16, .c = MC_F16, .k = 64, .mask_values = true}, MC_F32},
};

static void check_case(size_t i, mc_diag *diag) {
    mc_plan_config config = cases[i].config;
    setting s;
    config.size = sizeof config;
    open_setting(&s, &config, cases[i].matrix, diag);
    CHECK(s.m.operands.most != NULL, "case %d", (int)i);
    check_reference(&s, diag);
    expect_ok("itself", tune_check_result(&s.m.operands, s.m.operands.want, diag), diag);
    expect_ok("the most", tune_check_result(&s.m.operands, s.m.operands.most, diag), diag);
    check_elements(&s, diag);
    check_around(&s, diag);
    check_again(&s, diag);
    close_setting(&s);
}

/* One result is right, and no more. */
static void test_integers(mc_diag *diag) {
    const mc_plan_config config = {.size = sizeof config, .c = MC_S32, .n = N, .ldc = LDC};
    setting s;
    open_setting(&s, &config, MC_S8, diag);
    CHECK(s.m.operands.most == NULL, "exact");
    check_reference(&s, diag);
    check_around(&s, diag);
    const mc_dense c = c_in(&s, s.m.operands.want);
    expect_wrong(&s, 3, 4, mc_dense_get(&c, 3, 4) + 1, "must be", diag);
    close_setting(&s);
}

/* Ten million elements: it is said how long that takes. */
static void test_speed(mc_diag *diag) {
    enum { ROWS = 2500, WIDE = 4000 };
    mc_dense low, high;
    expect_ok("create", mc_dense_create(MC_F16, ROWS, WIDE, WIDE, &low, diag), diag);
    expect_ok("create", mc_dense_create(MC_F16, ROWS, WIDE, WIDE, &high, diag), diag);
    memset(high.data, 0x3c, (size_t)ROWS * WIDE * 2);
    clock_t begin = clock();
    expect_ok("within", mc_dense_within(&low, &low, &high, diag), diag);
    printf("10^7 elements within bounds: %.3f s\n", (double)(clock() - begin) / CLOCKS_PER_SEC);
    mc_dense_free(&low);
    mc_dense_free(&high);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_case(i, diag);
    test_integers(diag);
    test_speed(diag);
    mc_diag_destroy(diag);
    return check_end();
}
