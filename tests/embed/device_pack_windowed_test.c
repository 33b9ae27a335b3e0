/* windowed-bcrs made on the device: each packed array and the vectors of all slots become, byte for byte, what
 * packing on the host makes, for rings of every kind, all that lanes can be told, and patterns that leave rings
 * and bank classes empty or fill them. device_pack_windowed_test [DEVICE]: the simulator, or cuda:0. */
#include <stdlib.h>
#include "base/element.h"
#include "context/device_pack.h"
#include "formats/windowed_choose.h"
#include "matrix/random.h"
#include "product.h"

mc_diag *diag;

/* -- Patterns ----------------------------------------------------------------------------------------- */

static double random_at(uint64_t seed, int64_t block, int64_t col) {
    mcrt_random random = random_start(seed * 1000 + (uint64_t)block, (uint64_t)col);
    return random_unit(&random);
}

static bool none(int64_t block, int64_t col) { return (void)block, (void)col, false; }
static bool full_row(int64_t block, int64_t col) { return (void)col, block == 1; }
static bool all(int64_t block, int64_t col) { return (void)block, (void)col, true; }
static bool half(int64_t block, int64_t col) { return random_at(1, block, col) < .5; }
static bool third(int64_t block, int64_t col) { return random_at(2, block, col) < .3; }
static bool sparse(int64_t block, int64_t col) { return random_at(3, block, col) < .05; }
static bool sparsest(int64_t block, int64_t col) { return random_at(4, block, col) < .01; }
/* Row blocks of every length up to a few strides. */
static bool growing(int64_t block, int64_t col) { return col % 3 != 1 && col < 5 * block; }
static bool one_bank(int64_t block, int64_t col) { return col % 8 == block % 8; }
/* One class is full, the others nearly empty. */
static bool uneven(int64_t block, int64_t col) { return col % 8 == 5 || random_at(5, block, col) < .06; }
static bool two_banks(int64_t block, int64_t col) { return col % 8 < 2 && random_at(6, block, col) < .9; }
/* Windows pass without vectors. */
static bool far_apart(int64_t block, int64_t col) { return (col + 90 * block) % 700 < 3; }
static bool ends(int64_t block, int64_t col) { return col < 3 + block || col > 1190; }
static bool clustered(int64_t block, int64_t col) {
    return random_at(7, block, col / 48) < .25 && random_at(8, block, col) < .8;
}
static bool skewed(int64_t block, int64_t col) { return random_at(9, block, col) < .8 / (double)(1 + block); }

static const struct pattern {
    const char *name;
    bool (*has)(int64_t block, int64_t col);
    int64_t row_blocks, cols;
} patterns[] = {
    {"none", none, 3, 100},
    {"no row blocks", none, 0, 100},
    {"full row", full_row, 4, 1000},
    {"all", all, 2, 640},
    {"half", half, 5, 1200},
    {"third", third, 4, 1500},
    {"sparse", sparse, 9, 1200},
    {"sparsest", sparsest, 10, 1200},
    {"growing", growing, 60, 400},
    {"one column", all, 3, 1},
    {"few columns", third, 20, 9},
    {"one bank", one_bank, 8, 1200},
    {"uneven", uneven, 6, 1200},
    {"two banks", two_banks, 4, 1200},
    {"far apart", far_apart, 9, 5000},
    {"ends", ends, 6, 1200},
    {"clustered", clustered, 9, 2000},
    {"skewed", skewed, 17, 600},
    {"the ring holds all", third, 6, 120},
};

static mc_vsparse make_host(const struct pattern *pattern, mc_type type, int vec) {
    mc_vsparse host;
    int64_t vectors = 0, v = 0;
    for (int64_t b = 0; b < pattern->row_blocks; b++)
        for (int64_t j = 0; j < pattern->cols; j++) vectors += pattern->has(b, j);
    if (!worked("create",
                mcrt_vsparse_create(type, vec, pattern->row_blocks, pattern->cols, vectors, &host, diag)))
        exit(1);
    for (int64_t b = 0; b < pattern->row_blocks; host.row_ptr[++b] = v)
        for (int64_t j = 0; j < pattern->cols; j++)
            if (pattern->has(b, j)) host.col_idx[v++] = (int32_t)j;
    return host;
}

/* -- On the device ------------------------------------------------------------------------------------ */

static mc_address upload(mc_context *context, const void *data, size_t bytes) {
    mc_address address = 0;
    if (worked("memory", mc_memory_create(context, bytes + 1, &address, diag)) && bytes > 0)
        (void)worked("write", mc_memory_write(context, address, data, bytes, diag));
    return address;
}

