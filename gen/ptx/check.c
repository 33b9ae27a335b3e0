/* Checks what must hold of the instructions as a whole. It requires the builder's lines, each of which has
   been checked by itself, and changes nothing but the error. Two passes go over the control-flow graph. The
   first finds which registers are surely written before each block, so that no read comes first. The second
   finds which are still wanted after each block, so that registers can be estimated. */
#include "ptx/builder.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t word;

typedef struct block {
    size_t first, last; /* lines [first, last) */
    int next[2], next_count;
    word *written, *wanted; /* registers surely written at the block's start; registers wanted at its end */
} block;

typedef struct flow {
    mc_builder *b;
    block *blocks;
    size_t block_count, words;
    int *block_of_label; /* -1: not placed */
    word *sets, *scratch;
} flow;

static void fail(mc_builder *b, const char *what, const char *name) {
    if (!b->error[0]) snprintf(b->error, sizeof b->error, "%s '%s'", what, name);
}

/* -- Sets of registers -------------------------------------------------------------------------------- */

static bool set_has(const word *set, mc_reg reg) { return set[(reg.id - 1) / 64] >> ((reg.id - 1) % 64) & 1; }
static void set_add(word *set, mc_reg reg) { set[(reg.id - 1) / 64] |= (word)1 << ((reg.id - 1) % 64); }
static void set_remove(word *set, mc_reg reg) { set[(reg.id - 1) / 64] &= ~((word)1 << ((reg.id - 1) % 64)); }

/* Calls VISIT for each register that LINE reads (DEFS false) or writes (true). */
typedef void visit_reg(flow *f, word *set, const mc_line *line, mc_reg reg);
static void each_reg(flow *f, word *set, const mc_line *line, bool defs, visit_reg *visit) {
    if (line->kind != LINE_INSTR) return;
    size_t to = (size_t)op_destinations(line->op);
    for (size_t i = defs ? 0 : to; i < (defs ? to : line->operand_count); i++) {
        const mc_operand *operand = &line_operands(f->b, line)[i];
        for (int j = 0; j < operand_regs(operand); j++)
            visit(f, set, line, (mc_reg){.id = operand_reg(f->b, operand, j)});
    }
    if (!defs && line->guard.id) visit(f, set, line, line->guard);
}

/* -- Blocks ------------------------------------------------------------------------------------------- */

static bool is_branch(const mc_line *line) {
    return line->kind == LINE_INSTR && (line->op == OP_bra || line->op == OP_bra_uni || line->op == OP_ret);
}

static void split_blocks(flow *f) {
    const mc_builder *b = f->b;
    for (size_t i = 0; i < b->label_count; i++) f->block_of_label[i] = -1;
    for (size_t i = 0; i < b->line_count; i++) {
        const mc_line *line = &b->lines[i];
        bool starts = i == 0 || line->kind == LINE_LABEL || is_branch(&b->lines[i - 1]);
        if (starts) f->blocks[f->block_count++].first = i;
        f->blocks[f->block_count - 1].last = i + 1;
        if (line->kind != LINE_LABEL) continue;
        if (f->block_of_label[line->label] >= 0)
            fail(f->b, "check: a label stands twice:", b->labels[line->label]);
        f->block_of_label[line->label] = (int)f->block_count - 1;
    }
}

static void link_block(flow *f, size_t index) {
    block *k = &f->blocks[index];
    const mc_line *end = &f->b->lines[k->last - 1];
    if (is_branch(end) && end->op != OP_ret) {
        int64_t target = line_operands(f->b, end)->imm;
        if (f->block_of_label[target] < 0)
            fail(f->b, "check: a branch to a label that is nowhere:", f->b->labels[target]);
        else k->next[k->next_count++] = f->block_of_label[target];
    }
    bool falls_through = !is_branch(end) || end->guard.id;
    if (!falls_through) return;
    if (index + 1 < f->block_count) k->next[k->next_count++] = (int)index + 1;
    else
        fail(f->b, "check: the kernel runs past its end, last is",
             end->kind == LINE_INSTR ? mc_instructions[end->op].name : "a label");
}

/* -- Written before read ------------------------------------------------------------------------------ */

static void visit_write(flow *f, word *set, const mc_line *line, mc_reg reg) {
    (void)f;
    if (!line->guard.id) set_add(set, reg); /* under a guard the register may stay unwritten */
}

static void visit_read(flow *f, word *set, const mc_line *line, mc_reg reg) {
    if (set_has(set, reg) || f->b->error[0]) return;
    const mc_reg_info *info = &f->b->regs[reg.id - 1];
    const mc_reg_group *group = &f->b->groups[info->group];
    snprintf(f->b->error, sizeof f->b->error, "%s: reads %%%s%.*d, which may not have been written",
             mc_instructions[line->op].name, group->name, group->count ? 1 : 0, info->index);
}

