/* Products of what ldmatrix.trans gives of rows of B in the ring: four matrices of 8 slots and 16 bytes of
 * their rows. With columns of B as the mma's rows these are its operand A: two beside one another, then the
 * same of the next 8 slots. Where vectors have 16 rows these are the mma's rows, and two matrices of the same
 * bytes, 16 slots, are its operand B.
 *
 * ldmatrix moves elements of 16 bits, so that those are operands as they are. Of 8 bits a lane gets two
 * neighbouring columns of two slots. The same bytes of the next 8 slots are joined to them, so that one
 * register has four slots of the even column, and another one those of the odd column. An mma takes 32 slots:
 * the first half of a stride is kept until the second one is there.
 *
 * Values that are stored in bytes are made wider before. A register of A has those of half a stride, of
 * integers bytes 0 and 2 of its first 8 slots (windowed_value_offset), of floats bytes 0 and 1
 * (windowed_float_place). Bytes 0 and 2 of a register of B are a lane's even column of two slots, bytes 1 and
 * 3 the odd one: made wider these are operands, of an mma each.
 *
 * Of 32 bits lanes have loaded single elements (ring/words.c), which are operands once they are rounded. */
#include "ops/spmm/real/products.h"

enum { HALF_REGS = 2 }; /* of A's values of half a stride, in 8 rows */
enum { BESIDE = 2 };    /* pieces of 16 bytes that a load has side by side */

static void declare_joined(spmm_pairs *p, int loads) {
    mc_builder *b = p->sums->b;
    mc_reg first[4 * SPMM_MAX_LOADS];
    b32_array(b, "first", 4 * loads, first);
    for (int i = 0; i < 4 * loads; i++) p->first[i / 4][i % 4] = first[i];
    b32_array(b, "second", 4, p->second);
}

spmm_pairs real_pairs_begin(spmm_sums *sums, int loads) {
    mc_builder *b = sums->b;
    spmm_pairs p = {.sums = sums, .loads = loads};
    const real_form form = sums->of->real.pair->a_form;
    p.real.a = real_declare_widener(b, form, "a");
    if (real_widens(form)) b32_array(b, "wide_value", HALF_REGS * sums->of->mma, p.real.value);
    const real_form b_form = sums->of->real.pair->b_form;
    p.real.b = real_declare_widener(b, b_form, "b");
    if (real_widens(b_form)) b32_array(b, "wide_column", REAL_COLUMNS, p.real.column);
    if (sums->of->joins_halves) declare_joined(&p, loads);
    return p;
}

/* -- Columns of 8 bits --------------------------------------------------------------------------------- */

/* The accumulators of piece PIECE of load LOAD, where each mma has one: of even columns, then of odd ones. */
static int group_of(int load, int piece, int odd) { return 2 * (BESIDE * load + piece) + odd; }

/* Which register has four slots of piece BESIDE, of those a load has, at even places or at ODD ones. */
static int joined_of(int beside, int odd) { return 2 * odd + beside; }

/* Takes apart the pairs of bytes of load LOAD in half HALF of a stride: `first` or `second` gets four slots
   of the bytes at even places, and of those at odd ones. Where vectors have 16 rows matrices 0 and 1 are of
   the first piece, elsewhere 0 and 2. */
static void join_bytes(const spmm_pairs *p, int half, int load, const mc_reg matrix[4]) {
    static const unsigned picks[] = {0x6420, 0x7531}; /* slots in their order */
    const bool tall = spmm_is_tall(p->sums->of);
    const mc_reg *column = half ? p->second : p->first[load];
    for (int beside = 0; beside < BESIDE; beside++)
        for (int odd = 0; odd < 2; odd++) {
            mc_reg low = matrix[tall ? 2 * beside : beside],
                   high = matrix[tall ? 2 * beside + 1 : beside + 2];
            EMIT(p->sums->b, prmt, column[joined_of(beside, odd)], low, high, I(picks[odd]));
        }
}

static void multiply_bytes(const spmm_pairs *p, int load, const mc_reg *value, int step) {
    const mc_reg *low = p->first[load], *high = p->second;
    for (int odd = 0; odd < 2; odd++) {
        int column = joined_of(0, odd), beside = joined_of(1, odd);
        if (!spmm_is_tall(p->sums->of)) {
            const mc_reg a[] = {low[column], low[beside], high[column], high[beside]};
            real_emit_mma(p->sums, a, value, 2 * load + odd);
            continue;
        }
        real_emit_tall_mma(p->sums, value, step, (const mc_reg[]){low[column], high[column]},
                           group_of(load, 0, odd));
        real_emit_tall_mma(p->sums, value, step, (const mc_reg[]){low[beside], high[beside]},
                           group_of(load, 1, odd));
    }
}

static void pairs_of_bytes(const spmm_pairs *p, int half, mc_reg matrix[][4], const mc_reg *value, int step) {
    note(p->sums->b, half ? "join slots 16..31, and multiply" : "join slots 0..15");
    for (int q = 0; q < p->loads; q++) {
        join_bytes(p, half, q, matrix[q]);
        if (half) multiply_bytes(p, q, value, step);
    }
}

