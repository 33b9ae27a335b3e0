/* Records in memory: found by their problem, or by how near it is. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>
#include "base/memory.h"
#include "records/parts.h"
#include "records/text.h"

enum { BUCKETS = 1 << 12 };

typedef struct entry {
    struct entry *next; /* of its bucket, the newest first */
    record r;
    bool own;
    record_position position;
    uint64_t digest; /* of all lines that made it */
} entry;

struct record_store {
    record_store_config config;
    char *path;
    bool behind;          /* the file lacks what could not be added to it */
    pthread_mutex_t lock; /* of all below */
    entry **entries;      /* as they came */
    size_t count, room;
    entry *buckets[BUCKETS];
};

/* -- Entries */

static entry **bucket_of(record_store *store, const plan_problem *problem) {
    return &store->buckets[problem_hash(problem) % BUCKETS];
}

/* The one that R is to be merged with; NULL: none. */
static entry *twin_of(record_store *store, const record *r, bool own) {
    for (entry *e = *bucket_of(store, &r->problem); e != NULL; e = e->next)
        if (e->own == own && e->r.cold == r->cold && strcmp(e->r.gpu, r->gpu) == 0 &&
            strcmp(e->r.generator, r->generator) == 0 && problem_same(&e->r.problem, &r->problem))
            return e;
    return NULL;
}

static bool make_room(record_store *store) {
    entry **entries = mcrt_room(store->entries, store->count, &store->room, sizeof *entries);
    if (entries != NULL) store->entries = entries;
    return entries != NULL;
}

static mc_status insert(record_store *store, record *r, bool own, uint64_t digest, mc_diag *diag) {
    entry *e = calloc(1, sizeof *e), **bucket = bucket_of(store, &r->problem);
    if (e == NULL || !make_room(store)) {
        free(e);
        record_free(r);
        return mc_fail(diag, MC_NOMEM, "no memory for a record");
    }
    *e = (entry){*bucket, *r, own, record_position_of(&r->problem), digest};
    *bucket = e;
    store->entries[store->count++] = e;
    return MC_OK;
}

/* R becomes R merged with what TWIN says, which may be NULL. On failure it is freed. */
static mc_status merge_with(const entry *twin, record *r, mc_diag *diag) {
    record merged;
    if (twin == NULL) return MC_OK;
    mc_status status = record_merge(&twin->r, r, &merged, diag);
    record_free(r);
    *r = merged;
    return status;
}

/* Takes R over, which is merged with its twin already. LINE is what there was to learn. */
static mc_status keep(record_store *store, record *r, bool own, const char *line, size_t size,
                      mc_diag *diag) {
    uint64_t digest = XXH3_64bits_withSeed(line, size, own);
    entry *twin = twin_of(store, r, own);
    if (twin == NULL) return insert(store, r, own, digest, diag);
    record_free(&twin->r);
    twin->r = *r;
    twin->digest = twin->digest * 0x100000001b3u + digest;
    return MC_OK;
}

/* -- Opening */

typedef struct loading {
    record_store *store;
    bool own;
} loading;

static mc_status load_record(void *user, record *r, const char *line, size_t size, mc_diag *diag) {
    loading *into = user;
    mc_status status = merge_with(twin_of(into->store, r, into->own), r, diag);
    return status == MC_OK ? keep(into->store, r, into->own, line, size, diag) : status;
}

/* Of another GPU's not even the lines are read: a context is created sooner. */
static mc_status load_shipped(record_store *store, mc_diag *diag) {
    loading into = {store, false};
    char gpu[160];
    mc_status status = MC_OK;
    if (store->config.gpu != NULL) snprintf(gpu, sizeof gpu, "\"gpu\":\"%s\"", store->config.gpu);
    for (const record_shipped_file *file = record_shipped; file->name != NULL && status == MC_OK; file++) {
        const record_lines lines = {file->name, file->text, strlen(file->text),
                                    store->config.gpu != NULL ? gpu : NULL};
        status = record_lines_read(&lines, &store->config, load_record, &into, diag);
    }
    store->config.gpu = NULL;
    return status;
}

/* A file that cannot be read is as good as none. */
static mc_status load_own(record_store *store, mc_diag *diag) {
    loading into = {store, true};
    bool missing = false;
    if (store->path == NULL) return MC_OK;
    mc_diag *why = mc_diag_create();
    mc_status status = record_file_read(store->path, &store->config, load_record, &into, &missing, why);
    if (status == MC_NOMEM) mc_fail(diag, status, "%s: out of memory", store->path);
    else if (status != MC_OK && !missing && store->config.log != NULL)
        store->config.log(store->config.log_user, why != NULL ? mc_diag_text(why) : "out of memory");
    mc_diag_destroy(why);
    return status == MC_NOMEM ? status : MC_OK;
}

