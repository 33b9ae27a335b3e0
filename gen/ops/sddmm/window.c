/* The window SDDMM's instructions, from its plan.
 *
 *   this thread block's window of columns of B -> shared memory, by all its warps
 *   items of the window, one after another: groups of 16 columns from there -> mma -> stores
 *
 * A window's items are dealt out in turn to the warps of all thread blocks that have the window, gridDim.y of
 * them. While a warp computes an item, the next item's four words and, with `prefetch`, its rows of A are on
 * their way.
 *
 * Banks. A quarter of a warp, lane groups 2 q and 2 q + 1, reads a chunk of 64 bytes of each of two columns
 * at once. That is without a conflict if the two chunks lie in different halves of 128 bytes, and so they do
 * if one column is even and the other odd. Columns of an odd number of chunks lie so when they lie one behind
 * the other; of columns with an even number, odd columns have each two chunks changed over. The packer makes
 * such pairs as far as an item's columns go (runtime/formats/sampled_window.c). */
#include "ops/sddmm/emit.h"

enum {
    CHUNK = 4 * SDDMM_UNIT, /* bytes */
    ROW_OF_BANKS = 2 * CHUNK,
    CHUNK_SHIFT = 6,
    COPIES = 8,     /* copies of a thread between two tests whether there is more to copy; even */
    XOR_AND = 0x78, /* lop3's table of a ^ (b & c) */
};

typedef struct window_emitter {
    sddmm_emitter *e;
    thread_place place;
    mc_reg columns; /* the window's shared address */
    mc_reg lane;    /* the same + 16 t */
    /* this warp's next item, how far on the one behind it is, the window's last; whether there is a next */
    mc_reg item, step, last, more;
    mc_reg items, indices, at; /* addresses of all items and of this lane's indices; scratch */
    mc_reg next_record[4];
    mc_reg a, a_at; /* A, and this lane's first unit of its row */
    mc_reg word[SDDMM_MAX_A], operand[SDDMM_MAX_A];
    mc_reg row[2][SDDMM_MAX_ROW]; /* columns of B: [slots g and g + 8][chunk, word] */
    mc_reg column_at[2];          /* where two columns' even chunks lie, from chunk 0 on */
    mc_reg swapped[2];            /* and their odd chunks, less 128 bytes for each two */
    mc_reg column, odd;           /* scratch */
} window_emitter;

static int row_bytes(const sddmm_plan *plan) { return (int)sddmm_bytes(plan->rhs, plan->k); }
static bool swaps(const sddmm_plan *plan) { return row_bytes(plan) % ROW_OF_BANKS == 0; }

/* -- The window's columns to shared memory ------------------------------------------------------------- */

/* What a thread copies: the same unit of every so many-th column. */
typedef struct copier {
    /* units of a column; columns that a warp copies at once; columns that all warps copy at once */
    int units, columns, step;
    mc_reg row, unit;       /* this thread's first column, counted from the window's first, and its unit */
    mc_reg left, all_left;  /* columns left from this thread's on, and of the window */
    mc_reg from, to, other; /* other: `to` for columns that are odd where this thread's first one is even */
    mc_reg wanted;
} copier;

static copier declare_copier(window_emitter *w) {
    mc_builder *b = w->e->b;
    const sddmm_plan *plan = w->e->plan;
    int units = row_bytes(plan) / SDDMM_UNIT, columns = MC_WARP / units;
    return (copier){.units = units,
                    .columns = columns,
                    .step = columns * plan->warps,
                    .row = b32(b, "copy_column"),
                    .unit = b32(b, "copy_unit"),
                    .left = b32(b, "copies_left"),
                    .all_left = b32(b, "columns_left"),
                    .from = b64(b, "copy_from"),
                    .to = b32(b, "copy_to"),
                    .other = b32(b, "copy_other"),
                    .wanted = pred(b, "wanted")};
}

/* Sets which column and unit a lane begins with. Lanes behind the warp's last whole column have nothing to
   copy. */
static void emit_share(window_emitter *w, copier *c) {
    mc_builder *b = w->e->b;
    EMIT(b, mov_b32, c->row, I(0));
    for (int column = 1; column <= c->columns && column * c->units < MC_WARP; column++) {
        EMIT(b, setp_ge, c->wanted, w->place.lane, I(column * c->units));
        EMIT_IF(b, c->wanted, mov_b32, c->row, I(column));
    }
    EMIT(b, mad_s32, c->unit, c->row, I(-c->units), w->place.lane);
    EMIT(b, setp_lt, c->wanted, c->row, I(c->columns));
    if (w->place.warp.id) EMIT(b, mad_s32, c->row, w->place.warp, I(c->columns), c->row);
    EMIT(b, sub_s32, c->left, c->all_left, c->row);
    EMIT(b, selp_b32, c->left, c->left, I(0), c->wanted);
}

