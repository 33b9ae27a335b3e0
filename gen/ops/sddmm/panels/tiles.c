/* The units of k: rows of A and columns of B in loads of 16 bytes, a tile of k at a time.
 *
 * All of a stride's columns are loaded before the first of them is multiplied. The rows of A stay in
 * registers from one stride to the next where a tile has all units. */
#include "ops/sddmm/panels/emit.h"
#include "parts/words.h"

static const sddmm_arithmetic *arithmetic(const panels_emitter *e) { return &e->plan->problem.arithmetic; }
static int tile_k(const panels_emitter *e) { return e->plan->chunks * sddmm_chunk_k(arithmetic(e)); }
/* Whether a lane's unit of chunk CHUNK can lie beyond the units that there are. */
static bool is_guarded(const panels_plan *plan, int chunk) {
    return plan->guards && (plan->loops || chunk == plan->chunks - 1);
}
/* Whether the running kernel may have no units. */
static bool may_have_none(const panels_plan *plan) {
    return plan->problem.k == MC_OPEN || panels_is_checked(plan);
}

/* -- Start -------------------------------------------------------------------------------------------- */

static void declare(panels_emitter *e) {
    static const char *const names[PANELS_MOST_SLOTS] = {"x", "y", "next_x", "next_y"};
    mc_builder *b = e->b;
    const panels_plan *plan = e->plan;
    panels_tiles *t = &e->tiles;
    const int words = plan->chunks * arithmetic(e)->steps * arithmetic(e)->b_words;
    mc_reg guards[SDDMM_MAX_CHUNKS];
    sddmm_declare_panel(&t->a, &e->multiplier, plan->octets, plan->chunks, false);
    for (int i = 0; i < panels_lane_slots(plan); i++) b32_array(b, names[i], words, t->word[i]);
    t->address = b64(b, "address");
    for (int octet = 0; octet < plan->octets && plan->loops; octet++)
        t->a_at[octet] = b64(b, octet ? "a_at_below" : "a_at");
    if (plan->loops) t->b_at = b64(b, "b_at"), t->done = b32(b, "k_done");
    if (!plan->guards) return;
    t->left = b32(b, "k_left");
    pred_array(b, "inside", plan->chunks, guards);
    for (int chunk = 0; chunk < plan->chunks; chunk++)
        if (is_guarded(plan, chunk)) t->inside[chunk] = guards[chunk];
}

/* Sets where the lane's first unit lies: lane t has unit t of each four. */
static void find_first(panels_emitter *e) {
    mc_builder *b = e->b;
    panels_tiles *t = &e->tiles;
    const mc_operand of_a = I(values_bytes(arithmetic(e)->lhs, arithmetic(e)->unit_k));
    for (int octet = 0; octet < e->plan->octets; octet++)
        t->a_first[octet] =
            mad_wide(b, octet ? "a_first_below" : "a_first", e->place.t, of_a, e->a_row[octet]);
    t->b_first = mad_wide(b, "b_first", e->place.t, I(SDDMM_UNIT), e->b_side.array);
    if (e->plan->loops) return;
    for (int octet = 0; octet < e->plan->octets; octet++) t->a_at[octet] = t->a_first[octet];
    t->b_at = t->b_first;
}

static void find_inside(const panels_emitter *e) {
    const sddmm_arithmetic *a = arithmetic(e);
    if (!e->plan->guards) return;
    EMIT(e->b, mad_s32, e->tiles.left, e->place.t, I(-a->unit_k), e->k.units);
    if (e->plan->loops) EMIT(e->b, sub_s32, e->tiles.left, e->tiles.left, e->tiles.done);
    for (int chunk = 0; chunk < e->plan->chunks; chunk++)
        if (e->tiles.inside[chunk].id)
            EMIT(e->b, setp_ge, e->tiles.inside[chunk], e->tiles.left,
                 I(sddmm_chunk_k(a) * chunk + a->unit_k));
}

static void load_a(const panels_emitter *e) {
    sddmm_emit_load_panel(&e->tiles.a, e->tiles.a_at, e->tiles.inside);
}
static void make_operands(const panels_emitter *e) {
    if (!arithmetic(e)->a_is_plain) sddmm_emit_operands(&e->tiles.a);
}

