/* Integer mma.sync. D = A B + C with A of M rows, B of 8 columns, K in the middle, all spread over the warp's
 * lanes (ISA, "Matrix Fragments for mma"). Elements are unpacked to int16_t, so that rows and columns
 * multiply by the vector instructions made for that. */
#include "exec.h"

enum { COLUMNS = 8, MAX_ROWS = 16, MAX_DEPTH = 64 };

/* Inlined whatever it costs: every function below is called with figures that are constants then. */
#define SIM_INLINE static inline __attribute__((always_inline))

struct tile {
    int16_t a[MAX_ROWS][MAX_DEPTH];
    int16_t b[COLUMNS][MAX_DEPTH];
    int32_t product[MAX_ROWS][COLUMNS];
};

/* Lane = 4 * group + member. A register holds 32 / BITS elements of row `group` of A (in each block of 8
   rows), or of a column of B; members follow one another along k. So the 16 bytes of 4 lanes are a row's next
   elements. */
static int group_of(int lane) { return lane / 4; }

SIM_INLINE void unpack(const uint32_t *lanes, int bits, bool is_signed, int k, int16_t (*rows)[MAX_DEPTH]) {
    const unsigned char *bytes = (const unsigned char *)lanes;
    int sign = is_signed ? 1 << (bits - 1) : 0, mask = (1 << bits) - 1;
    for (int row = 0; row < SIM_LANES / 4; row++)
        for (int i = 0; i < 16 * 8 / bits; i++) {
            int v = bytes[16 * row + i * bits / 8] >> i * bits % 8 & mask;
            rows[row][k + i] = (int16_t)((v ^ sign) - sign);
        }
}

SIM_INLINE void multiply(struct tile *tile, int rows, int depth) {
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

SIM_INLINE void mma_of(struct sim_warp *warp, const struct sim_insn *insn, int rows, int chunks, int bits) {
    struct tile tile;
    int blocks = rows / 8, chunk = 4 * 32 / bits;
    bool a_signed = insn->type2 == SIM_s8 || insn->type2 == SIM_s4,
         b_signed = insn->type3 == SIM_s8 || insn->type3 == SIM_s4;
    const struct sim_value *value = &insn->value[rows / 4]; /* behind D */
    for (int k = 0; k < chunks; k++)
        for (int block = 0; block < blocks; block++)
            unpack(sim_source(warp, value++), bits, a_signed, k * chunk, tile.a + block * 8);
    for (int k = 0; k < chunks; k++) unpack(sim_source(warp, value++), bits, b_signed, k * chunk, tile.b);
    multiply(&tile, rows, chunks * chunk);
    add_products(warp, insn, &tile, rows, value);
    sim_mma_count(warp, insn, bits, false, blocks, chunks);
}

/* An operand has as many registers a block of 8 rows as K has chunks. The figures are constants here, so that
   the compiler makes code for each. */
#define MMA(rows, chunks)                                                                                    \
    void sim_mma_m##rows##n8_##chunks(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {   \
        (void)mask;                                                                                          \
        if (insn->type2 == SIM_s8 || insn->type2 == SIM_u8) mma_of(warp, insn, rows, chunks, 8);             \
        else mma_of(warp, insn, rows, chunks, 4);                                                            \
    }
MMA(8, 1)
MMA(16, 1)
MMA(16, 2)
