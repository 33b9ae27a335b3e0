/* The gather SpMM with panels: sums are those of the reference in its order, to the bit, of integers the exact
 * ones, whatever the matrix is like: rows a thousand times as long as others, empty ones, a single column, a
 * last panel that is not whole. And items are dealt out as gen/parts/panels.h says.
 * panels_test SPEC TYPES [DEVICE [ARCH [REORDER]]]; TYPES as "f16,s8:u8", of both sides or of A and B; ARCH may
 * be "". REORDER: the field of that name. */
#include "halves.h"
#include "sparse_output.h"
#include "formats/panels.h"
#include "parts/panels.h"
#include "verify/run.h"
#include <string.h>

enum { NAME = 16, TEXT = 12 };

typedef struct session {
    const char *spec, *arch; /* arch: NULL, the spec's */
    const char *reorder;
    mc_device *device;
    mc_diag *diag;
    long kernels, sums, pieces;
} session;

/* -- Items --------------------------------------------------------------------------------------------- */

/* Each stride of each panel is one warp's; parts and pieces of a panel follow each other, inside of thread
   blocks, and have no more strides than they should. */
static void check_items(session *s, const mc_vsparse *a, const mc_panels *form) {
    mc_packed packed;
    CHECK(mc_panels_pack(a, form, &packed, s->diag) == MC_OK, "%s", mc_diag_text(s->diag));
    const mc_packed_array *items = mc_packed_find(&packed, "items"),
                          *cols = mc_packed_find(&packed, "col_idx");
    const int64_t count = items->count / PANEL_ITEM_WORDS, panels = (a->rows + form->rows - 1) / form->rows;
    int64_t strides = 0, finished = 0;
    char *taken = calloc((size_t)cols->count / 32 + 1, 1);
    CHECK(count % form->warps == 0, "%d items", (int)count);
    for (int64_t i = 0; i < count; i++) {
        const int32_t *item = (const int32_t *)items->data + i * PANEL_ITEM_WORDS;
        unsigned part = item_bits(item, 0, PANEL_PART_BITS),
                 piece = item_bits(item, PANEL_PIECE_SHIFT, PANEL_PIECE_BITS),
                 parts = item_bits(item, PANEL_PARTS_SHIFT, PANEL_PARTS_BITS) + 1,
                 pieces = item_bits(item, PANEL_PIECES_SHIFT, PANEL_PIECE_BITS) + 1;
        const int32_t *before = i > 0 ? item - PANEL_ITEM_WORDS : NULL;
        CHECK((part == 0 && piece == 0) || (before && before[0] == item[0] && before[2] == item[1]),
              "item %d does not follow the one before", (int)i);
        CHECK(i % form->warps % parts == part, "item %d: part %u of %u", (int)i, part, parts);
        CHECK(pieces > 1 || item[2] - item[1] <= form->share, "item %d has %d strides", (int)i,
              item[2] - item[1]);
        for (int32_t at = item[1]; at < item[2]; at++, strides++) taken[at]++;
        if (item[0] < panels && part == parts - 1 && piece == pieces - 1) finished++;
        if (i % form->warps == 0) check_knowing(item, form->warps);
        s->pieces += pieces > 1;
    }
    CHECK(finished == panels && strides * 32 == cols->count, "%d panels, %d strides", (int)finished,
          (int)strides);
    for (int64_t i = 0; i < cols->count / 32; i++)
        CHECK(taken[i] == 1, "stride %d is taken %d times", (int)i, taken[i]);
    free(taken);
    mc_packed_free(&packed);
}

/* -- Sums ---------------------------------------------------------------------------------------------- */

static mc_panels form_of(const mc_kernel *kernel) {
    return (mc_panels){.rows = (int)mc_kernel_field(kernel, "panel"),
                       .warps = (int)mc_kernel_field(kernel, "warps"),
                       .share = (int)mc_kernel_field(kernel, "share"),
                       .nonzeros = mc_kernel_field(kernel, "values") != 0,
                       .order = (row_order)mc_kernel_field(kernel, "reorder")};
}

