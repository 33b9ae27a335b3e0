/* What a spec cannot have of the integers' arithmetic. */
#include "ops/spmm/fields.h"
#include "ops/spmm/integer/products.h"

static void check_mma(const int64_t *point, const spmm_arithmetic *math, const char *staging, bool gathers,
                      mc_complaints *complaints) {
    if (point[F_MMA] == SPMM_INT4 && math->integer.rhs.bits != 4)
        complain(complaints, F_MMA, "\"int4\" takes rhs = \"s4\" or \"u4\", not \"%s\"",
                 math->integer.rhs.name);
    else if (point[F_MMA] == SPMM_INT4 && !gathers)
        complain(complaints, F_MMA, "\"int4\" takes staging = \"direct\" or \"shared\", not \"%s\"", staging);
    else if (!math->integer.int4 && !math->integer.shuffle)
        complain(complaints, F_SHUFFLE,
                 "there are nibbles to be shuffled with an int4 mma only: leave it out");
}

/* Complains of a precision_split that the mma of this point does not have. */
static void check_split(const int64_t *point, const spmm_arithmetic *math, const char *staging, bool gathers,
                        mc_complaints *complaints) {
    int64_t split = point[F_PRECISION_SPLIT];
    digit_side lhs = math->integer.lhs;
    char bytes[DIGIT_SPLIT_TEXT], nibbles[DIGIT_SPLIT_TEXT];
    if (digit_split_fits(split, lhs, math->integer.a.bits)) return;
    digit_split_text(lhs, DIGIT_BITS, bytes);
    digit_split_text(lhs, NIBBLE_BITS, nibbles);
    if (lhs.bits == NIBBLE_BITS)
        complain(complaints, F_PRECISION_SPLIT, "lhs = \"%s\" takes \"4\": it is one digit", lhs.name);
    else if (math->integer.rhs.bits != 4)
        complain(complaints, F_PRECISION_SPLIT,
                 "lhs = \"%s\" with rhs = \"%s\" takes \"%s\": both sides have digits of one width, and only "
                 "a 4-bit rhs has any of 4 bits",
                 lhs.name, math->integer.rhs.name, bytes);
    else if (!digit_split_fits(split, lhs, DIGIT_BITS) && !digit_split_fits(split, lhs, NIBBLE_BITS))
        complain(complaints, F_PRECISION_SPLIT,
                 "lhs = \"%s\" with rhs = \"%s\" takes \"%s\", for 8-bit mma, or \"%s\", for 4-bit ones",
                 lhs.name, math->integer.rhs.name, bytes, nibbles);
    else if (!gathers)
        complain(complaints, F_PRECISION_SPLIT, "staging = \"%s\" multiplies digits of 8 bits: \"%s\"",
                 staging, bytes);
    else
        complain(complaints, F_PRECISION_SPLIT, "mma = \"%s\" multiplies digits of %d bits: \"%s\"",
                 math->integer.int4 ? "int4" : "int8", math->integer.a.bits,
                 math->integer.int4 ? nibbles : bytes);
}

/* Whether the point wants nothing that only vectors of up to 8 rows have. */
static bool check_tall(const int64_t *point, mc_complaints *complaints) {
    digit_side lhs = digit_sides[point[F_LHS]];
    bool nibbles = lhs.bits > NIBBLE_BITS && digit_split_fits(point[F_PRECISION_SPLIT], lhs, NIBBLE_BITS) &&
                   !digit_split_fits(point[F_PRECISION_SPLIT], lhs, DIGIT_BITS);
    bool int4 = point[F_MMA] == SPMM_INT4, paper = point[F_ORDER] == SPMM_PAPER;
    if (point[F_PANEL] > 1) return true; /* the kernel complains of those itself */
    if (paper) complain(complaints, F_ORDER, "\"paper\" takes vec = 1, 2, 4 or 8: its mma has 8 rows of A");
    else if (int4 || nibbles)
        complain(complaints, int4 ? F_MMA : F_PRECISION_SPLIT,
                 "4-bit mma take vec = 1, 2, 4 or 8: vec = %d wants mma = \"int8\"", SPMM_TALL);
    return !paper && !int4 && !nibbles;
}

void integer_check(const int64_t *point, const spmm_arithmetic *math, const char *staging, bool gathers,
                   mc_complaints *complaints) {
    if (spmm_is_tall(math) && !check_tall(point, complaints)) return;
    check_mma(point, math, staging, gathers, complaints);
    check_split(point, math, staging, gathers, complaints);
}

/* -- What a kernel leaves registers for ---------------------------------------------------------------- */

/* At 128 columns totals take 64 registers, and the accumulators of a weight 32. With two weights these and
   the rows of 64 vectors fill 250 registers. A kernel that copies rows wants more, and so does m8n8k16, where
   it is made of other instructions. */
static void check_totals(const spmm_arithmetic *math, spmm_use use, mc_complaints *complaints) {
    if (!math->flush_strides || use.tile_n < 128 || math->sums < 2) return;
    bool paper = math->order == SPMM_PAPER;
    if (math->sums > 2)
        complain(complaints, F_TILE_N, "exact sums of %d digits leave no registers for 128 columns: 64",
                 math->sums);
    else if (math->stride > MC_GROUP_SLOTS && (paper || use.through_shared))
        complain(complaints, F_STRIDE,
                 "exact sums of two digits leave %s no registers for %d at tile_n = %d: 32",
                 paper ? "order = \"paper\"" : "staging = \"shared\"", math->stride, use.tile_n);
}

