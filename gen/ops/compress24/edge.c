/* Loads of single elements, of 4 bits of pairs, zeros where A has none. In each turn every word of the thread
   gets its next element from above, so that after as many turns as a word has elements all are in their
   places. */
#include "ops/compress24/compress24.h"
#include "parts/made_name.h"
#include "parts/words.h"

typedef struct edge {
    const compress24_plan *plan;
    mc_builder *b;
    const mc_reg *words;
    mc_reg at[2],
        left[2]; /* of this turn's element in the first word: in each row, or beyond the last column */
    mc_reg element, is_there;
} edge;

static void begin(edge *e, const compress24_place *place) {
    mc_builder *b = e->b;
    for (int row = 0; row < (has_two_rows(e->plan) ? 2 : 1); row++) {
        mc_reg left = selp_b32(b, name_nth("columns", row).text, place->left, I(0), place->is_row[row]);
        e->left[row] = carried(b, name_nth("columns_left", row).text, left);
        e->at[row] = carried_b64(b, name_nth("element_at", row).text, place->at[row]);
    }
    e->element = b32(b, "element");
    e->is_there = pred(b, "is_there");
    for (int i = 0; i < THREAD_UNITS * UNIT_WORDS; i++) EMIT(b, mov_b32, e->words[i], I(0));
}

/* Where the last column is the first one of a pair, the other half of the byte is none of A's elements. */
static void drop_second(edge *e, mc_reg left, int before) {
    enum { FIRST = 0xf };
    EMIT(e->b, setp_eq, e->is_there, left, I(before + 1));
    EMIT_IF(e->b, e->is_there, and_b32, e->element, e->element, I(FIRST));
}

static void load_word(edge *e, int index) {
    enum { BYTE_FROM_ABOVE = 0x4321, HALF_FROM_ABOVE = 0x5432 };
    mc_builder *b = e->b;
    const int bytes = e->plan->element.bytes, piece = index / (PIECE_UNITS * UNIT_WORDS);
    const int row = piece_row(e->plan, piece), in_piece = index % (PIECE_UNITS * UNIT_WORDS);
    const int offset = piece_step(e->plan, piece) * PIECE_BYTES + in_piece * WORD,
              before = elements_in(e->plan, offset);
    mc_reg word = e->words[index];
    EMIT(b, mov_b32, e->element, I(0));
    EMIT(b, setp_gt, e->is_there, e->left[row], I(before));
    emit_load_words(b, e->is_there, WORDS_GLOBAL, bytes, &e->element, AT(e->at[row], offset));
    if (has_pairs(e->plan)) drop_second(e, e->left[row], before);
    if (bytes == WORD) EMIT(b, mov_b32, word, e->element);
    else EMIT(b, prmt, word, word, e->element, H(bytes == 1 ? BYTE_FROM_ABOVE : HALF_FROM_ABOVE));
}

static void next_turn(edge *e) {
    for (int row = 0; row < (has_two_rows(e->plan) ? 2 : 1); row++) {
        EMIT(e->b, sub_s32, e->left[row], e->left[row], I(elements_in(e->plan, e->plan->element.bytes)));
        EMIT(e->b, add_s64, e->at[row], e->at[row], I(e->plan->element.bytes));
    }
}

void emit_edge(const compress24_plan *plan, mc_builder *b, const compress24_place *place,
               const mc_reg *words) {
    edge e = {.plan = plan, .b = b, .words = words};
    mc_label loop = label(b, "EDGE_TURNS");
    mc_reg more = pred(b, "more");
    begin(&e, place);
    mc_reg turn = carried(b, "turn", I(0));
    set_label(b, loop);
    for (int i = 0; i < THREAD_UNITS * UNIT_WORDS; i++) load_word(&e, i);
    next_turn(&e);
    EMIT(b, add_s32, turn, turn, I(1));
    EMIT(b, setp_lt, more, turn, I(WORD / plan->element.bytes));
    EMIT_IF(b, more, bra, TO(loop));
}