/* -- Columns of 16 bits -------------------------------------------------------------------------------- */

/* A's values of half a stride, as mma take them: those of the next 8 rows are *STEP registers on. */
static const mc_reg *values_of(const spmm_pairs *p, const mc_reg *value, int *step) {
    const spmm_arithmetic *math = p->sums->of;
    if (!real_widens(math->real.pair->a_form)) return value;
    note(p->sums->b, "values of A become %s", real_wide_name(math->real.pair->a_form));
    const real_bytes bytes = real_is_of_integers(math->real.pair->a_form) ? REAL_ALTERNATE : REAL_NEIGHBOURS;
    for (int m = 0; m < math->mma; m++)
        real_widen(&p->real.a, value[m * *step], bytes, &p->real.value[HALF_REGS * m]);
    *step = HALF_REGS;
    return p->real.value;
}

static void pairs_of_halves(const spmm_pairs *p, int half, mc_reg matrix[][4], const mc_reg *value,
                            int step) {
    bool tall = spmm_is_tall(p->sums->of);
    const mc_reg *values = values_of(p, value, &step);
    note(p->sums->b, "multiply slots %d..%d", 16 * half, 16 * half + 15);
    for (int q = 0; q < p->loads; q++) {
        const mc_reg *m = matrix[q];
        if (!tall) real_emit_mma(p->sums, m, values, q);
        for (int i = 0; tall && i < 2; i++) real_emit_tall_mma(p->sums, values, step, m + 2 * i, 2 * q + i);
    }
}

/* -- Columns of 8 bits that are made wider -------------------------------------------------------------- */

/* Of matrix MATRIX of a load its even columns, or its ODD ones. */
static mc_reg wide_column(const spmm_pairs *p, int matrix, int odd) {
    return p->real.column[2 * matrix + odd];
}

static void multiply_wide(const spmm_pairs *p, int load, int odd, const mc_reg *values, int step) {
    const mc_reg column[] = {wide_column(p, 0, odd), wide_column(p, 1, odd), wide_column(p, 2, odd),
                             wide_column(p, 3, odd)};
    if (!spmm_is_tall(p->sums->of)) {
        real_emit_mma(p->sums, column, values, 2 * load + odd);
        return;
    }
    for (int piece = 0; piece < BESIDE; piece++)
        real_emit_tall_mma(p->sums, values, step, &column[2 * piece], group_of(load, piece, odd));
}

static void pairs_of_wide(const spmm_pairs *p, int half, mc_reg matrix[][4], const mc_reg *value, int step) {
    const mc_reg *values = values_of(p, value, &step);
    note(p->sums->b, "slots %d..%d become f16, and are multiplied", 16 * half, 16 * half + 15);
    for (int q = 0; q < p->loads; q++) {
        for (int i = 0; i < 4; i++)
            real_widen(&p->real.b, matrix[q][i], REAL_ALTERNATE, &p->real.column[2 * i]);
        for (int odd = 0; odd < 2; odd++) multiply_wide(p, q, odd, values, step);
    }
}

/* -- Columns of 32 bits -------------------------------------------------------------------------------- */

/* A lane has four columns of slot t of a group of 8 in one matrix, and of slot t + 4 in the next one. */
static void multiply_words(const spmm_pairs *p, const mc_reg low[4], const mc_reg high[4],
                           const mc_reg *value, int step) {
    mc_builder *b = p->sums->b;
    for (int i = 0; i < 4; i++) EMIT(b, cvt_tf32_f32, low[i], low[i]);
    for (int i = 0; i < 4; i++) EMIT(b, cvt_tf32_f32, high[i], high[i]);
    for (int i = 0; i < 4; i++)
        if (spmm_is_tall(p->sums->of))
            real_emit_tall_mma(p->sums, value, step, (const mc_reg[]){low[i], high[i]}, i);
        else if (i % 2 == 0)
            real_emit_mma(p->sums, (const mc_reg[]){low[i], low[i + 1], high[i], high[i + 1]}, value, i / 2);
}

static void pairs_of_words(const spmm_pairs *p, int half, mc_reg matrix[][4], const mc_reg *value, int step) {
    note(p->sums->b, "round and multiply slots %d..%d", 16 * half, 16 * half + 15);
    for (int q = 0; q < p->loads; q += 2) multiply_words(p, matrix[q], matrix[q + 1], value + q, step);
}

void real_pairs_multiply(const spmm_pairs *p, int half, mc_reg matrix[][4], const mc_reg *value, int step) {
    static void (*const of_bits[])(const spmm_pairs *, int, mc_reg[][4], const mc_reg *,
                                   int) = {[1] = pairs_of_bytes, [2] = pairs_of_halves, [4] = pairs_of_words};
    const real_pair *pair = p->sums->of->real.pair;
    if (real_widens(pair->b_form)) pairs_of_wide(p, half, matrix, value, step);
    else of_bits[pair->bits / 8](p, half, matrix, value, step);
}

void real_pairs_add_bias(const spmm_pairs *p, const mc_reg *value) { (void)p, (void)value; }
