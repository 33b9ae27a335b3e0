/* The estimate of a csr kernel (docs/choice.md). That of `stream` stands on the costs of the gather kernel:
   it has not been fitted. */
#include "ops/spmm/csr/csr.h"
#include "ops/spmm/model.h"
#include "parts/panels.h"
#include <string.h>

enum {
    REGISTERS = 32,   /* of a thread: of `stream` */
    LEAST_LANES = 36, /* and of others, with EACH_AHEAD for each nonzero in flight, as ptxas 13 gives them */
    LEAST_SEGMENTED = 16,
    EACH_AHEAD = 4,
    SECTOR = 32, /* bytes that come out of L2 at once */
    LEAST_ROW = 64,
    LEAST_HEIGHT = 8, /* rows of the least panels that are counted */
    /* Of `stream`; of an item bytes beside its slots, and instructions beside those of its strides. They were
       counted, and the rate is that of 1.7 GHz. */
    ITEM_BYTES = 80,
    ITEM_INSTRUCTIONS = 160,
    STRIDE_INSTRUCTIONS = 12,
    SORTED_INSTRUCTIONS = 5, /* of a stride, to find the place of a product */
    SORTED_LINE = 128,
    INSTRUCTIONS_A_US = 4 * 1700
};

static const csr_plan *csr_of(const spmm_situation *s) { return (const csr_plan *)s->plan; }

/* -- What a warp has ----------------------------------------------------------------------------------- */

typedef struct csr_work {
    double items;  /* warps of the grid, of a tile of columns */
    double rows;   /* of an item */
    double steps;  /* of a lane, of the rows of B that it has in flight */
    double most;   /* steps of the lane that has most */
    double pieces; /* thread blocks that share the longest row */
    double shared; /* us that a thread block takes for it, without a list */
} csr_work;

/* How many of a row's NONZEROS a group of lanes takes by itself, at most. Without a list it may be twice the
   mean of the thread block's rows, to which a long row adds. */
static double own(const spmm_situation *s, double nonzeros) {
    const csr_plan *plan = csr_of(s);
    const double share = plan->share * CSR_STRIDE;
    if (plan->deal) return model_least(nonzeros, share);
    if (!csr_by_blocks(plan)) return nonzeros;
    const double twice_mean = 2 * (s->mean + nonzeros / csr_rows(plan));
    return model_least(nonzeros, model_most(share, model_least(twice_mean, CSR_BLOCK_LONG * share)));
}

/* How long a thread block takes for the longest row: its lanes wait for rows of B, or its multiprocessor for
   L2. */
static double shared_of(const spmm_situation *s) {
    const csr_plan *plan = csr_of(s);
    const double longest = (double)s->problem->longest;
    const double columns = model_least(s->plan->tile_n, (double)s->problem->n);
    const double bytes = model_most(columns * csr_element_bytes(plan), SECTOR);
    const double steps = ceil(longest / (csr_rows(plan) * plan->ahead * plan->lanes));
    return s->cost.csr_first + model_most(steps * s->cost.csr_step, longest * bytes / 1024 * s->cost.l2);
}

/* Half of a row does not fit into an item on average, and its rows are 32 at most. */
static csr_work segments_of(const spmm_situation *s) {
    const csr_plan *plan = csr_of(s);
    const double slots = plan->share * CSR_STRIDE, vectors = (double)s->problem->vectors;
    const double each = model_most(slots / 4, slots - s->mean / 2);
    const double items = model_most(model_most(1, vectors / each), s->row_blocks / CSR_SEGMENT_ROWS);
    return (csr_work){.items = items,
                      .rows = s->row_blocks / items,
                      .steps = model_most(1, vectors / items / plan->ahead),
                      .most = slots / plan->ahead};
}

/* Groups of a warp wait for the one that has most. */
static csr_work groups_of(const spmm_situation *s) {
    const csr_plan *plan = csr_of(s);
    const double each = plan->ahead * plan->lanes, longest = (double)s->problem->longest;
    csr_work work = {.items = ceil(s->row_blocks / plan->groups),
                     .rows = plan->groups,
                     .steps = ceil(own(s, spmm_longest_of(s, plan->groups)) / each),
                     .most = ceil(own(s, longest) / each)};
    if (csr_by_blocks(plan) && own(s, longest) < longest) {
        work.most = ceil(own(s, spmm_longest_of(s, csr_rows(plan))) / each);
        work.shared = shared_of(s);
    }
    if (plan->deal) work.items += (double)s->problem->vectors / (plan->share * CSR_STRIDE * plan->groups) / 2;
    return work;
}

