/* mcbench run: opens everything that outlives a problem, and races through the matrices. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "between.h"
#include "clocks.h"
#include "commands.h"
#include "drawn.h"
#include "operation.h"
#include "run_peers.h"
#include "shapes.h"

enum { VALUES_NORMAL = 1, VALUES_UNIFORM };

typedef struct run_options {
    cmd_settings settings;
    const char *matrices, *filter, *variants, *n_list, *k_list, *device, *out, *against, *contenders;
    int64_t limit, rounds, finalists, best, seed, threads, seconds;
    double sparsity;
    int peers, shapes, values; /* the place of the word, from 1; 0: none */
    bool cold, between, no_cache;
} run_options;

static const cmd_option run_table[] = {
    {"matrices", 'm', OPTION_TEXT, offsetof(run_options, matrices), "FOLDER", 0, 0,
     ".smtx and .mtx files, in it and below; each nonzero becomes a vector"},
    {"shapes", 0, OPTION_CHOICE, offsetof(run_options, shapes), SHAPE_SET_WORDS, 0, 0,
     "in place of files: layers of language models, or a first look; operands are drawn on the GPU"},
    {"sparsity", 0, OPTION_REAL, offsetof(run_options, sparsity), "S", 0, 1,
     "of --shapes, where A is sparse: 0 (full) to 1 (0.9)"},
    {"n", 0, OPTION_TEXT, offsetof(run_options, n_list), "N,N", 0, 0,
     "columns of B, where the matrix does not have them (256,512)"},
    {"k", 0, OPTION_TEXT, offsetof(run_options, k_list), "K,K", 0, 0, "columns of A, likewise (256)"},
    {"values", 0, OPTION_CHOICE, offsetof(run_options, values), "normal|uniform", 0, 0,
     "of --shapes: what is drawn (normal)"},
    {"filter", 0, OPTION_TEXT, offsetof(run_options, filter), "TEXT", 0, 0,
     "only files with TEXT in their names"},
    {"limit", 0, OPTION_INTEGER, offsetof(run_options, limit), "COUNT", 1, INT32_MAX,
     "at most so many matrices"},
    {"variants", 0, OPTION_TEXT, offsetof(run_options, variants), "WHICH", 0, 0,
     "all (the usual), default, or indices and hashes with commas between"},
    {"peers", 0, OPTION_CHOICE, offsetof(run_options, peers), "all|cublaslt|cusparse|cusparselt|none", 0, 0,
     "libraries to measure beside (all)"},
    {"contenders", 0, OPTION_TEXT, offsetof(run_options, contenders), "TEXT,TEXT", 0, 0,
     "only those of the libraries' contenders that have one of these in their names, for any types"},
    {"against", 0, OPTION_TEXT, offsetof(run_options, against), "FOLDER", 0, 0,
     "race each variant against another generator's PTX of it, FOLDER/HASH.ptx"},
    {"cold", 0, OPTION_SWITCH, offsetof(run_options, cold), NULL, 0, 0,
     "cold L2: launches rotate over operands that exceed three times the L2"},
    {"between", 0, OPTION_SWITCH, offsetof(run_options, between), NULL, 0, 0,
     "an ordinary kernel runs before each timed launch; its time is subtracted"},
    {"rounds", 0, OPTION_INTEGER, offsetof(run_options, rounds), "R", 5, 1001, "of the careful stage (15)"},
    {"finalists", 0, OPTION_INTEGER, offsetof(run_options, finalists), "F", 1, 16,
     "variants of each spec in the careful stage (4)"},
    {"best", 0, OPTION_INTEGER, offsetof(run_options, best), "N", 1, INT32_MAX,
     "of each problem's variants only the N that the estimate puts first (all)"},
    {"seconds", 0, OPTION_INTEGER, offsetof(run_options, seconds), "S", 1, INT32_MAX,
     "begin no matrix after S seconds"},
    {"seed", 0, OPTION_INTEGER, offsetof(run_options, seed), "S", 0, INT32_MAX, "seed of random values (1)"},
    {"threads", 0, OPTION_INTEGER, offsetof(run_options, threads), "T", 1, 64, "host threads (all cores)"},
    {"device", 0, OPTION_TEXT, offsetof(run_options, device), "cuda:I", 0, 0, "the GPU (cuda:0)"},
    {"no-cache", 0, OPTION_SWITCH, offsetof(run_options, no_cache), NULL, 0, 0,
     "compile all kernels anew, and keep none (MCGEN_CACHE)"},
    {"out", 'o', OPTION_TEXT, offsetof(run_options, out), "FILE", 0, 0, "JSON lines (standard output)"},
    {"vec", 0, OPTION_SETTING, offsetof(run_options, settings), "V", 0, 0, "rows of a nonzero vector"},
    {"arch", 0, OPTION_SETTING, offsetof(run_options, settings), "A", 0, 0, "target, such as sm_90a"},
    {"set", 0, OPTION_ASSIGN, offsetof(run_options, settings), "FIELD=VALUE", 0, 0,
     "override a field of the specs"},
};

