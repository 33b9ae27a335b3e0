#include "arrays.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file begins with these eight bytes and two of the header's length. The header is a Python dictionary,
   padded so that the data begin at a multiple of 64 (numpy.lib.format, version 1.0). */
static const unsigned char magic[8] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
enum { PREFIX = 10, ALIGNED = 64 };

noreturn void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("tests/tour: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

static bool is(const array *a, const char *type) { return strcmp(a->type, type) == 0; }

static size_t bytes_of(const array *a) { return (size_t)(a->rows * a->cols) * (size_t)(a->type[2] - '0'); }

array array_create(const char *type, long rows, long cols) {
    array a = {.rows = rows, .cols = cols};
    memcpy(a.type, type, sizeof a.type);
    a.data = calloc(bytes_of(&a) + 1, 1);
    if (a.data == NULL) fail("out of memory");
    return a;
}

void array_free(array *a) { free(a->data); }

void array_write(const array *a, const char *path) {
    char header[256];
    int length =
        snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%ld, %ld), }",
                 a->type, a->rows, a->cols);
    int padded = (PREFIX + length + ALIGNED) / ALIGNED * ALIGNED - PREFIX; /* with the newline at its end */
    const unsigned char size[2] = {(unsigned char)padded, (unsigned char)(padded >> 8)};
    FILE *file = fopen(path, "wb");
    if (file == NULL) fail("%s: cannot be written", path);
    fwrite(magic, 1, sizeof magic, file);
    fwrite(size, 1, sizeof size, file);
    fprintf(file, "%-*s\n", padded - 1, header);
    fwrite(a->data, 1, bytes_of(a), file);
    if (fclose(file) != 0) fail("%s: cannot be written", path);
}

/* The text behind NAME in the header. */
static const char *member(const char *header, const char *name, const char *path) {
    const char *at = strstr(header, name);
    if (at == NULL) fail("%s: no %s in the header", path, name);
    return at + strlen(name);
}

static array described(const char *header, const char *path) {
    char type[4] = "";
    long rows = 0, cols = 0;
    if (sscanf(member(header, "'descr': ", path), "'%3[<|a-z0-9]'", type) != 1) fail("%s: no type", path);
    int sizes = sscanf(member(header, "'shape': ", path), "(%ld, %ld", &rows, &cols);
    if (sizes < 1 || strstr(header, "'fortran_order': False") == NULL) fail("%s: %s", path, header);
    return sizes == 1 ? array_create(type, 1, rows) : array_create(type, rows, cols);
}

array array_read(const char *path) {
    unsigned char prefix[PREFIX];
    char header[512] = "";
    FILE *file = fopen(path, "rb");
    if (file == NULL) fail("%s: is not there", path);
    if (fread(prefix, 1, PREFIX, file) != PREFIX || memcmp(prefix, magic, sizeof magic) != 0)
        fail("%s: no .npy file of version 1.0", path);
    size_t length = (size_t)(prefix[8] + 256 * prefix[9]);
    if (length >= sizeof header || fread(header, 1, length, file) != length) fail("%s: no header", path);
    array a = described(header, path);
    if (fread(a.data, 1, bytes_of(&a), file) != bytes_of(&a) || fgetc(file) != EOF)
        fail("%s: not the data of %ld x %ld elements", path, a.rows, a.cols);
    fclose(file);
    return a;
}

float *floats(const array *a) {
    if (!is(a, "<f4")) fail("an array of %s where floats belong", a->type);
    return (float *)(void *)a->data;
}

int32_t integer(const array *a, long i) {
    if (is(a, "|i1")) return ((const int8_t *)a->data)[i];
    if (!is(a, "<i4")) fail("an array of %s where integers belong", a->type);
    return ((const int32_t *)(const void *)a->data)[i];
}

uint16_t half_bits(const array *a, long i) {
    if (!is(a, "<f2")) fail("an array of %s where f16 belongs", a->type);
    return ((const uint16_t *)(const void *)a->data)[i];
}
