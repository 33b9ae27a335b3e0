/* A pruned layer, or two with a relu between them, fine-tuned to what a dense network gives: 200 steps of
 * AdamW on the nonzero vectors alone, in f16 with a copy in f32, beside a dense masked training in plain C
 * and float (train_dense.h).
 *
 *   cc -O3 train.c $(pkg-config --cflags --libs mcrt) -lm -o train
 *   ./train [DEVICE [STEPS SPARSITY TOKENS INPUTS HIDDEN OUTPUTS]]      HIDDEN 0: one layer
 *   ./train cuda:0 200 .7 64 4096 0 4096
 *
 * Of each layer, with activations and their gradients in f16, [features, tokens]:
 *
 *   forward    Y = W X                      SpMM
 *   input      dX = W^T dY                  spmmt, of two layers; W as the optimiser's step has left it
 *   gradient   dW = dY X^T                  SDDMM where W has vectors; X as it lies is the B by columns
 *   step       W, its copy and moments      optimise
 *   values     into the packed W            mc_matrix_set_device_values
 *
 * So W never leaves the device. The loss and what a relu lets through are computed on the host. It prints
 * loss, the reference's loss, and the time of each part; it fails where a loss is further from the
 * reference's than `tolerance`, or does not fall. */
#include <mcrt.h>
#include <stdio.h>
#include <time.h>
#include "train_dense.h"

enum { PRINTED = 10 /* every so many steps */ };
enum { FORWARD, LOSS, INPUT, GRADIENT, STEP, VALUES, PARTS };
static const char *const part_names[PARTS] = {"forward", "loss", "input", "gradient", "step", "values"};

/* How far losses may be apart: by so much of the reference's, and of the first one. Rounding weights,
   activations and gradients to f16 comes to less. */
static const double tolerance = 0.002, tolerance_of_first = 5e-5;

