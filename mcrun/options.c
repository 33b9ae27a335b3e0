#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "arch/arch.h"
#include "options.h"
#include "shown.h"
#include "text/file.h"
#include "text/text.h"

enum { MAX_OPTIONS = 40, HELP_COLUMN = 26, LONG_BASE = 256, KEY_HELP = LONG_BASE + MAX_OPTIONS };

static size_t option_count(const cmd *command) {
    size_t count = 0;
    for (int i = 0; i < CMD_MAX_TABLES; i++) count += command->options[i].count;
    return count;
}

static const cmd_option *option_at(const cmd *command, size_t index) {
    const cmd_option_table *table = command->options;
    while (index >= table->count) index -= table++->count;
    return &table->rows[index];
}

/* -- Errors */

/* What this run of the program has said: one command. */
static struct {
    bool wants_json, has_result;
    mc_text errors; /* lines */
} output;

static void say(const char *text, int length) {
    fprintf(stderr, "%s: %.*s\n", cmd_program, length, text);
    text_add(&output.errors, "%s%.*s", output.errors.size > 0 ? "\n" : "", length, text);
}

/* Without a tensor's name. */
static char *file_of(const char *path) {
    size_t length;
    (void)mc_is_safetensors(path, &length);
    return strndup(path, length);
}

bool cmd_reads(const char *path, const char *out) {
    char *file = file_of(path);
    bool reads = file != NULL && (file_is_same(file, out) || file_is_in(out, file));
    free(file);
    return reads;
}

bool cmd_is_in(const char *path, const char *directory) {
    char *file = file_of(path);
    bool is_in = file != NULL && file_is_in(file, directory);
    free(file);
    return is_in;
}

bool cmd_is_spec_name(const char *word) {
    const mc_builtin_spec *shipped;
    return mc_builtin_spec_find(word, &shipped, NULL) == MC_OK && shipped != NULL;
}

bool cmd_is_spec(const char *word) {
    size_t length = strlen(word);
    return cmd_is_spec_name(word) || (length > 4 && strcmp(word + length - 4, ".lua") == 0);
}

mc_status cmd_no_records(mc_diag *diag) {
    return mc_fail(diag, MC_CANNOT,
                   "no place for records: --records, MCGEN_RECORDS, XDG_DATA_HOME and HOME name none");
}

int cmd_usage(const char *format, ...) {
    mc_text message = {0};
    va_list arguments;
    va_start(arguments, format);
    text_add_list(&message, format, arguments);
    va_end(arguments);
    say(message.data != NULL ? message.data : "out of memory", INT32_MAX);
    text_free(&message);
    return CMD_USAGE;
}

bool cmd_logs(mc_log_level level) {
    const char *wanted = getenv("MCGEN_LOG");
    return level == MC_LOG_NOTE || (wanted != NULL && strcmp(wanted, "detail") == 0);
}

void cmd_log(void *user, mc_log_level level, const char *message) {
    (void)user;
    if (cmd_logs(level)) fprintf(stderr, "%s: %s\n", cmd_program, shown_message(message).text);
}

static void print_messages(const char *text) {
    while (*text != '\0') {
        int length = (int)strcspn(text, "\n");
        say(text, length);
        text += length;
        text += *text == '\n';
    }
}

int cmd_finish(mc_status status, mc_diag *diag) {
    if (status != MC_OK) {
        const char *text = diag != NULL ? mc_diag_text(diag) : "";
        print_messages(*text != '\0' ? text : mc_status_text(status));
    }
    mc_diag_destroy(diag);
    return status == MC_OK ? CMD_DONE : status == MC_USAGE ? CMD_USAGE : CMD_FAILED;
}

/* -- JSON */

