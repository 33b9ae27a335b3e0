/* What C must be: the CPU reference, row blocks on all cores. */
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "tune/measurement.h"
#include "tune/pool.h"

enum { PIECES_PER_CORE = 2 };

/* Row blocks FIRST to END - 1 of the matrix, as a matrix:
   its arrays are parts of the whole's, but for row_ptr. */
typedef struct band {
    mc_vsparse matrix;
    int64_t first_row, first_vector;
} band;

typedef struct reference {
    measurement *m;
    size_t pieces;
    mc_dense sums; /* SDDMM: of all vectors */
    mc_status *statuses;
    mc_diag **whys;
} reference;

static mc_status cut_band(const mc_vsparse *whole, int64_t first, int64_t end, band *b, mc_diag *diag) {
    int64_t from = whole->row_ptr[first], values = from * whole->vec;
    b->matrix = *whole;
    b->first_row = first * whole->vec;
    b->first_vector = from;
    b->matrix.row_blocks = end - first;
    b->matrix.rows = (end - first) * whole->vec;
    b->matrix.vectors = whole->row_ptr[end] - from;
    b->matrix.col_idx = whole->col_idx + from;
    b->matrix.values = (char *)whole->values + mc_type_size(whole->type, values);
    b->matrix.row_ptr = mcrt_array(end - first + 1, sizeof *b->matrix.row_ptr);
    if (b->matrix.row_ptr == NULL) return mcrt_no_memory(diag, end - first, "row blocks");
    for (int64_t i = first; i <= end; i++) b->matrix.row_ptr[i - first] = whole->row_ptr[i] - from;
    return MC_OK;
}

/* COUNT rows of DENSE from FIRST on. */
static mc_dense rows_of(const mc_dense *dense, int64_t first, int64_t count) {
    mc_dense part = *dense;
    part.rows = count;
    part.data = (char *)dense->data + mc_type_size(dense->type, first * dense->ld);
    return part;
}

/* Rows of C, from FIRST on, to their places in `want`, and poison into the gaps behind them. */
static void put_rows(tune_operands *o, int64_t first, const mc_dense *c) {
    size_t row_bytes = (size_t)mc_type_size(c->type, c->cols), step = (size_t)mc_type_size(c->type, o->c.ld),
           from = (size_t)mc_type_size(c->type, c->ld);
    unsigned char *to = o->want + o->guard + (size_t)first * step;
    for (size_t i = 0; i < (size_t)c->rows; i++) {
        memcpy(to + i * step, (const char *)c->data + i * from, row_bytes);
        memset(to + i * step + row_bytes, TUNE_POISON, step - row_bytes);
    }
}

static mc_status multiply_band(tune_operands *o, const band *b, mc_diag *diag) {
    mc_dense sums = {0}, c = {0};
    mc_status status = mc_reference_spmm(&b->matrix, &o->b, &sums, diag);
    const float *scale = o->output.scale == MC_PER_ROW ? o->scale + b->first_row : o->scale;
    const float *bias = o->output.bias == MC_PER_ROW ? o->bias + b->first_row : o->bias;
    if (status == MC_OK) status = mc_reference_output(&o->output, scale, bias, &sums, &c, diag);
    mc_dense_free(&sums);
    if (status == MC_OK) put_rows(o, b->first_row, &c);
    mc_dense_free(&c);
    return status;
}

static mc_status sample_band(reference *r, const band *b, mc_diag *diag) {
    const tune_operands *o = &r->m->operands;
    const mc_dense a = rows_of(&o->a, b->first_row, b->matrix.rows);
    mc_dense sums = {0};
    mc_status status = mc_reference_sddmm(&b->matrix, &a, &o->b, r->m->race->problem->layout, &sums, diag);
    if (status == MC_OK && b->matrix.vectors > 0)
        memcpy((int64_t *)r->sums.data + b->first_vector * b->matrix.vec, sums.data,
               (size_t)(b->matrix.vectors * b->matrix.vec) * sizeof(int64_t));
    mc_dense_free(&sums);
    return status;
}

