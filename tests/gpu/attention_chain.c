#include "attention_chain.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/real.h"
#include "context/matrix.h"
#include "matrix/csr.h"
#include "matrix/random.h"

enum { POISON = 0x7b, SLOTS = 32 };

static const double spread = 3; /* of scores: their standard deviation */

const attention_precision attention_precisions[ATTENTION_PRECISIONS] = {
    {"f16", MC_F16, MC_F16, 0, false}, {"16-8", MC_S8, MC_U16, 65535, false},
    {"8-8", MC_S8, MC_U8, 255, false}, {"8-4", MC_S4, MC_U8, 255, false},
    {"4-4", MC_S4, MC_U8, 15, true},
};
const char *const attention_step_names[STEPS] = {"sddmm", "softmax", "spmm"};

/* -- Scales ------------------------------------------------------------------------------------------- */

static bool is_real(const attention *t) { return t->shape.precision->levels == 0; }

/* The greatest magnitude of elements that are random: those of V stand for -1 to 1. */
static double most_of(const attention *t) {
    return is_real(t) ? 1 : (double)mc_type_max(t->shape.precision->qkv);
}

/* What makes scores of sums: of floats the softmax multiplies by it, else the SDDMM. Sums of `depth` products of
   values that are spread evenly up to most_of have a standard deviation of depth^.5 most_of^2 / 3. */
static float score_scale(const attention *t) {
    return (float)(3 * spread / (sqrt((double)t->shape.depth) * most_of(t) * most_of(t)));
}

static float p_scale(const attention *t) { return 1 / (float)t->shape.precision->levels; }
static float mix_scale(const attention *t) { return p_scale(t) / (float)most_of(t); }

/* -- Mask and operands -------------------------------------------------------------------------------- */

static mc_status make_mask(attention *t, mc_diag *diag) {
    const attention_shape *s = &t->shape;
    if (s->length % ATTENTION_VEC != 0)
        return mc_fail(diag, MC_USAGE, "no multiple of %d, the rows of a vector", ATTENTION_VEC);
    const mc_banded pattern = {.rows = s->length / ATTENTION_VEC,
                               .cols = s->length,
                               .sparsity = s->sparsity,
                               .band = s->band,
                               .seed = 1};
    mc_csr csr = {0};
    mc_status status = mc_csr_generate_banded(&pattern, &csr, diag);
    if (status == MC_OK) status = mc_vsparse_dilate(&csr, ATTENTION_VEC, s->precision->p, &t->mask, diag);
    mc_csr_free(&csr);
    return status == MC_OK ? matrix_of_host(t->context, &t->mask, &t->matrix, diag) : status;
}

static size_t bytes_of(const attention *t, attention_operand operand) {
    const attention_shape *s = &t->shape;
    const mc_type types[] = {
        s->precision->qkv, s->precision->qkv, s->precision->qkv, MC_F16, s->precision->p, MC_F16};
    bool between = operand == OF_SCORES || operand == OF_P;
    int64_t elements = between ? t->elements : s->length * s->depth;
    return (size_t)mc_type_size(types[operand], elements);
}

static void fill(const attention *t, mc_dense *dense, uint64_t seed) {
    mcrt_random random = random_start(seed, 0);
    double most = most_of(t);
    for (int64_t row = 0; row < dense->rows; row++)
        for (int64_t col = 0; col < dense->cols; col++) {
            double value = most * (2 * random_unit(&random) - 1);
            mc_dense_set(dense, row, col,
                         is_real(t) ? real_to_bits(dense->type, (float)value) : (int64_t)rint(value));
        }
}

static mc_status put_given(attention *t, attention_operand operand, mc_diag *diag) {
    const attention_shape *s = &t->shape;
    mc_dense *dense = &t->given[operand];
    mc_status status =
        mc_dense_create(s->precision->qkv, t->products * s->length, s->depth, s->depth, dense, diag);
    if (status != MC_OK) return status;
    fill(t, dense, 10 + (uint64_t)operand);
    return mc_memory_write(t->context, t->at[operand], dense->data,
                           (size_t)t->products * bytes_of(t, operand), diag);
}

/* -- Plans -------------------------------------------------------------------------------------------- */

static mc_plan_config scores_config(const attention *t) {
    const attention_precision *p = t->shape.precision;
    return (mc_plan_config){.op = MC_OP_SDDMM,
                            .a = p->qkv,
                            .b = p->qkv,
                            .c = MC_F16,
                            .k = t->shape.depth,
                            .scale = is_real(t) ? MC_PER_NONE : MC_PER_TENSOR,
                            .c_order = MC_ORDER_SRBCRS32};
}

