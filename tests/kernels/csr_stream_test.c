/* The SpMM whose warps take the nonzeros of neighbouring rows side by side: sums are those of the reference in
 * its order, to the bit, whatever the matrix is like: rows a thousand times as long as others, empty ones, a
 * single column. Every nonzero lies in one slot, where the item says, and new values come there.
 * csr_stream_test SPEC TYPES [DEVICE [ARCH]]; TYPES as "f32,f16", of both sides. */
#include "sparse_output.h"
#include "formats/csr_stream.h"
#include "parts/csr_lanes.h"
#include "parts/panels.h"
#include "verify/run.h"
#include <string.h>

typedef struct session {
    const char *spec, *arch; /* arch: NULL, the spec's */
    mc_device *device;
    mc_diag *diag;
    long kernels, sums, pieces;
} session;

static mc_csr_stream form_of(const mc_kernel *kernel) {
    return (mc_csr_stream){.warps = (int)mc_kernel_field(kernel, "warps"),
                           .share = (int)mc_kernel_field(kernel, "share"),
                           .columns = (csr_columns)mc_kernel_field(kernel, "columns")};
}

/* -- Items --------------------------------------------------------------------------------------------- */

/* A lane loads so many strides' slots at once of an array whose elements have BYTES: 16 bytes with columns of
   16 bits, else 4 slots, or what divides `share`. */
static int64_t vector_of(const mc_csr_stream *form, int64_t bytes) {
    int64_t vector = form->columns == CSR_COLUMNS_U16 ? 16 / bytes : 4;
    while (form->share % vector != 0) vector /= 2;
    return vector;
}

/* The slots of a lane that loads VECTOR of them at once: stride by stride. */
static int64_t slot_of(int64_t vector, int64_t nonzero) {
    const int64_t stride = nonzero / 32;
    return stride / vector * vector * 32 + nonzero % 32 * vector + stride % vector;
}

/* The column of the array's element AT, less LEAST where columns have 16 bits. */
static int64_t column_at(const mc_packed *packed, int64_t at) {
    const mc_packed_array *columns = mc_packed_find(packed, "col_idx");
    return columns->type == MC_U16 ? ((const uint16_t *)columns->data)[at]
                                   : ((const int32_t *)columns->data)[at];
}

/* From which columns FIRST to END are counted. */
static int64_t least_of(const mc_vsparse *a, const mc_csr_stream *form, int64_t first, int64_t end) {
    int64_t least = end > first ? a->col_idx[first] : 0;
    for (int64_t i = first; i < end; i++)
        if (a->col_idx[i] < least) least = a->col_idx[i];
    return form->columns == CSR_COLUMNS_U16 ? least : 0;
}

typedef struct item_words {
    int64_t row, rows, most_lanes, least;
} item_words;

static item_words words_of(const mc_packed *packed, const mc_csr_stream *form, int64_t i) {
    const int32_t *item = (const int32_t *)mc_packed_find(packed, "items")->data + i * PANEL_ITEM_WORDS;
    if (form->columns == CSR_COLUMNS_U16) return (item_words){item[0], item[1] & 255, item[1] >> 8, item[2]};
    return (item_words){item[0], item[1], item[2], 0};
}

/* Of a thread block with sorted columns: words ascend from slot to slot, stride by stride and warp by warp, so
   that no two are the same. */
static void check_sorted(const mc_packed *packed, const mc_csr_stream *form, int64_t block) {
    const int64_t slots = form->share * 32, count = slots * form->warps, vector = vector_of(form, 4);
    int64_t before = -1, wrong = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = block * count + i / slots * slots + slot_of(vector, i % slots),
                      word = (uint32_t)column_at(packed, at);
        wrong += word <= before;
        before = word;
    }
    CHECK(wrong == 0, "thread block %d: %d words do not ascend", (int)block, (int)wrong);
}

/* Nonzeros FIRST to END have places in the thread block of their item, and with the slots of these their columns
   and values. */
