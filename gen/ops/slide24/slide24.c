/* The family `slide24`: schema, hints, its one solver. */
#include "ops/slide24/slide24.h"
#include "ops/slide24/costs.h"

static const mc_field fields[] = {
    {"op", WORDS("slide24"), .doc = "The kernel family."},
    ARCH_FIELD,
    {"lhs", NAMES = slide24_types,
     .doc = "Type of the elements, which stay as they are: s8 and s16 stand for any of 1 and 2 bytes."},
    {"out", NAMES = slide24_types, .doc = "Type of C's elements, which is lhs."},
    {"pattern", NAMES = slide24_patterns, .standard = 2,
     .doc =
         "What the weight has that is multiplied by C: at most 2N - 2 of each 2N neighbours of a row. Each "
         "2N elements of a row of X become N - 1 groups of four of C, which overlap by two."},
    {"hold", COUNTS(1, 2, 4, 8), .standard = 4, .tunable = true,
     .doc = "Rows of a thread block. A thread asks for what it wants of all of them first."},
    {"warps", COUNTS(4, 8), .standard = 8, .tunable = true, .doc = "Warps of a thread block."},
    {"overlap", NAMES = family_overlaps, .tunable = true, .quiet = true,
     .doc = "on: launched with programmatic stream serialization, the kernel starts while the one before it "
            "still runs, and waits for its end. wait: likewise, but it lets none that is launched so start "
            "before it has ended."},
    BATCH_FIELD,
    {"align", NUMBERS = family_aligns, .standard = 16,
     .doc = "Bytes that the addresses of X and C are promised to be multiples of. Below 16 the kernel tests "
            "them."},
    {"m", SHAPE, .doc = "Rows of X and C: columns of the product's B."},
    {"n", SHAPE, .doc = "Columns of X: k of the product. C has 4 (N - 1) for each 2N of them, whole spans."},
    {"lda", SHAPE, .doc = "Elements from one row of X to the next, at least n. Pairs want it to be even."},
    {"ldc", SHAPE,
     .doc = "Elements from one row of C to the next. Stores of 16 bytes want it to be a multiple of these."},
};
SCHEMA_FITS(fields, F_LDC);

static const mc_hint hints[] = {
    {" dtype type x_type element a_type ", "lhs is the type of the elements: lhs = \"f16\""},
    {" span sparsity window slide ", "pattern says how long spans are: pattern = \"6:8\""},
    {" tokens rows ", "m is the number of X's rows"},
    {" k features cols ", "n is the number of X's columns, k of the product"},
    {" num_warps nwarps threads block_size ", "a thread block has 32 threads a warp: set warps"},
    {0},
};

static const char *how(const void *data) {
    (void)data;
    return "A thread makes 16 bytes of a row at once, in several rows, of pairs that it loads.";
}

static const mc_solver pairs = {.name = "pairs",
                                .plan = slide24_make_plan,
                                .contract = slide24_contract,
                                .facts = slide24_facts,
                                .emit = slide24_emit,
                                .estimate = slide24_estimate,
                                .entry_name = slide24_entry_name,
                                .computes = slide24_computes,
                                .how = how};

static const mc_solver *solver(const int64_t *point) {
    (void)point;
    return &pairs;
}

const mc_family mc_family_slide24 = {
    .name = "slide24",
    .summary = "rows for products by weights of 6:8 and others: spans become groups of four",
    .computes = "C = X[m,n] with each span of 2N elements as N - 1 groups of four, which overlap by two.",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .solver = solver,
    .chooser = F_PATTERN,
    .hints = hints,
    .costs = &slide24_cost_table};
