#include "text/text.h"
#include <stdio.h>
#include <stdlib.h>

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

int text_sink(const char *bytes, size_t size, void *data) {
    mc_text *text = data;
    text_add(text, "%.*s", (int)size, bytes);
    return text->failed ? -1 : 0;
}

char *text_take(mc_text *text) {
    if (!text->failed && !text->data) text_add(text, "%s", "");
    char *data = text->failed ? NULL : text->data;
    if (text->failed) free(text->data);
    *text = (mc_text){0};
    return data;
}

void text_free(mc_text *text) {
    free(text->data);
    *text = (mc_text){0};
}
