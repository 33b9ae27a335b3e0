/* How sums become C: a lane has a row of each group of 8 of its warp's, and two of each 8 columns.
   Elements of 16 bits are turned by movmatrix, so that it has two neighbouring rows of a column. Of a
   block's two groups neighbouring lanes exchange words: then a lane has four rows of one group, and four
   lanes a sector of C. Other elements are stored one by one. */
#include "ops/spmm/fragments/fragments.h"
#include "parts/columns.h"
#include "parts/fragment.h"
#include "parts/words.h"

enum { OCTET = TILE_LINES, OCTET_SUMS = 4, LANE_COLUMNS = 2, HALVES = FRAGMENTS_HALVES };

/* A thread's sums by columns: of each 8 columns those of all of its rows, OCTET_SUMS for each wgmma. */
static void order_sums(const fragments_kernel *f, mc_reg sums[WGMMA_SUMS]) {
    const int blocks = f->plan->blocks, octets = f->plan->base.tile_n / OCTET;
    for (int i = 0; i < octets * blocks; i++)
        for (int s = 0; s < OCTET_SUMS; s++)
            sums[i * OCTET_SUMS + s] = f->sums[i % blocks][i / blocks * OCTET_SUMS + s];
}

/* Octets of columns that a thread block makes C of: the tile's, or a slice's. */
static int octets_of(const fragments_plan *plan) {
    if (!fragments_are_split(plan)) return plan->base.tile_n / OCTET;
    return fragments_exchange(plan).slice_octets / plan->blocks;
}

/* Split: SUMS become those of the slice of columns that this thread block finishes. Returns the slice's first
   column of C. */
static mc_reg take_slice(fragments_kernel *f, mc_reg sums[WARPGROUP_BLOCKS][WGMMA_SUMS], mc_label end) {
    mc_builder *b = f->b;
    sum_exchange *e = &f->parts;
    exchange_begin(e);
    roles_meet_cluster(&f->roles);
    exchange_free(e);
    exchange_send(e, sums);
    exchange_take(e, sums[0], end);
    return mad_s32(b, "c_slice", f->roles.rank, I(octets_of(f->plan) * OCTET), f->column);
}

/* -- Elements ------------------------------------------------------------------------------------------- */

typedef struct store {
    const fragments_kernel *f;
    mc_builder *b;
    const fragments_rows *rows;
    out_factors factors;
    column_writer to;
    mc_reg column;    /* the lane's first one, of its sums */
    mc_reg at;        /* where the lane's first element of the octet at hand goes */
    mc_reg group_row; /* scratch */
    /* Of 16 bits: whether t is odd; the first column that the lane stores; whether a block's rows are C's;
       words of both groups of a block, as turned and as stored */
    mc_reg odd, turned_column, stores[FRAGMENTS_BLOCKS], turned[HALVES], stored[HALVES];
} store;

static bool is_turned(const store *s) { return fragments_store_rows(s->f->plan) > 1; }
static int groups(const store *s) { return fragments_groups(s->f->plan); }

/* Returns the first of the four rows that the lane stores of the block from row FIRST on. */
static mc_reg begin_turned(store *s) {
    mc_builder *b = s->b;
    mc_reg odd = and_b32(b, "c_odd", s->rows->t, I(1)), low = and_b32(b, "c_low", s->rows->t, I(2));
    s->odd = setp_ne(b, "is_odd", odd, I(0));
    mc_reg row =
        mad_s32(b, "c_turned_row", odd, I(OCTET), mad_s32(b, "c_own_row", low, I(2), s->rows->first));
    pred_array(b, "stores_block", s->f->plan->blocks, s->stores);
    for (int i = 0; i < s->f->plan->blocks; i++) {
        EMIT(b, add_s32, s->group_row, row, I(i * HALVES * OCTET));
        EMIT(b, setp_lt, s->stores[i], s->group_row, s->f->m);
    }
    b32_array(b, "turned", HALVES, s->turned);
    b32_array(b, "stored", HALVES, s->stored);
    return row;
}

/* The lane's first column of C, and, of 16 bits, the row and column that it stores. */
static void begin_place(store *s, mc_reg first_column) {
    mc_builder *b = s->b;
    note(b, "the lane's first column of C, and where its elements go");
    s->column = mad_s32(b, "c_column", s->rows->t, I(LANE_COLUMNS), first_column);
    s->group_row = b32(b, "c_group_row");
    mc_reg stored_row = s->rows->row, stored_column = s->column;
    if (is_turned(s)) {
        stored_row = begin_turned(s);
        stored_column = s->turned_column = add_s32(b, "c_turned_column", first_column, s->rows->g);
    }
    s->to.w.at = b64(b, "c_place");
    columns_address(&s->to, stored_row, stored_column);
    s->at = carried_b64(b, "c_at", s->to.w.at);
}

static out_columns columns_of(const fragments_kernel *f) {
    return (out_columns){.n = f->n, .clamp = true, .whole = 1};
}

static void begin_writer(store *s) {
    const fragments_kernel *f = s->f;
    const spmm_plan *base = &f->plan->base;
    mc_builder *b = f->b;
    s->to.w = (out_writer){.b = b,
                           .output = &base->output,
                           .columns = columns_of(f),
                           .ldc = dim_operand(base->ldc, load_shape(b, "ldc", base->ldc == MC_OPEN)),
                           .c_array = load_array(b, "c"),
                           .store = 1};
    if (base->output.residual == OUT_NO_ADDEND) return;
    s->to.w.residual.array = load_array(b, "residual"), s->to.w.residual.load = 1;
    s->to.w.residual.ld = dim_operand(base->ldr, load_shape(b, "ldr", base->ldr == MC_OPEN));
}

