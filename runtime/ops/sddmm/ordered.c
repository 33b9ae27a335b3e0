/* Sums of floats in a kernel's order, to the bit (docs/sddmm.md, "Floats"): which k each mma takes and to
 * which sum it adds is the same for all elements of C. Where a kernel has zeros on both sides, +0 is
 * multiplied by +0 here: a zero product changes no bit of a sum (docs/floats.md). */
#include <stdlib.h>
#include "arithmetic/mma_sum.h"
#include "base/memory.h"
#include "ops/reference.h"

enum { NOTHING = -1, LANES = 4, MOST_SUMS = 4, UNIT_BITS = 128, UNIT_STEPS = 2 };

/* The mma of one element of C, one after another. */
typedef struct k_walk {
    int depth;     /* an mma's k */
    int unit;      /* k of a lane's unit */
    int steps;     /* of a unit: of a row-major B one, otherwise UNIT_STEPS */
    int sums;      /* chains, or the even and the odd chunks */
    int64_t count; /* of mma */
    int *sum;      /* which one each mma adds to */
    int64_t *k;    /* [mma][depth]: what it has at each place; NOTHING: zeros */
} k_walk;

typedef struct ordered_sample {
    const mc_vsparse *mask;
    const mc_dense *a, *b;
    mc_layout layout;
    mc_type types[2]; /* what A and B become before an mma multiplies them */
    mma_form form;
    k_walk walk;
} ordered_sample;

/* -- Which k ------------------------------------------------------------------------------------------- */

/* The k at place PLACE, counted from the first one of four lanes' neighbours of EACH k. Lane t of an mma has
   the places from t K / 8 on and those K / 2 further on (PTX ISA, "Matrix Fragments for mma.m16n8k16" and its
   neighbours); of its neighbours it takes those from SKIPPED on. */
static int64_t k_at(int depth, int place, int each, int skipped) {
    int run = depth / 8, lane = place % (depth / 2) / run;
    return (int64_t)lane * each + skipped + place / (depth / 2) * run + place % run;
}

/* Adds mma NUMBER of those that share neighbours of EACH k, which begin at FIRST, to sum SUM. What lies from
   END on is zeros. */
static void take(k_walk *w, int64_t first, int each, int number, int64_t end, int sum) {
    for (int place = 0; place < w->depth; place++) {
        int64_t k = first + k_at(w->depth, place, each, number * w->depth / LANES);
        w->k[w->count * w->depth + place] = k < end ? k : NOTHING;
    }
    w->sum[w->count++] = sum;
}

/* Mma of a step. */
static int step_mma(const k_walk *w) { return LANES * w->unit / w->depth / w->steps; }

static int64_t ceil_of(int64_t k, int64_t each) { return (k + each - 1) / each; }

/* How many sums STEPS steps are dealt out to. */
static int chains_of(const mc_sample_order *order, int vec, int64_t steps) {
    int most = vec == 16 ? MOST_SUMS / 2 : MOST_SUMS, chains = 1;
    if (order->sums != MC_SAMPLE_CHAINS) return order->sums == MC_SAMPLE_LINES ? 2 : 1;
    while (chains < most && 2 * chains <= steps) chains *= 2;
    return chains;
}

static void take_chunks(k_walk *w, const mc_sample_order *order, int vec, int64_t units) {
    int chunk = LANES * w->unit, mma = step_mma(w);
    int64_t chunks = ceil_of(units, chunk);
    w->sums = chains_of(order, vec, chunks * w->steps);
    for (int64_t c = 0; c < chunks; c++)
        for (int i = 0; i < w->steps * mma; i++) {
            int64_t sum = order->sums == MC_SAMPLE_LINES ? c : w->steps * c + i / mma;
            take(w, c * chunk, w->unit, i, units, (int)(sum % w->sums));
        }
}

/* In rounds, of a step each. */
static void take_rest(k_walk *w, int64_t units, int64_t k) {
    int mma = step_mma(w), each = w->unit / w->steps;
    for (int64_t first = units; first < k; first += LANES * each)
        for (int i = 0; i < mma; i++) take(w, first, each, i, k, 0);
}

