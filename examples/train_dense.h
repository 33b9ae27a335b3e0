/* What examples/train.c trains, and beside what: a network of random numbers, a dense one to learn from, and
 * the same training in plain C and float, dense with a mask. Nothing here knows a device. */
#ifndef TRAIN_DENSE_H
#define TRAIN_DENSE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { VEC = 8, MOST_LAYERS = 2 };

static const float beta1 = 0.9f, beta2 = 0.99f, epsilon = 1e-8f, decay = 0.01f;
/* One layer of both trainings. A vector is 8 rows of a column. */
typedef struct layer {
    int64_t outputs, inputs, vectors;
    int32_t *row_ptr, *col_idx;
    uint16_t *values;          /* ours, f16 [vectors][8] */
    float *w, *first, *second; /* the reference's, dense [outputs][inputs], zero where there are no vectors */
} layer;

typedef struct training {
    int64_t tokens, features[MOST_LAYERS + 1];
    int layers, steps;
    double sparsity;
    float rate;
    layer of[MOST_LAYERS];
    float *x[MOST_LAYERS + 1], *d[MOST_LAYERS + 1]; /* the reference's activations, and their gradients */
    uint16_t *half[MOST_LAYERS + 1];                /* room for ours on the host */
    float *target;
    double *losses, *wanted; /* of each step: ours, the reference's */
} training;

/* -- f16 ---------------------------------------------------------------------------------------------- */

static float float_of(uint16_t half) {
    int exponent = half >> 10 & 31, fraction = half & 1023;
    float value =
        exponent == 0 ? ldexpf((float)fraction, -24) : ldexpf((float)(fraction + 1024), exponent - 25);
    return half >> 15 ? -value : value;
}

/* The nearest f16 to VALUE, which is below 65520: ties to even, as the hardware has it. */
static uint16_t half_of(float value) {
    int exponent;
    float magnitude = fabsf(value);
    (void)frexpf(magnitude, &exponent);
    int least = exponent < -13 || magnitude == 0 ? -24 : exponent - 11; /* the exponent of the last bit */
    unsigned units = (unsigned)rintf(ldexpf(magnitude, -least));
    /* A fraction that is rounded up to the next power of two carries into the exponent. */
    unsigned bits = least == -24 ? units : ((unsigned)(least + 24) << 10) + units;
    return (uint16_t)((signbit(value) ? 0x8000u : 0) | bits);
}

static void to_halves(const float *from, uint16_t *to, int64_t count) {
    for (int64_t i = 0; i < count; i++) to[i] = half_of(from[i]);
}

/* -- A network of random numbers, and what it is to give ----------------------------------------------- */

/* -1 to 1, and what an f16 holds. */
static float any_number(void) { return (float)(rand() % 2049 - 1024) / 1024; }

static void *room(int64_t count, size_t bytes) { return calloc((size_t)count, bytes); }

static void make_layer(layer *l, int64_t outputs, int64_t inputs, double sparsity) {
    int64_t weights = outputs * inputs, most = weights / VEC;
    float by = 2 / sqrtf((float)inputs);
    *l = (layer){.outputs = outputs,
                 .inputs = inputs,
                 .row_ptr = room(outputs / VEC + 1, sizeof *l->row_ptr),
                 .col_idx = room(most, sizeof *l->col_idx),
                 .w = room(weights, sizeof *l->w),
                 .first = room(weights, sizeof *l->first),
                 .second = room(weights, sizeof *l->second)};
    for (int64_t i = 0; i < weights; i++) l->w[i] = float_of(half_of(by * any_number()));
    for (int64_t block = 0; block < outputs / VEC; block++) {
        for (int32_t col = 0; col < inputs; col++)
            if (rand() >= sparsity * RAND_MAX) l->col_idx[l->vectors++] = col;
        l->row_ptr[block + 1] = (int32_t)l->vectors;
    }
    l->values = room(l->vectors * VEC, sizeof *l->values);
}

/* What is done with each weight that has a vector: ELEMENT of vectors x 8, and its place in the dense one. */
#define EACH_WEIGHT(l, element, row, col)                                                                    \
    for (int64_t block_ = 0; block_ < (l)->outputs / VEC; block_++)                                          \
        for (int64_t v_ = (l)->row_ptr[block_]; v_ < (l)->row_ptr[block_ + 1]; v_++)                         \
            for (int64_t r_ = 0, element = v_ * VEC, row = block_ * VEC, col = (l)->col_idx[v_]; r_ < VEC;   \
                 r_++, element++, row++)

/* The dense network gives the target; then it is pruned. */
static void prune(layer *l) {
    float *pruned = room(l->outputs * l->inputs, sizeof *pruned);
    EACH_WEIGHT(l, i, row, col) {
        pruned[row * l->inputs + col] = l->w[row * l->inputs + col];
        l->values[i] = half_of(l->w[row * l->inputs + col]);
    }
    free(l->w);
    l->w = pruned;
}

static void forward_dense(training *t);

