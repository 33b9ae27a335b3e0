/* mcgen: the command line of libmcgen. Makes its whole output in memory first, so that a failed run writes
 * nothing. */
#include "mcgen.h"
#include "text.h"
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXIT_DONE = 0, EXIT_CANNOT = 1, EXIT_WRONG = 2 };
enum { MAX_SETTINGS = 64 };

typedef enum task { TASK_PTX, TASK_LIST, TASK_DESCRIBE, TASK_CHECK, TASK_HELP, TASK_VERSION } task;

typedef struct options {
    task task;
    bool json;
    const char *spec, *out, *variant;
    mc_setting settings[MAX_SETTINGS];
    size_t setting_count;
} options;

static const char usage[] =
    "usage: mcgen [options] SPEC.lua     writes PTX to stdout\n"
    "\n"
    "  -o FILE              write to FILE instead; a failed run leaves FILE as it was\n"
    "  --arch TARGET        sm_80, sm_86, sm_89, sm_90, sm_90a, sm_100 or sm_120; default: the spec's, else "
    "sm_80\n"
    "  --set FIELD=VALUE    override a field of the spec; VALUE may be a list, 32,64; repeatable\n"
    "  --variant V          index or hash of a variant of the tuning space; default: the first candidates\n"
    "  --list-variants      every legal variant, one a line: index, hash, fields (--json: an array of "
    "objects)\n"
    "  --describe           launch contract, tile, shared memory, bytes and mma a stride, registers "
    "(--json)\n"
    "  --check              generate every variant, write nothing\n"
    "  --help [FAMILY]      this text, or the fields of a kernel family\n"
    "  --version\n"
    "\n"
    "Exit status: 0 done, 1 cannot do it, 2 wrong usage or spec.\n";

static int wrong(const char *format, const char *what) {
    fputs("mcgen: ", stderr);
    fprintf(stderr, format, what);
    fputs("\nmcgen: try mcgen --help\n", stderr);
    return EXIT_WRONG;
}

static int failed(mc_status status, const mc_diag *diag) {
    const char *text = mc_diag_text(diag);
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

static int choose(options *o, task chosen) {
    if (o->task != TASK_PTX && o->task != chosen)
        return wrong("only one of --list-variants, --describe and --check%s", "");
    o->task = chosen;
    return EXIT_DONE;
}

static int parse_option(options *o, int option) {
    switch (option) {
    case 'o': o->out = optarg; return EXIT_DONE;
    case 'a': return add_setting(o, "arch", optarg);
    case 's': return add_assignment(o, optarg);
    case 'v': o->variant = optarg; return EXIT_DONE;
    case 'j': o->json = true; return EXIT_DONE;
    case 'l': return choose(o, TASK_LIST);
    case 'd': return choose(o, TASK_DESCRIBE);
    case 'c': return choose(o, TASK_CHECK);
    case 'h': o->task = TASK_HELP; return EXIT_DONE;
    case 'V': o->task = TASK_VERSION; return EXIT_DONE;
    default: return wrong("%s", optopt ? "an option is unknown or lacks its value" : "unknown option");
    }
}

static int parse(int argc, char **argv, options *o) {
    static const struct option list[] = {
        {"arch", required_argument, NULL, 'a'},    {"set", required_argument, NULL, 's'},
        {"variant", required_argument, NULL, 'v'}, {"json", no_argument, NULL, 'j'},
        {"list-variants", no_argument, NULL, 'l'}, {"describe", no_argument, NULL, 'd'},
        {"check", no_argument, NULL, 'c'},         {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},       {NULL, 0, NULL, 0},
    };
    int option, status = EXIT_DONE;
    while (status == EXIT_DONE && (option = getopt_long(argc, argv, "o:", list, NULL)) != -1) {
        if (option == '?')
            return fputs("mcgen: try mcgen --help\n", stderr), EXIT_WRONG; /* getopt said which */
        status = parse_option(o, option);
        if (o->task == TASK_VERSION) return status;
    }
    if (status != EXIT_DONE) return status;
    if (argc - optind > 1) return wrong("one spec at a time, not also '%s'", argv[optind + 1]);
    o->spec = argv[optind];
    if (!o->spec && o->task != TASK_HELP) return wrong("no spec given%s", "");
    if (o->json && o->task != TASK_LIST && o->task != TASK_DESCRIBE)
        return wrong("--json goes with --list-variants or --describe%s", "");
    return EXIT_DONE;
}

/* -- What each task writes ---------------------------------------------------------------------------- */

static void list_line(const mc_spec *spec, size_t i, const char *fields, mc_text *out) {
    text_add(out, "%zu %016llx %s\n", i, (unsigned long long)mc_spec_variant_hash(spec, i), fields);
}

/* "a=1 b=x" as {"a": "1", ...} of text values; numbers stay numbers. */
static json_t *fields_object(char *fields) {
    json_t *object = json_object();
    for (char *rest = NULL, *pair = strtok_r(fields, " ", &rest); pair; pair = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(pair, '='), *end;
        *value++ = '\0';
        long long number = strtoll(value, &end, 10);
        json_object_set_new(object, pair, *end ? json_string(value) : json_integer(number));
    }
    return object;
}

static void list_object(const mc_spec *spec, size_t i, char *fields, mc_text *out) {
    char hash[20];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)mc_spec_variant_hash(spec, i));
    json_t *object =
        json_pack("{sI ss so}", "index", (json_int_t)i, "hash", hash, "fields", fields_object(fields));
    char *line = object ? json_dumps(object, JSON_COMPACT) : NULL;
    text_add(out, "%s%s", i ? ",\n " : "[", line ? line : "null");
    if (!line) out->failed = true;
    free(line);
    json_decref(object);
}

