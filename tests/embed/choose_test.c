/* Which kernel a problem gets: the order of the policies, and that there is always one,
   which the problem can run. */
#include <math.h>
#include "../runtime/scratch.h"
#include "mcrt_internal.h"
#include "choose/candidates.h"
#include "choose/choice_cache.h"
#include "records/record.h"
#include "records.h"

static mc_context *context;
static char records_file[300];
static const char sim[] = "PTX simulator";

static void open_context(mc_cache_mode cache) {
    mc_diag *diag = mc_diag_create();
    const mc_context_config config = {.size = sizeof config,
                                      .device = "sim",
                                      .cache = cache,
                                      .tuning = MC_TUNING_REPLAY,
                                      .records = records_file};
    unlink(records_file);
    CHECK(mc_context_create(&config, &context, diag) == MC_OK, "%s", mc_diag_text(diag));
    mc_diag_destroy(diag);
}

static void close_context(void) {
    mc_context_destroy(context);
    unlink(records_file);
}

static choice choose_of_specs(const plan_problem *p, mc_tuning tuning, const char *const *specs,
                              size_t count) {
    choice chosen;
    mc_diag *diag = mc_diag_create();
    const mc_plan_config config = {.size = sizeof config, .specs = specs, .spec_count = count};
    mc_status status = choose_kernel(context, p, &config, tuning, &chosen, diag);
    CHECK(status == MC_OK && chosen.fields != NULL, "%s", mc_diag_text(diag));
    if (status != MC_OK)
        chosen = (choice){strdup(""), strdup(""), strdup(""), MC_ORIGIN_DEFAULT, 0, 0, false};
    mc_diag_destroy(diag);
    return chosen;
}

static choice choose(const plan_problem *p, mc_tuning tuning) { return choose_of_specs(p, tuning, NULL, 0); }

/* It can be generated, and is this problem's. */
static void check_kernel(const plan_problem *p, const choice *chosen) {
    mc_kernel *kernel = NULL;
    mc_diag *diag = mc_diag_create();
    CHECK(mc_kernel_from_fields(chosen->fields, &kernel, diag) == MC_OK, "%s: %s", mc_diag_text(diag),
          chosen->fields);
    if (kernel != NULL) test_kernel(kernel, p);
    const char *act = kernel != NULL ? mc_kernel_field_text(kernel, "act") : NULL;
    CHECK(act == NULL || (strcmp(act, "none") == 0) == (p->activation == MC_ACTIVATION_NONE), "%s",
          chosen->fields);
    const char *added = kernel != NULL ? mc_kernel_field_text(kernel, "residual") : NULL;
    CHECK(added == NULL || (strcmp(added, "none") == 0) == (p->residual == MC_RESIDUAL_NONE), "%s",
          chosen->fields);
    mc_kernel_destroy(kernel);
    mc_diag_destroy(diag);
}

/* What REASON of a choice must say. */
static const char *const reasons[] = {[MC_ORIGIN_MEASURED] = "in the record of this problem",
                                      [MC_ORIGIN_NEAR] = "in the record of a problem 0.",
                                      [MC_ORIGIN_ESTIMATED] = "the least estimate of ",
                                      [MC_ORIGIN_DEFAULT] = "no record of the like and no estimates"};

static void check_reason(const char *what, const choice *chosen) {
    const char *reason = chosen->reason != NULL ? chosen->reason : "";
    bool measured = chosen->origin <= MC_ORIGIN_NEAR;
    CHECK(strstr(reason, reasons[chosen->origin]) != NULL ||
              (measured && strstr(reason, "in the record of a problem ") != NULL),
          "%s: %s", what, reason);
    CHECK(chosen->distance <= 0 || chosen->origin == MC_ORIGIN_NEAR, "%s: %g away", what, chosen->distance);
}

