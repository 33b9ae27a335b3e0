/* The simulator's wavefronts and sectors against those that a GPU counted: every access of access.h and generated SpMM
 * kernels, a launch each.
 *
 *   counters SPEC FILE            runs them on the simulator and compares with FILE, which counters.sh made on a GPU
 *   counters SPEC cuda:0 [FORM]   runs them there, or those whose names begin with FORM, and prints for each launch its
 *                                 name and what is to be counted of it
 *   counters ptx FORM             prints the kernel of a form */
#include "../check.h"
#include "../kernels/problem.h"
#include "access.h"
#include "ptxsim.h"

#include <stdlib.h>

enum { MAX_SERIES = 128, MAX_VALUES = 64, MAX_NAME = 32 };

static const struct {
    const char *name;
    ptxsim_class class;
    bool shared;
} measures[MEASURES] = {
    [SHARED_LD] = {"shared_ld", PTXSIM_CLASS_LOAD, true},
    [SHARED_ST] = {"shared_st", PTXSIM_CLASS_STORE, true},
    [SHARED_ATOM] = {"shared_atom", PTXSIM_CLASS_ATOMIC, true},
    [SHARED_COPY] = {"shared_copy", PTXSIM_CLASS_COPY, true},
    [GLOBAL_LD] = {"global_ld", PTXSIM_CLASS_LOAD, false},
    [GLOBAL_ST] = {"global_st", PTXSIM_CLASS_STORE, false},
    [GLOBAL_ATOM] = {"global_atom", PTXSIM_CLASS_ATOMIC, false},
    [GLOBAL_RED] = {"global_red", PTXSIM_CLASS_ATOMIC, false},
    [GLOBAL_COPY] = {"global_copy", PTXSIM_CLASS_COPY, false},
};

/* What one measure of one name counted, launch by launch. */
struct series {
    char name[MAX_NAME], measure[MAX_NAME];
    int count;
    long value[MAX_VALUES];
};

struct table {
    struct series series[MAX_SERIES];
    int count;
};

/* A set-up for all launches. */
struct bench {
    mc_device *device;
    mc_diag *diag;
    struct table counted; /* on the simulator */
};

static struct series *find(struct table *table, const char *name, const char *measure) {
    for (int i = 0; i < table->count; i++)
        if (strcmp(table->series[i].name, name) == 0 && strcmp(table->series[i].measure, measure) == 0)
            return &table->series[i];
    return NULL;
}

static struct series *find_or_add(struct table *table, const char *name, const char *measure) {
    struct series *s = find(table, name, measure);
    if (s || table->count == MAX_SERIES) return s;
    s = &table->series[table->count++];
    snprintf(s->name, sizeof s->name, "%s", name);
    snprintf(s->measure, sizeof s->measure, "%s", measure);
    return s;
}

static void add_value(struct table *table, const char *name, const char *measure, long value) {
    struct series *s = find_or_add(table, name, measure);
    CHECK(s && s->count < MAX_VALUES, "%s: too much", name);
    if (s && s->count < MAX_VALUES) s->value[s->count++] = value;
}

static long counted_by(const ptxsim *sim, enum measure m) {
    uint64_t sum = 0;
    for (size_t i = 0; i < ptxsim_line_count(sim); i++) {
        const ptxsim_line *l = ptxsim_line_at(sim, i);
        if (l->kind == measures[m].class)
            sum += measures[m].shared ? l->shared_wavefronts : l->global_sectors;
    }
    return (long)sum;
}

/* The launch is over: notes or announces what it cost. */
static void note(struct bench *bench, const char *name, const enum measure *list, int count) {
    const ptxsim *sim = mc_device_ptxsim(bench->device);
    if (!sim) printf("%s", name);
    for (int i = 0; i < count; i++) {
        const char *measure = measures[list[i]].name;
        if (sim) add_value(&bench->counted, name, measure, counted_by(sim, list[i]));
        else printf(" %s", measure);
    }
    if (!sim) printf("\n");
}

/* -- Launches ------------------------------------------------------------------------------------------- */

