/* The gather SpMM's instructions, from its plan.
 *
 *   thread's place -> the row block's strides -> [wide path] -> [edge path: tiles of 32 columns in a loop]
 *   a path: where to read B -> loop over strides (indices, gather, transpose, mma) -> epilogue (spmm_store.c)
 *
 * Slots and fragments are named as in fragment.h: lane = 4 g + t; lane t holds slots 8t .. 8t + 7 of each 32.
 */
#include "spmm_emit.h"
#include "fragment.h"
#include <string.h>

enum {
    WORD = 4,                                     /* bytes of a register */
    LANE_INDEX_BYTES = MC_LANE_SLOTS * WORD,      /* of col_idx, a lane and step */
    STEP_INDEX_BYTES = MC_GROUP_SLOTS * WORD,     /* of col_idx, a step of 32 slots */
    STEP_VALUE_BYTES = MC_GROUP_SLOTS * SPMM_VEC, /* of values, a step */
    MAX_STEPS = 2,
    MAX_WORDS = 4, /* registers of one row of B, a lane */
};

mc_operand spmm_dim(int64_t fixed, mc_reg reg) { return fixed == MC_OPEN ? R(reg) : I(fixed); }

/* -- The thread's place and the row block's strides
 * ---------------------------------------------------------------- */

static mc_reg load_array(mc_builder *b, const char *name) {
    mc_reg reg = b64(b, name);
    EMIT(b, ld_param_u64, R(reg), NAME(name));
    EMIT(b, cvta_global, R(reg), R(reg));
    return reg;
}

static mc_reg load_shape(mc_builder *b, const char *name, bool wanted) {
    if (!wanted) return (mc_reg){0};
    mc_reg reg = b32(b, name);
    EMIT(b, ld_param_s32, R(reg), NAME(name));
    return reg;
}

static mc_reg special(mc_builder *b, const char *reg_name, const char *special_name) {
    mc_reg reg = b32(b, reg_name);
    EMIT(b, mov_special, R(reg), NAME(special_name));
    return reg;
}

static int log2_of(int power) {
    int log = 0;
    while (power >> log > 1) log++;
    return log;
}

static void emit_place(spmm_emitter *e) {
    mc_builder *b = e->b;
    const spmm_plan *plan = e->plan;
    stage(b, "This thread's place: lane = 4 g + t of a warp%s",
          plan->split > 1 ? ", part of the warps that share a row block" : "");
    mc_reg tid = special(b, "thread", "tid.x");
    e->lane = b32(b, "lane"), e->g = b32(b, "g"), e->t = b32(b, "t");
    EMIT(b, and_b32, R(e->lane), R(tid), I(MC_WARP - 1));
    EMIT(b, shr_u32, R(e->g), R(e->lane), I(2));
    EMIT(b, and_b32, R(e->t), R(e->lane), I(3));
    if (plan->warps > 1) {
        e->warp = b32(b, "warp");
        EMIT(b, shr_u32, R(e->warp), R(tid), I(log2_of(MC_WARP)));
    }
    if (plan->split > 1) {
        e->part = b32(b, "part");
        EMIT(b, and_b32, R(e->part), R(e->warp), I(plan->split - 1));
    }
    e->row_block = special(b, "row_block", "ctaid.x");
    if (plan->row_blocks > 1) {
        mc_reg local = b32(b, "local_block");
        note(b, "%d row blocks a thread block", plan->row_blocks);
        EMIT(b, shr_u32, R(local), R(e->warp), I(log2_of(plan->split)));
        EMIT(b, mad_s32, R(e->row_block), R(e->row_block), I(plan->row_blocks), R(local));
    }
    mc_reg tile = special(b, "tile", "ctaid.y");
    e->tile_col = b32(b, "tile_col");
    EMIT(b, mul_s32, R(e->tile_col), R(tile), I(plan->tile_n));
}

