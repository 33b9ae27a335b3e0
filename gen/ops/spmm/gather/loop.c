/* The gather SpMM's loop over strides: indices and values, rows of B, transpose, mma. */
#include "parts/fragment.h"
#include "ops/spmm/gather/emit.h"
#include <string.h>

enum {
    STEP_INDEX_BYTES = MC_GROUP_SLOTS * WORD, /* bytes of col_idx in a step of 32 slots */
    MAX_WORDS = 4,                            /* registers of one row of B, a lane */
};

/* -- Registers of a path's loop ----------------------------------------------------------------------- */

/* Everything that one run over the strides keeps in registers. Loads of whole words hold a stride's rows at
   once. Loads of single bytes go four slots at a time, so that the edge path does not decide how many
   registers the kernel takes. */
typedef struct pass {
    const gather_path *path;
    bool bytes; /* path->unit is one element (of 4 bits, two); each load then has a register of its own */
    int units;  /* loads of one row of B, a lane */
    int words;  /* registers of one row of B, a lane */
    int row_count;
    mc_reg base[4];                /* addresses of the lane's columns in row 0 of B, one for each unit */
    mc_reg first, stride;          /* the stride that is loaded next is first + part */
    mc_reg value[SPMM_MAX_VALUES]; /* values of this stride, where e->value has those of the next */
    mc_reg row[SPMM_MAX_STEPS * MC_LANE_SLOTS * MAX_WORDS]; /* [step][slot][word], or [slot % 4][byte] */
    mc_reg used[MC_LANE_SLOTS], address[MC_LANE_SLOTS];
    mc_reg more;                  /* whether there is a stride to be loaded */
    spmm_value_lanes more_values; /* and this lane has values of it, for each mma */
    gather_stager stager;         /* path->copy: rows go through shared memory */
    mc_reg more_indices;          /* the same with prefetch: whether there is a stride behind that one */
} pass;

/* A lane's accumulators of one weight. */
static int acc_count(const gather_path *path) { return path->columns / 16 * 4; }

static mc_reg *row_of(pass *p, int step, int slot) {
    return p->bytes ? &p->row[slot % 4 * p->units] : &p->row[(step * MC_LANE_SLOTS + slot) * p->words];
}

static void declare_pass(gather_emitter *e, pass *p, const gather_path *path) {
    mc_builder *b = e->b;
    int steps = e->plan->stride_steps;
    *p = (pass){.path = path};
    p->bytes = path->unit < WORD;
    p->units = (int)spmm_b_bytes(&e->plan->base, path->columns / 8) / path->unit;
    p->words = p->bytes ? p->units : path->unit / WORD;
    p->row_count = p->bytes ? 4 * p->units : steps * MC_LANE_SLOTS * p->words;
    b64_array(b, "base", p->units, p->base);
    p->first = b32(b, "next_first"), p->stride = b32(b, "stride");
    if (e->plan->prefetch) b32_array(b, "this_value", spmm_value_regs(&e->plan->base.math), p->value);
    else memcpy(p->value, e->value, sizeof e->value);
    b32_array(b, "row", p->row_count, p->row);
    pred_array(b, "used", MC_LANE_SLOTS, p->used);
    b64_array(b, "address", MC_LANE_SLOTS, p->address);
    p->more = pred(b, "more");
    static const char *const guards[] = {"more_values", "more_last_values"};
    if (e->plan->prefetch) p->more_values = lanes_declare(&e->plan->base.math, b, guards, p->more);
    if (path->copy) {
        p->stager = (gather_stager){.base = p->base[0], .used = p->used, .address = p->address};
        if (e->plan->prefetch) p->more_indices = pred(b, "more_indices");
    }
    sums_declare(&e->sums, acc_count(path));
}

/* Sets base[UNIT]: the address of element UNIT behind column AT in row 0 of B (of 4 bits, of that pair of
   elements). With clamp it is the last element inside, if that one lies beyond n. */
static void emit_base(gather_emitter *e, pass *p, int unit, mc_reg at, mc_reg load_at, mc_reg last_at) {
    mc_builder *b = e->b;
    if (spmm_b_is_paired(&e->plan->base)) {
        EMIT(b, shr_u32, load_at, at, I(1));
        at = load_at;
    }
    if (unit) {
        EMIT(b, add_s32, load_at, at, I(unit));
        at = load_at;
    }
    if (p->path->clamp) {
        EMIT(b, min_s32, load_at, at, last_at);
        at = load_at;
    }
    EMIT(b, mad_wide, p->base[unit], at, I(spmm_b_unit(&e->plan->base)), e->at.b_array);
}

