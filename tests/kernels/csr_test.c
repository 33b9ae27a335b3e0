/* The SpMM without tensor cores: sums are those of the reference in its order, to the bit, whatever the matrix
 * is like: rows a thousand times as long as others, empty ones, a single column. And every row is dealt out
 * once.
 * csr_test SPEC TYPES [DEVICE [ARCH]]; TYPES as "f32,f16", of both sides. */
#include "sparse_output.h"
#include "formats/csr.h"
#include "parts/csr_lanes.h"
#include "parts/panels.h"
#include "ptxsim.h"
#include "verify/run.h"
#include <string.h>

typedef struct session {
    const char *spec, *arch; /* arch: NULL, the spec's */
    mc_device *device;
    mc_diag *diag;
    long kernels, sums, pieces, by_blocks; /* by_blocks: long rows that are in no list */
} session;

static mc_csr_form form_of(const mc_kernel *kernel, mc_type type) {
    const int lanes = (int)mc_kernel_field(kernel, "lanes"), warps = (int)mc_kernel_field(kernel, "warps");
    const bool segmented = mc_kernel_field(kernel, "segmented") != 0;
    const csr_lanes of =
        csr_lanes_of((int)mc_kernel_field(kernel, "tile_n"), lanes, (int)mc_type_bytes(type));
    return (mc_csr_form){lanes,     segmented ? 1 : of.groups,
                         warps,     (int)mc_kernel_field(kernel, "share"),
                         segmented, mc_kernel_field(kernel, "deal") == 0};
}

/* -- Items --------------------------------------------------------------------------------------------- */

/* Returns whether the item, of number I, finishes the row. */
static bool check_long(session *s, const mc_vsparse *a, const mc_csr_form *form, const int32_t *item,
                       int64_t i) {
    const int64_t first = a->row_ptr[item[0]], end = a->row_ptr[item[0] + 1];
    const unsigned part = item_bits(item, 0, PANEL_PART_BITS),
                   parts = item_bits(item, PANEL_PARTS_SHIFT, PANEL_PARTS_BITS) + 1,
                   piece = item_bits(item, PANEL_PIECE_SHIFT, PANEL_PIECE_BITS),
                   pieces = item_bits(item, PANEL_PIECES_SHIFT, PANEL_PIECE_BITS) + 1;
    const bool begins = part == 0 && piece == 0, ends = part == parts - 1 && piece == pieces - 1;
    CHECK(csr_is_long(form, a, item[0]), "row %d is not long", item[0]);
    CHECK(begins ? item[1] == first : item[-4] == item[0] && item[-2] == item[1],
          "part %u of piece %u of row %d does not follow the one before", part, piece, item[0]);
    CHECK(!ends || item[2] == end, "row %d is not whole", item[0]);
    CHECK(i % form->warps % parts == part, "part %u of row %d lies elsewhere", part, item[0]);
    CHECK(pieces > 1 || item[2] - item[1] <= form->share * form->groups * CSR_STRIDE,
          "%d nonzeros are a warp's", item[2] - item[1]);
    s->pieces += pieces > 1;
    return ends;
}

/* Rows that a warp walks through: as many as may be. Returns the row behind the last. */
static int64_t check_segments(const mc_vsparse *a, const mc_csr_form *form, const int32_t *item) {
    const int64_t first = item[0], end = first + (item[1] & 255), most = form->share * 32;
    if (end == first) return end;
    CHECK(end <= a->rows && end <= first + 32, "rows %d to %d are no item", (int)first, (int)end);
    if (end > a->rows) return first;
    const int64_t nonzeros = a->row_ptr[end] - a->row_ptr[first];
    CHECK(nonzeros <= most && item[1] >> 8 == nonzeros && item[2] == a->row_ptr[first],
          "row %d: %d nonzeros from %d on", (int)first, item[1] >> 8, item[2]);
    CHECK(end == a->rows || end == first + 32 || end % CSR_DEAL_ROWS == 0 ||
              a->row_ptr[end + 1] - a->row_ptr[first] > most,
          "rows %d to %d: the next one would fit", (int)first, (int)end);
    return end;
}

