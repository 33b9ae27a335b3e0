/* The edge path of the gather SDDMM: any alignment and any k, by loads of one value, of 4 bits of two where
 * they are neighbours. What k cuts of the wide path's last unit is its work, too.
 *
 * A round is a step of each group: of its 4 s k lane t has those from s t on, s of them. Loads are guarded by
 * k, so that nothing is read that a row does not have. */
#include "ops/sddmm/gather/gather.h"
#include "parts/words.h"

typedef struct edge {
    /* addresses of this lane's first k: in its row of A in each octet, and in column 0 of B */
    mc_reg a_at[SDDMM_MAX_OCTETS], b_at;
    mc_reg k, left;                  /* that k; how many k there are from there on */
    mc_reg inside[SDDMM_MAX_STEP_K]; /* which k of this lane's step there are */
    mc_reg a_element[SDDMM_MAX_STEP_K], b_element[SDDMM_MAX_STEP_K];
    mc_reg word[SDDMM_MAX_OCTETS * SDDMM_MAX_STEP_A], operand[SDDMM_MAX_OCTETS * SDDMM_MAX_STEP_A];
    mc_reg row[2][SDDMM_MAX_STEP_B];
    mc_reg address, cut; /* scratch */
} edge;

static const sddmm_arithmetic *arithmetic(const gather_emitter *e) { return &e->plan->problem.arithmetic; }
static bool is_rows(const gather_emitter *e) { return e->plan->problem.layout == SDDMM_ROWS; }

/* Elements of a step of B. */
static int b_elements(const gather_emitter *e) {
    const sddmm_arithmetic *a = arithmetic(e);
    return a->step_k / (is_rows(e) ? 1 : values_of_element(a->rhs));
}

/* Whether A's last byte must be cut: its high half can lie beyond k, where B has something there. */
static bool needs_cut(const gather_emitter *e) {
    return values_in_pairs(arithmetic(e)->lhs) && values_in_pairs(arithmetic(e)->rhs) && !is_rows(e);
}

static edge declare_edge(gather_emitter *e) {
    mc_builder *b = e->b;
    const sddmm_arithmetic *a = arithmetic(e);
    int octets = sddmm_octets(&e->plan->problem);
    edge d = {.a_at = {b64(b, "a_at")}, .left = b32(b, "left"), .k = b32(b, "k_at")};
    if (octets > 1) d.a_at[1] = b64(b, "a_at_below");
    if (!is_rows(e)) d.b_at = b64(b, "b_at"), d.address = b64(b, "address");
    pred_array(b, "inside", a->step_k, d.inside);
    if (needs_cut(e)) d.cut = pred(b, "cut");
    b32_array(b, "a_element", a->step_k / values_of_element(a->lhs), d.a_element);
    b32_array(b, "b_element", b_elements(e), d.b_element);
    b32_array(b, "a_word", octets * a->a_words, d.word);
    if (!a->a_is_plain) b32_array(b, "a_operand", octets * a->a_operands, d.operand);
    else
        for (int i = 0; i < octets * a->a_words; i++) d.operand[i] = d.word[i];
    b32_array(b, "x", a->b_words, d.row[0]);
    b32_array(b, "y", a->b_words, d.row[1]);
    return d;
}

/* Sets AT to ARRAY + the bytes of the first K values. */
static void emit_at(mc_builder *b, mc_reg at, mc_reg array, mc_reg k, sddmm_values values, mc_reg scratch) {
    bool pairs = values_in_pairs(values);
    if (pairs) EMIT(b, shr_u32, scratch, k, I(1));
    EMIT(b, mad_wide, at, pairs ? scratch : k, I(element_bytes(values)), array);
}

static void emit_start(gather_emitter *e, edge *d) {
    mc_builder *b = e->b;
    const sddmm_arithmetic *a = arithmetic(e);
    mc_reg pair = b32(b, "first_pair");
    note(b, "lane t: %d k from %d t on", a->step_k, a->step_k);
    EMIT(b, mad_s32, d->left, e->place.t, I(-a->step_k), e->k_left);
    EMIT(b, sub_s32, d->k, dim_operand(e->plan->problem.k, e->k), d->left);
    for (int octet = 0; octet < sddmm_octets(&e->plan->problem); octet++)
        emit_at(b, d->a_at[octet], e->a_row[octet], d->k, a->lhs, pair);
    if (!is_rows(e)) emit_at(b, d->b_at, e->rhs.array, d->k, a->rhs, pair);
}

/* -- A round ------------------------------------------------------------------------------------------ */

/* Loads elements from AT on, where k has them; elsewhere they are zeros. */
static void emit_elements(const gather_emitter *e, const edge *d, sddmm_values values, mc_reg at,
                          const mc_reg *to) {
    mc_builder *b = e->b;
    int each = values_of_element(values), count = arithmetic(e)->step_k / each;
    sddmm_emit_zero(b, to, count);
    for (int i = 0; i < count; i++) {
        mc_reg inside = d->inside[each * i];
        int bytes = element_bytes(values);
        emit_load_words(b, inside, WORDS_GLOBAL, bytes, &to[i], AT(at, bytes * i));
    }
}

