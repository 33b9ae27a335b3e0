/* Which lane of the SDDMM reads what of B, and whose sums come of it.
 *
 * reads = "chunks": lane group g reads the columns in a group's slots g and g + 8, one chunk of 64 bytes
 * after another. A load instruction of a warp touches eight columns.
 *
 * reads = "lines": two lane groups, g = 2 v + h with h = 0 and 1, read a chunk each of one column. So a
 * quarter of the warp reads a line of 128 bytes, for which the load unit takes half the passes. But an mma
 * takes the same k of all its rows. So it is done twice, with A's values of either chunk, and half of the
 * sums are right each time. The slots come in two sets, s = 0 and 1:
 *
 *   the mma's row 2 v + h is slot 4 s + v, row 8 + 2 v + h is slot 8 + 4 s + v, for either h
 *   times A's even chunks the rows of h = 0 are right, times its odd chunks those of h = 1
 *
 * Both mma begin with a set's accumulators: odd_acc, a copy of them, takes the odd chunks. Behind a panel the
 * lanes of h = 1 go on with the copy, so that a group keeps one set of accumulators and not two.
 *
 * A slot's sum is what lane (v, 0, t) has of it plus what lane (v, 1, t) has. Lane h takes set h, and gives
 * its neighbour the other one. Then it has slots own = 4 h + v and own + 8, as with chunks it has g and g +
 * 8. */
#include "ops/sddmm/gather/gather.h"

static bool has_lines(const gather_plan *plan) { return plan->abreast > 1; }

/* How many of eight slots a set has. */
static int set_slots(const gather_plan *plan) { return 8 / plan->abreast; }

/* -- In words ----------------------------------------------------------------------------------------- */

const char *gather_slots_text(const gather_plan *plan) {
    if (plan->items.run > 1) return "of its runs";
    return has_lines(plan) ? "16 j + v, + 4, + 8, + 12" : "16 j + g and 16 j + 8 + g";
}
const char *gather_own_text(const gather_plan *plan) { return has_lines(plan) ? "4 h + v" : "g"; }

void gather_note_set(const gather_emitter *e, const char *what, gather_set of) {
    const char *name = has_lines(e->plan) ? "v" : "g";
    if (e->plan->items.run > 1) {
        note(e->b, "%s the columns of indices %d and %d%s", what, 2 * of.group, 2 * of.group + 1,
             of.set ? " of 4 + v" : "");
        return;
    }
    int slot = MC_SAMPLED_SLOTS * of.group + set_slots(e->plan) * of.set;
    note(e->b, "%s the columns in slots %d + %s and %d + %s", what, slot, name, slot + 8, name);
}

/* -- The lane's place --------------------------------------------------------------------------------- */

mc_reg gather_emit_lane(gather_emitter *e) {
    mc_builder *b = e->b;
    const thread_place *p = &e->place;
    if (!has_lines(e->plan)) {
        e->lanes = (gather_lanes){.own = p->g, .unit = p->t};
        return p->g;
    }
    note(b, "g = 2 v + h: of a line chunk h, unit 4 h + t; of the slots 4 h + v");
    mc_reg h = and_b32(b, "h", p->g, I(1)), v = shr_u32(b, "v", p->g, I(1));
    e->lanes.unit = and_b32(b, "unit", p->lane, I(4 * e->plan->abreast - 1));
    e->lanes.own = mad_s32(b, "own", h, I(set_slots(e->plan)), v);
    e->lanes.even = setp_eq(b, "even_h", h, I(0));
    return v;
}

/* -- Indices ------------------------------------------------------------------------------------------ */

/* Whether a store wants to know its slots' columns. */
static bool stores_by_column(const sddmm_problem *p) {
    return sddmm_stride(p) || p->output.scale == OUT_PER_COLUMN;
}

static const char *const column_names[GATHER_MAX_ABREAST] = {"column", "column_high"};

const mc_reg *gather_declare_indices(gather_emitter *e) {
    bool lines = has_lines(e->plan);
    mc_reg *index = lines ? e->slots.column[0] : e->slots.index;
    b32_array(e->b, lines ? column_names[0] : "index", 2 * e->plan->items.groups, index);
    return index;
}

void gather_emit_more_indices(gather_emitter *e, mc_reg index_at) {
    int groups = e->plan->items.groups, count = 2 * groups;
    for (int set = 1; set < e->plan->abreast; set++) {
        mc_reg *column = e->slots.column[set];
        b32_array(e->b, column_names[set], count, column);
        sddmm_emit_load_indices(e->b, groups, index_at, set * set_slots(e->plan) * count * WORD, column);
    }
}

static void emit_own_indices(gather_emitter *e) {
    mc_builder *b = e->b;
    gather_slots *s = &e->slots;
    int count = 2 * e->plan->items.groups;
    if (!has_lines(e->plan) || !stores_by_column(&e->plan->problem)) return;
    b32_array(b, "index", count, s->index);
    for (int i = 0; i < count; i++)
        EMIT(b, selp_b32, s->index[i], s->column[0][i], s->column[1][i], e->lanes.even);
}

/* Makes columns of indices: loads of B then need no guard, of which ptxas would make branches. */
void gather_emit_columns(gather_emitter *e) {
    mc_builder *b = e->b;
    gather_slots *s = &e->slots;
    int count = 2 * e->plan->items.groups;
    emit_own_indices(e);
    note(b, "a slot without a vector reads column 0: its sums are not stored");
    if (!has_lines(e->plan)) b32_array(b, column_names[0], count, s->column[0]);
    for (int set = 0; set < e->plan->abreast; set++)
        for (int i = 0; i < count; i++) {
            mc_reg index = has_lines(e->plan) ? s->column[set][i] : s->index[i];
            EMIT(b, max_s32, s->column[set][i], index, I(0));
        }
}
