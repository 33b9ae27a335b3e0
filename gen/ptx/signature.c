/* The check of an instruction's operands against the signature in isa.def. */
#include "ptx/builder.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const type_names[] = {"predicate", "b16", "b32", "b64"};

/* What a letter of a signature takes. type is -1 where no register is taken. */
typedef struct letter_rule {
    char letter;
    mc_operand_kind operand;
    int type;
    bool or_immediate;
    const char *text;
} letter_rule;

static const letter_rule letter_rules[] = {
    {'p', PTX_REG, REG_PRED, false, "predicate"},
    {'P', PTX_REG, REG_PRED, true, "predicate or immediate"},
    {'e', PTX_REG, REG_PRED, false, "predicate"},
    {'h', PTX_REG, REG_B16, false, "b16"},
    {'H', PTX_REG, REG_B16, true, "b16 or immediate"},
    {'D', PTX_REG, REG_B32, false, "b32"},
    {'G', PTX_REG, REG_B32, false, "b32"},
    {'b', PTX_REG, REG_B32, false, "b32"},
    {'v', PTX_REG, REG_B32, false, "b32"},
    {'l', PTX_REG, REG_B64, false, "b64"},
    {'B', PTX_REG, REG_B32, true, "b32 or immediate"},
    {'L', PTX_REG, REG_B64, true, "b64 or immediate"},
    {'i', PTX_IMM, -1, true, "immediate"},
    {'n', PTX_IMM, -1, true, "1 or -1"},
    {'z', PTX_IMM, -1, true, "immediate"},
    {'X', PTX_IMM, -1, true, "mask"},
    {'m', PTX_ADDRESS, REG_B64, false, "[b64]"},
    {'s', PTX_ADDRESS, REG_B32, false, "[b32]"},
    {'T', PTX_TENSOR, -1, false, "[map, {b32, ...}]"},
    {'q', PTX_TEXT, -1, false, "[parameter]"},
    {'S', PTX_TEXT, -1, false, "special register"},
    {'t', PTX_TEXT, -1, false, "name of an array or parameter"},
    {'x', PTX_LABEL, -1, false, "label"},
};

static const letter_rule *rule_of(char letter) {
    for (size_t i = 0; i < sizeof letter_rules / sizeof *letter_rules; i++) {
        if (letter_rules[i].letter == letter) return &letter_rules[i];
    }
    return NULL;
}

/* The signature's next operand: its rule and vector length; false at the end. */
static bool next_in_signature(const char **at, const letter_rule **rule, int *count) {
    if (**at == '=') ++*at;
    if (!**at) return false;
    char *letter = (char *)*at;
    *count = **at >= '2' && **at <= '9' ? (int)strtol(*at, &letter, 10) : 1;
    *rule = rule_of(*letter);
    *at = letter + 1;
    return true;
}

static size_t operands_of(const char *signature) {
    const letter_rule *rule;
    int length;
    size_t n = 0;
    while (next_in_signature(&signature, &rule, &length)) n++;
    return n;
}

int op_destinations(mc_opcode op) {
    int count = 0;
    for (const char *at = mc_instructions[op].signature; *at; at++) {
        if (*at == '=') return count;
        count += *at < '0' || *at > '9';
    }
    return 0; /* there is no '=' */
}

char op_letter(mc_opcode op, size_t index) {
    const char *at = mc_instructions[op].signature;
    const letter_rule *rule = NULL;
    int length;
    for (size_t i = 0; i <= index; i++)
        if (!next_in_signature(&at, &rule, &length)) return 0;
    return rule->letter;
}

/* Accumulators are as many as the caller passes: columns of B that one of them stands for. */
static int columns_of(char letter) { return letter == 'D' ? 2 : letter == 'G' ? 4 : 0; }

int op_columns(mc_opcode op) { return columns_of(mc_instructions[op].signature[0]); }

mc_reg_type op_result_type(mc_opcode op) { return (mc_reg_type)rule_of(op_letter(op, 0))->type; }

mc_reg_type builder_type_of(const mc_builder *b, mc_reg reg) {
    return b->groups[b->regs[reg.id - 1].group].type;
}

/* Register I of a vector, or the one register of an operand that is none. */
static mc_reg reg_at(const mc_operand *operand, int i) {
    return operand->count > 1 ? operand->regs[i] : *operand;
}
static int length_of(const mc_operand *operand) { return operand->count > 1 ? operand->count : 1; }

static void describe_operand(const mc_builder *b, const mc_operand *operand, char text[48]) {
    static const char *const kinds[] = {"", "immediate", "address", "tensor", "name", "label"};
    mc_reg first = reg_at(operand, 0);
    if (operand->kind != PTX_REG) snprintf(text, 48, "%s", kinds[operand->kind]);
    else if (first.id == 0 || first.kind != PTX_REG) snprintf(text, 48, "no register");
    else if (operand->negated) snprintf(text, 48, "a negated predicate");
    else
        snprintf(text, 48, operand->count > 1 ? "%s x%d" : "%s", type_names[builder_type_of(b, first)],
                 operand->count);
}

/* Immediates of 32-bit operands fit s32 or u32, masks 16 bits, addresses' offsets s32 (PTX
   ISA, "Operands"). */
static bool immediate_fits(char letter, int64_t value) {
    if (letter == 'X' || letter == 'H') return value >= 0 && value <= 0xffff;
    if (letter == 'n') return value == 1 || value == -1;
    if (letter == 'P') return value == 0 || value == 1;
    if (letter == 'L') return true;
    return value >= INT32_MIN && value <= (letter == 'm' || letter == 's' ? INT32_MAX : (int64_t)UINT32_MAX);
}

