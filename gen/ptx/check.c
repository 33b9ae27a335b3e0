/* Checks what must hold of the instructions as a whole. It requires the builder's lines, each of which has
   been checked by itself, and changes nothing but the error. Two passes go over the control-flow graph. The
   first finds which registers are surely written before each block, so that no read comes first. The second
   finds which are still wanted after each block, so that registers can be estimated. */
#include "ptx/flow.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sets of registers, one for each block: what holds where it begins or ends, those that it surely writes, and
   those that it reads before that. And one set to work on, and the 32-bit registers in there. */
typedef struct block_sets {
    const mc_flow *f;
    mc_word *of_block, *written, *wanted, *work;
    int alive;
} block_sets;

static size_t bytes_of(const block_sets *s) { return s->f->words * sizeof(mc_word); }
static mc_word *set_of(const block_sets *s, size_t block) { return &s->of_block[block * s->f->words]; }

/* Under a guard the register may stay unwritten. */
static void visit_own_write(void *user, const mc_line *line, int id) {
    const block_sets *own = user;
    if (line->guard.id) return;
    set_add(own->written, id);
    set_remove(own->wanted, id);
}

static void visit_own_read(void *user, const mc_line *line, int id) {
    const block_sets *own = user;
    (void)line;
    set_add(own->wanted, id);
}

/* Sets what BLOCK writes and wants, of empty sets. */
static void summarise(const block_sets *s, size_t block) {
    const mc_builder *b = s->f->b;
    const mc_block *k = &s->f->blocks[block];
    size_t at = block * s->f->words;
    block_sets own = {.written = &s->written[at], .wanted = &s->wanted[at]};
    for (size_t i = k->last; i-- > k->first;) {
        each_reg(b, &b->lines[i], true, visit_own_write, &own);
        each_reg(b, &b->lines[i], false, visit_own_read, &own);
    }
}

/* -- Written before read ------------------------------------------------------------------------------ */

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

/* Intersects the successors' sets with what is written at BLOCK's end. */
static bool push_written(const block_sets *s, size_t block) {
    const mc_flow *f = s->f;
    const mc_block *k = &f->blocks[block];
    const mc_word *from = set_of(s, block), *own = &s->written[block * f->words];
    bool changed = false;
    for (int n = 0; n < k->next_count; n++) {
        mc_word *in = set_of(s, (size_t)k->next[n]);
        for (size_t w = 0; w < f->words; w++) {
            mc_word less = in[w] & (from[w] | own[w]);
            changed |= less != in[w];
            in[w] = less;
        }
    }
    return changed;
}

static void check_reads(block_sets *s) {
    const mc_flow *f = s->f;
    for (size_t k = 1; k < f->block_count; k++) memset(set_of(s, k), 0xff, bytes_of(s));
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t k = 0; k < f->block_count; k++) changed |= push_written(s, k);
    }
    for (size_t k = 0; k < f->block_count; k++) {
        memcpy(s->work, set_of(s, k), bytes_of(s));
        for (size_t i = f->blocks[k].first; i < f->blocks[k].last; i++) {
            each_reg(f->b, &f->b->lines[i], false, visit_read, s);
            each_reg(f->b, &f->b->lines[i], true, visit_write, s);
        }
    }
}

/* -- Registers alive at once -------------------------------------------------------------------------- */

/* 32-bit registers that register ID takes. */
static int weight(const mc_builder *b, int id) {
    static const int registers_of[] = {[REG_PRED] = 0, [REG_B16] = 1, [REG_B32] = 1, [REG_B64] = 2};
    return registers_of[b->groups[b->regs[id - 1].group].type];
}

static void visit_kill(void *user, const mc_line *line, int id) {
    block_sets *s = user;
    if (line->guard.id || !set_has(s->work, id)) return;
    set_remove(s->work, id);
    s->alive -= weight(s->f->b, id);
}

static void visit_want(void *user, const mc_line *line, int id) {
    block_sets *s = user;
    (void)line;
    if (set_has(s->work, id)) return;
    set_add(s->work, id);
    s->alive += weight(s->f->b, id);
}

/* The most registers that are alive before a line of BLOCK's: walks back from what is wanted at its end. */
static int most_of_block(block_sets *s, size_t block) {
    const mc_builder *b = s->f->b;
    const mc_block *k = &s->f->blocks[block];
    int most = 0;
    memcpy(s->work, set_of(s, block), bytes_of(s));
    s->alive = 0;
    for (int id = 1; id <= (int)b->reg_count; id++)
        if (set_has(s->work, id)) s->alive += weight(b, id);
    for (size_t i = k->last; i-- > k->first;) {
        each_reg(b, &b->lines[i], true, visit_kill, s);
        each_reg(b, &b->lines[i], false, visit_want, s);
        if (b->lines[i].kind == LINE_INSTR && s->alive > most) most = s->alive;
    }
    return most;
}

/* Adds to what is wanted at BLOCK's end what its successors want. */
static bool pull_wanted(const block_sets *s, size_t block) {
    const mc_block *k = &s->f->blocks[block];
    mc_word *wanted = set_of(s, block);
    bool changed = false;
    for (int n = 0; n < k->next_count; n++) {
        size_t next = (size_t)k->next[n], at = next * s->f->words;
        for (size_t w = 0; w < s->f->words; w++) {
            mc_word more = s->wanted[at + w] | (set_of(s, next)[w] & ~s->written[at + w]);
            changed |= (more & ~wanted[w]) != 0;
            wanted[w] |= more;
        }
    }
    return changed;
}

static int most_alive(block_sets *s) {
    int most = 0;
    memset(s->of_block, 0, s->f->block_count * bytes_of(s));
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t k = s->f->block_count; k-- > 0;) changed |= pull_wanted(s, k);
    }
    for (size_t k = 0; k < s->f->block_count; k++) {
        int here = most_of_block(s, k);
        if (here > most) most = here;
    }
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
    size_t all = f->block_count * f->words;
    mc_word *sets = calloc(3 * all + f->words, sizeof(mc_word));
    if (!sets) {
        f->b->no_memory = true;
        builder_fail(f->b, "out of memory");
        return false;
    }
    block_sets s = {f, sets, sets + all, sets + 2 * all, sets + 3 * all, 0};
    for (size_t k = 0; k < f->block_count; k++) summarise(&s, k);
    check_reads(&s);
    if (!f->b->error[0] && registers != NULL) *registers = most_alive(&s);
    free(sets);
    return !f->b->error[0];
}

bool builder_check(mc_builder *b, int *version, int *registers) {
    mc_flow f;
    bool good = flow_make(&f, b) && check_flow(&f, registers);
    if (good) *version = least_version(b);
    flow_free(&f);
    return good;
}
