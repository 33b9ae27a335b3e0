/* Two records of one problem become one. */
#include <stdlib.h>
#include <string.h>
#include "records/parts.h"

/* -- Order */

/* Timed ones by time, then the others by kind; the hash makes the order the same everywhere. */
static int compare(const void *left, const void *right) {
    const record_candidate *a = left, *b = right;
    if (a->status != b->status) return a->status < b->status ? -1 : 1;
    if (a->microseconds != b->microseconds) return a->microseconds < b->microseconds ? -1 : 1;
    return a->hash != b->hash ? (a->hash < b->hash ? -1 : 1) : 0;
}

bool record_arrange(record *r) {
    size_t chosen = 0;
    if (r->candidate_count != 0) qsort(r->candidates, r->candidate_count, sizeof *r->candidates, compare);
    if (r->fields == NULL || r->fields[0] == '\0') return true;
    while (chosen < r->candidate_count && (r->candidates[chosen].status != RECORD_TIMED ||
                                           strcmp(r->candidates[chosen].fields, r->fields) != 0))
        chosen++;
    if (chosen == r->candidate_count) return false;
    record_candidate first = r->candidates[chosen];
    memmove(r->candidates + 1, r->candidates, chosen * sizeof first);
    r->candidates[0] = first;
    r->microseconds = first.microseconds;
    return true;
}

/* -- Merging */

static const record_candidate *find(const record_candidate *list, size_t count, uint64_t hash) {
    for (size_t i = 0; i < count; i++)
        if (list[i].hash == hash) return &list[i];
    return NULL;
}

/* The fields that the newer measurement of the same kernel may lack, for it was not among the fastest. */
static void complete(record_candidate *c, const record_candidate *from) {
    if (from == NULL || c->fields[0] != '\0') return;
    c->spec = from->spec;
    c->fields = from->fields;
}

static size_t join(const record *late, const record *early, record_candidate *all) {
    size_t count = late->candidate_count;
    for (size_t i = 0; i < count; i++) {
        all[i] = late->candidates[i];
        complete(&all[i], find(early->candidates, early->candidate_count, all[i].hash));
    }
    for (size_t i = 0; i < early->candidate_count; i++)
        if (find(late->candidates, late->candidate_count, early->candidates[i].hash) == NULL)
            all[count++] = early->candidates[i];
    return count;
}

/* The fastest of LIST whose fields are known, and that OTHER does not have (NULL: any); NULL: none. */
static const record_candidate *fastest(const record_candidate *list, size_t count, const record *other) {
    const record_candidate *best = NULL;
    for (size_t i = 0; i < count; i++) {
        const record_candidate *c = &list[i];
        if (c->status != RECORD_TIMED || c->fields[0] == '\0') continue;
        if (other != NULL && find(other->candidates, other->candidate_count, c->hash) != NULL) continue;
        if (best == NULL || c->microseconds < best->microseconds) best = c;
    }
    return best;
}

/* Who measured last knew best what to choose of its own. Of the rest that is what was chosen before, unless
   it was measured again. */
static const record_candidate *choose(const record *late, const record *early, const record_candidate *all,
                                      size_t count) {
    bool chose = late->candidate_count != 0 && late->fields[0] != '\0';
    const record_candidate *own = chose ? &late->candidates[0] : NULL, *old = NULL;
    if (early->candidate_count != 0 && early->fields[0] != '\0') old = &early->candidates[0];
    if (old != NULL && find(late->candidates, late->candidate_count, old->hash) != NULL)
        old = fastest(early->candidates, early->candidate_count, late);
    if (own != NULL && old != NULL) return old->microseconds < own->microseconds ? old : own;
    return own != NULL ? own : old != NULL ? old : fastest(all, count, NULL);
}

mc_status record_merge(const record *old, const record *new, record *merged, mc_diag *diag) {
    const record *late = new->time >= old->time ? new : old, *early = late == new ? old : new;
    record r = *late;
    *merged = (record){0};
    r.candidates = calloc(old->candidate_count + new->candidate_count + 1, sizeof *r.candidates);
    if (r.candidates == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    r.candidate_count = join(late, early, r.candidates);
    const record_candidate *chosen = choose(late, early, r.candidates, r.candidate_count);
    r.fields = chosen != NULL ? chosen->fields : "";
    r.spec = chosen != NULL ? chosen->spec : "";
    r.microseconds = chosen != NULL ? chosen->microseconds : 0;
    record_arrange(&r);
    mc_status status = record_copy(&r, merged, diag);
    free(r.candidates);
    return status;
}
