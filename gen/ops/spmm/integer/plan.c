/* The plan of the integers' arithmetic: how A's digits are cut, which of them share an mma, and what a spec
   cannot have of both. */
#include "ops/spmm/fields.h"
#include "ops/spmm/integer/products.h"
#include "parts/fragment.h"
#include <stdio.h>

/* -- Digits that share an mma -------------------------------------------------------------------------- */

enum { WHY = 160 };

/* How many planes fit into the mma's columns. */
static int room(const spmm_arithmetic *math) {
    int planes = SPMM_MMA_ROWS / math->vec;
    return planes < math->integer.a.count ? planes : math->integer.a.count;
}

/* Whether A's digits can share an mma; where they cannot, WHY_NOT says why. */
static bool can_stack(const spmm_arithmetic *math, char why_not[WHY]) {
    const digit_set *a = &math->integer.a;
    const char *name = math->integer.lhs.name;
    int columns = a->count * math->vec + math->integer.ones;
    if (math->vec >= SPMM_MMA_ROWS)
        snprintf(why_not, WHY, "%s = %d fills the mma's %d %s: there is nothing to stack", math->height,
                 math->vec, math->vec, spmm_is_tall(math) ? "rows" : "columns");
    else if (a->count == 1)
        snprintf(why_not, WHY, "lhs = \"%s\" is one digit: there is nothing to stack", name);
    else if (a->low_signed != a->top_signed)
        snprintf(why_not, WHY,
                 "the top digit of lhs = \"%s\" has a sign, the others have none: digits = \"balanced\" or "
                 "\"offset\"",
                 name);
    else if (math->whole)
        snprintf(why_not, WHY, "heads = \"off\": a lane takes the digits of its own values, none of others'");
    else if (math->integer.ones && columns > SPMM_MMA_ROWS)
        snprintf(why_not, WHY,
                 "%d digits of %d rows leave no column of the mma for the ones of digits = \"offset\"",
                 a->count, math->vec);
    else return true;
    return false;
}

static void plan_mma(spmm_arithmetic *math, bool stacked) {
    math->integer.planes = stacked ? room(math) : 1;
    int products = (math->integer.a.count + math->integer.planes - 1) / math->integer.planes;
    math->mma = products * integer_operands(math);
    math->sums = spmm_sum_of(math, products - 1, math->integer.b.count - 1) + 1;
}

int integer_mma_rows(const spmm_arithmetic *math, int mma) {
    if (spmm_is_tall(math)) return SPMM_MMA_ROWS;
    int before = mma * math->integer.planes, left = math->integer.a.count - before;
    bool last = mma == math->mma - 1;
    return (left < math->integer.planes ? left : math->integer.planes) * math->vec +
           (last && math->integer.ones);
}

static void plan_digits(const int64_t *point, spmm_arithmetic *math, mc_complaints *complaints) {
    char why[WHY];
    bool stacks = can_stack(math, why);
    plan_mma(math, stacks && point[F_STACKING] != STACKING_OFF);
    if (math->integer.mode != DIGITS_TOP_SIGNED &&
        (!math->integer.lhs.is_signed || math->integer.a.count == 1))
        complain(complaints, F_DIGITS, "\"%s\" is for a signed lhs of several digits, not for \"%s\"",
                 digit_mode_names[math->integer.mode], math->integer.lhs.name);
    else if (math->integer.ones && math->vec >= SPMM_MMA_ROWS)
        complain(complaints, F_DIGITS, "\"offset\" wants a free column of the mma: %s = %d leaves none",
                 math->height, math->vec);
    else if (!stacks && point[F_STACKING] == STACKING_ON) complain(complaints, F_STACKING, "%s", why);
}

/* -- The mma ------------------------------------------------------------------------------------------- */

/* Whether mma = "auto" takes digits of 4 bits. The split of lhs says it. Where that is auto, too, the answer
   is no where such digits do less, and the spec has to ask for them: balanced digits of 4 bits reach less far
   than those of 8, and up to four sums of an element leave fewer registers for exact ones. */
static bool prefers_int4(const int64_t *point) {
    digit_side lhs = digit_sides[point[F_LHS]];
    bool usual = point[F_DIGITS] == DIGITS_TOP_SIGNED && !point[F_SUM] && mc_archs[point[FIELD_ARCH]].int4;
    usual = usual && point[F_HEADS];
    bool in_bytes = digit_split_fits(point[F_PRECISION_SPLIT], lhs, DIGIT_BITS);
    bool in_nibbles = digit_split_fits(point[F_PRECISION_SPLIT], lhs, NIBBLE_BITS);
    return in_bytes == in_nibbles ? usual : in_nibbles;
}

static bool takes_int4(const int64_t *point, bool gathers) {
    if (digit_sides[point[F_RHS]].bits != 4 || !gathers || point[F_MMA] == SPMM_INT8) return false;
    if (spmm_rows_of(point) > SPMM_MMA_ROWS || point[F_PANEL] > 1) return false;
    return point[F_MMA] == SPMM_INT4 || prefers_int4(point);
}