static csr_work work_of(const spmm_situation *s) {
    const csr_plan *plan = csr_of(s);
    csr_work work = (plan->segmented ? segments_of : groups_of)(s);
    const double most = (double)plan->base.warps * plan->share * CSR_STRIDE * plan->groups;
    if (plan->deal) work.pieces = model_least(ceil((double)s->problem->longest / most), PANEL_MOST_PIECES);
    return work;
}

/* -- How long it takes -------------------------------------------------------------------------------- */

static double latency_of(const spmm_situation *s, const csr_work *work, double waves) {
    const csr_plan *plan = csr_of(s);
    const spmm_costs *cost = &s->cost;
    const double ends = plan->segmented ? work->rows * cost->csr_end : 0;
    const double mean = cost->csr_first + work->steps * cost->csr_step + ends;
    double longest = cost->csr_first + work->most * cost->csr_step + ends + work->shared;
    if (work->pieces > 1) longest += cost->panel_piece + cost->panel_pieces * work->pieces / plan->base.warps;
    return waves > 1 ? model_most(longest, waves * mean) : longest;
}

/* The part of its rows of B that a thread block does not find in L1: of so many neighbouring rows of A those
   columns that are different. */
static double misses_of(const spmm_situation *s, double rows) {
    const mc_row_panels *panels = &s->problem->panels;
    int height = 0;
    if (panels->columns[0] <= 0) return 1;
    while (height < MC_PANEL_HEIGHTS - 1 && rows > LEAST_HEIGHT << height) height++;
    return (double)panels->columns[height] / model_most(1, (double)s->problem->vectors);
}

/* How long a multiprocessor is busy. */
static double busy_of(const spmm_situation *s, const csr_work *work) {
    const csr_plan *plan = csr_of(s);
    const spmm_plan *base = s->plan;
    const spmm_costs *cost = &s->cost;
    const double columns = model_least(base->tile_n, (double)s->problem->n);
    const double row = model_most(columns * csr_element_bytes(plan), SECTOR);
    const double nonzeros = (double)s->problem->vectors, each = WORD + csr_element_bytes(plan);
    const double missed = misses_of(s, plan->segmented ? 2 * LEAST_HEIGHT : work->rows * base->warps);
    const double l2 = nonzeros * (row * missed * cost->csr_l2 + each) / 1024 * cost->l2;
    const double l1 = nonzeros * model_most(row, LEAST_ROW) * cost->csr_l1 / s->gpu->l1_rate;
    const bool converts = strcmp(base->math.lhs, "f32") != 0;
    const double words = csr_sums(plan) * (cost->csr_word + (converts ? cost->csr_convert : 0));
    const double turns = work->items * work->steps * plan->ahead;
    const double nonzero = (plan->segmented ? cost->csr_walk : 0) + words;
    const double stored = (double)s->problem->m * (double)s->problem->n *
                          out_element_bytes(base->output.element) / s->gpu->store_rate;
    return spmm_overlapped((l2 + l1) * s->tiles, turns * nonzero * s->tiles + stored) /
           s->gpu->multiprocessors;
}

/* -- stream ------------------------------------------------------------------------------------------- */

/* The part of an item's slots that have nonzeros. Half of a row does not fit on average, and rows are 32 at
   most. */
static double filled(const csr_plan *plan, double mean) {
    const double slots = plan->share * CSR_STRIDE;
    if (mean >= slots) return 1;
    return model_least(1 - mean / 2 / slots, model_most(1, CSR_STREAM_ROWS * mean) / slots);
}

/* Nonzeros for which a line of B is looked up once: those that neighbouring rows share lie beside others. */
static double nonzeros_of_line(const mc_problem *problem) {
    const double columns = (double)problem->panels.columns[0];
    return columns > 0 ? model_most(1, (double)problem->vectors / columns) : 1;
}

/* Lines that a nonzero looks up. 32 neighbours among the sorted nonzeros of a thread block have one together,
   or as many as lie between the first and the last of their columns. */
static double lines_of_nonzero(const csr_plan *plan, const mc_problem *problem) {
    const double as_it_comes = 1 / nonzeros_of_line(problem), k = (double)problem->k;
    if (plan->column_form != CSR_COLUMNS_SORTED) return as_it_comes;
    const double warps = plan->base.warps, block = warps * plan->share * CSR_STRIDE;
    const double columns = problem->span > 0 ? model_least(k, (double)problem->span * warps) : k;
    const double apart = columns * csr_element_bytes(plan) / SORTED_LINE / block;
    return model_least(as_it_comes, 1.0 / CSR_STRIDE + apart);
}