static void check_places(const mc_vsparse *a, const mc_packed *packed, const mc_csr_stream *form,
                         int64_t item, int64_t first, int64_t end) {
    const int64_t slots = form->share * 32, count = slots * form->warps, block = item / form->warps * count,
                  bytes = (int64_t)mc_type_bytes(a->type);
    const char *values = mc_packed_find(packed, "values")->data;
    static const char zeros[4];
    int64_t found = 0, wrong = 0, bits = 0;
    while (1 << bits < count) bits++;
    for (int64_t slot = block; slot < block + count; slot++) {
        const uint32_t word = (uint32_t)column_at(packed, slot);
        const int64_t place = word % (1u << bits), i = first + place % slots;
        if (place / slots != item % form->warps) continue;
        found++;
        if (i < end) wrong += word >> bits != (uint32_t)a->col_idx[i];
        wrong += memcmp(values + slot * bytes, i < end ? (const char *)a->values + i * bytes : zeros,
                        (size_t)bytes) != 0;
    }
    CHECK(found == slots && wrong == 0, "item %d: %d places, %d are wrong", (int)item, (int)found,
          (int)wrong);
}

/* Nonzeros FIRST to END fill the item's slots, and nothing else does. */
static void check_slots(const session *s, const mc_vsparse *a, const mc_packed *packed,
                        const mc_csr_stream *form, int64_t item, int64_t first, int64_t end) {
    if (form->columns == CSR_COLUMNS_SORTED) {
        check_places(a, packed, form, item, first, end);
        if (item % form->warps == 0) check_sorted(packed, form, item / form->warps);
        return;
    }
    const int64_t slots = form->share * 32, bytes = (int64_t)mc_type_bytes(a->type);
    const int64_t of_columns = vector_of(form, form->columns == CSR_COLUMNS_U16 ? 2 : 4),
                  of_values = vector_of(form, bytes), least = words_of(packed, form, item).least;
    const char *values = (const char *)mc_packed_find(packed, "values")->data + item * slots * bytes;
    static const char zeros[4];
    int wrong = least != least_of(a, form, first, end);
    for (int64_t i = 0; i < slots; i++) {
        const int64_t last = end > first ? a->col_idx[end - 1] : 0;
        const bool is = first + i < end;
        const char *value = is ? (const char *)a->values + (first + i) * bytes : zeros;
        wrong += column_at(packed, item * slots + slot_of(of_columns, i)) !=
                 (is ? a->col_idx[first + i] : last) - least;
        wrong += memcmp(values + slot_of(of_values, i) * bytes, value, (size_t)bytes) != 0;
    }
    CHECK(wrong == 0, "item %d: %d slots are wrong", (int)item, wrong);
    (void)s;
}

/* Rows of so many nonzeros have neighbouring lanes, each of equal parts but for one product. Returns the
   most products of a lane. */
static int64_t check_parts(const uint16_t *parts, const int64_t *length, int64_t rows, int64_t widest) {
    int lane = 0, most_lanes = 1;
    int64_t end = 0, most = 0;
    for (int64_t row = 0; row < rows; row++) {
        const int lanes = lane < 32 ? (parts[lane] >> 11) + 1 : 0;
        CHECK(lane + lanes <= 32 && lanes > 0, "row %d has lanes %d and on", (int)row, lane);
        if (lane + lanes > 32 || lanes == 0) return most;
        for (int l = 0; l < lanes; l++, lane++) {
            const int64_t begin = lane == 0 ? 0 : parts[lane - 1] & 2047, to = parts[lane] & 2047;
            CHECK(parts[lane] >> 11 == lanes - 1 - l, "lane %d of row %d", l, (int)row);
            CHECK(to == end + length[row] * (l + 1) / lanes && begin <= to, "lane %d ends at %d", lane,
                  (int)to);
            if (to - begin > most) most = to - begin;
        }
        if (lanes > most_lanes) most_lanes = lanes;
        end += length[row];
    }
    for (; lane < 32; lane++) CHECK(parts[lane] == end, "lane %d has something", lane);
    CHECK(widest == most_lanes, "a row has %d lanes, not %d", most_lanes, (int)widest);
    return most;
}

