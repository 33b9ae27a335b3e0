/* Scales and zero points in the kernel. */
#include "ops/quantise/patch.h"

/* In a batch each product has its own, behind those of the one before it. */
static mc_reg load_factor_array(const quantise_emitter *e, const char *name) {
    const quantise_plan *plan = e->plan;
    mc_builder *b = e->b;
    mc_reg at = load_array(b, name);
    if (!plan->batch) return at;
    mc_operand count = plan->scale == OUT_PER_COLUMN ? e->n : plan->scale == OUT_PER_ROW ? e->m : I(1);
    mc_reg before = mul_s32(b, NTH(name, 0), b->batch, I(WORD));
    return mad_wide(b, NTH(name, 1), before, count, at);
}

static mc_reg load_factor(const quantise_emitter *e, const char *name) {
    if (e->plan->scale != OUT_PER_TENSOR || e->plan->computed) return load_factor_array(e, name);
    return ld_param_f32(e->b, name, NAME(name));
}

void quantise_invert(const quantise_emitter *e, mc_reg scale, mc_reg by) {
    if (e->plan->real) EMIT(e->b, mov_b32, by, scale);
    else EMIT(e->b, rcp_f32, by, scale);
}

void quantise_set_point(const quantise_emitter *e, mc_reg zero, mc_reg point, mc_reg low, mc_reg high) {
    const quantise_plan *plan = e->plan;
    mc_builder *b = e->b;
    EMIT(b, cvt_s32_f32, point, zero);
    EMIT(b, min_s32, point, point, I(plan->most));
    EMIT(b, max_s32, point, point, I(plan->least));
    EMIT(b, sub_s32, low, I(plan->least), point);
    EMIT(b, sub_s32, high, I(plan->most), point);
}

static void declare_rows(quantise_emitter *e, int count) {
    mc_builder *b = e->b;
    quantise_factors *f = &e->factors;
    b32_array(b, "by", count, f->by);
    if (!e->plan->zero) return;
    b32_array(b, "point", count, f->point);
    b32_array(b, "low", count, f->low);
    b32_array(b, "high", count, f->high);
}

void quantise_load_factors(quantise_emitter *e) {
    const quantise_plan *plan = e->plan;
    quantise_factors *f = &e->factors;
    if (plan->scale == OUT_PER_NONE) return;
    f->scale = load_factor(e, "scale");
    if (plan->zero) f->zero = load_factor(e, "zero");
    if (plan->scale == OUT_PER_COLUMN) return;
    declare_rows(e, plan->scale == OUT_PER_ROW ? plan->rows : 1);
    if (plan->scale == OUT_PER_ROW || plan->computed) return;
    quantise_invert(e, f->scale, f->by[0]);
    if (plan->zero) quantise_set_point(e, f->zero, f->point[0], f->low[0], f->high[0]);
}

/* Rows beyond the last have the last one's. */
void quantise_row_factors(quantise_emitter *e, const quantise_patch *patch) {
    const quantise_plan *plan = e->plan;
    mc_builder *b = e->b;
    quantise_factors *f = &e->factors;
    if (plan->scale != OUT_PER_ROW) return;
    mc_reg last = sub_s32(b, "last_scale", plan->m == MC_OPEN ? e->m : mov_b32(b, "scales", e->m), I(1));
    for (int i = 0; i < plan->rows; i++) {
        mc_reg row = min_s32(b, NTH("scale_row", i), add_s32(b, NTH("patch_row", i), patch->row, I(i)), last);
        mc_reg at = mad_wide(b, NTH("scale_at", i), row, I(WORD), f->scale);
        quantise_invert(e, ldg_b32(b, NTH("row_scale", i), AT(at, 0)), f->by[i]);
        if (!plan->zero) continue;
        mc_reg zero =
            ldg_b32(b, NTH("row_zero", i), AT(mad_wide(b, NTH("zero_at", i), row, I(WORD), f->zero), 0));
        quantise_set_point(e, zero, f->point[i], f->low[i], f->high[i]);
    }
}

void quantise_column_factors(const quantise_emitter *e, const quantise_patch *patch, int step, mc_reg inside,
                             mc_reg *by_column) {
    mc_builder *b = e->b;
    mc_reg at = mad_wide(b, NTH("column_at", step), patch->col, I(WORD), e->factors.scale);
    for (int j = 0; j < e->plan->unit; j++) {
        if (inside.id) EMIT(b, mov_b32, by_column[j], I(0));
        EMIT_IF(b, inside, ldg_b32, by_column[j], AT(at, ((int64_t)step * e->plan->step + j) * WORD));
    }
}
