#include "ops/values/values.h"
#include "parts/made_name.h"
#include "parts/words.h"
#include <stdio.h>

/* A piece of the thread's word, in all groups alike. */
typedef struct word_piece {
    mc_reg is_value; /* a predicate: it is one */
    mc_reg row;      /* of the vector */
    mc_reg slot_at;  /* where the first group says which vector its slot holds */
    values_digit digit;
} word_piece;

/* What a thread holds of a piece in one group. */
typedef struct held_piece {
    mc_reg where[2]; /* the vector's number, or its first row and its column; below 0: none */
    mc_reg element;
} held_piece;

typedef struct values_emitter {
    mc_builder *b;
    const values_plan *plan;
    mc_reg slots, source, groups, lds;
    mc_reg first; /* the thread's first group */
    mc_reg out;   /* where its word of group 0 lies */
    mc_label end;
    word_piece pieces[VALUES_MAX_PIECES];
} values_emitter;

static int piece_count(const values_emitter *e) { return values_pieces(e->plan); }

/* -- The thread's word -------------------------------------------------------------------------------- */

/* The number of the thread's word in the period. Threads without one end here. */
static mc_reg find_word(values_emitter *e, mc_reg thread) {
    const values_plan *plan = e->plan;
    mc_builder *b = e->b;
    mc_reg word = rem_u32(b, "word", thread, I(plan->wide));
    if (plan->period > plan->wide)
        word = mad_s32(b, "word_of_period", load_special(b, "chunk", "ctaid.y"), I(plan->wide), word);
    if (plan->period % plan->wide)
        EMIT_IF(b, setp_ge(b, "is_behind", word, I(plan->period)), bra, TO(e->end));
    return word;
}

static mc_reg find_group(values_emitter *e, mc_reg thread) {
    const values_plan *plan = e->plan;
    mc_builder *b = e->b;
    mc_reg beside = div_u32(b, "beside", thread, I(plan->wide));
    if (plan->beside * plan->wide < VALUES_THREADS)
        EMIT_IF(b, setp_ge(b, "is_idle", beside, I(plan->beside)), bra, TO(e->end));
    return mad_s32(b, "group", load_special(b, "block", "ctaid.x"), I(values_groups(plan)), beside);
}

/* ENTRY becomes a number. */
static mc_reg take_entry(values_emitter *e, const mc_reg *words, int piece) {
    mc_builder *b = e->b;
    mc_reg word = words[piece / 2];
    if (piece % 2 == 0) word = shl_b32(b, name_nth("low_entry", piece).text, word, I(16));
    return shr_s32(b, name_nth("entry", piece).text, word, I(16));
}

static void set_piece(values_emitter *e, int piece, mc_reg entry) {
    const values_plan *plan = e->plan;
    mc_builder *b = e->b;
    word_piece *p = &e->pieces[piece];
    made_name prefix = name_with(name_nth("p", piece).text, "_");
    b->prefix = prefix.text;
    p->is_value = setp_ge(b, "is_value", entry, I(0));
    mc_reg place = and_b32(b, "place", entry, I(MC_PIECE_PLACE_MASK));
    p->row = and_b32(b, "row", place, I(plan->vec - 1));
    mc_reg slot = shr_u32(b, "slot", place, I(log2_of(plan->vec)));
    p->slot_at = mad_wide(b, "slot_at", slot, I(values_slot_words(plan) * WORD), e->slots);
    p->digit = values_prepare_digit(plan, b, entry);
    b->prefix = NULL;
}

/* A word without any value stays as it is. */
static void skip_empty(values_emitter *e, const mc_reg *entries) {
    mc_builder *b = e->b;
    mc_reg greatest = carried(b, "greatest", I(-1));
    for (int i = 0; i < piece_count(e); i++) EMIT(b, max_s32, greatest, greatest, entries[i]);
    EMIT_IF(b, setp_lt(b, "is_empty", greatest, I(0)), bra, TO(e->end));
}