mc_status record_store_open(const record_store_config *config, record_store **store, mc_diag *diag) {
    record_store *s = calloc(1, sizeof *s);
    *store = NULL;
    if (s == NULL || pthread_mutex_init(&s->lock, NULL) != 0) {
        free(s);
        return mc_fail(diag, MC_NOMEM, "no memory for records");
    }
    s->config = *config;
    if (config->path != NULL) s->path = strdup(config->path);
    mc_status status = MC_OK;
    if (config->path != NULL && s->path == NULL) status = mc_fail(diag, MC_NOMEM, "no memory for records");
    if (status == MC_OK && config->shipped) status = load_shipped(s, diag);
    if (status == MC_OK) status = load_own(s, diag);
    if (status == MC_OK) *store = s;
    else record_store_close(s);
    return status;
}

void record_store_close(record_store *store) {
    if (store == NULL) return;
    for (size_t i = 0; i < store->count; i++) {
        record_free(&store->entries[i]->r);
        free(store->entries[i]);
    }
    pthread_mutex_destroy(&store->lock);
    free(store->entries);
    free(store->path);
    free(store);
}

/* -- Finding */

/* Of several records of a problem the one to go by: this generator's,
   with operands in the cache, own, the newest. */
static bool is_better(const entry *a, const entry *b) {
    bool a_ours = strcmp(a->r.generator, mc_generator_id()) == 0,
         b_ours = strcmp(b->r.generator, mc_generator_id()) == 0;
    if (a_ours != b_ours) return a_ours;
    if (a->r.cold != b->r.cold) return b->r.cold;
    if (a->own != b->own) return a->own;
    return a->r.time > b->r.time;
}

bool record_find(record_store *store, const char *gpu, const plan_problem *problem, bool cold,
                 record *found) {
    const entry *best = NULL;
    *found = (record){0};
    pthread_mutex_lock(&store->lock);
    for (const entry *e = *bucket_of(store, problem); e != NULL; e = e->next)
        if (e->r.cold == cold && strcmp(e->r.gpu, gpu) == 0 && problem_same(&e->r.problem, problem) &&
            (best == NULL || is_better(e, best)))
            best = e;
    bool copied = best != NULL && record_copy(&best->r, found, NULL) == MC_OK;
    pthread_mutex_unlock(&store->lock);
    return copied;
}

/* Puts E at its place among the COUNT nearest so far, of at most N; returns how many there are then. */
static size_t place(const entry *e, double distance, const entry **nearest, double *distances, size_t count,
                    size_t n) {
    size_t at = count;
    while (at > 0 && (distance < distances[at - 1] ||
                      (!(distance > distances[at - 1]) && is_better(e, nearest[at - 1]))))
        at--;
    if (at == n) return count;
    size_t moved = (count < n ? count : n - 1) - at;
    memmove(nearest + at + 1, nearest + at, moved * sizeof *nearest);
    memmove(distances + at + 1, distances + at, moved * sizeof *distances);
    nearest[at] = e;
    distances[at] = distance;
    return count < n ? count + 1 : n;
}

static size_t find_nearest(const record_store *store, const char *gpu, const plan_problem *problem, size_t n,
                           const entry **nearest, double *distances) {
    record_position here = record_position_of(problem);
    size_t count = 0;
    for (size_t i = 0; i < store->count; i++) {
        const entry *e = store->entries[i];
        if (e->r.fields[0] == '\0' || strcmp(e->r.gpu, gpu) != 0) continue;
        double distance = record_distance_at(problem, &here, &e->r.problem, &e->position);
        if (isfinite(distance)) count = place(e, distance, nearest, distances, count, n);
    }
    return count;
}

size_t record_nearest(record_store *store, const char *gpu, const plan_problem *problem, size_t n,
                      record *found, double *distances) {
    const entry **nearest = calloc(n + 1, sizeof *nearest);
    size_t count = 0;
    if (nearest == NULL || n == 0) {
        free(nearest);
        return 0;
    }
    pthread_mutex_lock(&store->lock);
    size_t there = find_nearest(store, gpu, problem, n, nearest, distances);
    while (count < there && record_copy(&nearest[count]->r, &found[count], NULL) == MC_OK) count++;
    pthread_mutex_unlock(&store->lock);
    free(nearest);
    return count;
}

