/* Tensor copies against the model of tensor_table.h, and the rules of tensor maps. */
#include "tensor_table.h"

static ptxsim_status encode(ptxsim *sim, const struct tensor_case *c, uint64_t address, void *map) {
    ptxsim_tensor t = {.size = sizeof t,
                       .element = c->element,
                       .rank = c->rank,
                       .address = address,
                       .swizzle = c->swizzle,
                       .fill_nan = c->fill_nan};
    memcpy(t.dims, c->dims, sizeof t.dims);
    memcpy(t.strides, c->strides, sizeof t.strides);
    memcpy(t.box, c->box, sizeof t.box);
    return ptxsim_tensor_map_encode(sim, &t, map);
}

static void compare(const char *what, const struct tensor_case *c, const unsigned char *got,
                    const unsigned char *want, size_t bytes) {
    size_t i = 0;
    while (i < bytes && got[i] == want[i]) i++;
    CHECK(i == bytes, "%s, %s: byte %zu is 0x%x, want 0x%x", what, c->name, i, got[i], want[i]);
}

static void run_load(const struct tensor_case *c, const struct async_run *run) {
    static char text[8192];
    static unsigned char want[TENSOR_SHARED], got[TENSOR_SHARED];
    _Alignas(64) unsigned char map[PTXSIM_TENSOR_MAP_BYTES];
    ptxsim *sim = async_create(run);
    uint64_t in = async_input(sim), out = 0;
    CHECK(ptxsim_alloc(sim, TENSOR_SHARED, &out) == PTXSIM_OK);
    CHECK(encode(sim, c, in, map) == PTXSIM_OK, "%s: %s", c->name, ptxsim_fault_text(sim));
    void *params[] = {&in, &out, map};
    load_kernel(c, text, sizeof text);
    ptxsim_status status = run_kernel(sim, text, (ptxsim_dim3){1, 1, 1}, (ptxsim_dim3){128, 1, 1}, 0, params);
    CHECK(status == PTXSIM_OK, "load, %s: %s", c->name, ptxsim_fault_text(sim));
    CHECK(status != PTXSIM_OK || ptxsim_counts_of(sim)->bulk_bytes == bytes_of(c));
    memset(want, TENSOR_SENTINEL, sizeof want);
    each_element(c, model_load, want);
    if (status == PTXSIM_OK && ptxsim_read(sim, out, got, sizeof got) == PTXSIM_OK)
        compare("load", c, got, want, sizeof got);
    ptxsim_destroy(sim);
}

static void run_store(const struct tensor_case *c, const struct async_run *run) {
    enum { BYTES = 1 << 16 };
    static char text[8192];
    static unsigned char want[BYTES], got[BYTES];
    _Alignas(64) unsigned char map[PTXSIM_TENSOR_MAP_BYTES];
    ptxsim *sim = async_create(run);
    uint64_t out = 0;
    CHECK(ptxsim_alloc(sim, BYTES, &out) == PTXSIM_OK &&
          ptxsim_fill(sim, out, TENSOR_SENTINEL, BYTES) == PTXSIM_OK);
    CHECK(encode(sim, c, out, map) == PTXSIM_OK, "%s: %s", c->name, ptxsim_fault_text(sim));
    void *params[] = {&out, &out, map};
    store_kernel(c, text, sizeof text);
    ptxsim_status status = run_kernel(sim, text, (ptxsim_dim3){1, 1, 1}, (ptxsim_dim3){128, 1, 1}, 0, params);
    CHECK(status == PTXSIM_OK, "store, %s: %s", c->name, ptxsim_fault_text(sim));
    memset(want, TENSOR_SENTINEL, sizeof want);
    each_element(c, model_store, want);
    if (status == PTXSIM_OK && ptxsim_read(sim, out, got, BYTES) == PTXSIM_OK)
        compare("store", c, got, want, BYTES);
    ptxsim_destroy(sim);
}