static void check_items(session *s, const mc_vsparse *a, const mc_csr_form *form) {
    mc_packed packed;
    CHECK(mc_csr_pack(a, form, &packed, s->diag) == MC_OK, "%s", mc_diag_text(s->diag));
    const mc_packed_array *items = mc_packed_find(&packed, "items");
    const int64_t count = items != NULL ? items->count / PANEL_ITEM_WORDS : 0;
    int *taken = calloc((size_t)a->rows, sizeof *taken);
    CHECK((items != NULL) == !form->by_blocks && count % form->warps == 0, "%d items", (int)count);
    for (int64_t i = 0; i < count; i++) {
        const int32_t *item = (const int32_t *)items->data + i * PANEL_ITEM_WORDS;
        if (i % form->warps == 0) check_knowing(item, form->warps);
        if (item[3] < 0) {
            taken[item[0]] += check_long(s, a, form, item, i);
            continue;
        }
        const int64_t end = form->segmented ? check_segments(a, form, item) : item[1];
        CHECK(form->segmented || end - item[0] <= form->groups, "rows %d to %d", item[0], (int)end);
        CHECK(end == item[0] || item[0] / CSR_DEAL_ROWS == (end - 1) / CSR_DEAL_ROWS,
              "rows %d to %d are of two blocks", item[0], (int)end);
        for (int64_t row = item[0]; row < end; row++) taken[row]++;
    }
    for (int64_t row = 0; count > 0 && row < a->rows; row++)
        CHECK(taken[row] == 1, "row %d is dealt out %d times", (int)row, taken[row]);
    free(taken);
    mc_packed_free(&packed);
}

/* Rows that no list says are long: they are so beside others alone, or where there is enough for all. */
static void count_by_blocks(session *s, const mc_vsparse *a, const mc_csr_form *form) {
    const int64_t rows = form->warps * form->groups, share = form->share * 32;
    for (int64_t row = 0; form->by_blocks && row < a->rows; row++) {
        int64_t together = 0;
        const int64_t length = a->row_ptr[row + 1] - a->row_ptr[row];
        for (int64_t i = row - row % rows; i < row - row % rows + rows && i < a->rows; i++)
            together += a->row_ptr[i + 1] - a->row_ptr[i];
        const bool is_long = length > share && (length * rows > 2 * together || length > 32 * share);
        if (rows > 1) CHECK(csr_is_long(form, a, row) == is_long, "row %d of %d", (int)row, (int)length);
        s->by_blocks += is_long;
    }
}

/* -- Sums ---------------------------------------------------------------------------------------------- */

/* In the kernel's order. */
static mc_status make_want(const mc_csr_form *form, const mc_vsparse *a, const mc_dense *b,
                           const sparse_output *output, mc_dense *want, mc_diag *diag) {
    mc_dense sums = {0};
    mc_status status = mc_reference_spmm_csr_ordered(a, b, form, &sums, diag);
    if (status == MC_OK) status = finish_sums(output, &sums, want, diag);
    mc_dense_free(&sums);
    return status;
}

/* -- Accesses ------------------------------------------------------------------------------------------ */

/* Bytes of an access by one lane, of the instruction at TEXT. */
static int64_t access_bytes(const char *text) {
    static const struct {
        const char *name;
        int factor;
    } parts[] = {{".v2", 2}, {".v4", 4}, {".b8", 1}, {".u16", 2}, {".b16", 2}, {".b32", 4}, {".b64", 8}};
    const size_t length = strcspn(text, "\n");
    int64_t bytes = 1;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (memmem(text, length, parts[i].name, strlen(parts[i].name)) != NULL) bytes *= parts[i].factor;
    return bytes;
}

