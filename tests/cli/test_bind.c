/* mc_bind: the launch that it fills, and everything that it refuses. */
#include "check.h"
#include "mcrt_internal.h"

static const char spec_text[] = "op = 'spmm' lhs = 's8' rhs = 's8' out = 's32' vec = 8\n"
                                "tile_n = 128 stride = 32 warps = 4 split = 2 prefetch = 'on'\n";
static mc_diag *diag;

static mc_kernel *generate_of(const char *text, const mc_setting *settings, size_t count) {
    mc_spec *spec;
    mc_kernel *kernel = NULL;
    mc_status status = mc_spec_read_text("test.lua", text, strlen(text), settings, count, &spec, diag);
    if (status == MC_OK) status = mc_kernel_generate(spec, 0, &kernel, diag);
    CHECK(status == MC_OK, "%s", mc_diag_text(diag));
    mc_spec_destroy(spec);
    return kernel;
}

static mc_kernel *generate(const mc_setting *settings, size_t count) {
    return generate_of(spec_text, settings, count);
}

enum { B = 3, C, M, N, K, LDB, LDC, BINDINGS };

static const mc_binding standard[BINDINGS] = {
    {"row_ptr", 0x10000}, {"col_idx", 0x20000}, {"values", 0x30000}, {"b", 0x40000}, {"c", 0x50000},
    {"m", 520},           {"n", 300},           {"k", 128},          {"ldb", 320},   {"ldc", 304}};

static void test_launch(const mc_kernel *kernel) {
    const mc_contract *contract = mc_kernel_contract(kernel);
    mc_launch launch;
    CHECK(mc_bind(kernel, standard, BINDINGS, &launch, diag) == MC_OK, "%s", mc_diag_text(diag));
    /* Two row blocks of 8 rows and 128 columns a thread block. */
    CHECK(launch.grid[0] == 33 && launch.grid[1] == 3 && launch.grid[2] == 1, "%u %u %u", launch.grid[0],
          launch.grid[1], launch.grid[2]);
    CHECK(launch.block[0] == 128 && launch.block[1] == 1 && launch.block[2] == 1);
    CHECK(launch.shared_dynamic == contract->shared_dynamic && launch.count == contract->param_count);
    for (size_t i = 0; i < launch.count; i++) {
        const mc_binding *bound = standard;
        while (strcmp(bound->name, contract->params[i].name) != 0) bound++;
        CHECK(launch.values[i] == (uint64_t)bound->value, "parameter %s", bound->name);
    }
}

static const struct {
    int first, second; /* bindings to change, of the same value; second 0: none */
    int64_t value;
    const char *want; /* NULL: accepted */
} changes[] = {
    {M, 0, 1024, NULL},
    {M, 0, 0, "the grid is empty: m is 0"},
    {M, 0, -8, "m is -8: the kernel's shapes are s32"},
    {M, 0, (int64_t)1 << 31, "m is 2147483648: the kernel's shapes are s32, at most 2147483647"},
    {M, 0, INT32_MAX - 7, NULL},
    {M, 0, 1020, "m is 1020, not a multiple of the kernel's vec of 8"},
    {K, 0, 0, NULL},
    {K, 0, (int64_t)1 << 40, "k is 1099511627776"},
    {N, 0, 0, "the grid is empty: n is 0"},
    {LDB, 0, 299, "ldb is 299, less than the row length n of 300"},
    {LDC, 0, 299, "ldc is 299, less than the row length n of 300"},
    {LDB, LDC, 300, NULL},
    {LDC, 0, (int64_t)1 << 31, "ldc is 2147483648"},
    {B, 0, 0x40008, "b lies at 0x40008, which is not a multiple of the 16 bytes it needs"},
    {C, 0, 0x50001, "c lies at 0x50001, which is not a multiple of the 16 bytes it needs"},
};

/* Thread blocks take turns only where the kernel is made for them, not wherever k is 0. */
static void test_turns(const mc_kernel *kernel) {
    for (int64_t k = 0; k <= 1; k++) {
        mc_binding bindings[BINDINGS + 1];
        mc_launch launch;
        memcpy(bindings, standard, sizeof standard);
        bindings[K].value = k;
        bindings[BINDINGS] = (mc_binding){"multiprocessors", 2};
        CHECK(mc_bind(kernel, bindings, BINDINGS + 1, &launch, diag) == MC_OK, "%s", mc_diag_text(diag));
        CHECK(launch.grid[0] == 33, "k %d: %u thread blocks", (int)k, launch.grid[0]);
    }
}

static void test_changes(const mc_kernel *kernel) {
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        mc_binding bindings[BINDINGS];
        mc_launch launch;
        memcpy(bindings, standard, sizeof bindings);
        bindings[changes[i].first].value = changes[i].value;
        if (changes[i].second != 0) bindings[changes[i].second].value = changes[i].value;
        mc_diag_clear(diag);
        mc_status status = mc_bind(kernel, bindings, BINDINGS, &launch, diag);
        CHECK(status == (changes[i].want == NULL ? MC_OK : MC_CANNOT), "row %zu: %s", i, mc_diag_text(diag));
        if (changes[i].want != NULL) CHECK_TEXT(mc_diag_text(diag), changes[i].want);
        if (changes[i].want != NULL) CHECK(launch.grid[0] == 0 && launch.count == 0, "zeroed on failure");
    }
}

