/* mc_sddmm_run against the fake driver, where the kernel is a function of this test: what reaches the device,
   what a kernel that writes astray or too little comes to, and that nothing stays behind whichever call
   fails. */
#include <dlfcn.h>
#include <stdlib.h>
#include "products.h"
#include "check.h"
#include "fake_cuda.h"
#include "mcrt_internal.h"

static const char spec_text[] =
    "op = 'sddmm' lhs = 's8' rhs = 's8' out = 'f32' scale = 'row' mask = 'values'\n"
    "vec = 2 order = 'srbcrs16' groups = 1 warps = 1 align = 4\n";

static fake_cuda *fake;
static mc_diag *diag;
static mc_kernel *kernel;
static mc_device *device;
static mc_vsparse mask;
static mc_dense a, b, want;
static const float scale[] = {.5f, -1, 2, 3, 4, 5};

/* -- Kernels */

/* The argument that the contract calls NAME. */
static void *argument(void *const *args, const char *name) {
    const mc_contract *contract = mc_kernel_contract(kernel);
    size_t i = 0;
    while (strcmp(contract->params[i].name, name) != 0) i++;
    return args[i];
}

static int64_t shape(void *const *args, const char *name) { return *(int32_t *)argument(args, name); }
static void *array(void *const *args, const char *name) { return *(void **)argument(args, name); }

static void write_elements(void *const *args, int64_t count) {
    memcpy(array(args, "c"), want.data, (size_t)count * sizeof(float));
}

static void compute(void *const *args) { write_elements(args, want.rows * want.cols); }
static void write_too_little(void *const *args) { write_elements(args, want.rows * want.cols - 1); }
static void write_nothing(void *const *args) { (void)args; }

static void write_front(void *const *args) {
    compute(args);
    ((float *)array(args, "c"))[-1] = 0;
}

static void write_behind(void *const *args) {
    compute(args);
    ((float *)array(args, "c"))[want.rows * want.cols] = 0;
}

static void check_rows(const int8_t *rows, const mc_dense *matrix) {
    for (int64_t i = 0; i < matrix->rows; i++)
        for (int64_t j = 0; j < matrix->cols; j++)
            CHECK(rows[i * matrix->ld + j] == mc_dense_get(matrix, i, j), "element (%d, %d)", (int)i, (int)j);
}

static void compute_and_check(void *const *args) {
    /* Both row blocks with vectors are padded to 16 slots. */
    static const int32_t items[] = {0, 0, 16, 0, 2, 16, 16, 0};
    CHECK(shape(args, "k") == a.cols && shape(args, "lda") == a.ld && shape(args, "ldb") == b.ld);
    CHECK(shape(args, "item_count") == 2 && memcmp(array(args, "items"), items, sizeof items) == 0);
    CHECK(memcmp(array(args, "scale"), scale, sizeof scale) == 0);
    CHECK(((float *)array(args, "mask_values"))[16] == ((float *)mask.values)[1]);
    check_rows(array(args, "a"), &a);
    check_rows(array(args, "b"), &b);
    compute(args);
}

/* -- Runs */

static mc_status run(void (*function)(void *const *), unsigned a_offset, unsigned b_offset, unsigned c_offset,
                     mc_timing *timing) {
    const mc_sddmm problem = {.mask = &mask,
                              .a = &a,
                              .b = &b,
                              .a_offset = a_offset,
                              .b_offset = b_offset,
                              .c_offset = c_offset,
                              .scale = scale};
    mc_dense c;
    mc_diag_clear(diag);
    fake->kernel = function;
    mc_status status = mc_sddmm_run(device, kernel, NULL, &problem, timing, &c, diag);
    if (status == MC_OK) {
        CHECK(c.rows == 4 && c.cols == 16 && c.ld == 16 && c.type == MC_F32);
        status = mc_dense_compare(&c, &want, diag);
    } else {
        CHECK(c.data == NULL && c.rows == 0, "zeroed on failure");
    }
    mc_dense_free(&c);
    CHECK(fake->alive == 1, "only the context stays: %d", fake->alive);
    return status;
}

