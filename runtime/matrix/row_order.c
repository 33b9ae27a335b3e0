#include "matrix/row_order.h"
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

static int64_t length_of(const mc_csr *csr, int64_t row) { return csr->row_ptr[row + 1] - csr->row_ptr[row]; }

/* -- By degree ----------------------------------------------------------------------------------------- */

/* A row of so many nonzeros comes behind all longer ones: a counting sort. */
static mc_status order_by_degree(const mc_csr *csr, int32_t *row_of, mc_diag *diag) {
    int64_t most = 0;
    for (int64_t row = 0; row < csr->rows; row++)
        if (length_of(csr, row) > most) most = length_of(csr, row);
    int64_t *place = mcrt_array(most + 2, sizeof *place);
    if (place == NULL) return mcrt_no_memory(diag, most, "lengths of rows");
    for (int64_t row = 0; row < csr->rows; row++) place[most - length_of(csr, row) + 1]++;
    for (int64_t i = 0; i <= most; i++) place[i + 1] += place[i];
    for (int64_t row = 0; row < csr->rows; row++) row_of[place[most - length_of(csr, row)]++] = (int32_t)row;
    free(place);
    return MC_OK;
}

/* -- By similarity ------------------------------------------------------------------------------------- */

typedef struct similar_rows {
    const mc_csr *csr;
    int64_t *column_end; /* [cols + 1]: rows of column c stand in front of column_end[c], from c - 1's on */
    int32_t *column_row; /* [nnz] */
    int64_t *taken_by;   /* [cols]: 1 + the last panel that has the column */
    int32_t *seed;       /* [rows]: the order in which panels begin */
    int32_t *shared;     /* [rows]: columns that the row shares with the panel */
    int32_t *candidate;  /* rows that share any */
    int64_t candidates, next_seed, panel;
    bool *placed; /* [rows] */
} similar_rows;

static void close_similar(similar_rows *s) {
    free(s->column_end);
    free(s->column_row);
    free(s->taken_by);
    free(s->seed);
    free(s->shared);
    free(s->candidate);
    free(s->placed);
}

static void list_columns(similar_rows *s) {
    const mc_csr *csr = s->csr;
    for (int64_t i = 0; i < csr->nnz; i++) s->column_end[csr->col_idx[i] + 1]++;
    for (int64_t c = 0; c < csr->cols; c++) s->column_end[c + 1] += s->column_end[c];
    for (int64_t row = 0; row < csr->rows; row++)
        for (int64_t i = csr->row_ptr[row]; i < csr->row_ptr[row + 1]; i++)
            s->column_row[s->column_end[csr->col_idx[i]]++] = (int32_t)row;
}

static mc_status open_similar(const mc_csr *csr, similar_rows *s, mc_diag *diag) {
    *s = (similar_rows){.csr = csr,
                        .column_end = mcrt_array(csr->cols + 1, sizeof *s->column_end),
                        .column_row = mcrt_array(csr->nnz, sizeof *s->column_row),
                        .taken_by = mcrt_array(csr->cols, sizeof *s->taken_by),
                        .seed = mcrt_array(csr->rows, sizeof *s->seed),
                        .shared = mcrt_array(csr->rows, sizeof *s->shared),
                        .candidate = mcrt_array(csr->rows, sizeof *s->candidate),
                        .placed = mcrt_array(csr->rows, sizeof *s->placed)};
    if (!s->column_end || !s->column_row || !s->taken_by || !s->seed || !s->shared || !s->candidate ||
        !s->placed)
        return mcrt_no_memory(diag, csr->rows, "rows to be ordered");
    list_columns(s);
    return order_by_degree(csr, s->seed, diag);
}

