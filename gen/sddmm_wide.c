/* The wide path of the SDDMM: rows of A and columns of B in loads of 16 bytes, a panel of k at a time.
 *
 * A panel of A stays in registers for all groups; each group's columns of B are loaded, multiplied and forgotten, those of the next
 * group on their way meanwhile. Where one panel is all of k, a group is stored as soon as it is multiplied. */
#include "sddmm_emit.h"

enum { BUFFERS = 2 };

typedef struct panel {
    mc_reg a_at, b_at; /* this lane's first unit of its row of A, and of column 0 of B */
    mc_reg k, left;    /* that unit's first k, of a row-major B; how many there are from there on */
    mc_reg word[SDDMM_MAX_A], operand[SDDMM_MAX_A]; /* of A: [chunk][step][...] */
    mc_reg row[BUFFERS][2]
              [SDDMM_MAX_ROW]; /* of B: rows g and g + 8 of a group, [chunk][word], or values by rows, */
    mc_reg joined[2][SDDMM_MAX_ROW]; /* which become words */
    mc_reg inside[SDDMM_MAX_CHUNKS]; /* its unit of the chunk lies before k; none where all do */
    mc_reg address;
} panel;

/* A lane's unit of chunk CHUNK can lie beyond k. */
static bool is_guarded(const sddmm_plan *plan, int chunk) {
    return plan->guard_units && (plan->loops || chunk == plan->chunks - 1);
}

/* Where a guard can keep a unit of B from being loaded, its registers start with zeros; later they keep old values, which meet zeros
   of A. */
static void declare_guards(sddmm_emitter *e, panel *p, int buffers) {
    mc_builder *b = e->b;
    mc_reg guards[SDDMM_MAX_CHUNKS];
    int regs = sddmm_chunk_regs(e->plan);
    if (!e->plan->guard_units) return;
    pred_array(b, "inside", e->plan->chunks, guards);
    note(b, "a unit beyond k is not loaded: what stands there in its place meets zeros of A");
    for (int chunk = 0; chunk < e->plan->chunks; chunk++) {
        if (!is_guarded(e->plan, chunk)) continue;
        p->inside[chunk] = guards[chunk];
        for (int row = 0; row < 2 * buffers; row++)
            sddmm_emit_zero(b, &p->row[row / 2][row % 2][regs * chunk], regs);
    }
}

static void declare_joined(sddmm_emitter *e, panel *p) {
    mc_builder *b = e->b;
    int words = sddmm_b_words(e->plan) * e->plan->chunks;
    p->k = b32(b, "k_at");
    b32_array(b, "joined_x", words, p->joined[0]);
    b32_array(b, "joined_y", words, p->joined[1]);
}

static panel declare_panel(sddmm_emitter *e) {
    mc_builder *b = e->b;
    const sddmm_plan *plan = e->plan;
    panel p = {.a_at = b64(b, "a_at")};
    static const char *const names[BUFFERS][2] = {{"x", "y"}, {"next_x", "next_y"}};
    int words = sddmm_chunk_regs(plan) * plan->chunks, buffers = plan->prefetch && plan->groups > 1 ? 2 : 1;
    sddmm_declare_a(e, p.word, p.operand);
    for (int i = 0; i < buffers; i++)
        for (int half = 0; half < 2; half++) b32_array(b, names[i][half], words, p.row[i][half]);
    if (plan->layout == SDDMM_ROWS) declare_joined(e, &p);
    else p.b_at = b64(b, "b_at"), p.address = b64(b, "address");
    sddmm_declare_chains(e);
    declare_guards(e, &p, buffers);
    return p;
}

static void emit_start(sddmm_emitter *e, panel *p) {
    mc_builder *b = e->b;
    const sddmm_plan *plan = e->plan;
    note(b, "lane t: units of %d k, at %d t", plan->unit_k, plan->unit_k);
    EMIT(b, mad_wide, R(p->a_at), R(e->t), I(sddmm_bytes(plan->lhs, plan->unit_k)), R(e->a_row));
    if (plan->layout == SDDMM_ROWS) EMIT(b, mul_s32, R(p->k), R(e->t), I(plan->unit_k));
    else EMIT(b, mad_wide, R(p->b_at), R(e->t), I(SDDMM_UNIT), R(e->b_array));
    if (!plan->guard_units) return;
    p->left = b32(b, "left");
    EMIT(b, mad_s32, R(p->left), R(e->t), I(-plan->unit_k), dim_operand(plan->k, e->k));
}

static void emit_inside(sddmm_emitter *e, panel *p) {
    const sddmm_plan *plan = e->plan;
    for (int chunk = 0; chunk < plan->chunks; chunk++)
        if (p->inside[chunk].id)
            EMIT(e->b, setp_ge, R(p->inside[chunk]), R(p->left),
                 I(sddmm_chunk_k(plan) * chunk + plan->unit_k));
}

static void emit_load_column(sddmm_emitter *e, panel *p, mc_reg column, const mc_reg *to) {
    mc_builder *b = e->b;
    EMIT(b, mad_wide, R(p->address), R(column), e->row_bytes, R(p->b_at));
    for (int chunk = 0; chunk < e->plan->chunks; chunk++)
        sddmm_emit_load(b, p->inside[chunk], SDDMM_UNIT, &to[4 * chunk],
                        AT(p->address, 4 * SDDMM_UNIT * chunk));
}

