/* The bench's own kernels, on the simulator. */
#include <math.h>
#include <stdlib.h>
#include "base/real.h"
#include "check.h"
#include "helpers.h"

static mc_diag *diag;
static mc_device *device;
static helpers h;

#define OK(call) CHECK((call) == MC_OK, "%s", mc_diag_text(diag))

static uint64_t upload(const void *data, size_t bytes) {
    uint64_t address = 0;
    OK(mc_device_alloc(device, bytes, &address, diag));
    OK(mc_device_write(device, address, data, bytes, diag));
    return address;
}

/* An f16 or bf16 of a small whole number. */
static uint16_t narrow(mc_type type, int value) {
    mc_dense one;
    uint16_t bits = 0;
    OK(mc_dense_create(MC_F32, 1, 1, 1, &one, diag));
    *(float *)one.data = (float)value;
    uint32_t wide = (uint32_t)mc_dense_get(&one, 0, 0);
    mc_dense_free(&one);
    if (type == MC_BF16) return (uint16_t)(wide >> 16);
    if (value != 0)
        bits = (uint16_t)((wide >> 16 & 0x8000) | (((wide >> 23 & 0xff) - 112) << 10) | (wide >> 13 & 0x3ff));
    return bits;
}

static void test_fill(void) {
    enum { COUNT = 1000 };
    int8_t bytes[COUNT] = {0};
    bool seen[256] = {false};
    uint64_t address = upload(bytes, sizeof bytes);
    OK(helpers_fill(&h, MC_S8, FILL_UNIFORM, address, COUNT, 7, diag));
    OK(mc_device_read(device, address, bytes, sizeof bytes, diag));
    int distinct = 0, least = 0, most = 0;
    for (int i = 0; i < COUNT; i++) {
        distinct += !seen[(uint8_t)bytes[i]];
        seen[(uint8_t)bytes[i]] = true;
        least = bytes[i] < least ? bytes[i] : least;
        most = bytes[i] > most ? bytes[i] : most;
    }
    CHECK(distinct > 230 && least < -120 && most > 120, "%d values, %d to %d", distinct, least, most);
    mc_device_free(device, address);
}

/* All bytes but those of 2 and more. */
static void test_fill_e4m3(void) {
    enum { COUNT = 4000 };
    uint8_t bytes[COUNT] = {0};
    bool seen[256] = {false};
    int distinct = 0, large = 0;
    uint64_t address = upload(bytes, sizeof bytes);
    OK(helpers_fill(&h, MC_E4M3, FILL_UNIFORM, address, COUNT, 7, diag));
    OK(mc_device_read(device, address, bytes, sizeof bytes, diag));
    for (int i = 0; i < COUNT; i++) {
        distinct += !seen[bytes[i]];
        seen[bytes[i]] = true;
        large += !(fabsf(real_from_bits(MC_E4M3, bytes[i])) < 2);
    }
    CHECK(distinct == 128 && large == 0, "%d values, %d large ones", distinct, large);
    mc_device_free(device, address);
}

static void test_fill_floats(mc_type type) {
    enum { COUNT = 512 };
    mc_dense d;
    OK(mc_dense_create(type, 1, COUNT, COUNT, &d, diag));
    uint64_t address = upload(d.data, 2 * COUNT);
    OK(helpers_fill(&h, type, FILL_UNIFORM, address, COUNT, 7, diag));
    OK(mc_device_read(device, address, d.data, 2 * COUNT, diag));
    double sum = 0, square = 0, most = 0;
    for (int i = 0; i < COUNT; i++) {
        double x = mc_dense_real(&d, 0, i);
        sum += x;
        square += x * x;
        most = fmax(most, fabs(x));
    }
    CHECK(most > 0.98 && most <= 1, "%f", most);
    CHECK(fabs(sum / COUNT) < 0.1 && fabs(square / COUNT - 1.0 / 3) < 0.05, "%f %f", sum, square);
    mc_dense_free(&d);
    mc_device_free(device, address);
}

enum { M = 3, N = 130, K = 5, LDA = 7 };

/* B row-major, or (k_contiguous) n x k. Values small enough that every type holds them. */
static int a_value(int m, int k) { return (m * 5 + k * 3) % 7 - 3; }
static int b_value(int k, int n) { return (k * 11 + n) % 9 - 4; }

static void store(mc_type type, void *data, int index, int value) {
    if (type == MC_S8) ((int8_t *)data)[index] = (int8_t)value;
    else if (type == MC_E4M3) ((uint8_t *)data)[index] = (uint8_t)real_to_bits(type, (float)value);
    else ((uint16_t *)data)[index] = narrow(type, value);
}