static void expect(const char *what, const plan_problem *p, mc_tuning tuning, mc_origin origin,
                   const char *fragment) {
    for (int again = 0; again < 2; again++) { /* worked out, and out of the cache */
        choice chosen = choose(p, tuning);
        CHECK(chosen.origin == origin, "%s: origin %d, want %d", what, (int)chosen.origin, (int)origin);
        CHECK(fragment == NULL || strstr(chosen.fields, fragment) != NULL, "%s: %s", what, chosen.fields);
        CHECK(isfinite(chosen.microseconds) && chosen.microseconds >= 0, "%s: %g", what, chosen.microseconds);
        check_kernel(p, &chosen);
        check_reason(what, &chosen);
        choice_free(&chosen);
    }
}

/* -- Records to choose by ------------------------------------------------------------------------------ */

/* Kernels of P, the fastest first; NULL at the end. */
static void record_for(const plan_problem *p, const char *gpu, const char *const *fields) {
    record_candidate candidates[8] = {0};
    size_t count = 0;
    for (; fields[count] != NULL; count++)
        candidates[count] =
            (record_candidate){count + 1, RECORD_TIMED, 5 + 0.25 * (double)count, "mine.lua", fields[count]};
    const record r = {.problem = *p,
                      .gpu = gpu,
                      .driver = "1",
                      .generator = mc_generator_id(),
                      .fields = fields[0],
                      .spec = "mine.lua",
                      .microseconds = 5,
                      .candidates = candidates,
                      .candidate_count = count};
    mc_diag *diag = mc_diag_create();
    CHECK(record_add(context->records, &r, diag) == MC_OK, "%s", mc_diag_text(diag));
    mc_diag_destroy(diag);
}

static void record_one(const plan_problem *p, const char *fields) {
    record_for(p, sim, (const char *const[]){fields, NULL});
}

static const char gather_64[] = "op=spmm arch=sm_80 tile_n=64 warps=2 split=2 stride=64";

/* -- Tests --------------------------------------------------------------------------------------------- */

/* Any types, shapes, alignments and leading dimensions; without records, and with one of another problem that
   says the nearest kernel is one that few problems can take. */
static void test_unseen(void) {
    int origins[4] = {0};
    open_context(MC_CACHE_MEMORY);
    plan_problem p = test_usual(MC_OP_SDDMM);
    record_for(
        &p, sim,
        (const char *const[]){"op=sddmm arch=sm_90 method=window tile_k=256 window=512 warps=16 groups=4",
                              "op=sddmm arch=sm_80 groups=1 warps=8 tile_k=128", NULL});
    p = test_usual(MC_OP_SPMM);
    record_one(&p, "op=spmm arch=sm_90 staging=tma tile_n=128 warps=16 window=256 stages=6");
    for (int op = MC_OP_SPMM; op <= MC_OP_SDDMM; op++)
        for (int pair = 0; pair < TEST_OPERANDS * TEST_OPERANDS; pair++) {
            p = test_problem((mc_op)op);
            p.lhs = test_operands[pair % TEST_OPERANDS], p.rhs = test_operands[pair / TEST_OPERANDS];
            test_complete(&p);
            choice chosen = choose(&p, pair % 3 ? MC_TUNING_REPLAY : MC_TUNING_OFF);
            check_kernel(&p, &chosen);
            origins[chosen.origin]++;
            choice_free(&chosen);
        }
    for (int i = 0; i < 200; i++) { /* like those recorded */
        plan_problem like = test_problem(i % 2 ? MC_OP_SDDMM : MC_OP_SPMM);
        p = test_usual(like.op);
        p.k = like.k, p.n = like.n, p.align = like.align, p.shapes = like.shapes, p.order = like.order;
        p.m = like.m / like.vec * 8;
        p.features.vectors = p.m / 8 * (p.op == MC_OP_SPMM ? p.k : p.n) / 10;
        test_complete(&p);
        if (i % 4 == 0) p.ldb += 1 + i % 3;
        choice chosen = choose(&p, MC_TUNING_REPLAY);
        check_kernel(&p, &chosen);
        origins[chosen.origin]++;
        choice_free(&chosen);
    }
    printf("unseen problems: %d measured, %d near, %d estimated, %d default\n", origins[0], origins[1],
           origins[2], origins[3]);
    close_context();
}

