/* Products of rows of B that a lane has gathered to registers. It has the same columns of 8 slots, and joins
 * neighbouring slots, so that a register has one column of one slot or several. Of 8 slots a column then has
 * registers of slots 0..3 (`low`), and as many of slots 4..7 (`high`).
 *
 * Lane t of an mma has two registers of a row or column, of either operand (PTX ISA, "Matrix Fragments for
 * mma.m16n8k16" and its neighbours). Mma i takes registers 2 i and 2 i + 1 of each column, and of A's values,
 * which lie in the order of the slots. Values that are stored in bytes are made wider before. */
#include "ops/spmm/real/products.h"
#include "parts/transpose.h"

enum { JOIN_LOW = 0x5410, JOIN_HIGH = 0x7632 }; /* prmt: the low halves of two registers, the high ones */
/* Registers that ptxas 13 takes for columns of B that are made wider while others are multiplied. */
enum { WIDENING = 24 };
enum { COLUMN_MMA_REGS = 2, HALF_SLOTS = 4 }; /* of a column in an mma; slots in `low` or `high` */

/* Registers of a column in `low`, or in `high`. */
static int half_regs(const spmm_gathered *g) { return HALF_SLOTS * g->sums->of->real.pair->bits / 32; }

/* Registers of a lane's values of a step that an mma takes. */
static int lane_regs(const spmm_gathered *g) { return MC_LANE_SLOTS * g->sums->of->real.pair->bits / 32; }

/* Mma of 32 slots. */
static int step_mma(const spmm_gathered *g) { return MC_GROUP_SLOTS / real_slots(g->sums->of->real.pair); }

/* Register I of column COLUMN. */
static mc_reg column_reg(const spmm_gathered *g, int column, int i) {
    int regs = half_regs(g);
    return (i / regs ? g->high : g->low)[regs * column + i % regs];
}

/* -- Columns, of four slots' registers that are WORDS apart ------------------------------------------- */

/* Makes registers of column COLUMN of `low`, or of HALF `high`. PICK says which half of a slot's register
   holds the column. */
static void emit_join(const spmm_gathered *g, int half, int column, const mc_reg *slot, int words, int pick) {
    int regs = half_regs(g);
    const mc_reg *to = &(half ? g->high : g->low)[regs * column];
    for (int i = 0; i < regs; i++)
        EMIT(g->sums->b, prmt, to[i], slot[2 * i * words], slot[(2 * i + 1) * words], I(pick));
}

static void join_word(const spmm_gathered *g, int half, const mc_reg *slot, int words) {
    emit_join(g, half, 0, slot, words, JOIN_LOW);
    emit_join(g, half, 1, slot, words, JOIN_HIGH);
}

static void join_elements(const spmm_gathered *g, int half, const mc_reg *slot, int units) {
    for (int column = 0; column < units; column++) emit_join(g, half, column, &slot[column], units, JOIN_LOW);
}

/* Of 32 bits a slot's register is one of the operand, once it is rounded. */
static void round_elements(const spmm_gathered *g, int half, int count, const mc_reg *slot, int units) {
    for (int column = 0; column < count; column++)
        for (int i = 0; i < HALF_SLOTS; i++)
            EMIT(g->sums->b, cvt_tf32_f32, (half ? g->high : g->low)[HALF_SLOTS * column + i],
                 slot[i * units + column]);
}

/* Of 8 bits a word has four columns. */
static void transpose_word(const spmm_gathered *g, int half, const mc_reg *slot, int words) {
    const mc_reg of[] = {slot[0], slot[words], slot[2 * words], slot[3 * words]};
    emit_transpose_bytes(g->sums->b, g->pair, of, half ? g->high : g->low);
}

static void join_bytes(const spmm_gathered *g, int half, const mc_reg *slot, int units) {
    for (int column = 0; column < units; column++)
        emit_join_bytes(g->sums->b, g->pair, &slot[column], units, 0, (half ? g->high : g->low)[column]);
}

static void round_two(const spmm_gathered *g, int half, const mc_reg *slot, int words) {
    round_elements(g, half, 2, slot, words);
}

static void round_all(const spmm_gathered *g, int half, const mc_reg *slot, int units) {
    round_elements(g, half, units, slot, units);
}

/* The same, where bytes are made wider: two slots of a column are a register. */
static void widen_word(const spmm_gathered *g, int half, const mc_reg *slot, int words) {
    const mc_reg of[] = {slot[0], slot[words], slot[2 * words], slot[3 * words]},
                 *all = half ? g->high : g->low;
    emit_pair_bytes(g->sums->b, g->pair, of);
    for (int i = 0; i < 4; i++) {
        const mc_reg *to = &all[4 * (i % 2) + i / 2]; /* pair i has columns 2 (i mod 2) and the next */
        real_widen(&g->real.b, g->pair[i], REAL_NEIGHBOURS, (const mc_reg[]){to[0], to[2]});
    }
}

static void widen_bytes(const spmm_gathered *g, int half, const mc_reg *slot, int units) {
    const mc_reg joined = g->pair[2];
    for (int column = 0; column < units; column++) {
        emit_join_bytes(g->sums->b, g->pair, &slot[column], units, 0, joined);
        real_widen(&g->real.b, joined, REAL_NEIGHBOURS, &(half ? g->high : g->low)[2 * column]);
    }
}

