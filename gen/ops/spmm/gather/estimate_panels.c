/* The estimate of a gather kernel with panels. Panels are not alike, and the packer deals them out
   (runtime/formats/panels.c). So the problem says how many strides they have, and how many columns
   neighbouring rows share. */
#include "ops/spmm/gather/gather.h"
#include "ops/spmm/model.h"
#include "parts/panels.h"

enum { LINE = 128, FULLEST = 64 /* strides: a panel of the last class has more */ };

/* Registers that ptxas 13 gives a thread: [16-bit elements in tiles of up to 64 bytes, wider ones, elements
   of 32 bits][staging shared][panels of 16 rows][values nonzeros]. */
static const int registers[3][2][2][2] = {
    {{{80, 79}, {118, 118}}, {{96, 96}, {118, 122}}},
    {{{88, 88}, {122, 128}}, {{104, 104}, {124, 134}}},
    {{{88, 88}, {148, 124}}, {{96, 96}, {168, 124}}},
};

static int registers_of(const gather_plan *plan) {
    const spmm_plan *base = &plan->base;
    int row = base->math.b_bits == 32 ? 2 : spmm_tile_bytes(base) > LINE / 2;
    return registers[row][plan->shared][spmm_is_tall(&base->math)][plan->nonzeros];
}

/* -- Columns that rows share -------------------------------------------------------------------------- */

static int class_of(double strides) {
    int class = 0;
    while (class < MC_PANEL_CLASSES - 1 && strides > (double)((int64_t)1 << class)) class ++;
    return class;
}

/* Where nothing was counted: all panels are alike but the longest, which has the longest row. */
static mc_row_panels alike(const spmm_situation *s) {
    double longest = model_most(s->mean, (double)s->problem->longest);
    double each = model_most(1, ceil(s->mean / s->plan->stride));
    mc_panel_strides of = {.strides = (int64_t)(each * s->row_blocks),
                           .longest = (int64_t)model_most(each, ceil(longest / s->plan->stride))};
    of.panels[class_of(each)] = (int64_t)s->row_blocks;
    mc_row_panels panels = {.of = {of, of}};
    for (int i = 0; i < MC_PANEL_HEIGHTS; i++) panels.columns[i] = s->problem->vectors;
    return panels;
}

/* -- How panels are dealt out -------------------------------------------------------------------------- */

typedef struct panel_deal {
    double items;   /* warps of the grid, of a tile of columns */
    double sharing; /* those of them that share a panel */
    double strides;
    double longest; /* strides of the warp that has most */
    double pieces;  /* thread blocks of the longest panel */
} panel_deal;

/* Thread blocks that share a panel of STRIDES; and the warps of each. */
typedef struct shares {
    double pieces, warps;
} shares;

static shares shares_of(const gather_plan *plan, double strides) {
    double each = (double)plan->base.warps * plan->share, warps = 1;
    if (strides > each) {
        double pieces = model_least(ceil(strides / each), ceil(sqrt(strides)));
        return (shares){model_least(pieces, PANEL_MOST_PIECES), plan->base.warps};
    }
    while (warps * plan->share < strides) warps *= 2;
    return (shares){1, warps};
}

/* Strides of a panel of CLASS. Where a thread block is enough, their greatest number says how many warps it
   has, if `share` is a power of two; else the class's middle is taken. */
static double strides_of_class(const gather_plan *plan, int class, double longest) {
    double most = model_least((double)((int64_t)1 << class), longest);
    if (class == MC_PANEL_CLASSES - 1) return sqrt(FULLEST * longest);
    return most > (double)plan->base.warps * plan->share ? 0.75 * most : most;
}

static panel_deal deal_of(const gather_plan *plan, const mc_panel_strides *of) {
    panel_deal deal = {.strides = (double)of->strides};
    double longest = (double)of->longest;
    for (int i = 0; i < MC_PANEL_CLASSES; i++) {
        shares each = shares_of(plan, strides_of_class(plan, i, longest));
        double items = (double)of->panels[i] * each.pieces * each.warps;
        deal.items += items;
        if (each.pieces * each.warps > 1) deal.sharing += items;
    }
    shares most = shares_of(plan, longest);
    deal.items = model_most(1, deal.items);
    deal.longest = ceil(longest / (most.pieces * most.warps));
    deal.pieces = most.pieces;
    return deal;
}

/* -- Rows of B ----------------------------------------------------------------------------------------- */

/* A row of B as a tile takes it: its bytes, and those that its loads take as long as on the wide path. */
typedef struct tile_row {
    double bytes, loads;
} tile_row;

static tile_row wide_row(const spmm_plan *plan, double columns) {
    return (tile_row){columns * plan->math.b_bits / 8, (double)spmm_tile_bytes(plan)};
}

static tile_row edge_row(const spmm_situation *s, const gather_plan *plan, double columns) {
    double passes = model_most(1, ceil(columns / GATHER_EDGE_COLUMNS)), bits = plan->base.math.b_bits,
           slower = plan->edge.unit <= spmm_b_unit(&plan->base) ? s->cost.direct_single : 1;
    return (tile_row){columns * bits / 8, passes * GATHER_EDGE_COLUMNS * bits / 8 * slower};
}

