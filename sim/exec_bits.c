/* Logic, shifts, bit fields and byte permutation. */
#include "lanes.h"

#define BITS_TABLE(op)                                                                                       \
    { [SIM_b16] = op##_b16, [SIM_b32] = op##_b32, [SIM_b64] = op##_b64, [SIM_pred] = op##_pred }

/* The same for predicates: a mask is combined bit by bit. */
#define LOGIC(op, expression)                                                                                \
    SIM_BINARY(op##_b16, uint16_t, expression)                                                               \
    SIM_BINARY(op##_b32, uint32_t, expression)                                                               \
    SIM_BINARY(op##_b64, uint64_t, expression)                                                               \
    static void op##_pred(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {               \
        uint32_t x = sim_predicate(warp, &insn->value[1]), y = sim_predicate(warp, &insn->value[2]);         \
        sim_put_predicate(warp, &insn->value[0], expression, mask);                                          \
    }                                                                                                        \
    sim_exec *const sim_##op[SIM_TYPE_COUNT] = BITS_TABLE(op);
LOGIC(and, x &y)
LOGIC(or, x | y)
LOGIC(xor, x ^ y)

SIM_UNARY(not_b16, uint16_t, uint16_t, ~x)
SIM_UNARY(not_b32, uint32_t, uint32_t, ~x)
SIM_UNARY(not_b64, uint64_t, uint64_t, ~x)
static void not_pred(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    sim_put_predicate(warp, &insn->value[0], ~sim_predicate(warp, &insn->value[1]), mask);
}
sim_exec *const sim_not[SIM_TYPE_COUNT] = BITS_TABLE(not );

SIM_UNARY(cnot_b16, uint16_t, uint16_t, x == 0)
SIM_UNARY(cnot_b32, uint32_t, uint32_t, x == 0)
SIM_UNARY(cnot_b64, uint64_t, uint64_t, x == 0)
sim_exec *const sim_cnot[SIM_TYPE_COUNT] = {[SIM_b16] = cnot_b16, [SIM_b32] = cnot_b32, [SIM_b64] = cnot_b64};

/* Bit i of the table is the result where the bits of a, b, c spell i (ISA, "lop3"). */
static void lop3(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    const uint32_t *a = sim_source(warp, &insn->value[1]), *b = sim_source(warp, &insn->value[2]);
    const uint32_t *c = sim_source(warp, &insn->value[3]);
    uint32_t table = sim_lane_u32(warp, &insn->value[4], 0), r[SIM_LANES] = {0};
    for (unsigned i = 0; i < 8; i++) {
        if (!(table >> i & 1)) continue;
        uint32_t flip_a = i & 4 ? 0 : ~0u, flip_b = i & 2 ? 0 : ~0u, flip_c = i & 1 ? 0 : ~0u;
        SIM_EACH_LANE(l) r[l] |= (a[l] ^ flip_a) & (b[l] ^ flip_b) & (c[l] ^ flip_c);
    }
    sim_put(warp, &insn->value[0], r, sizeof *r, mask);
}
sim_exec *const sim_lop3[SIM_TYPE_COUNT] = {[SIM_b32] = lop3};

/* Shifts by the width and more give 0, or the sign (ISA, "shl", "shr": amounts are clamped). Signed values
   are shifted as int64_t, where gcc and clang shift arithmetically. */
#define SHIFTS(width)                                                                                        \
    SIM_BINARY2(shl_b##width, uint##width##_t, uint##width##_t, uint32_t, y < width ? (uint64_t)x << y : 0)  \
    SIM_BINARY2(shr_u##width, uint##width##_t, uint##width##_t, uint32_t, y < width ? x >> y : 0)            \
    SIM_BINARY2(shr_s##width, int##width##_t, int##width##_t, uint32_t, x >> (y < width ? y : width - 1))
SHIFTS(16)
SHIFTS(32)
SHIFTS(64)
sim_exec *const sim_shl[SIM_TYPE_COUNT] = {[SIM_b16] = shl_b16, [SIM_b32] = shl_b32, [SIM_b64] = shl_b64};
sim_exec *const sim_shr[SIM_TYPE_COUNT] = {
    [SIM_b16] = shr_u16, [SIM_b32] = shr_u32, [SIM_b64] = shr_u64, [SIM_u16] = shr_u16, [SIM_u32] = shr_u32,
    [SIM_u64] = shr_u64, [SIM_s16] = shr_s16, [SIM_s32] = shr_s32, [SIM_s64] = shr_s64};

/* A funnel shift moves the 64 bits b:a by 0 to 32 and keeps the high (l) or low (r) half (ISA, "shf"). */
static uint64_t join(uint32_t a, uint32_t b) { return (uint64_t)b << 32 | a; }
static uint32_t clamp32(uint32_t n) { return n < 32 ? n : 32; }

SIM_TERNARY(shf_l_wrap_b32, uint32_t, join(x, y) << (z & 31) >> 32)
SIM_TERNARY(shf_l_clamp_b32, uint32_t, join(x, y) << clamp32(z) >> 32)
SIM_TERNARY(shf_r_wrap_b32, uint32_t, join(x, y) >> (z & 31))
SIM_TERNARY(shf_r_clamp_b32, uint32_t, join(x, y) >> clamp32(z))
sim_exec *const sim_shf_l_wrap[SIM_TYPE_COUNT] = {[SIM_b32] = shf_l_wrap_b32};
sim_exec *const sim_shf_l_clamp[SIM_TYPE_COUNT] = {[SIM_b32] = shf_l_clamp_b32};
sim_exec *const sim_shf_r_wrap[SIM_TYPE_COUNT] = {[SIM_b32] = shf_r_wrap_b32};
sim_exec *const sim_shf_r_clamp[SIM_TYPE_COUNT] = {[SIM_b32] = shf_r_clamp_b32};

SIM_UNARY(popc_b32, uint32_t, uint32_t, __builtin_popcount(x))
SIM_UNARY(popc_b64, uint32_t, uint64_t, __builtin_popcountll(x))
sim_exec *const sim_popc[SIM_TYPE_COUNT] = {[SIM_b32] = popc_b32, [SIM_b64] = popc_b64};

SIM_UNARY(clz_b32, uint32_t, uint32_t, x ? __builtin_clz(x) : 32)
SIM_UNARY(clz_b64, uint32_t, uint64_t, x ? __builtin_clzll(x) : 64)
sim_exec *const sim_clz[SIM_TYPE_COUNT] = {[SIM_b32] = clz_b32, [SIM_b64] = clz_b64};

/* The highest bit that is set, or, of a negative number, clear; all ones if there is none (ISA, "bfind"). */
static uint32_t highest_bit(uint64_t x) { return x ? 63 - (uint32_t)__builtin_clzll(x) : UINT32_MAX; }
static uint32_t highest_bit_s64(int64_t x) { return highest_bit((uint64_t)(x < 0 ? ~x : x)); }
static uint32_t shift_amount(uint32_t bit, uint32_t width) {
    return bit == UINT32_MAX ? bit : width - 1 - bit;
}

#define BFIND(type, T, find, width)                                                                          \
    SIM_UNARY(bfind_##type, uint32_t, T, find(x))                                                            \
    SIM_UNARY(bfind_shiftamt_##type, uint32_t, T, shift_amount(find(x), width))
BFIND(u32, uint32_t, highest_bit, 32)
BFIND(u64, uint64_t, highest_bit, 64)
BFIND(s32, int32_t, highest_bit_s64, 32)
BFIND(s64, int64_t, highest_bit_s64, 64)

#define WORD_TABLE(op)                                                                                       \
    { [SIM_u32] = op##_u32, [SIM_s32] = op##_s32, [SIM_u64] = op##_u64, [SIM_s64] = op##_s64 }
sim_exec *const sim_bfind[SIM_TYPE_COUNT] = WORD_TABLE(bfind);
sim_exec *const sim_bfind_shiftamt[SIM_TYPE_COUNT] = WORD_TABLE(bfind_shiftamt);

static uint64_t reversed(uint64_t x) {
    uint64_t r = 0;
    for (int i = 0; i < 64; i++) r |= (x >> i & 1) << (63 - i);
    return r;
}

SIM_UNARY(brev_b32, uint32_t, uint32_t, reversed(x) >> 32)
SIM_UNARY(brev_b64, uint64_t, uint64_t, reversed(x))
sim_exec *const sim_brev[SIM_TYPE_COUNT] = {[SIM_b32] = brev_b32, [SIM_b64] = brev_b64};

/* LENGTH bits of x from bit AT; bits beyond the width are 0, or the sign: that of the field's highest bit
   inside the width (ISA, "bfe"). Only the low bytes of position and length count. */
static uint64_t extract(uint64_t x, uint32_t position, uint32_t length, unsigned width, bool is_signed) {
    unsigned at = position & 0xff, n = length & 0xff;
    if (n == 0) return 0;
    unsigned top = at + n - 1 < width - 1 ? at + n - 1 : width - 1;
    bool negative = is_signed && (x >> top & 1);
    uint64_t field = at < width ? x >> at : 0;
    unsigned inside = at < width ? width - at : 0;
    unsigned kept = n < inside ? n : inside;
    uint64_t keep = kept >= 64 ? UINT64_MAX : (UINT64_C(1) << kept) - 1;
    return (field & keep) | (negative ? ~keep : 0);
}

/* The low LENGTH bits of a put into b from bit AT on; what runs past the width is dropped (ISA, "bfi"). */
static uint64_t insert(uint64_t a, uint64_t b, uint32_t position, uint32_t length, unsigned width) {
    unsigned at = position & 0xff, n = length & 0xff;
    if (at >= width || n == 0) return b;
    uint64_t field = (n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1) << at;
    return (b & ~field) | (a << at & field);
}

#define BFE(type, T, width, is_signed)                                                                       \
    SIM_TERNARY2(bfe_##type, T, T, uint32_t, uint32_t, extract(x, y, z, width, is_signed))
BFE(u32, uint32_t, 32, false)
BFE(s32, uint32_t, 32, true)
BFE(u64, uint64_t, 64, false)
BFE(s64, uint64_t, 64, true)
sim_exec *const sim_bfe[SIM_TYPE_COUNT] = WORD_TABLE(bfe);

#define BFI(width)                                                                                           \
    static void bfi_b##width(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {            \
        const uint##width##_t *a = sim_source(warp, &insn->value[1]),                                        \
                              *b = sim_source(warp, &insn->value[2]);                                        \
        uint##width##_t r[SIM_LANES];                                                                        \
        SIM_EACH_LANE(l)                                                                                     \
        r[l] = (uint##width##_t)insert(a[l], b[l], sim_lane_u32(warp, &insn->value[3], l),                   \
                                       sim_lane_u32(warp, &insn->value[4], l), width);                       \
        sim_put(warp, &insn->value[0], r, sizeof *r, mask);                                                  \
    }
BFI(32)
BFI(64)
sim_exec *const sim_bfi[SIM_TYPE_COUNT] = {[SIM_b32] = bfi_b32, [SIM_b64] = bfi_b64};

/* prmt: each nibble of the selector picks one of the eight bytes of b:a; its top bit replicates that byte's
 * sign. */
static uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
    uint64_t bytes = join(a, b);
    uint32_t r = 0;
    for (unsigned i = 0; i < 4; i++) {
        unsigned nibble = selector >> 4 * i & 15;
        uint32_t byte = (uint32_t)(bytes >> 8 * (nibble & 7)) & 0xff;
        if (nibble & 8) byte = byte & 0x80 ? 0xff : 0;
        r |= byte << 8 * i;
    }
    return r;
}

/* With one selector for all lanes that copies no signs, the shifts are the same in every lane. */
static void permute_alike(const uint32_t *a, const uint32_t *b, uint32_t selector, uint32_t *r) {
    SIM_EACH_LANE(l) r[l] = 0;
    for (unsigned i = 0; i < 4; i++) {
        unsigned nibble = selector >> 4 * i & 7, down = 8 * (nibble & 3), up = 8 * i;
        const uint32_t *from = nibble & 4 ? b : a;
        SIM_EACH_LANE(l) r[l] |= (from[l] >> down & 0xff) << up;
    }
}

static void prmt(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    const uint32_t *a = sim_source(warp, &insn->value[1]), *b = sim_source(warp, &insn->value[2]);
    const uint32_t *c = sim_source(warp, &insn->value[3]);
    uint32_t r[SIM_LANES];
    if (insn->value[3].kind == SIM_CONSTANT && !(c[0] & 0x8888)) permute_alike(a, b, c[0], r);
    else SIM_EACH_LANE(l) r[l] = permute(a[l], b[l], c[l]);
    sim_put(warp, &insn->value[0], r, sizeof *r, mask);
}
sim_exec *const sim_prmt[SIM_TYPE_COUNT] = {[SIM_b32] = prmt};

/* The special modes, by selector 0 to 3, as selectors of the general mode (ISA, "prmt"). */
#define PRMT_MODE(mode, s0, s1, s2, s3)                                                                      \
    static uint32_t mode##_selector(uint32_t c) {                                                            \
        static const uint16_t selectors[] = {s0, s1, s2, s3};                                                \
        return selectors[c & 3];                                                                             \
    }                                                                                                        \
    SIM_TERNARY(prmt_##mode##_b32, uint32_t, permute(x, y, mode##_selector(z)))                              \
    sim_exec *const sim_prmt_##mode[SIM_TYPE_COUNT] = {[SIM_b32] = prmt_##mode##_b32};
PRMT_MODE(f4e, 0x3210, 0x4321, 0x5432, 0x6543)
PRMT_MODE(b4e, 0x5670, 0x6701, 0x7012, 0x0123)
PRMT_MODE(rc8, 0x0000, 0x1111, 0x2222, 0x3333)
PRMT_MODE(ecl, 0x3210, 0x3211, 0x3222, 0x3333)
PRMT_MODE(ecr, 0x0000, 0x1110, 0x2210, 0x3210)
PRMT_MODE(rc16, 0x1010, 0x3232, 0x1010, 0x3232)
