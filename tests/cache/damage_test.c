/* A file that is cut off, longer, or has one wrong byte, and headers that lie: a miss, never other bytes than
   were put. */
#include <stdint.h>
#include <xxhash.h>
#include "fixture.h"

enum { NUMBER = 7, ROOM = 4096 };
static const char text[] = "an entry's data, which is long enough to have something to damage";
static unsigned char good[ROOM], bad[ROOM];
static size_t good_size;
static const char *path;

/* has_text itself fails where a get returns anything but TEXT. */
static void expect_miss(mccache *cache, const char *what, size_t place) {
    CHECK(!has_text(cache, NUMBER, text), "%s %zu", what, place);
}

static void check_truncations(mccache *cache) {
    for (size_t size = 0; size < good_size; size++) {
        write_file(path, good, size);
        expect_miss(cache, "cut off at", size);
    }
    memcpy(bad, good, good_size);
    bad[good_size] = 0;
    write_file(path, bad, good_size + 1);
    expect_miss(cache, "a byte more than", good_size);
}

static void check_flips(mccache *cache) {
    for (size_t i = 0; i < good_size; i++)
        for (int bit = 0; bit < 9; bit++) {
            memcpy(bad, good, good_size);
            bad[i] ^= (unsigned char)(bit < 8 ? 1 << bit : 0xFF);
            write_file(path, bad, good_size);
            expect_miss(cache, "flip at", i);
        }
}

static void store(unsigned char *bytes, int size, uint64_t number) {
    for (int i = 0; i < size; i++) bytes[i] = (unsigned char)(number >> 8 * i);
}

static void sign(unsigned char *bytes, size_t size) {
    XXH128_canonicalFromHash((XXH128_canonical_t *)(bytes + size - 16), XXH3_128bits(bytes, size - 16));
}

/* Offsets by docs/cache.md. Sizes whose sum wraps around to the right one among them. The checksum is right:
   it is what the header says that must not be believed. */
static void check_lies(mccache *cache) {
    static const struct {
        const char *what;
        size_t offset;
        int size;
        uint64_t number;
    } lies[] = {
        {"2^60 bytes of data", 16, 8, (uint64_t)1 << 60},
        {"all ones of data", 16, 8, UINT64_MAX},
        {"a byte more of data", 16, 8, sizeof text},
        {"a byte less of data", 16, 8, sizeof text - 2},
        {"no data", 16, 8, 0},
        {"a label of 2^32 - 1", 12, 4, UINT32_MAX},
        {"a label of 1024", 12, 4, 1024},
        {"a label that takes from the data", 12, 4, 6},
        {"schema 2", 8, 4, 2},
        {"another key", 24, 1, 0x55},
    };
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        memcpy(bad, good, good_size);
        store(bad + lies[i].offset, lies[i].size, lies[i].number);
        sign(bad, good_size);
        write_file(path, bad, good_size);
        expect_miss(cache, lies[i].what, i);
    }
    /* Label and data wrap around to the file's size. */
    for (uint64_t label = good_size - 72 + 1; label < 1024; label += 17) {
        memcpy(bad, good, good_size);
        store(bad + 12, 4, label);
        store(bad + 16, 8, good_size - 72 - label);
        sign(bad, good_size);
        write_file(path, bad, good_size);
        expect_miss(cache, "a label of", label);
    }
    memcpy(bad, good, good_size);
    bad[good_size] = 0;
    sign(bad, good_size + 1);
    write_file(path, bad, good_size + 1);
    expect_miss(cache, "a byte more, signed, than", good_size);
}

static bool visit_damaged(void *user, const mccache_item *item) {
    *(bool *)user = item->state == MCCACHE_DAMAGED && item->label[0] == '\0';
    return true;
}

/* A label longer than any that is written, in a file that is right otherwise:
   what reads labels has no room for it. */
static void check_long_label(mccache *cache) {
    enum { LABEL = 1024, DATA = 10, SIZE = 56 + LABEL + DATA + 16 };
    bool damaged = false;
    memcpy(bad, good, 56);
    memset(bad + 56, 'x', LABEL + DATA);
    store(bad + 12, 4, LABEL);
    store(bad + 16, 8, DATA);
    sign(bad, SIZE);
    write_file(path, bad, SIZE);
    expect_miss(cache, "a label of", LABEL);
    CHECK(mccache_walk(cache, false, visit_damaged, &damaged) && damaged, "a long label in a list");
}

/* A sparse file of 2^40 bytes takes no disk, and must take no memory. */
static void check_huge(mccache *cache) {
    memcpy(bad, good, good_size);
    store(bad + 16, 8, ((uint64_t)1 << 40) - 72 - 5);
    write_file(path, bad, good_size);
    if (truncate(path, (off_t)1 << 40) == 0) expect_miss(cache, "a sparse file of 2^40 bytes", 0);
    write_file(path, good, 0);
}

static void check_recovery(mccache *cache) {
    CHECK(log_lines() == 1, "told once: %s", fixture_log);
    CHECK_TEXT(fixture_log, "the entry is not used");
    put_text(cache, NUMBER, text);
    CHECK(has_text(cache, NUMBER, text), "put again");
}

int main(void) {
    fixture_begin();
    const char *directory = path_of("cache");
    mccache *cache = open_mode(MCCACHE_READ_WRITE, directory);
    put_text(cache, NUMBER, text);
    path = entry_path(directory, NUMBER);
    good_size = read_file(path, good, ROOM);
    CHECK(good_size == 56 + 5 + sizeof text - 1 + 16, "%zu bytes", good_size);
    CHECK(has_text(cache, NUMBER, text), "not damaged yet");
    check_truncations(cache);
    check_flips(cache);
    check_lies(cache);
    check_long_label(cache);
    check_huge(cache);
    check_recovery(cache);
    mccache_close(cache);
    return fixture_end();
}