/* Returns whether the item, of number I, finishes the row; NEXT is where the row goes on. */
static bool check_long(session *s, const mc_vsparse *a, const mc_packed *packed, const mc_csr_stream *form,
                       int64_t i, int64_t *next) {
    const int32_t *item = (const int32_t *)mc_packed_find(packed, "items")->data + i * PANEL_ITEM_WORDS;
    const uint16_t *parts = (const uint16_t *)mc_packed_find(packed, "parts")->data + i * 32;
    const item_words words = words_of(packed, form, i);
    const int64_t begin = a->row_ptr[item[0]], end = a->row_ptr[item[0] + 1], slots = form->share * 32;
    const unsigned part = item_bits(item, 0, PANEL_PART_BITS),
                   parts_of = item_bits(item, PANEL_PARTS_SHIFT, PANEL_PARTS_BITS) + 1,
                   piece = item_bits(item, PANEL_PIECE_SHIFT, PANEL_PIECE_BITS),
                   pieces = item_bits(item, PANEL_PIECES_SHIFT, PANEL_PIECE_BITS) + 1;
    const bool ends = part == parts_of - 1 && piece == pieces - 1;
    const int64_t first = part == 0 && piece == 0 ? begin : *next, count = parts[31] & 2047;
    CHECK(end - begin > slots && words.rows == 1, "row %d is not long", item[0]);
    CHECK(part == 0 && piece == 0 ? true : item[-4] == item[0],
          "part %u of piece %u of row %d lies elsewhere", part, piece, item[0]);
    CHECK(i % form->warps % parts_of == part, "part %u of row %d is another warp's", part, item[0]);
    check_slots(s, a, packed, form, i, first, first + count);
    check_parts(parts, &count, 1, words.most_lanes);
    CHECK(words.most_lanes == 32, "%d lanes have a long row", (int)words.most_lanes);
    CHECK(!ends || first + count == end, "row %d is not whole", item[0]);
    s->pieces += pieces > 1;
    *next = first + count;
    return ends;
}

/* The lanes of rows FIRST to END, if no lane has more than MOST products. */
static int64_t lanes_with(const mc_vsparse *a, int64_t first, int64_t end, int64_t most) {
    int64_t lanes = 0;
    for (int64_t row = first; row < end; row++) {
        const int64_t length = a->row_ptr[row + 1] - a->row_ptr[row];
        lanes += length > most ? (length + most - 1) / most : 1;
    }
    return lanes;
}

static bool may_join(const mc_vsparse *a, const mc_csr_stream *form, int64_t first, int64_t end) {
    return a->row_ptr[end] - a->row_ptr[first] <= form->share * 32 &&
           lanes_with(a, first, end, 2 * form->share) <= 32;
}

/* As many rows as may be. */
static void check_rows(const session *s, const mc_vsparse *a, const mc_packed *packed,
                       const mc_csr_stream *form, int64_t i) {
    const item_words words = words_of(packed, form, i);
    const uint16_t *parts = (const uint16_t *)mc_packed_find(packed, "parts")->data + i * 32;
    const int64_t first = words.row, end = first + words.rows;
    int64_t length[32];
    CHECK(words.rows >= 0 && words.rows <= 32 && end <= a->rows, "%d rows from %d on", (int)words.rows,
          (int)first);
    if (words.rows < 0 || words.rows > 32 || end > a->rows) return;
    for (int64_t row = first; row < end; row++) length[row - first] = a->row_ptr[row + 1] - a->row_ptr[row];
    check_slots(s, a, packed, form, i, a->row_ptr[first], a->row_ptr[end]);
    const int64_t most = check_parts(parts, length, end - first, words.most_lanes);
    if (end == first) return;
    CHECK(may_join(a, form, first, end), "rows %d to %d are no item", (int)first, (int)end);
    CHECK(end == a->rows || !may_join(a, form, first, end + 1), "rows %d to %d: the next one would fit",
          (int)first, (int)end);
    CHECK(most < 2 || lanes_with(a, first, end, most - 1) > 32, "a lane has %d products", (int)most);
}

/* New values come where those of before were; and slots say where values lie. */
static void check_values(session *s, const mc_kernel *kernel, mc_vsparse *a, const mc_packed *packed) {
    packed_slots slots = {0};
    mc_packed again;
    mc_vsparse back = *a;
    const size_t bytes = (size_t)mc_type_size(a->type, a->vectors);
    void *own = a->values;
    back.values = calloc(bytes + 1, 1), a->values = calloc(bytes + 1, 1);
    CHECK(mc_pack(kernel, a, &again, s->diag) == MC_OK, "%s", mc_diag_text(s->diag));
    a->values = (free(a->values), own);
    CHECK(mc_pack_values(kernel, a, &again, s->diag) == MC_OK, "%s", mc_diag_text(s->diag));
    for (size_t i = 0; i < packed->array_count && i < again.array_count; i++)
        CHECK(packed->arrays[i].count == again.arrays[i].count &&
                  memcmp(packed->arrays[i].data, again.arrays[i].data,
                         (size_t)mc_type_size(packed->arrays[i].type, packed->arrays[i].count)) == 0,
              "%s differs with new values", packed->arrays[i].name);
    CHECK(mc_pack_slots(kernel, a, &slots, s->diag) == MC_OK, "%s", mc_diag_text(s->diag));
    packed_slots_take(&slots, mc_packed_find(packed, "values")->data, &back);
    CHECK(memcmp(back.values, a->values, bytes) == 0, "slots say that values lie elsewhere");
    packed_slots_free(&slots);
    mc_packed_free(&again);
    free(back.values);
}

