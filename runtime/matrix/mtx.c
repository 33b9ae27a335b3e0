/* The MatrixMarket reader (Boisvert, Pozo, Remington, "The Matrix Market Exchange Formats", NISTIR 5935):
   coordinate format. Entries may stand in any order; two counting sorts bring them into CSR. */
#include <float.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "matrix/csr.h"
#include "base/memory.h"
#include "base/text_input.h"

/* A pattern's memory grows with its rows, even the empty ones, so the size line's claim is held against the
   file's size: matrices of empty rows only are no matrices that anyone means. */
enum { FREE_ROWS = 1 << 20, ROWS_PER_BYTE = 16 };

typedef struct kind {
    const char *name;
    int values; /* numbers after the two indices */
    mc_csr_field field;
} kind;

static const kind fields[] = {{"pattern", 0, MC_CSR_PATTERN},
                              {"real", 1, MC_CSR_REAL},
                              {"integer", 1, MC_CSR_INTEGER},
                              {"complex", 2, MC_CSR_COMPLEX}};

typedef enum mtx_symmetry { GENERAL, SYMMETRIC, SKEW_SYMMETRIC, HERMITIAN } mtx_symmetry;
static const kind symmetries[] = {[GENERAL] = {.name = "general"},
                                  {.name = "symmetric"},
                                  {.name = "skew-symmetric"},
                                  {.name = "hermitian"}};

typedef struct mtx_banner {
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
    int64_t rows, cols, claimed; /* the size line */
    entry_list entries;          /* mirrored ones included */
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
    return MC_OK;
}

static mc_status read_banner(text_input *in, mtx_banner *banner) {
    if (!skip_word(in, "%%MatrixMarket"))
        return input_fail(in, MC_FORMAT, "the file must begin with %%%%MatrixMarket");
    if (!skip_word(in, "matrix")) return input_fail(in, MC_FORMAT, "the banner must name a matrix");
    if (skip_word(in, "array"))
        return input_fail(in, MC_CANNOT,
                          "an array is dense, a sparsity pattern must be in coordinate format");
    if (!skip_word(in, "coordinate"))
        return input_fail(in, MC_FORMAT, "%s is no format: coordinate", input_token(in).text);
    int field = find_word(in, fields, sizeof fields / sizeof fields[0]);
    if (field < 0)
        return input_fail(in, MC_FORMAT, "%s is no field: pattern, real, integer or complex",
                          input_token(in).text);
    int symmetry = find_word(in, symmetries, sizeof symmetries / sizeof symmetries[0]);
    if (symmetry < 0)
        return input_fail(in, MC_FORMAT, "%s is no symmetry: general, symmetric, skew-symmetric or hermitian",
                          input_token(in).text);
    banner->values = fields[field].values;
    banner->field = fields[field].field;
    banner->symmetry = (mtx_symmetry)symmetry;
    mc_status status = check_banner(in, banner);
    return status == MC_OK ? input_end_line(in, "the banner") : status;
}

static void skip_comments(text_input *in) {
    for (input_skip_space(in); in->at < in->end && *in->at == '%'; input_skip_space(in)) input_skip_line(in);
}

/* An entry takes at least "1 1" and a line end, and a value " 1". */
static mc_status check_claim(const reader *r) {
    const text_input *in = &r->in;
    int64_t bytes = (int64_t)input_left(in);
    int64_t room = (bytes + 1) / (4 + 2 * r->banner.values);
    if (r->claimed > room)
        return input_fail(in, MC_FORMAT,
                          "the size line claims %" PRId64 " entries, the file has room for %" PRId64,
                          r->claimed, room);
    int64_t most = bytes < INT32_MAX / ROWS_PER_BYTE ? FREE_ROWS + ROWS_PER_BYTE * bytes : INT32_MAX;
    if (r->rows > most || r->cols > most)
        return input_fail(in, MC_CANNOT,
                          "%" PRId64 " x %" PRId64 " elements with %" PRId64 " entries: nearly all rows or "
                          "columns would be empty",
                          r->rows, r->cols, r->claimed);
    if (r->banner.symmetry != GENERAL && r->rows != r->cols)
        return input_fail(in, MC_FORMAT, "a %s matrix must be square, not %" PRId64 " x %" PRId64,
                          symmetries[r->banner.symmetry].name, r->rows, r->cols);
    return MC_OK;
}

