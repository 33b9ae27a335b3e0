/* Comparison, selection and moves. */
#include "lanes.h"

#define COMPARE_LOOP(condition)                                                                              \
    SIM_EACH_LANE(l) bits |= (uint32_t)(condition) << l;                                                     \
    break

/* The lanes where a <comparison> b holds. lo, ls, hi, hs are lt ... of unsigned types. */
#define COMPARE(name, T)                                                                                     \
    static uint32_t name(const void *left, const void *right, unsigned comparison) {                         \
        const T *a = left, *b = right;                                                                       \
        uint32_t bits = 0;                                                                                   \
        switch (comparison) {                                                                                \
        case SIM_EQ: COMPARE_LOOP(a[l] == b[l]);                                                             \
        case SIM_NE: COMPARE_LOOP(a[l] != b[l]);                                                             \
        case SIM_LT:                                                                                         \
        case SIM_LO: COMPARE_LOOP(a[l] < b[l]);                                                              \
        case SIM_LE:                                                                                         \
        case SIM_LS: COMPARE_LOOP(a[l] <= b[l]);                                                             \
        case SIM_GT:                                                                                         \
        case SIM_HI: COMPARE_LOOP(a[l] > b[l]);                                                              \
        default: COMPARE_LOOP(a[l] >= b[l]);                                                                 \
        }                                                                                                    \
        return bits;                                                                                         \
    }
COMPARE(compare_u16, uint16_t)
COMPARE(compare_s16, int16_t)
COMPARE(compare_u32, uint32_t)
COMPARE(compare_s32, int32_t)
COMPARE(compare_u64, uint64_t)
COMPARE(compare_s64, int64_t)

/* Of floats: ordered comparisons are false where a NaN takes part (ne, too), the -u ones true. */
#define COMPARE_FLOAT(name, T)                                                                               \
    static uint32_t name(const void *left, const void *right, unsigned comparison) {                         \
        const T *a = left, *b = right;                                                                       \
        uint32_t ordered = 0, less = 0, equal = 0;                                                           \
        SIM_EACH_LANE(l) {                                                                                   \
            ordered |= (uint32_t)(a[l] == a[l] && b[l] == b[l]) << l;                                        \
            less |= (uint32_t)(a[l] < b[l]) << l;                                                            \
            equal |= (uint32_t)(a[l] == b[l]) << l;                                                          \
        }                                                                                                    \
        return sim_float_relation(comparison, ordered, less, equal);                                         \
    }

uint32_t sim_float_relation(unsigned comparison, uint32_t ordered, uint32_t less, uint32_t equal) {
    switch (comparison) {
    case SIM_EQ: return equal;
    case SIM_NE: return ordered & ~equal;
    case SIM_LT: return less;
    case SIM_LE: return less | equal;
    case SIM_GT: return ordered & ~less & ~equal;
    case SIM_GE: return ordered & ~less;
    case SIM_EQU: return equal | ~ordered;
    case SIM_NEU: return ~equal;
    case SIM_LTU: return less | ~ordered;
    case SIM_LEU: return less | equal | ~ordered;
    case SIM_GTU: return ~less & ~equal;
    case SIM_GEU: return ~less;
    case SIM_NUM: return ordered;
    default: return ~ordered;
    }
}
COMPARE_FLOAT(compare_f32, float)
COMPARE_FLOAT(compare_f64, double)

typedef uint32_t compare_lanes(const void *left, const void *right, unsigned comparison);
static compare_lanes *const comparisons[SIM_TYPE_COUNT] = {
    [SIM_b16] = compare_u16, [SIM_b32] = compare_u32, [SIM_b64] = compare_u64, [SIM_u16] = compare_u16,
    [SIM_s16] = compare_s16, [SIM_u32] = compare_u32, [SIM_s32] = compare_s32, [SIM_u64] = compare_u64,
    [SIM_s64] = compare_s64, [SIM_f32] = compare_f32, [SIM_f64] = compare_f64};

uint32_t sim_combine(unsigned how, uint32_t bits, uint32_t with) {
    switch (how) {
    case SIM_COMBINE_AND: return bits & with;
    case SIM_COMBINE_OR: return bits | with;
    case SIM_COMBINE_XOR: return bits ^ with;
    default: return bits;
    }
}