static void emit_ends(window_emitter *w, copier *c) {
    sddmm_emitter *e = w->e;
    mc_builder *b = e->b;
    const sddmm_plan *plan = e->plan;
    EMIT(b, mad_s32, c->to, c->row, I(row_bytes(plan)), w->columns);
    EMIT(b, mad_s32, c->to, c->unit, I(SDDMM_UNIT), c->to);
    EMIT(b, add_s32, c->other, c->row, w->e->first_column);
    EMIT(b, mad_wide, c->from, c->other, e->row_bytes, e->b_array);
    EMIT(b, mad_wide, c->from, c->unit, I(SDDMM_UNIT), c->from);
    EMIT(b, mov_b32, c->other, c->to);
    if (!swaps(plan)) return;
    note(b, "odd columns have chunks 0 and 1, 2 and 3, .. changed over");
    EMIT(b, shl_b32, c->unit, c->row, I(CHUNK_SHIFT));
    EMIT(b, lop3, c->to, c->to, c->unit, I(CHUNK), H(XOR_AND));
    if (c->step % 2) EMIT(b, xor_b32, c->other, c->to, I(CHUNK));
    else EMIT(b, mov_b32, c->other, c->to);
}

static void emit_copies(window_emitter *w, copier *c, mc_reg from_step) {
    mc_builder *b = w->e->b;
    int most = (int)((w->e->plan->window + c->step - 1) / c->step), bytes = c->step * row_bytes(w->e->plan);
    mc_label loop = label(b, "COPIES");
    if (most > COPIES) set_label(b, loop);
    for (int i = 0; i < most && i < COPIES; i++) {
        EMIT(b, setp_gt, c->wanted, c->left, I(i * c->step));
        EMIT_IF(b, c->wanted, cp_async_whole, AT(i % 2 ? c->other : c->to, i * bytes), AT(c->from, 0),
                I(SDDMM_UNIT));
        EMIT(b, add_s64, c->from, c->from, from_step);
    }
    if (most <= COPIES) return;
    EMIT(b, add_s32, c->to, c->to, I(COPIES * bytes));
    EMIT(b, add_s32, c->other, c->other, I(COPIES * bytes));
    EMIT(b, add_s32, c->left, c->left, I(-COPIES * c->step));
    EMIT(b, add_s32, c->all_left, c->all_left, I(-COPIES * c->step));
    EMIT(b, setp_gt, c->wanted, c->all_left, I(0));
    EMIT_IF(b, c->wanted, bra_uni, TO(loop));
}

static void emit_copy(window_emitter *w, mc_reg n) {
    mc_builder *b = w->e->b;
    const sddmm_plan *plan = w->e->plan;
    heading(b, "The window's columns to shared memory: units of %d bytes", SDDMM_UNIT);
    copier c = declare_copier(w);
    mc_reg from_step = b64(b, "copy_step");
    EMIT(b, sub_s32, c.all_left, dim_operand(plan->n, n), w->e->first_column);
    EMIT(b, min_s32, c.all_left, c.all_left, I(plan->window));
    emit_share(w, &c);
    emit_ends(w, &c);
    EMIT(b, mov_b32, c.unit, I(c.step));
    EMIT(b, mul_wide, from_step, c.unit, w->e->row_bytes);
    emit_copies(w, &c, from_step);
}

/* -- Items -------------------------------------------------------------------------------------------- */

/* Sets this warp's first item, the window's last one, and how far it is from an item to the next. */
static void emit_range(window_emitter *w, mc_reg number) {
    mc_builder *b = w->e->b;
    int warps = w->e->plan->warps;
    mc_reg at = b64(b, "window_at"), blocks = load_special(b, "blocks", "nctaid.y");
    w->item = load_special(b, "item", "ctaid.y");
    w->step = b32(b, "item_step"), w->last = b32(b, "last_item");
    mc_reg first = b32(b, "first_item");
    EMIT(b, mad_wide, at, number, I(WORD), load_array(b, "window_ptr"));
    EMIT(b, ldr_b32, first, AT(at, 0));
    EMIT(b, ldr_b32, w->last, AT(at, WORD));
    EMIT(b, sub_s32, w->last, w->last, I(1));
    EMIT(b, mul_s32, w->step, blocks, I(warps));
    EMIT(b, mad_s32, w->item, w->item, I(warps), first);
    if (w->place.warp.id) EMIT(b, add_s32, w->item, w->item, w->place.warp);
}

