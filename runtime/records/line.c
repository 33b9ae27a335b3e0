/* A record as a line of JSON, and back (docs/tuning.md has an example). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/fields.h"
#include "records/record.h"
#include "records/text.h"

enum {
    SCHEMA = 1,
    MOST_CANDIDATES = 4096,
    /* Candidates whose fields stand in a line: those that another problem may be better off with than with
       the chosen one. */
    MOST_WORTH = 8
};
static const double worth = 1.25; /* up to so many times the chosen one's microseconds */

/* In the order of record_status. */
static const char *const statuses[] = {"timed", "dropped", "wrong", "failed"};
enum { STATUS_COUNT = sizeof statuses / sizeof *statuses };

/* -- Copies */

static size_t text_size(const char *text) { return text != NULL ? strlen(text) + 1 : 1; }

static size_t texts_size(const record *r) {
    size_t size = text_size(r->gpu) + text_size(r->driver) + text_size(r->generator) + text_size(r->fields) +
                  text_size(r->spec);
    for (size_t i = 0; i < r->candidate_count; i++)
        size += text_size(r->candidates[i].spec) + text_size(r->candidates[i].fields);
    return size;
}

/* Copies TEXT to *AT, which it then passes. */
static const char *put(char **at, const char *text) {
    size_t size = text_size(text);
    char *copy = memcpy(*at, text != NULL ? text : "", size);
    *at += size;
    return copy;
}

