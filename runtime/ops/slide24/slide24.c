/* slide24: C = A[m,n], rows, with spans of elements as groups of four that overlap by two
   (matrix/slide24.h). */
#include <inttypes.h>
#include "matrix/slide24.h"
#include "ops/operator.h"

extern const mc_operator operator_slide24;

enum { X, C };
enum { MOST_COLS = (1 << 30) - 64 /* then C has fewer than 2^31 */ };

static const operand_row operands[] = {
    [X] = {.name = "x",
           .kind = OPERAND_DENSE,
           .type = MEMBER_lhs,
           .rows = MEMBER_m,
           .cols = MEMBER_n,
           .ld = MEMBER_lda,
           .stride = MEMBER_a_stride,
           .argument = offsetof(mc_args, a)},
    [C] = {.name = "c",
           .kind = OPERAND_DENSE,
           .out = true,
           .type = MEMBER_out,
           .rows = MEMBER_m,
           .cols = MEMBER_n,
           .ld = MEMBER_ldc,
           .stride = MEMBER_c_stride,
           .spread = true,
           .argument = offsetof(mc_args, c)},
};

static mc_status check(const plan_problem *p, mc_type matrix, mc_diag *diag) {
    (void)matrix;
    const size_t bytes = mc_type_bytes(p->lhs);
    const bool wide = mc_type_bits(p->lhs) != 8 * (int)bytes;
    if ((bytes != 1 && bytes != 2) || wide)
        return mc_fail(diag, MC_CANNOT, "a is %s, a slide24 takes elements of 1 and 2 bytes",
                       mc_type_text(p->lhs));
    if (p->out != p->lhs)
        return mc_fail(diag, MC_USAGE, "c is %s, a is %s: a slide24 leaves elements as they are",
                       mc_type_text(p->out), mc_type_text(p->lhs));
    if (p->pattern == 0) return mc_fail(diag, MC_USAGE, "span is 0, and rows have spans of 4 to 64 elements");
    if (p->n <= MOST_COLS) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "n is %" PRId64 ", rows become twice as long: at most %d", p->n,
                   MOST_COLS);
}

/* The element of a row that element I of the longer one is, whether it is there or not. */
static int64_t source_of(int span, int64_t i) {
    const int64_t group = i / MC_SLIDE24_GROUP, groups = span / 2 - 1;
    return group / groups * span + group % groups * 2 + i % MC_SLIDE24_GROUP;
}

static mc_status sums(const host_operands *o, mc_dense *result, mc_diag *diag) {
    const mc_dense *x = o->inputs[X];
    const int span = o->problem->pattern;
    const int64_t cols = mc_slide24_length(span, x->cols);
    mc_status status = mc_dense_create(x->type, x->rows, cols, cols, result, diag);
    for (int64_t i = 0; status == MC_OK && i < x->rows; i++)
        for (int64_t j = 0; j < cols; j++) {
            const int64_t source = source_of(span, j);
            if (source < x->cols) mc_dense_set(result, i, j, mc_dense_get(x, i, source));
        }
    return status;
}

static mc_status finish(const host_operands *o, const mc_dense *exact, mc_dense *c, mc_diag *diag) {
    (void)o;
    return mc_dense_convert(exact, "C", exact->type, exact->cols, c, diag);
}

const mc_operator operator_slide24 = {
    .op = MC_OP_SLIDE24,
    .name = "slide24",
    .title = "slide24",
    .members = HAS(op) | HAS(lhs) | HAS(out) | HAS(pattern) | HAS(shapes) | HAS(align) | HAS(m) | HAS(n) |
               HAS(lda) | HAS(ldc) | HAS(batch) | HAS(a_stride) | HAS(c_stride),
    .matrix = {.rows = MEMBER_m},
    .size = MEMBER_n,
    .estimates = true,
    .spreads = true,
    .operands = operands,
    .operand_count = sizeof operands / sizeof *operands,
    .check = check,
    .sums = sums,
    .finish = finish,
};
