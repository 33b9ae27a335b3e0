/* How far sums go, for every pair of types: the contract's bound and the rounds of exact sums against what the values of the types
 * give, one by one. sums_test SPEC */
#include <stdlib.h>
#include "check.h"
#include "mcgen.h"

typedef struct type {
    const char *name;
    int64_t least, greatest;
} type;

static const type types[] = {{"s4", -8, 7},          {"u4", 0, 15},        {"s8", -128, 127},
                             {"u8", 0, 255},         {"s12", -2048, 2047}, {"u12", 0, 4095},
                             {"s16", -32768, 32767}, {"u16", 0, 65535}};
enum { TYPES = sizeof types / sizeof *types, MAX_SETTINGS = 8 };

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* -- From the values -------------------------------------------------------------------------------------- */

/* The least and the greatest product of values of the two types. */
static void product_ends(const type *a, const type *b, int64_t ends[2]) {
    const int64_t corners[] = {a->least * b->least, a->least * b->greatest, a->greatest * b->least,
                               a->greatest * b->greatest};
    ends[0] = ends[1] = corners[0];
    for (int i = 1; i < 4; i++) ends[0] = least(ends[0], corners[i]), ends[1] = most(ends[1], corners[i]);
}

/* Digits of BITS bits that values have. */
static int digits_of(const type *t, int bits) {
    int count = 1;
    while (t->greatest - t->least >= (int64_t)1 << bits * count) count++;
    return count;
}

/* The ends of digit DIGIT of BITS bits of all values: the top one takes what is left, with its sign. */
static type digit_ends(const type *t, int bits, int digit) {
    type ends = {t->name, INT64_MAX, INT64_MIN};
    for (int64_t v = t->least; v <= t->greatest; v++) {
        int64_t d = v >> bits * digit;
        if (digit + 1 < digits_of(t, bits)) d &= (1 << bits) - 1;
        ends.least = least(ends.least, d), ends.greatest = most(ends.greatest, d);
    }
    return ends;
}

/* Whether COUNT slots fill no accumulator of A x B, in digits of BITS bits, beyond s32. FACTOR: what B's values are multiplied
   by there. */
static bool fits(const type *a, const type *b, int bits, int factor, int64_t count) {
    int a_digits = digits_of(a, bits), b_digits = digits_of(b, bits);
    for (int weight = 0; weight <= a_digits + b_digits - 2; weight++) {
        int64_t sum[2] = {0, 0};
        for (int i = 0; i < a_digits; i++) {
            int j = weight - i;
            if (j < 0 || j >= b_digits) continue;
            type da = digit_ends(a, bits, i), db = digit_ends(b, bits, j);
            int64_t ends[2];
            product_ends(&da, &db, ends);
            for (int e = 0; e < 2; e++) sum[e] += ends[e] * factor;
        }
        if (sum[0] * count < INT32_MIN || sum[1] * count > INT32_MAX) return false;
    }
    return true;
}

/* -- From the kernel -------------------------------------------------------------------------------------- */

static mc_kernel *make_kernel(const char *spec_path, const mc_setting *settings, size_t count,
                              mc_diag *diag) {
    mc_spec *spec = NULL;
    mc_kernel *kernel = NULL;
    mc_status status = mc_spec_read(spec_path, settings, count, &spec, diag);
    if (status == MC_OK) status = mc_kernel_generate(spec, mc_spec_default(spec), &kernel, diag);
    CHECK(status == MC_OK, "%s", mc_diag_text(diag));
    mc_spec_destroy(spec);
    return kernel;
}

/* The number behind KEY in the kernel's JSON; -1: there is none. */
static long long described(const mc_kernel *kernel, const char *key) {
    char *json = mc_kernel_describe(kernel, true), quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    const char *at = json ? strstr(json, quoted) : NULL;
    long long number = at ? strtoll(at + strlen(quoted), NULL, 10) : -1;
    free(json);
    return number;
}

static void check_text(const mc_kernel *kernel, bool json, const char *want) {
    char *text = mc_kernel_describe(kernel, json);
    CHECK(text && strstr(text, want), "no \"%s\" in %s", want, text ? text : "nothing");
    free(text);
}

