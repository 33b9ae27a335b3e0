/* The estimate of a kernel that takes tiles: in one pass, or in two where it finds the scale first. */
#include "ops/quantise/model.h"
#include "ops/quantise/tile/tile.h"

enum { REGISTERS = 40 /* of a thread, beside its patches */, FEW_LANES = 4, NARROW = 64 /* bytes */ };

static void work_wide(const quantise_situation *s, double columns, quantise_work *work) {
    const quantise_plan *plan = s->plan;
    const quantise_costs *c = &s->cost;
    double pieces = quantise_pieces(s, columns),
           units = plan->turned ? (double)plan->hold * plan->unit / 4 : 0;
    work->registers = REGISTERS + plan->hold * plan->rows * (QUANTISE_UNIT / WORD);
    work->latency = c->tile_first + plan->hold * c->tile_step;
    work->busy =
        plan->tile * columns * plan->in_bits / 8 / 1024 * c->tile_read + pieces / 1e3 * c->store +
        plan->warps * (c->start_warp + plan->rows * plan->hold * quantise_eighths(plan) * c->tile_convert +
                       units * c->tile_store);
}

/* Threads side by side share a sector of a row. */
static void work_edge(const quantise_situation *s, double columns, quantise_work *work) {
    const quantise_plan *plan = s->plan;
    const quantise_costs *c = &s->cost;
    const quantise_loops loops = quantise_loops_of(s, columns);
    work->registers = REGISTERS;
    work->latency = loops.count * (c->edge_element + c->edge_fresh * model_least(1, loops.lanes / FEW_LANES));
    work->busy = loops.busy + plan->warps * c->start_warp;
}

/* The first pass: thread blocks go over tiles one after another. */
static double reach_time(const quantise_situation *s, const quantise_work *second) {
    const quantise_costs *c = &s->cost;
    quantise_work work = *second;
    double products = second->blocks / s->batch;
    double tiles = ceil(products / QUANTISE_REACHES);
    work.blocks = s->batch * model_least(QUANTISE_REACHES, products);
    work.latency = s->wide ? tiles * c->tile_reach : tiles * second->latency;
    work.busy = work.last = tiles * second->busy;
    work.pieces = 0;
    double idle = (second->blocks - work.blocks) * s->plan->warps * c->start_warp / s->gpu->multiprocessors;
    return quantise_time_of(s, &work) + idle;
}

/* What columns of C cost that come in pieces of less than two sectors. */
static double narrow_time(const quantise_situation *s, double columns) {
    bool narrow = s->plan->turned && quantise_out_bytes(s->plan, s->plan->tile) < NARROW;
    return narrow ? s->batch * s->tiles * ceil(s->n / columns) * columns / 1e3 * s->cost.tile_narrow : 0;
}

double quantise_tile_estimate(const void *data, const mc_gpu *gpu, const mc_problem *problem) {
    const quantise_plan *plan = data;
    quantise_situation s;
    if (!quantise_meet(plan, gpu, problem, &s)) return INFINITY;
    double columns = (double)plan->hold * plan->step;
    quantise_work work = {.blocks = s.batch * s.tiles * ceil(s.n / columns)};
    if (s.wide) work_wide(&s, columns, &work);
    else work_edge(&s, columns, &work);
    work.last = work.busy;
    work.pieces = work.blocks * quantise_pieces(&s, columns) / 1e3;
    work.read = s.batch * s.m * s.n * plan->in_bits / 8 / (1 << 20);
    double first = plan->reaches ? reach_time(&s, &work) : 0;
    if (plan->reaches) work.latency += s.cost.tile_join;
    return first + quantise_time_of(&s, &work) + narrow_time(&s, columns);
}
