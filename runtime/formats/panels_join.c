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

void panels_free(panel_matrix *m) {
    mc_vsparse_free(&m->joined);
    free(m->element);
    *m = (panel_matrix){.element = NULL};
}
