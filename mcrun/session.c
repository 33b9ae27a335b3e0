#include "session.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "context/kernels.h"
#include "matrix/slide24.h"
#include "text/file.h"

const cmd_option session_option_table[SESSION_OPTION_COUNT] = {
    {"out", 'o', OPTION_TEXT, offsetof(session_options, out_file), "FILE.npy", 0, 0, "write C here"},
    {"device", 0, OPTION_TEXT, offsetof(session_options, device), "DEVICE", 0, 0,
     "auto (the usual), cuda:I, sim, sim:reversed, sim:seed=N; behind these :landing=first or last, "
     ":limit=N"},
    {"ptx", 0, OPTION_TEXT, offsetof(session_options, ptx_file), "FILE", 0, 0,
     "run this PTX with the variant's packing and contract"},
    {"specialise", 0, OPTION_SWITCH, offsetof(session_options, specialise), NULL, 0, 0,
     "fix m, n, k and the leading dimensions in the kernel"},
    {"variants", 0, OPTION_CHOICE, offsetof(session_options, variants), "all|best|tuned", 0, 0,
     "run every legal variant, the one of all specs that should be fastest, or what was measured (mcrun "
     "tune)"},
    {"records", 0, OPTION_TEXT, offsetof(session_options, records), "FILE", 0, 0,
     "of --variants tuned (MCGEN_RECORDS, or records.jsonl in $XDG_DATA_HOME/mcgen)"},
    {"bench", 0, OPTION_SWITCH, offsetof(session_options, bench), NULL, 0, 0,
     "time on a GPU: median of 15 graphs of 20 launches"},
    {"repeat", 0, OPTION_INTEGER, offsetof(session_options, repeat), "N", 0, 1000000,
     "launch each kernel N times more, and compare the bytes of C with the first launch's"},
    {"report", 0, OPTION_SWITCH, offsetof(session_options, report), NULL, 0, 0,
     "counts of the simulator: totals, and the PTX with counts beside its lines, - where none was executed"},
    {"no-cache", 0, OPTION_SWITCH, offsetof(session_options, no_cache), NULL, 0, 0,
     "compile anew on a GPU, and keep nothing (MCGEN_CACHE)"},
    {"json", 0, OPTION_SWITCH, offsetof(session_options, json), NULL, 0, 0, "print JSON"},
};

int session_check_options(const session_options *o, const mc_operator *op, size_t specs) {
    static const char *const words[] = {
        [VARIANTS_ALL] = "all", [VARIANTS_BEST] = "best", [VARIANTS_TUNED] = "tuned"};
    if (specs > 1 && o->variants != VARIANTS_BEST)
        return cmd_usage("%s: several specs go with --variants best alone", op->name);
    if (o->variants == VARIANTS_BEST && !op->estimates)
        return cmd_usage("%s: there are no estimates of this family's times for --variants best", op->name);
    if (o->records != NULL && o->variants != VARIANTS_TUNED)
        return cmd_usage("%s: --records goes with --variants tuned", op->name);
    if (o->variants == 0) return CMD_DONE;
    bool all = o->variants == VARIANTS_ALL;
    const char *other = o->problem.variant != NULL   ? "--variant"
                        : o->ptx_file != NULL        ? "--ptx"
                        : all && o->out_file != NULL ? "--out"
                        : all && o->report           ? "--report"
                                                     : NULL;
    if (other == NULL) return CMD_DONE;
    return cmd_usage("%s: --variants %s and %s exclude each other", op->name, words[o->variants], other);
}

/* -- Opening */

