/* Writes a kernel's body as PTX text. It requires a builder that builder_check has accepted. */
#include "ptx/builder.h"
#include <string.h>

enum { OPERAND_COLUMN = 36 };

static const char *const type_directives[] = {[REG_PRED] = ".pred", [REG_B32] = ".b32", [REG_B64] = ".b64"};

/* -- Instructions ------------------------------------------------------------------------------------- */

static void print_reg(const mc_builder *b, mc_reg reg, mc_text *text) {
    const mc_reg_info *info = &b->regs[reg.id - 1];
    const mc_reg_group *group = &b->groups[info->group];
    if (group->count) text_add(text, "%%%s%d", group->name, info->index);
    else text_add(text, "%%%s", group->name);
}

/* BRACED: in braces also if it is one register. */
static void print_vector(const mc_builder *b, const mc_operand *operand, bool braced, mc_text *text) {
    braced = braced || operand->count > 1;
    if (braced) text_add(text, "{");
    for (int i = 0; i < operand->count; i++) {
        if (i) text_add(text, ", ");
        print_reg(b, operand->regs[i], text);
    }
    if (braced) text_add(text, "}");
}

static void print_address(const mc_builder *b, const mc_operand *operand, mc_text *text) {
    text_add(text, "[");
    print_reg(b, operand->regs[0], text);
    if (operand->imm) text_add(text, "%+lld", (long long)operand->imm);
    text_add(text, "]");
}

static void print_tensor(const mc_builder *b, const mc_operand *operand, mc_text *text) {
    const mc_operand coordinates = operand_vector(operand->regs + 1, operand->count - 1);
    text_add(text, "[");
    print_reg(b, operand->regs[0], text);
    text_add(text, ", ");
    print_vector(b, &coordinates, true, text);
    text_add(text, "]");
}

static void print_operand(const mc_builder *b, char kind, const mc_operand *operand, mc_text *text) {
    switch (operand->kind) {
    case OPERAND_REG: print_vector(b, operand, kind == 'v', text); break;
    case OPERAND_ADDRESS: print_address(b, operand, text); break;
    case OPERAND_TENSOR: print_tensor(b, operand, text); break;
    case OPERAND_IMM:
        text_add(text,
                 operand->hex  ? "0x%08llx"
                 : kind == 'X' ? "0x%04llx"
                               : "%lld",
                 (long long)operand->imm);
        break;
    case OPERAND_TEXT:
        text_add(text, kind == 'q' ? "[%s]" : kind == 'S' ? "%%%s" : "%s", operand->text);
        break;
    case OPERAND_LABEL: text_add(text, "%s", b->labels[operand->imm]); break;
    }
}

/* The letters of the signature's operands, without counts and "=". */
static char kind_at(const char *signature, int index) {
    for (; *signature; signature++) {
        if ((*signature >= '2' && *signature <= '9') || *signature == '=') continue;
        if (index-- == 0) return *signature;
    }
    return 0;
}

/* "    @%guard mnemonic", padded so that operands stand in one column. */
static void print_mnemonic(const mc_builder *b, const mc_line *line, mc_text *text) {
    size_t start = text->size;
    text_add(text, "    ");
    if (line->guard.id) {
        text_add(text, "@");
        print_reg(b, line->guard, text);
        text_add(text, " ");
    }
    text_add(text, "%s", mc_ops[line->op].mnemonic);
    int width = (int)(text->size - start);
    if (line->operand_count) text_add(text, "%*s", width < OPERAND_COLUMN ? OPERAND_COLUMN - width : 1, "");
}

static void print_instr(const mc_builder *b, const mc_line *line, mc_text *text) {
    print_mnemonic(b, line, text);
    for (int i = 0; i < line->operand_count; i++) {
        if (i) text_add(text, ", ");
        print_operand(b, kind_at(mc_ops[line->op].signature, i), &line->operands[i], text);
    }
    text_add(text, ";\n");
}

static void print_line(const mc_builder *b, const mc_line *line, mc_text *text) {
    switch (line->kind) {
    case LINE_INSTR: print_instr(b, line, text); break;
    case LINE_LABEL: text_add(text, "%s:\n", b->labels[line->label]); break;
    case LINE_NOTE: text_add(text, "    // %s\n", line->note); break;
    case LINE_STAGE: text_add(text, "\n    // ---- %s\n", line->note); break;
    }
}

/* -- Body --------------------------------------------------------------------------------------------- */

static void print_registers(const mc_builder *b, mc_reg_type type, mc_text *text) {
    size_t column = 0;
    for (size_t i = 0; i < b->group_count; i++) {
        const mc_reg_group *group = &b->groups[i];
        if (group->type != type) continue;
        size_t length = strlen(group->name) + 8;
        if (column && column + length > 100) text_add(text, ";\n"), column = 0;
        if (column) text_add(text, ", ");
        else text_add(text, "    .reg %-5s ", type_directives[type]), column = 16;
        text_add(text, "%%%s", group->name);
        if (group->count) text_add(text, "<%d>", group->count);
        column += length;
    }
    if (column) text_add(text, ";\n");
}

void print_body(const mc_builder *b, mc_text *text) {
    text_add(text, "{\n");
    for (int type = REG_PRED; type <= REG_B64; type++) print_registers(b, (mc_reg_type)type, text);
    if (b->shared_bytes)
        text_add(text, "    .shared .align %u .b8 %s[%u];\n", b->shared_align, b->shared_name,
                 b->shared_bytes);
    for (size_t i = 0; i < b->line_count; i++) print_line(b, &b->lines[i], text);
    text_add(text, "}\n");
}
