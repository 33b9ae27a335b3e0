/* Where values and metadata lie. In packed24 a thread's metadata are side by side. In CUTLASS's layouts
   metadata of 16 bits of rows g and g + 8 are one word, as there; so are those of 32 bits of one row. */
#include "ops/compress24/compress24.h"

static int words_of(const compress24_plan *plan) { return packed24_words(plan->element.bytes); }

/* -- packed24 ------------------------------------------------------------------------------------------- */

mc_reg find_packed_meta(const compress24_plan *plan, mc_builder *b, const compress24_place *p) {
    const int atom_bytes = packed24_meta(plan->element.bytes);
    mc_reg atom = mad_wide(b, "meta_atom", p->item, I(atom_bytes), load_array(b, "meta"));
    return mad_wide(b, "meta_at", p->thread, I((int64_t)words_of(plan) * WORD), atom);
}

/* The atom has the slab's number. Pieces of a row are exchanged as a swizzle of 128 bytes does, which is
   the same for a row and the one 8 below it (packed24_value_place). */
static void find_packed(const compress24_plan *plan, mc_builder *b, const compress24_place *p,
                        compress24_stores *s) {
    mc_reg in_atom = and_b32(b, "in_atom", p->row[0], I(PACKED24_ROWS - 1));
    mc_reg place = xor_b32(b, "place", p->in_slab, p->g);
    mc_reg atom = mad_wide(b, "atom", p->item, I(packed24_values()), load_array(b, "values"));
    mc_reg row = mad_wide(b, "values_row", in_atom, I(PACKED24_ROW_BYTES), atom);
    for (int i = 0; i < THREAD_PIECES; i++) {
        made_name prefix = piece_prefix(i);
        b->prefix = prefix.text;
        mc_reg other = xor_b32(b, "its_place", place, I(piece_step(plan, i)));
        if (piece_row(plan, i) == 0) s->values[i] = mad_wide(b, "values_at", other, I(PIECE_VALUES), row);
        else s->values[i] = add_s64(b, "values_at", s->values[i - 1], I(LOWER_ROW * PACKED24_ROW_BYTES));
        b->prefix = NULL;
    }
    s->meta[0] = find_packed_meta(plan, b, p);
}

/* -- Others --------------------------------------------------------------------------------------------- */

/* Values row by row. */
static void find_rows(const compress24_plan *plan, mc_builder *b, const compress24_place *p, mc_reg pieces,
                      compress24_stores *s) {
    mc_reg pitch = load_shape(b, "values_pitch", true), rows[2] = {{0}};
    mc_reg values = load_array(b, "values");
    for (int i = 0; i < (has_two_rows(plan) ? 2 : 1); i++)
        rows[i] = mad_wide(b, name_nth("values_row", i).text, p->row[i], pitch, values);
    for (int i = 0; i < THREAD_PIECES; i++) {
        const int row = piece_row(plan, i);
        made_name prefix = piece_prefix(i);
        b->prefix = prefix.text;
        mc_reg piece = add_s32(b, "its_piece", p->piece, I(piece_step(plan, i)));
        s->is_piece[i] = setp_lt_and(b, "is_piece", piece, pieces, p->is_row[row]);
        s->values[i] = mad_wide(b, "values_at", piece, I(PIECE_VALUES), rows[row]);
        b->prefix = NULL;
    }
}

/* Of 8 bits two lanes have the even and the odd pieces of a slab's row. The one of the even pieces stores the
   first four pieces' metadata, the other one the last four, where these are there and begin at multiples of
   16 bytes. LAST: of each half the piece behind the last one that goes by itself. */
static void find_halves(mc_builder *b, const compress24_place *p, mc_reg row, mc_reg pieces, mc_reg last[2],
                        compress24_stores *s) {
    enum { HALF = SLAB_PIECES / 2, LANE_BIT = 1, ALIGN = HALF * WORD };
    mc_reg first = sub_s32(b, "slab_piece", p->piece, p->in_slab),
           left = sub_s32(b, "pieces_left", pieces, first);
    mc_reg odd_bytes = and_b32(b, "in_half", cvt_low(b, "low_meta", row), I(ALIGN - 1));
    mc_reg is_aligned = setp_eq_and(b, "is_meta_aligned", odd_bytes, I(0), p->is_row[0]);
    for (int i = 0; i < 2; i++) {
        mc_reg whole = setp_ge_and(b, name_nth("is_half", i).text, left, I((i + 1) * HALF), is_aligned);
        last[i] = selp_b32(b, name_nth("last_piece", i).text, I(0), pieces, whole);
    }
    mc_reg own = mad_s32(b, "half_piece", p->in_slab, I(HALF), first);
    s->half = mad_wide(b, "half_at", own, I(WORD), row);
    s->is_half = setp_ge_and(b, "stores_half", sub_s32(b, "half_left", pieces, own), I(HALF), is_aligned);
    s->exchange = (lane_exchange){.b = b, .bit = LANE_BIT, .odd = setp_ne(b, "has_odd", p->in_slab, I(0))};
}

