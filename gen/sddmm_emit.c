/* The gather SDDMM's instructions, from its plan.
 *
 *   this warp's item and its indices -> scales, mask values -> [wide path] -> [edge path: what is left of k] -> stores
 *
 * A warp computes one item: up to 16 * groups nonzero vectors of one row block. Operands are swapped: the vectors, columns of B, are
 * the mma's rows, 16 in each group, and rows of A its columns. Lane 4 g + t loads of rows g and g + 8 of a group, and of row
 * g of the row block: neither shared memory nor a transpose is needed. A panel of A stays in registers for all groups. */
#include "sddmm_emit.h"

enum {
    MAX_WORDS = SDDMM_MAX_CHUNKS * 4,                /* of a row of B in a panel, a lane */
    MAX_A = SDDMM_MAX_CHUNKS * 2 * SDDMM_MAX_STEP_A, /* of A */
    BUFFERS = 2,
};

/* -- The thread's place and its item ------------------------------------------------------------------ */

static mc_reg emit_place(sddmm_emitter *e) {
    mc_builder *b = e->b;
    const sddmm_plan *plan = e->plan;
    stage(b, "This warp's item; lane = 4 g + t");
    thread_place place = load_thread_place(b, MC_WARP * plan->warps);
    mc_reg item = load_special(b, "item", "ctaid.x");
    e->g = place.g, e->t = place.t;
    if (plan->warps == 1) return item;
    mc_reg count = load_shape(b, "item_count", true), beyond = pred(b, "beyond");
    EMIT(b, mad_s32, R(item), R(item), I(plan->warps), R(place.warp));
    EMIT(b, setp_ge, R(beyond), R(item), R(count));
    builder_emit(b, beyond, OP_ret, NULL, 0);
    return item;
}

/* The item and its indices: neither waits for the other. ptxas would move other loads down to their use. */
static void emit_item(sddmm_emitter *e) {
    mc_builder *b = e->b;
    int indices = 2 * e->plan->groups;
    mc_reg item = emit_place(e);
    mc_reg items = load_array(b, "items"), col_idx = load_array(b, "col_idx");
    mc_reg at = b64(b, "item_at"), index_at = b64(b, "index_at");
    b32_array(b, "record", 4, e->record);
    b32_array(b, "index", indices, e->index);
    EMIT(b, mad_wide, R(at), R(item), I(4 * WORD), R(items));
    EMIT(b, mad_wide, R(index_at), R(item), I(8 * indices * WORD), R(col_idx));
    EMIT(b, mad_wide, R(index_at), R(e->g), I(indices * WORD), R(index_at));
    note(b, "row block, place of the first vector in C, slots in use; columns of slots 16 j + g and 16 j + 8 "
            "+ g");
    EMIT(b, ldr_v4, V4(e->record), AT(at, 0));
    if (indices == 2) EMIT(b, ldr_v2, V2(e->index), AT(index_at, 0));
    for (int i = 0; i + 4 <= indices; i += 4) EMIT(b, ldr_v4, V4(e->index + i), AT(index_at, i * WORD));
}

/* -- Shapes and arrays -------------------------------------------------------------------------------- */

/* Bytes from a row of A or B to the next; none where a register does not hold them. */
static mc_operand emit_row_bytes(mc_builder *b, const char *name, digit_side side, int64_t fixed, mc_reg ld) {
    if (fixed != MC_OPEN) return I(sddmm_bytes(side, fixed));
    if (sddmm_stored_bits(side) == 8) return R(ld);
    mc_reg bytes = b32(b, name);
    if (side.bits == 4) EMIT(b, shr_u32, R(bytes), R(ld), I(1));
    else EMIT(b, shl_b32, R(bytes), R(ld), I(1));
    return R(bytes);
}

/* a_row: address of row g of the row block. */
static void emit_a_row(sddmm_emitter *e, mc_reg a) {
    mc_builder *b = e->b;
    const sddmm_plan *plan = e->plan;
    mc_reg row = b32(b, "row");
    e->a_row = b64(b, "a_row");
    EMIT(b, mad_s32, R(row), R(sddmm_row_block(e)), I(plan->vec), R(e->g));
    EMIT(b, mad_wide, R(e->a_row), R(row), emit_row_bytes(b, "a_row_bytes", plan->lhs, plan->lda, e->lda),
         R(a));
    if (plan->vec == SDDMM_MMA_ROWS) return;
    note(b, "lanes of the mma's empty columns have no row");
    e->has_row = pred(b, "has_row");
    EMIT(b, setp_lt, R(e->has_row), R(e->g), I(plan->vec));
}

