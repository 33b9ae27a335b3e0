/* The dense SDDMM: each warp multiplies its rows of A by its columns of B, stage after stage. Operands are
 * swapped, as in the gather: columns of B are the mma's rows. copy.c says how a stage lies in shared
 * memory. */
#include "ops/sddmm/dense/dense.h"
#include "parts/words.h"
#include <string.h>

enum { MAX_UNIT = 16 }; /* registers of a unit of A */

/* What a lane reads of a stage: its units of the warp's rows of A, and of two columns of B at a time. */
typedef struct stage_units {
    mc_reg a_at, b_at; /* where its units of the warp's first row and column lie in stage 0 */
    mc_reg word[DENSE_MAX_ROWS * MAX_UNIT], operand[DENSE_MAX_ROWS * 2 * SDDMM_MAX_STEP_A]; /* of A */
    mc_reg x[4], y[4]; /* words of columns g and g + 8 */
} stage_units;

static int unit_words(const sddmm_arithmetic *a) { return a->steps * a->a_words; }
static int unit_operands(const sddmm_arithmetic *a) { return a->steps * a->a_operands; }

/* -- Registers ---------------------------------------------------------------------------------------- */

static void emit_sums(const dense_emitter *d, dense_sums *sums) {
    const sddmm_arithmetic *a = &d->plan->problem.arithmetic;
    int count = d->plan->warp_rows * d->plan->warp_columns * a->accs;
    b32_array(d->b, "acc", count, sums->acc);
    sddmm_emit_zero(d->b, sums->acc, count);
    sums->multiplier = sddmm_declare_multiplier(d->b, a, false);
}

/* Sets where the lane's unit is in row g of the warp's rows, or of its columns. The warp has COUNT of them,
   of ROW_BYTES; WARP is its number along their side. */
static mc_reg emit_unit(const dense_emitter *d, const char *name, int row_bytes, mc_reg warp, int count) {
    mc_builder *b = d->b;
    mc_reg at = b32(b, name);
    EMIT(b, mad_s32, at, d->place.lane, I(row_bytes / 4), d->shared);
    if (warp.id) EMIT(b, mad_s32, at, warp, I(count * row_bytes), at);
    return at;
}

static void emit_units(const dense_emitter *d, stage_units *u) {
    mc_builder *b = d->b;
    const dense_plan *plan = d->plan;
    const sddmm_arithmetic *a = &plan->problem.arithmetic;
    int words = plan->warp_rows * unit_words(a);
    b32_array(b, "a_word", words, u->word);
    if (a->a_is_plain) memcpy(u->operand, u->word, (size_t)words * sizeof *u->word);
    else b32_array(b, "a_operand", plan->warp_rows * unit_operands(a), u->operand);
    b32_array(b, "x", 4, u->x);
    b32_array(b, "y", 4, u->y);
    u->a_at = emit_unit(d, "a_lane", dense_a_plane_row(plan), d->rows.warp, plan->warp_rows * SDDMM_MMA_ROWS);
    u->b_at = emit_unit(d, "b_lane", DENSE_STAGE_ROW, d->columns.warp, plan->warp_columns * MC_SAMPLED_SLOTS);
}

/* -- A stage ------------------------------------------------------------------------------------------ */

/* Loads the units of the stage at OFFSET in shared memory, and makes operands of them. */
static void emit_rows(const dense_emitter *d, const stage_units *u, const dense_sums *sums, int offset) {
    const dense_plan *plan = d->plan;
    const sddmm_arithmetic *a = &plan->problem.arithmetic;
    int access = sddmm_a_access(a), row_bytes = dense_a_plane_row(plan);
    for (int row = 0; row < plan->warp_rows; row++) {
        const mc_reg *word = &u->word[row * unit_words(a)], *operand = &u->operand[row * unit_operands(a)];
        for (int plane = 0; plane < dense_a_planes(plan); plane++) {
            int first_row = plane * plan->tile_rows + row * SDDMM_MMA_ROWS;
            emit_load_words(d->b, (mc_reg){0}, WORDS_SHARED, access, word + plane * access / WORD,
                            AT(u->a_at, offset + first_row * row_bytes));
        }
        for (int step = 0; step < a->steps; step++)
            sddmm_emit_a_step(&sums->multiplier, word + step * a->a_words, operand + step * a->a_operands);
    }
}

/* Multiplies column group COLUMN of the stage by all the warp's rows. */
static void emit_column(const dense_emitter *d, const stage_units *u, const dense_sums *sums, int offset,
                        int column) {
    const dense_plan *plan = d->plan;
    const sddmm_arithmetic *a = &plan->problem.arithmetic;
    int first = offset + dense_a_bytes(plan) + column * MC_SAMPLED_SLOTS * DENSE_STAGE_ROW;
    EMIT(d->b, lds_v4, V4(u->x), AT(u->b_at, first));
    EMIT(d->b, lds_v4, V4(u->y), AT(u->b_at, first + 8 * DENSE_STAGE_ROW));
    for (int step = 0; step < a->steps; step++) {
        sddmm_factor factors[DENSE_MAX_ROWS];
        for (int row = 0; row < plan->warp_rows; row++)
            factors[row] = (sddmm_factor){&u->operand[row * unit_operands(a) + step * a->a_operands],
                                          dense_acc(plan, sums, row, column)};
        sddmm_emit_products(&sums->multiplier, u->x + step * a->b_words, u->y + step * a->b_words, factors,
                            plan->warp_rows);
    }
}

void dense_emit_products(const dense_emitter *d, dense_sums *sums) {
    mc_builder *b = d->b;
    const dense_plan *plan = d->plan;
    stage_units units;
    emit_sums(d, sums);
    emit_units(d, &units);
    heading(b, "Multiply: %d columns and %d rows a warp", plan->warp_columns * MC_SAMPLED_SLOTS,
            plan->warp_rows * SDDMM_MMA_ROWS);
    for (int stage = 0; stage < plan->stages; stage++) {
        int offset = stage * dense_stage_bytes(plan);
        note(b, "stage %d has arrived, of every thread's copies", stage);
        EMIT(b, cp_async_wait, I(plan->stages - 1 - stage));
        EMIT(b, bar_sync, I(0));
        emit_rows(d, &units, sums, offset);
        for (int column = 0; column < plan->warp_columns; column++)
            emit_column(d, &units, sums, offset, column);
    }
}
