/* What to tell a spec that sets a field which its family does not have. */
#include "ops/families.h"
#include "spec/spec.h"
#include <ctype.h>
#include <string.h>
#include <strings.h>

/* The hint of the row that has NAME among its words, whatever the case of its letters. NULL: none has. */
static const char *listed_hint(const mc_hint *hints, const char *name) {
    char word[MC_MAX_NAME + 2] = " ";
    size_t length = strlen(name);
    if (!hints || length >= MC_MAX_NAME) return NULL;
    for (size_t i = 0; i < length; i++) word[1 + i] = (char)tolower((unsigned char)name[i]);
    word[1 + length] = ' ';
    for (; hints->words; hints++)
        if (strstr(hints->words, word)) return hints->text;
    return NULL;
}

/* The field that differs from NAME in the case of its letters alone. */
static const char *other_case(const mc_family *family, const char *name) {
    for (size_t i = 0; i < family->field_count; i++)
        if (strcasecmp(family->fields[i].name, name) == 0) return family->fields[i].name;
    return NULL;
}

/* Another family that has the field NAME. */
static const char *owner_of(const char *name) {
    for (int i = 0; mc_families[i]; i++)
        if (family_field(mc_families[i], name) >= 0) return mc_families[i]->name;
    return NULL;
}

static const char *field_name_at(const void *list, size_t i) { return ((const mc_field *)list)[i].name; }

void hint_text(const mc_family *family, const char *name, mc_text *text) {
    const char *listed = listed_hint(family->hints, name), *near = other_case(family, name);
    const char *owner = owner_of(name);
    if (listed) text_add(text, ": %s", listed);
    else if (!near && owner) text_add(text, ": %s has one, %s has none", owner, family->name);
    if (listed || (!near && owner)) return;
    if (!near) near = nearest_name(name, family->fields, family->field_count, field_name_at);
    if (near) text_add(text, " (did you mean '%s'?)", near);
}
