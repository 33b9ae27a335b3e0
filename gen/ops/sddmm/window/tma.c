/* The window SDDMM: a thread block's window of columns of B to shared memory by tensor copies, 128 bytes of
 * up to 256 columns each, swizzled (group.c, "Banks"). Columns beyond the last one are zeros, and so is what
 * lies beyond k. Each 128 bytes have an mbarrier, so that a warp's first groups are multiplied while the rest
 * is on its way.
 *
 * Thread blocks that run side by side want the same columns, which the L2 cache brings to all of them at once
 * where they ask in the same order: so one thread asks for all, in order. */
#include "ops/sddmm/window/window.h"
#include <stdio.h>

static mc_operand barrier_of(const window_emitter *w, int pair) {
    return AT(w->columns.barriers, pair * WINDOW_BARRIER);
}

static void emit_barriers(const window_emitter *w) {
    mc_builder *b = w->b;
    mc_reg state = b64(b, "state");
    for (int pair = 0; pair < window_pairs(w->plan); pair++)
        EMIT(b, mbarrier_init, barrier_of(w, pair), I(1));
    note(b, "the copies see them too");
    EMIT_BARE(b, fence_mbarrier_init);
    for (int pair = 0; pair < window_pairs(w->plan); pair++)
        EMIT(b, mbarrier_expect, state, barrier_of(w, pair), I(window_pair_step(w->plan)));
}

static void emit_copies(const window_emitter *w, mc_reg first_column, mc_reg to) {
    mc_builder *b = w->b;
    const window_plan *plan = w->plan;
    int box = window_box(plan), window = (int)plan->items.window;
    int elements = WINDOW_BANKS / element_bytes(plan->problem.arithmetic.rhs);
    mc_reg map = b64(b, "map"), k = b32(b, "copy_k"), column = b32(b, "copy_column");
    EMIT(b, mov_param, map, NAME("b_map"));
    EMIT(b, cvta_param, map, map);
    for (int pair = 0; pair < window_pairs(plan); pair++) {
        EMIT(b, mov_b32, k, I(pair * elements));
        for (int first = 0; first < window; first += box) {
            EMIT(b, add_s32, column, first_column, I(first));
            EMIT(b, tma_load_2d, AT(to, pair * window_pair_step(plan) + first * WINDOW_BANKS),
                 TENSOR(map, k, column), barrier_of(w, pair));
        }
    }
}

void window_tma_copy(window_emitter *w, mc_reg first_column, mc_reg to) {
    mc_builder *b = w->b;
    mc_label asked = label(b, "ASKED");
    heading(b, "The window's columns to shared memory: one thread asks for %d bytes of them at a time",
            WINDOW_BANKS);
    w->columns.barriers = add_s32(b, "barriers", to, I((int)w->plan->columns_bytes));
    w->columns.passed = pred(b, "passed");
    mc_reg others = setp_ne(b, "others", w->place.thread, I(0));
    EMIT_IF(b, others, bra, TO(asked));
    emit_barriers(w);
    emit_copies(w, first_column, to);
    set_label(b, asked);
}

static mc_label pair_label(mc_builder *b, const char *name, const char *what, int pair) {
    char text[MC_MAX_NAME];
    snprintf(text, sizeof text, "%s_%s_%d", name, what, pair);
    return label(b, text);
}

void window_tma_wait(const window_emitter *w, const char *name, int pair) {
    mc_builder *b = w->b;
    mc_label again = pair_label(b, name, "WAITS", pair), passed = pair_label(b, name, "HAS", pair);
    set_label(b, again);
    EMIT(b, mbarrier_try_wait, w->columns.passed, barrier_of(w, pair), I(0));
    EMIT_IF(b, w->columns.passed, bra, TO(passed));
    EMIT(b, bra, TO(again));
    set_label(b, passed);
}
