/* Tuning on the simulator: a faulty kernel is never chosen, and it is said what was wrong with it. */
#include "tune_workshop.h"

/* By the first thread of the first block alone: no race, which the simulator would find by itself. */
#define STORE(where)                                                                                         \
    "{ .reg .b32 %planted<3>; .reg .pred %first; mov.u32 %planted0, %tid.x; mov.u32 %planted1, %ctaid.x; "   \
    "mov.u32 %planted2, %ctaid.y; or.b32 %planted0, %planted0, %planted1; "                                  \
    "or.b32 %planted0, %planted0, %planted2; setp.eq.s32 %first, %planted0, 0; "                             \
    "@%first st.global.b32 [" where "], %planted0; }"
#define AT_C "cvta.to.global.u64              %c,"
#define AT_B "cvta.to.global.u64              %b,"

static const fault faults[] = {
    {"wrong digits", "mma.sync", "s8.s8.s32", "u8.s8.s32", TUNE_WRONG, "must be"},
    {"a part of C left out", "st.global", "st.global", "// ", TUNE_WRONG, "must be"},
    {"in front of C", AT_C, NULL, STORE("%c+-4"), TUNE_WRONG, "in front of C"},
    {"behind C", AT_C, NULL, STORE("%c+3840"), TUNE_WRONG, "behind C"}, /* ROWS * LDC * 4 */
    {"in C's gap", AT_C, NULL, STORE("%c+292"), TUNE_WRONG, "C's gap in row 1"},
    {"into B's gap", AT_B, NULL, STORE("%b+32"), TUNE_WRONG, "wrote into b"},
    {"to nowhere", AT_C, NULL, "mov.u64 %c, 64;", TUNE_FAILED, "simulator"},
    {"no PTX", ".version", ".version", ".virgin", TUNE_FAILED, "simulator"},
};

/* The kernel that would win gets the fault. */
static void check_fault(const fault *f, const char *winner, const char *const *spec, mc_diag *diag) {
    const bench b = open_bench(NULL, spec, diag);
    const mc_tune_config tune = {.size = sizeof tune, .candidates = 4};
    mc_tune_result result = {.size = sizeof result};
    record r;
    workshop.fault = f;
    workshop.victim = winner;
    expect_ok(f->name, tune_made(b.context, &b.config, &tune, &result, diag), diag);
    workshop.fault = NULL;
    bool wrong = f->state == TUNE_WRONG;
    size_t tried = result.measured + result.wrong + result.failed;
    CHECK(result.wrong == wrong && result.failed == !wrong && result.measured >= 3,
          "%s: %zu wrong, %zu failed", f->name, result.wrong, result.failed);
    bool found = find_record(b.context, &b.config, false, &r);
    CHECK(found, "%s: no record", f->name);
    CHECK(found && strcmp(r.fields, winner) != 0, "%s: it is chosen", f->name);
    CHECK(recorded_as(&r, winner) == (wrong ? RECORD_WRONG : RECORD_FAILED), "%s: recorded as %d", f->name,
          (int)recorded_as(&r, winner));
    CHECK(strstr(log_text, winner) != NULL && strstr(log_text, f->message) != NULL, "%s: want '%s' in\n%s",
          f->name, f->message, log_text);
    CHECK_TEXT(log_text, "the record is not kept");
    CHECK(!result.recorded, "%s", f->name);
    record_free(&r);

    /* And it stays so: nobody tries it again. */
    expect_ok(f->name, tune_made(b.context, &b.config, &tune, &result, diag), diag);
    CHECK(workshop.made == 0 && result.known == tried, "%s: %d made, %zu known", f->name, workshop.made,
          result.known);
    close_bench(&b);
}

static void test_faults(mc_diag *diag) {
    static const char *const spec = SPECS "/spmm_l8r8.lua";
    const bench b = open_bench(NULL, &spec, diag);
    const mc_tune_config tune = {.size = sizeof tune, .candidates = 4};
    record r;
    expect_ok("tune", mc_tune(b.context, &b.config, &tune, NULL, diag), diag);
    bool found = find_record(b.context, &b.config, false, &r);
    CHECK(found, "no record");
    for (size_t i = 0; found && i < sizeof faults / sizeof faults[0]; i++)
        check_fault(&faults[i], r.fields, &spec, diag);
    record_free(&r);
    close_bench(&b);
}

