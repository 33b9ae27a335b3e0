/* A panel of k in registers, whatever brings B's part of it there. A's part is loaded and made operands; then
   both are multiplied. */
#include "ops/sddmm/emit.h"

static int unit_words(const sddmm_plan *plan) { return plan->steps * sddmm_a_words(plan); }

void sddmm_emit_zero(mc_builder *b, const mc_reg *regs, int count) {
    for (int i = 0; i < count; i++) EMIT(b, mov_b32, regs[i], I(0));
}

/* -- A ------------------------------------------------------------------------------------------------ */

void sddmm_declare_a(sddmm_emitter *e, mc_reg *words, mc_reg *operands) {
    const sddmm_plan *plan = e->plan;
    int steps = plan->chunks * plan->steps, count = steps * sddmm_a_words(plan);
    bool ahead = plan->method == SDDMM_WINDOW ? plan->prefetch : plan->prefetch_lhs;
    b32_array(e->b, "a_word", count, words);
    if (ahead || !sddmm_a_is_plain(plan))
        b32_array(e->b, "a_operand", steps * sddmm_a_operands(plan), operands);
    else
        for (int i = 0; i < count; i++) operands[i] = words[i];
}

/* Loads are relaxed, and so stay where they stand. Others, those of the next group, would move down behind
   the branch. */
void sddmm_emit_load(mc_builder *b, mc_reg guard, int bytes, const mc_reg *to, mc_operand from) {
    switch (bytes) {
    case 16: EMIT_IF(b, guard, ldr_v4, V4(to), from); break;
    case 8: EMIT_IF(b, guard, ldr_v2, V2(to), from); break;
    default: EMIT_IF(b, guard, ldr_b32, *to, from);
    }
}

void sddmm_emit_load_a(sddmm_emitter *e, mc_reg at, const mc_reg *inside, const mc_reg *words) {
    mc_builder *b = e->b;
    const sddmm_plan *plan = e->plan;
    int access = sddmm_a_access(plan), count = unit_words(plan);
    int64_t chunk_bytes = sddmm_bytes(plan->lhs, sddmm_chunk_k(plan));
    note(b, "A: units of this lane's row");
    for (int chunk = 0; chunk < plan->chunks; chunk++) {
        const mc_reg *to = &words[chunk * count];
        if (inside[chunk].id) sddmm_emit_zero(b, to, count);
        for (int i = 0; i < count; i += access / WORD)
            sddmm_emit_load(b, inside[chunk], access, to + i, AT(at, chunk * chunk_bytes + i * WORD));
    }
}

void sddmm_emit_operands(sddmm_emitter *e, const mc_reg *words, const mc_reg *operands) {
    const sddmm_plan *plan = e->plan;
    int steps = plan->chunks * plan->steps, in = sddmm_a_words(plan), out = sddmm_a_operands(plan);
    if (!sddmm_a_is_plain(plan)) {
        note(e->b, "A's values in the order of B's");
        for (int step = 0; step < steps; step++)
            sddmm_emit_a_step(e, &words[in * step], &operands[out * step]);
        return;
    }
    for (int i = 0; i < steps * in; i++)
        if (operands[i].id != words[i].id) EMIT(e->b, mov_b32, operands[i], words[i]);
}

/* -- Products ----------------------------------------------------------------------------------------- */

void sddmm_declare_chains(sddmm_emitter *e) {
    if (e->plan->chains > 1) b32_array(e->b, "chain", SDDMM_ACC * (e->plan->chains - 1), e->chain);
}

/* The accumulators that step STEP adds to: the group's and the chains' in turn, since an mma waits for the
   one before that adds to the same. */
static const mc_reg *chain_of(const sddmm_emitter *e, sddmm_set of, int step) {
    int chain = step % e->plan->chains, chunk = step / e->plan->steps;
    return chain == 0 ? sddmm_chunk_acc(e, of, chunk) : &e->chain[SDDMM_ACC * (chain - 1)];
}

/* A's steps here are those of the chunks that the lanes abreast have by this load. */
void sddmm_emit_step(sddmm_emitter *e, const mc_reg *x, const mc_reg *y, const mc_reg *operands, sddmm_set of,
                     int step) {
    const sddmm_plan *plan = e->plan;
    sddmm_factor factors[SDDMM_MAX_ABREAST];
    int load = step / plan->steps, word = sddmm_b_words(plan) * step, count = 0;
    for (int chunk = plan->abreast * load; chunk <= sddmm_last_chunk(plan, load); chunk++) {
        int a_step = chunk * plan->steps + step % plan->steps;
        factors[count++] =
            (sddmm_factor){&operands[sddmm_a_operands(plan) * a_step], chain_of(e, of, a_step)};
    }
    sddmm_emit_products(e, &x[word], &y[word], factors, count);
}

void sddmm_emit_join_chains(sddmm_emitter *e, int group) {
    int count = e->plan->chains;
    sddmm_set of = {group, 0};
    for (int distance = count / 2; distance > 0; distance /= 2)
        for (int chain = 0; chain < distance; chain++)
            for (int i = 0; i < SDDMM_ACC; i++) {
                mc_reg sum = chain_of(e, of, chain)[i], other = chain_of(e, of, chain + distance)[i];
                EMIT(e->b, add_s32, sum, sum, other);
            }
}