static mc_status write_list(const options *o, const mc_spec *spec, mc_text *out, mc_diag *diag) {
    for (size_t i = 0; i < mc_spec_variant_count(spec); i++) {
        char *fields = mc_spec_variant_text(spec, i, true);
        if (!fields) return mc_fail(diag, MC_NOMEM, "mcgen: out of memory");
        if (o->json) list_object(spec, i, fields, out);
        else list_line(spec, i, fields, out);
        free(fields);
    }
    if (o->json) text_add(out, "]\n");
    return MC_OK;
}

static mc_status write_kernel(const options *o, const mc_spec *spec, size_t variant, mc_text *out,
                              mc_diag *diag) {
    mc_kernel *kernel;
    mc_status status = mc_kernel_generate(spec, variant, &kernel, diag);
    if (status != MC_OK) return status;
    if (o->task == TASK_PTX) {
        text_add(out, "%s", mc_kernel_ptx(kernel));
    } else if (o->task == TASK_DESCRIBE) {
        char *text = mc_kernel_describe(kernel, o->json);
        if (text) text_add(out, o->json ? "%s\n" : "%s", text);
        else status = mc_fail(diag, MC_NOMEM, "mcgen: out of memory");
        free(text);
    }
    mc_kernel_destroy(kernel);
    return status;
}

static mc_status check_all(const options *o, const mc_spec *spec, mc_text *out, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; status == MC_OK && i < mc_spec_variant_count(spec); i++)
        status = write_kernel(o, spec, i, out, diag);
    return status;
}

static mc_status work(const options *o, mc_text *out, mc_diag *diag) {
    mc_spec *spec;
    size_t variant = 0;
    mc_status status = mc_spec_read(o->spec, o->settings, o->setting_count, &spec, diag);
    if (status != MC_OK) return status;
    variant = mc_spec_default(spec);
    if (o->variant) status = mc_spec_find_variant(spec, o->variant, &variant, diag);
    if (status == MC_OK && o->task == TASK_LIST) status = write_list(o, spec, out, diag);
    else if (status == MC_OK && o->task == TASK_CHECK && !o->variant) status = check_all(o, spec, out, diag);
    else if (status == MC_OK) status = write_kernel(o, spec, variant, out, diag);
    mc_spec_destroy(spec);
    return status;
}

/* -- Output ------------------------------------------------------------------------------------------- */

static int io_error(const char *path) {
    fprintf(stderr, "mcgen: %s: %s\n", path, strerror(errno));
    return EXIT_CANNOT;
}

static bool write_stream(FILE *file, const mc_text *text) {
    bool written = fwrite(text->data ? text->data : "", 1, text->size, file) == text->size;
    return fflush(file) == 0 && written;
}

/* A regular file is replaced in one step by a complete one; anything else (a pipe, a device)
   is written to. */
static int write_file(const char *path, const mc_text *text) {
    struct stat info;
    bool special = stat(path, &info) == 0 && !S_ISREG(info.st_mode);
    mc_text temporary = {0};
    text_add(&temporary, special ? "%s" : "%s.%ld.tmp", path, (long)getpid());
    if (temporary.failed) return wrong("out of memory%s", "");
    FILE *file = fopen(temporary.data, special ? "wb" : "wbx");
    int status = file ? EXIT_DONE : io_error(path);
    if (file) {
        bool written = write_stream(file, text);
        if (fclose(file) != 0 || !written) status = io_error(path);
        else if (!special && rename(temporary.data, path) != 0) status = io_error(path);
        if (status != EXIT_DONE && !special) unlink(temporary.data);
    }
    text_free(&temporary);
    return status;
}

static int write_out(const options *o, const mc_text *text) {
    if (o->out) return write_file(o->out, text);
    return write_stream(stdout, text) ? EXIT_DONE : io_error("standard output");
}

static int help(const options *o, mc_text *text) {
    char *family = mc_family_help(o->spec);
    if (!family) return wrong("no kernel family is called '%s'", o->spec);
    text_add(text, "%s%s%s", o->spec ? "" : usage, o->spec ? "" : "\n", family);
    free(family);
    return EXIT_DONE;
}

int main(int argc, char **argv) {
    options o = {0};
    mc_text text = {0};
    mc_diag *diag = mc_diag_create();
    int status = parse(argc, argv, &o);
    if (!diag) return EXIT_CANNOT;
    if (status == EXIT_DONE && o.task == TASK_HELP) {
        status = help(&o, &text);
    } else if (status == EXIT_DONE && o.task == TASK_VERSION) {
        text_add(&text, "mcgen " MC_VERSION "\n");
    } else if (status == EXIT_DONE) {
        mc_status done = work(&o, &text, diag);
        if (done == MC_OK && text.failed) done = mc_fail(diag, MC_NOMEM, "mcgen: out of memory");
        if (done != MC_OK) status = failed(done, diag);
    }
    if (status == EXIT_DONE && o.task != TASK_CHECK) status = write_out(&o, &text);
    text_free(&text);
    mc_diag_destroy(diag);
    return status;
}
