/* Where the gather SDDMM keeps a panel of A for the item's groups: in registers, or in shared memory as
 * Magicube does (section IV-C). In shared memory a warp has
 *
 *   units     as in A, [access][lane][bytes]: cp.async brings them, through no register
 *   operands  [piece][lane][16 bytes]: what a lane's units become, four operands a piece
 *
 * for the first octet of the row block, and the same for the second one behind them.
 *
 * One area does for both where units of 16 bytes are operands as they are, and the next panel's units do not
 * come while this panel is read. Lanes read only what they copied or wrote themselves, so that no barrier is
 * needed. What a warp touches at once adjoins, so that no bank is met twice. */
#include "ops/sddmm/gather/gather.h"
#include "parts/copy.h"
#include "parts/words.h"

enum {
    PIECE = 4, /* operands */
    PIECE_BYTES = PIECE * WORD,
    MAX_BATCH = 2 * SDDMM_MAX_STEP_A, /* operands of a unit of A, and at least of a piece */
};

/* Registers that ptxas 13 takes besides, for each octet: for the copies; where a step has most operands. */
enum { SPARE = 8, MOST_SPARE = 16 };

/* -- Sizes -------------------------------------------------------------------------------------------- */

static const sddmm_arithmetic *arithmetic(const gather_plan *plan) { return &plan->problem.arithmetic; }
static int unit_words(const gather_plan *plan) { return arithmetic(plan)->steps * arithmetic(plan)->a_words; }
static int unit_operands(const gather_plan *plan) {
    return arithmetic(plan)->steps * arithmetic(plan)->a_operands;
}
static bool has_operands(const gather_plan *plan) {
    const sddmm_arithmetic *a = arithmetic(plan);
    return !a->a_is_plain || plan->prefetch_lhs || sddmm_a_access(a) < PIECE_BYTES;
}

/* A batch is the fewest units that fill whole pieces. A panel's last batch may have half a piece. */
static int batch_units(const gather_plan *plan) { return unit_operands(plan) < PIECE ? 2 : 1; }
static int batch_operands(const gather_plan *plan) { return batch_units(plan) * unit_operands(plan); }
static int batches(const gather_plan *plan) {
    return (plan->items.chunks + batch_units(plan) - 1) / batch_units(plan);
}

static int units_bytes(const gather_plan *plan) {
    return MC_WARP * WORD * plan->items.chunks * unit_words(plan);
}
static int octet_bytes(const gather_plan *plan) {
    int operands = batches(plan) * batch_operands(plan);
    return units_bytes(plan) + (has_operands(plan) ? MC_WARP * WORD * operands : 0);
}
static int share_bytes(const gather_plan *plan) { return sddmm_octets(&plan->problem) * octet_bytes(plan); }

unsigned gather_lhs_shared_bytes(const gather_plan *plan) {
    bool shared = plan->wide && plan->lhs_in == GATHER_LHS_SHARED;
    return shared ? (unsigned)(plan->problem.warps * share_bytes(plan)) : 0;
}

/* -- Start -------------------------------------------------------------------------------------------- */

/* Declares the operands that are read, in turn, and the words that become operands. */
static void declare_scratch(gather_emitter *e, gather_lhs *lhs) {
    const gather_plan *plan = e->plan;
    int count = plan->abreast * batch_operands(plan), chunks = plan->items.chunks;
    int octets = sddmm_octets(&plan->problem), all = batches(plan) * batch_operands(plan);
    mc_reg scratch[SDDMM_MAX_OCTETS * GATHER_MAX_ABREAST * MAX_BATCH];
    if (plan->guard_units || plan->prefetch_lhs) b32_array(e->b, "a_size", chunks, lhs->size);
    b32_array(e->b, "a_operand", octets * count, scratch);
    lhs->panel.multiplier = &e->multiplier, lhs->panel.octet_operands = all;
    for (int i = 0; i < octets * all; i++) lhs->panel.operand[i] = scratch[i / all * count + i % all % count];
    if (has_operands(plan)) b32_array(e->b, "a_word", batch_units(plan) * unit_words(plan), lhs->panel.word);
}

