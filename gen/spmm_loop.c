/* The gather SpMM's loop over strides: indices and values, rows of B, transpose, mma. */
#include "fragment.h"
#include "spmm_emit.h"
#include <string.h>

enum {
    STEP_INDEX_BYTES = MC_GROUP_SLOTS * WORD,     /* of col_idx, a step of 32 slots */
    STEP_VALUE_BYTES = MC_GROUP_SLOTS * SPMM_VEC, /* of values, a step */
    MAX_WORDS = 4,                                /* registers of one row of B, a lane */
};

/* -- Registers of a path's loop ----------------------------------------------------------------------- */

/* Everything that one pass over the strides keeps in registers. Loads of whole words hold a stride's rows at
   once; loads of single bytes go four slots at a time, so that the edge path does not decide how many
   registers the kernel takes. */
typedef struct pass {
    const spmm_path *path;
    bool bytes; /* path->unit is 1: each loaded byte has a register */
    int units;  /* loads of one row of B, a lane */
    int words;  /* registers of one row of B, a lane */
    int row_count;
    mc_reg base[4];                   /* address of the lane's columns in row 0 of B, a unit each */
    mc_reg first, stride;             /* stride = first + part is to be loaded */
    mc_reg value[SPMM_MAX_STEPS * 2]; /* of this one, where e->value is the next one's */
    mc_reg row[SPMM_MAX_STEPS * MC_LANE_SLOTS * MAX_WORDS]; /* [step][slot][word], or [slot % 4][byte] */
    mc_reg used[MC_LANE_SLOTS], address[MC_LANE_SLOTS];
    mc_reg more; /* there is a stride to be loaded */
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
    p->first = b32(b, "next_first"), p->stride = b32(b, "stride");
    if (e->plan->prefetch) b32_array(b, "this_value", steps * 2, p->value);
    else memcpy(p->value, e->value, sizeof e->value);
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

/* -- One stride --------------------------------------------------------------------------------------- */

static void emit_load_packed(spmm_emitter *e, mc_reg guard, mc_reg stride, mc_opcode v4, mc_opcode v2) {
    mc_builder *b = e->b;
    EMIT(b, mad_wide, R(e->index_at), R(stride), I(e->plan->stride * WORD), R(e->index_lane));
    EMIT(b, mad_wide, R(e->value_at), R(stride), I(e->plan->stride * SPMM_VEC), R(e->value_lane));
    for (int s = 0; s < e->plan->stride_steps; s++) {
        mc_reg *index = &e->index[s * MC_LANE_SLOTS];
        builder_emit(b, guard, v4, MC_OPERANDS(V4(index), AT(e->index_at, s * STEP_INDEX_BYTES)));
        builder_emit(b, guard, v4,
                     MC_OPERANDS(V4(index + 4), AT(e->index_at, s * STEP_INDEX_BYTES + 4 * WORD)));
    }
    for (int s = 0; s < e->plan->stride_steps; s++)
        builder_emit(b, guard, v2, MC_OPERANDS(V2(&e->value[2 * s]), AT(e->value_at, s * STEP_VALUE_BYTES)));
}

/* ptxas would move other loads down to their first use, behind those of row_ptr and of scales. */
void spmm_emit_load_head(spmm_emitter *e) { emit_load_packed(e, (mc_reg){0}, e->head, OP_ldr_v4, OP_ldr_v2); }

static void emit_load_stride(spmm_emitter *e, pass *p, mc_reg guard) {
    emit_load_packed(e, guard, p->stride, OP_ldg_v4, OP_ldg_v2);
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
        mc_reg index = e->index[step * MC_LANE_SLOTS + slot];
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
        mc_reg a[4];
        for (int half = 0; half < 2; half++) {
            a[frag_a_reg(half, 0)] = e->low[2 * two + half];
            a[frag_a_reg(half, 1)] = e->high[2 * two + half];
        }
        EMIT(b, mma_s8, V4(acc), V4(a), V2(&p->value[2 * step]), V4(acc));
    }
}

/* The first use of row_ptr: rows of B have been asked for, so that nothing waits for it before them. */
static void emit_next(spmm_emitter *e, pass *p) {
    mc_builder *b = e->b;
    if (e->part.id) EMIT(b, add_s32, R(p->stride), R(p->first), R(e->part));
    else EMIT(b, mov_b32, R(p->stride), R(p->first));
    EMIT(b, add_s32, R(p->first), R(p->first), I(e->plan->split));
    EMIT(b, setp_lt, R(p->more), R(p->stride), R(e->last));
    if (!e->plan->prefetch) return;
    note(b, "prefetch the next stride's indices and values");
    emit_load_stride(e, p, p->more);
}

/* The whole stride's loads first, then its arithmetic. */
static void emit_word_steps(spmm_emitter *e, pass *p) {
    mc_builder *b = e->b;
    int steps = e->plan->stride_steps;
    note(b, "gather rows of B");
    for (int s = 0; s < steps; s++) emit_gather(e, p, s, 0, MC_LANE_SLOTS);
    emit_next(e, p);
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
    emit_next(e, p);
}

static void emit_stride(spmm_emitter *e, pass *p) {
    mc_builder *b = e->b;
    if (e->plan->prefetch) {
        note(b, "the values that were prefetched");
        for (int i = 0; i < 2 * e->plan->stride_steps; i++) EMIT(b, mov_b32, R(p->value[i]), R(e->value[i]));
    } else {
        note(b, "indices and values of this stride");
        emit_load_stride(e, p, (mc_reg){0});
    }
    if (p->bytes) emit_byte_steps(e, p);
    else emit_word_steps(e, p);
}

/* -- A path ------------------------------------------------------------------------------------------- */

/* Computes and stores one tile of path->columns columns from path_col on. */
void spmm_emit_tile(spmm_emitter *e, const spmm_path *path, mc_reg path_col) {
    mc_builder *b = e->b;
    pass p;
    declare_pass(e, &p, path);
    mc_label loop = label(b, "STRIDES");
    emit_columns(e, &p, path_col);
    emit_zero(e, &p);
    EMIT(b, mov_b32, R(p.first), R(e->first));
    if (!e->plan->prefetch) EMIT(b, mov_b32, R(p.stride), R(e->head));
    spmm_emit_grid_wait(e);
    stage(b, "Loop over strides: %d nonzero vectors a time", e->plan->stride);
    place(b, loop);
    emit_stride(e, &p);
    EMIT_IF(b, p.more, bra, TO(loop));
    spmm_emit_epilogue(e, path, path_col);
}
