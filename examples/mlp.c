/* Two layers of a pruned, quantised network, y = W2 f(W1 x + b1) + b2, with activations in f16 as PyTorch has
 * them, [tokens, features], and no step on the host between them:
 *
 *   cc mlp.c $(pkg-config --cflags --libs mcrt) -lm -o mlp
 *   ./mlp [DEVICE [ACTIVATION [TOKENS INPUTS HIDDEN OUTPUTS]]]
 *
 *   quantise   x, f16 [tokens, inputs]          to s8 [inputs, tokens], with a scale for each token
 *   up         f(W1 x + b1), s8 [hidden, tokens], with a scale of its own
 *   down       W2 h + b2, f16 [outputs, tokens]
 *   back       y, f16 [tokens, outputs]
 *
 * Each is a plan; four launches make a pass. ACTIVATION: relu, silu, gelu or gelu_tanh. */
#include <mcrt.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VEC = 8, ONE_IN = 10 /* weights that are kept */ };
enum { QUANTISE, UP, DOWN, BACK, STEPS };

/* Weights in s8, dense, of which vectors of 8 x 1 are kept; a weight is its integer times its row's scale. */
typedef struct layer {
    int64_t outputs, inputs;
    int8_t *w;
    float *scale, *bias;
} layer;

typedef struct mlp {
    int64_t tokens;
    mc_activation activation;
    layer up, down;
    uint16_t *x, *y;    /* f16, [tokens, features] */
    float hidden_scale; /* of h, from samples */
} mlp;

/* -- f16 ---------------------------------------------------------------------------------------------- */

static float float_of(uint16_t half) {
    int exponent = half >> 10 & 31, fraction = half & 1023;
    float value =
        exponent == 0 ? ldexpf((float)fraction, -24) : ldexpf((float)(fraction + 1024), exponent - 25);
    return half >> 15 ? -value : value;
}

/* The nearest f16 to VALUE, which is no infinity: ties to even, as the hardware has it. */
static float rounded(float value) {
    int exponent;
    (void)frexpf(value, &exponent);
    float unit = ldexpf(1, exponent < -13 ? -24 : exponent - 11);
    return rintf(value / unit) * unit;
}

/* -- A network of random numbers ---------------------------------------------------------------------- */

static void make_layer(layer *l, int64_t outputs, int64_t inputs) {
    *l = (layer){outputs, inputs, calloc((size_t)outputs, (size_t)inputs),
                 malloc((size_t)outputs * sizeof *l->scale), malloc((size_t)outputs * sizeof *l->bias)};
    for (int64_t row = 0; row < outputs; row += VEC)
        for (int64_t col = 0; col < inputs; col++)
            for (int r = 0, kept = rand() % ONE_IN == 0; kept && r < VEC; r++)
                l->w[(row + r) * inputs + col] = (int8_t)(rand() % 255 - 127);
    for (int64_t row = 0; row < outputs; row++) {
        l->scale[row] = (1 + (float)(row % 7) / 8) / (64 * sqrtf((float)inputs));
        l->bias[row] = 0.125f * (float)(row % 5 - 2);
    }
}

static void make_mlp(mlp *m, int64_t inputs, int64_t hidden, int64_t outputs) {
    make_layer(&m->up, hidden, inputs);
    make_layer(&m->down, outputs, hidden);
    m->x = malloc((size_t)(m->tokens * inputs) * sizeof *m->x);
    m->y = calloc((size_t)(m->tokens * outputs), sizeof *m->y);
    for (int64_t i = 0; i < m->tokens * inputs; i++) /* of either sign, 2^-4 to 2 */
        m->x[i] = (uint16_t)((rand() & 1) << 15 | (11 + rand() % 5) << 10 | rand() % 1024);
    m->hidden_scale = 1.0f / 64;
}

static void free_mlp(mlp *m) {
    void *const memory[] = {m->up.w,       m->up.scale,  m->up.bias, m->down.w,
                            m->down.scale, m->down.bias, m->x,       m->y};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) free(memory[i]);
}

/* -- On the device ------------------------------------------------------------------------------------ */

/* What stays as long as the model is loaded. */
typedef struct model {
    mc_context *context;
    mc_matrix *up, *down;
    mc_plan *plans[STEPS];
    mc_args args[STEPS];
    mc_argument up_list[2];
    mc_address memory[16], workspace[STEPS];
    int count;
} model;

