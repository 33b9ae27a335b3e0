/* A persistent grid: thread blocks take tiles of C in turn (schedule.h). All warps walk through the tiles by
 * themselves, and none waits for another one but at B's windows: while one stores, others multiply, and the
 * next tile's windows come.
 *
 * Strides of A say where rows lie in the ring, so that each tile begins with stage 0. It has whole rounds of
 * stages therefore: behind B's last window some pass that are empty. The copying warp arrives for them, and
 * all others leave them. */
#include "ops/spmm/ring/ring.h"

void ring_passes_begin(ring_emitter *r) {
    mc_builder *b = r->at.b;
    const int stages = r->plan->stages;
    heading(b, "Windows that pass for a tile: whole rounds of %d", stages);
    r->passes = b32(b, "passes");
    EMIT(b, add_s32, r->passes, r->windows, I(stages - 1));
    EMIT(b, div_u32, r->passes, r->passes, I(stages));
    EMIT(b, mul_s32, r->passes, r->passes, I(stages));
}

void ring_tiles_begin(ring_emitter *r) {
    enum { GROUP = 8 }; /* rows of tiles whose A is in L2 while they go by columns */
    const spmm_plan *plan = r->at.plan;
    heading(r->at.b, "Tiles of C, which thread blocks take in turn");
    r->tiles = (tile_schedule){.b = r->at.b,
                               .tile_rows = plan->vec * plan->row_blocks,
                               .tile_columns = plan->tile_n,
                               .group = GROUP};
    schedule_begin(&r->tiles, dim_operand(plan->m, r->at.m), dim_operand(plan->n, r->at.n));
    r->at.tile_col = r->tiles.column;
}