static void set_pieces(values_emitter *e, mc_reg word) {
    mc_builder *b = e->b;
    mc_reg words[VALUES_MAX_PIECES / 2], entries[VALUES_MAX_PIECES];
    int bytes = 2 * piece_count(e);
    note(b, "what the pieces of the word are: a slot, a row and a digit each");
    b32_array(b, "entries", bytes > WORD ? bytes / WORD : 1, words);
    mc_reg at = mad_wide(b, "entries_at", word, I(bytes), load_array(b, "pieces"));
    emit_load_words(b, (mc_reg){0}, WORDS_GLOBAL, bytes, words, AT(at, 0));
    for (int i = 0; i < piece_count(e); i++) entries[i] = take_entry(e, words, i);
    skip_empty(e, entries);
    for (int i = 0; i < piece_count(e); i++) set_piece(e, i, entries[i]);
}

static void begin(values_emitter *e) {
    const values_plan *plan = e->plan;
    mc_builder *b = e->b;
    e->end = label(b, "END");
    mc_reg thread = load_special(b, "thread", "tid.x");
    mc_reg word = find_word(e, thread);
    e->first = find_group(e, thread);
    e->slots = load_array(b, "slots");
    e->source = load_array(b, "source");
    e->groups = load_shape(b, "groups", true);
    e->lds = load_shape(b, "lds", plan->from != VALUES_VECTORS);
    e->out = mad_wide(b, "word_at", word, I(WORD), load_array(b, "values"));
    set_pieces(e, word);
}

/* -- Its groups --------------------------------------------------------------------------------------- */

/* Which vector the piece's slot holds in GROUP; none where the group or the piece is none. */
static void load_where(values_emitter *e, const word_piece *p, mc_reg group, held_piece *held) {
    const values_plan *plan = e->plan;
    mc_builder *b = e->b;
    int words = values_slot_words(plan);
    mc_reg wanted = setp_lt_and(b, "wanted", group, e->groups, p->is_value);
    mc_reg at = mad_wide(b, "where_at", group, I((int64_t)plan->group * words * WORD), p->slot_at);
    b32_array(b, "where", words, held->where);
    EMIT(b, mov_b32, held->where[0], I(-1));
    if (words > 1) EMIT(b, mov_b32, held->where[1], I(0));
    emit_load_words(b, wanted, WORDS_GLOBAL, words * WORD, held->where, AT(at, 0));
}

/* An element lies MINOR elements behind the begin of line MAJOR. */
typedef struct element_place {
    mc_reg major, minor;
} element_place;

static element_place place_of(values_emitter *e, const word_piece *p, const held_piece *held) {
    mc_builder *b = e->b;
    if (e->plan->from == VALUES_VECTORS && e->plan->vec == 1) return (element_place){{0}, held->where[0]};
    if (e->plan->from == VALUES_VECTORS) return (element_place){held->where[0], p->row};
    mc_reg line = add_s32(b, "line", held->where[0], p->row);
    if (e->plan->from == VALUES_ROWS) return (element_place){line, held->where[1]};
    return (element_place){held->where[1], line};
}

/* Where the element lies; of 4 bits its byte. */
static mc_reg element_at(values_emitter *e, element_place place) {
    const values_plan *plan = e->plan;
    mc_builder *b = e->b;
    bool half = plan->bits < 8;
    mc_reg minor = half ? shr_u32(b, "pair", place.minor, I(1)) : place.minor;
    int64_t vec = half ? plan->vec / 2 : plan->vec;
    mc_reg element = cvt_s64(b, "behind", minor);
    if (place.major.id && plan->from == VALUES_VECTORS)
        element = mad_wide(b, "number", place.major, I(vec), element);
    else if (place.major.id)
        element =
            mad_wide(b, "number", place.major, half ? shr_u32(b, "pairs", e->lds, I(1)) : e->lds, element);
    if (plan->bits > 8) element = shl_b64(b, "bytes", element, I(log2_of(plan->bits / 8)));
    return add_s64(b, "element_at", element, e->source);
}