void panels_begin_tiles(panels_emitter *e) {
    mc_builder *b = e->b;
    const panels_plan *plan = e->plan;
    panels_tiles *t = &e->tiles;
    heading(b, "Units of 16 bytes: %d k of each row at a time", tile_k(e));
    declare(e);
    find_first(e);
    if (may_have_none(plan)) t->none = setp_lt(b, "no_units", e->k.units, I(1));
    const sddmm_arithmetic *a = arithmetic(e);
    const int words = plan->octets * plan->chunks * a->steps;
    if (panels_may_stay(plan)) {
        t->stays = pred(b, "stays");
        EMIT(b, setp_lt, t->stays, I(1), I(0));
    }
    if (panels_may_stay(plan) || (!plan->loops && may_have_none(plan))) {
        sddmm_emit_zero(b, t->a.word, words * a->a_words);
        if (!a->a_is_plain) sddmm_emit_zero(b, t->a.operand, words * a->a_operands);
    }
    if (plan->loops) return;
    mc_label end = label(b, "A_END");
    find_inside(e);
    if (t->none.id) EMIT_IF(b, t->none, bra_uni, TO(end));
    load_a(e);
    make_operands(e);
    if (t->none.id) set_label(b, end);
}

/* -- A tile ------------------------------------------------------------------------------------------- */

/* Loads this tile of A, unless it is there. */
static void emit_a(const panels_emitter *e, void (*emit)(const panels_emitter *e), const char *name) {
    mc_builder *b = e->b;
    if (!e->tiles.stays.id) {
        emit(e);
        return;
    }
    mc_label end = label(b, name);
    EMIT_IF(b, e->tiles.stays, bra_uni, TO(end));
    emit(e);
    set_label(b, end);
}

static void load_column(const panels_emitter *e, int slot) {
    mc_builder *b = e->b;
    const panels_tiles *t = &e->tiles;
    const sddmm_arithmetic *a = arithmetic(e);
    const int words = a->steps * a->b_words;
    EMIT(b, mad_wide, t->address, e->stride.column[slot], e->b_side.row_bytes, t->b_at);
    for (int chunk = 0; chunk < e->plan->chunks; chunk++) {
        const mc_reg *to = &t->word[slot][chunk * words];
        if (t->inside[chunk].id) sddmm_emit_zero(b, to, words);
        emit_load_words(b, t->inside[chunk], WORDS_RELAXED, SDDMM_UNIT, to,
                        AT(t->address, chunk * 4 * SDDMM_UNIT));
    }
}

static void multiply(const panels_emitter *e) {
    const panels_plan *plan = e->plan;
    const sddmm_arithmetic *a = arithmetic(e);
    for (int step = 0; step < plan->chunks * a->steps; step++)
        for (int group = 0; group < plan->groups; group++) {
            const mc_reg *operands[SDDMM_MAX_OCTETS] = {NULL};
            for (int octet = 0; octet < plan->octets; octet++)
                operands[octet] = sddmm_panel_operands(&e->tiles.a, octet, step);
            panels_emit_products(e, group, &e->tiles.word[2 * group][a->b_words * step],
                                 &e->tiles.word[2 * group + 1][a->b_words * step], operands);
        }
}

/* Sets where this tile begins. */
static void find_tile(const panels_emitter *e) {
    mc_builder *b = e->b;
    const panels_tiles *t = &e->tiles;
    const mc_operand of_a = I(values_bytes(arithmetic(e)->lhs, 1)),
                     of_b = I(values_bytes(arithmetic(e)->rhs, 1));
    for (int octet = 0; octet < e->plan->octets; octet++)
        EMIT(b, mad_wide, t->a_at[octet], t->done, of_a, t->a_first[octet]);
    EMIT(b, mad_wide, t->b_at, t->done, of_b, t->b_first);
}

static void emit_tile(const panels_emitter *e) {
    if (e->plan->loops) {
        find_tile(e);
        find_inside(e);
        emit_a(e, load_a, "A_LOADED");
    }
    note(e->b, "B: units of this lane's columns");
    for (int slot = 0; slot < panels_lane_slots(e->plan); slot++) load_column(e, slot);
    if (e->plan->loops && !arithmetic(e)->a_is_plain) emit_a(e, make_operands, "A_MADE");
    multiply(e);
}

/* -- All tiles ---------------------------------------------------------------------------------------- */

static void next_tile(const panels_emitter *e, mc_label loop) {
    mc_builder *b = e->b;
    mc_reg more = pred(b, "more_k");
    EMIT(b, add_s32, e->tiles.done, e->tiles.done, I(tile_k(e)));
    EMIT(b, setp_lt, more, e->tiles.done, e->k.units);
    EMIT_IF(b, more, bra_uni, TO(loop));
}

void panels_emit_tiles(panels_emitter *e) {
    mc_builder *b = e->b;
    const panels_tiles *t = &e->tiles;
    mc_label loop = label(b, "TILES"), end = label(b, "TILES_END");
    if (t->none.id) EMIT_IF(b, t->none, bra_uni, TO(end));
    if (e->plan->loops) {
        EMIT(b, mov_b32, t->done, I(0));
        set_label(b, loop);
    }
    emit_tile(e);
    if (e->plan->loops) next_tile(e, loop);
    if (t->stays.id) EMIT(b, setp_lt, t->stays, e->k.units, I(tile_k(e) + 1));
    if (t->none.id) set_label(b, end);
}
