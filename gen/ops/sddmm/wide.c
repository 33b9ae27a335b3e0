/* The wide path of the SDDMM: rows of A and columns of B in loads of 16 bytes, a panel of k at a time.
 *
 * A panel of A stays where it is (lhs.c) for all groups. Each group's columns of B are loaded, multiplied and
 * forgotten, while those of the next groups are on their way. Where one panel is all of k, a group is stored
 * as soon as it is multiplied. */
#include "ops/sddmm/emit.h"

typedef struct panel {
    sddmm_lhs lhs;  /* A */
    mc_reg b_at;    /* this lane's first unit of column 0 of B */
    mc_reg k, left; /* k: that unit's first k, of a row-major B; left: how many k there are from there on */
    mc_reg b_left;  /* the same as left, for the lane's unit of a line of B */
    mc_reg row[SDDMM_MAX_BUFFERS][SDDMM_MAX_ABREAST][2]
              /* columns of B: [buffer][set], the mma's rows g and g + 8, [load][word]; of a row-major B
                 values */
              [SDDMM_MAX_ROW];
    mc_reg joined[2][SDDMM_MAX_ROW];   /* the words that those values become */
    mc_reg inside[SDDMM_MAX_CHUNKS];   /* whether A's unit of the chunk lies before k; none where all do */
    mc_reg b_inside[SDDMM_MAX_CHUNKS]; /* the same of B's loads */
    mc_reg ahead[SDDMM_MAX_CHUNKS];    /* prefetch_lhs: the same of the next panel of A */
    mc_reg address;
} panel;

/* Whether a lane's unit of chunk CHUNK can lie beyond k. */
static bool is_guarded(const sddmm_plan *plan, int chunk) {
    return plan->guard_units && (plan->loops || chunk == plan->chunks - 1);
}

/* Declares the guards. Where a guard can keep a unit of B from being loaded, its registers start with zeros.
   Later they keep old values, which meet zeros of A. */
static void declare_guards(sddmm_emitter *e, panel *p) {
    mc_builder *b = e->b;
    const sddmm_plan *plan = e->plan;
    mc_reg guards[SDDMM_MAX_CHUNKS], b_guards[SDDMM_MAX_CHUNKS];
    int regs = sddmm_chunk_regs(plan);
    if (!plan->guard_units) return;
    pred_array(b, "inside", plan->chunks, guards);
    if (plan->abreast > 1) pred_array(b, "b_inside", sddmm_loads(plan), b_guards);
    note(b, "a unit beyond k is not loaded: what stands there in its place meets zeros of A");
    for (int chunk = 0; chunk < plan->chunks; chunk++)
        if (is_guarded(plan, chunk)) p->inside[chunk] = guards[chunk];
    for (int load = 0; load < sddmm_loads(plan); load++) {
        if (!is_guarded(plan, sddmm_last_chunk(plan, load))) continue;
        p->b_inside[load] = (plan->abreast > 1 ? b_guards : guards)[load];
        for (int buffer = 0; buffer < plan->buffers; buffer++)
            for (int row = 0; row < 2 * plan->abreast; row++)
                sddmm_emit_zero(b, &p->row[buffer][row / 2][row % 2][regs * load], regs);
    }
}

static void declare_joined(sddmm_emitter *e, panel *p) {
    mc_builder *b = e->b;
    int words = sddmm_b_words(e->plan) * e->plan->chunks;
    p->k = b32(b, "k_at");
    b32_array(b, "joined_x", words, p->joined[0]);
    b32_array(b, "joined_y", words, p->joined[1]);
}

/* Declares `ahead`: one predicate for all chunks, unless k can end within the panel. */
static void declare_ahead(sddmm_emitter *e, panel *p) {
    const sddmm_plan *plan = e->plan;
    int count = plan->guard_units ? plan->chunks : 1;
    pred_array(e->b, "ahead", count, p->ahead);
    for (int chunk = count; chunk < plan->chunks; chunk++) p->ahead[chunk] = p->ahead[0];
}

static panel declare_panel(sddmm_emitter *e) {
    mc_builder *b = e->b;
    const sddmm_plan *plan = e->plan;
    panel p = {.lhs.at = b64(b, "a_at")};
    static const char *const names[SDDMM_MAX_BUFFERS][SDDMM_MAX_ABREAST][2] = {
        {{"x", "y"}, {"x_high", "y_high"}},
        {{"next_x", "next_y"}, {"next_x_high", "next_y_high"}},
        {{"third_x", "third_y"}, {"third_x_high", "third_y_high"}},
        {{"fourth_x", "fourth_y"}, {"fourth_x_high", "fourth_y_high"}}};
    int words = sddmm_chunk_regs(plan) * sddmm_loads(plan);
    sddmm_declare_lhs(e, &p.lhs);
    for (int i = 0; i < plan->buffers; i++)
        for (int set = 0; set < plan->abreast; set++)
            for (int half = 0; half < 2; half++)
                b32_array(b, names[i][set][half], words, p.row[i][set][half]);
    if (plan->layout == SDDMM_ROWS) declare_joined(e, &p);
    else p.b_at = b64(b, "b_at"), p.address = b64(b, "address");
    sddmm_declare_chains(e);
    declare_guards(e, &p);
    if (plan->prefetch_lhs) declare_ahead(e, &p);
    return p;
}

