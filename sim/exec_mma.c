/* Integer mma.sync. D = A B + C with A of M rows, B of 8 columns, K in the middle, all spread over the warp's
 * lanes (ISA, "Matrix Fragments for mma.m8n8k16 / m16n8k16 / m16n8k32"). Bytes are unpacked to int16_t, so
 * that rows and columns multiply by the vector instructions made for that. */
#include "exec.h"

enum { COLUMNS = 8, MAX_ROWS = 16, MAX_DEPTH = 32 };

struct tile {
    int16_t a[MAX_ROWS][MAX_DEPTH];
    int16_t b[COLUMNS][MAX_DEPTH];
    int32_t product[MAX_ROWS][COLUMNS];
};

/* Lane = 4 * group + member. A register holds 4 bytes in a row of A, or in a column of B: row `group` of each
   block of 8 rows, and in each block of 16 along k the bytes from 4 * member on. */
static int group_of(int lane) { return lane / 4; }
static int first_k(int lane) { return lane % 4 * 4; }

static void unpack(const struct sim_warp *warp, const struct sim_value *value, bool is_signed, int k,
                   int16_t (*rows)[MAX_DEPTH]) {
    const uint32_t *lanes = sim_source(warp, value);
    SIM_EACH_LANE(l) {
        int16_t *to = rows[group_of(l)] + k + first_k(l);
        for (int i = 0; i < 4; i++) {
            uint8_t byte = (uint8_t)(lanes[l] >> 8 * i);
            to[i] = is_signed ? (int8_t)byte : byte;
        }
    }
}

static void multiply(struct tile *tile, int rows, int depth) {
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < COLUMNS; column++) {
            const int16_t *a = tile->a[row], *b = tile->b[column];
            int32_t sum = 0;
            for (int k = 0; k < depth; k++) sum += a[k] * b[k];
            tile->product[row][column] = sum;
        }
}

static int32_t accumulate(int32_t c, int32_t product, bool saturate) {
    int64_t sum = (int64_t)c + product;
    if (saturate) return sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : (int32_t)sum;
    return (int32_t)(uint32_t)sum;
}

/* Registers of the accumulator: two columns a lane, of row `group` in each block of 8 rows. */
static void add_products(struct sim_warp *warp, const struct sim_insn *insn, const struct tile *tile,
                         int rows, const struct sim_value *c) {
    bool saturate = insn->modifiers & SIM_SATFINITE;
    for (int reg = 0; reg < rows / 4; reg++) {
        const int32_t *lanes = sim_source(warp, &c[reg]);
        int32_t r[SIM_LANES];
        SIM_EACH_LANE(l) {
            int row = group_of(l) + reg / 2 * 8, column = l % 4 * 2 + reg % 2;
            r[l] = accumulate(lanes[l], tile->product[row][column], saturate);
        }
        sim_put(warp, &insn->value[reg], r, sizeof *r, SIM_FULL_MASK);
    }
}

static void mma(struct sim_warp *warp, const struct sim_insn *insn, int rows, int depth) {
    struct tile tile;
    int blocks = rows / 8;
    const struct sim_value *value = &insn->value[rows / 4]; /* behind D */
    for (int k = 0; k < depth; k += 16)
        for (int block = 0; block < blocks; block++)
            unpack(warp, value++, insn->type2 == SIM_s8, k, tile.a + block * 8);
    for (int k = 0; k < depth; k += 16) unpack(warp, value++, insn->type3 == SIM_s8, k, tile.b);
    multiply(&tile, rows, depth);
    add_products(warp, insn, &tile, rows, value);
    warp->block->counts.mma++;
}

#define MMA(rows, depth)                                                                                     \
    void sim_mma_m##rows##n8k##depth(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {    \
        (void)mask;                                                                                          \
        mma(warp, insn, rows, depth);                                                                        \
    }
MMA(8, 16)
MMA(16, 16)
MMA(16, 32)
