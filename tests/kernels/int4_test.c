/* What mma and shuffle change, on the simulator: as many mma of 64 vectors as int8 has pairs of 32, two prmt more for each byte
   of columns and 8 slots without the shuffle, the same result, and the signs of each digit in the PTX.
 *
 *   int4_test SPEC   with a 4-bit rhs */
#include "check.h"
#include "problem.h"
#include "ptxsim.h"
#include <string.h>

/* Whole tiles, so that the wide path alone is taken: all its arithmetic is in the loop. */
static const problem_case shape = {PATTERN_BOUNDARIES, 9, 131, 256, 0, 0, .values = MC_VALUES_EXTREME};

typedef struct tester {
    const char *spec;
    mc_device *device;
    mc_diag *diag;
} tester;

static mc_kernel *make_kernel(const tester *t, const mc_setting *settings, size_t count) {
    mc_spec *spec = NULL;
    mc_kernel *kernel = NULL;
    mc_status status = mc_spec_read(t->spec, settings, count, &spec, t->diag);
    if (status == MC_OK) status = mc_kernel_generate(spec, mc_spec_default(spec), &kernel, t->diag);
    CHECK(status == MC_OK, "%s", mc_diag_text(t->diag));
    mc_spec_destroy(spec);
    return kernel;
}

/* The counts of a run with an exact result. An s4 rhs would cost int8 further mma. */
static ptxsim_counts count(const tester *t, const char *mma, const char *shuffle, const char *stride,
                           const char *staging) {
    const mc_setting settings[] = {
        {"rhs", "u4"}, {"mma", mma}, {"shuffle", shuffle}, {"stride", stride}, {"staging", staging}};
    mc_kernel *kernel = make_kernel(t, settings, 5);
    problem_kind kind;
    problem p = {0};
    ptxsim_counts counts = {0};
    mc_status status = kernel ? problem_kind_of(kernel, &kind, t->diag) : MC_USAGE;
    if (status == MC_OK) status = problem_make(&shape, &kind, &p, t->diag);
    if (status == MC_OK) status = problem_run(&p, t->device, kernel, NULL, t->diag);
    CHECK(status == MC_OK, "mma %s, shuffle %s, stride %s, %s: %s", mma, shuffle, stride, staging,
          mc_diag_text(t->diag));
    if (status == MC_OK) counts = *ptxsim_counts_of(mc_device_ptxsim(t->device));
    problem_free(&p);
    mc_kernel_destroy(kernel);
    return counts;
}

/* Of one digit of A: an mma is a byte of columns. */
static void test_counts(const tester *t, const char *stride, const char *staging) {
    uint64_t steps = strcmp(stride, "64") == 0 ? 2 : 1;
    ptxsim_counts on = count(t, "int4", "on", stride, staging),
                  off = count(t, "int4", "off", stride, staging),
                  bytes = count(t, "int8", "on", stride, staging);
    CHECK(on.mma > 0 && off.mma == on.mma && bytes.mma == steps * on.mma, "stride %s: %llu mma, %llu of int8",
          stride, (unsigned long long)on.mma, (unsigned long long)bytes.mma);
    uint64_t more = off.warp_instructions - on.warp_instructions;
    CHECK(more == 2 * steps * on.mma, "stride %s: %llu instructions more without the shuffle, %llu mma",
          stride, (unsigned long long)more, (unsigned long long)on.mma);
}

static const struct {
    const char *lhs, *rhs;
    const char *signs[3]; /* of B, then of a digit of A: there, there, and missing */
} digits[] = {
    {"s4", "s4", {"s4.s4", "s4.s4", "u4"}},     {"u4", "u4", {"u4.u4", "u4.u4", "s4."}},
    {"s4", "u4", {"u4.s4", "u4.s4", ".u4.u4"}}, {"u4", "s4", {"s4.u4", "s4.u4", "s4.s4"}},
    {"s8", "s4", {"s4.s4", "s4.u4", "u4.u4"}},  {"s12", "u4", {"u4.s4", "u4.u4", "s4.u4"}},
    {"u16", "s4", {"s4.u4", "s4.u4", "s4.s4"}},
};

static bool has_mma(const char *ptx, const char *depth, const char *signs) {
    for (const char *at = ptx; (at = strstr(at, "mma.sync")) != NULL; at++) {
        size_t length = strcspn(at, " ");
        if (memmem(at, length, depth, strlen(depth)) && memmem(at, length, signs, strlen(signs))) return true;
    }
    return false;
}

static void test_signs(const tester *t) {
    for (size_t i = 0; i < sizeof digits / sizeof *digits; i++)
        for (int wide = 0; wide < 2; wide++) {
            const char *depth = wide ? "m16n8k64" : "m16n8k32", *const *signs = digits[i].signs;
            const mc_setting settings[] = {{"lhs", digits[i].lhs},
                                           {"rhs", digits[i].rhs},
                                           {"stride", wide ? "64" : "32"},
                                           {"mma", "int4"}};
            mc_kernel *kernel = make_kernel(t, settings, 4);
            const char *ptx = kernel ? mc_kernel_ptx(kernel) : "";
            CHECK(has_mma(ptx, depth, signs[0]) && has_mma(ptx, depth, signs[1]) &&
                      !has_mma(ptx, "", signs[2]),
                  "%s x %s, %s", digits[i].lhs, digits[i].rhs, depth);
            mc_kernel_destroy(kernel);
        }
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    tester t = {.spec = argv[1], .diag = mc_diag_create()};
    CHECK(mc_device_open("sim", &t.device, t.diag) == MC_OK, "%s", mc_diag_text(t.diag));
    test_counts(&t, "32", "direct");
    test_counts(&t, "64", "direct");
    test_counts(&t, "64", "shared");
    test_signs(&t);
    mc_device_close(t.device);
    mc_diag_destroy(t.diag);
    return check_end();
}
