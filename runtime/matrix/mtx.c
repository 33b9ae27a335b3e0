/* The MatrixMarket reader (Boisvert, Pozo, Remington, "The Matrix Market Exchange Formats", NISTIR 5935).
   Entries of the coordinate format may stand in any order; two counting sorts bring them into CSR. An array's
   elements stand column by column, and those that are not zero become such entries. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "matrix/csr.h"
#include "base/memory.h"
#include "base/text_input.h"

/* A pattern's memory grows with its rows, even the empty ones, so the size line's claim is held against the
   file's size: matrices of empty rows only are no matrices that anyone means. */
enum { FREE_ROWS = 1 << 20, ROWS_PER_BYTE = 16 };

/* Up to here a double holds every integer. */
static const double most_integer = 0x1p53;

typedef struct kind {
    const char *name;
    int values; /* numbers after the two indices */
    mc_csr_field field;
} kind;

static const kind formats[] = {{.name = "coordinate"}, {.name = "array"}};
static const kind fields[] = {{"pattern", 0, MC_CSR_PATTERN},
                              {"real", 1, MC_CSR_REAL},
                              {"integer", 1, MC_CSR_INTEGER},
                              {"unsigned-integer", 1, MC_CSR_INTEGER}, /* as SciPy writes it */
                              {"complex", 2, MC_CSR_COMPLEX}};

typedef enum mtx_symmetry { GENERAL, SYMMETRIC, SKEW_SYMMETRIC, HERMITIAN } mtx_symmetry;
static const kind symmetries[] = {[GENERAL] = {.name = "general"},
                                  {.name = "symmetric"},
                                  {.name = "skew-symmetric"},
                                  {.name = "hermitian"}};

typedef struct mtx_banner {
    bool array;
    int values;
    mc_csr_field field;
    mtx_symmetry symmetry;
} mtx_banner;

typedef struct entry {
    int32_t row, col;
    double value;
} entry;

typedef struct entry_list {
    int32_t *row, *col;
    double *value; /* NULL: none is kept */
    int64_t count;
} entry_list;

typedef struct reader {
    text_input in;
    mtx_banner banner;
    int64_t rows, cols, claimed; /* the size line; an array claims all elements that the file has to hold */
    entry_list entries;          /* mirrored ones included */
    int64_t above, below;        /* of a matrix with a symmetry: the first line with such an entry; 0: none */
} reader;

/* -- Banner and size line */

static bool skip_word(text_input *in, const char *word) {
    input_skip_blanks(in);
    size_t length = strlen(word);
    if (input_left(in) < length || strncasecmp(in->at, word, length) != 0) return false;
    if (input_left(in) > length && !strchr(" \t\r\n", in->at[length])) return false;
    in->at += length;
    return true;
}

static int find_word(text_input *in, const kind *table, int count) {
    for (int i = 0; i < count; i++)
        if (skip_word(in, table[i].name)) return i;
    return -1;
}

static mc_status check_banner(const text_input *in, const mtx_banner *banner) {
    if (banner->symmetry == SKEW_SYMMETRIC && banner->values == 0)
        return input_fail(in, MC_FORMAT, "a pattern cannot be skew-symmetric");
    if (banner->symmetry == HERMITIAN && banner->values != 2)
        return input_fail(in, MC_FORMAT, "only a complex matrix can be hermitian");
    if (banner->array && banner->values == 0)
        return input_fail(in, MC_FORMAT, "an array has values, it cannot be a pattern");
    if (banner->array && banner->values == 2)
        return input_fail(in, MC_CANNOT, "an array of complex values: kernels multiply real ones");
    return MC_OK;
}

static mc_status read_words(text_input *in, mtx_banner *banner) {
    int format = find_word(in, formats, sizeof formats / sizeof formats[0]);
    if (format < 0)
        return input_fail(in, MC_FORMAT, "%s is no format: coordinate or array", input_token(in).text);
    int field = find_word(in, fields, sizeof fields / sizeof fields[0]);
    if (field < 0)
        return input_fail(in, MC_FORMAT, "%s is no field: pattern, real, integer or complex",
                          input_token(in).text);
    int symmetry = find_word(in, symmetries, sizeof symmetries / sizeof symmetries[0]);
    if (symmetry < 0)
        return input_fail(in, MC_FORMAT, "%s is no symmetry: general, symmetric, skew-symmetric or hermitian",
                          input_token(in).text);
    *banner = (mtx_banner){format == 1, fields[field].values, fields[field].field, (mtx_symmetry)symmetry};
    return MC_OK;
}

