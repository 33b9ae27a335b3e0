#include "ops/spmm/panel_zeros.h"
#include <math.h>
#include <stdlib.h>
#include "base/memory.h"
#include "formats/panels.h"

/* Zero times anything smaller is zero, also once it is rounded to tf32. */
static const double greatest = 0x1p127;

/* Sets HAS[k] to whether row k of B has an element that is infinite or a NaN, or nearly so. Returns whether
   any row has. */
static bool find_rows(const mc_dense *b, bool *has) {
    bool any = false;
    for (int64_t k = 0; k < b->rows; k++) {
        for (int64_t j = 0; j < b->cols && !has[k]; j++) has[k] = !(fabs(mc_dense_real(b, k, j)) < greatest);
        any |= has[k];
    }
    return any;
}

static bool is_kept(const panel_matrix *m, const bool *has, int64_t column, int row) {
    return m->element[column * m->joined.vec + row] >= 0 || has[m->joined.col_idx[column]];
}

/* Row ROW of A, with its zeros; where TO is NULL they are only counted. Returns the end of what it has, which
   begins at AT. */
static int64_t take_row(const panel_matrix *m, const bool *has, int64_t row, int64_t at, mc_vsparse *to) {
    const mc_vsparse *joined = &m->joined;
    const int64_t panel = row / joined->vec;
    const int in_panel = (int)(row % joined->vec);
    for (int64_t i = joined->row_ptr[panel]; i < joined->row_ptr[panel + 1]; i++) {
        if (!is_kept(m, has, i, in_panel)) continue;
        if (to != NULL) to->col_idx[at] = joined->col_idx[i];
        if (to != NULL) mc_vsparse_set_value(to, at, 0, mc_vsparse_value(joined, i, in_panel));
        at++;
    }
    return at;
}

static mc_status add_zeros(const mc_vsparse *a, int rows, const bool *has, mc_vsparse *to, mc_diag *diag) {
    panel_matrix m;
    int64_t count = 0;
    mc_status status = panels_join(a, rows, &m, diag);
    if (status != MC_OK) return status;
    for (int64_t row = 0; row < a->rows; row++) count = take_row(&m, has, row, count, NULL);
    status = mcrt_vsparse_create(a->type, 1, a->rows, a->cols, count, to, diag);
    for (int64_t row = 0; row < a->rows && status == MC_OK; row++)
        to->row_ptr[row + 1] = take_row(&m, has, row, to->row_ptr[row], to);
    panels_free(&m);
    return status;
}

mc_status panel_zeros_add(const mc_kernel *kernel, const mc_vsparse *a, const mc_dense *b,
                          mc_vsparse *with_zeros, mc_diag *diag) {
    const char *panel = mc_kernel_field_text(kernel, "panel");
    const int rows = panel != NULL ? atoi(panel) : 1;
    *with_zeros = (mc_vsparse){0};
    if (rows == 1 || !mc_type_is_real(b->type)) return MC_OK;
    bool *has = mcrt_array(b->rows, sizeof *has);
    if (has == NULL) return mcrt_no_memory(diag, b->rows, "rows of B");
    mc_status status = find_rows(b, has) ? add_zeros(a, rows, has, with_zeros, diag) : MC_OK;
    free(has);
    return status;
}
