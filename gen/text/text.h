/* A growing string. After a failed allocation it stays as it is and says so once at the end (text_take).
   And copies into arrays. */
#ifndef MC_TEXT_H
#define MC_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mc_text {
    char *data; /* NUL-terminated, NULL while empty */
    size_t size, room;
    bool failed;
} mc_text;

void text_add(mc_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_add_list(mc_text *text, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
/* What most of a kernel's text is made of, without the cost of a format: a string, a number. */
void text_put(mc_text *text, const char *string);
void text_put_number(mc_text *text, int64_t number);
/* SIZE bytes, as the callback of a writer; DATA is the mc_text. Returns 0, or -1 after a
   failure. */
int text_sink(const char *bytes, size_t size, void *data);
/* Hands the string to the caller, who frees it, and empties TEXT. NULL if an allocation failed. */
char *text_take(mc_text *text);
void text_free(mc_text *text);
/* Copies STRING and its zero to AT, as much of it as ROOM bytes hold. Returns where the zero is. */
char *text_copy(char *at, size_t room, const char *string);

#endif
