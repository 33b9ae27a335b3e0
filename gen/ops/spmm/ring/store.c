/* The ring kernel's epilogue: a warp's accumulators become its rows of C, with scales and biases.
 *
 * A lane has the columns of one pair of bytes in each 16 bytes. Where that pair is one column (a B of 12 or
 * 16 bits), the lanes of g and g + 1, g even, exchange sums first: the even one gets both columns of the even
 * 16 bytes, the odd one both columns of the odd ones. Stores then have the same width, and touch as many
 * sectors, as with 8 bits.
 *
 * Two bytes a lane are half a sector of C. So where C has 8 bits, neighbours in g exchange words of two runs:
 * the even one gets four columns of the first run's 16, the odd one four of the second's.
 *
 * With vectors of 16 rows a lane often has a word of C in each run, and the four lanes t have the 16 bytes of
 * the run: half a sector. These lanes transpose the words of four runs, so that each of them gets a run's 16
 * bytes and stores them at once; of two runs, where there are no more, two words each. With fewer rows the
 * lanes of g store whole sectors as they are, and the transpose costs more than it brings (1 to 2 % on an
 * H200). */
#include "parts/fragment.h"
#include "parts/lanes.h"
#include "ops/spmm/ring/store.h"

enum { PAIR_COLUMNS = 16 }; /* columns of an mma: 8 pairs */

/* Whether neighbours in g exchange words of two runs, in the wide path, of which a word holds both. */
static bool mixes(const ring_plan *plan) {
    bool half = out_bytes(plan->base.output.element, ring_run(plan)) <= 2;
    return half && !plan->base.c_columns && !ring_exchanges(plan) && !ring_is_tall(plan) &&
           ring_runs(plan) % 2 == 0;
}

/* Of how many runs lanes transpose words there; 1: they do not. A fixed ldc may allow stores of fewer. */
static int transposed(const ring_plan *plan) {
    const spmm_plan *base = &plan->base;
    int count = LANES_MOST, run = ring_run(plan);
    bool words = out_bytes(base->output.element, run) == WORD;
    if (!words || base->c_columns || !ring_is_tall(plan)) return 1;
    while (ring_runs(plan) % count || count * run > OUT_MAX_STORE) count /= 2;
    while (count > 1 && base->ldc != MC_OPEN && base->ldc % (count * run)) count /= 2;
    return count;
}

/* How many runs a lane stores at once. */
static int grouped(const ring_plan *plan) { return mixes(plan) ? 2 : transposed(plan); }

/* Columns of such runs; and those that a lane stores at once there, of a column-major C rows: of the widest
   runs 16 bytes. */
static int group_columns(const ring_plan *plan) { return ring_run(plan) * grouped(plan); }
static int store_columns(const ring_plan *plan) {
    int columns = group_columns(plan);
    if (plan->together > 1) return ring_tile_store(plan);
    if (plan->base.c_columns) return ring_pair_rows(plan);
    while (out_bytes(plan->base.output.element, columns) > RING_STORE_BYTES) columns /= 2;
    return columns;
}

/* -- Before the loop over strides --------------------------------------------------------------------- */

static mc_reg emit_column(const ring_emitter *r) {
    mc_builder *b = r->at.b;
    const ring_plan *plan = r->plan;
    mc_reg col = b32(b, "col"), g = r->at.place.g;
    if (ring_is_tall(plan)) EMIT(b, mad_s32, col, r->at.place.t, I(ring_run(plan)), r->at.tile_col);
    else if (ring_exchanges(plan)) {
        note(b, "lane g: columns g and g + 1 of each %d, or where g is odd g + 7 and g + 8", PAIR_COLUMNS);
        EMIT(b, and_b32, col, g, I(1));
        EMIT(b, mad_s32, col, col, I(PAIR_COLUMNS / 2 - 1), g);
        EMIT(b, add_s32, col, col, r->at.tile_col);
    } else EMIT(b, mad_s32, col, g, I(ring_run(plan)), r->at.tile_col);
    if (ring_owners(plan) > 1)
        EMIT(b, mad_s32, col, ring_shares_columns(plan) ? r->rank : r->at.part,
             I(plan->base.tile_n / ring_owners(plan)), col);
    return col;
}