/* BYTES of memory, with DATA in them unless that is NULL. Once something has failed nothing is done. */
static mc_address upload(model *m, const void *data, int64_t bytes, mc_status *status, mc_diag *diag) {
    mc_address address = 0;
    if (*status == MC_OK && bytes > 0) *status = mc_memory_create(m->context, (size_t)bytes, &address, diag);
    if (*status == MC_OK && data != NULL)
        *status = mc_memory_write(m->context, address, data, (size_t)bytes, diag);
    return m->memory[m->count++] = address;
}

static mc_status matrix_of(mc_context *context, const layer *l, mc_matrix **matrix, mc_diag *diag) {
    const mc_dense_config dense = {
        .size = sizeof dense, .type = MC_S8, .vec = VEC, .rows = l->outputs, .cols = l->inputs, .data = l->w};
    return mc_matrix_from_dense(context, &dense, matrix, diag);
}

/* The problems that the steps solve, by themselves. */
static void describe(const model *on, const mlp *m, mc_plan_config steps[STEPS]) {
    steps[QUANTISE] = (mc_plan_config){.op = MC_OP_QUANTISE,
                                       .a = MC_F16,
                                       .c = MC_S8,
                                       .m = m->tokens,
                                       .n = m->up.inputs,
                                       .scale = MC_PER_ROW,
                                       .computed = true};
    steps[UP] = (mc_plan_config){.op = MC_OP_SPMM,
                                 .matrix = on->up,
                                 .b = MC_S8,
                                 .c = MC_S8,
                                 .n = m->tokens,
                                 .scale = MC_PER_ROW,
                                 .b_scale = MC_PER_COLUMN, /* those of the tokens */
                                 .bias = MC_PER_ROW,
                                 .activation = m->activation,
                                 .c_scale = MC_PER_TENSOR};
    steps[DOWN] = (mc_plan_config){.op = MC_OP_SPMM,
                                   .matrix = on->down,
                                   .b = MC_S8,
                                   .c = MC_F16,
                                   .n = m->tokens,
                                   .scale = MC_PER_ROW,
                                   .bias = MC_PER_ROW};
    steps[BACK] = (mc_plan_config){
        .op = MC_OP_QUANTISE, .a = MC_F16, .c = MC_F16, .m = m->down.outputs, .n = m->tokens};
    for (int i = 0; i < STEPS; i++) steps[i].size = sizeof steps[i];
}

static mc_status make_matrices(model *on, const mlp *m, mc_diag *diag) {
    mc_status status = matrix_of(on->context, &m->up, &on->up, diag);
    return status == MC_OK ? matrix_of(on->context, &m->down, &on->down, diag) : status;
}

static mc_status make_plans(model *on, const mlp *m, mc_diag *diag) {
    mc_plan_config steps[STEPS];
    mc_status status = MC_OK;
    describe(on, m, steps);
    for (int i = 0; i < STEPS && status == MC_OK; i++)
        status = mc_plan_create(on->context, &steps[i], &on->plans[i], diag);
    return status;
}

static mc_status load(model *on, const mlp *m, mc_diag *diag) {
    int64_t t = m->tokens, f32 = (int64_t)sizeof(float), f16 = (int64_t)sizeof(uint16_t);
    const layer *up = &m->up, *down = &m->down;
    mc_status status = make_plans(on, m, diag);
    if (status != MC_OK) return status;
    /* h is its integers times hidden_scale: that goes to the weights that multiply it. */
    float *scale = malloc((size_t)(down->outputs * f32));
    for (int64_t row = 0; row < down->outputs; row++) scale[row] = down->scale[row] * m->hidden_scale;
    mc_address x = upload(on, m->x, t * up->inputs * f16, &status, diag),
               q = upload(on, NULL, t * up->inputs, &status, diag),
               tokens = upload(on, NULL, t * f32, &status, diag),
               h = upload(on, NULL, up->outputs * t, &status, diag),
               z = upload(on, NULL, down->outputs * t * f16, &status, diag),
               y = upload(on, NULL, down->outputs * t * f16, &status, diag),
               up_scale = upload(on, up->scale, up->outputs * f32, &status, diag),
               up_bias = upload(on, up->bias, up->outputs * f32, &status, diag),
               down_scale = upload(on, scale, down->outputs * f32, &status, diag),
               down_bias = upload(on, down->bias, down->outputs * f32, &status, diag);
    free(scale);
    on->up_list[0] = (mc_argument){"b_scale", tokens, 0};
    on->up_list[1] = (mc_argument){"c_scale", 0, m->hidden_scale};
    on->args[QUANTISE] = (mc_args){.a = x, .c = q, .scale = tokens};
    on->args[UP] =
        (mc_args){.b = q, .c = h, .scale = up_scale, .bias = up_bias, .list = on->up_list, .list_count = 2};
    on->args[DOWN] = (mc_args){.b = h, .c = z, .scale = down_scale, .bias = down_bias};
    on->args[BACK] = (mc_args){.a = z, .c = y};
    for (int i = 0; i < STEPS; i++) {
        on->args[i].size = sizeof on->args[i];
        on->workspace[i] = upload(on, NULL, (int64_t)mc_plan_workspace(on->plans[i]), &status, diag);
    }
    return status;
}

