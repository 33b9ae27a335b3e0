/* The field `segmented`: a warp walks through the nonzeros of several rows as one sequence.
 *
 * Lanes read the columns and values of all nonzeros of the item side by side, and leave them in the warp's
 * part of shared memory, where each lane finds all of them. All lanes share the columns of B. A lane asks for
 * the row of B of nonzero i + `ahead` as soon as it has multiplied nonzero i, whatever rows these two are of.
 * Where nonzero i is the last one of its row, the sums are stored and begin anew. This is the same for the
 * whole warp, so that branches do not diverge.
 *
 * Loads behind the item's last nonzero are left out, products are not: nothing stores what comes of them. */
#include "ops/spmm/csr/emit.h"
#include "parts/fragment.h"
#include "parts/fused.h"
#include "parts/words.h"

enum {
    MOST_WORDS = 32, /* of B, in flight */
    AND_NOT = 0x30,  /* of lop3: the first source without the bits of the second */
    VECTOR = 4,      /* words of a load of shared memory */
    LANE_MASK = MC_WARP - 1
};

typedef struct segments {
    csr_emitter *e;
    const csr_path *path;
    int words;                 /* registers of a load of B */
    mc_reg rows, count;        /* of the item: its rows and its nonzeros */
    mc_reg row_last, is_one;   /* this lane's row: its last nonzero; 1 if it has one, else 0 */
    mc_reg todo, empty;        /* a bit for each row: it has nonzeros and is not stored yet; it has none */
    mc_reg index_at, value_at; /* in shared memory: columns and values, of the next nonzeros in the loop */
    mc_reg done, left;         /* nonzeros before the present ones, and behind them */
    mc_reg ends;               /* a bit for each of the next nonzeros: it is the last of its row */
    mc_reg index[CSR_MOST_AHEAD], value[CSR_MOST_AHEAD], has, is_end[CSR_MOST_AHEAD];
    mc_reg b_lane, row_at, element_at; /* this lane's elements of B's row 0, of a row, of a run of it */
    mc_reg offset[CSR_MOST_SUMS];
    mc_reg word[MOST_WORDS];
    mc_reg bit, below, row; /* scratch, and the row that is stored */
    out_factors factors;
    out_writer writer;
} segments;

static int ahead_of(const segments *s) { return s->e->plan->ahead; }
static int values_offset(const segments *s) { return s->e->plan->share * CSR_STRIDE * WORD; }

/* -- The item ----------------------------------------------------------------------------------------- */

/* Each lane has a row. What row_ptr says of it is under way while the nonzeros are. */
static void find_rows(segments *s, mc_reg begin, mc_reg end) {
    csr_emitter *e = s->e;
    mc_builder *b = e->b;
    note(b, "the item: its first row, how many rows and nonzeros, the first of these");
    s->rows = and_b32(b, "item_rows", e->first, I((1 << CSR_SEGMENT_SHIFT) - 1));
    s->count = shr_u32(b, "item_nonzeros", e->first, I(CSR_SEGMENT_SHIFT));
    mc_reg row = add_s32(b, "lane_row", e->row, e->at.place.lane);
    mc_reg has = setp_lt(b, "has_row", e->at.place.lane, s->rows);
    mc_reg at = mad_wide(b, "row_ptr_at", row, I(WORD), load_array(b, "row_ptr"));
    EMIT_IF(b, has, ldr_b32, begin, AT(at, 0));
    EMIT_IF(b, has, ldr_b32, end, AT(at, WORD));
}

/* The part of shared memory that is this warp's. */
static void find_shared(segments *s) {
    mc_builder *b = s->e->b;
    mc_reg at = mov_shared(b, "nonzeros_at", NAME(CSR_SEGMENTS));
    if (s->e->plan->base.warps > 1)
        at = mad_s32(b, "warp_nonzeros", s->e->at.place.warp, I(csr_segment_bytes(s->e->plan)), at);
    s->index_at = carried(b, "next_index", at);
    s->value_at = carried(b, "next_value", at);
}

