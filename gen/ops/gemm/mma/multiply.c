/* The loop over the stages of a tile. Each warp multiplies its rows of A by its columns of B, a step of 32
 * bytes of k at a time: an mma takes as much, whatever the elements are. With a sparse A these are the
 * elements that are kept, and 64 bytes of B. While a step is multiplied the next
 * one's operands come from shared memory by ldmatrix, of the next stage in a stage's last step:
 *
 *   step     0               1               last
 *   loads    step 1          step 2          wait, meet; step 0 of the next stage
 *   asks     for a part of the stage that goes where the one before this lay     -
 *
 * One barrier a stage is enough: whoever has passed it has read the stage before. */
#include "ops/gemm/mma/mma.h"
#include "parts/fragment.h"
#include <stdio.h>

enum { SETS = 2 };

typedef struct multiplier {
    const mma_kernel *g;
    mc_builder *b;
    mc_reg a_lane, b_lane; /* what a lane reads first of stage 0 */
    mc_reg a_at, b_at;     /* of the stage at hand */
    mc_reg read, wraps;    /* bytes from stage 0 to the stage at hand */
    mc_reg step_at;        /* scratch */
    mc_reg a[SETS][MMA_MOST_ROWS][MMA_A_REGS], b_regs[SETS][MMA_MOST_COLUMNS][2 * MMA_B_REGS];
    mma_metadata metadata; /* sparse */
} multiplier;

/* -- Addresses ------------------------------------------------------------------------------------------ */

/* LINE of a tile's panel, and byte BYTE of it, which goes by 16, from FIRST on. */
static mc_reg place(const mma_kernel *g, const char *name, const shared_tile *tile, mc_reg line, mc_reg byte,
                    mc_reg first) {
    mc_builder *b = g->b;
    mc_reg key = mma_emit_key(b, "lane_key", mma_key_of(tile), line);
    mc_reg at = mad_s32(b, "line_at", line, I(tile->span), first);
    return add_s32(b, name, at, xor_b32(b, "chunk_at", byte, key));
}

/* Lanes 0 to 15 name 16 lines, and lanes 16 to 31 the same ones' next chunk: matrices of 8 lines, in the
   order of A's registers. */
static mc_reg place_a(const mma_kernel *g) {
    mc_builder *b = g->b;
    b->prefix = "a_";
    mc_reg line = add_s32(b, "lane_line", g->warp_row, and_b32(b, "lane_of_16", g->place.lane, I(15)));
    mc_reg chunk = and_b32(b, "lane_chunk", g->place.lane, I(16));
    mc_reg at = place(g, "lane_at", &g->lhs, line, chunk, g->shared);
    b->prefix = NULL;
    return at;
}

/* Of B by columns two mma's registers: lanes 8 to 15 name the next chunk of the lines of lanes 0 to 7, and
   lanes 16 to 31 the same of the next 8 lines. */
static mc_reg place_columns(const mma_kernel *g, mc_reg first) {
    mc_builder *b = g->b;
    mc_reg low = and_b32(b, "lane_of_8", g->place.lane, I(7));
    mc_reg high = shr_u32(b, "lane_high", and_b32(b, "lane_16", g->place.lane, I(16)), I(1));
    mc_reg line = add_s32(b, "lane_line", add_s32(b, "lane_column", low, high), g->warp_column);
    mc_reg chunk = shl_b32(b, "lane_chunk", and_b32(b, "lane_8", g->place.lane, I(8)), I(1));
    return place(g, "lane_at", &g->rhs, line, chunk, first);
}

/* Of B by rows the warp's columns begin in a panel, COLUMN bytes from its first line's first. */
static mc_reg place_panel(const mma_kernel *g, mc_reg first, mc_reg *column) {
    mc_builder *b = g->b;
    const shared_tile *tile = &g->rhs;
    int log = log2_of(tile->span / tile->bytes);
    mc_reg panel = shr_u32(b, "warp_panel", g->warp_column, I(log));
    mc_reg inside = and_b32(b, "in_panel", g->warp_column, I((1 << log) - 1));
    *column = shl_b32(b, "column_bytes", inside, I(log2_of(tile->bytes)));
    return mad_s32(b, "panel_at", panel, I(tile_panel(tile)), first);
}