static void declare_shared(gather_emitter *e, gather_lhs *lhs) {
    mc_builder *b = e->b;
    const gather_plan *plan = e->plan;
    const thread_place *place = &e->place;
    mc_reg share = b32(b, "a_share");
    declare_scratch(e, lhs);
    note(b, "this warp's share; of it this lane's units, and their operands");
    EMIT(b, mov_shared, share, NAME("a_panels"));
    if (place->warp.id) EMIT(b, mad_s32, share, place->warp, I(share_bytes(plan)), share);
    lhs->units = mad_s32(b, "a_units", place->lane, I(sddmm_a_access(arithmetic(plan))), share);
    lhs->operands = lhs->units;
    if (has_operands(plan)) lhs->operands = mad_s32(b, "a_operands", place->lane, I(PIECE_BYTES), share);
}

void gather_declare_lhs(gather_emitter *e, gather_lhs *lhs) {
    const gather_plan *plan = e->plan;
    bool shared = plan->lhs_in == GATHER_LHS_SHARED;
    bool most = arithmetic(plan)->a_operands == SDDMM_MAX_STEP_A;
    int octets = sddmm_octets(&plan->problem);
    if (shared || plan->prefetch_lhs) e->b->spare += octets * (most ? MOST_SPARE : SPARE);
    if (shared) declare_shared(e, lhs);
    else sddmm_declare_panel(&lhs->panel, &e->multiplier, octets, plan->items.chunks, plan->prefetch_lhs);
}

/* -- Units -------------------------------------------------------------------------------------------- */

/* Where access INDEX of the panel in OCTET lies, from the lane's first one. */
static int access_place(const gather_plan *plan, int octet, int index) {
    return octet * octet_bytes(plan) + MC_WARP * sddmm_a_access(arithmetic(plan)) * index;
}

/* Copies the panel's units. A unit beyond k becomes zeros. */
static void emit_copy(const gather_emitter *e, const gather_lhs *lhs, const mc_reg *inside) {
    mc_builder *b = e->b;
    const gather_plan *plan = e->plan;
    const sddmm_arithmetic *a = arithmetic(plan);
    int access = sddmm_a_access(a), count = unit_words(plan) * WORD / access;
    int64_t chunk_bytes = values_bytes(a->lhs, sddmm_chunk_k(a));
    note(b, "A: units of this lane's row%s to shared memory", sddmm_octets(&plan->problem) > 1 ? "s" : "");
    for (int chunk = 0; chunk < plan->items.chunks; chunk++) {
        mc_operand size = I(access);
        if (inside[chunk].id) {
            size = lhs->size[chunk];
            EMIT(b, selp_b32, size, I(access), I(0), inside[chunk]);
        }
        for (int octet = 0; octet < sddmm_octets(&plan->problem); octet++)
            for (int i = 0; i < count; i++)
                copy_async(b, access,
                           (copy_piece){.to = AT(lhs->units, access_place(plan, octet, chunk * count + i)),
                                        .from = AT(lhs->at[octet], chunk * chunk_bytes + i * access),
                                        .size = size});
    }
}

void gather_emit_load_lhs(const gather_emitter *e, const gather_lhs *lhs, const mc_reg *inside) {
    if (e->plan->lhs_in == GATHER_LHS_SHARED) emit_copy(e, lhs, inside);
    else sddmm_emit_load_panel(&lhs->panel, lhs->at, inside);
}

/* -- Operands ----------------------------------------------------------------------------------------- */

/* How many units batch BATCH has. */
static int units_of(const gather_plan *plan, int batch) {
    int left = plan->items.chunks - batch * batch_units(plan);
    return left < batch_units(plan) ? left : batch_units(plan);
}

/* A batch of units in one octet. */
typedef struct octet_batch {
    int octet, number;
} octet_batch;

