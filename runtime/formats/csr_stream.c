/* csr-stream: what SpMM kernels read that have a warp take the nonzeros of neighbouring rows side by side. */
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "formats/csr_stream.h"
#include "formats/format.h"
#include "formats/long_rows.h"

extern const packed_format format_csr_stream;

enum { MOST_WARPS = 8 };

/* -- Who takes what ----------------------------------------------------------------------------------- */

static int64_t length_of(const mc_vsparse *a, int64_t row) { return a->row_ptr[row + 1] - a->row_ptr[row]; }

panel_sharing csr_stream_share(const mc_csr_stream *form, int64_t length) {
    const int64_t slots = csr_stream_slots(form), block = slots * form->warps;
    if (length > block) return (panel_sharing){(length + block - 1) / block, form->warps};
    panel_sharing s = {1, 1};
    while (s.parts * slots < length) s.parts *= 2;
    return s;
}

static bool is_long(const mc_csr_stream *form, int64_t length) { return length > csr_stream_slots(form); }

/* No lane has more than twice `share` products, so that a warp does not wait long for one. */
int64_t csr_stream_end(const mc_csr_stream *form, const mc_vsparse *a, int64_t first) {
    int64_t row = first, total = 0, lanes = 0;
    for (; row < a->rows; row++) {
        total += length_of(a, row);
        lanes += csr_stream_lanes(length_of(a, row), 2 * form->share);
        if (total > csr_stream_slots(form) || lanes > CSR_WARP) break;
    }
    return row;
}

int64_t csr_stream_most(const mc_vsparse *a, int64_t first, int64_t end) {
    int64_t most = (a->row_ptr[end] - a->row_ptr[first] + CSR_WARP - 1) / CSR_WARP;
    for (;; most++) {
        int64_t lanes = 0;
        for (int64_t row = first; row < end && lanes <= CSR_WARP; row++)
            lanes += csr_stream_lanes(length_of(a, row), most);
        if (lanes <= CSR_WARP) return most;
    }
}

typedef struct column_range {
    int64_t row, rows;
    int32_t least, most; /* columns; 0 where there is none */
} column_range;

typedef struct dealing {
    const mc_csr_stream *form;
    const mc_vsparse *a;
    int32_t *items;     /* NULL: they are counted alone, and nothing is written */
    uint16_t *parts;    /* [items][32] */
    int32_t *source;    /* [items][slots]: the nonzero of each slot; -1: none. NULL: it is not wanted */
    int64_t count;      /* of items, so far */
    long_rows shared;   /* rows that several warps have */
    column_range apart; /* of the first item whose columns are too far apart; no such: of no rows */
} dealing;

static int value_vector(const dealing *d) {
    return csr_stream_vector(d->form->columns, d->form->share, (int)mc_type_bytes(d->a->type));
}
static int column_vector(const dealing *d) {
    return csr_stream_vector(d->form->columns, d->form->share, csr_column_bytes(d->form->columns));
}

/* Of nonzeros FROM to TO of ROWS rows. Columns ascend in a row. */
static column_range range_of(const dealing *d, int64_t row, int64_t rows, int64_t from, int64_t to) {
    column_range range = {row, rows, 0, 0};
    const int32_t *columns = d->a->col_idx;
    bool any = false;
    for (int64_t r = row; r < row + rows; r++) {
        const int64_t first = d->a->row_ptr[r] > from ? d->a->row_ptr[r] : from,
                      end = d->a->row_ptr[r + 1] < to ? d->a->row_ptr[r + 1] : to;
        if (first >= end) continue;
        if (!any || columns[first] < range.least) range.least = columns[first];
        if (!any || columns[end - 1] > range.most) range.most = columns[end - 1];
        any = true;
    }
    return range;
}

/* A row's LENGTH products follow the BEFORE ones of the rows in front of it. */
static void put_parts(uint16_t *parts, int64_t before, int64_t length, int lanes) {
    for (int lane = 0; lane < lanes; lane++)
        parts[lane] = (uint16_t)(before + csr_stream_cut(length, lane + 1, lanes) +
                                 ((lanes - 1 - lane) << CSR_BEHIND_SHIFT));
}

