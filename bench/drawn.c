#include "drawn.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/real.h"
#include "base/type.h"
#include "matrix/random.h"

enum { SEED_A = 1, SEED_B = 2, CHECKED_ROWS = 16, UNIT = 16 };

static bool is_integer(mc_type type) { return !mc_type_is_real(type); }

/* -- On the host ----------------------------------------------------------------------------------------- */

static int64_t draw_value(mcrt_random *random, mc_type type, fill_law law) {
    if (law == FILL_UNIFORM && is_integer(type)) return random_value(random, type, MC_VALUES_FULL);
    double x = law == FILL_UNIFORM ? 2 * random_unit(random) - 1
                                   : random_normal(random) * helpers_deviation(type, law);
    if (type_of_elements(type) == MC_F32)
        return real_to_bits(MC_F32, (float)x) & 0xffffe000; /* exact for both sides */
    if (mc_type_is_real(type)) return real_to_bits(type, (float)x);
    if (type == MC_U8) x = fabs(x);
    return (int64_t)fmax(fmin(rint(x), 127), -127);
}

static void draw_matrix(mc_vsparse *a, fill_law law, uint64_t seed) {
    mcrt_random random = random_start(seed, SEED_A);
    for (int64_t v = 0; v < a->vectors; v++)
        for (int row = 0; row < a->vec; row++)
            mc_vsparse_set_value(a, v, row, draw_value(&random, a->type, law));
}

int64_t drawn_ld(int64_t n) { return (n + UNIT - 1) / UNIT * UNIT; }

static mc_dense shape_of(mc_type type, int64_t rows, int64_t cols) {
    return (mc_dense){.type = type, .rows = rows, .cols = cols, .ld = drawn_ld(cols)};
}

mc_status drawn_prepare(work *w, const work_plan *plan, mc_diag *diag) {
    const variant_list *list = plan->variants;
    const operation *op = plan->operation;
    (void)diag;
    if (op->mask != MASK_SHAPE) draw_matrix(&w->a, plan->law, plan->seed);
    for (size_t i = 0; i < plan->size_count; i++) {
        work_problem *p = &w->problems[i];
        const problem_shape *s = &p->shape;
        if (op->mask == MASK_SHAPE) p->a = shape_of(list->lhs, s->m, s->k);
        p->b = op->k_contiguous || list->by_columns ? shape_of(list->rhs, drawn_ld(s->n), s->k)
                                                    : shape_of(list->rhs, s->k, s->n);
    }
    return MC_OK;
}

/* -- On the device --------------------------------------------------------------------------------------- */

mc_status drawn_write(race *r, const operand_slab *slab, size_t part, const mc_dense *dense, uint32_t seed,
                      mc_diag *diag) {
    race_track *t = r->track;
    mc_status status = MC_OK;
    for (int set = 0; set < slab->sets && status == MC_OK; set++)
        status = helpers_fill(&t->helpers, dense->type, t->rules.law, slab_address(slab, part, set),
                              (uint64_t)(dense->rows * dense->ld), seed + (uint32_t)t->rules.seed, diag);
    return status;
}

/* The operands of the first group of variants; those of others are the same. */
static const our_operands *operands_of(const race *r) {
    const variant_list *list = &r->track->variants;
    size_t i = 0;
    while (!race_takes(r, i)) i++;
    return &r->operands[list->items[i].packing];
}

/* Row ROW of the work's matrix, with its zeros, at TO. */
static void expand_row(const mc_vsparse *a, int64_t row, mc_dense *to, int64_t to_row) {
    int64_t block = row / a->vec;
    for (int64_t v = a->row_ptr[block]; v < a->row_ptr[block + 1]; v++)
        mc_dense_set(to, to_row, a->col_idx[v], mc_vsparse_value(a, v, (int)(row % a->vec)));
}

void drawn_forget(race_track *t) {
    if (t->gpu.device != NULL) mc_device_free(t->gpu.device, t->drawn_matrix);
    t->drawn_of = NULL;
    t->drawn_matrix = 0;
}

/* The work's matrix, dense, which stays on the device for its other sizes. */
static mc_status upload_matrix(const race *r, mc_diag *diag) {
    const mc_vsparse *a = &r->work->a;
    race_track *t = r->track;
    mc_dense dense = {0};
    if (r->operation->mask == MASK_SHAPE || t->drawn_of == r->work) return MC_OK;
    drawn_forget(t);
    mc_status status = mc_dense_create(a->type, a->rows, a->cols, a->cols, &dense, diag);
    size_t bytes = (size_t)mc_type_size(a->type, a->rows * a->cols);
    for (int64_t row = 0; row < a->rows && status == MC_OK; row++) expand_row(a, row, &dense, row);
    if (status == MC_OK) status = mc_device_alloc(t->gpu.device, bytes, &t->drawn_matrix, diag);
    if (status == MC_OK) status = mc_device_write(t->gpu.device, t->drawn_matrix, dense.data, bytes, diag);
    if (status == MC_OK) t->drawn_of = r->work;
    mc_dense_free(&dense);
    return status;
}

