/* The plan of a kernel, what launching it takes, and what --describe says of it. */
#include <stdio.h>
#include "ops/softmax_grad/softmax_grad.h"

static void take_point(const int64_t *point, grad_plan *plan) {
    *plan = (grad_plan){.p = (rows_type)point[F_LHS],
                        .d = (rows_type)point[F_RHS],
                        .c = (rows_type)point[F_OUT],
                        .scaled = point[F_SCALE] != 0,
                        .batch = point[F_BATCH] != 0,
                        .deal = {.order = (rows_order)point[F_ORDER],
                                 .vec = (int)point[F_VEC],
                                 .warps = (int)point[F_WARPS],
                                 .hold = (int)point[F_HOLD],
                                 .per_warp = (int)point[F_ROWS_PER_WARP]},
                        .align = (int)point[F_ALIGN],
                        .m = point[F_M],
                        .n = point[F_N]};
    rows_deal(&plan->deal, (int)point[F_UNIT], rows_type_bytes(plan->p), plan->align);
    plan->packed = plan->deal.order == ROWS_BCRS && plan->deal.unit > 1;
}

enum { OTHER_REGISTERS = 36, OF_A_ROW = 6 };

void grad_make_plan(const int64_t *point, void *data, mc_complaints *complaints) {
    grad_plan *plan = data;
    take_point(point, plan);
    rows_check_m(&plan->deal, plan->m, F_M, complaints);
    rows_check_teams(&plan->deal, F_ROWS_PER_WARP, complaints);
    rows_check(&plan->deal, grad_unit_words(plan), OF_A_ROW * plan->deal.rows + OTHER_REGISTERS, F_HOLD,
               F_WARPS, complaints);
}

/* -- The contract ------------------------------------------------------------------------------------- */

#define BY_TYPE(name)                                                                                        \
    { ROWS_BY_ORDER("f32", name), ROWS_BY_ORDER("f16", name), ROWS_BY_ORDER("bf16", name) }
static const char *const p_docs[][3] = BY_TYPE("P"), *const d_docs[][3] = BY_TYPE("the gradient of P"),
                         *const c_docs[][3] = BY_TYPE("C, the gradient of the softmax's A");

void grad_list_batch(const grad_plan *plan, mc_batch_array arrays[GRAD_BATCH_ARRAYS]) {
    arrays[0] = (mc_batch_array){"p", "a_stride", "elements from one product's P to the next's",
                                 8 * rows_type_bytes(plan->p)};
    arrays[1] = (mc_batch_array){"dp", "b_stride", "elements from one product's gradient of P to the next's",
                                 8 * rows_type_bytes(plan->d)};
    arrays[2] = (mc_batch_array){"c", "c_stride", "elements from one product's C to the next's",
                                 8 * rows_type_bytes(plan->c)};
}

/* Elements of gradients are loaded by rows_load, of which addresses are multiples of that. */
static unsigned gradient_bytes(const grad_plan *plan) {
    const rows_array d = {.bytes = rows_type_bytes(plan->d), .align = plan->align};
    return (unsigned)rows_bytes_at_once(&plan->deal, &d);
}

static void add_params(const grad_plan *plan, mc_contract *c) {
    unsigned p = (unsigned)(plan->deal.unit * rows_type_bytes(plan->p)),
             out = (unsigned)(grad_store_elements(plan) * rows_type_bytes(plan->c));
    rows_order order = plan->deal.order;
    rows_add_blocks(c);
    add_param(c, (mc_param){"p", "u64", MC_PARAM_ARRAY, p, p_docs[plan->p][order]});
    add_param(c, (mc_param){"dp", "u64", MC_PARAM_ARRAY, gradient_bytes(plan), d_docs[plan->d][order]});
    add_param(c, (mc_param){"c", "u64", MC_PARAM_ARRAY, out, c_docs[plan->c][order]});
    if (plan->scaled) add_param(c, (mc_param){"scale", "f32", MC_PARAM_SCALAR, 4, "what C is multiplied by"});
    if (rows_in_teams(&plan->deal)) add_shape(c, "m", plan->m, "rows");
}

static int shared_bytes(const grad_plan *plan) { return plan->deal.warps * plan->deal.vec * 4 * WORD; }

void grad_contract(const void *data, mc_contract *c) {
    const grad_plan *plan = data;
    mc_batch_array arrays[GRAD_BATCH_ARRAYS];
    add_params(plan, c);
    rows_contract(&plan->deal, shared_bytes(plan), c);
    grad_list_batch(plan, arrays);
    if (plan->batch) batch_contract(c, arrays, GRAD_BATCH_ARRAYS);
}

/* -- Facts and names ---------------------------------------------------------------------------------- */

void grad_facts(const void *data, mc_facts *facts) {
    const grad_plan *plan = data;
    int p = rows_type_bytes(plan->p), d = rows_type_bytes(plan->d), c = rows_type_bytes(plan->c);
    const rows_traffic traffic = {.unit_bytes = plan->deal.unit * p,
                                  .unit_is = "of P, that a lane loads at once",
                                  .value_bytes = p + d + c};
    rows_facts(&plan->deal, &traffic, shared_bytes(plan), facts);
}

void grad_entry_name(const void *data, char name[MC_MAX_ENTRY]) {
    static const char *const types[] = {"f32", "f16", "bf16"};
    const grad_plan *plan = data;
    char beside[16] = "";
    if (rows_in_teams(&plan->deal)) snprintf(beside, sizeof beside, "_r%d", plan->deal.per_warp);
    snprintf(name, MC_MAX_ENTRY, "softmax_grad_%s_%s_%s_v%d_%s_w%d_h%d%s", types[plan->p], types[plan->d],
             types[plan->c], plan->deal.vec, rows_order_names[plan->deal.order], plan->deal.warps,
             plan->deal.hold, beside);
}