static void test_order(void) {
    open_context(MC_CACHE_MEMORY);
    plan_problem p = test_usual(MC_OP_SPMM), near = p, far = p;
    near.m = 640;
    far.m = 4096;
    test_complete(&near);
    test_complete(&far);
    expect("no records", &p, MC_TUNING_REPLAY, MC_ORIGIN_ESTIMATED, "op=spmm");
    record_one(&far, gather_64);
    expect("a far record", &p, MC_TUNING_REPLAY, MC_ORIGIN_ESTIMATED, "op=spmm");
    record_one(&near, gather_64);
    expect("a near record", &p, MC_TUNING_REPLAY, MC_ORIGIN_NEAR, "stride=64 tile_n=64 warps=2 split=2");
    for (int again = 0; again < 2; again++) {
        choice like = choose(&p, MC_TUNING_REPLAY);
        CHECK(fabs(like.distance - record_distance(&p, &near)) < 1e-9, "%g away", like.distance);
        choice_free(&like);
    }
    record_one(&p, "op=spmm arch=sm_80 tile_n=32 warps=8 split=8");
    expect("its own record", &p, MC_TUNING_REPLAY, MC_ORIGIN_MEASURED, "stride=32 tile_n=32 warps=8 split=8");
    expect("records are off", &p, MC_TUNING_OFF, MC_ORIGIN_ESTIMATED, "op=spmm");
    choice chosen = choose(&p, MC_TUNING_REPLAY);
    CHECK(chosen.microseconds > 4.9 && chosen.microseconds < 5.1 && strcmp(chosen.spec, "mine.lua") == 0,
          "%g %s", chosen.microseconds, chosen.spec);
    choice_free(&chosen);
    close_context();
}

/* Beyond the near ones records weigh the estimates (weigh_test.c). */
static void test_weighed(void) {
    open_context(MC_CACHE_OFF);
    plan_problem p = test_usual(MC_OP_SPMM), other = p;
    other.m = 1024;
    test_complete(&other);
    const double distance = record_distance(&p, &other);
    CHECK(distance > 0.5 && distance < 1.5, "%g away", distance);
    record_for(&other, sim,
               (const char *const[]){gather_64, "op=spmm arch=sm_80 tile_n=64 warps=2 split=2", NULL});
    choice chosen = choose(&p, MC_TUNING_REPLAY);
    CHECK(chosen.origin == MC_ORIGIN_ESTIMATED && strstr(chosen.reason, "weighed by 1 record ") != NULL,
          "%d %s", (int)chosen.origin, chosen.reason);
    choice_free(&chosen);
    chosen = choose(&p, MC_TUNING_OFF);
    CHECK(strstr(chosen.reason, "weighed") == NULL, "%s with records off", chosen.reason);
    choice_free(&chosen);
    close_context();
}

static void test_order_sddmm(void) {
    open_context(MC_CACHE_MEMORY);
    plan_problem p = test_usual(MC_OP_SDDMM), far = p;
    plan_problem near = p;
    far.m = 8192, near.m = 640;
    test_complete(&near);
    expect("no records", &p, MC_TUNING_REPLAY, MC_ORIGIN_ESTIMATED, "op=sddmm");
    record_one(&far, "op=sddmm arch=sm_80 groups=1 warps=8 tile_k=128");
    expect("a far record", &p, MC_TUNING_REPLAY, MC_ORIGIN_ESTIMATED, "op=sddmm");
    record_one(&near, "op=sddmm arch=sm_80 groups=1 warps=8 tile_k=128");
    expect("a near record", &p, MC_TUNING_REPLAY, MC_ORIGIN_NEAR, "groups=1 warps=8 tile_k=128");
    expect("records are off", &p, MC_TUNING_OFF, MC_ORIGIN_ESTIMATED, "op=sddmm");
    close_context();
}

