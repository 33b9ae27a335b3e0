/* Which elements of a group of four are kept, and the code that says so, for as many groups as a unit has.
 *
 * A word holds an element of each group: word i that of place i, a lane for each group. Then an instruction
 * compares, or chooses, in all groups at once. What is true or false of a lane is its greatest bit, and the
 * bits below it are any; a *mask* has all bits of the lane alike. */
#include "ops/compress24/compress24.h"
#include "parts/made_name.h"

/* What lop3 computes, of its three sources. */
enum { FIRST = 0xf0, SECOND = 0xcc, THIRD = 0xaa, ALL = 0xff };
#define MOST(x, y, z)      ((((x) & (y)) | ((x) & (z)) | ((y) & (z))) & ALL)
#define NOT_OF(x)          (~(x)&ALL)
#define CHOICE(if_x, y, z) (((if_x) & (y)) | (NOT_OF(if_x) & (z)))

enum { MEMBERS = 4 };

typedef struct chooser {
    const compress24_plan *plan;
    mc_builder *b;
    mc_reg zero;
    uint32_t high, below; /* of each lane the greatest bit, and all but that */
    uint32_t spread;      /* prmt: each lane becomes copies of its greatest bit */
    mc_reg element[MEMBERS];
    made_name prefix; /* of a member's registers */
} chooser;

static bool is_byte(const chooser *c) { return c->plan->element.bytes == 1; }
/* Whether the greatest bit of an element is more than a sign: one that has no other is not zero. */
static bool has_high(const chooser *c) { return c->plan->element.kind >= COMPRESS24_SIGNED; }
/* Whether magnitudes have it; those of pairs are 30 at most. */
static bool is_high(const chooser *c) { return has_high(c) && !has_pairs(c->plan); }

/* -- Elements by their places --------------------------------------------------------------------------- */

static void take_bytes(chooser *c, const mc_reg *words) {
    enum { LOW = 0x5140, HIGH = 0x7362, FIRSTS = 0x5410, SECONDS = 0x7632 };
    mc_builder *b = c->b;
    mc_reg low = prmt(b, "low", words[0], words[1], H(LOW)),
           high = prmt(b, "high", words[0], words[1], H(HIGH));
    mc_reg low2 = prmt(b, "low2", words[2], words[3], H(LOW)),
           high2 = prmt(b, "high2", words[2], words[3], H(HIGH));
    c->element[0] = prmt(b, "e0", low, low2, H(FIRSTS));
    c->element[1] = prmt(b, "e1", low, low2, H(SECONDS));
    c->element[2] = prmt(b, "e2", high, high2, H(FIRSTS));
    c->element[3] = prmt(b, "e3", high, high2, H(SECONDS));
}

enum { LOW_HALVES = 0x5410, HIGH_HALVES = 0x7632 };

static void take_halves(chooser *c, const mc_reg *words) {
    mc_builder *b = c->b;
    c->element[0] = prmt(b, "e0", words[0], words[2], H(LOW_HALVES));
    c->element[1] = prmt(b, "e1", words[0], words[2], H(HIGH_HALVES));
    c->element[2] = prmt(b, "e2", words[1], words[3], H(LOW_HALVES));
    c->element[3] = prmt(b, "e3", words[1], words[3], H(HIGH_HALVES));
}

/* Names of registers begin with the member's number, until the prefix that it returns is put back. */
static const char *begin_member(chooser *c, int member) {
    const char *outer = c->b->prefix;
    c->prefix = name_with(outer, name_nth("m", member).text);
    c->prefix = name_with(c->prefix.text, "_");
    c->b->prefix = c->prefix.text;
    return outer;
}

/* -- Magnitudes ----------------------------------------------------------------------------------------- */

