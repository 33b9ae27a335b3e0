/* The rules by which tensor cores add, one by one, with k = 16. tests/sim/conformance/reference_sums.c compares
   with what a GPU did. */
#include "arithmetic/mma_sum.h"
#include "scratch.h"

enum { K = 16 };

static const mma_form f16 = {MMA_F16, MMA_F16, MMA_F32, K}, bf16 = {MMA_BF16, MMA_BF16, MMA_F32, K},
                      to_f16 = {MMA_F16, MMA_F16, MMA_F16, K}, e4m3 = {MMA_E4M3, MMA_E4M3, MMA_F32, K};

/* C + sum of A B, of bits; the pairs left out are +0. */
static const struct rule {
    const char *name;
    const mma_form *form;
    uint32_t c, a[K], b[K], sum;
} rules[] = {
    {"an empty sum is +0", &f16, 0x80000000, {0}, {0}, 0},
    {"of zeros alone, too: -0", &f16, 0x80000000, {0x8000}, {0x3c00}, 0},
    {"1 - 1 is +0", &f16, 0, {0x3c00, 0xbc00}, {0x3c00, 0x3c00}, 0},
    {"a zero product changes no bit", &f16, 0x3f800001, {0x8000, 0}, {0x7bff, 0x7bff}, 0x3f800001},
    {"nor does it cut off anything", &f16, 0x00000003, {0, 0x8000}, {0x7bff, 0x7bff}, 0x00000003},
    {"1 - 2^-24 is cut off, not rounded", &f16, 0, {0x3c00, 0x8c00}, {0x3c00, 0x0c00}, 0x3f7fffff},
    {"1 + 1.5 units of the last place", &bf16, 0x3f800000, {0x3f80}, {0x3440}, 0x3f800001},
    {"the same below zero: towards zero", &bf16, 0xbf800000, {0x3f80}, {0xb440}, 0xbf800001},
    {"1 beside 2^25 is kept", &bf16, 0xcc000000, {0x4c00, 0x3f80}, {0x3f80, 0x3f80}, 0x3f800000},
    {"1 beside 2^26 is cut off", &bf16, 0xcc800000, {0x4c80, 0x3f80}, {0x3f80, 0x3f80}, 0},
    {"each by itself: 0.5 + 0.5", &bf16, 0xcc000000, {0x4c00, 0x3f00, 0x3f00}, {0x3f80, 0x3f80, 0x3f80}, 0},
    {"1.5 * 1.5 has exponent 0", &bf16, 0xb3000000, {0x3fc0, 0xbfc0}, {0x3fc0, 0x3fc0}, 0xb3000000},
    {"2^-24 * 2^15 has exponent 1", &f16, 0x33000000, {0x0001}, {0x7800}, 0x3b000000},
    {"a subnormal sum is kept", &bf16, 0x00000003, {0}, {0}, 0x00000003},
    {"a subnormal sum is cut off", &bf16, 0, {0x0080}, {0x3440}, 0x00000001},
    {"half of the least subnormal is +0", &bf16, 0, {0x8080}, {0x3380}, 0},
    {"products do not overflow", &bf16, 0x3f800000, {0x7180, 0xf180}, {0x7180, 0x7180}, 0},
    {"a sum from 2^128 on is infinite", &bf16, 0, {0x7f00, 0x7f00}, {0x3f80, 0x3f80}, 0x7f800000},
    {"the greatest sum and less than a unit", &bf16, 0x7f7fffff, {0x7300}, {0x3f80}, 0x7f7fffff},
    {"infinity and a number", &f16, 0xff7fffff, {0x7c00}, {0x3c00}, 0x7f800000},
    {"minus infinity by its factor", &f16, 0, {0x7c00}, {0xbc00}, 0xff800000},
    {"infinities of both signs", &f16, 0xff800000, {0x7c00}, {0x3c00}, 0x7fffffff},
    {"infinity times zero", &f16, 0, {0x7c00}, {0x8000}, 0x7fffffff},
    {"a NaN times zero", &f16, 0, {0x7c01}, {0}, 0x7fffffff},
    {"a NaN of C", &f16, 0xff800001, {0}, {0}, 0x7fffffff},
    {"f16 sums are rounded", &to_f16, 0x3c00, {0x1200}, {0x3c00}, 0x3c01},
    {"to even", &to_f16, 0x3c00, {0x1000}, {0x3c00}, 0x3c00},
    {"65504 + 16 is infinite", &to_f16, 0x7bff, {0x4c00}, {0x3c00}, 0x7c00},
    {"e4m3 adds in two steps", &e4m3, 0, {0x7e, 0xfe, 0x01}, {0x7e, 0x7e, 0x01}, 0x36800000},
    {"and C is added last, rounded", &e4m3, 0xcc000000, {0x38}, {0x38}, 0xcc000000},
};

static void test_rules(void) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const struct rule *r = &rules[i];
        uint32_t sum = mma_sum(r->form, r->a, r->b, r->c);
        CHECK(sum == r->sum, "%s: %08x, must be %08x", r->name, sum, r->sum);
    }
}

static void test_rounded(void) {
    CHECK(mma_add_sums(0x3f800000, 0x33800000) == 0x3f800000, "1 + 2^-24, to even");
    CHECK(mma_add_sums(0x3f800000, 0x33800001) == 0x3f800001, "a little more");
    CHECK(mma_add_sums(0x00000001, 0x00000001) == 0x00000002, "subnormals are kept");
    CHECK(mma_add_sums(0x3f800000, 0xbf800000) == 0, "1 - 1 is +0");
    CHECK(mma_add_sums(0x7f800000, 0xff800000) == 0x7fffffff, "a NaN is the canonical one");
    CHECK(mma_add_sums(0xffc00001, 0) == 0x7fffffff, "whatever made it");
}

static void test_forms(void) {
    mma_form form = {0};
    CHECK(mma_form_of(MC_F16, MC_F16, &form) && form.a == MMA_F16 && form.sum == MMA_F32 && form.k == 16,
          "f16");
    CHECK(mma_form_of(MC_BF16, MC_BF16, &form) && form.b == MMA_BF16 && form.k == 16, "bf16");
    CHECK(!mma_form_of(MC_F16, MC_BF16, &form) && !mma_form_of(MC_F32, MC_F32, &form),
          "there is no such mma");
    CHECK(!mma_form_of(MC_S8, MC_S8, &form), "integers have their own");
}

int main(void) {
    test_rules();
    test_rounded();
    test_forms();
    return check_end();
}