static void test_kernels(void) {
    static const struct {
        void (*function)(void *const *);
        unsigned a_offset, b_offset, c_offset;
        mc_status status;
        const char *want;
    } rows[] = {
        {compute_and_check, 0, 0, 0, MC_OK, ""},
        {compute_and_check, 4, 8, 12, MC_OK, ""},
        {compute, 2, 0, 0, MC_CANNOT, "a lies at"},
        {compute, 0, 2, 0, MC_CANNOT, "b lies at"},
        {compute, 0, 0, 2, MC_CANNOT, "c lies at"},
        {compute, 256, 0, 0, MC_USAGE, "the offset of A is 256, must be below 256 bytes"},
        {compute, 0, 256, 0, MC_USAGE, "the offset of B"},
        {compute, 0, 0, 256, MC_USAGE, "the offset of C"},
        {write_nothing, 0, 0, 0, MC_MISMATCH, "64 of 64 elements wrong"},
        {write_too_little, 0, 0, 0, MC_MISMATCH, "C[3][15] is -1.1801"},
        {write_front, 0, 0, 4, MC_MISMATCH, "the kernel wrote in front of C"},
        {write_behind, 0, 0, 0, MC_MISMATCH, "the kernel wrote behind C"},
        {write_behind, 0, 0, 4, MC_MISMATCH, "the kernel wrote behind C"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mc_status status = run(rows[i].function, rows[i].a_offset, rows[i].b_offset, rows[i].c_offset, NULL);
        CHECK(status == rows[i].status, "row %zu: %s", i, mc_diag_text(diag));
        CHECK_TEXT(mc_diag_text(diag), rows[i].want);
    }
}

/* A's and B's buffers end with their last row's last element. */
static void test_buffer_sizes(void) {
    char size[64];
    fake->log[0] = '\0';
    CHECK(run(compute, 4, 8, 12, NULL) == MC_OK, "%s", mc_diag_text(diag));
    snprintf(size, sizeof size, "cuMemAlloc_v2 %lld\n", (long long)((a.rows - 1) * a.ld + a.cols + 4));
    CHECK_TEXT(fake->log, size);
    snprintf(size, sizeof size, "cuMemAlloc_v2 %lld\n", (long long)((b.rows - 1) * b.ld + b.cols + 8));
    CHECK_TEXT(fake->log, size);
    CHECK_TEXT(fake->log, "cuMemAlloc_v2 524\n"); /* 4 x 16 elements of C, 12 bytes in front and 256 behind */
}

static void check_refused(const mc_sddmm *problem, const char *message) {
    mc_dense c;
    mc_diag_clear(diag);
    CHECK(mc_sddmm_run(device, kernel, NULL, problem, NULL, &c, diag) == MC_CANNOT, "%s", message);
    CHECK_TEXT(mc_diag_text(diag), message);
    CHECK(c.data == NULL, "zeroed on failure");
}

static void test_wrong_problems(void) {
    const mc_sddmm right = {.mask = &mask, .a = &a, .b = &b, .scale = scale};
    mc_vsparse other_vec = mask, integers = mask;
    mc_dense tall = a, long_b = b, short_k = b, wide = b;
    mc_sddmm wrong = right;
    tall.rows++, long_b.rows++, short_k.cols--;
    wide.type = MC_S16;
    int64_t row_ptr[] = {0, 3, 3, 5, 5, 5, 5};
    other_vec.vec = 1, other_vec.row_blocks = 6, other_vec.row_ptr = row_ptr;
    integers.type = MC_S32;
    wrong.a = &tall;
    check_refused(&wrong, "the mask has 6 rows, A 7 rows");
    wrong.a = &a, wrong.b = &long_b;
    check_refused(&wrong, "the mask has 20 columns, B 21 columns");
    wrong.b = &short_k;
    check_refused(&wrong, "A has 37 columns, B 36 rows");
    wrong.b = &wide;
    check_refused(&wrong, "the kernel reads B as s8, this one is s16");
    wrong = right, wrong.a = &wide, wide.rows = 6;
    check_refused(&wrong, "the kernel reads A as s8, this one is s16");
    wrong = right, wrong.scale = NULL;
    check_refused(&wrong, "the kernel wants its scale");
    wrong = right, wrong.mask = &other_vec;
    check_refused(&wrong, "the kernel is made for vec = 2, the matrix has 1");
    wrong.mask = &integers;
    check_refused(&wrong, "C is multiplied by the mask's values as f32, the mask holds s32");
}

/* Nothing is launched. */
static void test_empty(void) {
    int64_t row_ptr[] = {0, 0, 0, 0};
    mc_vsparse empty = mask;
    mc_dense c;
    empty.row_ptr = row_ptr, empty.vectors = 0;
    const mc_sddmm problem = {.mask = &empty, .a = &a, .b = &b, .scale = scale};
    fake->log[0] = '\0';
    mc_diag_clear(diag);
    CHECK(mc_sddmm_run(device, kernel, NULL, &problem, NULL, &c, diag) == MC_OK, "%s", mc_diag_text(diag));
    CHECK(c.rows == 0 && c.cols == 16 && fake->alive == 1, "an empty C");
    CHECK(strstr(fake->log, "cuMemAlloc") && !strstr(fake->log, "cuLaunch"), "%s", fake->log);
    mc_dense_free(&c);
}

static void test_other_family(void) {
    static const char text[] = "op = 'spmm' lhs = 's8' rhs = 's8' vec = 2";
    const mc_sddmm problem = {.mask = &mask, .a = &a, .b = &b};
    mc_spec *spec;
    mc_kernel *spmm = NULL;
    mc_dense c;
    mc_diag_clear(diag);
    mc_status status = mc_spec_read_text("test.lua", text, sizeof text - 1, NULL, 0, &spec, diag);
    if (status == MC_OK) status = mc_kernel_generate(spec, 0, &spmm, diag);
    CHECK(status == MC_OK && mc_sddmm_run(device, spmm, NULL, &problem, NULL, &c, diag) == MC_CANNOT);
    CHECK_TEXT(mc_diag_text(diag), "the kernel is made for lhs = s8, the matrix holds f32");
    mc_kernel_destroy(spmm);
    mc_spec_destroy(spec);
}

static void test_every_failure(void) {
    static const float elapsed[] = {1, 1};
    int fail_at = 0;
    mc_status status;
    do {
        mc_timing timing = {.launches = 2, .rounds = 2};
        fake->log[0] = '\0';
        fake->elapsed = elapsed;
        fake->calls = 0;
        fake->fail_at = ++fail_at;
        status = run(compute, 4, 8, 8, &timing);
        CHECK(status == MC_OK || status == MC_DEVICE, "call %d: %s", fail_at, mc_diag_text(diag));
    } while (fake->calls >= fail_at && fail_at < 1000);
    CHECK(status == MC_OK, "%s", mc_diag_text(diag));
    CHECK(fail_at > 60 && fail_at < 1000, "%d calls", fail_at);
    fake->fail_at = 0;
}

/* -- The problem: 3 row blocks of two rows, one of them empty, of 20 columns; k = 37, with gaps of 3 in A and 1 in B */

static mc_status make_problem(void) {
    int64_t row_ptr[] = {0, 3, 3, 5};
    int32_t col_idx[] = {0, 13, 19, 5, 6};
    const mc_csr csr = {3, 20, 5, row_ptr, col_idx, MC_CSR_PATTERN, NULL, 0};
    mc_dense sums = {0};
    mc_output output;
    mc_status status = mc_vsparse_dilate(&csr, 2, MC_F32, &mask, diag);
    if (status == MC_OK) status = mc_dense_create(MC_S8, 6, 37, 40, &a, diag);
    if (status == MC_OK) status = mc_dense_create(MC_S8, 20, 37, 38, &b, diag);
    if (status != MC_OK) return status;
    mc_scale_fill(mask.values, 10, MC_VALUES_FULL, 1);
    mc_dense_fill(&a, MC_VALUES_FULL, 2);
    mc_dense_fill(&b, MC_VALUES_EXTREME, 3);
    status = mc_output_of(kernel, &output, diag);
    if (status == MC_OK) status = mc_reference_sddmm(&mask, &a, &b, MC_LAYOUT_COLUMNS, &sums, diag);
    if (status == MC_OK)
        status = mc_reference_sampled(&output, &mask, MC_ORDER_SRBCRS16, scale, &sums, &want, diag);
    mc_dense_free(&sums);
    return status;
}

static mc_status make_kernel(void) {
    mc_spec *spec;
    mc_status status = mc_spec_read_text("test.lua", spec_text, sizeof spec_text - 1, NULL, 0, &spec, diag);
    if (status == MC_OK) status = mc_kernel_generate(spec, 0, &kernel, diag);
    mc_spec_destroy(spec);
    return status;
}

int main(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library != NULL) fake = dlsym(library, "fake_cuda_state");
    diag = mc_diag_create();
    bool ready = fake != NULL && make_kernel() == MC_OK && make_problem() == MC_OK &&
                 mc_device_open("cuda:0", &device, diag) == MC_OK;
    CHECK(ready, "%s", mc_diag_text(diag));
    if (ready) {
        fake->params = mc_kernel_contract(kernel)->param_count;
        test_kernels();
        test_buffer_sizes();
        test_wrong_problems();
        test_empty();
        test_other_family();
        test_every_failure();
    }
    mc_device_close(device);
    mc_kernel_destroy(kernel);
    mc_vsparse_free(&mask);
    mc_dense_free(&a);
    mc_dense_free(&b);
    mc_dense_free(&want);
    mc_diag_destroy(diag);
    return check_end();
}
