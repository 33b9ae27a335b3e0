/* mcgen: the command line of libmcgen. Makes its whole output in memory first, so that a failed run writes
 * nothing. */
#include "ops/families.h"
#include "kernel/kernel.h"
#include "driver_gpu.h"
#include "header.h"
#include "target.h"
#include "text/file.h"
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { EXIT_DONE = 0, EXIT_CANNOT = 1, EXIT_WRONG = 2 };
enum { MAX_SETTINGS = 64 };

typedef enum task {
    TASK_PTX,
    TASK_HEADER,
    TASK_LIST,
    TASK_DESCRIBE,
    TASK_CHECK,
    TASK_SPECS,
    TASK_HELP,
    TASK_VERSION
} task;

typedef struct options {
    task task;
    bool json, registers;
    const char *spec, *out, *variant, *name;
    const char *fields; /* of a kernel that no spec is read for; NULL: there is a spec */
    mc_setting settings[MAX_SETTINGS];
    size_t setting_count;
} options;

/* -- Help --------------------------------------------------------------------------------------------- */

/* An option: getopt's tables are made of these rows, and --help; the manual page and the completion of shells
   are made of that (cmake/manual.cmake). */
typedef struct option_row {
    const char *name; /* NULL: it has a letter alone */
    char key;
    bool letter;          /* KEY is an option, too */
    const char *argument; /* NULL: it has none; "[FAMILY]": it is the operand that follows */
    const char *help;     /* lines */
} option_row;

static const option_row option_rows[] = {
    {NULL, 'o', true, "FILE", "write to FILE instead; a failed run leaves FILE as it was"},
    {"arch", 'a', false, "TARGET",
     "target of the PTX, such as sm_90, or native, for this machine's first GPU; default: the spec's,\n"
     "else that of the environment's MCGEN_ARCH, else of this machine's first GPU, else sm_80"},
    {"set", 's', false, "FIELD=VALUE",
     "override a field of the spec; VALUE may be a list, 32,64; repeatable"},
    {"variant", 'v', false, "V",
     "index or hash of a variant of the tuning space; default: the first candidates"},
    {"fields", 'f', false, "FIELDS",
     "instead of a SPEC: the kernel with these fields, 'op=spmm arch=sm_90 ...', as mcrun plan, records\n"
     "and --list-variants print them; those that are not named have their defaults"},
    {"list-variants", 'l', false, NULL, "every legal variant, one a line: index, hash, fields"},
    {"registers", 'r', false, NULL,
     "--list-variants: also the most 32-bit registers that are alive at once, a thread; ptxas may take more"},
    {"describe", 'd', false, NULL, "launch contract, tile, shared memory, bytes and mma a stride, registers"},
    {"json", 'j', false, NULL,
     "--list-variants, --describe: as JSON; a failure is then {\"error\": what is wrong}"},
    {"header", 'H', false, NULL,
     "the PTX and its launch contract as a C header, for programs that launch the kernel themselves"},
    {"name", 'n', false, "NAME", "--header: what its names begin with; default: the entry's name"},
    {"check", 'c', false, NULL, "generate every variant, write nothing"},
    {"list-specs", 'L', false, NULL, "the names of the shipped specs, one a line"},
    {"help", 'h', true, "[FAMILY]", "this text, or the fields of a kernel family"},
    {"version", 'V', false, NULL,
     "the version, and the id of the generator's sources: equal ids make equal PTX"},
};
enum { OPTION_COUNT = sizeof option_rows / sizeof option_rows[0], HELP_COLUMN = 23 };

static void add_option_help(const option_row *row, mc_text *out) {
    char left[64];
    snprintf(left, sizeof left, "  %s%.1s%s%s%s%s%s", row->letter ? "-" : "", row->letter ? &row->key : "",
             row->letter && row->name ? ", " : "", row->name ? "--" : "", row->name ? row->name : "",
             row->argument ? " " : "", row->argument ? row->argument : "");
    text_add(out, "%-*s", HELP_COLUMN, left);
    for (const char *line = row->help;;) {
        int length = (int)strcspn(line, "\n");
        text_add(out, "%.*s\n", length, line);
        line += length;
        if (!*line++) return;
        text_add(out, "%*s", HELP_COLUMN, "");
    }
}

