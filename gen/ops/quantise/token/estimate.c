/* The estimate of a kernel that computes a scale for each row. */
#include "ops/quantise/model.h"
#include "ops/quantise/token/token.h"

enum { REGISTERS = 36 /* of a thread, beside its patches */, PATCHES = 2 /* beside those that it holds */ };

/* Columns that a thread block reads, those that it makes C of, and how many steps these are. */
typedef struct span {
    double read, made, read_steps, made_steps;
    double beside; /* thread blocks of the same rows */
} span;

static span span_of(const quantise_situation *s) {
    const quantise_plan *plan = s->plan;
    span all = {.read = s->n, .made = s->n, .beside = plan->cluster};
    if (plan->cluster > 1) all.read = all.made = ceil(s->n / (plan->cluster * plan->unit)) * plan->unit;
    if (plan->share != MC_OPEN) {
        all.made = model_least((double)plan->share, s->n);
        all.beside = ceil(s->n / (double)plan->share);
    }
    all.read_steps = ceil(all.read / plan->step);
    all.made_steps = ceil(all.made / plan->step);
    return all;
}

/* Steps of the first and of the second loop that are not on the chip. */
static double steps_again(const quantise_plan *plan, const span *all, double *second) {
    double chip = plan->hold + plan->keep;
    *second = model_most(0, all->made_steps - chip);
    return model_most(0, all->read_steps - chip) + *second;
}

/* What a thread block of a cut tile does more: it stores C byte by byte. */
static double cut_of(const quantise_situation *s, const span *all, double pieces) {
    const quantise_plan *plan = s->plan;
    double rows = fmod(s->m, plan->tile), bytes = WORD * plan->words;
    if (!plan->turned || rows <= 0) return 0;
    double used = model_least(bytes, ceil(rows * plan->out_bits / 8));
    return (used * all->made - pieces) / 1e3 * s->cost.store +
           plan->warps * all->made_steps * plan->unit * bytes * s->cost.token_byte;
}

static void work_wide(const quantise_situation *s, const span *all, quantise_work *work) {
    const quantise_plan *plan = s->plan;
    const quantise_costs *c = &s->cost;
    double second, again = steps_again(plan, all, &second);
    double kept = model_least(plan->keep, model_most(0, all->read_steps - plan->hold));
    double turns = plan->tile > plan->warps ? (double)plan->tile / plan->warps : 1;
    double bytes = plan->in_bits / 8 * (all->read + second * plan->step),
           pieces = quantise_pieces(s, all->made);
    double made = plan->by_addition ? c->token_add : c->token_convert;
    double values = plan->zero ? 2 : 1, held = model_least(plan->hold, all->read_steps);
    work->registers = REGISTERS + plan->rows * QUANTISE_UNIT / WORD * (held + PATCHES);
    work->latency = c->token_first + turns * c->token_join +
                    plan->rows * log2(plan->lanes_across) * c->token_lanes +
                    (plan->cluster > 1 ? c->token_cluster : 0) + again * c->token_again +
                    all->made_steps * c->token_step + kept * c->token_kept;
    work->busy = plan->tile * bytes / 1024 * c->token_read + pieces / 1e3 * c->store +
                 plan->warps * c->start_warp +
                 plan->warps * plan->rows * quantise_eighths(plan) *
                     (all->read_steps * c->token_reach * values + all->made_steps * made) +
                 (plan->cluster > 1 ? plan->cluster * c->token_member : 0);
    work->last = work->busy + model_most(0, cut_of(s, all, pieces));
    work->read = s->batch * s->m * all->beside * bytes / (1 << 20);
    work->pieces = work->blocks * pieces / 1e3;
}

/* Each thread block finds the scales of all its rows, which its warps take in turn. */
static void work_edge(const quantise_situation *s, const span *all, quantise_work *work) {
    const quantise_plan *plan = s->plan;
    const quantise_costs *c = &s->cost;
    const quantise_loops loops = quantise_loops_of(s, all->made);
    double rows = model_least(plan->tile, s->m), reads = ceil(s->n / MC_WARP);
    work->registers = REGISTERS;
    work->latency =
        c->edge_first + ceil(rows / plan->warps) * reads * c->edge_reach + loops.count * c->edge_element;
    work->busy = rows * reads * c->edge_work + loops.busy + plan->warps * c->start_warp;
    work->last = work->busy;
    work->read = s->batch * s->m * plan->in_bits / 8 * (all->beside + 1) * s->n / (1 << 20);
    work->pieces = work->blocks * quantise_pieces(s, all->made) / 1e3;
}

double quantise_token_estimate(const void *data, const mc_gpu *gpu, const mc_problem *problem) {
    quantise_situation s;
    if (!quantise_meet(data, gpu, problem, &s)) return INFINITY;
    const span all = span_of(&s);
    quantise_work work = {.blocks = s.batch * s.tiles * all.beside};
    if (s.wide) work_wide(&s, &all, &work);
    else work_edge(&s, &all, &work);
    return quantise_time_of(&s, &work);
}