static void emit_load_values(sddmm_emitter *e, panel *p, mc_reg column, const mc_reg *to) {
    const sddmm_plan *plan = e->plan;
    for (int chunk = 0; chunk < plan->chunks; chunk++) {
        mc_reg guards[SDDMM_MAX_STEP_K];
        for (int i = 0; i < plan->unit_k; i++) guards[i] = p->inside[chunk];
        sddmm_emit_row_loads(e, column, p->k, sddmm_chunk_k(plan) * chunk, plan->unit_k, guards,
                             &to[plan->unit_k * chunk]);
    }
}

/* The columns of B that col_idx names for the two slots of this lane in GROUP. */
static void emit_load_b(sddmm_emitter *e, panel *p, int group, int buffer) {
    note(e->b, "B: units of the columns in slots %d + g and %d + g", MC_SAMPLED_SLOTS * group,
         MC_SAMPLED_SLOTS * group + 8);
    for (int half = 0; half < 2; half++) {
        mc_reg column = e->column[2 * group + half];
        if (e->plan->layout == SDDMM_ROWS) emit_load_values(e, p, column, p->row[buffer][half]);
        else emit_load_column(e, p, column, p->row[buffer][half]);
    }
}

/* The words of row HALF. */
static const mc_reg *emit_words(sddmm_emitter *e, panel *p, int group, int buffer, int half) {
    const sddmm_plan *plan = e->plan;
    if (plan->layout == SDDMM_COLUMNS) return p->row[buffer][half];
    for (int chunk = 0; chunk < plan->chunks; chunk++)
        sddmm_emit_row_words(e, e->column[2 * group + half], &p->row[buffer][half][plan->unit_k * chunk],
                             &p->joined[half][sddmm_b_words(plan) * chunk]);
    return p->joined[half];
}

static void emit_multiply(sddmm_emitter *e, panel *p, int group, int buffer) {
    note(e->b, "multiply group %d", group);
    const mc_reg *x = emit_words(e, p, group, buffer, 0), *y = emit_words(e, p, group, buffer, 1);
    sddmm_emit_zero(e->b, e->chain, SDDMM_ACC * (e->plan->chains - 1));
    for (int step = 0; step < e->plan->chunks * e->plan->steps; step++)
        sddmm_emit_step(e, x, y, p->operand, group, step);
    sddmm_emit_join_chains(e, group);
}

/* Goes to END behind the item's last group. */
static void emit_groups(sddmm_emitter *e, panel *p, mc_label end) {
    const sddmm_plan *plan = e->plan;
    emit_inside(e, p);
    sddmm_emit_load_a(e, p->a_at, p->inside, p->word);
    emit_load_b(e, p, 0, 0);
    for (int group = 0; group < plan->groups; group++) {
        bool more = group + 1 < plan->groups;
        int buffer = plan->prefetch ? group % BUFFERS : 0;
        if (more && plan->prefetch) emit_load_b(e, p, group + 1, 1 - buffer);
        if (group == 0) sddmm_emit_operands(e, p->word, p->operand);
        emit_multiply(e, p, group, buffer);
        if (plan->store_early) sddmm_emit_store(e, group);
        if (more) sddmm_emit_group_end(e, group + 1, end);
        if (more && !plan->prefetch) emit_load_b(e, p, group + 1, 0);
    }
    place(e->b, end);
}

/* To the next panel, if there is one. */
static void emit_advance(sddmm_emitter *e, panel *p, mc_label loop) {
    mc_builder *b = e->b;
    const sddmm_plan *plan = e->plan;
    mc_reg more = pred(b, "more");
    EMIT(b, add_s64, R(p->a_at), R(p->a_at), I(sddmm_bytes(plan->lhs, plan->tile_k)));
    if (plan->layout == SDDMM_ROWS) EMIT(b, add_s32, R(p->k), R(p->k), I(plan->tile_k));
    else EMIT(b, add_s64, R(p->b_at), R(p->b_at), I(sddmm_bytes(plan->rhs, plan->tile_k)));
    if (plan->guard_units) EMIT(b, add_s32, R(p->left), R(p->left), I(-plan->tile_k));
    EMIT(b, add_s32, R(e->k_left), R(e->k_left), I(-plan->tile_k));
    EMIT(b, setp_ge, R(more), R(e->k_left), I(plan->unit_k));
    EMIT_IF(b, more, bra_uni, TO(loop));
}

void sddmm_emit_wide(sddmm_emitter *e) {
    mc_builder *b = e->b;
    const sddmm_plan *plan = e->plan;
    stage(b, "Wide path: %d k of each row at a time", plan->chunks * sddmm_chunk_k(plan));
    panel p = declare_panel(e);
    emit_start(e, &p);
    mc_label loop = label(b, "PANELS"), end = label(b, "PANEL_END");
    if (plan->loops) place(b, loop);
    emit_groups(e, &p, end);
    if (plan->loops) emit_advance(e, &p, loop);
}
