/* Sums of a group's lanes become elements of C.
 *
 * Lanes add up in a tree: of L lanes the first half adds what the second half has, then a quarter what the
 * next quarter has, until one is left. Where several nonzeros are at hand the halves share the work: each
 * lane gives half of its sums away, and adds what it gets to the others. In the end lane p has `csr_own`
 * nonzeros' sums, or several lanes have the same one. */
#include "ops/sddmm/csr/emit.h"
#include "parts/fragment.h"

/* Lanes that have the same sum in the end. */
static int sharers(const csr_plan *plan) { return plan->lanes > plan->ahead ? plan->lanes / plan->ahead : 1; }
static bool scale_is_indexed(const csr_plan *plan) {
    out_per scale = plan->problem.output.scale;
    return scale == OUT_PER_ROW || scale == OUT_PER_COLUMN;
}
static bool has_values(const csr_plan *plan) { return plan->problem.mask == SDDMM_VALUES; }
static int c_bytes(const csr_plan *plan) { return out_element_bytes(plan->problem.output.element); }

/* -- Places ------------------------------------------------------------------------------------------- */

/* Which halves this lane is in, where sums are shared. */
static void declare_halves(csr_emitter *e) {
    const csr_plan *plan = e->plan;
    mc_builder *b = e->b;
    int sums = plan->ahead, step = 0;
    if (plan->lanes == 1) return;
    mc_reg bit = b32(b, "half");
    e->store.give = b32(b, "give");
    pred_array(b, "upper", log2_of(plan->ahead < plan->lanes ? plan->ahead : plan->lanes), e->store.upper);
    for (int apart = plan->lanes / 2; apart >= 1 && sums > 1; apart /= 2, sums /= 2, step++) {
        EMIT(b, and_b32, bit, e->part, I(apart));
        EMIT(b, setp_ne, e->store.upper[step], bit, I(0));
    }
}

static void declare_factors(csr_emitter *e, mc_reg own) {
    mc_builder *b = e->b;
    csr_store *s = &e->store;
    const int count = csr_own(e->plan);
    if (has_values(e->plan)) {
        s->mask_at =
            carried_b64(b, "mask_at", mad_wide(b, "mask_first", own, I(WORD), load_array(b, "mask_values")));
        b32_array(b, "mask_value", count, s->own_mask);
    }
    if (e->plan->problem.output.scale == OUT_PER_TENSOR) s->scale = ld_param_f32(b, "scale", NAME("scale"));
    if (!scale_is_indexed(e->plan)) return;
    s->scale = load_array(b, "scale"), s->scale_at = b64(b, "scale_at");
    s->item_at = carried_b64(b, "own_item", mad_wide(b, "own_item_first", own, I(2 * WORD), e->items));
    b32_array(b, "own_scale", count, s->own_scale);
    b32_array(b, "own_index", count, s->index);
}

void sddmm_csr_declare_store(csr_emitter *e) {
    mc_builder *b = e->b;
    const csr_plan *plan = e->plan;
    csr_store *s = &e->store;
    heading(b, "Which nonzeros of each %d this lane stores", plan->ahead);
    mc_reg own = e->first;
    if (plan->lanes > 1) {
        mc_reg place =
            sharers(plan) > 1 ? shr_u32(b, "own_place", e->part, I(log2_of(sharers(plan)))) : e->part;
        own = mad_s32(b, "own", place, I(csr_own(plan)), e->first);
    }
    s->stores = pred(b, "stores");
    s->left = b32(b, "own_left");
    EMIT(b, sub_s32, s->left, e->nonzeros, own);
    if (sharers(plan) > 1) {
        mc_reg again = and_b32(b, "again", e->part, I(sharers(plan) - 1));
        EMIT(b, setp_lt, s->stores, again, I(1));
        EMIT(b, selp_b32, s->left, s->left, I(0), s->stores);
    }
    s->c_at = carried_b64(b, "c_at", mad_wide(b, "c_first", own, I(c_bytes(plan)), load_array(b, "c")));
    declare_halves(e);
    declare_factors(e, own);
    out_declare_scratch(&s->elements, b, plan->problem.output.element, 1);
}

/* -- Factors ------------------------------------------------------------------------------------------ */

