#include "text/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(mc_text *text, size_t more) {
    size_t need = text->size + more + 1;
    if (need <= text->room) return true;
    size_t room = text->room ? text->room : 256;
    while (room < need) room *= 2;
    char *data = realloc(text->data, room);
    if (!data) return false;
    text->data = data;
    text->room = room;
    return true;
}

void text_add_list(mc_text *text, const char *format, va_list args) {
    if (text->failed) return;
    va_list again;
    va_copy(again, args);
    size_t left = text->room - text->size;
    int length = vsnprintf(left ? text->data + text->size : NULL, left, format, args);
    if (length < 0 || !reserve(text, (size_t)length)) {
        text->failed = true;
    } else {
        // What did not fit is printed again, into the larger room.
        if ((size_t)length >= left) vsnprintf(text->data + text->size, (size_t)length + 1, format, again);
        text->size += (size_t)length;
    }
    va_end(again);
}

void text_add(mc_text *text, const char *format, ...) {
    va_list args;
    va_start(args, format);
    text_add_list(text, format, args);
    va_end(args);
}

static void put_bytes(mc_text *text, const char *bytes, size_t size) {
    if (text->failed) return;
    if (!reserve(text, size)) {
        text->failed = true;
        return;
    }
    memcpy(text->data + text->size, bytes, size);
    text->size += size;
    text->data[text->size] = 0;
}

void text_put(mc_text *text, const char *string) { put_bytes(text, string, strlen(string)); }

void text_put_number(mc_text *text, int64_t number) {
    char digits[24];
    size_t at = sizeof digits;
    uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do digits[--at] = (char)('0' + left % 10);
    while ((left /= 10) != 0);
    if (number < 0) digits[--at] = '-';
    put_bytes(text, digits + at, sizeof digits - at);
}

int text_sink(const char *bytes, size_t size, void *data) {
    mc_text *text = data;
    put_bytes(text, bytes, size);
    return text->failed ? -1 : 0;
}

char *text_take(mc_text *text) {
    if (!text->data) text_put(text, "");
    char *data = text->failed ? NULL : text->data;
    if (text->failed) free(text->data);
    *text = (mc_text){0};
    return data;
}

void text_free(mc_text *text) {
    free(text->data);
    *text = (mc_text){0};
}

char *text_copy(char *at, size_t room, const char *string) {
    size_t length = strnlen(string, room - 1);
    memcpy(at, string, length);
    at[length] = 0;
    return at + length;
}