static void test_order_quantise(void) {
    open_context(MC_CACHE_MEMORY);
    plan_problem p = {.op = MC_OP_QUANTISE,
                      .lhs = MC_F16,
                      .rhs = MC_S8,
                      .out = MC_S8,
                      .scale = MC_PER_ROW,
                      .align = 16,
                      .m = 64,
                      .n = 256,
                      .lda = 256,
                      .ldc = 64,
                      .computed = true},
                 far = p, near = p, few = p;
    far.m = far.ldc = 8192, near.m = near.ldc = 80;
    few.m = few.ldc = 8, few.n = few.lda = 11008;
    expect("no records", &p, MC_TUNING_REPLAY, MC_ORIGIN_ESTIMATED, "op=quantise");
    expect("few tokens share their rows", &few, MC_TUNING_REPLAY, MC_ORIGIN_ESTIMATED, " share=");
    record_one(&far, "op=quantise arch=sm_80 tile=32 warps=8");
    expect("a far record", &p, MC_TUNING_REPLAY, MC_ORIGIN_ESTIMATED, "op=quantise");
    record_one(&near, "op=quantise arch=sm_80 tile=32 warps=8");
    expect("a near record", &p, MC_TUNING_REPLAY, MC_ORIGIN_NEAR, "tile=32 warps=8");
    expect("records are off", &p, MC_TUNING_OFF, MC_ORIGIN_ESTIMATED, "op=quantise");
    close_context();
}

/* Kernels that a record names and this problem, or this generator, does not take: the next one of the record,
   then other records, then as if there were none. */
static void test_illegal(void) {
    static const char tma[] = "op=spmm arch=sm_90 staging=tma tile_n=128 warps=16 window=256 stages=6";
    open_context(MC_CACHE_MEMORY);
    plan_problem p = test_usual(MC_OP_SPMM), q = p;
    p.ldb = 257; /* no tensor copies */
    q.ldb = 256;
    record_for(&q, sim, (const char *const[]){tma, gather_64, NULL});
    expect("next of the near record", &p, MC_TUNING_REPLAY, MC_ORIGIN_NEAR,
           "stride=64 tile_n=64 warps=2 split=2");
    record_for(&p, sim, (const char *const[]){tma, "op=spmm arch=sm_80 tile_n=32 warps=8 split=8", NULL});
    expect("next of its record", &p, MC_TUNING_REPLAY, MC_ORIGIN_MEASURED, "tile_n=32 warps=8 split=8");
    plan_problem open = q; /* the kernel is there, and does not take these rows */
    open.shapes = MC_SHAPES_OPEN, open.ldb = 272 + 8;
    expect("not for these rows", &open, MC_TUNING_REPLAY, MC_ORIGIN_NEAR, "staging=direct");
    plan_problem bad = test_usual(MC_OP_SPMM);
    bad.m = 8 * 4000;
    record_for(&bad, sim, (const char *const[]){"op=spmm tile_n=7", "rubbish", "", NULL});
    expect("nothing of it is a kernel", &bad, MC_TUNING_REPLAY, MC_ORIGIN_ESTIMATED, "op=spmm");
    /* Fields of another product become this one's (check_kernel sees to it). */
    plan_problem other = test_usual(MC_OP_SPMM);
    other.n = 64, other.m = 64;
    test_complete(&other);
    record_one(&other, "op=spmm arch=sm_80 lhs=u4 rhs=s16 out=s32 vec=2 act=relu m=8 n=9999 k=3 tile_n=32");
    expect("another product's fields", &other, MC_TUNING_REPLAY, MC_ORIGIN_MEASURED, "tile_n=32");
    plan_problem window = test_usual(MC_OP_SDDMM), narrow = window;
    record_for(&window, sim,
               (const char *const[]){
                   "op=sddmm arch=sm_90 method=window tile_k=256 window=512 warps=16 groups=4 prefetch=off",
                   "op=sddmm arch=sm_80 groups=1 warps=8 tile_k=128", NULL});
    expect("window", &window, MC_TUNING_REPLAY, MC_ORIGIN_MEASURED, "method=window");
    narrow.k = 250, narrow.lda = 251, narrow.ldb = 253, narrow.align = 1;
    expect("no window", &narrow, MC_TUNING_REPLAY, MC_ORIGIN_NEAR, "groups=1 warps=8 tile_k=128");
    close_context();
}

