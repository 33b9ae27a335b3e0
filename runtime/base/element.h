/* One element of a typed array. Inline: matrices are read and filled element by element. */
#ifndef MCRT_ELEMENT_H
#define MCRT_ELEMENT_H

#include "mcgen.h"
#include "mcrt.h"

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

/* An integer's value, a real's bits. */
static inline int64_t element_get(mc_type type, const void *data, int64_t index) {
    switch (type) {
    case MC_S8: return ((const int8_t *)data)[index];
    case MC_U8: return ((const uint8_t *)data)[index];
    case MC_S12:
    case MC_S16: return ((const int16_t *)data)[index];
    case MC_S32: return ((const int32_t *)data)[index];
    case MC_S64: return ((const int64_t *)data)[index];
    case MC_S4: return element_sign(nibble_get(data, index), 4);
    case MC_U4: return nibble_get(data, index);
    case MC_U12:
    case MC_U16:
    case MC_F16:
    case MC_BF16: return ((const uint16_t *)data)[index];
    case MC_F32: return ((const uint32_t *)data)[index];
    }
    return 0;
}

/* VALUE modulo the type's range; a real's bits. */
static inline int64_t element_wrap(mc_type type, int64_t value) {
    switch (type) {
    case MC_S4: return element_sign(value, 4);
    case MC_U4: return value & 0xf;
    case MC_S8: return (int8_t)value;
    case MC_U8: return (uint8_t)value;
    case MC_S12: return element_sign(value, 12);
    case MC_U12: return value & 0xfff;
    case MC_S16: return (int16_t)value;
    case MC_S32: return (int32_t)value;
    case MC_S64: return value;
    case MC_U16:
    case MC_F16:
    case MC_BF16: return (uint16_t)value;
    case MC_F32: return (uint32_t)value;
    }
    return 0;
}

/* Stores VALUE wrapped. */
static inline void element_set(mc_type type, void *data, int64_t index, int64_t value) {
    switch (type) {
    case MC_S4:
    case MC_U4: nibble_set(data, index, value); return;
    case MC_S8:
    case MC_U8: ((uint8_t *)data)[index] = (uint8_t)value; return;
    case MC_S12:
    case MC_S16: ((int16_t *)data)[index] = (int16_t)element_wrap(type, value); return;
    case MC_S32: ((int32_t *)data)[index] = (int32_t)value; return;
    case MC_S64: ((int64_t *)data)[index] = value; return;
    case MC_U12:
    case MC_U16:
    case MC_F16:
    case MC_BF16: ((uint16_t *)data)[index] = (uint16_t)element_wrap(type, value); return;
    case MC_F32: ((uint32_t *)data)[index] = (uint32_t)value; return;
    }
}

#endif