static void load_scale(const csr_emitter *e, int i) {
    mc_builder *b = e->b;
    const csr_store *s = &e->store;
    const int word = e->plan->problem.output.scale == OUT_PER_COLUMN;
    EMIT(b, mov_b32, s->own_scale[i], I(0));
    EMIT(b, mov_b32, s->index[i], I(0));
    EMIT_IF(b, s->stores, ldr_b32, s->index[i], AT(s->item_at, (2 * i + word) * WORD));
    EMIT(b, mad_wide, s->scale_at, s->index[i], I(WORD), s->scale);
    EMIT_IF(b, s->stores, ldr_b32, s->own_scale[i], AT(s->scale_at, 0));
}

void sddmm_csr_emit_factors(csr_emitter *e) {
    mc_builder *b = e->b;
    const csr_store *s = &e->store;
    const bool values = has_values(e->plan), scales = scale_is_indexed(e->plan);
    for (int i = 0; i < csr_own(e->plan) && (values || scales); i++) {
        EMIT(b, setp_gt, s->stores, s->left, I(i));
        if (values) EMIT(b, mov_b32, s->own_mask[i], I(0));
        if (values) EMIT_IF(b, s->stores, ldr_b32, s->own_mask[i], AT(s->mask_at, i * WORD));
        if (scales) load_scale(e, i);
    }
}

/* -- Sums over lanes ---------------------------------------------------------------------------------- */

static void exchange(const csr_emitter *e, mc_reg value, mc_reg other, int apart) {
    EMIT(e->b, shfl_bfly, other, value, I(apart), I(MC_WARP - 1), H(0xffffffff));
}

/* Of each two sums half of all apart the lane keeps one, and gives the other one. */
static void share_sums(const csr_emitter *e, mc_reg *sums, int half, int apart, mc_reg upper) {
    mc_builder *b = e->b;
    const csr_store *s = &e->store;
    for (int i = 0; i < half; i++) {
        EMIT(b, selp_b32, s->give, sums[i], sums[half + i], upper);
        EMIT(b, selp_b32, sums[i], sums[half + i], sums[i], upper);
        exchange(e, s->give, s->give, apart);
        EMIT(b, add_f32, sums[i], sums[i], s->give);
    }
}

static void add_lanes(const csr_emitter *e, mc_reg *sums) {
    const csr_store *s = &e->store;
    int count = e->plan->ahead, step = 0;
    for (int apart = e->plan->lanes / 2; apart >= 1; apart /= 2) {
        if (count > 1) {
            count /= 2;
            share_sums(e, sums, count, apart, s->upper[step++]);
            continue;
        }
        exchange(e, sums[0], s->give, apart);
        EMIT(e->b, add_f32, sums[0], sums[0], s->give);
    }
}

/* -- C ------------------------------------------------------------------------------------------------ */

static void store_one(const csr_emitter *e, mc_reg sum, int i) {
    mc_builder *b = e->b;
    const csr_store *s = &e->store;
    const out_kind *output = &e->plan->problem.output;
    out_terms terms = {.scale = scale_is_indexed(e->plan) ? s->own_scale[i] : s->scale};
    mc_reg value = s->elements.real[0];
    EMIT(b, setp_gt, s->stores, s->left, I(i));
    out_scale(b, output, sum, terms, value);
    if (has_values(e->plan)) EMIT(b, mul_f32, value, value, s->own_mask[i]);
    out_store(b, s->stores, AT(s->c_at, i * c_bytes(e->plan)), output->element, 1,
              out_pack(b, output->element, &s->elements, NULL, 1));
}

void sddmm_csr_emit_store(csr_emitter *e) {
    mc_reg sums[CSR_MOST_AHEAD];
    note(e->b, "sums of even and odd elements, then those of lanes");
    for (int i = 0; i < e->plan->ahead; i++) {
        sums[i] = e->sum[CSR_CHAINS * i];
        EMIT(e->b, add_f32, sums[i], sums[i], e->sum[CSR_CHAINS * i + 1]);
    }
    add_lanes(e, sums);
    for (int i = 0; i < csr_own(e->plan); i++) store_one(e, sums[i], i);
}

void sddmm_csr_emit_next_store(csr_emitter *e) {
    mc_builder *b = e->b;
    const csr_store *s = &e->store;
    const int step = csr_turn(e->plan);
    EMIT(b, add_s32, s->left, s->left, I(-step));
    EMIT(b, add_s64, s->c_at, s->c_at, I(step * c_bytes(e->plan)));
    if (s->mask_at.id) EMIT(b, add_s64, s->mask_at, s->mask_at, I(step * WORD));
    if (s->item_at.id) EMIT(b, add_s64, s->item_at, s->item_at, I(step * 2 * WORD));
}
