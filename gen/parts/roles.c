#include "parts/roles.h"
#include "parts/emit.h"
#include "parts/fragment.h"

/* Barrier 0 is the thread block's. */
enum { FIRST_TURN = 1, TURN_THREADS = 2 * WARPGROUP };

/* Each row sums up to 512 registers for one thread of each warpgroup, or less. */
role_shares roles_shares(int consumers, int helpers) {
    static const role_shares rows[] = {{0}, {.launch = 240}, {168, 40, 232, 0}, {128, 32, 160, 0}},
                             helped[] = {{0}, {128, 40, 216, 128}, {96, 24, 168, 56}};
    return helpers ? helped[consumers] : rows[consumers];
}

static role_shares shares_of(const warp_roles *r) {
    static const role_shares narrow = {.launch = NARROW_LAUNCH},
                             paired[] = {{0}, {NARROW_LAUNCH, 40, 216, 0}, {80, 24, 104, 0}};
    return r->narrow ? narrow : r->paired ? paired[r->consumers] : roles_shares(r->consumers, r->helpers);
}

static bool shares_copies(const warp_roles *r) { return r->cluster > 1; }
static bool shares_tiles(const warp_roles *r) { return r->parts > 1; }

void roles_begin(warp_roles *r) {
    mc_builder *b = r->b;
    b->launch_registers = shares_of(r).launch;
    r->thread = load_special(b, "thread", "tid.x");
    r->lane = and_b32(b, "lane", r->thread, I(MC_WARP - 1));
    r->warp = shr_u32(b, "warp", r->thread, I(log2_of(MC_WARP)));
    r->warpgroup = shr_u32(b, "warpgroup", r->thread, I(log2_of(WARPGROUP)));
    mc_reg in_group = and_b32(b, "warp_in_group", r->warp, I(WARPGROUP_WARPS - 1));
    r->warp_row = shl_b32(b, "warp_row", in_group, I(log2_of(WARPGROUP_ROWS / WARPGROUP_WARPS)));
    r->first_thread = setp_eq(b, "first_thread", r->thread, I(0));
    r->arrives = setp_lt(b, "arrives", r->lane, I(shares_copies(r) ? r->cluster : 1));
    if (!shares_copies(r) && !shares_tiles(r)) return;
    r->rank = load_special(b, "rank", "cluster_ctarank");
    if (!shares_copies(r)) return;
    r->peer = and_b32(b, "peer", r->lane, I(r->cluster - 1));
}

void roles_meet(const warp_roles *r) {
    mc_builder *b = r->b;
    if (!shares_copies(r)) EMIT(b, bar_sync, I(0));
    if (shares_tiles(r)) {
        note(b, "the other thread blocks learn that this one has begun, and that its barriers are there");
        EMIT_BARE(b, cluster_arrive_relaxed);
    }
    if (!shares_copies(r)) return;
    note(b, "no thread block copies or arrives where barriers are not there yet");
    EMIT_BARE(b, cluster_arrive);
    EMIT_BARE(b, cluster_wait);
}

void roles_help(const warp_roles *r, mc_label helper) {
    mc_builder *b = r->b;
    mc_reg helps = setp_gt(b, "helps", r->warpgroup, I(r->consumers));
    EMIT_IF(b, helps, bra_uni, TO(helper));
}

void roles_helper(const warp_roles *r, mc_label helper) {
    role_shares shares = shares_of(r);
    set_label(r->b, helper);
    if (shares.helper < shares.launch) EMIT(r->b, registers_down, I(shares.helper));
}

void roles_produce(const warp_roles *r, mc_label producer) {
    mc_builder *b = r->b;
    role_shares shares = shares_of(r);
    mc_reg produces = setp_eq(b, "produces", r->warpgroup, I(r->consumers));
    EMIT_IF(b, produces, bra_uni, TO(producer));
    if (shares.consumer) EMIT(b, registers_up, I(shares.consumer));
}

void roles_producer(const warp_roles *r, mc_label producer, mc_label end) {
    mc_builder *b = r->b;
    role_shares shares = shares_of(r);
    set_label(b, producer);
    if (shares.producer) EMIT(b, registers_down, I(shares.producer));
    mc_reg idle = setp_ne(b, "idle", r->thread, I(r->consumers * WARPGROUP));
    EMIT_IF(b, idle, bra, TO(end));
}

void roles_meet_cluster(const warp_roles *r) {
    if (!shares_tiles(r)) return;
    note(r->b, "all thread blocks of the cluster have begun");
    EMIT_BARE(r->b, cluster_wait);
}

/* A thread of a warp may come here long before the others do, and the barrier takes whole warps. */
void roles_end(const warp_roles *r, mc_label end) {
    mc_builder *b = r->b;
    set_label(b, end);
    if (shares_copies(r)) {
        note(b, "others of the cluster may still arrive at this thread block's barriers");
        EMIT(b, bar_warp_sync, H(0xffffffff));
        EMIT_BARE(b, cluster_arrive);
        EMIT_BARE(b, cluster_wait);
    }
    EMIT_RET(b);
}

/* -- Turns -------------------------------------------------------------------------------------------- */

static void give_turn(mc_builder *b, mc_reg guard, mc_reg barrier) {
    EMIT_IF(b, guard, bar_arrive_some, barrier, I(TURN_THREADS));
}

role_turns roles_turns(const warp_roles *r, mc_reg any) {
    mc_builder *b = r->b;
    role_turns t = {.own = add_s32(b, "own_turn", r->warpgroup, I(FIRST_TURN))};
    t.other = sub_s32(b, "other_turn", I(2 * FIRST_TURN + 1), t.own);
    note(b, "consumer 0 has the first turn, if there is a tile: consumer 1 gives it");
    mc_reg gives = setp_eq_and(b, "gives_first", r->warpgroup, I(1), any);
    give_turn(b, gives, t.other);
    return t;
}

void roles_await_turn(const warp_roles *r, const role_turns *t) {
    EMIT(r->b, bar_sync_some, t->own, I(TURN_THREADS));
}

void roles_pass_turn(const warp_roles *r, const role_turns *t, mc_reg more) {
    give_turn(r->b, more, t->other);
}
