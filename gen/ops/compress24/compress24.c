/* The family `compress24`: schema, hints, names, its two solvers. */
#include <stdio.h>
#include "ops/compress24/compress24.h"

const compress24_element compress24_elements[] = {
    {2, COMPRESS24_FLOAT, false}, {2, COMPRESS24_FLOAT, true},        {1, COMPRESS24_FINITE, false},
    {1, COMPRESS24_FLOAT, false}, {1, COMPRESS24_SIGNED, false},      {1, COMPRESS24_UNSIGNED, false},
    {4, COMPRESS24_FLOAT, false}, {1, COMPRESS24_SIGNED_PAIR, false}, {1, COMPRESS24_UNSIGNED_PAIR, false}};
const char *const compress24_element_names[] = {"f16", "bf16", "e4m3", "e5m2", "s8",
                                                "u8",  "f32",  "s4",   "u4",   NULL};

static const char *const layout_names[] = {"packed24", "natural", "cutlass-sm80", "cutlass-sm90", NULL};

static const mc_field fields[] = {
    {"op", WORDS("compress24"), .doc = "The kernel family."},
    ARCH_FIELD,
    {"element", NAMES = compress24_element_names,
     .doc =
         "Elements of A. Two of four neighbours are kept, of f32 (and tf32) one of two, of s4 and u4 two of "
         "four pairs of neighbours (4:8)."},
    {"mode", WORDS("strict", "prune", "copy"), .solvers = "slabs",
     .doc =
         "strict: groups have no more nonzeros than are kept; of others nobody knows what becomes, but the "
         "report has the first one. prune: the greatest magnitudes are kept, of equal ones the earlier. "
         "copy: nothing is compressed, but as many bytes are moved in the same "
         "way, which is what the others are timed beside."},
    {"layout", NAMES = layout_names, .solvers = "slabs",
     .doc =
         "How values and metadata lie. packed24: in the atoms that gemm24 reads. Others: values row by row; "
         "metadata row by row, or in the atoms of CUTLASS (cutlass-sm90 of a tile of 128 elements; not of "
         "s4 and u4)."},
    {"source", WORDS("dense", "pattern"),
     .doc =
         "dense: a dense matrix. pattern: columns of nonzeros, row by row, of which the metadata of packed24 "
         "are made, and which nonzero each of its places holds; not of f32."},
};
SCHEMA_FITS(fields, F_SOURCE);

static const mc_hint hints[] = {
    {" lhs type dtype ", "element says what A has: element = \"f16\""},
    {" sparsity pattern ", "always 2:4; mode says what becomes of groups that have more"},
    {0},
};

static void make_plan(const int64_t *point, void *data, mc_complaints *complaints) {
    compress24_plan *plan = data;
    (void)complaints;
    *plan = (compress24_plan){.type = compress24_element_names[point[F_ELEMENT]],
                              .element = compress24_elements[point[F_ELEMENT]],
                              .mode = (compress24_mode)point[F_MODE],
                              .layout = (compress24_layout)point[F_LAYOUT]};
}

static void plan_slabs(const int64_t *point, void *data, mc_complaints *complaints) {
    make_plan(point, data, complaints);
    const compress24_plan *plan = data;
    if (has_pairs(plan) && plan->layout == COMPRESS24_SM90)
        complain(complaints, F_LAYOUT, "cutlass-sm90 has no metadata of %s", plan->type);
}

static void facts(const void *data, mc_facts *facts) {
    const compress24_plan *plan = data;
    add_fact(facts, "threads", COMPRESS24_THREADS, "a thread block");
    add_fact(facts, "slab_columns", (int64_t)SLAB_PIECES * piece_elements(plan), "columns of a thread block");
}

static void entry_name(const void *data, char name[MC_MAX_ENTRY]) {
    static const char *const layouts[] = {"packed", "natural", "sm80", "sm90"};
    static const char *const modes[] = {"strict", "prune", "copy"};
    const compress24_plan *plan = data;
    snprintf(name, MC_MAX_ENTRY, "compress24_%s_%s_%s", plan->type, modes[plan->mode], layouts[plan->layout]);
}

static const char *computes(const void *data) {
    const compress24_plan *plan = data;
    if (plan->mode == COMPRESS24_COPY) return "nothing: it moves bytes, for others to be timed beside.";
    if (has_pairs(plan))
        return "values, meta = the two greatest of each four pairs of neighbours of a row of A.";
    return plan->element.bytes == WORD
               ? "values, meta = the greater of each two neighbours of a row of A."
               : "values, meta = the two greatest of each four neighbours of a row of A.";
}

static const char *how(const void *data) {
    (void)data;
    return "A thread block takes 64 rows by 256 bytes, a thread four pieces of 32 bytes.";
}

static const mc_solver slabs = {.name = "slabs",
                                .plan = plan_slabs,
                                .contract = compress24_contract,
                                .facts = facts,
                                .emit = compress24_emit,
                                .entry_name = entry_name,
                                .computes = computes,
                                .how = how};

/* -- Out of a pattern --------------------------------------------------------------------------------- */

static void plan_pattern(const int64_t *point, void *data, mc_complaints *complaints) {
    make_plan(point, data, complaints);
    const compress24_plan *plan = data;
    if (plan->element.bytes == WORD) complain(complaints, F_ELEMENT, "f32 has no source = \"pattern\"");
}

static void pattern_name(const void *data, char name[MC_MAX_ENTRY]) {
    const compress24_plan *plan = data;
    snprintf(name, MC_MAX_ENTRY, "compress24_%s_pattern", plan->type);
}

static const char *pattern_computes(const void *data) {
    const compress24_plan *plan = data;
    if (has_pairs(plan))
        return "meta, vectors = the codes of a 4:8 pattern, and the nonzero that each place of packed24 "
               "holds.";
    return "meta, vectors = the codes of a 2:4 pattern, and the nonzero that each place of packed24 holds.";
}

static const mc_solver pattern = {.name = "pattern",
                                  .plan = plan_pattern,
                                  .contract = compress24_pattern_contract,
                                  .facts = facts,
                                  .emit = compress24_emit_pattern,
                                  .entry_name = pattern_name,
                                  .computes = pattern_computes,
                                  .how = how};

static const mc_solver *solver(const int64_t *point) { return point[F_SOURCE] == 1 ? &pattern : &slabs; }

const mc_family mc_family_compress24 = {.name = "compress24",
                                        .summary = "a dense matrix on the device becomes a 2:4 one",
                                        .computes =
                                            "values and metadata of a 2:4 matrix, out of a dense one.",
                                        .fields = fields,
                                        .field_count = sizeof fields / sizeof *fields,
                                        .solver = solver,
                                        .chooser = F_SOURCE,
                                        .hints = hints};