static mc_status walk_k(const ordered_sample *s, const mc_sample_order *order, k_walk *w, mc_diag *diag) {
    int unit = UNIT_BITS / mc_type_bits(s->a->type);
    int64_t k = s->a->cols, units = order->aligned ? k / unit * unit : 0;
    int64_t most = ceil_of(k, s->form.k) + 2 * LANES * unit / s->form.k;
    *w = (k_walk){.depth = s->form.k, .unit = unit, .steps = s->layout == MC_LAYOUT_ROWS ? 1 : UNIT_STEPS};
    w->sum = mcrt_array(most, sizeof *w->sum);
    w->k = mcrt_array(mcrt_product(most, w->depth), sizeof *w->k);
    if (!w->sum || !w->k) return mcrt_no_memory(diag, k, "places of k");
    take_chunks(w, order, s->mask->vec, units);
    take_rest(w, units, k);
    return MC_OK;
}

/* -- Sums ---------------------------------------------------------------------------------------------- */

static uint32_t factor(const mc_dense *of, mc_type type, int64_t row, int64_t col) {
    return mma_factor(of->type, type, mc_dense_get(of, row, col));
}

static uint32_t element(const ordered_sample *s, int64_t row, int64_t column) {
    const k_walk *w = &s->walk;
    const bool by_rows = s->layout == MC_LAYOUT_ROWS;
    uint32_t sums[MOST_SUMS] = {0};
    for (int64_t mma = 0; mma < w->count; mma++) {
        uint32_t a[MMA_MOST_PRODUCTS] = {0}, b[MMA_MOST_PRODUCTS] = {0}, *sum = &sums[w->sum[mma]];
        for (int place = 0; place < w->depth; place++) {
            int64_t k = w->k[mma * w->depth + place];
            if (k == NOTHING) continue;
            a[place] = factor(s->a, s->types[0], row, k);
            b[place] = factor(s->b, s->types[1], by_rows ? k : column, by_rows ? column : k);
        }
        *sum = mma_sum(&s->form, a, b, *sum);
    }
    for (int distance = w->sums / 2; distance > 0; distance /= 2)
        for (int i = 0; i < distance; i++) sums[i] = mma_add_sums(sums[i], sums[i + distance]);
    return sums[0];
}

static void sample(const ordered_sample *s, mc_dense *sums) {
    const mc_vsparse *mask = s->mask;
    for (int64_t block = 0; block < mask->row_blocks; block++)
        for (int64_t v = mask->row_ptr[block]; v < mask->row_ptr[block + 1]; v++)
            for (int r = 0; r < mask->vec; r++)
                mc_dense_set(sums, v, r, element(s, block * mask->vec + r, mask->col_idx[v]));
}

mc_status mc_reference_sddmm_ordered(const mc_vsparse *mask, const mc_dense *a, const mc_dense *b,
                                     mc_layout layout, const mc_sample_order *order, mc_dense *sums,
                                     mc_diag *diag) {
    ordered_sample s = {.mask = mask, .a = a, .b = b, .layout = layout};
    s.types[0] = mma_operand_type(a->type, order->halves);
    s.types[1] = mma_operand_type(b->type, order->halves);
    bool alike = mc_type_bits(a->type) == mc_type_bits(b->type);
    *sums = (mc_dense){0};
    mc_status status = reference_check_sddmm(mask, a, b, layout, diag);
    if (status == MC_OK && (!alike || !mma_form_of(s.types[0], s.types[1], &s.form)))
        status = mc_fail(diag, MC_CANNOT, "A is %s, B is %s: no mma adds up products of these in f32",
                         mc_type_text(a->type), mc_type_text(b->type));
    if (status == MC_OK) status = walk_k(&s, order, &s.walk, diag);
    if (status == MC_OK) status = mc_dense_create(MC_F32, mask->vectors, mask->vec, mask->vec, sums, diag);
    if (status == MC_OK) sample(&s, sums);
    free(s.walk.sum);
    free(s.walk.k);
    return status;
}
