/* The family `quantise`: schema, hints, and which solver a point asks for. */
#include "ops/quantise/quantise.h"
#include "ops/quantise/costs.h"

static const char *const ops[] = {"quantise", NULL};
static const char *const ins[] = {"f16", "bf16", "f32", "s32", "s8", "s16", "s4", NULL};
static const char *const outs[] = {"s8", "u8", "s4", "u4", "f16", "bf16", "f32", "s16", "s32", NULL};
static const char *const sources[] = {"given", "computed", NULL}, *const layouts[] = {"columns", "rows",
                                                                                      NULL};
static const char *const keeps[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", NULL};
static const char *const roundings[] = {"convert", "add", NULL};
static const int tiles[] = {4, 8, 16, 32, 64, 128, 256, 0}, warp_counts[] = {1, 2, 4, 8, 16, 32, 0},
                 word_counts[] = {1, 2, 0}, clusters[] = {1, 2, 4, 8, 0},
                 holds[] = {1, 2, 3, 4, 5, 6, 7, QUANTISE_MAX_STEPS, 0};

static const mc_field fields[] = {
    {"op", NAMES = ops, .doc = "The kernel family."},
    ARCH_FIELD,
    {"lhs", NAMES = ins,
     .doc = "Type of A, row-major: of activations f16, bf16 or f32; on the way back also s32, what an SpMM "
            "gives. One type on both sides and scale = \"none\" leave elements as they are: also s8 and s16, "
            "which stand for any element of 1 or 2 bytes, as s32 for any of 4; and s4, for any of 4 bits, of "
            "which two share a byte, so that lda is even."},
    {"out", NAMES = outs,
     .doc = "Type of C. s8, u8, s4, u4: round(A / scale), cut off at the type's ends; two elements of 4 bits "
            "make a byte, the first in its low half. f16, bf16, f32, the way back: out(f32(A) * scale). s16 "
            "and s32 are A's own, as they are."},
    {"scale", NAMES = out_per_names, .standard = OUT_PER_ROW,
     .doc =
         "What there is one scale for, an f32: all of A, or each of A's rows, a token. On the way back also "
         "each column, or none; none, too, where elements stay as they are."},
    {"zero", NAMES = out_per_names, .quiet = true,
     .doc = "Zero points, which are added to the rounded quotient: f32 that hold integers of out. none: "
            "there are "
            "none; else as scale."},
    {"scales", NAMES = sources, .quiet = true,
     .doc = "given: the kernel reads scales and zero points. computed: it makes them, and writes them: the "
            "greatest "
            "magnitude of a row, or of all A, becomes the type's greatest number; with zero points the least "
            "and the "
            "greatest element become its ends. One scale for all of A takes two launches (contract: passes, "
            "workspace)."},
    {"layout", NAMES = layouts, .quiet = true,
     .doc = "How C lies in memory. columns: [n][ldc], A's transpose, as an SpMM wants its B. rows: [m][ldc], "
            "as A."},
    {"tile", NUMBERS = tiles, .standard = 64, .tunable = true,
     .doc =
         "Rows of A that a thread block takes. Where scales are computed a row, with all of their columns."},
    {"warps", NUMBERS = warp_counts, .standard = 8, .tunable = true, .doc = "Warps of a thread block."},
    {"hold", NUMBERS = holds, .standard = 1, .tunable = true,
     .doc = "Steps that a thread has in registers at once; a step is 16 bytes of each row of its patch. "
            "Where scales "
            "are given that is a thread block's tile."},
    {"keep", NAMES = keeps, .tunable = true, .quiet = true, .solvers = "token",
     .lacking = "keeps nothing in shared memory: that goes with computed scales a row",
     .doc = "computed a row: further steps that a thread keeps in shared memory. What is beyond hold and "
            "keep is read "
            "again, once the scales are known."},
    {"words", NUMBERS = word_counts, .standard = 1, .tunable = true, .quiet = true, .solvers = "token",
     .lacking = "stores 16 bytes at once: leave it out",
     .doc = "computed a row, by columns: words of 4 bytes of a row of C that a thread stores at once. With 2 "
            "of them "
            "it takes twice as many rows, and lanes side by side read twice as much of a row."},
    {"rounding", NAMES = roundings, .tunable = true, .quiet = true, .solvers = "token",
     .lacking = "rounds by conversions: leave it out",
     .doc =
         "convert: elements are rounded by conversions to integers. add: by adding 1.5 * 2^23, which takes "
         "them to the same integers at the full rate of f32; of scales computed a row, out s8 and s4, "
         "without zero "
         "points."},
    {"share", SHAPE, .tunable = true, .quiet = true, .solvers = "token",
     .lacking = "takes tiles of columns anyway: leave it out",
     .doc = "Columns of A that a thread block makes C of, a multiple of 8. Several thread blocks then take "
            "the same "
            "rows, and each reads all of their columns for the scales: for few rows. open: all columns."},
    {"cluster", NUMBERS = clusters, .standard = 1, .tunable = true, .quiet = true, .solvers = "token",
     .lacking = "takes tiles of columns anyway: leave it out",
     .doc =
         "Thread blocks of a cluster that take the same rows, each a part of their columns, which stays on "
         "its "
         "chip; they tell each other how far their parts reach. For rows that are too long for one, and few "
         "rows. sm_90 and later."},
    {"overlap", NAMES = family_overlaps, .tunable = true, .quiet = true,
     .doc = "on: launched with programmatic stream serialization, the kernel starts while the one before it "
            "still runs, and waits for its end. wait: likewise, but it lets none that is launched so start "
            "before it has ended."},
    BATCH_FIELD,
    {"align", NUMBERS = family_aligns, .standard = 16,
     .doc = "Bytes that the addresses of A and C are promised to be multiples of. Below 16 the kernel tests "
            "them."},
    {"m", SHAPE, .doc = "Rows of A: tokens, or on the way back features."},
    {"n", SHAPE, .doc = "Columns of A: features, or on the way back tokens."},
    {"lda", SHAPE,
     .doc = "Elements from one row of A to the next, at least n. Wide loads want a multiple of 16 bytes."},
    {"ldc", SHAPE,
     .doc = "Elements from one row of C, as it is stored, to the next; even where two share a byte. Wide "
            "stores want "
            "multiples of up to 16 bytes."},
};
SCHEMA_FITS(fields, F_LDC);

static const mc_hint hints[] = {
    {" dtype type x_type in input lhs_type a_type ", "lhs is the type of A: lhs = \"f16\""},
    {" out_type c_type q_type output ", "out is the type of C: out = \"s8\""},
    {" tokens batch_size rows ", "m is the number of A's rows, tokens; mcrun has --tokens"},
    {" features hidden columns cols ", "n is the number of A's columns, features; mcrun has --features"},
    {" transpose transposed trans ", "layout = \"columns\" gives A's transpose, layout = \"rows\" does not"},
    {" zero_point zero_points zp asymmetric offset ", "zero = \"row\" (or \"tensor\") adds zero points"},
    {" dynamic absmax amax calibrate ",
     "scales = \"computed\" makes a scale of each row's greatest magnitude, or of the tensor's"},
    {" per_token granularity per_row ", "scale = \"row\" is a scale a token, scale = \"tensor\" one for all"},
    {" direction dequantise dequantize back ", "out = \"f16\", \"bf16\" or \"f32\" is the way back"},
    {" num_warps nwarps threads block_size ", "a thread block has 32 threads a warp: set warps"},
    {0},
};

static const mc_solver *solver(const int64_t *point) {
    return point[F_SCALES] && point[F_SCALE] != OUT_PER_TENSOR ? &quantise_token : &quantise_tile;
}

const mc_family mc_family_quantise = {
    .name = "quantise",
    .summary = "activations to integers of 4 or 8 bits and back, transposed",
    .computes =
        "C = A with other elements, transposed: integers round(A[m,n] / scale), or reals A[m,n] * scale.",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .solver = solver,
    .chooser = F_SCALES,
    .hints = hints,
    .costs = &quantise_cost_table};
