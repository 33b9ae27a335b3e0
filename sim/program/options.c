#include "program.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool complain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("ptxsim: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return false;
}

bool parse_count(const char *text, size_t length, uint64_t most, uint64_t *value) {
    static const char units[] = "KMG";
    uint64_t n = 0;
    const char *unit = length > 1 ? strchr(units, text[length - 1]) : NULL;
    if (unit && *unit) length--;
    if (length == 0) return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9') return false;
        if (__builtin_mul_overflow(n, (uint64_t)10, &n) ||
            __builtin_add_overflow(n, (uint64_t)(text[i] - '0'), &n))
            return false;
    }
    for (const char *u = units; unit && *unit && u <= unit; u++)
        if (__builtin_mul_overflow(n, (uint64_t)1024, &n)) return false;
    *value = n;
    return n <= most;
}

/* -- Kinds of values ---------------------------------------------------------------------------------- */

static bool take_extent(const char *text, ptxsim_dim3 *extent) {
    unsigned size[3] = {1, 1, 1};
    for (int i = 0; i < 3; i++) {
        size_t length = strcspn(text, ",");
        uint64_t n;
        if (!parse_count(text, length, UINT32_MAX, &n) || n == 0) return false;
        size[i] = (unsigned)n;
        text += length;
        if (*text == 0) {
            *extent = (ptxsim_dim3){size[0], size[1], size[2]};
            return true;
        }
        text++;
    }
    return false;
}

static bool take_grid(const char *text, struct options *o) { return take_extent(text, &o->grid); }
static bool take_block(const char *text, struct options *o) { return take_extent(text, &o->block); }

static bool take_entry(const char *text, struct options *o) {
    o->entry = text;
    return *text != 0;
}

static bool take_shared(const char *text, struct options *o) {
    return parse_count(text, strlen(text), 1 << 30, &o->shared);
}

static bool take_limit(const char *text, struct options *o) {
    return parse_count(text, strlen(text), UINT64_MAX, &o->limit) && o->limit > 0;
}

static bool take_threads(const char *text, struct options *o) {
    return parse_count(text, strlen(text), 256, &o->threads);
}

static bool take_arg(const char *text, struct options *o) {
    if (o->arg_count == MAX_ARGS) return false;
    o->arg[o->arg_count++] = text;
    return true;
}

static bool take_schedule(const char *text, struct options *o) {
    o->order = PTXSIM_IN_ORDER;
    if (strcmp(text, "in-order") == 0) return true;
    o->order = PTXSIM_REVERSED;
    if (strcmp(text, "reversed") == 0) return true;
    o->order = PTXSIM_SEEDED;
    return strncmp(text, "seed=", 5) == 0 && parse_count(text + 5, strlen(text + 5), UINT64_MAX, &o->seed);
}

static bool take_landing(const char *text, struct options *o) {
    o->landing = strcmp(text, "first") == 0 ? PTXSIM_LANDING_FIRST : PTXSIM_LANDING_LAST;
    return strcmp(text, "first") == 0 || strcmp(text, "last") == 0;
}

static bool take_no_races(const char *text, struct options *o) {
    (void)text;
    return o->no_races = true;
}

static bool take_counts(const char *text, struct options *o) {
    (void)text;
    return o->counts = true;
}

/* -- The table ---------------------------------------------------------------------------------------- */

static const struct option {
    const char *name, *argument, *help; /* no argument: a switch */
    bool (*take)(const char *text, struct options *options);
} table[] = {
    {"entry", "NAME", "the entry to launch; may be left out where the file has one", take_entry},
    {"grid", "X,Y,Z", "blocks of the grid; Z and Y may be left out (1)", take_grid},
    {"block", "X,Y,Z", "threads of a block, in the same way (1)", take_block},
    {"shared", "BYTES", "dynamic shared memory of a block (0)", take_shared},
    {"arg", "VALUE", "the next parameter's value, see below; once for each parameter", take_arg},
    {"schedule", "in-order|reversed|seed=N", "in which order warps take turns", take_schedule},
    {"landing", "first|last", "when asynchronous copies move their bytes", take_landing},
    {"no-races", NULL, "do not look for races", take_no_races},
    {"limit", "N", "stop after so many instructions of warps", take_limit},
    {"threads", "N", "processors to use; 0: all", take_threads},
    {"counts", NULL, "print what each line of PTX cost", take_counts},
};
enum { OPTIONS = sizeof table / sizeof *table, HELP_COLUMN = 26 };

void options_help(bool check) {
    printf(check ? "usage: ptxsim check FILE [options]\nLoads a file of PTX and says what the simulator does "
                   "not take.\n\n"
                 : "usage: ptxsim run FILE [options]\nRuns an entry of a file of PTX.\n\n");
    for (int i = 0; i < OPTIONS && !check; i++) {
        char left[64];
        snprintf(left, sizeof left, "  --%s%s%s", table[i].name, table[i].argument ? " " : "",
                 table[i].argument ? table[i].argument : "");
        if (strlen(left) < HELP_COLUMN) printf("%-*s%s\n", HELP_COLUMN, left, table[i].help);
        else printf("%s\n%*s%s\n", left, HELP_COLUMN, "", table[i].help);
    }
    printf("%-*s%s\n", HELP_COLUMN, "  -h, --help", "this text");
    if (check) return;
    printf("\nA VALUE is one of\n"
           "  TYPE:NUMBER             a number: u8 to u64, s8 to s64, f32, f64\n"
           "  in:FILE                 a buffer with the file's bytes\n"
           "  zero:BYTES              a buffer of zeros\n"
           "  new:BYTES               a buffer that nothing has written yet\n"
           "  random:TYPE:COUNT:SEED  a buffer of random elements (floats between -1 and 1); the seed may be "
           "left out\n"
           "  out:FILE:BYTES          a buffer of zeros that is written to the file afterwards\n"
           "  show:TYPE:COUNT         a buffer of zeros whose elements are printed afterwards\n");
}

static const struct option *find_option(const char *name, size_t length) {
    for (int i = 0; i < OPTIONS; i++)
        if (strlen(table[i].name) == length && strncmp(table[i].name, name, length) == 0) return &table[i];
    return NULL;
}

/* The option at ARGV[*AT], with the value behind it or behind its `=`. */
static bool take_option(int argc, char **argv, int *at, struct options *o) {
    const char *name = argv[*at] + 2, *value = name + strcspn(name, "=");
    const struct option *option = find_option(name, (size_t)(value - name));
    if (!option) return complain("unknown option '%s' (ptxsim run --help lists them)", argv[*at]);
    if (!option->argument && *value) return complain("--%s takes no value", option->name);
    if (option->argument && !*value && *at + 1 == argc)
        return complain("--%s wants %s", option->name, option->argument);
    if (*value) value++;
    else if (option->argument) value = argv[++*at];
    return option->take(value, o) || complain("--%s %s: not %s", option->name, value, option->argument);
}

bool options_parse(int argc, char **argv, bool check, struct options *o) {
    *o = (struct options){.grid = {1, 1, 1}, .block = {1, 1, 1}};
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            o->help = true;
            return true;
        }
        if (strncmp(argv[i], "--", 2) == 0 && check) return complain("check has no option '%s'", argv[i]);
        if (strncmp(argv[i], "--", 2) == 0) {
            if (!take_option(argc, argv, &i, o)) return false;
        } else if (argv[i][0] == '-' || o->file) {
            return complain("'%s': one file of PTX is wanted, and options", argv[i]);
        } else {
            o->file = argv[i];
        }
    }
    return o->file != NULL || complain("a file of PTX is wanted");
}
