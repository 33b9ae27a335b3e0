/* The gather SDDMM: where a thread is, which item its warp has, and where the item's groups end. */
#include "ops/sddmm/gather/gather.h"

/* Sets the thread's place. Returns its item, and which row of the item's indices the lane reads. */
static mc_reg emit_place(gather_emitter *e, mc_reg *index_row) {
    mc_builder *b = e->b;
    int warps = e->plan->problem.warps;
    heading(b, "This warp's item; lane = 4 g + t");
    e->place = load_thread_place(b, MC_WARP * warps);
    mc_reg item = load_special(b, "item", "ctaid.x");
    *index_row = gather_emit_lane(e);
    if (warps == 1) return item;
    mc_reg count = load_shape(b, "item_count", true);
    EMIT(b, mad_s32, item, item, I(warps), e->place.warp);
    mc_reg beyond = setp_ge(b, "beyond", item, count);
    builder_emit(b, beyond, OP_ret, NULL, 0);
    return item;
}

/* Neither the item's nor the indices' load waits for the other. The loads are relaxed: ptxas would move
   others down to their use. */
void gather_emit_item(gather_emitter *e) {
    mc_builder *b = e->b;
    int groups = e->plan->items.groups, indices = 2 * groups;
    mc_reg index_row, item = emit_place(e, &index_row);
    mc_reg items = load_array(b, "items"), col_idx = load_array(b, "col_idx");
    b32_array(b, "record", 4, e->words);
    const mc_reg *index = gather_declare_indices(e);
    mc_reg at = mad_wide(b, "item_at", item, I(4 * WORD), items), index_at = b64(b, "index_at");
    EMIT(b, mad_wide, index_at, item, I(8 * indices * WORD), col_idx);
    EMIT(b, mad_wide, index_at, index_row, I(indices * WORD), index_at);
    note(b, "row block, place of the first vector in C, slots in use; columns of slots %s",
         gather_slots_text(e->plan));
    EMIT(b, ldr_v4, V4(e->words), AT(at, 0));
    sddmm_emit_load_indices(b, groups, index_at, 0, index);
    gather_emit_more_indices(e, index_at);
}

void gather_emit_group_end(gather_emitter *e, int group, mc_label end) {
    if (group % sddmm_run_groups(&e->plan->items) != 0) return;
    if (!e->last.id) e->last = pred(e->b, "last");
    sddmm_emit_group_end(e->b, item_count(e->words), group, e->last, end);
}