static mc_status read_banner(text_input *in, mtx_banner *banner) {
    if (!skip_word(in, "%%MatrixMarket"))
        return input_fail(in, MC_FORMAT, "the file must begin with %%%%MatrixMarket");
    if (!skip_word(in, "matrix")) return input_fail(in, MC_FORMAT, "the banner must name a matrix");
    mc_status status = read_words(in, banner);
    if (status == MC_OK) status = check_banner(in, banner);
    return status == MC_OK ? input_end_line(in, "the banner") : status;
}

static void skip_comments(text_input *in) {
    for (input_skip_space(in); in->at < in->end && *in->at == '%'; input_skip_space(in)) input_skip_line(in);
}

/* An entry takes at least "1 1" and a line end, and a value " 1"; an element "0" and a line end. */
static mc_status check_claim(const reader *r) {
    const text_input *in = &r->in;
    int64_t bytes = (int64_t)input_left(in);
    int64_t room = (bytes + 1) / (r->banner.array ? 2 : 4 + 2 * r->banner.values);
    if (r->claimed < 0 || r->claimed > room)
        return input_fail(in, MC_FORMAT,
                          "the size line claims %" PRId64 " %s, the file has room for %" PRId64, r->claimed,
                          r->banner.array ? "elements" : "entries", room);
    int64_t most = bytes < INT32_MAX / ROWS_PER_BYTE ? FREE_ROWS + ROWS_PER_BYTE * bytes : INT32_MAX;
    if (r->rows > most || r->cols > most)
        return input_fail(in, MC_CANNOT,
                          "%" PRId64 " x %" PRId64 " elements with %" PRId64 " entries: nearly all rows or "
                          "columns would be empty",
                          r->rows, r->cols, r->claimed);
    return MC_OK;
}

/* Of elements that an array with a symmetry has, it holds those below the diagonal, and but for a
   skew-symmetric one those on it. Both factors are at most INT32_MAX, so that nothing overflows. */
static int64_t array_elements(const reader *r) {
    switch (r->banner.symmetry) {
    case GENERAL: return r->rows * r->cols;
    case SKEW_SYMMETRIC: return r->rows * (r->rows - 1) / 2;
    default: return r->rows * (r->rows + 1) / 2;
    }
}

static mc_status read_size(reader *r) {
    text_input *in = &r->in;
    skip_comments(in);
    mc_status status = input_integer(in, "the number of rows", 0, INT32_MAX, &r->rows);
    if (status == MC_OK) status = input_integer(in, "the number of columns", 0, INT32_MAX, &r->cols);
    if (status == MC_OK && r->banner.symmetry != GENERAL && r->rows != r->cols)
        status = input_fail(in, MC_FORMAT, "a %s matrix must be square, not %" PRId64 " x %" PRId64,
                            symmetries[r->banner.symmetry].name, r->rows, r->cols);
    if (status == MC_OK && r->banner.array) r->claimed = array_elements(r);
    else if (status == MC_OK) status = input_integer(in, "the number of entries", 0, INT64_MAX, &r->claimed);
    if (status == MC_OK) status = check_claim(r);
    return status == MC_OK ? input_end_line(in, "the size line") : status;
}

/* -- Values */

static bool keeps_values(const reader *r) {
    return r->banner.field == MC_CSR_INTEGER || r->banner.field == MC_CSR_REAL;
}

static double most_value(const reader *r) {
    return r->banner.field == MC_CSR_INTEGER ? most_integer : DBL_MAX;
}

static mc_status read_kept(text_input *in, const reader *r, double *value) {
    input_skip_blanks(in);
    text_input before = *in;
    mc_status status = input_real(in, "a value", -most_value(r), most_value(r), value);
    if (status != MC_OK || r->banner.field == MC_CSR_REAL || floor(*value) == *value) return status;
    return input_fail(in, MC_FORMAT, "a value of an integer matrix must be a whole number, not %s",
                      input_token(&before).text);
}

static mc_status read_values(text_input *in, const reader *r, double *value) {
    mc_status status = MC_OK;
    *value = 0;
    if (keeps_values(r)) return read_kept(in, r, value);
    for (int v = 0; status == MC_OK && v < r->banner.values; v++) status = input_skip_number(in, "a value");
    return status;
}

/* -- Entries */

