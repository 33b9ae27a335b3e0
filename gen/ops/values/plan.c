#include "ops/values/values.h"

/* Of an element in memory. */
static int element_bits(const values_plan *plan, int side) {
    int bits = side_value_bits(side);
    return values_is_integer(plan) ? side_bits(plan->side) : bits;
}

static void plan_pieces(values_plan *plan) {
    static const int digit_bits[] = {[VALUES_BYTE] = DIGIT_BITS, [VALUES_HALF] = NIBBLE_BITS};
    bool cut = values_is_integer(plan) && plan->unit >= VALUES_BYTE;
    plan->piece_bits = cut ? digit_bits[plan->unit] : plan->bits;
    plan->digits =
        cut ? digits_of(plan->side, plan->piece_bits, plan->mode) : (digit_set){plan->bits, 1, 0, 0};
}

/* A group's pieces, and behind them, with digits offset, a row of ones. */
static int period_bits(const values_plan *plan) {
    bool ones = values_is_integer(plan) && plan->mode == DIGITS_OFFSET;
    return plan->group * (plan->digits.count * plan->vec + ones) * plan->piece_bits;
}

static void plan_threads(values_plan *plan) {
    plan->period = period_bits(plan) / (8 * WORD);
    plan->wide = plan->period < VALUES_THREADS ? plan->period : VALUES_THREADS;
    plan->beside = plan->wide > 0 ? VALUES_THREADS / plan->wide : 1;
}

static void check_unit(const values_plan *plan, mc_complaints *complaints) {
    bool cut = plan->unit == VALUES_BYTE || plan->unit == VALUES_HALF;
    if (cut != values_is_integer(plan))
        complain(complaints, F_UNIT, "lhs = \"%s\" goes with unit = %s", plan->type,
                 cut ? "\"element\", or tf32 with \"rounded\"" : "\"byte\" or \"half\"");
    else if (plan->unit == VALUES_ROUNDED && plan->bits != 8 * WORD)
        complain(complaints, F_UNIT, "only tf32 is rounded, lhs is \"%s\"", plan->type);
}

static void check_digits(const values_plan *plan, mc_complaints *complaints) {
    if (plan->mode == DIGITS_TOP_SIGNED) return;
    if (values_is_integer(plan) && plan->side.is_signed && plan->digits.count > 1) return;
    complain(complaints, F_DIGITS, "%s digits are for signed values of several digits, lhs is \"%s\"",
             digit_mode_names[plan->mode], plan->type);
}

static void check_period(const values_plan *plan, mc_complaints *complaints) {
    if (period_bits(plan) % (8 * WORD))
        complain(complaints, F_GROUP, "a group has %d bits, which are no whole words", period_bits(plan));
}

static void check_hold(const values_plan *plan, mc_complaints *complaints) {
    int held = plan->hold * values_pieces(plan);
    if (held > VALUES_MAX_HELD)
        complain(complaints, F_HOLD, "%d groups have %d pieces of a thread, which holds %d at the most",
                 plan->hold, held, VALUES_MAX_HELD);
}

void values_make_plan(const int64_t *point, void *data, mc_complaints *complaints) {
    values_plan *plan = data;
    int side = (int)point[F_LHS];
    *plan = (values_plan){.type = side_type_names[side],
                          .unit = (values_unit)point[F_UNIT],
                          .mode = (digit_mode)point[F_DIGITS],
                          .from = (values_from)point[F_FROM],
                          .vec = (int)point[F_VEC],
                          .group = (int)point[F_GROUP],
                          .hold = (int)point[F_HOLD]};
    if (side_is_integer(side)) plan->side = digit_sides[side];
    plan->bits = element_bits(plan, side);
    plan_pieces(plan);
    plan_threads(plan);
    check_unit(plan, complaints);
    check_digits(plan, complaints);
    check_period(plan, complaints);
    check_hold(plan, complaints);
}
