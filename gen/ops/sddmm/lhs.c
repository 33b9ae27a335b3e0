/* Where the gather SDDMM keeps a panel of A for the item's groups: in registers, or in shared memory as
 * Magicube does (section IV-C). In shared memory a warp has
 *
 *   units     as in A, [access][lane][bytes]: cp.async brings them, through no register
 *   operands  [piece][lane][16 bytes]: what a lane's units become, four operands a piece
 *
 * One area does for both where units of 16 bytes are operands as they are, and the next panel's units do not
 * come while this panel is read. Lanes read only what they copied or wrote themselves, so that no barrier is
 * needed. What a warp touches at once adjoins, so that no bank is met twice. */
#include "ops/sddmm/emit.h"

enum { PIECE = 4 /* operands */, PIECE_BYTES = PIECE * WORD };

/* Registers that ptxas 13 takes besides: for the copies; where 16 bits meet 4, since a step then has most
   operands. */
enum { SPARE = 8, MOST_SPARE = 16 };

/* -- Sizes -------------------------------------------------------------------------------------------- */

static int unit_words(const sddmm_plan *plan) { return plan->steps * sddmm_a_words(plan); }
static int unit_operands(const sddmm_plan *plan) { return plan->steps * sddmm_a_operands(plan); }
static bool has_operands(const sddmm_plan *plan) {
    return !sddmm_a_is_plain(plan) || plan->prefetch_lhs || sddmm_a_access(plan) < PIECE_BYTES;
}

/* A batch is the fewest units that fill whole pieces. A panel's last batch may have half a piece. */
static int batch_units(const sddmm_plan *plan) { return unit_operands(plan) < PIECE ? 2 : 1; }
static int batch_operands(const sddmm_plan *plan) { return batch_units(plan) * unit_operands(plan); }
static int batches(const sddmm_plan *plan) {
    return (plan->chunks + batch_units(plan) - 1) / batch_units(plan);
}

static int units_bytes(const sddmm_plan *plan) { return MC_WARP * WORD * plan->chunks * unit_words(plan); }
static int share_bytes(const sddmm_plan *plan) {
    int operands = batches(plan) * batch_operands(plan);
    return units_bytes(plan) + (has_operands(plan) ? MC_WARP * WORD * operands : 0);
}

unsigned sddmm_lhs_shared_bytes(const sddmm_plan *plan) {
    bool shared = plan->wide && plan->lhs_in == SDDMM_LHS_SHARED;
    return shared ? (unsigned)(plan->warps * share_bytes(plan)) : 0;
}

/* -- Start -------------------------------------------------------------------------------------------- */

static void declare_shared(sddmm_emitter *e, sddmm_lhs *lhs) {
    mc_builder *b = e->b;
    const sddmm_plan *plan = e->plan;
    int count = plan->abreast * batch_operands(plan), access = sddmm_a_access(plan);
    mc_reg scratch[SDDMM_MAX_ABREAST * SDDMM_MAX_BATCH], share = b32(b, "a_share");
    lhs->units = b32(b, "a_units"), lhs->operands = lhs->units;
    if (plan->guard_units || plan->prefetch_lhs) b32_array(b, "a_size", plan->chunks, lhs->size);
    b32_array(b, "a_operand", count, scratch);
    for (int i = 0; i < batches(plan) * batch_operands(plan); i++) lhs->operand[i] = scratch[i % count];
    note(b, "this warp's share; of it this lane's units, and their operands");
    EMIT(b, mov_shared, share, NAME("a_panels"));
    if (e->warp.id) EMIT(b, mad_s32, share, e->warp, I(share_bytes(plan)), share);
    EMIT(b, mad_s32, lhs->units, e->lane, I(access), share);
    if (!has_operands(plan)) return;
    lhs->operands = b32(b, "a_operands");
    b32_array(b, "a_word", batch_units(plan) * unit_words(plan), lhs->word);
    EMIT(b, mad_s32, lhs->operands, e->lane, I(PIECE_BYTES), share);
}

void sddmm_declare_lhs(sddmm_emitter *e, sddmm_lhs *lhs) {
    bool shared = e->plan->lhs_in == SDDMM_LHS_SHARED;
    bool most = sddmm_a_operands(e->plan) == SDDMM_MAX_STEP_A;
    if (shared || e->plan->prefetch_lhs) e->b->spare += most ? MOST_SPARE : SPARE;
    if (shared) declare_shared(e, lhs);
    else sddmm_declare_a(e, lhs->word, lhs->operand);
}

/* -- Units -------------------------------------------------------------------------------------------- */

/* Where access INDEX of the panel lies, from the lane's first one. */
static int access_place(const sddmm_plan *plan, int index) { return MC_WARP * sddmm_a_access(plan) * index; }