/* The mean of all tiles. */
static tile_row row_of(const spmm_situation *s, const gather_plan *plan) {
    double n = (double)s->problem->n, tile = s->plan->tile_n, rest = n - tile * (s->tiles - 1);
    bool aligned = plan->wide.emitted && s->problem->ldb % gather_access_columns(plan) == 0;
    bool cut = rest < tile && !plan->wide.clamp;
    tile_row most =
        aligned ? wide_row(s->plan, model_least(tile, n)) : edge_row(s, plan, model_least(tile, n));
    if (!aligned || !cut) return most;
    tile_row last = edge_row(s, plan, rest);
    double part = 1 / model_most(1, s->tiles);
    return (tile_row){most.bytes + (last.bytes - most.bytes) * part,
                      most.loads + (last.loads - most.loads) * part};
}

/* The part of its rows of B that a thread block finds in L1: those that its warps' panels, which are
   neighbours, have in common. Copies to shared memory pass L1 by. */
static double hits_of(const gather_plan *plan, const mc_row_panels *panels, int form) {
    int height = form;
    if (plan->shared || panels->columns[form] == 0) return 0;
    for (int warps = plan->base.warps; warps > 1 && height < MC_PANEL_HEIGHTS - 1; warps /= 2) height++;
    return 1 - (double)panels->columns[height] / (double)panels->columns[form];
}

/* -- The whole ----------------------------------------------------------------------------------------- */

/* Latencies follow each other in a warp: of its item, its strides, and adding up. */
static double latency_of(const spmm_situation *s, const gather_plan *plan, const panel_deal *deal,
                         const tile_row *row, double blocks) {
    const spmm_costs *cost = &s->cost;
    double step = cost->panel_step + cost->panel_width * row->loads / LINE +
                  (plan->nonzeros ? cost->panel_masks : 0),
           first = cost->panel_first + (plan->shared ? cost->panel_copy : 0) +
                   cost->panel_warps * log2(s->plan->warps),
           mean = first + deal->strides / deal->items * step + cost->panel_sum * deal->sharing / deal->items,
           longest = first + deal->longest * step + (deal->sharing > 0 ? cost->panel_sum : 0),
           waves = blocks / s->gpu->multiprocessors / spmm_resident_of(s);
    if (deal->pieces > 1) longest += cost->panel_piece + cost->panel_pieces * deal->pieces / s->plan->warps;
    return waves > 1 ? model_most(longest, (waves + cost->panel_tail) * mean) : longest;
}

/* Bytes of A's packed arrays, once. */
static double packed_of(const spmm_situation *s, const gather_plan *plan, double strides) {
    double values = s->plan->math.value_bytes, bytes = strides * s->plan->stride_a_bytes;
    if (!plan->nonzeros) return bytes;
    return bytes + values * ((double)s->problem->vectors - strides * s->plan->stride);
}

/* How long a multiprocessor is busy. */
static double work_of(const spmm_situation *s, const gather_plan *plan, const mc_row_panels *panels, int form,
                      const panel_deal *deal, const tile_row *row) {
    const spmm_plan *base = s->plan;
    const spmm_costs *cost = &s->cost;
    double rows = (double)panels->columns[form],
           misses = rows * row->bytes * (1 - hits_of(plan, panels, form)),
           l2 = (misses + packed_of(s, plan, deal->strides)) / 1024 * cost->l2,
           l1 = plan->shared ? 0 : rows * row->bytes * cost->panel_l1 / s->gpu->l1_rate,
           mma = base->stride_mma * spmm_mma_turns(&base->math, s->gpu) / s->gpu->mma_rate,
           words = cost->panel_words + (plan->shared && base->math.b_bits == 32 ? cost->panel_round : 0),
           instructions = deal->strides * (mma + words * row->loads / LINE),
           stored = (double)s->problem->m * (double)s->problem->n * out_element_bytes(base->output.element) /
                    s->gpu->store_rate;
    return spmm_overlapped((l2 + l1) * s->tiles, instructions * s->tiles + stored) / s->gpu->multiprocessors;
}

double spmm_gather_estimate_panels(const gather_plan *plan, const mc_gpu *gpu, const mc_problem *problem) {
    spmm_situation s = spmm_meet(&plan->base, gpu, problem, 0);
    s.registers_wanted = registers_of(plan);
    const int form = spmm_is_tall(&plan->base.math);
    const mc_row_panels panels = problem->panels.of[form].strides > 0 ? problem->panels : alike(&s);
    const panel_deal deal = deal_of(plan, &panels.of[form]);
    const tile_row row = row_of(&s, plan);
    double blocks = ceil(deal.items / plan->base.warps) * s.tiles;
    double start = s.cost.start_warp * plan->base.warps * blocks / gpu->multiprocessors;
    double time = s.cost.launch + latency_of(&s, plan, &deal, &row, blocks) + start +
                  work_of(&s, plan, &panels, form, &deal, &row) +
                  spmm_unkept_of(&s, packed_of(&s, plan, deal.strides));
    return plan->base.overlap ? time : time + s.cost.alone;
}
