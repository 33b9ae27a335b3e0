/* Help: the families, and the fields of one. */
#include "ops/families.h"
#include <string.h>

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
    text_add(&text, "%s: %s\n%s\n\nFields of a spec:\n", family->name, family->summary, family->computes);
    for (size_t i = 0; i < family->field_count; i++) help_field(&family->fields[i], &text);
    return text_take(&text);
}
