/* The floats' arithmetic: products of values of 8, 16 or 32 bits, with sums in f32 (docs/floats.md). A
   group of 32 slots takes as many mma as its values have bytes each. What a spec can say of digits it has
   not. */
#include "ops/spmm/fields.h"
#include "ops/spmm/real/products.h"
#include "parts/side.h"
#include <limits.h>
#include <stdio.h>

/* -- Plan --------------------------------------------------------------------------------------------- */

static void describe(spmm_arithmetic *math) {
    spmm_real *of = &math->real;
    static const char *const what[] = {"", "tensor map of "};
    for (int as_map = 0; as_map < 2; as_map++)
        snprintf(of->b_docs[as_map], sizeof of->b_docs[as_map], "%sB: %s[k][ldb], row-major", what[as_map],
                 math->rhs);
}

/* Finds the mma. A point that has none gets another one, and a complaint. */
static void plan_pair(const int64_t *point, spmm_arithmetic *math, mc_complaints *complaints) {
    int sm = mc_archs[point[FIELD_ARCH]].sm;
    char takes[REAL_TAKES];
    const real_pair *other = real_pair_with(math->lhs, sm, true, takes);
    math->real.pair = real_pair_wide(math->lhs, math->rhs, sm);
    if (math->real.pair) return;
    if (other == NULL) complain(complaints, F_LHS, "there is no mma for \"%s\" here", math->lhs);
    else
        complain(complaints, F_RHS, "lhs = \"%s\" takes %s%s, not \"%s\"", math->lhs,
                 side_is_integer((int)point[F_LHS]) ? "an integer, " : "rhs = ", takes, math->rhs);
    math->real.pair = other ? other : real_pair_of("f16", "f16", sm);
}

static void plan(const int64_t *point, bool gathers, spmm_arithmetic *math, mc_complaints *complaints) {
    (void)gathers;
    math->lhs = side_type_names[point[F_LHS]], math->rhs = side_type_names[point[F_RHS]];
    plan_pair(point, math, complaints);
    const real_pair *pair = math->real.pair;
    math->b_bits = real_stored_bits(pair, pair->b_form);
    math->mma = math->sums = math->b_operands = 1;
    math->depth = MC_GROUP_SLOTS;
    math->value_bytes = real_stored_bits(pair, pair->a_form) / 8;
    math->value_type = side_is_integer((int)point[F_LHS]) ? "s8" : math->lhs;
    math->joins_halves = pair->bits == 8;
    if (spmm_is_tall(math)) math->mma = 2, math->order = SPMM_PAPER;
    describe(math);
}

/* Fields of the integers' arithmetic, and what they must be left at. */
static void check(const int64_t *point, const spmm_arithmetic *math, const char *staging, bool gathers,
                  mc_complaints *complaints) {
    static const struct {
        int field, standard;
        const char *what;
    } lacking[] = {{F_DIGITS, 0, "its values are no digits"},
                   {F_PRECISION_SPLIT, 0, "its values are no digits"},
                   {F_STACKING, STACKING_AUTO, "its values are no digits that could be stacked"},
                   {F_MMA, 0, "there is one mma"},
                   {F_SHUFFLE, 1, "there are no nibbles"},
                   {F_SUM, 0, "its sums are f32"},
                   {F_ORDER, SPMM_SWAPPED, "the paper's order is for integers"}};
    (void)staging, (void)gathers;
    for (size_t i = 0; i < sizeof lacking / sizeof *lacking; i++)
        if (point[lacking[i].field] != lacking[i].standard)
            complain(complaints, lacking[i].field, "lhs = \"%s\": %s; leave it out", math->lhs,
                     lacking[i].what);
}

/* Values are packed as another kernel writes them, but for those of 32 bits, which are rounded, and of 4,
   which are made bytes. */
static void check_given_values(const spmm_arithmetic *math, mc_complaints *complaints) {
    if (math->given_bits != 8 * math->value_bytes || math->value_bytes > 2)
        complain(complaints, F_HEADS, "off takes no lhs = \"%s\" with floats: values of 8 or 16 bits",
                 math->lhs);
    else if (math->stride != MC_GROUP_SLOTS)
        complain(complaints, F_HEADS, "off wants stride = %d", MC_GROUP_SLOTS);
}

static void check_gathered(const spmm_arithmetic *math, spmm_use use, mc_complaints *complaints) {
    if (use.through_shared)
        complain(complaints, F_STAGING, "lhs = \"%s\" takes \"direct\", \"tma\" or \"async\"", math->lhs);
    if (spmm_is_tall(math) && use.tile_n == 128 && math->stride > MC_GROUP_SLOTS)
        complain(complaints, F_STRIDE, "vec = 16 with tile_n = 128 leaves registers for 32");
    if (use.given_values) check_given_values(math, complaints);
}

/* Warps of a thread block, the one that copies included, whose registers ptxas 13 finds room for. Of 8
   bits they have columns joined, or made wider, beside their accumulators, of 32 bits more values. */
static int most_warps(const spmm_arithmetic *math, int tile_n) {
    bool tall = spmm_is_tall(math);
    int accumulators = tile_n / (tall ? 2 : 4);
    if (math->b_bits == 8) return accumulators > 32 ? 8 : accumulators == 32 ? 16 : INT_MAX;
    return math->b_bits == 32 && tall ? 16 : INT_MAX;
}

