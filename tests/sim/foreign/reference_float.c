/* References of kernels on floats. The order of operations and each rounding are the kernel's, where it is compared bit for
 * bit. */
#include "half.h"
#include "references.h"

#include <stdint.h>

void reference_saxpy(const void *a, const void *b, void *out, unsigned n) {
    const float *x = a, *y = b;
    float *to = out;
    for (unsigned i = 0; i < n; i++) to[i] = 2.5f * x[i] + y[i];
}

void reference_matmul(const void *a, const void *b, void *out, unsigned n) {
    const float *x = a, *y = b;
    float *to = out;
    for (unsigned at = 0; at < n; at++) {
        float sum = 0;
        for (unsigned k = 0; k < 32; k++) sum += x[at / 32 * 32 + k] * y[k * 32 + at % 32];
        to[at] = sum;
    }
}

void reference_tensor(const void *a, const void *b, void *out, unsigned n) {
    const float *x = a, *y = b;
    float *to = out;
    for (unsigned at = 0; at < n; at++) {
        unsigned row = at / 8, column = at % 8;
        float sum = (float)(row / 8 * 2 + column % 2); /* what the accumulators held */
        for (unsigned k = 0; k < 16; k++) sum += x[row * 16 + k] * y[k * 8 + column];
        to[at] = sum;
    }
}

void reference_wgmma(const void *a, const void *b, void *out, unsigned n) {
    const uint16_t *x = a, *y = b;
    float *to = out;
    for (unsigned at = 0; at < 64 * 8 && n >= 4; at++) {
        float sum = 0; /* exact: multiples of 1/256 below 2^7 */
        for (unsigned k = 0; k < 16; k++) sum += float_of(x[at / 8 * 16 + k]) * float_of(y[at % 8 * 16 + k]);
        to[at] = sum;
    }
}

/* -- Halves ------------------------------------------------------------------------------------------- */

static float saturated(float x) { return x > 1 ? 1 : x > 0 ? x : 0; }

void reference_half2(const void *a, const void *b, void *out, unsigned n) {
    const uint16_t *p = a, *q = b;
    uint16_t *to = out;
    for (unsigned i = 0; i < n; i++) {
        float r[2], x[2], y[2];
        for (int k = 0; k < 2; k++) {
            x[k] = float_of(p[2 * i + (unsigned)k]), y[k] = float_of(q[2 * i + (unsigned)k]);
            float sum = round_half(x[k] + y[k]), product = round_half(x[k] * y[k]);
            r[k] = round_half((double)sum * (double)product - (double)x[k]);
            r[k] = round_half(r[k] + (x[k] == y[k]));
            r[k] = round_half(r[k] + (x[k] > y[k]));
            r[k] = round_half(r[k] + (sum <= product));
        }
        if (x[0] >= y[0] && x[1] >= y[1])
            for (int k = 0; k < 2; k++) r[k] = saturated(round_half(r[k] + 0.25f));
        if (x[0] < y[1])
            for (int k = 0; k < 2; k++) r[k] = fmaxf(r[k], fminf(x[k], y[k]));
        to[2 * i] = half_of(fabs((double)r[1]));
        to[2 * i + 1] = half_of(fabs((double)r[0]));
    }
}

void reference_half(const void *a, const void *b, void *out, unsigned n) {
    const float *p = a, *q = b;
    float *to = out;
    for (unsigned i = 0; i < n; i++) {
        float x = p[i], y = q[i];
        float r = round_half(x + y) + round_half(x * y);
        r += rintf(round_half(x * 7)) + truncf(fabsf(y));
        r += floorf(x) - ceilf(y) + rintf(x) + truncf(y);
        r += fmaxf(x, y) + sqrtf(fabsf(x));
        r += 1 / round_half(fabsf(x) + 1) + x / 3;
        r += exp2f(x) + log2f(round_half(fabsf(y) + 2));
        to[i] = r + (float)i + truncf(x) + floorf(y);
    }
}

void reference_bf16(const void *a, const void *b, void *out, unsigned n) {
    const float *p = a, *q = b;
    float *to = out;
    for (unsigned i = 0; i < n; i++) {
        float x = p[i], y = q[i], r[2];
        for (int k = 0; k < 2; k++) {
            float left = k ? y : x, right = k ? x : y;
            double sum = (double)round_brain(left + right);
            r[k] = round_brain((double)left * (double)right + sum);
            r[k] = round_brain(fmaxf(r[k], -right) + (left >= right));
        }
        float s = round_brain(round_brain(x * y) - round_brain((double)x * (double)y + fabs((double)x)));
        float t = s + r[0] - r[1];
        if (x > y) t += round_brain((int)i - 20);
        to[i] = t + truncf(x);
    }
}

/* -- Functions ---------------------------------------------------------------------------------------- */

void reference_math(const void *a, const void *b, void *out, unsigned n) {
    const float *p = a, *q = b;
    float *to = out;
    for (unsigned i = 0; i < n; i++) {
        double x = (double)p[i], y = (double)q[i];
        double r = sin(3 * x) + 2 * cos(3 * x) + exp(x) + log(fabs(y) + 0.5) + pow(fabs(x) + 0.25, y);
        r += tanh(y) + atan2(x, y) + sqrt(fabs(x)) + 1 / sqrt(fabs(y) + 1) + cbrt(x) + erf(y);
        r += fmod(x * 10, 3) + floor(x) + round(y * 5) + copysign(1.5, y) + fmax(x, y) + tan(x);
        to[i] = (float)(r + 4 * x + log1p(fabs(x)) + x / 3 + 1 / (fabs(y) + 2));
    }
}

void reference_fastmath(const void *a, const void *b, void *out, unsigned n) {
    const float *p = a, *q = b;
    float *to = out;
    for (unsigned i = 0; i < n; i++) {
        double x = (double)p[i], y = (double)q[i];
        double r = sin(x) + cos(x) * exp(y) + log((x > 1 ? 1 : x > 0 ? x : 0) + 1) + pow(2, y) + tan(x / 4);
        to[i] = (float)(r + cos(y));
    }
}

void reference_double(const void *a, const void *b, void *out, unsigned n) {
    const float *p = a, *q = b;
    double *to = out;
    for (unsigned i = 0; i < n; i++) {
        double x = (double)p[i], y = (double)q[i] + 3.5;
        double r =
            x / y + sqrt(fabs(x)) + exp(x) + log(y) + sin(x * 5) + cos(y) + fma(x, y, 0.125) + pow(y, x);
        to[i] = r + floor(x * 3) + trunc(y * 1e6) + rint(y) + fmin(x, y) + tanh(x) + trunc(x * 9);
    }
}

void reference_vector(const void *a, const void *b, void *out, unsigned n) {
    const float *v = a;
    const unsigned char *c = b;
    for (unsigned i = 0; i < n; i++, v += 4, c += 4) {
        float position[3] = {v[0] + c[0], v[1] * v[2], v[3] - c[1]};
        int id = (int8_t)c[2] * c[3];
        memcpy((char *)out + 16 * i, position, sizeof position);
        memcpy((char *)out + 16 * i + 12, &id, sizeof id);
    }
}
