/* Drops what does nothing, and changes nothing that a kernel computes:
 *
 *   x + 0, x - 0, x * 1, x << 0, x >> 0     become moves
 *   x * 1 + y, x * y + 0                    become a sum, a product
 *   a move of a register to another one     goes, where both are written once: the one is the other
 *   zeroing before a first mma              goes, where every path from it leads to an mma that adds to it:
 *                                           that mma adds to the register %zero_sum
 *   four moves of zero that adjoin          become one
 *
 * A sum that a loop adds to keeps its zeroing, and so does a register that a guarded load may leave as it
 * was. The registers of a wgmma are neither renamed nor do they lose their moves or zeroes: it reads and
 * writes them after it was issued, until it is waited for, so that a move out of one, or to one, is a copy of
 * that moment. */
#include "ptx/flow.h"
#include <stdlib.h>
#include <string.h>

static mc_operand *operands_of(mc_builder *b, const mc_line *line) {
    return &b->operands[line->first_operand];
}

/* -- What arithmetic leaves as it is ------------------------------------------------------------------ */

/* If source `source` (counted behind the destination) is the immediate VALUE, the instruction is OP of the
   other sources. */
typedef struct neutral {
    mc_opcode op;
    size_t source;
    int64_t value;
    mc_opcode becomes;
} neutral;

static const neutral neutrals[] = {
    {OP_mad_s32, 1, 1, OP_add_s32}, {OP_mad_s32, 2, 0, OP_mul_s32}, {OP_mul_s32, 1, 1, OP_mov_b32},
    {OP_add_s32, 1, 0, OP_mov_b32}, {OP_sub_s32, 1, 0, OP_mov_b32}, {OP_shl_b32, 1, 0, OP_mov_b32},
    {OP_shr_u32, 1, 0, OP_mov_b32}, {OP_shr_s32, 1, 0, OP_mov_b32}, {OP_add_s64, 1, 0, OP_mov_b64},
    {OP_shl_b64, 1, 0, OP_mov_b64},
};

static bool is_immediate(mc_operand operand, int64_t value) {
    return operand.kind == PTX_IMM && operand.imm == value;
}

/* Removes operand INDEX of LINE. */
static void remove_operand(mc_builder *b, mc_line *line, size_t index) {
    mc_operand *operands = operands_of(b, line);
    line->operand_count--;
    for (size_t i = index; i < line->operand_count; i++) operands[i] = operands[i + 1];
}

static bool apply_neutral(mc_builder *b, mc_line *line) {
    for (size_t i = 0; i < sizeof neutrals / sizeof *neutrals; i++) {
        const neutral *n = &neutrals[i];
        if (line->op != n->op || !is_immediate(operands_of(b, line)[n->source + 1], n->value)) continue;
        remove_operand(b, line, n->source + 1);
        line->op = n->becomes;
        return true;
    }
    return false;
}

static void drop_neutrals(mc_builder *b) {
    for (size_t i = 0; i < b->line_count; i++)
        while (b->lines[i].kind == LINE_INSTR && apply_neutral(b, &b->lines[i])) continue;
}

/* -- Lines that go ------------------------------------------------------------------------------------ */

/* Removes the lines for which GONE is true. */
static void remove_lines(mc_builder *b, const bool *gone) {
    size_t kept = 0;
    for (size_t i = 0; i < b->line_count; i++) {
        if (gone[i]) free(b->lines[i].note);
        else b->lines[kept++] = b->lines[i];
    }
    b->line_count = kept;
}

/* -- Moves -------------------------------------------------------------------------------------------- */

typedef struct moves {
    int *writes;     /* of each register: instructions that write it */
    int *stands_for; /* of each register: the one that it is the same as */
    bool *gone;      /* of each line */
} moves;

/* A register of a wgmma changes, or is read, at more than one moment. */
static void count_write(void *user, const mc_line *line, int id) {
    ((int *)user)[id] += flow_is_wgmma(line) ? 2 : 1;
}

static void count_writes(const mc_builder *b, int *writes) {
    for (size_t i = 0; i < b->line_count; i++) {
        each_reg(b, &b->lines[i], true, count_write, writes);
        if (flow_is_wgmma(&b->lines[i])) each_reg(b, &b->lines[i], false, count_write, writes);
    }
}

