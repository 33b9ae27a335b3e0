/* The consumers' loop over stages, unit by unit. wgmma run behind a warp's back, but take their words of A
   from its registers. So at unit u the words of unit u + 2 are loaded, to where those of unit u - 2 were. The
   next stage must be there as early. */
#include "ops/spmm/fragments/fragments.h"
#include <stdio.h>

/* How many units before their wgmma words are loaded. Behind the wait of unit u, unit u - ENDED and all
   before it have ended. With WORDS_AHEAD = 1 and ENDED = 3 ptxas lets wgmma run one by one (C7513). */
enum { WORDS_AHEAD = 2, ENDED = 2 };
_Static_assert(WORDS_AHEAD + ENDED <= FRAGMENTS_SETS, "words are loaded where others have been read");
_Static_assert(ENDED + WORDS_AHEAD <= FRAGMENTS_STEPS, "a stage is left before the next one is waited for");

fragments_multiplier spmm_fragments_begin_multiplier(fragments_kernel *f) {
    mc_builder *b = f->b;
    char name[MC_MAX_NAME];
    fragments_multiplier m = {.f = f, .b = b, .decoder = spmm_fragments_begin_decoder(f)};
    for (int block = 0; block < f->plan->blocks; block++) {
        snprintf(name, sizeof name, "sum%d_", block);
        b32_array(b, name, f->plan->base.tile_n / 2, f->sums[block]);
    }
    note(b, "the descriptor of stage 0's B");
    m.b_first = tile_descriptor(b, "b_first", &f->rhs, f->pipe.first);
    m.b_end =
        add_s64(b, "b_end", m.b_first, descriptor_step(f->plan->stages * fragments_stage_bytes(f->plan)));
    m.b_desc = carried_b64(b, "b_desc", m.b_first), m.b_step = b64(b, "b_step");
    m.stage = pipeline_consume(&f->pipe, f->roles.arrives);
    m.adds = pred(b, "adds"), m.more = pred(b, "more"), m.index = carried(b, "stage", I(0));
    if (f->plan->stream) spmm_fragments_rewind(&m.decoder);
    return m;
}

/* The wgmma of a unit, whose words of A are there. */
static void multiply_unit(const fragments_multiplier *m, int unit) {
    const fragments_kernel *f = m->f;
    mc_builder *b = m->b;
    const int blocks = fragments_unit(f->plan), step = unit / fragments_step_units(f->plan),
              first = unit % fragments_step_units(f->plan) * blocks;
    if (step && !first) EMIT(b, add_s64, m->b_step, m->b_desc, descriptor_step(step * WGMMA_K_BYTES));
    EMIT_BARE(b, wgmma_fence);
    for (int i = 0; i < blocks; i++) {
        const mc_operand list[] = {operand_vector(f->sums[first + i], f->plan->base.tile_n / 2),
                                   V4(m->decoder.a[unit % FRAGMENTS_SETS][i]), step ? m->b_step : m->b_desc,
                                   step ? I(1) : m->adds};
        builder_emit(b, (mc_reg){0}, f->plan->form->registers, list, sizeof list / sizeof *list);
    }
    EMIT_BARE(b, wgmma_commit);
    EMIT(b, wgmma_wait, I(ENDED));
}

/* Goes to the next stage for its bits, and waits for it. Behind the last stage there is none, and what
   is there is read again in vain. */
static void await_next(const fragments_multiplier *m) {
    mc_builder *b = m->b;
    mc_label last = label(b, "LAST_STAGE");
    EMIT(b, add_s32, m->index, m->index, I(1));
    EMIT(b, setp_lt, m->more, m->index, m->f->part.stages);
    EMIT_IF(b, NOT(m->more), bra, TO(last));
    pipeline_wait(&m->f->pipe, &m->stage, "NEXT_FULL");
    set_label(b, last);
    spmm_fragments_next(&m->decoder, m->more);
}

/* The stage before is left: its last unit has ended, and its segments were read. */
static void leave_last(const fragments_multiplier *m) {
    mc_builder *b = m->b;
    mc_label first = label(b, "STAGE_KEPT");
    EMIT_IF(b, NOT(m->adds), bra, TO(first));
    note(b, "the stage before has been read by now, by all lanes");
    EMIT(b, bar_warp_sync, H(0xffffffff));
    pipeline_leave(&m->f->pipe, &m->stage);
    set_label(b, first);
}

static void next_b(const fragments_multiplier *m) {
    mc_builder *b = m->b;
    note(b, "the next stage's B");
    EMIT(b, add_s64, m->b_desc, m->b_desc, descriptor_step(fragments_stage_bytes(m->f->plan)));
    EMIT(b, setp_eq_b64, m->stage.wrap, m->b_desc, m->b_end);
    EMIT_IF(b, m->stage.wrap, mov_b64, m->b_desc, m->b_first);
    EMIT(b, setp_gt, m->adds, m->index, I(0));
}

/* A stage at a time: the tile's first wgmma write the sums, the others add to them. */
static void emit_stage(const fragments_multiplier *m) {
    const int units = fragments_units(m->f->plan);
    for (int unit = 0; unit < units; unit++) {
        const int ahead = (unit + WORDS_AHEAD) % units;
        note(m->b, "unit %d, and words of A of unit %d", unit, ahead);
        if (ahead == 0) await_next(m);
        if (ahead % FRAGMENTS_SETS == 0) spmm_fragments_read(&m->decoder, ahead);
        multiply_unit(m, unit);
        if (unit + 1 == ENDED) leave_last(m);
        if (ahead % FRAGMENTS_SETS == 0) spmm_fragments_find(&m->decoder);
        spmm_fragments_load(&m->decoder, ahead);
    }
    next_b(m);
}

/* Stream: the tile's first stage is the next one of the pipeline. */
static void begin_stages(const fragments_multiplier *m) {
    EMIT(m->b, mov_b32, m->index, I(0));
    spmm_fragments_next(&m->decoder, (mc_reg){0});
}

/* Stream: the tile's last stage is left. */
static void end_stages(const fragments_multiplier *m) {
    EMIT(m->b, bar_warp_sync, H(0xffffffff));
    pipeline_leave(&m->f->pipe, &m->stage);
}

void spmm_fragments_multiply(const fragments_multiplier *m) {
    mc_builder *b = m->b;
    mc_label stage = label(b, "STAGE");
    note(b, "the first stage's first bits and words of A");
    if (m->f->plan->stream) begin_stages(m);
    pipeline_wait(&m->f->pipe, &m->stage, "FULL");
    spmm_fragments_read(&m->decoder, 0);
    spmm_fragments_find(&m->decoder);
    for (int unit = 0; unit < WORDS_AHEAD; unit++) spmm_fragments_load(&m->decoder, unit);
    EMIT(b, setp_gt, m->adds, m->index, I(0));
    set_label(b, stage);
    emit_stage(m);
    EMIT_IF(b, m->more, bra, TO(stage));
    note(b, "the sums are there");
    EMIT(b, wgmma_wait, I(0));
    if (m->f->plan->stream) end_stages(m);
}
