/* mma.sync of floats. D = A B + C with A of M rows, B of 8 columns, K in the middle, all spread over the
 * warp's lanes. product_real.c multiplies. */
#include "mma_operand.h"

struct real_tile {
    struct sim_real_row a[SIM_PRODUCT_ROWS];
    struct sim_reals b;
};

/* Where a sum has element I of a row's CHUNK: of 8-bit elements the first two of each four come first, since
   sm_90 widens and multiplies these before the others. */
static int place_of(int bits, int depth, int chunk, int i) {
    if (bits == 8) return i % 4 / 2 * (depth / 2) + chunk * 8 + i / 4 * 2 + i % 2;
    return chunk * 128 / bits + i;
}

/* The elements of ROW that the registers at VALUE, STRIDE apart, have, in the order of the sum. */
static void gather(const struct sim_warp *warp, const struct sim_value *value, int stride, int chunks,
                   int bits, int row, uint32_t *elements) {
    const int count = 128 / bits;
    for (int chunk = 0; chunk < chunks; chunk++) {
        const uint32_t *lanes = sim_source(warp, &value[chunk * stride]);
        for (int i = 0; i < count; i++)
            elements[place_of(bits, chunks * count, chunk, i)] = sim_mma_element(lanes, bits, row, i);
    }
}

static void unpack(const struct sim_warp *warp, const struct sim_value *a, const struct sim_value *b,
                   int chunks, const unsigned type[2], struct real_tile *tile) {
    const int bits = 8 * sim_types[type[0]].bytes, depth = chunks * 128 / bits;
    uint32_t elements[SIM_REAL_DEPTH];
    const struct sim_real_kind kind = {.widened = bits == 8};
    tile->b.columns = SIM_MMA_COLUMNS;
    tile->b.depth = depth;
    tile->b.kind = kind;
    for (int row = 0; row < SIM_PRODUCT_ROWS; row++) {
        tile->a[row].kind = kind;
        gather(warp, a + row / 8, 2, chunks, bits, row % 8, elements);
        sim_row_put(&tile->a[row], type[0], elements, depth);
    }
    for (int column = 0; column < SIM_MMA_COLUMNS; column++) {
        gather(warp, b, 1, chunks, bits, column, elements);
        sim_column_put(&tile->b, column, type[1], elements);
    }
}

/* The operands' registers say how deep the product is. */
static void reals(struct sim_warp *warp, const struct sim_insn *insn, unsigned a_type, unsigned b_type,
                  unsigned type) {
    const int sums = insn->destination_count, chunks = (insn->value_count - 2 * sums) / 3,
              depth = chunks * 16 / sim_types[a_type].bytes;
    const struct sim_value *a = &insn->value[sums], *b = a + 2 * chunks;
    const struct sim_sum_rule rule = sim_mma_rule(a_type, type, depth);
    struct real_tile tile;
    uint32_t sum[SIM_PRODUCT_ROWS * SIM_MMA_COLUMNS];
    unpack(warp, a, b, chunks, (const unsigned[]){a_type, b_type}, &tile);
    sim_accumulator_read(warp, b + chunks, sums, type == SIM_f16, SIM_MMA_COLUMNS, sum);
    sim_multiply_reals(&rule, tile.a, SIM_PRODUCT_ROWS, &tile.b, NULL, sum);
    sim_accumulator_write(warp, insn->value, sums, type == SIM_f16, SIM_MMA_COLUMNS, sum);
    sim_mma_count(warp, insn, 8 * sim_types[a_type].bytes, true, 2, chunks);
}

#define REAL(name, a, b, type)                                                                               \
    void sim_mma_##name(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {                 \
        (void)mask;                                                                                          \
        reals(warp, insn, a, b, type);                                                                       \
    }
REAL(f16, SIM_f16, SIM_f16, SIM_f32)
REAL(f16_to_f16, SIM_f16, SIM_f16, SIM_f16)
REAL(bf16, SIM_bf16, SIM_bf16, SIM_f32)
REAL(tf32, SIM_tf32, SIM_tf32, SIM_f32)
REAL(f8, insn->type2, insn->type3, SIM_f32)
REAL(f8_to_f16, insn->type2, insn->type3, SIM_f16)
