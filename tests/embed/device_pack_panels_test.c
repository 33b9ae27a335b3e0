/* Panels packed on the device: each packed array, values among them, and which nonzero each value is, become, byte for byte, what packing
 * on the host makes, and so do they where nobody waits for sizes, in rooms that are larger, in a graph too; new values come into them.
 * device_pack_panels_test [DEVICE]: the simulator in one of its schedules, or cuda:0; exit status 77 without a GPU. */
#include <stdlib.h>
#include "context/device_pack_panels.h"
#include "device/cuda.h"
#include "device_matrix.h"
#include "parts/panels.h"

mc_diag *diag;

/* -- Patterns: rows of one nonzero each ---------------------------------------------------------------- */

static uint64_t chance(int64_t row, int64_t col) {
    uint64_t x = (uint64_t)row * 0x9e3779b97f4a7c15u ^ (uint64_t)col * 0xc2b2ae3d27d4eb4fu;
    x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
    return (x ^ x >> 32) % 1000;
}
static bool none(int64_t row, int64_t col) { return (void)row, (void)col, false; }
static bool all(int64_t row, int64_t col) { return (void)row, (void)col, true; }
static bool sparse(int64_t row, int64_t col) { return chance(row, col) < 20; }
static bool half(int64_t row, int64_t col) { return chance(row, col) < 500; }
/* Rows without anything, and panels. */
static bool gaps(int64_t row, int64_t col) {
    return row % 3 != 1 && row / 16 % 3 != 2 && chance(row, col) < 60;
}
/* As many nonzeros in one row as in all others together. */
static bool heavy(int64_t row, int64_t col) { return row == 21 || (row * 37 + col) % 41 == 0; }
static bool last_row(int64_t row, int64_t col) { return row == 18 && col % 2 == 1; }
static bool one_each(int64_t row, int64_t col) { return col == row * 7 % 5; }
/* Neighbouring rows share columns, as meshes do. */
static bool mesh(int64_t row, int64_t col) {
    const int64_t far = col - row;
    return (far >= -1 && far <= 1) || far == 40 || far == -40;
}
/* Panels of every length up to many strides. */
static bool growing(int64_t row, int64_t col) { return col < row * 6 && chance(row, col) < 300; }

static const device_shape shapes[] = {
    {"no nonzeros", 40, 30, none},   {"no rows", 0, 30, none},
    {"no columns", 19, 0, all},      {"one row", 1, 700, half},
    {"one nonzero", 1, 1, all},      {"one column", 37, 1, all},
    {"1024 nonzeros", 32, 32, all},  {"2048 nonzeros, 256 panels of 8", 2048, 5, one_each},
    {"sparse", 61, 500, sparse},     {"half", 29, 90, half},
    {"gaps", 100, 300, gaps},        {"heavy", 43, 1300, heavy},
    {"last row", 19, 999, last_row}, {"mesh", 300, 300, mesh},
    {"growing", 120, 700, growing},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };
/* More groups of panels than step "sums" takes in a turn. */
static const device_shape many_panels = {"many panels", 45003, 5, one_each};
enum { MANY_BY = 2 /* whose panels are of 8 rows */ };

/* -- Kernels: they are not launched, what they read is what counts ------------------------------------- */