void ring_emit_epilogue_start(ring_epilogue *e) {
    const ring_emitter *r = e->r;
    const spmm_plan *plan = r->at.plan;
    out_columns columns = {dim_operand(plan->n, r->at.n), true, 1};
    e->col = emit_column(r);
    e->sum = ring_emit_sum_place(r);
    int count = ring_loads_late(r->plan) ? group_columns(r->plan) : ring_run(r->plan) * ring_runs(r->plan);
    out_declare_factors(&e->factors, r->at.b, &plan->output, columns, ring_lane_rows(r->plan), count);
    if (!ring_loads_late(r->plan)) out_declare_result(&e->factors);
}

void ring_emit_row_factors(ring_epilogue *e) {
    const ring_emitter *r = e->r;
    if (!out_by_rows(&r->at.plan->output)) return;
    mc_reg row = b32(r->at.b, "factor_row");
    ring_emit_row(e, row);
    for (int i = 0; i < ring_lane_rows(r->plan); i++)
        out_load_row_factors(&e->factors, i, row, i * ring_row_step(r->plan), r->at.stores);
}

/* -- Behind it ---------------------------------------------------------------------------------------- */

/* Exchanges sums with the neighbour in g. Before, a lane has columns g and g + 8 of an mma; after it, two
   neighbouring columns. */
static void emit_exchange(const ring_epilogue *e) {
    const ring_emitter *r = e->r;
    mc_builder *b = r->at.b;
    if (!ring_exchanges(r->plan)) return;
    heading(b, "Neighbours in g exchange sums: two columns beside one another for each");
    mc_reg give = b32(b, "give"), got = b32(b, "got");
    EMIT(b, and_b32, give, r->at.place.g, I(1));
    const lane_exchange x = {b, FRAG_GROUP_SHIFT, setp_eq(b, "odd_g", give, I(1)), give, got};
    for (int i = 0; i < ring_acc_count(r->plan) / ring_owners(r->plan); i += 4)
        for (int row = 0; row < ring_lane_rows(r->plan); row++)
            lanes_exchange(&x, e->sums->acc[i + frag_c_reg(0, row)], e->sums->acc[i + frag_c_reg(1, row)]);
}

/* A path of the epilogue: a lane's stores take GROUP runs each, the first one from column COL on. */
typedef struct store_path {
    ring_epilogue *e;
    out_writer w;
    int group;
    mc_reg col, other;
    mc_reg mix; /* which bytes of its own word and of its neighbour's are a lane's: prmt's selector */
    lane_transpose words;
} store_path;

/* The lane's first column once words are transposed: lane I of a group has run C + I then. */
static void emit_transposed_place(store_path *p) {
    const ring_emitter *r = p->e->r;
    mc_builder *b = r->at.b;
    int run = ring_run(r->plan), span = ring_run_span(r->plan);
    note(b, "%d lanes transpose words of as many runs: each gets %d columns of one", p->group,
         run * p->group);
    p->words = lanes_declare_transpose(b, r->at.place.lane, p->group);
    p->col = mad_s32(b, "store_col", p->words.place, I(span - run), p->e->col);
}

/* The same where neighbours mix words, and which bytes the lane takes. */
static void emit_mixed_place(store_path *p) {
    /* of two bytes a run; of one */
    enum { OWN_LOW = 0x5410, OWN_HIGH = 0x3276, OWN_FIRST = 0x0040, OWN_SECOND = 0x0015 };
    const ring_emitter *r = p->e->r;
    mc_builder *b = r->at.b;
    int run = ring_run(r->plan), span = ring_run_span(r->plan);
    note(b, "lane g: four columns of %d, or where g is odd of the next %d", span, span);
    mc_reg odd = and_b32(b, "g_odd", r->at.place.g, I(1));
    mc_reg is_odd = setp_eq(b, "odd_lane", odd, I(1));
    bool bytes = out_bytes(r->at.plan->output.element, run) == 1;
    p->mix = selp_b32(b, "mix", H(bytes ? OWN_SECOND : OWN_HIGH), H(bytes ? OWN_FIRST : OWN_LOW), is_odd);
    p->col = mad_s32(b, "store_col", odd, I(span - run), p->e->col);
}