static void do_band(void *user, size_t index) {
    reference *r = user;
    const mc_vsparse *whole = &r->m->operands.matrix;
    int64_t pieces = (int64_t)r->pieces, i = (int64_t)index, size = whole->row_blocks / pieces,
            rest = whole->row_blocks % pieces;
    int64_t first = i * size + (i < rest ? i : rest), end = first + size + (i < rest);
    band b = {0};
    mc_diag *why = r->whys[index] = mc_diag_create();
    mc_status status = cut_band(whole, first, end, &b, why);
    if (status == MC_OK)
        status = r->m->race->problem->op == MC_OP_SPMM ? multiply_band(&r->m->operands, &b, why)
                                                       : sample_band(r, &b, why);
    free(b.matrix.row_ptr);
    r->statuses[index] = status;
}

static bool tick(void *user, size_t done) {
    const reference *r = user;
    (void)done;
    return tune_tell_preparing(r->m);
}

/* All sums of an SDDMM together, as its order of C does not go by rows. */
static mc_status arrange_sums(reference *r, mc_diag *diag) {
    tune_operands *o = &r->m->operands;
    mc_dense c = {0};
    mc_status status = mc_reference_sampled(&o->output, &o->matrix, r->m->race->problem->order, o->scale,
                                            &r->sums, &c, diag);
    if (status == MC_OK) put_rows(o, 0, &c);
    mc_dense_free(&c);
    return status;
}

static mc_status first_failure(const reference *r, size_t done, mc_diag *diag) {
    for (size_t i = 0; i < done; i++) {
        const char *why = r->whys[i] != NULL ? mc_diag_text(r->whys[i]) : "out of memory";
        if (r->statuses[i] != MC_OK) return mc_fail(diag, r->statuses[i], "%s", why);
    }
    return MC_OK;
}

static mc_status compute(reference *r, mc_diag *diag) {
    const tune_work work = {r->pieces, do_band, tick, r};
    size_t done = tune_work_do(&work);
    mc_status status = first_failure(r, done, diag);
    if (status == MC_OK && done == r->pieces && r->m->race->problem->op == MC_OP_SDDMM)
        status = arrange_sums(r, diag);
    return status;
}

/* C itself is written piece by piece, by all cores. */
static mc_status make_want(tune_operands *o, mc_diag *diag) {
    o->want = mcrt_array((int64_t)o->want_bytes, 1);
    if (o->want == NULL) return mcrt_no_memory(diag, (int64_t)o->want_bytes, "bytes of C");
    memset(o->want, TUNE_POISON, o->guard);
    memset(o->want + o->want_bytes - o->guard, TUNE_POISON, o->guard);
    return MC_OK;
}

mc_status tune_reference(measurement *m, mc_diag *diag) {
    const mc_vsparse *matrix = &m->operands.matrix;
    size_t most = (size_t)matrix->row_blocks, pieces = PIECES_PER_CORE * tune_cores();
    reference r = {.m = m, .pieces = pieces < most ? pieces : most};
    r.statuses = calloc(r.pieces, sizeof *r.statuses);
    r.whys = calloc(r.pieces, sizeof(mc_diag *));
    mc_status status = make_want(&m->operands, diag);
    if (r.statuses == NULL || r.whys == NULL) status = mc_fail(diag, MC_NOMEM, "out of memory");
    if (status == MC_OK && m->race->problem->op == MC_OP_SDDMM)
        status = mc_dense_create(MC_S64, matrix->vectors, matrix->vec, matrix->vec, &r.sums, diag);
    if (status == MC_OK) status = compute(&r, diag);
    for (size_t i = 0; r.whys != NULL && i < r.pieces; i++) mc_diag_destroy(r.whys[i]);
    free(r.whys);
    free(r.statuses);
    mc_dense_free(&r.sums);
    return status;
}