static void emit_accumulators(sddmm_emitter *e) {
    mc_builder *b = e->b;
    int count = e->plan->groups * e->plan->sums * SDDMM_ACC;
    b32_array(b, "acc", count, e->acc);
    for (int i = 0; i < count; i++) EMIT(b, mov_b32, R(e->acc[i]), I(0));
}

void sddmm_emit_group_end(sddmm_emitter *e, int group, mc_label end) {
    mc_builder *b = e->b;
    if (!e->next.id) e->next = pred(b, "last");
    EMIT(b, setp_lt, R(e->next), R(sddmm_count(e)), I(MC_SAMPLED_SLOTS * group + 1));
    EMIT_IF(b, e->next, bra_uni, TO(end));
}

/* -- The wide path ------------------------------------------------------------------------------------ */

typedef struct panel {
    mc_reg a_at, b_at;                  /* this lane's first unit of its row of A, and of row 0 of B */
    mc_reg left;                        /* k from that unit's first on */
    mc_reg word[MAX_A], operand[MAX_A]; /* of A: [chunk][step][...] */
    mc_reg row[BUFFERS][2][MAX_WORDS];  /* of B: rows g and g + 8 of a group, [chunk][word] */
    mc_reg used, address, inside;
} panel;

static int unit_words(const sddmm_plan *plan) { return plan->steps * sddmm_a_words(plan); }
static int chunk_k(const sddmm_plan *plan) { return 4 * plan->unit_k; }

/* A lane's unit of chunk CHUNK can lie beyond k. */
static bool is_guarded(const sddmm_plan *plan, int chunk) {
    return plan->guard_units && (plan->loops || chunk == plan->chunks - 1);
}

static void emit_zero(mc_builder *b, const mc_reg *regs, int count) {
    for (int i = 0; i < count; i++) EMIT(b, mov_b32, R(regs[i]), I(0));
}

static void declare_a(sddmm_emitter *e, panel *p) {
    const sddmm_plan *plan = e->plan;
    int steps = plan->chunks * plan->steps, words = steps * sddmm_a_words(plan);
    b32_array(e->b, "a_word", words, p->word);
    if (!sddmm_a_is_plain(plan)) b32_array(e->b, "a_operand", steps * sddmm_a_operands(plan), p->operand);
    else
        for (int i = 0; i < words; i++) p->operand[i] = p->word[i];
}

static panel declare_panel(sddmm_emitter *e) {
    mc_builder *b = e->b;
    const sddmm_plan *plan = e->plan;
    panel p = {.a_at = b64(b, "a_at"), .b_at = b64(b, "b_at")};
    static const char *const names[BUFFERS][2] = {{"x", "y"}, {"next_x", "next_y"}};
    int words = 4 * plan->chunks, buffers = plan->prefetch && plan->groups > 1 ? 2 : 1;
    declare_a(e, &p);
    note(b, "a slot without a vector, and a unit beyond k, load nothing: old values meet a zero, or sums "
            "that are not stored");
    for (int i = 0; i < buffers; i++)
        for (int half = 0; half < 2; half++) {
            b32_array(b, names[i][half], words, p.row[i][half]);
            emit_zero(b, p.row[i][half], words);
        }
    if (e->has_row.id) emit_zero(b, p.word, plan->chunks * unit_words(plan));
    p.used = pred(b, "used"), p.address = b64(b, "address");
    if (plan->guard_units) p.inside = pred(b, "inside");
    return p;
}

static void emit_start(sddmm_emitter *e, panel *p) {
    mc_builder *b = e->b;
    const sddmm_plan *plan = e->plan;
    note(b, "lane t: units of %d k, %d bytes of B, at %d t", plan->unit_k, SDDMM_UNIT, plan->unit_k);
    EMIT(b, mad_wide, R(p->a_at), R(e->t), I(sddmm_bytes(plan->lhs, plan->unit_k)), R(e->a_row));
    EMIT(b, mad_wide, R(p->b_at), R(e->t), I(SDDMM_UNIT), R(e->b_array));
    if (!plan->guard_units) return;
    p->left = b32(b, "left");
    EMIT(b, mad_s32, R(p->left), R(e->t), I(-plan->unit_k), dim_operand(plan->k, e->k));
}

static void emit_load(mc_builder *b, mc_reg guard, int bytes, const mc_reg *to, mc_operand from) {
    switch (bytes) {
    case 16: EMIT_IF(b, guard, ldg_v4, V4(to), from); break;
    case 8: EMIT_IF(b, guard, ldg_v2, V2(to), from); break;
    default: EMIT_IF(b, guard, ldg_b32, R(*to), from);
    }
}