/* Where C has columns: C^T = B^T A^T, in rows. */
static dense_product turned_product_of(const race *r, uint64_t sums) {
    const problem_shape *s = &r->problem->shape;
    return (dense_product){.a = slab_address(&operands_of(r)->slab, operands_of(r)->b, 0),
                           .b = r->track->drawn_matrix,
                           .c = sums,
                           .m = s->n,
                           .n = s->m,
                           .k = s->k,
                           .lda = r->problem->b.ld,
                           .b_k = 1,
                           .b_n = s->k};
}

static dense_product product_of(const race *r, uint64_t sums) {
    const problem_shape *s = &r->problem->shape;
    const our_operands *o = operands_of(r);
    const mc_dense *b = &r->problem->b;
    bool columns = r->operation->k_contiguous, own = r->operation->mask == MASK_SHAPE;
    if (r->track->variants.by_columns) return turned_product_of(r, sums);
    return (dense_product){.a = own ? slab_address(&o->slab, o->a, 0) : r->track->drawn_matrix,
                           .b = slab_address(&o->slab, o->b, 0),
                           .c = sums,
                           .m = s->m,
                           .n = s->n,
                           .k = s->k,
                           .lda = own ? r->problem->a.ld : s->k,
                           .b_k = columns ? 1 : b->ld,
                           .b_n = columns ? b->ld : 1};
}

/* -- Some sums again, on the host ------------------------------------------------------------------------ */

/* COUNT elements of TYPE, PITCH elements apart. */
static mc_status read_line(const race *r, uint64_t address, int64_t pitch, mc_dense *line, mc_diag *diag) {
    mc_device *device = r->track->gpu.device;
    size_t bytes = mc_type_bytes(line->type), count = (size_t)line->cols;
    if (pitch == 1) return mc_device_read(device, address, line->data, count * bytes, diag);
    mc_status status = MC_OK;
    for (size_t i = 0; i < count && status == MC_OK; i++)
        status = mc_device_read(device, address + i * (size_t)pitch * bytes, (char *)line->data + i * bytes,
                                bytes, diag);
    return status;
}

static mc_status read_row(const race *r, const dense_product *p, int64_t row, mc_dense *line, mc_diag *diag) {
    if (r->operation->mask == MASK_SHAPE)
        return read_line(r, p->a + (size_t)(row * p->lda) * mc_type_bytes(line->type), 1, line, diag);
    mc_dense_free(line);
    mc_status status = mc_dense_create(r->work->a.type, 1, p->k, p->k, line, diag);
    if (status == MC_OK) expand_row(&r->work->a, row, line, 0);
    return status;
}

/* Column COL of B. */
static mc_status read_column(const race *r, const dense_product *p, int64_t col, mc_dense *line,
                             mc_diag *diag) {
    const size_t bytes = mc_type_bytes(line->type);
    if (r->track->variants.by_columns)
        return read_line(r, p->a + (size_t)(col * p->lda) * bytes, 1, line, diag);
    return read_line(r, p->b + (size_t)(col * p->b_n) * bytes, p->b_k, line, diag);
}

static mc_status check_sum(const race *r, const dense_product *p, int64_t row, int64_t col, const mc_dense *x,
                           const mc_dense *y, mc_diag *diag) {
    double sum = 0, size = 0;
    uint32_t bits = 0;
    for (int64_t k = 0; k < p->k; k++) {
        double term = mc_dense_real(x, 0, k) * mc_dense_real(y, 0, k);
        sum += term;
        size += fabs(term);
    }
    const int64_t at = r->track->variants.by_columns ? col * p->n + row : row * p->n + col;
    mc_status status =
        mc_device_read(r->track->gpu.device, p->c + (size_t)at * sizeof bits, &bits, sizeof bits, diag);
    bool integer = is_integer(x->type);
    double got = integer ? (int32_t)bits : (double)real_from_bits(MC_F32, bits);
    double off = integer ? 0 : (double)p->k * 0x1p-23 * size;
    if (status != MC_OK || fabs(got - sum) <= off) return status;
    return mc_fail(diag, MC_MISMATCH, "mcbench's own sum of row %lld, column %lld is %.9g, not %.9g",
                   (long long)row, (long long)col, got, sum);
}

/* Of one column, in rows from the first to the last. */
static mc_status check_rows(const race *r, const dense_product *p, mc_dense *x, mc_dense *y, mc_diag *diag) {
    const problem_shape *s = &r->problem->shape;
    int64_t col = 5 * (s->n - 1) / 8;
    mc_status status = read_column(r, p, col, y, diag);
    for (int64_t i = 0; i < CHECKED_ROWS && status == MC_OK; i++) {
        int64_t row = i * (s->m - 1) / (CHECKED_ROWS - 1);
        status = read_row(r, p, row, x, diag);
        if (status == MC_OK) status = check_sum(r, p, row, col, x, y, diag);
    }
    return status;
}