static mc_status open_device(session *s, mc_diag *diag) {
    bool tuned = s->options->variants == VARIANTS_TUNED;
    const mc_context_config config = {.size = sizeof config,
                                      .device = s->options->device,
                                      .cache = s->options->no_cache ? MC_CACHE_OFF : MC_CACHE_ENVIRONMENT,
                                      .records = tuned ? s->options->records : "",
                                      .log = cmd_log};
    mc_status status = mc_context_create(&config, &s->context, diag);
    if (status != MC_OK) return status;
    s->device = s->context->device;
    const mc_device_info *info = mc_device_get_info(s->device);
    if (info->kind == MC_DEVICE_SIM && s->options->bench)
        return mc_fail(diag, MC_CANNOT, "--bench: the simulator has no time to measure, this needs a GPU");
    if (info->kind != MC_DEVICE_SIM && s->options->report)
        return mc_fail(diag, MC_CANNOT, "--report: the counts are the simulator's (--device sim)");
    bool automatic = strcmp(s->options->device, "auto") == 0;
    const char *name = !automatic ? s->options->device : info->kind == MC_DEVICE_CUDA ? "cuda:0" : "sim";
    snprintf(s->device_text, sizeof s->device_text, "%s (%s)", name, info->name);
    return MC_OK;
}

mc_status session_check_family(const session *s, const mc_kernel *kernel, mc_diag *diag) {
    const char *family = mc_kernel_contract(kernel)->family, *own = s->op->name;
    if (strcmp(family, own) == 0) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "this is a kernel of family %s: mcrun %s runs family %s", family, own,
                   own);
}

/* The size or leading dimension of the problem as it is now. */
static int64_t size_now(const session *s, problem_member member) {
    bool rows = s->op->matrix.wanted && member == s->op->matrix.rows;
    return rows ? s->problem.a.rows : member_get(&s->shape, member);
}

mc_status session_specialise(session *s, const mc_kernel *kernel, mc_diag *diag) {
    mc_setting settings[MEMBERS];
    char texts[MEMBERS][24];
    size_t count = 0;
    for (problem_member i = FIRST_MEMBER; i < MEMBERS; i++) {
        bool shape = problem_members[i].setting == SETTING_SHAPE;
        if (!operator_has(s->op, i) || (!shape && i != MEMBER_vec)) continue;
        if (operator_lacks_ld(s->op, &s->shape, i)) continue;
        snprintf(texts[count], sizeof texts[count], "%" PRId64,
                 shape ? size_now(s, i) : mc_kernel_field(kernel, "vec"));
        settings[count] = (mc_setting){problem_members[i].field, texts[count]};
        count++;
    }
    return problem_respec(&s->problem, settings, count, diag);
}

/* Bytes are those of the last operand that is always read: what a kernel gathers. */
run_shape session_shape(const session *s) {
    const mc_vsparse source = mc_slide24_source(&s->problem.a), *a = &source;
    int64_t length = size_now(s, s->op->size);
    run_shape shape = {
        .m = size_now(s, MEMBER_m),
        .n = size_now(s, MEMBER_n),
        .k = s->problem.a.source.span > 0 ? a->cols : size_now(s, MEMBER_k),
        .vectors = a->vectors,
        .vec = a->vec,
        .length = length,
        .sparse = s->op->matrix.wanted,
        .sparsity = report_sparsity(a),
        .fill = s->problem.fill,
        .given_rows = s->problem.dilate || s->problem.pattern.rows == a->rows ? -1 : s->problem.pattern.rows,
        .blocks = s->problem.blocks,
        .quantised = s->problem.scale};
    shape.source_count = s->calls->sources(s, shape.sources);
    for (size_t i = 0; i < s->op->operand_count; i++) {
        const operand_row *operand = &s->op->operands[i];
        const mc_dense stored = operand_shape(&s->shape, operand);
        if (!operand_is_there(&s->shape, operand)) continue;
        if (operand->ld != NO_MEMBER && shape.ld_count < MAX_OPERANDS)
            shape.ld[shape.ld_count++] =
                (leading_dimension){problem_members[operand->ld].name, stored.ld, stored.cols};
        if (operand->kind != OPERAND_DENSE) continue;
        if (!operand->out && operand->only_if == NO_MEMBER) shape.bytes = mc_type_size(stored.type, length);
        shape.moved += (operand->in_place ? 2 : 1) * stored.rows * mc_type_size(stored.type, stored.cols);
    }
    return shape;
}