/* p->inside: the lane's unit of CHUNK lies before k, and HAS holds. Returns what then is to guard a load. */
static mc_reg emit_inside(sddmm_emitter *e, panel *p, int chunk, mc_reg has) {
    mc_builder *b = e->b;
    mc_operand end = I(chunk_k(e->plan) * chunk + e->plan->unit_k);
    if (!is_guarded(e->plan, chunk)) return has;
    if (has.id) EMIT(b, setp_ge_and, R(p->inside), R(p->left), end, R(has));
    else EMIT(b, setp_ge, R(p->inside), R(p->left), end);
    return p->inside;
}

static void emit_load_a(sddmm_emitter *e, panel *p) {
    mc_builder *b = e->b;
    const sddmm_plan *plan = e->plan;
    int access = sddmm_a_access(plan), words = unit_words(plan);
    int64_t chunk_bytes = sddmm_bytes(plan->lhs, chunk_k(plan));
    note(b, "A: units of row g");
    for (int chunk = 0; chunk < plan->chunks; chunk++) {
        const mc_reg *to = &p->word[chunk * words];
        if (is_guarded(plan, chunk)) emit_zero(b, to, words);
        mc_reg guard = emit_inside(e, p, chunk, e->has_row);
        for (int i = 0; i < words; i += access / WORD)
            emit_load(b, guard, access, to + i, AT(p->a_at, chunk * chunk_bytes + i * WORD));
    }
}

/* Rows col_idx[slot] of B for the two slots of this lane in GROUP. */
static void emit_load_b(sddmm_emitter *e, panel *p, int group, int buffer) {
    mc_builder *b = e->b;
    note(b, "B: units of the columns in slots %d + g and %d + g", MC_SAMPLED_SLOTS * group,
         MC_SAMPLED_SLOTS * group + 8);
    for (int half = 0; half < 2; half++) {
        mc_reg index = e->index[2 * group + half];
        EMIT(b, setp_ge, R(p->used), R(index), I(0));
        EMIT(b, mad_wide, R(p->address), R(index), e->row_bytes, R(p->b_at));
        for (int chunk = 0; chunk < e->plan->chunks; chunk++)
            emit_load(b, emit_inside(e, p, chunk, p->used), SDDMM_UNIT, &p->row[buffer][half][4 * chunk],
                      AT(p->address, 4 * SDDMM_UNIT * chunk));
    }
}

static void emit_operands(sddmm_emitter *e, panel *p) {
    int words = sddmm_a_words(e->plan), operands = sddmm_a_operands(e->plan);
    if (sddmm_a_is_plain(e->plan)) return;
    note(e->b, "A's values in the order of B's");
    for (int step = 0; step < e->plan->chunks * e->plan->steps; step++)
        sddmm_emit_a_step(e, &p->word[words * step], &p->operand[operands * step]);
}

static void emit_multiply(sddmm_emitter *e, panel *p, int group, int buffer) {
    int words = sddmm_b_words(e->plan), operands = sddmm_a_operands(e->plan);
    note(e->b, "multiply group %d", group);
    for (int step = 0; step < e->plan->chunks * e->plan->steps; step++)
        sddmm_emit_products(e, &p->row[buffer][0][words * step], &p->row[buffer][1][words * step],
                            &p->operand[operands * step], sddmm_acc(e, group));
}

