/* How long packing windowed-bcrs on the device takes (gen/ops/pack_windowed): a uniform random pattern for three rings, each array
 * compared with what packing on the host makes. Run by hand, in the root of the repository:
 *
 *   pack_windowed_gpu DEVICE ROWS COLS SPARSITY      of 8x1 vectors; DEVICE is cuda:0, or sim, whose time is warp instructions, 1000 a us
 *   pack_windowed_gpu cuda:0 4096 11008 0.7          what packing should take 0.3 ms for
 *
 * A line has the ring, strides, milliseconds of packing on the host, then microseconds: of the kernel that chooses and of the one
 * that writes (launches in a graph), and of the whole call, its allocations, copies and sums on the host with them: the median of
 * 21 calls behind a first one, and the least. Exit status 77: no GPU. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include "base/clock.h"
#include "context/device_pack.h"
#include "formats/windowed_choose.h"
#include "matrix/random.h"
#include "mcrt_internal.h"
#include "parts/windowed_work.h"
#include "problem/bind.h"

enum { VEC = 8, CALLS = 21, LAUNCHES = 8, ROUNDS = 10 };

static const struct ring {
    const char *fields, *place; /* of the kernel that reads it, and of the one that writes */
} rings[] = {
    {"op=spmm staging=tma arch=sm_90 lhs=f16 rhs=f16 out=f16 vec=8 tile_n=64 warps=16 window=256 stages=6",
     "padding=zeros tile=128"},
    {"op=spmm staging=tma arch=sm_90 lhs=f16 rhs=f16 out=f16 vec=8 tile_n=64 split=2 window=64 stages=3",
     "padding=zeros tile=128"},
    {"op=spmm staging=tma arch=sm_90 lhs=s8 rhs=s8 vec=8 tile_n=128 split=4 window=64 stages=6",
     "padding=banks tile=128"},
};

typedef struct bench {
    mc_context *context;
    mc_vsparse host;
    device_pattern pattern;
    mc_kernel *reader;
    mc_type type;
    device_packed packed;
    mc_diag *diag;
} bench;

/* -- The pattern */

static mc_status make_host(bench *t, int64_t rows, int64_t cols, double sparsity) {
    int64_t blocks = rows / VEC, each = (int64_t)((1 - sparsity) * (double)cols + 0.5), v = 0;
    mcrt_random random = random_start(12345, 0);
    mc_status status = mcrt_vsparse_create(t->type, VEC, blocks, cols, blocks * each, &t->host, t->diag);
    for (int64_t b = 0; b < blocks && status == MC_OK; t->host.row_ptr[++b] = v)
        for (int64_t j = 0, left = each; j < cols; j++)
            if (random_unit(&random) * (double)(cols - j) < (double)left)
                t->host.col_idx[v++] = (int32_t)j, left--;
    return status;
}

static mc_status upload(bench *t, const void *data, size_t bytes, mc_address *address) {
    mc_status status = mc_memory_create(t->context, bytes, address, t->diag);
    return status == MC_OK ? mc_memory_write(t->context, *address, data, bytes, t->diag) : status;
}

static mc_status upload_pattern(bench *t) {
    const mc_vsparse *a = &t->host;
    size_t bytes = (size_t)(a->row_blocks + 1) * sizeof(int32_t);
    int32_t *offsets = malloc(bytes);
    for (int64_t b = 0; b <= a->row_blocks; b++) offsets[b] = (int32_t)a->row_ptr[b];
    t->pattern = (device_pattern){.vec = VEC,
                                  .rows = a->rows,
                                  .cols = a->cols,
                                  .row_blocks = a->row_blocks,
                                  .vectors = a->vectors,
                                  .row_ptr = a->row_ptr};
    mc_status status = upload(t, offsets, bytes, &t->pattern.offsets);
    free(offsets);
    if (status != MC_OK) return status;
    return upload(t, a->col_idx, (size_t)a->vectors * sizeof *a->col_idx, &t->pattern.columns);
}

/* -- The arrays */

static mc_status compare(bench *t, mc_address address, const char *name, const void *want, size_t bytes) {
    unsigned char *got = malloc(bytes + 1);
    mc_status status = mc_memory_read(t->context, address, got, bytes, t->diag);
    if (status == MC_OK && memcmp(got, want, bytes) != 0)
        status = mc_fail(t->diag, MC_DEVICE, "wrong %s", name);
    free(got);
    return status;
}

