#include "ops/quantise/patch.h"
#include <stdio.h>

made_name quantise_numbered(const char *stem, int number) {
    made_name name;
    enum { STEM = 32 }; /* room for the number is left */
    snprintf(name.text, sizeof name.text, "%.*s_%d_", STEM, stem, number);
    return name;
}

/* -- The beginning ------------------------------------------------------------------------------------ */

/* COUNT elements of BITS in bytes, COUNT being the shape NAME. */
static mc_reg bytes_of(mc_builder *b, const char *name, const char *reg, int64_t fixed, int bits) {
    if (fixed != MC_OPEN) return mov_b64(b, reg, I(fixed * bits / 8));
    mc_reg count = load_shape(b, name, true);
    if (bits >= 8) return mul_wide(b, reg, count, I(bits / 8));
    made_name pairs;
    snprintf(pairs.text, sizeof pairs.text, "%s_pairs", name);
    return cvt_s64(b, reg, shr_u32(b, pairs.text, count, I(1)));
}

void quantise_begin(quantise_emitter *e, mc_builder *b, const quantise_plan *plan,
                    const mc_batch_array *arrays) {
    *e = (quantise_emitter){.b = b, .plan = plan};
    emit_launch_next(b, plan->overlap);
    if (plan->batch) batch_begin(b, arrays, QUANTISE_BATCH_ARRAYS);
    e->x = load_array(b, "x");
    e->c = load_array(b, "c");
    e->m = dim_operand(plan->m, load_shape(b, "m", plan->m == MC_OPEN));
    e->n = dim_operand(plan->n, load_shape(b, "n", plan->n == MC_OPEN));
    e->lda_bytes = bytes_of(b, "lda", "lda_bytes", plan->lda, plan->in_bits);
    e->ldc_bytes = bytes_of(b, "ldc", "ldc_bytes", plan->ldc, plan->out_bits);
    e->number.thread = load_special(b, "thread", "tid.x");
    e->number.lane = and_b32(b, "lane", e->number.thread, I(MC_WARP - 1));
    e->number.warp = shr_u32(b, "warp", e->number.thread, I(log2_of(MC_WARP)));
    e->row0 = mul_s32(b, "row0", load_special(b, "tile", "ctaid.x"), I(plan->tile));
    e->scratch.half = b32(b, "half"), e->scratch.value = b32(b, "value");
    b32_array(b, "element", QUANTISE_MAX_ELEMENTS, e->scratch.element);
    emit_grid_wait(b, plan->overlap, "A");
}

/* Jumps to EDGE where VALUE is no multiple of UNIT, a power of two. */
static void test_multiple(const quantise_emitter *e, const char *name, mc_operand value, int unit,
                          mc_label edge) {
    mc_builder *b = e->b;
    char rest[MC_MAX_NAME], odd[MC_MAX_NAME];
    snprintf(rest, sizeof rest, "%s_rest", name);
    snprintf(odd, sizeof odd, "%s_is_odd", name);
    mc_reg bits = and_b32(b, rest, value, I(unit - 1));
    EMIT_IF(b, setp_ne(b, odd, bits, I(0)), bra, TO(edge));
}

void quantise_test_wide(const quantise_emitter *e, mc_label edge) {
    const quantise_plan *plan = e->plan;
    const quantise_tests *t = &plan->tests;
    mc_builder *b = e->b;
    note(b, "loads and stores of whole units want what cannot be known before the launch");
    if (t->n) test_multiple(e, "n", e->n, plan->unit, edge);
    if (t->lda) test_multiple(e, "lda", cvt_low(b, "lda_low", e->lda_bytes), QUANTISE_UNIT, edge);
    if (t->ldc) test_multiple(e, "ldc", cvt_low(b, "ldc_low", e->ldc_bytes), plan->out_align, edge);
    if (t->a_address) test_multiple(e, "x", cvt_low(b, "x_low", e->x), QUANTISE_UNIT, edge);
    if (t->c_address) test_multiple(e, "c", cvt_low(b, "c_low", e->c), plan->out_align, edge);
}

/* -- The patch ---------------------------------------------------------------------------------------- */

static mc_reg divided(mc_builder *b, const char *name, mc_reg value, int by) {
    return shr_u32(b, name, value, I(log2_of(by)));
}

static mc_reg rest_of(mc_builder *b, const char *name, mc_reg value, int by) {
    return and_b32(b, name, value, I(by - 1));
}