static void check_pairs(const spmm_arithmetic *math, spmm_use use, mc_complaints *complaints) {
    int warps = use.threads / MC_WARP, most = most_warps(math, use.tile_n);
    if (warps > most)
        complain(complaints, F_WARPS, "lhs = \"%s\" leaves %d warps no registers for %d columns: at most %d",
                 math->lhs, use.warps, use.tile_n, most - (warps - use.warps));
    if (math->b_bits == 8 && spmm_is_tall(math) && use.tile_residuals && use.resident)
        complain(complaints, F_TOGETHER,
                 "with a residual and resident = \"on\" vec = 16 of lhs = \"%s\" leaves no registers",
                 math->lhs);
}

static int value_rows(const spmm_arithmetic *math) { return math->vec; }
static int mma_row(const spmm_arithmetic *math, int mma) { return (void)math, SPMM_MMA_ROWS * mma; }
static int mma_rows(const spmm_arithmetic *math, int mma) { return (void)mma, math->vec / math->mma; }

static spmm_values values(const spmm_arithmetic *math) {
    int row_bytes = MC_GROUP_SLOTS * math->value_bytes, group_bytes = row_bytes * math->vec;
    int groups = math->stride / MC_GROUP_SLOTS;
    return (spmm_values){.groups = groups,
                         .regs = MC_LANE_SLOTS * math->value_bytes / WORD,
                         .count = MC_LANE_SLOTS,
                         .loads = math->mma,
                         .load_regs = MC_LANE_SLOTS * math->value_bytes / WORD,
                         .group_bytes = group_bytes,
                         .load_bytes = row_bytes * SPMM_MMA_ROWS,
                         .stride_bytes = groups * group_bytes};
}

/* An mma takes 16 columns, or 8, in the time of an m16n8k32 of 8-bit integers. */
static int mma_count(const spmm_arithmetic *math, int tile_n) {
    return math->depth / real_slots(math->real.pair) * tile_n / (spmm_is_tall(math) ? 8 : 16);
}
static double mma_turns(const spmm_arithmetic *math, const mc_gpu *gpu) { return (void)math, (void)gpu, 1; }

/* -- Texts -------------------------------------------------------------------------------------------- */

static const char *b_doc(const spmm_arithmetic *math, bool as_map) { return math->real.b_docs[as_map]; }

static const char *values_doc(const spmm_arithmetic *math, bool windowed) {
    (void)math;
    return windowed ? "[vec][4][8]: slots as the mma's lanes want them"
                    : "[vec][32] for each 32 slots; 0 where padded";
}

static const char *mma_doc(const spmm_arithmetic *math) {
    static const char *const by_bytes[] = {[1] = "m16n8k32 instructions, a stride and warp",
                                           [2] = "m16n8k16 instructions, a stride and warp",
                                           [4] = "m16n8k8 instructions, a stride and warp"};
    return by_bytes[math->real.pair->bits / 8];
}
static const char *strided_format(const spmm_arithmetic *math) { return (void)math, "strided-bcrs"; }
static const char *mma_suffix(const spmm_arithmetic *math) { return (void)math, ""; }
static bool permutes_slots(const spmm_arithmetic *math) { return (void)math, false; }
static int way(const spmm_arithmetic *math) { return spmm_is_tall(math) ? SPMM_WAYS - 1 : SPMM_SWAPPED; }

/* Sums of floats have no bound of this kind, and any k. */
static mc_sums sums_contract(const spmm_arithmetic *math) { return (void)math, (mc_sums){.lhs = NULL}; }
static int64_t k_limit(const spmm_arithmetic *math) { return (void)math, 0; }
static void facts(const spmm_arithmetic *math, mc_facts *to) { (void)math, (void)to; }

/* -- Sums --------------------------------------------------------------------------------------------- */

static mc_opcode add(const spmm_sums *s) { return (void)s, OP_add_f32; }
static void begin(spmm_sums *s) { (void)s; }
static void begin_rounds(spmm_sums *s) { (void)s; }
static mc_reg end_stride(spmm_sums *s, mc_reg more) { return (void)s, more; }

static void declare(spmm_sums *s, int count) {
    s->count = count;
    b32_array(s->b, "acc", count, s->acc);
}

static void zero(spmm_sums *s) {
    for (int i = 0; i < s->count; i++) EMIT(s->b, mov_b32, s->acc[i], I(0));
}

/* Accumulators are sums. */
static void settle(spmm_sums *s, int odd_column, mc_reg more) { (void)s, (void)odd_column, (void)more; }

static const spmm_emitters emitters = {
    .add = add,
    .begin = begin,
    .declare = declare,
    .zero = zero,
    .begin_rounds = begin_rounds,
    .end_stride = end_stride,
    .settle = settle,
    .gathered_declare = real_gathered_declare,
    .gathered_multiply = real_gathered_multiply,
    .gathered_note = real_gathered_note,
    .gathered_join = real_gathered_join,
    .gathered_multiply_joined = real_gathered_multiply_joined,
    .pairs_begin = real_pairs_begin,
    .pairs_multiply = real_pairs_multiply,
    .pairs_add_bias = real_pairs_add_bias,
};

const spmm_arithmetic_kind spmm_reals = {
    .real = true,
    .plan = plan,
    .check = check,
    .check_gathered = check_gathered,
    .check_pairs = check_pairs,
    .values = values,
    .value_rows = value_rows,
    .mma_row = mma_row,
    .mma_rows = mma_rows,
    .mma_count = mma_count,
    .pair_mma_count = mma_count,
    .mma_turns = mma_turns,
    .b_doc = b_doc,
    .values_doc = values_doc,
    .mma_doc = mma_doc,
    .strided_format = strided_format,
    .mma_suffix = mma_suffix,
    .permutes_slots = permutes_slots,
    .way = way,
    .sums_contract = sums_contract,
    .k_limit = k_limit,
    .facts = facts,
    .emit = &emitters,
};
