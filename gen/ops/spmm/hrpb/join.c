/* A panel's virtual panels are added up: all but the last one leave their sums in the workspace, each warp
 * with a flag, and each warp of the last one adds those of its columns to its own, from the first virtual
 * panel on. They lie in front of the one that waits for them, in thread blocks that begin no later, so that
 * nobody waits in vain. */
#include "ops/spmm/hrpb/emit.h"
#include "parts/panels.h"
#include "parts/stream.h"

typedef struct joining {
    hrpb_emitter *e;
    mc_reg part, more_parts; /* which virtual panel it is; how many there are, less 1 */
    mc_reg workspace, tiles, tile, lane, flag, first_lane;
    mc_reg other[HRPB_VECTOR], slot, at, flag_at, mark; /* scratch */
} joining;

enum { VECTOR_BYTES = HRPB_VECTOR * WORD };

/* A lane's vectors of sums lie as far apart as those of all lanes take. */
static mc_operand vector_at(mc_reg at, int i) { return AT(at, i * MC_WARP * VECTOR_BYTES); }
static int vectors(const joining *j) { return hrpb_sums(j->e->plan) / HRPB_VECTOR; }

static mc_reg field(const joining *j, const char *name, int shift) {
    mc_builder *b = j->e->b;
    mc_reg of = b32(b, name);
    EMIT(b, shr_u32, of, j->e->sharing, I(shift));
    EMIT(b, and_b32, of, of, I(PANEL_MOST_PIECES - 1));
    return of;
}

/* Where this warp's sums and its flag lie in those of thread block 0. */
static void find_place(joining *j) {
    mc_builder *b = j->e->b;
    const hrpb_plan *plan = j->e->plan;
    j->workspace = load_array(b, MC_WORKSPACE);
    j->tiles = load_special(b, "tiles", "nctaid.y"), j->tile = load_special(b, "piece_tile", "ctaid.y");
    j->lane = mul_s32(b, "piece_lane", j->e->at.place.lane, I(VECTOR_BYTES));
    j->flag = b32(b, "flag_offset");
    EMIT(b, mov_b32, j->flag, I(hrpb_sum_bytes(plan)));
    if (plan->base.warps > 1) {
        const int each = hrpb_sum_bytes(plan) / plan->base.warps;
        j->lane = mad_s32(b, "piece_warp_lane", j->e->at.place.warp, I(each), j->lane);
        EMIT(b, mad_s32, j->flag, j->e->at.place.warp, I(HRPB_FLAG), j->flag);
    }
    j->slot = b32(b, "piece_slot"), j->at = b64(b, "piece_at"), j->flag_at = b64(b, "flag_at");
    j->mark = b64(b, "mark"), j->first_lane = setp_eq(b, "first_lane", j->e->at.place.lane, I(0));
    b32_array(b, "other", HRPB_VECTOR, j->other);
}

/* Sets `at` and flag_at for thread block BLOCK. */
static void go_to(const joining *j, mc_reg block) {
    mc_builder *b = j->e->b;
    EMIT(b, mad_s32, j->slot, block, j->tiles, j->tile);
    EMIT(b, mad_wide, j->at, j->slot, I(hrpb_piece_bytes(j->e->plan)), j->workspace);
    EMIT(b, mad_wide, j->flag_at, j->flag, I(1), j->at);
    EMIT(b, mad_wide, j->at, j->lane, I(1), j->at);
}

static void leave(const joining *j) {
    mc_builder *b = j->e->b;
    note(b, "this virtual panel's sums are left to the last one");
    go_to(j, j->e->thread_block);
    for (int i = 0; i < vectors(j); i++)
        EMIT(b, stg_v4, vector_at(j->at, i), V4(j->e->acc + i * HRPB_VECTOR));
    note(b, "all lanes have: the flag is set");
    EMIT(b, bar_warp_sync, I(-1));
    EMIT(b, mov_b64, j->mark, I(STREAM_MARK));
    EMIT_IF(b, j->first_lane, st_release_b64, AT(j->flag_at, 0), j->mark);
}

/* Waits until thread block BLOCK has left its sums, and adds them. */
static void take(const joining *j, mc_reg block) {
    mc_builder *b = j->e->b;
    mc_label again = label(b, "OTHER"), there = label(b, "OTHER_THERE");
    mc_reg is_set = pred(b, "flag_is_set");
    go_to(j, block);
    set_label(b, again);
    EMIT(b, ld_acquire_b64, j->mark, AT(j->flag_at, 0));
    EMIT(b, setp_eq_b64, is_set, j->mark, I(STREAM_MARK));
    EMIT_IF(b, is_set, bra, TO(there));
    EMIT(b, bra, TO(again));
    set_label(b, there);
    note(b, "all lanes have seen the flag: it is cleared for the next launch");
    EMIT(b, bar_warp_sync, I(-1));
    EMIT(b, mov_b64, j->mark, I(0));
    EMIT_IF(b, j->first_lane, stg_b64, AT(j->flag_at, 0), j->mark);
    for (int i = 0; i < vectors(j); i++) {
        EMIT(b, ldg_weak_v4, V4(j->other), vector_at(j->at, i));
        for (int k = 0; k < HRPB_VECTOR; k++) {
            mc_reg sum = j->e->acc[i * HRPB_VECTOR + k];
            EMIT(b, add_f32, sum, sum, j->other[k]);
        }
    }
}

static void take_all(const joining *j) {
    mc_builder *b = j->e->b;
    mc_label next = label(b, "OTHERS"), done = label(b, "OTHERS_DONE");
    note(b, "the panel's last one adds the others to its own, from the first one on");
    mc_reg other = carried(b, "other_part", I(0)), is_done = pred(b, "no_other");
    mc_reg first = sub_s32(b, "first_part", j->e->thread_block, j->more_parts);
    set_label(b, next);
    EMIT(b, setp_ge, is_done, other, j->more_parts);
    EMIT_IF(b, is_done, bra, TO(done));
    take(j, add_s32(b, "other_block", first, other));
    EMIT(b, add_s32, other, other, I(1));
    EMIT(b, bra, TO(next));
    set_label(b, done);
}

void spmm_hrpb_emit_join(hrpb_emitter *e, mc_label end) {
    mc_builder *b = e->b;
    joining j = {.e = e};
    mc_label joined = label(b, "JOINED"), last = label(b, "LAST");
    heading(b, "Sums of a panel that is cut into virtual panels");
    mc_reg alone = setp_eq(b, "is_whole", e->sharing, I(0));
    EMIT_IF(b, alone, bra_uni, TO(joined));
    j.part = field(&j, "part", PANEL_PIECE_SHIFT);
    j.more_parts = field(&j, "more_parts", PANEL_PIECES_SHIFT);
    find_place(&j);
    mc_reg is_last = setp_eq(b, "is_last", j.part, j.more_parts);
    EMIT_IF(b, is_last, bra_uni, TO(last));
    leave(&j);
    EMIT(b, bra_uni, TO(end));
    set_label(b, last);
    take_all(&j);
    set_label(b, joined);
}