/* first, last: this row block's strides. A row block beyond m has none. */
static void emit_strides(spmm_emitter *e) {
    mc_builder *b = e->b;
    stage(b, "The row block's strides: row_ptr[row_block] up to row_ptr[row_block + 1]");
    mc_reg row_ptr = load_array(b, "row_ptr"), at = b64(b, "row_ptr_at");
    e->first = b32(b, "first"), e->last = b32(b, "last");
    EMIT(b, mad_wide, R(at), R(e->row_block), I(WORD), R(row_ptr));
    if (e->plan->guard_rows) {
        mc_reg blocks = b32(b, "row_blocks");
        e->in_rows = pred(b, "in_rows");
        EMIT(b, shr_u32, R(blocks), spmm_dim(e->plan->m, e->m), I(log2_of(SPMM_VEC)));
        EMIT(b, setp_lt, R(e->in_rows), R(e->row_block), R(blocks));
        EMIT(b, mov_b32, R(e->first), I(0));
        EMIT(b, mov_b32, R(e->last), I(0));
    }
    EMIT_IF(b, e->in_rows, ldg_b32, R(e->first), AT(at, 0));
    EMIT_IF(b, e->in_rows, ldg_b32, R(e->last), AT(at, WORD));
}

/* Where this warp's first stride lies in the packed arrays. */
static void emit_packed_start(spmm_emitter *e) {
    mc_builder *b = e->b;
    int stride = e->plan->stride;
    if (e->plan->split > 1)
        stage(b, "This warp takes every %d-th stride, from first + part on", e->plan->split);
    else stage(b, "Where the row block's strides lie in the packed arrays");
    if (e->plan->split > 1) EMIT(b, add_s32, R(e->first), R(e->first), R(e->part));
    mc_reg lane_at = b64(b, "lane_at");
    mc_reg col_idx = load_array(b, "col_idx"), values = load_array(b, "values");
    e->index_start = b64(b, "index_start"), e->value_start = b64(b, "value_start");
    note(b, "lane t: 8 indices at slot 8 t; lane: 8 values at 8 lane");
    EMIT(b, mul_wide, R(lane_at), R(e->t), I(LANE_INDEX_BYTES));
    EMIT(b, add_s64, R(e->index_start), R(col_idx), R(lane_at));
    EMIT(b, mad_wide, R(e->index_start), R(e->first), I(stride * WORD), R(e->index_start));
    EMIT(b, mul_wide, R(lane_at), R(e->lane), I(MC_LANE_SLOTS));
    EMIT(b, add_s64, R(e->value_start), R(values), R(lane_at));
    EMIT(b, mad_wide, R(e->value_start), R(e->first), I(stride * SPMM_VEC), R(e->value_start));
}

/* -- Registers of a path's loop
 * ------------------------------------------------------------------------------------- */

/* Everything that one pass over the strides keeps in registers. Loads of whole words hold a stride's rows at
   once; loads of single bytes go four slots at a time, so that the edge path does not decide how many
   registers the kernel takes. */
typedef struct pass {
    const spmm_path *path;
    bool bytes; /* path->unit is 1: each loaded byte has a register */
    int units;  /* loads of one row of B, a lane */
    int words;  /* registers of one row of B, a lane */
    int row_count;
    mc_reg base[4]; /* address of the lane's columns in row 0 of B, a unit each */
    mc_reg stride, index_at, value_at;
    mc_reg index[MAX_STEPS * MC_LANE_SLOTS], value[MAX_STEPS * 2], next_value[MAX_STEPS * 2];
    mc_reg row[MAX_STEPS * MC_LANE_SLOTS * MAX_WORDS]; /* [step][slot][word], or [slot % 4][byte] */
    mc_reg used[MC_LANE_SLOTS], address[MC_LANE_SLOTS];
    mc_reg more;
} pass;

static mc_reg *row_of(pass *p, int step, int slot) {
    return p->bytes ? &p->row[slot % 4 * 4] : &p->row[(step * MC_LANE_SLOTS + slot) * p->words];
}

