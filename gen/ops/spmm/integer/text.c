/* What contracts, facts and headers say of the integers' arithmetic. */
#include "ops/spmm/integer/products.h"

const char *integer_b_doc(const spmm_arithmetic *math, bool as_map) {
    static const char *const docs[][2][2] = {
#define OF(type, more)                                                                                       \
    {{"B: u" type more, "B: s" type more}, {"tensor map of B: u" type more, "tensor map of B: s" type more}}
        [0] = OF("4[k][ldb], row-major", ", the even column in a byte's low half"),
        [1] = OF("8[k][ldb], row-major", ""),
        [2] = OF("16[k][ldb], row-major", ""),
#undef OF
    };
    int bytes = math->integer.rhs.bits == 4 ? 0 : side_bytes(math->integer.rhs);
    return docs[bytes][as_map][math->integer.rhs.is_signed];
}

/* How digits of 4 bits lie in a row of a stride. */
#define HALVES "[4][stride / 32][8] half bytes for each stride, slot 32 h + 8 t + i at [t][h][i]"

static const char *strided_doc(const spmm_arithmetic *math) {
    static const char *const values[][2] = {
        [DIGITS_TOP_SIGNED] = {"[digits][vec][32] for each 32 slots, the low digit first; 0 where padded",
                               "[digits][vec]" HALVES ", the low digit first; 0 where padded"},
        [DIGITS_BALANCED] =
            {"[digits][vec][32] for each 32 slots, all digits signed, the low one first; 0 where padded",
             "[digits][vec]" HALVES ", all digits signed, the low one first; 0 where padded"},
        [DIGITS_OFFSET] = {
            ("[digits * vec + 1][32]: digits of value + half its range, the low one first; then 1 for each "
             "vector; 0 where padded"),
            "[digits * vec + 1]" HALVES
            ": digits of value + half its range, then 1 for each vector; 0 where padded"}};
    return values[math->integer.mode][math->integer.int4];
}

#define FOURS                                                                                                \
    "lane 4 g + t has slots 4 t to 4 t + 3 of rows g and g + 8, then those 16 further on; 0 where padded"

static const char *fours_doc(const spmm_arithmetic *math) {
    return math->integer.mode == DIGITS_BALANCED
               ? "[digits][8][4][16], all digits signed, the low one first: " FOURS
               : "[digits][8][4][16], the low digit first: " FOURS;
}

static const char *windowed_doc(const spmm_arithmetic *math) {
    static const char *const values[] = {
        [DIGITS_TOP_SIGNED] = "[digits][vec][4][8], the low digit first: slots as the mma's lanes want them",
        [DIGITS_BALANCED] =
            "[digits][vec][4][8], all digits signed, the low one first: slots as the mma's lanes want them",
        [DIGITS_OFFSET] =
            ("[digits * vec + 1][4][8]: digits of value + half its range, the low one first; then 1 for each "
             "vector; 0 where padded")};
    return values[math->integer.mode];
}

const char *integer_values_doc(const spmm_arithmetic *math, bool windowed) {
    if (math->whole) return "[vec][32] for each 32 slots, whole elements; 0 where padded";
    if (math->sparse) return fours_doc(math);
    return windowed ? windowed_doc(math) : strided_doc(math);
}

const char *integer_mma_doc(const spmm_arithmetic *math) {
    if (math->order == SPMM_PAPER && !spmm_is_tall(math))
        return math->integer.int4 ? "m8n8k32 instructions, a stride and warp"
                                  : "m8n8k16 instructions, a stride and warp";
    if (math->sparse) return "m16n8k64 instructions of a sparse A, a stride and warp";
    return math->depth == 64 ? "m16n8k64 instructions, a stride and warp"
                             : "m16n8k32 instructions, a stride and warp";
}

const char *integer_strided_format(const spmm_arithmetic *math) {
    return math->integer.int4 ? "strided-bcrs-int4" : "strided-bcrs";
}

bool integer_permutes_slots(const spmm_arithmetic *math) {
    return math->integer.int4 && math->integer.shuffle;
}

const char *integer_mma_suffix(const spmm_arithmetic *math) {
    static const char *const suffixes[2][2][2] = {
        {{"_plain", ""}, {"_int4_plain", "_int4"}},
        {{"_paper_plain", "_paper"}, {"_paper_int4_plain", "_paper_int4"}}};
    return suffixes[math->order == SPMM_PAPER && !spmm_is_tall(math)][math->integer.int4]
                   [math->integer.shuffle];
}

int integer_way(const spmm_arithmetic *math) {
    if (spmm_is_tall(math)) return SPMM_WAYS - 1;
    return 2 * math->integer.int4 + (int)math->order;
}

mc_sums integer_sums_contract(const spmm_arithmetic *math) {
    return (mc_sums){.lhs = math->integer.lhs.name,
                     .rhs = math->integer.rhs.name,
                     .exact = math->exact,
                     .largest_product = spmm_largest_product(math),
                     .bound = spmm_sum_bound(math),
                     .products = "vectors a row",
                     .k = math->k};
}

int64_t integer_k_limit(const spmm_arithmetic *math) {
    return math->integer.times_16 && math->k == MC_OPEN && !math->exact ? spmm_exact_k(math) : 0;
}

void integer_facts(const spmm_arithmetic *math, mc_facts *facts) {
    if (math->integer.planes > 1)
        add_fact(facts, "stacked_digits", math->integer.planes, "of lhs that share an mma");
}
