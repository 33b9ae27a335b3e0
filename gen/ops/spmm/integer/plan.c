/* The plan of the integers' arithmetic: how A's digits are cut, which of them share an mma, and what a spec
   cannot have of both. */
#include "ops/spmm/fields.h"
#include "ops/spmm/integer/arithmetic.h"
#include "parts/fragment.h"
#include <stdio.h>

/* -- Digits that share an mma -------------------------------------------------------------------------- */

enum { WHY = 160 };

/* How many planes fit into the mma's columns. */
static int room(const spmm_arithmetic *math) {
    int planes = SPMM_MMA_ROWS / math->vec;
    return planes < math->a.count ? planes : math->a.count;
}

/* Whether A's digits can share an mma; where they cannot, WHY_NOT says why. */
static bool can_stack(const spmm_arithmetic *math, char why_not[WHY]) {
    const digit_set *a = &math->a;
    const char *name = math->lhs.name;
    int columns = a->count * math->vec + math->ones;
    if (math->vec == SPMM_MMA_ROWS)
        snprintf(why_not, WHY, "a vector of 8 rows fills the mma's 8 columns: there is nothing to stack");
    else if (a->count == 1)
        snprintf(why_not, WHY, "lhs = \"%s\" is one digit: there is nothing to stack", name);
    else if (a->low_signed != a->top_signed)
        snprintf(why_not, WHY,
                 "the top digit of lhs = \"%s\" has a sign, the others have none: digits = \"balanced\" or "
                 "\"offset\"",
                 name);
    else if (math->ones && columns > SPMM_MMA_ROWS)
        snprintf(why_not, WHY,
                 "%d digits of %d rows leave no column of the mma for the ones of digits = \"offset\"",
                 a->count, math->vec);
    else return true;
    return false;
}

static void plan_mma(spmm_arithmetic *math, bool stacked) {
    math->planes = stacked ? room(math) : 1;
    math->mma = (math->a.count + math->planes - 1) / math->planes;
    math->sums = spmm_sum_of(math, math->mma - 1, math->b.count - 1) + 1;
}

int spmm_mma_rows(const spmm_arithmetic *math, int mma) {
    int before = mma * math->planes, left = math->a.count - before;
    bool last = mma == math->mma - 1;
    return (left < math->planes ? left : math->planes) * math->vec + (last && math->ones);
}

static void plan_digits(const int64_t *point, spmm_arithmetic *math, mc_complaints *complaints) {
    char why[WHY];
    bool stacks = can_stack(math, why);
    plan_mma(math, stacks && point[F_STACKING] != STACKING_OFF);
    if (math->mode != DIGITS_TOP_SIGNED && (!math->lhs.is_signed || math->a.count == 1))
        complain(complaints, F_DIGITS, "\"%s\" is for a signed lhs of several digits, not for \"%s\"",
                 digit_mode_names[math->mode], math->lhs.name);
    else if (math->ones && math->vec == SPMM_MMA_ROWS)
        complain(complaints, F_DIGITS, "\"offset\" wants a free column of the mma: vec = 8 leaves none");
    else if (!stacks && point[F_STACKING] == STACKING_ON) complain(complaints, F_STACKING, "%s", why);
}

/* -- The mma ------------------------------------------------------------------------------------------- */

/* Whether mma = "auto" takes digits of 4 bits. The split of lhs says it. Where that is auto, too, the answer
   is no where such digits do less, and the spec has to ask for them: balanced digits of 4 bits reach less far
   than those of 8, and up to four sums of an element leave fewer registers for exact ones. */
static bool prefers_int4(const int64_t *point) {
    digit_side lhs = digit_sides[point[F_LHS]];
    bool usual = point[F_DIGITS] == DIGITS_TOP_SIGNED && !point[F_SUM] && mc_archs[point[FIELD_ARCH]].int4;
    bool in_bytes = digit_split_fits(point[F_PRECISION_SPLIT], lhs, DIGIT_BITS);
    bool in_nibbles = digit_split_fits(point[F_PRECISION_SPLIT], lhs, NIBBLE_BITS);
    return in_bytes == in_nibbles ? usual : in_nibbles;
}

static bool takes_int4(const int64_t *point, bool gathers) {
    if (digit_sides[point[F_RHS]].bits != 4 || !gathers || point[F_MMA] == SPMM_INT8) return false;
    return point[F_MMA] == SPMM_INT4 || prefers_int4(point);
}

spmm_arithmetic spmm_plan_arithmetic(const int64_t *point, bool gathers, bool exact,
                                     mc_complaints *complaints) {
    bool int4 = takes_int4(point, gathers);
    int bits = int4 ? NIBBLE_BITS : DIGIT_BITS;
    spmm_arithmetic math = {
        .lhs = digit_sides[point[F_LHS]],
        .rhs = digit_sides[point[F_RHS]],
        .a = digits_of(digit_sides[point[F_LHS]], bits, (digit_mode)point[F_DIGITS]),
        .b = digits_of(digit_sides[point[F_RHS]], bits, DIGITS_TOP_SIGNED),
        .vec = (int)point[F_VEC],
        .order = (spmm_order)point[F_ORDER],
        .mode = (digit_mode)point[F_DIGITS],
        .ones = point[F_DIGITS] == DIGITS_OFFSET,
        .exact = exact,
        .int4 = int4,
        .shuffle = point[F_SHUFFLE] != 0,
        .stride = (int)point[F_STRIDE],
        .depth = int4 ? (int)point[F_STRIDE] : MC_GROUP_SLOTS,
        .k = point[F_K],
    };
    plan_digits(point, &math, complaints);
    math.takes_halves = math.rhs.bits == 4 && math.b.bits == DIGIT_BITS;
    math.times_16 = math.takes_halves && math.k <= spmm_exact_k(&math); /* an open k is bounded instead */
    math.flush_strides = spmm_flush_strides(&math);
    return math;
}

