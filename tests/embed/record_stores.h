/* What the tests of stores of records share: stores whose log is kept. */
#ifndef TESTS_EMBED_RECORD_STORES_H
#define TESTS_EMBED_RECORD_STORES_H

#include "../runtime/scratch.h"
#include "records.h"

static const char gpu[] = "NVIDIA H200";

/* What the log said. */
static char said[1 << 16];
static size_t said_lines;

static inline void hear(void *user, const char *message) {
    (void)user;
    said_lines++;
    snprintf(said + strlen(said), sizeof said - strlen(said), "%s\n", message);
}

static inline record_store *open_store(const char *path) {
    record_store *store;
    mc_status status = record_store_open(&(record_store_config){.path = path, .log = hear}, &store, NULL);
    said[0] = '\0', said_lines = 0;
    CHECK(status == MC_OK, "open");
    return store;
}

/* The log is that of the opening. */
static inline record_store *reopen(record_store *store, const char *path) {
    record_store_close(store);
    said[0] = '\0', said_lines = 0;
    CHECK(record_store_open(&(record_store_config){.path = path, .log = hear}, &store, NULL) == MC_OK,
          "open");
    return store;
}

static inline bool count_record(void *user, const record *r, bool own) {
    (void)r, (void)own;
    ++*(size_t *)user;
    return true;
}

static inline size_t records_of(record_store *store) {
    size_t count = 0;
    record_walk(store, count_record, &count);
    return count;
}

static inline void add(record_store *store, const record *r) {
    mc_diag *diag = mc_diag_create();
    CHECK(record_add(store, r, diag) == MC_OK, "%s", mc_diag_text(diag));
    mc_diag_destroy(diag);
}

#endif