/* Rows beyond the last are the last one again: nobody stores them. */
static void place_rows(const quantise_emitter *e, quantise_patch *patch) {
    const quantise_plan *plan = e->plan;
    mc_builder *b = e->b;
    mc_reg from = quantise_source_at(e, "x_at", patch->col, e->x), last = {0};
    if (!plan->whole)
        last = sub_s32(b, "last_row", plan->m == MC_OPEN ? e->m : mov_b32(b, "rows_of_a", e->m), I(1));
    for (int i = 0; i < plan->rows; i++) {
        mc_reg row = i ? add_s32(b, NTH("row", i), patch->row, I(i)) : patch->row;
        if (!plan->whole) row = min_s32(b, NTH("row_inside", i), row, last);
        patch->row_at[i] =
            mad_s64(b, NTH("row_at", i), cvt_s64(b, NTH("row_wide", i), row), e->lda_bytes, from);
    }
}

void quantise_place(const quantise_emitter *e, quantise_patch *patch) {
    const quantise_plan *plan = e->plan;
    mc_builder *b = e->b;
    note(b, "this thread's patch: %d rows, and %d columns at each step", plan->rows, plan->unit);
    patch->across = rest_of(b, "across", e->number.lane, plan->lanes_across);
    patch->down = divided(b, "down", e->number.lane, plan->lanes_across);
    patch->warp_down = rest_of(b, "warp_down", e->number.warp, plan->warps_down);
    mc_reg warp_across = divided(b, "warp_across", e->number.warp, plan->warps_down);
    patch->unit = mad_s32(b, "unit", warp_across, I(plan->lanes_across), patch->across);
    mc_reg below = mad_s32(b, "patch_down", patch->warp_down, I(plan->lanes_down), patch->down);
    patch->row = mad_s32(b, "patch_row", below, I(plan->rows), e->row0);
    patch->col = e->col0.id ? mad_s32(b, "patch_col", patch->unit, I(plan->unit), e->col0)
                            : mul_s32(b, "patch_col", patch->unit, I(plan->unit));
    place_rows(e, patch);
}

mc_reg quantise_inside(const quantise_emitter *e, const quantise_patch *patch, int step, bool certain) {
    mc_builder *b = e->b;
    if (certain) return (mc_reg){0};
    mc_reg col =
        step ? add_s32(b, NTH("col", step), patch->col, I((int64_t)step * e->plan->step)) : patch->col;
    return setp_lt(b, NTH("inside", step), col, e->n);
}

void quantise_load(const quantise_emitter *e, const quantise_patch *patch, int step, mc_reg inside,
                   mc_reg *raw) {
    enum { WORDS = QUANTISE_UNIT / WORD };
    mc_builder *b = e->b;
    int64_t offset = (int64_t)step * quantise_in_bytes(e->plan, e->plan->step);
    for (int i = 0; inside.id && i < e->plan->rows * WORDS; i++) EMIT(b, mov_b32, raw[i], I(0));
    for (int i = 0; i < e->plan->rows; i++)
        EMIT_IF(b, inside, ldg_once_v4, V4(raw + (ptrdiff_t)i * WORDS), AT(patch->row_at[i], offset));
}

void quantise_load_steps(const quantise_emitter *e, const quantise_patch *patch, quantise_held *h) {
    const quantise_plan *plan = e->plan;
    mc_builder *b = e->b;
    note(b, "all loads of the tile");
    for (int s = 0; s < plan->hold; s++) {
        b32_array(b, NTH("raw", s), plan->rows * QUANTISE_UNIT / WORD, h->raw[s]);
        h->inside[s] = quantise_inside(e, patch, s, plan->whole);
        quantise_load(e, patch, s, h->inside[s], h->raw[s]);
    }
}

/* -- Elements ----------------------------------------------------------------------------------------- */

void quantise_value(const quantise_emitter *e, mc_reg word, int half, mc_reg to) {
    enum { HALF_BITS = 16 };
    mc_builder *b = e->b;
    mc_reg upper = e->scratch.half;
    switch (e->plan->in) {
    case QUANTISE_IN_F16:
        if (half) EMIT(b, shr_u32, upper, word, I(HALF_BITS));
        EMIT(b, cvt_f32_f16, to, half ? upper : word);
        break;
    case QUANTISE_IN_BF16:
        if (half) EMIT(b, and_b32, to, word, H(0xffff0000));
        else EMIT(b, shl_b32, to, word, I(HALF_BITS));
        break;
    case QUANTISE_IN_F32: EMIT(b, mov_b32, to, word); break;
    case QUANTISE_IN_S32: EMIT(b, cvt_f32_s32, to, word); break;
    case QUANTISE_IN_S8:
    case QUANTISE_IN_S16:
    case QUANTISE_IN_S4: break; /* are moved */
    }
}