static mc_reg emit_lane_column(gather_emitter *e, int columns, mc_reg path_col) {
    e->col = b32(e->b, "col");
    note(e->b, "columns %d g .. %d g + %d of the tile are this lane's", columns, columns, columns - 1);
    EMIT(e->b, mad_s32, e->col, e->at.place.g, I(columns), path_col);
    return e->col;
}

/* Sets the lane's first column of B, and where its columns begin. Columns beyond n are read at the last unit
   inside: what comes out of them is not stored. */
static void emit_columns(gather_emitter *e, pass *p, mc_reg path_col) {
    mc_builder *b = e->b;
    int lane_columns = p->path->columns / 8;
    bool halves = spmm_b_is_paired(&e->plan->base);
    mc_reg first =
        p->path->copy ? gather_shared_first_column(e, path_col) : emit_lane_column(e, lane_columns, path_col);
    mc_reg load_at = {0}, last_at = {0};
    int access = gather_access(p->path);
    if (p->path->clamp || halves) load_at = b32(b, "load_at");
    if (p->path->clamp) {
        note(b, "columns beyond n are read at the last %s inside; their sums are not stored",
             p->bytes ? "element" : "group of columns");
        last_at = b32(b, "last_at");
        int columns = p->bytes || halves ? 1 : access / spmm_b_unit(&e->plan->base);
        EMIT(b, add_s32, last_at, dim_operand(e->plan->base.n, e->at.n), I(-columns));
        if (halves) EMIT(b, shr_u32, last_at, last_at, I(1));
        if (halves && access > 1) EMIT(b, add_s32, last_at, last_at, I(1 - access));
    }
    for (int unit = 0; unit < p->units; unit++) emit_base(e, p, unit, first, load_at, last_at);
}

static void emit_zero(gather_emitter *e, pass *p) {
    mc_builder *b = e->b;
    sums_zero(&e->sums);
    if (p->path->copy) {
        gather_shared_start(e, &p->stager);
        return;
    }
    note(b, "a padding slot loads nothing: its old bytes stay, and meet a value of zero");
    for (int i = 0; i < p->row_count; i++) EMIT(b, mov_b32, p->row[i], I(0));
}

/* -- One stride --------------------------------------------------------------------------------------- */

static void emit_find_indices(gather_emitter *e, mc_reg stride) {
    EMIT(e->b, mad_wide, e->index_at, stride, I(e->plan->base.stride * WORD), e->index_lane);
}

static void emit_find_values(gather_emitter *e, mc_reg stride) {
    const gather_plan *plan = e->plan;
    EMIT(e->b, mad_wide, e->value_at, stride, I(plan->base.stride_values), e->value_lane);
}

/* Loads a stride's indices where GUARD holds (none: always). */
static void emit_load_indices(gather_emitter *e, mc_reg guard, mc_opcode v4, mc_opcode v2) {
    for (int s = 0; s < e->plan->stride_steps; s++) {
        mc_reg *index = &e->index[s * MC_LANE_SLOTS];
        for (int i = 0; i < e->indices; i += 4) {
            mc_operand from = AT(e->index_at, s * STEP_INDEX_BYTES + i * WORD);
            if (e->indices < 4) builder_emit(e->b, guard, v2, MC_OPERANDS(V2(index), from));
            else builder_emit(e->b, guard, v4, MC_OPERANDS(V4(index + i), from));
        }
    }
}

/* Loads one or two registers of values for each mma, where WITH_VALUES of it holds (none: always). */
static void emit_load_values(gather_emitter *e, spmm_value_lanes with_values, mc_opcode v2, mc_opcode v1) {
    const spmm_arithmetic *math = &e->plan->base.math;
    spmm_values k = spmm_values_of(math);
    int values = 0;
    for (int group = 0; group < k.groups; group++)
        for (int m = 0; m < math->mma; m++, values += k.regs)
            builder_emit(e->b, with_values.mma[m], k.regs == 2 ? v2 : v1,
                         MC_OPERANDS(operand_vector(&e->value[values], k.regs),
                                     AT(e->value_at, group * k.group_bytes + m * k.mma_bytes)));
}

