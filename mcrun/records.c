/* mcrun records: looks at records of tuning, and passes them on (docs/tuning.md). */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "costs.h"
#include "record_filter.h"
#include "shown.h"
#include "mcrt_internal.h"
#include "records/record.h"
#include "records/text.h"

typedef struct records_options {
    record_filter filter;
    const char *own, *out;
    bool shipped, brief, latest, json;
} records_options;

static const cmd_option words_table[] = {
    {"list", 0, OPTION_WORD, 0, NULL, 0, 0, "print one's own records and the library's, or those of FILEs"},
    {"export", 0, OPTION_WORD, 0, NULL, 0, 0, "write one's own records to --out, one for each problem"},
    {"import", 0, OPTION_WORD, 0, NULL, 0, 0, "add the records of FILEs to one's own"},
    {"merge", 0, OPTION_WORD, 0, NULL, 0, 0, "write the records of FILEs to --out, one for each problem"},
};

static const cmd_option options_table[] = {
    {"records", 0, OPTION_TEXT, offsetof(records_options, own), "FILE", 0, 0,
     "one's own records (MCGEN_RECORDS, or mcgen/records.jsonl in XDG_DATA_HOME or ~/.local/share)"},
    {"out", 'o', OPTION_TEXT, offsetof(records_options, out), "FILE", 0, 0, "export, merge: write here"},
    {"shipped", 0, OPTION_SWITCH, offsetof(records_options, shipped), NULL, 0, 0,
     "export: the library's records, too"},
    {"brief", 0, OPTION_SWITCH, offsetof(records_options, brief), NULL, 0, 0,
     "export, merge: of each record only the three fastest kernels"},
    {"latest", 0, OPTION_SWITCH, offsetof(records_options, latest), NULL, 0, 0,
     "export, merge: of a problem that several generators' kernels were measured for, the last measurement"},
    {"json", 0, OPTION_SWITCH, offsetof(records_options, json), NULL, 0, 0, "print JSON"},
};

/* -- One call */

typedef struct session {
    const records_options *options;
    char **files; /* NULL at the end */
    record_store *store;
    json_t *json; /* NULL: print text */
    mc_diag *diag;
    bool no_memory;
} session;

/* Lines that were passed over are no failure, but worth a word. */
static void warn(void *user, const char *message) {
    (void)user;
    fprintf(stderr, "%s: %s\n", cmd_program, message);
}

/* OWN: the file that records belong to; NULL: none. */
static mc_status open_store(session *s, const char *own, bool shipped) {
    const record_store_config config = {.path = own, .shipped = shipped, .log = warn};
    return record_store_open(&config, &s->store, s->diag);
}

/* COUNT: of records that were new or better. */
static mc_status read_files(session *s, size_t *count) {
    mc_status status = MC_OK;
    *count = 0;
    for (char **file = s->files; *file != NULL && status == MC_OK; file++) {
        size_t taken;
        status = record_import(s->store, *file, &taken, s->diag);
        *count += taken;
    }
    return status;
}

static mc_status tell(session *s, const char *what, size_t count, const char *path) {
    if (!s->options->json) printf("%zu records %s %s\n", count, what, shown(path).text);
    else if ((s->json = json_pack("{s:I, s:o}", "records", (json_int_t)count, "path", shown_json(path))) ==
             NULL)
        return mc_fail(s->diag, MC_NOMEM, "out of memory");
    return MC_OK;
}

/* -- Actions */

static bool is_simulated(const record *r) { return r->capability == 0; }

/* A simulator's costs are called instructions, those of the candidates, too. False: out of memory. */
static bool name_instructions(json_t *object, const record *r) {
    json_t *candidate, *candidates = json_object_get(object, "candidates");
    size_t i;
    bool whole = json_object_del(object, "us") == 0;
    if (r->microseconds > 0)
        whole &= json_object_set_new(object, "instructions", cost_json(r->microseconds, true)) == 0;
    json_array_foreach(candidates, i, candidate) {
        double cost = json_number_value(json_array_get(candidate, 2));
        whole &= json_array_set_new(candidate, 2, cost_json(cost, true)) == 0;
    }
    return whole;
}

static json_t *record_json(const record *r, bool own) {
    char *line = record_print(r);
    json_t *object = line != NULL ? json_loads(line, 0, NULL) : NULL;
    free(line);
    if (object == NULL) return NULL;
    if ((!is_simulated(r) || name_instructions(object, r)) &&
        json_object_set_new(object, "own", json_boolean(own)) == 0)
        return object;
    json_decref(object);
    return NULL;
}

/* A record of another generator holds as long as this one makes its kernel: tuning alone measures anew. */
static void add_generator(const record *r, char text[64]) {
    mc_kernel *kernel = NULL;
    text[0] = '\0';
    if (strcmp(r->generator, mc_generator_id()) == 0) return;
    bool holds = r->fields[0] == '\0' || mc_kernel_outline_fields(r->fields, &kernel, NULL) == MC_OK;
    snprintf(text, 64, "  generator %.16s%s", shown(r->generator).text,
             holds ? "" : ", whose kernel is no more");
    mc_kernel_destroy(kernel);
}