/* Of an item. A multiprocessor takes its bytes out of L2, and looks up lines of B one after another. */
static double item_busy(const spmm_situation *s) {
    const csr_plan *plan = csr_of(s);
    const double slots = plan->share * CSR_STRIDE,
                 each = csr_column_bytes(plan->column_form) + csr_element_bytes(plan);
    const double bytes = slots * each + ITEM_BYTES;
    const double lines = slots * lines_of_nonzero(plan, s->problem) * LEAST_ROW / s->gpu->l1_rate;
    const int of_stride =
        STRIDE_INSTRUCTIONS + (plan->column_form == CSR_COLUMNS_SORTED ? SORTED_INSTRUCTIONS : 0);
    const double instructions = (double)(ITEM_INSTRUCTIONS + plan->share * of_stride) / INSTRUCTIONS_A_US;
    return spmm_overlapped(bytes / 1024 * s->cost.l2 + lines, instructions);
}

/* Whether columns have room. Where nobody knows how far apart those of an item are, they may be anywhere. */
static bool columns_fit(const csr_plan *plan, const mc_problem *problem) {
    const int64_t span = problem->span > 0 ? problem->span : problem->k;
    if (plan->column_form == CSR_COLUMNS_SORTED)
        return problem->k <= csr_sorted_columns(plan->base.warps, plan->share);
    return span - 1 <= csr_column_span(plan->column_form);
}

static double stream_estimate(const spmm_situation *met) {
    const csr_plan *plan = csr_of(met);
    const mc_problem *problem = met->problem;
    const double slots = plan->share * CSR_STRIDE, warps = plan->base.warps;
    if ((double)problem->longest > slots * warps * PANEL_MOST_PIECES || problem->k < 1) return INFINITY;
    if (!columns_fit(plan, problem)) return INFINITY;
    spmm_situation s = *met;
    const double items =
        ceil(s.row_blocks * model_most(s.mean, 1.0 / CSR_STREAM_ROWS) / (slots * filled(plan, s.mean)));
    const double turns = ceil((double)plan->share / plan->ahead);
    const double latency = s.cost.direct_chain + turns * s.cost.direct_step;
    const double pieces = floor((double)problem->longest / (slots * warps));
    spmm_work work = {.blocks = ceil(items / warps) * s.tiles,
                      .resident = spmm_resident_of(&s),
                      .busy = warps * item_busy(&s),
                      .latency = latency,
                      .longest = latency + pieces * s.cost.panel_pieces / warps,
                      .rows = csr_rows(plan)};
    s.mean = items * slots / model_most(s.row_blocks, 1); /* slots without a nonzero are read, too */
    work.memory = spmm_memory_of(&s);
    return spmm_time_of(&s, &work);
}

/* -- The whole ---------------------------------------------------------------------------------------- */

/* Of a thread, as ptxas 13 gives them, within 8. */
static int registers_of(const csr_plan *plan) {
    const int in_flight = csr_sums(plan) * plan->ahead * plan->base.math.b_bits / 32;
    const int each = EACH_AHEAD * plan->ahead + csr_sums(plan);
    return each + (plan->segmented ? LEAST_SEGMENTED + in_flight * 3 / 2 : LEAST_LANES + in_flight);
}

double spmm_csr_estimate(const void *data, const mc_gpu *gpu, const mc_problem *problem) {
    const csr_plan *plan = data;
    if (!spmm_can_run(&plan->base, problem)) return INFINITY;
    int in_flight = csr_sums(plan) * plan->ahead * plan->base.math.b_bits / 32;
    spmm_situation s = spmm_meet(&plan->base, gpu, problem, REGISTERS + csr_sums(plan) + in_flight);
    if (plan->stream) return stream_estimate(&s);
    s.registers_wanted = registers_of(plan);
    const csr_work work = work_of(&s);
    const double blocks = ceil(work.items / plan->base.warps) * s.tiles;
    const double waves = blocks / gpu->multiprocessors / spmm_resident_of(&s);
    const double late = 1 + (waves > 1 ? s.cost.csr_tail / waves : 0);
    const double start = s.cost.start_warp * plan->base.warps * blocks / gpu->multiprocessors;
    const double packed = (double)problem->vectors * (WORD + csr_element_bytes(plan));
    const double time = s.cost.launch +
                        late * spmm_overlapped(latency_of(&s, &work, waves), busy_of(&s, &work)) + start +
                        spmm_unkept_of(&s, packed);
    return plan->base.overlap ? time : time + s.cost.alone;
}
