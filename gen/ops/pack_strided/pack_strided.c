/* The family `pack_strided`: schema, contract, names, its one solver. */
#include "ops/pack_strided/pack_strided.h"
#include <stdio.h>

static const mc_field fields[] = {
    {"op", WORDS("pack_strided"), .doc = "The kernel family."},
    ARCH_FIELD,
    {"index", WORDS("plain", "shuffled"),
     .doc = "Where a slot's column stands: at the slot, or shuffled inside of each 8 slots."},
    {"ones", WORDS("none", "bytes", "halves"),
     .doc =
         "The row of ones behind the digits of packed values, for digits offset: of bytes, or of halves of "
         "bytes."},
    {"group", COUNTS(32, 64), .standard = 32, .doc = "Slots after which packed values are laid out alike."},
    {"hold", COUNTS(1, 2, 4, 8), .standard = 4, .tunable = true, .doc = "Slots that a thread takes at once."},
};
SCHEMA_FITS(fields, F_HOLD);

static const mc_hint hints[] = {
    {" shuffle order ", "index says where columns stand: index = \"plain\" or \"shuffled\""},
    {" digits precision_split ", "ones says whether there is a row of ones"},
    {0},
};

/* -- The plan ----------------------------------------------------------------------------------------- */

static void make_plan(const int64_t *point, void *data, mc_complaints *complaints) {
    strided_plan *plan = data;
    *plan = (strided_plan){.shuffled = point[F_INDEX] == 1,
                           .ones = (strided_ones)point[F_ONES],
                           .group = (int)point[F_GROUP],
                           .hold = (int)point[F_HOLD]};
    if (plan->group != MC_WARP && plan->ones == STRIDED_BYTES)
        complain(complaints, F_GROUP, "of bytes a group has %d slots", MC_WARP);
}

/* -- Contract, facts, names --------------------------------------------------------------------------- */

static void add_array_of(mc_contract *c, const char *name, const char *doc) {
    add_param(c, (mc_param){name, "u64", MC_PARAM_ARRAY, WORD, doc});
}

static void contract(const void *data, mc_contract *c) {
    const strided_plan *plan = data;
    add_array_of(c, "offsets", "s32[row blocks + 1], the first vector of each row block");
    add_array_of(c, "columns", "s32[vectors]");
    add_array_of(c, "row_ptr", "s32[row blocks + 1], in strides, the first one behind the heads");
    add_array_of(c, "col_idx", "s32[slots], which the kernel writes; -1: padding");
    add_array_of(c, "vectors",
                 "s32[slots], the number of the slot's vector, which the kernel writes; -1: none");
    if (plan->ones != STRIDED_NO_ONES) {
        add_array_of(c, "values", "packed values, of which the kernel writes the ones");
        add_shape(c, "group_bytes", MC_OPEN, "bytes of a group of packed values");
        add_shape(c, "ones_at", MC_OPEN, "where in a group its ones begin, in bytes");
    }
    add_shape(c, "stride", MC_OPEN, "slots of a stride");
    add_shape(c, "heads", MC_OPEN, "slots of a row block's heads");
    segments_contract(c);
}

static void facts(const void *data, mc_facts *facts) {
    (void)data;
    add_fact(facts, "threads", SEGMENT_THREADS, "a thread block");
    add_fact(facts, "segment", MC_SEGMENT, "slots of a warp");
}

static void entry_name(const void *data, char name[MC_MAX_ENTRY]) {
    static const char *const ones[] = {"", "_ones", "_half_ones"};
    const strided_plan *plan = data;
    snprintf(name, MC_MAX_ENTRY, "pack_strided%s%s_g%d_h%d", plan->shuffled ? "_shuffled" : "",
             ones[plan->ones], plan->group, plan->hold);
}

static const char *computes(const void *data) {
    (void)data;
    return "col_idx[...] = columns[vector], vectors[...] = vector, for the vector in each slot of "
           "strided-bcrs.";
}

static const char *how(const void *data) {
    (void)data;
    return "A warp takes 1024 slots of a row block, 32 at a time.";
}

static const mc_solver slots = {.name = "slots",
                                .plan = make_plan,
                                .contract = contract,
                                .facts = facts,
                                .emit = strided_emit,
                                .entry_name = entry_name,
                                .computes = computes,
                                .how = how};

static const mc_solver *solver(const int64_t *point) {
    (void)point;
    return &slots;
}

const mc_family mc_family_pack_strided = {
    .name = "pack_strided",
    .summary = "a pattern on the device is packed as strided-bcrs",
    .computes = "columns and vectors of the slots of strided-bcrs, out of a pattern.",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .solver = solver,
    .chooser = F_INDEX,
    .hints = hints};