static void emit_cut(const gather_emitter *e, const edge *d) {
    mc_builder *b = e->b;
    if (!needs_cut(e)) return;
    note(b, "the last byte's high half is beyond an odd k");
    for (int i = 0; i < arithmetic(e)->step_k; i += 2) {
        EMIT(b, setp_eq, d->cut, d->left, I(i + 1));
        EMIT_IF(b, d->cut, and_b32, d->a_element[i / 2], d->a_element[i / 2], I(15));
    }
}

/* Sets `inside`; where values of both sides come in pairs, for the first of each. */
static void emit_inside(const gather_emitter *e, const edge *d) {
    int each = needs_cut(e) ? 2 : 1;
    for (int i = 0; i < arithmetic(e)->step_k; i += each) EMIT(e->b, setp_gt, d->inside[i], d->left, I(i));
}

static void emit_round_a(const gather_emitter *e, const edge *d) {
    const sddmm_arithmetic *a = arithmetic(e);
    int octets = sddmm_octets(&e->plan->problem);
    note(e->b, "A: this lane's row%s", octets > 1 ? "s" : "");
    emit_inside(e, d);
    for (int octet = 0; octet < octets; octet++) {
        const mc_reg *words = &d->word[octet * a->a_words];
        emit_elements(e, d, a->lhs, d->a_at[octet], d->a_element);
        emit_cut(e, d);
        sddmm_emit_join(&e->multiplier, a->lhs, d->a_element, a->a_words, words);
        sddmm_emit_a_step(&e->multiplier, words, &d->operand[octet * a->a_operands]);
    }
}

static void emit_round_column(const gather_emitter *e, const edge *d, mc_reg column, const mc_reg *words) {
    mc_builder *b = e->b;
    const sddmm_arithmetic *a = arithmetic(e);
    if (is_rows(e)) {
        sddmm_emit_zero(b, d->b_element, b_elements(e));
        gather_emit_row_loads(e, column, d->k, 0, a->step_k, d->inside, d->b_element);
        gather_emit_row_words(e, column, d->b_element, words);
        return;
    }
    EMIT(b, mad_wide, d->address, column, e->rhs.row_bytes, d->b_at);
    emit_elements(e, d, a->rhs, d->address, d->b_element);
    sddmm_emit_join(&e->multiplier, a->rhs, d->b_element, a->b_words, words);
}

static void emit_round_set(const gather_emitter *e, const edge *d, gather_set of) {
    sddmm_factor factors[SDDMM_MAX_OCTETS];
    int octets = sddmm_octets(&e->plan->problem);
    gather_note_set(e, "B:", of);
    for (int half = 0; half < 2; half++)
        emit_round_column(e, d, e->slots.column[of.set][2 * of.group + half], d->row[half]);
    for (int octet = 0; octet < octets; octet++)
        factors[octet] = (sddmm_factor){&d->operand[octet * arithmetic(e)->a_operands],
                                        gather_acc(e, (gather_set){of.group, of.set, octet})};
    sddmm_emit_products(&e->multiplier, d->row[0], d->row[1], factors, octets);
}

/* Multiplies a group. Lanes abreast load the same k here, so that with lines all of it counts as an even
   chunk. */
static void emit_round_group(gather_emitter *e, const edge *d, int group) {
    gather_emit_begin(e, group);
    for (int set = 0; set < e->plan->abreast; set++)
        emit_round_set(e, d, (gather_set){.group = group, .set = set});
    gather_emit_finish(e, group);
}

static void emit_advance(const gather_emitter *e, const edge *d, int round_k) {
    mc_builder *b = e->b;
    const sddmm_arithmetic *a = arithmetic(e);
    for (int octet = 0; octet < sddmm_octets(&e->plan->problem); octet++)
        EMIT(b, add_s64, d->a_at[octet], d->a_at[octet], I(values_bytes(a->lhs, round_k)));
    if (is_rows(e)) EMIT(b, add_s32, d->k, d->k, I(round_k));
    else EMIT(b, add_s64, d->b_at, d->b_at, I(values_bytes(a->rhs, round_k)));
    EMIT(b, add_s32, d->left, d->left, I(-round_k));
    EMIT(b, add_s32, e->k_left, e->k_left, I(-round_k));
}

void gather_emit_edge(gather_emitter *e) {
    mc_builder *b = e->b;
    int round_k = 4 * arithmetic(e)->step_k;
    b->prefix = "edge_";
    heading(b, "Edge path: the k that are left, %d at a time, in loads of a value", round_k);
    mc_reg more = pred(b, "more");
    mc_label loop = label(b, "ROUNDS"), end = label(b, "ROUND_END"), done = label(b, "DONE");
    edge d = declare_edge(e);
    EMIT(b, setp_lt, more, e->k_left, I(1));
    EMIT_IF(b, more, bra_uni, TO(done));
    emit_start(e, &d);
    set_label(b, loop);
    emit_round_a(e, &d);
    for (int group = 0; group < e->plan->items.groups; group++) {
        if (group > 0) gather_emit_group_end(e, group, end);
        emit_round_group(e, &d, group);
    }
    set_label(b, end);
    emit_advance(e, &d, round_k);
    EMIT(b, setp_gt, more, e->k_left, I(0));
    EMIT_IF(b, more, bra_uni, TO(loop));
    set_label(b, done);
    b->prefix = NULL;
}
