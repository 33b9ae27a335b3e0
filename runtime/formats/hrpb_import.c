/* The way back from HRPB. Arrays come from elsewhere: each is checked before it is followed. */
#include <inttypes.h>
#include <stdlib.h>
#include "base/element.h"
#include "base/memory.h"
#include "formats/hrpb.h"

typedef struct source {
    mc_hrpb form;
    hrpb_block layout;
    mc_type type;
    int value_bytes;
    int64_t rows, cols, panels, blocks;
    const int32_t *blocked_row_ptr, *size_ptr, *active_cols;
    const uint8_t *packed;
    mc_vsparse *a;
    int64_t *count; /* of nonzeros of each row; while values are taken, where the row's next one belongs */
    mc_diag *diag;
} source;

/* -- Arrays as a whole -------------------------------------------------------------------------------- */

/* Offsets begin with 0, end with END, and none is less than the one before. */
static mc_status check_offsets(const char *name, const int32_t *offset, int64_t count, mc_diag *diag) {
    if (offset[0] != 0) return mc_fail(diag, MC_FORMAT, "%s[0] is %" PRId32 ", must be 0", name, offset[0]);
    for (int64_t i = 1; i < count; i++)
        if (offset[i] < offset[i - 1])
            return mc_fail(diag, MC_FORMAT, "%s[%" PRId64 "] is %" PRId32 ", below the one before, %" PRId32,
                           name, i, offset[i], offset[i - 1]);
    return MC_OK;
}

static mc_status get_offsets(const mc_packed *packed, const char *name, int64_t count, const int32_t **offset,
                             mc_diag *diag) {
    const mc_packed_array *array;
    mc_status status = packed_get(packed, name, MC_S32, count, &array, diag);
    if (status != MC_OK) return status;
    *offset = array->data;
    return check_offsets(name, *offset, count, diag);
}

static mc_status get_arrays(source *s, const mc_packed *packed) {
    const mc_packed_array *columns = NULL, *blocks = NULL;
    s->panels = hrpb_panels(&s->form, s->rows);
    mc_status status = get_offsets(packed, "blocked_row_ptr", s->panels + 1, &s->blocked_row_ptr, s->diag);
    if (status != MC_OK) return status;
    s->blocks = s->blocked_row_ptr[s->panels];
    status = get_offsets(packed, "size_ptr", s->blocks + 1, &s->size_ptr, s->diag);
    if (status == MC_OK)
        status = packed_get(packed, "active_cols", MC_S32, s->blocks * s->form.tile_cols, &columns, s->diag);
    if (status == MC_OK)
        status = packed_get(packed, "packed_blocks", MC_S8, s->size_ptr[s->blocks], &blocks, s->diag);
    if (status != MC_OK) return status;
    s->active_cols = columns->data;
    s->packed = blocks->data;
    return MC_OK;
}

/* -- Active columns ----------------------------------------------------------------------------------- */

/* How many of BLOCK's columns are active. *BEFORE is the panel's column in front of them, and then the last
   one. Only the LAST block of a panel has fewer than TK, and none has none. */
static mc_status count_columns(const source *s, int64_t block, bool last, int32_t *before, int *count) {
    const int32_t *column = s->active_cols + block * s->form.tile_cols;
    const int64_t first = block * s->form.tile_cols;
    *count = 0;
    for (int i = 0; i < s->form.tile_cols; i++) {
        const bool may_end = last && i > 0;
        if (column[i] == -1 && may_end) continue;
        if (column[i] < 0 || column[i] >= s->cols)
            return mc_fail(s->diag, MC_FORMAT,
                           "active_cols[%" PRId64 "] is %" PRId32 " of %" PRId64 " columns", first + i,
                           column[i], s->cols);
        if (*count < i)
            return mc_fail(s->diag, MC_FORMAT, "active_cols[%" PRId64 "] is %" PRId32 " behind a -1",
                           first + i, column[i]);
        if (column[i] <= *before)
            return mc_fail(s->diag, MC_FORMAT,
                           "active_cols[%" PRId64 "] is %" PRId32 " after %" PRId32 ": columns must ascend",
                           first + i, column[i], *before);
        *before = column[i];
        ++*count;
    }
    return MC_OK;
}

/* -- Blocks ------------------------------------------------------------------------------------------- */

/* A block on the way back. */
typedef struct block {
    const uint8_t *at, *col_ptr, *rows;
    int64_t number, panel, size;
    int columns;    /* active ones */
    int rows_there; /* rows of the panel that the matrix has */
    int64_t values;
} block;

static mc_status fail(const source *s, const block *b, const char *what, uint64_t value, const char *wanted) {
    return mc_fail(s->diag, MC_FORMAT, "packed_blocks: block %" PRId64 ": %s %" PRIu64 "%s", b->number, what,
                   value, wanted);
}

