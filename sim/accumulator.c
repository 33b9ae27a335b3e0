#include "product.h"

/* Where LANE's element I of register REG is: two neighbours, of row `group` and the row 8 below, of each
   block of 8 columns. */
static int place_of(int reg, int i, int lane, bool is_half, int columns) {
    const int at = is_half ? 2 * reg + i : reg;
    const int row = lane / 4 + at / 2 % 2 * 8, column = at / 4 * 8 + lane % 4 * 2 + at % 2;
    return row * columns + column;
}

void sim_accumulator_read(const struct sim_warp *warp, const struct sim_value *value, int count, bool is_half,
                          int columns, uint32_t *sum) {
    for (int reg = 0; reg < count; reg++) {
        const uint32_t *lanes = sim_source(warp, &value[reg]);
        SIM_EACH_LANE(l) {
            const uint32_t word = lanes[l];
            if (!is_half) sum[place_of(reg, 0, l, false, columns)] = word;
            for (int i = 0; is_half && i < 2; i++)
                sum[place_of(reg, i, l, true, columns)] = word >> 16 * i & 0xffff;
        }
    }
}

void sim_accumulator_write(struct sim_warp *warp, const struct sim_value *value, int count, bool is_half,
                           int columns, const uint32_t *sum) {
    for (int reg = 0; reg < count; reg++) {
        uint32_t r[SIM_LANES];
        SIM_EACH_LANE(l) {
            r[l] = sum[place_of(reg, 0, l, is_half, columns)];
            if (is_half) r[l] |= sum[place_of(reg, 1, l, true, columns)] << 16;
        }
        sim_put(warp, &value[reg], r, sizeof *r, SIM_FULL_MASK);
    }
}