/* Lanes name 16 k, and lanes 16 to 31 the next 8 columns. Transposed, these are two mma's registers. */
static mc_reg place_rows(const mma_kernel *g, mc_reg first) {
    mc_builder *b = g->b;
    mc_reg column, panel = place_panel(g, first, &column);
    mc_reg line = and_b32(b, "lane_line", g->place.lane, I(15));
    mc_reg chunk = add_s32(b, "lane_chunk", and_b32(b, "lane_16", g->place.lane, I(16)), column);
    return place(g, "lane_at", &g->rhs, line, chunk, panel);
}

/* Elements of 4 bytes by rows are loaded one by one: lane 4 g + t has k t, and column g. */
static mc_reg place_words(const mma_kernel *g, mc_reg first) {
    mc_builder *b = g->b;
    mc_reg column, panel = place_panel(g, first, &column);
    mc_reg own = mad_s32(b, "lane_byte", g->place.g, I(WORD), column);
    return place(g, "lane_at", &g->rhs, g->place.t, own, panel);
}

static mc_reg place_b(const mma_kernel *g) {
    mc_builder *b = g->b;
    b->prefix = "b_";
    mc_reg first = add_s32(b, "tile_at", g->shared, I(tile_bytes(&g->lhs)));
    mc_reg at = (!g->rhs.mn_major       ? place_columns
                 : g->rhs.bytes == WORD ? place_words
                                        : place_rows)(g, first);
    b->prefix = NULL;
    return at;
}

/* -- Operands ------------------------------------------------------------------------------------------- */

/* AT, moved by BYTES of its line's 16-byte chunks. */
static mc_reg moved(const multiplier *m, mc_reg at, int bytes) {
    if (bytes == 0) return at;
    EMIT(m->b, xor_b32, m->step_at, at, I(bytes));
    return m->step_at;
}

static void load_a(const multiplier *m, int step, int set, mc_reg guard) {
    mc_reg at = moved(m, m->a_at, step * MMA_K_BYTES);
    for (int i = 0; i < mma_row_tiles(m->g->plan); i++)
        EMIT_IF(m->b, guard, ldmatrix_x4, V4(m->a[set][i]), AT(at, i * MMA_ROWS * m->g->lhs.span));
}

/* The registers of two mma's B: of each those of the PART-th 32 bytes of k. */
static void pair_of(const multiplier *m, int set, int pair, int part, mc_reg regs[2 * MMA_B_REGS]) {
    for (int i = 0; i < 2; i++)
        memcpy(&regs[i * MMA_B_REGS], &m->b_regs[set][2 * pair + i][part * MMA_B_REGS],
               MMA_B_REGS * sizeof *regs);
}

/* K counts 32 bytes of k. */
static void load_columns(const multiplier *m, int k, int set, int part, mc_reg guard) {
    const shared_tile *tile = &m->g->rhs;
    int byte = k * MMA_K_BYTES, panel = byte / tile->span * tile_panel(tile);
    mc_reg at = moved(m, m->b_at, byte % tile->span), regs[2 * MMA_B_REGS];
    for (int pair = 0; pair < mma_column_tiles(m->g->plan) / 2; pair++) {
        pair_of(m, set, pair, part, regs);
        EMIT_IF(m->b, guard, ldmatrix_x4, V4(regs), AT(at, panel + pair * 2 * MMA_COLUMNS * tile->span));
    }
}

static void load_rows(const multiplier *m, int k, int set, int part, mc_reg guard) {
    enum { PAIR_BYTES = 2 * MMA_COLUMNS * 2, STEP_LINES = MMA_K_BYTES / 2 };
    mc_reg regs[2 * MMA_B_REGS];
    for (int pair = 0; pair < mma_column_tiles(m->g->plan) / 2; pair++) {
        mc_reg at = moved(m, m->b_at, pair * PAIR_BYTES);
        pair_of(m, set, pair, part, regs);
        EMIT_IF(m->b, guard, ldmatrix_x4_trans, V4(regs), AT(at, k * STEP_LINES * m->g->rhs.span));
    }
}

