/* The gather SDDMM's accumulators: what an item's mma add up, of two lane groups where they read lines
   (lines.c), and of several chains of mma. */
#include "ops/sddmm/gather/gather.h"

static bool has_lines(const gather_plan *plan) { return plan->abreast > 1; }
static int octets_of(const gather_emitter *e) { return sddmm_octets(&e->plan->problem); }
static int octet_accs(const gather_emitter *e) { return e->plan->problem.arithmetic.accs; }
/* Accumulators of a set. */
static int acc_count(const gather_emitter *e) { return octets_of(e) * octet_accs(e); }

void gather_emit_accumulators(gather_emitter *e) {
    int count = e->plan->items.groups * e->plan->abreast * acc_count(e);
    b32_array(e->b, "acc", count, e->sums.acc);
    sddmm_emit_zero(e->b, e->sums.acc, count);
}

/* -- Chains ------------------------------------------------------------------------------------------- */

void gather_declare_chains(gather_emitter *e) {
    int more = e->plan->chains - 1;
    if (more) b32_array(e->b, "chain", SDDMM_ACC * octets_of(e) * more, e->sums.chain);
}

/* The accumulators that step STEP adds to: the group's and the chains' in turn, since an mma waits for the
   one before that adds to the same. */
static const mc_reg *chain_of(const gather_emitter *e, gather_set of, int step) {
    int chain = step % e->plan->chains, chunk = step / e->plan->problem.arithmetic.steps;
    if (chain == 0) return gather_chunk_acc(e, of, chunk);
    return &e->sums.chain[SDDMM_ACC * ((chain - 1) * octets_of(e) + of.octet)];
}

/* A's steps here are those of the chunks that the lanes abreast have by this load. */
void gather_emit_step(const gather_emitter *e, const mc_reg *x, const mc_reg *y, const sddmm_panel *lhs,
                      gather_set of, int step) {
    const sddmm_arithmetic *a = &e->plan->problem.arithmetic;
    sddmm_factor factors[GATHER_MAX_ABREAST * SDDMM_MAX_OCTETS];
    int load = step / a->steps, word = a->b_words * step, count = 0;
    for (int chunk = e->plan->abreast * load; chunk <= gather_last_chunk(e->plan, load); chunk++) {
        int a_step = chunk * a->steps + step % a->steps;
        for (of.octet = 0; of.octet < octets_of(e); of.octet++)
            factors[count++] =
                (sddmm_factor){sddmm_panel_operands(lhs, of.octet, a_step), chain_of(e, of, a_step)};
    }
    sddmm_emit_products(&e->multiplier, &x[word], &y[word], factors, count);
}

void gather_emit_join_chains(const gather_emitter *e, int group) {
    int sums = SDDMM_ACC * octets_of(e);
    gather_set of = {.group = group};
    for (int distance = e->plan->chains / 2; distance > 0; distance /= 2)
        for (int chain = 0; chain < distance; chain++)
            for (int i = 0; i < sums; i++)
                sddmm_emit_add(&e->multiplier, chain_of(e, of, chain)[i],
                               chain_of(e, of, chain + distance)[i]);
}

/* -- Lines -------------------------------------------------------------------------------------------- */

/* Whether accumulators and copy are both kept. Where one panel is all of k, the exchange chooses between them
   by itself. */
static bool keeps_both(const gather_plan *plan) { return has_lines(plan) && plan->store_early; }

/* A set's accumulators of odd chunks. */
static const mc_reg *odd_acc(const gather_emitter *e, gather_set of) {
    return &e->sums.odd[of.set][of.octet * octet_accs(e)];
}
/* The registers in which lanes of h = 1 have their part of set OF's sums. */
static const mc_reg *odd_part(const gather_emitter *e, gather_set of) {
    return keeps_both(e->plan) ? odd_acc(e, of) : gather_acc(e, of);
}

void gather_emit_begin(gather_emitter *e, int group) {
    static const char *const names[GATHER_MAX_ABREAST] = {"odd_acc", "odd_acc_high"};
    mc_builder *b = e->b;
    if (!has_lines(e->plan)) return;
    for (int set = 0; set < e->plan->abreast; set++) {
        const mc_reg *acc = gather_acc(e, (gather_set){.group = group, .set = set});
        mc_reg *odd = e->sums.odd[set];
        if (!odd[0].id) b32_array(b, names[set], acc_count(e), odd);
        for (int i = 0; i < acc_count(e); i++) EMIT(b, mov_b32, odd[i], acc[i]);
    }
}

const mc_reg *gather_chunk_acc(const gather_emitter *e, gather_set of, int chunk) {
    return has_lines(e->plan) && chunk % 2 ? odd_acc(e, of) : gather_acc(e, of);
}

void gather_emit_finish(gather_emitter *e, int group) {
    if (!has_lines(e->plan) || keeps_both(e->plan)) return;
    for (int set = 0; set < e->plan->abreast; set++) {
        const mc_reg *acc = gather_acc(e, (gather_set){.group = group, .set = set}), *odd = e->sums.odd[set];
        for (int i = 0; i < acc_count(e); i++) EMIT(e->b, selp_b32, acc[i], acc[i], odd[i], e->lanes.even);
    }
}

/* Brings each lane's own sums of OCTET into the accumulators of GROUP's first set. */
static void emit_exchange(gather_emitter *e, int group, int octet) {
    mc_builder *b = e->b;
    gather_set low = {group, 0, octet}, high = {group, 1, octet};
    const mc_reg *sum = gather_acc(e, low);
    if (!e->sums.give.id) e->sums.give = b32(b, "give");
    mc_reg give = e->sums.give, even = e->lanes.even;
    note(b, "group %d: lane h takes the sums of set h, and gives the other's", group);
    for (int i = 0; i < SDDMM_ACC; i++) {
        EMIT(b, selp_b32, give, gather_acc(e, high)[i], odd_part(e, low)[i], even);
        EMIT(b, selp_b32, sum[i], sum[i], odd_part(e, high)[i], even);
        EMIT(b, shfl_bfly, give, give, I(1 << FRAG_GROUP_SHIFT), I(MC_WARP - 1), H(0xffffffff));
        sddmm_emit_add(&e->multiplier, sum[i], give);
    }
}

/* Settles GROUP's accumulators, of which the first set's are then its sums. */
static void emit_settle(gather_emitter *e, int group) {
    for (int octet = 0; octet < octets_of(e); octet++) {
        for (int set = 0; set < e->plan->abreast; set++) {
            gather_set of = {group, set, octet};
            sddmm_emit_settle(&e->multiplier, gather_acc(e, of));
            if (keeps_both(e->plan)) sddmm_emit_settle(&e->multiplier, odd_part(e, of));
        }
        if (has_lines(e->plan)) emit_exchange(e, group, octet);
    }
}

/* A run is stored with its last group. */
void gather_emit_store(gather_emitter *e, int group) {
    const mc_reg *sums[SDDMM_MAX_OCTETS * SDDMM_MAX_RUN];
    int groups = sddmm_run_groups(&e->plan->items), first = group / groups * groups;
    emit_settle(e, group);
    if (group + 1 < first + groups) return;
    for (int i = 0; i < groups * octets_of(e); i++)
        sums[i] = gather_acc(e, (gather_set){first + i / octets_of(e), 0, i % octets_of(e)});
    if (e->plan->items.run > 1) sddmm_emit_store_run(&e->store, first, sums);
    else sddmm_emit_store(&e->store, group, sums);
}
