/* The family `pattern`: schema, hints, its one solver. */
#include "ops/pattern/pattern.h"

static const mc_field fields[] = {
    {"op", WORDS("pattern"), .doc = "The kernel family."},
    ARCH_FIELD,
    {"step", WORDS("find", "list", "columns", "number", "places"),
     .doc = "find: the columns of each row block of a dense matrix that have a vector, a bit each, and how "
            "many. list: bits become columns. columns: columns of a matrix are checked and copied. number: "
            "slots hold vectors in their order. places: the first row and the column of each slot's vector."},
    {"element", NAMES = pattern_element_names,
     .doc = "Elements of find's matrix: b4 to b32, of so many bits, which are not 0 where one is set; f8 to "
            "f32, floats, of which minus zero is 0."},
    {"range", WORDS("all", "some"),
     .doc = "Which bit patterns elements may have. some: find also says which element is none of those that "
            "its parameters name."},
    {"major", WORDS("row", "column"), .doc = "How find's matrix lies: row-major or column-major."},
    {"vec", NUMBERS = family_vecs, .standard = 8, .doc = "V: rows of a nonzero vector."},
    {"hold", COUNTS(1, 2, 4, 8), .standard = 4, .tunable = true,
     .doc = "Columns that a thread asks for at once: of find's matrix, with all V elements, and of columns."},
};
SCHEMA_FITS(fields, F_HOLD);

static const mc_hint hints[] = {
    {" dtype type lhs ", "element says what the dense matrix has: element = \"f16\""},
    {" layout from ", "major says how the dense matrix lies: major = \"row\" or \"column\""},
    {0},
};

static const char *how(const void *data) {
    static const char *const texts[] = {
        [PATTERN_FIND] = "A warp takes 1024 columns of a row block, 32 at a time.",
        [PATTERN_LIST] = "A warp takes 1024 columns of a row block, 32 at a time.",
        [PATTERN_COLUMNS] = "A warp takes 1024 vectors of a row block, 32 at a time.",
        [PATTERN_NUMBER] = "A thread takes a slot.",
        [PATTERN_PLACES] = "A thread takes a slot, and looks for its vector's row block among the offsets."};
    const pattern_plan *plan = data;
    return texts[plan->step];
}

static void emit(const void *data, mc_builder *b) {
    const pattern_plan *plan = data;
    switch (plan->step) {
    case PATTERN_FIND: pattern_emit_find(plan, b); break;
    case PATTERN_LIST: pattern_emit_list(b); break;
    case PATTERN_COLUMNS: pattern_emit_columns(plan, b); break;
    case PATTERN_NUMBER: pattern_emit_number(b); break;
    case PATTERN_PLACES: pattern_emit_places(plan, b); break;
    }
}

static const mc_solver steps = {.name = "steps",
                                .plan = pattern_make_plan,
                                .contract = pattern_contract,
                                .facts = pattern_facts,
                                .emit = emit,
                                .entry_name = pattern_entry_name,
                                .computes = pattern_computes,
                                .how = how};

static const mc_solver *solver(const int64_t *point) {
    (void)point;
    return &steps;
}

const mc_family mc_family_pattern = {
    .name = "pattern",
    .summary = "where a matrix in device memory has nonzero vectors",
    .computes = "columns of nonzero vectors, out of a dense matrix or a mask; and the vectors of slots.",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .solver = solver,
    .chooser = F_STEP,
    .hints = hints};
