/* Given scales, a computed one of the tensor (reach.c), and the way back. A thread block takes a tile of A;
 * each thread loads its patches of it at once, all of `hold` steps. C by rows is stored from registers. C by
 * columns goes through shared memory, from where neighbouring lanes store neighbouring units of 16 bytes of a
 * row of C.
 *
 * In shared memory the tile has a row for each column of A, of `units` units of 16 bytes. The four words of a
 * unit are those of four lanes below each other. Unit u of row f lies at place (f * units + u) ^ (g & 7),
 * with g = f / unit the lane's number side by side: the eight of a quarter warp that write, and the eight
 * lanes that read, then have different banks. */
#include "ops/quantise/tile/tile.h"

enum { SWIZZLE = 7, ALIGN = 1024 };

static int units_of(const quantise_plan *plan) {
    return quantise_out_bytes(plan, plan->tile) / QUANTISE_UNIT;
}

/* -- Into shared memory ------------------------------------------------------------------------------- */

/* The address of the patch's first column at step 0, and of the others from there: by xor, since the places
   of a patch's columns differ in bits of which its own address has the lowest ones alone. The tile begins at
   a multiple of ALIGN bytes; what is beyond these is added. */
static mc_reg shared_place(const quantise_emitter *e, const quantise_patch *patch, mc_reg tile) {
    const quantise_plan *plan = e->plan;
    mc_builder *b = e->b;
    mc_reg turn = xor_b32(b, "turn", patch->across, patch->warp_down);
    mc_reg group =
        mad_s32(b, "group_at", patch->unit, I((int64_t)plan->unit * units_of(plan) * QUANTISE_UNIT), tile);
    mc_reg word = mad_s32(b, "word_at", patch->down, I(WORD), group);
    return mad_s32(b, "write_at", turn, I(QUANTISE_UNIT), word);
}

static void write_step(const quantise_emitter *e, mc_reg at, int step, const mc_reg *words) {
    const quantise_plan *plan = e->plan;
    mc_builder *b = e->b;
    int row_bytes = units_of(plan) * QUANTISE_UNIT;
    mc_reg place = b32(b, NTH("place", step));
    for (int j = 0; j < plan->unit; j++) {
        int64_t beyond = (int64_t)j * row_bytes, within = beyond % ALIGN;
        if (within) EMIT(b, xor_b32, place, at, I(within));
        beyond += (int64_t)step * plan->step * row_bytes - within;
        EMIT(b, sts_b32, AT(within ? place : at, beyond), words[j]);
    }
}

/* -- Out of it ---------------------------------------------------------------------------------------- */

/* A thread's units: the first, and others so many rows of C further on. */
typedef struct reader {
    mc_reg unit, row; /* of the tile: the unit in its row, and its row of C */
    mc_reg first;     /* row of A that the unit begins with */
    mc_reg at, on;    /* address in C, and what lies between two units */
} reader;

static void place_reader(const quantise_emitter *e, reader *r) {
    const quantise_plan *plan = e->plan;
    mc_builder *b = e->b;
    int units = units_of(plan), rows = MC_WARP * plan->warps / units;
    r->unit = and_b32(b, "read_unit", e->number.thread, I(units - 1));
    r->row = shr_u32(b, "read_row", e->number.thread, I(log2_of(units)));
    r->first = mad_s32(b, "first_row", r->unit, I(QUANTISE_UNIT * 8 / plan->out_bits), e->row0);
    mc_reg from = quantise_element_at(e, "c_at", r->first, e->c);
    mc_reg row = cvt_s64(b, "c_row", add_s32(b, "c_row_low", r->row, e->col0));
    r->at = carried_b64(b, "store_at", mad_s64(b, "c_row_at", row, e->ldc_bytes, from));
    r->on = mad_s64(b, "rows_on", e->ldc_bytes, I(rows), I(0));
}

static mc_reg read_place(const quantise_emitter *e, int turn, mc_reg tile) {
    const quantise_plan *plan = e->plan;
    mc_builder *b = e->b;
    mc_reg place =
        turn ? add_s32(b, NTH("read_place", turn), e->number.thread, I((int64_t)turn * MC_WARP * plan->warps))
             : e->number.thread;
    mc_reg group = shr_u32(b, NTH("read_group", turn), place, I(log2_of(units_of(plan) * plan->unit)));
    mc_reg turned =
        xor_b32(b, NTH("read_turned", turn), place, and_b32(b, NTH("read_turn", turn), group, I(SWIZZLE)));
    return mad_s32(b, NTH("read_at", turn), turned, I(QUANTISE_UNIT), tile);
}