static bool has_any(const char *line, const char *const *words) {
    while (*words != NULL && memmem(line, strcspn(line, "\n"), *words, strlen(*words)) == NULL) words++;
    return *words != NULL;
}

/* Bytes that lanes move in the last launch's instructions that have one of WORDS in their lines. */
static int64_t moved(const ptxsim *sim, const char *ptx, const char *const *words) {
    const char *line = ptx;
    int64_t bytes = 0;
    int number = 1;
    for (size_t i = 0; i < ptxsim_line_count(sim); i++) {
        const ptxsim_line *l = ptxsim_line_at(sim, i);
        for (; number < l->line; number++) line = strchr(line, '\n') + 1;
        if (has_any(line, words)) bytes += (int64_t)l->thread_instructions * access_bytes(line);
    }
    return bytes;
}

/* Nothing is done twice: each nonzero's row of B is loaded once, by the one who has it, and C is stored once. */
static void check_accesses(session *s, const mc_kernel *kernel, const mc_vsparse *a, const mc_dense *b,
                           const mc_dense *c) {
    static const char *const rows[] = {"[%row_at", "[%element_at", "[%edge_row_at", "[%edge_element_at",
                                       NULL},
                             *const stores[] = {"st.global", NULL};
    const ptxsim *sim = mc_device_ptxsim(s->device);
    const int64_t tile_n = mc_kernel_field(kernel, "tile_n"), tiles = (b->cols + tile_n - 1) / tile_n;
    if (sim == NULL) return;
    const int64_t loaded = moved(sim, mc_kernel_ptx(kernel), rows),
                  stored = moved(sim, mc_kernel_ptx(kernel), stores);
    CHECK(loaded == a->vectors * tiles * tile_n * (int64_t)mc_type_bytes(b->type),
          "%s: %d bytes of B are loaded", mc_kernel_contract(kernel)->entry, (int)loaded);
    CHECK(stored == a->rows * b->cols * (int64_t)mc_type_bytes(c->type), "%s: %d bytes of C are stored",
          mc_kernel_contract(kernel)->entry, (int)stored);
}