/* These loads are relaxed: ptxas would move others down to their first use, behind those of row_ptr and of
   scales. */
void gather_emit_load_head(gather_emitter *e) {
    spmm_value_lanes with_values = e->plan->heads ? e->has_values : e->head_values;
    emit_find_indices(e, e->head);
    emit_find_values(e, e->head);
    emit_load_indices(e, e->has_head, OP_ldr_v4, OP_ldr_v2);
    emit_load_values(e, with_values, OP_ldr_v2, OP_ldr_b32);
}

static void emit_load_stride(gather_emitter *e, pass *p, mc_reg guard, spmm_value_lanes with_values) {
    emit_find_indices(e, p->stride);
    emit_find_values(e, p->stride);
    emit_load_indices(e, guard, OP_ldg_v4, OP_ldg_v2);
    emit_load_values(e, with_values, OP_ldg_v2, OP_ldg_b32);
}

static void emit_load_unit(mc_builder *b, mc_reg used, int unit, const mc_reg *row, mc_reg address) {
    switch (unit) {
    case 16: EMIT_IF(b, used, ldg_v4, V4(row), AT(address, 0)); break;
    case 8: EMIT_IF(b, used, ldg_v2, V2(row), AT(address, 0)); break;
    case 4: EMIT_IF(b, used, ldg_b32, *row, AT(address, 0)); break;
    case 2: EMIT_IF(b, used, ldg_u16, *row, AT(address, 0)); break;
    default: EMIT_IF(b, used, ldg_u8, *row, AT(address, 0));
    }
}

/* Loads this lane's columns of rows col_idx[slot] of B, for COUNT slots from FIRST on. Slots with index -1
 * are padding. */
static void emit_gather(gather_emitter *e, pass *p, int step, int first, int count) {
    mc_builder *b = e->b;
    for (int slot = first; slot < first + count; slot++) {
        mc_reg index = e->index[step * MC_LANE_SLOTS + slot];
        EMIT(b, setp_ge, p->used[slot], index, I(0));
        for (int unit = 0; unit < p->units; unit++) {
            EMIT(b, mad_wide, p->address[slot], index, e->at.row_bytes, p->base[unit]);
            emit_load_unit(b, p->used[slot], p->path->unit, row_of(p, step, slot) + unit, p->address[slot]);
        }
    }
}

/* Moves on to the next stride. It is the first use of row_ptr: rows of B have been asked for by then, so that
   nothing waits for row_ptr before them. */
static void emit_advance(gather_emitter *e, pass *p, mc_reg more) {
    mc_builder *b = e->b;
    if (e->at.part.id) EMIT(b, add_s32, p->stride, p->first, e->at.part);
    else EMIT(b, mov_b32, p->stride, p->first);
    EMIT(b, add_s32, p->first, p->first, I(e->plan->base.split));
    EMIT(b, setp_lt, more, p->stride, e->last);
}

static void emit_next(gather_emitter *e, pass *p) {
    emit_advance(e, p, p->more);
    if (!e->plan->prefetch) return;
    note(e->b, "prefetch the next stride's indices and values");
    lanes_set(&e->plan->base.math, e->b, e->has_values, p->stride, e->last, p->more_values);
    emit_load_stride(e, p, p->more, p->more_values);
}

/* Multiplies the rows of B in p->row. */
static void emit_multiply(gather_emitter *e, pass *p) {
    gathered_multiply(&e->gathered, p->row, p->words, p->value);
}

/* Loads all of a stride, then multiplies it. */
static void emit_word_steps(gather_emitter *e, pass *p) {
    note(e->b, "gather rows of B");
    if (p->path->copy) gather_shared_copy(e, &p->stager, (mc_reg){0});
    else
        for (int s = 0; s < e->plan->stride_steps; s++) emit_gather(e, p, s, 0, MC_LANE_SLOTS);
    emit_next(e, p);
    if (p->path->copy) gather_shared_read(e, &p->stager, p->row, p->words);
    emit_multiply(e, p);
}

/* -- Rows through shared memory, a stride ahead ------------------------------------------------------- */

static bool is_ahead(const gather_emitter *e, const pass *p) { return p->path->copy && e->plan->prefetch; }

/* Magicube's Algorithm 1: rows of the next stride are on their way while this one's are multiplied. Here they
   need no second buffer, since this one's rows are in registers by then. Indices are one more stride
   ahead. */
