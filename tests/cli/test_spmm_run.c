/* mc_spmm_run against the fake driver, where the kernel is a function of this test: what reaches the device,
   what a kernel that writes astray comes to, and that nothing stays behind whichever call fails. */
#include <dlfcn.h>
#include <stdlib.h>
#include "products.h"
#include "check.h"
#include "fake_cuda.h"
#include "mcrt_internal.h"

static const char spec_text[] = "op = 'spmm' lhs = 's8' rhs = 's8' out = 's32' vec = 8\n"
                                "tile_n = 64 stride = 32 warps = 4 split = 2 prefetch = 'on' align = 4\n";

static fake_cuda *fake;
static mc_diag *diag;
static mc_kernel *kernel;
static mc_device *device;
static mc_vsparse a;
static mc_dense b, want;

/* -- Kernels */

/* The argument that the contract calls NAME. */
static void *argument(void *const *args, const char *name) {
    const mc_contract *contract = mc_kernel_contract(kernel);
    size_t i = 0;
    while (strcmp(contract->params[i].name, name) != 0) i++;
    return args[i];
}

static int64_t shape(void *const *args, const char *name) { return *(int32_t *)argument(args, name); }
static int8_t *array_b(void *const *args) { return *(int8_t **)argument(args, "b"); }
static int32_t *array_c(void *const *args) { return *(int32_t **)argument(args, "c"); }

static void compute(void *const *args) {
    for (int64_t i = 0; i < want.rows; i++)
        for (int64_t j = 0; j < want.cols; j++)
            array_c(args)[i * shape(args, "ldc") + j] = (int32_t)mc_dense_get(&want, i, j);
}

static void compute_and_check_b(void *const *args) {
    CHECK(shape(args, "m") == a.rows && shape(args, "n") == b.cols && shape(args, "ldb") == b.ld);
    for (int64_t i = 0; i < b.rows; i++)
        for (int64_t j = 0; j < b.cols; j++) CHECK(array_b(args)[i * b.ld + j] == mc_dense_get(&b, i, j));
    compute(args);
}

static void write_gap(void *const *args) {
    compute(args);
    array_c(args)[2 * shape(args, "ldc") + want.cols + 1] = 0;
}

static void write_front(void *const *args) {
    compute(args);
    array_c(args)[-1] = 0;
}

static void write_behind(void *const *args) {
    compute(args);
    array_c(args)[(want.rows - 1) * shape(args, "ldc") + want.cols] = 0;
}

static void write_nothing(void *const *args) { (void)args; }

/* -- Runs */

