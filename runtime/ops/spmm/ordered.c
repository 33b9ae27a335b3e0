/* Sums of floats in a kernel's order, to the bit: each warp's by mma, from +0 on, and then the warps' sums
 * one after another, rounded to nearest even (docs/floats.md).
 *
 * Padding multiplies a value of +0 by +0, as here. A zero product of either sign is neither the greatest term
 * of an mma nor does it change the sum, and a sum of zeros is +0 whatever their signs are. So no bit depends
 * on it. */
#include <stdlib.h>
#include "arithmetic/mma_sum.h"
#include "base/memory.h"
#include "formats/hrpb.h"
#include "ops/spmm/walk.h"

typedef struct ordered_product {
    const mc_vsparse *a;
    const mc_dense *b;
    mc_type types[2]; /* that values of A and of B are multiplied as */
    mma_form form;
    slot_walk walk;
    uint32_t *sums; /* of a row block: [part][vec][n], f32 */
} ordered_product;

/* Integers become floats of B's type, and floats of 8 bits of A that of a B of 16. HALVES: floats of 8 bits
   become f16. */
static void choose_types(ordered_product *p, bool halves) {
    p->types[0] = mma_operand_type(p->a->type, halves), p->types[1] = mma_operand_type(p->b->type, halves);
    bool small = mc_type_bits(p->a->type) <= 8;
    if (small && mc_type_bits(p->types[1]) == 16) p->types[0] = p->types[1];
}

static uint32_t factor_of_a(const ordered_product *p, int64_t vector, int row) {
    return mma_factor(p->a->type, p->types[0], mc_vsparse_value(p->a, vector, row));
}

static uint32_t factor_of_b(const ordered_product *p, int64_t row, int64_t column) {
    return mma_factor(p->b->type, p->types[1], mc_dense_get(p->b, row, column));
}

/* Whether the MMA-th one takes row ROW of the row block. */
static bool takes_row(const slot_walk *walk, int64_t mma, int row) {
    return walk->bricks == NULL || (walk->bricks[mma] >> row / HRPB_TILE_ROWS & 1) != 0;
}

static void add_mma(const ordered_product *p, int64_t mma, uint32_t *sums) {
    const int64_t *vector = p->walk.vector + mma * p->walk.depth; /* of each place along k */
    uint32_t row[MMA_MOST_PRODUCTS], column[MMA_MOST_PRODUCTS];
    for (int64_t j = 0; j < p->b->cols; j++) {
        for (int k = 0; k < p->walk.depth; k++)
            column[k] = vector[k] < 0 ? 0 : factor_of_b(p, p->a->col_idx[vector[k]], j);
        for (int r = 0; r < p->a->vec; r++) {
            if (!takes_row(&p->walk, mma, r)) continue;
            uint32_t *sum = &sums[r * p->b->cols + j];
            for (int k = 0; k < p->walk.depth; k++) row[k] = vector[k] < 0 ? 0 : factor_of_a(p, vector[k], r);
            *sum = mma_sum(&p->form, row, column, *sum);
        }
    }
}

/* Sums of parts, PITCH apart. */
typedef struct part_sums {
    const uint32_t *first;
    int64_t pitch;
} part_sums;

/* COUNT of them from FIRST on, one after another. */
static uint32_t add_row(const part_sums *s, int64_t first, int64_t count) {
    uint32_t total = s->first[first * s->pitch];
    for (int64_t i = 1; i < count; i++) total = mma_add_sums(total, s->first[(first + i) * s->pitch]);
    return total;
}

/* Of a panel that has several thread blocks. */
static uint32_t add_pieces(const part_sums *s, int64_t pieces, int warps) {
    const int64_t last = (pieces - 1) * warps;
    uint32_t total = 0;
    for (int w = 0; w < warps; w++) {
        uint32_t sum = s->first[(last + w) * s->pitch];
        for (int64_t piece = w; piece < pieces - 1; piece += warps)
            sum = mma_add_sums(sum, add_row(s, piece * warps, warps));
        total = w == 0 ? sum : mma_add_sums(total, sum);
    }
    return total;
}

/* PARTS sums of column COLUMN. */
static uint32_t add_parts(const slot_walk *walk, const part_sums *s, int64_t parts, int64_t column) {
    if (walk->warps > 0 && parts > walk->warps) return add_pieces(s, parts / walk->warps, walk->warps);
    int owner = walk->owned ? (int)(column / walk->owned % parts) : 0;
    uint32_t total = s->first[owner * s->pitch];
    for (int turn = 1; turn < parts; turn++) total = mma_add_sums(total, s->first[(owner ^ turn) * s->pitch]);
    return total;
}

/* C has n columns and no gaps. */
static void sum_block(const ordered_product *p, int64_t block, uint32_t *c) {
    const slot_walk *walk = &p->walk;
    int64_t n = p->b->cols, count = p->a->vec * n;
    int64_t first = walk->first_part ? walk->first_part[block] : block * walk->parts,
            parts = walk->first_part ? walk->first_part[block + 1] - first : walk->parts;
    for (int64_t i = 0; i < count * parts; i++) p->sums[i] = 0;
    for (int64_t part = 0; part < parts; part++) {
        const int64_t *start = &walk->start[first + part];
        for (int64_t mma = start[0]; mma < start[1]; mma++) add_mma(p, mma, p->sums + part * count);
    }
    for (int64_t i = 0; i < count; i++) {
        const part_sums sums = {p->sums + i, count};
        c[i] = add_parts(walk, &sums, parts, i % n);
    }
}

