/* The seeds' attention as three operators (attention_chain.h) in one captured graph: the time of each step, of the
 * graph, and the memory it takes, beside that of dense scores. Run by hand, in the root of the repository; --help says
 * how. What PyTorch takes for the same: attention.py. Exit status 77: no GPU. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "attention_race.h"
#include "replay.h"

enum { MOST_ITEMS = 8 };

/* Each shape of all lists is run. */
typedef struct options {
    double lengths[MOST_ITEMS], heads[MOST_ITEMS], batches[MOST_ITEMS], sparsities[MOST_ITEMS];
    int length_count, head_count, batch_count, sparsity_count;
    const attention_precision *precisions[ATTENTION_PRECISIONS];
    int precision_count;
    int64_t depth, band;
    size_t race;
    bool told, all, polynomial, tuned, dry;
    const char *device;
} options;

typedef struct session {
    const options *o;
    mc_context *context;
    const cuda_driver *driver; /* NULL: the simulator, which has no time */
    cuda_stream stream;
    mc_diag *diag;
    int failed;
} session;

/* -- One shape ---------------------------------------------------------------------------------------- */

static mc_status launch_step(const attention *t, attention_step step, void *stream, mc_diag *diag) {
    return attention_execute(t, t->plans[step], step, stream, diag);
}
static mc_status launch_scores(const void *t, void *stream, mc_diag *diag) {
    return launch_step(t, STEP_SCORES, stream, diag);
}
static mc_status launch_softmax(const void *t, void *stream, mc_diag *diag) {
    return launch_step(t, STEP_SOFTMAX, stream, diag);
}
static mc_status launch_mix(const void *t, void *stream, mc_diag *diag) {
    return launch_step(t, STEP_MIX, stream, diag);
}
static mc_status launch_all(const void *t, void *stream, mc_diag *diag) {
    mc_status status = MC_OK;
    for (attention_step i = 0; i < STEPS && status == MC_OK; i++) status = launch_step(t, i, stream, diag);
    return status;
}

enum { PASSES = STEPS + 1 };
static replay_pass *const passes[PASSES] = {launch_scores, launch_softmax, launch_mix, launch_all};

/* What the last replay left of the first product and the last one, or of all. */
static mc_status verify(const session *s, const attention *t, double *error) {
    mc_status status = MC_OK;
    int64_t step = s->o->all || t->products == 1 ? 1 : t->products - 1;
    *error = 0;
    for (int64_t i = 0; i < t->products && status == MC_OK; i += step) {
        double most = 0;
        status = attention_check(t, i, s->diag);
        if (status == MC_OK) status = attention_error(t, i, &most, s->diag);
        *error = fmax(*error, most);
    }
    return status;
}

/* The whole comes last. On the simulator it is launched once. */
static mc_status time_all(const session *s, const attention *t, double us[PASSES][3]) {
    mc_status status = attention_poison(t, s->diag);
    if (status == MC_OK && s->driver == NULL) return launch_all(t, NULL, s->diag);
    for (int i = 0; i < PASSES && status == MC_OK; i++)
        status = replay_time(s->driver, s->stream, passes[i], t, us[i], s->diag);
    return status;
}

static void print_head(void) {
    printf("batch heads length  sparsity  bits  |  sddmm  softmax  spmm us | graph us (quarters)        | MB "
           "ours  dense | "
           "off float64\n");
}

static void print_row(const session *s, const attention *t, double us[PASSES][3], double error) {
    const attention_shape *a = &t->shape;
    double operands = (double)attention_operand_bytes(t) / 1e6,
           ours = operands + (double)attention_between_bytes(t) / 1e6;
    double dense = (double)(t->products * a->length * (a->length * 2 + a->depth * 8)) / 1e6;
    printf("%5lld %5lld %6lld  %8.3f  %-5s | ", (long long)a->batch, (long long)a->heads,
           (long long)a->length, 1 - (double)t->mask.vectors / (double)(t->mask.row_blocks * t->mask.cols),
           a->precision->name);
    if (s->o->dry) printf("%-50s", "not run");
    else if (s->driver == NULL) printf("%-50s", "right");
    else
        printf("%6.1f  %6.1f  %6.1f  | %7.1f (%.1f to %.1f)  ", us[0][0], us[1][0], us[2][0], us[3][0],
               us[3][1], us[3][2]);
    printf("| %7.1f %7.1f | %.4f\n", ours, dense, error);
    fflush(stdout);
}

