/* What is put comes back to the byte, and nothing else does. */
#include "fixture.h"

static const char *directory;

static unsigned char *pattern(size_t size) {
    unsigned char *bytes = malloc(size + 1);
    uint32_t state = 1;
    if (bytes == NULL) exit(1);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)((state = state * 1664525 + 1013904223) >> 24);
    return bytes;
}

static void check_sizes(void) {
    static const size_t sizes[] = {0, 1, 2, 15, 16, 17, 4095, 4096, 65537, 5000000};
    mccache *writer = open_mode(MCCACHE_READ_WRITE, directory),
            *reader = open_mode(MCCACHE_READ_WRITE, directory);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unsigned char *bytes = pattern(sizes[i]);
        mccache_key key = key_number((int)i);
        mccache_blob blob;
        CHECK(!mccache_get(reader, &key, &blob) && blob.data == NULL && blob.label == NULL,
              "before it was put");
        mccache_put(writer, &key, "a label", bytes, sizes[i]);
        bool found = mccache_get(reader, &key, &blob);
        CHECK(found, "%zu bytes", sizes[i]);
        if (found) {
            CHECK(blob.size == sizes[i] && memcmp(blob.data, bytes, sizes[i]) == 0, "%zu bytes", sizes[i]);
            CHECK(((char *)blob.data)[blob.size] == '\0', "the NUL behind %zu bytes", sizes[i]);
            CHECK(strcmp(blob.label, "a label") == 0, "'%s'", blob.label);
        }
        mccache_blob_free(&blob);
        CHECK(blob.data == NULL && blob.label == NULL && blob.size == 0, "freed");
        free(bytes);
    }
    mccache_stats stats = stats_of(reader);
    CHECK(stats.hits == 10 && stats.misses == 10 && stats.puts == 0 && stats.rejected == 0 &&
              stats.files == 10,
          "%d %d", (int)stats.hits, (int)stats.misses);
    mccache_close(writer);
    mccache_close(reader);
}

static void check_replace_and_drop(void) {
    mccache *cache = open_mode(MCCACHE_READ_WRITE, directory);
    put_text(cache, 100, "first");
    CHECK(has_text(cache, 100, "first"), "first");
    put_text(cache, 100, "the second");
    CHECK(has_text(cache, 100, "the second"), "replaced");
    CHECK(!has_text(cache, 101, ""), "another key");
    mccache_key key = key_number(100);
    mccache_drop(cache, &key);
    CHECK(!has_text(cache, 100, ""), "dropped");
    mccache_drop(cache, &key);
    mccache_close(cache);
}

/* An entry moved to another key's name is not that key's. */
static void check_other_name(void) {
    mccache *cache = open_mode(MCCACHE_READ_WRITE, directory);
    put_text(cache, 200, "two hundred");
    put_text(cache, 201, "gone");
    CHECK(rename(entry_path(directory, 200), entry_path(directory, 201)) == 0, "rename");
    CHECK(!has_text(cache, 201, "gone"), "another key's entry");
    CHECK(stats_of(cache).rejected == 1, "rejected");
    CHECK_TEXT(fixture_log, "its key is another: the entry is not used");
    mccache_close(cache);
}

static void check_label(const char *what, const char *label, size_t want) {
    mccache *cache = open_mode(MCCACHE_READ_WRITE, directory);
    mccache_key key = key_number(300);
    mccache_blob blob;
    mccache_put(cache, &key, label, "x", 1);
    CHECK(mccache_get(cache, &key, &blob) && strlen(blob.label) == want &&
              strncmp(blob.label, label ? label : "", want) == 0,
          "%s: '%s'", what, blob.label ? blob.label : "(none)");
    mccache_blob_free(&blob);
    mccache_close(cache);
}

static void check_labels(void) {
    char longest[MCCACHE_MAX_LABEL + 8];
    check_label("NULL", NULL, 0);
    check_label("empty", "", 0);
    check_label("text", "op=spmm arch=sm_90 \"x\"\n", 23);
    memset(longest, 'x', sizeof longest);
    longest[MCCACHE_MAX_LABEL - 1] = '\0';
    check_label("just fits", longest, MCCACHE_MAX_LABEL - 1);
    longest[MCCACHE_MAX_LABEL - 1] = 'x';
    longest[sizeof longest - 1] = '\0';
    check_label("too long", longest, MCCACHE_MAX_LABEL - 1);
    memcpy(longest + MCCACHE_MAX_LABEL - 3, "\xe2\x82\xac", 3); /* a euro sign that does not fit whole */
    check_label("cut inside a character", longest, MCCACHE_MAX_LABEL - 3);
}

static void check_too_large(void) {
    mccache *cache = open_limits(MCCACHE_READ_WRITE, path_of("small"), 1000, 0);
    char bytes[1000] = {0};
    mccache_key key = key_number(1);
    fixture_log[0] = '\0';
    mccache_put(cache, &key, "", bytes, 1000 - 72);
    CHECK(stats_of(cache).files == 1, "just as large as the cache may be");
    mccache_put(cache, &key, "", bytes, 1000 - 71);
    mccache_put(cache, &key, "l", bytes, 1000 - 72);
    mccache_put(cache, &key, "", bytes, SIZE_MAX);
    CHECK(stats_of(cache).puts == 1 && stats_of(cache).evicted == 0, "too large");
    CHECK_TEXT(fixture_log, "an entry of 929 bytes is too large: the entry is not kept");
    CHECK(log_lines() == 1, "told once: %s", fixture_log);
    mccache_close(cache);
}

static mode_t mode_of(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 ? status.st_mode & 07777 : 0;
}

/* Whatever the umask, it is ours and nobody else's.
   Parents that are made, too (XDG Base Directory Specification). */
static void check_modes(void) {
    static const mode_t masks[] = {0, 022, 077, 0277, 0777};
    for (size_t i = 0; i < sizeof masks / sizeof masks[0]; i++) {
        mode_t before = umask(masks[i]);
        mccache *cache = open_mode(MCCACHE_READ_WRITE, path_of("modes/below/cache"));
        mccache_key key = key_number(1);
        put_text(cache, 1, "text");
        mccache_lock *lock = mccache_lock_take(cache, &key, 0);
        umask(before);
        CHECK(lock != NULL, "umask %o", masks[i]);
        mccache_lock_release(lock);
        const char *entry = entry_path(mccache_directory(cache), 1),
                   *shard = shard_path(mccache_directory(cache), 1, NULL),
                   *file = shard_path(mccache_directory(cache), 1, "lock");
        CHECK(mode_of(entry) == 0600, "umask %o: %o", masks[i], mode_of(entry));
        CHECK(mode_of(shard) == 0700, "umask %o: %o", masks[i], mode_of(shard));
        CHECK(mode_of(mccache_directory(cache)) == 0700, "umask %o", masks[i]);
        CHECK(mode_of(path_of("modes")) == 0700, "umask %o: %o", masks[i], mode_of(path_of("modes")));
        CHECK(mode_of(file) == 0600, "umask %o: %o", masks[i], mode_of(file));
        CHECK(has_text(cache, 1, "text"), "umask %o", masks[i]);
        mccache_close(cache);
        tree_remove(path_of("modes"));
    }
}

int main(void) {
    fixture_begin();
    directory = strdup(path_of("cache"));
    check_sizes();
    check_replace_and_drop();
    check_other_name();
    check_labels();
    check_too_large();
    check_modes();
    free((char *)directory);
    return fixture_end();
}
