/* Checks what must hold of the instructions as a whole. It requires the builder's lines, each of which has
   been checked by itself, and changes nothing but the error. Two passes go over the control-flow graph. The
   first finds which registers are surely written before each block, so that no read comes first. The second
   finds which are still wanted after each block, so that registers can be estimated. */
#include "ptx/flow.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A set of registers for each block, and one to work on. */
typedef struct block_sets {
    const mc_flow *f;
    mc_word *of_block, *work;
} block_sets;

static mc_word *set_of(const block_sets *s, size_t block) { return &s->of_block[block * s->f->words]; }

/* -- Written before read ------------------------------------------------------------------------------ */

/* Under a guard the register may stay unwritten. */
static void visit_write(void *user, const mc_line *line, int id) {
    const block_sets *s = user;
    if (!line->guard.id) set_add(s->work, id);
}

/* Whether register ID is an accumulator of a wgmma that adds only where a predicate holds. Emitters answer
   for a predicate that does not hold before there is a sum. */
static bool may_start(const mc_builder *b, const mc_line *line, int id) {
    if (flow_adds(b, line) != ADDS_PERHAPS) return false;
    const mc_operand *sums = line_operands(b, line);
    for (int i = 0; i < operand_regs(sums); i++)
        if (operand_reg(b, sums, i) == id) return true;
    return false;
}

static void visit_read(void *user, const mc_line *line, int id) {
    const block_sets *s = user;
    mc_builder *b = s->f->b;
    if (set_has(s->work, id) || may_start(b, line, id)) return;
    const mc_reg_info *info = &b->regs[id - 1];
    const mc_reg_group *group = &b->groups[info->group];
    char number[16] = "";
    if (group->count) snprintf(number, sizeof number, "%d", info->index);
    builder_fail(b, "%s: reads %%%s%s, which may not have been written", mc_instructions[line->op].name,
                 group->name, number);
}

/* Intersects the successors' sets with what BLOCK has written at its end. */
static bool push_written(block_sets *s, size_t block) {
    const mc_flow *f = s->f;
    const mc_block *k = &f->blocks[block];
    bool changed = false;
    memcpy(s->work, set_of(s, block), f->words * sizeof(mc_word));
    for (size_t i = k->first; i < k->last; i++) each_reg(f->b, &f->b->lines[i], true, visit_write, s);
    for (int n = 0; n < k->next_count; n++) {
        mc_word *in = set_of(s, (size_t)k->next[n]);
        for (size_t w = 0; w < f->words; w++) {
            mc_word less = in[w] & s->work[w];
            changed |= less != in[w];
            in[w] = less;
        }
    }
    return changed;
}

static void check_reads(block_sets *s) {
    const mc_flow *f = s->f;
    for (size_t k = 1; k < f->block_count; k++) memset(set_of(s, k), 0xff, f->words * sizeof(mc_word));
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t k = 0; k < f->block_count; k++) changed |= push_written(s, k);
    }
    for (size_t k = 0; k < f->block_count; k++) {
        memcpy(s->work, set_of(s, k), f->words * sizeof(mc_word));
        for (size_t i = f->blocks[k].first; i < f->blocks[k].last; i++) {
            each_reg(f->b, &f->b->lines[i], false, visit_read, s);
            each_reg(f->b, &f->b->lines[i], true, visit_write, s);
        }
    }
}

/* -- Registers alive at once -------------------------------------------------------------------------- */

static void visit_kill(void *user, const mc_line *line, int id) {
    const block_sets *s = user;
    if (!line->guard.id) set_remove(s->work, id);
}

static void visit_want(void *user, const mc_line *line, int id) {
    const block_sets *s = user;
    (void)line;
    set_add(s->work, id);
}

static int weight(const mc_builder *b, const mc_word *set) {
    static const int registers_of[] = {[REG_PRED] = 0, [REG_B16] = 1, [REG_B32] = 1, [REG_B64] = 2};
    int sum = 0;
    for (size_t g = 0; g < b->group_count; g++) {
        const mc_reg_group *group = &b->groups[g];
        for (int i = 0; i < (group->count ? group->count : 1); i++)
            if (set_has(set, group->first + i + 1)) sum += registers_of[group->type];
    }
    return sum;
}

/* Walks BLOCK backwards from what is wanted at its end. With MOST it keeps the greatest weight met. */
static void walk_back(block_sets *s, size_t block, int *most) {
    const mc_builder *b = s->f->b;
    const mc_block *k = &s->f->blocks[block];
    memcpy(s->work, set_of(s, block), s->f->words * sizeof(mc_word));
    for (size_t i = k->last; i-- > k->first;) {
        each_reg(b, &b->lines[i], true, visit_kill, s);
        each_reg(b, &b->lines[i], false, visit_want, s);
        if (!most || b->lines[i].kind != LINE_INSTR) continue;
        int now = weight(b, s->work);
        if (now > *most) *most = now;
    }
}

static bool pull_wanted(block_sets *s, size_t block) {
    const mc_block *k = &s->f->blocks[block];
    mc_word *wanted = set_of(s, block);
    bool changed = false;
    for (int n = 0; n < k->next_count; n++) {
        walk_back(s, (size_t)k->next[n], NULL);
        for (size_t w = 0; w < s->f->words; w++) {
            changed |= (s->work[w] & ~wanted[w]) != 0;
            wanted[w] |= s->work[w];
        }
    }
    return changed;
}

static int most_alive(block_sets *s) {
    int most = 0;
    memset(s->of_block, 0, s->f->block_count * s->f->words * sizeof(mc_word));
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t k = s->f->block_count; k-- > 0;) changed |= pull_wanted(s, k);
    }
    for (size_t k = 0; k < s->f->block_count; k++) walk_back(s, k, &most);
    return most;
}

/* -- Entry -------------------------------------------------------------------------------------------- */

static int least_version(const mc_builder *b) {
    int version = b->arch->ptx_version;
    for (size_t i = 0; i < b->line_count; i++) {
        const mc_line *line = &b->lines[i];
        if (line->kind == LINE_INSTR && mc_instructions[line->op].version > version)
            version = mc_instructions[line->op].version;
    }
    return version;
}

static bool check_flow(const mc_flow *f, int *registers) {
    block_sets s = {.f = f, .of_block = calloc((f->block_count + 1) * f->words, sizeof(mc_word))};
    if (!s.of_block) {
        f->b->no_memory = true;
        builder_fail(f->b, "out of memory");
        return false;
    }
    s.work = set_of(&s, f->block_count);
    check_reads(&s);
    if (!f->b->error[0] && registers != NULL) *registers = most_alive(&s);
    free(s.of_block);
    return !f->b->error[0];
}

bool builder_check(mc_builder *b, int *version, int *registers) {
    mc_flow f;
    bool good = flow_make(&f, b) && check_flow(&f, registers);
    if (good) *version = least_version(b);
    flow_free(&f);
    return good;
}