static mc_status read_entry(text_input *in, const reader *r, entry *e) {
    int64_t i, j;
    skip_comments(in);
    mc_status status = input_integer(in, "a row index", 1, r->rows, &i);
    if (status == MC_OK) status = input_integer(in, "a column index", 1, r->cols, &j);
    if (status == MC_OK) status = read_values(in, r, &e->value);
    if (status != MC_OK) return status;
    if (i == j && r->banner.symmetry == SKEW_SYMMETRIC)
        return input_fail(in, MC_FORMAT, "a skew-symmetric matrix has no diagonal entries");
    e->row = (int32_t)(i - 1);
    e->col = (int32_t)(j - 1);
    return MC_OK;
}

/* The standard wants the entries below the diagonal, and other writers have those above it. With both, an
   entry and its mirror image would be the same one, or two. */
static mc_status check_triangle(reader *r, entry e) {
    if (r->banner.symmetry == GENERAL || e.row == e.col) return MC_OK;
    int64_t *here = e.row < e.col ? &r->above : &r->below, there = e.row < e.col ? r->below : r->above;
    if (*here == 0) *here = r->in.line;
    if (there == 0) return MC_OK;
    return input_fail(&r->in, MC_FORMAT,
                      "entry (%d, %d) is %s the diagonal, that of line %" PRId64
                      " on the other side: a %s matrix has one of its halves in the file",
                      e.row + 1, e.col + 1, e.row < e.col ? "above" : "below", there,
                      symmetries[r->banner.symmetry].name);
}

static void free_entries(entry_list *entries) {
    free(entries->row);
    free(entries->col);
    free(entries->value);
}

static bool create_entries(entry_list *entries, int64_t most, bool values) {
    *entries = (entry_list){mcrt_array(most, sizeof *entries->row), mcrt_array(most, sizeof *entries->col),
                            values ? mcrt_array(most, sizeof *entries->value) : NULL, 0};
    return entries->row && entries->col && (entries->value || !values);
}

static void put_entry(entry_list *entries, entry e) {
    int64_t at = entries->count++;
    entries->row[at] = e.row;
    entries->col[at] = e.col;
    if (entries->value) entries->value[at] = e.value;
}

/* With its mirror image, if the matrix has a symmetry. */
static void put_with_image(reader *r, entry e) {
    put_entry(&r->entries, e);
    if (r->banner.symmetry == GENERAL || e.row == e.col) return;
    put_entry(&r->entries, (entry){e.col, e.row, r->banner.symmetry == SKEW_SYMMETRIC ? -e.value : e.value});
}

static mc_status read_coordinates(reader *r) {
    for (int64_t i = 0; i < r->claimed; i++) {
        entry e;
        mc_status status = read_entry(&r->in, r, &e);
        if (status == MC_OK) status = check_triangle(r, e);
        if (status == MC_OK) status = input_end_line(&r->in, "the entry");
        if (status != MC_OK) return status;
        put_with_image(r, e);
    }
    return MC_OK;
}

/* The first row of a column that an array holds. */
static int64_t first_row(const reader *r, int64_t col) {
    if (r->banner.symmetry == GENERAL) return 0;
    return r->banner.symmetry == SKEW_SYMMETRIC ? col + 1 : col;
}

static mc_status read_array(reader *r) {
    for (int64_t col = 0; col < r->cols; col++)
        for (int64_t row = first_row(r, col); row < r->rows; row++) {
            entry e = {(int32_t)row, (int32_t)col, 0};
            skip_comments(&r->in);
            mc_status status = read_kept(&r->in, r, &e.value);
            if (status == MC_OK) status = input_end_line(&r->in, "the value");
            if (status != MC_OK) return status;
            if (e.value != 0) put_with_image(r, e);
        }
    return MC_OK;
}

static mc_status read_entries(reader *r) {
    int64_t most = r->banner.symmetry == GENERAL ? r->claimed : 2 * r->claimed;
    if (!create_entries(&r->entries, most, keeps_values(r)))
        return mcrt_no_memory(r->in.diag, most, "entries");
    mc_status status = r->banner.array ? read_array(r) : read_coordinates(r);
    if (status != MC_OK) return status;
    skip_comments(&r->in);
    if (r->in.at == r->in.end) return MC_OK;
    return input_fail(&r->in, MC_FORMAT, "%s after the last %s", input_token(&r->in).text,
                      r->banner.array ? "value" : "entry");
}

/* -- Sorting */

