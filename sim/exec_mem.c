/* Loads, stores and address conversion. */
#include "exec.h"
#include "lanes.h"

/* Puts BYTES of memory into a register's lane, extended by the sign if the type has one (ISA, "ld"). */
static void load_lane(struct sim_warp *warp, const struct sim_value *value, int lane,
                      const unsigned char *from, unsigned bytes, bool is_signed) {
    unsigned width = sim_types[value->type].bytes;
    unsigned char *to = warp->file + value->at + (size_t)lane * width;
    memcpy(to, from, bytes);
    if (bytes < width) memset(to + bytes, is_signed && from[bytes - 1] >> 7 ? 0xff : 0, width - bytes);
}

/* All lanes of one vector element, from where each lane's access lies. */
static void load_element(struct sim_warp *warp, const struct sim_insn *insn, const struct sim_value *value,
                         unsigned char **from, unsigned at, uint32_t mask) {
    unsigned bytes = sim_types[insn->type].bytes;
    bool is_signed = sim_types[insn->type].kind == 's';
    if (value->kind != SIM_REGISTER) return;
    warp->defined[value->reg] |= mask;
    if (bytes == 4 && sim_types[value->type].bytes == 4) {
        unsigned char *to = warp->file + value->at;
        SIM_EACH_LANE(l) if (SIM_ACTIVE(mask, l)) memcpy(to + 4 * l, from[l] + at, 4);
        return;
    }
    SIM_EACH_LANE(l) if (SIM_ACTIVE(mask, l)) load_lane(warp, value, l, from[l] + at, bytes, is_signed);
}

static void load(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    unsigned bytes = sim_types[insn->type].bytes, count = insn->vector ? insn->vector : 1;
    unsigned char *from[SIM_LANES];
    uint64_t address[SIM_LANES];
    sim_addresses(warp, insn, address);
    SIM_EACH_LANE(l) {
        if (!SIM_ACTIVE(mask, l)) continue;
        from[l] = sim_access_memory(warp, insn, l, address[l], bytes * count, SIM_READ);
        if (!from[l]) return;
    }
    for (unsigned e = 0; e < count; e++) load_element(warp, insn, &insn->value[e], from, e * bytes, mask);
}

static void store_element(struct sim_warp *warp, const struct sim_insn *insn, const struct sim_value *value,
                          int lane, unsigned char *to) {
    unsigned width = sim_types[value->type].bytes;
    memcpy(to, (const unsigned char *)sim_source(warp, value) + (size_t)lane * width,
           sim_types[insn->type].bytes);
}

static void store(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    unsigned bytes = sim_types[insn->type].bytes, count = insn->vector ? insn->vector : 1;
    uint64_t address[SIM_LANES];
    sim_addresses(warp, insn, address);
    SIM_EACH_LANE(l) {
        if (!SIM_ACTIVE(mask, l)) continue;
        unsigned char *to = sim_access_memory(warp, insn, l, address[l], bytes * count, SIM_WRITE);
        if (!to) return;
        for (unsigned e = 0; e < count; e++) store_element(warp, insn, &insn->value[e], l, to + e * bytes);
    }
}

#define EVERY_DATA_TYPE(f)                                                                                   \
    {                                                                                                        \
        [SIM_b8] = f, [SIM_b16] = f, [SIM_b32] = f, [SIM_b64] = f, [SIM_u8] = f, [SIM_u16] = f,              \
        [SIM_u32] = f, [SIM_u64] = f, [SIM_s8] = f, [SIM_s16] = f, [SIM_s32] = f, [SIM_s64] = f,             \
        [SIM_f32] = f, [SIM_f64] = f                                                                         \
    }

sim_exec *const sim_ld[SIM_TYPE_COUNT] = EVERY_DATA_TYPE(load);
sim_exec *const sim_st[SIM_TYPE_COUNT] = EVERY_DATA_TYPE(store);

/* Shared, local and constant memory and parameters have windows in the generic addresses, global addresses
   are the same in both. */
static void shift_addresses(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask,
                            uint64_t sign) {
    const uint64_t *from = sim_source(warp, &insn->value[1]);
    uint64_t result[SIM_LANES], window = 0;
    if (insn->space == SIM_SHARED || insn->space == SIM_SHARED_CLUSTER) window = SIM_SHARED_WINDOW;
    if (insn->space == SIM_PARAM) window = SIM_PARAM_WINDOW;
    if (insn->space == SIM_LOCAL) window = SIM_LOCAL_WINDOW;
    if (insn->space == SIM_CONST) window = SIM_CONST_BASE;
    SIM_EACH_LANE(l) result[l] = from[l] + sign * window;
    sim_put(warp, &insn->value[0], result, sizeof *result, mask);
}

static void to_generic(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    shift_addresses(warp, insn, mask, 1);
}

static void to_space(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    shift_addresses(warp, insn, mask, UINT64_MAX);
}

sim_exec *const sim_cvta[SIM_TYPE_COUNT] = {[SIM_u64] = to_generic};
sim_exec *const sim_cvta_to[SIM_TYPE_COUNT] = {[SIM_u64] = to_space};

/* What a cache policy says changes nothing here. */
void sim_createpolicy(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    static const uint64_t policy[SIM_LANES];
    sim_put(warp, &insn->value[0], policy, sizeof *policy, mask);
}
