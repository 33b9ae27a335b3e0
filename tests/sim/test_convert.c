/* The arithmetic from sums to narrow floats, on thousands of values against references that take other ways than the
   simulator: integers, doubles rounded to odd, and a search among the elements of a type. */
#include "harness.h"
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { COUNT = 4096, RESULTS = 5 }; /* f32(sum), its product, fma, f16 and bf16 pairs */

static const char kernel[] =
    PTX_HEADER ".visible .entry k(.param .u64 in, .param .u64 out)\n"
               "{\n"
               "    .reg .b32 %sum, %scale, %bias, %real, %product, %fused, %half, %brain, %i, %b, %n;\n"
               "    .reg .b64 %in, %out;\n"
               "    ld.param.u64 %in, [in];\n"
               "    ld.param.u64 %out, [out];\n"
               "    mov.u32 %i, %tid.x;\n"
               "    mov.u32 %b, %ctaid.x;\n"
               "    mov.u32 %n, %ntid.x;\n"
               "    mad.lo.s32 %i, %b, %n, %i;\n"
               "    mad.wide.s32 %in, %i, 12, %in;\n"
               "    mad.wide.s32 %out, %i, 20, %out;\n"
               "    ld.global.b32 %sum, [%in];\n"
               "    ld.global.b32 %scale, [%in+4];\n"
               "    ld.global.b32 %bias, [%in+8];\n"
               "    cvt.rn.f32.s32 %real, %sum;\n"
               "    mul.rn.f32 %product, %real, %scale;\n"
               "    fma.rn.f32 %fused, %real, %scale, %bias;\n"
               "    cvt.rn.f16x2.f32 %half, %product, %bias;\n"
               "    cvt.rn.bf16x2.f32 %brain, %product, %bias;\n"
               "    st.global.b32 [%out], %real;\n"
               "    st.global.b32 [%out+4], %product;\n"
               "    st.global.b32 [%out+8], %fused;\n"
               "    st.global.b32 [%out+12], %half;\n"
               "    st.global.b32 [%out+16], %brain;\n"
               "    ret;\n"
               "}\n";

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* -- References --------------------------------------------------------------------------------------- */

/* f32(SUM) to nearest even, in integers. */
static double to_float(int32_t sum) {
    int64_t magnitude = sum < 0 ? -(int64_t)sum : sum, step = 1;
    while (magnitude / step >= 1 << 24) step *= 2;
    int64_t kept = magnitude / step, rest = magnitude % step;
    if (2 * rest > step || (2 * rest == step && kept % 2)) kept++;
    return (sum < 0 ? -1.0 : 1.0) * (double)(kept * step);
}

/* X Y + Z with one rounding: the product is exact in a double, the sum is rounded to odd there, which the rounding to
   24 bits does not notice (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008). */
static float fused(double x, double y, double z) {
    double product = x * y, sum = product + z, part = sum - product;
    double error = (product - (sum - part)) + (z - part);
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    if (error != 0 && bits % 2 == 0) sum = nextafter(sum, error > 0 ? INFINITY : -INFINITY);
    return (float)sum;
}

typedef struct format {
    int fraction, bias;
    uint32_t infinity;
} format;

static const format half = {10, 15, 0x7c00}, brain = {7, 127, 0x7f80};

static double value_of(format f, uint32_t bits) {
    uint32_t field = bits >> f.fraction, rest = bits & ((1u << f.fraction) - 1);
    return field ? ldexp((double)(rest | 1u << f.fraction), (int)field - f.bias - f.fraction)
                 : ldexp((double)rest, 1 - f.bias - f.fraction);
}

static uint32_t nearest(format f, float value) {
    uint32_t low = 0, high = f.infinity, sign = signbit(value) ? 0x8000 : 0;
    double magnitude = fabs((double)value);
    if (isnan(value)) return 0x7fff;
    if (magnitude >= value_of(f, high)) return sign | high;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (value_of(f, middle) <= magnitude) low = middle;
        else high = middle;
    }
    double below = magnitude - value_of(f, low), above = value_of(f, high) - magnitude;
    return sign | (below < above || (below == above && low % 2 == 0) ? low : high);
}

