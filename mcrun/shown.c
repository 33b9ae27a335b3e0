#include "shown.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the UTF-8 character that TEXT begins with, and what it is; 0: it begins with none (The Unicode
   Standard, table 3-7). */
static size_t character(const char *text, uint32_t *code) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = (unsigned char)*text;
    size_t length = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;
    *code = length > 1 ? first & (0x7FU >> length) : first;
    for (size_t i = 1; i < length; i++) {
        unsigned char next = (unsigned char)text[i];
        if (next >> 6 != 2) return 0;
        *code = *code << 6 | (next & 0x3F);
    }
    bool surrogate = *code >= 0xD800 && *code < 0xE000;
    return length > 0 && *code >= least[length] && *code <= 0x10FFFF && !surrogate ? length : 0;
}

static bool is_control(uint32_t code) { return code < ' ' || (code >= 0x7F && code < 0xA0); }

/* Writes to TO, which has room for SIZE bytes, at least one. Of control characters those in KEEP stay; NULL:
   all do. */
static void clean(const char *from, const char *keep, char *to, size_t size) {
    size_t used = 0;
    for (size_t length; *from != '\0'; from += length > 0 ? length : 1) {
        uint32_t code;
        length = character(from, &code);
        bool stays = keep == NULL || !is_control(code) || strchr(keep, (int)code) != NULL;
        bool kept = length > 0 && stays;
        size_t bytes = kept ? length : 1;
        if (used + bytes >= size) break;
        memcpy(to + used, kept ? from : "?", bytes);
        used += bytes;
    }
    to[used] = '\0';
}

shown_text shown(const char *text) {
    shown_text s = {{0}};
    clean(text, "", s.text, sizeof s.text);
    return s;
}

shown_text shown_message(const char *text) {
    shown_text s = {{0}};
    clean(text, "\n", s.text, sizeof s.text);
    return s;
}

json_t *shown_json(const char *text) {
    if (text == NULL) return NULL;
    size_t size = strlen(text) + 1;
    char *cleaned = malloc(size);
    if (cleaned == NULL) return NULL;
    clean(text, NULL, cleaned, size);
    json_t *json = json_string(cleaned);
    free(cleaned);
    return json;
}