/* Bricks in each column of bricks. */
static mc_status check_col_ptr(const source *s, const block *b) {
    if (hrpb_get(b->col_ptr, 0) != 0)
        return fail(s, b, "col_ptr[0] is", hrpb_get(b->col_ptr, 0), ", must be 0");
    for (int c = 0; c < s->layout.brick_cols; c++) {
        const uint32_t begin = hrpb_get(b->col_ptr, c), end = hrpb_get(b->col_ptr, c + 1);
        if (end < begin) return fail(s, b, "col_ptr has", end, ", below the one before");
        if (end - begin > (uint32_t)s->layout.brick_rows)
            return fail(s, b, "a column has", end - begin, " bricks, more than fit");
        if (end > begin && c * HRPB_TILE_COLS >= b->columns)
            return fail(s, b, "there is a brick behind the active columns, in column", (uint64_t)c,
                        " of bricks");
    }
    return MC_OK;
}

/* Which of the 64 places of a brick A has, in column COLUMN of bricks and row ROW of them. */
static uint64_t places(const block *b, int column, uint32_t row) {
    const int64_t rows = b->rows_there - (int64_t)row * HRPB_TILE_ROWS,
                  cols = b->columns - column * HRPB_TILE_COLS;
    const uint64_t in_row = cols >= HRPB_TILE_COLS ? 15 : ((uint64_t)1 << cols) - 1;
    uint64_t all = 0;
    for (int r = 0; r < HRPB_TILE_ROWS && r < rows; r++) all |= in_row << r * HRPB_TILE_COLS;
    return all;
}

/* Whether bit c is set of each column c of PATTERN that has something. */
static unsigned columns_of(uint64_t pattern) {
    pattern |= pattern >> 32;
    pattern |= pattern >> 16;
    pattern |= pattern >> 8;
    pattern |= pattern >> 4;
    return (unsigned)(pattern & 15);
}

/* The bricks of column COLUMN of bricks; adds their values to the block's. */
static mc_status check_bricks(const source *s, block *b, int column) {
    const uint32_t begin = hrpb_get(b->col_ptr, column), end = hrpb_get(b->col_ptr, column + 1);
    unsigned used = 0;
    for (uint32_t j = begin; j < end; j++) {
        const uint32_t row = hrpb_get(b->rows, j);
        const uint64_t pattern = hrpb_pattern(b->at, j);
        if (row >= (uint32_t)s->layout.brick_rows || (j > begin && row <= hrpb_get(b->rows, j - 1)))
            return fail(s, b, "rows has", row, ", which must ascend in a column and be the block's");
        if (pattern == 0) return fail(s, b, "there is nothing in brick", j, "");
        if ((pattern & ~places(b, column, row)) != 0)
            return fail(s, b, "the pattern has places outside of the matrix, of brick", j, "");
        used |= columns_of(pattern);
        b->values += hrpb_bits(pattern);
    }
    const int cols = b->columns - column * HRPB_TILE_COLS;
    const unsigned wanted = cols >= HRPB_TILE_COLS ? 15 : cols > 0 ? (1u << cols) - 1 : 0;
    if (used == wanted) return MC_OK;
    return fail(s, b, "an active column has nothing, in column", (uint64_t)column, " of bricks");
}

/* What lies behind the bricks and behind the values is 0, and the size is right. */
static mc_status check_rest(const source *s, const block *b) {
    const int64_t values_end = s->layout.values + b->values * s->value_bytes;
    for (int64_t j = hrpb_get(b->col_ptr, s->layout.brick_cols); j < s->layout.bricks; j++)
        if (hrpb_pattern(b->at, j) != 0 || hrpb_get(b->rows, j) != 0)
            return fail(s, b, "patterns and rows must be 0 from brick", (uint64_t)j, " on");
    if (b->size != hrpb_block_bytes(&s->layout, b->values, s->value_bytes))
        return fail(s, b, "size_ptr gives it", (uint64_t)b->size, " bytes, its patterns want another number");
    for (int64_t i = values_end; i < b->size; i++)
        if (b->at[i] != 0) return fail(s, b, "padding must be 0, byte", (uint64_t)i, "");
    return MC_OK;
}

static mc_status check_block(const source *s, block *b) {
    if (b->size < s->layout.values)
        return fail(s, b, "size_ptr gives it", (uint64_t)b->size, " bytes, fewer than its arrays take");
    mc_status status = check_col_ptr(s, b);
    b->values = 0;
    for (int c = 0; c < s->layout.brick_cols && status == MC_OK; c++) status = check_bricks(s, b, c);
    return status == MC_OK ? check_rest(s, b) : status;
}

typedef mc_status take_block(source *s, const block *b);

