/* Any bytes as an entry of the cache: refused, or what is built of the same key, label and data. And an entry
 * with any changes: refused unless it is the same again. */
#include <stdlib.h>
#include <string.h>
#include "internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was accepted is what a put writes. */
static void check_entry(const uint8_t *bytes, size_t size, const mccache_key *key) {
    entry_header header;
    char label[MCCACHE_MAX_LABEL] = "";
    size_t built;
    if (entry_check(bytes, size, key, &header) != NULL) return;
    if (header.label_size >= sizeof label || header.data_size > size) abort();
    memcpy(label, bytes + ENTRY_HEADER_BYTES, header.label_size);
    if (strlen(label) != header.label_size) return; /* a put writes no label with a NUL */
    unsigned char *again =
        entry_build(key, label, bytes + ENTRY_HEADER_BYTES + header.label_size, header.data_size, &built);
    if (again == NULL || built != size || memcmp(again, bytes, size) != 0) abort();
    free(again);
}

/* An edit: two bytes say where, one what is exclusive-ored; or, where that is 0, the new size. */
static size_t edit(unsigned char *bytes, size_t size, const uint8_t *at) {
    size_t place = (size_t)at[0] << 8 | at[1];
    if (at[2] == 0) return place < size ? place : size;
    if (size > 0) bytes[place % size] ^= at[2];
    return size;
}

static void check_edited(const uint8_t *data, size_t size, const mccache_key *key) {
    enum { EDIT = 3, MOST_EDITS = 8 };
    size_t edits = data[0] % (MOST_EDITS + 1), label_size = data[1] % 64, built;
    char label[64] = "";
    entry_header header;
    if (size < 2 + EDIT * edits + label_size) return;
    const uint8_t *rest = data + 2 + EDIT * edits + label_size;
    memcpy(label, data + 2 + EDIT * edits, label_size);
    unsigned char *entry = entry_build(key, label, rest, (size_t)(data + size - rest), &built);
    if (entry == NULL) abort();
    unsigned char *copy = malloc(built);
    if (copy == NULL) abort();
    memcpy(copy, entry, built);
    size_t left = built;
    for (size_t i = 0; i < edits; i++) left = edit(copy, left, data + 2 + EDIT * i);
    bool same = left == built && memcmp(copy, entry, built) == 0;
    if ((entry_check(copy, left, key, &header) == NULL) != same) abort();
    free(copy);
    free(entry);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const mccache_field field = mccache_text("fuzz", "entry");
    const mccache_key key = mccache_key_of(&field, 1);
    if (size < 3) return 0;
    if (data[0] & 1) check_edited(data + 1, size - 1, &key);
    else check_entry(data + 1, size - 1, &key);
    return 0;
}