static void put_slots(const dealing *d, int64_t from, int64_t to) {
    const int64_t slots = csr_stream_slots(d->form);
    int32_t *source = d->source + d->count * slots;
    for (int64_t i = 0; i < slots; i++)
        source[csr_stream_slot((int)i, value_vector(d))] = from + i < to ? (int32_t)(from + i) : -1;
}

/* The item's words, of columns of 32 bits, and what others want. */
static void put_words(dealing *d, const int32_t words[PANEL_ITEM_WORDS], int64_t from, int64_t to) {
    int32_t *item = d->items != NULL ? d->items + d->count * PANEL_ITEM_WORDS : NULL;
    if (item != NULL) memcpy(item, words, PANEL_ITEM_WORDS * sizeof *item);
    if (d->form->columns != CSR_COLUMNS_U16) return;
    const column_range range = range_of(d, words[0], words[1], from, to);
    if (d->apart.rows == 0 && range.most - range.least > csr_column_span(d->form->columns)) d->apart = range;
    if (item != NULL) item[1] |= item[2] << CSR_LANES_SHIFT, item[2] = range.least;
}

/* Nonzeros FROM to TO of ROWS rows, of which one lane has at most MOST, where no long row has all lanes. */
static void put_item(dealing *d, int64_t row, int64_t rows, int64_t from, int64_t to, int64_t most,
                     unsigned sharing) {
    int used = 0, widest = 1;
    int64_t before = 0;
    if (d->source != NULL) put_slots(d, from, to);
    for (int64_t i = 0; d->items != NULL && used < CSR_WARP; i++) {
        /* a long row's part has all lanes; those that are left have no products */
        const int64_t length = sharing & CSR_LONG ? to - from : i < rows ? length_of(d->a, row + i) : 0;
        const int lanes = sharing & CSR_LONG ? CSR_WARP : csr_stream_lanes(length, most);
        put_parts(d->parts + d->count * CSR_WARP + used, before, length, lanes);
        if (lanes > widest) widest = lanes;
        before += length, used += lanes;
    }
    put_words(d, (int32_t[]){(int32_t)row, (int32_t)rows, widest, (int32_t)sharing}, from, to);
    d->count++;
}

static void put_long_row(dealing *d, const long_row *of) {
    const panel_sharing s = of->sharing;
    const int64_t first = d->a->row_ptr[of->row], length = length_of(d->a, of->row);
    row_cutter cutter = row_cutter_of(s, length);
    for (int64_t piece = 0; piece < s.pieces; piece++)
        for (int part = 0; part < s.parts; part++) {
            const int64_t from = first + cutter.at, to = first + row_cutter_next(&cutter);
            put_item(d, of->row, 1, from, to, length, long_row_sharing(s, piece, part));
        }
}

static void put_other_rows(dealing *d) {
    const mc_vsparse *a = d->a;
    for (int64_t first = 0, end; first < a->rows; first = end) {
        end = first + 1;
        if (is_long(d->form, length_of(a, first))) continue;
        end = csr_stream_end(d->form, a, first);
        put_item(d, first, end - first, a->row_ptr[first], a->row_ptr[end], csr_stream_most(a, first, end),
                 0);
    }
}

static void deal(dealing *d) {
    d->count = 0;
    for (int64_t i = 0; i < d->shared.count; i++) put_long_row(d, &d->shared.rows[i]);
    put_other_rows(d);
    while (d->count % d->form->warps != 0) put_item(d, 0, 0, 0, 0, 1, 0);
    if (d->items != NULL) panels_mark_sharing(d->items, d->count, d->form->warps);
}

/* -- Checks ------------------------------------------------------------------------------------------- */

