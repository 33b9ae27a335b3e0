/* The family `softmax`: schema, hints, its one solver. */
#include "ops/softmax/softmax.h"
#include "ops/softmax/costs.h"

static const char *const ins[] = {"f32", "f16", "bf16", "s32", NULL};
static const char *const outs[] = {"f32", "f16", "bf16", "s8", "u8", "s16", "u16", "s4", "u4", NULL};
static const char *const pers[] = {"none", "tensor", NULL};

static const mc_field fields[] = {
    {"op", WORDS("softmax"), .doc = "The kernel family."},
    ARCH_FIELD,
    {"lhs", NAMES = ins,
     .doc = "Type of A's values, as an SDDMM writes them; s32, its sums, want a scale to mean anything."},
    {"out", NAMES = outs,
     .doc = "Type of C's values. f32, f16, bf16: the quotient, rounded once. Integers: the quotient over C's "
            "scale, rounded to the nearest integer and cut off at the type's ends; 0 for a NaN. s4, u4: two "
            "to a byte, the first one in its low half."},
    {"scale", NAMES = pers, .quiet = true,
     .doc = "tensor: values are multiplied by one f32 before anything else."},
    {"c_scale", NAMES = pers, .quiet = true,
     .doc = "The scale of C's integers. none: the type's greatest number stands for 1. tensor: one f32 for "
            "all of C."},
    {"mask", WORDS("pattern", "values"), .quiet = true,
     .doc = "pattern: the mask says where values are. values: the mask's own values, f32, are added to the "
            "scaled values; -infinity makes a probability of 0."},
    {"lse", WORDS("none", "row"), .quiet = true,
     .doc = "row: the kernel also writes the logarithm of each row's sum of exponentials, f32[m]; -infinity "
            "for a row without vectors."},
    {"exp", WORDS("polynomial", "approx"), .quiet = true,
     .doc =
         "The exponential. polynomial: steps that give the same bits on every GPU. approx: ex2.approx, whose "
         "last bits a GPU chooses, with half the instructions (docs/softmax.md has its bound)."},
    ROWS_VEC_FIELD,
    {"order", WORDS("bcrs", "srbcrs16", "srbcrs32"),
     .doc = "Order of A's and C's values. bcrs: vector after vector, row block by row block. srbcrs16, "
            "srbcrs32: in strides of 16 or 32 vectors of a row block, each row-major; the kernel writes "
            "zeros where the last one has no vectors, and does not look at A there."},
    ROWS_WARPS_FIELD,
    ROWS_HOLD_FIELD,
    {"unit", COUNTS(16, 8, 4), .standard = 16, .tunable = true, .quiet = true,
     .doc = "Bytes of A that a lane loads at once, at most. Of fewer a thread has fewer rows to exchange."},
    BATCH_FIELD,
    {"align", NUMBERS = family_aligns, .standard = 16,
     .doc = "Bytes that the addresses of A and C are promised to be multiples of; at least an element's. A "
            "unit is no longer than that."},
    {"m", SHAPE, .doc = "Rows, a multiple of vec."},
    {"n", SHAPE, .doc = "Columns."},
    {"exchange", WORDS("twice", "once"), .tunable = true, .quiet = true,
     .doc = "How often the threads of a row block exchange what they have of its rows. twice: greatest "
            "elements, then sums. once: sums alone, each warp's of exponentials against a greatest element "
            "of its own; with exp = approx, without lse, and within a wider bound. A row block whose rows "
            "are far apart takes the way of long ones then."},
    ROWS_PER_WARP_FIELD,
};
SCHEMA_FITS(fields, F_ROWS_PER_WARP);

static const mc_hint hints[] = {
    {" dtype type x_type in input lhs_type a_type ", "lhs is the type of A's values: lhs = \"f16\""},
    {" out_type c_type output ", "out is the type of C's values: out = \"f16\""},
    {" temperature sm_scale softmax_scale ", "scale = \"tensor\" multiplies the values by one f32"},
    {" bias additive attn_mask ", "mask = \"values\" adds the mask's own values"},
    {" logsumexp log_sum_exp ", "lse = \"row\" is the second output"},
    {" exponential exp2 ex2 fast fast_math ", "exp = \"approx\" takes the hardware's exponential"},
    {" num_warps nwarps threads block_size ", "a thread block has 32 threads a warp: set warps"},
    {" exchanges barriers one_pass online ", "exchange = \"once\" has one exchange among threads"},
    {0},
};

static const char *how(const void *plan) { return rows_how(&((const softmax_plan *)plan)->deal); }

static const mc_solver rows = {.name = "rows",
                               .plan = softmax_make_plan,
                               .contract = softmax_contract,
                               .facts = softmax_facts,
                               .emit = softmax_emit,
                               .estimate = softmax_estimate,
                               .entry_name = softmax_entry_name,
                               .computes = softmax_computes,
                               .how = how};

static const mc_solver *solver(const int64_t *point) {
    (void)point;
    return &rows;
}

const mc_family mc_family_softmax = {
    .name = "softmax",
    .summary = "softmax over the rows of a sparse matrix, between SDDMM and SpMM",
    .computes = "C = softmax(A * scale + mask) over the nonzero vectors of each row, A and C of one pattern.",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .solver = solver,
    .chooser = F_ORDER,
    .hints = hints,
    .costs = &softmax_cost_table};
