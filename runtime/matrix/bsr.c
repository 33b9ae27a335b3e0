#include "matrix/bsr.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/memory.h"
#include "matrix/dense.h"

enum { OFFSETS, INDICES, VALUES, SHAPE, ARRAYS };

/* Memory grows with the rows, even the empty ones: of larger matrices one in ROWS_PER_ROW is in a block. */
enum { FREE_ROWS = 1 << 20, ROWS_PER_ROW = 64 };

typedef struct naming {
    const char *names[ARRAYS];
    bool by_column;
} naming;

static const naming namings[] = {{{"indptr", "indices", "data", "shape"}, false},
                                 {{"crow_indices", "col_indices", "values", "shape"}, false},
                                 {{"ccol_indices", "row_indices", "values", "shape"}, true}};
enum { NAMINGS = sizeof namings / sizeof *namings };

/* A block's place and its number among the values. */
typedef struct block {
    int64_t col, source;
} block;

typedef struct bsr {
    const char *path;
    const naming *naming;
    mc_dense arrays[ARRAYS];
    mc_dims dims[ARRAYS];
    int64_t rows, cols, count; /* of the matrix; of blocks */
    int64_t block_rows, block_cols;
    int64_t *row_ptr; /* of rows of blocks */
    block *blocks;
    mc_diag *diag;
} bsr;

/* -- Where the arrays are ----------------------------------------------------------------------------- */

static bool is_directory(const char *path) {
    struct stat state;
    return stat(path, &state) == 0 && S_ISDIR(state.st_mode);
}

/* DIR/NAME.npy, FILE.safetensors:NAME or FILE.safetensors:PREFIX.NAME; NULL: out of memory. */
static char *path_of(const char *path, const char *name) {
    char *whole;
    size_t length;
    int used;
    if (is_directory(path)) used = asprintf(&whole, "%s/%s.npy", path, name);
    else {
        bool prefixed = mc_is_safetensors(path, &length) && path[length] == ':';
        used = asprintf(&whole, "%s%c%s", path, prefixed ? '.' : ':', name);
    }
    return used < 0 ? NULL : whole;
}

static bool has_array(const char *path, const char *name) {
    char *whole = path_of(path, name);
    bool has = whole != NULL && (is_directory(path) ? access(whole, F_OK) == 0 : mc_has_tensor(whole));
    free(whole);
    return has;
}

/* How many of the namings PATH has; *FIRST is the first one. */
static int find_naming(const char *path, const naming **first) {
    int found = 0;
    size_t length;
    *first = NULL;
    if (!is_directory(path) && !mc_is_safetensors(path, &length)) return 0;
    for (int i = NAMINGS; i-- > 0;) {
        if (!has_array(path, namings[i].names[OFFSETS])) continue;
        *first = &namings[i];
        found++;
    }
    return found;
}

bool mc_bsr_is(const char *path) {
    const naming *first;
    return find_naming(path, &first) > 0;
}

/* -- Arrays by themselves ----------------------------------------------------------------------------- */

static mc_status read_array(bsr *m, int which, int dimensions) {
    const char *name = m->naming->names[which];
    char *path = path_of(m->path, name);
    if (path == NULL) return mc_fail(m->diag, MC_NOMEM, "out of memory");
    if (which == SHAPE && !has_array(m->path, name)) {
        free(path);
        return mc_fail(
            m->diag, MC_FORMAT,
            "%s: there is no %s, two integers: the other arrays do not say how large the matrix is", m->path,
            name);
    }
    mc_status status = mc_dense_read_dims(path, &m->arrays[which], &m->dims[which], m->diag);
    free(path);
    if (status != MC_OK) return status;
    bool scalars = which == VALUES && m->dims[which].count == 1; /* a CSR's */
    if (m->dims[which].count != dimensions && !scalars)
        return mc_fail(m->diag, MC_FORMAT, "%s: %s has %d dimensions, must have %d%s", m->path, name,
                       m->dims[which].count, dimensions,
                       which == VALUES ? ": blocks, and their rows and columns; or 1, without blocks" : "");
    if (which == VALUES || !mc_type_is_real(m->arrays[which].type)) return MC_OK;
    return mc_fail(m->diag, MC_FORMAT, "%s: %s holds %s, must hold integers", m->path, name,
                   mc_type_text(m->arrays[which].type));
}

static int64_t item(const bsr *m, int which, int64_t i) { return mc_dense_get(&m->arrays[which], 0, i); }

static mc_status take_shape(bsr *m) {
    if (m->arrays[SHAPE].cols != 2)
        return mc_fail(m->diag, MC_FORMAT, "%s: shape has %" PRId64 " elements, must have 2", m->path,
                       m->arrays[SHAPE].cols);
    m->rows = item(m, SHAPE, 0), m->cols = item(m, SHAPE, 1);
    if (m->rows >= 0 && m->rows <= INT32_MAX && m->cols >= 0 && m->cols <= INT32_MAX) return MC_OK;
    return mc_fail(m->diag, MC_CANNOT, "%s: shape is %" PRId64 " x %" PRId64 ": must be 0 to %d each way",
                   m->path, m->rows, m->cols, INT32_MAX);
}