static void declare_pass(spmm_emitter *e, pass *p, const spmm_path *path) {
    mc_builder *b = e->b;
    int steps = e->plan->stride_steps;
    *p = (pass){.path = path};
    p->bytes = path->unit == 1;
    p->units = p->bytes ? 4 : 1;
    p->words = p->bytes ? 4 : path->unit / WORD;
    p->row_count = p->bytes ? 16 : steps * MC_LANE_SLOTS * p->words;
    b64_array(b, "base", p->units, p->base);
    p->stride = b32(b, "stride");
    p->index_at = b64(b, "index_at"), p->value_at = b64(b, "value_at");
    b32_array(b, "index", steps * MC_LANE_SLOTS, p->index);
    b32_array(b, "value", steps * 2, p->value);
    if (e->plan->prefetch) b32_array(b, "next_value", steps * 2, p->next_value);
    b32_array(b, "row", p->row_count, p->row);
    pred_array(b, "used", MC_LANE_SLOTS, p->used);
    b64_array(b, "address", MC_LANE_SLOTS, p->address);
    p->more = pred(b, "more");
    b32_array(b, "acc", path->columns / 16 * 4, e->acc);
}

/* The lane's first column of C, and where its columns of B start. Columns beyond n are read at the last unit
   inside: what comes out of them is not stored. */
static void emit_columns(spmm_emitter *e, pass *p, mc_reg path_col) {
    mc_builder *b = e->b;
    int lane_columns = p->path->columns / 8;
    e->col = b32(b, "col");
    note(b, "columns %d g .. %d g + %d of the tile are this lane's", lane_columns, lane_columns,
         lane_columns - 1);
    EMIT(b, mad_s32, R(e->col), R(e->g), I(lane_columns), R(path_col));
    mc_reg load_col = e->col;
    mc_reg last_col = {0};
    if (p->path->clamp) {
        note(b, "columns beyond n are read at the last %s inside; their sums are not stored",
             p->path->unit == 1 ? "column" : "group of columns");
        load_col = b32(b, "load_col");
        last_col = b32(b, "last_col");
        EMIT(b, add_s32, R(last_col), spmm_dim(e->plan->n, e->n), I(-p->path->unit));
    }
    for (int i = 0; i < p->units; i++) {
        if (i) EMIT(b, add_s32, R(load_col), R(e->col), I(i));
        if (p->path->clamp) EMIT(b, min_s32, R(load_col), R(i ? load_col : e->col), R(last_col));
        EMIT(b, mad_wide, R(p->base[i]), R(load_col), I(1), R(e->b_array));
    }
}

static void emit_zero(spmm_emitter *e, pass *p) {
    mc_builder *b = e->b;
    for (int i = 0; i < p->path->columns / 16 * 4; i++) EMIT(b, mov_b32, R(e->acc[i]), I(0));
    note(b, "a padding slot loads nothing: its old bytes stay, and meet a value of zero");
    for (int i = 0; i < p->row_count; i++) EMIT(b, mov_b32, R(p->row[i]), I(0));
}

/* -- One stride
 * ------------------------------------------------------------------------------------------------------- */

static void emit_load_packed(spmm_emitter *e, pass *p, mc_reg guard, mc_reg *value) {
    mc_builder *b = e->b;
    for (int s = 0; s < e->plan->stride_steps; s++) {
        mc_reg *index = &p->index[s * MC_LANE_SLOTS];
        EMIT_IF(b, guard, ldg_v4, V4(index), AT(p->index_at, s * STEP_INDEX_BYTES));
        EMIT_IF(b, guard, ldg_v4, V4(index + 4), AT(p->index_at, s * STEP_INDEX_BYTES + 4 * WORD));
        EMIT_IF(b, guard, ldg_v2, V2(value + 2 * s), AT(p->value_at, s * STEP_VALUE_BYTES));
    }
}

static void emit_load_unit(mc_builder *b, mc_reg used, int unit, const mc_reg *row, mc_reg address) {
    switch (unit) {
    case 16: EMIT_IF(b, used, ldg_v4, V4(row), AT(address, 0)); break;
    case 8: EMIT_IF(b, used, ldg_v2, V2(row), AT(address, 0)); break;
    case 4: EMIT_IF(b, used, ldg_b32, R(*row), AT(address, 0)); break;
    default: EMIT_IF(b, used, ldg_u8, R(*row), AT(address, 0));
    }
}

/* Rows col_idx[slot] of B for COUNT slots from FIRST on, this lane's columns of them. Slots with index -1 are
 * padding. */
