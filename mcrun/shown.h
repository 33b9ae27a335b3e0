/* Texts that others made, as file names and records are: as a terminal, and as JSON can take them. */
#ifndef MCRUN_SHOWN_H
#define MCRUN_SHOWN_H

#include <jansson.h>

enum { SHOWN_BYTES = 4096 };

/* The text without control characters and without bytes that are no UTF-8, each of which becomes '?'; what is
   longer is cut off. */
typedef struct shown_text {
    char text[SHOWN_BYTES];
} shown_text;
shown_text shown(const char *text);
/* The same of several lines, whose ends stay. */
shown_text shown_message(const char *text);

/* A JSON string, in which bytes that are no UTF-8 are '?'. NULL for NULL, and where memory is out. */
json_t *shown_json(const char *text);

#endif