/* Of the GPU that the spec is read for. PTX of a file was made without knowing the device. */
static int capability_of(const session *s) {
    return s->options->ptx_file ? 0 : mc_device_get_info(s->device)->capability;
}

/* The operands for the spec's default variant, and fixed shapes if they are asked for. */
static mc_status prepare(session *s, const mc_kernel *kernel, mc_diag *diag) {
    bool changed;
    mc_status status = session_check_family(s, kernel, diag);
    if (status == MC_OK) status = s->calls->prepare(s, kernel, diag);
    if (status != MC_OK || !s->options->specialise) return status;
    status = problem_fit(&s->problem, kernel, &changed, diag);
    return status == MC_OK ? session_specialise(s, kernel, diag) : status;
}

static mc_status session_open(session *s, const char *spec, const char *matrix, mc_diag *diag) {
    const session_options *o = s->options;
    mc_kernel *kernel = NULL;
    mc_status status = open_device(s, diag);
    if (status == MC_OK)
        status = problem_open(&s->problem, spec, matrix, &o->problem, capability_of(s), diag);
    if (status == MC_OK && o->ptx_file != NULL)
        status = file_read_text(o->ptx_file, &file_ptx_limit, &s->ptx, diag);
    if (status == MC_OK)
        status = mc_kernel_generate(s->problem.spec, mc_spec_default(s->problem.spec), &kernel, diag);
    if (status == MC_OK) status = prepare(s, kernel, diag);
    mc_kernel_destroy(kernel);
    return status;
}

void session_drop_results(session *s) {
    mc_dense_free(&s->c);
    for (size_t i = 0; i < MAX_OPERANDS; i++) mc_dense_free(&s->others[i]);
}

void session_drop_wanted(session *s) {
    mc_result_free(&s->want);
    for (size_t i = 0; i < MAX_OPERANDS; i++) {
        mc_result_free(&s->want_others[i]);
        free(s->factors[i]);
        s->factors[i] = NULL;
    }
}

static void session_close(session *s) {
    session_drop_results(s);
    session_drop_wanted(s);
    free(s->ptx);
    free(s->ran);
    session_unload(s);
    mc_context_destroy(s->context);
    problem_close(&s->problem);
}

/* -- Modules */

mc_status session_load(session *s, const mc_kernel *kernel, mc_diag *diag) {
    context_visit visit;
    session_unload(s);
    if (s->ptx != NULL || mc_device_get_info(s->device)->kind == MC_DEVICE_SIM) return MC_OK;
    mc_status status = context_enter(s->context, &visit, diag);
    if (status == MC_OK) status = kernels_load(s->context, kernel, &s->module, diag);
    context_leave(s->context, &visit);
    return status;
}

void session_unload(session *s) {
    mc_module_unload(s->module);
    s->module = NULL;
}

/* -- The whole */

static mc_status run_tuned(session *s, mc_diag *diag) {
    tuned_kernel tuned;
    mc_status status = session_find_tuned(s, &tuned, diag);
    if (status == MC_OK) status = session_run_tuned(s, &tuned, diag);
    mc_kernel_destroy(tuned.kernel);
    return status;
}

static mc_status run_variants(session *s, char **specs, size_t count, mc_diag *diag) {
    size_t variant = 0;
    if (s->options->variants == VARIANTS_ALL) return session_run_all(s, diag);
    if (s->options->variants == VARIANTS_TUNED) return run_tuned(s, diag);
    mc_status status = s->options->variants == VARIANTS_BEST ? session_pick(s, specs, count, &variant, diag)
                                                             : problem_variant(&s->problem, &variant, diag);
    return status == MC_OK ? session_run_one(s, variant, diag) : status;
}

mc_status session_run(session *s, char **specs, size_t count, const char *matrix, mc_diag *diag) {
    mc_status status = session_open(s, specs[0], matrix, diag);
    if (status == MC_OK) status = run_variants(s, specs, count, diag);
    session_close(s);
    return status;
}