/* Loads the next item's words. A warp without a next item loads the window's last one again, or item 0. */
static void emit_load_record(window_emitter *w) {
    mc_builder *b = w->e->b;
    EMIT(b, setp_ge, w->more, w->last, w->item);
    EMIT(b, min_s32, w->column, w->item, w->last);
    EMIT(b, max_s32, w->column, w->column, I(0));
    EMIT(b, mad_wide, w->at, w->column, I(4 * WORD), w->items);
    EMIT(b, ldr_v4, V4(w->next_record), AT(w->at, 0));
}

static void emit_load_a(window_emitter *w, mc_reg row_block) {
    static const mc_reg everywhere[SDDMM_MAX_CHUNKS];
    sddmm_emitter *e = w->e;
    sddmm_emit_row(e, row_block);
    EMIT(e->b, mad_wide, w->a_at, e->row, e->a_row_bytes, w->a);
    EMIT(e->b, mad_wide, w->a_at, e->t, I(sddmm_bytes(e->plan->lhs, e->plan->unit_k)), w->a_at);
    sddmm_emit_load_a(e, w->a_at, everywhere, w->word);
}

/* Makes what was loaded this warp's item. */
static void emit_take(window_emitter *w) {
    sddmm_emitter *e = w->e;
    mc_builder *b = e->b;
    EMIT(b, mad_wide, w->at, w->item, I(MC_SAMPLED_SLOTS * e->plan->groups * WORD), w->indices);
    sddmm_emit_load_indices(e, w->at, 0, e->index);
    for (int i = 0; i < 3; i++) EMIT(b, mov_b32, e->record[i], w->next_record[i]);
    if (!e->plan->prefetch) emit_load_a(w, e->record[0]);
    sddmm_emit_operands(e, w->word, w->operand);
}

/* -- A group ------------------------------------------------------------------------------------------ */

/* Sets where the columns of slots g and g + 8 of GROUP lie. */
static void emit_columns(window_emitter *w, int group) {
    sddmm_emitter *e = w->e;
    mc_builder *b = e->b;
    for (int half = 0; half < 2; half++) {
        mc_reg index = e->index[2 * group + half], at = w->column_at[half];
        EMIT(b, and_b32, w->column, index, H(SAMPLED_COLUMN_MASK));
        EMIT(b, mad_s32, at, w->column, I(row_bytes(e->plan)), w->lane);
        if (!swaps(e->plan)) continue;
        EMIT(b, shl_b32, w->odd, index, I(CHUNK_SHIFT));
        EMIT(b, lop3, at, at, w->odd, I(CHUNK), H(XOR_AND));
        EMIT(b, xor_b32, w->swapped[half], at, I(CHUNK));
    }
}

static void emit_load_chunk(window_emitter *w, int chunk) {
    bool second = swaps(w->e->plan) && chunk % 2;
    for (int half = 0; half < 2; half++) {
        mc_reg at = second ? w->swapped[half] : w->column_at[half];
        EMIT(w->e->b, lds_v4, V4(&w->row[half][4 * chunk]), AT(at, CHUNK * (chunk - second)));
    }
}

/* Multiplies and stores a group. Each chunk is loaded ahead of the mma of the chunk before. */
static void emit_group(window_emitter *w, int group) {
    sddmm_emitter *e = w->e;
    const sddmm_plan *plan = e->plan;
    const sddmm_set of = {.group = group};
    note(e->b, "columns of group %d", group);
    emit_columns(w, group);
    sddmm_emit_group_factors(e, group);
    sddmm_emit_zero(e->b, sddmm_acc(e, of), plan->sums * SDDMM_ACC);
    emit_load_chunk(w, 0);
    for (int chunk = 0; chunk < plan->chunks; chunk++) {
        if (chunk + 1 < plan->chunks) emit_load_chunk(w, chunk + 1);
        for (int step = chunk * plan->steps; step < (chunk + 1) * plan->steps; step++)
            sddmm_emit_step(e, w->row[0], w->row[1], w->operand, of, step);
    }
    sddmm_emit_store(e, group);
}

static void emit_items(window_emitter *w) {
    sddmm_emitter *e = w->e;
    mc_builder *b = e->b;
    mc_label loop = label(b, "ITEMS"), end = label(b, "ITEM_END"), done = label(b, "DONE");
    mc_reg none = pred(b, "none");
    heading(b, "Items");
    EMIT(b, setp_lt, none, w->last, w->item);
    EMIT_IF(b, none, bra_uni, TO(done));
    set_label(b, loop);
    emit_take(w);
    EMIT(b, add_s32, w->item, w->item, w->step);
    emit_load_record(w);
    sddmm_emit_item_factors(e);
    for (int group = 0; group < e->plan->groups; group++) {
        if (group > 0) sddmm_emit_group_end(e, group, end);
        emit_group(w, group);
        if (group == 0 && e->plan->prefetch) emit_load_a(w, w->next_record[0]);
    }
    set_label(b, end);
    EMIT_IF(b, w->more, bra_uni, TO(loop));
    set_label(b, done);
    EMIT_RET(b);
}