/* Values are kept in f32. Where there is no nonzero, column and value are 0. */
static void keep_nonzeros(segments *s) {
    csr_emitter *e = s->e;
    mc_builder *b = e->b;
    const int bytes = csr_element_bytes(e->plan), strides = e->plan->share;
    mc_reg lane = e->at.place.lane, index[CSR_SEGMENT_SHARE], value[CSR_SEGMENT_SHARE];
    mc_reg from = add_s32(b, "lane_nonzero", e->last, lane), left = sub_s32(b, "lane_left", s->count, lane);
    mc_reg index_at = mad_wide(b, "index_lane", from, I(WORD), e->col_idx);
    mc_reg value_at = mad_wide(b, "value_lane", from, I(bytes), e->values);
    mc_reg has = pred(b, "has_nonzero");
    b32_array(b, "lane_index", strides, index);
    b32_array(b, "lane_value", strides, value);
    for (int i = 0; i < strides; i++) {
        EMIT(b, mov_b32, index[i], I(0));
        EMIT(b, mov_b32, value[i], I(0));
        EMIT(b, setp_gt, has, left, I(i * CSR_STRIDE));
        EMIT_IF(b, has, ldr_b32, index[i], AT(index_at, i * CSR_STRIDE * WORD));
        emit_load_words(b, has, WORDS_RELAXED, bytes, &value[i], AT(value_at, i * CSR_STRIDE * bytes));
    }
    mc_reg to = mad_s32(b, "keep_at", lane, I(WORD), s->index_at);
    for (int i = 0; i < strides; i++) {
        mc_reg real = fused_element(b, e->plan->base.math.lhs, value[i], false, e->scratch[0]);
        EMIT(b, sts_b32, AT(to, i * CSR_STRIDE * WORD), index[i]);
        EMIT(b, sts_b32, AT(to, i * CSR_STRIDE * WORD + values_offset(s)), real);
    }
}

/* Which rows have nonzeros, and where this lane's row ends in the item. */
static void find_ends(segments *s, mc_reg begin, mc_reg end) {
    mc_builder *b = s->e->b;
    mc_reg has = setp_gt(b, "has_nonzeros", end, begin), one = mov_b32(b, "one", I(1));
    s->is_one = selp_b32(b, "is_one", one, I(0), has);
    mc_reg last = sub_s32(b, "behind_row", end, s->e->last);
    s->row_last = sub_s32(b, "row_last", last, one);
    EMIT(b, vote_ballot, s->todo, has, I(-1));
    mc_reg all = shl_b32(b, "all_rows", one, s->rows);
    all = sub_s32(b, "all_bits", all, one);
    EMIT(b, xor_b32, s->empty, all, s->todo);
}

/* -- A row -------------------------------------------------------------------------------------------- */

static void zero_sums(const segments *s) {
    for (int i = 0; i < csr_sums(s->e->plan); i++) EMIT(s->e->b, mov_b32, s->e->sum[i], I(0));
}

/* Takes the first of the rows that BITS has, and stores the sums as its elements. */
static void store_row(segments *s, mc_reg bits, mc_reg lane_col) {
    csr_emitter *e = s->e;
    mc_builder *b = e->b;
    const csr_path *path = s->path;
    EMIT(b, add_s32, s->below, bits, I(-1));
    EMIT(b, lop3, s->bit, s->below, bits, I(0), H(AND_NOT));
    EMIT(b, and_b32, bits, bits, s->below);
    EMIT(b, popc_b32, s->bit, s->bit);
    EMIT(b, add_s32, s->row, e->row, s->bit);
    if (out_by_rows(&e->plan->base.output)) out_load_row_factors(&s->factors, 0, s->row, 0, (mc_reg){0});
    out_c_address(&s->writer, s->row, lane_col);
    out_residual_address(&s->writer, s->row, lane_col);
    for (int j = 0; j < path->runs; j++) {
        const int offset = j * csr_pitch(e->plan, path);
        out_load_residual(&s->writer, 0, lane_col, offset, path->load);
        out_store_run(&s->writer, &s->factors,
                      &(out_run){.col = lane_col,
                                 .offset = offset,
                                 .count = path->load,
                                 .sums = &e->sum[j * path->load],
                                 .factor_column = j * path->load});
    }
    zero_sums(s);
}

/* -- Nonzeros ----------------------------------------------------------------------------------------- */

static const mc_reg *words_of(const segments *s, int i, int j) {
    return &s->word[(i * s->path->runs + j) * s->words];
}

/* `ahead` neighbouring words of shared memory. */
static void load_shared(const segments *s, const mc_reg *to, mc_reg at, int offset) {
    const int count = ahead_of(s), vector = count < VECTOR ? count : VECTOR;
    for (int i = 0; i < count; i += vector)
        emit_load_words(s->e->b, (mc_reg){0}, WORDS_SHARED, vector * WORD, to + i, AT(at, offset + i * WORD));
}