typedef struct session {
    const run_options *options;
    race_track track;
    between between;
    work_plan plan;
    work *items;
    size_t count;
    feeder *feeder;
    run_peers *peers;
    size_t done, wrong, left_out; /* left_out: matrices that could not be prepared */
    double started;
} session;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* -- Opening --------------------------------------------------------------------------------------------- */

static mc_status parse_sizes(const char *option, const char *text, work_plan *plan, mc_diag *diag) {
    plan->size_count = 0;
    for (const char *at = text; plan->size_count < WORK_MAX_SIZES;) {
        char *end;
        errno = 0;
        long long size = strtoll(at, &end, 10);
        if (end == at || errno != 0 || size < 1 || size > INT32_MAX || (*end != ',' && *end != '\0'))
            return mc_fail(diag, MC_USAGE, "--%s: '%s' is not a list of whole numbers from 1", option, text);
        plan->sizes[plan->size_count++] = size;
        if (*end == '\0') return MC_OK;
        at = end + 1;
    }
    return mc_fail(diag, MC_USAGE, "--%s: more than %d numbers", option, WORK_MAX_SIZES);
}

/* Both lists before the family is known. */
static mc_status check_sizes(const run_options *o, mc_diag *diag) {
    work_plan scratch;
    mc_status status = o->n_list != NULL ? parse_sizes("n", o->n_list, &scratch, diag) : MC_OK;
    return status == MC_OK && o->k_list != NULL ? parse_sizes("k", o->k_list, &scratch, diag) : status;
}

static mc_status choose_sizes(const run_options *o, const operation *op, work_plan *plan, mc_diag *diag) {
    bool sized_by_n = strcmp(operation_size(op), "n") == 0;
    const char *list = sized_by_n ? o->n_list : o->k_list, *other = sized_by_n ? o->k_list : o->n_list;
    if (other != NULL)
        return mc_fail(diag, MC_USAGE, "run: the sizes of family %s are those of --%s", operation_name(op),
                       operation_size(op));
    const char *usual = o->shapes > 0 ? shape_sets[o->shapes - 1].sizes : op->usual;
    return parse_sizes(operation_size(op), list != NULL ? list : usual, plan, diag);
}

static mc_status open_output(session *s, mc_diag *diag) {
    const char *path = s->options->out;
    s->track.out = path == NULL ? stdout : fopen(path, "w");
    if (s->track.out != NULL) return MC_OK;
    return mc_fail(diag, MC_IO, "%s: %s", path, strerror(errno));
}

static mc_status load_variants(session *s, int threads, mc_diag *diag) {
    double begin = now();
    /* Where few take part, they are loaded when they do. */
    mc_context *context = s->options->best == 0 ? s->track.gpu.context : NULL;
    mc_status status = variants_load(&s->track.variants, context, threads, diag);
    if (status != MC_OK) return status;
    size_t failed = 0;
    for (size_t i = 0; i < s->track.variants.count; i++) {
        const variant *v = &s->track.variants.items[i];
        if (v->error == NULL) continue;
        if (failed++ == 0) fprintf(stderr, "mcbench: variant %zu is left out: %s\n", v->index, v->error);
    }
    fprintf(stderr, "mcbench: %zu variants %s in %.1f s, %zu left out, %zu packings\n",
            s->track.variants.count - failed, context != NULL ? "loaded" : "generated", now() - begin, failed,
            s->track.variants.packing_count);
    return MC_OK;
}