/* Metadata row by row. */
static void find_natural(const compress24_plan *plan, mc_builder *b, const compress24_place *p, mc_reg pieces,
                         compress24_stores *s) {
    mc_reg pitch = load_shape(b, "meta_pitch", true), meta = load_array(b, "meta"), rows[2] = {{0}};
    for (int i = 0; i < (has_two_rows(plan) ? 2 : 1); i++)
        rows[i] = mad_wide(b, name_nth("meta_row", i).text, p->row[i], pitch, meta);
    mc_reg last[2] = {{0}};
    if (!has_two_rows(plan)) find_halves(b, p, rows[0], pieces, last, s);
    for (int i = 0; i < THREAD_PIECES; i++) {
        made_name prefix = piece_prefix(i);
        b->prefix = prefix.text;
        mc_reg piece = add_s32(b, "meta_piece", p->piece, I(piece_step(plan, i)));
        s->is_meta[i] = s->is_piece[i];
        if (!has_two_rows(plan)) s->is_meta[i] = setp_lt_and(b, "is_alone", piece, last[i / 2], p->is_row[0]);
        s->meta[i] = mad_wide(b, "meta_at", piece, I(piece_meta(plan)), rows[piece_row(plan, i)]);
        b->prefix = NULL;
    }
}

/* An atom of a CUTLASS layout: its rows and pieces, and where in it a piece lies, in words or, of two rows,
   in those of the upper one. */
typedef struct meta_atom {
    int rows, pieces;
} meta_atom;

static meta_atom atom_of(const compress24_plan *plan) {
    const int bytes = plan->element.bytes;
    if (plan->layout == COMPRESS24_SM80) return (meta_atom){bytes == 1 ? 16 : 32, 2};
    return (meta_atom){PACKED24_ROWS, bytes == 1 ? 4 : 2 * 2 * bytes};
}

/* X's bits from FIRST on, COUNT of them as a power of two, times EACH. */
static mc_reg field_of(mc_builder *b, const char *name, mc_reg x, int first, int count, int each) {
    if (first > 1) x = shr_u32(b, name_with(name, "_down").text, x, I(log2_of(first)));
    mc_reg bits = and_b32(b, name_with(name, "_bits").text, x, I(count - 1));
    return mul_s32(b, name, bits, I(each));
}

/* Words of 32 bits: sm80 has {row / 8 mod 2, piece mod 2, row mod 8}, nearest neighbours first; sm90 has
   pieces after pieces, row after row. */
static mc_reg place_of_byte(const compress24_plan *plan, mc_builder *b, mc_reg row, mc_reg piece) {
    if (plan->layout == COMPRESS24_SM90)
        return add_s32(b, "in_atom", field_of(b, "rows", row, 1, PACKED24_ROWS, 4),
                       field_of(b, "pieces", piece, 1, 4, 1));
    mc_reg in_rows =
        add_s32(b, "in_rows", field_of(b, "below", row, 8, 2, 1), field_of(b, "rows", row, 1, 8, 4));
    return add_s32(b, "in_atom", in_rows, field_of(b, "odd", piece, 1, 2, 2));
}

/* Words of two rows. sm80: {row / 16 mod 2 behind piece mod 2, row mod 8}; sm90: {piece / 2, row mod 8,
   piece mod 2, row / 16}. */
static mc_reg place_of_rows(const compress24_plan *plan, mc_builder *b, mc_reg row, mc_reg piece) {
    const int pairs = atom_of(plan).pieces / 2;
    const bool old = plan->layout == COMPRESS24_SM80;
    mc_reg in_rows =
        add_s32(b, "in_rows", field_of(b, "rows", row, 1, 8, old ? 4 : pairs),
                old ? field_of(b, "warps", row, 16, 2, 2) : field_of(b, "warps", row, 16, 4, 16 * pairs));
    mc_reg odd = field_of(b, "odd", piece, 1, 2, old ? 1 : 8 * pairs);
    mc_reg place = add_s32(b, "in_atom", in_rows, odd);
    return old ? place : add_s32(b, "with_pairs", place, field_of(b, "pairs", piece, 2, pairs, 1));
}

