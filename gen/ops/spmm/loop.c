/* The gather SpMM's loop over strides: indices and values, rows of B, transpose, mma. */
#include "parts/fragment.h"
#include "ops/spmm/emit.h"
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
    const spmm_path *path;
    bool bytes; /* path->unit is one element (of 4 bits, two); each load then has a register of its own */
    int units;  /* loads of one row of B, a lane */
    int words;  /* registers of one row of B, a lane */
    int row_count;
    mc_reg base[4];                /* addresses of the lane's columns in row 0 of B, one for each unit */
    mc_reg first, stride;          /* the stride that is loaded next is first + part */
    mc_reg value[SPMM_MAX_VALUES]; /* values of this stride, where e->value has those of the next */
    mc_reg row[SPMM_MAX_STEPS * MC_LANE_SLOTS * MAX_WORDS]; /* [step][slot][word], or [slot % 4][byte] */
    mc_reg used[MC_LANE_SLOTS], address[MC_LANE_SLOTS];
    mc_reg more;                    /* whether there is a stride to be loaded */
    mc_reg more_values[MAX_DIGITS]; /* and this lane has values of it, for each mma */
    spmm_stager stager;             /* path->copy: rows go through shared memory */
    mc_reg more_indices;            /* the same with prefetch: whether there is a stride behind that one */
} pass;

/* A lane's accumulators of one weight. */
static int acc_count(const spmm_path *path) { return path->columns / 16 * 4; }

static mc_reg *row_of(pass *p, int step, int slot) {
    return p->bytes ? &p->row[slot % 4 * p->units] : &p->row[(step * MC_LANE_SLOTS + slot) * p->words];
}

static void declare_pass(spmm_emitter *e, pass *p, const spmm_path *path) {
    mc_builder *b = e->b;
    int steps = e->plan->stride_steps;
    *p = (pass){.path = path};
    p->bytes = path->unit < WORD;
    p->units = p->bytes ? path->columns / 8 / (e->plan->rhs.bits == 4 ? 2 : 1) : 1;
    p->words = p->bytes ? p->units : path->unit / WORD;
    p->row_count = p->bytes ? 4 * p->units : steps * MC_LANE_SLOTS * p->words;
    b64_array(b, "base", p->units, p->base);
    p->first = b32(b, "next_first"), p->stride = b32(b, "stride");
    if (e->plan->prefetch) b32_array(b, "this_value", spmm_value_regs(e->plan), p->value);
    else memcpy(p->value, e->value, sizeof e->value);
    b32_array(b, "row", p->row_count, p->row);
    pred_array(b, "used", MC_LANE_SLOTS, p->used);
    b64_array(b, "address", MC_LANE_SLOTS, p->address);
    p->more = pred(b, "more");
    static const char *const guards[] = {"more_values", "more_last_values"};
    if (e->plan->prefetch) spmm_declare_guards(e, guards, p->more, p->more_values);
    if (path->copy) {
        p->stager = (spmm_stager){.base = p->base[0], .used = p->used, .address = p->address};
        if (e->plan->prefetch) p->more_indices = pred(b, "more_indices");
    }
    b32_array(b, "acc", acc_count(path) * e->plan->sums, e->acc);
    spmm_declare_totals(e, acc_count(path));
}

/* Sets base[UNIT]: the address of element UNIT behind column AT in row 0 of B (of 4 bits, of that pair of
   elements). With clamp it is the last element inside, if that one lies beyond n. */