/* A line has 32 columns, the next panel the next ones. */
static void load_words(const multiplier *m, int k, int set, int part, mc_reg guard) {
    enum { STEP_LINES = MMA_K_BYTES / WORD, HALF = STEP_LINES / 2 };
    const shared_tile *tile = &m->g->rhs;
    for (int j = 0; j < mma_column_tiles(m->g->plan); j++) {
        int byte = j * MMA_COLUMNS * WORD, panel = byte / tile->span * tile_panel(tile);
        mc_reg at = moved(m, m->b_at, byte % tile->span);
        for (int half = 0; half < MMA_B_REGS; half++)
            EMIT_IF(m->b, guard, lds_b32, m->b_regs[set][j][part * MMA_B_REGS + half],
                    AT(at, panel + (k * STEP_LINES + half * HALF) * tile->span));
    }
}

/* Loads the operands of step STEP of the stage at hand, where GUARD holds (none: always). */
static void load_step(const multiplier *m, int step, int set, mc_reg guard) {
    const shared_tile *tile = &m->g->rhs;
    int parts = mma_b_regs(m->g->plan) / MMA_B_REGS;
    load_a(m, step, set, guard);
    for (int part = 0; part < parts; part++)
        (!tile->mn_major       ? load_columns
         : tile->bytes == WORD ? load_words
                               : load_rows)(m, step * parts + part, set, part, guard);
    if (step == 0 && m->g->plan->problem.sparse) mma_load_metadata(&m->metadata, m->g, m->read, guard);
}

static void round_regs(const multiplier *m, const mc_reg *regs, int count) {
    for (int i = 0; i < count; i++) EMIT(m->b, cvt_tf32_f32, regs[i], regs[i]);
}

static void round_set(const multiplier *m, int set) {
    int rows = m->g->plan->problem.sparse ? 0 : mma_row_tiles(m->g->plan); /* packed, it is rounded */
    for (int i = 0; i < rows; i++) round_regs(m, m->a[set][i], MMA_A_REGS);
    for (int j = 0; j < mma_column_tiles(m->g->plan); j++)
        round_regs(m, m->b_regs[set][j], mma_b_regs(m->g->plan));
}

static void multiply(const multiplier *m, int step, int set, mma_sums sums) {
    const mma_plan *plan = m->g->plan;
    if (plan->form.rounded) round_set(m, set);
    for (int i = 0; i < mma_row_tiles(plan); i++)
        for (int j = 0; j < mma_column_tiles(plan); j++) {
            mc_operand d = operand_vector(sums[i][j], mma_sum_regs(plan)), a = V4(m->a[set][i]);
            if (plan->problem.sparse)
                builder_emit(m->b, (mc_reg){0}, mma_sparse_like(plan->form.mma),
                             MC_OPERANDS(d, a, V4(m->b_regs[set][j]), d,
                                         mma_metadata_word(&m->metadata, m->g, step, i),
                                         I(mma_metadata_selector(m->g, step))));
            else builder_emit(m->b, (mc_reg){0}, plan->form.mma, MC_OPERANDS(d, a, V2(m->b_regs[set][j]), d));
        }
}

/* -- The loop ------------------------------------------------------------------------------------------- */

static void declare_set(multiplier *m, int set) {
    static const char *const a_names[] = {"a_even", "a_odd"}, *const b_names[] = {"b_even", "b_odd"};
    mc_reg regs[MMA_MOST_COLUMNS * MMA_A_REGS];
    const mma_plan *plan = m->g->plan;
    int rows = mma_row_tiles(plan), columns = mma_column_tiles(plan), b_regs = mma_b_regs(plan);
    b32_array(m->b, a_names[set], rows * MMA_A_REGS, regs);
    memcpy(m->a[set], regs, (size_t)rows * sizeof m->a[set][0]);
    b32_array(m->b, b_names[set], columns * b_regs, regs);
    for (int j = 0; j < columns; j++)
        memcpy(m->b_regs[set][j], &regs[j * b_regs], (size_t)b_regs * sizeof *regs);
}

