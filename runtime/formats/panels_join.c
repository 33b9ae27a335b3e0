/* Rows of a panel joined, column by column. */
#include <inttypes.h>
#include <stdlib.h>
#include "base/memory.h"
#include "formats/panels.h"
#include "matrix/row_panels.h"

enum { MOST_ROWS = 32 };

static mc_status check_matrix(const mc_vsparse *a, int rows, mc_diag *diag) {
    if (rows < 1 || rows > MOST_ROWS)
        return mc_fail(diag, MC_USAGE, "panels of %d rows: must be 1 to %d", rows, MOST_ROWS);
    if (a->vec != 1)
        return mc_fail(diag, MC_CANNOT, "panels are of single nonzeros, the matrix has vectors of %d",
                       a->vec);
    if (a->vectors <= INT32_MAX) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "%" PRId64 " nonzeros, panels take fewer than 2^31", a->vectors);
}

/* The panel's columns become joined ones from AT on. A row's nonzeros come one after another, as its bits are
   set. */
static void take_panel(const mc_vsparse *a, const row_panel *panel, panel_matrix *m, int64_t at) {
    const int rows = m->joined.vec;
    int32_t next[MOST_ROWS], *element = m->element + at * rows;
    for (int r = 0; r < panel->rows; r++) next[r] = (int32_t)a->row_ptr[panel->first_row + r];
    for (int64_t i = 0; i < panel->columns; i++, element += rows) {
        m->joined.col_idx[at + i] = panel->column[i];
        for (int r = 0; r < rows; r++) element[r] = panel->row_mask[i] >> r & 1 ? next[r]++ : -1;
    }
}

static mc_status take_panels(const mc_vsparse *a, const mc_csr *pattern, panel_matrix *m, mc_diag *diag) {
    row_panel_walk walk;
    row_panel panel;
    int64_t at = 0;
    mc_status status = row_panels_open(pattern, m->joined.vec, &walk, diag);
    for (int64_t *end = m->joined.row_ptr + 1; status == MC_OK && row_panels_next(&walk, &panel); end++) {
        take_panel(a, &panel, m, at);
        *end = at += panel.columns;
    }
    row_panels_close(&walk);
    return status;
}

/* Room for as many columns as panels have. */
static mc_status make_room(const mc_vsparse *a, const mc_csr *pattern, int rows, panel_matrix *m,
                           mc_diag *diag) {
    row_panel_facts facts;
    mc_status status = row_panel_facts_of(pattern, rows, &facts, diag);
    if (status == MC_OK)
        status = mcrt_vsparse_create(a->type, rows, facts.panels, a->cols, facts.columns, &m->joined, diag);
    if (status != MC_OK) return status;
    const int64_t count = mcrt_product(facts.columns, rows);
    m->element = mcrt_array(count, sizeof *m->element);
    return m->element != NULL ? MC_OK : mcrt_no_memory(diag, count, "values of panels");
}

static void take_values(const mc_vsparse *a, panel_matrix *m) {
    const int rows = m->joined.vec;
    for (int64_t i = 0; i < m->joined.vectors * rows; i++)
        if (m->element[i] >= 0)
            mc_vsparse_set_value(&m->joined, i / rows, (int)(i % rows),
                                 mc_vsparse_value(a, m->element[i], 0));
}

mc_status panels_join(const mc_vsparse *a, int rows, panel_matrix *m, mc_diag *diag) {
    *m = (panel_matrix){.element = NULL};
    const mc_csr pattern = {
        .rows = a->rows, .cols = a->cols, .nnz = a->vectors, .row_ptr = a->row_ptr, .col_idx = a->col_idx};
    mc_status status = check_matrix(a, rows, diag);
    if (status == MC_OK) status = make_room(a, &pattern, rows, m, diag);
    if (status == MC_OK) status = take_panels(a, &pattern, m, diag);
    if (status != MC_OK) panels_free(m);
    else if (a->values != NULL) take_values(a, m);
    return status;
}