static void test_elsewhere(void) {
    open_context(MC_CACHE_MEMORY);
    plan_problem p = test_usual(MC_OP_SPMM);
    record_for(&p, "NVIDIA H200", (const char *const[]){gather_64, NULL});
    record_for(&p, "NVIDIA H100 80GB HBM3", (const char *const[]){gather_64, NULL});
    expect("another GPU's record", &p, MC_TUNING_REPLAY, MC_ORIGIN_ESTIMATED, NULL);
    close_context();
}

/* Tuning compares a record's fields with those of candidates: as texts. */
static void test_canonical(void) {
    open_context(MC_CACHE_MEMORY);
    plan_problem p = test_usual(MC_OP_SPMM), q = p;
    const candidate_target target = candidate_target_of(context->device);
    candidate_list list;
    record r;
    q.n = 384, q.scale = MC_PER_COLUMN, q.activation = MC_ACTIVATION_RELU;
    test_complete(&q);
    record_one(&p, gather_64);
    CHECK(record_find(context->records, sim, &p, false, &r), "no record");
    CHECK(candidates_find(&q, &target, NULL, 0, &list, NULL) == MC_OK, "no candidates");
    char *fields = record_fields_for(&r, 0, &q);
    size_t same = 0;
    for (size_t i = 0; i < list.count; i++)
        same += fields != NULL && strcmp(list.items[i].fields, fields) == 0;
    CHECK(same == 1, "%zu candidates are %s", same, fields);
    CHECK(record_fields_for(&r, 1, &q) == NULL, "there is no second one");
    free(fields);
    candidates_free(&list);
    record_free(&r);
    close_context();
}

/* What a problem names only where it is not as usual does not come along with the kernel of one near it. */
static void test_unnamed(void) {
    open_context(MC_CACHE_MEMORY);
    plan_problem p = test_usual(MC_OP_SPMM), q = p;
    q.activation = MC_ACTIVATION_RELU, q.b_scale = MC_PER_COLUMN, q.residual = MC_RESIDUAL_F16;
    test_complete(&q);
    record_one(&q, "op=spmm arch=sm_80 tile_n=64 warps=2 split=2 stride=64 out=f16 act=relu b_scale=column "
                   "residual=f16 ldr=256");
    expect("nothing more", &p, MC_TUNING_REPLAY, MC_ORIGIN_NEAR, "tile_n=64 warps=2 split=2");
    choice chosen = choose(&p, MC_TUNING_REPLAY);
    static const char *const names[] = {"act=", "b_scale=", "residual=", "ldr="};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK(strstr(chosen.fields, names[i]) == NULL, "%s", chosen.fields);
    choice_free(&chosen);
    close_context();
}

static uint64_t hits(void) {
    mccache_stats stats = {.size = sizeof stats};
    mccache_get_stats(context->cache, &stats);
    return stats.hits;
}

