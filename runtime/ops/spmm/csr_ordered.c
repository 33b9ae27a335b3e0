/* Sums of kernels that read A as CSR, in their order, to the bit (docs/unstructured.md).
 *
 * A lane adds up its nonzeros one after another, from +0 on, by fused multiply-adds. Lanes that share a row
 * add up in a tree. Of a long row each group of lanes of all warps that share it has a part, a row of its own
 * so to speak; groups of a warp add up in a tree, and warps and thread blocks one after another. */
#include <math.h>
#include <stdlib.h>
#include "base/memory.h"
#include "base/real.h"
#include "formats/csr.h"
#include "ops/reference.h"

enum { NAN_OF_GPU = 0x7fffffff /* what every operation of f32 makes that gives none of the numbers */ };

typedef struct csr_product {
    const mc_vsparse *a;
    const mc_dense *b;
    const mc_csr_form *form;
    int64_t column; /* of B and C */
    float *warps;   /* sums of all warps that share the row at hand */
} csr_product;

/* Of COUNT sums, a power of two, the first half adds the second one, until one is left. */
static float add_tree(float *sums, int count) {
    for (int half = count / 2; half >= 1; half /= 2)
        for (int i = 0; i < half; i++) sums[i] += sums[half + i];
    return sums[0];
}

/* What a group of lanes makes of the nonzeros from FIRST to LAST. */
static float add_group(const csr_product *p, int64_t first, int64_t last) {
    float lane[CSR_WARP] = {0};
    const int lanes = p->form->lanes;
    for (int l = 0; l < lanes; l++) {
        for (int64_t i = first + l; i < last; i += lanes)
            lane[l] =
                fmaf(real_factor_value(p->a->type, mc_vsparse_value(p->a, i, 0)),
                     real_factor_value(p->b->type, mc_dense_get(p->b, p->a->col_idx[i], p->column)), lane[l]);
    }
    return add_tree(lane, lanes);
}

/* What a warp makes of the nonzeros from FIRST to LAST of a long row. */
static float add_warp(const csr_product *p, int64_t first, int64_t last) {
    float group[CSR_WARP] = {0};
    for (int g = 0; g < p->form->groups; g++)
        group[g] = add_group(p, first + csr_group_cut(p->form, last - first, g),
                             first + csr_group_cut(p->form, last - first, g + 1));
    return add_tree(group, p->form->groups);
}

static float add_warps(const float *sums, int warps) {
    float total = sums[0];
    for (int w = 1; w < warps; w++) total += sums[w];
    return total;
}

/* The row's nonzeros begin at FIRST. */
static float add_long(csr_product *p, int64_t first, int64_t length) {
    const panel_sharing s = csr_share(p->form, length);
    for (int64_t leaf = 0; leaf < s.pieces * s.parts; leaf++)
        p->warps[leaf] =
            add_warp(p, first + panels_cut(s, length, leaf), first + panels_cut(s, length, leaf + 1));
    float *last = &p->warps[(s.pieces - 1) * s.parts];
    for (int w = 0; w < s.parts; w++)
        for (int64_t piece = w; piece < s.pieces - 1; piece += s.parts)
            last[w] += add_warps(&p->warps[piece * s.parts], s.parts);
    return add_warps(last, s.parts);
}

static float add_row(csr_product *p, int64_t row) {
    const int64_t first = p->a->row_ptr[row], last = p->a->row_ptr[row + 1];
    if (csr_is_long(p->form, p->a, row)) return add_long(p, first, last - first);
    return add_group(p, first, last);
}

static mc_status check(const mc_vsparse *a, const mc_dense *b, mc_diag *diag) {
    mc_status status = reference_check_spmm(a, b, diag);
    if (status != MC_OK || (mc_type_is_real(a->type) && a->type == b->type && a->vec == 1)) return status;
    return mc_fail(diag, MC_CANNOT,
                   "A is %s with vec = %d, B is %s: the order of csr is of floats of one type",
                   mc_type_text(a->type), a->vec, mc_type_text(b->type));
}

/* Sums of as many warps as any row has. */
static mc_status make_room(csr_product *p, mc_diag *diag) {
    int64_t most = 1;
    for (int64_t row = 0; row < p->a->rows; row++) {
        const int64_t length = p->a->row_ptr[row + 1] - p->a->row_ptr[row];
        if (!csr_is_long(p->form, p->a, row)) continue;
        const panel_sharing s = csr_share(p->form, length);
        if (s.pieces * s.parts > most) most = s.pieces * s.parts;
    }
    p->warps = mcrt_array(most, sizeof *p->warps);
    return p->warps != NULL ? MC_OK : mcrt_no_memory(diag, most, "warps of a row");
}

mc_status mc_reference_spmm_csr_ordered(const mc_vsparse *a, const mc_dense *b, const mc_csr_form *form,
                                        mc_dense *c, mc_diag *diag) {
    csr_product p = {.a = a, .b = b, .form = form};
    *c = (mc_dense){0};
    mc_status status = csr_check_form(form, diag);
    if (status == MC_OK) status = check(a, b, diag);
    if (status == MC_OK) status = make_room(&p, diag);
    if (status == MC_OK) status = mc_dense_create(MC_F32, a->rows, b->cols, b->cols, c, diag);
    for (int64_t i = 0; status == MC_OK && i < a->rows * b->cols; i++) {
        p.column = i % b->cols;
        const float sum = add_row(&p, i / b->cols);
        mc_dense_set(c, i / b->cols, p.column, isnan(sum) ? NAN_OF_GPU : real_to_bits(MC_F32, sum));
    }
    free(p.warps);
    return status;
}