/* With a zero point: the integer is cut off where the sum will be at the type's ends. */
static void add_point(const quantise_emitter *e, int row, mc_reg real, mc_reg to) {
    mc_builder *b = e->b;
    EMIT(b, cvt_s32_f32, to, real);
    EMIT(b, min_s32, to, to, e->factors.high[row]);
    EMIT(b, max_s32, to, to, e->factors.low[row]);
    EMIT(b, add_s32, to, to, e->factors.point[row]);
}

/* By an addition to 1.5 * 2^23 the integer stands in the low bits of the sum, negative ones in two's
   complement. Nothing is cut off: rows with a finite scale of their own have nothing to be cut off, and bits
   of other rows are masked. */
static void round_off(const quantise_emitter *e, mc_reg real, mc_reg to) {
    const quantise_plan *plan = e->plan;
    mc_builder *b = e->b;
    if (e->factors.magic.id) {
        EMIT(b, add_f32, to, real, e->factors.magic);
        return;
    }
    if (plan->least < 0) EMIT(b, cvt_s8_f32, to, real);
    else EMIT(b, cvt_u8_f32, to, real);
    if (plan->out_bits == 8) return;
    EMIT(b, min_s32, to, to, I(plan->most));
    if (plan->least < 0) EMIT(b, max_s32, to, to, I(plan->least));
}

void quantise_element(const quantise_emitter *e, int row, mc_reg value, mc_reg by_column, mc_reg to) {
    const quantise_plan *plan = e->plan;
    mc_builder *b = e->b;
    int of = plan->scale == OUT_PER_ROW ? row : 0;
    mc_reg by = by_column.id ? by_column : e->factors.by[of], real = plan->real ? to : e->scratch.value;
    if (by.id) EMIT(b, mul_f32, real, value, by);
    else EMIT(b, mov_b32, real, value);
    if (plan->zero) add_point(e, of, real, to);
    else if (!plan->real) round_off(e, real, to);
}

/* -- Words -------------------------------------------------------------------------------------------- */

static void pack_bytes(const quantise_emitter *e, const mc_reg *v, int count, mc_reg to) {
    mc_builder *b = e->b;
    mc_reg upper = e->scratch.half;
    enum { LOW_BYTES = 0x0040, LOW_PAIRS = 0x5410 };
    if (count == 1) {
        EMIT(b, mov_b32, to, v[0]);
        return;
    }
    if (count == 4) EMIT(b, prmt, upper, v[2], v[3], H(LOW_BYTES));
    EMIT(b, prmt, to, v[0], v[1], H(LOW_BYTES));
    if (count == 4) EMIT(b, prmt, to, to, upper, H(LOW_PAIRS));
}

static void pack_nibbles(const quantise_emitter *e, const mc_reg *v, int count, mc_reg to) {
    mc_builder *b = e->b;
    EMIT(b, and_b32, to, v[0], I(15));
    for (int i = 1; i < count; i++) EMIT(b, bfi, to, v[i], to, I((int64_t)4 * i), I(4));
}

void quantise_pack(const quantise_emitter *e, const mc_reg *v, int count, mc_reg to) {
    const quantise_plan *plan = e->plan;
    mc_builder *b = e->b;
    mc_reg second = v[count - 1]; /* a single one stands in both halves */
    if (plan->out_bits == 4) pack_nibbles(e, v, count, to);
    else if (plan->out_bits == 8) pack_bytes(e, v, count, to);
    else if (plan->out == QUANTISE_F16) EMIT(b, cvt_f16x2, to, second, v[0]);
    else if (plan->out == QUANTISE_BF16) EMIT(b, cvt_bf16x2, to, second, v[0]);
    else EMIT(b, mov_b32, to, v[0]);
}

static int halves_of(const quantise_plan *plan) { return 32 / plan->in_bits; }