static spmm_integer integer_of(const int64_t *point, bool int4) {
    digit_side lhs = digit_sides[point[F_LHS]], rhs = digit_sides[point[F_RHS]];
    int bits = int4 ? NIBBLE_BITS : DIGIT_BITS;
    return (spmm_integer){
        .lhs = lhs,
        .rhs = rhs,
        .a = digits_of(lhs, bits, (digit_mode)point[F_DIGITS]),
        .b = digits_of(rhs, bits, DIGITS_TOP_SIGNED),
        .mode = (digit_mode)point[F_DIGITS],
        .ones = point[F_DIGITS] == DIGITS_OFFSET,
        .takes_halves = rhs.bits == 4 && !int4,
        .int4 = int4,
        .shuffle = point[F_SHUFFLE] != 0,
    };
}

void integer_plan(const int64_t *point, bool gathers, spmm_arithmetic *math, mc_complaints *complaints) {
    bool int4 = takes_int4(point, gathers);
    spmm_integer *of = &math->integer;
    *of = integer_of(point, int4);
    math->depth = int4 ? (int)point[F_STRIDE] : MC_GROUP_SLOTS;
    math->lhs = of->lhs.name, math->rhs = of->rhs.name, math->b_bits = side_bits(of->rhs);
    math->b_operands = of->b.count;
    if (spmm_is_tall(math)) math->order = SPMM_PAPER;
    math->value_bytes = 1; /* as the ring has them, which takes no digits of 4 bits */
    math->value_type = "s8";
    math->whole = math->given_bits != 8;
    if (math->whole) math->value_type = math->lhs;
    plan_digits(point, math, complaints);
    of->times_16 = of->takes_halves && math->k <= spmm_exact_k(math); /* an open k is bounded instead */
    math->flush_strides = spmm_flush_strides(math);
}

/* -- Values and costs ---------------------------------------------------------------------------------- */

int integer_value_rows(const spmm_arithmetic *math) {
    return math->integer.a.count * math->vec + math->integer.ones;
}

int integer_mma_row(const spmm_arithmetic *math, int mma) {
    return mma * (spmm_is_tall(math) ? SPMM_MMA_ROWS : math->integer.planes * math->vec);
}

/* Of whole elements: a load brings those of 8 rows. */
static spmm_values whole_values(const spmm_arithmetic *math) {
    int bits = math->given_bits, row_bytes = MC_GROUP_SLOTS * bits / 8;
    return (spmm_values){
        .groups = 1,
        .regs = MC_LANE_SLOTS * DIGIT_BITS / 32,
        .count = MC_LANE_SLOTS,
        .loads = integer_operands(math),
        .load_regs = MC_LANE_SLOTS * bits / 32,
        .group_bytes = row_bytes * math->vec,
        .load_bytes = row_bytes * SPMM_MMA_ROWS,
        .stride_bytes = row_bytes * math->vec,
    };
}

spmm_values integer_values(const spmm_arithmetic *math) {
    if (math->whole) return whole_values(math);
    int row_bytes = math->depth * math->integer.a.bits / 8;
    return (spmm_values){
        .groups = math->stride / math->depth,
        .regs = math->depth * math->integer.a.bits / (4 * 32),
        .count = math->depth / 4,
        .loads = math->mma,
        .load_regs = math->depth * math->integer.a.bits / (4 * 32),
        .group_bytes = row_bytes * integer_value_rows(math),
        .load_bytes = row_bytes * integer_mma_row(math, 1),
        .stride_bytes = math->stride * integer_value_rows(math) * math->integer.a.bits / 8,
    };
}

/* A large mma takes 16 columns and all of the slots, or, of vectors of 16 rows, 8 columns; a small one takes
   8 columns and 16 slots, of 4 bits 32. */
int integer_mma_count(const spmm_arithmetic *math, int tile_n) {
    int digits = math->integer.b.count, biased = spmm_is_biased(math),
        small = math->integer.int4 ? math->depth / 32 : 2;
    if (spmm_is_tall(math)) return integer_products(math) * (tile_n / 8 * digits + biased);
    return math->mma * (math->order == SPMM_PAPER ? small * (tile_n / 8 * digits + biased)
                                                  : tile_n / 16 * digits + biased);
}

int integer_pair_mma_count(const spmm_arithmetic *math, int tile_n) {
    int of_stride = spmm_is_tall(math) ? tile_n / 4 : tile_n / 8;
    return integer_products(math) * (of_stride * math->integer.b.count + spmm_is_biased(math));
}

/* A 4-bit mma takes half the time of an 8-bit one for 32 slots. Where ptxas makes several instructions of it
   an H200 does 45 TOPS, of 8-bit ones 1240. */
double integer_mma_turns(const spmm_arithmetic *math, const mc_gpu *gpu) {
    if (!math->integer.int4) return 1;
    double turns = math->depth / 64.0;
    const mc_arch *arch = arch_of_capability(gpu->capability);
    return arch && arch->int4 ? turns : turns * 2 * 1240 / 45;
}