/* Vectors of 16 rows have tile_n / 2 accumulators of each weight in a lane, and as many totals of two
   registers. ptxas 13 spills of more columns, or more vectors at a time. */
static void check_tall_gathered(const spmm_arithmetic *math, spmm_use use, mc_complaints *complaints) {
    bool lines = use.tile_n * math->b_bits / 8 >= 128, digits = integer_products(math) > 1;
    if (use.tile_n > 128)
        complain(complaints, F_TILE_N, "%s = %d leaves no registers for 256 columns: 128", math->height,
                 math->vec);
    else if (math->exact && use.tile_n > 64)
        complain(complaints, F_TILE_N, "%s = %d and exact sums leave no registers for %d columns: 64",
                 math->height, math->vec, use.tile_n);
    else if (math->exact && math->sums > 2 && use.tile_n == 64 && use.through_shared)
        complain(complaints, F_TILE_N,
                 "%s = %d and exact sums of %d weights leave staging = \"shared\" no "
                 "registers for 64 columns: 32",
                 math->height, math->vec, math->sums);
    else if ((digits || (math->exact && math->sums > 1)) && lines && math->stride > MC_GROUP_SLOTS)
        complain(complaints, F_STRIDE, "%s = %d and %d sums of each element leave no registers for %d: 32",
                 math->height, math->vec, math->sums, math->stride);
}

static void check_given_values(const spmm_arithmetic *math, mc_complaints *complaints) {
    if (math->integer.int4)
        complain(complaints, F_HEADS, "off takes no mma of 4-bit integers: mma = \"int8\"");
    else if (math->integer.lhs.bits == 12)
        complain(complaints, F_HEADS, "off takes no values of 12 bits: 4, 8 or 16");
    else if (math->integer.mode != DIGITS_TOP_SIGNED)
        complain(complaints, F_HEADS, "off takes values as they are: digits = \"top-signed\"");
    else if (math->stride != MC_GROUP_SLOTS)
        complain(complaints, F_HEADS, "off wants stride = %d", MC_GROUP_SLOTS);
    else if (math->exact) complain(complaints, F_HEADS, "off has no exact sums: sum = \"wrap\"");
}

void integer_check_gathered(const spmm_arithmetic *math, spmm_use use, mc_complaints *complaints) {
    if (use.given_values) check_given_values(math, complaints);
    if (spmm_is_tall(math)) {
        check_tall_gathered(math, use, complaints);
        return;
    }
    if (use.tile_n > 128 && (math->exact || math->order == SPMM_PAPER || math->integer.int4))
        complain(complaints, F_TILE_N,
                 "256 columns are for sums in s32, in swapped order, with mma = \"int8\"");
    if (math->mma > 1 && use.tile_n > 128 && math->stride > MC_GROUP_SLOTS)
        complain(complaints, F_STRIDE, "two digits of lhs and 256 columns leave no registers for 64: 32");
    check_totals(math, use, complaints);
}

/* ptxas 13 fits no more warps of 256 columns into a multiprocessor's registers. */
static void check_wide_pairs(const spmm_arithmetic *math, spmm_use use, mc_complaints *complaints) {
    int most = math->mma > 1 || use.more_registers ? 7 : use.resident ? 11 : 15;
    if (use.tile_n > 128 && use.warps > most)
        complain(complaints, F_WARPS, "256 columns leave %d warps no registers: at most %d", use.warps, most);
}

/* The warps that accumulators of vectors of 16 rows leave registers for, by ptxas 13. */
static void check_tall_pairs(const spmm_arithmetic *math, spmm_use use, mc_complaints *complaints) {
    static const struct {
        int accumulators, warps, resident;
    } most[] = {{16, 16, 16}, {48, 16, 15}, {64, 15, 11}, {96, 11, 11}, {128, 7, 7}};
    size_t i = 0, last = sizeof most / sizeof *most - 1;
    while (i < last && use.tile_n / 2 * math->sums > most[i].accumulators) i++;
    int warps = use.resident ? most[i].resident : most[i].warps;
    if (use.tile_n > 128)
        complain(complaints, F_TILE_N, "vec = %d leaves no registers for 256 columns: 128", math->vec);
    else if (use.warps > warps)
        complain(complaints, F_WARPS, "vec = %d leaves %d warps no registers for %d columns: at most %d",
                 math->vec, use.warps, use.tile_n, warps);
}

void integer_check_pairs(const spmm_arithmetic *math, spmm_use use, mc_complaints *complaints) {
    if (spmm_is_tall(math)) {
        check_tall_pairs(math, use, complaints);
        return;
    }
    check_wide_pairs(math, use, complaints);
    if (math->mma > 1 && use.tile_n == 128 && use.warps > 8)
        complain(complaints, F_TILE_N,
                 "two digits of lhs leave %d warps no registers for 128 columns: 64 or 32", use.warps);
    if (math->mma > 1 && math->b_operands > 1 && use.tile_n > 32 && use.threads > 16 * MC_WARP)
        complain(complaints, F_TILE_N,
                 "two digits on both sides leave %d warps no registers for 64 columns: 32",
                 use.threads / MC_WARP);
}