static void run_form(struct bench *bench, const struct access_form *form) {
    char text[ACCESS_TEXT];
    mc_module *module = NULL;
    mc_launch launch = {.grid = {1, 1, 1}, .block = {ACCESS_LANES, 1, 1}, .count = 3};
    mc_device *device = bench->device;
    mc_diag *diag = bench->diag;
    int32_t offsets[ACCESS_LANES];
    access_text(form, text);
    CHECK(mc_module_load(device, text, "k", &module, diag) == MC_OK, "%s: %s", form->name,
          mc_diag_text(diag));
    CHECK(mc_device_alloc(device, ACCESS_BYTES, &launch.values[0], diag) == MC_OK &&
          mc_device_fill(device, launch.values[0], 1, ACCESS_BYTES, diag) == MC_OK &&
          mc_device_alloc(device, sizeof offsets, &launch.values[1], diag) == MC_OK &&
          mc_device_alloc(device, sizeof offsets, &launch.values[2], diag) == MC_OK);
    for (size_t i = 0; module && i < access_pattern_count; i++) {
        access_offsets(form, &access_patterns[i], offsets);
        mc_status status = mc_device_write(device, launch.values[1], offsets, sizeof offsets, diag);
        if (status == MC_OK) status = mc_module_launch(module, &launch, diag);
        CHECK(status == MC_OK, "%s %s: %s", form->name, access_patterns[i].name, mc_diag_text(diag));
        const enum measure list[] = {form->measure, GLOBAL_COPY};
        note(bench, form->name, list, form->measure == SHARED_COPY ? 2 : 1);
    }
    for (int i = 0; i < 3; i++) mc_device_free(device, launch.values[i]);
    mc_module_unload(module);
}

#define WIDE                                                                                                 \
    { PATTERN_REALISTIC, 24, 512, 256, 0, 0, .values = MC_VALUES_FULL }
#define EDGE                                                                                                 \
    { PATTERN_REALISTIC, 24, 512, 131, 0, 0, .values = MC_VALUES_FULL }
#define GAPS                                                                                                 \
    { PATTERN_BOUNDARIES, 18, 131, 77, 4, 4, .values = MC_VALUES_FULL }
#define UNALIGNED                                                                                            \
    { PATTERN_BOUNDARIES, 18, 131, 129, 3, 0, .values = MC_VALUES_FULL, .b_offset = 4, .c_offset = 4 }
#define SETTINGS(tile, stride, warps, split, align)                                                          \
    {                                                                                                        \
        {"tile_n", tile}, {"stride", stride}, {"warps", warps}, {"split", split}, { "align", align }         \
    }

static const struct spmm {
    const char *name;
    mc_setting settings[5];
    problem_case problem;
} spmms[] = {
    {"spmm.32", SETTINGS("32", "32", "4", "4", "16"), WIDE},
    {"spmm.64", SETTINGS("64", "32", "4", "4", "16"), WIDE},
    {"spmm.128", SETTINGS("128", "32", "4", "4", "16"), WIDE},
    {"spmm.128.unsplit", SETTINGS("128", "64", "4", "1", "16"), WIDE},
    {"spmm.128.edge", SETTINGS("128", "32", "4", "4", "16"), EDGE},
    {"spmm.64.gaps", SETTINGS("64", "32", "2", "2", "16"), GAPS},
    {"spmm.32.unaligned", SETTINGS("32", "32", "1", "1", "4"), UNALIGNED},
};

static void run_spmm(struct bench *bench, const char *spec_path, const struct spmm *s) {
    static const enum measure list[] = {SHARED_LD, SHARED_ST, GLOBAL_LD, GLOBAL_ST};
    mc_spec *spec = NULL;
    mc_kernel *kernel = NULL;
    problem p = {0};
    problem_kind kind;
    mc_status status = mc_spec_read(spec_path, s->settings, 5, &spec, bench->diag);
    if (status == MC_OK) status = mc_kernel_generate(spec, 0, &kernel, bench->diag);
    if (status == MC_OK) status = problem_kind_of(kernel, &kind, bench->diag);
    if (status == MC_OK) status = problem_make(&s->problem, &kind, &p, bench->diag);
    if (status == MC_OK) status = problem_run(&p, bench->device, kernel, NULL, bench->diag);
    CHECK(status == MC_OK, "%s: %s", s->name, mc_diag_text(bench->diag));
    note(bench, s->name, list, 4);
    mc_kernel_destroy(kernel);
    mc_spec_destroy(spec);
    problem_free(&p);
}

static void run_all(struct bench *bench, const char *spec_path, const char *form) {
    for (size_t i = 0; i < access_form_count; i++)
        if (strncmp(access_forms[i].name, form, strlen(form)) == 0) run_form(bench, &access_forms[i]);
    for (size_t i = 0; i < sizeof spmms / sizeof *spmms; i++)
        if (strncmp(spmms[i].name, form, strlen(form)) == 0) run_spmm(bench, spec_path, &spmms[i]);
}