/* Worked out once; again where anything is different; and what is wrong in the cache counts for nothing. */
static void test_cache(void) {
    open_context(MC_CACHE_MEMORY);
    plan_problem p = test_usual(MC_OP_SPMM), q = p;
    choice first = choose(&p, MC_TUNING_REPLAY);
    CHECK(hits() == 0, "hits");
    choice second = choose(&p, MC_TUNING_REPLAY);
    CHECK(hits() == 1, "no hit");
    CHECK(strcmp(first.fields, second.fields) == 0 && strcmp(first.spec, second.spec) == 0 &&
              first.origin == second.origin &&
              memcmp(&first.microseconds, &second.microseconds, sizeof(double)) == 0,
          "%s, then %s", first.fields, second.fields);
    q.features.spread += 1;
    choice third = choose(&q, MC_TUNING_REPLAY);
    CHECK(hits() == 1, "of another problem");
    choice_free(&third);
    third = choose(&p, MC_TUNING_OFF);
    CHECK(hits() == 1, "of another policy");
    choice_free(&third);
    const char *const rubbish[] = {"", "{}", "\xff",
                                   "{\"origin\":\"near\",\"us\":1,\"spec\":\"a\",\"fields\":\"op=spmm m=8\"}",
                                   "{\"origin\":\"guess\",\"us\":1,\"spec\":\"a\",\"fields\":\"op=spmm\"}"};
    spec_sources sources;
    mccache_key key;
    CHECK(spec_sources_load(NULL, 0, &sources, NULL) == MC_OK, "specs");
    uint64_t records = record_digest(context->records, sim);
    CHECK(choice_key(context, &p, &sources, MC_TUNING_REPLAY, records, &key), "key");
    for (size_t i = 0; i < sizeof rubbish / sizeof *rubbish; i++) {
        mccache_put(context->cache, &key, "rubbish", rubbish[i], strlen(rubbish[i]));
        third = choose(&p, MC_TUNING_REPLAY);
        CHECK(hits() == 2 + i, "the entry was not looked at");
        CHECK(strcmp(first.fields, third.fields) == 0, "%s after %s", third.fields, rubbish[i]);
        choice_free(&third);
    }
    spec_sources_free(&sources);
    choice_free(&first);
    choice_free(&second);
    close_context();
}

/* Specs of other operators are passed over by their texts, which say what reading them says. */
static void test_operators_of_texts(void) {
    mc_diag *diag = mc_diag_create();
    for (const mc_builtin_spec *shipped = mc_builtin_specs(); shipped->name != NULL; shipped++) {
        mc_spec *spec;
        mc_kernel *kernel = NULL;
        bool read = mc_spec_read_text(shipped->name, shipped->text, strlen(shipped->text), NULL, 0, &spec,
                                      diag) == MC_OK &&
                    mc_kernel_outline(spec, mc_spec_default(spec), &kernel, diag) == MC_OK;
        CHECK(read, "%s: %s", shipped->name, mc_diag_text(diag));
        const char *family = read ? mc_kernel_contract(kernel)->family : "";
        CHECK(spec_text_is_of(shipped->text, family), "%s is of %s", shipped->name, family);
        CHECK(!spec_text_is_of(shipped->text, "gem") && !spec_text_is_of(shipped->text, "oftmax"),
              "part of a name");
        mc_kernel_destroy(kernel);
        mc_spec_destroy(spec);
    }
    CHECK(!spec_text_is_of("", "spmm") && !spec_text_is_of("op\nopt = \"spmm\"\n-- op = \"spmm\"", "spmm"),
          "no line");
    CHECK(spec_text_is_of("-- x\nop=\"spmm\"", "spmm"), "the last line");
    mc_diag_destroy(diag);
}

