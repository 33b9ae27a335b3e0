/* How the window SDDMM deals a window's items to warps, on the simulator, of a mask with very uneven row blocks. For grids from one
 * thread block a window to more than there are items: C is exact, and mma are as many as all items have, so that no item is computed
 * twice. And each thread block, launched alone, has as many mma as those items that docs/sddmm.md says are its own. */
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "problem.h"
#include "ptxsim.h"

enum {
    ROW_BLOCKS = 37,
    COLUMNS = 300,
    WINDOW = 64,
    WINDOWS = (COLUMNS + WINDOW - 1) / WINDOW,
    EMPTY_FIRST = 2 * WINDOW, /* a window without items */
    EMPTY_LAST = 3 * WINDOW - 1,
    K = 128,
    GROUP_MMA = K / 32, /* m16n8k32 */
    MOST_ARRAYS = 8,
    FIELDS = 256
};

static const struct run {
    int warps, groups;
    const char *prefetch;
} runs[] = {{1, 4, "on"}, {4, 1, "on"}, {4, 4, "off"}, {12, 2, "on"}};

static const unsigned grids[] = {1, 2, 3, 5, 8, 40}; /* thread blocks a window */

/* -- The mask ----------------------------------------------------------------------------------------- */

/* Row block B has every column of three, of seven or of 64 from one of its own on; each tenth one all, each ninth none. */
static bool has_vector(int b, int column) {
    static const int steps[] = {3, 64, 7, 64, 64};
    if (column >= EMPTY_FIRST && column <= EMPTY_LAST) return false;
    if (b % 10 == 4) return true;
    return b % 9 != 7 && (column + b) % steps[b % 5] == 0;
}

static void make_pattern(mc_csr *mask, int64_t row_ptr[ROW_BLOCKS + 1], int32_t *col_idx) {
    int64_t nnz = 0;
    row_ptr[0] = 0;
    for (int b = 0; b < ROW_BLOCKS; b++) {
        for (int column = 0; column < COLUMNS; column++)
            if (has_vector(b, column)) col_idx[nnz++] = column;
        row_ptr[b + 1] = nnz;
    }
    *mask = (mc_csr){.rows = ROW_BLOCKS, .cols = COLUMNS, .nnz = nnz, .row_ptr = row_ptr, .col_idx = col_idx};
}

/* -- A launch ----------------------------------------------------------------------------------------- */

typedef struct test {
    mc_device *device;
    const mc_kernel *kernel;
    const struct run *run;
    problem p;
    mc_dense want; /* C */
    mc_packed packed;
    mc_binding bindings[MOST_ARRAYS + 8];
    size_t count, buffers;
    uint64_t buffer[MOST_ARRAYS], c;
    size_t c_bytes;
    mc_diag *diag;
} test;

static void bind(test *t, const char *name, int64_t value) {
    t->bindings[t->count++] = (mc_binding){name, value};
}

static uint64_t upload(test *t, const char *name, const void *data, size_t bytes) {
    uint64_t address = 0;
    mc_status status = mc_device_alloc(t->device, bytes, &address, t->diag);
    if (status == MC_OK) status = mc_device_write(t->device, address, data, bytes, t->diag);
    CHECK(status == MC_OK, "%s: %s", name, mc_diag_text(t->diag));
    t->buffer[t->buffers++] = address;
    bind(t, name, (int64_t)address);
    return address;
}

static uint64_t upload_dense(test *t, const char *name, const mc_dense *dense) {
    return upload(t, name, dense->data, (size_t)mc_type_size(dense->type, dense->rows * dense->ld));
}

static void bind_all(test *t) {
    for (size_t i = 0; i < t->packed.array_count; i++) {
        const mc_packed_array *array = &t->packed.arrays[i];
        upload(t, array->name, array->data, (size_t)mc_type_size(array->type, array->count));
    }
    upload_dense(t, "a", &t->p.dense_a);
    upload_dense(t, "b", &t->p.b);
    t->c_bytes = (size_t)mc_type_size(t->want.type, t->want.rows * t->want.ld);
    t->c = upload_dense(t, "c", &t->want);
    bind(t, "m", t->p.a.rows);
    bind(t, "n", COLUMNS);
    bind(t, "k", K);
    bind(t, "lda", t->p.dense_a.ld);
    bind(t, "ldb", t->p.b.ld);
    bind(t, "window_items", mc_sampled_longest(&t->packed));
}

/* Launches PTX with GRID thread blocks a window. Returns the mma that the simulator counted. */
static uint64_t launch(test *t, const char *ptx, unsigned grid) {
    mc_launch bound;
    mc_module *module = NULL;
    mc_status status = mc_bind(t->kernel, t->bindings, t->count, &bound, t->diag);
    if (status == MC_OK) status = mc_device_fill(t->device, t->c, 0xa5, t->c_bytes, t->diag);
    if (status == MC_OK)
        status = mc_module_load(t->device, ptx, mc_kernel_contract(t->kernel)->entry, &module, t->diag);
    bound.grid[1] = grid;
    if (status == MC_OK) status = mc_module_launch(module, &bound, t->diag);
    CHECK(status == MC_OK, "%s", mc_diag_text(t->diag));
    mc_diag_clear(t->diag);
    mc_module_unload(module);
    return ptxsim_counts_of(mc_device_ptxsim(t->device))->mma;
}

/* -- Who computes what -------------------------------------------------------------------------------- */