static device_pattern upload_pattern(mc_context *context, const mc_vsparse *host) {
    int32_t *offsets = malloc((size_t)(host->row_blocks + 1) * sizeof *offsets);
    for (int64_t b = 0; b <= host->row_blocks; b++) offsets[b] = (int32_t)host->row_ptr[b];
    const device_pattern pattern = {
        .vec = host->vec,
        .rows = host->rows,
        .cols = host->cols,
        .row_blocks = host->row_blocks,
        .vectors = host->vectors,
        .row_ptr = host->row_ptr,
        .offsets = upload(context, offsets, (size_t)(host->row_blocks + 1) * sizeof *offsets),
        .columns = upload(context, host->col_idx, (size_t)host->vectors * sizeof *host->col_idx)};
    free(offsets);
    return pattern;
}

static void compare_bytes(mc_context *context, mc_address address, const void *want, size_t bytes,
                          const char *text, const char *name) {
    unsigned char *got = malloc(bytes + 1);
    const unsigned char *right = want;
    size_t i = 0;
    if (bytes > 0) (void)worked(name, mc_memory_read(context, address, got, bytes, diag));
    while (i < bytes && got[i] == right[i]) i++;
    CHECK(i == bytes, "%s: %s: byte %zu of %zu is %02x, must be %02x", text, name, i, bytes,
          i < bytes ? got[i] : 0, i < bytes ? right[i] : 0);
    free(got);
}

static void compare_slots(mc_context *context, const device_packed *packed, const packed_slots *want,
                          const char *text) {
    const packed_slots *got = &packed->slots;
    bool same = got->array != NULL && strcmp(got->array, want->array) == 0 && got->vec == want->vec &&
                got->group == want->group && got->groups == want->groups && got->period == want->period &&
                memcmp(&got->code, &want->code, sizeof want->code) == 0;
    CHECK(same, "%s: slots", text);
    CHECK(got->vectors == NULL);
    if (!same) return;
    CHECK(memcmp(got->pieces, want->pieces, (size_t)want->period * sizeof *want->pieces) == 0, "%s", text);
    compare_bytes(context, packed->vectors, want->vectors,
                  (size_t)(want->groups * want->group) * sizeof *want->vectors, text, "vectors");
}

/* Values are put afterwards: until then pieces of values are 0, also where those of a value 0 are not. */
static void clear_pieces(const mc_packed *packed, const packed_slots *slots) {
    const mc_packed_array *values = mc_packed_find(packed, "values");
    for (int64_t group = 0; values != NULL && group < slots->groups; group++)
        for (int i = 0; i < slots->period; i++)
            if (slots->pieces[i] >= 0)
                element_set(slots->code.unit, values->data, group * slots->period + i, 0);
}

static void compare_arrays(mc_context *context, const device_packed *packed, const mc_packed *want,
                           const char *text) {
    CHECK(packed->shape.array_count == want->array_count, "%s", text);
    for (size_t i = 0; i < want->array_count; i++) {
        const mc_packed_array *right = &want->arrays[i], *got = &packed->shape.arrays[i];
        bool same = got->name != NULL && strcmp(got->name, right->name) == 0 && got->type == right->type &&
                    got->count == right->count && got->data == NULL;
        CHECK(same, "%s: %s: %lld elements, must be %lld", text, right->name, (long long)got->count,
              (long long)right->count);
        if (same)
            compare_bytes(context, packed->arrays[i], right->data,
                          (size_t)mc_type_size(right->type, right->count), text, right->name);
    }
}

static void try_pattern(mc_context *context, const mc_kernel *kernel, const struct pattern *pattern,
                        const char *fields) {
    char text[300];
    mc_type type = MC_F32;
    mc_packed want = {0};
    packed_slots slots = {0};
    device_packed packed = {0};
    context_visit visit;
    snprintf(text, sizeof text, "%s: %s", pattern->name, fields);
    (void)worked("type", mc_type_of(kernel, "lhs", &type, diag));
    mc_vsparse host = make_host(pattern, type, (int)mc_kernel_field(kernel, "vec"));
    device_pattern on_device = upload_pattern(context, &host);
    (void)worked("mc_pack", mc_pack(kernel, &host, &want, diag));
    (void)worked("mc_pack_slots", mc_pack_slots(kernel, &host, &slots, diag));
    clear_pieces(&want, &slots);
    (void)context_enter(context, &visit, diag);
    mc_status status = device_pack_windowed(context, &on_device, type, kernel, NULL, &packed, diag);
    context_leave(context, &visit);
    if (worked(text, status)) {
        compare_arrays(context, &packed, &want, text);
        compare_slots(context, &packed, &slots, text);
        device_packed_free(context, &packed);
    }
    mc_memory_destroy(context, on_device.offsets);
    mc_memory_destroy(context, on_device.columns);
    packed_slots_free(&slots);
    mc_packed_free(&want);
    mc_vsparse_free(&host);
}