/* An element, or two of 4 bits, of those that A's end leaves of a unit. WORD holds it, SHIFT bits up. */
static void store_piece(const quantise_emitter *e, const reader *r, int index, mc_reg word, int shift,
                        mc_reg scratch) {
    const quantise_plan *plan = e->plan;
    mc_builder *b = e->b;
    int bytes = quantise_piece_bytes(plan->out_bits), elements = bytes * 8 / plan->out_bits;
    mc_reg in = pred(b, NTH("in", index)),
           row = add_s32(b, NTH("piece_row", index), r->first, I((int64_t)index * elements));
    EMIT(b, setp_lt, in, row, e->m);
    EMIT(b, shr_u32, scratch, word, I(shift));
    if (elements == 2) {
        mc_reg both = setp_lt(b, NTH("both", index), add_s32(b, NTH("piece_end", index), row, I(1)), e->m);
        mc_reg lower = and_b32(b, NTH("lower", index), scratch, I(15));
        EMIT(b, selp_b32, scratch, scratch, lower, both);
    }
    if (bytes == 1) EMIT_IF(b, in, stg_b8, AT(r->at, index), scratch);
    else if (bytes == 2) EMIT_IF(b, in, stg_b16, AT(r->at, (int64_t)index * 2), scratch);
    else EMIT_IF(b, in, stg_b32, AT(r->at, (int64_t)index * 4), scratch);
}

static void store_pieces(const quantise_emitter *e, const reader *r, const mc_reg *words) {
    int bytes = quantise_piece_bytes(e->plan->out_bits);
    mc_reg scratch = b32(e->b, "piece");
    for (int i = 0; i < QUANTISE_UNIT / bytes; i++)
        store_piece(e, r, i, words[i * bytes / WORD], i * bytes % WORD * 8, scratch);
}

/* A unit where the tile may lie across A's end. */
static void store_guarded(const quantise_emitter *e, const reader *r, int turn, const mc_reg *words) {
    mc_builder *b = e->b;
    int rows = MC_WARP * e->plan->warps / units_of(e->plan), elements = QUANTISE_UNIT * 8 / e->plan->out_bits;
    made_name prefix = quantise_numbered("part", turn);
    b->prefix = prefix.text;
    mc_label whole = label(b, "WHOLE"), next = label(b, "NEXT");
    mc_reg col = add_s32(b, "c_col", add_s32(b, "c_col_low", r->row, e->col0), I((int64_t)turn * rows));
    EMIT_IF(b, setp_ge(b, "no_col", col, e->n), bra, TO(next));
    mc_reg end = add_s32(b, "unit_end", r->first, I(elements - 1));
    EMIT_IF(b, setp_lt(b, "is_whole", end, e->m), bra, TO(whole));
    store_pieces(e, r, words);
    EMIT(b, bra, TO(next));
    set_label(b, whole);
    EMIT(b, stg_v4, AT(r->at, 0), V4(words));
    set_label(b, next);
    b->prefix = NULL;
}

static void emit_stores(const quantise_emitter *e, mc_reg tile) {
    const quantise_plan *plan = e->plan;
    mc_builder *b = e->b;
    reader r;
    mc_reg words[QUANTISE_UNIT / WORD];
    int turns = plan->hold * plan->unit / 4;
    note(b, "units of C's rows: a thread has %d", turns);
    place_reader(e, &r);
    b32_array(b, "stored", QUANTISE_UNIT / WORD, words);
    for (int turn = 0; turn < turns; turn++) {
        EMIT(b, lds_v4, V4(words), AT(read_place(e, turn, tile), 0));
        if (plan->whole) EMIT(b, stg_v4, AT(r.at, 0), V4(words));
        else store_guarded(e, &r, turn, words);
        if (turn + 1 < turns) EMIT(b, add_s64, r.at, r.at, r.on);
    }
}

/* -- The tile ------------------------------------------------------------------------------------------- */