mc_status csr_stream_check_form(const mc_csr_stream *form, mc_diag *diag) {
    const bool is_power = form->warps >= 1 && (form->warps & (form->warps - 1)) == 0;
    if (is_power && form->warps <= MOST_WARPS && form->share >= 1 && form->share <= CSR_STREAM_SHARE)
        return MC_OK;
    return mc_fail(diag, MC_USAGE,
                   "csr-stream of %d warps and a share of %d: must be 1, 2, 4 or 8, and 1 to %d", form->warps,
                   form->share, CSR_STREAM_SHARE);
}

static mc_status check_rows(const mc_vsparse *a, const mc_csr_stream *form, mc_diag *diag) {
    for (int64_t row = 0; row < a->rows; row++)
        if (csr_stream_share(form, length_of(a, row)).pieces > PANEL_MOST_PIECES)
            return mc_fail(diag, MC_CANNOT,
                           "row %lld has %lld nonzeros: csr-stream of %d warps and a share of %d has at most "
                           "%lld in a row",
                           (long long)row, (long long)length_of(a, row), form->warps, form->share,
                           (long long)(csr_stream_slots(form) * form->warps * PANEL_MOST_PIECES));
    return MC_OK;
}

static mc_status check(const mc_vsparse *a, const mc_csr_stream *form, mc_diag *diag) {
    mc_status status = csr_stream_check_form(form, diag);
    if (status != MC_OK) return status;
    if (a->vec != 1)
        return mc_fail(diag, MC_CANNOT, "csr-stream is of matrices without vectors, this one has vec = %d",
                       a->vec);
    if (!mc_type_is_real(a->type))
        return mc_fail(diag, MC_CANNOT, "csr-stream is packed of floats, this matrix holds %s",
                       mc_type_text(a->type));
    if (a->rows > 0 && a->cols == 0)
        return mc_fail(diag, MC_CANNOT,
                       "a matrix without columns: kernels of csr-stream read an element of x for each slot");
    if (a->rows > INT32_MAX)
        return mc_fail(diag, MC_CANNOT, "2^31 rows or more, which csr-stream counts in s32");
    if (a->vectors > INT32_MAX)
        return mc_fail(diag, MC_CANNOT, "2^31 nonzeros or more, which csr-stream counts in s32");
    if (form->columns == CSR_COLUMNS_SORTED && a->cols > csr_sorted_columns(form->warps, form->share))
        return mc_fail(diag, MC_CANNOT,
                       "csr-stream with sorted columns of %d warps and a share of %d has room for %lld "
                       "columns, this matrix has %lld",
                       form->warps, form->share, csr_sorted_columns(form->warps, form->share),
                       (long long)a->cols);
    return check_rows(a, form, diag);
}

static panel_sharing share_of(const void *form, int64_t length) { return csr_stream_share(form, length); }

/* Counts items, and checks A. The caller ends what it began, whether or not it could. */
static mc_status begin(dealing *d, mc_diag *diag) {
    mc_status status = check(d->a, d->form, diag);
    if (status == MC_OK)
        status = long_rows_find(d->a, csr_stream_slots(d->form), d->form->warps, share_of, d->form,
                                &d->shared, diag);
    if (status != MC_OK) return status;
    deal(d);
    const column_range *apart = &d->apart;
    if (apart->rows > 0)
        return mc_fail(
            diag, MC_CANNOT,
            "rows %lld to %lld have columns %d and %d: csr-stream with columns of 16 bits has at most "
            "%d from one to the other",
            (long long)apart->row, (long long)(apart->row + apart->rows - 1), apart->least, apart->most,
            csr_column_span(d->form->columns));
    if (d->count <= INT32_MAX / csr_stream_slots(d->form)) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "2^31 slots or more, which csr-stream counts in s32");
}

/* -- Packing ------------------------------------------------------------------------------------------ */

/* Sorts COUNT words by the bits from BIT to 31, those of equal bits as they come. OTHER has room for as
   many. */