/* -- Rings, types and heights ------------------------------------------------------------------------- */

#define RING "op=spmm staging=tma arch=sm_90 "
static const char *const kernels[] = {
    RING "lhs=s8 rhs=s8 window=64 stages=3 vec=8",
    RING "lhs=s8 rhs=s8 window=64 stages=2 split=2 vec=8",
    RING "lhs=u4 rhs=s8 window=128 stages=4 split=4 vec=1",
    RING "lhs=s16 rhs=s8 window=64 stages=2 vec=2 split=4 warps=8",
    RING "lhs=s16 rhs=s8 window=64 stages=3 digits=offset vec=4",
    RING "lhs=s12 rhs=s8 window=64 stages=2 digits=balanced vec=8 split=2",
    RING "lhs=f16 rhs=f16 out=f16 window=64 stages=3 split=2 tile_n=64 vec=8",
    RING "lhs=f16 rhs=f16 out=f16 window=256 stages=2 split=1 tile_n=32 vec=16",
    RING "lhs=bf16 rhs=bf16 out=f16 window=64 stages=8 split=1 tile_n=64 vec=1 c_major=column together=4",
    RING "lhs=tf32 rhs=tf32 out=f32 window=64 stages=3 tile_n=32 vec=8",
    RING "lhs=tf32 rhs=tf32 out=f32 window=64 stages=2 tile_n=32 vec=2 split=1",
    RING "lhs=e4m3 rhs=e4m3 out=f32 window=64 stages=2 vec=16",
    RING "lhs=s8 rhs=f16 out=f32 window=64 stages=2 tile_n=64 vec=8 split=4",
    RING "lhs=s8 rhs=s8 window=64 stages=4 vec=16 sparse_mma=on",
    RING "lhs=s16 rhs=s8 window=64 stages=3 tile_n=64 vec=16 sparse_mma=on",
    "op=spmm staging=async lhs=s8 rhs=s8 window=64 stages=4 vec=8",
    "op=spmm staging=async lhs=s8 rhs=s8 window=64 stages=2 tile_n=16 vec=8 split=4",
    "op=spmm staging=async lhs=s16 rhs=u8 window=1024 stages=4 tile_n=16 vec=4 split=2 resident=always",
};

static void try_kernels(mc_context *context, size_t first, size_t step) {
    for (size_t i = first; i < sizeof kernels / sizeof *kernels; i += step) {
        mc_kernel *kernel = NULL;
        if (!worked(kernels[i], mc_kernel_from_fields(kernels[i], &kernel, diag))) continue;
        for (size_t j = 0; j < sizeof patterns / sizeof *patterns; j++)
            try_pattern(context, kernel, &patterns[j], kernels[i]);
        mc_kernel_destroy(kernel);
    }
}

/* -- Refusals ----------------------------------------------------------------------------------------- */

static void refuse(mc_context *context, const mc_kernel *kernel, mc_type type, int vec, mc_status want,
                   const char *message) {
    static const struct pattern small = {"refused", half, 3, 200};
    device_packed packed = {0};
    context_visit visit;
    mc_vsparse host = make_host(&small, type, vec);
    device_pattern pattern = upload_pattern(context, &host);
    (void)context_enter(context, &visit, diag);
    mc_status status = device_pack_windowed(context, &pattern, type, kernel, NULL, &packed, diag);
    context_leave(context, &visit);
    CHECK(status == want, "%s: %s", message, mc_status_text(status));
    CHECK_TEXT(mc_diag_text(diag), message);
    CHECK(packed.shape.array_count == 0 && packed.arrays[0] == 0 && packed.slots.pieces == NULL);
    mc_diag_clear(diag);
    mc_memory_destroy(context, pattern.offsets);
    mc_memory_destroy(context, pattern.columns);
    mc_vsparse_free(&host);
}

enum { MEMORIES = 7 /* allocations of a call */ };

/* Memory that is there LEFT times more. */
typedef struct short_memory {
    mc_context *from;
    int left, held;
} short_memory;

static mc_address take_memory(void *user, size_t bytes) {
    short_memory *m = user;
    mc_address address = 0;
    if (m->left-- <= 0 || mc_memory_create(m->from, bytes, &address, NULL) != MC_OK) return 0;
    m->held++;
    return address;
}

static void give_memory(void *user, mc_address address) {
    short_memory *m = user;
    m->held--;
    mc_memory_destroy(m->from, address);
}

