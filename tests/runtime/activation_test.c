/* Activations: the bounds of docs/output.md over floats of every exponent, special values, and the bits of a few, which
   say that no step has changed. */
#include <math.h>
#include <string.h>
#include "check.h"
#include "mcrt_internal.h"

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* -- What they are ------------------------------------------------------------------------------------ */

static double silu(double x) { return x / (1 + exp(-x)); }

static double gelu(double x) { return x * erfc(-x * 0x1.6a09e667f3bcdp-1) / 2; }

static double gelu_tanh(double x) {
    return x / (1 + exp(-2 * 0x1.988453365d0abp-1 * (x + 0.044715 * x * x * x)));
}

static double relu(double x) { return x > 0 ? x : 0; }

static const struct {
    mc_activation activation;
    const char *name;
    double (*exact)(double x);
    double bound;       /* times |x| */
    float below;        /* where x is far below 0: at most this far from 0 */
    uint32_t golden[5]; /* of golden_at */
} rows[] = {
    {MC_ACTIVATION_RELU, "relu", relu, 0, 0, {0, 0, 0x3f800000, 0x40600000, 0x00000001}},
    {MC_ACTIVATION_SILU,
     "silu",
     silu,
     0x1p-22,
     0x1p-117F,
     {0xbe11b13a, 0xbd42918b, 0x3f3b26a8, 0x40596f1e, 0}},
    {MC_ACTIVATION_GELU,
     "gelu",
     gelu,
     0x1p-22,
     0x1p-47F,
     {0xbb84b321, 0xbd3c7c89, 0x3f57625e, 0x405ff2a9, 0}},
    {MC_ACTIVATION_GELU_TANH,
     "gelu_tanh",
     gelu_tanh,
     0x1p-22,
     0x1p-106F,
     {0xbb6e614e, 0xbd3c7c96, 0x3f57585c, 0x405ff5e7, 0}},
};
static const float golden_at[] = {-0x1.8p1F, -0x1.99999ap-4F, 1, 0x1.cp1F, 0x1p-149F};

/* -- Checks ------------------------------------------------------------------------------------------- */

/* Every 509th float, of both signs. */
static void test_bound(size_t row) {
    double worst = 0;
    float at = 0;
    for (uint32_t bits = 0; bits < 0x7f800000; bits += 509)
        for (uint32_t sign = 0; sign < 2; sign++) {
            float x = float_of(bits | sign << 31);
            double exact = rows[row].exact(x), got = (double)mc_activation_of(rows[row].activation, x);
            /* the last term: what is subnormal */
            double over = fabs(got - exact) - rows[row].bound * fabs((double)x) - 0x1p-149;
            if (over > worst) worst = over, at = x;
        }
    CHECK(worst == 0, "%s of %a is %g too far", rows[row].name, (double)at, worst);
}

static void test_special(size_t row) {
    mc_activation activation = rows[row].activation;
    const char *name = rows[row].name;
    CHECK(isnan(mc_activation_of(activation, NAN)), "%s", name);
    CHECK(mc_activation_of(activation, INFINITY) == INFINITY, "%s", name);
    CHECK(mc_activation_of(activation, 0x1.fffffep127F) == 0x1.fffffep127F, "%s", name);
    CHECK(mc_activation_of(activation, 0) == 0, "%s", name);
    const float far[] = {-100, -0x1p40F, -0x1.fffffep127F, -INFINITY};
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        float got = mc_activation_of(activation, far[i]);
        CHECK(fabsf(got) <= rows[row].below, "%s of %a is %a", name, (double)far[i], (double)got);
    }
}

static void test_golden(size_t row) {
    for (size_t i = 0; i < sizeof golden_at / sizeof *golden_at; i++) {
        uint32_t got = bits_of(mc_activation_of(rows[row].activation, golden_at[i]));
        CHECK(got == rows[row].golden[i], "%s of %a is 0x%08x, was 0x%08x", rows[row].name,
              (double)golden_at[i], got, rows[row].golden[i]);
    }
}

int main(void) {
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        test_bound(row);
        test_special(row);
        test_golden(row);
    }
    CHECK(mc_activation_of(MC_ACTIVATION_NONE, -3) == -3);
    return check_end();
}