/* Intersects the successors' sets with what K has written at its end. */
static bool push_written(flow *f, block *k) {
    bool changed = false;
    memcpy(f->scratch, k->written, f->words * sizeof(word));
    for (size_t i = k->first; i < k->last; i++) each_reg(f, f->scratch, &f->b->lines[i], true, visit_write);
    for (int n = 0; n < k->next_count; n++) {
        word *in = f->blocks[k->next[n]].written;
        for (size_t w = 0; w < f->words; w++) {
            word less = in[w] & f->scratch[w];
            changed |= less != in[w];
            in[w] = less;
        }
    }
    return changed;
}

static void check_reads(flow *f) {
    for (size_t i = 1; i < f->block_count; i++) memset(f->blocks[i].written, 0xff, f->words * sizeof(word));
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < f->block_count; i++) changed |= push_written(f, &f->blocks[i]);
    }
    for (size_t k = 0; k < f->block_count; k++) {
        memcpy(f->scratch, f->blocks[k].written, f->words * sizeof(word));
        for (size_t i = f->blocks[k].first; i < f->blocks[k].last; i++) {
            each_reg(f, f->scratch, &f->b->lines[i], false, visit_read);
            each_reg(f, f->scratch, &f->b->lines[i], true, visit_write);
        }
    }
}

/* -- Registers alive at once -------------------------------------------------------------------------- */

static void visit_kill(flow *f, word *set, const mc_line *line, mc_reg reg) {
    (void)f;
    if (!line->guard.id) set_remove(set, reg);
}

static void visit_want(flow *f, word *set, const mc_line *line, mc_reg reg) {
    (void)f;
    (void)line;
    set_add(set, reg);
}

static int weight(const flow *f, const word *set) {
    static const int registers_of[] = {[REG_PRED] = 0, [REG_B32] = 1, [REG_B64] = 2};
    int sum = 0;
    for (size_t g = 0; g < f->b->group_count; g++) {
        const mc_reg_group *group = &f->b->groups[g];
        for (int i = 0; i < (group->count ? group->count : 1); i++)
            if (set_has(set, (mc_reg){.id = group->first + i + 1})) sum += registers_of[group->type];
    }
    return sum;
}

/* Walks K backwards from what is wanted at its end, into scratch. With MOST it keeps the greatest weight
   met. */
static void walk_back(flow *f, const block *k, int *most) {
    memcpy(f->scratch, k->wanted, f->words * sizeof(word));
    for (size_t i = k->last; i-- > k->first;) {
        each_reg(f, f->scratch, &f->b->lines[i], true, visit_kill);
        each_reg(f, f->scratch, &f->b->lines[i], false, visit_want);
        if (!most || f->b->lines[i].kind != LINE_INSTR) continue;
        int now = weight(f, f->scratch);
        if (now > *most) *most = now;
    }
}

static bool pull_wanted(flow *f, block *k) {
    bool changed = false;
    for (int n = 0; n < k->next_count; n++) {
        walk_back(f, &f->blocks[k->next[n]], NULL);
        for (size_t w = 0; w < f->words; w++) {
            changed |= (f->scratch[w] & ~k->wanted[w]) != 0;
            k->wanted[w] |= f->scratch[w];
        }
    }
    return changed;
}

static int most_alive(flow *f) {
    int most = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = f->block_count; i-- > 0;) changed |= pull_wanted(f, &f->blocks[i]);
    }
    for (size_t i = 0; i < f->block_count; i++) walk_back(f, &f->blocks[i], &most);
    return most;
}

/* -- Entry -------------------------------------------------------------------------------------------- */

static bool flow_alloc(flow *f) {
    const mc_builder *b = f->b;
    f->words = (b->reg_count + 63) / 64 + 1;
    f->blocks = calloc(b->line_count + 1, sizeof *f->blocks);
    f->block_of_label = calloc(b->label_count + 1, sizeof *f->block_of_label);
    if (!f->blocks || !f->block_of_label) return false;
    split_blocks(f);
    f->sets = calloc((2 * f->block_count + 1) * f->words, sizeof(word));
    if (!f->sets) return false;
    for (size_t i = 0; i < f->block_count; i++) {
        f->blocks[i].written = f->sets + 2 * i * f->words;
        f->blocks[i].wanted = f->blocks[i].written + f->words;
    }
    f->scratch = f->sets + 2 * f->block_count * f->words;
    return true;
}

static int least_version(const mc_builder *b) {
    int version = b->arch->ptx_version;
    for (size_t i = 0; i < b->line_count; i++) {
        const mc_line *line = &b->lines[i];
        if (line->kind == LINE_INSTR && mc_instructions[line->op].version > version)
            version = mc_instructions[line->op].version;
    }
    return version;
}

bool builder_check(mc_builder *b, int *version, int *registers) {
    flow f = {.b = b};
    if (!b->line_count) fail(b, "check: the kernel is empty:", "no lines");
    if (b->error[0]) return false;
    if (!flow_alloc(&f)) {
        b->no_memory = true;
        fail(b, "out of memory in", "check");
    } else {
        for (size_t i = 0; i < f.block_count; i++) link_block(&f, i);
        if (!b->error[0]) check_reads(&f);
        if (!b->error[0]) *registers = most_alive(&f);
        *version = least_version(b);
    }
    free(f.blocks);
    free(f.block_of_label);
    free(f.sets);
    return !b->error[0];
}
