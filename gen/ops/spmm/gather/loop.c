/* The gather SpMM's loop over strides: indices and values, rows of B, products. */
#include "ops/spmm/gather/rows.h"
#include <string.h>

/* The bit of an accumulator's number that says that its column is odd, where each column has an mma. */
enum { TALL_ODD = 4 };

/* Where a warp is in its strides. */
typedef struct walk {
    mc_reg first, stride;          /* the stride that is loaded next is first + part */
    mc_reg more;                   /* whether there is a stride to be loaded */
    spmm_value_lanes more_values;  /* and this lane has values of it */
    mc_reg more_indices;           /* rows a stride ahead: whether there is a stride behind that one */
    mc_reg value[SPMM_MAX_VALUES]; /* values of this stride, where the stream has those of the next */
} walk;

static const char *const more_names[] = {"more_values", "more_last_values"};

/* Whether rows of the next stride are copied while this one's are multiplied. */
static bool is_ahead(const gather_emitter *e, const gather_path *path) {
    return path->copy && e->plan->prefetch;
}

/* -- From stride to stride ----------------------------------------------------------------------------- */

static walk declare_walk(gather_emitter *e, const gather_path *path) {
    mc_builder *b = e->b;
    walk w = {0};
    const spmm_arithmetic *math = &e->plan->base.math;
    if (e->plan->prefetch || math->whole) b32_array(b, "this_value", spmm_value_regs(math), w.value);
    else memcpy(w.value, e->stream.value, sizeof w.value);
    if (is_ahead(e, path)) w.more_indices = pred(b, "more_indices");
    return w;
}

static void begin_walk(gather_emitter *e, walk *w) {
    w->first = carried(e->b, "next_first", e->stream.first);
    w->stride = e->plan->prefetch ? b32(e->b, "stride") : carried(e->b, "stride", e->stream.head);
}

/* Moves on to the next stride. It is the first use of row_ptr: rows of B have been asked for by then, so that
   nothing waits for row_ptr before them. */
static void emit_advance(gather_emitter *e, const walk *w) {
    mc_builder *b = e->b;
    if (e->at.part.id) EMIT(b, add_s32, w->stride, w->first, e->at.part);
    else EMIT(b, mov_b32, w->stride, w->first);
    EMIT(b, add_s32, w->first, w->first, I(e->plan->base.split));
}

/* Sets `more`, and more_values. */
static void emit_more(gather_emitter *e, walk *w) {
    w->more = setp_lt(e->b, "more", w->stride, e->stream.last);
}

static void emit_more_values(gather_emitter *e, walk *w) {
    const gather_stream *s = &e->stream;
    w->more_values =
        lanes_where(&e->plan->base.math, e->b, more_names, s->has_values, w->stride, s->last, w->more);
}

static void emit_next(gather_emitter *e, walk *w) {
    emit_advance(e, w);
    emit_more(e, w);
    if (!e->plan->prefetch) return;
    note(e->b, "prefetch the next stride's indices and values");
    emit_more_values(e, w);
    spmm_gather_emit_load_stride(e, w->stride, w->more, w->more_values);
}

/* -- One stride: whole words of rows ------------------------------------------------------------------- */

/* Loads all of a stride, then multiplies it. */
static void emit_word_steps(gather_emitter *e, const gather_lane_rows *r, walk *w) {
    note(e->b, "gather rows of B");
    if (r->path->copy) spmm_gather_shared_copy(e, &r->stager, (mc_reg){0});
    for (int s = 0; !r->path->copy && s < e->plan->stride_steps; s++)
        spmm_gather_load_rows(e, r, s, 0, MC_LANE_SLOTS);
    emit_next(e, w);
    if (r->path->copy) spmm_gather_shared_read(e, &r->stager, r->row, r->words);
    if (e->plan->nonzeros) spmm_gather_join_elements(e, w->value);
    gathered_multiply(&e->gathered, r->row, r->words, w->value);
}

/* -- The same through shared memory, a stride ahead ---------------------------------------------------- */

static void emit_ahead_indices(gather_emitter *e, const walk *w) {
    emit_advance(e, w);
    EMIT(e->b, setp_lt, w->more_indices, w->stride, e->stream.last);
    spmm_gather_emit_load_indices(e, w->stride, w->more_indices);
}

/* Magicube's Algorithm 1: rows of the next stride are on their way while this one's are multiplied. Here they
   need no second buffer, since this one's rows are in registers by then. Indices are one more stride
   ahead. */
static void emit_ahead_start(gather_emitter *e, const gather_lane_rows *r, const walk *w) {
    note(e->b, "copy the head's rows");
    spmm_gather_shared_copy(e, &r->stager, (mc_reg){0});
    emit_ahead_indices(e, w);
}

static void emit_ahead(gather_emitter *e, const gather_lane_rows *r, walk *w) {
    spmm_gather_shared_read(e, &r->stager, r->row, r->words);
    note(e->b, "the next stride's rows and values, and the indices of the one behind it");
    emit_more(e, w);
    spmm_gather_shared_copy(e, &r->stager, w->more);
    emit_more_values(e, w);
    spmm_gather_emit_load_values(e, w->stride, w->more_values);
    emit_ahead_indices(e, w);
    if (e->plan->nonzeros) spmm_gather_join_elements(e, w->value);
    gathered_multiply(&e->gathered, r->row, r->words, w->value);
}

