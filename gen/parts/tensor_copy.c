#include "parts/tensor_copy.h"
#include <stdio.h>

static int sharers(const tensor_copy *c) { return c->sharers > 1 ? c->sharers : 1; }

/* A part has lines of all panels where lines are rows, and whole panels where lines are k. */
tensor_box tensor_copy_box(const shared_tile *tile, int count) {
    int parts = tile->mn_major || count < 1 ? 1 : count;
    return (tensor_box){tile_line(tile), tile_lines(tile) / parts};
}

static const char *joined(const char *begin, const char *what, char name[MC_MAX_NAME]) {
    snprintf(name, MC_MAX_NAME, "%s_%s", begin, what);
    return name;
}

static const char *named(const tensor_copy *c, const char *what, char name[MC_MAX_NAME]) {
    return joined(c->name, what, name);
}

mc_reg tensor_copy_prefetch(mc_builder *b, const char *name, const char *param, mc_reg guard) {
    char reg[MC_MAX_NAME];
    mc_reg at = mov_param(b, joined(name, "map_param", reg), NAME(param));
    mc_reg map = cvta_param(b, joined(name, "map", reg), at);
    EMIT_IF(b, guard, prefetch_map, AT(map, 0));
    return map;
}

void tensor_copy_begin(tensor_copy *c) {
    mc_builder *b = c->b;
    char name[MC_MAX_NAME];
    if (!c->map.id) c->map = tensor_copy_prefetch(b, c->name, c->param, (mc_reg){0});
    if (c->once) {
        c->policy = b64(b, named(c, "policy", name));
        EMIT(b, policy_leaves_first, c->policy);
    }
    c->row = b32(b, named(c, "row", name)), c->along = b32(b, named(c, "along", name));
    if (sharers(c) == 1) return;
    int rows = c->tile->rows / sharers(c);
    c->rank_rows = mul_s32(b, named(c, "part_rows", name), c->rank, I(rows));
    c->part = mul_s32(b, named(c, "part", name), c->rank, I(tile_offset(c->tile, rows, 0)));
    c->to = b32(b, named(c, "to", name));
}

void tensor_copy_row(const tensor_copy *c, mc_reg row) {
    if (sharers(c) == 1) EMIT(c->b, mov_b32, c->row, row);
    else EMIT(c->b, add_s32, c->row, row, c->rank_rows);
}

/* The same of a tensor map with three dimensions. */
static void copy_box_of_batch(const tensor_copy *c, mc_operand from, mc_operand to, mc_reg barrier) {
    if (c->once) EMIT(c->b, tma_load_3d_kept, to, from, AT(barrier, 0), c->policy);
    else EMIT(c->b, tma_load_3d, to, from, AT(barrier, 0));
}

/* One copy, of a box, to TO. INNER is the coordinate along lines. */
static void copy_box(const tensor_copy *c, mc_reg inner, mc_reg outer, mc_operand to, mc_reg barrier) {
    uint32_t all = (1u << sharers(c)) - 1;
    if (c->product.id) copy_box_of_batch(c, TENSOR(c->map, inner, outer, c->product), to, barrier);
    else if (c->once)
        EMIT(c->b, tma_load_2d_kept, to, TENSOR(c->map, inner, outer), AT(barrier, 0), c->policy);
    else if (sharers(c) == 1) EMIT(c->b, tma_load_2d, to, TENSOR(c->map, inner, outer), AT(barrier, 0));
    else EMIT(c->b, tma_multicast_2d, to, TENSOR(c->map, inner, outer), AT(barrier, 0), I(all));
}

void tensor_copy_tile(const tensor_copy *c, mc_reg k, mc_reg stage, mc_reg barrier) {
    mc_builder *b = c->b;
    const shared_tile *t = c->tile;
    int panels = tile_panels(t) / (t->mn_major ? sharers(c) : 1);
    mc_reg inner = t->mn_major ? c->row : k, outer = t->mn_major ? k : c->row, to = stage;
    if (sharers(c) > 1) {
        EMIT(b, add_s32, c->to, stage, c->part);
        to = c->to;
    }
    for (int panel = 0; panel < panels; panel++) {
        if (panel) EMIT(b, add_s32, c->along, inner, I(panel * tile_line(t)));
        copy_box(c, panel ? c->along : inner, outer, AT(to, c->at + panel * tile_panel(t)), barrier);
    }
}