uint64_t record_digest(record_store *store, const char *gpu) {
    uint64_t digest = 0;
    pthread_mutex_lock(&store->lock);
    for (size_t i = 0; i < store->count; i++)
        if (strcmp(store->entries[i]->r.gpu, gpu) == 0) digest += store->entries[i]->digest;
    pthread_mutex_unlock(&store->lock);
    return digest;
}

void record_walk(record_store *store, bool (*visit)(void *user, const record *r, bool own), void *user) {
    bool going = true;
    pthread_mutex_lock(&store->lock);
    for (int own = 1; own >= 0; own--)
        for (size_t i = 0; i < store->count && going; i++)
            if (store->entries[i]->own == own) going = visit(user, &store->entries[i]->r, own);
    pthread_mutex_unlock(&store->lock);
}

/* -- Adding */

static bool says(const record *r, const char *line) {
    char *text = record_print(r);
    bool same = text != NULL && strcmp(text, line) == 0;
    free(text);
    return same;
}

/* record_take, locked. */
static mc_status remember(record_store *store, record *r, char **line, mc_diag *diag) {
    const entry *twin = twin_of(store, r, true);
    mc_status status = merge_with(twin, r, diag);
    if (status != MC_OK) return status;
    *line = record_print(r);
    bool known = *line != NULL && twin != NULL && says(&twin->r, *line);
    if (*line != NULL && !known) return keep(store, r, true, *line, strlen(*line), diag);
    status = *line != NULL ? MC_OK : mc_fail(diag, MC_NOMEM, "no memory for a record");
    record_free(r);
    free(*line);
    *line = NULL;
    return status;
}

mc_status record_take(record_store *store, record *r, char **line, mc_diag *diag) {
    *line = NULL;
    pthread_mutex_lock(&store->lock);
    mc_status status = remember(store, r, line, diag);
    pthread_mutex_unlock(&store->lock);
    return status;
}

/* What is measured now is the newest, whatever the clock says. */
static void set_time(const record_store *store, record *r) {
    if (r->time == 0) r->time = (int64_t)time(NULL);
    for (const entry *e = *bucket_of((record_store *)store, &r->problem); e != NULL; e = e->next)
        if (e->r.time > r->time && strcmp(e->r.gpu, r->gpu) == 0 && problem_same(&e->r.problem, &r->problem))
            r->time = e->r.time;
}

static mc_status append(const record_store *store, const char *line, mc_diag *diag) {
    mc_text text = {0};
    text_add(&text, "%s\n", line);
    size_t size = text.size;
    char *bytes = text_take(&text);
    if (bytes == NULL) return mc_fail(diag, MC_NOMEM, "no memory for a record");
    mc_status status = record_file_append(store->path, bytes, size, diag);
    free(bytes);
    return status;
}

mc_status record_add(record_store *store, const record *r, mc_diag *diag) {
    record copy;
    char *line = NULL;
    mc_status status = record_copy(r, &copy, diag);
    if (status != MC_OK) return status;
    if (!record_arrange(&copy)) {
        record_free(&copy);
        return mc_fail(diag, MC_USAGE, "a record's fields must be those of a timed candidate");
    }
    pthread_mutex_lock(&store->lock);
    set_time(store, &copy);
    status = merge_with(twin_of(store, &copy, false), &copy, diag);
    if (status == MC_OK) status = remember(store, &copy, &line, diag);
    pthread_mutex_unlock(&store->lock);
    if (line != NULL && store->path != NULL) status = append(store, line, diag);
    if (status == MC_IO) __atomic_store_n(&store->behind, true, __ATOMIC_RELAXED);
    free(line);
    return status;
}

/* Of records of one time one has to be the later one, the same on every machine. */
static bool is_later(const record *a, const record *b) {
    return a->time != b->time ? a->time > b->time : strcmp(a->generator, b->generator) > 0;
}

bool record_is_outdone(const record_store *store, const record *r) {
    const entry *const *bucket = (const entry *const *)bucket_of((record_store *)store, &r->problem);
    for (const entry *e = *bucket; e != NULL; e = e->next)
        if (is_later(&e->r, r) && e->r.cold == r->cold && strcmp(e->r.gpu, r->gpu) == 0 &&
            problem_same(&e->r.problem, &r->problem))
            return true;
    return false;
}

const char *record_store_path(const record_store *store) { return store->path; }
bool record_store_is_kept(const record_store *store) {
    return store->path != NULL && !__atomic_load_n(&store->behind, __ATOMIC_RELAXED);
}
const record_store_config *record_store_settings(const record_store *store) { return &store->config; }
