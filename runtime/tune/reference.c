/* What C must be: the CPU reference, row blocks on all cores. */
#include <stdlib.h>
#include <string.h>
#include "base/element.h"
#include "base/memory.h"
#include "tune/measurement.h"
#include "tune/pool.h"

enum { PIECES_PER_CORE = 2 };

/* Row blocks FIRST to END - 1 of the matrix, as a matrix of their own. Its arrays are parts of the whole
   matrix's, but for row_ptr and, of 4 bits, values that begin inside of a byte. An operator without a matrix
   has one band, which is everything. */
typedef struct band {
    mc_vsparse matrix;
    int64_t first_row, first_vector;
    void *own_values; /* NULL: they are parts of the whole matrix's */
} band;

typedef struct reference {
    measurement *m;
    size_t pieces;
    sum_range sums; /* of all vectors, where the output is SAMPLED */
    mc_status *statuses;
    mc_diag **whys;
} reference;

/* Inputs that go by the matrix's elements are not cut into bands: there is one, as without a matrix. */
static bool has_bands(const measurement *m) {
    for (size_t i = 0; i < m->operator->operand_count; i++)
        if (m->operator->operands[i].kind == OPERAND_SAMPLED && !m->operator->operands[i].out) return false;
    return m->operator->matrix.wanted;
}

/* Whether a SAMPLED output is made of bands, whose sums are kept until all are there. */
static bool is_sampled(const measurement *m) {
    return has_bands(m) && operator_out(m->operator)->kind == OPERAND_SAMPLED;
}

/* The band's values: where they lie in WHOLE, or, if they begin inside of a byte, a copy. */
static mc_status cut_values(const mc_vsparse *whole, int64_t from, band *b, mc_diag *diag) {
    const int64_t count = b->matrix.vectors * whole->vec;
    b->matrix.values = (char *)whole->values + mc_type_size(whole->type, from);
    if (mc_type_bytes(whole->type) > 0 || from % 2 == 0) return MC_OK;
    b->matrix.values = b->own_values = mcrt_array(count / 2 + 1, 1);
    if (b->own_values == NULL) return mcrt_no_memory(diag, count, "values");
    for (int64_t i = 0; i < count; i++)
        element_set(whole->type, b->own_values, i, element_get(whole->type, whole->values, from + i));
    return MC_OK;
}

static mc_status cut_band(const mc_vsparse *whole, int64_t first, int64_t end, band *b, mc_diag *diag) {
    int64_t from = whole->row_ptr[first], values = from * whole->vec;
    b->matrix = *whole;
    b->first_row = first * whole->vec;
    b->first_vector = from;
    b->matrix.row_blocks = end - first;
    b->matrix.rows = (end - first) * whole->vec;
    b->matrix.vectors = whole->row_ptr[end] - from;
    b->matrix.col_idx = whole->col_idx + from;
    if (whole->source.col_idx != NULL) b->matrix.source.col_idx = whole->source.col_idx + from;
    b->matrix.row_ptr = mcrt_array(end - first + 1, sizeof *b->matrix.row_ptr);
    if (b->matrix.row_ptr == NULL) return mcrt_no_memory(diag, end - first, "row blocks");
    for (int64_t i = first; i <= end; i++) b->matrix.row_ptr[i - first] = whole->row_ptr[i] - from;
    return cut_values(whole, values, b, diag);
}

/* COUNT rows of DENSE from FIRST on. */
static mc_dense rows_of(const mc_dense *dense, int64_t first, int64_t count) {
    mc_dense part = *dense;
    part.rows = count;
    part.data = (char *)dense->data + mc_type_size(dense->type, first * dense->ld);
    return part;
}

/* The same of a matrix that is stored by columns. */
static mc_dense columns_of(const mc_dense *dense, int64_t first, int64_t count) {
    mc_dense part = *dense;
    part.cols = count;
    if (dense->data != NULL) part.data = (char *)dense->data + mc_type_size(dense->type, first);
    return part;
}

