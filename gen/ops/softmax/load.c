#include "ops/softmax/kernel.h"
#include "parts/words.h"
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

/* The first of the thread's rows. */
static mc_reg first_row(const softmax_emitter *e) {
    const softmax_plan *plan = e->plan;
    mc_builder *b = e->b;
    if (plan->order == SOFTMAX_BCRS)
        return mul_s32(b, "row", and_b32(b, "piece", e->thread, I(plan->beside - 1)), I(plan->unit));
    mc_reg line = shr_u32(b, "line", e->thread, I(log2_of(plan->beside)));
    return and_b32(b, "row", line, I(plan->vec - 1));
}

static mc_reg count_units(const softmax_emitter *e) {
    const softmax_plan *plan = e->plan;
    mc_builder *b = e->b;
    if (plan->order == SOFTMAX_BCRS) return mul_s32(b, "units", e->block.vectors, I(plan->beside));
    mc_reg up = add_s32(b, "slots_up", e->block.vectors, I(plan->stride - 1));
    mc_reg strides = shr_u32(b, "strides", up, I(log2_of(plan->stride)));
    return mul_s32(b, "units", strides, I(plan->per_step));
}

static void find_block(softmax_emitter *e) {
    const softmax_plan *plan = e->plan;
    mc_builder *b = e->b;
    softmax_block *block = &e->block;
    note(b, "the row block: its first slot, its vectors%s", plan->lse ? ", its number" : "");
    mc_reg place = load_special(b, "place", "ctaid.x");
    mc_reg at = mad_wide(b, "row_block_at", place, I(SOFTMAX_ROW_WORDS * WORD), load_array(b, "rows"));
    mc_reg found[2];
    b32_array(b, "found", 2, found);
    EMIT(b, ldg_v2, V2(found), AT(at, 0));
    if (plan->lse) EMIT(b, ldg_b32, block->number = b32(b, "row_block"), AT(at, 2 * WORD));
    block->vectors = found[1];
    block->x = mad_wide(b, "block_x", found[0], I(plan->vec * plan->in_bytes), load_array(b, "x"));
    block->c = mad_wide(b, "block_c", found[0], I(plan->vec * plan->out.bytes), load_array(b, "c"));
    if (plan->masked)
        block->mask = mad_wide(b, "block_mask", found[0], I(plan->vec * WORD), load_array(b, "mask_values"));
    block->units = count_units(e);
}

static void declare_units(softmax_emitter *e) {
    const softmax_plan *plan = e->plan;
    mc_builder *b = e->b;
    softmax_units *u = &e->units;
    pred_array(b, "inside", plan->hold, u->inside);
    if (plan->order != SOFTMAX_BCRS) b32_array(b, "left", plan->hold, u->left);
    b32_array(b, "raw", plan->hold * softmax_unit_words(plan), u->raw);
    b32_array(b, "value", plan->hold * plan->unit, u->value);
    e->scratch.at = b64(b, "unit_at");
    e->scratch.real = b32(b, "real_of"), e->scratch.other = b32(b, "other"),
    e->scratch.test = pred(b, "is_there");
}

static void declare_rows(softmax_emitter *e) {
    mc_builder *b = e->b;
    int rows = e->plan->rows;
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
    if (plan->warps >= MANY_WARPS) return MANY_SPARE;
    bool few = plan->unit < FEW_ELEMENTS || (plan->approx && !(plan->packed && plan->in == SOFTMAX_IN_F16));
    return few ? FEW_SPARE : SPARE;
}

void softmax_begin(softmax_emitter *e, mc_builder *b, const softmax_plan *plan,
                   const mc_batch_array *arrays) {
    *e = (softmax_emitter){.b = b, .plan = plan};
    b->spare += spare_of(plan);
    b->fills_shared = plan->warps >= MANY_WARPS; /* 128 registers a thread, and no more */
    if (plan->batch) batch_begin(b, arrays, SOFTMAX_BATCH_ARRAYS);
    shared_array(b, "sum_parts", (unsigned)(plan->warps * plan->vec * 2 * WORD), 2 * WORD);
    shared_array(b, "greatest_parts", (unsigned)(plan->warps * plan->vec * WORD), WORD);
    e->thread = load_special(b, "thread", "tid.x");
    e->lane = and_b32(b, "lane", e->thread, I(MC_WARP - 1));
    e->warp = shr_u32(b, "warp", e->thread, I(log2_of(MC_WARP)));
    e->row = first_row(e);
    find_block(e);
    load_factors(e);
    declare_units(e);
    declare_rows(e);
    set_constants(e);
}

/* -- Units -------------------------------------------------------------------------------------------- */

/* The vectors from the unit's first slot on. */
static void count_left(softmax_emitter *e, int i, mc_reg unit) {
    const softmax_plan *plan = e->plan;
    mc_builder *b = e->b;
    mc_reg left = e->units.left[i], slot = e->scratch.other;
    EMIT(b, shr_u32, slot, unit, I(log2_of(plan->per_step)));
    EMIT(b, mul_s32, slot, slot, I(plan->stride));
    EMIT(b, sub_s32, left, e->block.vectors, slot);
    EMIT(b, and_b32, slot, unit, I(plan->beside - 1));
    EMIT(b, mul_s32, slot, slot, I(plan->unit));
    EMIT(b, sub_s32, left, left, slot);
}

