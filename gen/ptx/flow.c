#include "ptx/flow.h"
#include <stdlib.h>

mc_adds flow_adds(const mc_builder *b, const mc_line *line) {
    if (!flow_is_wgmma(line)) return ADDS_NEVER;
    for (size_t i = 0; i < line->operand_count; i++) {
        const mc_operand *operand = &line_operands(b, line)[i];
        if (op_letter(line->op, i) != 'P') continue;
        if (operand->kind == PTX_REG) return ADDS_PERHAPS;
        return operand->imm ? ADDS_ALWAYS : ADDS_NEVER;
    }
    return ADDS_ALWAYS;
}

void each_reg(const mc_builder *b, const mc_line *line, bool defs, visit_reg *visit, void *user) {
    if (line->kind != LINE_INSTR) return;
    size_t to = (size_t)op_destinations(line->op);
    bool all = !defs && flow_adds(b, line) != ADDS_NEVER;
    for (size_t i = defs || all ? 0 : to; i < (defs ? to : line->operand_count); i++) {
        const mc_operand *operand = &line_operands(b, line)[i];
        for (int j = 0; j < operand_regs(operand); j++) visit(user, line, operand_reg(b, operand, j));
    }
    if (!defs && line->guard.id) visit(user, line, line->guard.id);
}

static bool is_branch(const mc_line *line) {
    return line->kind == LINE_INSTR && (line->op == OP_bra || line->op == OP_bra_uni || line->op == OP_ret);
}

static void split_blocks(mc_flow *f) {
    const mc_builder *b = f->b;
    for (size_t i = 0; i < b->label_count; i++) f->block_of_label[i] = -1;
    for (size_t i = 0; i < b->line_count; i++) {
        const mc_line *line = &b->lines[i];
        bool starts = i == 0 || line->kind == LINE_LABEL || is_branch(&b->lines[i - 1]);
        if (starts) f->blocks[f->block_count++].first = i;
        f->blocks[f->block_count - 1].last = i + 1;
        if (line->kind != LINE_LABEL) continue;
        if (f->block_of_label[line->label] >= 0)
            builder_fail(f->b, "check: a label stands twice: '%s'", b->labels[line->label]);
        f->block_of_label[line->label] = (int)f->block_count - 1;
    }
}

static void link_block(mc_flow *f, size_t index) {
    mc_block *k = &f->blocks[index];
    const mc_line *end = &f->b->lines[k->last - 1];
    if (is_branch(end) && end->op != OP_ret) {
        int64_t target = line_operands(f->b, end)->imm;
        if (f->block_of_label[target] < 0)
            builder_fail(f->b, "check: a branch to a label that is nowhere: '%s'", f->b->labels[target]);
        else k->next[k->next_count++] = f->block_of_label[target];
    }
    bool falls_through = !is_branch(end) || end->guard.id;
    if (!falls_through) return;
    if (index + 1 < f->block_count) k->next[k->next_count++] = (int)index + 1;
    else
        builder_fail(f->b, "check: the kernel runs past its end, last is '%s'",
                     end->kind == LINE_INSTR ? mc_instructions[end->op].name : "a label");
}

bool flow_make(mc_flow *f, mc_builder *b) {
    *f = (mc_flow){.b = b, .words = (b->reg_count + 63) / 64 + 1};
    if (!b->line_count) builder_fail(b, "check: the kernel is empty: 'no lines'");
    if (b->error[0]) return false;
    f->blocks = calloc(b->line_count + 1, sizeof *f->blocks);
    f->block_of_label = calloc(b->label_count + 1, sizeof *f->block_of_label);
    if (!f->blocks || !f->block_of_label) {
        b->no_memory = true;
        builder_fail(b, "out of memory");
        return false;
    }
    split_blocks(f);
    for (size_t i = 0; i < f->block_count; i++) link_block(f, i);
    return !b->error[0];
}

void flow_free(mc_flow *f) {
    free(f->blocks);
    free(f->block_of_label);
}