static void find_cutlass(const compress24_plan *plan, mc_builder *b, const compress24_place *p,
                         compress24_stores *s) {
    const meta_atom atom = atom_of(plan);
    mc_reg down = load_shape(b, "atoms", true), across = load_shape(b, "meta_pieces", true);
    mc_reg rows = shl_b32(b, "meta_rows", down, I(log2_of(atom.rows))), meta = load_array(b, "meta");
    mc_reg is_row = setp_lt_u32(b, "is_meta_row", p->row[0], rows);
    mc_reg below = shr_u32(b, "atom_row", p->row[0], I(log2_of(atom.rows)));
    for (int i = 0; i < words_of(plan); i++) {
        const int step = piece_step(plan, has_two_rows(plan) ? 2 * i : i);
        made_name prefix = piece_prefix(i);
        b->prefix = prefix.text;
        mc_reg piece = add_s32(b, "meta_piece", p->piece, I(step));
        mc_reg number =
            mad_s32(b, "atom", shr_u32(b, "atom_piece", piece, I(log2_of(atom.pieces))), down, below);
        mc_reg start =
            mad_wide(b, "atom_at", number, I((int64_t)atom.rows * atom.pieces * piece_meta(plan)), meta);
        mc_reg place = has_two_rows(plan) ? place_of_rows(plan, b, p->row[0], piece)
                                          : place_of_byte(plan, b, p->row[0], piece);
        s->is_meta[i] = setp_lt_and(b, "is_meta", piece, across, is_row);
        s->meta[i] = mad_wide(b, "meta_at", place, I(WORD), start);
        b->prefix = NULL;
    }
}

compress24_stores find_stores(const compress24_plan *plan, mc_builder *b, const compress24_place *place) {
    compress24_stores stores = {0};
    if (plan->layout == COMPRESS24_PACKED) {
        find_packed(plan, b, place, &stores);
        return stores;
    }
    mc_reg pieces = load_shape(b, "pieces", true);
    find_rows(plan, b, place, pieces, &stores);
    if (plan->layout == COMPRESS24_NATURAL) find_natural(plan, b, place, pieces, &stores);
    else find_cutlass(plan, b, place, &stores);
    return stores;
}

/* -- Metadata ------------------------------------------------------------------------------------------- */

mc_reg join_codes(const compress24_plan *plan, mc_builder *b, mc_reg first, mc_reg second) {
    enum { CODE_BITS = 4, BYTE_BITS = 8, EVEN_BYTES = 0x6420, BETWEEN_LANES = 12 };
    if (plan->element.bytes == 1) {
        mc_reg low = or_b32(b, "first_pairs", first, shr_u32(b, "first_odd", first, I(CODE_BITS)));
        mc_reg high = or_b32(b, "second_pairs", second, shr_u32(b, "second_odd", second, I(CODE_BITS)));
        return prmt(b, "metadata", low, high, H(EVEN_BYTES));
    }
    mc_reg both = mad_s32(b, "codes", second, I(1 << BYTE_BITS), first);
    if (plan->element.bytes == WORD) return both;
    return or_b32(b, "metadata", both, shr_u32(b, "odd_lanes", both, I(BETWEEN_LANES)));
}

/* The words of both lanes, in the order of pieces. */
static void store_half(mc_builder *b, const compress24_stores *stores, const mc_reg *words) {
    mc_reg half[THREAD_PIECES];
    lane_exchange exchange = stores->exchange;
    exchange.give = b32(b, "give_word"), exchange.got = b32(b, "got_word");
    b32_array(b, "half_word", THREAD_PIECES, half);
    for (int i = 0; i < THREAD_PIECES; i++) EMIT(b, mov_b32, half[i], words[i]);
    for (int i = 0; i < 2; i++) lanes_exchange(&exchange, half[i], half[i + 2]);
    const mc_reg in_order[] = {half[0], half[2], half[1], half[3]};
    EMIT_IF(b, stores->is_half, stg_v4, AT(stores->half, 0), V4(in_order));
}

void store_metadata(const compress24_plan *plan, mc_builder *b, const compress24_stores *stores,
                    const mc_reg *metadata) {
    enum { LOW_HALVES = 0x5410 };
    mc_reg words[THREAD_PIECES];
    if (plan->layout == COMPRESS24_NATURAL && has_two_rows(plan)) {
        for (int i = 0; i < THREAD_PIECES; i++)
            EMIT_IF(b, stores->is_meta[i], stg_b16, AT(stores->meta[i], 0), metadata[i]);
        return;
    }
    for (int i = 0; i < words_of(plan); i++)
        words[i] = has_two_rows(plan) ? prmt(b, name_nth("meta_word", i).text, metadata[2 * i],
                                             metadata[2 * i + 1], H(LOW_HALVES))
                                      : metadata[i];
    if (stores->half.id) store_half(b, stores, words);
    if (plan->layout != COMPRESS24_PACKED)
        for (int i = 0; i < words_of(plan); i++)
            EMIT_IF(b, stores->is_meta[i], stg_b32, AT(stores->meta[i], 0), words[i]);
    else if (has_two_rows(plan)) EMIT(b, stg_v2, AT(stores->meta[0], 0), V2(words));
    else EMIT(b, stg_v4, AT(stores->meta[0], 0), V4(words));
}
