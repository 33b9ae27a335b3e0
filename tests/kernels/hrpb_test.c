/* The kernel of staging "hrpb": sums are those of the reference in its order, to the bit, whatever the matrix is like:
 * empty rows and panels, a single column, a panel a hundred times as long as others, a last panel that is not whole, any n
 * and ldb.
 * hrpb_test SPEC [DEVICE [ARCH]] */
#include "sparse_output.h"
#include "parts/stream.h"
#include "verify/run.h"
#include <string.h>

typedef struct session {
    const char *spec, *arch; /* arch: NULL, the spec's */
    mc_device *device;
    mc_diag *diag;
    long kernels, sums, cut;
} session;

enum { CUT_MATRIX = 9 /* one with a panel that is cut where waves = 1 */ };

/* Infinities in rows of B. Of one that no column names nothing reaches C; of others it reaches all rows of bricks that have something
 * there, and no others. */
static void put_infinities(size_t index, const mc_vsparse *a, mc_dense *b) {
    const int64_t n = b->cols;
    bool named = false;
    for (int64_t i = 0; i < a->vectors; i++) named = named || a->col_idx[i] == 0;
    for (int64_t i = 0; i < n && !named; i++) mc_dense_set(b, 0, i, real_to_bits(MC_F32, INFINITY));
    for (int64_t i = 0; i < a->cols * n && index % 2 == 1; i += 97)
        mc_dense_set(b, i / n, i % n, real_to_bits(MC_F32, INFINITY));
}

/* Values have more bits than tf32. */
static void make_problem(session *s, size_t index, int64_t n, int64_t ldb, mc_vsparse *a, mc_dense *b) {
    static const mc_type types[2] = {MC_TF32, MC_TF32};
    make_operands(s->diag, index, types, n, ldb, a, b);
    put_infinities(index, a, b);
}

/* Each block is one thread block's, parts of a panel follow each other, and those that are cut come first. */
static void check_items(session *s, const mc_kernel *kernel, const mc_vsparse *a, const mc_hrpb *form) {
    mc_packed packed, published;
    CHECK(mc_pack(kernel, a, &packed, s->diag) == MC_OK &&
              mc_hrpb_export(a, form, &published, s->diag) == MC_OK,
          "%s", mc_diag_text(s->diag));
    const mc_packed_array *items = mc_packed_find(&packed, "items");
    const int32_t *start = mc_packed_find(&published, "blocked_row_ptr")->data;
    const int64_t panels = mc_packed_find(&published, "blocked_row_ptr")->count - 1;
    int64_t blocks = 0, finished = 0, cut = 0;
    for (int64_t i = 0; i < items->count / PANEL_ITEM_WORDS; i++) {
        const int32_t *item = (const int32_t *)items->data + i * PANEL_ITEM_WORDS;
        const unsigned part = (unsigned)item[3] >> PANEL_PIECE_SHIFT & (PANEL_MOST_PIECES - 1),
                       parts = ((unsigned)item[3] >> PANEL_PIECES_SHIFT & (PANEL_MOST_PIECES - 1)) + 1;
        CHECK(item[1] == (part == 0 ? start[item[0]] : item[-2]), "item %d begins at block %d", (int)i,
              item[1]);
        CHECK(part == 0 || item[-4] == item[0], "item %d is not behind its panel's others", (int)i);
        CHECK(part + 1 < parts || item[2] == start[item[0] + 1], "item %d ends at block %d", (int)i, item[2]);
        CHECK(parts == 1 || i == 0 || item[-1] != 0, "item %d is cut, the one before is not", (int)i);
        blocks += item[2] - item[1], finished += part + 1 == parts, cut += parts > 1;
    }
    CHECK(finished == panels && blocks == start[panels], "%d panels, %d blocks", (int)finished, (int)blocks);
    CHECK(packed.pieces == cut, "%d virtual panels of cut ones, packed as %d", (int)cut, (int)packed.pieces);
    s->cut += cut;
    mc_packed_free(&packed);
    mc_packed_free(&published);
}

/* In the kernel's order. */
static mc_status make_want(const mc_kernel *kernel, const mc_hrpb *form, const mc_vsparse *a,
                           const mc_dense *b, const sparse_output *output, mc_dense *want, mc_diag *diag) {
    mc_dense sums = {0};
    const double waves = (double)mc_kernel_field(kernel, "waves");
    mc_status status = mc_reference_spmm_hrpb_ordered(a, b, form, waves, &sums, diag);
    if (status == MC_OK) status = finish_sums(output, &sums, want, diag);
    mc_dense_free(&sums);
    return status;
}

