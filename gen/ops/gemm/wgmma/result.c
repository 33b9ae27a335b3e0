/* How a wgmma kernel makes C of its sums: the output's arithmetic in registers (output.h), two neighbouring
   columns at a time; then straight to C, or through shared memory by tensor copies (tile_store.h). */
#include "ops/gemm/wgmma/wgmma.h"
#include "parts/emit.h"
#include "parts/fragment.h"

enum { RUN = 2, OCTET = 8, HALVES = 2 }; /* columns that a lane has side by side; of what; rows that it has */

static bool is_direct(const wgmma_kernel *g) { return g->plan->store != WGMMA_TENSOR; }
static int run_store(const wgmma_kernel *g) { return g->plan->store == WGMMA_SINGLE ? 1 : RUN; }

/* -- Begin -------------------------------------------------------------------------------------------- */

static void begin_store(wgmma_result *r) {
    const wgmma_kernel *g = r->g;
    const wgmma_plan *plan = g->plan;
    r->store = (tile_store){.b = r->b,
                            .param = "c_map",
                            .columns = wgmma_result_columns(plan),
                            .bytes = out_element_bytes(plan->problem.output.element),
                            .adds = plan->adds,
                            .slots = wgmma_slots(g->plan),
                            .warp = g->roles.warp,
                            .lane = g->roles.lane,
                            .warp_row = g->roles.warp_row};
    int stages = plan->stages * wgmma_stage_bytes(plan);
    r->store.first = add_s32(r->b, "slots", g->pipe.first, I(stages));
    store_begin(&r->store);
}

/* Whether a row of C matters for more than its sums. */
static bool looks_at_rows(const wgmma_kernel *g) {
    const out_kind *output = &g->plan->problem.output;
    return is_direct(g) || out_by_rows(output) || output->residual != OUT_NO_ADDEND;
}

static bool looks_at_columns(const wgmma_kernel *g) {
    const out_kind *output = &g->plan->problem.output;
    return is_direct(g) || out_by_columns(output) || output->residual != OUT_NO_ADDEND;
}

static mc_operand leading(mc_builder *b, const char *name, int64_t fixed) {
    return dim_operand(fixed, load_shape(b, name, fixed == MC_OPEN));
}

static out_residual residual_of(const wgmma_kernel *g) {
    const gemm_problem *p = &g->plan->problem;
    if (p->output.residual == OUT_NO_ADDEND) return (out_residual){0};
    return (out_residual){.array = load_array(g->b, "residual"),
                          .ld = leading(g->b, "ldr", p->ldr),
                          .load = wgmma_residual_load(g->plan),
                          .count = RUN};
}

static void begin_writer(wgmma_result *r) {
    const wgmma_kernel *g = r->g;
    const gemm_problem *p = &g->plan->problem;
    mc_builder *b = r->b;
    r->writer = (out_writer){.b = b,
                             .output = &p->output,
                             .columns = {.n = dim_operand(p->n, g->n), .clamp = true, .whole = run_store(g)},
                             .in_rows = r->row.id ? pred(b, "in_rows") : (mc_reg){0},
                             .store = is_direct(g) ? run_store(g) : RUN,
                             .residual = residual_of(g)};
    if (is_direct(g)) {
        r->writer.c_array = load_array(b, "c");
        r->writer.ldc = leading(b, "ldc", p->ldc);
    }
    out_declare_factors(&r->factors, b, &p->output, (out_columns){.n = r->writer.columns.n}, HALVES, RUN);
    if (out_by_columns(&p->output)) r->factors.inside = pred(b, "in_columns"), r->at_col = b32(b, "at_col");
    out_declare_result(&r->factors);
    out_declare_writer(&r->writer);
    r->rows[0] = (wgmma_row){r->writer.in_rows, r->writer.at, r->writer.residual.at};
    if (r->row.id) r->rows[1].inside = pred(b, "in_rows_below");
    if (is_direct(g)) r->rows[1].c_at = b64(b, "c_at_below");
    if (r->writer.residual.at.id) r->rows[1].residual_at = b64(b, "residual_at_below");
}