/* -- Values ------------------------------------------------------------------------------------------- */

typedef struct input {
    int32_t sum;
    float scale, bias;
} input;

/* A float between two neighbouring elements of a type, at or beside the middle. */
static float near_tie(format f, uint64_t *state) {
    uint32_t element = (uint32_t)(next_random(state) % (f.infinity - 1));
    float tie = (float)((value_of(f, element) + value_of(f, element + 1)) / 2);
    switch (next_random(state) % 3) {
    case 0: return nextafterf(tie, 0);
    case 1: return nextafterf(tie, INFINITY);
    default: return tie;
    }
}

static void draw(input *in, int i, uint64_t *state) {
    static const float special[] = {0,         -0.0f,           INFINITY, -INFINITY, NAN,
                                    0x1p-149f, 0x1.fffffep127f, 65520,    65519.996f};
    in->sum = (int32_t)(next_random(state) >> 32) >> (i % 31);
    in->scale = ldexpf(1 + (float)(next_random(state) >> 41) * 0x1p-23f, (int)(next_random(state) % 60) - 50);
    in->bias =
        i % 2 ? near_tie(i % 4 == 1 ? half : brain, state) : float_of((uint32_t)(next_random(state) >> 32));
    if (i % 7 == 0) in->bias = -(float)in->sum * in->scale; /* cancels */
    if (i % 64 == 0) in->scale = special[i / 64 % 9];
    if (i % 64 == 32) in->bias = special[i / 64 % 9];
}

static void check(const input *in, const uint32_t got[RESULTS]) {
    double real = to_float(in->sum);
    float product = (float)(real * in->scale);
    float both =
        isfinite(in->scale) && isfinite(in->bias) ? fused(real, in->scale, in->bias) : product + in->bias;
    const uint32_t want[RESULTS] = {bits_of((float)real), bits_of(product), bits_of(both),
                                    nearest(half, product) << 16 | nearest(half, in->bias),
                                    nearest(brain, product) << 16 | nearest(brain, in->bias)};
    for (int i = 0; i < RESULTS; i++) {
        bool nan = i < 3 && isnan(float_of(want[i])) && isnan(float_of(got[i]));
        CHECK(nan || got[i] == want[i], "%d, %a, %a: result %d is 0x%08x, must be 0x%08x", in->sum,
              (double)in->scale, (double)in->bias, i, got[i], want[i]);
    }
}

int main(void) {
    static input in[COUNT];
    static uint32_t got[COUNT][RESULTS];
    uint64_t state = 3, in_at, out_at;
    ptxsim *sim;
    for (int i = 0; i < COUNT; i++) draw(&in[i], i, &state);
    CHECK(ptxsim_create(NULL, &sim) == PTXSIM_OK);
    CHECK(ptxsim_alloc(sim, sizeof in, &in_at) == PTXSIM_OK &&
          ptxsim_alloc(sim, sizeof got, &out_at) == PTXSIM_OK);
    CHECK(ptxsim_write(sim, in_at, in, sizeof in) == PTXSIM_OK);
    void *params[] = {&in_at, &out_at};
    ptxsim_status status =
        run_kernel(sim, kernel, (ptxsim_dim3){COUNT / 128, 1, 1}, (ptxsim_dim3){128, 1, 1}, 0, params);
    CHECK(status == PTXSIM_OK, "%s", ptxsim_fault_text(sim));
    if (status == PTXSIM_OK) status = ptxsim_read(sim, out_at, got, sizeof got);
    for (int i = 0; status == PTXSIM_OK && i < COUNT; i++) check(&in[i], got[i]);
    ptxsim_destroy(sim);
    return check_end();
}
