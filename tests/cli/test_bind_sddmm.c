/* mc_bind of the family sddmm: its shapes, its leading dimensions, its number of items. */
#include "check.h"
#include "mcrt_internal.h"

static mc_diag *diag;

static mc_kernel *generate(const char *spec_text) {
    mc_spec *spec;
    mc_kernel *kernel = NULL;
    mc_status status = mc_spec_read_text("test.lua", spec_text, strlen(spec_text), NULL, 0, &spec, diag);
    if (status == MC_OK) status = mc_kernel_generate(spec, 0, &kernel, diag);
    CHECK(status == MC_OK, "%s", mc_diag_text(diag));
    mc_spec_destroy(spec);
    return kernel;
}

enum { ITEMS, COL_IDX, A, B, C, M, N, K, LDA, LDB, ITEM_COUNT, BINDINGS };

static const mc_binding standard[BINDINGS] = {
    {"items", 0x10000}, {"col_idx", 0x20000}, {"a", 0x30000}, {"b", 0x40000}, {"c", 0x50000},      {"m", 520},
    {"n", 300},         {"k", 128},           {"lda", 130},   {"ldb", 144},   {"item_count", 1001}};

static const char open_shapes[] = "op = 'sddmm' lhs = 's8' rhs = 's8' vec = 8 warps = 4",
                  pairs[] = "op = 'sddmm' lhs = 's4' rhs = 's4' vec = 8 warps = 1",
                  half_pairs[] = "op = 'sddmm' lhs = 's8' rhs = 'u4' vec = 8 warps = 1",
                  fixed_shapes[] = "op = 'sddmm' lhs = 's8' rhs = 's8' vec = 2 k = 128 lda = 130";

static const struct {
    const char *spec;
    int binding; /* the one to change */
    int64_t value;
    const char *want; /* NULL: accepted */
} changes[] = {
    {open_shapes, M, 0, NULL}, /* no parameter: the grid goes by items */
    {open_shapes, M, 516, "m is 516, not a multiple of the kernel's vec of 8"},
    {open_shapes, K, 0, NULL},
    {open_shapes, K, 131, "lda is 130, less than the row length k of 131"},
    {open_shapes, LDA, 127, "lda is 127, less than the row length k of 128"},
    {open_shapes, LDA, 128, NULL},
    {open_shapes, LDA, 129, NULL},
    {open_shapes, LDA, (int64_t)1 << 31, "lda is 2147483648: the kernel's shapes are s32"},
    {open_shapes, LDB, 127, "ldb is 127, less than the row length k of 128"},
    {open_shapes, LDB, 128, NULL},
    {open_shapes, N, 100000, NULL}, /* B's rows in memory are its columns */
    {open_shapes, N, -1, "n is -1"},
    {open_shapes, ITEM_COUNT, 0, "the grid is empty: item_count is 0"},
    {open_shapes, ITEM_COUNT, -1, "item_count is -1: the kernel's shapes are s32"},
    {open_shapes, ITEM_COUNT, (int64_t)1 << 31, "item_count is 2147483648: the kernel's shapes are s32"},
    {open_shapes, ITEM_COUNT, INT32_MAX, NULL},
    {open_shapes, A, 0x30008, "a lies at 0x30008, which is not a multiple of the 16 bytes"},
    {open_shapes, ITEMS, 0x10004, "items lies at 0x10004"},
    {pairs, LDA, 131, "lda is 131, must be even: two elements of s4 share a byte"},
    {pairs, LDB, 129, "ldb is 129, must be even: two elements of s4 share a byte"},
    {pairs, LDB, 128, NULL},
    {half_pairs, LDA, 131, NULL},
    {half_pairs, LDB, 131, "ldb is 131, must be even: two elements of u4 share a byte"},
    {fixed_shapes, M, 2, NULL},
    {fixed_shapes, K, 64, "k is fixed at 128 in this kernel, the problem has 64"},
    {fixed_shapes, LDA, 128, "lda is fixed at 130 in this kernel, the problem has 128"},
};

static void test_changes(void) {
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        mc_kernel *kernel = generate(changes[i].spec);
        mc_binding bindings[BINDINGS];
        mc_launch launch;
        if (kernel == NULL) continue;
        memcpy(bindings, standard, sizeof bindings);
        bindings[changes[i].binding].value = changes[i].value;
        mc_status status = mc_bind(kernel, bindings, BINDINGS, &launch, diag);
        CHECK(status == (changes[i].want == NULL ? MC_OK : MC_CANNOT), "row %zu: %s", i, mc_diag_text(diag));
        if (changes[i].want != NULL) CHECK_TEXT(mc_diag_text(diag), changes[i].want);
        if (changes[i].want != NULL) CHECK(launch.grid[0] == 0 && launch.count == 0, "zeroed on failure");
        mc_diag_clear(diag);
        mc_kernel_destroy(kernel);
    }
}

