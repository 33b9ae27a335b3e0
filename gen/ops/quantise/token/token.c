/* Scales a row, computed. A thread block takes `tile` rows with all their columns, reads them once, and
 * keeps them: the first `hold` steps in registers, `keep` more in shared memory, where each thread reads
 * again what it has copied itself. Steps beyond these are read from global memory once more, when the scales
 * are known. Words of C go straight from registers to global memory: by columns those of a warp's lanes
 * below each other are `tile` elements of a row of C. */
#include "ops/quantise/token/token.h"
#include "parts/copy.h"

enum { MOST_STEPS = 2 * QUANTISE_MAX_STEPS, SPARE = 24 };

enum { MOST_BYTES = 2 * WORD };

/* Where the next step is stored. */
typedef struct token_stores {
    mc_reg at[QUANTISE_MAX_ROWS]; /* by columns one address, by rows one a row */
    mc_reg word_at, step_bytes;   /* by columns */
    mc_reg rows_whole;            /* whether all rows are A's; none: certainly */
    /* by columns, of the bytes of a column's words: whether there is a row, and which bits */
    mc_reg in_row[MOST_BYTES], mask[MOST_BYTES];
} token_stores;

typedef struct token {
    quantise_emitter e;
    quantise_patch patch;
    quantise_ends ends;
    mc_reg inside[MOST_STEPS], stored[MOST_STEPS]; /* at a step: whether to read, and to store */
    mc_reg raw[QUANTISE_MAX_STEPS][QUANTISE_RAW];
    mc_reg again[QUANTISE_RAW]; /* a patch that is not held in registers */
    mc_reg kept;                /* this thread's place in shared memory */
    token_stores to;
    mc_reg words[QUANTISE_MAX_WORDS];
    /* with shares, and in a cluster: the first of the thread block's columns, and how many it has */
    mc_reg own, width;
} token;

/* -- Steps -------------------------------------------------------------------------------------------- */

/* Whether there can be STEP, and whether all of it certainly is. */
static bool has_step(const quantise_plan *plan, int step) {
    return plan->part == MC_OPEN || (int64_t)step * plan->step < plan->part;
}
static bool is_certain(const quantise_plan *plan, int step) {
    bool equal = plan->n != MC_OPEN && plan->part * plan->cluster == plan->n;
    return equal && (int64_t)(step + 1) * plan->step <= plan->part;
}
static int steps_on_chip(const quantise_plan *plan) { return plan->hold + plan->keep; }

static int64_t kept_place(const quantise_plan *plan, int slot, int row) {
    return ((int64_t)slot * plan->rows + row) * MC_WARP * plan->warps * QUANTISE_UNIT;
}

/* -- Shares ------------------------------------------------------------------------------------------- */

/* A thread block begins with the columns of its own share and goes round A's end: its own stay on the chip.
   Column V of its count, of those at STEP, is that of A at V + own, or n before that. */
static quantise_patch turn_round(const token *t, int step) {
    const quantise_plan *plan = t->e.plan;
    mc_builder *b = t->e.b;
    quantise_patch patch = t->patch;
    if (plan->share == MC_OPEN) return patch;
    mc_reg shift = add_s32(b, NTH("shift", step), t->own, I((int64_t)step * plan->step));
    mc_reg col = add_s32(b, NTH("turned", step), patch.col, shift);
    mc_reg round = setp_ge(b, NTH("goes_round", step), col, t->e.n);
    mc_reg shorter = sub_s32(b, NTH("shift_round", step), shift, t->e.n);
    shift = selp_b32(b, NTH("shift_of", step), shorter, shift, round);
    for (int i = 0; i < plan->rows; i++)
        patch.row_at[i] = mad_wide(b, NTH("turned_at", step * QUANTISE_MAX_ROWS + i), shift,
                                   I(quantise_in_bytes(plan, 1)), patch.row_at[i]);
    return patch;
}

/* Offset of STEP from the addresses of turn_round's patch, in bytes. */
static int64_t offset_of(const quantise_plan *plan, int step) {
    return plan->share == MC_OPEN ? (int64_t)step * quantise_in_bytes(plan, plan->step) : 0;
}

static bool is_own(const quantise_plan *plan, int step) {
    return plan->share == MC_OPEN || (int64_t)step * plan->step < plan->share;
}

/* Whether this thread stores its columns at STEP. */
static mc_reg is_stored(const token *t, int step) {
    mc_builder *b = t->e.b;
    if (t->e.plan->share == MC_OPEN) return t->inside[step];
    mc_reg col = add_s32(b, NTH("own_col", step), t->patch.col, I((int64_t)step * t->e.plan->step));
    return setp_lt(b, NTH("is_own", step), col, t->width);
}