/* p = (a ? b) combined with c, q = !(a ? b) combined with c (ISA, "setp"). */
static void setp(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    uint32_t bits = comparisons[insn->type](sim_source(warp, &insn->value[2]),
                                            sim_source(warp, &insn->value[3]), insn->comparison);
    uint32_t with = insn->combine ? sim_predicate(warp, &insn->value[4]) : 0;
    sim_put_predicate(warp, &insn->value[0], sim_combine(insn->combine, bits, with), mask);
    sim_put_predicate(warp, &insn->value[1], sim_combine(insn->combine, ~bits, with), mask);
}
sim_exec *const sim_setp[SIM_TYPE_COUNT] = {
    [SIM_b16] = setp, [SIM_b32] = setp, [SIM_b64] = setp, [SIM_u16] = setp,
    [SIM_s16] = setp, [SIM_u32] = setp, [SIM_s32] = setp, [SIM_u64] = setp,
    [SIM_s64] = setp, [SIM_f32] = setp, [SIM_f64] = setp};

/* True is all ones, or 1.0 for .f32. */
void sim_set(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    if (sim_set_is_narrow(insn)) {
        sim_set_narrow(warp, insn, mask);
        return;
    }
    uint32_t bits = comparisons[insn->type2](sim_source(warp, &insn->value[1]),
                                             sim_source(warp, &insn->value[2]), insn->comparison);
    if (insn->combine) bits = sim_combine(insn->combine, bits, sim_predicate(warp, &insn->value[3]));
    uint32_t yes = insn->type == SIM_f32 ? 0x3f800000 : UINT32_MAX, r[SIM_LANES];
    SIM_EACH_LANE(l) r[l] = bits >> l & 1 ? yes : 0;
    sim_put(warp, &insn->value[0], r, sizeof *r, mask);
}

#define SELP(width)                                                                                          \
    static void selp_##width(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {            \
        const uint##width##_t *a = sim_source(warp, &insn->value[1]),                                        \
                              *b = sim_source(warp, &insn->value[2]);                                        \
        uint32_t p = sim_predicate(warp, &insn->value[3]);                                                   \
        uint##width##_t r[SIM_LANES];                                                                        \
        SIM_EACH_LANE(l) r[l] = p >> l & 1 ? a[l] : b[l];                                                    \
        sim_put(warp, &insn->value[0], r, sizeof *r, mask);                                                  \
    }
SELP(16)
SELP(32)
SELP(64)
sim_exec *const sim_selp[SIM_TYPE_COUNT] = {
    [SIM_b16] = selp_16, [SIM_u16] = selp_16, [SIM_s16] = selp_16, [SIM_b32] = selp_32,
    [SIM_u32] = selp_32, [SIM_s32] = selp_32, [SIM_f32] = selp_32, [SIM_b64] = selp_64,
    [SIM_u64] = selp_64, [SIM_s64] = selp_64, [SIM_f64] = selp_64};

/* Between a scalar and a vector that fills it: element 0 lies in the least significant bits. */
static void pack(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    int to = insn->destination_count, from = insn->value_count - to;
    size_t width = sim_types[insn->type].bytes;
    unsigned char whole[SIM_LANES * 8], part[SIM_LANES * 8];
    size_t part_bytes = width / (size_t)from;
    for (int e = 0; e < from; e++) {
        const unsigned char *lanes = sim_source(warp, &insn->value[to + e]);
        SIM_EACH_LANE(l)
        memcpy(whole + (size_t)l * width + (size_t)e * part_bytes, lanes + (size_t)l * part_bytes,
               part_bytes);
    }
    part_bytes = width / (size_t)to;
    for (int e = 0; e < to; e++) {
        SIM_EACH_LANE(l)
        memcpy(part + (size_t)l * part_bytes, whole + (size_t)l * width + (size_t)e * part_bytes, part_bytes);
        sim_put(warp, &insn->value[e], part, part_bytes, mask);
    }
}

static void mov(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    if (insn->value_count == 2)
        sim_put(warp, &insn->value[0], sim_source(warp, &insn->value[1]), sim_types[insn->type].bytes, mask);
    else pack(warp, insn, mask);
}

/* Moves between vectors: all elements are read before one is written. */
void sim_mov_elements(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    uint32_t elements[4][SIM_LANES];
    int count = insn->destination_count;
    for (int e = 0; e < count; e++)
        memcpy(elements[e], sim_source(warp, &insn->value[count + e]), sizeof elements[e]);
    for (int e = 0; e < count; e++) sim_put(warp, &insn->value[e], elements[e], sizeof elements[e][0], mask);
}

static void mov_pred(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    sim_put_predicate(warp, &insn->value[0], sim_predicate(warp, &insn->value[1]), mask);
}
sim_exec *const sim_mov[SIM_TYPE_COUNT] = {
    [SIM_b16] = mov, [SIM_b32] = mov, [SIM_b64] = mov, [SIM_u16] = mov,
    [SIM_s16] = mov, [SIM_u32] = mov, [SIM_s32] = mov, [SIM_u64] = mov,
    [SIM_s64] = mov, [SIM_f32] = mov, [SIM_f64] = mov, [SIM_pred] = mov_pred};