static mc_status run(void (*function)(void *const *), int64_t gap, unsigned b_offset, unsigned c_offset,
                     mc_timing *timing) {
    const mc_spmm problem = {
        .a = &a, .b = &b, .ldc = want.cols + gap, .b_offset = b_offset, .c_offset = c_offset};
    mc_dense c;
    mc_diag_clear(diag);
    fake->kernel = function;
    mc_status status = mc_spmm_run(device, kernel, NULL, &problem, timing, &c, diag);
    if (status == MC_OK) {
        CHECK(c.rows == want.rows && c.cols == want.cols && c.ld == problem.ldc && c.type == MC_S32);
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
        int64_t gap;
        unsigned c_offset;
        mc_status status;
        const char *want;
    } rows[] = {
        {compute_and_check_b, 0, 0, MC_OK, ""},
        {compute_and_check_b, 3, 0, MC_OK, ""},
        {compute, 3, 16, MC_OK, ""},
        {write_nothing, 0, 0, MC_MISMATCH, ""},
        {write_gap, 3, 0, MC_MISMATCH, "the kernel wrote C's gap: row 2, column 38 of 37"},
        {write_front, 0, 16, MC_MISMATCH, "the kernel wrote in front of C"},
        {write_behind, 0, 0, MC_MISMATCH, "the kernel wrote behind C"},
        {write_behind, 3, 16, MC_MISMATCH, "the kernel wrote behind C"},
        {compute, 0, 2, MC_CANNOT, "c lies at"},
        {compute, 0, 256, MC_USAGE, "below 256"},
        {compute, -1, 0, MC_CANNOT, "ldc is 36, less than the row length n of 37"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mc_status status = run(rows[i].function, rows[i].gap, 0, rows[i].c_offset, NULL);
        CHECK(status == rows[i].status, "row %zu: %s", i, mc_diag_text(diag));
        CHECK_TEXT(mc_diag_text(diag), rows[i].want);
    }
    CHECK(run(compute_and_check_b, 0, 4, 0, NULL) == MC_OK, "%s", mc_diag_text(diag));
    CHECK(run(compute, 0, 2, 0, NULL) == MC_CANNOT);
    CHECK_TEXT(mc_diag_text(diag), "b lies at");
}

/* B's buffer ends with its last row, not with that row's gap; the same for C, but for the 256 bytes that show
   what a kernel writes there. */
static void test_buffer_sizes(void) {
    char b_size[64], c_size[64];
    snprintf(b_size, sizeof b_size, "cuMemAlloc_v2 %lld\n", (long long)((b.rows - 1) * b.ld + b.cols + 4));
    snprintf(c_size, sizeof c_size, "cuMemAlloc_v2 %lld\n",
             (long long)(4 * ((want.rows - 1) * (want.cols + 5) + want.cols) + 8 + 256));
    fake->log[0] = '\0';
    CHECK(run(compute, 5, 4, 8, NULL) == MC_OK, "%s", mc_diag_text(diag));
    CHECK_TEXT(fake->log, b_size);
    CHECK_TEXT(fake->log, c_size);
}

static void test_wrong_problems(void) {
    mc_dense short_b, wide_b, c;
    CHECK(mc_dense_create(MC_S8, b.rows - 1, 4, 4, &short_b, diag) == MC_OK);
    CHECK(mc_dense_create(MC_S16, b.rows, 4, 4, &wide_b, diag) == MC_OK);
    const mc_spmm with_short = {.a = &a, .b = &short_b, .ldc = 4},
                  with_wide = {.a = &a, .b = &wide_b, .ldc = 4};
    const float scale = 1;
    const mc_spmm with_scale = {.a = &a, .b = &b, .ldc = b.cols, .scale = &scale};
    CHECK(mc_spmm_run(device, kernel, NULL, &with_scale, NULL, &c, diag) == MC_CANNOT);
    CHECK_TEXT(mc_diag_text(diag), "the kernel takes no scale");
    mc_diag_clear(diag);
    CHECK(mc_spmm_run(device, kernel, NULL, &with_short, NULL, &c, diag) == MC_CANNOT);
    CHECK_TEXT(mc_diag_text(diag), "A has 70 columns, B 69 rows");
    CHECK(mc_spmm_run(device, kernel, NULL, &with_wide, NULL, &c, diag) == MC_CANNOT);
    CHECK_TEXT(mc_diag_text(diag), "the kernel reads B as s8, this one is s16");
    mc_dense_free(&short_b);
    mc_dense_free(&wide_b);
}

static void test_timing(void) {
    static const float elapsed[] = {3, 1, 2};
    mc_timing timing = {.launches = 10, .rounds = 3};
    fake->elapsed = elapsed;
    CHECK(run(compute, 0, 0, 0, &timing) == MC_OK && timing.microseconds > 199.99 &&
              timing.microseconds < 200.01,
          "%f", timing.microseconds);
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
        status = run(compute, 2, 4, 8, &timing);
        CHECK(status == MC_OK || status == MC_DEVICE, "call %d: %s", fail_at, mc_diag_text(diag));
    } while (fake->calls >= fail_at && fail_at < 1000);
    CHECK(status == MC_OK, "%s", mc_diag_text(diag));
    CHECK(fail_at > 60 && fail_at < 1000, "%d calls", fail_at);
    fake->fail_at = 0;
}

/* -- The problem: 3 row blocks, one of them empty, of 70 columns; N = 37 with a gap of 3 */

static mc_status make_problem(void) {
    int64_t row_ptr[] = {0, 3, 3, 5};
    int32_t col_idx[] = {0, 33, 69, 5, 6};
    const mc_csr csr = {3, 70, 5, row_ptr, col_idx, MC_CSR_PATTERN, NULL, 0};
    mc_status status = mc_vsparse_dilate(&csr, 8, MC_S8, &a, diag);
    if (status == MC_OK) status = mc_dense_create(MC_S8, 70, 37, 40, &b, diag);
    if (status != MC_OK) return status;
    mc_vsparse_fill(&a, MC_VALUES_EXTREME, 1, NULL);
    mc_dense_fill(&b, MC_VALUES_FULL, 2);
    return mc_reference_spmm(&a, &b, &want, diag);
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
    bool ready = fake != NULL && make_problem() == MC_OK && make_kernel() == MC_OK &&
                 mc_device_open("cuda:0", &device, diag) == MC_OK;
    CHECK(ready, "%s", mc_diag_text(diag));
    if (ready) {
        fake->params = mc_kernel_contract(kernel)->param_count;
        test_kernels();
        test_buffer_sizes();
        test_wrong_problems();
        test_timing();
        test_every_failure();
    }
    mc_device_close(device);
    mc_kernel_destroy(kernel);
    mc_vsparse_free(&a);
    mc_dense_free(&b);
    mc_dense_free(&want);
    mc_diag_destroy(diag);
    return check_end();
}
