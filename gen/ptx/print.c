/* Writes a kernel's body as PTX text. It requires a builder that builder_check has accepted. */
#include "ptx/builder.h"
#include <stdlib.h>
#include <string.h>

enum { OPERAND_COLUMN = 36 };

static const char *const type_directives[] = {
    [REG_PRED] = ".pred", [REG_B16] = ".b16", [REG_B32] = ".b32", [REG_B64] = ".b64"};

/* -- Instructions ------------------------------------------------------------------------------------- */

static void print_reg(const mc_builder *b, int id, mc_text *text) {
    const mc_reg_info *info = &b->regs[id - 1];
    const mc_reg_group *group = &b->groups[info->group];
    text_put(text, "%");
    text_put(text, group->name);
    if (group->count) text_put_number(text, info->index);
}

/* Prints the registers of OPERAND from FIRST on. BRACED: in braces also if it is one. */
static void print_regs(const mc_builder *b, const mc_operand *operand, int first, bool braced,
                       mc_text *text) {
    int end = operand_regs(operand);
    braced = braced || end - first > 1;
    if (braced) text_put(text, "{");
    for (int i = first; i < end; i++) {
        if (i > first) text_put(text, ", ");
        print_reg(b, operand_reg(b, operand, i), text);
    }
    if (braced) text_put(text, "}");
}

static void print_address(const mc_builder *b, const mc_operand *operand, mc_text *text) {
    text_put(text, "[");
    print_reg(b, operand->id, text);
    if (operand->imm) text_add(text, "%+lld", (long long)operand->imm);
    text_put(text, "]");
}

static void print_tensor(const mc_builder *b, const mc_operand *operand, mc_text *text) {
    text_put(text, "[");
    print_reg(b, operand->id, text);
    text_put(text, ", ");
    print_regs(b, operand, 1, true, text);
    text_put(text, "]");
}

static void print_immediate(char letter, const mc_operand *operand, mc_text *text) {
    long long value = operand->imm;
    if (letter == 'z') text_add(text, "{%lld, %lld, %lld, %lld}", value, value, value, value);
    else if (operand->hex || letter == 'X') text_add(text, operand->hex ? "0x%08llx" : "0x%04llx", value);
    else text_put_number(text, value);
}

static void print_operand(const mc_builder *b, char letter, const mc_operand *operand, mc_text *text) {
    if (letter == 'e') text_put(text, "_|");
    switch (operand->kind) {
    case PTX_REG: print_regs(b, operand, 0, letter == 'v', text); break;
    case PTX_ADDRESS: print_address(b, operand, text); break;
    case PTX_TENSOR: print_tensor(b, operand, text); break;
    case PTX_IMM: print_immediate(letter, operand, text); break;
    case PTX_TEXT:
        text_put(text, letter == 'q' ? "[" : letter == 'S' ? "%" : "");
        text_put(text, operand->text);
        text_put(text, letter == 'q' ? "]" : "");
        break;
    case PTX_LABEL: text_put(text, b->labels[operand->imm]); break;
    }
}

/* Prints the mnemonic of LINE. A '#' in it is n of a wgmma. */
static void print_name(const mc_builder *b, const mc_line *line, mc_text *text) {
    const char *name = mc_instructions[line->op].mnemonic, *hash = strchr(name, '#');
    if (hash) {
        text_add(text, "%.*s%d", (int)(hash - name), name,
                 op_columns(line->op) * operand_regs(line_operands(b, line)));
        name = hash + 1;
    }
    text_put(text, name);
}

/* "    @%guard mnemonic", padded so that operands stand in one column. */
static void print_mnemonic(const mc_builder *b, const mc_line *line, mc_text *text) {
    size_t start = text->size;
    text_put(text, "    ");
    if (line->guard.id) {
        text_put(text, line->guard.negated ? "@!" : "@");
        print_reg(b, line->guard.id, text);
        text_put(text, " ");
    }
    print_name(b, line, text);
    if (line->operand_count == 0) return;
    size_t width = text->size - start;
    do text_put(text, " ");
    while (++width < OPERAND_COLUMN);
}

static void print_instr(const mc_builder *b, const mc_line *line, mc_text *text) {
    print_mnemonic(b, line, text);
    for (size_t i = 0; i < line->operand_count; i++) {
        if (i) text_put(text, ", ");
        print_operand(b, op_letter(line->op, i), &line_operands(b, line)[i], text);
    }
    text_put(text, ";\n");
}

static void print_line(const mc_builder *b, const mc_line *line, mc_text *text) {
    switch (line->kind) {
    case LINE_INSTR: print_instr(b, line, text); break;
    case LINE_LABEL: text_add(text, "%s:\n", b->labels[line->label]); break;
    case LINE_NOTE: text_add(text, "    // %s\n", line->note); break;
    case LINE_HEADING: text_add(text, "\n    // ---- %s\n", line->note); break;
    }
}

/* -- Body --------------------------------------------------------------------------------------------- */

/* Marks in NAMED, of each declaration, whether a line names one of its registers. */
static void find_named(const mc_builder *b, bool *named) {
    for (size_t i = 0; i < b->line_count; i++) {
        const mc_line *line = &b->lines[i];
        if (line->guard.id) named[b->regs[line->guard.id - 1].group] = true;
        for (size_t o = 0; o < line->operand_count; o++) {
            const mc_operand *operand = &line_operands(b, line)[o];
            for (int r = 0; r < operand_regs(operand); r++)
                named[b->regs[operand_reg(b, operand, r) - 1].group] = true;
        }
    }
}

static void print_registers(const mc_builder *b, mc_reg_type type, const bool *named, mc_text *text) {
    size_t column = 0;
    for (size_t i = 0; i < b->group_count; i++) {
        const mc_reg_group *group = &b->groups[i];
        if (group->type != type || !named[i]) continue;
        size_t length = strlen(group->name) + 8;
        if (column && column + length > 100) text_add(text, ";\n"), column = 0;
        if (column) text_put(text, ", ");
        else text_add(text, "    .reg %-5s ", type_directives[type]), column = 16;
        text_add(text, "%%%s", group->name);
        if (group->count) text_add(text, "<%d>", group->count);
        column += length;
    }
    if (column) text_add(text, ";\n");
}

void print_body(const mc_builder *b, mc_text *text) {
    bool *named = calloc(b->group_count + 1, sizeof *named);
    text_add(text, "{\n");
    if (!named) text->failed = true;
    else find_named(b, named);
    for (int type = REG_PRED; named && type <= REG_B64; type++)
        print_registers(b, (mc_reg_type)type, named, text);
    free(named);
    for (size_t i = 0; i < b->shared_count; i++) {
        const mc_shared_array *array = &b->shareds[i];
        if (array->bytes)
            text_add(text, "    .shared .align %u .b8 %s[%u];\n", array->align, array->name, array->bytes);
    }
    for (size_t i = 0; i < b->line_count; i++) print_line(b, &b->lines[i], text);
    text_add(text, "}\n");
}
