/* The estimate of a csr kernel. It stands on the costs of the gather kernel: it has not been fitted. */
#include "ops/spmm/csr/csr.h"
#include "ops/spmm/model.h"

enum { REGISTERS = 32, SECTOR = 32 /* bytes that come out of L2 at once */, LEAST_ROW = 64 };

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

double spmm_csr_estimate(const void *data, const mc_gpu *gpu, const mc_problem *problem) {
    const csr_plan *plan = data;
    if (!spmm_can_run(&plan->base, problem)) return INFINITY;
    int in_flight = csr_sums(plan) * plan->ahead * plan->base.math.b_bits / 32;
    spmm_situation s = spmm_meet(&plan->base, gpu, problem, REGISTERS + csr_sums(plan) + in_flight);
    spmm_work work = {.blocks = ceil(s.row_blocks / csr_rows(plan)) * s.tiles,
                      .resident = spmm_resident_of(&s),
                      .busy = busy_of(&s),
                      .latency = latency_of(&s, spmm_longest_of(&s, csr_rows(plan))),
                      .longest = latency_of(&s, (double)problem->longest),
                      .memory = spmm_memory_of(&s),
                      .rows = csr_rows(plan)};
    return spmm_time_of(&s, &work);
}