static bool has_blocks(const bsr *m) { return m->dims[VALUES].count == 3; }

/* By column, blocks of the transpose have V columns; they lie in memory as V x 1. Values without blocks are
   those of a CSR (CSC). */
static mc_status take_blocks(bsr *m) {
    int64_t rows = has_blocks(m) ? m->dims[VALUES].size[1] : 1,
            cols = has_blocks(m) ? m->dims[VALUES].size[2] : 1;
    bool turned = m->naming->by_column && rows == 1 && cols > 1 && m->arrays[OFFSETS].cols == m->cols + 1;
    m->count = m->dims[VALUES].size[0];
    m->block_rows = turned ? cols : rows;
    m->block_cols = turned ? rows : cols;
    if (m->block_rows < 1 || m->block_cols < 1)
        return mc_fail(m->diag, MC_CANNOT,
                       "%s: blocks of %" PRId64 " x %" PRId64 ": there is nothing in them", m->path, rows,
                       cols);
    if (m->rows > FREE_ROWS && m->rows / ROWS_PER_ROW / m->block_rows > m->count)
        return mc_fail(m->diag, MC_CANNOT,
                       "%s: %" PRId64 " rows and %" PRId64 " blocks: nearly all rows would be empty", m->path,
                       m->rows, m->count);
    if (m->rows % m->block_rows == 0 && m->cols % m->block_cols == 0) return MC_OK;
    return mc_fail(m->diag, MC_FORMAT,
                   "%s: shape is %" PRId64 " x %" PRId64 ", no multiple of blocks of %" PRId64 " x %" PRId64,
                   m->path, m->rows, m->cols, m->block_rows, m->block_cols);
}

static mc_status read_arrays(bsr *m) {
    static const int dimensions[ARRAYS] = {[OFFSETS] = 1, [INDICES] = 1, [VALUES] = 3, [SHAPE] = 1};
    mc_status status = MC_OK;
    for (int i = 0; i < ARRAYS && status == MC_OK; i++) status = read_array(m, i, dimensions[i]);
    if (status == MC_OK) status = take_shape(m);
    return status == MC_OK ? take_blocks(m) : status;
}

/* -- Arrays together ---------------------------------------------------------------------------------- */

/* Rows of blocks, or columns: as many as there are offsets for. */
static int64_t lines(const bsr *m) {
    return m->naming->by_column ? m->cols / m->block_cols : m->rows / m->block_rows;
}

static mc_status check_length(const bsr *m, int which, int64_t must_be) {
    if (m->arrays[which].cols == must_be) return MC_OK;
    return mc_fail(m->diag, MC_FORMAT, "%s: %s has %" PRId64 " elements, must have %" PRId64, m->path,
                   m->naming->names[which], m->arrays[which].cols, must_be);
}

static mc_status check_offsets(const bsr *m) {
    const char *name = m->naming->names[OFFSETS];
    mc_status status = check_length(m, OFFSETS, lines(m) + 1);
    if (status != MC_OK) return status;
    if (item(m, OFFSETS, 0) != 0)
        return mc_fail(m->diag, MC_FORMAT, "%s: %s[0] is %" PRId64 ", must be 0", m->path, name,
                       item(m, OFFSETS, 0));
    for (int64_t i = 1; i <= lines(m); i++)
        if (item(m, OFFSETS, i) < item(m, OFFSETS, i - 1))
            return mc_fail(m->diag, MC_FORMAT,
                           "%s: %s[%" PRId64 "] is %" PRId64 ", below the one before, %" PRId64, m->path,
                           name, i, item(m, OFFSETS, i), item(m, OFFSETS, i - 1));
    if (item(m, OFFSETS, lines(m)) == m->count) return check_length(m, INDICES, m->count);
    return mc_fail(m->diag, MC_FORMAT, "%s: %s ends in %" PRId64 ", but %s has %" PRId64 " blocks", m->path,
                   name, item(m, OFFSETS, lines(m)), m->naming->names[VALUES], m->count);
}

/* Ascending in each line, and in range. */
static mc_status check_indices(const bsr *m) {
    int64_t most = m->naming->by_column ? m->rows / m->block_rows : m->cols / m->block_cols;
    const char *name = m->naming->names[INDICES];
    for (int64_t line = 0; line < lines(m); line++)
        for (int64_t i = item(m, OFFSETS, line); i < item(m, OFFSETS, line + 1); i++) {
            int64_t index = item(m, INDICES, i);
            if (index < 0 || index >= most)
                return mc_fail(m->diag, MC_FORMAT,
                               "%s: %s[%" PRId64 "] is %" PRId64 ", must be 0 to %" PRId64, m->path, name, i,
                               index, most - 1);
            if (i > item(m, OFFSETS, line) && index <= item(m, INDICES, i - 1))
                return mc_fail(m->diag, MC_FORMAT,
                               "%s: %s[%" PRId64 "] is %" PRId64 " after %" PRId64
                               ": indices must ascend (SciPy: sum_duplicates, sort_indices)",
                               m->path, name, i, index, item(m, INDICES, i - 1));
        }
    return MC_OK;
}