static void check_sums(session *s, const mc_kernel *kernel, const mc_vsparse *a, const mc_dense *b,
                       const mc_hrpb *form) {
    sparse_output output;
    mc_dense got = {0}, want = {0};
    int64_t wrong = 0;
    mc_status status = make_output(kernel, a->rows, b->cols, &output, s->diag);
    const mc_run run = run_of(a, b, &output, 2);
    if (status == MC_OK) status = mc_operator_run(s->device, kernel, NULL, &run, NULL, &got, s->diag);
    if (status == MC_OK) status = make_want(kernel, form, a, b, &output, &want, s->diag);
    CHECK(status == MC_OK, "%s: %s", mc_kernel_contract(kernel)->entry, mc_diag_text(s->diag));
    for (int64_t i = 0; status == MC_OK && i < a->rows * b->cols; i++, s->sums++)
        wrong +=
            mc_dense_get(&got, i / b->cols, i % b->cols) != mc_dense_get(&want, i / b->cols, i % b->cols);
    CHECK(wrong == 0, "%s: %d x %d, n %d: %d sums differ", mc_kernel_contract(kernel)->entry, (int)a->rows,
          (int)a->cols, (int)b->cols, (int)wrong);
    free_output(&output);
    mc_dense_free(&got);
    mc_dense_free(&want);
    mc_diag_clear(s->diag);
}

/* -- Twice -------------------------------------------------------------------------------------------- */

enum { MOST_ARRAYS = 8 };

typedef struct runner {
    session *s;
    mc_binding bindings[24];
    size_t count, buffers;
    uint64_t buffer[MOST_ARRAYS];
} runner;

static void bind(runner *r, const char *name, int64_t value) {
    r->bindings[r->count++] = (mc_binding){name, value};
}

static uint64_t upload(runner *r, const char *name, const void *data, size_t bytes) {
    uint64_t address = 0;
    CHECK(mc_device_alloc(r->s->device, bytes + 1, &address, r->s->diag) == MC_OK &&
              mc_device_write(r->s->device, address, data, bytes, r->s->diag) == MC_OK,
          "%s: %s", name, mc_diag_text(r->s->diag));
    bind(r, name, (int64_t)address);
    return r->buffer[r->buffers++] = address;
}

static size_t bytes_of(const mc_dense *dense) {
    return (size_t)mc_type_size(dense->type, dense->rows * dense->ld);
}

/* Flags that a launch has left set: the next one would not wait for its own sums. */
static int64_t count_marks(session *s, uint64_t workspace, size_t bytes) {
    int64_t *words = calloc(bytes + 1, 1), marks = 0;
    CHECK(mc_device_read(s->device, workspace, words, bytes, s->diag) == MC_OK, "%s", mc_diag_text(s->diag));
    for (size_t i = 0; i < bytes / sizeof *words; i++) marks += words[i] == STREAM_MARK;
    free(words);
    return marks;
}

/* Launches that have one workspace, with another B each. */
static void check_twice(session *s, const mc_kernel *kernel) {
    const mc_hrpb form = {(int)mc_kernel_field(kernel, "panel_rows"),
                          (int)mc_kernel_field(kernel, "block_cols")};
    runner r = {.s = s};
    mc_vsparse a;
    mc_dense b, c, want;
    mc_packed packed;
    mc_launch launch;
    mc_module *module = NULL;
    make_problem(s, CUT_MATRIX, 40, 40, &a, &b);
    CHECK(mc_pack(kernel, &a, &packed, s->diag) == MC_OK &&
              mc_dense_create(MC_F32, a.rows, 40, 40, &c, s->diag) == MC_OK,
          "%s", mc_diag_text(s->diag));
    for (size_t i = 0; i < packed.array_count; i++)
        upload(&r, packed.arrays[i].name, packed.arrays[i].data,
               (size_t)mc_type_size(packed.arrays[i].type, packed.arrays[i].count));
    const size_t workspace = mc_workspace_bytes(kernel, &packed, 40, 0);
    void *zeros = calloc(workspace + 1, 1);
    const uint64_t workspace_at = upload(&r, MC_WORKSPACE, zeros, workspace);
    const uint64_t b_at = upload(&r, "b", b.data, bytes_of(&b)), c_at = upload(&r, "c", c.data, bytes_of(&c));
    bind(&r, "m", a.rows), bind(&r, "n", 40), bind(&r, "k", a.cols), bind(&r, "ldb", 40), bind(&r, "ldc", 40);
    bind(&r, "item_count", mc_sampled_items(&packed));
    mc_status status = mc_bind(kernel, r.bindings, r.count, &launch, s->diag);
    if (status == MC_OK)
        status = mc_module_load(s->device, mc_kernel_ptx(kernel), mc_kernel_contract(kernel)->entry, &module,
                                s->diag);
    for (int turn = 0; turn < 3 && status == MC_OK; turn++) {
        for (int64_t i = 0; i < b.rows * b.ld; i++)
            ((uint32_t *)b.data)[i] = real_to_bits(MC_F32, (float)(i * (turn + 1) % 37 - 18));
        status = mc_device_write(s->device, b_at, b.data, bytes_of(&b), s->diag);
        if (status == MC_OK) status = mc_module_launch(module, &launch, s->diag);
        if (status == MC_OK) status = mc_device_read(s->device, c_at, c.data, bytes_of(&c), s->diag);
        if (status == MC_OK)
            status = mc_reference_spmm_hrpb_ordered(&a, &b, &form, (double)mc_kernel_field(kernel, "waves"),
                                                    &want, s->diag);
        if (status != MC_OK) break;
        CHECK(memcmp(c.data, want.data, bytes_of(&c)) == 0, "%s: launch %d is another product",
              mc_kernel_contract(kernel)->entry, turn);
        mc_dense_free(&want);
    }
    CHECK(count_marks(s, workspace_at, workspace) == 0, "%s: flags are left",
          mc_kernel_contract(kernel)->entry);
    CHECK(workspace > 0 && status == MC_OK, "%s: %s", mc_kernel_contract(kernel)->entry,
          mc_diag_text(s->diag));
    mc_module_unload(module);
    for (size_t i = 0; i < r.buffers; i++) mc_device_free(s->device, r.buffer[i]);
    free(zeros);
    mc_packed_free(&packed);
    mc_vsparse_free(&a);
    mc_dense_free(&b);
    mc_dense_free(&c);
}

