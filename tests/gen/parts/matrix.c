#include "matrix.h"
#include "parts/packed24.h"
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 2 };

static uint32_t state = 1;
static unsigned next_random(unsigned below) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

/* -- Elements ----------------------------------------------------------------------------------------- */

static const struct element elements[] = {{"f16", 2, 0x3c00, 0x4000, 0x8000},
                                          {"bf16", 2, 0x3f80, 0x4000, 0x8000},
                                          {"tf32", 4, 0x3f800000, 0x40000000, 0x80000000},
                                          {"e4m3", 1, 0x38, 0x40, 0x80},
                                          {"e5m2", 1, 0x3c, 0x40, 0x80},
                                          {"s8", 1, 1, 2, 0},
                                          {"u8", 1, 1, 2, 0}};

const struct element *element_of(const char *name) {
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        if (strcmp(elements[i].name, name) == 0) return &elements[i];
    return NULL;
}

static uint32_t encoded(const struct element *e, int value) {
    uint32_t magnitude = abs(value) == 2 ? e->two : value ? e->one : 0;
    return value < 0 ? (e->sign ? magnitude | e->sign : 0u - magnitude) : magnitude;
}

static int random_value(const struct element *e) {
    int value = (int)next_random(2 * LARGEST + 1) - LARGEST;
    return strcmp(e->name, "u8") ? value : abs(value);
}

/* -- Matrices ----------------------------------------------------------------------------------------- */

static void put(matrix *m, int row, int column, uint32_t bits) {
    memcpy(m->data + ((size_t)row * (size_t)m->ld + (size_t)column) * (size_t)m->bytes, &bits,
           (size_t)m->bytes);
}

matrix make_matrix(const struct element *e, int rows, int columns) {
    matrix m = {.rows = rows, .columns = columns, .ld = round_up(columns, 16 / e->bytes), .bytes = e->bytes};
    m.values = malloc((size_t)rows * (size_t)columns);
    m.data = malloc((size_t)rows * (size_t)m.ld * (size_t)m.bytes);
    memset(m.data, POISON, (size_t)rows * (size_t)m.ld * (size_t)m.bytes);
    for (int i = 0; i < rows * columns; i++) {
        m.values[i] = (int8_t)random_value(e);
        put(&m, i / columns, i % columns, encoded(e, m.values[i]));
    }
    return m;
}

void free_matrix(matrix *m) {
    free(m->values);
    free(m->data);
}

matrix compress_pairs(const struct element *e, matrix *dense, unsigned char *meta) {
    matrix sparse = make_matrix(e, dense->rows, dense->columns / 2);
    for (int place = 0; place < dense->rows * dense->columns / 2; place++) {
        int second = (int)next_random(2), nibble = second ? 0xe : 0x4;
        put(&sparse, place / sparse.columns, place % sparse.columns,
            encoded(e, dense->values[2 * place + second]));
        dense->values[2 * place + !second] = 0;
        meta[place / 2] = (unsigned char)(place % 2 ? meta[place / 2] | nibble << 4 : nibble);
    }
    return sparse;
}

matrix compress(const struct element *e, matrix *dense, unsigned char *meta) {
    matrix sparse = make_matrix(e, dense->rows, dense->columns / 2);
    for (int row = 0; row < dense->rows; row++)
        for (int group = 0; group < dense->columns / 4; group++) {
            int first = (int)next_random(3), second = first + 1 + (int)next_random((unsigned)(3 - first));
            int8_t *values = dense->values + (size_t)row * (size_t)dense->columns + 4 * group;
            for (int i = 0; i < 4; i++)
                if (i != first && i != second) values[i] = 0;
            put(&sparse, row, 2 * group, encoded(e, values[first]));
            put(&sparse, row, 2 * group + 1, encoded(e, values[second]));
            int nibble = first | second << 2, place = row * dense->columns / 4 + group;
            meta[place / 2] = (unsigned char)(place % 2 ? meta[place / 2] | nibble << 4 : nibble);
        }
    return sparse;
}

/* -- Atoms -------------------------------------------------------------------------------------------- */

enum { ZEROS_KEPT = 0x44 }; /* metadata of two groups of zeros */

/* Byte AT of ROW's META: those of a row lie side by side, 4 bits a group. */
static unsigned char meta_byte(const matrix *kept, const unsigned char *meta, int row, int at) {
    int group = kept->bytes == 4 ? 1 : 2, bytes = kept->columns / group / 2;
    return row < kept->rows && at < bytes ? meta[row * bytes + at] : ZEROS_KEPT;
}

static unsigned char value_byte(const matrix *kept, int row, int at) {
    if (row >= kept->rows || at >= kept->columns * kept->bytes) return 0;
    return kept->data[(size_t)row * (size_t)kept->ld * (size_t)kept->bytes + (size_t)at];
}

atoms make_atoms(const matrix *kept, const unsigned char *meta) {
    int bytes = kept->bytes, meta_row = packed24_meta_row(bytes);
    int blocks = round_up(kept->rows, PACKED24_ROWS) / PACKED24_ROWS,
        steps = round_up(kept->columns * bytes, PACKED24_ROW_BYTES) / PACKED24_ROW_BYTES;
    size_t count = (size_t)(blocks * steps + 1);
    atoms a = {.value_bytes = count * (size_t)packed24_values(),
               .meta_bytes = count * (size_t)packed24_meta(bytes)};
    a.values = malloc(a.value_bytes), a.meta = malloc(a.meta_bytes);
    for (int atom = 0; atom <= blocks * steps; atom++)
        for (int line = 0; line < PACKED24_ROWS; line++) {
            int row = atom / steps * PACKED24_ROWS + line, step = atom % steps;
            unsigned char *values = a.values + atom * packed24_values(),
                          *places = a.meta + atom * packed24_meta(bytes);
            for (int at = 0; at < PACKED24_ROW_BYTES; at++)
                values[packed24_value_place(line, at)] =
                    value_byte(kept, row, step * PACKED24_ROW_BYTES + at);
            for (int at = 0; at < meta_row; at++)
                places[packed24_meta_place(bytes, line, at)] =
                    meta_byte(kept, meta, row, step * meta_row + at);
        }
    return a;
}