static mc_status choose_variants(session *s, char **specs, int capability, mc_diag *diag) {
    const run_options *o = s->options;
    variants_close(&s->track.variants);
    mc_status status = variants_choose(&s->track.variants, specs, o->settings.items, o->settings.count,
                                       capability, o->variants, diag);
    if (status == MC_OK && o->against != NULL)
        status = variants_add_others(&s->track.variants, o->against, diag);
    return status;
}

static fill_law law_of(const run_options *o) {
    return o->shapes > 0 && o->values != VALUES_UNIFORM ? FILL_NORMAL_VALUES : FILL_UNIFORM;
}

static mc_status list_items(session *s, mc_diag *diag) {
    const run_options *o = s->options;
    size_t limit = (size_t)o->limit;
    if (o->shapes == 0) return work_list(o->matrices, o->filter, limit, &s->items, &s->count, diag);
    return shape_set_list(&shape_sets[o->shapes - 1], o->filter, limit, &s->items, &s->count, diag);
}

static mc_status check_operation(const session *s, mc_diag *diag) {
    const operation *op = s->track.variants.operation;
    if (s->options->shapes == 0 || op->drawn) return MC_OK;
    return mc_fail(diag, MC_USAGE, "run: --shapes has no problems of family %s", operation_name(op));
}

static void fill_plan(session *s) {
    const run_options *o = s->options;
    work_plan *plan = &s->plan;
    plan->operation = s->track.variants.operation;
    plan->variants = &s->track.variants;
    plan->sparse_peers = s->track.sparse.handle != NULL;
    plan->seed = (uint64_t)o->seed;
    plan->drawn = s->track.rules.drawn;
    plan->law = s->track.rules.law;
    plan->sparsity = o->sparsity < 0 ? 0.9 : o->sparsity;
    plan->gpu = mc_device_gpu(s->track.gpu.device);
    plan->cold = o->cold;
    plan->best = o->best;
}