/* Words of all steps, into shared memory or into C. */
static void make_tile(const quantise_emitter *e, const quantise_patch *patch, const quantise_held *h,
                      mc_reg tile) {
    const quantise_plan *plan = e->plan;
    mc_builder *b = e->b;
    mc_reg words[QUANTISE_MAX_WORDS], by_column[QUANTISE_MAX_UNIT], at[QUANTISE_MAX_ROWS] = {0},
                                                                    write_at = {0};
    bool columns = plan->scale == OUT_PER_COLUMN;
    b32_array(b, "made", quantise_words(plan), words);
    if (columns) b32_array(b, "by_column", plan->unit, by_column);
    if (plan->turned) write_at = shared_place(e, patch, tile);
    else quantise_row_addresses(e, patch, at);
    for (int s = 0; s < plan->hold; s++) {
        if (columns) quantise_column_factors(e, patch, s, h->inside[s], by_column);
        quantise_make_words(e, h->raw[s], columns ? by_column : NULL, words);
        if (plan->turned) write_step(e, write_at, s, words);
        else quantise_store_rows(e, patch, s, h->inside[s], at, words);
    }
}

static void emit_wide(quantise_emitter *e) {
    const quantise_plan *plan = e->plan;
    mc_builder *b = e->b;
    quantise_patch patch;
    quantise_held h;
    heading(b, "WIDE PATH: %d x %d of A", plan->tile, plan->hold * plan->step);
    quantise_place(e, &patch);
    quantise_load_steps(e, &patch, &h);
    quantise_row_factors(e, &patch);
    mc_reg tile = plan->turned ? mov_shared(b, "tile_at", NAME("c_tile")) : (mc_reg){0};
    make_tile(e, &patch, &h, tile);
    if (!plan->turned) return;
    EMIT(b, bar_sync, I(0));
    emit_stores(e, tile);
}

/* The first pass, and how the second begins. */
static void emit_passes(quantise_emitter *e) {
    mc_builder *b = e->b;
    mc_reg workspace = load_array(b, MC_WORKSPACE);
    if (e->plan->batch)
        workspace = mad_wide(b, "workspace_of_batch", b->batch, I(quantise_workspace(e->plan)), workspace);
    mc_label second = label(b, "SECOND_PASS");
    EMIT_IF(b, setp_ne(b, "is_second", load_shape(b, "pass", true), I(0)), bra, TO(second));
    heading(b, "FIRST PASS: how far A reaches");
    tile_emit_reach(e, workspace);
    heading(b, "SECOND PASS");
    set_label(b, second);
    tile_take_reach(e, workspace);
}

static void emit(const void *data, mc_builder *b) {
    const quantise_plan *plan = data;
    quantise_emitter e;
    mc_batch_array arrays[QUANTISE_BATCH_ARRAYS];
    quantise_list_batch(plan, arrays);
    quantise_begin(&e, b, plan, arrays);
    int64_t columns = (int64_t)plan->hold * plan->step;
    e.col0 = mul_s32(b, "col0", load_special(b, "tile_column", "ctaid.y"), I(columns));
    quantise_load_factors(&e);
    if (plan->wide && plan->turned)
        shared_array(b, "c_tile", plan->shared_static - quantise_reach_bytes(plan), ALIGN);
    if (plan->reaches) emit_passes(&e);
    mc_label edge = label(b, "EDGE");
    if (plan->wide) {
        if (plan->edge) quantise_test_wide(&e, edge);
        emit_wide(&e);
        EMIT_RET(b);
    }
    if (plan->edge) {
        heading(b, "EDGE PATH: an element at a time");
        set_label(b, edge);
        quantise_emit_points(&e, (mc_reg){0}, columns);
        EMIT_RET(b);
    }
}

static const char *how(const void *data) {
    const quantise_plan *plan = data;
    if (plan->reaches)
        return "A first pass finds how far A reaches, a second one quantises tiles of A by the scale of "
               "that.";
    return plan->turned
               ? "A thread block turns a tile of A around in shared memory; loads and stores are of 16 bytes."
               : "A thread block takes a tile of A, in loads of 16 bytes.";
}

const mc_solver quantise_tile = {.name = "tile",
                                 .plan = quantise_make_plan,
                                 .contract = quantise_contract,
                                 .facts = quantise_facts,
                                 .emit = emit,
                                 .entry_name = quantise_entry_name,
                                 .estimate = quantise_tile_estimate,
                                 .computes = quantise_computes,
                                 .how = how};
