/* Threads that plan, execute, replace values and destroy, each its own matrices, in one context and in two on
 * one cache directory, while others ask for statistics, tidy the cache and import records. Made for
 * ThreadSanitizer. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include "check.h"
#include "layer.h"
#include "tree.h"

enum { WORKERS = 4, ROUNDS = 6, PROBLEMS = 3 };

static char root[] = "storm-XXXXXX", directory[64], records[64], elsewhere[64];

typedef struct crew {
    mc_context *contexts[2];
    atomic_int notes, working;
} crew;

typedef struct worker {
    pthread_t thread;
    crew *crew;
    mc_context *context;
    unsigned number;
    mc_status status;
    int wrong, rounds;
    char text[256];
} worker;

static void note(void *user, mc_log_level level, const char *message) {
    crew *c = user;
    (void)message;
    c->notes += level == MC_LOG_NOTE;
}

static mc_context *open_context(crew *c, mc_diag *diag) {
    mc_context *context;
    mc_context_config config = layer_context(directory, records);
    config.cache_files = 4; /* so that entries go, too */
    config.log = note;
    config.log_user = c;
    CHECK(mc_context_create(&config, &context, diag) == MC_OK, "%s", mc_diag_text(diag));
    if (context == NULL) exit(1);
    return context;
}

/* Neighbours have the same problems at the same time. */
static void *plan_and_execute(void *user) {
    worker *w = user;
    mc_diag *diag = mc_diag_create();
    for (int i = 0; i < ROUNDS && w->status == MC_OK && w->wrong == 0; i++) {
        w->status = layer_run(w->context, w->number, 8 + 8 * (i % PROBLEMS), &w->wrong, diag);
        w->rounds++;
    }
    snprintf(w->text, sizeof w->text, "%s", mc_diag_text(diag));
    mc_diag_destroy(diag);
    w->crew->working--;
    return NULL;
}

/* What a program's housekeeping does meanwhile. */
static void *keep_house(void *user) {
    worker *w = user;
    mc_diag *diag = mc_diag_create();
    for (; w->crew->working > 0 && w->status == MC_OK; w->rounds++) {
        mc_context_info info = {.size = sizeof info};
        size_t count;
        w->status = mc_context_get_info(w->context, &info, diag);
        if (w->status == MC_OK) w->status = mc_records_export(w->context, elsewhere, &count, diag);
        if (w->status == MC_OK) w->status = mc_records_import(w->context, elsewhere, &count, diag);
        w->wrong += info.size != sizeof info || strcmp(info.cache_directory, directory) == 0; /* absolute */
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    snprintf(w->text, sizeof w->text, "%s", mc_diag_text(diag));
    mc_diag_destroy(diag);
    return NULL;
}

static void start(worker *w, void *(*body)(void *)) {
    if (pthread_create(&w->thread, NULL, body, w) != 0) exit(1);
}

/* Half of the workers in each of two contexts, which may be one. */
static void run(const char *what, crew *c) {
    worker workers[WORKERS + 1];
    c->working = WORKERS;
    for (unsigned i = 0; i <= WORKERS; i++) {
        workers[i] = (worker){.crew = c, .context = c->contexts[i % 2], .number = i, .status = MC_OK};
        start(&workers[i], i < WORKERS ? plan_and_execute : keep_house);
    }
    for (int i = 0; i <= WORKERS; i++) {
        pthread_join(workers[i].thread, NULL);
        CHECK(workers[i].status == MC_OK && workers[i].wrong == 0 && workers[i].rounds > 0,
              "%s: thread %d: %s; %d wrong", what, i, workers[i].text, workers[i].wrong);
    }
    CHECK(c->notes == 0, "%s: %d notes in the log", what, c->notes);
}

int main(void) {
    crew c = {.notes = 0};
    mc_diag *diag = mc_diag_create();
    if (mkdtemp(root) == NULL) return 1;
    snprintf(directory, sizeof directory, "%s/cache", root);
    snprintf(records, sizeof records, "%s/records.jsonl", root);
    snprintf(elsewhere, sizeof elsewhere, "%s/exported.jsonl", root);
    c.contexts[0] = c.contexts[1] = open_context(&c, diag);
    run("one context", &c);
    mc_context_info info = {.size = sizeof info};
    CHECK(mc_context_get_info(c.contexts[0], &info, diag) == MC_OK && info.kernels_loaded == PROBLEMS,
          "%d kernels were loaded, of %d problems", (int)info.kernels_loaded, PROBLEMS);
    c.contexts[1] = open_context(&c, diag);
    run("two contexts", &c);
    mc_context_destroy(c.contexts[1]);
    mc_context_destroy(c.contexts[0]);
    tree_remove(root);
    mc_diag_destroy(diag);
    return check_end();
}
