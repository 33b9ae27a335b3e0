/* The bytes of an entry; docs/cache.md has the table. Numbers are little-endian.
 *
 *    0  magic        8
 *    8  schema       4
 *   12  label size   4
 *   16  data size    8
 *   24  key         32
 *   56  label, data
 *       XXH3-128 of all before, in canonical byte order, 16
 *
 * The checksum is against accidents (a file cut off, a bad disk);
 * against people there are owners and modes. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "internal.h"

static const unsigned char magic[8] = "mccache";
const char entry_other_schema[] = "written by another version";

static void store_number(unsigned char *bytes, int size, uint64_t number) {
    for (int i = 0; i < size; i++) bytes[i] = (unsigned char)(number >> 8 * i);
}

static uint64_t load_number(const unsigned char *bytes, int size) {
    uint64_t number = 0;
    for (int i = 0; i < size; i++) number |= (uint64_t)bytes[i] << 8 * i;
    return number;
}

static XXH128_canonical_t checksum_of(const unsigned char *bytes, size_t size) {
    XXH128_canonical_t checksum;
    _Static_assert(sizeof checksum == ENTRY_CHECKSUM_BYTES, "the file's checksum is an XXH3-128");
    XXH128_canonicalFromHash(&checksum, XXH3_128bits(bytes, size));
    return checksum;
}

/* Neither sum nor sizes can overflow: a label is short,
   and the data is compared with what is left of the file. */
const char *entry_read_header(const unsigned char bytes[ENTRY_HEADER_BYTES], uint64_t file_size,
                              const mccache_key *key, entry_header *header) {
    uint64_t label_size = load_number(bytes + 12, 4), data_size = load_number(bytes + 16, 8);
    if (memcmp(bytes, magic, sizeof magic) != 0) return "not an entry";
    if (load_number(bytes + 8, 4) != ENTRY_SCHEMA) return entry_other_schema;
    if (label_size >= MCCACHE_MAX_LABEL) return "its label is too long";
    uint64_t around = ENTRY_HEADER_BYTES + ENTRY_CHECKSUM_BYTES + label_size;
    if (file_size < around || file_size - around != data_size) return "its length is not what it says";
    memcpy(header->key.bytes, bytes + 24, MCCACHE_KEY_BYTES);
    if (memcmp(key->bytes, header->key.bytes, MCCACHE_KEY_BYTES) != 0) return "its key is another";
    header->label_size = (size_t)label_size;
    header->data_size = (size_t)data_size;
    return NULL;
}

const char *entry_check(const unsigned char *bytes, size_t size, const mccache_key *key,
                        entry_header *header) {
    if (size < ENTRY_HEADER_BYTES + ENTRY_CHECKSUM_BYTES) return "cut off";
    const char *fault = entry_read_header(bytes, size, key, header);
    if (fault != NULL) return fault;
    size_t covered = size - ENTRY_CHECKSUM_BYTES;
    XXH128_canonical_t checksum = checksum_of(bytes, covered);
    return memcmp(&checksum, bytes + covered, sizeof checksum) == 0 ? NULL : "its checksum is wrong";
}

size_t entry_label_size(const char *label) {
    size_t size = strnlen(label, MCCACHE_MAX_LABEL);
    if (size < MCCACHE_MAX_LABEL) return size;
    for (size--; size > 0 && ((unsigned char)label[size] & 0xC0) == 0x80; size--) {
    }
    return size;
}

unsigned char *entry_build(const mccache_key *key, const char *label, const void *data, size_t data_size,
                           size_t *size) {
    size_t label_size = entry_label_size(label);
    size_t around = ENTRY_HEADER_BYTES + label_size + ENTRY_CHECKSUM_BYTES;
    if (data_size > ENTRY_MOST_BYTES - around) return NULL;
    unsigned char *bytes = malloc(around + data_size);
    if (bytes == NULL) return NULL;
    memcpy(bytes, magic, sizeof magic);
    store_number(bytes + 8, 4, ENTRY_SCHEMA);
    store_number(bytes + 12, 4, label_size);
    store_number(bytes + 16, 8, data_size);
    memcpy(bytes + 24, key->bytes, MCCACHE_KEY_BYTES);
    memcpy(bytes + ENTRY_HEADER_BYTES, label, label_size);
    if (data_size > 0) memcpy(bytes + ENTRY_HEADER_BYTES + label_size, data, data_size);
    *size = around + data_size;
    XXH128_canonical_t checksum = checksum_of(bytes, *size - sizeof checksum);
    memcpy(bytes + *size - sizeof checksum, &checksum, sizeof checksum);
    return bytes;
}
