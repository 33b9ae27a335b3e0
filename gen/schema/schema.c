/* What a field of a spec may hold: acceptance, text of values, and the nearest name for a misspelt one. */
#include "schema/schema.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const switch_names[] = {"off", "on"}; /* false, true */

/* The name that RAW may stand for. */
static void name_of(const mc_raw *raw, char name[MC_MAX_NAME]) {
    if (raw->kind == MC_RAW_INTEGER) snprintf(name, MC_MAX_NAME, "%lld", (long long)raw->number);
    else
        snprintf(name, MC_MAX_NAME, "%s", raw->kind == MC_RAW_SWITCH ? switch_names[raw->number] : raw->text);
}

static bool accepts_name(const mc_field *field, const mc_raw *raw, int64_t *value) {
    char name[MC_MAX_NAME];
    if (raw->kind == MC_RAW_OTHER) return false;
    name_of(raw, name);
    for (int i = 0; field->names[i]; i++) {
        if (strcmp(field->names[i], name) == 0) {
            *value = i;
            return true;
        }
    }
    return false;
}

static bool accepts_number(const mc_field *field, const mc_raw *raw, int64_t *value) {
    if (raw->kind != MC_RAW_INTEGER) return false;
    for (int i = 0; field->numbers[i]; i++) {
        if (field->numbers[i] == raw->number) {
            *value = raw->number;
            return true;
        }
    }
    return false;
}

static bool accepts_switch(const mc_raw *raw, int64_t *value) {
    *value = raw->number;
    if (raw->kind != MC_RAW_TEXT) return raw->kind == MC_RAW_SWITCH;
    *value = strcmp(raw->text, switch_names[1]) == 0;
    return *value || strcmp(raw->text, switch_names[0]) == 0;
}

static bool accepts_shape(const mc_raw *raw, int64_t *value) {
    *value = raw->kind == MC_RAW_TEXT ? MC_OPEN : raw->number;
    if (raw->kind == MC_RAW_TEXT) return strcmp(raw->text, "open") == 0;
    return raw->kind == MC_RAW_INTEGER && raw->number >= 1 && raw->number <= INT32_MAX;
}

bool field_accepts(const mc_field *field, const mc_raw *raw, int64_t *value) {
    switch (field->kind) {
    case MC_FIELD_NAME: return accepts_name(field, raw, value);
    case MC_FIELD_NUMBER: return accepts_number(field, raw, value);
    case MC_FIELD_SWITCH: return accepts_switch(raw, value);
    case MC_FIELD_SHAPE: return accepts_shape(raw, value);
    }
    return false;
}

void field_value_text(const mc_field *field, int64_t value, char text[MC_MAX_NAME]) {
    if (field->kind == MC_FIELD_NAME) text_copy(text, MC_MAX_NAME, field->names[value]);
    else if (field->kind == MC_FIELD_SWITCH) text_copy(text, MC_MAX_NAME, value ? "on" : "off");
    else if (value == MC_OPEN) text_copy(text, MC_MAX_NAME, "open");
    else snprintf(text, MC_MAX_NAME, "%lld", (long long)value);
}

static void names_text(const mc_field *field, mc_text *text) {
    const mc_raw on = {.kind = MC_RAW_SWITCH, .number = 1};
    int64_t value;
    for (int i = 0; field->names[i]; i++) text_add(text, "%s\"%s\"", i ? ", " : "", field->names[i]);
    if (accepts_name(field, &on, &value)) text_add(text, ", true, false");
}

void field_allowed_text(const mc_field *field, mc_text *text) {
    const char *separator = "";
    switch (field->kind) {
    case MC_FIELD_NAME: names_text(field, text); break;
    case MC_FIELD_NUMBER:
        for (int i = 0; field->numbers[i]; i++, separator = ", ")
            text_add(text, "%s%d", separator, field->numbers[i]);
        break;
    case MC_FIELD_SWITCH: text_add(text, "\"on\", \"off\", true, false"); break;
    case MC_FIELD_SHAPE: text_add(text, "1 to %d, \"open\"", INT32_MAX); break;
    }
}

/* Levenshtein distance, of words shorter than MC_MAX_NAME. */
static size_t edit_distance(const char *a, const char *b) {
    size_t row[MC_MAX_NAME + 1], n = strlen(b);
    for (size_t j = 0; j <= n; j++) row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t best = corner + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            corner = row[j];
            row[j] = best;
        }
    }
    return row[n];
}

const char *nearest_name(const char *word, const void *names, size_t count,
                         const char *(*name_at)(const void *, size_t)) {
    const char *best = NULL;
    size_t limit = strlen(word) < 4 ? 1 : 2, length = strlen(word);
    if (length >= MC_MAX_NAME) return NULL;
    for (size_t i = 0; i < count; i++) {
        const char *name = name_at(names, i);
        size_t distance = edit_distance(word, name);
        if (distance > limit || distance >= length) continue;
        best = name;
        limit = distance ? distance - 1 : 0;
        if (distance == 0) break;
    }
    return best;
}