/* One pass: launches on STREAM, which may be captured in a graph. */
static mc_status forward(const model *on, void *stream, mc_diag *diag) {
    mc_status status = MC_OK;
    for (int i = 0; i < STEPS && status == MC_OK; i++)
        status = mc_execute(on->plans[i], &on->args[i], on->workspace[i], stream, diag);
    return status;
}

static void unload(model *on) {
    for (int i = 0; i < on->count; i++) mc_memory_destroy(on->context, on->memory[i]);
    for (int i = 0; i < STEPS; i++) mc_plan_destroy(on->plans[i]);
    mc_matrix_destroy(on->up);
    mc_matrix_destroy(on->down);
}

static mc_status run(mlp *m, const char *device, mc_diag *diag) {
    model on = {0};
    mc_context_config config = {.size = sizeof config, .device = device};
    mc_status status = mc_context_create(&config, &on.context, diag);
    if (status == MC_OK) status = make_matrices(&on, m, diag);
    if (status == MC_OK) status = load(&on, m, diag);
    if (status == MC_OK) status = forward(&on, NULL, diag);
    if (status == MC_OK) status = mc_synchronize(on.context, NULL, diag);
    if (status == MC_OK)
        status = mc_memory_read(on.context, on.args[BACK].c, m->y,
                                (size_t)(m->tokens * m->down.outputs) * sizeof *m->y, diag);
    for (int i = 0; i < STEPS && status == MC_OK; i++) {
        mc_plan_info info = {.size = sizeof info};
        status = mc_plan_get_info(on.plans[i], &info, diag);
        if (status == MC_OK) printf("kernel: %s\n", info.fields);
    }
    unload(&on);
    mc_context_destroy(on.context);
    return status;
}

/* -- In plain C --------------------------------------------------------------------------------------- */

/* An activation to double precision. */
static double activated(mc_activation activation, double x) {
    switch (activation) {
    case MC_ACTIVATION_RELU: return x > 0 ? x : 0;
    case MC_ACTIVATION_SILU: return x / (1 + exp(-x));
    case MC_ACTIVATION_GELU: return x * erfc(-x / sqrt(2)) / 2;
    case MC_ACTIVATION_GELU_TANH: return x / (1 + exp(-2 * 0.7978845608028654 * (x + 0.044715 * x * x * x)));
    default: return x;
    }
}

static float nearest_s8(float value) { return fminf(fmaxf(rintf(value), -128), 127); }

/* Quantises a token as docs/quantise.md says. Returns its scale. */
static float quantise_token(const uint16_t *x, int64_t count, int8_t *q) {
    float most = 0;
    for (int64_t i = 0; i < count; i++) most = fmaxf(most, fabsf(float_of(x[i])));
    float scale = fmaxf(most / 127, 0x1p-126f), by = 1 / scale;
    for (int64_t i = 0; i < count; i++) q[i] = (int8_t)nearest_s8(float_of(x[i]) * by);
    return scale;
}

/* The least and the greatest integer that an element of h may be. They differ where the activation's error
   (docs/output.md; relu has none) reaches across a tie. */