static mc_status sum_blocks(ordered_product *p, mc_dense *c, mc_diag *diag) {
    int64_t count = mcrt_product(p->a->vec, p->b->cols), all = mcrt_product(count, p->walk.parts);
    p->sums = mcrt_array(all, sizeof *p->sums);
    if (!p->sums) return mcrt_no_memory(diag, all, "sums of a row block");
    for (int64_t block = 0; block < p->a->row_blocks; block++)
        sum_block(p, block, (uint32_t *)c->data + block * count);
    free(p->sums);
    return MC_OK;
}

static mc_status find_mma(ordered_product *p, bool halves, mc_diag *diag) {
    choose_types(p, halves);
    mc_status status = reference_check_spmm(p->a, p->b, diag);
    if (status != MC_OK || mma_form_of(p->types[0], p->types[1], &p->form)) return status;
    return mc_fail(diag, MC_CANNOT, "A is %s, B is %s: no mma adds up products of these in f32",
                   mc_type_text(p->a->type), mc_type_text(p->b->type));
}

/* STATUS says how the walk was made, which this frees. */
static mc_status sum_in_order(ordered_product *p, mc_status status, mc_dense *c, mc_diag *diag) {
    *c = (mc_dense){0};
    if (status == MC_OK) status = mc_dense_create(MC_F32, p->a->rows, p->b->cols, p->b->cols, c, diag);
    if (status == MC_OK) status = sum_blocks(p, c, diag);
    if (status != MC_OK) mc_dense_free(c);
    walk_free(&p->walk);
    return status;
}

mc_status mc_reference_spmm_ordered(const mc_vsparse *a, const mc_dense *b, const mc_gather_order *order,
                                    mc_dense *c, mc_diag *diag) {
    ordered_product p = {.a = a, .b = b};
    mc_status status = find_mma(&p, order->halves, diag);
    if (status == MC_OK) status = walk_gather(a, order, p.form.k, &p.walk, diag);
    return sum_in_order(&p, status, c, diag);
}

mc_status mc_reference_spmm_ring_ordered(const mc_vsparse *a, const mc_dense *b, const mc_ring *ring,
                                         bool halves, mc_dense *c, mc_diag *diag) {
    ordered_product p = {.a = a, .b = b};
    mc_status status = find_mma(&p, halves, diag);
    if (status == MC_OK) status = walk_ring(a, mc_type_bytes(b->type), ring, p.form.k, &p.walk, diag);
    return sum_in_order(&p, status, c, diag);
}

/* C's rows come as panels have them: brings them to where A has them. */
static mc_status put_rows_back(const panel_matrix *m, mc_dense *c, mc_diag *diag) {
    mc_dense ordered;
    mc_status status = mc_dense_create(c->type, c->rows, c->cols, c->ld, &ordered, diag);
    for (int64_t i = 0; status == MC_OK && i < c->rows; i++)
        for (int64_t j = 0; m->row_of[i] != INT32_MAX && j < c->cols; j++)
            mc_dense_set(&ordered, m->row_of[i], j, mc_dense_get(c, i, j));
    mc_dense_free(c);
    *c = ordered;
    return status;
}

mc_status mc_reference_spmm_panels_ordered(const mc_vsparse *a, const mc_dense *b, const mc_panels *form,
                                           bool halves, mc_dense *c, mc_diag *diag) {
    panel_matrix m;
    *c = (mc_dense){0};
    mc_status status = panels_join_ordered(a, form->rows, form->order, &m, diag);
    if (status != MC_OK) return status;
    ordered_product p = {.a = &m.joined, .b = b};
    status = find_mma(&p, halves, diag);
    if (status == MC_OK) status = walk_panels(&m, form, p.form.k, &p.walk, diag);
    status = sum_in_order(&p, status, c, diag);
    if (status == MC_OK && m.row_of != NULL) status = put_rows_back(&m, c, diag);
    if (status == MC_OK) c->rows = a->rows; /* the last panel may be less */
    panels_free(&m);
    return status;
}

mc_status mc_reference_spmm_hrpb_ordered(const mc_vsparse *a, const mc_dense *b, const mc_hrpb *form,
                                         double waves, mc_dense *c, mc_diag *diag) {
    panel_matrix m;
    *c = (mc_dense){0};
    mc_status status = hrpb_check_form(form, a->type, diag);
    if (status == MC_OK) status = panels_join(a, form->tile_rows, &m, diag);
    if (status != MC_OK) return status;
    ordered_product p = {.a = &m.joined, .b = b};
    status = find_mma(&p, false, diag);
    if (status == MC_OK) status = walk_hrpb(&m, form, waves, &p.walk, diag);
    p.form.k = p.walk.depth;
    status = sum_in_order(&p, status, c, diag);
    if (status == MC_OK) c->rows = a->rows; /* the last panel may be less */
    panels_free(&m);
    return status;
}