/* A band of C, whose first element is the ROW-th, COL-th one as C is stored, to its place in WANT; and poison
   into the gaps behind rows, where the band reaches their ends. */
static void put_band(const tune_operands *o, int64_t row, int64_t col, const mc_dense *c,
                     unsigned char *want) {
    size_t row_bytes = (size_t)mc_type_size(c->type, c->cols), step = (size_t)mc_type_size(c->type, o->c.ld),
           from = (size_t)mc_type_size(c->type, c->ld), before = (size_t)mc_type_size(c->type, col);
    unsigned char *to = want + o->guard + (size_t)row * step + before;
    bool ends = col + c->cols == o->c.cols;
    for (size_t i = 0; i < (size_t)c->rows; i++) {
        memcpy(to + i * step, (const char *)c->data + i * from, row_bytes);
        if (ends) memset(to + i * step + row_bytes, TUNE_POISON, step - row_bytes - before);
    }
}

static void put_rows(const measurement *m, int64_t first, const mc_dense *c, unsigned char *want) {
    bool turned =
        m->operator->matrix.wanted && operand_is_turned(m->race->problem, operator_out(m->operator));
    put_band(&m->operands, turned ? 0 : first, turned ? first : 0, c, want);
}

/* The operands of a band: of those that have the matrix's rows, the band's rows; all of the others. INPUTS is
   room for these. */
static host_operands band_operands(const measurement *m, const band *b, mc_dense inputs[MAX_OPERANDS]) {
    const mc_operator *op = m->operator;
    host_operands of = {.problem = m->race->problem, .matrix = &b->matrix};
    for (size_t i = 0; i < op->operand_count; i++) {
        const operand_row *operand = &op->operands[i];
        const float *factors = m->operands.factors[i];
        bool by_rows = operand_per(of.problem, operand) == MC_PER_ROW;
        inputs[i] = m->operands.inputs[i];
        bool banded = op->matrix.wanted && operand->rows == op->matrix.rows;
        if (operand->kind == OPERAND_DENSE && banded && !operand->out)
            inputs[i] = (operand_is_turned(of.problem, operand) ? columns_of : rows_of)(
                &inputs[i], b->first_row, b->matrix.rows);
        of.inputs[i] = &inputs[i];
        of.factors[i] = by_rows && factors != NULL ? factors + b->first_row : factors;
    }
    return of;
}

/* Further outputs: of an operator that has one band. */
static mc_status make_others(measurement *m, const host_operands *of, const mc_dense *sums, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < m->operator->operand_count && status == MC_OK; i++)
        if (operand_is_other(of->problem, &m->operator->operands[i]))
            status = m->operator->other(of, sums, i, &m->operands.others[i], diag);
    return status;
}

static mc_status finish_band(measurement *m, const host_operands *of, const band *b, const sum_range *sums,
                             mc_diag *diag) {
    const tune_operands *o = &m->operands;
    reference_result c;
    mc_status status = operator_finish(m->operator, of, sums, &c, diag);
    if (status == MC_OK) put_rows(m, b->first_row, &c.low, o->want);
    if (status == MC_OK && o->most != NULL) put_rows(m, b->first_row, &c.high, o->most);
    mc_result_free(&c);
    return status == MC_OK ? make_others(m, of, &sums->least, diag) : status;
}

/* A band's sums of vectors, to their place among ALL. */
static void put_sums(const band *b, const mc_dense *sums, mc_dense *all) {
    size_t bytes = (size_t)mc_type_size(all->type, b->matrix.vectors * b->matrix.vec);
    if (bytes == 0 || all->data == NULL) return;
    memcpy((char *)all->data + mc_type_size(all->type, b->first_vector * b->matrix.vec), sums->data, bytes);
}

