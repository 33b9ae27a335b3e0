/* A kernel's fields as text, "op=spmm arch=sm_90 ...": pairs with a space between. */
#ifndef MCRT_FIELDS_H
#define MCRT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

/* The value of NAME (LENGTH bytes) in FIELDS, *SIZE bytes; NULL: none. */
const char *fields_value(const char *fields, const char *name, size_t length, size_t *size);
/* Whether each field has a name, and none has it twice: only then are changes what they seem. */
bool fields_named_once(const char *fields);
/* FIELDS with those of CHANGES in place of its own, and behind them those that it has not. "stages=" takes a
   field out: it then has its default. The caller frees. NULL: no memory. */
char *fields_change(const char *fields, const char *changes);
/* The changes that make TO of FROM, but for the order. The caller frees. NULL: no memory. */
char *fields_difference(const char *from, const char *to);

#endif