/* One block: the candidates, then all texts. */
mc_status record_copy(const record *from, record *to, mc_diag *diag) {
    size_t candidates = from->candidate_count * sizeof *from->candidates;
    char *storage = malloc(candidates + texts_size(from)), *at;
    *to = (record){0};
    if (storage == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    at = storage + candidates;
    *to = *from;
    to->storage = storage;
    to->candidates = (record_candidate *)(void *)storage;
    if (candidates != 0) memcpy(storage, from->candidates, candidates);
    to->gpu = put(&at, from->gpu);
    to->driver = put(&at, from->driver);
    to->generator = put(&at, from->generator);
    to->fields = put(&at, from->fields);
    to->spec = put(&at, from->spec);
    for (size_t i = 0; i < from->candidate_count; i++) {
        to->candidates[i].spec = put(&at, from->candidates[i].spec);
        to->candidates[i].fields = put(&at, from->candidates[i].fields);
    }
    return MC_OK;
}

void record_free(record *r) {
    free(r->storage);
    *r = (record){0};
}

/* -- Printing */

static void add_text(mc_text *text, const char *name, const char *value) {
    text_add(text, ",\"%s\":", name);
    json_add_string(text, value);
}

static bool is_worth(const record *r, size_t i) {
    const record_candidate *c = &r->candidates[i];
    return i > 0 && i < MOST_WORTH && c->status == RECORD_TIMED && c->fields[0] != '\0' &&
           c->microseconds <= worth * r->microseconds;
}

/* The fields are what differs from the chosen kernel's. */
static void add_candidate(mc_text *text, const record *r, size_t i) {
    const record_candidate *c = &r->candidates[i];
    text_add(text, "%s[\"%016" PRIx64 "\",\"%s\",", i ? "," : "", c->hash, statuses[c->status]);
    json_add_real(text, c->microseconds);
    if (is_worth(r, i)) {
        char *difference = fields_difference(r->fields, c->fields);
        if (difference == NULL) text->failed = true;
        text_add(text, ",");
        json_add_string(text, c->spec);
        text_add(text, ",");
        json_add_string(text, difference != NULL ? difference : "");
        free(difference);
    }
    text_add(text, "]");
}

/* What tells records apart comes first, so that sorted lines are sorted by it. */
char *record_print(const record *r) {
    mc_text text = {0};
    text_add(&text, "{\"schema\":%d", SCHEMA);
    add_text(&text, "gpu", r->gpu);
    text_add(&text, ",\"problem\":");
    problem_print(&r->problem, &text);
    text_add(&text, ",\"cold\":%s", r->cold ? "true" : "false");
    add_text(&text, "generator", r->generator);
    add_text(&text, "driver", r->driver);
    text_add(&text, ",\"capability\":%d,\"time\":%" PRId64 ",\"us\":", r->capability, r->time);
    json_add_real(&text, r->microseconds);
    add_text(&text, "spec", r->spec);
    add_text(&text, "fields", r->fields);
    text_add(&text, ",\"candidates\":[");
    for (size_t i = 0; i < r->candidate_count; i++) add_candidate(&text, r, i);
    text_add(&text, "]}");
    return text_take(&text);
}

/* -- Reading */

/* Fields that candidates' differences make are strings of their own until the record is copied. */
typedef struct reading {
    json_t *line;
    record r;
    char *made[MOST_WORTH];
    size_t made_count;
} reading;

static bool take_hash(const json_t *value, uint64_t *hash) {
    const char *text = json_string_value(value);
    if (text == NULL || strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16) return false;
    *hash = strtoull(text, NULL, 16);
    return true;
}

static bool take_status(const json_t *value, record_status *status) {
    const char *text = json_string_value(value);
    for (int i = 0; text != NULL && i < STATUS_COUNT; i++)
        if (strcmp(text, statuses[i]) == 0) {
            *status = (record_status)i;
            return true;
        }
    return false;
}

/* Beyond the first MOST_WORTH of them fields are passed over. */
static mc_status take_fields(reading *in, const json_t *entry, record_candidate *c, mc_diag *diag) {
    const char *spec = json_string_value(json_array_get(entry, 3)),
               *difference = json_string_value(json_array_get(entry, 4));
    if (spec == NULL || difference == NULL)
        return mc_fail(diag, MC_FORMAT, "a candidate's spec or fields are no text");
    if (!fields_named_once(difference))
        return mc_fail(diag, MC_FORMAT, "a candidate's fields name one twice, or have one without a name");
    if (in->made_count == MOST_WORTH) return MC_OK;
    char *fields = fields_change(in->r.fields, difference);
    if (fields == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    in->made[in->made_count++] = fields;
    c->spec = spec;
    c->fields = fields;
    return MC_OK;
}

static mc_status take_candidate(reading *in, const json_t *entry, size_t i, mc_diag *diag) {
    record_candidate *c = &in->r.candidates[i];
    const json_t *us = json_array_get(entry, 2);
    *c = (record_candidate){.microseconds = json_number_value(us), .spec = "", .fields = ""};
    if (!take_hash(json_array_get(entry, 0), &c->hash) ||
        !take_status(json_array_get(entry, 1), &c->status) || !json_is_number(us) || !(c->microseconds >= 0))
        return mc_fail(diag, MC_FORMAT, "candidate %zu is not [hash, status, microseconds, ...]", i);
    if (i == 0 && in->r.fields[0] != '\0') {
        if (c->status != RECORD_TIMED)
            return mc_fail(diag, MC_FORMAT, "fields are not those of a timed candidate");
        c->spec = in->r.spec;
        c->fields = in->r.fields;
        return MC_OK;
    }
    return json_array_size(entry) > 3 ? take_fields(in, entry, c, diag) : MC_OK;
}

static mc_status take_candidates(reading *in, mc_diag *diag) {
    const json_t *list = json_object_get(in->line, "candidates");
    size_t count = json_array_size(list);
    if (!json_is_array(list) || count > MOST_CANDIDATES)
        return mc_fail(diag, MC_FORMAT, "candidates are missing, no list, or more than %d", MOST_CANDIDATES);
    if (count == 0 && in->r.fields[0] != '\0')
        return mc_fail(diag, MC_FORMAT, "fields are none of its candidates'");
    in->r.candidates = calloc(count + 1, sizeof *in->r.candidates);
    if (in->r.candidates == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    in->r.candidate_count = count;
    mc_status status = MC_OK;
    for (size_t i = 0; i < count && status == MC_OK; i++)
        status = take_candidate(in, json_array_get(list, i), i, diag);
    return status;
}

static mc_status take_texts(reading *in, mc_diag *diag) {
    const struct {
        const char *name, **value;
    } texts[] = {{"gpu", &in->r.gpu},
                 {"driver", &in->r.driver},
                 {"generator", &in->r.generator},
                 {"spec", &in->r.spec},
                 {"fields", &in->r.fields}};
    mc_status status = MC_OK;
    for (size_t i = 0; i < sizeof texts / sizeof *texts && status == MC_OK; i++)
        status = json_take_string(in->line, texts[i].name, texts[i].value, diag);
    if (status == MC_OK && !fields_named_once(in->r.fields))
        return mc_fail(diag, MC_FORMAT, "fields name one twice, or have one without a name");
    return status;
}

static mc_status take_numbers(reading *in, mc_diag *diag) {
    int64_t capability = 0;
    const json_t *cold = json_object_get(in->line, "cold");
    mc_status status = json_take_integer(in->line, "time", 0, INT64_MAX, &in->r.time, diag);
    if (status == MC_OK) status = json_take_integer(in->line, "capability", 0, 10000, &capability, diag);
    if (status == MC_OK) status = json_take_real(in->line, "us", &in->r.microseconds, diag);
    if (status == MC_OK && !json_is_boolean(cold))
        status = mc_fail(diag, MC_FORMAT, "cold is not true or false");
    in->r.capability = (int)capability;
    in->r.cold = json_is_true(cold);
    return status;
}

static mc_status take_record(reading *in, mc_diag *diag) {
    int64_t schema;
    mc_status status = json_take_integer(in->line, "schema", 0, INT64_MAX, &schema, diag);
    if (status == MC_OK && schema != SCHEMA)
        return mc_fail(diag, MC_FORMAT, "schema is %" PRId64 ", this version reads %d", schema, SCHEMA);
    if (status == MC_OK) status = take_texts(in, diag);
    if (status == MC_OK) status = take_numbers(in, diag);
    if (status == MC_OK) status = problem_parse(json_object_get(in->line, "problem"), &in->r.problem, diag);
    return status == MC_OK ? take_candidates(in, diag) : status;
}

mc_status record_parse(const char *line, size_t size, record *r, mc_diag *diag) {
    json_error_t error;
    reading in = {.line = json_read(line, size, &error)};
    *r = (record){0};
    mc_status status = in.line != NULL
                           ? take_record(&in, diag)
                           : mc_fail(diag, MC_FORMAT, "at character %d: %s", error.column, error.text);
    if (status == MC_OK) status = record_copy(&in.r, r, diag);
    for (size_t i = 0; i < in.made_count; i++) free(in.made[i]);
    free(in.r.candidates);
    json_decref(in.line);
    return status;
}