static store begin_store(const fragments_kernel *f, mc_reg first_column) {
    store s = {.f = f, .b = f->b, .rows = &f->rows, .factors = f->rows.factors};
    begin_writer(&s);
    begin_place(&s, first_column);
    out_declare_result(&s.factors);
    s.to.w.in_rows = s.rows->inside[0];
    columns_declare(&s.to, is_turned(&s) ? LANE_COLUMNS : 1, LANE_COLUMNS);
    return s;
}

/* Sets WORD to the elements of rows 2 t and 2 t + 1 of column g, of a group whose SUMS are of the lane's
   row. */
static void turn_group(store *s, mc_reg word, const mc_reg *sums, int offset, int group) {
    const out_run run = {
        .col = s->column, .offset = offset, .count = LANE_COLUMNS, .sums = sums, .factor_row = group};
    EMIT(s->b, movmatrix, word, out_words(&s->to.w, &s->factors, &run, 0, LANE_COLUMNS)[0]);
}

/* Stores a block's words. Of each two neighbouring lanes the one of even t gets both words of the first
   group, the other one those of the second. */
static void store_turned(store *s, int offset, int block) {
    mc_builder *b = s->b;
    const mc_reg *two = s->turned, *out = s->stored;
    EMIT(b, selp_b32, out[0], two[0], two[1], s->odd);
    EMIT(b, shfl_bfly, out[0], out[0], I(1), I(MC_WARP - 1), H(0xffffffff));
    EMIT(b, selp_b32, out[1], two[1], out[0], s->odd);
    EMIT(b, selp_b32, out[0], out[0], two[0], s->odd);
    EMIT(b, add_s32, s->to.col, s->turned_column, I(offset));
    EMIT(b, setp_lt_and, s->to.inside, s->to.col, s->f->n, s->stores[block]);
    emit_store_words(b, s->to.inside, WORDS_GLOBAL, 2 * WORD, AT(s->at, 2 * HALVES * block * OCTET), out);
}

static void store_single(store *s, const mc_reg *sums, int offset, int group) {
    const int bytes = out_element_bytes(s->f->plan->base.output.element);
    const out_patch patch = {.columns = LANE_COLUMNS, .rows = 1, .sums = {sums}, .factor_row = group};
    EMIT(s->b, add_s64, s->to.w.at, s->at, I(group * OCTET * bytes));
    columns_store_patch(&s->to, &s->factors, &patch, s->column, offset);
}

static void load_residual(store *s, int offset, int group) {
    if (s->f->plan->base.output.residual == OUT_NO_ADDEND) return;
    EMIT(s->b, add_s32, s->group_row, s->rows->row, I(group * OCTET));
    columns_residual_address(&s->to, s->group_row);
    columns_load_residual(&s->to, s->column, offset, LANE_COLUMNS, 0, 1, 1);
}

static void store_octet(store *s, const mc_reg *sums, int octet) {
    const int offset = octet * OCTET;
    out_load_column_factors(&s->factors, 0, s->column, offset, LANE_COLUMNS);
    for (int group = 0; group < groups(s); group++) {
        s->to.w.in_rows = s->rows->inside[group];
        load_residual(s, offset, group);
        const mc_reg *own = &sums[group * LANE_COLUMNS];
        if (is_turned(s)) turn_group(s, s->turned[group % HALVES], own, offset, group);
        else store_single(s, own, offset, group);
        if (is_turned(s) && group % HALVES) store_turned(s, offset, group / HALVES);
    }
    EMIT(s->b, mov_b64, s->to.w.at, s->at);
    columns_advance(&s->to, OCTET);
    EMIT(s->b, mov_b64, s->at, s->to.w.at);
}

void spmm_fragments_begin_rows(fragments_kernel *f) {
    mc_builder *b = f->b;
    fragments_rows *rows = &f->rows;
    const int count = fragments_groups(f->plan);
    note(b, "the lane's rows of C, whether they are C's, and their factors");
    rows->g = shr_u32(b, "c_g", f->roles.lane, I(FRAG_GROUP_SHIFT));
    rows->t = and_b32(b, "c_t", f->roles.lane, I(FRAG_THREAD_MASK));
    rows->first = mad_s32(b, "c_warp_row", f->roles.warp, I(fragments_warp_rows(f->plan)), f->row);
    rows->row = add_s32(b, "c_row", rows->first, rows->g);
    pred_array(b, "rows_inside", count, rows->inside);
    mc_reg group_row = b32(b, "c_rows_group");
    for (int i = 0; i < count; i++) {
        EMIT(b, add_s32, group_row, rows->first, I(i * OCTET));
        EMIT(b, setp_lt, rows->inside[i], group_row, f->m);
    }
    out_declare_factors(&rows->factors, b, &f->plan->base.output, columns_of(f), count, LANE_COLUMNS);
    for (int i = 0; i < count; i++)
        out_load_row_factors(&rows->factors, i, rows->row, i * OCTET, rows->inside[i]);
}

void spmm_fragments_store(fragments_kernel *f) {
    mc_builder *b = f->b;
    const bool split = fragments_are_split(f->plan);
    mc_reg column = f->column;
    mc_label sent = split ? label(b, "SENT") : (mc_label){0};
    mc_reg sums[WARPGROUP_BLOCKS][WGMMA_SUMS] = {0};
    heading(b, "Sums become elements of C");
    order_sums(f, sums[0]);
    if (split) column = take_slice(f, sums, sent);
    store s = begin_store(f, column);
    for (int i = 0; i < octets_of(f->plan); i++)
        store_octet(&s, &sums[0][i * f->plan->blocks * OCTET_SUMS], i);
    if (!split) return;
    set_label(b, sent);
    exchange_end(&f->parts);
}