/* K at the bound, and one more. */
static void check_fixed(const char *path, mc_setting *settings, size_t count, int64_t bound, mc_diag *diag) {
    for (int more = 0; more < 2; more++) {
        char k[24];
        snprintf(k, sizeof k, "%lld", (long long)bound + more);
        if (bound + more == 0 || bound + more > INT32_MAX) continue;
        settings[count] = (mc_setting){"k", k};
        mc_kernel *kernel = make_kernel(path, settings, count + 1, diag);
        if (!kernel) continue;
        check_text(kernel, true, more ? "\"can_leave_s32\": true" : "\"can_leave_s32\": false");
        check_text(kernel, false, more ? "which can leave s32" : "which stay in s32");
        mc_kernel_destroy(kernel);
    }
}

static void check_bound(const char *path, const type *a, const type *b, mc_diag *diag) {
    mc_setting settings[MAX_SETTINGS] = {{"lhs", a->name}, {"rhs", b->name}, {"tile_n", "64"}};
    int64_t ends[2];
    mc_kernel *kernel = make_kernel(path, settings, 3, diag);
    if (!kernel) return;
    const mc_sums *sums = &mc_kernel_contract(kernel)->sums;
    product_ends(a, b, ends);
    int64_t bound = sums->bound;
    CHECK(sums->largest_product == most(-ends[0], ends[1]), "%s x %s: %lld", a->name, b->name,
          (long long)sums->largest_product);
    CHECK(ends[0] * bound >= INT32_MIN && ends[1] * bound <= INT32_MAX, "%s x %s: %lld vectors leave s32",
          a->name, b->name, (long long)bound);
    CHECK(ends[0] * (bound + 1) < INT32_MIN || ends[1] * (bound + 1) > INT32_MAX,
          "%s x %s: %lld vectors stay in s32", a->name, b->name, (long long)bound + 1);
    CHECK(described(kernel, "sum_bound") == bound, "%s x %s", a->name, b->name);
    check_text(kernel, true, "\"can_leave_s32\": null");
    mc_kernel_destroy(kernel);
    check_fixed(path, settings, 3, bound, diag);
    settings[3] = (mc_setting){"sum", "exact"}, settings[4] = (mc_setting){"out", "s64"};
    check_fixed(path, settings, 5, bound, diag);
}

static bool has_4_bits(const type *t) { return t->greatest - t->least < 16; }

static void check_rounds(const char *path, const type *a, const type *b, const char *stride, const char *mma,
                         mc_diag *diag) {
    const mc_setting settings[] = {{"lhs", a->name}, {"rhs", b->name},   {"tile_n", "64"}, {"sum", "exact"},
                                   {"out", "s64"},   {"stride", stride}, {"mma", mma}};
    int bits = strcmp(mma, "int4") == 0 ? 4 : 8, slots = atoi(stride);
    int factor = has_4_bits(b) && bits == 8 ? 16 : 1;
    mc_kernel *kernel = make_kernel(path, settings, 7, diag);
    if (!kernel) return;
    int64_t strides = described(kernel, "flush_strides");
    bool full = fits(a, b, bits, factor, strides * slots) && !fits(a, b, bits, factor, (strides + 1) * slots);
    CHECK(strides > 0 && full, "%s x %s, %s: rounds of %lld strides of %d", a->name, b->name, mma,
          (long long)strides, slots);
    mc_kernel_destroy(kernel);
}

int main(int argc, char **argv) {
    mc_diag *diag = mc_diag_create();
    if (argc < 2) return 2;
    for (int a = 0; a < TYPES; a++)
        for (int b = 0; b < TYPES; b++) {
            check_bound(argv[1], &types[a], &types[b], diag);
            check_rounds(argv[1], &types[a], &types[b], (a + b) % 2 ? "64" : "32", "int8", diag);
            if (has_4_bits(&types[b]))
                check_rounds(argv[1], &types[a], &types[b], (a + b) % 2 ? "32" : "64", "int4", diag);
        }
    mc_diag_destroy(diag);
    return check_end();
}