/* Element (ROW, COLUMN) of the patch RAW, as one of C. */
static void make_element(const quantise_emitter *e, const mc_reg *raw, int row, int column,
                         const mc_reg *by_column, mc_reg to) {
    int halves = halves_of(e->plan), word = row * QUANTISE_UNIT / WORD + column / halves;
    quantise_value(e, raw[word], column % halves, e->scratch.value);
    quantise_element(e, row, e->scratch.value, by_column ? by_column[column] : (mc_reg){0}, to);
}

/* By columns: a word is a column of the patch. */
static void make_column(const quantise_emitter *e, const mc_reg *raw, int column, const mc_reg *by_column,
                        const mc_reg *to) {
    const mc_reg *v = e->scratch.element;
    int rows = quantise_word_rows(e->plan);
    for (int w = 0; w < e->plan->words; w++) {
        for (int i = 0; i < rows; i++) make_element(e, raw, w * rows + i, column, by_column, v[i]);
        quantise_pack(e, v, rows, to[w]);
        if (e->factors.magic.id) EMIT(e->b, and_b32, to[w], to[w], e->factors.mask[w]);
    }
}

enum { RAW_ROW = QUANTISE_UNIT / WORD, HALVES = 0x5410 };

/* Sets TO to byte PART of each of four words, STEP registers from one to the next. BOTH makes the selectors
   of prmt those of the next byte, of both words. */
static void gather_bytes(const quantise_emitter *e, const mc_reg *word, int step, int part, mc_reg to) {
    enum { BYTES = 0x0040, BOTH = 0x11 };
    mc_builder *b = e->b;
    mc_operand selector = H(BYTES + (uint32_t)(part * BOTH));
    EMIT(b, prmt, e->scratch.half, word[(ptrdiff_t)2 * step], word[(ptrdiff_t)3 * step], selector);
    EMIT(b, prmt, to, word[0], word[step], selector);
    EMIT(b, prmt, to, to, e->scratch.half, H(HALVES));
}

/* By columns, of elements of 4 bits that are moved: two columns, which lie in the same bytes of all eight
   rows. Of C's bytes the low halves come from even rows, the high ones from odd rows. */
static void move_pair(const quantise_emitter *e, const mc_reg *raw, int column, const mc_reg *to) {
    enum { LOW = 0x0f0f0f0f, CHOOSE = 0xe4 /* lop3: of the first source where the third is set */ };
    mc_builder *b = e->b;
    int halves = halves_of(e->plan), part = column % halves / 2;
    const mc_reg *word = raw + column / halves;
    mc_reg even = e->scratch.element[0], odd = e->scratch.element[1], moved = e->scratch.half;
    gather_bytes(e, word, 2 * RAW_ROW, part, even);
    gather_bytes(e, word + RAW_ROW, 2 * RAW_ROW, part, odd);
    EMIT(b, shl_b32, moved, odd, I(4));
    EMIT(b, lop3, to[0], even, moved, H(LOW), H(CHOOSE));
    EMIT(b, shr_u32, moved, even, I(4));
    EMIT(b, lop3, to[1], moved, odd, H(LOW), H(CHOOSE));
}

/* By columns, of elements that are moved: a byte, or half a word, of each of four or two rows; of 4 bits,
   where COLUMN is even, it and the next one. */
static void move_column(const quantise_emitter *e, const mc_reg *raw, int column, const mc_reg *to) {
    enum { BOTH_HALVES = 0x2222 };
    mc_builder *b = e->b;
    int halves = halves_of(e->plan), part = column % halves;
    const mc_reg *word = raw + column / halves;
    switch (e->plan->in_bits) {
    case 4:
        if (column % 2 == 0) move_pair(e, raw, column, to);
        break;
    case 8: gather_bytes(e, word, RAW_ROW, part, *to); break;
    case 16: EMIT(b, prmt, *to, word[0], word[RAW_ROW], H(HALVES + (uint32_t)(part * BOTH_HALVES))); break;
    default: EMIT(b, mov_b32, *to, word[0]); break;
    }
}

int quantise_row_words(const quantise_plan *plan) {
    int bits = plan->unit * plan->out_bits;
    return bits < 32 ? 1 : bits / 32;
}

static void make_row(const quantise_emitter *e, const mc_reg *raw, int row, const mc_reg *by_column,
                     mc_reg *words) {
    int count = quantise_row_words(e->plan), elements = e->plan->unit / count;
    const mc_reg *v = e->scratch.element;
    for (int w = 0; w < count; w++) {
        for (int i = 0; i < elements; i++) make_element(e, raw, row, w * elements + i, by_column, v[i]);
        quantise_pack(e, v, elements, words[w]);
        if (e->factors.magic.id) EMIT(e->b, and_b32, words[w], words[w], e->factors.row_mask[row]);
    }
}

