#include "ops/softmax/softmax.h"

/* In the order of the field out. */
const softmax_type softmax_types[] = {
    {"f32", 32, 0, 0, OUT_F32},     {"f16", 16, 0, 0, OUT_F16}, {"bf16", 16, 0, 0, OUT_BF16},
    {"s8", 8, -128, 127, OUT_S8},   {"u8", 8, 0, 255, OUT_U8},  {"s16", 16, -32768, 32767, OUT_S32},
    {"u16", 16, 0, 65535, OUT_S32}, {"s4", 4, -8, 7, OUT_S4},   {"u4", 4, 0, 15, OUT_U4},
};

int softmax_store_elements(const softmax_plan *plan) {
    return rows_store_elements(&plan->deal, plan->out.bits, plan->align);
}

static void take_point(const int64_t *point, softmax_plan *plan) {
    *plan = (softmax_plan){.in = (rows_type)point[F_LHS],
                           .in_bytes = rows_type_bytes((rows_type)point[F_LHS]),
                           .out = softmax_types[point[F_OUT]],
                           .scaled = point[F_SCALE] != 0,
                           .c_scaled = point[F_C_SCALE] != 0,
                           .masked = point[F_MASK] != 0,
                           .lse = point[F_LSE] != 0,
                           .approx = point[F_EXP] != 0,
                           .batch = point[F_BATCH] != 0,
                           .deal = {.order = (rows_order)point[F_ORDER],
                                    .vec = (int)point[F_VEC],
                                    .warps = (int)point[F_WARPS],
                                    .hold = (int)point[F_HOLD],
                                    .per_warp = (int)point[F_ROWS_PER_WARP]},
                           .align = (int)point[F_ALIGN],
                           .m = point[F_M],
                           .n = point[F_N]};
    plan->once = point[F_EXCHANGE] != 0;
    plan->late = plan->approx && plan->in_bytes == 2 && !plan->masked;
}

enum { OTHER_REGISTERS = 40, OF_A_ROW = 6 };

static void check_registers(const softmax_plan *plan, mc_complaints *complaints) {
    int others = OF_A_ROW * plan->deal.rows + OTHER_REGISTERS;
    rows_check(&plan->deal, softmax_unit_words(plan), others, F_HOLD, F_WARPS, complaints);
}

static void check_types(const softmax_plan *plan, mc_complaints *complaints) {
    if (plan->c_scaled && softmax_is_real(plan))
        complain(complaints, F_C_SCALE, "out = \"%s\" has no scale: that goes with integers", plan->out.name);
    if (plan->out.bits < BYTE && plan->deal.unit == 1)
        complain(complaints, F_OUT,
                 "\"%s\" has two elements in a byte, and threads have one at a time: want %s", plan->out.name,
                 plan->deal.order == ROWS_BCRS && plan->deal.vec == 1 ? "an order of strides, or vec = 2"
                                                                      : "more bytes of align or unit");
}

static void check_exchange(const softmax_plan *plan, mc_complaints *complaints) {
    if (plan->once && !plan->approx) complain(complaints, F_EXCHANGE, "\"once\" goes with exp = \"approx\"");
    else if (plan->once && plan->lse) complain(complaints, F_EXCHANGE, "\"once\" has no lse = \"row\"");
    else if (plan->once && rows_in_teams(&plan->deal))
        complain(complaints, F_EXCHANGE, "\"once\" is for thread blocks that take a row: rows_per_warp = 1");
}

void softmax_make_plan(const int64_t *point, void *data, mc_complaints *complaints) {
    softmax_plan *plan = data;
    take_point(point, plan);
    rows_deal(&plan->deal, (int)point[F_UNIT], plan->in_bytes, plan->align);
    plan->packed = plan->late && plan->deal.order == ROWS_BCRS && plan->deal.unit > 1;
    check_types(plan, complaints);
    check_exchange(plan, complaints);
    rows_check_m(&plan->deal, plan->m, F_M, complaints);
    rows_check_teams(&plan->deal, F_ROWS_PER_WARP, complaints);
    check_registers(plan, complaints);
}