static mc_plan_config softmax_config(const attention *t) {
    const attention_precision *p = t->shape.precision;
    return (mc_plan_config){.op = MC_OP_SOFTMAX,
                            .a = MC_F16,
                            .c = p->p,
                            .scale = is_real(t) ? MC_PER_TENSOR : MC_PER_NONE,
                            .c_scale = p->own_scale ? MC_PER_TENSOR : MC_PER_NONE,
                            .exp = t->shape.exp,
                            .c_order = MC_ORDER_SRBCRS32};
}

static mc_plan_config mix_config(const attention *t) {
    return (mc_plan_config){.op = MC_OP_SPMM,
                            .b = t->shape.precision->qkv,
                            .c = MC_F16,
                            .n = t->shape.depth,
                            .scale = is_real(t) ? MC_PER_NONE : MC_PER_TENSOR,
                            .given_values = true};
}

/* Of one product. */
static mc_plan_config config_of(const attention *t, attention_step step) {
    static mc_plan_config (*const configs[STEPS])(const attention *t) = {scores_config, softmax_config,
                                                                         mix_config};
    mc_plan_config config = configs[step](t);
    config.size = sizeof config;
    config.matrix = t->matrix;
    config.tuning = t->shape.tuning;
    return config;
}

mc_plan_config attention_config(const attention *t, attention_step step) {
    mc_plan_config config = config_of(t, step);
    config.batch = t->products;
    return config;
}

void attention_take_plan(attention *t, attention_step step, mc_plan *plan) {
    mc_plan_destroy(t->plans[step]);
    t->plans[step] = plan;
}

static mc_status make_plans(attention *t, mc_diag *diag) {
    mc_status status = MC_OK;
    for (attention_step i = 0; i < STEPS && status == MC_OK; i++) {
        const mc_plan_config config = attention_config(t, i);
        status = mc_plan_create(t->context, &config, &t->plans[i], diag);
    }
    return status;
}

/* The shape of a product's scores, and of its P but for the type. */
static mc_status scores_shape(const attention *t, mc_dense *shape, mc_diag *diag) {
    const mc_plan_config config = config_of(t, STEP_SCORES);
    plan_problem problem;
    mc_status status = plan_problem_of(&config, &t->mask, &problem, diag);
    if (status != MC_OK) return status;
    return operator_out_shape(operator_of(config.op), &problem, &t->mask, shape, diag);
}

mc_status attention_open(attention *t, mc_context *context, const attention_shape *shape, mc_diag *diag) {
    mc_dense scores;
    *t = (attention){.shape = *shape, .context = context, .products = shape->batch * shape->heads};
    mc_status status = make_mask(t, diag);
    if (status == MC_OK) status = scores_shape(t, &scores, diag);
    if (status != MC_OK) return status;
    t->elements = scores.rows * scores.cols;
    for (attention_operand i = 0; i < OPERANDS && status == MC_OK; i++)
        status = mc_memory_create(context, (size_t)t->products * bytes_of(t, i), &t->at[i], diag);
    for (attention_operand i = OF_Q; i <= OF_V && status == MC_OK; i++) status = put_given(t, i, diag);
    return status == MC_OK ? make_plans(t, diag) : status;
}

void attention_close(attention *t) {
    for (int i = 0; i < STEPS; i++) mc_plan_destroy(t->plans[i]);
    for (int i = 0; i < OPERANDS; i++)
        if (t->at[i] != 0) mc_memory_destroy(t->context, t->at[i]);
    for (int i = 0; i <= OF_V; i++) mc_dense_free(&t->given[i]);
    mc_matrix_destroy(t->matrix);
    mc_vsparse_free(&t->mask);
    *t = (attention){0};
}

/* -- Executions --------------------------------------------------------------------------------------- */

