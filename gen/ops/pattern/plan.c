#include "ops/pattern/pattern.h"

enum { ALL_BITS = 32 };

/* The greatest bit of a float is its sign, and minus zero is zero. */
#define BITS(bits)                                                                                           \
    { bits, 0xffffffff >> (ALL_BITS - (bits)) }
#define FLOAT(bits)                                                                                          \
    { bits, 0x7fffffff >> (ALL_BITS - (bits)) }
const pattern_element pattern_elements[] = {BITS(4),  BITS(8),   BITS(16), BITS(32),
                                            FLOAT(8), FLOAT(16), FLOAT(32)};
const char *const pattern_element_names[] = {"b4", "b8", "b16", "b32", "f8", "f16", "f32", NULL};

static void check_hold(const pattern_plan *plan, mc_complaints *complaints) {
    int held = plan->hold * plan->vec;
    if (plan->step == PATTERN_FIND && held > PATTERN_MAX_HELD)
        complain(complaints, F_HOLD, "%d columns have %d elements of a thread, which holds %d at the most",
                 plan->hold, held, PATTERN_MAX_HELD);
}

void pattern_make_plan(const int64_t *point, void *data, mc_complaints *complaints) {
    pattern_plan *plan = data;
    *plan = (pattern_plan){.step = (pattern_step)point[F_STEP],
                           .element = &pattern_elements[point[F_ELEMENT]],
                           .ranged = point[F_RANGE] == 1,
                           .by_columns = point[F_MAJOR] == 1,
                           .vec = (int)point[F_VEC],
                           .hold = (int)point[F_HOLD]};
    check_hold(plan, complaints);
    if (plan->ranged && plan->element->bits < 8)
        complain(complaints, F_RANGE, "elements of %d bits are all in range", plan->element->bits);
}