static void begin_share(token *t) {
    const quantise_plan *plan = t->e.plan;
    mc_builder *b = t->e.b;
    if (plan->share == MC_OPEN) return;
    t->e.share = load_special(b, "share", "ctaid.y");
    t->own = mul_s32(b, "own", t->e.share, I(plan->share));
    mc_reg left =
        sub_s32(b, "columns_left", plan->n == MC_OPEN ? t->e.n : mov_b32(b, "columns", t->e.n), t->own);
    t->width = min_s32(b, "width", left, I(plan->share));
}

/* In a cluster the thread block has the columns from col0 on. Returns where these end. */
static mc_operand begin_part(token *t) {
    const quantise_plan *plan = t->e.plan;
    mc_builder *b = t->e.b;
    if (plan->cluster == 1) return t->e.n;
    mc_operand part = I(plan->part);
    if (plan->part == MC_OPEN) {
        int columns = plan->cluster * plan->unit;
        mc_reg up = add_s32(b, "columns_up", t->e.n, I(columns - 1));
        part = mul_s32(b, "part", shr_u32(b, "units_of_part", up, I(log2_of(columns))), I(plan->unit));
    }
    t->e.share = load_special(b, "rank", "cluster_ctarank");
    t->own = t->e.col0 = mul_s32(b, "own", t->e.share, part);
    mc_reg end = min_s32(b, "own_end", add_s32(b, "part_end", t->own, part), t->e.n);
    t->width = sub_s32(b, "width", end, t->own);
    return end;
}

/* Copies of 16 bytes, or of none and zeros instead. */
static void copy_step(const token *t, int step) {
    const quantise_plan *plan = t->e.plan;
    mc_builder *b = t->e.b;
    mc_reg inside = t->inside[step], bytes = {0};
    int64_t offset = offset_of(plan, step);
    const quantise_patch patch = turn_round(t, step);
    if (inside.id) bytes = selp_b32(b, NTH("copied", step), I(QUANTISE_UNIT), I(0), inside);
    for (int i = 0; i < plan->rows; i++)
        copy_async(b, QUANTISE_UNIT,
                   (copy_piece){.to = AT(t->kept, kept_place(plan, step - plan->hold, i)),
                                .from = AT(patch.row_at[i], offset),
                                .size = bytes});
}

static void read_kept(const token *t, int step) {
    enum { WORDS = QUANTISE_UNIT / WORD };
    const quantise_plan *plan = t->e.plan;
    for (int i = 0; i < plan->rows; i++)
        EMIT(t->e.b, lds_v4, V4(t->again + (ptrdiff_t)i * WORDS),
             AT(t->kept, kept_place(plan, step - plan->hold, i)));
}

static void declare(token *t) {
    const quantise_plan *plan = t->e.plan;
    mc_builder *b = t->e.b;
    int words = plan->rows * QUANTISE_UNIT / WORD;
    for (int s = 0; s < steps_on_chip(plan) && has_step(plan, s); s++)
        t->inside[s] = quantise_inside(&t->e, &t->patch, s, is_certain(plan, s));
    for (int s = 0; s < steps_on_chip(plan) && has_step(plan, s) && is_own(plan, s); s++)
        t->stored[s] = is_stored(t, s);
    for (int s = 0; s < plan->hold && has_step(plan, s); s++) b32_array(b, NTH("raw", s), words, t->raw[s]);
    b32_array(b, "again", words, t->again);
    b32_array(b, "made", quantise_words(plan), t->words);
    quantise_declare_ends(&t->e, &t->ends);
    if (plan->keep == 0) return;
    mc_reg kept = mov_shared(b, "kept_begin", NAME("kept"));
    t->kept = mad_s32(b, "kept_at", t->e.number.thread, I(QUANTISE_UNIT), kept);
}

/* -- Steps that are not kept -------------------------------------------------------------------------- */

/* The loop over the steps that are not on the chip. */
typedef struct rest {
    mc_reg left;             /* the first column of the step, of the thread block's count */
    mc_operand columns, end; /* how many there are to go through; what the patch's columns lie before */
    mc_reg inside;           /* whether this thread's columns are among them */
    mc_reg col, shift, round, at;
} rest;