static mc_status session_open(session *s, char **specs, mc_diag *diag) {
    const run_options *o = s->options;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int threads = o->threads > 0 ? (int)o->threads : cores > 64 ? 64 : cores < 1 ? 1 : (int)cores;
    s->track.rules = (race_rules){.cold = o->cold,
                                  .between = o->between,
                                  .rounds = (int)o->rounds,
                                  .finalists = (int)o->finalists,
                                  .names = o->contenders,
                                  .drawn = o->shapes > 0,
                                  .law = law_of(o),
                                  .seed = (uint64_t)o->seed};
    mc_status status = check_sizes(o, diag);
    /* Without a GPU the specs' faults come before its own. */
    if (status == MC_OK && mc_device_cuda_count() == 0) status = choose_variants(s, specs, 0, diag);
    if (status == MC_OK) status = list_items(s, diag);
    if (status == MC_OK) status = gpu_open(&s->track.gpu, o->device, !o->no_cache, diag);
    if (status == MC_OK)
        status = choose_variants(s, specs, mc_device_get_info(s->track.gpu.device)->capability, diag);
    if (status == MC_OK) status = open_output(s, diag);
    if (status == MC_OK) status = helpers_open(&s->track.helpers, s->track.gpu.device, diag);
    if (status == MC_OK && o->between) status = between_open(&s->between, &s->track.gpu, diag);
    if (status == MC_OK) status = load_variants(s, threads, diag);
    if (status == MC_OK) status = check_operation(s, diag);
    if (status == MC_OK) status = choose_sizes(o, s->track.variants.operation, &s->plan, diag);
    if (status != MC_OK) return status;
    s->peers = run_peers_open(&s->track, o->peers);
    if (s->peers == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    fill_plan(s);
    return feeder_start(&s->feeder, s->items, s->count, &s->plan, threads, 2 * threads, diag);
}

static void session_close(session *s) {
    race_track *t = &s->track;
    feeder_stop(s->feeder);
    run_peers_close(s->peers, t);
    drawn_forget(t);
    device_packing_forget(&t->packing, &t->gpu);
    variants_close(&t->variants);
    helpers_close(&t->helpers);
    between_close(&s->between, &t->gpu);
    gpu_close(&t->gpu);
    work_list_free(s->items, s->count);
    if (t->out != NULL && t->out != stdout) fclose(t->out);
}

/* -- Racing ---------------------------------------------------------------------------------------------- */

static mc_status write_line(session *s, json_t *line, mc_diag *diag) {
    if (line == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    json_dumpf(line, s->track.out, JSON_COMPACT | JSON_REAL_PRECISION(6));
    fputc('\n', s->track.out);
    json_decref(line);
    return MC_OK;
}

/* How many variants are measured, where not all are; what problems are made of, where no files are. */
static json_t *add_limits(const session *s, json_t *line) {
    const run_options *o = s->options;
    if (o->best > 0) json_object_set_new(line, "best", json_integer(o->best));
    if (o->shapes == 0) return line;
    json_object_set_new(line, "shapes", json_string(shape_sets[o->shapes - 1].name));
    json_object_set_new(line, "values", json_string(o->values == VALUES_UNIFORM ? "uniform" : "normal"));
    return line;
}

static json_t *machine_json(const session *s) {
    const mc_device_info *info = mc_device_get_info(s->track.gpu.device);
    clock_reading clocks = clocks_read(0);
    return json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:I, s:I, s:i, s:i, s:i, s:i, s:i, s:i, s:b, s:b, "
                     "s:i, s:i, s:I, "
                     "s:I}",
                     "kind", "machine", "mcbench", MC_VERSION, "gpu", info->name, "driver", clocks.driver,
                     "capability", info->capability, "cuda", info->driver, "multiprocessors",
                     info->multiprocessors, "memory", (json_int_t)info->memory, "l2",
                     (json_int_t)s->track.gpu.l2_bytes, "cublaslt", s->track.dense.version, "cusparse",
                     s->track.sparse.version, "cusparselt", s->track.pruned.version, "sm_mhz",
                     (int)clocks.sm_mhz, "memory_mhz", (int)clocks.memory_mhz, "vec", s->track.variants.vec,
                     "cold", (int)s->options->cold, "between", (int)s->options->between, "rounds",
                     s->track.rules.rounds, "finalists", s->track.rules.finalists, "seed",
                     (json_int_t)s->options->seed, "variants", (json_int_t)s->track.variants.count);
}

static void report(const session *s, const work *w, int64_t size, const race_summary *summary) {
    const bool dense = summary->dense_us > 0 || summary->sparse_us == 0;
    const double base = dense ? summary->dense_us : summary->sparse_us;
    const double ratio = summary->best_us > 0 ? base / summary->best_us : 0;
    fprintf(stderr, "%4zu/%zu %6.1f s  %s %-5lld %s %8.2f us  ours %8.2f us  %5.2fx  %s", s->done + 1,
            s->count, now() - s->started, operation_size(s->plan.operation), (long long)size,
            dense ? "cublaslt f16" : "cusparse", base, summary->best_us, ratio, w->name);
    if (summary->wrong > 0) fprintf(stderr, "  %zu WRONG", summary->wrong);
    if (summary->failed > 0) fprintf(stderr, "  %zu could not run", summary->failed);
    fputc('\n', stderr);
}

/* A matrix that could not be prepared is left out, loudly, and the run fails in the end. */
static mc_status race_matrix(session *s, work *w, mc_diag *diag) {
    if (w->error != NULL) {
        fprintf(stderr, "mcbench: LEFT OUT: %s\n", w->error);
        s->left_out++;
        return MC_OK;
    }
    mc_status status = MC_OK;
    for (size_t i = 0; i < s->plan.size_count && status == MC_OK; i++) {
        race_summary summary;
        race_peers peers;
        status = run_peers_find(s->peers, &s->track, &w->problems[i].shape, i, &peers, diag);
        if (status == MC_OK) status = race_run(&s->track, w, &w->problems[i], &peers, &summary, diag);
        if (status != MC_OK) break;
        s->wrong += summary.wrong;
        report(s, w, s->plan.sizes[i], &summary);
    }
    fflush(s->track.out);
    return status;
}

static mc_status race_all(session *s, mc_diag *diag) {
    mc_status status = MC_OK;
    for (; s->done < s->count && status == MC_OK; s->done++) {
        if (s->options->seconds > 0 && now() - s->started > (double)s->options->seconds) {
            fprintf(stderr, "mcbench: STOPPED after %lld s: %zu of %zu matrices\n",
                    (long long)s->options->seconds, s->done, s->count);
            break;
        }
        work *w = feeder_take(s->feeder);
        status = race_matrix(s, w, diag);
        work_release(w, &s->plan);
    }
    return status;
}

static mc_status measure(session *s, mc_diag *diag) {
    mc_status status = write_line(s, add_limits(s, machine_json(s)), diag);
    const contender *kernel_between = s->track.gpu.between;
    s->track.gpu.between = NULL; /* not between the ceilings' launches */
    if (status == MC_OK) status = ceilings_measure(&s->track.gpu, &s->track.ceilings, diag);
    s->track.gpu.between = kernel_between;
    if (status == MC_OK) status = write_line(s, ceilings_json(&s->track.ceilings), diag);
    if (status == MC_OK) status = race_all(s, diag);
    clock_reading clocks = clocks_read(0);
    if (status == MC_OK)
        status = write_line(s,
                            json_pack("{s:s, s:I, s:f, s:i, s:i}", "kind", "end", "matrices",
                                      (json_int_t)s->done, "seconds", now() - s->started, "sm_mhz",
                                      (int)clocks.sm_mhz, "memory_mhz", (int)clocks.memory_mhz),
                            diag);
    if (status == MC_OK && (fflush(s->track.out) != 0 || ferror(s->track.out)))
        status = mc_fail(diag, MC_IO, "the results could not be written: %s", strerror(errno));
    if (status == MC_OK && s->left_out > 0)
        status = mc_fail(diag, MC_CANNOT, "%zu of %zu matrices could not be measured", s->left_out, s->count);
    if (status == MC_OK && s->wrong > 0)
        status = mc_fail(diag, MC_MISMATCH, "%zu results of our variants were wrong", s->wrong);
    return status;
}

/* What options do not go together. */
static const char *fault_of(const run_options *o) {
    bool shapes = o->shapes > 0;
    if (o->matrices == NULL && !shapes) return "--matrices is missing, or --shapes";
    if (o->matrices != NULL && shapes) return "--matrices and --shapes do not go together";
    if (!shapes && o->values > 0) return "--values is for --shapes";
    if (!shapes && o->sparsity >= 0) return "--sparsity is for --shapes";
    return NULL;
}

static int run(int argc, char **argv) {
    run_options options = {.variants = "all",
                           .device = "cuda:0",
                           .rounds = 15,
                           .finalists = 4,
                           .seed = 1,
                           .sparsity = -1,
                           .peers = PEERS_ALL};
    char **operands;
    int exit_status;
    if (!cmd_parse(&cmd_run, argc, argv, &options, &operands, &exit_status)) return exit_status;
    const char *fault = fault_of(&options);
    if (fault != NULL) return cmd_usage("run: %s", fault);
    mc_diag *diag = mc_diag_create();
    session s = {.options = &options, .started = now()};
    mc_status status = session_open(&s, operands, diag);
    if (status == MC_OK) status = measure(&s, diag);
    session_close(&s);
    return cmd_finish(status, diag);
}

const cmd cmd_run = {
    "run",
    "SPEC...",
    "measures the specs' variants and the libraries on a folder of matrices, or a set of shapes",
    -1,
    {{run_table, sizeof run_table / sizeof run_table[0]}},
    run};