static bool is_move(const mc_builder *b, const mc_line *line, const int *writes) {
    if (line->kind != LINE_INSTR || line->guard.id) return false;
    if (line->op != OP_mov_b32 && line->op != OP_mov_b64) return false;
    const mc_operand *operands = line_operands(b, line);
    if (operands[1].kind != PTX_REG) return false;
    return operands[0].id == operands[1].id || (writes[operands[0].id] == 1 && writes[operands[1].id] == 1);
}

/* A register may stand for one that stands for another. */
static void find_roots(int *stands_for, size_t count) {
    for (size_t i = 1; i <= count; i++)
        while (stands_for[i] != stands_for[stands_for[i]]) stands_for[i] = stands_for[stands_for[i]];
}

static void rename_regs(mc_builder *b, const int *stands_for) {
    for (size_t i = 0; i < b->operand_count; i++) b->operands[i].id = stands_for[b->operands[i].id];
    for (size_t i = 0; i < b->vector_count; i++) b->vectors[i] = stands_for[b->vectors[i]];
    for (size_t i = 0; i < b->line_count; i++) b->lines[i].guard.id = stands_for[b->lines[i].guard.id];
}

/* A register that is written once is written before it is read (builder_check). So is the one that it was
   moved from, and neither changes between two reads of the other. */
static void drop_moves(mc_builder *b, moves *m) {
    for (size_t i = 0; i <= b->reg_count; i++) m->stands_for[i] = (int)i;
    count_writes(b, m->writes);
    for (size_t i = 0; i < b->line_count; i++) {
        if (!is_move(b, &b->lines[i], m->writes)) continue;
        const mc_operand *operands = line_operands(b, &b->lines[i]);
        m->stands_for[operands[0].id] = operands[1].id;
        m->gone[i] = true;
    }
    find_roots(m->stands_for, b->reg_count);
    rename_regs(b, m->stands_for);
    remove_lines(b, m->gone);
}

/* -- Zeroing ------------------------------------------------------------------------------------------ */

/* Of each register, what may have written it last: a zeroing move, or something else. */
typedef struct last_writes {
    mc_word *zero, *other;
} last_writes;

typedef struct zeroing {
    mc_flow f;
    mc_word *sets;
    last_writes now;
    mc_word *zeroed,
        *wanted; /* registers that are zeroed; those whose zero somebody else than an mma wants */
    bool *gone;  /* of each line */
} zeroing;

static last_writes at_start(const zeroing *z, size_t block) {
    mc_word *first = z->sets + 2 * block * z->f.words;
    return (last_writes){first, first + z->f.words};
}

static bool is_zeroing(const mc_builder *b, const mc_line *line) {
    return line->kind == LINE_INSTR && line->op == OP_mov_b32 && !line->guard.id &&
           is_immediate(line_operands(b, line)[1], 0);
}

enum { MMA_SUM = 3 }; /* D, A, B and C, the sum that it adds to; of mma.sp its metadata is behind them */

static bool is_mma(const mc_line *line) {
    return strncmp(mc_instructions[line->op].mnemonic, "mma.s", 5) == 0;
}

static void visit_write(void *user, const mc_line *line, int id) {
    zeroing *z = user;
    bool zeroes = is_zeroing(z->f.b, line);
    if (zeroes) set_add(z->zeroed, id);
    if (!line->guard.id) set_remove(zeroes ? z->now.other : z->now.zero, id);
    set_add(zeroes ? z->now.zero : z->now.other, id);
}

/* The reads of the sum that an mma adds to come by read_sum. */
static void visit_read(void *user, const mc_line *line, int id) {
    zeroing *z = user;
    (void)line;
    if (set_has(z->now.zero, id)) set_add(z->wanted, id);
}

/* An mma can do without the zeroes of its sum where nothing else can be in there. */
static bool can_replace(const zeroing *z, int id) {
    return set_has(z->now.zero, id) && !set_has(z->now.other, id);
}