/* Floats: a kernel that is wrong by more than its bounds allow, or writes beside C. */
static void test_float_faults(mc_diag *diag) {
    static const char *const spec = SPECS "/spmm_f16.lua";
    static const fault wrong[] = {
        {"half of the products", "mma.sync", "mma.sync", "// ", TUNE_WRONG, "must be from"},
        {"bf16 for f16", "mma.sync", "f32.f16.f16.f32", "f32.bf16.bf16.f32", TUNE_WRONG, "must be from"},
        {"in front of C", AT_C, NULL, STORE("%c+-4"), TUNE_WRONG, "in front of C"},
        {"in C's gap", AT_C, NULL, STORE("%c+144"), TUNE_WRONG, "C's gap in row 1"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        mc_context *context = open_context("/dev/null/records", diag);
        mc_matrix *matrix = make_matrix(context, MC_F16, 8, 5, 64, diag);
        mc_plan_config config = spmm_of(matrix, N);
        const mc_tune_config tune = {.size = sizeof tune, .candidates = 2};
        mc_tune_result result = {.size = sizeof result};
        config.b = config.c = MC_F16, config.specs = &spec, config.spec_count = 1;
        workshop.fault = &wrong[i];
        workshop.victim = NULL;
        expect_failure(wrong[i].name, tune_made(context, &config, &tune, &result, diag), MC_CANNOT, diag, "");
        workshop.fault = NULL;
        CHECK(result.wrong >= 2 && result.measured == 0, "%s: %zu wrong, %zu measured", wrong[i].name,
              result.wrong, result.measured);
        CHECK(strstr(log_text, wrong[i].message) != NULL, "%s: want '%s' in\n%s", wrong[i].name,
              wrong[i].message, log_text);
        mc_matrix_destroy(matrix);
        mc_context_destroy(context);
    }
}

/* Of a kernel with two outputs the second one is compared, too. */
static void test_wrong_scales(mc_diag *diag) {
    static const char *const spec = SPECS "/quantise_s8.lua";
    static const fault wrong = {
        "wrong scales", "_writes_scale st.global", "new_scale;", "new_by;", TUNE_WRONG, ""};
    const mc_plan_config config = {.size = sizeof config,
                                   .op = MC_OP_QUANTISE,
                                   .a = MC_F16,
                                   .c = MC_S8,
                                   .m = 16,
                                   .n = 64,
                                   .scale = MC_PER_ROW,
                                   .computed = true,
                                   .specs = &spec,
                                   .spec_count = 1};
    mc_context *context = open_context("/dev/null/records", diag);
    const mc_tune_config tune = {.size = sizeof tune, .candidates = 4};
    mc_tune_result result = {.size = sizeof result};
    workshop.fault = &wrong;
    workshop.victim = NULL;
    expect_failure("wrong scales", tune_made(context, &config, &tune, &result, diag), MC_CANNOT, diag, "");
    workshop.fault = NULL;
    CHECK(result.wrong >= 4 && result.measured == 0, "%zu wrong, %zu measured", result.wrong,
          result.measured);
    CHECK_TEXT(log_text, "scale[0][0] is");
    mc_context_destroy(context);
}

static void test_all_fail(mc_diag *diag) {
    const bench b = open_bench(NULL, NULL, diag);
    const mc_tune_config tune = {.size = sizeof tune, .candidates = 4};
    mc_tune_result result = {.size = sizeof result};
    workshop.all_fail = true;
    expect_failure("all fail", tune_made(b.context, &b.config, &tune, &result, diag), MC_CANNOT, diag,
                   "kernels could be measured: the workshop is closed");
    CHECK(result.failed >= 4 && result.measured == 0 && result.microseconds == 0, "%zu", result.failed);
    workshop.all_fail = false;
    close_bench(&b);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    scratch_begin();
    test_faults(diag);
    test_wrong_scales(diag);
    test_float_faults(diag);
    test_all_fail(diag);
    mc_diag_destroy(diag);
    return scratch_end();
}