/* Goes to END behind the item's last group. */
static void emit_groups(sddmm_emitter *e, panel *p, mc_label end) {
    const sddmm_plan *plan = e->plan;
    emit_load_a(e, p);
    emit_load_b(e, p, 0, 0);
    for (int group = 0; group < plan->groups; group++) {
        bool more = group + 1 < plan->groups;
        int buffer = plan->prefetch ? group % BUFFERS : 0;
        if (more && plan->prefetch) emit_load_b(e, p, group + 1, 1 - buffer);
        if (group == 0) emit_operands(e, p);
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
    EMIT(b, add_s64, R(p->b_at), R(p->b_at), I(sddmm_bytes(plan->rhs, plan->tile_k)));
    if (plan->guard_units) EMIT(b, add_s32, R(p->left), R(p->left), I(-plan->tile_k));
    EMIT(b, add_s32, R(e->k_left), R(e->k_left), I(-plan->tile_k));
    EMIT(b, setp_ge, R(more), R(e->k_left), I(plan->unit_k));
    EMIT_IF(b, more, bra_uni, TO(loop));
}

static void emit_wide(sddmm_emitter *e) {
    mc_builder *b = e->b;
    const sddmm_plan *plan = e->plan;
    stage(b, "Wide path: %d k of each row at a time", plan->chunks * chunk_k(plan));
    panel p = declare_panel(e);
    emit_start(e, &p);
    mc_label loop = label(b, "PANELS"), end = label(b, "PANEL_END");
    if (plan->loops) place(b, loop);
    emit_groups(e, &p, end);
    if (plan->loops) emit_advance(e, &p, loop);
}

/* -- Which path --------------------------------------------------------------------------------------- */

/* Registers of the choice. */
typedef struct chooser {
    mc_reg odd, bits;
    mc_label edge;
} chooser;

static void branch_if_odd(sddmm_emitter *e, const chooser *c, mc_reg value, int unit, const char *why) {
    mc_builder *b = e->b;
    note(b, "%s", why);
    EMIT(b, and_b32, R(c->bits), R(value), I(unit - 1));
    EMIT(b, setp_ne, R(c->odd), R(c->bits), I(0));
    EMIT_IF(b, c->odd, bra_uni, TO(c->edge));
}

static mc_reg low_half(mc_builder *b, const char *name, mc_reg array) {
    mc_reg low = b32(b, name);
    EMIT(b, cvt_low, R(low), R(array));
    return low;
}

/* The same for every thread of the grid. */
static void emit_choice(sddmm_emitter *e, mc_reg a, mc_label edge) {
    mc_builder *b = e->b;
    const sddmm_plan *plan = e->plan;
    const sddmm_checks *checks = &plan->checks;
    int access = sddmm_a_access(plan);
    stage(b, "Wide path or edge path: what the spec leaves open");
    chooser c = {pred(b, "odd"), b32(b, "odd_bits"), edge};
    if (plan->k == MC_OPEN) {
        note(b, "k has not even one unit");
        EMIT(b, setp_lt, R(c.odd), R(e->k), I(plan->unit_k));
        EMIT_IF(b, c.odd, bra_uni, TO(edge));
    }
    int a_unit = access * 8 / sddmm_stored_bits(plan->lhs);
    if (checks->lda) branch_if_odd(e, &c, e->lda, a_unit, "rows of A are not aligned for vector loads");
    if (checks->ldb) branch_if_odd(e, &c, e->ldb, plan->unit_k, "rows of B are not");
    if (checks->a_address) branch_if_odd(e, &c, low_half(b, "a_low", a), access, "A itself is not");
    if (checks->b_address)
        branch_if_odd(e, &c, low_half(b, "b_low", e->b_array), SDDMM_UNIT, "B itself is not");
}

/* k behind the wide path's units. */
static void emit_rest(sddmm_emitter *e) {
    mc_builder *b = e->b;
    const sddmm_plan *plan = e->plan;
    if (plan->k != MC_OPEN) EMIT(b, mov_b32, R(e->k_left), I(plan->k % plan->unit_k));
    else EMIT(b, and_b32, R(e->k_left), R(e->k), I(plan->unit_k - 1));
}

static void emit_stores(sddmm_emitter *e) {
    mc_builder *b = e->b;
    mc_label end = label(b, "END");
    stage(b, "Store: rows 2 t and 2 t + 1 of the vectors in slots 16 j + g and 16 j + 8 + g");
    for (int group = 0; group < e->plan->groups; group++) {
        if (group > 0) sddmm_emit_group_end(e, group, end);
        sddmm_emit_store(e, group);
    }
    place(b, end);
    EMIT_RET(b);
}

/* -- The kernel --------------------------------------------------------------------------------------- */

void sddmm_emit(const sddmm_plan *plan, mc_builder *b) {
    sddmm_emitter emitter = {.plan = plan, .b = b}, *e = &emitter;
    emit_launch_next(b, plan->overlap);
    emit_item(e);
    e->k = load_shape(b, "k", plan->k == MC_OPEN);
    e->lda = load_shape(b, "lda", plan->lda == MC_OPEN);
    e->ldb = load_shape(b, "ldb", plan->ldb == MC_OPEN);
    mc_reg a = load_array(b, "a");
    e->b_array = load_array(b, "b");
    emit_accumulators(e);
    emit_grid_wait(b, plan->overlap, "A or B");
    emit_a_row(e, a);
    e->row_bytes = emit_row_bytes(b, "b_row_bytes", plan->rhs, plan->ldb, e->ldb);
    sddmm_emit_factors(e);
    sddmm_declare_sides(e);
    if (plan->loops || plan->edge) {
        e->k_left = b32(b, "k_left");
        EMIT(b, mov_b32, R(e->k_left), dim_operand(plan->k, e->k));
    }
    mc_label edge = label(b, "EDGE");
    if (plan->wide && plan->edge) emit_choice(e, a, edge);
    if (plan->wide) emit_wide(e);
    if (plan->store_early) {
        EMIT_RET(b);
        return;
    }
    if (plan->wide && plan->edge) emit_rest(e);
    if (plan->edge) {
        place(b, edge);
        sddmm_emit_edge(e);
    }
    emit_stores(e);
}