/* FROM: "own", "shipped", or "" where that is clear. */
static void print_record(const record *r, const char *from) {
    char title[PROBLEM_TITLE], generator[64];
    problem_title(&r->problem, title);
    add_generator(r, generator);
    printf("%-8s%s  %s%s\n        %s  best of %zu%s  %s  %s\n", from, shown(r->gpu).text, title,
           r->cold ? ", cold" : "", cost_text(r->microseconds, is_simulated(r), 3).text, r->candidate_count,
           generator, shown(r->spec).text, shown(r->fields).text);
}

static bool list_record(void *user, const record *r, bool own) {
    session *s = user;
    if (!record_filter_passes(&s->options->filter, r)) return true;
    if (s->json == NULL) print_record(r, *s->files != NULL ? "" : own ? "own" : "shipped");
    else if (json_array_append_new(s->json, record_json(r, own)) != 0) s->no_memory = true;
    return !s->no_memory;
}

static mc_status list(session *s, const char *own) {
    size_t count;
    bool files = *s->files != NULL;
    mc_status status = record_filter_check(&s->options->filter, s->diag);
    if (status == MC_OK) status = open_store(s, files ? NULL : own, !files);
    if (status == MC_OK) status = read_files(s, &count);
    if (status != MC_OK) return status;
    if (s->options->json && (s->json = json_array()) == NULL) s->no_memory = true;
    else record_walk(s->store, list_record, s);
    return s->no_memory ? mc_fail(s->diag, MC_NOMEM, "out of memory") : MC_OK;
}

static unsigned what_to_write(const session *s) {
    return (s->options->shipped ? RECORD_SHIPPED : 0) | (s->options->brief ? RECORD_BRIEF : 0) |
           (s->options->latest ? RECORD_LATEST : 0);
}

static mc_status export_records(session *s, const char *own) {
    size_t count;
    mc_status status = open_store(s, own, s->options->shipped);
    if (status == MC_OK) status = record_export(s->store, s->options->out, what_to_write(s), &count, s->diag);
    return status == MC_OK ? tell(s, "written to", count, s->options->out) : status;
}

static mc_status import_records(session *s, const char *own) {
    size_t count;
    if (own == NULL) return cmd_no_records(s->diag);
    mc_status status = open_store(s, own, false);
    if (status == MC_OK) status = read_files(s, &count);
    return status == MC_OK ? tell(s, "new or better, added to", count, own) : status;
}

static mc_status merge(session *s, const char *own) {
    size_t count = 0;
    (void)own;
    mc_status status = open_store(s, NULL, false);
    if (status == MC_OK) status = read_files(s, &count);
    if (status == MC_OK) status = record_export(s->store, s->options->out, what_to_write(s), &count, s->diag);
    return status == MC_OK ? tell(s, "written to", count, s->options->out) : status;
}

/* -- The command */

/* In the order of words_table. */
static const struct action {
    mc_status (*run)(session *s, const char *own);
    bool out, wants_files, takes_files;
} actions[] = {{list, false, false, true},
               {export_records, true, false, false},
               {import_records, false, true, true},
               {merge, true, true, true}};

static int check_usage(const struct action *action, const char *word, const records_options *options,
                       char **files) {
    if (action->out != (options->out != NULL))
        return cmd_usage("records %s: %s", word, action->out ? "wants --out FILE" : "writes no --out");
    if (action->wants_files && *files == NULL) return cmd_usage("records %s: wants files", word);
    if (!action->takes_files && *files != NULL) return cmd_usage("records %s: takes no files", word);
    if (options->shipped && action->run != export_records)
        return cmd_usage("records: --shipped goes with export");
    if (action->run != list && record_filter_given(&options->filter))
        return cmd_usage("records %s: filters go with list (grep picks lines of a file)", word);
    if ((options->brief || options->latest) && !action->out)
        return cmd_usage("records: --%s goes with export and merge", options->brief ? "brief" : "latest");
    return CMD_DONE;
}

static int records_run(int argc, char **argv) {
    records_options options = {0};
    char **operands, path[4096];
    int exit_status;
    if (!cmd_parse(&cmd_records, argc, argv, &options, &operands, &exit_status)) return exit_status;
    int word = cmd_word(&cmd_records, operands[0]);
    if (word < 0) return CMD_USAGE;
    exit_status = check_usage(&actions[word], operands[0], &options, operands + 1);
    if (exit_status != CMD_DONE) return exit_status;
    const char *own = options.own != NULL                      ? options.own
                      : record_default_path(path, sizeof path) ? path
                                                               : NULL;
    session s = {.options = &options, .files = operands + 1, .diag = mc_diag_create()};
    mc_status status = actions[word].run(&s, own);
    if (s.json != NULL) (void)cmd_print_json(s.json, s.diag);
    record_store_close(s.store);
    return cmd_finish(status, s.diag);
}

const cmd cmd_records = {"records",
                         "list|export|import|merge [FILE...]",
                         "looks at records of tuning, and passes them on",
                         -1,
                         {{words_table, sizeof words_table / sizeof words_table[0]},
                          {record_filter_table, RECORD_FILTER_OPTIONS},
                          {options_table, sizeof options_table / sizeof options_table[0]}},
                         records_run};