/* Four items a thread block. */
static void test_launch(const mc_kernel *kernel) {
    const mc_contract *contract = mc_kernel_contract(kernel);
    mc_launch launch;
    CHECK(mc_bind(kernel, standard, BINDINGS, &launch, diag) == MC_OK, "%s", mc_diag_text(diag));
    CHECK(launch.grid[0] == 251 && launch.grid[1] == 1 && launch.grid[2] == 1, "%u blocks", launch.grid[0]);
    CHECK(launch.block[0] == 128 && launch.count == contract->param_count);
    for (size_t i = 0; i < launch.count; i++) {
        const mc_binding *bound = standard;
        while (strcmp(bound->name, contract->params[i].name) != 0) bound++;
        CHECK(launch.values[i] == (uint64_t)bound->value, "parameter %s", bound->name);
    }
}

static void test_missing(const mc_kernel *kernel) {
    for (int missing = 0; missing < BINDINGS; missing++) {
        mc_binding bindings[BINDINGS];
        char want[64];
        mc_launch launch;
        memcpy(bindings, standard, sizeof bindings);
        bindings[missing].name = "ldc"; /* which this family does not have */
        snprintf(want, sizeof want, "%s is not bound", standard[missing].name);
        CHECK(mc_bind(kernel, bindings, BINDINGS, &launch, diag) == MC_CANNOT, "%s", want);
        CHECK_TEXT(mc_diag_text(diag), want);
        mc_diag_clear(diag);
    }
}

/* -- Method window: a window's items are taken in turn along y ------------------------------------------ */

static const char windows[] = "op = 'sddmm' arch = 'sm_90' lhs = 's8' rhs = 's8' vec = 8 method = 'window' "
                              "warps = 20 k = 256 window = 512";

/* 20 warps of up to 96 registers, and 128 KB: one thread block a multiprocessor. */
static const struct {
    int64_t n, window_items, multiprocessors, ldb; /* 0 multiprocessors: not bound */
    unsigned x, y;
    const char *want;
} grids[] = {
    {512, 1, 132, 256, 1, 1, NULL},
    {513, 1, 132, 256, 2, 1, NULL},
    {2048, 401, 132, 272, 4, 21, NULL}, /* all at once: 33 thread blocks a window */
    {2048, 660, 132, 256, 4, 33, NULL},
    {2048, 661, 132, 256, 4, 17, NULL},  /* 34, in two turns */
    {2048, 6600, 132, 256, 4, 33, NULL}, /* ten turns */
    {2048, 6600, 3, 256, 4, 1, NULL},    /* less than one a window */
    {2048, 6600, 0, 256, 4, 330, NULL},
    {2048, INT32_MAX, 0, 256, 4, 65535, NULL},
    {0, 1, 132, 256, 0, 0, "the grid is empty: n is 0"},
    {512, 0, 132, 256, 0, 0, "the grid is empty: window_items is 0"},
    {512, 1, 132, 264, 0, 0, "ldb is 264, not a multiple of the 16"},
};

static void test_windows(void) {
    mc_kernel *kernel = generate(windows);
    for (size_t i = 0; kernel && i < sizeof grids / sizeof grids[0]; i++) {
        mc_binding bindings[BINDINGS + 3];
        mc_launch launch;
        size_t count = BINDINGS;
        memcpy(bindings, standard, sizeof standard);
        bindings[N].value = grids[i].n, bindings[K].value = 256;
        bindings[LDA].value = 256, bindings[LDB].value = grids[i].ldb;
        bindings[ITEM_COUNT] = (mc_binding){"window_ptr", 0x60000};
        bindings[count++] = (mc_binding){"window_items", grids[i].window_items};
        if (grids[i].multiprocessors)
            bindings[count++] = (mc_binding){"multiprocessors", grids[i].multiprocessors};
        mc_status status = mc_bind(kernel, bindings, count, &launch, diag);
        CHECK(status == (grids[i].want ? MC_CANNOT : MC_OK), "row %zu: %s", i, mc_diag_text(diag));
        if (grids[i].want) CHECK_TEXT(mc_diag_text(diag), grids[i].want);
        CHECK(launch.grid[0] == grids[i].x && launch.grid[1] == grids[i].y, "row %zu: %u x %u", i,
              launch.grid[0], launch.grid[1]);
        CHECK(grids[i].want || launch.shared_dynamic == 512 * 256, "row %zu: shared memory", i);
        mc_diag_clear(diag);
    }
    mc_kernel_destroy(kernel);
}

int main(void) {
    diag = mc_diag_create();
    mc_kernel *kernel = generate(open_shapes);
    if (kernel != NULL) {
        test_launch(kernel);
        test_missing(kernel);
        test_changes();
        test_windows();
    }
    mc_kernel_destroy(kernel);
    mc_diag_destroy(diag);
    return check_end();
}
