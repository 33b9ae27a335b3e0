#include "ops/spmm/panel_zeros.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "formats/panels.h"
#include "parts/hrpb.h"

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

/* A brick is rows and columns of a panel that are all multiplied where any element of it is there. With
   panels it is all rows and one column, with HRPB 16 rows and 4 columns. */
typedef struct zeros_form {
    int rows; /* of a panel */
    int brick_rows, brick_cols;
    row_order order; /* of rows in panels */
} zeros_form;

static zeros_form form_of(const mc_kernel *kernel) {
    const char *panel = mc_kernel_field_text(kernel, "panel"),
               *staging = mc_kernel_field_text(kernel, "staging");
    if (staging != NULL && strcmp(staging, "hrpb") == 0)
        return (zeros_form){(int)mc_kernel_field(kernel, "panel_rows"), HRPB_TILE_ROWS, HRPB_TILE_COLS,
                            ROWS_AS_THEY_COME};
    const int rows = panel != NULL ? atoi(panel) : 1;
    return (zeros_form){rows, rows, 1,
                        rows > 1 ? (row_order)mc_kernel_field(kernel, "reorder") : ROWS_AS_THEY_COME};
}

typedef struct joined_panels {
    panel_matrix m;
    zeros_form form;
    const bool *has; /* of rows of B: find_rows */
    int64_t *place;  /* [rows of A]: which row of the panels it is */
} joined_panels;

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* Whether the brick of row ROW of PANEL in its column COLUMN has something. */
static bool has_brick(const joined_panels *p, int64_t panel, int64_t column, int row) {
    const mc_vsparse *joined = &p->m.joined;
    const int64_t in_panel = column - joined->row_ptr[panel], first = column - in_panel % p->form.brick_cols,
                  end = smaller(first + p->form.brick_cols, joined->row_ptr[panel + 1]);
    const int top = row - row % p->form.brick_rows;
    for (int64_t i = first; i < end; i++)
        for (int r = top; r < top + p->form.brick_rows; r++)
            if (p->m.element[i * joined->vec + r] >= 0) return true;
    return false;
}

static bool is_kept(const joined_panels *p, int64_t panel, int64_t column, int row) {
    const mc_vsparse *joined = &p->m.joined;
    return p->m.element[column * joined->vec + row] >= 0 ||
           (p->has[joined->col_idx[column]] && has_brick(p, panel, column, row));
}

/* Row ROW of A, with its zeros; where TO is NULL they are only counted. Returns the end of what it has, which
   begins at AT. */
static int64_t take_row(const joined_panels *p, int64_t row, int64_t at, mc_vsparse *to) {
    const mc_vsparse *joined = &p->m.joined;
    const int64_t panel = p->place[row] / joined->vec;
    const int in_panel = (int)(p->place[row] % joined->vec);
    for (int64_t i = joined->row_ptr[panel]; i < joined->row_ptr[panel + 1]; i++) {
        if (!is_kept(p, panel, i, in_panel)) continue;
        if (to != NULL) to->col_idx[at] = joined->col_idx[i];
        if (to != NULL) mc_vsparse_set_value(to, at, 0, mc_vsparse_value(joined, i, in_panel));
        at++;
    }
    return at;
}

static mc_status find_places(joined_panels *p, int64_t rows, mc_diag *diag) {
    const int32_t *row_of = p->m.row_of;
    p->place = mcrt_array(rows, sizeof *p->place);
    if (p->place == NULL) return mcrt_no_memory(diag, rows, "rows of panels");
    for (int64_t i = 0; i < rows; i++) p->place[row_of != NULL ? row_of[i] : i] = i;
    return MC_OK;
}

static mc_status add_zeros(const mc_vsparse *a, zeros_form form, const bool *has, mc_vsparse *to,
                           mc_diag *diag) {
    joined_panels p = {.form = form, .has = has};
    int64_t count = 0;
    mc_status status = panels_join_ordered(a, form.rows, form.order, &p.m, diag);
    if (status != MC_OK) return status;
    status = find_places(&p, a->rows, diag);
    for (int64_t row = 0; status == MC_OK && row < a->rows; row++) count = take_row(&p, row, count, NULL);
    if (status == MC_OK) status = mcrt_vsparse_create(a->type, 1, a->rows, a->cols, count, to, diag);
    for (int64_t row = 0; row < a->rows && status == MC_OK; row++)
        to->row_ptr[row + 1] = take_row(&p, row, to->row_ptr[row], to);
    free(p.place);
    panels_free(&p.m);
    return status;
}

mc_status panel_zeros_add(const mc_kernel *kernel, const mc_vsparse *a, const mc_dense *b,
                          mc_vsparse *with_zeros, mc_diag *diag) {
    const zeros_form form = form_of(kernel);
    *with_zeros = (mc_vsparse){0};
    if (form.rows == 1 || !mc_type_is_real(b->type)) return MC_OK;
    bool *has = mcrt_array(b->rows, sizeof *has);
    if (has == NULL) return mcrt_no_memory(diag, b->rows, "rows of B");
    mc_status status = find_rows(b, has) ? add_zeros(a, form, has, with_zeros, diag) : MC_OK;
    free(has);
    return status;
}