static rest declare_rest(const token *t, mc_operand columns, mc_operand end) {
    const quantise_plan *plan = t->e.plan;
    mc_builder *b = t->e.b;
    return (rest){.left = carried(b, "step_col", I((int64_t)steps_on_chip(plan) * plan->step)),
                  .columns = columns,
                  .end = end,
                  .inside = pred(b, "inside"),
                  .col = b32(b, "col"),
                  .shift = b32(b, "shift"),
                  .round = plan->share != MC_OPEN ? pred(b, "goes_round") : (mc_reg){0},
                  .at = b64(b, "at")};
}

/* Loads a step to `again`; zeros where its columns are not A's. */
static void load_rest(const token *t, const rest *r) {
    enum { WORDS = QUANTISE_UNIT / WORD };
    const quantise_plan *plan = t->e.plan;
    mc_builder *b = t->e.b;
    EMIT(b, add_s32, r->col, r->left, t->patch.col);
    EMIT(b, setp_lt, r->inside, r->col, r->end);
    EMIT(b, mov_b32, r->shift, r->left);
    if (plan->share != MC_OPEN) {
        EMIT(b, add_s32, r->shift, r->left, t->own);
        EMIT(b, add_s32, r->col, r->col, t->own);
        EMIT(b, setp_ge, r->round, r->col, t->e.n);
        EMIT_IF(b, r->round, sub_s32, r->shift, r->shift, t->e.n);
    }
    for (int i = 0; i < plan->rows * WORDS; i++) EMIT(b, mov_b32, t->again[i], I(0));
    for (int i = 0; i < plan->rows; i++) {
        EMIT(b, mad_wide, r->at, r->shift, I(quantise_in_bytes(plan, 1)), t->patch.row_at[i]);
        EMIT_IF(b, r->inside, ldg_once_v4, V4(t->again + (ptrdiff_t)i * WORDS), AT(r->at, 0));
    }
}

/* Runs BODY for each step behind those on the chip, and says whether its columns are A's. */
static void for_rest(token *t, const char *name, bool own, void (*body)(token *t, mc_reg inside)) {
    const quantise_plan *plan = t->e.plan;
    mc_builder *b = t->e.b;
    int first = steps_on_chip(plan);
    if (!has_step(plan, first) || (own && !is_own(plan, first))) return;
    made_name prefix = quantise_numbered(name, 0);
    b->prefix = prefix.text;
    mc_label loop = label(b, "REST"), end = label(b, "REST_END");
    mc_operand before = own && plan->share != MC_OPEN ? t->width : t->e.n;
    const rest r = declare_rest(t, plan->cluster > 1 ? t->width : before, before);
    mc_reg more = pred(b, "more");
    EMIT_IF(b, setp_ge(b, "no_rest", r.left, r.columns), bra, TO(end));
    set_label(b, loop);
    load_rest(t, &r);
    body(t, r.inside);
    EMIT(b, add_s32, r.left, r.left, I(plan->step));
    EMIT(b, setp_lt, more, r.left, r.columns);
    EMIT_IF(b, more, bra, TO(loop));
    set_label(b, end);
    b->prefix = NULL;
}

static void take_again(token *t, mc_reg inside) {
    (void)inside; /* zeros do not count */
    quantise_take_patch(&t->e, &t->ends, t->again);
}

/* -- Reading ------------------------------------------------------------------------------------------ */

static void read_all(token *t) {
    const quantise_plan *plan = t->e.plan;
    mc_builder *b = t->e.b;
    note(b, "%d steps to shared memory, %d to registers", plan->keep, plan->hold);
    for (int s = plan->hold; s < steps_on_chip(plan) && has_step(plan, s); s++) copy_step(t, s);
    for (int s = 0; s < plan->hold && has_step(plan, s); s++) {
        const quantise_patch patch = turn_round(t, s);
        quantise_load(&t->e, &patch, plan->share == MC_OPEN ? s : 0, t->inside[s], t->raw[s]);
    }
    for (int s = 0; s < plan->hold && has_step(plan, s); s++) quantise_take_patch(&t->e, &t->ends, t->raw[s]);
    for_rest(t, "first", false, take_again);
    if (plan->keep) EMIT_BARE(b, cp_async_wait_all);
    for (int s = plan->hold; s < steps_on_chip(plan) && has_step(plan, s); s++) {
        read_kept(t, s);
        quantise_take_patch(&t->e, &t->ends, t->again);
    }
}

/* -- C by columns ------------------------------------------------------------------------------------- */