static void sort_words(uint32_t *words, uint32_t *other, int64_t count, int bit) {
    enum { DIGIT = 8 };
    uint32_t *const to_keep = words;
    for (; bit < 32; bit += DIGIT) {
        int64_t begins[(1 << DIGIT) + 1] = {0};
        for (int64_t i = 0; i < count; i++) begins[(words[i] >> bit) % (1 << DIGIT) + 1]++;
        for (int v = 0; v < 1 << DIGIT; v++) begins[v + 1] += begins[v];
        for (int64_t i = 0; i < count; i++) other[begins[(words[i] >> bit) % (1 << DIGIT)]++] = words[i];
        uint32_t *sorted = other;
        other = words, words = sorted;
    }
    if (words != to_keep) memcpy(to_keep, words, (size_t)count * sizeof *words);
}

/* Of a thread block's slots, whose nonzeros are SOURCE, in their order: words, and nonzeros by places. */
static void read_block(const dealing *d, const int32_t *source, uint32_t *words, int32_t *ordered) {
    const int64_t slots = csr_stream_slots(d->form), count = slots * d->form->warps;
    const int bits = csr_place_bits(d->form->warps, d->form->share), vector = value_vector(d);
    uint32_t last = 0;
    for (int64_t place = 0; place < count; place++) {
        const int64_t item = place / slots;
        ordered[place] = source[item * slots + csr_stream_slot((int)(place % slots), vector)];
        const uint32_t column = ordered[place] >= 0 ? (uint32_t)d->a->col_idx[ordered[place]] : 0;
        if (column > last) last = column;
        words[place] = column << bits | (uint32_t)place;
    }
    for (int64_t place = 0; place < count; place++)
        if (ordered[place] < 0) words[place] = last << bits | (uint32_t)place;
}

/* Sorts the slots of each thread block, which then hold their words (COLUMNS; NULL: these are not wanted). */
static mc_status sort_slots(const dealing *d, uint32_t *columns, mc_diag *diag) {
    const int64_t slots = csr_stream_slots(d->form), count = slots * d->form->warps;
    const int bits = csr_place_bits(d->form->warps, d->form->share), vector = value_vector(d);
    uint32_t *words = mcrt_array(3 * count, sizeof *words);
    if (words == NULL) return mcrt_no_memory(diag, 3 * count, "words");
    int32_t *ordered = (int32_t *)words + 2 * count;
    for (int64_t first = 0; first < d->count * slots; first += count) {
        read_block(d, d->source + first, words, ordered);
        sort_words(words, words + count, count, bits);
        for (int64_t i = 0; i < count; i++) {
            const int64_t slot = first + i / slots * slots + csr_stream_slot((int)(i % slots), vector);
            d->source[slot] = ordered[words[i] & ((1u << bits) - 1)];
            if (columns != NULL) columns[slot] = words[i];
        }
    }
    free(words);
    return MC_OK;
}

/* A slot without a nonzero has the column of the last one of its item, for that row of B is read anyway. */
static void fill_columns(const dealing *d, void *columns) {
    const int64_t slots = csr_stream_slots(d->form);
    const int of_values = value_vector(d), of_columns = column_vector(d);
    for (int64_t item = 0; item < d->count; item++) {
        const bool halves = d->form->columns == CSR_COLUMNS_U16;
        const int32_t least = halves ? d->items[item * PANEL_ITEM_WORDS + 2] : 0;
        int32_t last = least;
        for (int i = 0; i < slots; i++) {
            const int32_t source = d->source[item * slots + csr_stream_slot(i, of_values)];
            const int64_t slot = item * slots + csr_stream_slot(i, of_columns);
            if (source >= 0) last = d->a->col_idx[source];
            if (halves) ((uint16_t *)columns)[slot] = (uint16_t)(last - least);
            else ((int32_t *)columns)[slot] = last;
        }
    }
}

/* What packed_add makes is zeros. */
static void fill_values(const dealing *d, char *values) {
    const size_t bytes = mc_type_bytes(d->a->type);
    const char *from = d->a->values;
    for (int64_t slot = 0; slot < d->count * csr_stream_slots(d->form) && from != NULL; slot++)
        if (d->source[slot] >= 0)
            memcpy(values + (size_t)slot * bytes, from + (size_t)d->source[slot] * bytes, bytes);
}

static mc_type column_type(const mc_csr_stream *form) {
    return form->columns == CSR_COLUMNS_U16 ? MC_U16 : MC_S32;
}

