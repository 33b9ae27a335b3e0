/* Between the files of the ring kernel's epilogue. */
#ifndef MC_SPMM_RING_STORE_H
#define MC_SPMM_RING_STORE_H

#include "ops/spmm/ring/ring.h"

enum {
    RING_STORE_BYTES = 16,   /* of a store or load */
    RING_EARLY_COLUMNS = 16, /* whose factors are loaded ahead, of vectors of 16 rows */
};

/* Vectors of 16 rows. */
static inline bool ring_is_tall(const ring_plan *plan) { return spmm_is_tall(&plan->base.math); }

/* output.c. Whether lanes exchange sums first (store.c). */
bool ring_exchanges(const ring_plan *plan);
/* Runs of neighbouring columns that a lane has in this warp's part of the tile. */
int ring_runs(const ring_plan *plan);
/* Columns of the residual that a load takes in the wide path: a run, up to 16 bytes, where the spec's ldr
   allows it. Of a column-major one rows: the lane's neighbouring ones. */
int ring_residual_columns(const ring_plan *plan);
/* With scales of B, too, a column has up to three factors: more than there are registers for in a tile. A
   residual is another, and so are the columns that a lane has of vectors of 16 rows. They come behind the
   loop then, a run's where the run is stored. */
bool ring_loads_late(const ring_plan *plan);
/* Collects the sums of run C in the lane's row ROW. */
void ring_run_of_sums(const ring_epilogue *e, int c, int row, mc_reg *sums);
/* Sets ROW to this lane's first row of C. */
void ring_emit_row(const ring_epilogue *e, mc_reg row);
/* Loads factors of the columns of COUNT runs from the C-th on, as the COLUMN-th and on. */
void ring_load_columns_of(ring_epilogue *e, int c, int count, int column);

/* Neighbouring rows that a lane has: 2 t and 2 t + 1, but not g and g + 8. */
static inline int ring_pair_rows(const ring_plan *plan) {
    return ring_row_step(plan) == 1 ? ring_lane_rows(plan) : 1;
}

/* together.c. Of row blocks that share a tile: declares what W needs to put sums there, once the tile is
   free; then stores the tile. */
void ring_emit_tile_start(ring_epilogue *e, column_writer *w);
void ring_emit_tile_store(ring_epilogue *e, column_writer *w);

/* columns.c. Stores a column-major C. */
void ring_emit_store_columns(ring_epilogue *e, bool clamp);

#endif