/* Whole words of rows give so many columns at once, of so many words of each slot; single elements all
   columns, of a register each. Bytes take scratch, `pair`. */
typedef struct column_maker {
    int columns, words, pairs;
    void (*of_words)(const spmm_gathered *g, int half, const mc_reg *slot, int words);
    void (*of_elements)(const spmm_gathered *g, int half, const mc_reg *slot, int units);
} column_maker;

static const column_maker *maker_of(const spmm_gathered *g) {
    static const column_maker bytes = {4, 1, 4, transpose_word, join_bytes},
                              halves = {2, 1, 0, join_word, join_elements},
                              rounded = {2, 2, 0, round_two, round_all},
                              widened = {4, 1, 4, widen_word, widen_bytes};
    const real_pair *pair = g->sums->of->real.pair;
    if (real_widens(pair->b_form)) return &widened;
    if (pair->b_form == REAL_ROUNDED) return &rounded;
    return pair->bits == 8 ? &bytes : &halves;
}

void real_gathered_declare(spmm_gathered *g) {
    mc_builder *b = g->sums->b;
    const real_pair *pair = g->sums->of->real.pair;
    const column_maker *make = maker_of(g);
    int columns = half_regs(g) * SPMM_BYTES;
    if (make->pairs) b32_array(b, "pair", make->pairs, g->pair);
    if (real_widens(pair->b_form)) b->spare += WIDENING;
    b32_array(b, "low", columns, g->low);
    b32_array(b, "high", columns, g->high);
    g->real.a = real_declare_widener(b, pair->a_form, "a");
    g->real.b = real_declare_widener(b, pair->b_form, "b");
    if (real_widens(pair->a_form)) b32_array(b, "wide_value", g->sums->of->mma * lane_regs(g), g->real.value);
}

/* -- Products ----------------------------------------------------------------------------------------- */

/* Multiplies columns COLUMN and COLUMN + 1 of `low` and `high`, which are columns 2 GROUP and 2 GROUP + 1 of
   the lane. */
static void emit_pair(const spmm_gathered *g, int column, int group, const mc_reg *value) {
    for (int i = 0; i < step_mma(g); i++) {
        mc_reg b[4];
        for (int odd = 0; odd < 2; odd++)
            for (int r = 0; r < COLUMN_MMA_REGS; r++)
                b[frag_a_reg(odd, r)] = column_reg(g, column + odd, COLUMN_MMA_REGS * i + r);
        real_emit_mma(g->sums, b, &value[COLUMN_MMA_REGS * i], group);
    }
}

/* The same of vectors of 16 rows: a column of each lane group g is a column of the mma. */
static void emit_tall(const spmm_gathered *g, int column, int group, const mc_reg *value) {
    int step = lane_regs(g);
    for (int i = 0; i < step_mma(g); i++) {
        const mc_reg b[] = {column_reg(g, column, COLUMN_MMA_REGS * i),
                            column_reg(g, column, COLUMN_MMA_REGS * i + 1)};
        real_emit_tall_mma(g->sums, &value[COLUMN_MMA_REGS * i], step, b, group);
    }
}

static void emit_multiply(const spmm_gathered *g, int column, int group, const mc_reg *value) {
    if (!spmm_is_tall(g->sums->of)) emit_pair(g, column, group, value);
    else
        for (int odd = 0; odd < 2; odd++) emit_tall(g, column + odd, 2 * group + odd, value);
}

/* What mma take of A's values VALUE of step STEP. */
static const mc_reg *values_of(const spmm_gathered *g, const mc_reg *value, int step) {
    const spmm_arithmetic *math = g->sums->of;
    int regs = spmm_values_of(math).regs * math->mma;
    const mc_reg *of = &value[step * regs];
    if (!real_widens(math->real.pair->a_form)) return of;
    note(g->sums->b, "values of A become %s", real_wide_name(math->real.pair->a_form));
    for (int i = 0; i < regs; i++) real_widen(&g->real.a, of[i], REAL_NEIGHBOURS, &g->real.value[2 * i]);
    return g->real.value;
}

void real_gathered_multiply(spmm_gathered *g, const mc_reg *row, int words, const mc_reg *value) {
    const column_maker *make = maker_of(g);
    for (int step = 0; step < g->sums->of->stride / MC_GROUP_SLOTS; step++) {
        const mc_reg *of = &row[step * MC_LANE_SLOTS * words], *values = values_of(g, value, step);
        note(g->sums->b, "join and multiply slots %d..%d", MC_GROUP_SLOTS * step,
             MC_GROUP_SLOTS * step + MC_GROUP_SLOTS - 1);
        for (int word = 0, group = 0; word < words; word += make->words) {
            for (int half = 0; half < 2; half++)
                make->of_words(g, half, &of[half * HALF_SLOTS * words + word], words);
            for (int column = 0; column < make->columns; column += 2)
                emit_multiply(g, column, group++, values);
        }
    }
}

void real_gathered_note(const spmm_gathered *g) { (void)g; }

void real_gathered_join(spmm_gathered *g, int half, const mc_reg *row, int units) {
    maker_of(g)->of_elements(g, half, row, units);
}

void real_gathered_multiply_joined(spmm_gathered *g, int step, int units, const mc_reg *value) {
    const mc_reg *values = values_of(g, value, step);
    for (int column = 0; column < units; column += 2) emit_multiply(g, column, column / 2, values);
}