mc_status attention_execute(const attention *t, const mc_plan *plan, attention_step step, void *stream,
                            mc_diag *diag) {
    const mc_argument c_scale = {.name = "c_scale", .value = p_scale(t)},
                      values = {.name = "values", .address = t->at[OF_P]};
    const mc_args args[STEPS] = {{.size = sizeof *args,
                                  .a = t->at[OF_Q],
                                  .b = t->at[OF_K],
                                  .c = t->at[OF_SCORES],
                                  .scale_value = score_scale(t)},
                                 {.size = sizeof *args,
                                  .a = t->at[OF_SCORES],
                                  .c = t->at[OF_P],
                                  .scale_value = score_scale(t),
                                  .list = &c_scale,
                                  .list_count = t->shape.precision->own_scale},
                                 {.size = sizeof *args,
                                  .b = t->at[OF_V],
                                  .c = t->at[OF_OUT],
                                  .scale_value = mix_scale(t),
                                  .list = &values,
                                  .list_count = 1}};
    return mc_execute(plan, &args[step], 0, stream, diag);
}

mc_status attention_poison(const attention *t, mc_diag *diag) {
    mc_status status = MC_OK;
    for (attention_operand i = OF_SCORES; i < OPERANDS && status == MC_OK; i++) {
        size_t bytes = (size_t)t->products * bytes_of(t, i);
        void *data = malloc(bytes);
        if (data == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
        memset(data, POISON, bytes);
        status = mc_memory_write(t->context, t->at[i], data, bytes, diag);
        free(data);
    }
    return status;
}

/* -- Against references ------------------------------------------------------------------------------- */

/* What a product has, on the host. */
typedef struct product {
    mc_dense of[OPERANDS];
} product;

static mc_dense given_of(const attention *t, attention_operand operand, int64_t index) {
    mc_dense of = t->given[operand];
    of.rows = t->shape.length;
    of.data = (char *)of.data + (size_t)index * bytes_of(t, operand);
    return of;
}

static mc_status read_back(const attention *t, attention_operand operand, int64_t index, mc_dense *to,
                           mc_diag *diag) {
    size_t bytes = bytes_of(t, operand);
    to->data = malloc(bytes);
    if (to->data == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    return mc_memory_read(t->context, t->at[operand] + (size_t)index * bytes, to->data, bytes, diag);
}

static mc_status fetch(const attention *t, int64_t index, product *p, mc_diag *diag) {
    mc_dense scores;
    *p = (product){0};
    mc_status status = scores_shape(t, &scores, diag);
    for (attention_operand i = OF_Q; i <= OF_V; i++) p->of[i] = given_of(t, i, index);
    p->of[OF_SCORES] = p->of[OF_P] = scores;
    p->of[OF_P].type = t->shape.precision->p;
    p->of[OF_OUT] = (mc_dense){MC_F16, t->shape.length, t->shape.depth, t->shape.depth, NULL};
    for (attention_operand i = OF_SCORES; i < OPERANDS && status == MC_OK; i++)
        status = read_back(t, i, index, &p->of[i], diag);
    return status;
}

static void release(product *p) {
    for (int i = OF_SCORES; i < OPERANDS; i++) free(p->of[i].data);
}

/* P becomes the mask's values: slot i of a row block is its vector i. */
static void take_values(mc_vsparse *mask, const mc_dense *p) {
    int64_t stride = 0;
    for (int64_t b = 0; b < mask->row_blocks; b++) {
        int64_t first = mask->row_ptr[b], count = mask->row_ptr[b + 1] - first;
        for (int64_t i = 0; i < count; i++)
            for (int r = 0; r < mask->vec; r++)
                mc_vsparse_set_value(mask, first + i, r,
                                     mc_dense_get(p, (stride + i / SLOTS) * mask->vec + r, i % SLOTS));
        stride += (count + SLOTS - 1) / SLOTS;
    }
}

/* What STEP has to make of what it read: INPUTS by the operator's names. */
static mc_status check_step(const attention *t, attention_step step, const product *p, mc_diag *diag) {
    static const attention_operand outs[STEPS] = {OF_SCORES, OF_P, OF_OUT},
                                   firsts[] = {OF_Q, OF_SCORES, OF_Q}, seconds[] = {OF_K, OF_K, OF_V};
    const mc_plan_config config = config_of(t, step);
    const mc_operator *op = operator_of(config.op);
    const float scales[STEPS] = {score_scale(t), score_scale(t), mix_scale(t)}, c_scale = p_scale(t);
    const int a = operator_operand(op, step == STEP_SOFTMAX ? "x" : "a"), b = operator_operand(op, "b"),
              scale = operator_operand(op, "scale"), c = operator_operand(op, "c_scale");
    plan_problem problem;
    reference_result want = {0};
    mc_status status = plan_problem_of(&config, &t->mask, &problem, diag);
    host_operands operands = {.problem = &problem, .matrix = &t->mask};
    if (a >= 0) operands.inputs[a] = &p->of[firsts[step]];
    if (b >= 0) operands.inputs[b] = &p->of[seconds[step]];
    if (config.scale != MC_PER_NONE) operands.factors[scale] = &scales[step];
    if (config.c_scale != MC_PER_NONE) operands.factors[c] = &c_scale;
    if (status == MC_OK) status = operator_expect(op, &operands, &want, diag);
    if (status == MC_OK) status = mc_result_compare(&p->of[outs[step]], &want, diag);
    mc_result_free(&want);
    return status == MC_OK ? status : mc_fail(diag, status, "%s", attention_step_names[step]);
}

mc_status attention_check(const attention *t, int64_t index, mc_diag *diag) {
    product p;
    mc_vsparse mask = t->mask; /* whose values are those of P */
    mc_status status = fetch(t, index, &p, diag);
    if (status == MC_OK) take_values(&mask, &p.of[OF_P]);
    for (attention_step i = 0; i < STEPS && status == MC_OK; i++) status = check_step(t, i, &p, diag);
    release(&p);
    return status == MC_OK ? status : mc_fail(diag, status, "product %lld", (long long)index);
}

/* -- Against float64 ---------------------------------------------------------------------------------- */

static double number(const mc_dense *d, int64_t row, int64_t col) {
    int64_t element = mc_dense_get(d, row, col);
    return mc_type_is_real(d->type) ? (double)real_from_bits(d->type, (uint32_t)element) : (double)element;
}

/* Exponentials of a row's scores into E, which has room for COUNT; their sum. */
static double exponentials(const attention *t, const product *p, int64_t row, int64_t first, int64_t count,
                           double *e) {
    double most = -INFINITY, sum = 0;
    for (int64_t i = 0; i < count; i++) {
        double dot = 0;
        for (int64_t k = 0; k < t->shape.depth; k++)
            dot += number(&p->of[OF_Q], row, k) * number(&p->of[OF_K], t->mask.col_idx[first + i], k);
        e[i] = dot * (double)score_scale(t);
        most = fmax(most, e[i]);
    }
    for (int64_t i = 0; i < count; i++) sum += e[i] = exp(e[i] - most);
    return sum;
}

/* How far a row's output is off, at most; beyond MC_MISMATCH's limit a negative number. */
static double row_error(const attention *t, const product *p, int64_t row, double *e) {
    int64_t first = t->mask.row_ptr[row / ATTENTION_VEC],
            count = t->mask.row_ptr[row / ATTENTION_VEC + 1] - first;
    const double in_f16 = .02, levels = t->shape.precision->levels;
    double sum = exponentials(t, p, row, first, count, e), most = 0;
    for (int64_t col = 0; col < t->shape.depth; col++) {
        double want = 0;
        for (int64_t i = 0; i < count; i++)
            want += e[i] / sum * number(&p->of[OF_V], t->mask.col_idx[first + i], col) / most_of(t);
        most = fmax(most, fabs(number(&p->of[OF_OUT], row, col) - want));
    }
    return most <= in_f16 + (levels > 0 ? .5 * (double)count / levels : 0) ? most : -most;
}

mc_status attention_error(const attention *t, int64_t index, double *most, mc_diag *diag) {
    const int64_t length = t->shape.length, rows[] = {0, length / 3, length / 2 + 5, length - 1};
    double *e = calloc((size_t)length, sizeof *e);
    product p;
    mc_status status = fetch(t, index, &p, diag);
    *most = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && status == MC_OK && e != NULL; i++) {
        double error = row_error(t, &p, rows[i], e);
        if (!(error >= 0))
            status = mc_fail(diag, MC_MISMATCH, "row %lld is %g off", (long long)rows[i], -error);
        *most = fmax(*most, error);
    }
    release(&p);
    free(e);
    return status;
}

/* -- Memory ------------------------------------------------------------------------------------------- */

int64_t attention_operand_bytes(const attention *t) {
    return t->products * (int64_t)(3 * bytes_of(t, OF_Q) + bytes_of(t, OF_OUT));
}

int64_t attention_between_bytes(const attention *t) {
    mc_matrix_info info = {.size = sizeof info};
    (void)mc_matrix_get_info(t->matrix, &info, NULL);
    return t->products * (int64_t)(bytes_of(t, OF_SCORES) + bytes_of(t, OF_P)) + info.device_bytes;
}
