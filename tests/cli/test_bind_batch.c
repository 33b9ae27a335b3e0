/* mc_bind and mc_bind_tensor of a dense product's batch: how many thread blocks take how many tiles, tensor maps of
 * three dimensions, and strides that the kernel's copies do not take. */
#include "check.h"
#include "mcrt_internal.h"
#include "problem/bind.h"

static mc_diag *diag;

enum { BATCH, A_STRIDE, B_STRIDE, C_STRIDE, MULTIPROCESSORS, M, N, BINDINGS = 16 };

static const mc_binding standard[BINDINGS] = {
    {"batch", 3}, {"a_stride", 8192}, {"b_stride", 16384}, {"c_stride", 32768}, {"multiprocessors", 132},
    {"m", 128},   {"n", 256},         {"k", 64},           {"lda", 64},         {"ldb", 64},
    {"ldc", 256}, {"a", 0x10000},     {"b", 0x20000},      {"c", 0x40000},      {"a_map", 0},
    {"b_map", 0}};

static mc_kernel *make(const mc_setting *settings, size_t count) {
    mc_spec *spec = NULL;
    mc_kernel *kernel = NULL;
    mc_diag_clear(diag);
    if (mc_spec_read("gemm_f16", settings, count, &spec, diag) == MC_OK)
        (void)mc_kernel_generate(spec, mc_spec_default(spec), &kernel, diag);
    mc_spec_destroy(spec);
    CHECK(kernel != NULL, "%s", mc_diag_text(diag));
    return kernel;
}

/* -- Turns: tiles are 128 x 256, and a multiprocessor holds one thread block */

static const struct {
    int64_t rows, columns, batch; /* of tiles */
    unsigned blocks;              /* of each product */
} grids[] = {
    {1, 1, 3, 1},     {4, 4, 8, 16}, /* 128 tiles: one each */
    {4, 4, 64, 2},                   /* 8 each */
    {4, 4, 128, 1},                  /* 16 each */
    {4, 4, 96, 4}, /* 4 each, three times 132 thread blocks; one a product would leave 36 without work */
    {4, 4, 70, 8}, /* 2 each, five times */
    {1, 1, 1000, 1},  {10, 10, 2, 50}, /* 2 each */
    {40, 40, 1, 124},                  /* one product: all thread blocks at once */
};

static void test_grids(const mc_kernel *kernel) {
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        mc_binding bindings[BINDINGS + 1];
        mc_launch launch;
        memcpy(bindings, standard, sizeof standard);
        bindings[M].value = grids[i].rows * 128, bindings[N].value = grids[i].columns * 256;
        bindings[BATCH].value = grids[i].batch;
        for (int j = 0; j < BINDINGS; j++)
            if (strcmp(bindings[j].name, "ldc") == 0) bindings[j].value = bindings[N].value;
        bindings[BINDINGS] = (mc_binding){"c_map", 0};
        mc_status status = mc_bind(kernel, bindings, BINDINGS + 1, &launch, diag);
        CHECK(status == MC_OK, "%zu: %s", i, mc_diag_text(diag));
        CHECK(launch.grid[0] == grids[i].blocks && launch.grid[1] == 1 && launch.grid[2] == grids[i].batch,
              "%zu: %u x %u x %u thread blocks", i, launch.grid[0], launch.grid[1], launch.grid[2]);
    }
}

/* -- Tensor maps */

static void test_maps(const mc_kernel *kernel) {
    static const struct {
        uint64_t dims[3], strides[2];
    } wanted[] = {{{64, 128, 3}, {128, 16384}}, {{64, 256, 3}, {128, 32768}}, {{256, 128, 3}, {512, 65536}}};
    CHECK(mc_kernel_contract(kernel)->map_count == 3, "%zu maps", mc_kernel_contract(kernel)->map_count);
    for (size_t i = 0; i < 3; i++) {
        mc_tensor t;
        mc_status status = mc_bind_tensor(kernel, i, standard, BINDINGS, &t, diag);
        CHECK(status == MC_OK && t.rank == 3 && t.box[2] == 1, "%zu: %s", i, mc_diag_text(diag));
        CHECK(memcmp(t.dims, wanted[i].dims, sizeof t.dims) == 0, "%zu: the dimensions", i);
        CHECK(memcmp(t.strides, wanted[i].strides, sizeof t.strides) == 0, "%zu: the strides", i);
    }
}

/* All products have one A: the map has one, and a stride, since none is not possible. */
static void test_shared(const mc_kernel *kernel) {
    mc_binding bindings[BINDINGS];
    mc_tensor t;
    memcpy(bindings, standard, sizeof standard);
    bindings[A_STRIDE].value = 0;
    CHECK(mc_bind_tensor(kernel, 0, bindings, BINDINGS, &t, diag) == MC_OK, "%s", mc_diag_text(diag));
    CHECK(t.dims[2] == 1 && t.strides[1] == 16384, "%d of them", (int)t.dims[2]);
}

static void refuse(mc_status status, const char *why) {
    CHECK(status == MC_CANNOT, "%s: status %d", why, (int)status);
    CHECK_TEXT(mc_diag_text(diag), why);
    mc_diag_clear(diag);
}

static void test_refused(const mc_kernel *kernel) {
    static const struct {
        int binding;
        int64_t value;
        const char *why;
    } refused[] = {
        {A_STRIDE, 8196, "a_stride is 8196, not a multiple of the 8 that the kernel's copies need"},
        {B_STRIDE, 16380, "b_stride is 16380, not a multiple of the 8"},
        {C_STRIDE, 32769, "c_stride is 32769, not a multiple of the 8"},
        {A_STRIDE, (int64_t)1 << 31, "a_stride is 2147483648"},
        {BATCH, 65536, "batch = 65536 wants 65536 blocks along an axis of at most 65535"},
        {BATCH, 0, "the grid is empty: batch is 0"}};
    mc_launch launch;
    mc_tensor t;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        mc_binding bindings[BINDINGS + 1];
        memcpy(bindings, standard, sizeof standard);
        bindings[BINDINGS] = (mc_binding){"c_map", 0};
        bindings[refused[i].binding].value = refused[i].value;
        refuse(mc_bind(kernel, bindings, BINDINGS + 1, &launch, diag), refused[i].why);
        if (i == 0)
            refuse(mc_bind_tensor(kernel, 0, bindings, BINDINGS, &t, diag),
                   "a_stride is 8196: the kernel's copies need products at multiples of 16 bytes");
    }
    refuse(mc_bind_tensor(kernel, 1, standard + 1, BINDINGS - 1, &t, diag), "batch is not bound");
}

int main(void) {
    const mc_setting settings[] = {
        {"batch", "on"}, {"tile_m", "128"}, {"tile_n", "256"}, {"turns", "off"}, {"store", "tensor"}};
    diag = mc_diag_create();
    mc_kernel *kernel = make(settings, sizeof settings / sizeof *settings);
    if (kernel != NULL) {
        test_grids(kernel);
        test_maps(kernel);
        test_shared(kernel);
        test_refused(kernel);
    }
    mc_kernel_destroy(kernel);
    mc_diag_destroy(diag);
    return check_end();
}
