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

#endif
