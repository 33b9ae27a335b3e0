#include "ops/spmm/model.h"
#include "parts/fragment.h"
#include <math.h>

enum {
    MAX_BLOCKS = 32, /* thread blocks a multiprocessor (programming guide, as next) */
    REGISTER_UNIT = 8,
    FOUR_WARPS = 4 * MC_WARP,
    SECTOR = 32,       /* bytes that L2 reads and writes at once */
    LINE = 128,        /* of a request, at most */
    MAX_TILES = 65535, /* thread blocks of the grid's second axis */
};
static const double MEGA = 1e6;

/* -- A problem as a kernel meets it -------------------------------------------------------------------- */

/* The accumulators that a thread has more with other types than 8 bits: for each weight, and each column; and
   with vectors of 16 rows. */
static int more_accumulators(const spmm_plan *plan) {
    int rows = spmm_is_tall(&plan->math) ? 2 : 1; /* times 8 */
    return (rows * plan->tile_n * plan->math.sums - spmm_tile_bytes(plan)) / 4;
}

spmm_situation spmm_meet(const spmm_plan *plan, const mc_gpu *gpu, const mc_problem *problem, int registers) {
    spmm_situation s = {.plan = plan, .gpu = gpu, .problem = problem};
    model_take_costs(&spmm_cost_table, gpu, &s.cost);
    s.registers_wanted = registers + more_accumulators(plan);
    s.row_blocks = ceil((double)problem->m / plan->vec);
    s.mean = s.row_blocks > 0 ? (double)problem->vectors / s.row_blocks : 0;
    if (problem->batch > 1) s.row_blocks *= (double)problem->batch;
    s.tiles = ceil((double)problem->n / plan->tile_n);
    return s;
}

bool spmm_can_run(const spmm_plan *plan, const mc_problem *problem) {
    bool fits = model_fits(plan->m, problem->m) && model_fits(plan->n, problem->n) &&
                model_fits(plan->k, problem->k) && model_fits(plan->ldb, problem->ldb);
    return fits && problem->n <= (int64_t)MAX_TILES * plan->tile_n;
}

/* -- Thread blocks that a multiprocessor holds -------------------------------------------------------- */

/* Threads, rounded up to four warps: each quarter of a multiprocessor has a quarter of its registers. */
static int whole_fours(const spmm_plan *plan) {
    return (plan->threads + FOUR_WARPS - 1) / FOUR_WARPS * FOUR_WARPS;
}

int spmm_registers_of(const spmm_situation *s) {
    int room = (int)s->gpu->registers / whole_fours(s->plan) / REGISTER_UNIT * REGISTER_UNIT;
    return s->registers_wanted < room ? s->registers_wanted : room;
}

static double held_beside_registers(const spmm_plan *plan, const mc_gpu *gpu) {
    double by_threads = floor(gpu->threads / (double)plan->threads);
    double by_shared = floor(gpu->shared_bytes / (plan->shared_bytes + MODEL_BLOCK_SHARED));
    return model_least(model_least(by_threads, MAX_BLOCKS), by_shared);
}

double spmm_resident_of(const spmm_situation *s) {
    const mc_gpu *gpu = s->gpu;
    double warps = 4 * floor(gpu->registers / (4.0 * MC_WARP * spmm_registers_of(s)));
    return model_most(
        1, model_least(held_beside_registers(s->plan, gpu), floor(warps * MC_WARP / s->plan->threads)));
}

double spmm_counted_on(const spmm_situation *s) {
    double registers = whole_fours(s->plan) * spmm_registers_of(s);
    double by_registers = floor(s->gpu->registers / registers);
    return model_most(1, model_least(held_beside_registers(s->plan, s->gpu), by_registers));
}

/* Their lengths are about normal: half a standard deviation for each doubling is close up to 16. */
double spmm_longest_of(const spmm_situation *s, int count) {
    return model_least((double)s->problem->longest, s->mean + s->problem->spread * log2(count) / 2);
}

/* -- Memory ------------------------------------------------------------------------------------------- */

bool spmm_rows_cut_sectors(const spmm_situation *s) {
    return spmm_b_bytes(s->plan, s->problem->ldb) % SECTOR != 0;
}

