/* Tensor maps: the rules of cuTensorMapEncodeTiled (CUDA Driver API, "Tensor Map Object Managment"). */
#include "tensor_map.h"

#include "sim.h"
#include "types.h"

#include <string.h>

enum { SMALL = 16, MAX_BOX = 256 };

static const uint64_t map_mark = UINT64_C(0x70616d2d6d697378), max_dim = UINT64_C(1) << 32,
                      max_stride = UINT64_C(1) << 40;

static const struct {
    const char *name;
    unsigned bytes;
    bool is_float;
} elements[] = {
#define X(name, bytes, is_float) {#name, bytes, is_float},
    PTXSIM_ELEMENT_LIST(X)
#undef X
};

static const uint8_t types[] = {
    [PTXSIM_ELEMENT_U8] = SIM_u8,   [PTXSIM_ELEMENT_U16] = SIM_u16, [PTXSIM_ELEMENT_U32] = SIM_u32,
    [PTXSIM_ELEMENT_S32] = SIM_s32, [PTXSIM_ELEMENT_U64] = SIM_u64, [PTXSIM_ELEMENT_S64] = SIM_s64,
    [PTXSIM_ELEMENT_F16] = SIM_f16, [PTXSIM_ELEMENT_F32] = SIM_f32, [PTXSIM_ELEMENT_F64] = SIM_f64,
    [PTXSIM_ELEMENT_BF16] = SIM_bf16};

static const unsigned span_of_swizzle[] = {0, 32, 64, 128};

static uint64_t checksum(const struct sim_tensor_map *map) { /* FNV-1a */
    const unsigned char *bytes = (const unsigned char *)map;
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < offsetof(struct sim_tensor_map, check); i++)
        hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    return hash;
}

static ptxsim_status check_kind(ptxsim *sim, const ptxsim_tensor *t) {
    if ((unsigned)t->element >= PTXSIM_ELEMENT_COUNT)
        return sim_fail(sim, PTXSIM_INVALID, "tensor map: element type %d", (int)t->element);
    if (t->rank < 1 || t->rank > PTXSIM_TENSOR_RANK)
        return sim_fail(sim, PTXSIM_INVALID, "tensor map: rank %u, and 1 to %d are possible", t->rank,
                        PTXSIM_TENSOR_RANK);
    if ((unsigned)t->swizzle > PTXSIM_SWIZZLE_128B)
        return sim_fail(sim, PTXSIM_INVALID, "tensor map: swizzle %d", (int)t->swizzle);
    if (t->fill_nan && !elements[t->element].is_float)
        return sim_fail(sim, PTXSIM_INVALID, "tensor map: %s has no NaN to fill with",
                        elements[t->element].name);
    if (t->address % SMALL)
        return sim_fail(sim, PTXSIM_INVALID, "tensor map: address 0x%llx is not a multiple of 16",
                        (unsigned long long)t->address);
    return PTXSIM_OK;
}

static ptxsim_status check_dimension(ptxsim *sim, const ptxsim_tensor *t, unsigned d) {
    if (t->dims[d] < 1 || t->dims[d] > max_dim)
        return sim_fail(sim, PTXSIM_INVALID,
                        "tensor map: dimension %u has %llu elements: 1 to 2^32 are possible", d,
                        (unsigned long long)t->dims[d]);
    if (t->box[d] < 1 || t->box[d] > MAX_BOX)
        return sim_fail(sim, PTXSIM_INVALID,
                        "tensor map: the box has %u elements in dimension %u: 1 to 256 are "
                        "possible",
                        t->box[d], d);
    if (d > 0 && (t->strides[d - 1] % SMALL || t->strides[d - 1] >= max_stride || t->strides[d - 1] == 0))
        return sim_fail(sim, PTXSIM_INVALID,
                        "tensor map: stride %llu of dimension %u: a multiple of 16 below 2^40 is needed",
                        (unsigned long long)t->strides[d - 1], d);
    return PTXSIM_OK;
}

static ptxsim_status check_box(ptxsim *sim, const ptxsim_tensor *t) {
    unsigned inner = t->box[0] * elements[t->element].bytes, span = span_of_swizzle[t->swizzle];
    if (inner % SMALL)
        return sim_fail(sim, PTXSIM_INVALID, "tensor map: the box's rows have %u bytes: not a multiple of 16",
                        inner);
    if (span && inner > span)
        return sim_fail(sim, PTXSIM_INVALID,
                        "tensor map: the box's rows have %u bytes, and the swizzle spans %u", inner, span);
    return PTXSIM_OK;
}

ptxsim_status ptxsim_tensor_map_encode(ptxsim *sim, const ptxsim_tensor *tensor, void *map) {
    ptxsim_tensor t;
    if (!tensor || !map || tensor->size != sizeof t)
        return sim_fail(sim, PTXSIM_INVALID, "no tensor or no map");
    t = *tensor;
    if (check_kind(sim, &t) != PTXSIM_OK) return sim->fault.status;
    for (unsigned d = 0; d < t.rank; d++)
        if (check_dimension(sim, &t, d) != PTXSIM_OK) return sim->fault.status;
    if (check_box(sim, &t) != PTXSIM_OK) return sim->fault.status;
    struct sim_tensor_map m;
    memset(&m, 0, sizeof m);
    m.mark = map_mark;
    m.address = t.address;
    m.rank = (uint8_t)t.rank;
    m.type = types[t.element];
    m.element_bytes = (uint8_t)elements[t.element].bytes;
    m.span = (uint8_t)(t.swizzle ? span_of_swizzle[t.swizzle] / SMALL - 1 : 0);
    m.fill_nan = t.fill_nan;
    m.strides[0] = m.element_bytes;
    for (unsigned d = 0; d < PTXSIM_TENSOR_RANK; d++) {
        m.dims[d] = d < t.rank ? t.dims[d] : 1;
        m.box[d] = (uint16_t)(d < t.rank ? t.box[d] : 1);
        if (d > 0 && d < t.rank) m.strides[d] = t.strides[d - 1];
    }
    m.check = checksum(&m);
    memset(map, 0, PTXSIM_TENSOR_MAP_BYTES);
    memcpy(map, &m, sizeof m);
    return sim_done(sim);
}

bool sim_tensor_map_read(const void *bytes, struct sim_tensor_map *map) {
    memcpy(map, bytes, sizeof *map);
    return map->mark == map_mark && map->check == checksum(map);
}
