#include "ops/softmax/kernel.h"
#include <math.h>

enum {
    SPARE = -24, /* registers: ptxas needs fewer than are alive at once here, and takes all that it gets */
    MANY_WARPS = 16,
    MANY_SPARE = 52,
    FEW_ELEMENTS = 4, /* of a unit */
    FEW_SPARE = -12
};

/* -- The beginning ------------------------------------------------------------------------------------ */

/* The scale's magnitude goes into the exponent's factor, its sign to the values; or, of packed ones, to that
   factor, too: then the least elements have the greatest exponents. */
static void set_late_scale(softmax_emitter *e) {
    const uint32_t one_sign = 0x80000000, two_signs = 0x80008000;
    softmax_constants *c = &e->constant;
    mc_builder *b = e->b;
    bool packed = e->plan->packed;
    mc_reg all = shr_s32(b, "all_sign", e->scale, I(31));
    c->sign = and_b32(b, "sign", all, H(packed ? two_signs : one_sign));
    c->absent = xor_b32(b, "absent", c->sign, H(softmax_lowest_word(e->plan)));
    mc_reg least = mov_b32(b, "least_scale", F32(SOFTMAX_LEAST));
    mc_reg magnitude = and_b32(b, "scale_bits", e->scale, H(~one_sign));
    e->scale = max_nan_f32(b, "magnitude", magnitude, least);
    c->by = c->log2_e = mul_f32(b, "exponent_by", e->scale, c->log2_e);
    if (!packed) return;
    c->negative = setp_ne(b, "negative", all, I(0));
    c->by = xor_b32(b, "element_by", c->log2_e, and_b32(b, "real_sign", all, H(one_sign)));
}

static void set_constants(softmax_emitter *e) {
    softmax_constants *c = &e->constant;
    mc_builder *b = e->b;
    note(b, "constants of the exponential");
    c->log2_e = mov_b32(b, "log2_e", F32(SOFTMAX_LOG2_E));
    c->one = mov_b32(b, "one", F32(1));
    c->lowest = mov_b32(b, "lowest", F32(SOFTMAX_LOWEST));
    c->unit = mov_b32(b, "unit_of_sums", F32(SOFTMAX_UNIT));
    c->by = c->log2_e;
    if (e->plan->late && e->plan->scaled) set_late_scale(e);
    else if (e->plan->late) c->absent = mov_b32(b, "absent", H(softmax_lowest_word(e->plan)));
    if (e->plan->approx) return;
    c->least_power = mov_b32(b, "least_power", F32(ACTIVATION_LEAST_POWER));
    c->least = mov_b32(b, "minus_least", F32(-SOFTMAX_LEAST));
    activation_declare_power(&c->power, b);
}

/* Where the row block's elements of C begin, from SLOT on. */
static mc_reg find_out(const softmax_emitter *e, mc_reg slot) {
    mc_builder *b = e->b;
    int bits = e->plan->deal.vec * e->plan->out.bits;
    mc_reg c = load_array(b, "c");
    if (bits >= BYTE) return mad_wide(b, "block_c", slot, I(bits / BYTE), c);
    return mad_wide(b, "block_c", shr_u32(b, "pairs", slot, I(1)), I(1), c);
}

void softmax_place_block(softmax_emitter *e) {
    const softmax_plan *plan = e->plan;
    mc_builder *b = e->b;
    softmax_block *block = &e->block;
    int vec = plan->deal.vec;
    mc_reg slot = e->rows.block.slot;
    block->x = mad_wide(b, "block_x", slot, I(vec * plan->in_bytes), load_array(b, "x"));
    block->c = find_out(e, slot);
    if (plan->masked)
        block->mask = mad_wide(b, "block_mask", slot, I(vec * WORD), load_array(b, "mask_values"));
}

static void find_block(softmax_emitter *e) {
    rows_find(&e->rows, e->plan->lse);
    softmax_place_block(e);
    rows_count_units(&e->rows);
}

static void declare_units(softmax_emitter *e) {
    const softmax_plan *plan = e->plan;
    mc_builder *b = e->b;
    rows_declare_places(&e->rows);
    b32_array(b, "raw", plan->deal.hold * softmax_unit_words(plan), e->units.raw);
    b32_array(b, "value", plan->deal.hold * plan->deal.unit, e->units.value);
    rows_declare_scratch(&e->rows);
}