/* A caller's specs: their kernels alone, whatever is recorded; and another text is another choice. */
static void test_specs(void) {
    static const char narrow[] = "op = \"spmm\"\nlhs = \"s8\"\nrhs = \"s8\"\ntile_n = {32, 64}\nwarps = 4\n",
                      wide[] = "op = \"spmm\"\nlhs = \"s8\"\nrhs = \"s8\"\ntile_n = 128\nwarps = 1\n";
    char path[300];
    const char *const specs[] = {path};
    open_context(MC_CACHE_MEMORY);
    plan_problem p = test_usual(MC_OP_SPMM);
    snprintf(path, sizeof path, "%s", scratch_write("mine.lua", narrow, sizeof narrow - 1));
    record_one(&p, "op=spmm arch=sm_80 tile_n=128 warps=1");
    choice chosen = choose_of_specs(&p, MC_TUNING_REPLAY, specs, 1);
    CHECK(chosen.origin == MC_ORIGIN_ESTIMATED && strcmp(chosen.spec, "mine.lua") == 0, "%d %s",
          (int)chosen.origin, chosen.spec);
    CHECK(strstr(chosen.fields, "warps=4") != NULL, "%s", chosen.fields);
    choice_free(&chosen);
    scratch_write("mine.lua", wide, sizeof wide - 1);
    chosen = choose_of_specs(&p, MC_TUNING_REPLAY, specs, 1);
    CHECK(chosen.origin == MC_ORIGIN_MEASURED && strstr(chosen.fields, "tile_n=128 warps=1") != NULL, "%d %s",
          (int)chosen.origin, chosen.fields);
    choice_free(&chosen);
    unlink(path);
    close_context();
}

/* Out of one context, into another: then it is chosen there. */
static void test_share(mc_diag *diag) {
    char path[300];
    size_t count = 0;
    plan_problem p = test_usual(MC_OP_SPMM);
    snprintf(path, sizeof path, "%s", scratch_path("shared.jsonl"));
    open_context(MC_CACHE_MEMORY);
    record_one(&p, gather_64);
    CHECK(mc_records_export(context, path, &count, diag) == MC_OK && count == 1, "%zu %s", count,
          mc_diag_text(diag));
    close_context();
    open_context(MC_CACHE_MEMORY);
    expect("before", &p, MC_TUNING_REPLAY, MC_ORIGIN_ESTIMATED, NULL);
    CHECK(mc_records_import(context, path, &count, diag) == MC_OK && count == 1, "%zu %s", count,
          mc_diag_text(diag));
    expect("after", &p, MC_TUNING_REPLAY, MC_ORIGIN_MEASURED, "stride=64 tile_n=64 warps=2 split=2");
    CHECK(mc_records_import(context, path, &count, diag) == MC_OK && count == 0, "%zu %s", count,
          mc_diag_text(diag));
    CHECK(mc_records_import(context, NULL, &count, diag) == MC_USAGE, "no path");
    CHECK(mc_records_export(NULL, path, NULL, diag) == MC_USAGE, "no context");
    mc_diag_clear(diag);
    close_context();
    unlink(path);
}

static double time_of(const plan_problem *p, int times) {
    double start = test_cpu_us();
    for (int i = 0; i < times; i++) {
        choice chosen = choose(p, MC_TUNING_REPLAY);
        choice_free(&chosen);
    }
    return (test_cpu_us() - start) / times;
}

/* A warm plan has a millisecond for everything. Sanitizers may take ten times as long. */
static void test_speed(void) {
    open_context(MC_CACHE_MEMORY);
    plan_problem p = test_usual(MC_OP_SPMM), q = p;
    record_one(&p, gather_64);
    q.m = 8192;
    double cold = time_of(&q, 1), warm = time_of(&q, 2000), recorded = time_of(&p, 2000);
    printf("recorded %.1f us, cached %.1f us, worked out %.0f us\n", recorded, warm, cold);
    CHECK(recorded < 500 && warm < 1000, "%g %g", recorded, warm);
    close_context();
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    scratch_begin();
    snprintf(records_file, sizeof records_file, "%s", scratch_path("records.jsonl"));
    test_unseen();
    test_order();
    test_weighed();
    test_order_sddmm();
    test_order_quantise();
    test_illegal();
    test_elsewhere();
    test_canonical();
    test_unnamed();
    test_cache();
    test_operators_of_texts();
    test_specs();
    test_share(diag);
    test_speed();
    mc_diag_destroy(diag);
    return scratch_end();
}