static mc_operand piece_of(const gather_plan *plan, const gather_lhs *lhs, octet_batch of, int operand) {
    int first = of.octet * octet_bytes(plan) + (has_operands(plan) ? units_bytes(plan) : 0);
    return AT(lhs->operands, first + MC_WARP * WORD * (of.number * batch_operands(plan) + operand));
}

static void emit_batch(const gather_emitter *e, const gather_lhs *lhs, octet_batch of) {
    mc_builder *b = e->b;
    const gather_plan *plan = e->plan;
    const sddmm_arithmetic *a = arithmetic(plan);
    const mc_reg *word = lhs->panel.word, *operand = lhs->panel.operand;
    int units = units_of(plan, of.number), width = sddmm_a_access(a) / WORD;
    int words = units * unit_words(plan), first = of.number * batch_units(plan) * unit_words(plan);
    for (int i = 0; i < words; i += width)
        emit_load_words(b, (mc_reg){0}, WORDS_SHARED, width * WORD, &word[i],
                        AT(lhs->units, access_place(plan, of.octet, (first + i) / width)));
    for (int step = 0; !a->a_is_plain && step < units * a->steps; step++)
        sddmm_emit_a_step(&e->multiplier, &word[a->a_words * step], &operand[a->a_operands * step]);
    const mc_reg *from = a->a_is_plain ? word : operand;
    int count = units * unit_operands(plan);
    sddmm_emit_zero(b, &from[count], -count & (PIECE - 1));
    for (int i = 0; i < count; i += PIECE) EMIT(b, sts_v4, piece_of(plan, lhs, of, i), V4(&from[i]));
}

void gather_emit_ready_lhs(const gather_emitter *e, const gather_lhs *lhs) {
    const gather_plan *plan = e->plan;
    if (plan->lhs_in == GATHER_LHS_REGISTERS) {
        sddmm_emit_operands(&lhs->panel);
        return;
    }
    note(e->b, "A's units are there");
    EMIT_BARE(e->b, cp_async_wait_all);
    if (!has_operands(plan)) return;
    if (!arithmetic(plan)->a_is_plain) note(e->b, "A's values in the order of B's");
    for (int octet = 0; octet < sddmm_octets(&plan->problem); octet++)
        for (int batch = 0; batch < batches(plan); batch++) emit_batch(e, lhs, (octet_batch){octet, batch});
}

/* Loads are relaxed: with others ptxas asks for a whole panel at once, which takes the registers that shared
   memory saves. */
static void emit_read_batch(const gather_emitter *e, const gather_lhs *lhs, octet_batch of) {
    int count = batch_operands(e->plan), first = of.octet * lhs->panel.octet_operands + of.number * count;
    for (int i = 0; i < count; i += PIECE)
        EMIT(e->b, lds_relaxed_v4, V4(&lhs->panel.operand[first + i]), piece_of(e->plan, lhs, of, i));
}

void gather_emit_read_lhs(const gather_emitter *e, const gather_lhs *lhs, int step) {
    const gather_plan *plan = e->plan;
    int steps = arithmetic(plan)->steps;
    if (plan->lhs_in == GATHER_LHS_REGISTERS || step % steps) return;
    int load = step / steps;
    for (int chunk = plan->abreast * load; chunk <= gather_last_chunk(plan, load); chunk++)
        for (int octet = 0; chunk % batch_units(plan) == 0 && octet < sddmm_octets(&plan->problem); octet++)
            emit_read_batch(e, lhs, (octet_batch){octet, chunk / batch_units(plan)});
}

void gather_emit_end_lhs(const gather_emitter *e) {
    if (e->plan->lhs_in != GATHER_LHS_SHARED || !e->plan->prefetch_lhs) return;
    note(e->b, "the panel behind the last one was copied too, as zeros: a thread waits for its copies before "
               "it ends");
    EMIT_BARE(e->b, cp_async_wait_all);
}
