/* The window SDDMM: groups of an item, 16 columns of the window each, are multiplied and stored.
 *
 * A group's mma are a chain: each adds to the sums of the one before, and waits for it. With `interleave` = 2
 * the mma of two groups take turns, so that a warp waits half as often. Of an odd number of groups the last
 * one goes alone.
 *
 * Banks. A quarter of a warp, lane groups 2 q and 2 q + 1, reads a chunk of 64 bytes of each of two columns
 * at once. That is without a conflict if the two chunks lie in different halves of 128 bytes, and so they do
 * if one column is even and the other odd. Columns of an odd number of chunks lie so when they lie one behind
 * the other; of columns with an even number, odd columns have each two chunks changed over. Tensor copies lay
 * 128 bytes of a column one behind those of the next, and exchange their units of 16 bytes by the column's
 * lowest three bits (the swizzle of 128 bytes): a column with bit 2 has its two chunks changed over, and
 * bits 0 and 1 exchange units inside a chunk. The packer makes pairs of either kind as far as an item's
 * columns go (runtime/formats/sampled_window.c). */
#include "ops/sddmm/window/window.h"

void window_declare_groups(window_emitter *w) {
    static const struct group_names {
        const char *x, *y, *at, *swapped, *acc;
    } names[WINDOW_MAX_INTERLEAVE] = {
        {"x", "y", "column_at", "column_swapped", "acc"},
        {"x_beside", "y_beside", "column_at_beside", "column_swapped_beside", "acc_beside"}};
    mc_builder *b = w->b;
    const window_plan *plan = w->plan;
    int words = 4 * plan->items.chunks, sums = window_octets(w) * plan->problem.arithmetic.accs;
    w->columns.column = b32(b, "column"), w->columns.odd = b32(b, "odd");
    for (int i = 0; i < plan->items.at_once; i++) {
        window_group *group = &w->group[i];
        b32_array(b, names[i].x, words, group->words[0]);
        b32_array(b, names[i].y, words, group->words[1]);
        b32_array(b, names[i].at, 2, group->at);
        if (window_swaps(plan)) b32_array(b, names[i].swapped, 2, group->swapped);
        b32_array(b, names[i].acc, sums, group->acc);
    }
}

/* Sets where the columns lie that INDEX has for slots g and g + 8 of a group. */
static void emit_columns(const window_emitter *w, const window_group *to, const mc_reg index[2]) {
    mc_builder *b = w->b;
    for (int half = 0; half < 2; half++) {
        mc_reg at = to->at[half];
        EMIT(b, and_b32, w->columns.column, index[half], H(SAMPLED_COLUMN_MASK));
        EMIT(b, mad_s32, at, w->columns.column, I(window_column_step(w->plan)), w->columns.lane);
        if (!window_swaps(w->plan)) continue;
        bool tensor = w->plan->tensor;
        EMIT(b, shl_b32, w->columns.odd, index[half], I(tensor ? WINDOW_SWIZZLE_SHIFT : WINDOW_CHUNK_SHIFT));
        EMIT(b, lop3, at, at, w->columns.odd, I(tensor ? WINDOW_SWIZZLE : WINDOW_CHUNK), H(WINDOW_XOR_AND));
        EMIT(b, xor_b32, to->swapped[half], at, I(WINDOW_CHUNK));
    }
}

static void emit_load_chunk(const window_emitter *w, const window_group *group, int chunk) {
    bool swaps = window_swaps(w->plan), second = swaps && chunk % 2;
    int offset = swaps ? chunk / 2 * window_pair_step(w->plan) : chunk * WINDOW_CHUNK;
    for (int half = 0; half < 2; half++) {
        mc_reg at = second ? group->swapped[half] : group->at[half];
        EMIT(w->b, lds_v4, V4(&group->words[half][4 * chunk]), AT(at, offset));
    }
}

static void emit_step(const window_emitter *w, const window_group *group, int step) {
    const sddmm_arithmetic *a = &w->plan->problem.arithmetic;
    const mc_reg(*words)[SDDMM_MAX_ROW] = group->words;
    sddmm_factor factors[SDDMM_MAX_OCTETS];
    for (int octet = 0; octet < window_octets(w); octet++)
        factors[octet] =
            (sddmm_factor){sddmm_panel_operands(&w->lhs.panel, octet, step), &group->acc[octet * a->accs]};
    sddmm_emit_products(&w->multiplier, &words[0][a->b_words * step], &words[1][a->b_words * step], factors,
                        window_octets(w));
}

static void emit_store(const window_emitter *w, const window_group *group, int number) {
    const mc_reg *sums[SDDMM_MAX_OCTETS];
    for (int octet = 0; octet < window_octets(w); octet++) {
        sums[octet] = &group->acc[octet * w->plan->problem.arithmetic.accs];
        sddmm_emit_settle(&w->multiplier, sums[octet]);
    }
    sddmm_emit_store(&w->store, number, sums);
}

/* Of an item's first groups each pair of chunks is waited for: these may be the warp's first. */
static void emit_load_chunks(const window_emitter *w, int chunk, int first, int count) {
    if (w->plan->tensor && first == 0 && chunk % 2 == 0)
        window_tma_wait(w, count < w->plan->items.at_once ? "ALONE" : "FIRST", chunk / 2);
    for (int i = 0; i < count; i++) emit_load_chunk(w, &w->group[i], chunk);
}

/* Each chunk is loaded ahead of the mma of the chunk before. */
void window_emit_groups(const window_emitter *w, int first, int count) {
    mc_builder *b = w->b;
    const sddmm_arithmetic *a = &w->plan->problem.arithmetic;
    int chunks = w->plan->items.chunks;
    for (int i = 0; i < count; i++) {
        note(b, "columns of group %d", first + i);
        emit_columns(w, &w->group[i], &w->index[2 * (first + i)]);
        sddmm_emit_group_factors(&w->store, first + i);
        sddmm_emit_zero(b, w->group[i].acc, window_octets(w) * a->accs);
    }
    emit_load_chunks(w, 0, first, count);
    for (int chunk = 0; chunk < chunks; chunk++) {
        if (chunk + 1 < chunks) emit_load_chunks(w, chunk + 1, first, count);
        for (int step = chunk * a->steps; step < (chunk + 1) * a->steps; step++)
            for (int i = 0; i < count; i++) emit_step(w, &w->group[i], step);
    }
    for (int i = 0; i < count; i++) emit_store(w, &w->group[i], first + i);
}
