/* What launching a softmax takes, and what --describe says of it. */
#include "ops/softmax/softmax.h"
#include <stdio.h>

static const char *const a_docs[][3] = {ROWS_BY_ORDER("f32", "A"), ROWS_BY_ORDER("f16", "A"),
                                        ROWS_BY_ORDER("bf16", "A"), ROWS_BY_ORDER("s32", "A")};
static const char *const c_docs[][3] = {
    ROWS_BY_ORDER("f32", "C"), ROWS_BY_ORDER("f16", "C"), ROWS_BY_ORDER("bf16", "C"),
    ROWS_BY_ORDER("s8", "C"),  ROWS_BY_ORDER("u8", "C"),  ROWS_BY_ORDER("s16", "C"),
    ROWS_BY_ORDER("u16", "C"), ROWS_BY_ORDER("s4", "C"),  ROWS_BY_ORDER("u4", "C")};

void softmax_list_batch(const softmax_plan *plan, mc_batch_array arrays[SOFTMAX_BATCH_ARRAYS]) {
    arrays[0] =
        (mc_batch_array){"x", "a_stride", "elements from one product's A to the next's", 8 * plan->in_bytes};
    arrays[1] =
        (mc_batch_array){"c", "c_stride", "elements from one product's C to the next's", plan->out.bits};
}

/* The type's place among softmax_types. */
static int out_place(const softmax_plan *plan) {
    int i = 0;
    while (softmax_types[i].name != plan->out.name) i++;
    return i;
}

static void add_params(const softmax_plan *plan, mc_contract *c) {
    unsigned in = (unsigned)softmax_unit_bytes(plan),
             out = (unsigned)softmax_out_bytes(plan, softmax_store_elements(plan));
    rows_add_blocks(c);
    if (plan->masked)
        add_array(c, 16,
                  (mc_array){"mask_values", "f32", "slots * vec", "added to A's values, in C's order"});
    add_param(c, (mc_param){"x", "u64", MC_PARAM_ARRAY, in, a_docs[plan->in][plan->deal.order]});
    add_param(c, (mc_param){"c", "u64", MC_PARAM_ARRAY, out, c_docs[out_place(plan)][plan->deal.order]});
    if (plan->scaled)
        add_param(c, (mc_param){"scale", "f32", MC_PARAM_SCALAR, 4, "what A's values are multiplied by"});
    if (plan->c_scaled)
        add_param(c, (mc_param){"c_scale", "f32", MC_PARAM_SCALAR, 4, "the scale of C's integers"});
    if (plan->lse)
        add_param(c, (mc_param){"lse", "u64", MC_PARAM_ARRAY, WORD,
                                "f32[m], logarithms of the rows' sums, which the kernel writes"});
    if ((plan->lse && plan->batch) || rows_in_teams(&plan->deal)) add_shape(c, "m", plan->m, "rows");
}

static int shared_bytes(const softmax_plan *plan) { return plan->deal.warps * plan->deal.vec * 3 * WORD; }

void softmax_contract(const void *data, mc_contract *c) {
    const softmax_plan *plan = data;
    mc_batch_array arrays[SOFTMAX_BATCH_ARRAYS];
    add_params(plan, c);
    rows_contract(&plan->deal, shared_bytes(plan), c);
    softmax_list_batch(plan, arrays);
    if (plan->batch) batch_contract(c, arrays, SOFTMAX_BATCH_ARRAYS);
}

void softmax_facts(const void *data, mc_facts *facts) {
    const softmax_plan *plan = data;
    const rows_traffic traffic = {.unit_bytes = softmax_unit_bytes(plan),
                                  .unit_is = "of A, that a lane loads at once",
                                  .value_bytes =
                                      plan->in_bytes + plan->out.bits / BYTE + (plan->masked ? WORD : 0)};
    rows_facts(&plan->deal, &traffic, shared_bytes(plan), facts);
}

const char *softmax_computes(const void *data) {
    static const char *const texts[][2] = {
        {"C = softmax(A) over the nonzero vectors of each row.",
         "C = softmax(A + mask) over the nonzero vectors of each row."},
        {"C = softmax(A * scale) over the nonzero vectors of each row.",
         "C = softmax(A * scale + mask) over the nonzero vectors of each row."}};
    const softmax_plan *plan = data;
    return texts[plan->scaled][plan->masked];
}

void softmax_entry_name(const void *data, char name[MC_MAX_ENTRY]) {
    static const char *const ins[] = {"f32", "f16", "bf16", "s32"};
    const softmax_plan *plan = data;
    char beside[16] = "";
    if (rows_in_teams(&plan->deal)) snprintf(beside, sizeof beside, "_r%d", plan->deal.per_warp);
    snprintf(name, MC_MAX_ENTRY, "softmax_%s_%s_v%d_%s%s%s_w%d_h%d%s", ins[plan->in], plan->out.name,
             plan->deal.vec, rows_order_names[plan->deal.order], plan->masked ? "_masked" : "",
             plan->lse ? "_lse" : "", plan->deal.warps, plan->deal.hold, beside);
}