/* -- The same of single elements ----------------------------------------------------------------------- */

/* Takes a stride four slots of this lane at a time. */
static void emit_single_steps(gather_emitter *e, const gather_lane_rows *r, walk *w) {
    gathered_note(&e->gathered);
    if (e->plan->nonzeros) spmm_gather_join_elements(e, w->value);
    for (int s = 0; s < e->plan->stride_steps; s++) {
        for (int half = 0; half < 2; half++) {
            note(e->b, "gather and join bytes of slots %d + 8 t .. %d + 8 t", MC_GROUP_SLOTS * s + 4 * half,
                 MC_GROUP_SLOTS * s + 4 * half + 3);
            spmm_gather_load_rows(e, r, s, 4 * half, 4);
            gathered_join(&e->gathered, half, r->row, r->units);
        }
        gathered_multiply_joined(&e->gathered, s, r->units, w->value);
    }
    emit_next(e, w);
}

/* -- A path ------------------------------------------------------------------------------------------- */

/* Sets w->value to what the stream has loaded. */
static void take_values(gather_emitter *e, const walk *w) {
    const spmm_arithmetic *math = &e->plan->base.math;
    if (e->plan->nonzeros) spmm_gather_load_elements(e);
    else if (math->whole) gathered_take_apart(&e->gathered, e->stream.value, w->value);
    else
        for (int i = 0; i < spmm_value_regs(math); i++) EMIT(e->b, mov_b32, w->value[i], e->stream.value[i]);
}

static void emit_stride(gather_emitter *e, const gather_lane_rows *r, walk *w) {
    mc_builder *b = e->b;
    if (e->plan->prefetch) {
        if (!e->plan->nonzeros) note(b, "the values that were prefetched");
        take_values(e, w);
    } else {
        note(b, "indices and values of this stride");
        spmm_gather_emit_load_stride(e, w->stride, (mc_reg){0}, e->stream.has_values);
        if (e->plan->base.math.whole) take_values(e, w);
    }
    if (r->single) emit_single_steps(e, r, w);
    else if (is_ahead(e, r->path)) emit_ahead(e, r, w);
    else emit_word_steps(e, r, w);
}

/* Emits the loop, and makes sums of the accumulators. */
static void emit_strides(gather_emitter *e, const gather_lane_rows *r, walk *w) {
    mc_builder *b = e->b;
    mc_label loop = label(b, "STRIDES");
    if (is_ahead(e, r->path)) emit_ahead_start(e, r, w);
    sums_begin_rounds(&e->sums);
    heading(b, "Loop over strides: %d nonzero vectors a time", e->plan->base.stride);
    set_label(b, loop);
    emit_stride(e, r, w);
    EMIT_IF(b, sums_end_stride(&e->sums, w->more), bra, TO(loop));
}

/* The same where a warp may have no stride at all: heads do not lie in front. */
static void emit_some_strides(gather_emitter *e, const gather_lane_rows *r, walk *w) {
    mc_builder *b = e->b;
    mc_label done = label(b, "NO_STRIDES");
    note(b, "a warp without a stride adds nothing");
    mc_reg idle = setp_ge(b, "no_stride", e->stream.head, e->stream.last);
    EMIT_IF(b, idle, bra, TO(done));
    emit_strides(e, r, w);
    set_label(b, done);
    if (!r->path->copy) return;
    note(b, "a share whose lanes only cleared it takes sums next");
    EMIT(b, bar_warp_sync, I(-1));
}

void spmm_gather_emit_tile(gather_emitter *e, const gather_path *path, mc_reg path_col,
                           out_factors *factors) {
    gather_lane_rows rows;
    spmm_gather_declare_rows(e, &rows, path);
    walk w = declare_walk(e, path);
    sums_declare(&e->sums, path->columns / (spmm_is_tall(e->sums.of) ? 8 : 16) * 4);
    mc_reg lane_col = spmm_gather_find_rows(e, &rows, path_col);
    sums_zero(&e->sums);
    spmm_gather_clear_rows(e, &rows);
    begin_walk(e, &w);
    if (!e->plan->given) emit_grid_wait(e->b, e->plan->base.overlap, "B");
    if (e->plan->heads) emit_strides(e, &rows, &w);
    else emit_some_strides(e, &rows, &w);
    sums_settle(&e->sums, spmm_is_tall(e->sums.of) ? TALL_ODD : frag_c_reg(1, 0), w.more);
    if (!e->plan->base.panels) {
        spmm_gather_emit_epilogue(e, path, path_col, lane_col, factors);
        return;
    }
    mc_label end = label(e->b, "PANEL_END");
    spmm_gather_emit_join(e, path, path_col, end);
    spmm_gather_emit_epilogue(e, path, path_col, lane_col, factors);
    set_label(e->b, end);
}