/* Copies the panel's units. A unit beyond k becomes zeros. */
static void emit_copy(sddmm_emitter *e, const sddmm_lhs *lhs, const mc_reg *inside) {
    mc_builder *b = e->b;
    const sddmm_plan *plan = e->plan;
    int access = sddmm_a_access(plan), count = unit_words(plan) * WORD / access;
    mc_opcode op = access == SDDMM_UNIT ? OP_cp_async_unit : OP_cp_async_narrow;
    int64_t chunk_bytes = sddmm_bytes(plan->lhs, sddmm_chunk_k(plan));
    note(b, "A: units of this lane's row to shared memory");
    for (int chunk = 0; chunk < plan->chunks; chunk++) {
        mc_operand size = I(access);
        if (inside[chunk].id) {
            size = lhs->size[chunk];
            EMIT(b, selp_b32, size, I(access), I(0), inside[chunk]);
        }
        for (int i = 0; i < count; i++)
            builder_emit(b, (mc_reg){0}, op,
                         MC_OPERANDS(AT(lhs->units, access_place(plan, chunk * count + i)),
                                     AT(lhs->at, chunk * chunk_bytes + i * access), I(access), size));
    }
}

void sddmm_emit_load_lhs(sddmm_emitter *e, const sddmm_lhs *lhs, const mc_reg *inside) {
    if (e->plan->lhs_in == SDDMM_LHS_SHARED) emit_copy(e, lhs, inside);
    else sddmm_emit_load_a(e, lhs->at, inside, lhs->word);
}

/* -- Operands ----------------------------------------------------------------------------------------- */

static void emit_read(mc_builder *b, int words, const mc_reg *to, mc_operand from) {
    switch (words) {
    case 4: EMIT(b, lds_v4, V4(to), from); break;
    case 2: EMIT(b, lds_v2, V2(to), from); break;
    default: EMIT(b, lds_b32, *to, from);
    }
}

/* How many units batch BATCH has. */
static int units_of(const sddmm_plan *plan, int batch) {
    int left = plan->chunks - batch * batch_units(plan);
    return left < batch_units(plan) ? left : batch_units(plan);
}

static mc_operand piece_of(const sddmm_plan *plan, const sddmm_lhs *lhs, int batch, int operand) {
    int first = has_operands(plan) ? units_bytes(plan) : 0;
    return AT(lhs->operands, first + MC_WARP * WORD * (batch * batch_operands(plan) + operand));
}

static void emit_batch(sddmm_emitter *e, const sddmm_lhs *lhs, int batch) {
    mc_builder *b = e->b;
    const sddmm_plan *plan = e->plan;
    int units = units_of(plan, batch), width = sddmm_a_access(plan) / WORD;
    int words = units * unit_words(plan), first = batch * batch_units(plan) * unit_words(plan);
    int in = sddmm_a_words(plan), out = sddmm_a_operands(plan);
    for (int i = 0; i < words; i += width)
        emit_read(b, width, &lhs->word[i], AT(lhs->units, access_place(plan, (first + i) / width)));
    bool plain = sddmm_a_is_plain(plan);
    for (int step = 0; !plain && step < units * plan->steps; step++)
        sddmm_emit_a_step(e, &lhs->word[in * step], &lhs->operand[out * step]);
    const mc_reg *from = plain ? lhs->word : lhs->operand;
    int count = units * unit_operands(plan);
    sddmm_emit_zero(b, &from[count], -count & (PIECE - 1));
    for (int i = 0; i < count; i += PIECE) EMIT(b, sts_v4, piece_of(plan, lhs, batch, i), V4(&from[i]));
}

void sddmm_emit_ready_lhs(sddmm_emitter *e, const sddmm_lhs *lhs) {
    const sddmm_plan *plan = e->plan;
    if (plan->lhs_in == SDDMM_LHS_REGISTERS) {
        sddmm_emit_operands(e, lhs->word, lhs->operand);
        return;
    }
    note(e->b, "A's units are there");
    EMIT_BARE(e->b, cp_async_wait_all);
    if (!has_operands(plan)) return;
    if (!sddmm_a_is_plain(plan)) note(e->b, "A's values in the order of B's");
    for (int batch = 0; batch < batches(plan); batch++) emit_batch(e, lhs, batch);
}

/* Loads are relaxed: with others ptxas asks for a whole panel at once, which takes the registers that shared
   memory saves. */
static void emit_read_batch(sddmm_emitter *e, const sddmm_lhs *lhs, int batch) {
    int count = batch_operands(e->plan);
    for (int i = 0; i < count; i += PIECE)
        EMIT(e->b, lds_relaxed_v4, V4(&lhs->operand[batch * count + i]), piece_of(e->plan, lhs, batch, i));
}

void sddmm_emit_read_lhs(sddmm_emitter *e, const sddmm_lhs *lhs, int step) {
    const sddmm_plan *plan = e->plan;
    if (plan->lhs_in == SDDMM_LHS_REGISTERS || step % plan->steps) return;
    int load = step / plan->steps;
    for (int chunk = plan->abreast * load; chunk <= sddmm_last_chunk(plan, load); chunk++)
        if (chunk % batch_units(plan) == 0) emit_read_batch(e, lhs, chunk / batch_units(plan));
}

void sddmm_emit_end_lhs(sddmm_emitter *e) {
    if (e->plan->lhs_in != SDDMM_LHS_SHARED || !e->plan->prefetch_lhs) return;
    note(e->b, "the panel behind the last one was copied too, as zeros: a thread waits for its copies before "
               "it ends");
    EMIT_BARE(e->b, cp_async_wait_all);
}