/* All values are zeros, and so are their pieces. */
static mc_status compare_all(bench *t, double *host_seconds) {
    mc_packed want = {0};
    packed_slots slots = {0};
    double begin = clock_seconds();
    mc_status status = mc_pack(t->reader, &t->host, &want, t->diag);
    *host_seconds = clock_seconds() - begin;
    if (status == MC_OK) status = mc_pack_slots(t->reader, &t->host, &slots, t->diag);
    for (size_t i = 0; i < want.array_count && status == MC_OK; i++) {
        const mc_packed_array *array = &want.arrays[i];
        if (t->packed.shape.arrays[i].count != array->count)
            status = mc_fail(t->diag, MC_DEVICE, "wrong count of %s", array->name);
        else
            status = compare(t, t->packed.arrays[i], array->name, array->data,
                             (size_t)mc_type_size(array->type, array->count));
    }
    if (status == MC_OK)
        status = compare(t, t->packed.vectors, "vectors", slots.vectors,
                         (size_t)(slots.groups * slots.group) * sizeof *slots.vectors);
    packed_slots_free(&slots);
    mc_packed_free(&want);
    return status;
}

/* -- Times */

static int ascending(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static mc_status time_whole(bench *t, double *median, double *least) {
    double seconds[CALLS];
    mc_status status = MC_OK;
    for (int i = 0; i < CALLS + 1 && status == MC_OK; i++) {
        device_packed_free(t->context, &t->packed);
        double begin = clock_seconds();
        status = device_pack_windowed(t->context, &t->pattern, t->type, t->reader, NULL, &t->packed, t->diag);
        if (i > 0) seconds[i - 1] = clock_seconds() - begin;
        if (i == 0 && mc_device_get_info(t->context->device)->kind == MC_DEVICE_SIM) return status;
    }
    qsort(seconds, CALLS, sizeof *seconds, ascending);
    *median = 1e6 * seconds[CALLS / 2], *least = 1e6 * seconds[0];
    return status;
}

/* What the two kernels hand to each other, with room for every row block as for the fullest one. */
typedef struct hand_over {
    mc_address starts, chosen, windows, counts;
    int64_t span;
} hand_over;

static mc_status make_hand_over(bench *t, hand_over *h) {
    int64_t blocks = t->host.row_blocks, most = t->host.vectors / (blocks > 0 ? blocks : 1) / WINDOWED_SLOTS;
    int64_t window = mc_kernel_field(t->reader, "window"), stages = mc_kernel_field(t->reader, "stages");
    int64_t windows = (t->host.cols + window - 1) / window;
    const mc_ring ring = {.window = (int)window, .stages = (int)stages};
    h->span = windowed_span(&ring, t->host.cols, t->host.vectors, blocks);
    most += windows / h->span + 2;
    int32_t *starts = malloc((size_t)blocks * sizeof *starts);
    for (int64_t i = 0; i < blocks; i++) starts[i] = (int32_t)(i * most);
    mc_status status = upload(t, starts, (size_t)blocks * sizeof *starts, &h->starts);
    free(starts);
    size_t strides = (size_t)(blocks * most);
    if (status == MC_OK)
        status =
            mc_memory_create(t->context, strides * WINDOWED_SLOTS * sizeof(int32_t), &h->chosen, t->diag);
    if (status == MC_OK)
        status =
            mc_memory_create(t->context, strides * WINDOWS_WORDS * sizeof(int32_t), &h->windows, t->diag);
    if (status != MC_OK) return status;
    return mc_memory_create(t->context, (size_t)blocks * (8 + 1) * sizeof(int32_t), &h->counts, t->diag);
}

static mc_status time_kernel(bench *t, const hand_over *h, const char *task, double *us) {
    const device_packed *p = &t->packed;
    const packed_slots *slots = &p->slots;
    const mc_binding bindings[] = {{"row_order", (int64_t)p->arrays[0]},
                                   {"row_ptr", (int64_t)p->arrays[1]},
                                   {"control", (int64_t)p->arrays[2]},
                                   {"places", (int64_t)p->arrays[3]},
                                   {"values", (int64_t)p->arrays[4]},
                                   {"vectors", (int64_t)p->vectors},
                                   {"offsets", (int64_t)t->pattern.offsets},
                                   {"columns", (int64_t)t->pattern.columns},
                                   {"starts", (int64_t)h->starts},
                                   {"chosen", (int64_t)h->chosen},
                                   {"windows", (int64_t)h->windows},
                                   {"counts", (int64_t)h->counts},
                                   {"row_blocks", t->host.row_blocks},
                                   {"window", mc_kernel_field(t->reader, "window")},
                                   {"stages", mc_kernel_field(t->reader, "stages")},
                                   {"span", h->span},
                                   {"split", mc_kernel_field(t->reader, "split")},
                                   {"units", mc_type_size(slots->code.unit, slots->period) / 16},
                                   {"m", 0}};
    char fields[120];
    mc_kernel *kernel = NULL;
    mc_module *module = NULL;
    mc_graph *graph = NULL;
    mc_launch launch;
    snprintf(fields, sizeof fields, "op=pack_windowed arch=sm_90 task=%s", task);
    mc_status status = mc_kernel_from_fields(fields, &kernel, t->diag);
    if (status == MC_OK)
        status = mc_module_load(t->context->device, mc_kernel_ptx(kernel), mc_kernel_contract(kernel)->entry,
                                &module, t->diag);
    if (status == MC_OK)
        status = mc_bind(kernel, bindings, sizeof bindings / sizeof *bindings, &launch, t->diag);
    if (status == MC_OK) status = mc_graph_create(module, &launch, 1, &graph, t->diag);
    if (status == MC_OK) status = mc_graph_replay(graph, us, t->diag);
    mc_graph_destroy(graph);
    if (status == MC_OK && mc_device_get_info(t->context->device)->kind == MC_DEVICE_CUDA)
        status = mc_module_time(module, &launch, LAUNCHES, ROUNDS, us, t->diag);
    mc_module_unload(module);
    mc_kernel_destroy(kernel);
    return status;
}

static mc_status time_kernels(bench *t, const struct ring *ring, double us[2]) {
    hand_over h = {0};
    char place[80];
    snprintf(place, sizeof place, "place %s", ring->place);
    mc_status status = make_hand_over(t, &h);
    if (status == MC_OK) status = time_kernel(t, &h, "choose", &us[0]);
    if (status == MC_OK) status = time_kernel(t, &h, place, &us[1]);
    mc_memory_destroy(t->context, h.starts);
    mc_memory_destroy(t->context, h.chosen);
    mc_memory_destroy(t->context, h.windows);
    mc_memory_destroy(t->context, h.counts);
    return status;
}

/* -- A ring */

static mc_status try_ring(bench *t, const struct ring *ring, int64_t rows, int64_t cols, double sparsity) {
    double us[2] = {0}, median = 0, least = 0, host_seconds = 0;
    context_visit visit;
    mc_status status = mc_kernel_from_fields(ring->fields, &t->reader, t->diag);
    if (status == MC_OK) status = mc_type_of(t->reader, "lhs", &t->type, t->diag);
    if (status == MC_OK) status = make_host(t, rows, cols, sparsity);
    if (status == MC_OK) status = upload_pattern(t);
    if (status == MC_OK) status = context_enter(t->context, &visit, t->diag);
    if (status != MC_OK) return status;
    status = time_whole(t, &median, &least);
    if (status == MC_OK) status = compare_all(t, &host_seconds);
    if (status == MC_OK) status = time_kernels(t, ring, us);
    if (status == MC_OK) status = compare_all(t, &host_seconds);
    if (status == MC_OK)
        printf("%s\n  %" PRId64
               " strides, host %.1f ms; choose %.1f us, place %.1f us, whole %.1f us, least %.1f us\n",
               ring->fields, t->packed.slots.groups, 1e3 * host_seconds, us[0], us[1], median, least);
    device_packed_free(t->context, &t->packed);
    context_leave(t->context, &visit);
    mc_memory_destroy(t->context, t->pattern.offsets);
    mc_memory_destroy(t->context, t->pattern.columns);
    mc_vsparse_free(&t->host);
    mc_kernel_destroy(t->reader);
    return status;
}

int main(int argc, char **argv) {
    if (argc != 5) return fprintf(stderr, "usage: pack_windowed_gpu DEVICE ROWS COLS SPARSITY\n"), 2;
    bench t = {.diag = mc_diag_create()};
    const mc_context_config config = {
        .size = sizeof config, .device = argv[1], .cache = MC_CACHE_MEMORY, .records = ""};
    mc_status status = mc_context_create(&config, &t.context, t.diag);
    if (status != MC_OK) return printf("SKIPPED: %s\n", mc_diag_text(t.diag)), 77;
    for (size_t i = 0; i < sizeof rings / sizeof *rings && status == MC_OK; i++)
        status = try_ring(&t, &rings[i], atoll(argv[2]), atoll(argv[3]), atof(argv[4]));
    if (status != MC_OK) fprintf(stderr, "%s\n", mc_diag_text(t.diag));
    mc_context_destroy(t.context);
    mc_diag_destroy(t.diag);
    return status != MC_OK;
}