static void emit_gather(spmm_emitter *e, pass *p, int step, int first, int count) {
    mc_builder *b = e->b;
    for (int slot = first; slot < first + count; slot++) {
        mc_reg index = p->index[step * MC_LANE_SLOTS + slot];
        EMIT(b, setp_ge, R(p->used[slot]), R(index), I(0));
        for (int unit = 0; unit < p->units; unit++) {
            EMIT(b, mad_wide, R(p->address[slot]), R(index), spmm_dim(e->plan->ldb, e->ldb),
                 R(p->base[unit]));
            emit_load_unit(b, p->used[slot], p->path->unit, row_of(p, step, slot) + unit, p->address[slot]);
        }
    }
}

/* column[c] = byte c of each of four words, as a 4 x 4 byte transpose: 8 prmt. */
static void emit_transpose(spmm_emitter *e, const mc_reg word[4], const mc_reg column[4]) {
    mc_builder *b = e->b;
    const mc_reg *pair = e->pair;
    EMIT(b, prmt, R(pair[0]), R(word[0]), R(word[1]), I(0x5140));
    EMIT(b, prmt, R(pair[1]), R(word[0]), R(word[1]), I(0x7362));
    EMIT(b, prmt, R(pair[2]), R(word[2]), R(word[3]), I(0x5140));
    EMIT(b, prmt, R(pair[3]), R(word[2]), R(word[3]), I(0x7362));
    EMIT(b, prmt, R(column[0]), R(pair[0]), R(pair[2]), I(0x5410));
    EMIT(b, prmt, R(column[1]), R(pair[0]), R(pair[2]), I(0x7632));
    EMIT(b, prmt, R(column[2]), R(pair[1]), R(pair[3]), I(0x5410));
    EMIT(b, prmt, R(column[3]), R(pair[1]), R(pair[3]), I(0x7632));
}

/* The same from single bytes: byte[4 slot + c]. */
static void emit_join(spmm_emitter *e, const mc_reg byte[16], const mc_reg column[4]) {
    mc_builder *b = e->b;
    for (int c = 0; c < 4; c++) {
        EMIT(b, prmt, R(e->pair[0]), R(byte[c]), R(byte[4 + c]), I(0x0040));
        EMIT(b, prmt, R(e->pair[1]), R(byte[8 + c]), R(byte[12 + c]), I(0x0040));
        EMIT(b, prmt, R(column[c]), R(e->pair[0]), R(e->pair[1]), I(0x5410));
    }
}

/* Columns 4 word .. 4 word + 3 of this lane, from words: slots 0..3 to `low`, 4..7 to `high`. */
static void emit_transpose_word(spmm_emitter *e, pass *p, int step, int word) {
    note(e->b, "columns %d..%d of this lane", 4 * word, 4 * word + 3);
    for (int half = 0; half < 2; half++) {
        const mc_reg *row = row_of(p, step, 4 * half);
        const mc_reg words[4] = {row[word], row[p->words + word], row[2 * p->words + word],
                                 row[3 * p->words + word]};
        emit_transpose(e, words, half ? e->high : e->low);
    }
}

/* Four columns take two mma: rows g and g + 8 of an A operand are two neighbouring columns (fragment.h,
   frag_a_row); its registers 0, 1 hold slots 0..3 and its registers 2, 3 slots 4..7 (frag_a_k). */
static void emit_two_mma(spmm_emitter *e, pass *p, int step, int word) {
    mc_builder *b = e->b;
    for (int two = 0; two < 2; two++) {
        mc_reg *acc = &e->acc[(2 * word + two) * 4];
        const mc_reg a[4] = {e->low[2 * two], e->low[2 * two + 1], e->high[2 * two], e->high[2 * two + 1]};
        EMIT(b, mma_s8, V4(acc), V4(a), V2(&p->value[2 * step]), V4(acc));
    }
}

static void emit_advance(spmm_emitter *e, pass *p) {
    mc_builder *b = e->b;
    int split = e->plan->split, stride = e->plan->stride;
    EMIT(b, add_s32, R(p->stride), R(p->stride), I(split));
    EMIT(b, setp_lt, R(p->more), R(p->stride), R(e->last));
    EMIT(b, add_s64, R(p->index_at), R(p->index_at), I(split * stride * WORD));
    EMIT(b, add_s64, R(p->value_at), R(p->value_at), I(split * stride * SPMM_VEC));
}