static void add_usage(mc_text *out) {
    text_add(out, "usage: mcgen [options] SPEC\n"
                  "writes a spec's kernel as PTX to stdout. SPEC is a path, the name of a shipped spec, as\n"
                  "spmm_l8r8, or - for standard input.\n\n");
    for (size_t i = 0; i < OPTION_COUNT; i++) add_option_help(&option_rows[i], out);
    text_add(out, "\nExit status: 0 done, 1 cannot do it, 2 wrong usage or spec.\n");
}

/* Why this run failed: what standard error got. */
static mc_text failure;

static int wrong(const char *format, const char *what) __attribute__((format(printf, 1, 0)));

static int wrong(const char *format, const char *what) {
    text_add(&failure, format, what);
    fprintf(stderr, "mcgen: %s\nmcgen: try mcgen --help\n", failure.data ? failure.data : "out of memory");
    return EXIT_WRONG;
}

static int failed(mc_status status, const mc_diag *diag) {
    const char *text = mc_diag_text(diag);
    text_put(&failure, *text ? text : mc_status_text(status));
    fprintf(stderr, "%s\n", *text ? text : mc_status_text(status));
    return status == MC_USAGE ? EXIT_WRONG : EXIT_CANNOT;
}

/* -- Options ------------------------------------------------------------------------------------------ */

static int add_setting(options *o, const char *field, const char *value) {
    if (o->setting_count == MAX_SETTINGS) return wrong("more than 64 settings%s", "");
    o->settings[o->setting_count++] = (mc_setting){field, value};
    return EXIT_DONE;
}

static int add_assignment(options *o, char *text) {
    char *equals = strchr(text, '=');
    if (!equals || equals == text) return wrong("--set wants FIELD=VALUE, not '%s'", text);
    *equals = '\0';
    return add_setting(o, text, equals + 1);
}

/* "native" is this machine's GPU. */
static int add_target(options *o, const char *target) {
    mc_diag *diag = mc_diag_create();
    bool native = strcmp(target, "native") == 0;
    const char *found = native ? mc_arch_for(driver_gpu_find().capability) : target;
    mc_status status =
        found ? target_check("--arch", found, diag)
              : mc_fail(diag, MC_CANNOT, "--arch native: no GPU here that there are targets for");
    int exit_status = status == MC_OK ? add_setting(o, "arch", found) : failed(status, diag);
    mc_diag_destroy(diag);
    return exit_status;
}

static int choose(options *o, task chosen) {
    if (o->task == TASK_HELP) return EXIT_DONE;
    if (o->task != TASK_PTX && o->task != chosen)
        return wrong("only one of --list-variants, --describe, --header, --check and --list-specs%s", "");
    o->task = chosen;
    return EXIT_DONE;
}

static int parse_option(options *o, int option) {
    switch (option) {
    case 'o': o->out = optarg; return EXIT_DONE;
    case 'a': return add_target(o, optarg);
    case 's': return add_assignment(o, optarg);
    case 'v': o->variant = optarg; return EXIT_DONE;
    case 'f': o->fields = optarg; return EXIT_DONE;
    case 'j': o->json = true; return EXIT_DONE;
    case 'r': o->registers = true; return EXIT_DONE;
    case 'l': return choose(o, TASK_LIST);
    case 'd': return choose(o, TASK_DESCRIBE);
    case 'H': return choose(o, TASK_HEADER);
    case 'n': o->name = optarg; return EXIT_DONE;
    case 'c': return choose(o, TASK_CHECK);
    case 'L': return choose(o, TASK_SPECS);
    case 'h': o->task = TASK_HELP; return EXIT_DONE;
    case 'V': o->task = TASK_VERSION; return EXIT_DONE;
    default: return wrong("%s", optopt ? "an option is unknown or lacks its value" : "unknown option");
    }
}

