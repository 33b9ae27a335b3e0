/* The family `values`: schema, hints, its one solver. */
#include "ops/values/values.h"

static const mc_field fields[] = {
    {"op", WORDS("values"), .doc = "The kernel family."},
    ARCH_FIELD,
    {"lhs", NAMES = side_type_names, .doc = "Type of the source's elements. Masks of f32 are tf32 here."},
    {"unit", WORDS("element", "rounded", "byte", "half"),
     .doc = "What packed values are pieces of. element: floats, as they are. rounded: tf32, rounded to a "
            "fraction of 10 bits. byte, half: integers, in digits of 8 or 4 bits."},
    {"digits", NAMES = digit_mode_names,
     .doc = "Digits of integers: top-signed, balanced or offset, as the kernel that reads them wants them. "
            "Values that have no such digits become the nearest ones that have."},
    {"from", WORDS("vectors", "rows", "columns"),
     .doc = "The source. vectors: vec elements for each nonzero vector, row block by row block, by ascending "
            "columns. rows, columns: the dense matrix, row-major or column-major, of which elements outside "
            "of the nonzero vectors are not read."},
    {"vec", NUMBERS = family_vecs, .standard = 8, .doc = "V: rows of a nonzero vector."},
    {"group", COUNTS(1, 16, 32, 64, 256, 512, 1024, 2048), .standard = 32,
     .doc = "Slots of a group, the packed values' period."},
    {"hold", COUNTS(1, 2, 4, 8), .standard = 4, .tunable = true,
     .doc = "Groups that a thread takes at once."},
};
SCHEMA_FITS(fields, F_HOLD);

static const mc_hint hints[] = {
    {" dtype type a_type lhs_type ", "lhs is the type of the source's elements: lhs = \"f16\""},
    {" layout major source ", "from says how the source lies: from = \"vectors\", \"rows\" or \"columns\""},
    {" precision_split ", "unit and digits say what becomes of an integer"},
    {0},
};

static const char *how(const void *data) {
    (void)data;
    return "A thread makes one word of packed values in several groups of slots: pieces and slots tell of "
           "what.";
}

static const mc_solver words = {.name = "words",
                                .plan = values_make_plan,
                                .contract = values_contract,
                                .facts = values_facts,
                                .emit = values_emit,
                                .entry_name = values_entry_name,
                                .computes = values_computes,
                                .how = how};

static const mc_solver *solver(const int64_t *point) {
    (void)point;
    return &words;
}

const mc_family mc_family_values = {
    .name = "values",
    .summary = "values on the device become packed values of another kernel",
    .computes =
        "values = the pieces of source, a value of each nonzero vector's row, where slots and pieces say.",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .solver = solver,
    .chooser = F_FROM,
    .hints = hints};