/* -- CSR ---------------------------------------------------------------------------------------------- */

/* Blocks by their rows; those of one row come in the order of their columns, as lines do. */
static void place_blocks(bsr *m, int64_t block_rows) {
    bool by_column = m->naming->by_column;
    for (int64_t line = 0; line < lines(m); line++)
        for (int64_t i = item(m, OFFSETS, line); i < item(m, OFFSETS, line + 1); i++)
            m->row_ptr[(by_column ? item(m, INDICES, i) : line) + 1]++;
    for (int64_t row = 0; row < block_rows; row++) m->row_ptr[row + 1] += m->row_ptr[row];
    for (int64_t line = 0; line < lines(m); line++)
        for (int64_t i = item(m, OFFSETS, line); i < item(m, OFFSETS, line + 1); i++) {
            int64_t index = item(m, INDICES, i), row = by_column ? index : line;
            m->blocks[m->row_ptr[row]++] = (block){by_column ? line : index, i};
        }
    for (int64_t row = block_rows; row > 0; row--) m->row_ptr[row] = m->row_ptr[row - 1];
    m->row_ptr[0] = 0;
}

static mc_status order_blocks(bsr *m) {
    int64_t block_rows = m->rows / m->block_rows;
    m->row_ptr = mcrt_array(block_rows + 1, sizeof *m->row_ptr);
    m->blocks = mcrt_array(m->count, sizeof *m->blocks);
    if (m->row_ptr == NULL || m->blocks == NULL) return mcrt_no_memory(m->diag, m->count, "blocks");
    place_blocks(m, block_rows);
    return MC_OK;
}

/* Row ROW of the matrix, from entry AT on. */
static mc_status fill_row(const bsr *m, int64_t row, int64_t at, mc_csr *csr) {
    int64_t block_row = row / m->block_rows, first = row % m->block_rows * m->block_cols;
    for (int64_t b = m->row_ptr[block_row]; b < m->row_ptr[block_row + 1]; b++)
        for (int64_t col = 0; col < m->block_cols; col++, at++) {
            int64_t source = m->blocks[b].source;
            double value = has_blocks(m) ? mc_dense_real(&m->arrays[VALUES], source, first + col)
                                         : mc_dense_real(&m->arrays[VALUES], 0, source);
            csr->col_idx[at] = (int32_t)(m->blocks[b].col * m->block_cols + col);
            csr->values[at] = value;
            if (!isfinite(value))
                return mc_fail(m->diag, MC_CANNOT, "%s: entry (%" PRId64 ", %d) is %g", m->path, row + 1,
                               csr->col_idx[at] + 1, value);
        }
    csr->row_ptr[row + 1] = at;
    return MC_OK;
}

static mc_status fill(const bsr *m, mc_csr *csr) {
    int64_t entries = mcrt_product(m->count, mcrt_product(m->block_rows, m->block_cols));
    mc_status status = mcrt_csr_create(m->rows, m->cols, entries, csr, m->diag);
    if (status != MC_OK) return status;
    csr->field = mc_type_is_real(m->arrays[VALUES].type) ? MC_CSR_REAL : MC_CSR_INTEGER;
    csr->values = mcrt_array(entries, sizeof *csr->values);
    if (csr->values == NULL) status = mcrt_no_memory(m->diag, entries, "values");
    for (int64_t row = 0; row < m->rows && status == MC_OK; row++)
        status = fill_row(m, row, csr->row_ptr[row], csr);
    if (status != MC_OK) mc_csr_free(csr);
    return status;
}

mc_status mc_bsr_read(const char *path, mc_csr *csr, mc_blocks *blocks, mc_diag *diag) {
    bsr m = {.path = path, .diag = diag};
    *csr = (mc_csr){0};
    *blocks = (mc_blocks){0};
    int found = find_naming(path, &m.naming);
    if (found != 1)
        return mc_fail(diag, MC_FORMAT, "%s: there must be one of indptr, crow_indices and ccol_indices",
                       path);
    mc_status status = read_arrays(&m);
    if (status == MC_OK) status = check_offsets(&m);
    if (status == MC_OK) status = check_indices(&m);
    if (status == MC_OK) status = order_blocks(&m);
    if (status == MC_OK) status = fill(&m, csr);
    if (status == MC_OK && has_blocks(&m)) *blocks = (mc_blocks){m.block_rows, m.block_cols};
    for (int i = 0; i < ARRAYS; i++) mc_dense_free(&m.arrays[i]);
    free(m.row_ptr);
    free(m.blocks);
    return status;
}
