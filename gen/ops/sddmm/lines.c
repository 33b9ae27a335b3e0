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
#include "ops/sddmm/emit.h"

static bool has_lines(const sddmm_plan *plan) { return plan->abreast > 1; }

/* How many of eight slots a set has. */
static int set_slots(const sddmm_plan *plan) { return 8 / plan->abreast; }

/* -- In words ----------------------------------------------------------------------------------------- */

const char *sddmm_slots(const sddmm_plan *plan) {
    return has_lines(plan) ? "16 j + v, + 4, + 8, + 12" : "16 j + g and 16 j + 8 + g";
}
const char *sddmm_own_name(const sddmm_plan *plan) { return has_lines(plan) ? "4 h + v" : "g"; }

void sddmm_note_set(sddmm_emitter *e, const char *what, sddmm_set of) {
    const char *name = has_lines(e->plan) ? "v" : "g";
    int slot = MC_SAMPLED_SLOTS * of.group + set_slots(e->plan) * of.set;
    note(e->b, "%s the columns in slots %d + %s and %d + %s", what, slot, name, slot + 8, name);
}

/* -- The lane's place --------------------------------------------------------------------------------- */

mc_reg sddmm_emit_lane(sddmm_emitter *e, mc_reg lane) {
    mc_builder *b = e->b;
    if (!has_lines(e->plan)) {
        e->own = e->g, e->unit = e->t;
        return e->g;
    }
    note(b, "g = 2 v + h: of a line chunk h, unit 4 h + t; of the slots 4 h + v");
    mc_reg h = b32(b, "h"), v = b32(b, "v");
    e->own = b32(b, "own"), e->unit = b32(b, "unit"), e->even = pred(b, "even_h");
    EMIT(b, and_b32, h, e->g, I(1));
    EMIT(b, shr_u32, v, e->g, I(1));
    EMIT(b, and_b32, e->unit, lane, I(4 * e->plan->abreast - 1));
    EMIT(b, mad_s32, e->own, h, I(set_slots(e->plan)), v);
    EMIT(b, setp_eq, e->even, h, I(0));
    return v;
}

/* -- Indices ------------------------------------------------------------------------------------------ */

/* Whether a store wants to know its slots' columns. */
static bool stores_by_column(const sddmm_plan *plan) {
    return sddmm_stride(plan) || plan->output.scale == OUT_PER_COLUMN;
}

static const char *const column_names[SDDMM_MAX_ABREAST] = {"column", "column_high"};

const mc_reg *sddmm_declare_indices(sddmm_emitter *e) {
    int count = 2 * e->plan->groups;
    if (!has_lines(e->plan)) b32_array(e->b, "index", count, e->index);
    else b32_array(e->b, column_names[0], count, e->column[0]);
    return has_lines(e->plan) ? e->column[0] : e->index;
}

void sddmm_emit_more_indices(sddmm_emitter *e, mc_reg index_at) {
    int count = 2 * e->plan->groups;
    for (int set = 1; set < e->plan->abreast; set++) {
        b32_array(e->b, column_names[set], count, e->column[set]);
        sddmm_emit_load_indices(e, index_at, set * set_slots(e->plan) * count * WORD, e->column[set]);
    }
}

static void emit_own_indices(sddmm_emitter *e) {
    mc_builder *b = e->b;
    int count = 2 * e->plan->groups;
    if (!has_lines(e->plan) || !stores_by_column(e->plan)) return;
    b32_array(b, "index", count, e->index);
    for (int i = 0; i < count; i++) EMIT(b, selp_b32, e->index[i], e->column[0][i], e->column[1][i], e->even);
}

