/* Arrays in .npy files, written and read without the project's code. What goes wrong ends the program. */
#ifndef TOUR_ARRAYS_H
#define TOUR_ARRAYS_H

#include <stdint.h>
#include <stdnoreturn.h>

/* A matrix, row-major. An array of one dimension is a row. TYPE is numpy's: "<f4", "<f2", "<i4" or "|i1". */
typedef struct array {
    char type[4];
    long rows, cols;
    unsigned char *data;
} array;

noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

array array_create(const char *type, long rows, long cols);
array array_read(const char *path);
void array_free(array *a);
void array_write(const array *a, const char *path);

float *floats(const array *a);           /* of "<f4" */
int32_t integer(const array *a, long i); /* element I of "|i1" and "<i4" */
uint16_t half_bits(const array *a, long i);

#endif
