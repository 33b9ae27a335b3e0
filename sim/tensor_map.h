/* What a tensor map holds here: 128 bytes that cuTensorMapEncodeTiled would make opaque as well. */
#ifndef SIM_TENSOR_MAP_H
#define SIM_TENSOR_MAP_H

#include "ptxsim.h"

#include <stdbool.h>

struct sim_tensor_map {
    uint64_t mark, address;
    uint64_t dims[PTXSIM_TENSOR_RANK], strides[PTXSIM_TENSOR_RANK]; /* strides[0]: of an element */
    uint16_t box[PTXSIM_TENSOR_RANK];                               /* 1 beyond the rank, as dims */
    uint8_t type; /* enum sim_type */
    uint8_t rank, element_bytes, span; /* span: rows of the swizzle's pattern less 1: 0, 1, 3, 7 */
    bool fill_nan;
    uint64_t check; /* of all before it */
};

_Static_assert(sizeof(struct sim_tensor_map) <= PTXSIM_TENSOR_MAP_BYTES, "a tensor map has 128 bytes");

/* Whether BYTES hold a map that was made by ptxsim_tensor_map_encode. */
bool sim_tensor_map_read(const void *bytes, struct sim_tensor_map *map);

/* Where a byte of a box that lies at AT without swizzling lies in shared memory: the index of its 16 bytes is
   combined with that of its 128 (ISA, "Swizzling modes"). */
static inline uint64_t sim_swizzle(const struct sim_tensor_map *map, uint64_t at) {
    return at ^ (at >> 7 & map->span) << 4;
}

#endif
