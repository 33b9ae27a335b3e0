/* The bench's random operands, masks and plain products of all types, on the simulator. */
#include <math.h>
#include <stdlib.h>
#include "base/real.h"
#include "check.h"
#include "helpers.h"

static mc_diag *diag;
static mc_device *device;
static helpers h;

#define OK(call) CHECK((call) == MC_OK, "%s", mc_diag_text(diag))

static uint64_t alloc(size_t bytes) {
    uint64_t address = 0;
    OK(mc_device_alloc(device, bytes, &address, diag));
    return address;
}

static double value_of(mc_type type, const void *data, size_t i) {
    if (type == MC_S8) return ((const int8_t *)data)[i];
    if (type == MC_U8) return ((const uint8_t *)data)[i];
    uint32_t bits = mc_type_bytes(type) == 1   ? ((const uint8_t *)data)[i]
                    : mc_type_bytes(type) == 2 ? ((const uint16_t *)data)[i]
                                               : ((const uint32_t *)data)[i];
    return (double)real_from_bits(type, bits);
}

/* COUNT values of TYPE, drawn on the device. */
static void *draw(mc_type type, fill_law law, size_t count, uint32_t seed) {
    size_t bytes = (count * mc_type_bytes(type) + 3) / 4 * 4;
    void *data = calloc(bytes, 1);
    uint64_t address = alloc(bytes);
    OK(helpers_fill(&h, type, law, address, count, seed, diag));
    if (data != NULL) OK(mc_device_read(device, address, data, bytes, diag));
    mc_device_free(device, address);
    return data;
}

enum { DRAWN = 4000 };

static void test_law(mc_type type, fill_law law, double mean, double deviation, double most) {
    void *data = draw(type, law, DRAWN, 5);
    double sum = 0, square = 0, largest = 0;
    for (size_t i = 0; data != NULL && i < DRAWN; i++) {
        double x = value_of(type, data, i);
        CHECK(isfinite(x), "%s: value %zu", mc_type_text(type), i);
        sum += x / DRAWN;
        square += x * x / DRAWN;
        largest = fmax(largest, fabs(x));
    }
    CHECK(fabs(sum - mean) < 0.08 * deviation, "%s: mean %f", mc_type_text(type), sum);
    CHECK(fabs(sqrt(square) / deviation - 1) < 0.08, "%s: deviation %f", mc_type_text(type), sqrt(square));
    CHECK(largest > 0.6 * most && largest <= most, "%s: %f", mc_type_text(type), largest);
    free(data);
}

/* f32 has what tf32 cuts off: each of the 13 bits is set in about half of the values. */
static void test_low_bits(fill_law law) {
    uint32_t *values = draw(MC_F32, law, DRAWN, 5);
    for (int bit = 0; bit < 13 && values != NULL; bit++) {
        int set = 0;
        for (size_t i = 0; i < DRAWN; i++) set += (int)(values[i] >> bit & 1);
        CHECK(set > DRAWN / 8 && set < DRAWN * 7 / 8, "bit %d: %d times", bit, set);
    }
    free(values);
}

/* What normal bytes of floats are rounded from are the normal f16: to the nearest neighbour. */
static void test_rounding(mc_type type) {
    uint8_t *bytes = draw(type, FILL_NORMAL_VALUES, DRAWN, 5);
    uint16_t *halves = draw(MC_F16, FILL_NORMAL_VALUES, DRAWN, 5);
    int wrong = 0;
    for (size_t i = 0; bytes != NULL && halves != NULL && i < DRAWN; i++)
        wrong += bytes[i] != real_to_bits(type, real_from_bits(MC_F16, halves[i]));
    CHECK(wrong == 0, "%s: %d wrong", mc_type_text(type), wrong);
    free(bytes);
    free(halves);
}

/* Two of four are as they were, two are 0, and each of the six pairs turns up as often. */
static void test_mask(mc_type type) {
    size_t bytes = DRAWN * mc_type_bytes(type);
    void *before = draw(type, FILL_NORMAL_VALUES, DRAWN, 5), *after = calloc(bytes, 1);
    uint64_t address = alloc(bytes);
    OK(helpers_fill(&h, type, FILL_NORMAL_VALUES, address, DRAWN, 5, diag));
    OK(helpers_mask24(&h, type, address, DRAWN, 9, diag));
    if (before == NULL || after == NULL) return;
    OK(mc_device_read(device, address, after, bytes, diag));
    int seen[16] = {0}, wrong = 0;
    for (size_t group = 0; group < DRAWN / 4; group++) {
        int kept = 0, zeros = 0;
        for (size_t i = 0; i < 4; i++) {
            double x = value_of(type, before, 4 * group + i), y = value_of(type, after, 4 * group + i);
            kept |= (y != 0) << i;
            zeros += x == 0;
            wrong += y != 0 && y != x;
        }
        wrong += zeros == 0 && __builtin_popcount((unsigned)kept) != 2;
        seen[kept]++;
    }
    CHECK(wrong == 0, "%s: %d wrong", mc_type_text(type), wrong);
    const int pairs[] = {3, 5, 9, 6, 10, 12};
    for (int i = 0; i < 6; i++) CHECK(seen[pairs[i]] > 100, "pair %d: %d times", pairs[i], seen[pairs[i]]);
    mc_device_free(device, address);
    free(before);
    free(after);
}

