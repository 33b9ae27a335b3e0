/* One element of a typed array. Inline: matrices are read and filled element by element. */
#ifndef MCRT_ELEMENT_H
#define MCRT_ELEMENT_H

#include "mcrt.h"

/* An integer's value, a real's bits. */
static inline int64_t element_get(mc_type type, const void *data, int64_t index) {
    switch (type) {
    case MC_S8: return ((const int8_t *)data)[index];
    case MC_S16: return ((const int16_t *)data)[index];
    case MC_S32: return ((const int32_t *)data)[index];
    case MC_S64: return ((const int64_t *)data)[index];
    case MC_F16:
    case MC_BF16: return ((const uint16_t *)data)[index];
    case MC_F32: return ((const uint32_t *)data)[index];
    }
    return 0;
}

/* VALUE modulo the type's range; a real's bits. */
static inline void element_set(mc_type type, void *data, int64_t index, int64_t value) {
    switch (type) {
    case MC_S8: ((int8_t *)data)[index] = (int8_t)value; return;
    case MC_S16: ((int16_t *)data)[index] = (int16_t)value; return;
    case MC_S32: ((int32_t *)data)[index] = (int32_t)value; return;
    case MC_S64: ((int64_t *)data)[index] = value; return;
    case MC_F16:
    case MC_BF16: ((uint16_t *)data)[index] = (uint16_t)value; return;
    case MC_F32: ((uint32_t *)data)[index] = (uint32_t)value; return;
    }
}

static inline int64_t element_wrap(mc_type type, int64_t value) {
    int64_t wrapped = 0;
    element_set(type, &wrapped, 0, value);
    return element_get(type, &wrapped, 0);
}

#endif