/* -- The kernel --------------------------------------------------------------------------------------- */

static void declare_items(window_emitter *w) {
    sddmm_emitter *e = w->e;
    mc_builder *b = e->b;
    int indices = 2 * e->plan->groups, words = 4 * e->plan->chunks;
    b32_array(b, "record", 4, e->record);
    b32_array(b, "index", indices, e->index);
    b32_array(b, "next_record", 4, w->next_record);
    w->at = b64(b, "item_at"), w->indices = b64(b, "lane_indices");
    w->column = b32(b, "column"), w->odd = b32(b, "odd"), w->more = pred(b, "more");
    e->row = b32(b, "row");
    w->a_at = b64(b, "a_at");
    sddmm_declare_a(e, w->word, w->operand);
    b32_array(b, "x", words, w->row[0]);
    b32_array(b, "y", words, w->row[1]);
    b32_array(b, "column_at", 2, w->column_at);
    if (swaps(e->plan)) b32_array(b, "column_swapped", 2, w->swapped);
}

/* Declares the accumulators of one group, which all groups have in turn. */
static void declare_accumulators(sddmm_emitter *e) {
    int own = e->plan->sums * SDDMM_ACC;
    b32_array(e->b, "acc", own, e->acc);
    for (int i = own; i < e->plan->groups * own; i++) e->acc[i] = e->acc[i - own];
}

static void emit_lane_addresses(window_emitter *w) {
    sddmm_emitter *e = w->e;
    mc_builder *b = e->b;
    const sddmm_plan *plan = e->plan;
    w->items = load_array(b, "items");
    EMIT(b, mad_wide, w->indices, e->g, I(2 * plan->groups * WORD), load_array(b, "col_idx"));
    w->a = load_array(b, "a");
    w->lane = b32(b, "lane_columns");
    EMIT(b, mad_s32, w->lane, e->t, I(SDDMM_UNIT), w->columns);
}

/* Sets this thread block's window. Returns its number. */
static mc_reg emit_place(window_emitter *w) {
    sddmm_emitter *e = w->e;
    mc_builder *b = e->b;
    heading(b, "This thread block's window; lane = 4 g + t");
    w->place = load_thread_place(b, MC_WARP * e->plan->warps);
    e->g = w->place.g, e->t = w->place.t;
    mc_reg number = load_special(b, "window", "ctaid.x");
    w->columns = b32(b, "shared_columns"), e->first_column = b32(b, "first_column");
    EMIT(b, mov_shared, w->columns, NAME("columns"));
    EMIT(b, mul_s32, e->first_column, number, I(e->plan->window));
    return number;
}

static void load_shapes(sddmm_emitter *e) {
    mc_builder *b = e->b;
    e->lda = load_shape(b, "lda", e->plan->lda == MC_OPEN);
    e->ldb = load_shape(b, "ldb", e->plan->ldb == MC_OPEN);
    e->a_row_bytes = sddmm_emit_row_bytes(e, false);
    e->row_bytes = sddmm_emit_row_bytes(e, true);
}

/* Emits what items have in common, and loads this warp's first one, while the window is on its way. */
static void emit_first_item(window_emitter *w) {
    sddmm_emitter *e = w->e;
    mc_builder *b = e->b;
    heading(b, "What items have in common, and this warp's first one");
    emit_load_record(w);
    sddmm_declare_output(e);
    sddmm_declare_sides(e);
    if (e->plan->prefetch) emit_load_a(w, w->next_record[0]);
    EMIT_BARE(b, cp_async_wait_all);
    EMIT(b, bar_sync, I(0));
}

void sddmm_emit_window(const sddmm_plan *plan, mc_builder *b) {
    sddmm_emitter emitter = {.plan = plan, .b = b};
    window_emitter win = {.e = &emitter}, *w = &win;
    shared_dynamic(b, "columns", ROW_OF_BANKS);
    b->fills_shared = true;
    emit_launch_next(b, plan->overlap);
    mc_reg number = emit_place(w), n = load_shape(b, "n", plan->n == MC_OPEN);
    load_shapes(w->e);
    w->e->b_array = load_array(b, "b");
    emit_range(w, number);
    declare_items(w);
    declare_accumulators(w->e);
    emit_lane_addresses(w);
    emit_grid_wait(b, plan->overlap, "A or B");
    emit_copy(w, n);
    emit_first_item(w);
    emit_items(w);
}