/* All blocks, checked, one after another. */
static mc_status walk_panel(source *s, int64_t panel, take_block *take) {
    int32_t before = -1;
    mc_status status = MC_OK;
    const int64_t left = s->rows - panel * s->form.tile_rows, end = s->blocked_row_ptr[panel + 1];
    for (int64_t i = s->blocked_row_ptr[panel]; i < end && status == MC_OK; i++) {
        block b = {.at = s->packed + s->size_ptr[i],
                   .number = i,
                   .panel = panel,
                   .size = (int64_t)s->size_ptr[i + 1] - s->size_ptr[i],
                   .rows_there = left < s->form.tile_rows ? (int)left : s->form.tile_rows};
        b.col_ptr = b.at + s->layout.col_ptr, b.rows = b.at + s->layout.rows;
        status = count_columns(s, i, i + 1 == end, &before, &b.columns);
        if (status == MC_OK) status = check_block(s, &b);
        if (status == MC_OK) status = take(s, &b);
    }
    return status;
}

static mc_status walk(source *s, take_block *take) {
    mc_status status = MC_OK;
    for (int64_t panel = 0; panel < s->panels && status == MC_OK; panel++)
        status = walk_panel(s, panel, take);
    return status;
}

/* -- Into a matrix ------------------------------------------------------------------------------------ */

/* Each place of a brick that has something, in the order of the values. */
static mc_status count_block(source *s, const block *b) {
    for (uint32_t j = 0; j < hrpb_get(b->col_ptr, s->layout.brick_cols); j++) {
        int64_t row = b->panel * s->form.tile_rows + (int64_t)hrpb_get(b->rows, j) * HRPB_TILE_ROWS;
        for (uint64_t pattern = hrpb_pattern(b->at, j); pattern != 0; pattern >>= HRPB_TILE_COLS, row++)
            s->count[row] += hrpb_bits(pattern & 15);
    }
    return MC_OK;
}

static mc_status take_value(source *s, const block *b, int64_t value, int64_t row, int32_t column) {
    const int64_t at = s->count[row]++, is = element_get(s->type, b->at + s->layout.values, value);
    if (!mc_type_is_real(s->type) && (is < mc_type_min(s->type) || is > mc_type_max(s->type)))
        return mc_fail(s->diag, MC_FORMAT,
                       "packed_blocks: block %" PRId64 ": it holds %" PRId64 ", out of %s's range", b->number,
                       is, mc_type_text(s->type));
    s->a->col_idx[at] = column;
    mc_vsparse_set_value(s->a, at, 0, is);
    return MC_OK;
}

static mc_status take_values(source *s, const block *b) {
    const int32_t *column = s->active_cols + b->number * s->form.tile_cols;
    mc_status status = MC_OK;
    int64_t value = 0;
    for (int c = 0; c < s->layout.brick_cols; c++)
        for (uint32_t j = hrpb_get(b->col_ptr, c); j < hrpb_get(b->col_ptr, c + 1); j++) {
            const uint64_t pattern = hrpb_pattern(b->at, j);
            const int64_t row = b->panel * s->form.tile_rows + (int64_t)hrpb_get(b->rows, j) * HRPB_TILE_ROWS;
            for (int i = 0; i < HRPB_TILE_ROWS * HRPB_TILE_COLS && status == MC_OK; i++)
                if (pattern >> i & 1)
                    status = take_value(s, b, value++, row + i / HRPB_TILE_COLS,
                                        column[c * HRPB_TILE_COLS + i % HRPB_TILE_COLS]);
        }
    return status;
}

static mc_status make_matrix(source *s) {
    int64_t nonzeros = 0;
    for (int64_t row = 0; row < s->rows; row++) nonzeros += s->count[row];
    mc_status status = mcrt_vsparse_create(s->type, 1, s->rows, s->cols, nonzeros, s->a, s->diag);
    if (status != MC_OK) return status;
    for (int64_t row = 0; row < s->rows; row++) {
        s->a->row_ptr[row + 1] = s->a->row_ptr[row] + s->count[row];
        s->count[row] = s->a->row_ptr[row];
    }
    status = walk(s, take_values);
    if (status != MC_OK) mc_vsparse_free(s->a);
    return status;
}

mc_status mc_hrpb_import(const mc_packed *packed, mc_type type, const mc_hrpb *form, int64_t rows,
                         int64_t cols, mc_vsparse *a, mc_diag *diag) {
    source s = {.form = *form, .type = type, .rows = rows, .cols = cols, .a = a, .diag = diag};
    *a = (mc_vsparse){0};
    mc_status status = hrpb_check_form(form, type, diag);
    if (status == MC_OK) status = packed_check_shape(1, rows, cols, diag);
    if (status != MC_OK) return status;
    s.layout = hrpb_block_of(form->tile_rows, form->tile_cols);
    s.value_bytes = (int)mc_type_bytes(type);
    status = get_arrays(&s, packed);
    if (status != MC_OK) return status;
    s.count = mcrt_array(rows, sizeof *s.count);
    if (s.count == NULL) return mcrt_no_memory(diag, rows, "rows");
    status = walk(&s, count_block);
    if (status == MC_OK) status = make_matrix(&s);
    free(s.count);
    return status;
}
