/* The edge path of the SDDMM: any alignment and any k, a value (4-bit: two) a load. The wide path's last k are its work too, those
 * of a unit that k cuts.
 *
 * A round is a step of each group: lane t has k = 4 s t .. of its rows, with s k a lane in a step. Loads are guarded by k, so that
 * nothing is read that a row does not have. */
#include "sddmm_emit.h"

enum { MAX_LOADS = 16 };

/* One side's loads of a step. */
typedef struct loader {
    digit_side side;
    int count, k_step; /* loads of a step; k of each */
    mc_reg element[MAX_LOADS];
    mc_reg join[2];
} loader;

typedef struct edge {
    loader a, b;
    mc_reg a_at, b_at; /* this lane's first k of its row of A, and of row 0 of B */
    mc_reg left;       /* k from there on */
    mc_reg word[SDDMM_MAX_STEP_A], operand[SDDMM_MAX_STEP_A];
    mc_reg row[2][SDDMM_MAX_STEP_B];
    mc_reg inside, address;
} edge;

static loader declare_loader(mc_builder *b, const sddmm_plan *plan, digit_side side,
                             const char *const names[2]) {
    loader l = {.side = side, .k_step = side.bits == 4 ? 2 : 1};
    l.count = plan->step_k / l.k_step;
    b32_array(b, names[0], l.count, l.element);
    b32_array(b, names[1], 2, l.join);
    return l;
}

static edge declare_edge(sddmm_emitter *e) {
    mc_builder *b = e->b;
    const sddmm_plan *plan = e->plan;
    static const char *const a_names[] = {"a_element", "a_join"}, *const b_names[] = {"b_element", "b_join"};
    edge d = {.a = declare_loader(b, plan, plan->lhs, a_names),
              .b = declare_loader(b, plan, plan->rhs, b_names)};
    d.a_at = b64(b, "a_at"), d.b_at = b64(b, "b_at"), d.address = b64(b, "address");
    d.left = b32(b, "left");
    d.inside = pred(b, "inside");
    b32_array(b, "a_word", sddmm_a_words(plan), d.word);
    if (!sddmm_a_is_plain(plan)) b32_array(b, "a_operand", sddmm_a_operands(plan), d.operand);
    else
        for (int i = 0; i < sddmm_a_words(plan); i++) d.operand[i] = d.word[i];
    b32_array(b, "x", sddmm_b_words(plan), d.row[0]);
    b32_array(b, "y", sddmm_b_words(plan), d.row[1]);
    return d;
}

/* at = array + bytes of the first K values. */
static void emit_at(mc_builder *b, mc_reg at, mc_reg array, mc_reg k, digit_side side, mc_reg scratch) {
    if (side.bits == 4) EMIT(b, shr_u32, R(scratch), R(k), I(1));
    EMIT(b, mad_wide, R(at), R(side.bits == 4 ? scratch : k), I(side_bytes(side)), R(array));
}

static void emit_start(sddmm_emitter *e, edge *d) {
    mc_builder *b = e->b;
    const sddmm_plan *plan = e->plan;
    mc_reg first = b32(b, "first_k"), place = b32(b, "first_pair");
    note(b, "lane t: %d k from %d t on", plan->step_k, plan->step_k);
    EMIT(b, mad_s32, R(d->left), R(e->t), I(-plan->step_k), R(e->k_left));
    EMIT(b, sub_s32, R(first), dim_operand(plan->k, e->k), R(d->left));
    emit_at(b, d->a_at, e->a_row, first, plan->lhs, place);
    emit_at(b, d->b_at, e->b_array, first, plan->rhs, place);
}

/* The side's values from AT on, where k has them; elsewhere zeros. */
static void emit_elements(sddmm_emitter *e, const edge *d, const loader *l, mc_reg at) {
    mc_builder *b = e->b;
    for (int i = 0; i < l->count; i++) {
        mc_operand to = R(l->element[i]);
        EMIT(b, mov_b32, to, I(0));
        EMIT(b, setp_gt, R(d->inside), R(d->left), I(l->k_step * i));
        if (side_bytes(l->side) == 2) EMIT_IF(b, d->inside, ldg_u16, to, AT(at, 2 * i));
        else EMIT_IF(b, d->inside, ldg_u8, to, AT(at, i));
    }
}