static void emit_prefetch(spmm_emitter *e, pass *p) {
    note(e->b, "prefetch the next stride's indices and values");
    emit_load_packed(e, p, p->more, p->next_value);
}

/* The whole stride's loads first, then its arithmetic. */
static void emit_word_steps(spmm_emitter *e, pass *p) {
    mc_builder *b = e->b;
    int steps = e->plan->stride_steps;
    note(b, "gather rows of B");
    for (int s = 0; s < steps; s++) emit_gather(e, p, s, 0, MC_LANE_SLOTS);
    emit_advance(e, p);
    if (e->plan->prefetch) emit_prefetch(e, p);
    for (int s = 0; s < steps; s++) {
        note(b, "transpose and multiply slots %d..%d", MC_GROUP_SLOTS * s,
             MC_GROUP_SLOTS * s + MC_GROUP_SLOTS - 1);
        for (int word = 0; word < p->words; word++) {
            emit_transpose_word(e, p, s, word);
            emit_two_mma(e, p, s, word);
        }
    }
}

/* Four slots of this lane at a time. */
static void emit_byte_steps(spmm_emitter *e, pass *p) {
    mc_builder *b = e->b;
    for (int s = 0; s < e->plan->stride_steps; s++) {
        for (int half = 0; half < 2; half++) {
            note(b, "gather and join bytes of slots %d + 8 t .. %d + 8 t", MC_GROUP_SLOTS * s + 4 * half,
                 MC_GROUP_SLOTS * s + 4 * half + 3);
            emit_gather(e, p, s, 4 * half, 4);
            emit_join(e, p->row, half ? e->high : e->low);
        }
        emit_two_mma(e, p, s, 0);
    }
    emit_advance(e, p);
    if (e->plan->prefetch) emit_prefetch(e, p);
}

static void emit_stride(spmm_emitter *e, pass *p) {
    mc_builder *b = e->b;
    if (e->plan->prefetch) {
        note(b, "the values that were prefetched");
        for (int i = 0; i < 2 * e->plan->stride_steps; i++)
            EMIT(b, mov_b32, R(p->value[i]), R(p->next_value[i]));
    } else {
        note(b, "indices and values of this stride");
        emit_load_packed(e, p, (mc_reg){0}, p->value);
    }
    if (p->bytes) emit_byte_steps(e, p);
    else emit_word_steps(e, p);
}

/* -- A path
 * -------------------------------------------------------------------------------------------------------------
 */

/* Computes and stores one tile of path->columns columns from path_col on. */
static void emit_tile(spmm_emitter *e, const spmm_path *path, mc_reg path_col) {
    mc_builder *b = e->b;
    pass p;
    declare_pass(e, &p, path);
    mc_label loop = label(b, "STRIDES"), done = label(b, "STRIDES_DONE");
    mc_reg none = pred(b, "none");
    emit_columns(e, &p, path_col);
    emit_zero(e, &p);
    EMIT(b, mov_b32, R(p.stride), R(e->first));
    EMIT(b, mov_b64, R(p.index_at), R(e->index_start));
    EMIT(b, mov_b64, R(p.value_at), R(e->value_start));
    EMIT(b, setp_ge, R(none), R(p.stride), R(e->last));
    EMIT_IF(b, none, bra, TO(done));
    if (e->plan->prefetch) emit_load_packed(e, &p, (mc_reg){0}, p.next_value);
    stage(b, "Loop over strides: %d nonzero vectors a time", e->plan->stride);
    place(b, loop);
    emit_stride(e, &p);
    EMIT_IF(b, p.more, bra, TO(loop));
    place(b, done);
    spmm_emit_epilogue(e, path, path_col);
}

/* The edge path works off its tile 32 columns at a time, so that it stays short. */
static void emit_edge(spmm_emitter *e) {
    mc_builder *b = e->b;
    const spmm_path *path = &e->plan->edge;
    mc_reg col = b32(b, "part_col"), end = b32(b, "part_end"), again = pred(b, "again");
    mc_label loop = label(b, "COLUMNS");
    EMIT(b, add_s32, R(end), R(e->tile_col), I(e->plan->tile_n));
    EMIT(b, min_s32, R(end), R(end), spmm_dim(e->plan->n, e->n));
    EMIT(b, mov_b32, R(col), R(e->tile_col));
    place(b, loop);
    emit_tile(e, path, col);
    EMIT(b, add_s32, R(col), R(col), I(path->columns));
    EMIT(b, setp_lt, R(again), R(col), R(end));
    if (e->plan->split > 1) note(b, "nobody overwrites partial sums that are still being read");
    if (e->plan->split > 1) EMIT(b, bar_sync, I(0));
    EMIT_IF(b, again, bra_uni, TO(loop));
}