/* All NaNs become the same one. The maximum with 0 gives the canonical NaN for any (PTX ISA, "max"). */
static mc_reg without_nans(chooser *c, mc_reg magnitude) {
    enum { BEYOND = 3, NAN_BITS = 3 };
    mc_builder *b = c->b;
    if (!is_byte(c))
        return c->plan->element.brain ? max_nan_bf16x2(b, "number", magnitude, c->zero)
                                      : max_nan_f16x2(b, "number", magnitude, c->zero);
    /* e5m2 has infinity at 0x7c: 3 more reaches the greatest bit of NaNs alone, whose low bits are set. */
    mc_reg beyond = add_s32(b, "beyond", magnitude, H(lanes_of(c->plan, BEYOND)));
    mc_reg nan = and_b32(b, "nan", shr_u32(b, "nan_bits", beyond, I(7)), H(lanes_of(c->plan, 1)));
    return or_b32(b, "number", magnitude, mul_s32(b, "low_bits", nan, I(NAN_BITS)));
}

/* -128 has the magnitude 128, which is an unsigned byte. Lanes of SIGN are 0 or 255: it is 255 times the ones
   that are to be added, and 255 times -0x01010101 is 1 (modulo 2^32). A mad is none of the ALU's, which is
   what is short here. */
static mc_reg absolute(chooser *c, mc_reg element) {
    mc_builder *b = c->b;
    mc_reg sign = prmt(b, "sign", element, element, H(c->spread));
    mc_reg turned = xor_b32(b, "turned", element, sign);
    return mad_s32(b, "magnitude", sign, H(-lanes_of(c->plan, 1)), turned);
}

/* Of each half of a byte, as `absolute`: 8 is the most, so that none leaves its half. */
static mc_reg absolute_halves(chooser *c, mc_reg element) {
    enum { SIGN_AT = 3, EACH_HALF = 0x11111111, HALF = 0xf };
    mc_builder *b = c->b;
    mc_reg sign = and_b32(b, "signs", shr_u32(b, "signs_down", element, I(SIGN_AT)), H(EACH_HALF));
    mc_reg turned = xor_b32(b, "turned", element, mul_s32(b, "signs_spread", sign, I(HALF)));
    return add_s32(b, "magnitudes", turned, sign);
}

/* The sum of both halves: 15 times the upper one less than the byte, which is 16 times that and the lower. */
static mc_reg sum_of_halves(chooser *c, mc_reg halves) {
    enum { HALF_BITS = 4, HALF = 0xf };
    mc_builder *b = c->b;
    mc_reg upper =
        and_b32(b, "upper", shr_u32(b, "upper_down", halves, I(HALF_BITS)), H(lanes_of(c->plan, HALF)));
    return mad_s32(b, "sum", upper, I(-HALF), halves);
}

static mc_reg magnitude_of(chooser *c, mc_reg element) {
    const compress24_kind kind = c->plan->element.kind;
    if (kind == COMPRESS24_UNSIGNED) return element;
    if (kind == COMPRESS24_SIGNED) return absolute(c, element);
    if (kind == COMPRESS24_UNSIGNED_PAIR) return sum_of_halves(c, element);
    if (kind == COMPRESS24_SIGNED_PAIR) return sum_of_halves(c, absolute_halves(c, element));
    mc_reg magnitude = and_b32(c->b, "magnitude", element, H(c->below));
    return kind == COMPRESS24_FLOAT ? without_nans(c, magnitude) : magnitude;
}

/* Whether it is not zero: the bits below the greatest one carry into it. */
static mc_reg is_nonzero(chooser *c, mc_reg element) {
    mc_builder *b = c->b;
    mc_reg low = and_b32(b, "below_high", element, H(c->below));
    mc_reg carry = add_s32(b, "nonzero", low, H(c->below));
    return has_high(c) ? or_b32(b, "nonzero_or_high", carry, element) : carry;
}

/* -- Comparisons ---------------------------------------------------------------------------------------- */

/* Magnitudes, as comparisons want them: with the greatest bit set, so that lanes do not borrow from one
   another, and what is subtracted from these: unsigned elements without that bit. */
typedef struct compared {
    mc_reg whole[MEMBERS], set[MEMBERS], less[MEMBERS];
} compared;

