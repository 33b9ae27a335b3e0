/* The file of a GPU's results. Text: the line RECORD_TITLE; `device NAME`; `capability 90` (compute capability times 10);
 * `driver 13000` (1000 times the major version of CUDA that it speaks, plus 10 times the minor); then a line a form:
 *
 *   HASH BLOCKS RESULTS
 *
 * HASH, 8 hexadecimal digits, names the form by its code and inputs (form.h); BLOCKS warps ran; RESULTS are the warps'
 * results one after another, form_warp_bytes each: a value a lane, little-endian, or of a predicate a bit a lane.
 * Four bytes are a number, the lowest byte first, written in base 85: five characters from '!' on, the highest digit
 * first. */
#ifndef TESTS_SIM_CONFORMANCE_RECORD_H
#define TESTS_SIM_CONFORMANCE_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define RECORD_TITLE "mcgen conformance record 1"

struct record_line {
    uint32_t hash;
    int blocks;
    char *text; /* RESULTS */
};

struct record {
    char device[128];
    int capability, driver;
    struct record_line *lines;
    size_t count;
    char *text;
};

/* Reads a whole record, to be freed; on failure says why on stderr. */
bool record_read(const char *path, struct record *record);
void record_free(struct record *record);
const struct record_line *record_find(const struct record *record, uint32_t hash);
/* The WORDS words of a line; false if it holds another number of them. */
bool record_decode(const struct record_line *line, uint32_t *words, size_t count);

void record_write_head(FILE *file, const char *device, int capability, int driver);
void record_write_line(FILE *file, uint32_t hash, int blocks, const uint32_t *words, size_t count);

#endif