static void read_sum(zeroing *z, const mc_line *line) {
    const mc_builder *b = z->f.b;
    const mc_operand *sum = &line_operands(b, line)[MMA_SUM];
    for (int i = 0; i < operand_regs(sum); i++) {
        int id = operand_reg(b, sum, i);
        if (set_has(z->now.zero, id) && !can_replace(z, id)) set_add(z->wanted, id);
    }
}

/* Visits what an mma reads beside its sum: the operands before that, and those behind. */
static void read_factors(zeroing *z, const mc_line *line) {
    mc_line before = *line;
    before.operand_count = MMA_SUM;
    each_reg(z->f.b, &before, false, visit_read, z);
    for (size_t i = MMA_SUM + 1; i < line->operand_count; i++) {
        const mc_operand *operand = &line_operands(z->f.b, line)[i];
        for (int r = 0; r < operand_regs(operand); r++) visit_read(z, line, operand_reg(z->f.b, operand, r));
    }
}

static void visit_line(zeroing *z, const mc_line *line, bool reads) {
    if (line->kind != LINE_INSTR) return;
    if (reads && is_mma(line)) {
        read_factors(z, line);
        read_sum(z, line);
    } else if (reads) each_reg(z->f.b, line, false, visit_read, z);
    each_reg(z->f.b, line, true, visit_write, z);
}

/* Makes `now` what holds at the start of BLOCK. */
static void begin_block(zeroing *z, size_t block) {
    last_writes from = at_start(z, block);
    memcpy(z->now.zero, from.zero, z->f.words * sizeof(mc_word));
    memcpy(z->now.other, from.other, z->f.words * sizeof(mc_word));
}

static bool merge(mc_word *to, const mc_word *from, size_t words) {
    bool changed = false;
    for (size_t w = 0; w < words; w++) {
        changed |= (from[w] & ~to[w]) != 0;
        to[w] |= from[w];
    }
    return changed;
}

static bool push_block(zeroing *z, size_t block) {
    const mc_block *k = &z->f.blocks[block];
    bool changed = false;
    begin_block(z, block);
    for (size_t i = k->first; i < k->last; i++) visit_line(z, &z->f.b->lines[i], false);
    for (int n = 0; n < k->next_count; n++) {
        last_writes to = at_start(z, (size_t)k->next[n]);
        changed |= merge(to.zero, z->now.zero, z->f.words);
        changed |= merge(to.other, z->now.other, z->f.words);
    }
    return changed;
}

static void find_wanted(zeroing *z) {
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t k = 0; k < z->f.block_count; k++) changed |= push_block(z, k);
    }
    for (size_t k = 0; k < z->f.block_count; k++) {
        begin_block(z, k);
        for (size_t i = z->f.blocks[k].first; i < z->f.blocks[k].last; i++)
            visit_line(z, &z->f.b->lines[i], true);
    }
}

static bool can_do_without(const zeroing *z, int id) {
    return set_has(z->zeroed, id) && !set_has(z->wanted, id);
}

/* Puts ZERO into the sums of LINE that no zeroing precedes any more. Returns whether there is one. */
static bool replace_sum(zeroing *z, const mc_line *line, int zero) {
    mc_builder *b = z->f.b;
    const mc_operand *sum = &line_operands(b, line)[MMA_SUM];
    bool any = false;
    for (int i = 0; i < sum->count; i++) {
        int *id = &b->vectors[sum->first + (size_t)i];
        if (!can_do_without(z, *id) || !can_replace(z, *id)) continue;
        *id = zero;
        any = true;
    }
    return any;
}

static bool replace_zeroes(zeroing *z, int zero) {
    mc_builder *b = z->f.b;
    bool any = false;
    for (size_t k = 0; k < z->f.block_count; k++) {
        begin_block(z, k);
        for (size_t i = z->f.blocks[k].first; i < z->f.blocks[k].last; i++) {
            mc_line line = b->lines[i];
            if (line.kind == LINE_INSTR && is_mma(&line)) any |= replace_sum(z, &line, zero);
            visit_line(z, &line, false);
            z->gone[i] = is_zeroing(b, &line) && can_do_without(z, line_operands(b, &line)->id);
        }
    }
    return any;
}

