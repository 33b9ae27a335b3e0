#include "ops/quantise/model.h"

enum {
    MAX_BLOCKS = 32,     /* thread blocks of a multiprocessor */
    MAX_REGISTERS = 255, /* of a thread */
    SECTOR = 32,
    EIGHT = 8
};

/* As quantise_test_wide has it, but for addresses. Where the spec fixes lda, the plan knows of it. */
static bool takes_wide(const quantise_plan *plan, const mc_problem *problem) {
    int64_t least = plan->turned ? problem->m : problem->n, ldc = plan->ldc != MC_OPEN ? plan->ldc : least;
    return plan->wide && problem->n % plan->unit == 0 &&
           ldc % ((int64_t)plan->out_align * 8 / plan->out_bits) == 0;
}

bool quantise_meet(const quantise_plan *plan, const mc_gpu *gpu, const mc_problem *problem,
                   quantise_situation *s) {
    if (!model_fits(plan->m, problem->m) || !model_fits(plan->n, problem->n)) return false;
    *s = (quantise_situation){.plan = plan,
                              .gpu = gpu,
                              .problem = problem,
                              .m = (double)problem->m,
                              .n = (double)problem->n,
                              .batch = problem->batch > 1 ? (double)problem->batch : 1,
                              .wide = takes_wide(plan, problem)};
    model_take_costs(&quantise_cost_table, gpu, &s->cost);
    s->tiles = ceil(s->m / plan->tile);
    return true;
}

double quantise_eighths(const quantise_plan *plan) { return (double)plan->unit / EIGHT; }

static double bytes_of(const quantise_plan *plan, double elements) { return elements * plan->out_bits / 8; }

double quantise_pieces(const quantise_situation *s, double columns) {
    const quantise_plan *plan = s->plan;
    double rows = model_least(plan->tile, s->m);
    if (!s->wide) return bytes_of(plan, rows * columns) / SECTOR;
    return plan->turned ? columns * ceil(bytes_of(plan, rows) / SECTOR)
                        : rows * ceil(bytes_of(plan, columns) / SECTOR);
}

quantise_loops quantise_loops_of(const quantise_situation *s, double columns) {
    const quantise_plan *plan = s->plan;
    bool pairs = plan->out_bits == 4;
    int high = pairs && plan->turned ? 2 : 1, wide = pairs && !plan->turned ? 2 : 1;
    int threads = MC_WARP * plan->warps, rows = plan->tile / high, down = rows < threads ? rows : threads;
    double lanes = (double)threads / down, warps_down = ceil((double)down / MC_WARP);
    double used = ceil(model_least(down, s->m / high) / MC_WARP);
    quantise_loops loops = {.count = rows / down * ceil(columns / (lanes * wide)) * high * wide,
                            .lanes = lanes,
                            .warps = plan->warps * used / warps_down};
    double abreast = model_least(model_least(MC_WARP, down), s->m / high);
    loops.busy = loops.warps * loops.count * (s->cost.edge_work + abreast * s->cost.edge_row);
    return loops;
}

static double resident_of(const quantise_situation *s, const quantise_work *work) {
    const quantise_plan *plan = s->plan;
    double threads = MC_WARP * plan->warps, shared = plan->shared_static + plan->shared_dynamic;
    double most = model_least(MAX_REGISTERS, floor(s->gpu->registers / threads));
    double registers = model_least(most, work->registers);
    double blocks =
        model_least(floor(s->gpu->threads / threads), floor(s->gpu->registers / (registers * threads)));
    blocks = model_least(blocks, floor(s->gpu->shared_bytes / (shared + MODEL_BLOCK_SHARED)));
    return model_most(1, model_least(MAX_BLOCKS, blocks));
}

/* The multiprocessors' part. Where A's end cuts tiles, a launch lasts as long as the last one of these. */
static double on_chip(const quantise_situation *s, const quantise_work *work) {
    double each = work->blocks / s->gpu->multiprocessors, most = model_most(1, ceil(each));
    double waves = each / resident_of(s, work);
    waves = waves > 1 ? waves + s->cost.tail : 1;
    double busy = work->busy + (work->last - work->busy) / model_most(1, s->tiles);
    double usual = hypot(waves * (work->latency + busy), most * busy);
    return model_most(usual, work->latency + work->last);
}

/* Tiles that write to the same sectors of C. */
static double sharing(const quantise_situation *s) {
    const quantise_plan *plan = s->plan;
    if (!plan->turned) return 1;
    double tile = bytes_of(plan, plan->tile);
    return model_most(1, model_least(SECTOR, bytes_of(plan, s->m)) / tile);
}

/* L2's part, and memory's: what L2 has no room for, and of cold operands all. */
static double off_chip(const quantise_situation *s, const quantise_work *work) {
    const quantise_costs *c = &s->cost;
    double elements = s->m * s->n * s->batch;
    double megabytes = (elements * s->plan->in_bits / 8 + bytes_of(s->plan, elements)) / 1e6;
    double missed = s->problem->cold ? megabytes : model_most(0, megabytes - c->held);
    double pieces = c->sectors + c->shared_sectors * (sharing(s) - 1);
    return work->read * c->l2 + work->pieces * pieces + missed * c->memory;
}

double quantise_time_of(const quantise_situation *s, const quantise_work *work) {
    return s->cost.launch + hypot(on_chip(s, work), off_chip(s, work));
}