/* -- Which path
 * ------------------------------------------------------------------------------------------------------------
 */

static void branch_if_odd(spmm_emitter *e, mc_reg value, int unit, mc_label edge, const char *why) {
    mc_builder *b = e->b;
    note(b, "%s", why);
    EMIT(b, and_b32, R(e->odd_bits), R(value), I(unit - 1));
    EMIT(b, setp_ne, R(e->odd), R(e->odd_bits), I(0));
    EMIT_IF(b, e->odd, bra_uni, TO(edge));
}

static mc_reg low_half(spmm_emitter *e, const char *name, mc_reg array) {
    mc_reg low = b32(e->b, name);
    EMIT(e->b, cvt_low, R(low), R(array));
    return low;
}

/* The same for every thread of the block: no warp is split here. */
static void emit_choice(spmm_emitter *e, mc_label edge) {
    mc_builder *b = e->b;
    const spmm_checks *checks = &e->plan->checks;
    stage(b, "Wide path or edge path: what the spec leaves open");
    e->odd = pred(b, "odd");
    e->odd_bits = b32(b, "odd_bits");
    if (checks->full_tile) {
        note(b, "the tile reaches beyond n");
        EMIT(b, add_s32, R(e->odd_bits), R(e->tile_col), I(e->plan->tile_n));
        EMIT(b, setp_gt, R(e->odd), R(e->odd_bits), spmm_dim(e->plan->n, e->n));
        EMIT_IF(b, e->odd, bra_uni, TO(edge));
    }
    int unit = e->plan->wide.unit;
    if (checks->ldb) branch_if_odd(e, e->ldb, unit, edge, "rows of B are not aligned for vector loads");
    if (checks->b_address) branch_if_odd(e, low_half(e, "b_low", e->b_array), unit, edge, "B itself is not");
    if (checks->ldc) branch_if_odd(e, e->ldc, 4, edge, "rows of C are not aligned for 16-byte stores");
    if (checks->c_address) branch_if_odd(e, low_half(e, "c_low", e->c_array), 16, edge, "C itself is not");
}

void spmm_emit(const void *data, mc_builder *b) {
    const spmm_plan *plan = data;
    spmm_emitter emitter = {.plan = plan, .b = b}, *e = &emitter;
    if (plan->split > 1) shared_array(b, "partial", plan->shared_bytes, 16);
    emit_place(e);
    e->m = load_shape(b, "m", plan->guard_rows && plan->m == MC_OPEN);
    e->n = load_shape(b, "n", plan->n == MC_OPEN);
    e->ldb = load_shape(b, "ldb", plan->ldb == MC_OPEN);
    e->ldc = load_shape(b, "ldc", plan->ldc == MC_OPEN);
    emit_strides(e);
    e->b_array = load_array(b, "b"), e->c_array = load_array(b, "c");
    emit_packed_start(e);
    b32_array(b, "pair", 4, e->pair);
    b32_array(b, "low", 4, e->low);
    b32_array(b, "high", 4, e->high);

    mc_label edge = label(b, "EDGE");
    if (plan->wide.emitted && plan->edge.emitted) emit_choice(e, edge);
    if (plan->wide.emitted) {
        stage(b, "Wide path: %d columns, %d bytes of each row of B a lane", plan->wide.columns,
              plan->wide.unit);
        emit_tile(e, &plan->wide, e->tile_col);
        EMIT_RET(b);
    }
    if (plan->edge.emitted) {
        b->prefix = "edge_";
        if (plan->wide.emitted) rare_from_here(b);
        stage(b, "Edge path: 32 columns at a time, B in loads of %d byte%s", plan->edge.unit,
              plan->edge.unit == 1 ? "" : "s");
        place(b, edge);
        emit_edge(e);
        EMIT_RET(b);
    }
}