void wgmma_begin_result(wgmma_result *r, const wgmma_kernel *g) {
    mc_builder *b = g->b;
    *r = (wgmma_result){.g = g, .b = b};
    if (!is_direct(g)) begin_store(r);
    if (wgmma_has_halves(g->plan)) return;
    mc_reg lane = g->roles.lane;
    if (looks_at_rows(g)) {
        note(b, "the lane's first row of C, of 64");
        mc_reg line = shr_u32(b, "c_g", lane, I(FRAG_GROUP_SHIFT));
        r->line = add_s32(b, "c_first_line", g->roles.warp_row, line);
        r->row = b32(b, "c_at_row");
    }
    if (looks_at_columns(g)) {
        note(b, "its first column, of 8");
        r->pair = shl_b32(b, "c_pair_at", and_b32(b, "c_thread", lane, I(FRAG_THREAD_MASK)), I(1));
        r->col = b32(b, "c_at_col");
    }
    begin_writer(r);
}

/* -- A block of 64 rows --------------------------------------------------------------------------------- */

/* Two neighbouring sums become elements of C, in the sums' own registers: of 2 bytes in the first one. */
static void convert(wgmma_result *r, const out_run *run) {
    memcpy(r->writer.scratch.real, run->sums, RUN * sizeof *run->sums);
    r->writer.scratch.packed[0] = run->sums[0];
    out_words(&r->writer, &r->factors, run, 0, RUN);
}

/* The output's writer of one of the lane's two rows. */
static void take_row(wgmma_result *r, int half) {
    const wgmma_row *row = &r->rows[half];
    r->writer.in_rows = row->inside, r->writer.at = row->c_at, r->writer.residual.at = row->residual_at;
}

/* Where the lane's rows are: of C, and of the residual. */
static void place_rows(wgmma_result *r, mc_reg first, int offset) {
    mc_builder *b = r->b;
    for (int half = 0; half < HALVES && r->row.id; half++) {
        take_row(r, half);
        EMIT(b, add_s32, r->row, first, r->line);
        EMIT(b, add_s32, r->row, r->row, I(offset + half * OCTET));
        EMIT(b, setp_lt, r->writer.in_rows, r->row, r->g->m);
        out_load_row_factors(&r->factors, half, r->row, 0, r->writer.in_rows);
        if (is_direct(r->g)) out_c_address(&r->writer, r->row, r->col);
        out_residual_address(&r->writer, r->row, r->col);
    }
}

/* Of the lane's two columns OFFSET columns on, those that there are. */
static void load_columns(wgmma_result *r, int offset) {
    mc_builder *b = r->b;
    int step = run_store(r->g);
    for (int i = 0; i < RUN && r->factors.inside.id; i += step) {
        EMIT(b, add_s32, r->at_col, r->col, I(offset + i));
        EMIT(b, setp_lt, r->factors.inside, r->at_col, r->g->n);
        out_load_column_factors(&r->factors, i, r->col, offset + i, step);
    }
}

static void make_octet(wgmma_result *r, const mc_reg *sums, int octet) {
    load_columns(r, octet * OCTET);
    for (int half = 0; half < HALVES; half++) {
        const out_run run = {.col = r->col,
                             .offset = octet * OCTET,
                             .count = RUN,
                             .sums = &sums[octet * HALVES * RUN + half * RUN],
                             .factor_row = half};
        take_row(r, half);
        out_load_residual(&r->writer, 0, r->col, run.offset, RUN);
        if (is_direct(r->g)) out_store_run(&r->writer, &r->factors, &run);
        else convert(r, &run);
    }
}

static void make_rows(wgmma_result *r, const mc_reg *sums, mc_reg row, int offset, mc_reg column) {
    note(r->b, "what the output makes of the sums");
    if (r->col.id) EMIT(r->b, add_s32, r->col, column, r->pair);
    place_rows(r, row, offset);
    for (int octet = 0; octet < wgmma_result_columns(r->g->plan) / OCTET; octet++) make_octet(r, sums, octet);
}

/* The registers that have two elements each, of those that have sums. */
static void take_pairs(const mc_reg *sums, int count, mc_reg *pairs) {
    for (int i = 0; i < count / RUN; i++) pairs[i] = sums[i * RUN];
}

void wgmma_store_result(wgmma_result *r, const mc_reg *sums, mc_reg row, int offset, mc_reg column) {
    mc_reg pairs[WGMMA_SUMS / RUN];
    bool halves = wgmma_has_halves(r->g->plan);
    if (!halves) make_rows(r, sums, row, offset, column);
    if (is_direct(r->g)) return;
    if (!halves && r->store.bytes != WORD) {
        take_pairs(sums, wgmma_result_columns(r->g->plan) / OCTET * HALVES * RUN, pairs);
        sums = pairs;
    }
    store_tile(&r->store, sums, row, offset, column);
}

void wgmma_end_result(const wgmma_result *r) {
    if (!is_direct(r->g)) store_end(&r->store);
}
