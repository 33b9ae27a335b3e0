/* Rows dealt out on the device for csr: items become, byte for byte, what packing on the host makes, and
 * nothing behind them is written. And on the host every row is dealt out once, in items that end at blocks of
 * rows. Items come of row offsets alone, so that rows may be as long as s32 counts. device_pack_test packs
 * whole matrices.
 * device_pack_csr_test [DEVICE]: the simulator in one of its schedules, or cuda:0; exit status 77 without a
 * GPU. */
#include <stdlib.h>
#include "../kernels/sparse_cases.h"
#include "context/device_pack_csr.h"
#include "device/cuda.h"
#include "device_matrix.h"
#include "parts/csr_work.h"

mc_diag *diag;

/* -- Patterns: how many nonzeros a row has -------------------------------------------------------------- */

typedef int64_t row_length(int64_t row);

static int64_t empty(int64_t row) { return (void)row, 0; }
static int64_t three(int64_t row) { return (void)row, 3; }
static int64_t mixed(int64_t row) {
    if (row % 97 == 5) return row * 40; /* of every length */
    return row % 5 == 1 ? 0 : row * 37 % 61;
}
/* Long rows at the ends of blocks, and beside them. */
static int64_t border(int64_t row) {
    const int64_t far = (row + 3) % CSR_DEAL_ROWS;
    return far < 6 ? 20 + 200 * (row % 4) : row / CSR_DEAL_ROWS % 3 == 1 ? 0 : 9;
}
static int64_t long_ones(int64_t row) { return 33 + row * 53; }
/* Empty blocks between others. */
static int64_t gaps_of_blocks(int64_t row) { return row / CSR_DEAL_ROWS % 2 == 0 ? row * 7 % 300 : 0; }
/* More pieces than a row may have, and then as many nonzeros as there may be. */
static int64_t longest(int64_t row) { return row == 7 ? 2000000000 : row == 20 ? 147000000 : row % 50; }

static const struct {
    const char *name;
    int64_t rows;
    row_length *length;
    bool heavy; /* it has many items: of few forms */
} patterns[] = {
    {"no rows", 0, three, false},        {"one empty row", 1, empty, false},
    {"one row", 1, longest, false},      {"one long row", 1, long_ones, false},
    {"256 rows", 256, three, false},     {"257 rows", 257, mixed, false},
    {"empty rows", 700, empty, false},   {"three each", 1000, three, false},
    {"mixed", 1100, mixed, false},       {"border", 1500, border, false},
    {"long rows", 300, long_ones, true}, {"gaps", 1300, gaps_of_blocks, false},
    {"longest", 64, longest, true},      {"more blocks than sums takes in a turn", 51000, three, true}};
enum { PATTERNS = sizeof patterns / sizeof *patterns };

static mc_vsparse offsets_of(int64_t rows, row_length *length) {
    mc_vsparse a = {.type = MC_F32, .vec = 1, .rows = rows, .row_blocks = rows, .cols = INT32_MAX};
    a.row_ptr = calloc((size_t)rows + 1, sizeof *a.row_ptr);
    for (int64_t row = 0; row < rows; row++) a.row_ptr[row + 1] = a.row_ptr[row] + length(row);
    a.vectors = a.row_ptr[rows];
    return a;
}

static mc_vsparse offsets_of_case(size_t index) {
    mc_csr csr;
    make_pattern(index, &csr);
    mc_vsparse a = {.type = MC_F32, .vec = 1, .rows = csr.rows, .row_blocks = csr.rows, .cols = csr.cols};
    a.row_ptr = calloc((size_t)csr.rows + 1, sizeof *a.row_ptr);
    for (int64_t row = 0; row <= csr.rows; row++) a.row_ptr[row] = csr.row_ptr[row];
    a.vectors = a.row_ptr[csr.rows];
    mc_csr_free(&csr);
    return a;
}

/* -- The host's ------------------------------------------------------------------------------------------ */

static struct { long items, pieces, parts, lone, borders; } seen;

static int64_t length_of(const mc_vsparse *a, int64_t row) { return a->row_ptr[row + 1] - a->row_ptr[row]; }

