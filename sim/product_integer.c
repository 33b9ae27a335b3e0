#include "wide.h"

#include <string.h>

struct integer_job {
    int32_t (*a)[SIM_PRODUCT_KEPT];
    int rows, count;
    const struct sim_integers *b;
    const sim_places *places;
    bool saturate;
    int32_t *sum;
};

static int32_t accumulate(int32_t c, int32_t product, bool saturate) {
    const int64_t sum = (int64_t)c + product;
    if (saturate) return sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : (int32_t)sum;
    return (int32_t)(uint32_t)sum;
}

/* PLACES is NULL: A's first element meets B's first. */
SIM_INLINE void eight_integers(const struct integer_job *j, int row, int column, const uint8_t *places) {
    const int32_t *b = &j->b->value[sim_place_in_b(j->b->depth, 0, column)];
    wide_int product = {0}, factor;
    int32_t products[SIM_WIDE], *sum = &j->sum[row * j->b->columns + column];
    for (int i = 0; i < j->count; i++) {
        memcpy(&factor, b + (places ? places[i] : i) * SIM_WIDE, sizeof factor);
        product += j->a[row][i] * factor;
    }
    memcpy(products, &product, sizeof products);
    for (int i = 0; i < SIM_WIDE; i++) sum[i] = accumulate(sum[i], products[i], j->saturate);
}

/* Eight columns of B stay at hand for all rows. */
SIM_INLINE void multiply_integers_body(const struct integer_job *j) {
    for (int column = 0; column < j->b->columns; column += SIM_WIDE)
        for (int row = 0; row < j->rows; row++) {
            if (j->places) eight_integers(j, row, column, j->places[row]);
            else eight_integers(j, row, column, NULL);
        }
}
SIM_BY_PROCESSOR(multiply_integers, integer_job)

void sim_multiply_integers(int32_t (*a)[SIM_PRODUCT_KEPT], int rows, int count, const struct sim_integers *b,
                           const sim_places *places, bool saturate, int32_t *sum) {
    const struct integer_job job = {a, rows, count, b, places, saturate, sum};
    multiply_integers(&job);
}