/* A SAMPLED output's sums are kept, as its order does not go by rows. */
static mc_status multiply_band(reference *r, const band *b, mc_diag *diag) {
    mc_dense inputs[MAX_OPERANDS];
    sum_range sums;
    const host_operands of = band_operands(r->m, b, inputs);
    mc_status status = operator_sums(r->m->operator, & of, &sums, diag);
    if (status == MC_OK && !is_sampled(r->m)) {
        status = finish_band(r->m, &of, b, &sums, diag);
    } else if (status == MC_OK) {
        put_sums(b, &sums.least, &r->sums.least);
        put_sums(b, &sums.most, &r->sums.most);
    }
    mc_sum_range_free(&sums);
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
    mc_status status = r->m->operator->matrix.wanted ? cut_band(whole, first, end, &b, why) : MC_OK;
    if (status == MC_OK) status = multiply_band(r, &b, why);
    free(b.matrix.row_ptr);
    free(b.own_values);
    r->statuses[index] = status;
}

static bool tick(void *user, size_t done) {
    const reference *r = user;
    (void)done;
    return tune_tell_preparing(r->m);
}

/* All sums of a SAMPLED output together. */
static mc_status finish_all(reference *r, mc_diag *diag) {
    const band all = {.matrix = r->m->operands.matrix};
    mc_dense inputs[MAX_OPERANDS];
    const host_operands of = band_operands(r->m, &all, inputs);
    return finish_band(r->m, &of, &all, &r->sums, diag);
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
    if (status == MC_OK && done == r->pieces && is_sampled(r->m)) status = finish_all(r, diag);
    return status;
}

/* C itself is written piece by piece, by all cores. */
static mc_status make_memory(const tune_operands *o, unsigned char **memory, mc_diag *diag) {
    *memory = mcrt_array((int64_t)o->want_bytes, 1);
    if (*memory == NULL) return mcrt_no_memory(diag, (int64_t)o->want_bytes, "bytes of C");
    memset(*memory, TUNE_POISON, o->guard);
    memset(*memory + o->want_bytes - o->guard, TUNE_POISON, o->guard);
    return MC_OK;
}

/* Room for the sums of all vectors. */
static mc_status make_sums(reference *r, bool exact, mc_diag *diag) {
    const mc_vsparse *matrix = &r->m->operands.matrix;
    const plan_problem *p = r->m->race->problem;
    mc_type type = arithmetic_of_sides(p->lhs, p->rhs)->sums;
    mc_status status = mc_dense_create(type, matrix->vectors, matrix->vec, matrix->vec, &r->sums.least, diag);
    if (status != MC_OK || exact) return status;
    return mc_dense_create(type, matrix->vectors, matrix->vec, matrix->vec, &r->sums.most, diag);
}

static mc_status make_room(reference *r, mc_diag *diag) {
    tune_operands *o = &r->m->operands;
    bool exact = operator_is_exact(r->m->operator, r->m->race->problem);
    mc_status status = make_memory(o, &o->want, diag);
    if (status == MC_OK && !exact) status = make_memory(o, &o->most, diag);
    return status == MC_OK && is_sampled(r->m) ? make_sums(r, exact, diag) : status;
}

mc_status tune_reference(measurement *m, mc_diag *diag) {
    const mc_vsparse *matrix = &m->operands.matrix;
    size_t most = has_bands(m) ? (size_t)matrix->row_blocks : 1, pieces = PIECES_PER_CORE * tune_cores();
    reference r = {.m = m, .pieces = pieces < most ? pieces : most};
    r.statuses = calloc(r.pieces, sizeof *r.statuses);
    r.whys = calloc(r.pieces, sizeof(mc_diag *));
    mc_status status = make_room(&r, diag);
    if (r.statuses == NULL || r.whys == NULL) status = mc_fail(diag, MC_NOMEM, "out of memory");
    if (status == MC_OK) status = compute(&r, diag);
    for (size_t i = 0; r.whys != NULL && i < r.pieces; i++) mc_diag_destroy(r.whys[i]);
    free(r.whys);
    free(r.statuses);
    mc_sum_range_free(&r.sums);
    return status;
}
