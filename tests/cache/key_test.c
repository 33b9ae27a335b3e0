/* Keys: a stated hash of length-prefixed fields. */
#include "check.h"
#include "mccache.h"

static bool same(mccache_key a, mccache_key b) { return memcmp(a.bytes, b.bytes, MCCACHE_KEY_BYTES) == 0; }

/* BLAKE2b-256 of docs/cache.md's bytes, computed by another implementation.
   A change of this makes every cache cold. */
static void check_stated(void) {
    char text[MCCACHE_KEY_TEXT];
    mccache_field fields[] = {mccache_text("target", "sm_90a"), {"ptx", "\0\1\2", 3}, {"empty", NULL, 0}};
    mccache_key key = mccache_key_of(fields, 3);
    mccache_key_text(&key, text);
    CHECK(strcmp(text, "5166ac5ca93b698666c8848e0a05f528dcb9685684788671811bebb460e0d276") == 0, "%s", text);
    key = mccache_key_of(NULL, 0);
    mccache_key_text(&key, text);
    CHECK(strcmp(text, "f28e8b4074c58ea67180c1a035196ef5d599b6d83294d6f6ef18146ace1e9dfb") == 0, "%s", text);
}

/* Lists of fields whose bytes, put one after another, are alike. */
static void check_unlike(void) {
    const struct {
        mccache_field fields[2];
        size_t count;
    } lists[] = {
        {{mccache_text("a", "bc"), mccache_text("d", "")}, 2},
        {{mccache_text("ab", "c"), mccache_text("d", "")}, 2},
        {{mccache_text("a", "b"), mccache_text("cd", "")}, 2},
        {{mccache_text("a", "bcd")}, 1},
        {{mccache_text("abcd", "")}, 1},
        {{mccache_text("", "abcd")}, 1},
        {{mccache_text("d", ""), mccache_text("a", "bc")}, 2},
        {{mccache_text("a", "bc"), mccache_text("d", "")}, 1},
        {{{"a", "bc\0", 3}, mccache_text("d", "")}, 2},
    };
    enum { COUNT = sizeof lists / sizeof lists[0] };
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < COUNT; j++)
            CHECK(same(mccache_key_of(lists[i].fields, lists[i].count),
                       mccache_key_of(lists[j].fields, lists[j].count)) == (i == j),
                  "lists %zu and %zu", i, j);
}

int main(void) {
    check_stated();
    check_unlike();
    return check_end();
}