/* Bytes of a word, of which each has one row, or two of 4 bits. */
static void prepare_bytes(token *t) {
    const quantise_plan *plan = t->e.plan;
    mc_builder *b = t->e.b;
    int each = 8 / plan->out_bits;
    for (int i = 0; i < WORD * plan->words; i++) {
        mc_reg row = add_s32(b, NTH("byte_row", i), t->patch.row, I((int64_t)i * each));
        t->to.in_row[i] = setp_lt(b, NTH("in_row", i), row, t->e.m);
        mc_reg both = setp_lt(b, NTH("both", i), add_s32(b, NTH("byte_end", i), row, I(each - 1)), t->e.m);
        t->to.mask[i] = selp_b32(b, NTH("mask", i), I(255), I(15), both);
    }
}

static void prepare_columns(token *t) {
    const quantise_plan *plan = t->e.plan;
    mc_builder *b = t->e.b;
    mc_reg from = quantise_element_at(&t->e, "c_from", t->patch.row, t->e.c);
    mc_reg first = mad_s64(b, "c_first", cvt_s64(b, "col_wide", t->patch.col), t->e.ldc_bytes, from);
    t->to.at[0] = carried_b64(b, "store_at", first);
    t->to.word_at = b64(b, "word_at");
    t->to.step_bytes = mad_s64(b, "step_bytes", t->e.ldc_bytes, I(plan->step), I(0));
    if (plan->whole) return;
    mc_reg end = add_s32(b, "rows_end", t->e.row0, I(plan->tile - 1));
    t->to.rows_whole = setp_lt(b, "rows_whole", end, t->e.m);
    prepare_bytes(t);
}

/* Sets the address of column J of the patch in C, which those before it were stored at. */
static mc_reg column_at(const token *t, int j) {
    const token_stores *to = &t->to;
    if (j) EMIT(t->e.b, add_s64, to->word_at, j == 1 ? to->at[0] : to->word_at, t->e.ldc_bytes);
    return j ? to->word_at : to->at[0];
}

static void store_words(const token *t, mc_reg guard) {
    mc_builder *b = t->e.b;
    for (int j = 0; j < t->e.plan->unit; j++) {
        const mc_reg at = column_at(t, j);
        if (t->e.plan->words == 1) EMIT_IF(b, guard, stg_b32, AT(at, 0), t->words[j]);
        else EMIT_IF(b, guard, stg_v2, AT(at, 0), V2(&t->words[2 * j]));
    }
}

static void store_bytes(const token *t) {
    mc_builder *b = t->e.b;
    mc_reg byte = t->e.scratch.half;
    int words = t->e.plan->words;
    for (int j = 0; j < t->e.plan->unit; j++) {
        const mc_reg at = column_at(t, j);
        for (int i = 0; i < WORD * words; i++) {
            EMIT(b, shr_u32, byte, t->words[j * words + i / WORD], I(8 * (i % WORD)));
            EMIT(b, and_b32, byte, byte, t->to.mask[i]);
            EMIT_IF(b, t->to.in_row[i], stg_b8, AT(at, i), byte);
        }
    }
}

static void store_columns(token *t, const char *name, int step, mc_reg inside) {
    mc_builder *b = t->e.b;
    if (t->to.rows_whole.id) {
        mc_label whole = label(b, NTH(name, 2 * step)), next = label(b, NTH(name, 2 * step + 1));
        EMIT_IF(b, t->to.rows_whole, bra, TO(whole));
        if (inside.id) EMIT_IF(b, NOT(inside), bra, TO(next));
        store_bytes(t);
        EMIT(b, bra, TO(next));
        set_label(b, whole);
        store_words(t, inside);
        set_label(b, next);
    } else {
        store_words(t, inside);
    }
    EMIT(b, add_s64, t->to.at[0], t->to.at[0], t->to.step_bytes);
}

/* -- C by rows, and both ------------------------------------------------------------------------------ */

static void prepare_rows(token *t) {
    mc_reg at[QUANTISE_MAX_ROWS];
    quantise_row_addresses(&t->e, &t->patch, at);
    for (int i = 0; i < t->e.plan->rows; i++) t->to.at[i] = carried_b64(t->e.b, NTH("store_at", i), at[i]);
}

static void store_step(token *t, const char *name, int step, const mc_reg *raw, mc_reg inside) {
    const quantise_plan *plan = t->e.plan;
    mc_builder *b = t->e.b;
    quantise_make_words(&t->e, raw, NULL, t->words);
    if (plan->turned) {
        store_columns(t, name, step, inside);
        return;
    }
    made_name prefix = quantise_numbered(name, step);
    const char *before = b->prefix;
    b->prefix = prefix.text;
    quantise_store_rows(&t->e, &t->patch, 0, inside, t->to.at, t->words);
    b->prefix = before;
    for (int i = 0; i < plan->rows; i++)
        EMIT(b, add_s64, t->to.at[i], t->to.at[i], I(quantise_out_bytes(plan, plan->step)));
}