static bool has_panels(const mc_kernel *kernel) {
    return strcmp(mc_kernel_contract(kernel)->format, "panels") == 0;
}

/* In the kernel's order; of integers in any. */
static mc_status make_sums(const mc_kernel *kernel, const mc_vsparse *a, const mc_dense *b, mc_dense *sums,
                           mc_diag *diag) {
    const mc_panels form = form_of(kernel);
    const mc_gather_order single = {.stride = (int)mc_kernel_field(kernel, "stride"),
                                    .split = (int)mc_kernel_field(kernel, "split"),
                                    .heads = mc_kernel_field(kernel, "heads") != 0,
                                    .halves = kernel_makes_halves(kernel)};
    if (!mc_type_is_real(a->type) && !mc_type_is_real(b->type)) return mc_reference_spmm(a, b, sums, diag);
    if (!has_panels(kernel)) return mc_reference_spmm_ordered(a, b, &single, sums, diag);
    return mc_reference_spmm_panels_ordered(a, b, &form, kernel_makes_halves(kernel), sums, diag);
}

static mc_status make_want(const mc_kernel *kernel, const mc_vsparse *a, const mc_dense *b,
                           const sparse_output *output, mc_dense *want, mc_diag *diag) {
    mc_dense sums = {0};
    mc_status status = make_sums(kernel, a, b, &sums, diag);
    if (status == MC_OK) status = finish_sums(output, &sums, want, diag);
    mc_dense_free(&sums);
    return status;
}