static void check_mma(const int64_t *point, const spmm_arithmetic *math, const char *staging, bool gathers,
                      mc_complaints *complaints) {
    if (point[F_MMA] == SPMM_INT4 && math->rhs.bits != 4)
        complain(complaints, F_MMA, "\"int4\" takes rhs = \"s4\" or \"u4\", not \"%s\"", math->rhs.name);
    else if (point[F_MMA] == SPMM_INT4 && !gathers)
        complain(complaints, F_MMA, "\"int4\" takes staging = \"direct\" or \"shared\", not \"%s\"", staging);
    else if (!math->int4 && !math->shuffle)
        complain(complaints, F_SHUFFLE,
                 "there are nibbles to be shuffled with an int4 mma only: leave it out");
}

/* Complains of a precision_split that the mma of this point does not have. */
static void check_split(const int64_t *point, const spmm_arithmetic *math, const char *staging, bool gathers,
                        mc_complaints *complaints) {
    int64_t split = point[F_PRECISION_SPLIT];
    digit_side lhs = math->lhs;
    char bytes[DIGIT_SPLIT_TEXT], nibbles[DIGIT_SPLIT_TEXT];
    digit_split_text(lhs, DIGIT_BITS, bytes);
    digit_split_text(lhs, NIBBLE_BITS, nibbles);
    if (digit_split_fits(split, lhs, math->a.bits)) return;
    if (lhs.bits == NIBBLE_BITS)
        complain(complaints, F_PRECISION_SPLIT, "lhs = \"%s\" takes \"4\": it is one digit", lhs.name);
    else if (math->rhs.bits != 4)
        complain(complaints, F_PRECISION_SPLIT,
                 "lhs = \"%s\" with rhs = \"%s\" takes \"%s\": both sides have digits of one width, and only "
                 "a 4-bit rhs has any of 4 bits",
                 lhs.name, math->rhs.name, bytes);
    else if (!digit_split_fits(split, lhs, DIGIT_BITS) && !digit_split_fits(split, lhs, NIBBLE_BITS))
        complain(complaints, F_PRECISION_SPLIT,
                 "lhs = \"%s\" with rhs = \"%s\" takes \"%s\", for 8-bit mma, or \"%s\", for 4-bit ones",
                 lhs.name, math->rhs.name, bytes, nibbles);
    else if (!gathers)
        complain(complaints, F_PRECISION_SPLIT, "staging = \"%s\" multiplies digits of 8 bits: \"%s\"",
                 staging, bytes);
    else
        complain(complaints, F_PRECISION_SPLIT, "mma = \"%s\" multiplies digits of %d bits: \"%s\"",
                 math->int4 ? "int4" : "int8", math->a.bits, math->int4 ? nibbles : bytes);
}

void spmm_check_arithmetic(const int64_t *point, const spmm_arithmetic *math, const char *staging,
                           bool gathers, mc_complaints *complaints) {
    check_mma(point, math, staging, gathers, complaints);
    check_split(point, math, staging, gathers, complaints);
}

/* -- Values and costs ---------------------------------------------------------------------------------- */

spmm_values spmm_values_of(const spmm_arithmetic *math) {
    int row_bytes = math->depth * math->a.bits / 8;
    return (spmm_values){
        .groups = math->stride / math->depth,
        .regs = math->depth * math->a.bits / (4 * 32),
        .count = math->depth / 4,
        .group_bytes = row_bytes * spmm_value_rows(math),
        .mma_bytes = row_bytes * math->vec * math->planes,
        .stride_bytes = math->stride * spmm_value_rows(math) * math->a.bits / 8,
    };
}

/* A large mma takes 16 columns and all of the slots; a small one takes 8 columns and 16 slots, of 4 bits
   32. */
int spmm_mma_count(const spmm_arithmetic *math, int tile_n) {
    int digits = math->b.count, biased = spmm_is_biased(math), small = math->int4 ? math->depth / 32 : 2;
    return math->mma * (math->order == SPMM_PAPER ? small * (tile_n / 8 * digits + biased)
                                                  : tile_n / 16 * digits + biased);
}

int spmm_pair_mma_count(const spmm_arithmetic *math, int tile_n) {
    return math->mma * (tile_n / 8 * math->b.count + spmm_is_biased(math));
}

/* A 4-bit mma takes half the time of an 8-bit one for 32 slots. Where ptxas makes several instructions of it
   an H200 does 45 TOPS, of 8-bit ones 1240. */
double spmm_mma_turns(const spmm_arithmetic *math, const mc_gpu *gpu) {
    if (!math->int4) return 1;
    double turns = math->depth / 64.0;
    const mc_arch *arch = arch_of_capability(gpu->capability);
    return arch && arch->int4 ? turns : turns * 2 * 1240 / 45;
}