static void store_again(token *t, mc_reg inside) { store_step(t, "LAST", 0, t->again, inside); }

/* Stores go by A's columns, not by those of the share. */
static void prepare_stores(token *t) {
    mc_reg col = t->patch.col;
    if (t->e.plan->share != MC_OPEN) t->patch.col = add_s32(t->e.b, "col_of_share", col, t->own);
    if (t->e.plan->turned) prepare_columns(t);
    else prepare_rows(t);
    t->patch.col = col;
}

static void store_all(token *t) {
    const quantise_plan *plan = t->e.plan;
    prepare_stores(t);
    note(t->e.b, "what was kept, quantised");
    for (int s = 0; s < steps_on_chip(plan) && has_step(plan, s) && is_own(plan, s); s++) {
        if (s >= plan->hold) read_kept(t, s);
        store_step(t, "STORE", s, s < plan->hold ? t->raw[s] : t->again, t->stored[s]);
    }
    for_rest(t, "second", true, store_again);
}

/* -- The whole ---------------------------------------------------------------------------------------- */

static void emit_wide(token *t, mc_reg shared) {
    heading(t->e.b, "WIDE PATH: %d rows", t->e.plan->tile);
    const mc_operand columns = t->e.n;
    token_begin_cluster(&t->e);
    t->e.n = begin_part(t);
    quantise_place(&t->e, &t->patch);
    begin_share(t);
    declare(t);
    read_all(t);
    token_make_factors(&t->e, &t->patch, &t->ends, shared);
    store_all(t);
    t->e.n = columns;
}

/* The edge path has its own registers for the share: the wide one's are not written on its way. Returns where
   the thread block's columns end. */
static mc_operand begin_edge(token *t) {
    mc_builder *b = t->e.b;
    b->prefix = "edge_";
    const mc_operand end = begin_part(t);
    b->prefix = NULL;
    if (t->e.plan->share == MC_OPEN) return end;
    t->e.share = load_special(b, "edge_share", "ctaid.y");
    t->e.col0 = mul_s32(b, "edge_own", t->e.share, I(t->e.plan->share));
    return end;
}

static void emit(const void *data, mc_builder *b) {
    const quantise_plan *plan = data;
    token t = {0};
    mc_batch_array arrays[QUANTISE_BATCH_ARRAYS];
    quantise_list_batch(plan, arrays);
    quantise_begin(&t.e, b, plan, arrays);
    quantise_load_factors(&t.e);
    shared_array(b, "factors", plan->shared_static, QUANTISE_UNIT);
    if (plan->keep) shared_dynamic(b, "kept", QUANTISE_UNIT);
    b->spare += SPARE;
    b->fills_shared = true; /* a thread block of 1024 threads has 64 registers each, and no more */
    mc_reg shared = mov_shared(b, "shared", NAME("factors"));
    mc_label edge = label(b, "EDGE");
    if (plan->wide) {
        if (plan->edge) quantise_test_wide(&t.e, edge);
        emit_wide(&t, shared);
        EMIT_RET(b);
    }
    if (plan->edge) {
        heading(b, "EDGE PATH: an element at a time");
        set_label(b, edge);
        t.e.factors.magic = (mc_reg){0}; /* one by one, elements are converted */
        const mc_operand end = begin_edge(&t);
        token_make_factors_by_points(&t.e, shared);
        t.e.n = end;
        quantise_emit_points(&t.e, shared, plan->share);
        EMIT_RET(b);
    }
}

static const char *how(const void *data) {
    const quantise_plan *plan = data;
    if (plan->cluster > 1)
        return "The thread blocks of a cluster keep a part of the same rows each on the chip, and exchange "
               "how far\n"
               "these reach.";
    return "A thread block keeps all of its rows on the chip, from their greatest magnitudes to the "
           "quantised elements.";
}

const mc_solver quantise_token = {.name = "token",
                                  .plan = quantise_make_plan,
                                  .contract = quantise_contract,
                                  .facts = quantise_facts,
                                  .emit = emit,
                                  .entry_name = quantise_entry_name,
                                  .estimate = quantise_token_estimate,
                                  .computes = quantise_computes,
                                  .how = how};