/* Elements that stay as they are. */
static void move_words(const quantise_emitter *e, const mc_reg *raw, mc_reg *words) {
    const quantise_plan *plan = e->plan;
    for (int j = 0; plan->turned && j < plan->unit; j++) move_column(e, raw, j, words + j);
    for (int i = 0; !plan->turned && i < plan->rows * quantise_row_words(plan); i++)
        EMIT(e->b, mov_b32, words[i], raw[i]);
}

void quantise_make_words(const quantise_emitter *e, const mc_reg *raw, const mc_reg *by_column,
                         mc_reg *words) {
    const quantise_plan *plan = e->plan;
    int row_words = quantise_row_words(plan);
    if (plan->moves) {
        move_words(e, raw, words);
        return;
    }
    for (int j = 0; plan->turned && j < plan->unit; j++)
        make_column(e, raw, j, by_column, words + (ptrdiff_t)j * plan->words);
    for (int i = 0; !plan->turned && i < plan->rows; i++)
        make_row(e, raw, i, by_column, words + (ptrdiff_t)i * row_words);
}

/* -- C by rows ---------------------------------------------------------------------------------------- */

static mc_reg element_at(mc_builder *b, int bits, const char *name, mc_reg index, mc_reg from) {
    if (bits >= 8) return mad_wide(b, name, index, I(bits / 8), from);
    return mad_wide(b, name, shr_u32(b, NTH(name, 0), index, I(1)), I(1), from);
}

mc_reg quantise_element_at(const quantise_emitter *e, const char *name, mc_reg index, mc_reg from) {
    return element_at(e->b, e->plan->out_bits, name, index, from);
}

mc_reg quantise_source_at(const quantise_emitter *e, const char *name, mc_reg index, mc_reg from) {
    return element_at(e->b, e->plan->in_bits, name, index, from);
}

void quantise_row_addresses(const quantise_emitter *e, const quantise_patch *patch, mc_reg *at) {
    const quantise_plan *plan = e->plan;
    mc_builder *b = e->b;
    mc_reg from = quantise_element_at(e, "c_at", patch->col, e->c), row = cvt_s64(b, "row_of_c", patch->row);
    at[0] = mad_s64(b, "c_row_at", row, e->ldc_bytes, from);
    for (int i = 1; i < plan->rows; i++) at[i] = add_s64(b, NTH("c_row_at", i), at[i - 1], e->ldc_bytes);
}

static void store_row(const quantise_emitter *e, mc_reg guard, mc_reg at, int64_t offset,
                      const mc_reg *words) {
    mc_builder *b = e->b;
    int count = quantise_row_words(e->plan);
    if (e->plan->unit * e->plan->out_bits < 32) EMIT_IF(b, guard, stg_b16, AT(at, offset), words[0]);
    else if (count == 1) EMIT_IF(b, guard, stg_b32, AT(at, offset), words[0]);
    else if (count == 2) EMIT_IF(b, guard, stg_v2, AT(at, offset), V2(words));
    for (int w = 0; count > 2 && w < count; w += 4)
        EMIT_IF(b, guard, stg_v4, AT(at, offset + (int64_t)w * WORD), V4(words + w));
}

void quantise_store_rows(const quantise_emitter *e, const quantise_patch *patch, int step, mc_reg inside,
                         const mc_reg *at, const mc_reg *words) {
    const quantise_plan *plan = e->plan;
    mc_builder *b = e->b;
    made_name name = quantise_numbered("guard", step);
    for (int i = 0; i < plan->rows; i++) {
        mc_reg guard = inside;
        if (!plan->whole) {
            mc_reg row = i ? add_s32(b, NTH(name.text, 2 * i), patch->row, I(i)) : patch->row;
            guard = inside.id ? setp_lt_and(b, NTH(name.text, 2 * i + 1), row, e->m, inside)
                              : setp_lt(b, NTH(name.text, 2 * i + 1), row, e->m);
        }
        store_row(e, guard, at[i], (int64_t)step * quantise_out_bytes(plan, plan->step),
                  words + (ptrdiff_t)i * quantise_row_words(plan));
    }
}
