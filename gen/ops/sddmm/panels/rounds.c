/* The k behind the units, in loads of an element: where k ends, and all of it where rows are not aligned.
 *
 * A round is a step of each group: of its 4 s k lane t has those from s t on, s of them. Beyond k both sides
 * have zeros. */
#include "ops/sddmm/panels/emit.h"
#include "parts/words.h"

typedef struct rounds {
    mc_reg a_at[SDDMM_MAX_OCTETS], b_at, left, rounds_left; /* left: k from the lane's first one on */
    mc_reg inside[SDDMM_MAX_STEP_K], element[SDDMM_MAX_STEP_K], address;
    mc_reg word[SDDMM_MAX_OCTETS * SDDMM_MAX_STEP_A], operand[SDDMM_MAX_OCTETS * SDDMM_MAX_STEP_A];
    mc_reg column[2][SDDMM_MAX_STEP_B];
} rounds;

static const sddmm_arithmetic *arithmetic(const panels_emitter *e) { return &e->plan->problem.arithmetic; }

static rounds declare(const panels_emitter *e) {
    mc_builder *b = e->b;
    const sddmm_arithmetic *a = arithmetic(e);
    const int octets = e->plan->octets;
    rounds r = {.a_at = {b64(b, "a_at")}, .b_at = b64(b, "b_at"), .address = b64(b, "address")};
    if (octets > 1) r.a_at[1] = b64(b, "a_at_below");
    r.left = b32(b, "left"), r.rounds_left = b32(b, "rounds_left");
    pred_array(b, "inside", a->step_k, r.inside);
    b32_array(b, "element", a->step_k, r.element);
    b32_array(b, "a_word", octets * a->a_words, r.word);
    if (!a->a_is_plain) b32_array(b, "a_operand", octets * a->a_operands, r.operand);
    else
        for (int i = 0; i < octets * a->a_words; i++) r.operand[i] = r.word[i];
    b32_array(b, "x", a->b_words, r.column[0]);
    b32_array(b, "y", a->b_words, r.column[1]);
    return r;
}

/* Sets the lane's first k. Where there are tiles it is counted from its first unit, whose addresses stay in
   registers. */
static void begin(const panels_emitter *e, const rounds *r, mc_reg before) {
    mc_builder *b = e->b;
    const sddmm_arithmetic *a = arithmetic(e);
    EMIT(b, sub_s32, r->rounds_left, e->k.all, e->k.units);
    EMIT(b, mad_s32, r->left, e->place.t, I(-a->step_k), r->rounds_left);
    const bool wide = e->plan->wide;
    EMIT(b, mad_s32, before, e->place.t, I(a->step_k - (wide ? a->unit_k : 0)), e->k.units);
    for (int octet = 0; octet < e->plan->octets; octet++)
        EMIT(b, mad_wide, r->a_at[octet], before, I(element_bytes(a->lhs)),
             wide ? e->tiles.a_first[octet] : e->a_row[octet]);
    EMIT(b, mad_wide, r->b_at, before, I(element_bytes(a->rhs)), wide ? e->tiles.b_first : e->b_side.array);
}

static void load_step(const panels_emitter *e, const rounds *r, sddmm_values values, mc_reg at, int count,
                      const mc_reg *words) {
    const int step_k = arithmetic(e)->step_k, bytes = element_bytes(values);
    sddmm_emit_zero(e->b, r->element, step_k);
    for (int i = 0; i < step_k; i++)
        emit_load_words(e->b, r->inside[i], WORDS_GLOBAL, bytes, &r->element[i], AT(at, bytes * i));
    sddmm_emit_join(&e->multiplier, values, r->element, count, words);
}

static void emit_a(const panels_emitter *e, const rounds *r) {
    const sddmm_arithmetic *a = arithmetic(e);
    for (int i = 0; i < a->step_k; i++) EMIT(e->b, setp_gt, r->inside[i], r->left, I(i));
    for (int octet = 0; octet < e->plan->octets; octet++) {
        const mc_reg *words = &r->word[octet * a->a_words];
        load_step(e, r, a->lhs, r->a_at[octet], a->a_words, words);
        sddmm_emit_a_step(&e->multiplier, words, &r->operand[octet * a->a_operands]);
    }
}

static void emit_group(const panels_emitter *e, const rounds *r, int group) {
    const sddmm_arithmetic *a = arithmetic(e);
    const mc_reg *operands[SDDMM_MAX_OCTETS] = {NULL};
    for (int half = 0; half < 2; half++) {
        EMIT(e->b, mad_wide, r->address, e->stride.column[2 * group + half], e->b_side.row_bytes, r->b_at);
        load_step(e, r, a->rhs, r->address, a->b_words, r->column[half]);
    }
    for (int octet = 0; octet < e->plan->octets; octet++)
        operands[octet] = &r->operand[octet * a->a_operands];
    panels_emit_products(e, group, r->column[0], r->column[1], operands);
}

static void next_round(const panels_emitter *e, const rounds *r, mc_reg more, mc_label loop) {
    mc_builder *b = e->b;
    const sddmm_arithmetic *a = arithmetic(e);
    const int round_k = 4 * a->step_k;
    for (int octet = 0; octet < e->plan->octets; octet++)
        EMIT(b, add_s64, r->a_at[octet], r->a_at[octet], I(values_bytes(a->lhs, round_k)));
    EMIT(b, add_s64, r->b_at, r->b_at, I(values_bytes(a->rhs, round_k)));
    EMIT(b, add_s32, r->left, r->left, I(-round_k));
    EMIT(b, add_s32, r->rounds_left, r->rounds_left, I(-round_k));
    EMIT(b, setp_gt, more, r->rounds_left, I(0));
    EMIT_IF(b, more, bra_uni, TO(loop));
}

void panels_emit_rounds(panels_emitter *e) {
    mc_builder *b = e->b;
    b->prefix = "edge_";
    note(b, "the rest of k, %d at a time, in loads of an element; lane t: %d from %d t on",
         4 * arithmetic(e)->step_k, arithmetic(e)->step_k, arithmetic(e)->step_k);
    const rounds r = declare(e);
    mc_label loop = label(b, "ROUNDS"), end = label(b, "ROUNDS_END");
    mc_reg more = pred(b, "more"), before = b32(b, "before");
    begin(e, &r, before);
    EMIT(b, setp_lt, more, r.rounds_left, I(1));
    EMIT_IF(b, more, bra_uni, TO(end));
    set_label(b, loop);
    emit_a(e, &r);
    for (int group = 0; group < e->plan->groups; group++) emit_group(e, &r, group);
    next_round(e, &r, more, loop);
    set_label(b, end);
    b->prefix = NULL;
}
