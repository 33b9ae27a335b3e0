/* Keys: BLAKE2b over fields that each say how long they are, so that "ab" + "c" is not "a" + "bc". */
#include <blake2.h>
#include <string.h>
#include "internal.h"

static void hash_bytes(blake2b_state *state, const void *bytes, size_t size) {
    if (size > 0) blake2b_update(state, bytes, size);
}

/* Little-endian, so that a directory on a network serves every machine. */
static void hash_number(blake2b_state *state, uint64_t number) {
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(number >> 8 * i);
    hash_bytes(state, bytes, sizeof bytes);
}

mccache_key mccache_key_of(const mccache_field *fields, size_t count) {
    static const char schema[] = "mccache key 1";
    blake2b_state state;
    mccache_key key;
    blake2b_init(&state, sizeof key.bytes);
    hash_bytes(&state, schema, sizeof schema);
    hash_number(&state, count);
    for (size_t i = 0; i < count; i++) {
        hash_number(&state, strlen(fields[i].name));
        hash_bytes(&state, fields[i].name, strlen(fields[i].name));
        hash_number(&state, fields[i].size);
        hash_bytes(&state, fields[i].data, fields[i].size);
    }
    blake2b_final(&state, key.bytes, sizeof key.bytes);
    return key;
}

mccache_field mccache_text(const char *name, const char *text) {
    return (mccache_field){name, text, strlen(text)};
}

void mccache_key_text(const mccache_key *key, char text[MCCACHE_KEY_TEXT]) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < MCCACHE_KEY_BYTES; i++) {
        text[2 * i] = digits[key->bytes[i] >> 4];
        text[2 * i + 1] = digits[key->bytes[i] & 15];
    }
    text[MCCACHE_KEY_TEXT - 1] = '\0';
}
