/* The fast loops of floats, and the values of their bits, against what they are by definition: to the bit. */
#include <math.h>
#include "arithmetic/float_loops.h"
#include "base/real.h"
#include "check.h"
#include "matrix/random.h"

enum { MOST = 40, MOST_ROWS = 16, COLUMNS = 12 };

/* Of all magnitudes; now and then an infinity, a zero or a subnormal number. */
static float number(mcrt_random *random) {
    static const float others[] = {INFINITY, -0.0F, 0x1p-140F, -0x1p127F};
    uint64_t bits = random_next(random);
    if (bits % 32 == 0) return others[bits >> 8 & 3];
    return ldexpf((float)random_normal(random), (int)(bits >> 16 & 31) - 16);
}

static bool same(float a, float b) { return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b)); }

static void test_add_products(void) {
    mcrt_random random = random_start(3, 1);
    int wrong = 0;
    for (int n = 0; n < MOST; n++) {
        float sum[MOST + 1], b[MOST], want[MOST + 1], a = number(&random);
        for (int i = 0; i <= n; i++) sum[i] = want[i] = number(&random);
        for (int i = 0; i < n; i++) b[i] = number(&random), want[i] = fmaf(a, b[i], want[i]);
        float_add_products(sum, b, a, n);
        for (int i = 0; i <= n; i++) wrong += !same(sum[i], want[i]);
    }
    CHECK(wrong == 0, "%d wrong", wrong);
}

/* Columns are taken in any order, some twice. What lies behind the sums stays. */
static int sample_wrong(int rows, int count, int64_t k, mcrt_random *random) {
    float panel[MOST * MOST_ROWS], columns[COLUMNS * MOST], sums[COLUMNS * MOST_ROWS + 1];
    int32_t places[COLUMNS];
    int wrong = 0;
    for (int i = 0; i < MOST * MOST_ROWS; i++) panel[i] = number(random);
    for (int i = 0; i < COLUMNS * MOST; i++) columns[i] = number(random);
    for (int i = 0; i < count; i++) places[i] = (int32_t)(random_next(random) % COLUMNS);
    sums[count * rows] = 77;
    const sampled_product product = {panel, columns, places, count, k, rows, sums};
    if (!float_sample(&product)) return 1000;
    for (int v = 0; v < count; v++)
        for (int r = 0; r < rows; r++) {
            float sum = 0;
            for (int64_t i = 0; i < k; i++) sum = fmaf(panel[i * rows + r], columns[places[v] * k + i], sum);
            wrong += !same(sums[v * rows + r], sum);
        }
    return wrong + !same(sums[count * rows], 77);
}

static void test_sample(void) {
    static const int64_t lengths[] = {0, 1, 7, MOST};
    mcrt_random random = random_start(4, 1);
    for (int rows = 1; rows <= MOST_ROWS; rows *= 2)
        for (int count = 0; count < COLUMNS; count++)
            for (int i = 0; i < 4; i++) {
                int wrong = sample_wrong(rows, count, lengths[i], &random);
                CHECK(wrong == 0, "%d rows, %d columns, k %lld: %d wrong", rows, count, (long long)lengths[i],
                      wrong);
            }
    const sampled_product three = {.vec = 3};
    CHECK(!float_sample(&three), "rows of no loop");
}

/* What IEEE 754 says of BITS. */
static double value_of(uint32_t bits, int exponent_bits, int fraction_bits) {
    int top = (1 << exponent_bits) - 1, bias = top / 2, field = (int)(bits >> fraction_bits) & top;
    double fraction = ldexp((double)(bits & ((1u << fraction_bits) - 1)), -fraction_bits);
    double magnitude = field == top ? fraction != 0 ? NAN : INFINITY
                                    : ldexp(fraction + (field != 0), (field != 0 ? field : 1) - bias);
    return bits >> (exponent_bits + fraction_bits) & 1 ? -magnitude : magnitude;
}

static void test_values(mc_type type, int exponent_bits, int fraction_bits) {
    int wrong = 0;
    for (uint32_t bits = 0; bits <= 0xffff; bits++)
        wrong += !same(real_from_bits(type, bits), (float)value_of(bits, exponent_bits, fraction_bits));
    CHECK(wrong == 0, "%s: %d wrong", mc_type_text(type), wrong);
}

int main(void) {
    test_add_products();
    test_sample();
    test_values(MC_F16, 5, 10);
    test_values(MC_BF16, 8, 7);
    return check_end();
}
