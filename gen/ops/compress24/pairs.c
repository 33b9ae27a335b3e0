/* Elements of 32 bits: of two neighbours the greater one is kept, or the first where both are alike. A code
   has 4 bits as of 2:4, where an element is two halves. A unit has two pairs, whose codes are a byte. */
#include "ops/compress24/compress24.h"
#include "parts/made_name.h"

enum { PAIRS = 2, CODE_FIRST = 0x4, CODE_SECOND = 0xe, CODE_BITS = 4 };

/* The bits but the sign; all NaNs are the first one. */
static mc_reg magnitude_of(mc_builder *b, const char *name, mc_reg element) {
    enum { BELOW = 0x7fffffff, FIRST_NAN = 0x7f800001 };
    mc_reg bits = and_b32(b, name_with(name, "_bits").text, element, H(BELOW));
    return min_s32(b, name, bits, H(FIRST_NAN));
}

void choose_pairs(const compress24_plan *plan, mc_builder *b, const mc_reg *words, compressed_unit *unit) {
    mc_reg codes[PAIRS], full[PAIRS];
    for (int i = 0; i < PAIRS; i++) {
        const char *outer = b->prefix;
        made_name prefix = name_with(name_with(outer, name_nth("p", i).text).text, "_");
        b->prefix = prefix.text;
        mc_reg first = magnitude_of(b, "first", words[2 * i]);
        mc_reg second = magnitude_of(b, "second", words[2 * i + 1]);
        mc_reg is_second = setp_lt(b, "is_second", first, second);
        mc_reg both = setp_gt(b, "both", min_s32(b, "least", first, second), I(0));
        unit->values[i] = selp_b32(b, "value", words[2 * i + 1], words[2 * i], is_second);
        codes[i] = selp_b32(b, "code", H((uint32_t)CODE_SECOND << (i * CODE_BITS)),
                            H((uint32_t)CODE_FIRST << (i * CODE_BITS)), is_second);
        full[i] = selp_b32(b, "full", H(1U << full_bit(plan, 0, i)), I(0), both);
        b->prefix = outer;
    }
    unit->codes = or_b32(b, "codes", codes[0], codes[1]);
    unit->full = or_b32(b, "is_full", full[0], full[1]);
}