static double seconds(void) {
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* -- On the device -------------------------------------------------------------------------------------- */

typedef struct device_layer {
    mc_matrix *matrix;
    mc_plan *forward, *gradient, *step, *input; /* input: of the second layer */
    mc_address w, master, first, second, dw;    /* [vectors][8]; w: f16, the others f32 */
} device_layer;

typedef struct model {
    mc_context *context;
    device_layer of[MOST_LAYERS];
    mc_address x[MOST_LAYERS + 1], d[MOST_LAYERS + 1]; /* f16 [features, tokens] */
    mc_address hyper;                                  /* f32 [steps][MC_HYPERS] */
    mc_address memory[32];
    int count;
} model;

/* BYTES of memory, with DATA in them unless that is NULL. Once something has failed nothing is done. */
static mc_address upload(model *m, const void *data, size_t bytes, mc_status *status, mc_diag *diag) {
    mc_address address = 0;
    if (*status == MC_OK && bytes > 0) *status = mc_memory_create(m->context, bytes, &address, diag);
    if (*status == MC_OK && data != NULL) *status = mc_memory_write(m->context, address, data, bytes, diag);
    return m->memory[m->count++] = address;
}

/* W and its pattern, which is the mask of its gradient, too. */
static mc_status make_plans(model *m, const training *t, int i, mc_diag *diag) {
    const layer *l = &t->of[i];
    device_layer *on = &m->of[i];
    const mc_matrix_config matrix = {.size = sizeof matrix,
                                     .type = MC_F16,
                                     .vec = VEC,
                                     .rows = l->outputs,
                                     .cols = l->inputs,
                                     .row_ptr = l->row_ptr,
                                     .col_idx = l->col_idx,
                                     .values = l->values};
    mc_status status = mc_matrix_create(m->context, &matrix, &on->matrix, diag);
    const mc_plan_config plans[] = {
        {.op = MC_OP_SPMM,
         .matrix = on->matrix,
         .b = MC_F16,
         .c = MC_F16,
         .n = t->tokens,
         .activation = i + 1 < t->layers ? MC_ACTIVATION_RELU : MC_ACTIVATION_NONE},
        {.op = MC_OP_SDDMM, .matrix = on->matrix, .a = MC_F16, .b = MC_F16, .c = MC_F32, .k = t->tokens},
        {.op = MC_OP_OPTIMISE,
         .a = MC_F32,
         .c = MC_F16,
         .m = l->vectors,
         .n = VEC,
         .rule = MC_RULE_ADAMW,
         .master = true},
        {.op = MC_OP_SPMMT, .matrix = on->matrix, .a = MC_F16, .b = MC_F16, .c = MC_F16, .n = t->tokens}};
    mc_plan **const made[] = {&on->forward, &on->gradient, &on->step, &on->input};
    for (int k = 0; k < (i > 0 ? 4 : 3) && status == MC_OK; k++) {
        mc_plan_config config = plans[k];
        config.size = sizeof config;
        status = mc_plan_create(m->context, &config, made[k], diag);
    }
    return status;
}

/* The copy is what f16 holds at first, and moments are zeros. */
static void load_layer(model *m, const layer *l, int i, mc_status *status, mc_diag *diag) {
    device_layer *on = &m->of[i];
    size_t count = (size_t)(l->vectors * VEC), bytes = count * sizeof(float);
    float *master = calloc(count, sizeof *master), *zeros = calloc(count, sizeof *zeros);
    for (size_t k = 0; k < count; k++) master[k] = float_of(l->values[k]);
    on->w = upload(m, l->values, count * sizeof *l->values, status, diag);
    on->master = upload(m, master, bytes, status, diag);
    on->first = upload(m, zeros, bytes, status, diag);
    on->second = upload(m, zeros, bytes, status, diag);
    on->dw = upload(m, NULL, bytes, status, diag);
    free(master), free(zeros);
}

/* The numbers of all steps, so that no step has to bring any. */
static void load_hyper(model *m, const training *t, mc_status *status, mc_diag *diag) {
    float(*rows)[MC_HYPERS] = calloc((size_t)t->steps, sizeof *rows);
    for (int i = 0; i < t->steps; i++) {
        const float row[MC_HYPERS] = {[MC_HYPER_RATE] = t->rate,
                                      [MC_HYPER_DECAY] = decay,
                                      [MC_HYPER_UNSCALE] = unscale_of(t),
                                      [MC_HYPER_MOMENTUM] = beta1,
                                      [MC_HYPER_BETA2] = beta2,
                                      [MC_HYPER_EPSILON] = epsilon,
                                      [MC_HYPER_CORRECT1] = (float)(1 / (1 - pow((double)beta1, i + 1))),
                                      [MC_HYPER_CORRECT2] = (float)(1 / (1 - pow((double)beta2, i + 1)))};
        memcpy(rows[i], row, sizeof row);
    }
    m->hyper = upload(m, rows, (size_t)t->steps * sizeof *rows, status, diag);
    free(rows);
}

static mc_status load(model *m, const training *t, mc_diag *diag) {
    mc_status status = MC_OK;
    for (int i = 0; i < t->layers && status == MC_OK; i++) {
        status = make_plans(m, t, i, diag);
        load_layer(m, &t->of[i], i, &status, diag);
    }
    for (int i = 0; i <= t->layers; i++) {
        size_t bytes = (size_t)(t->features[i] * t->tokens) * sizeof(uint16_t);
        to_halves(t->x[i], t->half[i], t->features[i] * t->tokens);
        m->x[i] = upload(m, t->half[i], bytes, &status, diag);
        m->d[i] = upload(m, NULL, bytes, &status, diag);
    }
    load_hyper(m, t, &status, diag);
    return status;
}

static void unload(model *m) {
    for (int i = 0; i < m->count; i++) mc_memory_destroy(m->context, m->memory[i]);
    for (int i = 0; i < MOST_LAYERS; i++) {
        mc_plan_destroy(m->of[i].forward);
        mc_plan_destroy(m->of[i].gradient);
        mc_plan_destroy(m->of[i].step);
        mc_plan_destroy(m->of[i].input);
        mc_matrix_destroy(m->of[i].matrix);
    }
    mc_context_destroy(m->context);
}

/* -- A step: each part is one function ---------------------------------------------------------------- */

static mc_status forward(model *m, training *t, mc_diag *diag) {
    mc_status status = MC_OK;
    for (int i = 0; i < t->layers && status == MC_OK; i++) {
        const mc_args args = {.size = sizeof args, .b = m->x[i], .c = m->x[i + 1]};
        status = mc_execute(m->of[i].forward, &args, 0, NULL, diag);
    }
    return status;
}

/* Reads what lies at ADDRESS, features I, as floats. */
static mc_status read_halves(model *m, training *t, mc_address address, int i, float *to, mc_diag *diag) {
    int64_t count = t->features[i] * t->tokens;
    mc_status status =
        mc_memory_read(m->context, address, t->half[i], (size_t)count * sizeof *t->half[i], diag);
    for (int64_t k = 0; k < count && status == MC_OK; k++) to[k] = float_of(t->half[i][k]);
    return status;
}

static mc_status write_halves(model *m, training *t, const float *from, int i, mc_address address,
                              mc_diag *diag) {
    int64_t count = t->features[i] * t->tokens;
    to_halves(from, t->half[i], count);
    return mc_memory_write(m->context, address, t->half[i], (size_t)count * sizeof *t->half[i], diag);
}

/* Y to the host, dY back. */
static mc_status loss(model *m, training *t, double *of_step, mc_diag *diag) {
    int last = t->layers;
    mc_status status = read_halves(m, t, m->x[last], last, t->x[last], diag);
    if (status != MC_OK) return status;
    *of_step = loss_of(t, t->x[last], t->d[last]);
    return write_halves(m, t, t->d[last], last, m->d[last], diag);
}

/* A is dY, and B by columns, [inputs][tokens], is X as it lies. dW comes as vectors, as W's values lie. */
static mc_status weight_gradient(model *m, training *t, mc_diag *diag) {
    mc_status status = MC_OK;
    for (int i = 0; i < t->layers && status == MC_OK; i++) {
        const mc_args args = {.size = sizeof args, .a = m->d[i + 1], .b = m->x[i], .c = m->of[i].dw};
        status = mc_execute(m->of[i].gradient, &args, 0, NULL, diag);
    }
    return status;
}

/* dX = W^T dY of layer I, by the vectors as they lie; and none behind what the relu has cut off, by the
   host. */
static mc_status input_gradient(model *m, training *t, int i, mc_diag *diag) {
    const mc_args args = {.size = sizeof args, .a = m->of[i].w, .b = m->d[i + 1], .c = m->d[i]};
    float *dx = t->d[i];
    mc_status status = mc_execute(m->of[i].input, &args, 0, NULL, diag);
    if (status == MC_OK) status = read_halves(m, t, m->d[i], i, dx, diag);
    if (status == MC_OK) status = read_halves(m, t, m->x[i], i, t->x[i], diag);
    for (int64_t k = 0; k < t->of[i].inputs * t->tokens && status == MC_OK; k++)
        if (t->x[i][k] <= 0) dx[k] = 0;
    return status == MC_OK ? write_halves(m, t, dx, i, m->d[i], diag) : status;
}

static mc_status input_gradients(model *m, training *t, mc_diag *diag) {
    mc_status status = MC_OK;
    for (int i = t->layers - 1; i > 0 && status == MC_OK; i--) status = input_gradient(m, t, i, diag);
    return status;
}

/* STEP: from 0 on; its numbers lie there already. */
static mc_status optimise(model *m, training *t, int step, mc_diag *diag) {
    const mc_address hyper = m->hyper + (mc_address)step * MC_HYPERS * sizeof(float);
    mc_status status = MC_OK;
    for (int i = 0; i < t->layers && status == MC_OK; i++) {
        const device_layer *on = &m->of[i];
        const mc_argument list[] = {{.name = "hyper", .address = hyper},
                                    {.name = "master", .address = on->master},
                                    {.name = "first", .address = on->first},
                                    {.name = "second", .address = on->second}};
        const mc_args args = {.size = sizeof args, .a = on->dw, .c = on->w, .list = list, .list_count = 4};
        status = mc_execute(on->step, &args, 0, NULL, diag);
    }
    return status;
}

/* The vectors become the packed W's values, on the device. */
static mc_status new_values(model *m, const training *t, mc_diag *diag) {
    mc_status status = MC_OK;
    for (int i = 0; i < t->layers && status == MC_OK; i++) {
        const mc_device_values values = {
            .size = sizeof values, .from = MC_FROM_VECTORS, .address = m->of[i].w};
        status = mc_matrix_set_device_values(m->of[i].matrix, &values, NULL, diag);
    }
    return status;
}

static mc_status do_part(model *m, training *t, int part, int step, mc_diag *diag) {
    switch (part) {
    case FORWARD: return forward(m, t, diag);
    case LOSS: return loss(m, t, &t->losses[step], diag);
    case INPUT: return input_gradients(m, t, diag);
    case GRADIENT: return weight_gradient(m, t, diag);
    case STEP: return optimise(m, t, step, diag);
    default: return new_values(m, t, diag);
    }
}

/* Time counts from the second step on: the first one may load what the driver had not loaded yet. */
static mc_status train_step(model *m, training *t, int step, double spent[PARTS], mc_diag *diag) {
    mc_status status = MC_OK;
    for (int part = 0; part < PARTS && status == MC_OK; part++) {
        double begin = seconds();
        status = do_part(m, t, part, step, diag);
        if (status == MC_OK) status = mc_synchronize(m->context, NULL, diag);
        if (step > 0) spent[part] += seconds() - begin;
    }
    return status;
}

/* -- The program ---------------------------------------------------------------------------------------- */

static void print_step(const training *t, int step) {
    bool last = step + 1 == t->steps;
    if (step % PRINTED != 0 && !last) return;
    printf("step %4d  loss %.6f  dense masked %.6f\n", step, t->losses[step], t->wanted[step]);
    fflush(stdout);
}

static mc_status run(training *t, const char *device, double spent[PARTS], mc_diag *diag) {
    model m = {0};
    mc_context_config config = {.size = sizeof config, .device = device};
    mc_status status = mc_context_create(&config, &m.context, diag);
    if (status == MC_OK) status = load(&m, t, diag);
    for (int step = 0; step < t->steps && status == MC_OK; step++) {
        t->wanted[step] = train_dense(t, step + 1);
        status = train_step(&m, t, step, spent, diag);
        if (status == MC_OK) print_step(t, step);
    }
    unload(&m);
    return status;
}

/* How far apart losses are, in parts of what they may be. */
static double apart(const training *t) {
    double worst = 0;
    for (int i = 0; i < t->steps; i++) {
        double may = tolerance * t->wanted[i] + tolerance_of_first * t->wanted[0],
               off = fabs(t->losses[i] - t->wanted[i]) / may;
        if (off > worst || isnan(off)) worst = off;
    }
    return worst;
}

/* Whether every loss is below that of PRINTED steps before. */
static bool falls(const training *t) {
    bool all = true;
    for (int i = PRINTED; i < t->steps; i++) all &= t->losses[i] < t->losses[i - PRINTED];
    return all;
}

static int judge(const training *t, const double spent[PARTS]) {
    for (int part = 0; part < PARTS && t->steps > 1; part++)
        printf("%-8s %10.1f us a step\n", part_names[part], 1e6 * spent[part] / (t->steps - 1));
    double off = apart(t);
    bool near = off <= 1, fell = falls(t);
    printf("from %.6f to %.6f, %s; from the reference %.3f of what may be: %s\n", t->losses[0],
           t->losses[t->steps - 1], fell ? "falling" : "NOT FALLING", off, near ? "right" : "WRONG");
    return !near || !fell;
}

static int usage(void) {
    fprintf(stderr, "usage: train [DEVICE [STEPS SPARSITY TOKENS INPUTS HIDDEN OUTPUTS]]\n"
                    "features are multiples of 8; HIDDEN 0: one layer\n");
    return 2;
}

/* TOKENS INPUTS HIDDEN OUTPUTS. */
static bool take_sizes(training *t, const int64_t sizes[4]) {
    t->tokens = sizes[0];
    t->layers = sizes[2] > 0 ? 2 : 1;
    t->features[0] = sizes[1];
    if (t->layers == 2) t->features[1] = sizes[2];
    t->features[t->layers] = sizes[3];
    for (int i = 0; i <= t->layers; i++)
        if (t->features[i] < VEC || t->features[i] % VEC != 0) return false;
    return t->tokens > 0 && t->steps > 0 && t->sparsity >= 0 && t->sparsity < 1;
}

int main(int argc, char **argv) {
    int64_t sizes[4] = {20, 64, 64, 64};
    training t = {.steps = 200, .sparsity = .7};
    if (argc > 2 && argc != 8) return usage();
    for (int i = 0; i < 4 && argc > 2; i++) sizes[i] = atoll(argv[4 + i]);
    if (argc > 2) t.steps = atoi(argv[2]), t.sparsity = atof(argv[3]);
    if (!take_sizes(&t, sizes)) return usage();
    make_training(&t);
    double spent[PARTS] = {0};
    mc_diag *diag = mc_diag_create();
    mc_status status = run(&t, argc > 1 ? argv[1] : "auto", spent, diag);
    if (status != MC_OK) fprintf(stderr, "%s: %s\n", mc_status_text(status), mc_diag_text(diag));
    int failed = status != MC_OK || judge(&t, spent);
    mc_diag_destroy(diag);
    free_training(&t);
    return failed;
}
