/* Sampled products by matrices without vectors: sums are those of the reference in a kernel's order, to the bit, whatever the mask
   and k are like, and wherever A, B and C lie. What the order is, and which kernels there are, each test says itself. */
#ifndef MC_TESTS_SAMPLED_SINGLES_H
#define MC_TESTS_SAMPLED_SINGLES_H

#include "sparse_output.h"
#include <string.h>

typedef struct operands {
    mc_vsparse mask;
    mc_dense a, b;
} operands;

/* Sums in KERNEL's order, f32, one for each nonzero. OFFSET: bytes that A lies behind an aligned address; B twice as many. */
typedef mc_status sums_in_order(const mc_kernel *kernel, const operands *o, unsigned offset, mc_dense *sums,
                                mc_diag *diag);

typedef struct session {
    const char *spec, *arch; /* arch: NULL, the spec's */
    sums_in_order *order;
    mc_device *device;
    mc_diag *diag;
    long kernels, sums;
} session;

/* -- Operands ------------------------------------------------------------------------------------------ */

/* What lies between rows is NaN; infinite numbers are few. */
static void make_side(session *s, mc_type type, int64_t rows, int64_t k, int64_t ld, uint64_t seed,
                      mc_dense *dense) {
    mcrt_random random = random_start(seed, (uint64_t)k);
    CHECK(mc_dense_create(type, rows, k, ld, dense, s->diag) == MC_OK, "%s", mc_diag_text(s->diag));
    mc_dense whole = *dense;
    whole.cols = ld;
    for (int64_t i = 0; i < rows * ld; i++) {
        const bool special = i % ld >= k || random_next(&random) % 5000 == 0;
        mc_dense_set(&whole, i / ld, i % ld,
                     special ? real_to_bits(type, i % ld >= k ? NAN : INFINITY) : number(type, &random));
    }
}

/* TYPES: of A and B. */
static void make(session *s, size_t index, const mc_type types[2], int64_t k, int64_t gap, operands *o) {
    mc_csr csr;
    make_pattern(index, &csr);
    mcrt_random random = random_start(index, 5);
    CHECK(mc_vsparse_dilate(&csr, 1, MC_F32, &o->mask, s->diag) == MC_OK, "%s", mc_diag_text(s->diag));
    for (int64_t i = 0; i < csr.nnz; i++) mc_vsparse_set_value(&o->mask, i, 0, number(MC_F32, &random));
    make_side(s, types[0], csr.rows, k, k + gap, 1, &o->a);
    make_side(s, types[1], csr.cols, k, k + 2 * gap, 2, &o->b);
    mc_csr_free(&csr);
}

static void free_operands(operands *o) {
    mc_vsparse_free(&o->mask);
    mc_dense_free(&o->a);
    mc_dense_free(&o->b);
}

/* -- Sums ---------------------------------------------------------------------------------------------- */

static mc_status make_want(const session *s, const mc_kernel *kernel, const operands *o, unsigned offset,
                           const float *scale, mc_dense *want) {
    mc_output output;
    mc_dense sums = {0};
    mc_status status = s->order(kernel, o, offset, &sums, s->diag);
    if (status == MC_OK) status = mc_output_of(kernel, &output, s->diag);
    if (status == MC_OK)
        status = mc_reference_sampled(&output, &o->mask, MC_ORDER_BCRS, scale, &sums, want, s->diag);
    mc_dense_free(&sums);
    return status;
}

static void check_sums(session *s, const mc_kernel *kernel, const operands *o, unsigned offset) {
    mcrt_random random = random_start((uint64_t)o->mask.rows, 9);
    float *scale = make_factors(o->mask.rows + o->mask.cols, &random);
    const bool scales = strcmp(mc_kernel_field_text(kernel, "scale"), "none") != 0;
    const mc_sddmm product = {&o->mask, &o->a, &o->b, offset, 2 * offset, offset, scales ? scale : NULL};
    const char *entry = mc_kernel_contract(kernel)->entry;
    mc_dense got = {0}, want = {0};
    long wrong = 0;
    mc_status status = mc_sddmm_run(s->device, kernel, NULL, &product, NULL, &got, s->diag);
    if (status == MC_OK) status = make_want(s, kernel, o, offset, product.scale, &want);
    CHECK(status == MC_OK, "%s: %s", entry, mc_diag_text(s->diag));
    for (int64_t i = 0; status == MC_OK && i < o->mask.vectors; i++, s->sums++)
        wrong += mc_dense_get(&got, i, 0) != mc_dense_get(&want, i, 0);
    CHECK(wrong == 0, "%s: %d x %d, k %d, offset %u: %ld of %ld sums differ", entry, (int)o->mask.rows,
          (int)o->mask.cols, (int)o->a.cols, offset, wrong, (long)o->mask.vectors);
    free(scale);
    mc_dense_free(&got);
    mc_dense_free(&want);
    mc_diag_clear(s->diag);
}