/* -- Tensor maps that cuTensorMapEncodeTiled refuses --------------------------------------------------------- */

static const struct refusal {
    struct tensor_case tensor;
    uint64_t address;
    const char *message;
} refusals[] = {
    {{"", PTXSIM_ELEMENT_U8, 0, {16}, {0}, {16}, NONE, 0, {0}, 0}, 0, "rank 0"},
    {{"", PTXSIM_ELEMENT_U8, 4, {16}, {0}, {16}, NONE, 0, {0}, 0}, 0, "rank 4"},
    {{"", PTXSIM_ELEMENT_COUNT, 1, {16}, {0}, {16}, NONE, 0, {0}, 0}, 0, "element type"},
    {{"", PTXSIM_ELEMENT_U8, 1, {16}, {0}, {16}, NONE, 0, {0}, 0}, 8, "address 0x8"},
    {{"", PTXSIM_ELEMENT_U8, 1, {0}, {0}, {16}, NONE, 0, {0}, 0}, 0, "dimension 0 has 0"},
    {{"", PTXSIM_ELEMENT_U8, 1, {UINT64_C(1) << 33}, {0}, {16}, NONE, 0, {0}, 0},
     0,
     "dimension 0 has 8589934592"},
    {{"", PTXSIM_ELEMENT_U8, 2, {16, 16}, {24}, {16, 16}, NONE, 0, {0}, 0}, 0, "stride 24 of dimension 1"},
    {{"", PTXSIM_ELEMENT_U8, 2, {16, 16}, {UINT64_C(1) << 40}, {16, 16}, NONE, 0, {0}, 0},
     0,
     "stride 1099511627776"},
    {{"", PTXSIM_ELEMENT_U8, 2, {16, 16}, {16}, {16, 257}, NONE, 0, {0}, 0},
     0,
     "257 elements in dimension 1"},
    {{"", PTXSIM_ELEMENT_U8, 2, {16, 16}, {16}, {16, 0}, NONE, 0, {0}, 0}, 0, "0 elements in dimension 1"},
    {{"", PTXSIM_ELEMENT_U8, 1, {64}, {0}, {24}, NONE, 0, {0}, 0}, 0, "rows have 24 bytes"},
    {{"", PTXSIM_ELEMENT_U8, 1, {64}, {0}, {64}, S32, 0, {0}, 0}, 0, "the swizzle spans 32"},
    {{"", PTXSIM_ELEMENT_U32, 1, {64}, {0}, {64}, S128, 0, {0}, 0}, 0, "the swizzle spans 128"},
    {{"", PTXSIM_ELEMENT_U8, 1, {64}, {0}, {64}, NONE, 1, {0}, 0}, 0, "U8 has no NaN"},
};

static void run_refusal(const struct refusal *r) {
    unsigned char map[PTXSIM_TENSOR_MAP_BYTES];
    ptxsim *sim = async_create(&async_runs[0]);
    CHECK(encode(sim, &r->tensor, r->address, map) == PTXSIM_INVALID);
    CHECK_TEXT(ptxsim_fault_text(sim), r->message);
    ptxsim_destroy(sim);
}

static int dump(void) {
    static char text[8192];
    printf(ASYNC_HEADER);
    for (size_t i = 0; i < 2 * TENSOR_CASES; i++) {
        if (i % 2) store_kernel(&tensor_cases[i / 2], text, sizeof text);
        else load_kernel(&tensor_cases[i / 2], text, sizeof text);
        printf(".visible .entry k%zu%s", i, strchr(text + strlen(ASYNC_HEADER), '('));
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "dump") == 0) return dump();
    for (size_t i = 0; i < TENSOR_CASES; i++)
        for (int r = 0; r < 4; r++) {
            run_load(&tensor_cases[i], &async_runs[r]);
            if (can_store(&tensor_cases[i])) run_store(&tensor_cases[i], &async_runs[r]);
        }
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) run_refusal(&refusals[i]);
    return check_end();
}