/* The thread block that has the window's item I, of GRID thread blocks. */
static unsigned dealt_to(const struct run *run, unsigned grid, unsigned i) {
    unsigned warps = grid * (unsigned)run->warps, turn = i / warps, in_turn = i % warps;
    unsigned warp = turn % 2 ? warps - 1 - in_turn : in_turn;
    return warp % grid;
}

/* The mma of the items that thread block BLOCK of GRID has, -1: that all have. */
static uint64_t mma_of(const test *t, unsigned grid, int block) {
    const int32_t(*items)[4] = mc_packed_find(&t->packed, "items")->data,
          *first = mc_packed_find(&t->packed, "window_ptr")->data;
    uint64_t groups = 0;
    for (int window = 0; window < WINDOWS; window++)
        for (int32_t i = first[window]; i < first[window + 1]; i++)
            if (block < 0 || dealt_to(t->run, grid, (unsigned)(i - first[window])) == (unsigned)block)
                groups += (uint64_t)(items[i][2] + 15) / 16;
    return groups * GROUP_MMA;
}

/* PTX with NUMBER in place of a special register. */
static char *with_number(const char *ptx, const char *special, unsigned number) {
    const char *at = strstr(ptx, special);
    size_t room = strlen(ptx) + 16;
    char *copy = at ? malloc(room) : NULL;
    CHECK(copy, "no %s in the kernel", special);
    if (copy) snprintf(copy, room, "%.*s%u%s", (int)(at - ptx), ptx, number, at + strlen(special));
    return copy;
}

/* Thread block BLOCK of GRID alone. */
static void test_block(test *t, unsigned grid, unsigned block) {
    char *sized = with_number(mc_kernel_ptx(t->kernel), "%nctaid.y", grid);
    char *placed = sized ? with_number(sized, "%ctaid.y", block) : NULL;
    if (placed) {
        uint64_t got = launch(t, placed, 1), want = mma_of(t, grid, (int)block);
        CHECK(got == want, "thread block %u of %u: %d mma, must be %d", block, grid, (int)got, (int)want);
    }
    free(sized);
    free(placed);
}

static void test_grid(test *t, unsigned grid) {
    void *c = malloc(t->c_bytes);
    uint64_t got = launch(t, mc_kernel_ptx(t->kernel), grid), want = mma_of(t, grid, -1);
    CHECK(got == want, "%u thread blocks: %d mma, must be %d", grid, (int)got, (int)want);
    mc_status status = c ? mc_device_read(t->device, t->c, c, t->c_bytes, t->diag) : MC_NOMEM;
    CHECK(status == MC_OK && memcmp(c, t->want.data, t->c_bytes) == 0, "%u thread blocks: C", grid);
    free(c);
    for (unsigned block = 0; block < grid; block++) test_block(t, grid, block);
}

/* -- Kernels ------------------------------------------------------------------------------------------ */

static mc_status make(test *t, mc_diag *diag) {
    static const problem_case spec = {
        .row_blocks = ROW_BLOCKS, .k = K, .n = COLUMNS, .values = MC_VALUES_FULL};
    static int32_t col_idx[ROW_BLOCKS * COLUMNS];
    int64_t row_ptr[ROW_BLOCKS + 1];
    mc_csr mask;
    problem_kind kind;
    mc_output output;
    make_pattern(&mask, row_ptr, col_idx);
    mc_status status = problem_kind_of(t->kernel, &kind, diag);
    if (status == MC_OK) status = problem_make_of(&mask, &spec, &kind, &t->p, diag);
    if (status == MC_OK) status = mc_output_of(t->kernel, &output, diag);
    if (status == MC_OK)
        status = mc_reference_sampled(&output, &t->p.a, MC_ORDER_BCRS, NULL, &t->p.sums, &t->want, diag);
    return status == MC_OK ? mc_pack(t->kernel, &t->p.a, &t->packed, diag) : status;
}

static void test_run(mc_device *device, const struct run *run, mc_diag *diag) {
    char fields[FIELDS];
    mc_kernel *kernel = NULL;
    test t = {.device = device, .run = run, .diag = diag};
    snprintf(fields, sizeof fields,
             "op=sddmm arch=sm_90 lhs=s8 rhs=s8 out=s32 vec=8 method=window window=%d k=%d tile_k=%d "
             "align=16 warps=%d "
             "groups=%d prefetch=%s",
             WINDOW, K, K, run->warps, run->groups, run->prefetch);
    mc_status status = mc_kernel_from_fields(fields, &kernel, diag);
    t.kernel = kernel;
    if (status == MC_OK) status = make(&t, diag);
    CHECK(status == MC_OK, "%s: %s", fields, mc_diag_text(diag));
    if (status == MC_OK) {
        bind_all(&t);
        for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) test_grid(&t, grids[i]);
    }
    for (size_t i = 0; i < t.buffers; i++) mc_device_free(device, t.buffer[i]);
    mc_packed_free(&t.packed);
    mc_dense_free(&t.want);
    problem_free(&t.p);
    mc_kernel_destroy(kernel);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    mc_device *device = NULL;
    mc_status status = mc_device_open("sim", &device, diag);
    CHECK(status == MC_OK, "%s", mc_diag_text(diag));
    for (size_t i = 0; i < sizeof runs / sizeof *runs && status == MC_OK; i++)
        test_run(device, &runs[i], diag);
    mc_device_close(device);
    mc_diag_destroy(diag);
    return check_end();
}
