/* The solver `gather`: each warp gathers the rows of B that it multiplies, straight into registers or by
   the way of shared memory. Its plan. */
#ifndef MC_SPMM_GATHER_H
#define MC_SPMM_GATHER_H

#include "ops/spmm/problem.h"
#include "parts/columns.h"
#include "parts/emit.h"

enum { GATHER_MASK_BYTES = 8 /* of panels: a row's mask in a stride, and where its values begin */ };
enum { GATHER_EDGE_COLUMNS = 32 /* columns of C that the edge path computes at a time: 4 for each lane */ };

/* A kernel has a wide path, for aligned rows and whole tiles, and an edge path for the rest. Eight lanes
   share a row of B, one of each lane group g; each owns a run of columns / 8 neighbouring columns. */
typedef struct gather_path {
    bool emitted;
    int columns; /* columns of C that the path computes at a time */
    int unit;    /* bytes of B that one load takes: all of a lane's columns, or 4, or 1 */
    int copy;    /* bytes of a row that a lane copies to shared memory at once; 0: loads go to registers */
    /* columns can lie beyond n: a load beyond it takes the last unit inside, stores are guarded */
    bool clamp;
    int whole;    /* with clamp, C's columns are inside n or outside in groups of this many */
    int store;    /* columns of C that one store takes; of a column-major C rows */
    int residual; /* the same of the residual and loads */
} gather_path;

/* What the wide path needs and the spec leaves open. Each thread block tests what is true here. */
typedef struct gather_checks {
    bool full_tile, ldb, ldc, b_address, c_address, ldr, r_address;
} gather_checks;

/* The sums of C that a lane has after the mma. They are runs of `run` = columns / 8 neighbouring columns:
        swapped   run 0 in row 2t of the row block, run 1 in row 2t + 1: the columns of lane group g. Of one
                  row there is run 0 alone
        paper     both in row g, where they adjoin: the columns of lane groups 2t and 2t + 1
        tall      as in the paper's order, and two more in row g + 8 (vectors of 16 rows)
   A lane's first row is row 2t, or g; its `rows` rows are `row_step` apart. It has `columns` columns of each.
   The first one is at lane_step * g, or lane_step * t, and of two runs the second is `run_step` behind the
   first. */
typedef struct gather_lane_sums {
    int rows, row_step, columns, run, runs, lane_step, run_step;
} gather_lane_sums;

static inline gather_lane_sums gather_lane_sums_of(const spmm_arithmetic *math, int columns) {
    int run = columns / 8, two = 2 * run;
    if (math->order == SPMM_SWAPPED && math->vec == 1) return (gather_lane_sums){1, 0, run, run, 1, run, run};
    if (math->order == SPMM_SWAPPED) return (gather_lane_sums){2, 1, run, run, 2, run, run};
    return spmm_is_tall(math) ? (gather_lane_sums){2, SPMM_MMA_ROWS, two, run, 4, two, run}
                              : (gather_lane_sums){1, 0, two, run, 2, two, run};
}
/* Which of the lane's rows run I is in, and its first column, counted from the lane's first one. */
static inline int gather_run_row(gather_lane_sums k, int i) { return i / (k.columns / k.run); }
static inline int gather_run_column(gather_lane_sums k, int i) {
    return i % (k.columns / k.run) * k.run_step;
}

/* Where a warp puts its partial sums in shared memory. Run i of lane 4 g + t begins at word i * run + t *
   by_t + t / 2 * pair + g * by_g. The pads keep the 16-byte stores of 8 neighbouring lanes (two g, four t) in
   8 different groups of banks. Exact sums have two words and take two such areas: one has columns 0 and 1 of
   each four, the other columns 2 and 3. */
typedef struct gather_partial {
    int run, by_t, pair, by_g, warp; /* in words; warp: all that a warp has in an area */
} gather_partial;

/* Staging "shared": how the rows of B of a stride lie in a warp's share of shared memory (shared.c). */
typedef struct gather_rows {
    int row;    /* bytes of a row: the tile's columns */
    int copies; /* 16-byte units of a row; a lane copies one unit of as many rows of each 32 */
    int octet;  /* bytes from the rows of 8 slots to those of the next 8, padding included */
} gather_rows;

