/* How a warp's share of shared memory is laid out: rows of B on their way to the mma (shared.c), and
   partial sums later (partial.c). */
#include "ops/spmm/gather/gather.h"
#include "parts/fragment.h"

enum { PADDING = 32 };

void spmm_gather_shared_plan(gather_plan *plan) {
    int row = MC_LANE_SLOTS * plan->wide.unit; /* eight lane groups read it */
    plan->wide.copy = GATHER_COPY;
    plan->rows = (gather_rows){row, row / GATHER_COPY, MC_LANE_SLOTS * row + (plan->padding ? PADDING : 0)};
}

/* How partial sums lie in swapped order (gather_partial). Row 2t + r begins at r * run + t * by_t, and its
   columns lie in a row. Counted in units of 16 bytes, of which eight fill a row of banks, neighbouring g are
   columns / 32 units apart, with 256 columns 9. The four t must fall into the gaps between. */
static gather_partial swapped_partial(int columns) {
    gather_partial p = {
        .by_t = columns == 32 ? 40 : columns + 4, .pair = columns == 64 ? 8 : 0, .by_g = columns / 8};
    if (columns == 256) p.by_g += 4, p.by_t = 8 * p.by_g + 8;
    p.run = 4 * p.by_t + 2 * p.pair;
    p.warp = 2 * p.run;
    return p;
}

/* How partial sums lie in the paper's order. Row g begins at g * by_g, and the columns of a t lie in a row.
   The four t must fall into different units of 16 bytes, and two g must fill the gaps. Reads take 8
   neighbouring units of a row, so that two t must adjoin where each has four units. */
static gather_partial paper_partial(int rows, int columns) {
    int unit = 4, of_t = columns / 4;
    gather_partial p = {.run = columns / 8, .by_t = of_t, .by_g = columns + unit};
    if (columns == 64) {
        p.pair = 2 * unit;
        p.by_g += p.pair;
    } else if (columns > 64) {
        p.by_t = of_t + unit;
        p.by_g = 4 * p.by_t;
    }
    p.warp = rows * p.by_g;
    return p;
}

gather_partial spmm_gather_partial_of(const spmm_arithmetic *math, int columns) {
    if (math->order == SPMM_SWAPPED) return swapped_partial(columns);
    return paper_partial(spmm_is_tall(math) ? SPMM_TALL : SPMM_MMA_ROWS, columns);
}

int spmm_gather_rows_bytes(const gather_plan *plan) {
    return plan->wide.emitted ? plan->base.stride / MC_LANE_SLOTS * plan->rows.octet : 0;
}

int spmm_gather_share_bytes(const gather_plan *plan, const gather_path *path) {
    int rows = spmm_gather_rows_bytes(plan);
    int sum_bytes = plan->base.output.exact ? 2 * WORD : WORD;
    int sums =
        plan->base.split > 1 ? spmm_gather_partial_of(&plan->base.math, path->columns).warp * sum_bytes : 0;
    if (plan->base.panels) sums = spmm_gather_panel_sums(plan);
    return rows > sums ? rows : sums;
}

/* Lane groups, or in the paper's order lanes t, have runs of columns; with their rows a warp's store fills
   the banks. */
column_tile spmm_gather_tile(const gather_plan *plan, const gather_path *path) {
    const spmm_plan *base = &plan->base;
    int bytes = out_element_bytes(base->output.element), least = 16;
    int lanes = base->math.order == SPMM_SWAPPED ? base->vec : SPMM_MMA_ROWS / 2, pad = lanes * bytes;
    return (column_tile){.columns = path->columns,
                         .rows = base->vec * base->row_blocks,
                         .run = path->columns / 8,
                         .pad = pad > least ? pad : least,
                         .bytes = bytes};
}
