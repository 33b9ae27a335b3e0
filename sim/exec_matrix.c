/* Matrices of 8 x 8 halves: ldmatrix, stmatrix, movmatrix. In a fragment, lane 4 r + c holds elements 2 c and
 * 2 c + 1 of row r (ISA, "ldmatrix"). */
#include "lanes.h"

enum { SIDE = 8 };

typedef uint16_t matrix[SIDE][SIDE];

static void to_fragment(matrix from, bool transposed, uint32_t lanes[SIM_LANES]) {
    SIM_EACH_LANE(l) {
        int row = l / 4, column = l % 4 * 2;
        uint32_t low = transposed ? from[column][row] : from[row][column];
        uint32_t high = transposed ? from[column + 1][row] : from[row][column + 1];
        lanes[l] = high << 16 | low;
    }
}

static void from_fragment(const uint32_t lanes[SIM_LANES], bool transposed, matrix to) {
    SIM_EACH_LANE(l) {
        for (int i = 0; i < 2; i++) {
            int row = l / 4, column = l % 4 * 2 + i;
            uint16_t element = (uint16_t)(lanes[l] >> 16 * i);
            if (transposed) to[column][row] = element;
            else to[row][column] = element;
        }
    }
}

/* Where LANE's row lies; NULL after a fault. */
static unsigned char *access_row(struct sim_warp *warp, const struct sim_insn *insn, int lane,
                                 uint64_t address, enum sim_access access) {
    bool in_window = address - SIM_SHARED_WINDOW < warp->block->launch->shared_bytes;
    if (insn->space == SIM_SHARED || (insn->space == SIM_GENERIC && in_window))
        return sim_access_memory(warp, insn, lane, address, SIDE * sizeof(uint16_t), access);
    sim_fault_at(warp, insn, lane, PTXSIM_TRAP, "a matrix that is not in shared memory");
    return NULL;
}

/* Lane 8 i + r addresses row r of matrix i. */
void sim_ldmatrix(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    uint64_t address[SIM_LANES];
    matrix matrices[4];
    uint32_t r[SIM_LANES];
    (void)mask;
    sim_addresses(warp, insn, address);
    for (int l = 0; l < insn->vector * SIDE; l++) {
        const unsigned char *row = access_row(warp, insn, l, address[l], SIM_READ);
        if (!row) return;
        memcpy(matrices[l / SIDE][l % SIDE], row, sizeof **matrices);
    }
    for (int i = 0; i < insn->vector; i++) {
        to_fragment(matrices[i], insn->modifiers & SIM_TRANSPOSED, r);
        sim_put(warp, &insn->value[i], r, sizeof *r, SIM_FULL_MASK);
    }
}

void sim_stmatrix(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    uint64_t address[SIM_LANES];
    matrix matrices[4];
    (void)mask;
    sim_addresses(warp, insn, address);
    for (int i = 0; i < insn->vector; i++)
        from_fragment(sim_source(warp, &insn->value[i]), insn->modifiers & SIM_TRANSPOSED, matrices[i]);
    for (int l = 0; l < insn->vector * SIDE; l++) {
        unsigned char *row = access_row(warp, insn, l, address[l], SIM_WRITE);
        if (!row) return;
        memcpy(row, matrices[l / SIDE][l % SIDE], sizeof **matrices);
    }
}

void sim_movmatrix(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    matrix whole;
    uint32_t r[SIM_LANES];
    (void)mask;
    from_fragment(sim_source(warp, &insn->value[1]), false, whole);
    to_fragment(whole, true, r);
    sim_put(warp, &insn->value[0], r, sizeof *r, SIM_FULL_MASK);
}