typedef struct gather_plan {
    spmm_plan base;
    bool shared;      /* rows of B go through shared memory */
    bool prefetch;    /* the next stride is under way during a stride's mma */
    bool heads;       /* the first strides of all row blocks lie in front of the others */
    int share;        /* of panels: strides of a warp, before it shares its panel */
    bool nonzeros;    /* of panels: values have no zeros; masks say where they belong */
    bool reorder;     /* of panels: row_of says which rows they have */
    bool given;       /* another kernel may write the values of A */
    bool padding;     /* of rows in shared memory */
    int stride_steps; /* steps of 32 slots in a stride */
    gather_rows rows;
    gather_path wide, edge;
    gather_checks checks;
} gather_plan;

/* Vectors of 16 rows, stored from registers: which run of the path's columns a lane group has is free, since
   columns do not meet in an mma. Lane group g takes run g / 2, or where g is odd run g / 2 + 4. The first
   runs of lanes 0 to 3 then adjoin, and so do their second ones: a store of runs of up to 16 bytes fills
   whole sectors of C, where half of each would be another store's. */
enum { GATHER_APART = 4 /* runs from a lane's first to its second one */ };
static inline bool gather_sets_apart(const gather_plan *plan, const gather_path *path) {
    return spmm_is_tall(&plan->base.math) && plan->base.split == 1 && !plan->base.c_columns && !path->copy;
}
/* The sums of a lane in PATH, where they are stored from registers. */
static inline gather_lane_sums gather_stored_sums(const gather_plan *plan, const gather_path *path) {
    gather_lane_sums k = gather_lane_sums_of(&plan->base.math, path->columns);
    if (gather_sets_apart(plan, path)) k.lane_step = k.run, k.run_step = GATHER_APART * k.run;
    return k;
}

/* Bytes that rows of B must be aligned to on PATH; and the same of the wide path, in columns. */
static inline int gather_access(const gather_path *path) { return path->copy ? path->copy : path->unit; }
static inline int gather_access_columns(const gather_plan *plan) {
    return gather_access(&plan->wide) * 8 / plan->base.math.b_bits;
}

/* plan.c. Derives PLAN, a gather_plan, and complains of what cannot run. */
void spmm_gather_make_plan(const int64_t *point, void *plan, mc_complaints *complaints);
/* check.c */
void spmm_gather_check(const int64_t *point, const gather_plan *plan, mc_complaints *complaints);
/* layout.c. Derives how rows of B lie in shared memory, and what the wide path copies at once: so many
   bytes. */
enum { GATHER_COPY = 16 };
void spmm_gather_shared_plan(gather_plan *plan);
/* Where partial sums of COLUMNS columns lie: 32, 64 or 128, in swapped order also 256. */
gather_partial spmm_gather_partial_of(const spmm_arithmetic *math, int columns);
/* Bytes of a warp's share of shared memory: what rows of B take of it, and all of it. Its partial sums come
   later, and lie where the rows were. */
int spmm_gather_rows_bytes(const gather_plan *plan);
int spmm_gather_share_bytes(const gather_plan *plan, const gather_path *path);
/* Of a column-major C: the tile of it that lies behind the warps' shares. */
column_tile spmm_gather_tile(const gather_plan *plan, const gather_path *path);
static inline int spmm_gather_tile_offset(const gather_plan *plan, const gather_path *path) {
    return plan->base.warps * spmm_gather_share_bytes(plan, path);
}

/* panels.c. Bytes of a warp's share for the sums of panels that warps share, and of the workspace for those
   of a piece, of a tile's columns. */
int spmm_gather_panel_sums(const gather_plan *plan);
int spmm_gather_piece_bytes(const gather_plan *plan);

/* estimate.c; and estimate_panels.c, of kernels with panels */
double spmm_gather_estimate(const void *plan, const mc_gpu *gpu, const mc_problem *problem);
double spmm_gather_estimate_panels(const gather_plan *plan, const mc_gpu *gpu, const mc_problem *problem);

/* emit.c */
void spmm_gather_emit(const void *plan, mc_builder *b);

#endif