/* Rows of the item are neighbours of one block; the next one is long, or in another block, or too much. */
static int64_t look_at_short(const mc_vsparse *a, const mc_csr_form *form, const int32_t *item,
                             const char *text) {
    const int64_t first = item[0], end = form->segmented ? first + (item[1] & 255) : item[1],
                  most = form->share * CSR_STRIDE;
    if (end == first) return 0;
    CHECK(end <= a->rows && first / CSR_DEAL_ROWS == (end - 1) / CSR_DEAL_ROWS, "%s: rows %d to %d", text,
          (int)first, (int)end);
    if (end > a->rows) return 0;
    bool is_whole = end == a->rows || end % CSR_DEAL_ROWS == 0 || length_of(a, end) > most;
    seen.borders += end % CSR_DEAL_ROWS == 0 && end < a->rows;
    for (int64_t row = first; row < end; row++)
        CHECK(length_of(a, row) <= most, "%s: row %d is long", text, (int)row);
    if (form->segmented)
        is_whole =
            is_whole || end == first + CSR_SEGMENT_ROWS || a->row_ptr[end + 1] - a->row_ptr[first] > most;
    else is_whole = is_whole || end == first + form->groups;
    CHECK(is_whole, "%s: rows %d to %d: the next one would fit", text, (int)first, (int)end);
    return end - first;
}

static void look_at_items(const mc_vsparse *a, const mc_csr_form *form, const mc_packed *packed,
                          const char *text) {
    const mc_packed_array *items = mc_packed_find(packed, "items");
    int64_t rows = 0, last = -1;
    for (int64_t i = 0; i < items->count / PANEL_ITEM_WORDS; i++) {
        const int32_t *item = (const int32_t *)items->data + i * PANEL_ITEM_WORDS;
        if (i % form->warps == 0) check_knowing(item, form->warps);
        if (item[3] < 0) {
            rows += item[0] != last;
            last = item[0];
            seen.pieces += item_bits(item, PANEL_PIECES_SHIFT, PANEL_PIECE_BITS) > 0;
            seen.parts += item_bits(item, PANEL_PARTS_SHIFT, PANEL_PARTS_BITS) > 0;
            seen.lone += item_bits(item, 0, PANEL_SHARES_SHIFT) == 0;
        } else rows += look_at_short(a, form, item, text);
        seen.items++;
    }
    CHECK(rows == a->rows, "%s: %d rows are dealt out", text, (int)rows);
}

/* -- The device's ---------------------------------------------------------------------------------------- */

enum { POISON = 0x5a, MARGIN = 64 };

static void compare(const csr_packer *packer, const mc_packed *want, mc_address items, const char *text) {
    const mc_packed_array *right = mc_packed_find(want, "items");
    const size_t bytes = (size_t)right->count * sizeof(int32_t), words = (bytes + MARGIN) / sizeof(int32_t);
    int32_t *got = malloc(words * sizeof *got);
    size_t i = 0;
    (void)worked("read", mc_memory_read(context, items, got, bytes + MARGIN, diag));
    while (i < (size_t)right->count && got[i] == ((const int32_t *)right->data)[i]) i++;
    CHECK(i == (size_t)right->count, "%s: word %zu of item %zu of %zu is %08x, must be %08x", text, i % 4,
          i / 4, (size_t)right->count / 4, (unsigned)got[i],
          i < (size_t)right->count ? (unsigned)((const int32_t *)right->data)[i] : 0);
    for (i = bytes; i < bytes + MARGIN && ((const unsigned char *)got)[i] == POISON;) i++;
    CHECK(i == bytes + MARGIN, "%s: byte %zu behind the items was written", text, i - bytes);
    CHECK(packer->blocks > 0, "%s", text);
    free(got);
}

static mc_address poisoned(size_t bytes) {
    unsigned char *data = malloc(bytes);
    memset(data, POISON, bytes);
    mc_address address = device_put(data, bytes);
    free(data);
    return address;
}

