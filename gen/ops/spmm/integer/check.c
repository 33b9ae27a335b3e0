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
    digit_split_text(lhs, DIGIT_BITS, bytes);
    digit_split_text(lhs, NIBBLE_BITS, nibbles);
    if (digit_split_fits(split, lhs, math->integer.a.bits)) return;
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

void integer_check(const int64_t *point, const spmm_arithmetic *math, const char *staging, bool gathers,
                   mc_complaints *complaints) {
    if (math->vec > SPMM_MMA_ROWS) complain(complaints, F_VEC, "lhs = \"%s\" takes 1, 2, 4 or 8", math->lhs);
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

static void check_given_values(const spmm_arithmetic *math, mc_complaints *complaints) {
    if (math->integer.int4)
        complain(complaints, F_HEADS, "off takes no mma of 4-bit integers: mma = \"int8\"");
    else if (math->integer.lhs.bits != 8)
        complain(complaints, F_HEADS,
                 "off wants lhs = \"s8\" or \"u8\", whose values are bytes as an SDDMM writes them");
    else if (math->stride != MC_GROUP_SLOTS)
        complain(complaints, F_HEADS, "off wants stride = %d", MC_GROUP_SLOTS);
    else if (math->exact) complain(complaints, F_HEADS, "off has no exact sums: sum = \"wrap\"");
}

void integer_check_gathered(const spmm_arithmetic *math, spmm_use use, mc_complaints *complaints) {
    if (use.tile_n > 128 && (math->exact || math->order == SPMM_PAPER || math->integer.int4))
        complain(complaints, F_TILE_N,
                 "256 columns are for sums in s32, in swapped order, with mma = \"int8\"");
    if (math->mma > 1 && use.tile_n > 128 && math->stride > MC_GROUP_SLOTS)
        complain(complaints, F_STRIDE, "two digits of lhs and 256 columns leave no registers for 64: 32");
    check_totals(math, use, complaints);
    if (use.given_values) check_given_values(math, complaints);
}

/* ptxas 13 fits no more warps of 256 columns into a multiprocessor's registers. */
static void check_wide_pairs(const spmm_arithmetic *math, spmm_use use, mc_complaints *complaints) {
    int most = math->mma > 1 || use.more_registers ? 7 : use.resident ? 11 : 15;
    if (use.tile_n > 128 && use.warps > most)
        complain(complaints, F_WARPS, "256 columns leave %d warps no registers: at most %d", use.warps, most);
}

void integer_check_pairs(const spmm_arithmetic *math, spmm_use use, mc_complaints *complaints) {
    check_wide_pairs(math, use, complaints);
    if (math->mma > 1 && use.tile_n == 128 && use.warps > 8)
        complain(complaints, F_TILE_N,
                 "two digits of lhs leave %d warps no registers for 128 columns: 64 or 32", use.warps);
    if (math->mma > 1 && math->b_operands > 1 && use.tile_n > 32 && use.threads > 16 * MC_WARP)
        complain(complaints, F_TILE_N,
                 "two digits on both sides leave %d warps no registers for 64 columns: 32",
                 use.threads / MC_WARP);
}