/* The row of B of the I-th of the next nonzeros, if `left` says that there is one. */
static void load_row(const segments *s, int i) {
    mc_builder *b = s->e->b;
    const csr_plan *plan = s->e->plan;
    const int bytes = s->path->load * csr_element_bytes(plan);
    EMIT(b, setp_gt, s->has, s->left, I(i));
    EMIT(b, mad_wide, s->row_at, s->index[i], s->e->at.row_bytes, s->b_lane);
    for (int j = 0; j < s->path->runs; j++) {
        if (s->path->last) EMIT(b, mad_wide, s->element_at, s->offset[j], I(1), s->row_at);
        emit_load_words(b, s->has, WORDS_GLOBAL, bytes, words_of(s, i, j),
                        s->path->last
                            ? AT(s->element_at, 0)
                            : AT(s->row_at, j * csr_pitch(plan, s->path) * csr_element_bytes(plan)));
    }
}

static void multiply(const segments *s, int i) {
    csr_emitter *e = s->e;
    const spmm_arithmetic *math = &e->plan->base.math;
    const bool halves = math->b_bits < 32;
    for (int j = 0; j < s->path->runs; j++)
        for (int k = 0; k < s->path->load; k++) {
            mc_reg word = words_of(s, i, j)[halves ? k / 2 : k], sum = e->sum[j * s->path->load + k];
            mc_reg of_b = fused_element(e->b, math->lhs, word, halves && k % 2, e->scratch[1]);
            EMIT(e->b, fma_f32, sum, s->value[i], of_b, sum);
        }
}

/* With a stride of nonzeros the bits of the rows that end in it are found anew. */
static void find_stride_ends(segments *s) {
    mc_builder *b = s->e->b;
    mc_label same = label(b, "SAME_STRIDE");
    mc_reg in_stride = and_b32(b, "in_stride", s->done, I(CSR_STRIDE - 1));
    EMIT_IF(b, setp_ne(b, "is_inside", in_stride, I(0)), bra_uni, TO(same));
    note(b, "a lane whose row does not end in this stride shifts its bit out");
    mc_reg place = sub_s32(b, "end_place", s->row_last, s->done);
    mc_reg bit = shl_b32(b, "end_bit", s->is_one, place);
    EMIT(b, redux_add_s32, s->ends, bit, I(-1));
    set_label(b, same);
}

static void declare(segments *s) {
    csr_emitter *e = s->e;
    mc_builder *b = e->b;
    const int ahead = ahead_of(s), words = ahead * s->path->runs * s->words;
    s->todo = b32(b, "rows_todo"), s->empty = b32(b, "rows_empty"), s->ends = carried(b, "ends", I(0));
    s->bit = b32(b, "row_bit"), s->below = b32(b, "bits_below"), s->row = b32(b, "stored_row");
    s->has = pred(b, "has"), s->row_at = b64(b, "row_at");
    if (s->path->last) s->element_at = b64(b, "element_at");
    pred_array(b, "is_end", ahead, s->is_end);
    b32_array(b, "index", ahead, s->index);
    b32_array(b, "value", ahead, s->value);
    b32_array(b, "b_word", words, s->word);
    b32_array(b, "sum", csr_sums(e->plan), e->sum);
    if (e->plan->base.math.b_bits < 32) e->scratch[0] = b32(b, "a_real"), e->scratch[1] = b32(b, "b_real");
    for (int i = 0; i < words; i++) EMIT(b, mov_b32, s->word[i], I(0));
}

/* Factors of columns are the same for all rows. */
static void declare_store(segments *s, mc_reg lane_col) {
    csr_emitter *e = s->e;
    const out_kind *output = &e->plan->base.output;
    const csr_path *path = s->path;
    out_declare_factors(&s->factors, e->b, output, spmm_csr_columns_of(e, path), 1, csr_sums(e->plan));
    out_declare_result(&s->factors);
    for (int j = 0; j < path->runs; j++)
        out_load_column_factors(&s->factors, j * path->load, lane_col, j * csr_pitch(e->plan, path),
                                path->load);
    s->writer = spmm_csr_declare_writer(e, path, (mc_reg){0});
}

/* -- The loop ----------------------------------------------------------------------------------------- */