#define CSR "op=spmm vec=1 "
static const char *const kernels[] = {
    CSR "lhs=f16 rhs=f16 out=f16 tile_n=64 panel=8 values=slots warps=4 share=4",
    CSR "lhs=bf16 rhs=bf16 out=f32 tile_n=64 panel=16 values=nonzeros warps=8 share=2",
    CSR "lhs=tf32 rhs=tf32 out=f32 tile_n=32 panel=8 values=nonzeros warps=2 share=2",
    CSR "lhs=tf32 rhs=tf32 out=f32 tile_n=32 panel=16 values=slots warps=1 share=2",
    CSR "lhs=e4m3 rhs=e5m2 out=f32 panel=16 values=nonzeros warps=1 share=4",
    CSR "lhs=s8 rhs=s8 panel=8 values=nonzeros warps=8 share=8",
    CSR "lhs=u4 rhs=s8 panel=16 values=nonzeros warps=4 share=2",
    CSR "lhs=s4 rhs=s8 panel=8 values=slots warps=8 share=2",
    CSR "lhs=s16 rhs=s8 panel=16 values=slots warps=2 share=8",
    CSR "lhs=s12 rhs=s8 digits=balanced panel=8 values=slots warps=8 share=4",
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static struct { int packed, shared, parts, lone; } seen;

static void look_at_items(const mc_packed *packed) {
    const mc_packed_array *items = mc_packed_find(packed, "items");
    for (int64_t i = 3; i < items->count; i += PANEL_ITEM_WORDS) {
        const unsigned sharing = (unsigned)((const int32_t *)items->data)[i];
        seen.shared += (sharing >> PANEL_PIECES_SHIFT & (PANEL_MOST_PIECES - 1)) > 0;
        seen.parts += (sharing >> PANEL_PARTS_SHIFT & 15) > 0;
        seen.lone += sharing == 1u << PANEL_SHARES_SHIFT;
    }
    seen.packed++;
}

/* -- What is there, and what must be ------------------------------------------------------------------- */

enum { POISON = 0x5a };

/* Behind what must be there are POISONs up to ROOM bytes. */
static void compare_bytes(mc_address address, const void *right, size_t bytes, size_t room, const char *name,
                          const char *text) {
    unsigned char *got = malloc(room + 1);
    const unsigned char *want = right;
    size_t i = 0;
    if (room > 0) (void)worked("read", mc_memory_read(context, address, got, room, diag));
    while (i < bytes && got[i] == want[i]) i++;
    CHECK(i == bytes, "%s: byte %zu of %zu of %s is %02x, must be %02x", text, i, bytes, name,
          i < bytes ? got[i] : 0, i < bytes ? want[i] : 0);
    for (i = bytes; i < room && got[i] == POISON;) i++;
    CHECK(i == room, "%s: byte %zu of %s, behind its %zu, was written", text, i, name, bytes);
    free(got);
}

static size_t array_bytes(const mc_packed_array *array) {
    return (size_t)mc_type_size(array->type, array->count);
}

static void compare_arrays(const matrix_packing *packing, const mc_vsparse *host, const char *text) {
    mc_packed want = {0};
    if (!worked("mc_pack", mc_pack(packing->kernel, host, &want, diag))) return;
    CHECK(packing->host.array_count == want.array_count && packing->host.pieces == want.pieces, "%s", text);
    for (size_t i = 0; i < want.array_count && i < packing->host.array_count; i++) {
        const mc_packed_array *got = &packing->host.arrays[i], *right = &want.arrays[i];
        const bool same =
            strcmp(got->name, right->name) == 0 && got->type == right->type && got->count == right->count;
        CHECK(same, "%s: array %zu is %s[%lld], must be %s[%lld]", text, i, got->name, (long long)got->count,
              right->name, (long long)right->count);
        if (same)
            compare_bytes(packing->arrays[i], right->data, array_bytes(right), array_bytes(right),
                          right->name, text);
    }
    look_at_items(&want);
    mc_packed_free(&want);
}

static void compare_packing(const matrix_packing *packing, const mc_vsparse *host, const char *text) {
    packed_slots slots = {0};
    compare_arrays(packing, host, text);
    if (!worked("slots", mc_pack_slots(packing->kernel, host, &slots, diag))) return;
    CHECK(slots.groups == packing->slots.groups && slots.group == packing->slots.group &&
              slots.period == packing->slots.period && slots.vec == packing->slots.vec,
          "%s: slots", text);
    const size_t bytes = (size_t)(slots.groups * slots.group) * sizeof *slots.vectors;
    CHECK(packing->vectors != 0 || bytes == 0, "%s: not packed on the device", text);
    compare_bytes(packing->vectors, slots.vectors, bytes, bytes, "vectors", text);
    CHECK(memcmp(slots.pieces, packing->slots.pieces, (size_t)slots.period * sizeof *slots.pieces) == 0);
    packed_slots_free(&slots);
}

static void try_values(mc_matrix *matrix, const matrix_packing *packing, mc_vsparse *fresh,
                       const char *text) {
    for (int turn = 0; turn < 3; turn++) {
        device_fill(fresh, 100 + (uint64_t)turn, mc_pack_most(packing->kernel, fresh->type));
        device_set_values(matrix, fresh, turn);
        compare_packing(packing, fresh, text);
        device_compare_host(matrix, fresh, text);
    }
}

/* -- Without waiting ----------------------------------------------------------------------------------- */

/* Arrays with room for as much as there may be, and a margin. */
typedef struct roomy {
    panels_packer packer;
    panel_sizes most;
    device_packed packed;
    mc_address scratch;
} roomy;

enum { MARGIN = 64 };

static mc_address poisoned(size_t bytes) {
    unsigned char *data = malloc(bytes);
    memset(data, POISON, bytes);
    mc_address address = device_put(data, bytes);
    free(data);
    return address;
}

static size_t vectors_bytes(const packed_slots *slots) {
    return (size_t)(slots->groups * slots->group) * sizeof(int32_t);
}

static void open_roomy(roomy *r, const device_pattern *pattern, const mc_kernel *kernel, mc_type type) {
    const mc_panels form = panels_form_of(kernel);
    *r = (roomy){.scratch = 0};
    (void)worked("open", panels_packer_open(pattern, &form, &r->packer, diag));
    r->scratch = poisoned(panels_packer_scratch(&r->packer, 0));
    (void)panels_packer_scratch(&r->packer, r->scratch);
    r->most = panels_packer_most(&r->packer);
    (void)worked("outline", panels_outline(&form, type, &r->most, &r->packed.shape, &r->packed.slots, diag));
    for (size_t i = 0; i < r->packed.shape.array_count; i++)
        r->packed.arrays[i] = poisoned(array_bytes(&r->packed.shape.arrays[i]) + MARGIN);
    r->packed.vectors = poisoned(vectors_bytes(&r->packed.slots) + MARGIN);
}

static void close_roomy(roomy *r) {
    for (size_t i = 0; i < r->packed.shape.array_count; i++) mc_memory_destroy(context, r->packed.arrays[i]);
    mc_memory_destroy(context, r->packed.vectors);
    mc_memory_destroy(context, r->scratch);
    mc_packed_free(&r->packed.shape);
    packed_slots_free(&r->packed.slots);
}

static void put_all(device_work *work, const roomy *r) {
    (void)worked("sizes", panels_put_sizes(work, &r->packer, diag));
    (void)worked("arrays", panels_put_arrays(work, &r->packer, r->most.strides, &r->packed, diag));
}

static void compare_roomy(const roomy *r, const mc_packed *want, const packed_slots *slots,
                          const char *text) {
    for (size_t i = 0; i < want->array_count; i++) {
        const mc_packed_array *right = &want->arrays[i], *room = &r->packed.shape.arrays[i];
        CHECK(strcmp(right->name, room->name) == 0 && array_bytes(right) <= array_bytes(room),
              "%s: %s has no room", text, right->name);
        if (strcmp(right->name, "values") != 0)
            compare_bytes(r->packed.arrays[i], right->data, array_bytes(right), array_bytes(room) + MARGIN,
                          right->name, text);
    }
    compare_bytes(r->packed.vectors, slots->vectors, vectors_bytes(slots),
                  vectors_bytes(&r->packed.slots) + MARGIN, "vectors", text);
}

/* The simulator's driver runs what it captures, a GPU the graph. */
static void put_in_graph(const roomy *r) {
    const cuda_driver *driver = NULL;
    const char *why = "";
    cuda_stream stream = NULL;
    cuda_graph graph = NULL;
    cuda_graph_exec exec = NULL;
    device_work work = {.context = context};
    CHECK(cuda_driver_get(&driver, &why) == CUDA_READY, "%s", why);
    if (driver == NULL) return;
    (void)worked("stream", CUDA_CALL(driver, diag, StreamCreate, &stream, 1));
    work.stream = stream;
    (void)worked("capture", CUDA_CALL(driver, diag, StreamBeginCapture, stream, 0));
    put_all(&work, r);
    (void)worked("end", CUDA_CALL(driver, diag, StreamEndCapture, stream, &graph));
    (void)worked("graph", CUDA_CALL(driver, diag, GraphInstantiateWithFlags, &exec, graph, 0));
    for (int turn = 0; turn < 2; turn++)
        (void)worked("launch", CUDA_CALL(driver, diag, GraphLaunch, exec, stream));
    (void)worked("wait", mc_synchronize(context, stream, diag));
    (void)worked("graph", CUDA_CALL(driver, diag, GraphExecDestroy, exec));
    (void)worked("graph", CUDA_CALL(driver, diag, GraphDestroy, graph));
    work.running = false;
    (void)worked("end", work_end(&work, MC_OK, diag));
    (void)worked("stream", CUDA_CALL(driver, diag, StreamDestroy, stream));
}

static void try_roomy(const mc_matrix *matrix, const mc_kernel *kernel, const mc_vsparse *host, bool in_graph,
                      const char *text) {
    const device_pattern pattern = {.vec = 1,
                                    .rows = host->rows,
                                    .cols = host->cols,
                                    .row_blocks = host->row_blocks,
                                    .vectors = host->vectors,
                                    .row_ptr = host->row_ptr,
                                    .offsets = matrix->offsets,
                                    .columns = matrix->columns};
    mc_packed want = {0};
    packed_slots slots = {0};
    device_work work;
    roomy r;
    (void)worked("mc_pack", mc_pack(kernel, host, &want, diag));
    (void)worked("slots", mc_pack_slots(kernel, host, &slots, diag));
    open_roomy(&r, &pattern, kernel, host->type);
    CHECK(r.most.pieces >= want.pieces, "%s", text);
    if (in_graph) put_in_graph(&r);
    else {
        (void)worked("begin", work_begin_own(&work, context, diag));
        put_all(&work, &r);
        (void)worked("end", work_end(&work, MC_OK, diag));
    }
    compare_roomy(&r, &want, &slots, text);
    close_roomy(&r);
    packed_slots_free(&slots);
    mc_packed_free(&want);
}

/* -- All of it ----------------------------------------------------------------------------------------- */

static void try_shape(const mc_kernel *kernel, mc_type type, const device_shape *shape, bool graphs,
                      const char *fields) {
    char text[300];
    matrix_packing *packing = NULL;
    context_visit visit;
    mc_vsparse host = device_make_host(type, 1, shape);
    device_fill(&host, 1, mc_pack_most(kernel, type));
    mc_matrix *matrix = device_from_bcrs(&host, false);
    snprintf(text, sizeof text, "%s: %s", shape->name, fields);
    (void)context_enter(context, &visit, diag);
    if (matrix != NULL && worked(text, matrix_pack_for(matrix, kernel, &packing, diag))) {
        compare_packing(packing, &host, text);
        if (host.vectors > 0) try_values(matrix, packing, &host, text);
        if (host.rows > 0) try_roomy(matrix, kernel, &host, false, text);
        if (host.rows > 0 && graphs) try_roomy(matrix, kernel, &host, true, text);
        matrix_unpack(matrix, packing);
    }
    context_leave(context, &visit);
    mc_matrix_destroy(matrix);
    mc_vsparse_free(&host);
}

/* Rows in another order are fetched and packed on the host, also with new values. */
static void test_order(void) {
    static const char *const fields = CSR "lhs=f16 rhs=f16 out=f16 tile_n=64 panel=8 reorder=similarity";
    mc_kernel *kernel = NULL;
    matrix_packing *packing = NULL;
    context_visit visit;
    if (!worked(fields, mc_kernel_from_fields(fields, &kernel, diag))) return;
    for (int s = 0; s < SHAPES; s++) {
        mc_vsparse host = device_make_host(MC_F16, 1, &shapes[s]);
        device_fill(&host, 1, mc_pack_most(kernel, MC_F16));
        mc_matrix *matrix = device_from_bcrs(&host, false);
        (void)context_enter(context, &visit, diag);
        if (matrix != NULL && worked(shapes[s].name, matrix_pack_for(matrix, kernel, &packing, diag))) {
            compare_arrays(packing, &host, shapes[s].name);
            device_fill(&host, 2, mc_pack_most(kernel, MC_F16));
            if (host.vectors > 0) device_set_values(matrix, &host, s % 3);
            compare_arrays(packing, &host, shapes[s].name);
            matrix_unpack(matrix, packing);
        }
        context_leave(context, &visit);
        mc_matrix_destroy(matrix);
        mc_vsparse_free(&host);
    }
    mc_kernel_destroy(kernel);
}

/* One of the kernels has the shape of many panels, too, which takes long. */
static void try_kernel(int number, bool graphs) {
    mc_kernel *kernel = NULL;
    mc_type type = MC_F32;
    if (!worked(kernels[number], mc_kernel_from_fields(kernels[number], &kernel, diag))) return;
    (void)worked("type", mc_type_of(kernel, "lhs", &type, diag));
    for (int s = 0; s < SHAPES; s++) try_shape(kernel, type, &shapes[s], graphs, kernels[number]);
    if (number == MANY_BY) try_shape(kernel, type, &many_panels, graphs, kernels[number]);
    mc_kernel_destroy(kernel);
}

/* A plan's product is the reference's, whose panels are shared in every way. */
static void test_plan(void) {
    static const char *const specs[] = {"spmm_csr_f16"};
    static const product_kind kind = {"panels",
                                      MC_F16,
                                      1,
                                      .row_blocks = 40,
                                      .cols = 900,
                                      .sparsity = 0.7,
                                      .config = {.b = MC_F16, .c = MC_F16, .n = 40}};
    product p;
    if (!product_open(&p, context, &kind, 4)) return;
    mc_matrix_destroy(p.matrix);
    p.config.matrix = p.matrix = device_from_bcrs(&p.host, false);
    p.config.specs = specs, p.config.spec_count = 1;
    if (p.matrix != NULL && product_plan(&p)) {
        CHECK(p.matrix->packings->vectors != 0 && p.matrix->packings->host.pieces > 0, "%lld pieces",
              (long long)p.matrix->packings->host.pieces);
        product_check(&p);
        mc_vsparse_fill(&p.host, MC_VALUES_FULL, 50, NULL);
        device_set_values(p.matrix, &p.host, 1);
        product_check(&p);
    }
    product_close(&p);
}

/* -- Where memory ends: after each allocation in turn ------------------------------------------------- */

static struct {
    mc_context *from;
    int left, held;
} memory;

static mc_address take_memory(void *user, size_t bytes) {
    mc_address address = 0;
    (void)user;
    if (memory.left-- <= 0 || mc_memory_create(memory.from, bytes, &address, NULL) != MC_OK) return 0;
    memory.held++;
    return address;
}

static void give_memory(void *user, mc_address address) {
    (void)user;
    memory.held -= address != 0;
    mc_memory_destroy(memory.from, address);
}

static void test_memory(const char *device) {
    const mc_context_config config = {.size = sizeof config,
                                      .device = device,
                                      .cache = MC_CACHE_MEMORY,
                                      .records = "",
                                      .allocate = take_memory,
                                      .release = give_memory};
    enum { MANY = 1000, MOST = 40 };
    mc_context *usual = context;
    mc_kernel *kernel = NULL;
    context_visit visit;
    mc_status status = MC_NOMEM;
    int count = 0;
    (void)worked("kernel", mc_kernel_from_fields(kernels[1], &kernel, diag));
    if (!worked("context", mc_context_create(&config, &context, diag))) return;
    memory.from = context, memory.left = MANY;
    mc_vsparse host = device_make_host(MC_BF16, 1, &shapes[SHAPES - 1]);
    mc_matrix *matrix = device_from_bcrs(&host, true);
    const int before = memory.held;
    (void)context_enter(context, &visit, diag);
    for (; matrix != NULL && count < MOST && status != MC_OK; count++) {
        matrix_packing packing = {.next = NULL};
        memory.left = count;
        status = matrix_pack_on_device(matrix, kernel, &packing, NULL);
        CHECK(status == MC_OK || status == MC_NOMEM, "%d allocations: status %d", count, (int)status);
        packing_empty(context, &packing);
        CHECK(memory.held == before, "%d allocations: %d left", count, memory.held - before);
    }
    CHECK(status == MC_OK && count > 6, "%d allocations", count);
    context_leave(context, &visit);
    mc_matrix_destroy(matrix);
    mc_vsparse_free(&host);
    mc_kernel_destroy(kernel);
    mc_context_destroy(context);
    context = usual;
}

/* The library asks for its helpers by all fields, in their order: so the cache keeps them. */
static void check_fields(void) {
    int steps = 0;
    for (const loaded_kernel *k = context->kernels; k != NULL; k = k->next) {
        if (strncmp(k->fields, "op=pack_panels", 14) != 0) continue;
        CHECK(strcmp(k->fields, mc_kernel_fields(k->kernel)) == 0, "%s", k->fields);
        steps++;
    }
    CHECK(steps >= 7, "%d", steps);
}

int main(int argc, char **argv) {
    const char *device = argc > 1 ? argv[1] : "sim";
    const bool graphs = strncmp(device, "cuda", 4) == 0;
    const mc_context_config config = {
        .size = sizeof config, .device = device, .cache = MC_CACHE_MEMORY, .records = ""};
    if (graphs && mc_device_cuda_count() == 0) return printf("SKIPPED: no GPU\n"), 77;
    diag = mc_diag_create();
    if (worked("mc_context_create", mc_context_create(&config, &context, diag))) {
        for (int i = 0; i < KERNELS; i++) try_kernel(i, graphs);
        CHECK(seen.packed > SHAPES && seen.shared > 0 && seen.parts > 0 && seen.lone > 0,
              "%d packed: %d items of several thread blocks, %d of several warps, %d beside such",
              seen.packed, seen.shared, seen.parts, seen.lone);
        test_order();
        test_plan();
        check_fields();
        test_memory(device);
    }
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return device_end(check_end());
}
