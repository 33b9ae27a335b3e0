#include "ops/softmax/softmax.h"

/* In the order of the field out. */
const softmax_type softmax_types[] = {
    {"f32", 4, 0, 0, OUT_F32},     {"f16", 2, 0, 0, OUT_F16}, {"bf16", 2, 0, 0, OUT_BF16},
    {"s8", 1, -128, 127, OUT_S8},  {"u8", 1, 0, 255, OUT_U8}, {"s16", 2, -32768, 32767, OUT_S32},
    {"u16", 2, 0, 65535, OUT_S32},
};

const int softmax_ways[SOFTMAX_WAYS] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};

static int least(int a, int b) { return a < b ? a : b; }
static int most(int a, int b) { return a > b ? a : b; }

int softmax_store_elements(const softmax_plan *plan) {
    return least(plan->unit, most(1, least(plan->align, SOFTMAX_UNIT_BYTES) / plan->out.bytes));
}

bool softmax_one_word(const softmax_plan *plan) {
    enum { MOST = 511 };
    int lanes = 1;
    for (int bit = 0; 1 << bit < MC_WARP; bit++) lanes <<= plan->lane_bits >> bit & 1;
    /* what a thread has of a row */
    int elements = plan->hold * plan->unit / plan->rows;
    return lanes * elements <= MOST;
}

static void take_point(const int64_t *point, softmax_plan *plan) {
    static const int in_bytes[] = {4, 2, 2, 4}, strides[] = {1, 16, 32};
    *plan = (softmax_plan){.in = (softmax_in)point[F_LHS],
                           .in_bytes = in_bytes[point[F_LHS]],
                           .out = softmax_types[point[F_OUT]],
                           .scaled = point[F_SCALE] != 0,
                           .c_scaled = point[F_C_SCALE] != 0,
                           .masked = point[F_MASK] != 0,
                           .lse = point[F_LSE] != 0,
                           .approx = point[F_EXP] != 0,
                           .batch = point[F_BATCH] != 0,
                           .order = (softmax_order)point[F_ORDER],
                           .vec = (int)point[F_VEC],
                           .stride = strides[point[F_ORDER]],
                           .warps = (int)point[F_WARPS],
                           .hold = (int)point[F_HOLD],
                           .align = (int)point[F_ALIGN],
                           .m = point[F_M],
                           .n = point[F_N]};
    plan->late = plan->approx && plan->in_bytes == 2 && !plan->masked;
}

/* Lanes that have the same rows differ in these bits of their numbers. */
static unsigned bits_from(int low) { return (MC_WARP - 1U) & ~((1U << low) - 1U); }

static void plan_vectors(softmax_plan *plan) {
    plan->beside = plan->per_step = plan->vec / plan->unit;
    plan->rows = plan->unit;
    plan->row_step = 1;
    plan->row_warps = plan->warps;
    plan->lane_bits = bits_from(log2_of(plan->beside));
}

static void plan_strides(softmax_plan *plan) {
    int threads = softmax_threads(plan), high;
    plan->beside = plan->stride / plan->unit;
    plan->per_step = plan->beside * plan->vec;
    high = log2_of(plan->per_step);
    plan->rows = most(1, plan->per_step / threads);
    plan->row_step = plan->rows > 1 ? threads / plan->beside : 0;
    plan->row_warps = least(plan->warps, most(1, threads / plan->per_step));
    plan->lane_bits = ((unsigned)plan->beside - 1U) | (plan->per_step < MC_WARP ? bits_from(high) : 0);
}

static void plan_units(softmax_plan *plan, int unit_bytes) {
    int bytes = most(plan->in_bytes, least(plan->align, unit_bytes));
    plan->unit = bytes / plan->in_bytes;
    if (plan->order == SOFTMAX_BCRS) plan->unit = least(plan->unit, plan->vec);
    if (plan->order == SOFTMAX_BCRS) plan_vectors(plan);
    else plan_strides(plan);
    plan->again = least(plan->hold, most(plan->rows, 4));
    if (plan->order == SOFTMAX_BCRS) plan->again = least(plan->hold, 4 * SOFTMAX_UNIT_BYTES / bytes);
    plan->packed = plan->late && plan->order == SOFTMAX_BCRS && plan->unit > 1;
}

enum { OTHER_REGISTERS = 40, SM_REGISTERS = 65536, MOST_REGISTERS = 255 };

static void check_registers(const softmax_plan *plan, mc_complaints *complaints) {
    int held = plan->hold * (plan->unit + softmax_unit_words(plan)) + 6 * plan->rows + OTHER_REGISTERS,
        limit = least(MOST_REGISTERS, SM_REGISTERS / softmax_threads(plan));
    bool in_turn = plan->order != SOFTMAX_BCRS;
    if (plan->hold * plan->unit > SOFTMAX_MAX_VALUES)
        complain(complaints, F_HOLD, "%d units have %d elements, a thread keeps %d at the most", plan->hold,
                 plan->hold * plan->unit, SOFTMAX_MAX_VALUES);
    else if (held > limit)
        complain(complaints, F_HOLD, "%d registers a thread are too many for %d warps", held, plan->warps);
    if (in_turn && plan->rows > SOFTMAX_MAX_ROWS)
        complain(complaints, F_WARPS,
                 "threads of %d warps have %d rows each, at most %d will do: want more warps", plan->warps,
                 plan->rows, SOFTMAX_MAX_ROWS);
    else if (in_turn && plan->rows > plan->hold)
        complain(complaints, F_HOLD, "a stride has %d units, which %d warps do not hold: want more of either",
                 plan->per_step, plan->warps);
}

static void check_shapes(const softmax_plan *plan, mc_complaints *complaints) {
    if (plan->m != MC_OPEN && plan->m % plan->vec)
        complain(complaints, F_M, "%lld is not a multiple of vec = %d", (long long)plan->m, plan->vec);
}

static void check_types(const softmax_plan *plan, mc_complaints *complaints) {
    if (plan->c_scaled && softmax_is_real(plan))
        complain(complaints, F_C_SCALE, "out = \"%s\" has no scale: that goes with s8, u8, s16 and u16",
                 plan->out.name);
}

void softmax_make_plan(const int64_t *point, void *data, mc_complaints *complaints) {
    softmax_plan *plan = data;
    take_point(point, plan);
    plan_units(plan, (int)point[F_UNIT]);
    check_types(plan, complaints);
    check_shapes(plan, complaints);
    check_registers(plan, complaints);
}