static void place_units(softmax_emitter *e, mc_reg first, int count) {
    const softmax_plan *plan = e->plan;
    mc_builder *b = e->b;
    softmax_units *u = &e->units;
    u->first = first, u->count = count;
    for (int i = 0; i < count; i++) {
        if (i < u->sure && plan->order == SOFTMAX_BCRS) continue;
        EMIT(b, add_s32, e->scratch.real, first, I((int64_t)i * softmax_threads(plan)));
        if (i >= u->sure) EMIT(b, setp_lt, u->inside[i], e->scratch.real, e->block.units);
        if (plan->order != SOFTMAX_BCRS) count_left(e, i, e->scratch.real);
    }
}

static void load_raw(softmax_emitter *e) {
    const softmax_plan *plan = e->plan;
    const softmax_units *u = &e->units;
    mc_builder *b = e->b;
    int bytes = softmax_unit_bytes(plan), words = softmax_unit_words(plan);
    for (int i = u->sure * words; i < u->count * words; i++) {
        if (plan->packed) EMIT(b, mov_b32, u->raw[i], e->constant.absent);
        else EMIT(b, mov_b32, u->raw[i], I(0));
    }
    EMIT(b, mad_wide, e->scratch.at, u->first, I(bytes), e->block.x);
    for (int i = 0; i < u->count; i++)
        emit_load_words(b, softmax_inside(u, i), WORDS_GLOBAL, bytes, &u->raw[i * words],
                        AT(e->scratch.at, (int64_t)i * softmax_threads(plan) * bytes));
}

/* The mask's values come into the registers of values. */
static void load_mask(softmax_emitter *e) {
    const softmax_plan *plan = e->plan;
    const softmax_units *u = &e->units;
    mc_builder *b = e->b;
    int bytes = plan->unit * WORD;
    for (int i = u->sure * plan->unit; i < u->count * plan->unit; i++) EMIT(b, mov_b32, u->value[i], I(0));
    EMIT(b, mad_wide, e->scratch.at, u->first, I(bytes), e->block.mask);
    for (int i = 0; i < u->count; i++)
        for (int part = 0; part < bytes; part += SOFTMAX_UNIT_BYTES)
            emit_load_words(b, softmax_inside(u, i), WORDS_GLOBAL,
                            bytes < SOFTMAX_UNIT_BYTES ? bytes : SOFTMAX_UNIT_BYTES,
                            &u->value[i * plan->unit + part / WORD],
                            AT(e->scratch.at, (int64_t)i * softmax_threads(plan) * bytes + part));
}

/* TO = element ELEMENT of the unit in RAW, in f32. */
static void convert(const softmax_emitter *e, const mc_reg *raw, int element, mc_reg to) {
    mc_builder *b = e->b;
    mc_reg word = raw[element * e->plan->in_bytes / WORD];
    bool upper = e->plan->in_bytes == 2 && element % 2;
    switch (e->plan->in) {
    case SOFTMAX_IN_F32: EMIT(b, mov_b32, to, word); break;
    case SOFTMAX_IN_S32: EMIT(b, cvt_f32_s32, to, word); break;
    case SOFTMAX_IN_BF16:
        if (upper) EMIT(b, and_b32, to, word, H(0xffff0000));
        else EMIT(b, shl_b32, to, word, I(16));
        break;
    case SOFTMAX_IN_F16:
        if (upper) EMIT(b, shr_u32, to, word, I(16));
        EMIT(b, cvt_f32_f16, to, upper ? to : word);
    }
}

void softmax_test_element(const softmax_emitter *e, int i, int element) {
    EMIT(e->b, setp_gt, e->scratch.test, e->units.left[i], I(element));
}

static void take_element(const softmax_emitter *e, int i, int element) {
    const softmax_plan *plan = e->plan;
    const softmax_units *u = &e->units;
    mc_builder *b = e->b;
    mc_reg value = u->value[i * plan->unit + element], there = softmax_inside(u, i);
    bool always = plan->order == SOFTMAX_BCRS && !there.id;
    mc_reg real = always && !plan->masked ? value : e->scratch.real;
    convert(e, &u->raw[i * softmax_unit_words(plan)], element, real);
    if (plan->late && e->constant.sign.id) EMIT(b, xor_b32, real, real, e->constant.sign);
    else if (!plan->late && e->scale.id) EMIT(b, mul_f32, real, real, e->scale);
    if (plan->masked) EMIT(b, add_f32, always ? value : real, real, value);
    if (always) return;
    if (plan->order != SOFTMAX_BCRS) {
        softmax_test_element(e, i, element);
        there = e->scratch.test;
    }
    EMIT(b, selp_b32, value, real, F32(-INFINITY), there);
}

void softmax_load(softmax_emitter *e, mc_reg first, int count, int sure) {
    e->units.sure = sure;
    place_units(e, first, count);
    load_raw(e);
    if (e->plan->masked) load_mask(e);
}

void softmax_take(softmax_emitter *e, int i) {
    for (int element = 0; element < e->plan->unit && !e->plan->packed; element++) take_element(e, i, element);
}

void softmax_unpack(softmax_emitter *e, int i) {
    const softmax_plan *plan = e->plan;
    if (!plan->packed) return;
    for (int element = 0; element < plan->unit; element++)
        convert(e, &e->units.raw[i * softmax_unit_words(plan)], element,
                e->units.value[i * plan->unit + element]);
}