static void check_sums(session *s, const mc_kernel *kernel, const mc_csr_form *form, const mc_vsparse *a,
                       const mc_dense *b) {
    sparse_output output;
    mc_dense got = {0}, want = {0};
    int64_t wrong = 0;
    mc_status status = make_output(kernel, a->rows, b->cols, &output, s->diag);
    const mc_run run = run_of(a, b, &output, 2);
    if (status == MC_OK) status = mc_operator_run(s->device, kernel, NULL, &run, NULL, &got, s->diag);
    if (status == MC_OK && form->by_blocks) check_accesses(s, kernel, a, b, &got);
    if (status == MC_OK) status = make_want(form, a, b, &output, &want, s->diag);
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

static void check_kernel(session *s, const mc_kernel *kernel, size_t turn) {
    static const int64_t sizes[][2] = {{64, 64}, {1, 1}, {33, 40},   {8, 8},
                                       {72, 72}, {7, 9}, {129, 136}, {4, 4}};
    mc_type type = MC_F32;
    CHECK(mc_type_of(kernel, "lhs", &type, s->diag) == MC_OK, "no type");
    const mc_csr_form form = form_of(kernel, type);
    const mc_type types[2] = {type, type};
    for (size_t i = 0; i < SPARSE_CASES; i++) {
        const int64_t *size = sizes[(i + turn) % (sizeof sizes / sizeof *sizes)];
        mc_vsparse a;
        mc_dense b;
        make_operands(s->diag, i, types, size[0], size[1], &a, &b);
        check_items(s, &a, &form);
        count_by_blocks(s, &a, &form);
        check_sums(s, kernel, &form, &a, &b);
        mc_vsparse_free(&a);
        mc_dense_free(&b);
    }
    s->kernels++;
}

/* -- Kernels ------------------------------------------------------------------------------------------- */

static void check_types(session *s, const char *type) {
    enum { LIST, BLOCKS, SEGMENTS };
    static const struct {
        const char *tile_n, *lanes, *ahead, *warps, *share;
        int kind;
    } forms[] = {{"32", "1", "4", "4", "2", LIST},      {"1", "32", "2", "8", "1", LIST},
                 {"1", "4", "4", "4", "1", LIST},       {"128", "1", "2", "2", "1", LIST},
                 {"64", "4", "2", "8", "2", LIST},      {"8", "2", "4", "1", "1", LIST},
                 {"2", "8", "4", "2", "1", LIST},       {"32", "2", "1", "4", "2", BLOCKS},
                 {"4", "32", "1", "4", "1", LIST},      {"256", "2", "1", "1", "1", LIST},
                 {"16", "16", "2", "4", "4", LIST},     {"1", "1", "8", "8", "1", BLOCKS},
                 {"128", "1", "4", "4", "2", SEGMENTS}, {"32", "1", "8", "4", "1", SEGMENTS},
                 {"64", "1", "2", "8", "4", SEGMENTS},  {"256", "1", "2", "2", "1", SEGMENTS},
                 {"128", "1", "1", "1", "8", SEGMENTS}, {"32", "1", "4", "1", "1", SEGMENTS},
                 {"32", "1", "4", "4", "1", BLOCKS},    {"1", "8", "4", "4", "2", BLOCKS},
                 {"128", "1", "2", "2", "1", BLOCKS},   {"256", "2", "1", "8", "1", BLOCKS},
                 {"8", "2", "4", "1", "1", BLOCKS},     {"256", "1", "1", "1", "1", BLOCKS},
                 {"2", "32", "2", "8", "1", BLOCKS}};
    const check_share part = check_part();
    for (size_t i = (size_t)part.first; i < sizeof forms / sizeof *forms; i += (size_t)part.step) {
        spec_settings settings = {.all = {{"lhs", type},
                                          {"rhs", type},
                                          {"tile_n", forms[i].tile_n},
                                          {"lanes", forms[i].lanes},
                                          {"ahead", forms[i].ahead},
                                          {"warps", forms[i].warps},
                                          {"share", forms[i].share},
                                          {"deal", forms[i].kind != BLOCKS ? "true" : "false"},
                                          {"segmented", forms[i].kind == SEGMENTS ? "true" : "false"}},
                                  .count = 9};
        mc_spec *spec = NULL;
        mc_kernel *kernel = NULL;
        set_epilogue(&settings, i / 3, true);
        if (s->arch != NULL) set(&settings, "arch", s->arch);
        mc_status status = mc_spec_read(s->spec, settings.all, settings.count, &spec, s->diag);
        if (status == MC_OK) status = mc_kernel_generate(spec, 0, &kernel, s->diag);
        CHECK(status == MC_OK, "%s, form %d: %s", type, (int)i, mc_diag_text(s->diag));
        if (status == MC_OK) check_kernel(s, kernel, i);
        mc_kernel_destroy(kernel);
        mc_spec_destroy(spec);
        mc_diag_clear(s->diag);
    }
}

int main(int argc, char **argv) {
    session s = {.diag = mc_diag_create()};
    if (argc < 3 || mc_device_open(argc > 3 ? argv[3] : "sim", &s.device, s.diag) != MC_OK) return 2;
    s.spec = argv[1], s.arch = argc > 4 ? argv[4] : NULL;
    for (char *type = strtok(argv[2], ","); type != NULL; type = strtok(NULL, ",")) check_types(&s, type);
    CHECK(check_part().step > 1 || s.pieces > 0, "no row had pieces");
    CHECK(check_part().step > 1 || s.by_blocks > 0, "no row was its thread block's");
    printf("%ld kernels, %ld sums\n", s.kernels, s.sums);
    mc_device_close(s.device);
    mc_diag_destroy(s.diag);
    return check_end();
}