static void test_reference(mc_type type, bool k_contiguous) {
    uint16_t a[M * LDA] = {0}, b[K * N] = {0};
    uint32_t c[M * N] = {0};
    for (int m = 0; m < M; m++)
        for (int k = 0; k < K; k++) store(type, a, m * LDA + k, a_value(m, k));
    for (int k = 0; k < K; k++)
        for (int n = 0; n < N; n++) store(type, b, k_contiguous ? n * K + k : k * N + n, b_value(k, n));
    dense_product p = {.a = upload(a, sizeof a),
                       .b = upload(b, sizeof b),
                       .c = upload(c, sizeof c),
                       .m = M,
                       .n = N,
                       .k = K,
                       .lda = LDA,
                       .b_k = k_contiguous ? 1 : N,
                       .b_n = k_contiguous ? K : 1};
    OK(helpers_reference(&h, type, type, &p, diag));
    OK(mc_device_read(device, p.c, c, sizeof c, diag));
    int wrong = 0;
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            int want = 0;
            float real;
            for (int k = 0; k < K; k++) want += a_value(m, k) * b_value(k, n);
            memcpy(&real, &c[m * N + n], sizeof real);
            wrong += type == MC_S8 ? (int)c[m * N + n] != want : real != (float)want;
        }
    CHECK(wrong == 0, "%s: %d wrong", mc_type_text(type), wrong);
    mc_device_free(device, p.a);
    mc_device_free(device, p.b);
    mc_device_free(device, p.c);
}

static uint64_t count_wrong(mc_type type, const void *got, const void *want, size_t count,
                            tolerance allowed) {
    uint64_t wrong = 0, got_at = upload(got, count * mc_type_bytes(type)), want_at = upload(want, count * 4);
    OK(helpers_compare(&h, type, &(compared){got_at, want_at, count, 0, 0}, allowed, &wrong, diag));
    mc_device_free(device, got_at);
    mc_device_free(device, want_at);
    return wrong;
}

static void test_compare(void) {
    enum { COUNT = 300 };
    int32_t got[COUNT], want[COUNT];
    float real[COUNT], near[COUNT];
    uint16_t half[COUNT];
    for (int i = 0; i < COUNT; i++) {
        got[i] = want[i] = (int32_t)0x80000000 + i * 7919;
        real[i] = near[i] = (float)(i - 150);
        half[i] = narrow(MC_F16, i - 150);
    }
    const tolerance none = {0, 0}, some = {0x1p-11, 4};
    CHECK(count_wrong(MC_S32, got, want, COUNT, none) == 0);
    got[299] ^= 1;
    CHECK(count_wrong(MC_S32, got, want, COUNT, none) == 1);
    CHECK(count_wrong(MC_S32, got, want, COUNT - 1, none) == 0);
    CHECK(count_wrong(MC_F32, near, real, COUNT, none) == 0);
    CHECK(count_wrong(MC_F16, half, real, COUNT, none) == 0);
    near[7] = NAN;
    near[8] += 0.1f;
    CHECK(count_wrong(MC_F32, near, real, COUNT, none) == 2);
    CHECK(count_wrong(MC_F32, near, real, COUNT, some) == 2);
    near[8] = real[8] + 0.05f;
    CHECK(count_wrong(MC_F32, near, real, COUNT, some) == 1);
    half[0] = 0xffff;
    CHECK(count_wrong(MC_F16, half, real, COUNT, some) == 1);
}