/* -- In another order ---------------------------------------------------------------------------------- */

/* A without values, its rows in the order of the panels. */
typedef struct ordered_rows {
    mc_vsparse a;
    int32_t *number; /* [nonzeros]: which one of A's it is */
} ordered_rows;

static void free_ordered(ordered_rows *o) {
    free(o->a.row_ptr);
    free(o->a.col_idx);
    free(o->number);
}

static mc_status order_rows(const mc_vsparse *a, const int32_t *row_of, ordered_rows *o, mc_diag *diag) {
    *o = (ordered_rows){.a = *a, .number = mcrt_array(a->vectors, sizeof *o->number)};
    o->a.values = NULL;
    o->a.row_ptr = mcrt_array(a->rows + 1, sizeof *o->a.row_ptr);
    o->a.col_idx = mcrt_array(a->vectors, sizeof *o->a.col_idx);
    if (o->number == NULL || o->a.row_ptr == NULL || o->a.col_idx == NULL)
        return mcrt_no_memory(diag, a->vectors, "nonzeros in another order");
    int64_t at = 0;
    for (int64_t row = 0; row < a->rows; row++) {
        for (int64_t i = a->row_ptr[row_of[row]]; i < a->row_ptr[row_of[row] + 1]; i++, at++) {
            o->a.col_idx[at] = a->col_idx[i];
            o->number[at] = (int32_t)i;
        }
        o->a.row_ptr[row + 1] = at;
    }
    return MC_OK;
}

/* Which row of A each row of the panels is. Behind the last panel stands one more, without rows, which
   items without work name. */
static mc_status find_order(const mc_vsparse *a, int rows, row_order order, int32_t **row_of, mc_diag *diag) {
    const mc_csr pattern = {
        .rows = a->rows, .cols = a->cols, .nnz = a->vectors, .row_ptr = a->row_ptr, .col_idx = a->col_idx};
    if (a->rows > INT32_MAX - 2 * rows)
        return mc_fail(diag, MC_CANNOT, "%" PRId64 " rows in another order are too many for s32", a->rows);
    const int64_t places = ((a->rows + rows - 1) / rows + 1) * rows;
    *row_of = mcrt_array(places, sizeof **row_of);
    if (*row_of == NULL) return mcrt_no_memory(diag, places, "rows of panels");
    for (int64_t i = a->rows; i < places; i++) (*row_of)[i] = INT32_MAX;
    return row_order_of(&pattern, order, rows, *row_of, diag);
}

static void number_elements(const ordered_rows *o, panel_matrix *m) {
    for (int64_t i = 0; i < m->joined.vectors * m->joined.vec; i++)
        if (m->element[i] >= 0) m->element[i] = o->number[m->element[i]];
}

mc_status panels_join_ordered(const mc_vsparse *a, int rows, row_order order, panel_matrix *m,
                              mc_diag *diag) {
    ordered_rows ordered = {.number = NULL};
    int32_t *row_of = NULL;
    if (order == ROWS_AS_THEY_COME) return panels_join(a, rows, m, diag);
    *m = (panel_matrix){.element = NULL};
    mc_status status = check_matrix(a, rows, diag);
    if (status == MC_OK) status = find_order(a, rows, order, &row_of, diag);
    if (status == MC_OK) status = order_rows(a, row_of, &ordered, diag);
    if (status == MC_OK) status = panels_join(&ordered.a, rows, m, diag);
    m->row_of = row_of;
    if (status != MC_OK) panels_free(m);
    else number_elements(&ordered, m);
    if (status == MC_OK && a->values != NULL) take_values(a, m);
    free_ordered(&ordered);
    return status;
}

void panels_free(panel_matrix *m) {
    mc_vsparse_free(&m->joined);
    free(m->element);
    free(m->row_of);
    *m = (panel_matrix){.element = NULL};
}
