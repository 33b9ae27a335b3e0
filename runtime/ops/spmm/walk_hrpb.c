/* The order of the kernel of staging "hrpb": bricks of 4 active columns, one after another. */
#include <stdlib.h>
#include "base/memory.h"
#include "formats/hrpb.h"
#include "ops/spmm/walk.h"

/* BLOCKS receives blocked_row_ptr: [panels + 1]. */
static void count_blocks(const mc_vsparse *joined, int tile_cols, int32_t *blocks) {
    for (int64_t p = 0; p < joined->row_blocks; p++) {
        const int64_t columns = joined->row_ptr[p + 1] - joined->row_ptr[p];
        blocks[p + 1] = blocks[p] + (int32_t)((columns + tile_cols - 1) / tile_cols);
    }
}

/* What slot_walk.bricks has of an mma with VECTORs at its places. */
static uint32_t bricks_of(const panel_matrix *m, const int64_t *vector) {
    const int rows = m->joined.vec;
    uint32_t bricks = 0;
    for (int k = 0; k < HRPB_TILE_COLS; k++)
        for (int r = 0; r < rows && vector[k] != WALK_PADDING; r++)
            if (m->element[vector[k] * rows + r] >= 0) bricks |= 1u << r / HRPB_TILE_ROWS;
    return bricks;
}

static void take_panel(const panel_matrix *m, const mc_hrpb *form, const mc_packed_array *row_ptr,
                       int64_t panel, slot_walk *walk) {
    const mc_vsparse *joined = &m->joined;
    const int32_t *start = row_ptr->data;
    const int64_t mma = form->tile_cols / HRPB_TILE_COLS, end = joined->row_ptr[panel + 1],
                  parts = walk->first_part[panel + 1] - walk->first_part[panel];
    for (int64_t part = 0; part < parts; part++)
        walk->start[walk->first_part[panel] + part] =
            hrpb_cut(start[panel], start[panel + 1], part, parts) * mma;
    int64_t *to = &walk->vector[start[panel] * mma * HRPB_TILE_COLS], vector = joined->row_ptr[panel];
    for (int64_t i = 0; i < (start[panel + 1] - start[panel]) * mma * HRPB_TILE_COLS; i++, vector++)
        to[i] = vector < end ? vector : WALK_PADDING;
    for (int64_t i = start[panel] * mma; i < start[panel + 1] * mma; i++)
        walk->bricks[i] = bricks_of(m, &walk->vector[i * HRPB_TILE_COLS]);
}

static mc_status make_walk(const panel_matrix *m, const mc_hrpb *form, double waves,
                           const mc_packed_array *row_ptr, slot_walk *walk, mc_diag *diag) {
    const int64_t panels = m->joined.row_blocks, blocks = ((const int32_t *)row_ptr->data)[panels];
    walk->first_part = mcrt_array(panels + 1, sizeof *walk->first_part);
    if (walk->first_part == NULL) return mcrt_no_memory(diag, panels, "panels");
    for (int64_t p = 0; p < panels; p++) {
        const int64_t parts = hrpb_panel_parts(row_ptr, p, waves);
        walk->first_part[p + 1] = walk->first_part[p] + parts;
        if (parts > walk->parts) walk->parts = (int)parts;
    }
    walk->start = mcrt_array(walk->first_part[panels] + 1, sizeof *walk->start);
    walk->vector = mcrt_array(blocks * form->tile_cols, sizeof *walk->vector);
    walk->bricks = mcrt_array(blocks * form->tile_cols / HRPB_TILE_COLS, sizeof *walk->bricks);
    if (walk->start == NULL || walk->vector == NULL || walk->bricks == NULL)
        return mcrt_no_memory(diag, blocks, "blocks");
    for (int64_t p = 0; p < panels; p++) take_panel(m, form, row_ptr, p, walk);
    walk->start[walk->first_part[panels]] = blocks * (form->tile_cols / HRPB_TILE_COLS);
    return MC_OK;
}

mc_status walk_hrpb(const panel_matrix *m, const mc_hrpb *form, double waves, slot_walk *walk,
                    mc_diag *diag) {
    mc_packed_array row_ptr = {"blocked_row_ptr", MC_S32, m->joined.row_blocks + 1, NULL};
    *walk = (slot_walk){.depth = HRPB_TILE_COLS, .parts = 1, .warps = 1};
    row_ptr.data = mcrt_array(row_ptr.count, sizeof(int32_t));
    if (row_ptr.data == NULL) return mcrt_no_memory(diag, row_ptr.count, "panels");
    count_blocks(&m->joined, form->tile_cols, row_ptr.data);
    mc_status status = make_walk(m, form, waves, &row_ptr, walk, diag);
    free(row_ptr.data);
    return status;
}