static void print_plans(const session *s, const attention *t) {
    for (int i = 0; i < STEPS && s->o->told; i++) {
        mc_plan_info info = {.size = sizeof info};
        if (mc_plan_get_info(t->plans[i], &info, NULL) == MC_OK)
            printf("    %-8s %s\n", attention_step_names[i], info.fields);
    }
}

static void run(session *s, const attention_shape *shape) {
    const attention_race race = {s->driver, s->stream, s->o->race, s->o->told};
    attention t;
    double us[PASSES][3] = {{0}}, error = 0;
    mc_status status = attention_open(&t, s->context, shape, s->diag);
    if (status == MC_OK && race.most > 0) status = attention_hold_race(&t, &race, s->diag);
    if (status == MC_OK && !s->o->dry) status = time_all(s, &t, us);
    if (status == MC_OK && !s->o->dry) status = verify(s, &t, &error);
    if (status == MC_OK) print_row(s, &t, us, error), print_plans(s, &t);
    else
        printf("length %lld, %s: %s\n", (long long)shape->length, shape->precision->name,
               mc_diag_text(s->diag)),
            s->failed++;
    mc_diag_clear(s->diag);
    attention_close(&t);
}

static void run_all(session *s) {
    const options *o = s->o;
    int counts[] = {o->batch_count, o->head_count, o->length_count, o->sparsity_count, o->precision_count},
        total = 1;
    enum { LISTS = sizeof counts / sizeof *counts };
    for (int i = 0; i < LISTS; i++) total *= counts[i];
    print_head();
    for (int turn = 0; turn < total; turn++) {
        int at[LISTS], rest = turn;
        for (int i = LISTS; i-- > 0; rest /= counts[i]) at[i] = rest % counts[i];
        const attention_shape shape = {.batch = (int64_t)o->batches[at[0]],
                                       .heads = (int64_t)o->heads[at[1]],
                                       .length = (int64_t)o->lengths[at[2]],
                                       .sparsity = o->sparsities[at[3]],
                                       .precision = o->precisions[at[4]],
                                       .depth = o->depth,
                                       .band = o->band,
                                       .exp = o->polynomial ? MC_EXP_POLYNOMIAL : MC_EXP_APPROX,
                                       .tuning = o->tuned ? MC_TUNING_TUNE : MC_TUNING_REPLAY};
        run(s, &shape);
    }
}

/* -- Options ------------------------------------------------------------------------------------------ */

static const char help[] =
    "attention_gpu [NAME=VALUE...]: the seeds' attention as SDDMM, softmax and SpMM, in one captured graph.\n"
    "Lists have commas between; every shape of all lists is run.\n"
    "  batch=8             sequences (2,8)\n"
    "  heads=4             (4,8)\n"
    "  length=4096         queries and keys of a sequence (4096,8192)\n"
    "  sparsity=.9         of the mask (.9,.95)\n"
    "  bits=f16,8-8        of the softmax's output - of Q, K and V (f16,16-8,8-8,8-4,4-4)\n"
    "  depth=64            of a head (64)\n"
    "  band=256            columns around the diagonal that the mask has all (256)\n"
    "  exp=approx          the softmax's exponential; or polynomial, the same bits everywhere\n"
    "  race=24             kernels of each spec tests/gpu/attention_*.lua that are tried for a step, the "
    "best\n"
    "                      estimates first; the fastest stay. 0: what plans take (0)\n"
    "  tune=1              plans are tuned first, over the shipped specs (0)\n"
    "  tell=1              prints the kernels, of a race all of them with their times\n"
    "  run=0               makes the plans, and runs nothing but a race\n"
    "  check=all           verifies all products, not only the first and the last one\n"
    "  device=cuda:0       or sim, which has no time\n"
    "A line: microseconds of each step and of the graph, replayed, the median of 15 rounds (and its "
    "quarters);\n"
    "megabytes of Q, K, V, output, scores, probabilities and mask, and of dense attention with scores in "
    "f16;\n"
    "how far the output is from attention in float64, in some rows, where V is between -1 and 1.\n";

static int numbers(const char *text, double *list) {
    int count = 0;
    for (char *end; *text != '\0' && count < MOST_ITEMS; text = *end == ',' ? end + 1 : end) {
        list[count] = strtod(text, &end);
        if (end == text || (*end != ',' && *end != '\0') || !(list[count] > 0)) return 0;
        count++;
    }
    return count;
}

static int precisions(const char *text, const attention_precision **list) {
    int count = 0;
    while (*text != '\0') {
        size_t length = strcspn(text, ",");
        int before = count;
        for (int i = 0; i < ATTENTION_PRECISIONS && count < ATTENTION_PRECISIONS; i++) {
            const char *name = attention_precisions[i].name;
            if (strlen(name) == length && strncmp(name, text, length) == 0)
                list[count++] = &attention_precisions[i];
        }
        if (count == before) return 0;
        text += length + (text[length] == ',');
    }
    return count;
}