static void check_kernel(session *s, const mc_kernel *kernel, size_t turn) {
    static const int64_t sizes[][2] = {{64, 64}, {1, 1}, {33, 40},   {8, 8},
                                       {72, 76}, {7, 9}, {129, 136}, {130, 131}};
    const mc_hrpb form = {(int)mc_kernel_field(kernel, "panel_rows"),
                          (int)mc_kernel_field(kernel, "block_cols")};
    for (size_t i = 0; i < SPARSE_CASES; i++) {
        const int64_t *size = sizes[(i + turn) % (sizeof sizes / sizeof *sizes)];
        mc_vsparse a;
        mc_dense b;
        make_problem(s, i, size[0], size[1], &a, &b);
        check_items(s, kernel, &a, &form);
        check_sums(s, kernel, &a, &b, &form);
        mc_vsparse_free(&a);
        mc_dense_free(&b);
    }
    if (mc_kernel_field(kernel, "waves") == 1 && turn / 3 == 0) check_twice(s, kernel);
    s->kernels++;
}

int main(int argc, char **argv) {
    static const char *const forms[][5] = {
        /* tile_m, tile_k, tile_n, warps, waves */
        {"16", "16", "128", "4", "1"}, {"32", "16", "64", "2", "1"},     {"16", "8", "32", "1", "4"},
        {"32", "64", "32", "4", "1"},  {"16", "32", "64", "1", "2"},     {"32", "8", "128", "16", "1"},
        {"32", "32", "64", "1", "1"},  {"16", "16", "256", "8", "1024"}, {"16", "8", "32", "4", "1"}};
    session s = {.diag = mc_diag_create()};
    if (argc < 2 || mc_device_open(argc > 2 ? argv[2] : "sim", &s.device, s.diag) != MC_OK) return 2;
    s.spec = argv[1], s.arch = argc > 3 ? argv[3] : NULL;
    const check_share part = check_part();
    for (size_t i = (size_t)part.first; i < sizeof forms / sizeof *forms; i += (size_t)part.step) {
        spec_settings settings = {.all = {{"panel_rows", forms[i][0]},
                                          {"block_cols", forms[i][1]},
                                          {"tile_n", forms[i][2]},
                                          {"warps", forms[i][3]},
                                          {"waves", forms[i][4]}},
                                  .count = 5};
        mc_spec *spec = NULL;
        mc_kernel *kernel = NULL;
        set_epilogue(&settings, i / 3, false);
        if (s.arch != NULL) set(&settings, "arch", s.arch);
        mc_status status = mc_spec_read(s.spec, settings.all, settings.count, &spec, s.diag);
        if (status == MC_OK) status = mc_kernel_generate(spec, 0, &kernel, s.diag);
        CHECK(status == MC_OK, "%s", mc_diag_text(s.diag));
        if (status == MC_OK) check_kernel(&s, kernel, i);
        mc_kernel_destroy(kernel);
        mc_spec_destroy(spec);
    }
    CHECK(s.kernels == 0 || s.cut > 0, "no panel was cut");
    printf("%ld kernels, %ld sums, %ld virtual panels of cut ones\n", s.kernels, s.sums, s.cut);
    mc_device_close(s.device);
    mc_diag_destroy(s.diag);
    return check_end();
}