static mc_status check_sums(const race *r, const dense_product *p, mc_diag *diag) {
    const variant_list *list = &r->track->variants;
    mc_dense x = {0}, y = {0};
    mc_status status = mc_dense_create(list->lhs, 1, p->k, p->k, &x, diag);
    if (status == MC_OK) status = mc_dense_create(list->rhs, 1, p->k, p->k, &y, diag);
    if (status == MC_OK) status = check_rows(r, p, &x, &y, diag);
    mc_dense_free(&x);
    mc_dense_free(&y);
    return status;
}

/* -- What must come out ---------------------------------------------------------------------------------- */

mc_status drawn_sums(race *r, our_sums *sums, mc_diag *diag) {
    race_track *t = r->track;
    mc_status status = upload_matrix(r, diag);
    const dense_product product = product_of(r, sums->address);
    const variant_list *list = &t->variants;
    const mc_type first = list->by_columns ? list->rhs : list->lhs,
                  second = list->by_columns ? list->lhs : list->rhs;
    if (status == MC_OK) status = helpers_reference(&t->helpers, first, second, &product, diag);
    return status == MC_OK ? check_sums(r, &product, diag) : status;
}

/* Of the outputs that the helpers' kernels compute. */
static bool is_known(const race *r, const mc_output *o) {
    bool real = o->type == MC_F16 || o->type == MC_BF16 || o->type == MC_F32;
    bool plain = o->activation <= MC_ACTIVATION_RELU && o->b_scale == MC_PER_NONE &&
                 o->c_scale == MC_PER_NONE && o->zero == MC_PER_NONE && !r->track->variants.computed;
    return plain && (real || (o->type == MC_S8 && is_integer(r->track->variants.lhs)));
}

/* Where C has columns: those are the rows of what is made. */
static output_rule turned(const output_rule *rule) {
    output_rule other = *rule;
    other.scale_row = rule->scale_col, other.scale_col = rule->scale_row;
    other.bias_row = rule->bias_col, other.bias_col = rule->bias_row;
    return other;
}

mc_status drawn_output(race *r, const our_sums *sums, const want_kind *kind, const output_rule *given,
                       uint64_t out, mc_diag *diag) {
    const problem_shape *s = &r->problem->shape;
    const bool columns = r->track->variants.by_columns;
    const output_rule other = turned(given), *rule = columns ? &other : given;
    const int64_t rows = columns ? s->n : s->m, cols = columns ? s->m : s->n;
    helpers *h = &r->track->helpers;
    if (!is_known(r, &kind->output))
        return mc_fail(diag, MC_CANNOT,
                       "of operands drawn on the GPU mcbench knows f16, bf16, f32 and, of integers, s8, with "
                       "scale, bias and relu");
    if (is_integer(r->track->variants.lhs))
        return helpers_output(h, kind->output.type, sums->address, out, rows, cols, rule, diag);
    return helpers_output_reals(h, sums->address, out, rows, cols, rule, diag);
}

static double largest(const race *r, int block, mc_per per) {
    const problem_shape *s = &r->problem->shape;
    int64_t count = mc_per_count(per, s->m, s->n);
    double most = 0;
    for (int64_t i = 0; i < count; i++) most = fmax(most, fabs((double)race_factors(r, block)[i]));
    return most;
}

/* Products that are added up in a row of C, on average. */
static double terms_of(const race *r) {
    const mc_vsparse *a = &r->work->a;
    if (r->operation->mask == MASK_SHAPE) return (double)r->problem->shape.k;
    return a->row_blocks > 0 ? (double)a->vectors / (double)a->row_blocks : 0;
}

static tolerance allowed(const race *r, const mc_output *output) {
    const race_track *t = r->track;
    mc_type lhs = t->variants.lhs, rhs = t->variants.rhs;
    if (is_integer(lhs)) return (tolerance){0, 0};
    double each = mc_type_bits(lhs) == 8 ? 0x1p-13 / 32 : 0x1p-23, terms = terms_of(r);
    double spread = helpers_deviation(lhs, t->rules.law) * helpers_deviation(rhs, t->rules.law);
    double scale = output->scale == MC_PER_NONE ? 1 : largest(r, FACTOR_SCALES, output->scale);
    return (tolerance){type_rounding(output->type) + (double)r->problem->shape.k * each,
                       4 * sqrt(terms) * spread * scale + largest(r, FACTOR_BIASES, output->bias)};
}

void drawn_check(const race *r, const mc_output *output, int64_t columns, contender *c) {
    int64_t n = r->problem->shape.n, line = r->track->variants.by_columns ? r->problem->shape.m : n;
    size_t length = strlen(c->detail);
    c->check.allowed = allowed(r, output);
    c->check.cols = (uint64_t)line;
    c->check.ld = (uint64_t)drawn_ld(line);
    if (columns == n) return;
    snprintf(c->detail + length, sizeof c->detail - length, ", N padded to %lld", (long long)columns);
}
