/* mma.sp: A's registers hold the elements that there are, as those of an mma of half the K hold all;
 * metadata say which these are (metadata.h). Sums of floats go as those of an mma of half the K. */
#include "metadata.h"

enum { COLUMNS = 8 };

/* An mma.sp: where C is, the bits of its elements, and what its metadata say. */
struct sparse {
    int bits, depth, sums; /* of an element; K; registers of a sum */
    const struct sim_value *c;
    uint32_t a[SIM_PRODUCT_ROWS][SIM_PRODUCT_KEPT], b[COLUMNS][SIM_PRODUCT_DEPTH];
    sim_places places[SIM_PRODUCT_ROWS];
};

/* -- Elements ------------------------------------------------------------------------------------------- */

/* A register has elements of eight rows or columns, of each those of CHUNK's 16 bytes. They come to lie in
   rows of PITCH. */
static void unpack(const struct sim_warp *warp, const struct sim_value *value, int bits, int chunk,
                   uint32_t *elements, int pitch) {
    const int count = 32 / bits;
    const uint32_t *lanes = sim_source(warp, value), ones = (uint32_t)((UINT64_C(1) << bits) - 1);
    SIM_EACH_LANE(l) {
        uint32_t *to = &elements[l / 4 * pitch + (chunk * 4 + l % 4) * count];
        for (int i = 0; i < count; i++) to[i] = lanes[l] >> bits * i & ones;
    }
}

/* A has two registers a chunk, those of rows g and g + 8, and B one. */
static bool read_operands(struct sim_warp *warp, const struct sim_insn *insn, unsigned type,
                          struct sparse *s) {
    const bool is_nibble = type == SIM_s4 || type == SIM_u4;
    const int sums = insn->destination_count, chunks = (insn->value_count - 2 * sums - 2) / 2;
    const struct sim_value *a = &insn->value[sums], *b = a + chunks;
    s->bits = is_nibble ? 4 : 8 * sim_types[type].bytes;
    s->depth = chunks * 128 / s->bits;
    s->sums = sums;
    s->c = b + chunks;
    for (int i = 0; i < chunks; i++) {
        unpack(warp, &a[i], s->bits, i / 2, s->a[i % 2 * 8], SIM_PRODUCT_KEPT);
        unpack(warp, &b[i], s->bits, i, s->b[0], SIM_PRODUCT_DEPTH);
    }
    return sim_read_metadata(warp, insn, type, s->depth, s->c + sums, s->places);
}

/* Products of elements that are there; nonzero, where both are not zero in the bits of ONES. */
static void count(struct sim_warp *warp, const struct sim_insn *insn, const struct sparse *s, uint32_t ones) {
    ptxsim_line *line = &warp->block->lines[insn - warp->block->launch->function->code];
    uint32_t columns[SIM_PRODUCT_DEPTH] = {0};
    for (int column = 0; column < COLUMNS; column++)
        for (int k = 0; k < s->depth; k++) columns[k] += (s->b[column][k] & ones) != 0;
    for (int row = 0; row < SIM_PRODUCT_ROWS; row++)
        for (int i = 0; i < s->depth / 2; i++)
            if (s->a[row][i] & ones) line->mma_nonzero += columns[s->places[row][i]];
    line->mma_products += (unsigned)(SIM_PRODUCT_ROWS * COLUMNS * s->depth / 2);
    warp->block->counts.mma++;
}

/* -- Integers -------------------------------------------------------------------------------------------- */

void sim_mma_sparse(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    struct sparse s;
    struct sim_integers b;
    int32_t a[SIM_PRODUCT_ROWS][SIM_PRODUCT_KEPT];
    uint32_t sum[SIM_PRODUCT_ROWS * COLUMNS];
    (void)mask;
    if (!read_operands(warp, insn, insn->type2, &s)) return;
    b.columns = COLUMNS;
    b.depth = s.depth;
    for (int column = 0; column < COLUMNS; column++)
        for (int k = 0; k < s.depth; k++)
            b.value[sim_place_in_b(s.depth, k, column)] = sim_integer_of(insn->type3, s.b[column][k]);
    sim_accumulator_read(warp, s.c, s.sums, false, COLUMNS, sum);
    for (int row = 0; row < SIM_PRODUCT_ROWS; row++)
        for (int i = 0; i < s.depth / 2; i++) a[row][i] = sim_integer_of(insn->type2, s.a[row][i]);
    sim_multiply_integers(a, SIM_PRODUCT_ROWS, s.depth / 2, &b, s.places, insn->modifiers & SIM_SATFINITE,
                          (int32_t *)sum);
    sim_accumulator_write(warp, insn->value, s.sums, false, COLUMNS, sum);
    count(warp, insn, &s, UINT32_MAX);
}

/* -- Floats ---------------------------------------------------------------------------------------------- */

/* Where the sum has element I of a row: as in an mma of half the K (exec_mma_real.c). */
static int place_of(const struct sparse *s, int i) {
    return s->bits == 8 ? i % 4 / 2 * (s->depth / 4) + i / 4 * 2 + i % 2 : i;
}

static void multiply(struct sim_warp *warp, const struct sim_insn *insn, unsigned a_type, unsigned b_type,
                     unsigned type) {
    struct sparse s;
    struct sim_real_row a[SIM_PRODUCT_ROWS];
    struct sim_reals b;
    sim_places places[SIM_PRODUCT_ROWS];
    uint32_t elements[SIM_REAL_DEPTH], sum[SIM_PRODUCT_ROWS * COLUMNS];
    if (!read_operands(warp, insn, a_type, &s)) return;
    const struct sim_sum_rule rule = sim_mma_rule(a_type, type, s.depth / 2);
    const struct sim_real_kind kind = {.widened = s.bits == 8};
    b.columns = COLUMNS;
    b.depth = s.depth;
    b.kind = kind;
    for (int column = 0; column < COLUMNS; column++) sim_column_put(&b, column, b_type, s.b[column]);
    sim_accumulator_read(warp, s.c, s.sums, type == SIM_f16, COLUMNS, sum);
    for (int row = 0; row < SIM_PRODUCT_ROWS; row++) {
        a[row].kind = kind;
        for (int i = 0; i < s.depth / 2; i++) {
            places[row][place_of(&s, i)] = s.places[row][i];
            elements[place_of(&s, i)] = s.a[row][i];
        }
        sim_row_put(&a[row], a_type, elements, s.depth / 2);
    }
    sim_multiply_reals(&rule, a, SIM_PRODUCT_ROWS, &b, places, sum);
    sim_accumulator_write(warp, insn->value, s.sums, type == SIM_f16, COLUMNS, sum);
    count(warp, insn, &s, (1u << (s.bits - 1)) - 1);
}

#define SPARSE(name, a, b, type)                                                                             \
    void sim_mma_sparse_##name(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {          \
        (void)mask;                                                                                          \
        multiply(warp, insn, a, b, type);                                                                    \
    }
SPARSE(f16, SIM_f16, SIM_f16, SIM_f32)
SPARSE(f16_to_f16, SIM_f16, SIM_f16, SIM_f16)
SPARSE(bf16, SIM_bf16, SIM_bf16, SIM_f32)
SPARSE(tf32, SIM_tf32, SIM_tf32, SIM_f32)
SPARSE(f8, insn->type2, insn->type3, SIM_f32)