/* What getopt wants: "o:h", and the long options. */
static void fill_tables(char letters[2 * OPTION_COUNT + 1], struct option longs[OPTION_COUNT + 1]) {
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const option_row *row = &option_rows[i];
        bool has_value = row->argument && row->argument[0] != '[';
        if (row->letter) *letters++ = row->key;
        if (row->letter && has_value) *letters++ = ':';
        if (row->name) *longs++ = (struct option){row->name, has_value, NULL, row->key};
    }
}

static int check_output(const options *o) {
    if (o->out && o->task == TASK_CHECK) return wrong("--check writes nothing: no -o%s", "");
    if (o->json && o->task != TASK_LIST && o->task != TASK_DESCRIBE)
        return wrong("--json goes with --list-variants or --describe%s", "");
    if (o->registers && o->task != TASK_LIST) return wrong("--registers goes with --list-variants%s", "");
    if (o->name && o->task != TASK_HEADER) return wrong("--name goes with --header%s", "");
    return EXIT_DONE;
}

/* A field list names one kernel, whole. */
static int check_fields(const options *o) {
    const char *other = o->spec                 ? o->spec
                        : o->setting_count > 0  ? "--set and --arch"
                        : o->variant            ? "--variant"
                        : o->task == TASK_LIST  ? "--list-variants"
                        : o->task == TASK_SPECS ? "--list-specs"
                                                : NULL;
    return other ? wrong("--fields names a kernel, whole: it does not go with %s", other) : check_output(o);
}

static int parse(int argc, char **argv, options *o) {
    char letters[2 * OPTION_COUNT + 1] = "";
    struct option longs[OPTION_COUNT + 1] = {{0}};
    int option, status = EXIT_DONE;
    fill_tables(letters, longs);
    while (status == EXIT_DONE && (option = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
        if (option == '?') return wrong("%s", "an option is unknown, ambiguous, or lacks its value");
        status = parse_option(o, option);
        if (o->task == TASK_VERSION) return status;
    }
    if (status != EXIT_DONE) return status;
    if (argc - optind > 1) return wrong("one spec at a time, not also '%s'", argv[optind + 1]);
    o->spec = argv[optind];
    if (o->fields && o->task != TASK_HELP) return check_fields(o);
    if (o->spec && o->task == TASK_SPECS) return wrong("--list-specs goes without a spec%s", "");
    if (!o->spec && o->task != TASK_HELP && o->task != TASK_SPECS) return wrong("no spec given%s", "");
    return check_output(o);
}

/* -- What each task writes ---------------------------------------------------------------------------- */

/* "a=1 b=x" as {"a": 1, "b": "x"}. NULL: out of memory. */
static json_t *fields_object(char *fields) {
    json_t *object = json_object();
    bool whole = object != NULL;
    for (char *rest = NULL, *pair = strtok_r(fields, " ", &rest); pair; pair = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(pair, '='), *end;
        *value++ = '\0';
        long long number = strtoll(value, &end, 10);
        whole =
            json_object_set_new(object, pair, *end ? json_string(value) : json_integer(number)) == 0 && whole;
    }
    if (whole) return object;
    json_decref(object);
    return NULL;
}

/* REGISTERS: 0, not asked for. */
static void list_object(const mc_spec *spec, size_t i, char *fields, int registers, mc_text *out) {
    char hash[20];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)mc_spec_variant_hash(spec, i));
    json_t *values = fields_object(fields);
    json_t *estimate = registers ? json_integer(registers) : NULL;
    json_t *object = values ? json_pack("{sI ss so so*}", "index", (json_int_t)i, "hash", hash, "fields",
                                        values, "register_estimate", estimate)
                            : NULL;
    text_put(out, i ? ",\n " : "[");
    if (!object || json_dump_callback(object, text_sink, out, JSON_COMPACT) != 0) out->failed = true;
    json_decref(object);
}