static void check_packing(session *s, const mc_kernel *kernel, mc_vsparse *a) {
    const mc_csr_stream form = form_of(kernel);
    mc_packed packed;
    CHECK(mc_pack(kernel, a, &packed, s->diag) == MC_OK, "%s", mc_diag_text(s->diag));
    const mc_packed_array *items = mc_packed_find(&packed, "items");
    const int64_t count = items != NULL ? items->count / PANEL_ITEM_WORDS : 0;
    int *taken = calloc((size_t)a->rows, sizeof *taken);
    int64_t next = 0;
    CHECK(count > 0 && count % form.warps == 0, "%d items", (int)count);
    for (int64_t i = 0; i < count; i++) {
        const int32_t *item = (const int32_t *)items->data + i * PANEL_ITEM_WORDS;
        if (i % form.warps == 0) check_knowing(item, form.warps);
        if (item[3] < 0) {
            taken[item[0]] += check_long(s, a, &packed, &form, i, &next);
            continue;
        }
        check_rows(s, a, &packed, &form, i);
        const item_words words = words_of(&packed, &form, i);
        for (int64_t row = words.row; row < words.row + words.rows; row++) taken[row]++;
    }
    for (int64_t row = 0; row < a->rows; row++)
        CHECK(taken[row] == 1, "row %d is dealt out %d times", (int)row, taken[row]);
    free(taken);
    check_values(s, kernel, a, &packed);
    mc_packed_free(&packed);
}

/* -- Sums ---------------------------------------------------------------------------------------------- */

/* In the kernel's order. */
static mc_status make_want(const mc_csr_stream *form, const mc_vsparse *a, const mc_dense *b,
                           const sparse_output *output, mc_dense *want, mc_diag *diag) {
    mc_dense sums = {0};
    mc_status status = mc_reference_spmm_stream_ordered(a, b, form, &sums, diag);
    if (status == MC_OK) status = finish_sums(output, &sums, want, diag);
    mc_dense_free(&sums);
    return status;
}

static void check_sums(session *s, const mc_kernel *kernel, const mc_vsparse *a, const mc_dense *b) {
    const mc_csr_stream form = form_of(kernel);
    sparse_output output;
    mc_dense got = {0}, want = {0};
    int64_t wrong = 0;
    mc_status status = make_output(kernel, a->rows, b->cols, &output, s->diag);
    const mc_run run = run_of(a, b, &output, 2);
    if (status == MC_OK) status = mc_operator_run(s->device, kernel, NULL, &run, NULL, &got, s->diag);
    if (status == MC_OK) status = make_want(&form, a, b, &output, &want, s->diag);
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
    static const int64_t sizes[][2] = {{1, 1}, {3, 5}, {2, 2}, {1, 8}};
    mc_type type = MC_F32;
    CHECK(mc_type_of(kernel, "lhs", &type, s->diag) == MC_OK, "no type");
    const mc_type types[2] = {type, type};
    for (size_t i = 0; i < SPARSE_CASES; i++) {
        const int64_t *size = sizes[(i + turn) % (sizeof sizes / sizeof *sizes)];
        mc_vsparse a;
        mc_dense b;
        make_operands(s->diag, i, types, size[0], size[1], &a, &b);
        check_packing(s, kernel, &a);
        check_sums(s, kernel, &a, &b);
        mc_vsparse_free(&a);
        mc_dense_free(&b);
    }
    s->kernels++;
}

/* -- Kernels ------------------------------------------------------------------------------------------- */