static void test_refusals(const char *device) {
    short_memory memory = {0};
    mc_context *context = NULL;
    mc_kernel *kernel = NULL;
    mc_context_config config = {
        .size = sizeof config, .device = device, .cache = MC_CACHE_MEMORY, .records = ""};
    config.allocate = take_memory, config.release = give_memory, config.memory_user = &memory;
    (void)worked("context", mc_context_create(&config, &context, diag));
    memory.from = context;
    (void)worked("kernel", mc_kernel_from_fields(kernels[6], &kernel, diag));
    memory.left = 100;
    refuse(context, kernel, MC_S8, 8, MC_CANNOT, "made for lhs = f16, the matrix holds s8");
    refuse(context, kernel, MC_F16, 4, MC_CANNOT, "made for vec = 8, the matrix has 4");
    const int before = memory.held;
    for (int left = 0; left < MEMORIES; left++) {
        memory.left = left;
        refuse(context, kernel, MC_F16, 8, MC_NOMEM, "no memory for");
        CHECK(memory.held == before, "%d: %d addresses are held", left, memory.held - before);
    }
    mc_kernel_destroy(kernel);
    mc_context_destroy(context);
}

/* -- Room for strides --------------------------------------------------------------------------------- */

/* Columns of a row block of chance: dense and sparse stretches, of all bank classes and of a few. */
static int64_t chance_columns(mcrt_random *random, int64_t cols, int32_t *columns) {
    int64_t count = 0;
    double density = random_unit(random);
    uint64_t banks = random_next(random) % 256;
    for (int64_t j = 0; j < cols; j++) {
        if (random_unit(random) < .02) density = random_unit(random) < .5 ? 0 : random_unit(random);
        if (random_unit(random) < .01) banks = random_unit(random) < .5 ? 255 : random_next(random) % 256;
        if ((banks >> j % 8 & 1) && random_unit(random) < density) columns[count++] = (int32_t)j;
    }
    return count;
}

/* The device has room for as many strides as windowed_most_strides says. */
static void test_most_strides(void) {
    enum { TRIES = 4000, MOST_COLS = 3000 };
    static int32_t columns[MOST_COLS];
    mcrt_random random = random_start(11, 0);
    stride_choice choice = {0};
    int64_t beyond = 0, reached = 0;
    for (int i = 0; i < TRIES; i++) {
        const mc_ring ring = {.window = 8 * (int)(1 + random_next(&random) % 16),
                              .stages = (int)(2 + random_next(&random) % 6),
                              .tile_n = 64,
                              .split = 1};
        int64_t cols = 1 + (int64_t)(random_next(&random) % MOST_COLS),
                count = chance_columns(&random, cols, columns);
        /* any span will do */
        const int64_t span = i % 2             ? windowed_span(&ring, cols, count, 1)
                             : ring.stages > 2 ? ring.stages - 1
                                               : 1;
        int64_t most = windowed_most_strides(&ring, cols, span, count);
        CHECK(windowed_choose(&ring, span, columns, count, &choice));
        beyond += choice.count > most;
        reached += choice.count == most;
    }
    CHECK(beyond == 0, "%lld of %d", (long long)beyond, TRIES);
    CHECK(reached > 0); /* it says no more than it must */
    free(choice.items);
    free(choice.taken);
}

/* The cache on disk has kernels by their fields, written out as a kernel itself does. */
static void check_fields(const mc_context *context) {
    int count = 0;
    for (const loaded_kernel *k = context->kernels; k != NULL; k = k->next, count++)
        CHECK(strcmp(k->fields, mc_kernel_fields(k->kernel)) == 0, "%s", k->fields);
    CHECK(count >= 3, "%d kernels", count);
}

/* Every STEP-th ring on DEVICE. */
static void try_device(const char *device, size_t first, size_t step) {
    mc_context *context = NULL;
    mc_context_config config = {
        .size = sizeof config, .device = device, .cache = MC_CACHE_MEMORY, .records = ""};
    if (!worked(device, mc_context_create(&config, &context, diag))) return;
    try_kernels(context, first, step);
    check_fields(context);
    mc_context_destroy(context);
}

int main(int argc, char **argv) {
    diag = mc_diag_create();
    test_most_strides();
    test_refusals(argc > 1 ? argv[1] : "sim");
    try_device(argc > 1 ? argv[1] : "sim", 0, 1);
    if (argc <= 1) {
        try_device("sim:reversed", 0, 5);
        try_device("sim:seed=3", 1, 6);
    }
    mc_diag_destroy(diag);
    return product_end(check_end());
}
