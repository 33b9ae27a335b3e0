/* How many of the products of an mma have two factors that are not zero. The rest is padding, or zeros of the
 * data: a kernel's PTX does not say which. */
#include "exec.h"

enum { COLUMNS = 8, ROW_BYTES = 16, GROUPS = SIM_LANES / 4, MOST = 8 * ROW_BYTES / 4 };

/* The 16 bytes of 4 lanes are elements of one row of A, or one column of B, that follow one another along k:
   counts by k those that have a bit in ONES. */
#define TALLY(name, T)                                                                                       \
    static void name(const void *lanes, T ones, uint8_t *by_k) {                                             \
        enum { COUNT = ROW_BYTES / sizeof(T) };                                                              \
        T rows[GROUPS][COUNT];                                                                               \
        memcpy(rows, lanes, sizeof rows);                                                                    \
        for (int row = 0; row < GROUPS; row++)                                                               \
            for (int k = 0; k < COUNT; k++) by_k[k] = (uint8_t)(by_k[k] + ((rows[row][k] & ones) != 0));     \
    }
TALLY(tally8, uint8_t)
TALLY(tally16, uint16_t)
TALLY(tally32, uint32_t)

/* The order of k does not matter, if it is the same for A and B. Floats are zero without their sign. */
static void tally(const void *lanes, int bits, bool is_float, uint8_t by_k[MOST]) {
    switch (bits) {
    case 4: tally8(lanes, 0x0f, by_k), tally8(lanes, 0xf0, by_k + ROW_BYTES); break;
    case 8: tally8(lanes, is_float ? 0x7f : 0xff, by_k); break;
    case 16: tally16(lanes, 0x7fff, by_k); break;
    default: tally32(lanes, 0x7fffffff, by_k); break;
    }
}

void sim_mma_count(struct sim_warp *warp, const struct sim_insn *insn, int bits, bool is_float, int blocks,
                   int chunks) {
    ptxsim_line *line = &warp->block->lines[insn - warp->block->launch->function->code];
    const struct sim_value *a = &insn->value[insn->destination_count], *b = a + blocks * chunks;
    int depth = 8 * ROW_BYTES / bits;
    for (int chunk = 0; chunk < chunks; chunk++) {
        uint8_t rows[MOST] = {0}, columns[MOST] = {0};
        unsigned sum = 0;
        for (int block = 0; block < blocks; block++)
            tally(sim_source(warp, &a[chunk * blocks + block]), bits, is_float, rows);
        tally(sim_source(warp, &b[chunk]), bits, is_float, columns);
        for (int k = 0; k < depth; k++) sum += (unsigned)rows[k] * columns[k];
        line->mma_nonzero += sum;
    }
    line->mma_products += (unsigned)(blocks * GROUPS * COLUMNS * chunks * depth);
    warp->block->counts.mma++;
}