/* Bits of GOT, as f32, against [least, most]. */
static void test_within(void) {
    static const struct {
        float got, least, most;
        bool right;
    } rows[] = {{1, 1, 1, true},
                {1, 0.5F, 2, true},
                {2, 0.5F, 2, true},
                {0.5F, 0.5F, 2, true},
                {0.25F, 0.5F, 2, false},
                {2.5F, 0.5F, 2, false},
                {-1, -2, -0.5F, true},
                {-0.25F, -2, -0.5F, false},
                {-0.0F, 0, 0, true},
                {INFINITY, 1, INFINITY, true},
                {INFINITY, 1, 60000, false},
                {NAN, 0, 1, false},
                {NAN, 1, INFINITY, false},
                {NAN, NAN, NAN, true},
                {1, NAN, NAN, false},
                {1, NAN, 2, false},
                {NAN, -INFINITY, INFINITY, true},
                {1, -INFINITY, INFINITY, true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (mc_type type = MC_F16; type <= MC_F32; type++) {
            mc_dense got;
            uint64_t wrong = 7;
            OK(mc_dense_create(type, 1, 1, 1, &got, diag));
            mc_dense_set(&got, 0, 0, real_to_bits(type, rows[i].got));
            uint64_t at = upload(got.data, mc_type_bytes(type)), least = upload(&rows[i].least, 4),
                     most = upload(&rows[i].most, 4);
            OK(helpers_within(&h, type, at, least, most, 1, &wrong, diag));
            CHECK(wrong == !rows[i].right, "row %zu, %s: %llu", i, mc_type_text(type),
                  (unsigned long long)wrong);
            mc_dense_free(&got);
            mc_device_free(device, at);
            mc_device_free(device, least);
            mc_device_free(device, most);
        }
}

/* Of 8 bits, and how many are counted. */
static void test_within_bytes(void) {
    enum { COUNT = 256 };
    uint8_t bytes[COUNT];
    float least[COUNT], most[COUNT];
    for (int i = 0; i < COUNT; i++) bytes[i] = (uint8_t)i, least[i] = -28, most[i] = 100;
    uint64_t wrong = 0, got = upload(bytes, sizeof bytes), from = upload(least, sizeof least),
             to = upload(most, sizeof most);
    OK(helpers_within(&h, MC_U8, got, from, to, COUNT, &wrong, diag));
    CHECK(wrong == 155, "u8: %llu", (unsigned long long)wrong);
    OK(helpers_within(&h, MC_S8, got, from, to, COUNT, &wrong, diag));
    CHECK(wrong == 27 + 100, "s8: %llu", (unsigned long long)wrong);
    mc_device_free(device, got);
    mc_device_free(device, from);
    mc_device_free(device, to);
}

/* Against libmcrt's reference, which rounds on the host. */
static void test_output(mc_type type, mc_per scale, mc_per bias, mc_activation activation) {
    enum { ROWS = 5, COLS = 70, LONGER = 70 };
    mc_dense sums, want;
    int32_t narrow_sums[ROWS * COLS];
    float scales[LONGER], biases[LONGER], got[ROWS * COLS] = {0};
    OK(mc_dense_create(MC_S64, ROWS, COLS, COLS, &sums, diag));
    for (int i = 0; i < ROWS * COLS; i++)
        ((int64_t *)sums.data)[i] = narrow_sums[i] = (i * 7919 % 4001 - 2000) * (i % 5 == 0 ? 4099 : 3);
    mc_scale_fill(scales, LONGER, MC_VALUES_FULL, 3);
    mc_bias_fill(biases, LONGER, MC_VALUES_FULL, 4);
    const mc_output output = {.type = type, .scale = scale, .bias = bias, .activation = activation};
    const float zero = 0;
    OK(mc_reference_output(&output,
                           &(mc_factors){.scale = scales, .bias = bias == MC_PER_NONE ? NULL : biases}, &sums,
                           &want, diag));
    uint64_t sums_at = upload(narrow_sums, sizeof narrow_sums), out = upload(got, sizeof got);
    output_rule rule = {.scale = upload(scales, sizeof scales),
                        .bias =
                            bias == MC_PER_NONE ? upload(&zero, sizeof zero) : upload(biases, sizeof biases),
                        .scale_row = scale == MC_PER_ROW,
                        .scale_col = scale == MC_PER_COLUMN,
                        .bias_row = bias == MC_PER_ROW,
                        .bias_col = bias == MC_PER_COLUMN,
                        .least = activation == MC_ACTIVATION_RELU ? 0 : -INFINITY};
    OK(helpers_output(&h, type, sums_at, out, ROWS, COLS, &rule, diag));
    OK(mc_device_read(device, out, got, sizeof got, diag));
    int wrong = 0;
    for (int i = 0; i < ROWS * COLS; i++) wrong += (double)got[i] != mc_dense_real(&want, i / COLS, i % COLS);
    CHECK(wrong == 0, "%s: %d wrong", mc_type_text(type), wrong);
    mc_device_free(device, sums_at);
    mc_device_free(device, out);
    mc_device_free(device, rule.scale);
    mc_device_free(device, rule.bias);
    mc_dense_free(&sums);
    mc_dense_free(&want);
}

int main(void) {
    diag = mc_diag_create();
    OK(mc_device_open("sim", &device, diag));
    OK(helpers_open(&h, device, diag));
    test_fill();
    test_fill_floats(MC_F16);
    test_fill_floats(MC_BF16);
    test_reference(MC_S8, false);
    test_reference(MC_S8, true);
    test_reference(MC_E4M3, false);
    test_reference(MC_E4M3, true);
    test_fill_e4m3();
    test_reference(MC_F16, false);
    test_reference(MC_BF16, true);
    test_compare();
    test_within();
    test_within_bytes();
    test_output(MC_F16, MC_PER_ROW, MC_PER_NONE, MC_ACTIVATION_RELU);
    test_output(MC_BF16, MC_PER_COLUMN, MC_PER_ROW, MC_ACTIVATION_NONE);
    test_output(MC_F32, MC_PER_TENSOR, MC_PER_COLUMN, MC_ACTIVATION_RELU);
    helpers_close(&h);
    mc_device_close(device);
    mc_diag_destroy(diag);
    return check_end();
}