static void check_types(session *s, const char *type) {
    static const struct {
        const char *ahead, *warps, *share, *overlap, *columns;
    } forms[] = {
        {"4", "4", "8", "off", "s32"},     {"8", "8", "1", "on", "s32"},     {"1", "1", "2", "off", "s32"},
        {"2", "2", "4", "wait", "s32"},    {"8", "4", "8", "off", "s32"},    {"8", "2", "16", "on", "s32"},
        {"2", "8", "2", "off", "s32"},     {"4", "1", "16", "off", "s32"},   {"8", "4", "8", "off", "u16"},
        {"8", "2", "1", "on", "u16"},      {"8", "1", "4", "off", "u16"},    {"8", "8", "2", "wait", "u16"},
        {"8", "2", "16", "off", "u16"},    {"8", "4", "8", "off", "sorted"}, {"4", "2", "16", "on", "sorted"},
        {"2", "8", "4", "wait", "sorted"}, {"8", "8", "16", "off", "sorted"}};
    const check_share part = check_part();
    for (size_t i = (size_t)part.first; i < sizeof forms / sizeof *forms; i += (size_t)part.step) {
        spec_settings settings = {.all = {{"lhs", type},
                                          {"rhs", type},
                                          {"tile_n", "1"},
                                          {"lanes", "1"},
                                          {"stream", "true"},
                                          {"ahead", forms[i].ahead},
                                          {"warps", forms[i].warps},
                                          {"share", forms[i].share},
                                          {"overlap", forms[i].overlap},
                                          {"columns", forms[i].columns}},
                                  .count = 10};
        mc_spec *spec = NULL;
        mc_kernel *kernel = NULL;
        set_epilogue(&settings, i / 3, true);
        if (strcmp(forms[i].overlap, "off") != 0) set(&settings, "arch", "sm_90");
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

/* A row that thread blocks do not share enough of is refused; so are a matrix without columns, whose x has no
   element to be read, and forms that are none. */
static void check_refusals(session *s) {
    const mc_csr_stream forms[] = {{3, 1, 0}, {16, 1, 0}, {4, 0, 0}, {4, 64, 0}, {0, 1, 0}};
    int64_t row_ptr[] = {0, 2048 * 32 + 1};
    mc_vsparse a = {MC_F32, 1, 1, INT32_MAX, 1, row_ptr[1], row_ptr, NULL, NULL, {0}};
    mc_packed packed;
    CHECK(mc_csr_stream_pack(&a, &(mc_csr_stream){1, 1, 0}, &packed, s->diag) == MC_CANNOT &&
              strstr(mc_diag_text(s->diag), "at most 65536 in a row") != NULL,
          "%s", mc_diag_text(s->diag));
    mc_diag_clear(s->diag);
    row_ptr[1] = 0, a.cols = a.vectors = 0;
    CHECK(mc_csr_stream_pack(&a, &(mc_csr_stream){.warps = 4, .share = 8}, &packed, s->diag) == MC_CANNOT &&
              strstr(mc_diag_text(s->diag), "without columns") != NULL,
          "%s", mc_diag_text(s->diag));
    mc_diag_clear(s->diag);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        CHECK(mc_csr_stream_pack(&a, &forms[i], &packed, s->diag) == MC_USAGE, "form %d", (int)i);
    mc_diag_clear(s->diag);
}

/* Columns 65535 apart have 16 bits, those that are one more apart do not. What is far apart in a matrix may
   be near in each item. */
static void check_spans(session *s) {
    const mc_csr_stream form = {1, 1, CSR_COLUMNS_U16};
    int64_t row_ptr[34] = {0};
    int32_t columns[34] = {7, 3, 65538};
    float values[34] = {1, 2, 3};
    mc_vsparse a = {MC_F32, 1, 33, 70000000, 33, 3, row_ptr, columns, values, {0}};
    mc_packed packed;
    for (int row = 0; row < 33; row++) row_ptr[row + 1] = row < 2 ? row + 1 : 3;
    CHECK(mc_csr_stream_pack(&a, &form, &packed, s->diag) == MC_OK, "%s", mc_diag_text(s->diag));
    CHECK(column_at(&packed, 1) == 0 && column_at(&packed, 2) == 65535, "columns of an item");
    mc_packed_free(&packed);
    columns[2] = 65539;
    CHECK(mc_csr_stream_pack(&a, &form, &packed, s->diag) == MC_CANNOT &&
              strstr(mc_diag_text(s->diag), "rows 0 to 31 have columns 3 and 65539") != NULL,
          "%s", mc_diag_text(s->diag));
    mc_diag_clear(s->diag);
    for (int row = 2; row < 33; row++) row_ptr[row] = 2;
    columns[2] = 69999999;
    CHECK(mc_csr_stream_pack(&a, &form, &packed, s->diag) == MC_OK, "%s", mc_diag_text(s->diag));
    CHECK(column_at(&packed, 32) == 0, "the least column is the item's own");
    mc_packed_free(&packed);
}

/* A word has room for so many columns beside a place; and one more is refused. */
static void check_room(session *s) {
    const mc_csr_stream form = {4, 8, CSR_COLUMNS_SORTED};
    int64_t row_ptr[2] = {0, 1};
    int32_t column = (1 << 22) - 1;
    float value = 3;
    mc_vsparse a = {MC_F32, 1, 1, 1 << 22, 1, 1, row_ptr, &column, &value, {0}};
    mc_packed packed;
    CHECK(mc_csr_stream_pack(&a, &form, &packed, s->diag) == MC_OK, "%s", mc_diag_text(s->diag));
    CHECK((uint32_t)column_at(&packed, 0) == (uint32_t)column << 10, "the greatest column");
    mc_packed_free(&packed);
    a.cols++;
    CHECK(mc_csr_stream_pack(&a, &form, &packed, s->diag) == MC_CANNOT &&
              strstr(mc_diag_text(s->diag), "room for 4194304 columns, this matrix has 4194305") != NULL,
          "%s", mc_diag_text(s->diag));
    mc_diag_clear(s->diag);
}

/* -- Estimates ----------------------------------------------------------------------------------------- */

static double estimate(session *s, const char *columns, mc_problem problem) {
    const mc_setting settings[] = {{"tile_n", "1"}, {"lanes", "1"}, {"stream", "true"},  {"ahead", "8"},
                                   {"warps", "8"},  {"share", "8"}, {"columns", columns}};
    mc_spec *spec = NULL;
    mc_kernel *kernel = NULL;
    double us = -1;
    mc_status status = mc_spec_read(s->spec, settings, sizeof settings / sizeof *settings, &spec, s->diag);
    if (status == MC_OK) status = mc_kernel_outline(spec, 0, &kernel, s->diag);
    CHECK(status == MC_OK, "%s", mc_diag_text(s->diag));
    if (status == MC_OK) us = mc_kernel_estimate(kernel, mc_gpu_find(NULL, 90), &problem);
    mc_kernel_destroy(kernel);
    mc_spec_destroy(spec);
    mc_diag_clear(s->diag);
    return us;
}

/* Fewer bytes are faster; what packing may refuse is not chosen. */
static void check_estimates(session *s) {
    mc_problem problem = {.m = 200000, .n = 1, .k = 65537, .ldb = 1, .vectors = 1400000, .longest = 7};
    CHECK(isinf(estimate(s, "u16", problem)), "spans that nobody counted");
    problem.span = 65537;
    CHECK(isinf(estimate(s, "u16", problem)), "a span of 65537");
    problem.span = 65536;
    CHECK(estimate(s, "u16", problem) < estimate(s, "s32", problem), "a span of 65536");
    problem.span = 0, problem.k = 65536;
    CHECK(estimate(s, "u16", problem) < estimate(s, "s32", problem), "65536 columns");
    problem.k = 30000;
    CHECK(estimate(s, "sorted", problem) < estimate(s, "s32", problem), "columns at random");
    problem.k = 1 << 21;
    CHECK(isfinite(estimate(s, "sorted", problem)), "2^21 columns");
    problem.k++;
    CHECK(isinf(estimate(s, "sorted", problem)), "one more");
}

int main(int argc, char **argv) {
    session s = {.diag = mc_diag_create()};
    if (argc < 3 || mc_device_open(argc > 3 ? argv[3] : "sim", &s.device, s.diag) != MC_OK) return 2;
    s.spec = argv[1], s.arch = argc > 4 ? argv[4] : NULL;
    check_refusals(&s);
    check_spans(&s);
    check_room(&s);
    check_estimates(&s);
    for (char *type = strtok(argv[2], ","); type != NULL; type = strtok(NULL, ",")) check_types(&s, type);
    CHECK(s.kernels == 0 || s.pieces > 0, "no row had pieces");
    printf("%ld kernels, %ld sums\n", s.kernels, s.sums);
    mc_device_close(s.device);
    mc_diag_destroy(s.diag);
    return check_end();
}