/* The panel now has column C: its rows share one more. */
static void take_column(similar_rows *s, int32_t c) {
    const int64_t begin = c > 0 ? s->column_end[c - 1] : 0, end = s->column_end[c];
    if (s->taken_by[c] == s->panel || end - begin > ROW_ORDER_MOST_SHARED) return;
    s->taken_by[c] = s->panel;
    for (int64_t i = begin; i < end; i++) {
        const int32_t row = s->column_row[i];
        if (s->placed[row]) continue;
        if (s->shared[row]++ == 0) s->candidate[s->candidates++] = row;
    }
}

/* The row among the candidates that shares most columns; of several the shortest, then the first one. -1:
   there are none. Those that were placed leave the list. */
static int32_t best_candidate(similar_rows *s) {
    int32_t best = -1;
    int64_t left = 0;
    for (int64_t i = 0; i < s->candidates; i++) {
        const int32_t row = s->candidate[i];
        if (s->placed[row]) continue;
        s->candidate[left++] = row;
        const int64_t more = best < 0 ? 1 : s->shared[row] - s->shared[best],
                      shorter = best < 0 ? 0 : length_of(s->csr, best) - length_of(s->csr, row);
        if (more > 0 || (more == 0 && (shorter > 0 || (shorter == 0 && row < best)))) best = row;
    }
    s->candidates = left;
    return best;
}

static int32_t next_seed(similar_rows *s) {
    while (s->placed[s->seed[s->next_seed]]) s->next_seed++;
    return s->seed[s->next_seed];
}

static void begin_panel(similar_rows *s) {
    for (int64_t i = 0; i < s->candidates; i++) s->shared[s->candidate[i]] = 0;
    s->candidates = 0;
    s->panel++;
}

static mc_status order_by_similarity(const mc_csr *csr, int panel_rows, int32_t *row_of, mc_diag *diag) {
    similar_rows s;
    mc_status status = open_similar(csr, &s, diag);
    for (int64_t at = 0; status == MC_OK && at < csr->rows; at++) {
        if (at % panel_rows == 0) begin_panel(&s);
        const int32_t best = best_candidate(&s), row = best >= 0 ? best : next_seed(&s);
        row_of[at] = row;
        s.placed[row] = true;
        if ((at + 1) % panel_rows == 0) continue;
        for (int64_t i = csr->row_ptr[row]; i < csr->row_ptr[row + 1]; i++) take_column(&s, csr->col_idx[i]);
    }
    close_similar(&s);
    return status;
}

/* -- Both ---------------------------------------------------------------------------------------------- */

int64_t row_order_columns(const mc_csr *csr, const int32_t *row_of, int panel_rows) {
    int64_t *taken_by = mcrt_array(csr->cols, sizeof *taken_by), columns = 0;
    if (taken_by == NULL) return -1;
    for (int64_t at = 0; at < csr->rows; at++)
        for (int64_t i = csr->row_ptr[row_of[at]]; i < csr->row_ptr[row_of[at] + 1]; i++) {
            int64_t *by = &taken_by[csr->col_idx[i]];
            columns += *by != at / panel_rows + 1;
            *by = at / panel_rows + 1;
        }
    free(taken_by);
    return columns;
}

static void order_as_they_come(const mc_csr *csr, int32_t *row_of) {
    for (int64_t row = 0; row < csr->rows; row++) row_of[row] = (int32_t)row;
}

mc_status row_order_of(const mc_csr *csr, row_order order, int panel_rows, int32_t *row_of, mc_diag *diag) {
    if (order == ROWS_BY_DEGREE) return order_by_degree(csr, row_of, diag);
    order_as_they_come(csr, row_of);
    if (order == ROWS_AS_THEY_COME) return MC_OK;
    const int64_t before = row_order_columns(csr, row_of, panel_rows);
    mc_status status = order_by_similarity(csr, panel_rows, row_of, diag);
    if (status != MC_OK) return status;
    const int64_t after = row_order_columns(csr, row_of, panel_rows);
    if (before < 0 || after < 0) return mcrt_no_memory(diag, csr->cols, "columns");
    if (after >= before) order_as_they_come(csr, row_of);
    return MC_OK;
}