/* 65535 tiles of 128 columns fit along y, one more does not. */
static void test_grid_limit(const mc_kernel *kernel) {
    const int64_t most = 65535 * 128;
    for (int64_t n = most; n <= most + 1; n++) {
        mc_binding bindings[BINDINGS];
        mc_launch launch;
        memcpy(bindings, standard, sizeof bindings);
        bindings[N].value = bindings[LDB].value = bindings[LDC].value = n;
        mc_diag_clear(diag);
        mc_status status = mc_bind(kernel, bindings, BINDINGS, &launch, diag);
        CHECK(status == (n == most ? MC_OK : MC_CANNOT), "n %lld: %s", (long long)n, mc_diag_text(diag));
    }
    CHECK_TEXT(mc_diag_text(diag), "n = 8388481 wants 65536 blocks along an axis of at most 65535");
}

/* Tiles of C that thread blocks take in turn: 2^15 rows by 2^15 columns of tiles, and one column more. */
static void test_tiles(void) {
    enum { ROWS = 256 << 15, COLUMNS = 64 << 15 };
    mc_kernel *kernel = generate_of(
        "op = 'spmm' arch = 'sm_90a' lhs = 's8' rhs = 's8' out = 's32' vec = 8 staging = 'fragments' "
        "b_major = 'column' c_major = 'column' block_rows = 256 tile_n = 64 warps = 8 stages = 5 stream_k = "
        "'on'",
        NULL, 0);
    for (int more = 0; kernel != NULL && more <= 1; more++) {
        mc_tensor_map map = {0};
        const mc_binding bindings[] = {{"m", ROWS},
                                       {"n", COLUMNS + more},
                                       {"ldb", 128},
                                       {"ldc", ROWS},
                                       {"k", 128},
                                       {"starts", 0x10000},
                                       {"masks", 0x10000},
                                       {"values", 0x10000},
                                       {"b_map", (int64_t)(uintptr_t)&map},
                                       {"workspace", 0x10000},
                                       {"c", 0x10000}};
        mc_launch launch;
        mc_diag_clear(diag);
        mc_status status = mc_bind(kernel, bindings, sizeof bindings / sizeof *bindings, &launch, diag);
        CHECK(status == (more ? MC_CANNOT : MC_OK), "%s", mc_diag_text(diag));
    }
    CHECK_TEXT(mc_diag_text(diag), "m and n want 1073774592 tiles of C: at most 1073741824");
    mc_kernel_destroy(kernel);
}

static void test_missing(const mc_kernel *kernel) {
    for (int missing = 0; missing < BINDINGS; missing++) {
        mc_binding bindings[BINDINGS];
        char want[64];
        mc_launch launch;
        memcpy(bindings, standard, sizeof bindings);
        bindings[missing].name = "other";
        snprintf(want, sizeof want, "%s is not bound", standard[missing].name);
        mc_diag_clear(diag);
        CHECK(mc_bind(kernel, bindings, BINDINGS, &launch, diag) == MC_CANNOT, "%s", want);
        CHECK_TEXT(mc_diag_text(diag), want);
    }
}

static void test_fixed(void) {
    static const mc_setting settings[] = {{"m", "512"}, {"ldb", "320"}};
    mc_kernel *kernel = generate(settings, 2);
    mc_binding bindings[BINDINGS];
    mc_launch launch;
    memcpy(bindings, standard, sizeof bindings);
    bindings[M].value = 512;
    CHECK(mc_bind(kernel, bindings, BINDINGS, &launch, diag) == MC_OK, "%s", mc_diag_text(diag));
    bindings[M].value = 1024;
    CHECK(mc_bind(kernel, bindings, BINDINGS, &launch, diag) == MC_CANNOT);
    CHECK_TEXT(mc_diag_text(diag), "m is fixed at 512 in this kernel, the problem has 1024");
    mc_kernel_destroy(kernel);
}

/* A scale by value lies in its parameter's low half. */
static void test_scalar(void) {
    static const mc_setting settings[] = {{"out", "f16"}, {"scale", "tensor"}, {"bias", "row"}};
    mc_kernel *kernel = generate(settings, 3);
    mc_binding bindings[BINDINGS + 2];
    mc_launch launch;
    memcpy(bindings, standard, sizeof standard);
    bindings[BINDINGS] = mc_bind_f32("scale", -2.5f);
    bindings[BINDINGS + 1] = (mc_binding){"bias", 0x60000};
    CHECK(mc_bind(kernel, bindings, BINDINGS + 2, &launch, diag) == MC_OK, "%s", mc_diag_text(diag));
    const mc_contract *contract = mc_kernel_contract(kernel);
    for (size_t i = 0; i < contract->param_count; i++) {
        if (strcmp(contract->params[i].name, "scale") != 0) continue;
        CHECK(contract->params[i].kind == MC_PARAM_SCALAR && launch.values[i] == 0xc0200000u);
        CHECK(launch.values[i + 1] == 0x60000);
    }
    mc_diag_clear(diag);
    CHECK(mc_bind(kernel, bindings, BINDINGS + 1, &launch, diag) == MC_CANNOT);
    CHECK_TEXT(mc_diag_text(diag), "bias is not bound");
    bindings[BINDINGS + 1].value = 0x60004;
    CHECK(mc_bind(kernel, bindings, BINDINGS + 2, &launch, diag) == MC_CANNOT);
    CHECK_TEXT(mc_diag_text(diag), "bias lies at 0x60004");
    mc_kernel_destroy(kernel);
}

int main(void) {
    diag = mc_diag_create();
    mc_kernel *kernel = generate(NULL, 0);
    if (kernel != NULL) {
        test_launch(kernel);
        test_turns(kernel);
        test_changes(kernel);
        test_grid_limit(kernel);
        test_tiles();
        test_missing(kernel);
        test_fixed();
        test_scalar();
    }
    mc_kernel_destroy(kernel);
    mc_diag_destroy(diag);
    return check_end();
}