mc_status cmd_print_json(json_t *json, mc_diag *diag) {
    if (json == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    printf("\n");
    json_decref(json);
    output.has_result = true;
    return MC_OK;
}

/* Whether the command is asked for JSON, also where its options are wrong. */
static bool wants_json(const cmd *command, int argc, char **argv) {
    bool can = false, wants = false;
    for (size_t i = 0; i < option_count(command); i++)
        can |= strcmp(option_at(command, i)->name, "json") == 0;
    for (int i = 1; i < argc; i++) wants |= strcmp(argv[i], "--json") == 0;
    return can && wants;
}

static void print_failure(void) {
    json_t *json = json_pack("{s:o}", "error", shown_json(output.errors.data));
    if (json != NULL) json_dumpf(json, stdout, JSON_COMPACT);
    printf("\n");
    json_decref(json);
}

int cmd_end(int exit_status) {
    if (exit_status != CMD_DONE && output.wants_json && !output.has_result && output.errors.size > 0)
        print_failure();
    text_free(&output.errors);
    if (fflush(stdout) == 0 && !ferror(stdout)) return exit_status;
    fprintf(stderr, "%s: standard output: %s\n", cmd_program, strerror(errno));
    return exit_status == CMD_DONE ? CMD_FAILED : exit_status;
}

/* -- Help */

static void print_option(const cmd_option *option) {
    char left[160];
    bool is_word = option->kind == OPTION_WORD, has_value = option->kind != OPTION_SWITCH && !is_word;
    int used = is_word ? snprintf(left, sizeof left, "  %s", option->name)
               : option->letter != '\0'
                   ? snprintf(left, sizeof left, "  -%c, --%s", option->letter, option->name)
                   : snprintf(left, sizeof left, "  --%s", option->name);
    if (has_value) snprintf(left + used, sizeof left - (size_t)used, " %s", option->argument);
    if (strlen(left) < HELP_COLUMN) printf("%-*s%s\n", HELP_COLUMN, left, option->help);
    else printf("%s\n%*s%s\n", left, HELP_COLUMN, "", option->help);
}

static void print_help(const cmd *command) {
    printf("usage: %s %s%s%s [options]\n%s.\n\n", cmd_program, command->name,
           *command->operands != '\0' ? " " : "", command->operands, command->summary);
    for (size_t i = 0; i < option_count(command); i++) print_option(option_at(command, i));
    printf("%-*s%s\n", HELP_COLUMN, "  -h, --help", "this text");
}

/* -- Values */

static bool take_integer(const cmd_option *option, const char *text, int64_t *value) {
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    bool starts_well = strchr("-0123456789", *text) != NULL && *text != '\0';
    if (starts_well && *end == '\0' && errno == 0 && number >= option->least && number <= option->most) {
        *value = number;
        return true;
    }
    cmd_usage("--%s: '%s' is not a whole number from %lld to %lld", option->name, text,
              (long long)option->least, (long long)option->most);
    return false;
}

/* Whole numbers alone, so that 1.5G is no surprise. */
static bool take_size(const cmd_option *option, const char *text, int64_t *value) {
    static const char units[] = "KMG";
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
    int64_t scale = unit != NULL ? (int64_t)1 << 10 * (unit - units + 1) : 1, size;
    bool whole =
        strchr("0123456789", *text) != NULL && *text != '\0' && end[unit != NULL] == '\0' && errno == 0;
    if (whole && !__builtin_mul_overflow(number, scale, &size) && size >= option->least &&
        size <= option->most) {
        *value = size;
        return true;
    }
    cmd_usage("--%s: '%s' is not a size: a whole number, with K, M or G behind it or without", option->name,
              text);
    return false;
}

static bool take_real(const cmd_option *option, const char *text, double *value) {
    char *end;
    double number = strtod(text, &end);
    bool plain = *text != '\0' && strspn(text, "-+.eE0123456789") == strlen(text);
    if (plain && *end == '\0' && number >= (double)option->least && number <= (double)option->most) {
        *value = number;
        return true;
    }
    cmd_usage("--%s: '%s' is not a number from %lld to %lld", option->name, text, (long long)option->least,
              (long long)option->most);
    return false;
}

static bool take_choice(const cmd_option *option, const char *text, int *value) {
    const char *word = option->argument;
    size_t length = strlen(text);
    for (int place = 1;; place++) {
        size_t end = strcspn(word, "|");
        if (end == length && strncmp(word, text, end) == 0) {
            *value = place;
            return true;
        }
        if (word[end] == '\0') break;
        word += end + 1;
    }
    cmd_usage("--%s: '%s' is not one of %s", option->name, text, option->argument);
    return false;
}

static bool add_setting(cmd_settings *settings, const char *field, const char *value) {
    if (settings->count == CMD_MAX_SETTINGS) {
        cmd_usage("more than %d settings", CMD_MAX_SETTINGS);
        return false;
    }
    settings->items[settings->count++] = (mc_setting){field, value};
    return true;
}

/* --arch names a target, or this machine's GPU. */
static bool add_target(cmd_settings *settings, const char *field, const char *value) {
    bool known = strcmp(value, "native") == 0;
    for (size_t i = 0; mc_arch_names[i] != NULL; i++) known |= strcmp(mc_arch_names[i], value) == 0;
    if (!known) cmd_usage("--arch: no target is called '%s'", value);
    return known && add_setting(settings, field, value);
}

static bool take_assignment(const cmd_option *option, char *text, cmd_settings *settings) {
    char *equals = strchr(text, '=');
    if (equals == NULL || equals == text) {
        cmd_usage("--%s: '%s' is not field=value", option->name, text);
        return false;
    }
    *equals = '\0';
    return add_setting(settings, text, equals + 1);
}

static bool take_value(const cmd_option *option, char *text, void *options) {
    void *member = (char *)options + option->offset;
    switch (option->kind) {
    case OPTION_SWITCH: *(bool *)member = true; return true;
    case OPTION_TEXT: *(const char **)member = text; return true;
    case OPTION_INTEGER: return take_integer(option, text, member);
    case OPTION_SIZE: return take_size(option, text, member);
    case OPTION_REAL: return take_real(option, text, member);
    case OPTION_CHOICE: return take_choice(option, text, member);
    case OPTION_SETTING:
        return strcmp(option->name, "arch") == 0 ? add_target(member, option->name, text)
                                                 : add_setting(member, option->name, text);
    case OPTION_ASSIGN: return take_assignment(option, text, member);
    case OPTION_WORD: break;
    }
    return false;
}

/* -- The command line */

typedef struct getopt_tables {
    char letters[2 * MAX_OPTIONS + 3];
    struct option longs[MAX_OPTIONS + 2];
} getopt_tables;

/* A ':' in front makes getopt tell a missing value from an unknown option. */
static void fill_tables(const cmd *command, getopt_tables *tables) {
    char *letter = tables->letters;
    struct option *longs = tables->longs;
    *letter++ = ':';
    *letter++ = 'h';
    for (size_t i = 0; i < option_count(command); i++) {
        const cmd_option *option = option_at(command, i);
        if (option->kind == OPTION_WORD) continue;
        int has_value = option->kind == OPTION_SWITCH ? no_argument : required_argument;
        *longs++ = (struct option){option->name, has_value, NULL, LONG_BASE + (int)i};
        if (option->letter == '\0') continue;
        *letter++ = option->letter;
        if (has_value == required_argument) *letter++ = ':';
    }
    *longs = (struct option){"help", no_argument, NULL, KEY_HELP};
}

static const cmd_option *option_of(const cmd *command, int key) {
    for (size_t i = 0; i < option_count(command); i++)
        if (key == LONG_BASE + (int)i || (key != 0 && key == option_at(command, i)->letter))
            return option_at(command, i);
    return NULL;
}

static void report_bad_option(const cmd *command, int key, const char *text) {
    const cmd_option *option = option_of(command, optopt);
    if (key == ':' && option != NULL) cmd_usage("--%s wants a value, %s", option->name, option->argument);
    else if (option != NULL || optopt == KEY_HELP) cmd_usage("%s: this option takes no value", text);
    else
        cmd_usage("%s: unknown or ambiguous option (%s %s --help lists them)", text, cmd_program,
                  command->name);
}

static bool parse_options(const cmd *command, int argc, char **argv, void *options, int *exit_status) {
    getopt_tables tables = {0};
    fill_tables(command, &tables);
    opterr = 0;
    optind = 0; /* glibc's way to start afresh */
    *exit_status = CMD_USAGE;
    for (;;) {
        int key = getopt_long(argc, argv, tables.letters, tables.longs, NULL);
        if (key == -1) return true;
        if (key == KEY_HELP || key == 'h') {
            print_help(command);
            *exit_status = CMD_DONE;
            return false;
        }
        const cmd_option *option = option_of(command, key);
        if (option == NULL) report_bad_option(command, key, argv[optind - 1]);
        if (option == NULL || !take_value(option, optarg, options)) return false;
    }
}

bool cmd_parse(const cmd *command, int argc, char **argv, void *options, char ***operands, int *exit_status) {
    output.wants_json = wants_json(command, argc, argv);
    if (!parse_options(command, argc, argv, options, exit_status)) return false;
    int given = argc - optind;
    if (operands != NULL) *operands = argv + optind;
    int least = command->operand_count == CMD_ANY_COUNT ? 0 : abs(command->operand_count);
    if (given == least || (given > least && command->operand_count < 0)) return true;
    if (given > least)
        *exit_status = cmd_usage("%s: too many arguments: '%s'", command->name, argv[optind + least]);
    else *exit_status = cmd_usage("%s: wants %s", command->name, command->operands);
    return false;
}

int cmd_word(const cmd *command, const char *text) {
    int place = 0;
    for (size_t i = 0; i < option_count(command); i++) {
        const cmd_option *option = option_at(command, i);
        if (option->kind != OPTION_WORD) continue;
        if (strcmp(option->name, text) == 0) return place;
        place++;
    }
    cmd_usage("%s: '%s' is not one of %s", command->name, text, command->operands);
    return -1;
}