static void declare_sums(const mma_kernel *g, mma_sums sums) {
    mc_builder *b = g->b;
    mc_reg regs[MMA_MOST_COLUMNS * MMA_SUMS];
    char name[MC_MAX_NAME];
    int columns = mma_column_tiles(g->plan), count = mma_sum_regs(g->plan);
    for (int i = 0; i < mma_row_tiles(g->plan); i++) {
        snprintf(name, sizeof name, "sum_of_%d_", i);
        b32_array(b, name, columns * count, regs);
        for (int j = 0; j < columns; j++) memcpy(sums[i][j], &regs[j * count], (size_t)count * sizeof *regs);
        for (int j = 0; j < columns * count; j++) EMIT(b, mov_b32, regs[j], I(0));
    }
}

static void find_stage(const multiplier *m) {
    EMIT(m->b, add_s32, m->a_at, m->a_lane, m->read);
    EMIT(m->b, add_s32, m->b_at, m->b_lane, m->read);
}

/* The next stage becomes the one at hand: it is there, and everybody has read the one before. */
static void next_stage(const multiplier *m, const mma_feed *f) {
    mc_builder *b = m->b;
    note(b, "the next stage has arrived, and everybody has read the one before");
    mma_await(f, m->g->plan->stages - 2);
    EMIT(b, add_s32, m->read, m->read, I(mma_stage_bytes(m->g->plan)));
    EMIT(b, setp_eq, m->wraps, m->read, I(mma_shared_bytes(m->g->plan)));
    EMIT_IF(b, m->wraps, mov_b32, m->read, I(0));
    find_stage(m);
}

static void emit_stage(const multiplier *m, mma_feed *f, mc_reg more, mma_sums sums) {
    mc_builder *b = m->b;
    int steps = mma_steps(m->g->plan), last = steps - 1;
    for (int step = 0; step < steps; step++) {
        int set = step % SETS;
        note(b, "step %d", step);
        if (step == 0 && m->g->plan->problem.sparse) mma_take_metadata(&m->metadata, m->g);
        if (step == last) next_stage(m, f);
        if (step == last) load_step(m, 0, SETS - 1 - set, more);
        else load_step(m, step + 1, SETS - 1 - set, (mc_reg){0});
        if (step != last) mma_feed_part(f, step, last);
        multiply(m, step, set, sums);
        if (step == last - 1) mma_feed_end(f);
    }
}

void mma_emit_products(const mma_kernel *g, mma_feed *f, mma_sums sums) {
    mc_builder *b = g->b;
    multiplier m = {.g = g, .b = b};
    mc_label stage = label(b, "STAGE");
    note(b, "what a lane reads of stage 0");
    m.a_lane = place_a(g), m.b_lane = place_b(g);
    if (g->plan->problem.sparse) mma_begin_metadata(&m.metadata, g);
    m.a_at = b32(b, "a_stage"), m.b_at = b32(b, "b_stage"), m.step_at = b32(b, "step_at");
    m.read = carried(b, "read", I(0)), m.wraps = pred(b, "read_wraps");
    for (int set = 0; set < SETS; set++) declare_set(&m, set);
    mma_fill(f);
    declare_sums(g, sums);
    heading(b, "Multiply: %d x %d sums a warp, a stage of %d bytes of k at a time", g->plan->warp_m,
            g->plan->warp_n, g->plan->span);
    note(b, "stage 0 has arrived");
    mma_await(f, g->plan->stages - 2);
    find_stage(&m);
    load_step(&m, 0, 0, (mc_reg){0});
    mc_reg left = carried(b, "stages_left", g->k_stages), more = pred(b, "more");
    set_label(b, stage);
    EMIT(b, setp_gt, more, left, I(1));
    emit_stage(&m, f, more, sums);
    EMIT(b, add_s32, left, left, I(-1));
    EMIT_IF(b, more, bra_uni, TO(stage));
}
