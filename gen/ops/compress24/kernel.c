#include "ops/compress24/compress24.h"
#include "parts/made_name.h"

enum { UNIT_BYTES = UNIT_WORDS * WORD };

/* -- Loads ---------------------------------------------------------------------------------------------- */

static void find_elements(const compress24_plan *plan, mc_builder *b, compress24_place *p) {
    const int bytes = plan->element.bytes;
    mc_reg ld = load_shape(b, "ld", true), at = load_array(b, "a");
    mc_reg column = mul_s32(b, "column", p->piece, I(piece_elements(plan)));
    p->left = sub_s32(b, "left", load_shape(b, "cols", true), column);
    if (has_pairs(plan)) column = mul_s32(b, "pair", p->piece, I(PIECE_BYTES));
    mc_reg behind = mad_wide(b, "behind", p->row[0], ld, cvt_s64(b, "in_row", column));
    p->at[0] = add_s64(b, "at", bytes > 1 ? shl_b64(b, "bytes", behind, I(log2_of(bytes))) : behind, at);
    if (has_two_rows(plan))
        p->at[1] = add_s64(b, "lower_at", p->at[0], mul_wide(b, "lower", ld, I((int64_t)LOWER_ROW * bytes)));
}

/* Goes to EDGE unless all of the thread's pieces lie in A, and begin at multiples of a unit. */
static void look_for_edge(const compress24_plan *plan, mc_builder *b, const compress24_place *p,
                          mc_label edge) {
    const int reach = piece_step(plan, THREAD_PIECES - 1) + 1;
    mc_reg low = cvt_low(b, "low_at", p->at[0]);
    if (has_two_rows(plan)) low = or_b32(b, "low_ats", low, cvt_low(b, "low_lower", p->at[1]));
    mc_reg is_last = has_two_rows(plan) ? p->is_row[1] : p->is_row[0];
    mc_reg odd = and_b32(b, "in_unit", low, I(UNIT_BYTES - 1));
    mc_reg is_aligned = setp_eq_and(b, "is_aligned", odd, I(0), is_last);
    mc_reg is_inside =
        setp_ge_and(b, "is_inside", p->left, I((int64_t)reach * piece_elements(plan)), is_aligned);
    EMIT_IF(b, NOT(is_inside), bra, TO(edge));
}

static void load_units(const compress24_plan *plan, mc_builder *b, const compress24_place *p,
                       const mc_reg *words) {
    for (int unit = 0; unit < THREAD_UNITS; unit++) {
        const int piece = unit / PIECE_UNITS;
        int64_t offset = (int64_t)piece_step(plan, piece) * PIECE_BYTES + unit % PIECE_UNITS * UNIT_BYTES;
        EMIT(b, ldg_v4, V4(&words[unit * UNIT_WORDS]), AT(p->at[piece_row(plan, piece)], offset));
    }
}

/* -- The whole ------------------------------------------------------------------------------------------ */

/* What groups of a thread are too full: bit `full_bit` of each. */
static mc_reg add_full(const compress24_plan *plan, mc_builder *b, int unit, mc_reg is_full, mc_reg full) {
    enum { CHOSEN_OR = (0xf0 & 0xcc) | 0xaa };
    mc_reg moved = unit > 0 ? shr_u32(b, "full_down", is_full, I(unit)) : is_full;
    uint32_t bits = lanes_of(plan, 1U << full_bit(plan, unit, 0));
    if (unit == 0) return and_b32(b, "full", moved, H(bits));
    return lop3(b, "full", moved, H(bits), full, H(CHOSEN_OR));
}

/* What is stored depends on all that was loaded. */
static void copy_unit(mc_builder *b, const mc_reg *words, mc_reg zero, compressed_unit *unit) {
    unit->values[0] = xor_b32(b, "values0", words[0], words[2]);
    unit->values[1] = xor_b32(b, "values1", words[1], words[3]);
    unit->codes = words[0];
    unit->full = zero;
}

static void take_units(const compress24_plan *plan, mc_builder *b, const mc_reg *words, mc_reg zero,
                       compressed_unit units[THREAD_UNITS]) {
    mc_reg full = {0};
    for (int i = 0; i < THREAD_UNITS; i++) {
        made_name prefix = name_with(name_nth("u", i).text, "_");
        b->prefix = prefix.text;
        if (plan->mode == COMPRESS24_COPY) copy_unit(b, &words[i * UNIT_WORDS], zero, &units[i]);
        else if (plan->element.bytes == WORD) choose_pairs(plan, b, &words[i * UNIT_WORDS], &units[i]);
        else choose_units(plan, b, &words[i * UNIT_WORDS], zero, &units[i]);
        units[i].full = full = add_full(plan, b, i, units[i].full, full);
        b->prefix = NULL;
    }
}

static void store_values(mc_builder *b, const compress24_stores *stores,
                         const compressed_unit units[THREAD_UNITS]) {
    for (int i = 0; i < THREAD_PIECES; i++) {
        const compressed_unit *u = &units[i * PIECE_UNITS];
        const mc_reg words[] = {u[0].values[0], u[0].values[1], u[1].values[0], u[1].values[1]};
        EMIT_IF(b, stores->is_piece[i], stg_v4, AT(stores->values[i], 0), V4(words));
    }
}

/* Of packed24 temporaries live so shortly that the usual reserve is too large: with 64 registers a thread
   eight thread blocks fit on a multiprocessor. The addresses of other layouts live longer. */
static void reserve_registers(const compress24_plan *plan, mc_builder *b) {
    enum { PACKED_SPARE = -8, OTHER_SPARE = 8 };
    b->spare += plan->layout == COMPRESS24_PACKED ? PACKED_SPARE : OTHER_SPARE;
}

void compress24_emit(const void *data, mc_builder *b) {
    const compress24_plan *plan = data;
    mc_label edge = label(b, "EDGE"), compress = label(b, "COMPRESS");
    mc_reg words[THREAD_UNITS * UNIT_WORDS], metadata[THREAD_PIECES];
    compressed_unit units[THREAD_UNITS];
    reserve_registers(plan, b);
    heading(b, "The thread's pieces");
    compress24_place place = compress24_find_place(plan, b);
    find_elements(plan, b, &place);
    b32_array(b, "word", THREAD_UNITS * UNIT_WORDS, words);
    look_for_edge(plan, b, &place, edge);
    load_units(plan, b, &place, words);
    EMIT(b, bra, TO(compress));
    heading(b, "Where A ends, or is not aligned: element by element");
    set_label(b, edge);
    emit_edge(plan, b, &place, words);
    set_label(b, compress);
    heading(b, "What is kept");
    mc_reg zero = mov_b32(b, "zero", I(0));
    const compress24_stores stores = find_stores(plan, b, &place);
    take_units(plan, b, words, zero, units);
    for (int i = 0; i < THREAD_PIECES; i++) {
        made_name prefix = piece_prefix(i);
        b->prefix = prefix.text;
        metadata[i] = join_codes(plan, b, units[i * PIECE_UNITS].codes, units[i * PIECE_UNITS + 1].codes);
        b->prefix = NULL;
    }
    store_values(b, &stores, units);
    store_metadata(plan, b, &stores, metadata);
    heading(b, "Groups that are too full");
    emit_report(plan, b, &place, units[THREAD_UNITS - 1].full);
    EMIT_RET(b);
}