static void emit_base(spmm_emitter *e, pass *p, int unit, mc_reg at, mc_reg load_at, mc_reg last_at) {
    mc_builder *b = e->b;
    if (e->plan->rhs.bits == 4) {
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
    EMIT(b, mad_wide, p->base[unit], at, I(side_bytes(e->plan->rhs)), e->b_array);
}

static mc_reg emit_lane_column(spmm_emitter *e, int columns, mc_reg path_col) {
    e->col = b32(e->b, "col");
    note(e->b, "columns %d g .. %d g + %d of the tile are this lane's", columns, columns, columns - 1);
    EMIT(e->b, mad_s32, e->col, e->place.g, I(columns), path_col);
    return e->col;
}

/* Sets the lane's first column of B, and where its columns begin. Columns beyond n are read at the last unit
   inside: what comes out of them is not stored. */
static void emit_columns(spmm_emitter *e, pass *p, mc_reg path_col) {
    mc_builder *b = e->b;
    int lane_columns = p->path->columns / 8;
    bool halves = e->plan->rhs.bits == 4;
    mc_reg first =
        p->path->copy ? spmm_shared_first_column(e, path_col) : emit_lane_column(e, lane_columns, path_col);
    mc_reg load_at = {0}, last_at = {0};
    int access = spmm_access(p->path);
    if (p->path->clamp || halves) load_at = b32(b, "load_at");
    if (p->path->clamp) {
        note(b, "columns beyond n are read at the last %s inside; their sums are not stored",
             p->bytes ? "element" : "group of columns");
        last_at = b32(b, "last_at");
        int columns = p->bytes || halves ? 1 : access / side_bytes(e->plan->rhs);
        EMIT(b, add_s32, last_at, dim_operand(e->plan->n, e->n), I(-columns));
        if (halves) EMIT(b, shr_u32, last_at, last_at, I(1));
        if (halves && access > 1) EMIT(b, add_s32, last_at, last_at, I(1 - access));
    }
    for (int unit = 0; unit < p->units; unit++) emit_base(e, p, unit, first, load_at, last_at);
}

static void emit_zero(spmm_emitter *e, pass *p) {
    mc_builder *b = e->b;
    for (int i = 0; i < acc_count(p->path) * e->plan->sums; i++) EMIT(b, mov_b32, e->acc[i], I(0));
    spmm_emit_zero_bias(e);
    if (p->path->copy) {
        spmm_shared_start(e, &p->stager);
        return;
    }
    note(b, "a padding slot loads nothing: its old bytes stay, and meet a value of zero");
    for (int i = 0; i < p->row_count; i++) EMIT(b, mov_b32, p->row[i], I(0));
}

/* -- One stride --------------------------------------------------------------------------------------- */

static void emit_find_indices(spmm_emitter *e, mc_reg stride) {
    EMIT(e->b, mad_wide, e->index_at, stride, I(e->plan->stride * WORD), e->index_lane);
}

static void emit_find_values(spmm_emitter *e, mc_reg stride) {
    const spmm_plan *plan = e->plan;
    EMIT(e->b, mad_wide, e->value_at, stride, I(plan->stride_values), e->value_lane);
}

/* Loads a stride's indices where GUARD holds (none: always). */
static void emit_load_indices(spmm_emitter *e, mc_reg guard, mc_opcode v4, mc_opcode v2) {
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
static void emit_load_values(spmm_emitter *e, const mc_reg *with_values, mc_opcode v2, mc_opcode v1) {
    const spmm_plan *plan = e->plan;
    int regs = spmm_mma_regs(plan), row_bytes = plan->depth * plan->a.bits / 8;
    int values = 0, group_bytes = row_bytes * spmm_value_rows(plan),
        mma_bytes = row_bytes * plan->vec * plan->planes;
    for (int group = 0; group < plan->stride / plan->depth; group++)
        for (int m = 0; m < plan->mma; m++, values += regs)
            builder_emit(e->b, with_values[m], regs == 2 ? v2 : v1,
                         MC_OPERANDS(operand_vector(&e->value[values], regs),
                                     AT(e->value_at, group * group_bytes + m * mma_bytes)));
}

/* These loads are relaxed: ptxas would move others down to their first use, behind those of row_ptr and of
   scales. */
void spmm_emit_load_head(spmm_emitter *e) {
    const mc_reg *with_values = e->plan->heads ? e->has_values : e->head_values;
    emit_find_indices(e, e->head);
    emit_find_values(e, e->head);
    emit_load_indices(e, e->has_head, OP_ldr_v4, OP_ldr_v2);
    emit_load_values(e, with_values, OP_ldr_v2, OP_ldr_b32);
}

static void emit_load_stride(spmm_emitter *e, pass *p, mc_reg guard, const mc_reg *with_values) {
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
static void emit_gather(spmm_emitter *e, pass *p, int step, int first, int count) {
    mc_builder *b = e->b;
    for (int slot = first; slot < first + count; slot++) {
        mc_reg index = e->index[step * MC_LANE_SLOTS + slot];
        EMIT(b, setp_ge, p->used[slot], index, I(0));
        for (int unit = 0; unit < p->units; unit++) {
            EMIT(b, mad_wide, p->address[slot], index, e->row_bytes, p->base[unit]);
            emit_load_unit(b, p->used[slot], p->path->unit, row_of(p, step, slot) + unit, p->address[slot]);
        }
    }
}

/* Sets column[c] to byte c of each of four words: a 4 x 4 byte transpose, in 8 prmt. */
static void emit_transpose(spmm_emitter *e, const mc_reg word[4], const mc_reg column[4]) {
    mc_builder *b = e->b;
    const mc_reg *pair = e->pair;
    EMIT(b, prmt, pair[0], word[0], word[1], I(0x5140));
    EMIT(b, prmt, pair[1], word[0], word[1], I(0x7362));
    EMIT(b, prmt, pair[2], word[2], word[3], I(0x5140));
    EMIT(b, prmt, pair[3], word[2], word[3], I(0x7362));
    EMIT(b, prmt, column[0], pair[0], pair[2], I(0x5410));
    EMIT(b, prmt, column[1], pair[0], pair[2], I(0x7632));
    EMIT(b, prmt, column[2], pair[1], pair[3], I(0x5410));
    EMIT(b, prmt, column[3], pair[1], pair[3], I(0x7632));
}

/* The same of elements that have a register each. Element c of a slot is element[units * slot + c];
   column[digits * c + d] becomes digit d of element c of each of four slots. */
static void emit_join(spmm_emitter *e, const mc_reg *element, int units, const mc_reg *column) {
    static const unsigned pick[] = {0x0040, 0x0051};
    mc_builder *b = e->b;
    int digits = e->plan->b.count;
    for (int i = 0; i < units * digits; i++) {
        const mc_reg *of = &element[i / digits];
        unsigned bytes = pick[i % digits];
        EMIT(b, prmt, e->pair[0], of[0], of[units], I(bytes));
        EMIT(b, prmt, e->pair[1], of[2 * units], of[3 * units], I(bytes));
        EMIT(b, prmt, column[i], e->pair[0], e->pair[1], I(0x5410));
    }
}

/* Transposes this lane's bytes 4 word .. 4 word + 3: slots 0..3 to `low`, 4..7 to `high`. */
static void emit_transpose_word(spmm_emitter *e, pass *p, int step, int word) {
    int columns = 4 * 8 / e->plan->rhs.bits;
    note(e->b, "columns %d..%d of this lane%s", columns * word, columns * word + columns - 1,
         !e->plan->int4 ? ""
         : step         ? ", slots 32..63"
                        : ", slots 0..31");
    for (int half = 0; half < 2; half++) {
        const mc_reg *row = row_of(p, step, 4 * half);
        const mc_reg words[4] = {row[word], row[p->words + word], row[2 * p->words + word],
                                 row[3 * p->words + word]};
        emit_transpose(e, words, half ? e->high : e->low);
    }
}

/* Multiplies digit RHS_DIGIT of PAIR, two neighbouring columns, which are in A: the one is row g of the mma's
   operand A, the other row g + 8 (fragment.h, frag_a_row). A's registers 0 and 1 hold slots 0..3, its
   registers 2 and 3 slots 4..7 (frag_a_k). */
static void emit_mma(spmm_emitter *e, pass *p, int step, int pair, int rhs_digit, const mc_reg a[4]) {
    const spmm_plan *plan = e->plan;
    for (int m = 0; m < plan->mma; m++) {
        mc_reg *acc = &e->acc[acc_count(p->path) * spmm_sum_of(plan, m, rhs_digit) + 4 * pair];
        const mc_reg *value = &p->value[2 * (step * plan->mma + m)];
        mc_opcode op = spmm_mma(plan, m * plan->planes, rhs_digit);
        spmm_emit_product(e, op, (spmm_operands){a, value, 2, 2}, acc);
    }
}

/* Multiplies byte columns FIRST and SECOND of low and high. */
static void emit_byte_pair(spmm_emitter *e, pass *p, int step, int pair, int rhs_digit, int first,
                           int second) {
    mc_reg a[4];
    const int columns[] = {first, second};
    for (int half = 0; half < 2; half++) {
        a[frag_a_reg(half, 0)] = e->low[columns[half]];
        a[frag_a_reg(half, 1)] = e->high[columns[half]];
    }
    emit_mma(e, p, step, pair, rhs_digit, a);
}

/* Multiplies four bytes that are a column of 8 bits each. */
static void emit_bytes(spmm_emitter *e, pass *p, int step, int word) {
    for (int two = 0; two < 2; two++) emit_byte_pair(e, p, step, 2 * word + two, 0, 2 * two, 2 * two + 1);
}

/* Multiplies two columns of several digits, from byte FIRST of low and high on. */
static void emit_digits(spmm_emitter *e, pass *p, int step, int pair, int first) {
    int digits = e->plan->b.count;
    for (int d = 0; d < digits; d++) emit_byte_pair(e, p, step, pair, d, first + d, first + digits + d);
}

/* Multiplies COUNT bytes of two 4-bit columns each. */
static void emit_nibbles(spmm_emitter *e, pass *p, int step, int word, int count) {
    for (int c = 0; c < count; c++) {
        mc_reg a[4];
        for (int odd = 0; odd < 2; odd++) {
            a[frag_a_reg(odd, 0)] = spmm_emit_half(e, e->low[c], odd, e->nibble[odd]);
            a[frag_a_reg(odd, 1)] = spmm_emit_half(e, e->high[c], odd, e->nibble[2 + odd]);
        }
        emit_mma(e, p, step, 4 * word + c, 0, a);
    }
}

/* Adds up A's rows for what 4-bit columns have too much (halves.c). */
static void emit_bias(spmm_emitter *e, pass *p, int step) {
    int count = e->plan->mma;
    for (int m = 0; m < count; m++) spmm_emit_add_bias(e, m, &p->value[2 * (step * count + m)]);
}

/* Multiplies COUNT bytes of two 4-bit columns each, which the mma takes as they are, once all of its steps
   are there. */
static void emit_int4(spmm_emitter *e, pass *p, int step, int word, int count) {
    spmm_emit_columns4(e, count, step);
    if (step + 1 < e->plan->stride_steps) return;
    note(e->b, "multiply");
    for (int c = 0; c < count; c++)
        spmm_emit_mma4(e, c, p->value, &e->acc[4 * (4 * word + c)], acc_count(p->path));
}

static void emit_products(spmm_emitter *e, pass *p, int step, int word) {
    int bits = e->plan->rhs.bits;
    if (e->plan->int4) emit_int4(e, p, step, word, p->bytes ? p->units : SPMM_BYTES);
    else if (bits == 4) emit_nibbles(e, p, step, word, p->bytes ? p->units : SPMM_BYTES);
    else if (bits == 8) emit_bytes(e, p, step, word);
    else if (!p->bytes) emit_digits(e, p, step, word, 0);
    else
        for (int pair = 0; pair < p->units / 2; pair++) emit_digits(e, p, step, pair, SPMM_BYTES * pair);
}

/* Moves on to the next stride. It is the first use of row_ptr: rows of B have been asked for by then, so that
   nothing waits for row_ptr before them. */
static void emit_advance(spmm_emitter *e, pass *p, mc_reg more) {
    mc_builder *b = e->b;
    if (e->part.id) EMIT(b, add_s32, p->stride, p->first, e->part);
    else EMIT(b, mov_b32, p->stride, p->first);
    EMIT(b, add_s32, p->first, p->first, I(e->plan->split));
    EMIT(b, setp_lt, more, p->stride, e->last);
}

static void emit_next(spmm_emitter *e, pass *p) {
    emit_advance(e, p, p->more);
    if (!e->plan->prefetch) return;
    note(e->b, "prefetch the next stride's indices and values");
    spmm_emit_guards(e, p->stride, e->last, p->more_values);
    emit_load_stride(e, p, p->more, p->more_values);
}

/* An int4 mma takes all steps, so that each word goes through all of them before the next one. */
static void emit_multiply_int4(spmm_emitter *e, pass *p) {
    note(e->b, "transpose and multiply slots 0..%d", e->plan->depth - 1);
    spmm_note_columns4(e);
    for (int word = 0; word < p->words; word++)
        for (int s = 0; s < e->plan->stride_steps; s++) {
            emit_transpose_word(e, p, s, word);
            emit_products(e, p, s, word);
        }
}

/* Multiplies the rows of B in p->row. */
static void emit_multiply(spmm_emitter *e, pass *p) {
    if (e->plan->int4) {
        emit_multiply_int4(e, p);
        return;
    }
    for (int s = 0; s < e->plan->stride_steps; s++) {
        note(e->b, "transpose and multiply slots %d..%d", MC_GROUP_SLOTS * s,
             MC_GROUP_SLOTS * s + MC_GROUP_SLOTS - 1);
        emit_bias(e, p, s);
        for (int word = 0; word < p->words; word++) {
            emit_transpose_word(e, p, s, word);
            emit_products(e, p, s, word);
        }
    }
}

/* Loads all of a stride, then multiplies it. */
static void emit_word_steps(spmm_emitter *e, pass *p) {
    note(e->b, "gather rows of B");
    if (p->path->copy) spmm_shared_copy(e, &p->stager, (mc_reg){0});
    else
        for (int s = 0; s < e->plan->stride_steps; s++) emit_gather(e, p, s, 0, MC_LANE_SLOTS);
    emit_next(e, p);
    if (p->path->copy) spmm_shared_read(e, &p->stager, p->row, p->words);
    emit_multiply(e, p);
}

/* -- Rows through shared memory, a stride ahead ------------------------------------------------------- */

static bool is_ahead(const spmm_emitter *e, const pass *p) { return p->path->copy && e->plan->prefetch; }

/* Magicube's Algorithm 1: rows of the next stride are on their way while this one's are multiplied. Here they
   need no second buffer, since this one's rows are in registers by then. Indices are one more stride
   ahead. */
static void emit_ahead_start(spmm_emitter *e, pass *p) {
    note(e->b, "copy the head's rows");
    spmm_shared_copy(e, &p->stager, (mc_reg){0});
    emit_advance(e, p, p->more_indices);
    emit_find_indices(e, p->stride);
    emit_load_indices(e, p->more_indices, OP_ldg_v4, OP_ldg_v2);
}

static void emit_ahead(spmm_emitter *e, pass *p) {
    mc_builder *b = e->b;
    spmm_shared_read(e, &p->stager, p->row, p->words);
    note(b, "the next stride's rows and values, and the indices of the one behind it");
    EMIT(b, setp_lt, p->more, p->stride, e->last);
    spmm_shared_copy(e, &p->stager, p->more);
    spmm_emit_guards(e, p->stride, e->last, p->more_values);
    emit_find_values(e, p->stride);
    emit_load_values(e, p->more_values, OP_ldg_v2, OP_ldg_b32);
    emit_advance(e, p, p->more_indices);
    emit_find_indices(e, p->stride);
    emit_load_indices(e, p->more_indices, OP_ldg_v4, OP_ldg_v2);
    emit_multiply(e, p);
}

/* -- Each stride -------------------------------------------------------------------------------------- */

/* Takes a stride four slots of this lane at a time. */
static void emit_byte_steps(spmm_emitter *e, pass *p) {
    mc_builder *b = e->b;
    if (e->plan->int4) spmm_note_columns4(e);
    for (int s = 0; s < e->plan->stride_steps; s++) {
        for (int half = 0; half < 2; half++) {
            note(b, "gather and join bytes of slots %d + 8 t .. %d + 8 t", MC_GROUP_SLOTS * s + 4 * half,
                 MC_GROUP_SLOTS * s + 4 * half + 3);
            emit_gather(e, p, s, 4 * half, 4);
            emit_join(e, p->row, p->units, half ? e->high : e->low);
        }
        emit_bias(e, p, s);
        emit_products(e, p, s, 0);
    }
    emit_next(e, p);
}

static void emit_stride(spmm_emitter *e, pass *p) {
    mc_builder *b = e->b;
    if (e->plan->prefetch) {
        note(b, "the values that were prefetched");
        for (int i = 0; i < spmm_value_regs(e->plan); i++) EMIT(b, mov_b32, p->value[i], e->value[i]);
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
void spmm_emit_tile(spmm_emitter *e, const spmm_path *path, mc_reg path_col) {
    mc_builder *b = e->b;
    pass p;
    declare_pass(e, &p, path);
    mc_label loop = label(b, "STRIDES");
    emit_columns(e, &p, path_col);
    emit_zero(e, &p);
    EMIT(b, mov_b32, p.first, e->first);
    if (!e->plan->prefetch) EMIT(b, mov_b32, p.stride, e->head);
    if (e->plan->heads) emit_grid_wait(e->b, e->plan->overlap, "B");
    mc_label done = {0};
    if (!e->plan->heads) {
        mc_reg idle = pred(b, "no_stride");
        done = label(b, "NO_STRIDES");
        note(b, "a warp without a stride adds nothing");
        EMIT(b, setp_ge, idle, e->head, e->last);
        EMIT_IF(b, idle, bra, TO(done));
    }
    if (is_ahead(e, &p)) emit_ahead_start(e, &p);
    spmm_emit_begin_rounds(e, acc_count(path));
    heading(b, "Loop over strides: %d nonzero vectors a time", e->plan->stride);
    set_label(b, loop);
    emit_stride(e, &p);
    EMIT_IF(b, spmm_emit_end_stride(e, p.more), bra, TO(loop));
    if (!e->plan->heads) set_label(b, done);
    if (!e->plan->heads && path->copy) {
        note(b, "a share whose lanes only cleared it takes sums next");
        EMIT(b, bar_warp_sync, I(-1));
    }
    spmm_emit_settle_halves(e, acc_count(path), frag_c_reg(1, 0));
    if (e->plan->output.exact) spmm_emit_totals(e, acc_count(path), p.more);
    else spmm_emit_weigh(e, acc_count(path));
    spmm_emit_epilogue(e, path, path_col);
}