static void make_training(training *t) {
    int64_t outputs = t->features[t->layers];
    for (int i = 0; i <= t->layers; i++) {
        int64_t count = t->features[i] * t->tokens;
        t->x[i] = room(count, sizeof *t->x[i]);
        t->d[i] = room(count, sizeof *t->d[i]);
        t->half[i] = room(count, sizeof *t->half[i]);
    }
    for (int64_t i = 0; i < t->features[0] * t->tokens; i++) t->x[0][i] = any_number();
    for (int i = 0; i < t->layers; i++)
        make_layer(&t->of[i], t->features[i + 1], t->features[i], t->sparsity);
    t->target = room(outputs * t->tokens, sizeof *t->target);
    t->losses = room(t->steps, sizeof *t->losses), t->wanted = room(t->steps, sizeof *t->wanted);
    t->rate =
        1 / (8 * (float)t->features[0]); /* a sum of so many weights moves as far, however many there are */
    forward_dense(t);
    memcpy(t->target, t->x[t->layers], (size_t)(outputs * t->tokens) * sizeof *t->target);
    for (int i = 0; i < t->layers; i++) prune(&t->of[i]);
}

static void free_training(training *t) {
    for (int i = 0; i < MOST_LAYERS; i++) {
        layer *l = &t->of[i];
        free(l->row_ptr), free(l->col_idx), free(l->values), free(l->w), free(l->first), free(l->second);
    }
    for (int i = 0; i <= MOST_LAYERS; i++) free(t->x[i]), free(t->d[i]), free(t->half[i]);
    free(t->target), free(t->losses), free(t->wanted);
}

/* -- The reference: dense, masked, in float ------------------------------------------------------------- */

static void add_row(float *to, float by, const float *from, int64_t count) {
    for (int64_t i = 0; i < count; i++) to[i] += by * from[i];
}

static void forward_dense(training *t) {
    for (int i = 0; i < t->layers; i++) {
        const layer *l = &t->of[i];
        float *y = t->x[i + 1];
        bool hidden = i + 1 < t->layers;
        memset(y, 0, (size_t)(l->outputs * t->tokens) * sizeof *y);
        for (int64_t row = 0; row < l->outputs; row++)
            for (int64_t col = 0; col < l->inputs; col++)
                if (l->w[row * l->inputs + col] != 0)
                    add_row(y + row * t->tokens, l->w[row * l->inputs + col], t->x[i] + col * t->tokens,
                            t->tokens);
        for (int64_t k = 0; hidden && k < l->outputs * t->tokens; k++) y[k] = fmaxf(y[k], 0);
    }
}

/* The mean of squares, and the difference as the gradient: gradients are too great by elements / 2, the loss
   scale, which keeps them among the normal numbers of an f16. */
static double loss_of(const training *t, const float *y, float *d) {
    int64_t count = t->features[t->layers] * t->tokens;
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        d[i] = y[i] - t->target[i];
        sum += (double)d[i] * (double)d[i];
    }
    return sum / (double)count;
}

static float unscale_of(const training *t) { return 2 / (float)(t->features[t->layers] * t->tokens); }

/* dX = W^T dY; none behind what the relu has cut off. */
static void input_gradient_dense(const training *t, int i) {
    const layer *l = &t->of[i];
    float *dx = t->d[i];
    memset(dx, 0, (size_t)(l->inputs * t->tokens) * sizeof *dx);
    EACH_WEIGHT(l, element, row, col)
    add_row(dx + col * t->tokens, l->w[row * l->inputs + col], t->d[i + 1] + row * t->tokens, t->tokens);
    for (int64_t k = 0; k < l->inputs * t->tokens; k++)
        if (t->x[i][k] <= 0) dx[k] = 0;
}

static void adamw(const training *t, layer *l, int64_t at, float g, int step) {
    float m = l->first[at] = beta1 * l->first[at] + (1 - beta1) * g,
          v = l->second[at] = beta2 * l->second[at] + (1 - beta2) * g * g;
    double correct1 = 1 / (1 - pow((double)beta1, step)), correct2 = 1 / (1 - pow((double)beta2, step));
    l->w[at] -= t->rate * decay * l->w[at];
    l->w[at] -= t->rate * (m * (float)correct1) / (sqrtf(v * (float)correct2) + epsilon);
}

static void step_dense(const training *t, int i, int step) {
    layer *l = (layer *)&t->of[i];
    const float *x = t->x[i], *d = t->d[i + 1];
    EACH_WEIGHT(l, element, row, col) {
        float sum = 0;
        for (int64_t k = 0; k < t->tokens; k++) sum += d[row * t->tokens + k] * x[col * t->tokens + k];
        adamw(t, l, row * l->inputs + col, sum * unscale_of(t), step);
    }
}

/* Step STEP, from 1 on. Returns the loss before it. */
static double train_dense(training *t, int step) {
    forward_dense(t);
    double loss = loss_of(t, t->x[t->layers], t->d[t->layers]);
    for (int i = t->layers - 1; i > 0; i--) input_gradient_dense(t, i);
    for (int i = 0; i < t->layers; i++) step_dense(t, i, step);
    return loss;
}

#endif
