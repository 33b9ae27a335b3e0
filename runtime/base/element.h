/* One element of a typed array. Inline: matrices are read and filled element by element. */
#ifndef MCRT_ELEMENT_H
#define MCRT_ELEMENT_H

#include "base/type.h"

/* The low BITS of VALUE as a number in two's complement. */
static inline int64_t element_sign(int64_t value, int bits) {
    return (int64_t)((uint64_t)value << (64 - bits)) >> (64 - bits);
}

static inline int nibble_get(const void *data, int64_t index) {
    return ((const uint8_t *)data)[index / 2] >> 4 * (index % 2) & 15;
}

static inline void nibble_set(void *data, int64_t index, int64_t value) {
    uint8_t *byte = (uint8_t *)data + index / 2;
    int shift = 4 * (int)(index % 2);
    *byte = (uint8_t)((*byte & ~(15 << shift)) | (int)(value & 15) << shift);
}

/* The low BITS of VALUE. */
static inline int64_t element_low(int64_t value, int bits) {
    return bits < 64 ? value & (((int64_t)1 << bits) - 1) : value;
}

/* The low BITS of VALUE, read as TYPE's elements are: an integer's value, a float's bits. */
static inline int64_t element_read(const element_row *row, int64_t value, int bits) {
    return row->least < 0 ? element_sign(value, bits) : element_low(value, bits);
}

/* An integer's value, a float's bits. */
static inline int64_t element_get(mc_type type, const void *data, int64_t index) {
    const element_row *row = &element_rows[type];
    switch (row->bytes) {
    case 0: return element_read(row, nibble_get(data, index), 4);
    case 1: return element_read(row, ((const uint8_t *)data)[index], 8);
    case 2: return element_read(row, ((const uint16_t *)data)[index], 16);
    case 4: return element_read(row, ((const uint32_t *)data)[index], 32);
    default: return ((const int64_t *)data)[index];
    }
}

/* VALUE modulo the type's range; a float's bits. */
static inline int64_t element_wrap(mc_type type, int64_t value) {
    return element_read(&element_rows[type], value, element_rows[type].bits);
}

/* Stores VALUE wrapped. */
static inline void element_set(mc_type type, void *data, int64_t index, int64_t value) {
    int64_t element = element_wrap(type, value);
    switch (element_rows[type].bytes) {
    case 0: nibble_set(data, index, element); return;
    case 1: ((uint8_t *)data)[index] = (uint8_t)element; return;
    case 2: ((uint16_t *)data)[index] = (uint16_t)element; return;
    case 4: ((uint32_t *)data)[index] = (uint32_t)element; return;
    default: ((int64_t *)data)[index] = element;
    }
}

/* The bits of a float's magnitude, all of them set; those of the greatest number; and those of infinity,
   which no element has where there is none. Computed once for many elements. */
typedef struct float_bits {
    int64_t magnitude, most, infinity;
} float_bits;

static inline float_bits float_bits_of(mc_type type) {
    const element_row *row = &element_rows[type];
    int64_t magnitude = ((int64_t)1 << (row->bits - 1)) - 1, fraction = row->bits - 1 - row->exponent;
    if (row->kind == ELEMENT_FINITE) return (float_bits){magnitude, magnitude - 1, magnitude};
    int64_t infinity = magnitude >> fraction << fraction;
    return (float_bits){magnitude, infinity, infinity};
}

static inline bool float_is_nan(const float_bits *f, int64_t element) {
    return (element & f->magnitude) > f->most;
}

/* A number that is ordered as the values are. Both zeros have the same. */
static inline int64_t float_order(const float_bits *f, int64_t element) {
    int64_t magnitude = element & f->magnitude;
    return element > f->magnitude ? -magnitude : magnitude;
}

#endif
