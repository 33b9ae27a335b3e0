/* MEMORY: the same calls without a directory, limits in the order of use, and threads. */
#include <pthread.h>
#include "fixture.h"

static void check_calls(void) {
    mccache *cache = open_mode(MCCACHE_MEMORY, path_of("never"));
    mccache_key key = key_number(1);
    const char *why;
    CHECK(mccache_usable(cache, &why) && *why == '\0', "usable");
    CHECK(mccache_directory(cache) == NULL, "no directory");
    CHECK(mccache_lock_take(cache, &key, 1000) == NULL, "no lock");
    CHECK(!has_text(cache, 1, ""), "empty");
    put_text(cache, 1, "one");
    put_text(cache, 2, "");
    CHECK(has_text(cache, 1, "one") && has_text(cache, 2, ""), "put");
    put_text(cache, 1, "another one");
    CHECK(has_text(cache, 1, "another one"), "replaced");
    CHECK(stats_of(cache).files == 2 && stats_of(cache).bytes == 11 && stats_of(cache).puts == 3, "%d bytes",
          (int)stats_of(cache).bytes);
    mccache_drop(cache, &key);
    mccache_drop(cache, &key);
    CHECK(!has_text(cache, 1, "") && has_text(cache, 2, ""), "dropped");
    CHECK(access(path_of("never"), F_OK) != 0, "nothing on disk");
    mccache_close(cache);
}

static void check_label(void) {
    mccache *cache = open_mode(MCCACHE_MEMORY, NULL);
    mccache_key key = key_number(1);
    mccache_blob blob;
    mccache_put(cache, &key, "its label", "\0\1", 2);
    CHECK(mccache_get(cache, &key, &blob) && blob.size == 2 && memcmp(blob.data, "\0\1", 3) == 0,
          "data and NUL");
    CHECK(strcmp(blob.label, "its label") == 0, "'%s'", blob.label);
    mccache_blob_free(&blob);
    mccache_close(cache);
}

static void check_files(void) {
    mccache *cache = open_limits(MCCACHE_MEMORY, NULL, 0, 3);
    for (int i = 1; i <= 3; i++) put_text(cache, i, "text");
    CHECK(has_text(cache, 1, "text"), "1 is used");
    put_text(cache, 4, "text");
    CHECK(!has_text(cache, 2, "text"), "2 was used longest ago");
    CHECK(has_text(cache, 1, "text") && has_text(cache, 3, "text") && has_text(cache, 4, "text"),
          "the others");
    CHECK(stats_of(cache).evicted == 1, "evicted");
    CHECK(mccache_prune(cache, UINT64_MAX, 1) == 2 && has_text(cache, 4, "text"), "pruned");
    CHECK(mccache_prune(cache, 0, 0) == 1 && stats_of(cache).files == 0, "cleared");
    put_text(cache, 5, "text");
    CHECK(has_text(cache, 5, "text"), "used again");
    mccache_close(cache);
}

static void check_bytes(void) {
    mccache *cache = open_limits(MCCACHE_MEMORY, NULL, 200, 0);
    char bytes[129] = {0};
    mccache_key key = key_number(1);
    mccache_put(cache, &key, "", bytes, 128);
    put_text(cache, 2, "text");
    CHECK(stats_of(cache).bytes == 132, "both fit");
    key = key_number(3);
    mccache_put(cache, &key, "", bytes, 128);
    CHECK(stats_of(cache).bytes == 132 && has_text(cache, 2, "text"), "1 went for 3");
    mccache_put(cache, &key, "", bytes, 129);
    CHECK(stats_of(cache).puts == 3, "larger than an entry's share with what lies around it");
    mccache_close(cache);
}

enum { THREADS = 4, ROUNDS = 400, KEYS = 12 };

/* An entry's text says which it is: has_text fails where a thread sees another's half-made one. */
static void *work(void *user) {
    mccache *cache = user;
    unsigned state = (unsigned)(uintptr_t)&state;
    for (int i = 0; i < ROUNDS; i++) {
        state = state * 1664525 + 1013904223;
        int number = (int)(state >> 16) % KEYS;
        char data[64];
        size_t size = (size_t)snprintf(data, sizeof data, "entry %d", number);
        mccache_key key = key_number(number);
        mccache_blob blob;
        if (state >> 30 == 0) mccache_put(cache, &key, "", data, size);
        else if (mccache_get(cache, &key, &blob)) {
            if (blob.size != size || memcmp(blob.data, data, size) != 0) return "another's data";
            mccache_blob_free(&blob);
        }
    }
    return NULL;
}

/* By the system's clock: by another one the temporaries of other threads look as if they were left behind. */
static void check_threads(mccache_mode mode, const char *directory) {
    mccache_config config = config_of(mode, directory);
    config.max_files = KEYS - 3;
    config.clock = NULL;
    mccache *cache = mccache_open(&config);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, cache);
    for (int i = 0; i < THREADS; i++) {
        void *fault;
        pthread_join(threads[i], &fault);
        CHECK(fault == NULL, "%s", (char *)fault);
    }
    mccache_stats stats = stats_of(cache);
    CHECK(stats.files <= KEYS - 3 && stats.rejected == 0, "%d files", (int)stats.files);
    CHECK(stats.hits + stats.misses + stats.puts == THREADS * ROUNDS, "every call counts");
    mccache_close(cache);
}

int main(void) {
    fixture_begin();
    check_calls();
    check_label();
    check_files();
    check_bytes();
    check_threads(MCCACHE_MEMORY, NULL);
    check_threads(MCCACHE_READ_WRITE, path_of("threads"));
    return fixture_end();
}
