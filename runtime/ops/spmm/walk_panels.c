/* The order of the gather kernel with panels. */
#include "base/memory.h"
#include "ops/spmm/walk.h"

static int64_t strides_of(const mc_vsparse *joined, int64_t panel) {
    return (joined->row_ptr[panel + 1] - joined->row_ptr[panel] + WALK_GROUP - 1) / WALK_GROUP;
}

/* Which parts panels have. Returns how many strides there are. */
static int64_t count_parts(const mc_vsparse *joined, const mc_panels *form, slot_walk *walk) {
    int64_t strides = 0;
    for (int64_t p = 0; p < joined->row_blocks; p++) {
        panel_sharing s = panels_share(form, strides_of(joined, p));
        int64_t parts = s.pieces * s.parts;
        walk->first_part[p + 1] = walk->first_part[p] + parts;
        if (parts > walk->parts) walk->parts = (int)parts;
        strides += strides_of(joined, p);
    }
    return strides;
}

static void take_stride(const mc_vsparse *joined, int64_t panel, int64_t stride, int depth, int64_t *to) {
    int64_t slots[WALK_GROUP];
    for (int i = 0; i < WALK_GROUP; i++) {
        int64_t vector = joined->row_ptr[panel] + stride * WALK_GROUP + i;
        slots[i] = vector < joined->row_ptr[panel + 1] ? vector : WALK_PADDING;
    }
    walk_take_group(slots, depth, to);
}

static void take_panels(const mc_vsparse *joined, const mc_panels *form, slot_walk *walk) {
    const int mma = WALK_GROUP / walk->depth;
    int64_t taken = 0;
    for (int64_t p = 0; p < joined->row_blocks; p++) {
        const int64_t strides = strides_of(joined, p), begin = taken;
        const panel_sharing s = panels_share(form, strides);
        for (int64_t leaf = 0; leaf < s.pieces * s.parts; leaf++)
            walk->start[walk->first_part[p] + leaf] = (begin + panels_cut(s, strides, leaf)) * mma;
        for (int64_t i = 0; i < strides; i++, taken++)
            take_stride(joined, p, i, walk->depth, &walk->vector[taken * WALK_GROUP]);
    }
    walk->start[walk->first_part[joined->row_blocks]] = taken * mma;
}

mc_status walk_panels(const panel_matrix *m, const mc_panels *form, int depth, slot_walk *walk,
                      mc_diag *diag) {
    const mc_vsparse *joined = &m->joined;
    *walk = (slot_walk){.depth = depth, .parts = 1, .warps = form->warps};
    walk->first_part = mcrt_array(joined->row_blocks + 1, sizeof *walk->first_part);
    if (walk->first_part == NULL) return mcrt_no_memory(diag, joined->row_blocks, "panels");
    walk->first_part[0] = 0;
    const int64_t slots = count_parts(joined, form, walk) * WALK_GROUP;
    walk->start = mcrt_array(walk->first_part[joined->row_blocks] + 1, sizeof *walk->start);
    walk->vector = mcrt_array(slots, sizeof *walk->vector);
    if (walk->start == NULL || walk->vector == NULL) return mcrt_no_memory(diag, slots, "slots");
    take_panels(joined, form, walk);
    return MC_OK;
}