static mc_status add_arrays(dealing *d, mc_packed *packed, mc_diag *diag) {
    const int64_t slots = d->count * csr_stream_slots(d->form);
    mc_status status = packed_add(packed, "items", MC_S32, mcrt_product(d->count, PANEL_ITEM_WORDS), diag);
    if (status == MC_OK) status = packed_add(packed, "parts", MC_U16, d->count * CSR_WARP, diag);
    if (status == MC_OK) status = packed_add(packed, "col_idx", column_type(d->form), slots, diag);
    if (status == MC_OK) status = packed_add(packed, "values", d->a->type, slots, diag);
    if (status != MC_OK) return status;
    d->source = mcrt_array(slots, sizeof *d->source);
    if (d->source == NULL) return mcrt_no_memory(diag, slots, "slots");
    packed->pieces = d->shared.pieces;
    d->items = mc_packed_find(packed, "items")->data, d->parts = mc_packed_find(packed, "parts")->data;
    deal(d);
    if (d->form->columns == CSR_COLUMNS_SORTED)
        status = sort_slots(d, mc_packed_find(packed, "col_idx")->data, diag);
    else fill_columns(d, mc_packed_find(packed, "col_idx")->data);
    fill_values(d, mc_packed_find(packed, "values")->data);
    free(d->source);
    return status;
}

mc_status mc_csr_stream_pack(const mc_vsparse *a, const mc_csr_stream *form, mc_packed *packed,
                             mc_diag *diag) {
    dealing d = {.form = form, .a = a};
    *packed = (mc_packed){0};
    mc_status status = begin(&d, diag);
    if (status == MC_OK) status = add_arrays(&d, packed, diag);
    long_rows_free(&d.shared);
    if (status != MC_OK) mc_packed_free(packed);
    return status;
}

/* -- As a row ----------------------------------------------------------------------------------------- */

static mc_csr_stream form_of(const mc_kernel *kernel) {
    return (mc_csr_stream){.warps = (int)mc_kernel_field(kernel, "warps"),
                           .share = (int)mc_kernel_field(kernel, "share"),
                           .columns = (csr_columns)mc_kernel_field(kernel, "columns")};
}

static mc_status pack(const mc_kernel *kernel, const host_matrix *a, mc_packed *packed, mc_diag *diag) {
    const mc_csr_stream form = form_of(kernel);
    return mc_csr_stream_pack(a->vectors, &form, packed, diag);
}

static mc_status pack_values(const mc_kernel *kernel, const host_matrix *a, mc_packed *packed,
                             mc_diag *diag) {
    mc_packed made;
    mc_status status = pack(kernel, a, &made, diag);
    return status == MC_OK ? packed_take_values(packed, &made, diag) : status;
}

static mc_status slots_of(const mc_kernel *kernel, const host_matrix *a, packed_slots *slots, mc_diag *diag) {
    const mc_csr_stream form = form_of(kernel);
    dealing d = {.form = &form, .a = a->vectors};
    *slots = (packed_slots){0};
    mc_status status = begin(&d, diag);
    if (status == MC_OK)
        status =
            packed_slots_plain("values", a->vectors->type, 1, d.count * csr_stream_slots(&form), slots, diag);
    if (status == MC_OK) status = packed_slots_empty(slots, diag);
    if (status == MC_OK) {
        d.source = slots->vectors;
        deal(&d);
        if (form.columns == CSR_COLUMNS_SORTED) status = sort_slots(&d, NULL, diag);
    }
    long_rows_free(&d.shared);
    return status;
}

const packed_format format_csr_stream = {.name = "csr-stream",
                                         .doc = "nonzeros of neighbouring rows, side by side",
                                         .kind = MATRIX_VECTORS,
                                         .unit = MC_U8,
                                         .floats = true,
                                         .type = "lhs",
                                         .cols = "k",
                                         .form = "lhs warps share columns",
                                         .pack = pack,
                                         .pack_values = pack_values,
                                         .slots = slots_of};