/* Moves the last line to the front. */
static void last_to_front(mc_builder *b) {
    mc_line last = b->lines[b->line_count - 1];
    memmove(b->lines + 1, b->lines, (b->line_count - 1) * sizeof *b->lines);
    b->lines[0] = last;
}

/* Removes the zeroing moves that nobody needs. ZERO is a register that is not written yet. Returns whether it
   is read now. */
static bool drop_zeroes(zeroing *z, mc_reg zero) {
    size_t words = z->f.words, count = 2 * (z->f.block_count + 1) + 2;
    z->sets = calloc(count * words, sizeof(mc_word));
    z->gone = calloc(z->f.b->line_count, sizeof *z->gone);
    bool any = false;
    if (z->sets && z->gone) {
        z->now = at_start(z, z->f.block_count);
        z->zeroed = z->sets + (count - 2) * words;
        z->wanted = z->zeroed + words;
        find_wanted(z);
        any = replace_zeroes(z, zero.id);
        remove_lines(z->f.b, z->gone);
    } else {
        z->f.b->no_memory = true;
        builder_fail(z->f.b, "out of memory");
    }
    free(z->sets);
    free(z->gone);
    return any;
}

static void simplify_zeroes(mc_builder *b) {
    zeroing z = {0};
    size_t groups = b->group_count, regs = b->reg_count;
    mc_reg zero = b32(b, "zero_sum");
    bool used = flow_make(&z.f, b) && drop_zeroes(&z, zero);
    flow_free(&z.f);
    if (b->error[0]) return;
    if (used) {
        EMIT(b, mov_b32, zero, I(0));
        last_to_front(b);
    } else {
        b->group_count = groups;
        b->reg_count = regs;
    }
}

/* Whether lines FIRST to FIRST + 3 zero four registers. REGS are these. */
static bool zeroes_four(const mc_builder *b, size_t first, mc_reg regs[4]) {
    for (size_t i = 0; i < 4; i++) {
        if (!is_zeroing(b, &b->lines[first + i])) return false;
        regs[i] = (mc_reg){.id = line_operands(b, &b->lines[first + i])->id};
        for (size_t j = 0; j < i; j++)
            if (regs[j].id == regs[i].id) return false;
    }
    return true;
}

/* Puts one instruction in the place of line FIRST. */
static void zero_at(mc_builder *b, size_t first, const mc_reg regs[4]) {
    for (int i = 0; i < 4; i++) b->regs[regs[i].id - 1].writes = WRITTEN_OFTEN;
    EMIT(b, zero_v4, V4(regs), I(0));
    if (!b->error[0]) b->lines[first] = b->lines[--b->line_count];
}

/* Makes one instruction of each four moves of zero that adjoin. */
static void join_zeroes(mc_builder *b) {
    bool *gone = calloc(b->line_count + 1, sizeof *gone);
    if (!gone) {
        b->no_memory = true;
        builder_fail(b, "out of memory");
        return;
    }
    for (size_t i = 0; i + 4 <= b->line_count; i++) {
        mc_reg regs[4];
        if (!zeroes_four(b, i, regs)) continue;
        zero_at(b, i, regs);
        gone[i + 1] = gone[i + 2] = gone[i + 3] = true;
        i += 3;
    }
    remove_lines(b, gone);
    free(gone);
}

/* -- Entry -------------------------------------------------------------------------------------------- */

static void simplify_moves(mc_builder *b) {
    moves m = {.writes = calloc(b->reg_count + 1, sizeof *m.writes),
               .stands_for = calloc(b->reg_count + 1, sizeof *m.stands_for),
               .gone = calloc(b->line_count, sizeof *m.gone)};
    if (m.writes && m.stands_for && m.gone) {
        drop_moves(b, &m);
    } else {
        b->no_memory = true;
        builder_fail(b, "out of memory");
    }
    free(m.writes);
    free(m.stands_for);
    free(m.gone);
}

bool builder_simplify(mc_builder *b) {
    if (b->error[0]) return false;
    drop_neutrals(b);
    simplify_moves(b);
    if (!b->error[0]) simplify_zeroes(b);
    if (!b->error[0]) join_zeroes(b);
    return !b->error[0];
}