static void emit_ahead_start(gather_emitter *e, pass *p) {
    note(e->b, "copy the head's rows");
    gather_shared_copy(e, &p->stager, (mc_reg){0});
    emit_advance(e, p, p->more_indices);
    emit_find_indices(e, p->stride);
    emit_load_indices(e, p->more_indices, OP_ldg_v4, OP_ldg_v2);
}

static void emit_ahead(gather_emitter *e, pass *p) {
    mc_builder *b = e->b;
    gather_shared_read(e, &p->stager, p->row, p->words);
    note(b, "the next stride's rows and values, and the indices of the one behind it");
    EMIT(b, setp_lt, p->more, p->stride, e->last);
    gather_shared_copy(e, &p->stager, p->more);
    lanes_set(&e->plan->base.math, e->b, e->has_values, p->stride, e->last, p->more_values);
    emit_find_values(e, p->stride);
    emit_load_values(e, p->more_values, OP_ldg_v2, OP_ldg_b32);
    emit_advance(e, p, p->more_indices);
    emit_find_indices(e, p->stride);
    emit_load_indices(e, p->more_indices, OP_ldg_v4, OP_ldg_v2);
    emit_multiply(e, p);
}

/* -- Each stride -------------------------------------------------------------------------------------- */

/* Takes a stride four slots of this lane at a time. */
static void emit_byte_steps(gather_emitter *e, pass *p) {
    mc_builder *b = e->b;
    gathered_note(&e->gathered);
    for (int s = 0; s < e->plan->stride_steps; s++) {
        for (int half = 0; half < 2; half++) {
            note(b, "gather and join bytes of slots %d + 8 t .. %d + 8 t", MC_GROUP_SLOTS * s + 4 * half,
                 MC_GROUP_SLOTS * s + 4 * half + 3);
            emit_gather(e, p, s, 4 * half, 4);
            gathered_join(&e->gathered, half, p->row, p->units);
        }
        gathered_multiply_joined(&e->gathered, s, p->units, p->value);
    }
    emit_next(e, p);
}

static void emit_stride(gather_emitter *e, pass *p) {
    mc_builder *b = e->b;
    if (e->plan->prefetch) {
        note(b, "the values that were prefetched");
        for (int i = 0; i < spmm_value_regs(&e->plan->base.math); i++)
            EMIT(b, mov_b32, p->value[i], e->value[i]);
    } else {
        note(b, "indices and values of this stride");
        emit_load_stride(e, p, (mc_reg){0}, e->has_values);
    }
    if (p->bytes) emit_byte_steps(e, p);
    else if (is_ahead(e, p)) emit_ahead(e, p);
    else emit_word_steps(e, p);
}

/* -- A path ------------------------------------------------------------------------------------------- */

/* Computes and stores one tile of path->columns columns from path_col on. */
void gather_emit_tile(gather_emitter *e, const gather_path *path, mc_reg path_col) {
    mc_builder *b = e->b;
    pass p;
    declare_pass(e, &p, path);
    mc_label loop = label(b, "STRIDES");
    emit_columns(e, &p, path_col);
    emit_zero(e, &p);
    EMIT(b, mov_b32, p.first, e->first);
    if (!e->plan->prefetch) EMIT(b, mov_b32, p.stride, e->head);
    if (e->plan->heads) emit_grid_wait(e->b, e->plan->base.overlap, "B");
    mc_label done = {0};
    if (!e->plan->heads) {
        mc_reg idle = pred(b, "no_stride");
        done = label(b, "NO_STRIDES");
        note(b, "a warp without a stride adds nothing");
        EMIT(b, setp_ge, idle, e->head, e->last);
        EMIT_IF(b, idle, bra, TO(done));
    }
    if (is_ahead(e, &p)) emit_ahead_start(e, &p);
    sums_begin_rounds(&e->sums);
    heading(b, "Loop over strides: %d nonzero vectors a time", e->plan->base.stride);
    set_label(b, loop);
    emit_stride(e, &p);
    EMIT_IF(b, sums_end_stride(&e->sums, p.more), bra, TO(loop));
    if (!e->plan->heads) set_label(b, done);
    if (!e->plan->heads && path->copy) {
        note(b, "a share whose lanes only cleared it takes sums next");
        EMIT(b, bar_warp_sync, I(-1));
    }
    sums_settle(&e->sums, frag_c_reg(1, 0), p.more);
    gather_emit_epilogue(e, path, path_col);
}