static void begin_item(segments *s) {
    mc_builder *b = s->e->b;
    mc_reg begin = carried(b, "row_begin", I(0)), end = carried(b, "row_end", I(0));
    find_rows(s, begin, end);
    find_shared(s);
    keep_nonzeros(s);
    find_ends(s, begin, end);
    note(b, "all columns and values are there");
    EMIT(b, bar_warp_sync, I(-1));
}

static void walk(segments *s, mc_reg lane_col) {
    mc_builder *b = s->e->b;
    const int ahead = ahead_of(s);
    mc_label next = label(b, "NONZEROS"), done = label(b, "ITEM_DONE"), end[CSR_MOST_AHEAD],
             back[CSR_MOST_AHEAD];
    static const char *const ends[] = {"END_0", "END_1", "END_2", "END_3",
                                       "END_4", "END_5", "END_6", "END_7"},
                             *const backs[] = {"GO_ON_0", "GO_ON_1", "GO_ON_2", "GO_ON_3",
                                               "GO_ON_4", "GO_ON_5", "GO_ON_6", "GO_ON_7"};
    for (int i = 0; i < ahead; i++) end[i] = label(b, ends[i]), back[i] = label(b, backs[i]);
    s->done = carried(b, "done", I(0)), s->left = carried(b, "left", s->count);
    load_shared(s, s->index, s->index_at, 0);
    for (int i = 0; i < ahead; i++) load_row(s, i);
    zero_sums(s);
    mc_reg none = pred(b, "is_done");
    set_label(b, next);
    EMIT(b, setp_lt, none, s->left, I(1));
    EMIT_IF(b, none, bra_uni, TO(done));
    find_stride_ends(s);
    load_shared(s, s->value, s->index_at, values_offset(s));
    note(b, "columns behind the last nonzero are not used");
    load_shared(s, s->index, s->index_at, ahead * WORD);
    EMIT(b, add_s32, s->left, s->left, I(-ahead));
    for (int i = 0; i < ahead; i++) {
        multiply(s, i);
        load_row(s, i);
        EMIT(b, and_b32, s->bit, s->ends, I(1 << i));
        EMIT(b, setp_ne, s->is_end[i], s->bit, I(0));
        EMIT_IF(b, s->is_end[i], bra_uni, TO(end[i]));
        set_label(b, back[i]);
    }
    EMIT(b, shr_u32, s->ends, s->ends, I(ahead));
    EMIT(b, add_s32, s->done, s->done, I(ahead));
    EMIT(b, add_s32, s->index_at, s->index_at, I(ahead * WORD));
    EMIT(b, bra_uni, TO(next));
    for (int i = 0; i < ahead; i++) {
        set_label(b, end[i]);
        note(b, "nonzero %d was the last one of its row", i);
        store_row(s, s->todo, lane_col);
        EMIT(b, bra_uni, TO(back[i]));
    }
    set_label(b, done);
}

static void store_empty(segments *s, mc_reg lane_col) {
    mc_builder *b = s->e->b;
    mc_label again = label(b, "EMPTY_ROWS"), done = label(b, "ROWS_DONE");
    heading(b, "Rows without nonzeros");
    zero_sums(s);
    mc_reg none = pred(b, "none_empty");
    set_label(b, again);
    EMIT(b, setp_eq, none, s->empty, I(0));
    EMIT_IF(b, none, bra_uni, TO(done));
    store_row(s, s->empty, lane_col);
    EMIT(b, bra_uni, TO(again));
    set_label(b, done);
}

void spmm_csr_emit_segments(csr_emitter *e, const csr_path *path, mc_reg lane_col) {
    mc_builder *b = e->b;
    const char *prefix = b->prefix;
    const int load_bytes = path->load * csr_element_bytes(e->plan);
    segments s = {.e = e, .path = path, .words = load_bytes > WORD ? load_bytes / WORD : 1};
    mc_label is_long = label(b, "IS_LONG");
    EMIT_IF(b, e->is_long, bra_uni, TO(is_long));
    b->prefix = path == &e->plan->wide ? "rows_" : "edge_rows_";
    heading(b, "Nonzeros of several rows, of each a row of B: %d load%s of %d element%s a lane", path->runs,
            path->runs > 1 ? "s" : "", path->load, path->load > 1 ? "s" : "");
    declare(&s);
    begin_item(&s);
    s.b_lane = spmm_csr_find_columns(e, path, lane_col, s.offset);
    declare_store(&s, lane_col);
    walk(&s, lane_col);
    store_empty(&s, lane_col);
    EMIT_RET(b);
    b->prefix = prefix;
    set_label(b, is_long);
}