/* The driver records the steps, and runs them twice: that of the simulator at once. */
static void put_in_graph(const csr_packer *packer, mc_address items) {
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
    (void)worked("sizes", csr_put_sizes(&work, packer, diag));
    (void)worked("items", csr_put_items(&work, packer, items, diag));
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

static void put_waiting(const csr_packer *packer, const mc_packed *want, mc_address items, const char *text) {
    device_work work;
    csr_sizes sizes;
    (void)worked("begin", work_begin_own(&work, context, diag));
    (void)worked("sizes", csr_put_sizes(&work, packer, diag));
    (void)worked("read", csr_read_sizes(&work, packer, &sizes, diag));
    const int64_t count = mc_packed_find(want, "items")->count / PANEL_ITEM_WORDS;
    CHECK(sizes.items == count && sizes.pieces == want->pieces,
          "%s: %d items and %d pieces, must be %d and %d", text, (int)sizes.items, (int)sizes.pieces,
          (int)count, (int)want->pieces);
    if (sizes.items == count) (void)worked("items", csr_put_items(&work, packer, items, diag));
    (void)worked("end", work_end(&work, MC_OK, diag));
}

static void deal(const mc_vsparse *a, const mc_csr_form *form, const mc_packed *want, mc_address offsets,
                 bool graph, const char *text) {
    const device_pattern pattern = {.vec = 1,
                                    .rows = a->rows,
                                    .cols = a->cols,
                                    .row_blocks = a->rows,
                                    .vectors = a->vectors,
                                    .row_ptr = a->row_ptr,
                                    .offsets = offsets};
    csr_packer packer;
    if (!worked("open", csr_packer_open(&pattern, form, a->type, &packer, diag)) || a->rows == 0) return;
    const mc_address scratch = poisoned(csr_packer_scratch(&packer, 0)),
                     items =
                         poisoned((size_t)mc_packed_find(want, "items")->count * sizeof(int32_t) + MARGIN);
    (void)csr_packer_scratch(&packer, scratch);
    if (graph) put_in_graph(&packer, items);
    else put_waiting(&packer, want, items, text);
    compare(&packer, want, items, text);
    mc_memory_destroy(context, items);
    mc_memory_destroy(context, scratch);
}

/* -- All of it ------------------------------------------------------------------------------------------- */

static void try_form(const mc_vsparse *a, const mc_csr_form *form, mc_address offsets, bool graph,
                     const char *name) {
    char text[200];
    mc_packed want = {0};
    snprintf(text, sizeof text, "%s: %d groups, %d warps, a share of %d%s", name, form->groups, form->warps,
             form->share, form->segmented ? ", segmented" : "");
    if (!worked("items", csr_add_items(a, form, &want, diag))) return;
    look_at_items(a, form, &want, text);
    deal(a, form, &want, offsets, false, text);
    if (graph) deal(a, form, &want, offsets, true, text);
    mc_packed_free(&want);
}

/* Of all forms each STEP-th, from the one on where the last pattern ended; of those a part, where one is asked
   for. */
static void try_pattern(const mc_vsparse *a, int step, bool graph, const char *name) {
    static int turn;
    int32_t *numbers = malloc((size_t)(a->rows + 1) * sizeof *numbers);
    for (int64_t row = 0; row <= a->rows; row++) numbers[row] = (int32_t)a->row_ptr[row];
    const mc_address offsets = device_put(numbers, (size_t)(a->rows + 1) * sizeof *numbers);
    free(numbers);
    for (int warps = 1; warps <= 8; warps *= 2)
        for (int share = 1; share <= 8; share++)
            for (int groups = 0; groups <= 32; groups = groups == 0 ? 1 : 2 * groups) {
                const mc_csr_form form = {.lanes = 1,
                                          .groups = groups == 0 ? 1 : groups,
                                          .warps = warps,
                                          .share = share,
                                          .segmented = groups == 0};
                if (turn % step == 0 && check_takes(turn / step)) try_form(a, &form, offsets, graph, name);
                turn++;
            }
    const mc_csr_form most = {.lanes = 1, .groups = 32, .warps = 8, .share = INT32_MAX / CSR_STRIDE};
    try_form(a, &most, offsets, graph, name);
    mc_memory_destroy(context, offsets);
}

/* -- Where memory ends: after each allocation in turn ---------------------------------------------------- */

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

static bool has_some(int64_t row, int64_t col) { return row == 3 || (row + 2 * col) % 40 == 0; }

/* Packs whole matrices: with one allocation less than it takes, and so on, what was taken is given back. */
static void test_memory(const char *device) {
    static const char *const fields = "op=spmm staging=csr lhs=f32 rhs=f32 out=f32 vec=1 tile_n=64 share=2";
    static const device_shape shape = {"memory", 300, 500, has_some};
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
    (void)worked("kernel", mc_kernel_from_fields(fields, &kernel, diag));
    if (!worked("context", mc_context_create(&config, &context, diag))) return;
    memory.from = context, memory.left = MANY;
    mc_vsparse host = device_make_host(MC_F32, 1, &shape);
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

/* -- What is refused, and what is made on the host ------------------------------------------------------- */

static void test_refused(void) {
    static const int64_t row_ptr[] = {0, 0};
    const mc_csr_form right = {.lanes = 1, .groups = 4, .warps = 4, .share = 8};
    mc_csr_form form = right;
    device_pattern pattern = {.vec = 1, .rows = 1, .cols = 1, .row_blocks = 1, .row_ptr = row_ptr};
    csr_packer packer;
    form.warps = 3;
    CHECK(csr_packer_open(&pattern, &form, MC_F32, &packer, diag) == MC_USAGE, "3 warps");
    mc_diag_clear(diag);
    CHECK(csr_packer_open(&pattern, &right, MC_S8, &packer, diag) == MC_CANNOT, "integers");
    mc_diag_clear(diag);
    pattern.rows = pattern.row_blocks = ((int64_t)1 << 30) + 1;
    CHECK(csr_packer_open(&pattern, &right, MC_F32, &packer, diag) == MC_CANNOT, "too many rows");
    CHECK_TEXT(mc_diag_text(diag), "1073741825 rows are dealt out on the host");
    mc_diag_clear(diag);
    form = right, form.share = 0;
    CHECK(csr_packer_open(&pattern, &form, MC_F32, &packer, diag) == MC_OK && packer.blocks == 0, "no list");
}

/* The library asks for its helpers by all fields, in their order: so the cache keeps them. */
static void check_fields(void) {
    int steps = 0;
    for (const loaded_kernel *k = context->kernels; k != NULL; k = k->next) {
        if (strncmp(k->fields, "op=pack_", 8) != 0) continue;
        CHECK(strcmp(k->fields, mc_kernel_fields(k->kernel)) == 0, "%s", k->fields);
        steps++;
    }
    CHECK(steps == 5, "%d", steps);
}

int main(int argc, char **argv) {
    enum { FEW = 1, FEWER = 7 };
    const char *device = argc > 1 ? argv[1] : "sim";
    const bool graphs = strncmp(device, "cuda", 4) == 0;
    const mc_context_config config = {
        .size = sizeof config, .device = device, .cache = MC_CACHE_MEMORY, .records = ""};
    context_visit visit;
    if (graphs && mc_device_cuda_count() == 0) return printf("SKIPPED: no GPU\n"), 77;
    diag = mc_diag_create();
    if (worked("mc_context_create", mc_context_create(&config, &context, diag)) &&
        worked("enter", context_enter(context, &visit, diag))) {
        for (size_t i = 0; i < SPARSE_CASES; i++) {
            mc_vsparse a = offsets_of_case(i);
            try_pattern(&a, FEW, graphs, "a case");
            free(a.row_ptr);
        }
        for (size_t i = 0; i < PATTERNS; i++) {
            mc_vsparse a = offsets_of(patterns[i].rows, patterns[i].length);
            try_pattern(&a, patterns[i].heavy ? FEWER : FEW, graphs, patterns[i].name);
            free(a.row_ptr);
        }
        check_fields();
        context_leave(context, &visit);
        test_refused();
        test_memory(device);
        CHECK(
            seen.pieces > 0 && seen.parts > 0 && seen.lone > 0 && seen.borders > 0,
            "%ld items: %ld of several thread blocks, %ld of several warps, %ld of one, %ld that end with a "
            "block",
            seen.items, seen.pieces, seen.parts, seen.lone, seen.borders);
    }
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return device_end(check_end());
}
