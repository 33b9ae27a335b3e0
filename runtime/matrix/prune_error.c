/* What pruning and quantising cost: how far a product is off. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "matrix/prune.h"

enum { WHOLE, KEPT, QUANTISED, BOTH, PRODUCTS };

/* Activations by features, so that neighbouring tokens of a sum lie side by side; and a row of each product,
   an element for each token. */
typedef struct products {
    int64_t tokens;
    double *x, *rounded; /* ROUNDED: X quantised, and scaled back */
    double *rows[PRODUCTS];
    double squares[PRODUCTS]; /* of WHOLE; of the others' differences from it */
} products;

static double value_of(const quantiser *q, double x) {
    if (q == NULL) return x;
    return (double)(quantiser_apply(q, (float)x) - quantiser_zero(q)) * (double)q->scale;
}

static mc_status create(const mc_dense *x, const quantiser *q, products *p, mc_diag *diag) {
    int64_t count = mcrt_product(x->rows, x->cols);
    *p = (products){.tokens = x->rows};
    p->x = mcrt_array(count, sizeof *p->x);
    p->rounded = mcrt_array(count, sizeof *p->rounded);
    bool room = p->x != NULL && p->rounded != NULL;
    for (int i = 0; i < PRODUCTS; i++) {
        p->rows[i] = mcrt_array(x->rows, sizeof *p->rows[i]);
        room = room && p->rows[i] != NULL;
    }
    if (!room) return mcrt_no_memory(diag, count, "activations");
    for (int64_t j = 0; j < x->cols; j++)
        for (int64_t t = 0; t < x->rows; t++) {
            double value = mc_dense_real(x, t, j);
            p->x[j * x->rows + t] = value;
            p->rounded[j * x->rows + t] = value_of(q, value);
        }
    return MC_OK;
}

static void destroy(products *p) {
    free(p->x);
    free(p->rounded);
    for (int i = 0; i < PRODUCTS; i++) free(p->rows[i]);
}

/* Adds WEIGHT times the feature X of all tokens. */
static void add(double *row, double weight, const double *x, int64_t tokens) {
    for (int64_t t = 0; t < tokens; t++) row[t] += weight * x[t];
}

static void add_vectors(const mc_dense *dense, const mc_pruned *pruned, int64_t row, products *p) {
    const mc_vsparse *a = &pruned->a;
    double scale = (double)((const float *)pruned->scales.data)[pruned->scales.cols > 1 ? row : 0];
    for (int64_t v = a->row_ptr[row / a->vec]; v < a->row_ptr[row / a->vec + 1]; v++) {
        int64_t j = a->col_idx[v];
        double weight = (double)mc_vsparse_value(a, v, (int)(row % a->vec)) * scale;
        add(p->rows[KEPT], mc_dense_real(dense, row, j), p->x + j * p->tokens, p->tokens);
        add(p->rows[QUANTISED], weight, p->x + j * p->tokens, p->tokens);
        add(p->rows[BOTH], weight, p->rounded + j * p->tokens, p->tokens);
    }
}

static void add_row(const mc_dense *dense, const mc_pruned *pruned, int64_t row, products *p) {
    for (int i = 0; i < PRODUCTS; i++) memset(p->rows[i], 0, (size_t)p->tokens * sizeof *p->rows[i]);
    for (int64_t j = 0; j < dense->cols; j++)
        add(p->rows[WHOLE], mc_dense_real(dense, row, j), p->x + j * p->tokens, p->tokens);
    add_vectors(dense, pruned, row, p);
    for (int i = 0; i < PRODUCTS; i++)
        for (int64_t t = 0; t < p->tokens; t++) {
            double off = p->rows[WHOLE][t] - (i == WHOLE ? 0 : p->rows[i][t]);
            p->squares[i] += off * off;
        }
}

mc_status mc_prune_error(const mc_dense *dense, const mc_pruned *pruned, const mc_dense *x,
                         const quantiser *activations, mc_prune_errors *errors, mc_diag *diag) {
    products p;
    *errors = (mc_prune_errors){0, 0, 0};
    if (x->cols != dense->cols)
        return mc_fail(diag, MC_USAGE,
                       "activations have %" PRId64 " features, the matrix %" PRId64 " columns", x->cols,
                       dense->cols);
    mc_status status = create(x, activations, &p, diag);
    for (int64_t row = 0; status == MC_OK && row < dense->rows; row++) add_row(dense, pruned, row, &p);
    if (status == MC_OK && p.squares[WHOLE] > 0)
        *errors = (mc_prune_errors){sqrt(p.squares[KEPT] / p.squares[WHOLE]),
                                    sqrt(p.squares[QUANTISED] / p.squares[WHOLE]),
                                    activations != NULL ? sqrt(p.squares[BOTH] / p.squares[WHOLE]) : 0};
    destroy(&p);
    return status;
}

mc_status mc_prune_bias(const mc_pruned *pruned, const quantiser *activations, mc_dense *bias,
                        mc_diag *diag) {
    const mc_vsparse *a = &pruned->a;
    const float *scales = pruned->scales.data;
    double zero = (double)quantiser_zero(activations) * (double)activations->scale;
    mc_status status = mc_dense_create(MC_F32, 1, a->rows, a->rows, bias, diag);
    for (int64_t row = 0; status == MC_OK && row < a->rows; row++) {
        int64_t sum = 0;
        for (int64_t v = a->row_ptr[row / a->vec]; v < a->row_ptr[row / a->vec + 1]; v++)
            sum += mc_vsparse_value(a, v, (int)(row % a->vec));
        double scale = (double)scales[pruned->scales.cols > 1 ? row : 0];
        ((float *)bias->data)[row] = (float)(0 - scale * zero * (double)sum);
    }
    return status;
}
