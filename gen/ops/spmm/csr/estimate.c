/* The estimate of a csr kernel. It stands on the costs of the gather kernel: it has not been fitted. */
#include "ops/spmm/csr/csr.h"
#include "ops/spmm/model.h"
#include "parts/panels.h"

enum {
    REGISTERS = 32,
    SECTOR = 32, /* bytes that come out of L2 at once */
    LEAST_ROW = 64,
    /* Of `stream`; of an item bytes beside its slots, and instructions beside those of its strides. They were
       counted, and the rate is that of 1.7 GHz. */
    ITEM_BYTES = 80,
    ITEM_INSTRUCTIONS = 160,
    STRIDE_INSTRUCTIONS = 12,
    INSTRUCTIONS_A_US = 4 * 1700
};

static const csr_plan *csr_of(const spmm_situation *s) { return (const csr_plan *)s->plan; }

/* Nonzeros of a row that has a group of lanes to itself. */
static double own(const spmm_situation *s, double nonzeros) {
    const csr_plan *plan = csr_of(s);
    return plan->deal ? model_least(nonzeros, plan->share * CSR_STRIDE) : nonzeros;
}

/* A group waits for its row's place, and for each `ahead` nonzeros of a lane for rows of B. */
static double latency_of(const spmm_situation *s, double nonzeros) {
    const csr_plan *plan = csr_of(s);
    double turns = ceil(own(s, nonzeros) / (plan->ahead * plan->lanes));
    return s->cost.direct_chain + turns * s->cost.direct_step;
}

static double busy_of(const spmm_situation *s) {
    const csr_plan *plan = csr_of(s);
    const spmm_plan *base = s->plan;
    double rows = csr_rows(plan), row = base->tile_n * csr_element_bytes(plan);
    double nonzeros = s->mean * rows, each = WORD + csr_element_bytes(plan);
    double l2 = nonzeros * (model_most(row, SECTOR) + each) / 1024 * s->cost.l2;
    double l1 = nonzeros * model_most(row, LEAST_ROW) / s->gpu->l1_rate;
    double instructions = nonzeros * csr_sums(plan) * plan->columns / 1024 * s->cost.direct_columns;
    return spmm_overlapped(l2 + l1, instructions);
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

/* Of an item. A multiprocessor takes its bytes out of L2, and looks up lines of B one after another. */
static double item_busy(const spmm_situation *s) {
    const csr_plan *plan = csr_of(s);
    const double slots = plan->share * CSR_STRIDE, each = WORD + csr_element_bytes(plan);
    const double bytes = slots * each + ITEM_BYTES;
    const double lines = slots / nonzeros_of_line(s->problem) * LEAST_ROW / s->gpu->l1_rate;
    const double instructions = (ITEM_INSTRUCTIONS + plan->share * STRIDE_INSTRUCTIONS) / INSTRUCTIONS_A_US;
    return spmm_overlapped(bytes / 1024 * s->cost.l2 + lines, instructions);
}

static double stream_estimate(const spmm_situation *met) {
    const csr_plan *plan = csr_of(met);
    const mc_problem *problem = met->problem;
    const double slots = plan->share * CSR_STRIDE, warps = plan->base.warps;
    if ((double)problem->longest > slots * warps * PANEL_MOST_PIECES) return INFINITY;
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

double spmm_csr_estimate(const void *data, const mc_gpu *gpu, const mc_problem *problem) {
    const csr_plan *plan = data;
    if (!spmm_can_run(&plan->base, problem)) return INFINITY;
    int in_flight = csr_sums(plan) * plan->ahead * plan->base.math.b_bits / 32;
    spmm_situation s = spmm_meet(&plan->base, gpu, problem, REGISTERS + csr_sums(plan) + in_flight);
    if (plan->stream) return stream_estimate(&s);
    spmm_work work = {.blocks = ceil(s.row_blocks / csr_rows(plan)) * s.tiles,
                      .resident = spmm_resident_of(&s),
                      .busy = busy_of(&s),
                      .latency = latency_of(&s, spmm_longest_of(&s, csr_rows(plan))),
                      .longest = latency_of(&s, (double)problem->longest),
                      .memory = spmm_memory_of(&s),
                      .rows = csr_rows(plan)};
    return spmm_time_of(&s, &work);
}