static compared compare_ready(chooser *c) {
    mc_builder *b = c->b;
    const compress24_kind kind = c->plan->element.kind;
    compared m;
    for (int i = 0; i < MEMBERS; i++) {
        const char *outer = begin_member(c, i);
        m.whole[i] = m.less[i] = magnitude_of(c, c->element[i]);
        if (i < MEMBERS - 1) m.set[i] = or_b32(b, "set", m.whole[i], H(c->high));
        if (i > 0 && kind == COMPRESS24_UNSIGNED) m.less[i] = and_b32(b, "clear", m.whole[i], H(c->below));
        b->prefix = outer;
    }
    return m;
}

/* Whether member I is not less than member J. Of unsigned elements the greatest bit decides. The only signed
   magnitude that has it is 128, which is not less than any; subtracted from what has the bit it leaves less
   than 128. */
static mc_reg at_least(chooser *c, const compared *m, int i, int j) {
    mc_builder *b = c->b;
    const int pair = 10 * i + j;
    const made_name name = name_nth("at_least", pair);
    mc_reg below = sub_s32(b, name_nth("below", pair).text, m->set[i], m->less[j]);
    if (!is_high(c)) return below;
    if (c->plan->element.kind == COMPRESS24_SIGNED) return or_b32(b, name.text, m->whole[i], below);
    return lop3(b, name.text, m->whole[i], m->whole[j], below, H(MOST(FIRST, NOT_OF(SECOND), THIRD)));
}

/* A member is kept if it wins against two of the three others; the earlier one wins where both are alike. */
static void keep_greatest(chooser *c, mc_reg keep[MEMBERS]) {
    mc_builder *b = c->b;
    const compared m = compare_ready(c);
    mc_reg w01 = at_least(c, &m, 0, 1), w02 = at_least(c, &m, 0, 2), w03 = at_least(c, &m, 0, 3);
    mc_reg w12 = at_least(c, &m, 1, 2), w13 = at_least(c, &m, 1, 3), w23 = at_least(c, &m, 2, 3);
    keep[0] = lop3(b, "keep0", w01, w02, w03, H(MOST(FIRST, SECOND, THIRD)));
    keep[1] = lop3(b, "keep1", w01, w12, w13, H(MOST(NOT_OF(FIRST), SECOND, THIRD)));
    keep[2] = lop3(b, "keep2", w02, w12, w23, H(MOST(NOT_OF(FIRST), NOT_OF(SECOND), THIRD)));
    keep[3] = lop3(b, "keep3", w03, w13, w23, H(MOST(NOT_OF(FIRST), NOT_OF(SECOND), NOT_OF(THIRD))));
}

/* Of groups with two nonzeros at most: these, and the earliest zeros. Of the last two members a zero is never
   among them. Returns whether there are more nonzeros. */
static mc_reg keep_nonzeros(chooser *c, mc_reg keep[MEMBERS]) {
    mc_builder *b = c->b;
    mc_reg nonzero[MEMBERS];
    for (int i = 0; i < MEMBERS; i++) {
        const char *outer = begin_member(c, i);
        nonzero[i] = is_nonzero(c, c->element[i]);
        b->prefix = outer;
    }
    mc_reg two = lop3(b, "two_behind", nonzero[1], nonzero[2], nonzero[3], H(MOST(FIRST, SECOND, THIRD)));
    mc_reg three = lop3(b, "three_behind", nonzero[1], nonzero[2], nonzero[3], H(FIRST & SECOND & THIRD));
    keep[0] = lop3(b, "keep0", nonzero[0], two, two, H(FIRST | NOT_OF(SECOND)));
    keep[1] = lop3(b, "keep1", nonzero[1], nonzero[2], nonzero[3], H(FIRST | NOT_OF(SECOND | THIRD)));
    keep[2] = nonzero[2];
    keep[3] = nonzero[3];
    return lop3(b, "is_full", nonzero[0], two, three, H((FIRST & SECOND) | THIRD));
}

/* -- What is kept --------------------------------------------------------------------------------------- */