static void emit_place(store_path *p) {
    p->col = p->e->col;
    if (p->group == 1) return;
    if (mixes(p->e->r->plan)) emit_mixed_place(p);
    else emit_transposed_place(p);
}

/* Exchanges WORD, of a row's group of runs. */
static void emit_words(store_path *p, const mc_reg *word) {
    mc_builder *b = p->w.b;
    if (!mixes(p->e->r->plan)) {
        lanes_transpose(&p->words, word);
        return;
    }
    EMIT(b, shfl_bfly, p->other, word[0], I(1 << FRAG_GROUP_SHIFT), I(MC_WARP - 1), H(0xffffffff));
    EMIT(b, prmt_by, word[0], word[0], p->other, p->mix);
}

/* GROUP runs from the C-th on, of the lane's row ROW, whose factors stand from COLUMN on, and whose residual
   from RESIDUAL on. */
static void emit_group(store_path *p, int row, int c, int column, int residual) {
    const ring_epilogue *e = p->e;
    out_writer *w = &p->w;
    int run = ring_run(e->r->plan), count = run * p->group;
    mc_reg sums[OUT_MAX_RUN];
    for (int i = 0; i < p->group; i++) ring_run_of_sums(e, c + i, row, sums + run * i);
    const out_run whole = {.col = p->col,
                           .offset = ring_run_span(e->r->plan) * c,
                           .count = count,
                           .sums = sums,
                           .factor_row = row,
                           .factor_column = column,
                           .residual = residual};
    if (p->group == 1) {
        out_store_run(w, &e->factors, &whole);
        return;
    }
    const mc_reg *word = out_words(w, &e->factors, &whole, 0, count);
    emit_words(p, word);
    mc_operand to = AT(w->at, out_bytes(w->output->element, whole.offset));
    out_store(w->b, w->guard, to, w->output->element, count, word);
}

/* Loads a row's residual of the group of runs from the C-th on, as the element FIRST and on. A lane's columns
   are those of its sums: words are exchanged later. */
static void load_residual_of(store_path *p, int c, int first) {
    int run = ring_run(p->e->r->plan);
    for (int i = 0; i < p->group; i++)
        out_load_residual(&p->w, first + run * i, p->e->col, ring_run_span(p->e->r->plan) * (c + i), run);
}

/* One row behind the other. */
static void emit_store_rows(store_path *p) {
    const ring_plan *plan = p->e->r->plan;
    out_writer *w = &p->w;
    ring_load_columns_of(p->e, 0, ring_runs(plan), 0);
    emit_place(p);
    for (int row = 0; row < ring_lane_rows(plan); row++) {
        if (row) EMIT(w->b, add_s32, w->row, w->row, I(ring_row_step(plan)));
        out_c_address(w, w->row, p->col);
        for (int c = 0; c < ring_runs(plan); c += p->group) emit_group(p, row, c, ring_run(plan) * c, 0);
    }
}

/* Sets AT to where the lane's second row of C lies; w->at is that of its first one. */
static void find_next_row(store_path *p, mc_reg at) {
    out_writer *w = &p->w;
    EMIT(w->b, mov_b64, at, w->at);
    w->at = at;
    out_advance_c(w, ring_row_step(p->e->r->plan));
}

/* The same of the lane's second row, from the element FIRST on. */
static void load_next_residual_of(store_path *p, int c, int first) {
    int step = ring_row_step(p->e->r->plan);
    out_advance_residual(&p->w, step);
    load_residual_of(p, c, first);
    out_advance_residual(&p->w, -step);
}