/* More than one tile and one step each way, none of them whole. */
enum { M = 67, N = 70, K = 37, LD = 40 };

static void test_product(mc_type a_type, mc_type b_type, bool k_contiguous) {
    void *a = draw(a_type, FILL_NORMAL_VALUES, M * LD, 1), *b = draw(b_type, FILL_NORMAL_VALUES, N * LD, 2);
    bool integer = !mc_type_is_real(a_type);
    dense_product p = {.a = alloc(M * LD * 4),
                       .b = alloc(N * LD * 4),
                       .c = alloc(M * N * 4),
                       .m = M,
                       .n = k_contiguous ? N : LD,
                       .k = K,
                       .lda = LD,
                       .b_k = k_contiguous ? 1 : LD,
                       .b_n = k_contiguous ? LD : 1};
    uint32_t c[M * N];
    OK(helpers_fill(&h, a_type, FILL_NORMAL_VALUES, p.a, M * LD, 1, diag));
    OK(helpers_fill(&h, b_type, FILL_NORMAL_VALUES, p.b, N * LD, 2, diag));
    OK(helpers_reference(&h, a_type, b_type, &p, diag));
    OK(mc_device_read(device, p.c, c, (size_t)(M * p.n) * 4, diag));
    int wrong = 0;
    for (int64_t m = 0; a != NULL && b != NULL && m < M; m++)
        for (int64_t n = 0; n < p.n; n++) {
            double exact = 0;
            float got, sum = 0;
            for (int64_t k = 0; k < K; k++) {
                double x = value_of(a_type, a, (size_t)(m * LD + k)),
                       y = value_of(b_type, b, (size_t)(k * p.b_k + n * p.b_n));
                exact += x * y;
                sum = fmaf((float)x, (float)y, sum);
            }
            memcpy(&got, &c[m * p.n + n], sizeof got);
            wrong += integer ? (double)(int32_t)c[m * p.n + n] != exact : got != sum;
        }
    CHECK(wrong == 0, "%s by %s: %d wrong", mc_type_text(a_type), mc_type_text(b_type), wrong);
    mc_device_free(device, p.a);
    mc_device_free(device, p.b);
    mc_device_free(device, p.c);
    free(a);
    free(b);
}

static void test_products(void) {
    static const mc_type pairs[][2] = {{MC_S8, MC_S8},     {MC_U8, MC_U8},     {MC_S8, MC_U8},
                                       {MC_U8, MC_S8},     {MC_F16, MC_F16},   {MC_BF16, MC_BF16},
                                       {MC_TF32, MC_TF32}, {MC_F32, MC_F32},   {MC_E4M3, MC_E4M3},
                                       {MC_E5M2, MC_E5M2}, {MC_E4M3, MC_E5M2}, {MC_E5M2, MC_E4M3}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        test_product(pairs[i][0], pairs[i][1], i % 2 == 0);
    test_product(MC_S8, MC_S8, false);
    dense_product none = {.m = 1, .n = 1, .k = 1};
    CHECK(helpers_reference(&h, MC_F16, MC_BF16, &none, diag) == MC_CANNOT, "there is none of f16 by bf16");
    mc_diag_clear(diag);
}

int main(void) {
    diag = mc_diag_create();
    OK(mc_device_open("sim", &device, diag));
    OK(helpers_open(&h, device, diag));
    static const mc_type floats[] = {MC_F16, MC_BF16, MC_TF32, MC_F32, MC_E4M3, MC_E5M2};
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
        test_law(floats[i], FILL_NORMAL_VALUES, 0, 1, 5);
    test_law(MC_S8, FILL_NORMAL_VALUES, 0, 32, 127);
    test_law(MC_U8, FILL_NORMAL_VALUES, 32 * sqrt(2 / acos(-1)), 32, 160);
    test_law(MC_TF32, FILL_UNIFORM, 0, sqrt(1.0 / 3), 1);
    test_law(MC_F32, FILL_UNIFORM, 0, sqrt(1.0 / 3), 1);
    for (int law = FILL_UNIFORM; law <= FILL_NORMAL_VALUES; law++) test_low_bits((fill_law)law);
    test_rounding(MC_E4M3);
    test_rounding(MC_E5M2);
    test_mask(MC_F16);
    test_mask(MC_E4M3);
    test_products();
    helpers_close(&h);
    mc_device_close(device);
    mc_diag_destroy(diag);
    return check_end();
}