static void hidden_of(const mlp *m, int64_t row, const int8_t *q, float token_scale, int8_t ends[2]) {
    const layer *l = &m->up;
    int sum = 0;
    for (int64_t i = 0; i < l->inputs; i++) sum += l->w[row * l->inputs + i] * q[i];
    float real = fmaf((float)sum * l->scale[row], token_scale, l->bias[row]), by = 1 / m->hidden_scale;
    double exact = activated(m->activation, (double)real),
           error = m->activation > MC_ACTIVATION_RELU ? 0x1p-21 * fabs((double)real) : 0;
    ends[0] = (int8_t)nearest_s8((float)(exact - error) * by);
    ends[1] = (int8_t)nearest_s8((float)(exact + error) * by);
}

/* Elements of y that are not what they may be: with relu, bit for bit. */
static int64_t wrong_of_token(const mlp *m, int64_t token, int8_t *q, int8_t (*h)[2]) {
    const layer *up = &m->up, *down = &m->down;
    float scale = quantise_token(m->x + token * up->inputs, up->inputs, q);
    int64_t wrong = 0;
    for (int64_t i = 0; i < up->outputs; i++) hidden_of(m, i, q, scale, h[i]);
    for (int64_t row = 0; row < down->outputs; row++) {
        int least = 0, most = 0;
        for (int64_t i = 0; i < down->inputs; i++) {
            int w = down->w[row * down->inputs + i];
            least += w * h[i][w < 0], most += w * h[i][w >= 0];
        }
        float by = down->scale[row] * m->hidden_scale, bias = down->bias[row],
              got = float_of(m->y[token * down->outputs + row]);
        wrong +=
            !(got >= rounded(fmaf((float)least, by, bias)) && got <= rounded(fmaf((float)most, by, bias)));
    }
    return wrong;
}

static int64_t wrong_of(const mlp *m) {
    int8_t *q = malloc((size_t)m->up.inputs), (*h)[2] = malloc((size_t)m->up.outputs * sizeof *h);
    int64_t wrong = 0, step = m->tokens > 64 ? m->tokens / 16 : 1; /* of many tokens some */
    for (int64_t token = 0; token < m->tokens; token += step) wrong += wrong_of_token(m, token, q, h);
    free(q);
    free(h);
    return wrong;
}

/* -- The program -------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    mc_activation activation;
} activations[] = {{"relu", MC_ACTIVATION_RELU},
                   {"silu", MC_ACTIVATION_SILU},
                   {"gelu", MC_ACTIVATION_GELU},
                   {"gelu_tanh", MC_ACTIVATION_GELU_TANH}};

static bool activation_named(const char *name, mc_activation *activation) {
    for (size_t i = 0; i < sizeof activations / sizeof *activations; i++)
        if (strcmp(name, activations[i].name) == 0) {
            *activation = activations[i].activation;
            return true;
        }
    return false;
}

static int usage(void) {
    fprintf(stderr, "usage: mlp [DEVICE [relu|silu|gelu|gelu_tanh [TOKENS INPUTS HIDDEN OUTPUTS]]]\n"
                    "features are multiples of 8\n");
    return 2;
}

int main(int argc, char **argv) {
    int64_t sizes[4] = {24, 192, 256, 64};
    mlp m = {.activation = MC_ACTIVATION_RELU};
    if ((argc > 2 && !activation_named(argv[2], &m.activation)) || (argc > 3 && argc != 7)) return usage();
    for (int i = 0; i < 4 && argc > 3; i++) sizes[i] = atoll(argv[3 + i]);
    for (int i = 0; i < 4; i++)
        if (sizes[i] < 1 || (i > 0 && sizes[i] % VEC != 0)) return usage();
    m.tokens = sizes[0];
    make_mlp(&m, sizes[1], sizes[2], sizes[3]);
    mc_diag *diag = mc_diag_create();
    mc_status status = run(&m, argc > 1 ? argv[1] : "auto", diag);
    if (status != MC_OK) fprintf(stderr, "%s: %s\n", mc_status_text(status), mc_diag_text(diag));
    int64_t wrong = status == MC_OK ? wrong_of(&m) : 1;
    if (status == MC_OK)
        printf("y[0][0] = %g, %lld outputs wrong\n", (double)float_of(m.y[0]), (long long)wrong);
    mc_diag_destroy(diag);
    free_mlp(&m);
    return wrong > 0;
}