/* Megabytes of A as it is packed. */
static double packed_of(const spmm_situation *s) {
    return s->row_blocks * s->mean / s->plan->stride * s->plan->stride_a_bytes / MEGA;
}

/* The part of A that column after column of tiles reads again; and how many columns do so at once. */
static double part_read(const spmm_situation *s) {
    const spmm_plan *plan = s->plan;
    return plan->group > 0 ? model_least(1, plan->group * (double)plan->row_blocks / s->row_blocks) : 1;
}
static double columns_at_once(const spmm_situation *s) {
    return s->plan->group > 0 ? model_most(1, (double)s->gpu->multiprocessors / s->plan->group) : 1;
}

double spmm_missed_of(const spmm_situation *s) {
    const spmm_plan *plan = s->plan;
    double k = (double)s->problem->k, columns = model_least(plan->tile_n, (double)s->problem->n);
    double part = part_read(s), rows = part * s->row_blocks * plan->vec;
    double tile =
        columns * (k * plan->math.b_bits / 8 + rows * out_element_bytes(plan->output.element)) / MEGA;
    double held = part * packed_of(s) + columns_at_once(s) * tile;
    return 1 / (1 + pow(s->cost.held / model_most(held, 1e-9), 4));
}

double spmm_memory_of(const spmm_situation *s) {
    const spmm_plan *plan = s->plan;
    double k = (double)s->problem->k, n = (double)s->problem->n;
    double packed = packed_of(s), missed = spmm_missed_of(s);
    double again = packed * s->tiles * missed;
    if (!s->problem->cold) return again * s->cost.memory;
    double first = (packed + k * n * plan->math.b_bits / 8 / MEGA) * (1 - missed);
    return (first + again) * s->cost.memory + s->cost.cold;
}

double spmm_unkept_of(const spmm_situation *s, double packed) {
    double n = (double)s->problem->n, in = packed + n * (double)s->problem->k * s->plan->math.b_bits / 8,
           out = n * (double)s->problem->m * out_element_bytes(s->plan->output.element),
           all = model_most((in + out) / 1e6, 1e-9), missed = 1 / (1 + pow(s->cost.held / all, 4));
    double first = s->problem->cold ? in / 1e6 * (1 - missed) * s->cost.memory + s->cost.cold : 0;
    return all * missed * s->cost.memory + first;
}

/* -- The whole ---------------------------------------------------------------------------------------- */

/* How many thread blocks the multiprocessor has that has most of them; EACH is their number where all
   have the same. With overlap they begin while some multiprocessors have room and others have none yet, so
   that the numbers are not even: up to twice a share meets. */
static double busiest(const spmm_situation *s, double each, double resident) {
    if (!s->plan->overlap) return each;
    return each + s->cost.uneven * model_most(0, model_least(resident, 2 * each) - each);
}

/* Each piece of a column is a request to L2. The store rate is that of whole lines. */
static double stored(const spmm_situation *s, const spmm_work *w) {
    const spmm_plan *plan = s->plan;
    double bits = out_element_bits(plan->output.element), piece = w->rows * bits / 8;
    double bytes = s->row_blocks * plan->vec * (double)s->problem->n * bits / 8;
    double time = bytes / s->gpu->store_rate;
    if (plan->c_columns && piece < LINE) time += (bytes / piece - bytes / LINE) * s->cost.column_piece;
    return time / s->gpu->multiprocessors;
}

double spmm_time_of(const spmm_situation *s, const spmm_work *w) {
    const spmm_costs *cost = &s->cost;
    double start = cost->start_warp * s->plan->threads / MC_WARP;
    double each = w->blocks / s->gpu->multiprocessors, latency = w->longest + start;
    double most = busiest(s, ceil(each), w->resident);
    if (ceil(each) > w->resident) {
        double waves = each / w->resident + cost->tail;
        latency = model_most(latency, waves * (w->latency + start));
        most = waves * w->resident;
    }
    double busy = most * (w->busy + start), streamed = w->streamed * most / model_most(each, 1);
    double work = spmm_overlapped(spmm_overlapped(latency, busy + stored(s, w)), streamed);
    if (!s->plan->overlap) return cost->launch + cost->alone + work + w->memory;
    return cost->launch + spmm_overlapped(work, each * cost->begin) + w->memory;
}