/* Brings entries FROM into the order of KEY, one of their two indices, stably; what TO has no room for is
   left out. START has keys + 1 zeroed elements and receives where each key begins. */
static void counting_sort(const entry_list *from, const int32_t *key, int64_t *start, int64_t keys,
                          entry_list *to) {
    for (int64_t i = 0; i < from->count; i++) start[key[i] + 1]++;
    for (int64_t k = 0; k < keys; k++) start[k + 1] += start[k];
    for (int64_t i = 0; i < from->count; i++) {
        int64_t place = start[key[i]]++;
        if (to->row) to->row[place] = from->row[i];
        to->col[place] = from->col[i];
        if (to->value) to->value[place] = from->value[i];
    }
    for (int64_t k = keys; k > 0; k--) start[k] = start[k - 1];
    start[0] = 0;
}

/* By column first, then stably by row. */
static mc_status sort_entries(const reader *r, mc_csr *csr) {
    const entry_list *e = &r->entries;
    bool values = e->value != NULL;
    entry_list by_col;
    bool room = create_entries(&by_col, e->count, values);
    int64_t *col_start = mcrt_array(r->cols + 1, sizeof *col_start);
    if (values) csr->values = mcrt_array(e->count, sizeof *csr->values);
    csr->field = r->banner.field;
    room = room && col_start != NULL && (csr->values != NULL || !values);
    if (room) {
        by_col.count = e->count;
        counting_sort(e, e->col, col_start, r->cols, &by_col);
        counting_sort(&by_col, by_col.row, csr->row_ptr, r->rows,
                      &(entry_list){.col = csr->col_idx, .value = csr->values});
    }
    free(col_start);
    free_entries(&by_col);
    return room ? MC_OK : mcrt_no_memory(r->in.diag, e->count, "entries");
}

/* -- Entries in one place */

/* Adds the entry at FROM to that at TO. */
static mc_status add_value(const reader *r, mc_csr *csr, int64_t row, int64_t from, int64_t to) {
    if (csr->values == NULL) return MC_OK;
    double sum = csr->values[to] + csr->values[from];
    csr->values[to] = sum;
    if (fabs(sum) <= most_value(r)) return MC_OK;
    return mc_fail(r->in.diag, MC_FORMAT,
                   "%s: the values of entry (%" PRId64 ", %d) add up to %g, beyond what is read, %g",
                   r->in.path, row + 1, csr->col_idx[to] + 1, sum, most_value(r));
}

/* Of two that are images of each other the file has one. */
static bool is_of_file(const reader *r, int64_t row, int64_t col) {
    return r->banner.symmetry == GENERAL || row >= col;
}

/* As finite elements are assembled: entries of one row and column are added up, in the file's order. Of a
   pattern one of them is left. */
static mc_status add_up(const reader *r, mc_csr *csr) {
    int64_t kept = 0, from = 0;
    for (int64_t row = 0; row < csr->rows; row++) {
        const int64_t first = kept, end = csr->row_ptr[row + 1];
        for (; from < end; from++) {
            if (kept > first && csr->col_idx[kept - 1] == csr->col_idx[from]) {
                mc_status status = add_value(r, csr, row, from, kept - 1);
                if (status != MC_OK) return status;
                csr->summed += is_of_file(r, row, csr->col_idx[from]);
                continue;
            }
            csr->col_idx[kept] = csr->col_idx[from];
            if (csr->values != NULL) csr->values[kept] = csr->values[from];
            kept++;
        }
        csr->row_ptr[row + 1] = kept;
    }
    csr->nnz = kept;
    return MC_OK;
}

static mc_status read_matrix(reader *r, mc_csr *csr) {
    mc_status status = read_banner(&r->in, &r->banner);
    if (status == MC_OK) status = read_size(r);
    if (status == MC_OK) status = read_entries(r);
    if (status == MC_OK) status = mcrt_csr_create(r->rows, r->cols, r->entries.count, csr, r->in.diag);
    if (status == MC_OK) status = sort_entries(r, csr);
    return status == MC_OK ? add_up(r, csr) : status;
}

mc_status mcrt_mtx_read(const char *path, mc_csr *csr, mc_diag *diag) {
    reader r = {0};
    mc_status status = input_open(&r.in, path, diag);
    if (status == MC_OK) status = read_matrix(&r, csr);
    if (status != MC_OK) mc_csr_free(csr);
    free_entries(&r.entries);
    input_close(&r.in);
    return status;
}
