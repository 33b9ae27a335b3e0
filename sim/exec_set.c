/* set that compares halves and bf16, or yields one (ISA, "Half Precision Comparison Instructions"), and
 * atomics that add them. */
#include "format.h"
#include "lanes.h"

static bool is_pair(unsigned type) { return type == SIM_f16x2 || type == SIM_bf16x2; }

static bool is_narrow(unsigned type) { return type == SIM_f16 || type == SIM_bf16 || is_pair(type); }

bool sim_set_is_narrow(const struct sim_insn *insn) {
    return is_narrow(insn->type) || is_narrow(insn->type2) || insn->modifiers & SIM_FTZ;
}

/* A lane's operand as a double, which holds all values of its types. */
static double value_of(const struct sim_warp *warp, const struct sim_insn *insn, int operand, int lane,
                       unsigned part) {
    unsigned type = insn->type2, bytes = sim_types[type].bytes;
    uint32_t bits = 0;
    double x;
    const char *at = (const char *)sim_source(warp, &insn->value[operand]) + (size_t)lane * bytes;
    if (type == SIM_f64) {
        memcpy(&x, at, sizeof x);
        return x;
    }
    memcpy(&bits, at, bytes);
    if (is_pair(type)) bits = bits >> 16 * part & 0xffff;
    x = sim_decode(sim_format_of(type), bits);
    return insn->modifiers & SIM_FTZ ? sim_flush(sim_format_of(type), x) : x;
}

static uint32_t relation(const struct sim_warp *warp, const struct sim_insn *insn, unsigned part) {
    uint32_t ordered = 0, less = 0, equal = 0;
    SIM_EACH_LANE(l) {
        double x = value_of(warp, insn, 1, l, part), y = value_of(warp, insn, 2, l, part);
        ordered |= (uint32_t)(x == x && y == y) << l;
        less |= (uint32_t)(x < y) << l;
        equal |= (uint32_t)(x == y) << l;
    }
    uint32_t bits = sim_float_relation(insn->comparison, ordered, less, equal);
    return insn->combine ? sim_combine(insn->combine, bits, sim_predicate(warp, &insn->value[3])) : bits;
}

/* What the result type has for true, in all of its elements. */
static uint32_t truth_of(unsigned type) {
    switch (type) {
    case SIM_f16: return 0x3c00;
    case SIM_f16x2: return 0x3c003c00;
    case SIM_bf16: return 0x3f80;
    case SIM_bf16x2: return 0x3f803f80;
    case SIM_f32: return 0x3f800000;
    case SIM_u16:
    case SIM_s16: return 0xffff;
    default: return UINT32_MAX;
    }
}

void sim_set_narrow(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    bool pair = is_pair(insn->type2);
    uint32_t low = relation(warp, insn, 0), high = pair ? relation(warp, insn, 1) : low,
             truth = truth_of(insn->type);
    uint32_t wide[SIM_LANES];
    uint16_t narrow[SIM_LANES];
    SIM_EACH_LANE(l) {
        uint32_t keep = (low >> l & 1 ? 0xffffu : 0) | (high >> l & 1 ? 0xffff0000u : 0);
        wide[l] = truth & keep;
        narrow[l] = (uint16_t)wide[l];
    }
    unsigned bytes = sim_types[insn->type].bytes;
    sim_put(warp, &insn->value[0], bytes == 4 ? (const void *)wide : narrow, bytes, mask);
}

/* -- atom.add.noftz ----------------------------------------------------------------------------------- */

static uint32_t add_element(const struct sim_format *format, uint32_t a, uint32_t b) {
    return sim_encode(format, sim_sum(sim_decode(format, a), sim_decode(format, b), SIM_RN), SIM_RN, false);
}

static uint32_t add_elements(unsigned type, uint32_t a, uint32_t b) {
    const struct sim_format *format = sim_format_of(type);
    uint32_t low = add_element(format, a & 0xffff, b & 0xffff);
    return is_pair(type) ? add_element(format, a >> 16, b >> 16) << 16 | low : low;
}

/* Lanes take effect one after another in lane order, as those of other atomics do (exec_atom.c). */
static void add_narrow(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    unsigned bytes = sim_types[insn->type].bytes;
    const unsigned char *b = sim_source(warp, &insn->value[1]);
    unsigned char r[SIM_LANES * 4] = {0};
    uint64_t address[SIM_LANES];
    sim_addresses(warp, insn, address);
    SIM_EACH_LANE(l) {
        uint32_t x = 0, y = 0;
        if (!SIM_ACTIVE(mask, l)) continue;
        unsigned char *at = sim_access_memory(warp, insn, l, address[l], bytes, SIM_UPDATE);
        if (!at) return;
        memcpy(&x, at, bytes);
        memcpy(&y, b + (size_t)l * bytes, bytes);
        memcpy(r + (size_t)l * bytes, &x, bytes);
        x = add_elements(insn->type, x, y);
        memcpy(at, &x, bytes);
    }
    sim_put(warp, &insn->value[0], r, bytes, mask);
}

sim_exec *const sim_atom_add_narrow[SIM_TYPE_COUNT] = {
    [SIM_f16] = add_narrow, [SIM_f16x2] = add_narrow, [SIM_bf16] = add_narrow, [SIM_bf16x2] = add_narrow};
