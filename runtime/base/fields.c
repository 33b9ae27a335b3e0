/* A kernel's fields as text: looking one up, and changing some. */
#include "base/fields.h"
#include <string.h>
#include "text/text.h"

/* Name and value of one pair. */
typedef struct pair {
    const char *name, *value;
    size_t length, size;
} pair;

/* Takes the next pair off *AT. False: there is none. */
static bool next_pair(const char **at, pair *p) {
    *at += strspn(*at, " ");
    if (**at == '\0') return false;
    size_t whole = strcspn(*at, " "), length = strcspn(*at, "= ");
    *p = (pair){*at, *at + length, length, 0};
    if (length < whole) p->value++, p->size = whole - length - 1;
    *at += whole;
    return true;
}

const char *fields_value(const char *fields, const char *name, size_t length, size_t *size) {
    pair p;
    *size = 0;
    while (next_pair(&fields, &p)) {
        if (p.length != length || strncmp(p.name, name, length) != 0) continue;
        *size = p.size;
        return p.value;
    }
    return NULL;
}

bool fields_named_once(const char *fields) {
    pair p;
    size_t size;
    for (const char *at = fields; next_pair(&at, &p);)
        if (p.length == 0 || fields_value(at, p.name, p.length, &size) != NULL) return false;
    return true;
}

static void add_pair(mc_text *text, const pair *p, const char *value, size_t size) {
    text_add(text, "%s%.*s=%.*s", text->size != 0 ? " " : "", (int)p->length, p->name, (int)size, value);
}

char *fields_change(const char *fields, const char *changes) {
    mc_text text = {0};
    pair p;
    size_t size;
    for (const char *at = fields; next_pair(&at, &p);) {
        const char *value = fields_value(changes, p.name, p.length, &size);
        if (value == NULL) add_pair(&text, &p, p.value, p.size);
        else if (size != 0) add_pair(&text, &p, value, size);
    }
    for (const char *at = changes; next_pair(&at, &p);)
        if (p.size != 0 && fields_value(fields, p.name, p.length, &size) == NULL)
            add_pair(&text, &p, p.value, p.size);
    return text_take(&text);
}

char *fields_difference(const char *from, const char *to) {
    mc_text text = {0};
    pair p;
    size_t size;
    for (const char *at = to; next_pair(&at, &p);) {
        const char *value = fields_value(from, p.name, p.length, &size);
        if (value == NULL || size != p.size || strncmp(value, p.value, size) != 0)
            add_pair(&text, &p, p.value, p.size);
    }
    for (const char *at = from; next_pair(&at, &p);)
        if (fields_value(to, p.name, p.length, &size) == NULL) add_pair(&text, &p, "", 0);
    return text_take(&text);
}
