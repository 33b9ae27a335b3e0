/* Names and the scopes that they hold in. Registers and variables are looked up when they are used; labels
 * when their function ends, since a branch may precede its label. */
#include "parse.h"

#include <string.h>

enum { MAX_DEPTH = 256 };

static unsigned bucket_of(const char *name, size_t length) {
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    return (hash ^ hash >> 16) % SIM_BUCKETS;
}

static bool same_name(const char *a, size_t a_length, const char *b, size_t b_length) {
    return a_length == b_length && memcmp(a, b, a_length) == 0;
}

bool sim_scope_open(struct sim_parser *p) {
    if (++p->depth > MAX_DEPTH)
        return sim_error(p, PTXSIM_PARSE, p->token.line, "scopes nested more than %d deep", MAX_DEPTH);
    void *parents = p->scope_parent;
    if (!sim_grow(p, &parents, p->scope_count, &p->scope_capacity, sizeof *p->scope_parent)) return false;
    p->scope_parent = parents;
    p->scope_parent[p->scope_count] = p->scope;
    p->scope = p->scope_count++;
    return true;
}

void sim_scope_close(struct sim_parser *p) {
    for (int b = 0; b < SIM_BUCKETS; b++)
        while (p->bucket[b] && p->bucket[b]->scope == p->scope) p->bucket[b] = p->bucket[b]->next;
    p->scope = p->scope_parent[p->scope];
    p->depth--;
}

struct sim_symbol *sim_lookup(const struct sim_parser *p, const char *name, size_t length) {
    for (struct sim_symbol *s = p->bucket[bucket_of(name, length)]; s; s = s->next)
        if (same_name(s->name, s->length, name, length)) return s;
    return NULL;
}

struct sim_symbol *sim_declare(struct sim_parser *p, const char *name, size_t length,
                               enum sim_symbol_kind kind) {
    struct sim_symbol *old = sim_lookup(p, name, length);
    if (old && old->scope == p->scope) {
        sim_error(p, PTXSIM_PARSE, p->token.line, "`%.*s` is declared twice",
                  (int)(length < 64 ? length : 64), name);
        return NULL;
    }
    struct sim_symbol *s = sim_scratch(p, sizeof *s);
    char *copy = sim_scratch(p, length + 1);
    if (!s || !copy) return NULL;
    memcpy(copy, name, length);
    unsigned b = bucket_of(name, length);
    *s = (struct sim_symbol){
        .next = p->bucket[b], .name = copy, .length = length, .kind = kind, .scope = p->scope};
    p->bucket[b] = s;
    return s;
}

void sim_labels_reset(struct sim_parser *p) {
    p->labels.count = p->references.count = 0;
    for (int b = 0; b < SIM_BUCKETS; b++) p->label_bucket[b] = -1;
}

static bool add_label(struct sim_parser *p, struct sim_labels *list, const struct sim_token *name, int at,
                      int next) {
    void *items = list->items;
    if (!sim_grow(p, &items, list->count, &list->capacity, sizeof *list->items)) return false;
    list->items = items;
    list->items[list->count++] = (struct sim_label){name->text, name->length, p->scope, name->line, at, next};
    return true;
}

bool sim_label_refer(struct sim_parser *p, const struct sim_token *name, int insn) {
    return add_label(p, &p->references, name, insn, -1);
}

static const struct sim_label *find_label(const struct sim_parser *p, const char *name, size_t length,
                                          int scope) {
    for (int i = p->label_bucket[bucket_of(name, length)]; i >= 0; i = p->labels.items[i].next) {
        const struct sim_label *label = &p->labels.items[i];
        if (label->scope == scope && same_name(label->name, label->length, name, length)) return label;
    }
    return NULL;
}

bool sim_label_define(struct sim_parser *p, const struct sim_token *name) {
    int *bucket = &p->label_bucket[bucket_of(name->text, name->length)];
    if (find_label(p, name->text, name->length, p->scope))
        return sim_error(p, PTXSIM_PARSE, name->line, "label `%.*s` is defined twice", (int)name->length,
                         name->text);
    if (!add_label(p, &p->labels, name, p->function->code_count, *bucket)) return false;
    *bucket = p->labels.count - 1;
    return true;
}

int sim_label_find(struct sim_parser *p, const struct sim_token *name, int scope) {
    const struct sim_label *label = NULL;
    for (; !label && scope != 0; scope = p->scope_parent[scope])
        label = find_label(p, name->text, name->length, scope);
    if (label) return label->at;
    sim_error(p, PTXSIM_PARSE, name->line, "no label `%.*s` in sight", (int)name->length, name->text);
    return -1;
}

static bool resolve(struct sim_parser *p, const struct sim_label *reference) {
    struct sim_token name = {.text = reference->name, .length = reference->length, .line = reference->line};
    int at = sim_label_find(p, &name, reference->scope);
    if (at >= 0) p->function->code[reference->at].target = at;
    return at >= 0;
}

bool sim_labels_resolve(struct sim_parser *p) {
    for (int i = 0; i < p->references.count; i++)
        if (!resolve(p, &p->references.items[i])) return false;
    return true;
}