static bool is_reg(const mc_builder *b, mc_reg reg, mc_reg_type type) {
    return reg.kind == PTX_REG && reg.id != 0 && !reg.negated && builder_type_of(b, reg) == type;
}

static bool regs_fit(const mc_builder *b, const mc_operand *operand, int count, mc_reg_type type) {
    if (length_of(operand) != count) return false;
    for (int i = 0; i < count; i++)
        if (!is_reg(b, reg_at(operand, i), type)) return false;
    return true;
}

/* The register of an address or of a tensor map. */
static bool base_fits(const mc_builder *b, const mc_operand *operand, mc_reg_type type) {
    return is_reg(b, (mc_reg){.id = operand->id}, type);
}

static bool operand_fits(const mc_builder *b, const letter_rule *rule, int count, const mc_operand *operand) {
    if (operand->kind == PTX_IMM) return rule->or_immediate && immediate_fits(rule->letter, operand->imm);
    if (operand->kind != rule->operand) return false;
    switch (operand->kind) {
    case PTX_REG:
        return regs_fit(b, operand, columns_of(rule->letter) ? length_of(operand) : count,
                        (mc_reg_type)rule->type);
    case PTX_ADDRESS:
        return base_fits(b, operand, (mc_reg_type)rule->type) && immediate_fits(rule->letter, operand->imm);
    case PTX_TENSOR: {
        mc_operand coordinates = operand_vector(operand->regs, operand->count);
        return base_fits(b, operand, REG_B64) && regs_fit(b, &coordinates, operand->count, REG_B32);
    }
    default: return true;
    }
}

/* A vector of destinations names each register once. */
static bool repeats(const mc_operand *operand) {
    for (int i = 0; i < length_of(operand); i++) {
        for (int j = 0; j < i; j++)
            if (reg_at(operand, i).id == reg_at(operand, j).id) return true;
    }
    return false;
}

static int vector_bytes(const mc_builder *b, const mc_operand *operand) {
    return operand->count * (builder_type_of(b, reg_at(operand, 0)) == REG_B64 ? 8 : 4);
}

static bool has_shared(const mc_builder *b, const char *name) {
    for (size_t i = 0; i < b->shared_count; i++)
        if (strcmp(b->shareds[i].name, name) == 0) return true;
    return false;
}

/* Whether a wgmma can have so many COLUMNS (PTX ISA, "Asynchronous wgmma Instructions", the table of shapes):
   any multiple of 8 up to 256, of integers above 24 a multiple of 16. */
static bool columns_fit(mc_opcode op, int columns) {
    bool integers = strstr(mc_instructions[op].mnemonic, ".s32.") != NULL;
    return columns >= 8 && columns <= 256 && columns % (integers && columns > 24 ? 16 : 8) == 0;
}

/* Registers of a thread, as setmaxnreg takes them. */
static bool share_fits(int64_t registers) {
    return registers >= 24 && registers <= 256 && registers % 8 == 0;
}

/* Whether a copy by tensor map has as many coordinates as its instruction has dimensions. */
static bool coordinates_fit(mc_opcode op, const mc_operand *operand) {
    const char *dims = strstr(mc_instructions[op].mnemonic, ".tensor.");
    return !dims || operand->count == atoi(dims + strlen(".tensor."));
}

/* Checks what the operands have to do with each other, or with what is declared. */
static const char *misfit(const mc_builder *b, mc_opcode op, const mc_operand *operands, size_t count) {
    if (op_destinations(op) && operands[0].kind == PTX_REG && repeats(&operands[0]))
        return "a destination twice";
    for (size_t i = 0; i < count; i++) {
        const mc_operand *moved = &operands[i ? 0 : count - 1]; /* beside the address */
        if (operands[i].kind == PTX_ADDRESS && moved->kind == PTX_REG && moved->count > 1 &&
            operands[i].imm % vector_bytes(b, moved))
            return "a misaligned offset";
    }
    if (op == OP_bar_sync && (operands[0].imm < 0 || operands[0].imm > 15)) return "no such barrier";
    if (op_columns(op) && !columns_fit(op, op_columns(op) * length_of(&operands[0])))
        return "no such number of columns";
    if ((op == OP_registers_up || op == OP_registers_down) && !share_fits(operands[0].imm))
        return "no such number of registers";
    for (size_t i = 0; i < count; i++)
        if (operands[i].kind == PTX_TENSOR && !coordinates_fit(op, &operands[i]))
            return "another number of coordinates";
    if (op == OP_mov_shared && !has_shared(b, operands[1].text)) return "no such shared array";
    return NULL;
}

void builder_check_operands(mc_builder *b, mc_opcode op, const mc_operand *operands, size_t count) {
    const mc_instruction *row = &mc_instructions[op];
    const char *at = row->signature;
    const letter_rule *rule;
    int length;
    if (count != operands_of(at)) {
        builder_fail(b, "%s: %zu operands do not fit %s", row->name, count, row->signature);
        return;
    }
    for (size_t i = 0; next_in_signature(&at, &rule, &length); i++) {
        if (operand_fits(b, rule, length, &operands[i])) continue;
        char got[48], want[48];
        describe_operand(b, &operands[i], got);
        snprintf(want, sizeof want, length > 1 ? "%s x%d" : "%s", rule->text, length);
        builder_fail(b, "%s: operand %zu: want %s, got %s", row->name, i, want, got);
        return;
    }
    const char *what = misfit(b, op, operands, count);
    if (what) builder_fail(b, "%s: %s", row->name, what);
}