/* Each group of runs of all of the lane's rows: what is loaded for its columns is not kept. */
static void emit_store_runs(store_path *p) {
    out_writer *w = &p->w;
    const ring_plan *plan = p->e->r->plan;
    int count = ring_run(plan) * p->group, rows = ring_lane_rows(plan);
    mc_reg at[2] = {w->at, rows > 1 ? b64(w->b, "c_at_next") : w->at};
    emit_place(p);
    out_c_address(w, w->row, p->col);
    if (rows > 1) find_next_row(p, at[1]);
    out_residual_address(w, w->row, p->e->col);
    for (int c = 0; c < ring_runs(plan); c += p->group) {
        ring_load_columns_of(p->e, c, p->group, 0);
        load_residual_of(p, c, 0);
        if (rows > 1) load_next_residual_of(p, c, count);
        for (int row = 0; row < rows; row++) {
            w->at = at[row];
            emit_group(p, row, c, 0, count * row);
        }
    }
}

static void emit_store_of_rows(ring_epilogue *e, bool clamp) {
    const ring_emitter *r = e->r;
    mc_builder *b = r->at.b;
    int group = clamp ? 1 : grouped(r->plan),
        store = clamp ? out_least_store(r->at.plan->output.element) : store_columns(r->plan);
    store_path p = {.e = e,
                    .w = {.b = b,
                          .output = &r->at.plan->output,
                          .columns = {dim_operand(r->at.plan->n, r->at.n), clamp, 1},
                          .ldc = dim_operand(r->at.plan->ldc, r->at.ldc),
                          .c_array = r->at.c_array,
                          .in_rows = r->at.stores,
                          .store = store,
                          .residual = e->residual},
                    .group = group};
    p.w.residual.load = clamp ? 1 : ring_residual_columns(r->plan);
    p.w.residual.count = ring_lane_rows(r->plan) * ring_run(r->plan) * group;
    e->factors.columns = p.w.columns;
    out_declare_writer(&p.w);
    if (group > 1 && mixes(r->plan)) p.other = b32(b, "other_word");
    if (ring_loads_late(r->plan)) out_declare_result(&e->factors);
    ring_emit_row(e, p.w.row);
    if (ring_loads_late(r->plan)) emit_store_runs(&p);
    else emit_store_rows(&p);
}

static void emit_store(ring_epilogue *e, bool clamp) {
    mc_builder *b = e->r->at.b;
    if (e->r->plan->base.c_columns) ring_emit_store_columns(e, clamp);
    else emit_store_of_rows(e, clamp);
    if (e->r->plan->resident) EMIT(b, bra_uni, TO(e->next));
    else EMIT_RET(b);
}

static int residual_load_bytes(const ring_plan *plan) {
    return ring_residual_columns(plan) * out_residual_bytes(&plan->base.output);
}

static int store_bytes(const ring_plan *plan) {
    return (int)out_bytes(plan->base.output.element, store_columns(plan));
}

/* Goes to EDGE where TEST, in which bits of an address or distance are left, is not 0. */
static void branch_if_odd(mc_builder *b, mc_reg odd, mc_reg test, mc_label edge) {
    EMIT(b, setp_ne, odd, test, I(0));
    EMIT_IF(b, odd, bra_uni, TO(edge));
}

static void branch_if_residual_is_odd(const ring_epilogue *e, mc_reg odd, mc_reg test, mc_label edge) {
    mc_builder *b = e->r->at.b;
    const ring_plan *plan = e->r->plan;
    int columns = ring_residual_columns(plan), bytes = residual_load_bytes(plan);
    if (columns > 1 && plan->base.ldr == MC_OPEN) {
        note(b, "%s of the residual are not aligned for vector loads",
             plan->base.c_columns ? "columns" : "rows");
        EMIT(b, and_b32, test, e->residual.ld, I(columns - 1));
        branch_if_odd(b, odd, test, edge);
    }
    if (columns > 1 && plan->base.align < bytes) {
        note(b, "the residual itself is not");
        EMIT(b, cvt_low, test, e->residual.array);
        EMIT(b, and_b32, test, test, I(bytes - 1));
        branch_if_odd(b, odd, test, edge);
    }
}