static mc_status read_size(reader *r) {
    text_input *in = &r->in;
    skip_comments(in);
    mc_status status = input_integer(in, "the number of rows", 0, INT32_MAX, &r->rows);
    if (status == MC_OK) status = input_integer(in, "the number of columns", 0, INT32_MAX, &r->cols);
    if (status == MC_OK) status = input_integer(in, "the number of entries", 0, INT64_MAX, &r->claimed);
    if (status == MC_OK) status = check_claim(r);
    return status == MC_OK ? input_end_line(in, "the size line") : status;
}

/* -- Entries */

static bool keeps_values(const reader *r) {
    return r->banner.field == MC_CSR_INTEGER || r->banner.field == MC_CSR_REAL;
}

static mc_status read_values(text_input *in, const reader *r, double *value) {
    mc_status status = MC_OK;
    *value = 0;
    if (keeps_values(r)) return input_real(in, "a value", -DBL_MAX, DBL_MAX, value);
    for (int v = 0; status == MC_OK && v < r->banner.values; v++) status = input_skip_number(in, "a value");
    return status;
}

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
    return input_end_line(in, "the entry");
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

static void put_entry(entry_list *entries, int64_t at, entry e) {
    entries->row[at] = e.row;
    entries->col[at] = e.col;
    if (entries->value) entries->value[at] = e.value;
}

static mc_status read_entries(reader *r) {
    int64_t most = r->banner.symmetry == GENERAL ? r->claimed : 2 * r->claimed;
    if (!create_entries(&r->entries, most, keeps_values(r)))
        return mcrt_no_memory(r->in.diag, most, "entries");
    for (int64_t i = 0; i < r->claimed; i++) {
        entry e;
        mc_status status = read_entry(&r->in, r, &e);
        if (status != MC_OK) return status;
        put_entry(&r->entries, r->entries.count++, e);
        if (r->banner.symmetry == GENERAL || e.row == e.col) continue;
        double mirrored = r->banner.symmetry == SKEW_SYMMETRIC ? -e.value : e.value;
        put_entry(&r->entries, r->entries.count++, (entry){e.col, e.row, mirrored});
    }
    skip_comments(&r->in);
    if (r->in.at == r->in.end) return MC_OK;
    return input_fail(&r->in, MC_FORMAT, "%s after the last entry", input_token(&r->in).text);
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

/* -- Duplicates */

/* Reads the entries that were read once more, for the lines of the two that are the same. */
static mc_status report_duplicate(reader *r, text_input entries, int32_t row, int32_t col) {
    int64_t first_line = 0;
    for (int64_t i = 0; i < r->claimed; i++) {
        entry e;
        skip_comments(&entries);
        text_input at = entries;
        mc_status status = read_entry(&entries, r, &e);
        if (status != MC_OK) return status;
        bool same = e.row == row && e.col == col;
        bool mirrored = r->banner.symmetry != GENERAL && e.row == col && e.col == row;
        if (!same && !mirrored) continue;
        if (first_line)
            return input_fail(&at, MC_FORMAT, "entry (%d, %d) stands on line %" PRId64 " already", row + 1,
                              col + 1, first_line);
        first_line = at.line;
    }
    return input_fail(&entries, MC_FORMAT, "entry (%d, %d) occurs twice", row + 1, col + 1);
}

static mc_status check_duplicates(reader *r, const text_input *entries, const mc_csr *csr) {
    for (int64_t row = 0; row < csr->rows; row++)
        for (int64_t i = csr->row_ptr[row] + 1; i < csr->row_ptr[row + 1]; i++)
            if (csr->col_idx[i] == csr->col_idx[i - 1])
                return report_duplicate(r, *entries, (int32_t)row, csr->col_idx[i]);
    return MC_OK;
}

static mc_status read_matrix(reader *r, mc_csr *csr) {
    mc_status status = read_banner(&r->in, &r->banner);
    if (status == MC_OK) status = read_size(r);
    text_input first_entry = r->in;
    if (status == MC_OK) status = read_entries(r);
    if (status == MC_OK) status = mcrt_csr_create(r->rows, r->cols, r->entries.count, csr, r->in.diag);
    if (status == MC_OK) status = sort_entries(r, csr);
    return status == MC_OK ? check_duplicates(r, &first_entry, csr) : status;
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