/* Behind the hash, since fields may go on to the end of the line. */
static void list_line(const mc_spec *spec, size_t i, const char *fields, int registers, mc_text *out) {
    text_add(out, "%zu %016llx ", i, (unsigned long long)mc_spec_variant_hash(spec, i));
    if (registers) text_add(out, "%d ", registers);
    text_add(out, "%s\n", fields);
}

/* A kernel has to be made for it. */
static mc_status count_registers(const mc_spec *spec, size_t variant, int *registers, mc_diag *diag) {
    mc_kernel *kernel;
    mc_status status = mc_kernel_generate(spec, variant, &kernel, diag);
    if (status == MC_OK) *registers = kernel->registers;
    mc_kernel_destroy(kernel);
    return status;
}

static mc_status write_list(const options *o, const mc_spec *spec, mc_text *out, mc_diag *diag) {
    for (size_t i = 0; i < mc_spec_variant_count(spec); i++) {
        int registers = 0;
        mc_status status = o->registers ? count_registers(spec, i, &registers, diag) : MC_OK;
        if (status != MC_OK) return status;
        char *fields = mc_spec_variant_text(spec, i, true);
        if (!fields) return mc_fail(diag, MC_NOMEM, "mcgen: out of memory");
        if (o->json) list_object(spec, i, fields, registers, out);
        else list_line(spec, i, fields, registers, out);
        free(fields);
    }
    if (o->json) text_add(out, "]\n");
    return MC_OK;
}

/* KERNEL is destroyed. */
static mc_status write_made(const options *o, mc_kernel *kernel, mc_text *out, mc_diag *diag) {
    mc_status status = MC_OK;
    if (o->task == TASK_PTX) {
        text_put(out, mc_kernel_ptx(kernel));
    } else if (o->task == TASK_HEADER) {
        status = header_write(kernel, o->name, out, diag);
    } else if (o->task == TASK_DESCRIBE) {
        char *text = mc_kernel_describe(kernel, o->json);
        if (text) text_add(out, o->json ? "%s\n" : "%s", text);
        else status = mc_fail(diag, MC_NOMEM, "mcgen: out of memory");
        free(text);
    }
    mc_kernel_destroy(kernel);
    return status;
}

static mc_status write_kernel(const options *o, const mc_spec *spec, size_t variant,
                              const target_source *source, mc_text *out, mc_diag *diag) {
    mc_kernel *kernel;
    mc_status status = mc_kernel_generate(spec, variant, &kernel, diag);
    if (status != MC_OK) return status;
    if (o->task == TASK_PTX || o->task == TASK_HEADER) target_note(source, kernel);
    return write_made(o, kernel, out, diag);
}

static mc_status write_fields(const options *o, mc_text *out, mc_diag *diag) {
    mc_kernel *kernel;
    mc_status status = mc_kernel_from_fields(o->fields, &kernel, diag);
    return status == MC_OK ? write_made(o, kernel, out, diag) : status;
}

static mc_status check_all(const mc_spec *spec, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; status == MC_OK && i < mc_spec_variant_count(spec); i++) {
        mc_kernel *kernel;
        status = mc_kernel_generate(spec, i, &kernel, diag);
        mc_kernel_destroy(kernel);
    }
    return status;
}

/* -- Work --------------------------------------------------------------------------------------------- */

static mc_status work(const options *o, mc_text *out, mc_diag *diag) {
    mc_spec *spec;
    target_source source;
    size_t variant = 0;
    if (o->fields) return write_fields(o, out, diag);
    mc_status status = target_source_begin(&source, diag);
    if (status == MC_OK)
        status = spec_read_path(o->spec, o->settings, o->setting_count, &source.spec, &spec, diag);
    if (status != MC_OK) return status;
    variant = mc_spec_default(spec);
    if (o->variant) status = mc_spec_find_variant(spec, o->variant, &variant, diag);
    if (status == MC_OK && o->task == TASK_LIST) status = write_list(o, spec, out, diag);
    else if (status == MC_OK && o->task == TASK_CHECK && !o->variant) status = check_all(spec, diag);
    else if (status == MC_OK) status = write_kernel(o, spec, variant, &source, out, diag);
    mc_spec_destroy(spec);
    return status;
}

