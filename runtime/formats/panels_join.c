/* Rows of a panel joined, column by column. */
#include <inttypes.h>
#include <stdlib.h>
#include "base/memory.h"
#include "formats/panels.h"

static mc_status check_matrix(const mc_vsparse *a, int rows, mc_diag *diag) {
    if (rows < 1 || rows > MC_MAX_VEC)
        return mc_fail(diag, MC_USAGE, "panels of %d rows: must be 1 to %d", rows, MC_MAX_VEC);
    if (a->vec != 1)
        return mc_fail(diag, MC_CANNOT, "panels are of single nonzeros, the matrix has vectors of %d",
                       a->vec);
    if (a->vectors <= INT32_MAX) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "%" PRId64 " nonzeros, panels take fewer than 2^31", a->vectors);
}

/* Which nonzeros the joined columns have. */
static void find_elements(const mc_vsparse *a, const mc_vsparse *joined, int32_t *element) {
    for (int64_t i = 0; i < joined->vectors * joined->vec; i++) element[i] = -1;
    for (int64_t row = 0; row < a->rows; row++) {
        int64_t panel = row / joined->vec, at = joined->row_ptr[panel];
        for (int64_t i = a->row_ptr[row]; i < a->row_ptr[row + 1]; i++) {
            while (joined->col_idx[at] != a->col_idx[i]) at++;
            element[at * joined->vec + row % joined->vec] = (int32_t)i;
        }
    }
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
    double fill = 0;
    mc_status status = check_matrix(a, rows, diag);
    if (status == MC_OK) status = mc_vsparse_union(&pattern, rows, a->type, &m->joined, &fill, NULL, diag);
    if (status != MC_OK) return status;
    const int64_t count = mcrt_product(m->joined.vectors, rows);
    m->element = mcrt_array(count, sizeof *m->element);
    if (m->element == NULL) {
        panels_free(m);
        return mcrt_no_memory(diag, count, "values of panels");
    }
    find_elements(a, &m->joined, m->element);
    if (a->values != NULL) take_values(a, m);
    return MC_OK;
}

void panels_free(panel_matrix *m) {
    mc_vsparse_free(&m->joined);
    free(m->element);
    *m = (panel_matrix){.element = NULL};
}
