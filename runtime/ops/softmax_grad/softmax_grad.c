/* softmax_grad: the gradient of a softmax's A. docs/softmax.md says what is computed, to the bit;
   mc_softmax_grad.h has the steps. */
#include <math.h>
#include "mc_softmax_grad.h"
#include "base/real.h"
#include "ops/operator.h"
#include "ops/output.h"

extern const mc_operator operator_softmax_grad;

enum { P, GRADIENT, SCALE, C };

static const operand_row operands[] = {
    [P] = {.name = "p",
           .kind = OPERAND_SAMPLED,
           .type = MEMBER_lhs,
           .stride = MEMBER_a_stride,
           .argument = offsetof(mc_args, a)},
    [GRADIENT] = {.name = "dp",
                  .kind = OPERAND_SAMPLED,
                  .type = MEMBER_rhs,
                  .stride = MEMBER_b_stride,
                  .argument = offsetof(mc_args, b)},
    [SCALE] = {.name = "scale",
               .kind = OPERAND_FACTOR,
               .per = MEMBER_scale,
               .argument = offsetof(mc_args, scale),
               .fill = mc_scale_fill},
    [C] = {.name = "c",
           .kind = OPERAND_SAMPLED,
           .out = true,
           .type = MEMBER_out,
           .stride = MEMBER_c_stride,
           .argument = offsetof(mc_args, c)},
};

/* -- What there are no kernels for */

static mc_status check(const plan_problem *p, mc_type matrix, mc_diag *diag) {
    (void)matrix;
    if (!type_is_wide_real(p->lhs) || !type_is_wide_real(p->rhs))
        return mc_fail(diag, MC_CANNOT, "p is %s and dp is %s, a softmax_grad takes f32, f16 or bf16",
                       mc_type_text(p->lhs), mc_type_text(p->rhs));
    if (!type_is_wide_real(p->out))
        return mc_fail(diag, MC_CANNOT, "c is %s, a softmax_grad gives f32, f16 or bf16",
                       mc_type_text(p->out));
    if (p->scale != MC_PER_NONE && p->scale != MC_PER_TENSOR)
        return mc_fail(diag, MC_USAGE, "scale must be MC_PER_NONE or MC_PER_TENSOR");
    return MC_OK;
}

/* -- The reference */

/* P and its gradient, vectors x vec. */
typedef struct pair {
    mc_dense p, d;
} pair;

static mc_status collect(const host_operands *o, pair *of, mc_diag *diag) {
    mc_order order = o->problem->order;
    *of = (pair){0};
    mc_status status = mc_sampled_collect(o->matrix, order, o->inputs[P], &of->p, diag);
    if (status == MC_OK) status = mc_sampled_collect(o->matrix, order, o->inputs[GRADIENT], &of->d, diag);
    return status;
}

static void free_pair(pair *of) { mc_dense_free(&of->p), mc_dense_free(&of->d); }

static float term_at(const pair *of, int64_t v, int r) {
    return (float)mc_dense_real(&of->p, v, r) * (float)mc_dense_real(&of->d, v, r);
}

/* Which vectors a row block has. */
typedef struct span {
    int64_t first, end;
} span;

/* The sum of row R of the vectors of SPAN. */
static float sum_row(const pair *of, span at, int r) {
    float most = 0, least = 0;
    for (int64_t v = at.first; v < at.end; v++) {
        float t = term_at(of, v, r);
        most = real_greater(most, t), least = real_greater(least, -t);
    }
    float greatest = real_greater(most, least);
    if (!isfinite(greatest)) return most - least;
    float power = real_greater(real_from_bits(MC_F32, real_to_bits(MC_F32, greatest) & GRAD_INFINITY_BITS),
                               GRAD_LEAST),
          by = ldexpf(1 / power, GRAD_SUM_BITS);
    int64_t units = 0;
    for (int64_t v = at.first; v < at.end; v++)
        units += (int32_t)real_to_bits(MC_F32, fmaf(term_at(of, v, r), by, GRAD_ROUNDER)) - GRAD_ROUNDER_BITS;
    return (float)units * ldexpf(power, -GRAD_SUM_BITS);
}

/* D of each element's row. */
static mc_status sums(const host_operands *o, mc_dense *result, mc_diag *diag) {
    const mc_vsparse *mask = o->matrix;
    pair of;
    mc_status status = collect(o, &of, diag);
    if (status == MC_OK) status = mc_dense_create(MC_F32, mask->vectors, mask->vec, mask->vec, result, diag);
    for (int64_t b = 0; status == MC_OK && b < mask->row_blocks; b++) {
        const span at = {mask->row_ptr[b], mask->row_ptr[b + 1]};
        for (int r = 0; r < mask->vec; r++) {
            float sum = sum_row(&of, at, r);
            for (int64_t v = at.first; v < at.end; v++) ((float *)result->data)[v * mask->vec + r] = sum;
        }
    }
    free_pair(&of);
    return status;
}

static void finish_vectors(const host_operands *o, const pair *of, const mc_dense *exact, mc_dense *c) {
    bool scaled = o->problem->scale != MC_PER_NONE;
    for (int64_t v = 0; v < c->rows; v++)
        for (int r = 0; r < (int)c->cols; r++) {
            float sum = (float)mc_dense_real(exact, v, r), d = (float)mc_dense_real(&of->d, v, r);
            float y = (d - sum) * (float)mc_dense_real(&of->p, v, r);
            if (scaled) y *= *o->factors[SCALE];
            mc_dense_set(c, v, r, output_element(o->problem->out, y, NULL));
        }
}

static mc_status finish(const host_operands *o, const mc_dense *exact, mc_dense *c, mc_diag *diag) {
    const mc_vsparse *mask = o->matrix;
    mc_dense vectors = {0};
    pair of;
    mc_status status = collect(o, &of, diag);
    if (status == MC_OK)
        status = mc_dense_create(o->problem->out, mask->vectors, mask->vec, mask->vec, &vectors, diag);
    if (status == MC_OK) finish_vectors(o, &of, exact, &vectors);
    if (status == MC_OK) status = mc_sampled_arrange(mask, o->problem->order, &vectors, c, diag);
    mc_dense_free(&vectors);
    free_pair(&of);
    return status;
}

/* -- The row */

const mc_operator operator_softmax_grad = {
    .op = MC_OP_SOFTMAX_GRAD,
    .name = "softmax_grad",
    .title = "softmax_grad",
    .members = HAS(op) | HAS(lhs) | HAS(rhs) | HAS(out) | HAS(scale) | HAS(order) | HAS(shapes) | HAS(align) |
               HAS(vec) | HAS(m) | HAS(n) | HAS(batch) | HAS(a_stride) | HAS(b_stride) | HAS(c_stride),
    .matrix = {true, "the mask", "MASK", NO_MEMBER, MEMBER_m, MEMBER_n, NO_MEMBER},
    .size = MEMBER_batch,
    .operands = operands,
    .operand_count = sizeof operands / sizeof *operands,
    .estimates = true,
    .check = check,
    .sums = sums,
    .finish = finish,
};