/* -- Output ------------------------------------------------------------------------------------------- */

static int write_file(const char *path, const mc_text *text, mc_diag *diag) {
    file_output output;
    mc_status status = file_open(path, &output, diag);
    if (status == MC_OK) {
        file_write(&output, text->data ? text->data : "", text->size);
        status = file_commit(&output, diag);
    }
    return status == MC_OK ? EXIT_DONE : failed(status, diag);
}

static int write_stdout(const mc_text *text) {
    bool written = fwrite(text->data ? text->data : "", 1, text->size, stdout) == text->size;
    if (fflush(stdout) == 0 && written) return EXIT_DONE;
    fprintf(stderr, "mcgen: standard output: %s\n", strerror(errno));
    return EXIT_CANNOT;
}

static int write_out(const options *o, const mc_text *text, mc_diag *diag) {
    if (text->failed) return failed(mc_fail(diag, MC_NOMEM, "mcgen: out of memory"), diag);
    return o->out ? write_file(o->out, text, diag) : write_stdout(text);
}

static int help(const options *o, mc_text *text, mc_diag *diag) {
    if (o->spec && !family_find(o->spec)) return wrong("no kernel family is called '%s'", o->spec);
    char *family = mc_family_help(o->spec);
    if (!family) return failed(mc_fail(diag, MC_NOMEM, "mcgen: out of memory"), diag);
    if (!o->spec) add_usage(text);
    text_add(text, "%s%s", o->spec ? "" : "\n", family);
    free(family);
    return EXIT_DONE;
}

static int list_specs(mc_text *text) {
    for (const mc_builtin_spec *spec = mc_builtin_specs(); spec->name; spec++)
        text_add(text, "%.*s\n", (int)strcspn(spec->name, "."), spec->name);
    return EXIT_DONE;
}

/* Whether writing the output would replace the spec's file, which a shipped spec has none of. */
static bool overwrites_spec(const options *o) {
    const mc_builtin_spec *shipped;
    bool is_path = mc_builtin_spec_find(o->spec, &shipped, NULL) == MC_OK && !shipped;
    return is_path && file_is_same(o->spec, o->out);
}

static int run(const options *o, mc_text *text, mc_diag *diag) {
    if (o->task == TASK_HELP) return help(o, text, diag);
    if (o->task == TASK_VERSION) {
        text_add(text, "mcgen " MC_VERSION ", generator %s\n", mc_generator_id());
        return EXIT_DONE;
    }
    if (o->task == TASK_SPECS) return list_specs(text);
    if (o->out && o->spec && overwrites_spec(o)) return wrong("-o %s would overwrite the spec", o->out);
    mc_status status = work(o, text, diag);
    return status == MC_OK ? EXIT_DONE : failed(status, diag);
}

/* With --json a failure is JSON on standard output, too. */
static void print_failure(int argc, char **argv) {
    bool wanted = false;
    for (int i = 1; i < argc; i++) wanted = wanted || strcmp(argv[i], "--json") == 0;
    json_t *text = failure.data ? json_string(failure.data) : NULL; /* NULL as well: it is no UTF-8 */
    if (!text) text = json_string("standard error tells");
    json_t *json = json_pack("{s:o}", "error", text);
    if (wanted && json && json_dumpf(json, stdout, JSON_COMPACT) == 0) puts("");
    json_decref(json);
}

int main(int argc, char **argv) {
    options o = {0};
    mc_text text = {0};
    mc_diag *diag = mc_diag_create();
    if (!diag) {
        fputs("mcgen: out of memory\n", stderr);
        return EXIT_CANNOT;
    }
    int status = parse(argc, argv, &o);
    if (status == EXIT_DONE) status = run(&o, &text, diag);
    if (status == EXIT_DONE && o.task != TASK_CHECK) status = write_out(&o, &text, diag);
    if (status != EXIT_DONE) print_failure(argc, argv);
    text_free(&failure);
    text_free(&text);
    mc_diag_destroy(diag);
    return status;
}