/* Makes columns of indices: loads of B then need no guard, of which ptxas would make branches. */
void sddmm_emit_columns(sddmm_emitter *e) {
    mc_builder *b = e->b;
    int count = 2 * e->plan->groups;
    emit_own_indices(e);
    note(b, "a slot without a vector reads column 0: its sums are not stored");
    if (!has_lines(e->plan)) b32_array(b, column_names[0], count, e->column[0]);
    for (int set = 0; set < e->plan->abreast; set++)
        for (int i = 0; i < count; i++) {
            mc_reg index = has_lines(e->plan) ? e->column[set][i] : e->index[i];
            EMIT(b, max_s32, e->column[set][i], index, I(0));
        }
}

/* -- Sums --------------------------------------------------------------------------------------------- */

static int sum_count(const sddmm_plan *plan) { return plan->sums * SDDMM_ACC; }

/* Whether accumulators and copy are both kept. Where one panel is all of k, the exchange chooses between them
   by itself. */
static bool keeps_both(const sddmm_plan *plan) { return has_lines(plan) && plan->store_early; }

/* The registers in which lanes of h = 1 have their part of set OF's sums. */
static const mc_reg *odd_part(const sddmm_emitter *e, sddmm_set of) {
    return keeps_both(e->plan) ? e->odd_acc[of.set] : sddmm_acc(e, of);
}

void sddmm_emit_begin(sddmm_emitter *e, int group) {
    static const char *const names[SDDMM_MAX_ABREAST] = {"odd_acc", "odd_acc_high"};
    mc_builder *b = e->b;
    if (!has_lines(e->plan)) return;
    for (int set = 0; set < e->plan->abreast; set++) {
        const mc_reg *acc = sddmm_acc(e, (sddmm_set){group, set});
        mc_reg *odd = e->odd_acc[set];
        if (!odd[0].id) b32_array(b, names[set], sum_count(e->plan), odd);
        for (int i = 0; i < sum_count(e->plan); i++) EMIT(b, mov_b32, odd[i], acc[i]);
    }
}

const mc_reg *sddmm_chunk_acc(const sddmm_emitter *e, sddmm_set of, int chunk) {
    return has_lines(e->plan) && chunk % 2 ? e->odd_acc[of.set] : sddmm_acc(e, of);
}

void sddmm_emit_finish(sddmm_emitter *e, int group) {
    if (!has_lines(e->plan) || keeps_both(e->plan)) return;
    for (int set = 0; set < e->plan->abreast; set++) {
        const mc_reg *acc = sddmm_acc(e, (sddmm_set){group, set}), *odd = e->odd_acc[set];
        for (int i = 0; i < sum_count(e->plan); i++) EMIT(e->b, selp_b32, acc[i], acc[i], odd[i], e->even);
    }
}

/* Brings each lane's own sums into GROUP's first accumulators. */
static void emit_exchange(sddmm_emitter *e, int group) {
    mc_builder *b = e->b;
    sddmm_set low = {group, 0}, high = {group, 1};
    const mc_reg *sum = sddmm_acc(e, low);
    if (!e->give.id) e->give = b32(b, "give");
    note(b, "group %d: lane h takes the sums of set h, and gives the other's", group);
    for (int i = 0; i < SDDMM_ACC; i++) {
        EMIT(b, selp_b32, e->give, sddmm_acc(e, high)[i], odd_part(e, low)[i], e->even);
        EMIT(b, selp_b32, sum[i], sum[i], odd_part(e, high)[i], e->even);
        EMIT(b, shfl_bfly, e->give, e->give, I(1 << FRAG_GROUP_SHIFT), I(MC_WARP - 1), H(0xffffffff));
        EMIT(b, add_s32, sum[i], sum[i], e->give);
    }
}

const mc_reg *sddmm_emit_sums(sddmm_emitter *e, int group) {
    for (int set = 0; set < e->plan->abreast; set++) {
        sddmm_set of = {group, set};
        sddmm_emit_settle(e, sddmm_acc(e, of));
        if (keeps_both(e->plan)) sddmm_emit_settle(e, odd_part(e, of));
    }
    if (has_lines(e->plan)) emit_exchange(e, group);
    return sddmm_acc(e, (sddmm_set){group, 0});
}
