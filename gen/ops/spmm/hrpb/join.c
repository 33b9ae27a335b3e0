/* A panel's virtual panels are added up (parts/join.h): they are its pieces. Each warp has the sums of its
 * own columns, with a flag of its own, and the last piece's warp adds those of all others to them. */
#include "ops/spmm/hrpb/emit.h"
#include "parts/join.h"
#include "parts/panels.h"

enum { VECTOR_BYTES = HRPB_VECTOR * WORD };

/* A lane's vectors of sums lie as far apart as those of all lanes take. */
static join join_of(const hrpb_emitter *e) {
    return (join){.b = e->b,
                  .of = "panel",
                  .sums = e->acc,
                  .count = hrpb_sums(e->plan),
                  .vector = HRPB_VECTOR,
                  .beside = 1,
                  .pitch = MC_WARP * VECTOR_BYTES,
                  .add = OP_add_f32,
                  .warps = 1,
                  .lane = e->at.place.lane,
                  .block = e->thread_block,
                  .piece_bytes = hrpb_piece_bytes(e->plan),
                  .flags_at = hrpb_sum_bytes(e->plan)};
}

/* Where this warp's sums and its flag lie in a piece. */
static void find_place(join *j, const hrpb_emitter *e) {
    mc_builder *b = j->b;
    const int warps = e->plan->base.warps, each = hrpb_sum_bytes(e->plan) / warps;
    j->in_piece = mul_s32(b, "piece_lane", j->lane, I(VECTOR_BYTES));
    if (warps > 1) j->in_piece = mad_s32(b, "piece_warp_lane", e->at.place.warp, I(each), j->in_piece);
    j->flag_in_piece = warps > 1 ? mul_s32(b, "flag_in_piece", e->at.place.warp, I(PANEL_FLAG))
                                 : mov_b32(b, "flag_in_piece", I(0));
}

void spmm_hrpb_emit_join(hrpb_emitter *e, mc_label end) {
    mc_builder *b = e->b;
    join j = join_of(e);
    mc_label joined = label(b, "JOINED");
    heading(b, "Sums of a panel that is cut into virtual panels");
    mc_reg alone = setp_eq(b, "is_whole", e->sharing, I(0));
    EMIT_IF(b, alone, bra_uni, TO(joined));
    join_take_pieces_of(&j, e->sharing);
    join_find_tile(&j);
    find_place(&j, e);
    join_declare_pieces(&j);
    join_take_pieces(&j);
    mc_reg is_last = setp_eq(b, "finishes", j.piece, j.more_pieces);
    EMIT_IF(b, is_last, bra_uni, TO(joined));
    join_leave_piece(&j);
    EMIT(b, bra_uni, TO(end));
    set_label(b, joined);
}
