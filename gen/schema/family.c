/* The kernel families, one line each, and what they share. */
#include "schema/family.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

extern const mc_family mc_family_spmm, mc_family_sddmm;

const mc_family *const mc_families[] = {&mc_family_spmm, &mc_family_sddmm, NULL};

const mc_family *family_find(const char *name) {
    for (int i = 0; mc_families[i]; i++) {
        if (strcmp(mc_families[i]->name, name) == 0) return mc_families[i];
    }
    return NULL;
}

int family_field(const mc_family *family, const char *name) {
    for (size_t i = 0; i < family->field_count; i++) {
        if (strcmp(family->fields[i].name, name) == 0) return (int)i;
    }
    return -1;
}

void complain(mc_complaints *complaints, int field, const char *format, ...) {
    if (complaints->count == MC_MAX_FIELDS) return;
    mc_complaint *complaint = &complaints->list[complaints->count++];
    complaint->field = field;
    va_list args;
    va_start(args, format);
    vsnprintf(complaint->text, sizeof complaint->text, format, args);
    va_end(args);
}

const int family_vecs[] = {2, 4, 8, 0}, family_aligns[] = {1, 4, 16, 0};

void check_overlap(const int64_t *point, int field, mc_complaints *complaints) {
    const mc_arch *arch = &mc_archs[point[FIELD_ARCH]];
    if (point[field] && !arch->overlap)
        complain(complaints, field, "%s has no programmatic dependent launch", arch->target);
}

void add_param(mc_contract *c, mc_param param) { c->params[c->param_count++] = param; }

void add_array(mc_contract *c, unsigned align, mc_array array) {
    c->arrays[c->array_count++] = array;
    add_param(c, (mc_param){array.name, "u64", MC_PARAM_ARRAY, align, "packed array"});
}

void add_shape(mc_contract *c, const char *name, int64_t shape, const char *doc) {
    if (shape == MC_OPEN) add_param(c, (mc_param){name, "s32", MC_PARAM_SHAPE, 4, doc});
}

void add_fact(mc_facts *facts, const char *name, int64_t value, const char *doc) {
    facts->list[facts->count++] = (mc_fact){name, value, doc};
}

static void help_list(mc_text *text) {
    text_add(text, "Kernel families (mcgen --help FAMILY for the fields of one):\n");
    for (int i = 0; mc_families[i]; i++)
        text_add(text, "  %-8s %s\n", mc_families[i]->name, mc_families[i]->summary);
}

/* Prints WORDS wrapped to lines of at most 96 columns, each indented. */
static void wrapped(mc_text *text, const char *words, int indent) {
    int column = 0;
    for (const char *word = words; *word;) {
        int length = (int)strcspn(word, " ");
        if (column && column + 1 + length > 96 - indent) column = 0, text_add(text, "\n");
        text_add(text, "%*s%.*s", column ? 1 : indent, "", length, word);
        column += length + (column ? 1 : 0);
        word += length;
        word += strspn(word, " ");
    }
    text_add(text, "\n");
}

static void help_field(const mc_field *field, mc_text *text) {
    char standard[MC_MAX_NAME];
    field_value_text(field, field->standard, standard);
    text_add(text, "  %-9s ", field->name);
    field_allowed_text(field, text);
    text_add(text, "; default %s%s\n", standard, field->tunable ? "; may be a list of candidates" : "");
    wrapped(text, field->doc, 12);
}

char *mc_family_help(const char *name) {
    mc_text text = {0};
    if (!name) {
        help_list(&text);
        return text_take(&text);
    }
    const mc_family *family = family_find(name);
    if (!family) return NULL;
    text_add(&text, "%s: %s\n%s\n\nFields of a spec:\n", family->name, family->summary,
             family->computes(NULL));
    for (size_t i = 0; i < family->field_count; i++) help_field(&family->fields[i], &text);
    return text_take(&text);
}