/* Of two elements of 4 bits the wanted one, without what lies above it. */
static void take_half(values_emitter *e, mc_reg minor, mc_reg element) {
    mc_builder *b = e->b;
    mc_reg shift = shl_b32(b, "half_shift", and_b32(b, "is_odd", minor, I(1)), I(2));
    EMIT(b, shr_u32, element, element, shift);
    EMIT(b, and_b32, element, element, I(15));
}

static void load_element(values_emitter *e, const word_piece *p, held_piece *held) {
    const values_plan *plan = e->plan;
    mc_builder *b = e->b;
    const element_place place = place_of(e, p, held);
    mc_reg is_there = setp_ge(b, "is_there", held->where[0], I(0));
    held->element = carried(b, "element", I(0));
    emit_load_words(b, is_there, WORDS_GLOBAL, plan->bits < 8 ? 1 : plan->bits / 8, &held->element,
                    AT(element_at(e, place), 0));
    if (plan->bits < 8) take_half(e, place.minor, held->element);
}

/* A slot without a vector has zeros, whatever the digits of zero are. */
static void make_piece(values_emitter *e, const word_piece *p, held_piece *held) {
    mc_builder *b = e->b;
    values_make_piece(e->plan, b, &p->digit, held->element);
    if (e->plan->mode != DIGITS_OFFSET) return;
    mc_reg is_value = setp_ge(b, "is_digit", held->where[0], I(0));
    EMIT(b, selp_b32, held->element, held->element, I(0), is_value);
}

static void store_word(values_emitter *e, mc_reg group, const held_piece *held) {
    const values_plan *plan = e->plan;
    mc_builder *b = e->b;
    mc_reg word = held[0].element;
    if (piece_count(e) > 1) {
        word = carried(b, "packed", I(0));
        for (int i = 0; i < piece_count(e); i++)
            EMIT(b, bfi, word, held[i].element, word, I((int64_t)plan->piece_bits * i), I(plan->piece_bits));
    }
    mc_reg is_group = setp_lt(b, "is_group", group, e->groups);
    EMIT_IF(b, is_group, stg_b32,
            AT(mad_wide(b, "out_at", group, I((int64_t)plan->period * WORD), e->out), 0), word);
}

/* All that a thread asks for is asked for before any of it is used. */
static void emit_groups(values_emitter *e) {
    const values_plan *plan = e->plan;
    mc_builder *b = e->b;
    held_piece held[VALUES_MAX_HELD];
    mc_reg groups[VALUES_MAX_HOLD];
    int count = piece_count(e);
    made_name prefixes[VALUES_MAX_HELD] = {{{0}}};
    for (int i = 0; i < plan->hold; i++)
        groups[i] =
            i ? add_s32(b, name_nth("group", i).text, e->first, I((int64_t)i * plan->beside)) : e->first;
    note(b, "the vectors in the slots");
    for (int i = 0; i < plan->hold * count; i++) {
        snprintf(prefixes[i].text, sizeof prefixes[i].text, "g%dp%d_", i / count, i % count);
        b->prefix = prefixes[i].text;
        load_where(e, &e->pieces[i % count], groups[i / count], &held[i]);
    }
    note(b, "their elements");
    for (int i = 0; i < plan->hold * count; i++) {
        b->prefix = prefixes[i].text;
        load_element(e, &e->pieces[i % count], &held[i]);
    }
    note(b, "pieces become words");
    for (int i = 0; i < plan->hold * count; i++) {
        b->prefix = prefixes[i].text;
        make_piece(e, &e->pieces[i % count], &held[i]);
        if (i % count == count - 1) store_word(e, groups[i / count], &held[i - count + 1]);
    }
    b->prefix = NULL;
}

void values_emit(const void *data, mc_builder *b) {
    enum { SPARE = 8 }; /* registers that ptxas takes for halves of bytes beyond those alive at once */
    values_emitter e = {.b = b, .plan = data};
    if (e.plan->piece_bits == NIBBLE_BITS) b->spare += SPARE;
    heading(b, "The thread's word of a group");
    begin(&e);
    heading(b, "The same word of its groups");
    emit_groups(&e);
    set_label(b, e.end);
    EMIT_RET(b);
}
