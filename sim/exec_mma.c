/* mma.sync of integers. D = A B + C with A of M rows, B of 8 columns, K in the middle, all spread over the
 * warp's lanes. product_integer.c multiplies. */
#include "mma_operand.h"

struct integer_tile {
    int32_t a[SIM_PRODUCT_ROWS][SIM_PRODUCT_KEPT];
    struct sim_integers b;
};

SIM_INLINE void integers(struct sim_warp *warp, const struct sim_insn *insn, int blocks, int chunks,
                         int bits) {
    const struct sim_value *a = &insn->value[insn->destination_count], *b = a + blocks * chunks;
    const int count = 128 / bits, sums = insn->destination_count;
    struct integer_tile tile;
    uint32_t sum[SIM_PRODUCT_ROWS * SIM_MMA_COLUMNS];
    tile.b.columns = SIM_MMA_COLUMNS;
    tile.b.depth = count * chunks;
    for (int chunk = 0; chunk < chunks; chunk++)
        for (int row = 0; row < 8; row++) {
            for (int block = 0; block < blocks; block++) {
                const uint32_t *lanes = sim_source(warp, &a[chunk * blocks + block]);
                int32_t *to = tile.a[block * 8 + row] + chunk * count;
                for (int i = 0; i < count; i++)
                    to[i] = sim_integer_of(insn->type2, sim_mma_element(lanes, bits, row, i));
            }
            const uint32_t *lanes = sim_source(warp, &b[chunk]);
            for (int i = 0; i < count; i++)
                tile.b.value[sim_place_in_b(tile.b.depth, chunk * count + i, row)] =
                    sim_integer_of(insn->type3, sim_mma_element(lanes, bits, row, i));
        }
    sim_accumulator_read(warp, b + chunks, sums, false, SIM_MMA_COLUMNS, sum);
    sim_multiply_integers(tile.a, 8 * blocks, count * chunks, &tile.b, NULL, insn->modifiers & SIM_SATFINITE,
                          (int32_t *)sum);
    sim_accumulator_write(warp, insn->value, sums, false, SIM_MMA_COLUMNS, sum);
    sim_mma_count(warp, insn, bits, false, blocks, chunks);
}

/* An operand has as many registers a block of 8 rows as K has chunks. */
#define MMA(rows, chunks)                                                                                    \
    void sim_mma_m##rows##n8_##chunks(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {   \
        (void)mask;                                                                                          \
        if (insn->type2 == SIM_s8 || insn->type2 == SIM_u8) integers(warp, insn, rows / 8, chunks, 8);       \
        else integers(warp, insn, rows / 8, chunks, 4);                                                      \
    }
MMA(8, 1)
MMA(16, 1)
MMA(16, 2)