/* The first member that is kept is one of the first three, the second one of the last three. */
static void keep_values(chooser *c, const mc_reg mask[MEMBERS], mc_reg values[2]) {
    enum { LOW_PAIRS = 0x5140, HIGH_PAIRS = 0x7362 };
    mc_builder *b = c->b;
    const mc_reg *e = c->element;
    mc_reg first = lop3(b, "not_0", mask[1], e[1], e[2], H(CHOICE(FIRST, SECOND, THIRD)));
    first = lop3(b, "first", mask[0], e[0], first, H(CHOICE(FIRST, SECOND, THIRD)));
    mc_reg second = lop3(b, "not_3", mask[2], e[2], e[1], H(CHOICE(FIRST, SECOND, THIRD)));
    second = lop3(b, "second", mask[3], e[3], second, H(CHOICE(FIRST, SECOND, THIRD)));
    values[0] = prmt(b, "values0", first, second, H(is_byte(c) ? LOW_PAIRS : LOW_HALVES));
    values[1] = prmt(b, "values1", first, second, H(is_byte(c) ? HIGH_PAIRS : HIGH_HALVES));
}

/* index 0 | index 1 << 2. The first index is 0, or 1 where member 1 is kept, or else 2; the second one is 3,
   or 2 where member 2 is kept, or else 1. */
static mc_reg code_of(chooser *c, const mc_reg mask[MEMBERS]) {
    enum { INDEX_0 = 3, INDEX_0_IS_2 = 2, INDEX_1 = 12, INDEX_1_IS_1 = 4 };
    mc_builder *b = c->b;
    const compress24_plan *p = c->plan;
    mc_reg low = lop3(b, "index0", mask[1], H(lanes_of(p, INDEX_0)), H(lanes_of(p, INDEX_0_IS_2)),
                      H((FIRST & SECOND) ^ THIRD));
    mc_reg high = lop3(b, "index1_or_3", mask[2], H(lanes_of(p, INDEX_1)), H(lanes_of(p, INDEX_1_IS_1)),
                       H((FIRST & SECOND) ^ THIRD));
    high = lop3(b, "index1", mask[3], H(lanes_of(p, INDEX_1)), high, H((FIRST & SECOND) | THIRD));
    return lop3(b, "code", mask[0], low, high, H((NOT_OF(FIRST) & SECOND) | THIRD));
}

/* Whether a member that is not kept is no zero: then the group has more nonzeros than may be kept. */
static mc_reg drops_nonzero(chooser *c, const mc_reg mask[MEMBERS]) {
    mc_builder *b = c->b;
    mc_reg dropped = lop3(b, "dropped0", mask[0], c->element[0], I(0), H(NOT_OF(FIRST) & SECOND));
    for (int i = 1; i < MEMBERS; i++)
        dropped = lop3(b, name_nth("dropped", i).text, mask[i], c->element[i], dropped,
                       H((NOT_OF(FIRST) & SECOND) | THIRD));
    return is_nonzero(c, dropped);
}

void choose_units(const compress24_plan *plan, mc_builder *b, const mc_reg *words, mc_reg zero,
                  compressed_unit *unit) {
    enum { SPREAD_BYTES = 0xba98, SPREAD_HALVES = 0xbb99 };
    chooser c = {.plan = plan, .b = b, .zero = zero};
    mc_reg keep[MEMBERS], mask[MEMBERS];
    c.high = lanes_of(plan, 1U << (lane_bits(plan) - 1));
    c.below = ~c.high;
    c.spread = is_byte(&c) ? SPREAD_BYTES : SPREAD_HALVES;
    if (is_byte(&c)) take_bytes(&c, words);
    else take_halves(&c, words);
    if (plan->mode == COMPRESS24_PRUNE) keep_greatest(&c, keep);
    else unit->full = keep_nonzeros(&c, keep);
    for (int i = 0; i < MEMBERS; i++)
        mask[i] = prmt(b, name_nth("mask", i).text, keep[i], keep[i], H(c.spread));
    if (plan->mode == COMPRESS24_PRUNE) unit->full = drops_nonzero(&c, mask);
    keep_values(&c, mask, unit->values);
    unit->codes = code_of(&c, mask);
}