static void check_sums(session *s, const mc_kernel *kernel, const mc_vsparse *a, const mc_dense *b) {
    sparse_output output;
    mc_dense got = {0}, want = {0};
    int64_t wrong = 0;
    mc_status status = make_output(kernel, a->rows, b->cols, &output, s->diag);
    const mc_run run = run_of(a, b, &output, 1);
    if (status == MC_OK) status = mc_operator_run(s->device, kernel, NULL, &run, NULL, &got, s->diag);
    if (status == MC_OK) status = make_want(kernel, a, b, &output, &want, s->diag);
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

static void check_kernel(session *s, const mc_kernel *kernel, int64_t turn) {
    static const int64_t sizes[][2] = {{64, 64}, {1, 1}, {33, 40}, {8, 8}, {72, 72}, {7, 9}, {129, 136}};
    mc_type types[2] = {MC_F16, MC_F16};
    const mc_panels form = form_of(kernel);
    CHECK(mc_type_of(kernel, "lhs", &types[0], s->diag) == MC_OK &&
              mc_type_of(kernel, "rhs", &types[1], s->diag) == MC_OK,
          "no types");
    for (size_t i = 0; i < SPARSE_CASES; i++) {
        const int64_t *size = sizes[(i + (size_t)turn) % (sizeof sizes / sizeof *sizes)];
        const int64_t even = mc_type_bytes(types[1]) == 0 ? size[1] + size[1] % 2 : size[1];
        mc_vsparse a;
        mc_dense b;
        make_operands(s->diag, i, types, size[0], even, &a, &b);
        if (has_panels(kernel)) check_items(s, &a, &form);
        check_sums(s, kernel, &a, &b);
        mc_vsparse_free(&a);
        mc_dense_free(&b);
    }
    s->kernels++;
}

/* -- Kernels ------------------------------------------------------------------------------------------- */

typedef struct type_names {
    char lhs[NAME], rhs[NAME], out[NAME];
} type_names;

static type_names names_of(const char *types) {
    type_names t;
    const int found = sscanf(types, "%15[^:,]:%15[^,]", t.lhs, t.rhs);
    if (found < 2) snprintf(t.rhs, sizeof t.rhs, "%s", t.lhs);
    snprintf(t.out, sizeof t.out, "%s", strchr("su", t.lhs[0]) && strchr("su", t.rhs[0]) ? "s32" : "f32");
    return t;
}

/* TURN: which sizes a matrix is multiplied by, and what becomes of the sums. */
static void check_settings(session *s, spec_settings *settings, size_t turn) {
    mc_spec *spec = NULL;
    mc_kernel *kernel = NULL;
    set_epilogue(settings, turn / 2, true);
    if (s->arch != NULL) set(settings, "arch", s->arch);
    mc_status status = mc_spec_read(s->spec, settings->all, settings->count, &spec, s->diag);
    if (status == MC_OK) status = mc_kernel_generate(spec, 0, &kernel, s->diag);
    CHECK(status == MC_OK, "%s: %s", settings->all[0].value, mc_diag_text(s->diag));
    if (status == MC_OK) check_kernel(s, kernel, (int64_t)turn);
    mc_kernel_destroy(kernel);
    mc_spec_destroy(spec);
}

/* Columns of a tile: 32 of tf32, 64 of B's of 4 and 8 bits, of others WIDE. */
static const char *tile_of(const type_names *t, const char *wide) {
    if (strcmp(t->rhs, "tf32") == 0) return "32";
    return strchr("48", t->rhs[1]) != NULL && wide[0] == '3' ? "64" : wide;
}

/* Each row by itself. */
static void check_single(session *s, const type_names *t, size_t turn) {
    static const char *const warps[] = {"4", "8", "1", "2"};
    const size_t i = turn % (sizeof warps / sizeof *warps);
    spec_settings settings = {.all = {{"lhs", t->lhs},
                                      {"rhs", t->rhs},
                                      {"out", t->out},
                                      {"panel", "1"},
                                      {"warps", warps[i]},
                                      {"tile_n", tile_of(t, i % 2 ? "32" : "64")}},
                              .count = 6};
    check_settings(s, &settings, turn);
}

static void check_types(session *s, const char *types) {
    static const struct {
        const char *panel, *warps, *share,
            *wide; /* wide: tiles of bytes that rows of B have, else 32 columns */
    } forms[] = {{"8", "4", "2", "64"},
                 {"16", "8", "1", "32"},
                 {"8", "1", "1", "32"},
                 {"16", "2", "4", "64"},
                 {"8", "8", "1", "64"}};
    const type_names t = names_of(types);
    const bool digits = strncmp(t.lhs + 1, "16", 3) == 0 && strchr("su", t.lhs[0]); /* several of them */
    const check_share part = check_part();
    for (size_t turn = (size_t)part.first; turn < 4 * sizeof forms / sizeof *forms;
         turn += (size_t)part.step) {
        const size_t i = turn / 4;
        if (turn % 5 == 0) check_single(s, &t, turn / 5);
        if (digits && turn % 2) continue;
        spec_settings settings = {.all = {{"lhs", t.lhs},
                                          {"rhs", t.rhs},
                                          {"out", t.out},
                                          {"panel", forms[i].panel},
                                          {"warps", forms[i].warps},
                                          {"share", forms[i].share},
                                          {"tile_n", tile_of(&t, forms[i].wide)},
                                          {"values", turn % 2 ? "nonzeros" : "slots"},
                                          {"staging", turn / 2 % 2 != 0 ? "shared" : "direct"}},
                                  .count = 9};
        set(&settings, "reorder", s->reorder);
        check_settings(s, &settings, turn);
    }
}

int main(int argc, char **argv) {
    session s = {.diag = mc_diag_create()};
    if (argc < 3 || mc_device_open(argc > 3 ? argv[3] : "sim", &s.device, s.diag) != MC_OK) return 2;
    s.spec = argv[1], s.arch = argc > 4 && argv[4][0] ? argv[4] : NULL;
    s.reorder = argc > 5 ? argv[5] : "none";
    for (char *types = strtok(argv[2], ","); types != NULL; types = strtok(NULL, ",")) check_types(&s, types);
    CHECK(s.kernels == 0 || s.pieces > 0, "no panel had pieces");
    printf("%ld kernels, %ld sums\n", s.kernels, s.sums);
    mc_device_close(s.device);
    mc_diag_destroy(s.diag);
    return check_end();
}