static void declare_rows(softmax_emitter *e) {
    mc_builder *b = e->b;
    int rows = e->plan->deal.rows;
    b32_array(b, "greatest", rows, e->of.greatest);
    b32_array(b, "part_of_sum", rows, e->of.part);
    b32_array(b, "sum_low", rows, e->of.low);
    b32_array(b, "sum_high", rows, e->of.high);
    b32_array(b, "shift", rows, e->of.shift);
    b32_array(b, "by", rows, e->of.by);
    softmax_declare_own(e);
}

static void load_factors(softmax_emitter *e) {
    const softmax_plan *plan = e->plan;
    mc_builder *b = e->b;
    if (plan->scaled) e->scale = ld_param_f32(b, "scale", NAME("scale"));
    if (softmax_is_real(plan)) return;
    if (plan->c_scaled) e->c_by = rcp_f32(b, "c_by", ld_param_f32(b, "c_scale", NAME("c_scale")));
    else e->c_by = mov_b32(b, "c_by", F32((float)plan->out.most));
}

static int spare_of(const softmax_plan *plan) {
    if (plan->deal.warps >= MANY_WARPS) return MANY_SPARE;
    bool few = plan->deal.unit < FEW_ELEMENTS || (plan->approx && !(plan->packed && plan->in == ROWS_F16));
    return few ? FEW_SPARE : SPARE;
}

void softmax_begin(softmax_emitter *e, mc_builder *b, const softmax_plan *plan,
                   const mc_batch_array *arrays) {
    *e = (softmax_emitter){.b = b, .plan = plan};
    b->spare += spare_of(plan);
    b->fills_shared = plan->deal.warps >= MANY_WARPS; /* 128 registers a thread, and no more */
    if (plan->batch) batch_begin(b, arrays, SOFTMAX_BATCH_ARRAYS);
    shared_array(b, "sum_parts", (unsigned)(plan->deal.warps * plan->deal.vec * 2 * WORD), 2 * WORD);
    shared_array(b, "greatest_parts", (unsigned)(plan->deal.warps * plan->deal.vec * WORD), WORD);
    rows_begin(&e->rows, b, &plan->deal);
    if (plan->deal.per_warp == 1) find_block(e);
    load_factors(e);
    declare_units(e);
    declare_rows(e);
    set_constants(e);
}

/* -- Units -------------------------------------------------------------------------------------------- */

static void take_element(const softmax_emitter *e, int i, int element) {
    const softmax_plan *plan = e->plan;
    const softmax_units *u = &e->units;
    mc_builder *b = e->b;
    mc_reg value = u->value[i * plan->deal.unit + element], there = rows_inside(&e->rows, i);
    bool always = plan->deal.order == ROWS_BCRS && !there.id;
    mc_reg real = always && !plan->masked ? value : e->rows.scratch.real;
    rows_convert(b, plan->in, &u->raw[i * softmax_unit_words(plan)], element, real);
    if (plan->late && e->constant.sign.id) EMIT(b, xor_b32, real, real, e->constant.sign);
    else if (!plan->late && e->scale.id) EMIT(b, mul_f32, real, real, e->scale);
    if (plan->masked) EMIT(b, add_f32, always ? value : real, real, value);
    if (always) return;
    if (plan->deal.order != ROWS_BCRS) {
        rows_test_element(&e->rows, i, element);
        there = e->rows.scratch.test;
    }
    EMIT(b, selp_b32, value, real, F32(-INFINITY), there);
}

void softmax_load(softmax_emitter *e) {
    const softmax_plan *plan = e->plan;
    const rows_array x = {e->block.x, plan->in_bytes, plan->align},
                     mask = {e->block.mask, WORD, ROWS_UNIT_BYTES};
    rows_load(&e->rows, &x, plan->packed ? e->constant.absent : I(0), e->units.raw);
    if (plan->masked) rows_load(&e->rows, &mask, I(0), e->units.value);
}

void softmax_take(softmax_emitter *e, int i) {
    for (int element = 0; element < e->plan->deal.unit && !e->plan->packed; element++)
        take_element(e, i, element);
}

void softmax_unpack(softmax_emitter *e, int i) {
    const softmax_plan *plan = e->plan;
    if (!plan->packed) return;
    for (int element = 0; element < plan->deal.unit; element++)
        rows_convert(e->b, plan->in, &e->units.raw[i * softmax_unit_words(plan)], element,
                     e->units.value[i * plan->deal.unit + element]);
}