static void branch_if_not_whole(const ring_epilogue *e, mc_label edge) {
    const ring_emitter *r = e->r;
    mc_builder *b = r->at.b;
    const spmm_plan *plan = r->at.plan;
    int columns = store_columns(r->plan);
    mc_reg odd = pred(b, "odd_end"), test = b32(b, "test");
    if (plan->n == MC_OPEN || plan->n % plan->tile_n) {
        note(b, "the tile reaches beyond n");
        EMIT(b, add_s32, test, r->at.tile_col, I(plan->tile_n));
        EMIT(b, setp_gt, odd, test, dim_operand(plan->n, r->at.n));
        EMIT_IF(b, odd, bra_uni, TO(edge));
    }
    if (plan->ldc == MC_OPEN && columns > 1) {
        note(b, "%s of C are not aligned for %s %s at once", plan->c_columns ? "columns" : "rows",
             columns == 2   ? "two"
             : columns == 4 ? "four"
             : columns == 8 ? "eight"
                            : "sixteen",
             plan->c_columns ? "rows" : "columns");
        EMIT(b, and_b32, test, r->at.ldc, I(columns - 1));
        branch_if_odd(b, odd, test, edge);
    }
    if (plan->align < store_bytes(r->plan)) {
        note(b, "C itself is not");
        EMIT(b, cvt_low, test, r->at.c_array);
        EMIT(b, and_b32, test, test, I(store_bytes(r->plan) - 1));
        branch_if_odd(b, odd, test, edge);
    }
    branch_if_residual_is_odd(e, odd, test, edge);
}

/* The wide path, which leaves what is odd to EDGE. */
static void emit_wide(ring_epilogue *e, bool always, mc_label edge) {
    const ring_plan *plan = e->r->plan;
    if (!always) branch_if_not_whole(e, edge);
    heading(e->r->at.b, "Store: sums of %s of the row block, %s columns of each %d",
            ring_is_tall(plan)          ? "rows g and g + 8"
            : ring_lane_rows(plan) == 1 ? "the row"
                                        : "rows 2 t and 2 t + 1",
            ring_run(plan) == 2   ? "two"
            : ring_run(plan) == 4 ? "four"
                                  : "eight",
            ring_run_span(plan));
    emit_store(e, false);
}

/* Whether the residual can be loaded so wherever it lies. */
static bool residual_is_aligned(const ring_plan *plan) {
    return ring_residual_columns(plan) <= 1 ||
           (plan->base.ldr != MC_OPEN && plan->base.align >= residual_load_bytes(plan));
}

void ring_emit_output(ring_epilogue *e) {
    sums_settle(e->sums, SPMM_PAIR_ODD, (mc_reg){0});
    ring_emit_sum(e->r, e->sum, e->sums, e->next);
    ring_emit_parts_sum(e);
    ring_emit_results(e);
}

void ring_emit_results(ring_epilogue *e) {
    mc_builder *b = e->r->at.b;
    const spmm_plan *plan = e->r->at.plan;
    bool aligned = plan->ldc == MC_OPEN || plan->ldc % store_columns(e->r->plan) == 0;
    bool any_ldc = plan->ldc != MC_OPEN || store_columns(e->r->plan) == 1;
    bool always = aligned && any_ldc && plan->n != MC_OPEN && plan->n % plan->tile_n == 0 &&
                  plan->align >= store_bytes(e->r->plan) && residual_is_aligned(e->r->plan);
    mc_label edge = label(b, "EDGE");
    emit_exchange(e);
    if (e->r->plan->tensor) emit_grid_wait(b, plan->overlap, "B");
    e->residual = spmm_emit_residual(&e->r->at);
    if (aligned) emit_wide(e, always, edge);
    if (always) return;
    b->prefix = "edge_";
    heading(b, "Store, column by column, what lies inside n");
    set_label(b, edge);
    emit_store(e, true);
}