static bool one(const char *text, double *value) {
    double list[MOST_ITEMS];
    bool good = strcmp(text, "0") == 0 || numbers(text, list) == 1;
    if (good) *value = strcmp(text, "0") == 0 ? 0 : list[0];
    return good;
}

static bool take(options *o, const char *name, const char *text) {
    double value = 0;
    if (strcmp(name, "length") == 0) return (o->length_count = numbers(text, o->lengths)) > 0;
    if (strcmp(name, "heads") == 0) return (o->head_count = numbers(text, o->heads)) > 0;
    if (strcmp(name, "batch") == 0) return (o->batch_count = numbers(text, o->batches)) > 0;
    if (strcmp(name, "sparsity") == 0) return (o->sparsity_count = numbers(text, o->sparsities)) > 0;
    if (strcmp(name, "bits") == 0) return (o->precision_count = precisions(text, o->precisions)) > 0;
    if (strcmp(name, "device") == 0) return o->device = text, true;
    if (strcmp(name, "check") == 0) return o->all = strcmp(text, "all") == 0, o->all;
    if (strcmp(name, "exp") == 0)
        return o->polynomial = strcmp(text, "polynomial") == 0, o->polynomial || strcmp(text, "approx") == 0;
    if (!one(text, &value)) return false;
    if (strcmp(name, "depth") == 0) return o->depth = (int64_t)value, true;
    if (strcmp(name, "band") == 0) return o->band = (int64_t)value, true;
    if (strcmp(name, "race") == 0) return o->race = (size_t)value, true;
    if (strcmp(name, "run") == 0) return o->dry = value == 0, true;
    if (strcmp(name, "tune") == 0) return o->tuned = value > 0, true;
    return strcmp(name, "tell") == 0 ? o->told = value > 0, true : false;
}

static bool parse(options *o, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        char name[16] = "";
        const char *equals = strchr(argv[i], '=');
        size_t length = equals != NULL ? (size_t)(equals - argv[i]) : sizeof name;
        if (length < sizeof name) memcpy(name, argv[i], length);
        if (length >= sizeof name || !take(o, name, equals + 1)) {
            fprintf(stderr, "attention_gpu: '%s' is no option\n%s", argv[i], help);
            return false;
        }
    }
    return true;
}

/* ----------------------------------------------------------------------------------------------------- */

static mc_status open_gpu(session *s, mc_device **device) {
    mc_status status = mc_device_open(s->o->device, device, s->diag);
    if (status != MC_OK) return status;
    const cuda_device_state *state = (const cuda_device_state *)*device;
    s->driver = state->driver;
    status = CUDA_CALL(s->driver, s->diag, CtxSetCurrent, state->context);
    if (status == MC_OK)
        status = CUDA_CALL(s->driver, s->diag, StreamCreate, &s->stream, CUDA_STREAM_NON_BLOCKING);
    return status;
}

static int run_session(const options *o) {
    bool sim = strncmp(o->device, "sim", 3) == 0;
    mc_device *device = NULL;
    session s = {.o = o, .diag = mc_diag_create()};
    const mc_context_config config = {
        .size = sizeof config, .device = o->device, .cache = MC_CACHE_MEMORY, .records = ""};
    mc_status status = sim ? MC_OK : open_gpu(&s, &device);
    if (status == MC_OK) status = mc_context_create(&config, &s.context, s.diag);
    if (status == MC_OK) run_all(&s);
    else fprintf(stderr, "attention_gpu: %s\n", mc_diag_text(s.diag)), s.failed++;
    mc_context_destroy(s.context);
    if (device != NULL) mc_device_close(device);
    mc_diag_destroy(s.diag);
    return s.failed > 0;
}

int main(int argc, char **argv) {
    options o = {.device = "cuda:0", .depth = 64, .band = 256};
    (void)take(&o, "length", "4096,8192");
    (void)take(&o, "heads", "4,8");
    (void)take(&o, "batch", "2,8");
    (void)take(&o, "sparsity", ".9,.95");
    (void)take(&o, "bits", "f16,16-8,8-8,8-4,4-4");
    if (argc == 2 && strcmp(argv[1], "--help") == 0) return printf("%s", help), 0;
    if (!parse(&o, argc, argv)) return 2;
    if (strncmp(o.device, "sim", 3) != 0 && mc_device_cuda_count() == 0) {
        printf("SKIPPED: no GPU\n");
        return 77;
    }
    return run_session(&o);
}