/* -- Comparison ----------------------------------------------------------------------------------------- */

/* Lines of `name measure value ...`, or `name measure ?` where the GPU is still to be asked; those that begin with # say
   how it was made. */
static bool read_table(const char *path, struct table *table) {
    char line[2048], name[MAX_NAME], measure[MAX_NAME];
    FILE *file = fopen(path, "r");
    if (!file) return false;
    while (fgets(line, sizeof line, file)) {
        int used = 0;
        if (line[0] == '#' || sscanf(line, "%31s %31s%n", name, measure, &used) != 2) continue;
        char *end, *at = line + used;
        CHECK(find_or_add(table, name, measure), "%s: too much", name);
        for (long value = strtol(at, &end, 10); end != at; value = strtol(at, &end, 10)) {
            add_value(table, name, measure, value);
            at = end;
        }
        CHECK(at != line + used || strchr(at, '?'), "%s %s: neither counts nor ?", name, measure);
    }
    fclose(file);
    return true;
}

/* Atomics of several lanes on words of one sector, for which the GPU asks once or twice more. */
static bool is_known(const struct series *gpu, int i) {
    const char *addresses = access_patterns[i].name;
    bool atomic = strcmp(gpu->measure, "global_atom") == 0 || strcmp(gpu->measure, "global_red") == 0;
    return atomic && (strcmp(addresses, "middle1") == 0 || strcmp(addresses, "middle3") == 0);
}

static void compare(const struct series *gpu, const struct series *sim) {
    long sums[2] = {0};
    int equal = 0;
    if (gpu->count == 0) {
        printf("%-24s %-12s not counted on a GPU yet\n", gpu->name, gpu->measure);
        return;
    }
    CHECK(sim && sim->count == gpu->count, "%s %s: not the same launches", gpu->name, gpu->measure);
    if (!sim || sim->count != gpu->count) return;
    for (int i = 0; i < gpu->count; i++) {
        bool same = gpu->value[i] == sim->value[i];
        sums[0] += gpu->value[i];
        sums[1] += sim->value[i];
        equal += same;
        CHECK(same || is_known(gpu, i), "%s %s, launch %d (%s): %ld, and the GPU counted %ld", gpu->name,
              gpu->measure, i, gpu->count > 1 ? access_patterns[i].name : "", sim->value[i], gpu->value[i]);
    }
    printf("%-24s %-12s %8ld %8ld %6.3f %4d of %d\n", gpu->name, gpu->measure, sums[0], sums[1],
           sums[0] ? (double)sums[1] / (double)sums[0] : 1.0, equal, gpu->count);
}

static void compare_all(struct bench *bench, const char *path) {
    static struct table gpu;
    CHECK(read_table(path, &gpu) && gpu.count > 0, "%s: no table", path);
    printf("%-24s %-12s %8s %8s %6s equal\n", "", "", "GPU", "sim", "ratio");
    for (int i = 0; i < gpu.count; i++)
        compare(&gpu.series[i], find(&bench->counted, gpu.series[i].name, gpu.series[i].measure));
    for (int i = 0; i < bench->counted.count; i++) {
        const struct series *s = &bench->counted.series[i];
        CHECK(find(&gpu, s->name, s->measure), "%s %s: not in %s", s->name, s->measure, path);
    }
}

static int print_ptx(const char *name) {
    char text[ACCESS_TEXT];
    for (size_t i = 0; i < access_form_count; i++) {
        if (strcmp(access_forms[i].name, name) != 0) continue;
        access_text(&access_forms[i], text);
        fputs(text, stdout);
        return 0;
    }
    return 1;
}

int main(int argc, char **argv) {
    static struct bench bench;
    if (argc != 3 && argc != 4) return 2;
    if (strcmp(argv[1], "ptx") == 0) return print_ptx(argv[2]);
    bool gpu = strncmp(argv[2], "cuda:", 5) == 0;
    bench.diag = mc_diag_create();
    CHECK(mc_device_open(gpu ? argv[2] : "sim", &bench.device, bench.diag) == MC_OK, "%s",
          mc_diag_text(bench.diag));
    if (bench.device && !gpu) ptxsim_watch_races(mc_device_ptxsim(bench.device), 0);
    if (bench.device) run_all(&bench, argv[1], argc > 3 ? argv[3] : "");
    if (bench.device && !gpu) compare_all(&bench, argv[2]);
    mc_device_close(bench.device);
    mc_diag_destroy(bench.diag);
    return gpu ? check_failed != 0 : check_end();
}