static void emit_start(sddmm_emitter *e, panel *p) {
    mc_builder *b = e->b;
    const sddmm_plan *plan = e->plan;
    note(b, "lane t: units of %d k, at %d t", plan->unit_k, plan->unit_k);
    EMIT(b, mad_wide, p->lhs.at, e->t, I(sddmm_bytes(plan->lhs, plan->unit_k)), e->a_row);
    if (plan->layout == SDDMM_ROWS) EMIT(b, mul_s32, p->k, e->t, I(plan->unit_k));
    else EMIT(b, mad_wide, p->b_at, e->unit, I(SDDMM_UNIT), e->b_array);
    if (!plan->guard_units) return;
    p->left = b32(b, "left");
    EMIT(b, mad_s32, p->left, e->t, I(-plan->unit_k), dim_operand(plan->k, e->k));
    if (plan->abreast == 1) return;
    p->b_left = b32(b, "b_left");
    EMIT(b, mad_s32, p->b_left, e->unit, I(-plan->unit_k), dim_operand(plan->k, e->k));
}

/* Sets INSIDE for the panel of A that begins K_AHEAD behind this one. */
static void emit_a_inside(sddmm_emitter *e, const panel *p, const mc_reg *inside, int k_ahead) {
    const sddmm_plan *plan = e->plan;
    for (int chunk = 0; chunk < plan->chunks; chunk++)
        if (p->inside[chunk].id)
            EMIT(e->b, setp_ge, inside[chunk], p->left,
                 I(k_ahead + sddmm_chunk_k(plan) * chunk + plan->unit_k));
}

static void emit_next_a(sddmm_emitter *e, const panel *p) {
    EMIT(e->b, add_s64, p->lhs.at, p->lhs.at, I(sddmm_bytes(e->plan->lhs, e->plan->tile_k)));
}

/* Loads the first panel of A, where the others are loaded ahead. */
static void emit_first_a(sddmm_emitter *e, const panel *p) {
    emit_a_inside(e, p, p->inside, 0);
    sddmm_emit_load_lhs(e, &p->lhs, p->inside);
    emit_next_a(e, p);
}

/* Makes operands of this panel of A, and loads the next one where that is done ahead. What lies beyond k, and
   behind the last panel all of it, is not loaded. */
static void emit_a(sddmm_emitter *e, const panel *p) {
    const sddmm_plan *plan = e->plan;
    sddmm_emit_ready_lhs(e, &p->lhs);
    if (!plan->prefetch_lhs) return;
    note(e->b, "the next panel");
    emit_a_inside(e, p, p->ahead, plan->tile_k);
    if (!plan->guard_units) EMIT(e->b, setp_ge, p->ahead[0], e->k_left, I(plan->tile_k + plan->unit_k));
    sddmm_emit_load_lhs(e, &p->lhs, p->ahead);
    emit_next_a(e, p);
}

static void emit_inside(sddmm_emitter *e, panel *p) {
    const sddmm_plan *plan = e->plan;
    emit_a_inside(e, p, p->inside, 0);
    if (!p->b_left.id) return;
    for (int load = 0; load < sddmm_loads(plan); load++)
        if (p->b_inside[load].id)
            EMIT(e->b, setp_ge, p->b_inside[load], p->b_left,
                 I(sddmm_chunk_k(plan) * plan->abreast * load + plan->unit_k));
}

