#include "base/quantiser.h"
#include <math.h>
#include "base/type.h"

/* To the nearest integer, ties to even, cut off where that does not matter any more; 0 for a NaN. */
static int64_t nearest(float real) {
    if (isnan(real)) return 0;
    return (int64_t)fminf(fmaxf(rintf(real), -0x1p30F), 0x1p30F);
}

static int64_t cut_off(int64_t value, int64_t least, int64_t most) {
    return value < least ? least : value > most ? most : value;
}

/* Of zeros, too. */
static float scale_of(float reach, int64_t steps) {
    float scale = reach / (float)steps;
    return scale < 0x1p-126F ? 0x1p-126F : scale;
}

quantiser quantiser_of(mc_type type, bool zero, float above, float below) {
    int64_t least = mc_type_min(type), most = mc_type_max(type);
    if (!zero) return (quantiser){type, scale_of(above, most), 0};
    float scale = scale_of(above + below, most - least);
    return (quantiser){type, scale,
                       (float)(least + cut_off(nearest(below * (1 / scale)), INT32_MIN, most - least))};
}

int64_t quantiser_zero(const quantiser *q) {
    return cut_off(nearest(q->zero), mc_type_min(q->type), mc_type_max(q->type));
}

int64_t quantiser_level(const quantiser *q, float value) {
    return nearest(value * (1 / q->scale)) + quantiser_zero(q);
}

int64_t quantiser_apply(const quantiser *q, float value) {
    return cut_off(quantiser_level(q, value), mc_type_min(q->type), mc_type_max(q->type));
}