/* FIXED: the kernel's k; or 0. */
static void check_kernel(session *s, const mc_kernel *kernel, size_t turn, int fixed) {
    static const struct {
        int k, gap;
    } shapes[] = {{64, 0}, {1, 0}, {33, 7}, {8, 8}, {136, 0}, {7, 3}, {64, 3}, {12, 4}, {16, 16}, {300, 4}};
    enum { SHAPES = sizeof shapes / sizeof *shapes, MANY = 10000, FEW_K = 24 };
    const bool any_address = mc_kernel_field(kernel, "align") == 1;
    mc_type types[2] = {MC_F32, MC_F32};
    CHECK(mc_type_of(kernel, "lhs", &types[0], s->diag) == MC_OK &&
              mc_type_of(kernel, "rhs", &types[1], s->diag) == MC_OK,
          "no type");
    for (size_t i = 0; i < SPARSE_CASES; i++) {
        const size_t shape = (i + turn) % SHAPES;
        int k = shapes[shape].k;
        operands o;
        if (sparse_cases[i].rows * sparse_cases[i].cols > MANY && k > FEW_K) k = k / 8;
        make(s, i, types, fixed ? fixed : k, fixed ? 0 : shapes[shape].gap, &o);
        check_sums(s, kernel, &o, any_address ? (unsigned)(4 * (i % 3)) : 0);
        free_operands(&o);
    }
    s->kernels++;
}

/* -- Kernels ------------------------------------------------------------------------------------------- */

/* What becomes of the sums, in turn. */
enum { OUTPUTS = 3, OUTPUT_SETTINGS = 3 };
static const mc_setting outputs[OUTPUTS][OUTPUT_SETTINGS] = {
    {{"out", "f32"}, {"scale", "none"}, {"mask", "pattern"}},
    {{"out", "bf16"}, {"scale", "column"}, {"mask", "values"}},
    {{"out", "u8"}, {"scale", "row"}, {"mask", "pattern"}}};

/* A kernel of the spec with SETTINGS, the I-th of a test. FIXED: its k; or 0. */
static void check_settings(session *s, spec_settings settings, size_t i, int fixed) {
    mc_spec *spec = NULL;
    mc_kernel *kernel = NULL;
    for (size_t e = 0; e < OUTPUT_SETTINGS; e++)
        set(&settings, outputs[i / 3 % OUTPUTS][e].field, outputs[i / 3 % OUTPUTS][e].value);
    if (s->arch != NULL) set(&settings, "arch", s->arch);
    mc_status status = mc_spec_read(s->spec, settings.all, settings.count, &spec, s->diag);
    if (status == MC_OK) status = mc_kernel_generate(spec, 0, &kernel, s->diag);
    CHECK(status == MC_OK, "%s, form %d: %s", settings.all[0].value, (int)i, mc_diag_text(s->diag));
    if (status == MC_OK) check_kernel(s, kernel, i, fixed);
    mc_kernel_destroy(kernel);
    mc_spec_destroy(spec);
    mc_diag_clear(s->diag);
}

/* Of each of the program's arguments SPEC TYPES [DEVICE [ARCH]]: TYPES as "f32,f16". */
static int check_all(int argc, char **argv, sums_in_order *order,
                     void (*check_types)(session *s, const char *type)) {
    session s = {.order = order, .diag = mc_diag_create()};
    if (argc < 3 || mc_device_open(argc > 3 ? argv[3] : "sim", &s.device, s.diag) != MC_OK) return 2;
    s.spec = argv[1], s.arch = argc > 4 ? argv[4] : NULL;
    for (char *type = strtok(argv[2], ","); type != NULL; type = strtok(NULL, ",")) check_types(&s, type);
    printf("%ld kernels, %ld sums\n", s.kernels, s.sums);
    mc_device_close(s.device);
    mc_diag_destroy(s.diag);
    return check_end();
}

#endif