static void emit_load_column(sddmm_emitter *e, panel *p, mc_reg column, const mc_reg *to) {
    mc_builder *b = e->b;
    EMIT(b, mad_wide, p->address, column, e->row_bytes, p->b_at);
    for (int load = 0; load < sddmm_loads(e->plan); load++)
        sddmm_emit_load(b, p->b_inside[load], SDDMM_UNIT, &to[4 * load],
                        AT(p->address, 4 * SDDMM_UNIT * e->plan->abreast * load));
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

/* Loads the columns of B that col_idx names for this lane's two slots of set OF. */
static void emit_load_set(sddmm_emitter *e, panel *p, sddmm_set of, int buffer) {
    sddmm_note_set(e, "B: units of", of);
    for (int half = 0; half < 2; half++) {
        mc_reg column = e->column[of.set][2 * of.group + half];
        const mc_reg *to = p->row[buffer][of.set][half];
        if (e->plan->layout == SDDMM_ROWS) emit_load_values(e, p, column, to);
        else emit_load_column(e, p, column, to);
    }
}

static void emit_load_b(sddmm_emitter *e, panel *p, int group, int buffer) {
    for (int set = 0; set < e->plan->abreast; set++) emit_load_set(e, p, (sddmm_set){group, set}, buffer);
}

/* The words of the mma's row g + 8 HALF, of set OF. */
static const mc_reg *words_of(const sddmm_emitter *e, const panel *p, sddmm_set of, int buffer, int half) {
    return e->plan->layout == SDDMM_ROWS ? p->joined[half] : p->row[buffer][of.set][half];
}

/* Makes words of the values of a row-major B. */
static void emit_words(sddmm_emitter *e, panel *p, int group, int buffer) {
    const sddmm_plan *plan = e->plan;
    if (plan->layout == SDDMM_COLUMNS) return;
    for (int half = 0; half < 2; half++)
        for (int chunk = 0; chunk < plan->chunks; chunk++)
            sddmm_emit_row_words(e, e->column[0][2 * group + half],
                                 &p->row[buffer][0][half][plan->unit_k * chunk],
                                 &p->joined[half][sddmm_b_words(plan) * chunk]);
}

static void emit_multiply(sddmm_emitter *e, panel *p, int group, int buffer) {
    const sddmm_plan *plan = e->plan;
    note(e->b, "multiply group %d", group);
    emit_words(e, p, group, buffer);
    sddmm_emit_zero(e->b, e->chain, SDDMM_ACC * (plan->chains - 1));
    sddmm_emit_begin(e, group);
    for (int step = 0; step < sddmm_loads(plan) * plan->steps; step++) {
        sddmm_emit_read_lhs(e, &p->lhs, step);
        for (int set = 0; set < plan->abreast; set++) {
            sddmm_set of = {group, set};
            sddmm_emit_step(e, words_of(e, p, of, buffer, 0), words_of(e, p, of, buffer, 1), p->lhs.operand,
                            of, step);
        }
    }
    sddmm_emit_join_chains(e, group);
    sddmm_emit_finish(e, group);
}

/* Emits a panel's groups, which go to END behind the item's last one. */
static void emit_groups(sddmm_emitter *e, panel *p, mc_label end) {
    const sddmm_plan *plan = e->plan;
    emit_inside(e, p);
    if (!plan->prefetch_lhs) sddmm_emit_load_lhs(e, &p->lhs, p->inside);
    int ahead = plan->buffers - 1;
    emit_load_b(e, p, 0, 0);
    for (int group = 1; group < ahead; group++) emit_load_b(e, p, group, group);
    for (int group = 0; group < plan->groups; group++) {
        bool more = group + 1 < plan->groups;
        int buffer = group % plan->buffers, next = group + ahead;
        if (ahead && next < plan->groups) emit_load_b(e, p, next, next % plan->buffers);
        if (group == 0) emit_a(e, p);
        emit_multiply(e, p, group, buffer);
        if (plan->store_early) sddmm_emit_store(e, group);
        if (more) sddmm_emit_group_end(e, group + 1, end);
        if (more && !ahead) emit_load_b(e, p, group + 1, 0);
    }
    set_label(e->b, end);
}

/* Goes on to the next panel, if there is one. */
static void emit_advance(sddmm_emitter *e, panel *p, mc_label loop) {
    mc_builder *b = e->b;
    const sddmm_plan *plan = e->plan;
    mc_reg more = pred(b, "more");
    if (!plan->prefetch_lhs) emit_next_a(e, p);
    if (plan->layout == SDDMM_ROWS) EMIT(b, add_s32, p->k, p->k, I(plan->tile_k));
    else EMIT(b, add_s64, p->b_at, p->b_at, I(sddmm_bytes(plan->rhs, plan->tile_k)));
    if (plan->guard_units) EMIT(b, add_s32, p->left, p->left, I(-plan->tile_k));
    if (p->b_left.id) EMIT(b, add_s32, p->b_left, p->b_left, I(-plan->tile_k));
    EMIT(b, add_s32, e->k_left, e->k_left, I(-plan->tile_k));
    EMIT(b, setp_ge, more, e->k_left, I(plan->unit_k));
    EMIT_IF(b, more, bra_uni, TO(loop));
}

void sddmm_emit_wide(sddmm_emitter *e) {
    mc_builder *b = e->b;
    const sddmm_plan *plan = e->plan;
    heading(b, "Wide path: %d k of each row at a time", plan->chunks * sddmm_chunk_k(plan));
    panel p = declare_panel(e);
    emit_start(e, &p);
    mc_label loop = label(b, "PANELS"), end = label(b, "PANEL_END");
    if (plan->prefetch_lhs) emit_first_a(e, &p);
    if (plan->loops) set_label(b, loop);
    emit_groups(e, &p, end);
    if (plan->loops) emit_advance(e, &p, loop);
    sddmm_emit_end_lhs(e);
}