/* A byte's high half can lie beyond k, where both sides have something. */
static void emit_cut(sddmm_emitter *e, const edge *d, const loader *l) {
    mc_builder *b = e->b;
    if (e->plan->lhs.bits != 4 || e->plan->rhs.bits != 4) return;
    note(b, "the last byte's high half is beyond an odd k");
    for (int i = 0; i < l->count; i++) {
        EMIT(b, setp_eq, R(d->inside), R(d->left), I(2 * i + 1));
        EMIT_IF(b, d->inside, and_b32, R(l->element[i]), R(l->element[i]), I(15));
    }
}

/* Elements to words. */
static void emit_join(mc_builder *b, const loader *l, const mc_reg *words) {
    if (side_bytes(l->side) == 2) {
        for (int i = 0; i < l->count; i += 2)
            EMIT(b, prmt, R(words[i / 2]), R(l->element[i]), R(l->element[i + 1]), I(0x5410));
        return;
    }
    for (int i = 0; i < l->count; i += 4) {
        const mc_reg *of = &l->element[i];
        EMIT(b, prmt, R(l->join[0]), R(of[0]), R(of[1]), I(0x0040));
        EMIT(b, prmt, R(l->join[1]), R(of[2]), R(of[3]), I(0x0040));
        EMIT(b, prmt, R(words[i / 4]), R(l->join[0]), R(l->join[1]), I(0x5410));
    }
}

static void emit_round_a(sddmm_emitter *e, const edge *d) {
    note(e->b, "A: this lane's row");
    emit_elements(e, d, &d->a, d->a_at);
    emit_cut(e, d, &d->a);
    emit_join(e->b, &d->a, d->word);
    sddmm_emit_a_step(e, d->word, d->operand);
}

static void emit_round_group(sddmm_emitter *e, const edge *d, int group) {
    mc_builder *b = e->b;
    note(b, "B: the columns in slots %d + g and %d + g", MC_SAMPLED_SLOTS * group,
         MC_SAMPLED_SLOTS * group + 8);
    for (int half = 0; half < 2; half++) {
        EMIT(b, mad_wide, R(d->address), R(e->column[2 * group + half]), e->row_bytes, R(d->b_at));
        emit_elements(e, d, &d->b, d->address);
        emit_join(b, &d->b, d->row[half]);
    }
    sddmm_emit_products(e, d->row[0], d->row[1], d->operand, sddmm_acc(e, group));
}

void sddmm_emit_edge(sddmm_emitter *e) {
    mc_builder *b = e->b;
    const sddmm_plan *plan = e->plan;
    int round_k = 4 * plan->step_k;
    b->prefix = "edge_";
    stage(b, "Edge path: the k that are left, %d at a time, in loads of a value", round_k);
    mc_reg more = pred(b, "more");
    mc_label loop = label(b, "ROUNDS"), end = label(b, "ROUND_END"), done = label(b, "DONE");
    edge d = declare_edge(e);
    EMIT(b, setp_lt, R(more), R(e->k_left), I(1));
    EMIT_IF(b, more, bra_uni, TO(done));
    emit_start(e, &d);
    place(b, loop);
    emit_round_a(e, &d);
    for (int group = 0; group < plan->groups; group++) {
        if (group > 0) sddmm_emit_group_end(e, group, end);
        emit_round_group(e, &d, group);
    }
    place(b, end);
    EMIT(b, add_s64, R(d.a_at), R(d.a_at), I(sddmm_bytes(plan->lhs, round_k)));
    EMIT(b, add_s64, R(d.b_at), R(d.b_at), I(sddmm_bytes(plan->rhs, round_k)));
    EMIT(b, add_s32, R(d.left), R(d.left), I(-round_k));
    EMIT(b, add_s32, R(e->k_left), R(e->k_left), I(-round_k));
    EMIT(b, setp_gt, R(more), R(e->k_left), I(0));
    EMIT_IF(b, more, bra_uni, TO(loop));
    place(b, done);
    b->prefix = NULL;
}
