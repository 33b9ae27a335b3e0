#include "ptx/builder.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of shared memory that a kernel can declare; more must be dynamic (CUDA programming guide, "Shared
   Memory"). */
enum { MAX_SHARED_ALIGN = 1024 };

const mc_op mc_ops[MC_OPCODES] = {
#define O(name, mnemonic, signature, version, sm) {#name, mnemonic, signature, version, sm},
#include "ptx/isa.def"
#undef O
};

static void set_error(mc_builder *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void set_error(mc_builder *b, const char *format, ...) {
    if (b->error[0]) return;
    va_list args;
    va_start(args, format);
    vsnprintf(b->error, sizeof b->error, format, args);
    va_end(args);
}

/* Returns ARRAY, or where it was moved to, with room for MORE elements of SIZE bytes behind its COUNT. NULL:
   out of memory. */
static void *grown(mc_builder *b, void *array, size_t *room, size_t count, size_t more, size_t size) {
    if (count + more <= *room) return array;
    size_t wanted = *room ? *room * 2 : 64;
    while (wanted < count + more) wanted *= 2;
    void *moved = realloc(array, wanted * size);
    if (!moved) {
        b->no_memory = true;
        set_error(b, "out of memory");
        return NULL;
    }
    *room = wanted;
    return moved;
}

/* Makes room for MORE in the array NAMEs; false where there is no memory, with the array as it was. */
#define DEFINE_ROOM(name)                                                                                    \
    static bool room_for_##name(mc_builder *b, size_t more) {                                                \
        void *array = grown(b, b->name##s, &b->name##_room, b->name##_count, more, sizeof *b->name##s);      \
        if (array) b->name##s = array;                                                                       \
        return array != NULL;                                                                                \
    }
DEFINE_ROOM(line)
DEFINE_ROOM(group)
DEFINE_ROOM(reg)
DEFINE_ROOM(label)

void builder_free(mc_builder *b) {
    for (size_t i = 0; i < b->line_count; i++) free(b->lines[i].note);
    free(b->lines);
    free(b->groups);
    free(b->regs);
    free(b->labels);
    *b = (mc_builder){0};
}

/* -- Registers and labels ----------------------------------------------------------------------------- */

/* %tid, %laneid, %clock ... are PTX's own (PTX ISA, "Special Registers"). */
static const char *const own_names[] = {"tid",   "ntid",    "laneid",     "warpid", "nwarpid",
                                        "ctaid", "nctaid",  "smid",       "nsmid",  "gridid",
                                        "clock", "clock64", "globaltimer"};

/* Splits a name: "row2" into "row" and 2. The index is -1 where no number ends the name. */
static int split_number(const char *name, size_t *stem) {
    *stem = strlen(name);
    while (*stem > 0 && name[*stem - 1] >= '0' && name[*stem - 1] <= '9') --*stem;
    return name[*stem] ? atoi(name + *stem) : -1;
}

/* Whether the single register SINGLE is one of the array's. */
static bool is_element(const mc_reg_group *array, const char *single) {
    size_t stem;
    int index = split_number(single, &stem);
    return array->count > 0 && index >= 0 && index < array->count && strlen(array->name) == stem &&
           strncmp(array->name, single, stem) == 0;
}

static void check_name(mc_builder *b, const mc_reg_group *group) {
    for (size_t i = 0; i < sizeof own_names / sizeof *own_names; i++) {
        if (strcmp(own_names[i], group->name) == 0)
            set_error(b, "register %%%s is one of PTX's own", group->name);
    }
    for (size_t i = 0; i < b->group_count; i++) {
        const mc_reg_group *other = &b->groups[i];
        bool clash = strcmp(other->name, group->name) == 0 ||
                     (!group->count && is_element(other, group->name)) ||
                     (!other->count && is_element(group, other->name));
        if (clash) set_error(b, "register %%%s is declared twice", group->name);
    }
}

static void declare(mc_builder *b, mc_reg_type type, const char *name, int count, mc_reg *regs) {
    size_t registers = count ? (size_t)count : 1;
    memset(regs, 0, registers * sizeof *regs);
    if (b->error[0] || !room_for_group(b, 1) || !room_for_reg(b, registers)) return;
    mc_reg_group *group = &b->groups[b->group_count];
    *group = (mc_reg_group){.type = type, .first = (int)b->reg_count, .count = count};
    snprintf(group->name, sizeof group->name, "%s%s", b->prefix ? b->prefix : "", name);
    check_name(b, group);
    for (size_t i = 0; i < registers; i++) {
        b->regs[b->reg_count++] = (mc_reg_info){.group = (int)b->group_count, .index = (int)i};
        regs[i].id = (int)b->reg_count;
    }
    b->group_count++;
}

static mc_reg declare_one(mc_builder *b, mc_reg_type type, const char *name) {
    mc_reg reg;
    declare(b, type, name, 0, &reg);
    return reg;
}

mc_reg b32(mc_builder *b, const char *name) { return declare_one(b, REG_B32, name); }
mc_reg b64(mc_builder *b, const char *name) { return declare_one(b, REG_B64, name); }
mc_reg pred(mc_builder *b, const char *name) { return declare_one(b, REG_PRED, name); }
void b32_array(mc_builder *b, const char *name, int count, mc_reg *regs) {
    declare(b, REG_B32, name, count, regs);
}
void b64_array(mc_builder *b, const char *name, int count, mc_reg *regs) {
    declare(b, REG_B64, name, count, regs);
}
void pred_array(mc_builder *b, const char *name, int count, mc_reg *regs) {
    declare(b, REG_PRED, name, count, regs);
}

mc_label label(mc_builder *b, const char *name) {
    if (b->error[0] || !room_for_label(b, 1)) return (mc_label){0};
    snprintf(b->labels[b->label_count], MC_MAX_NAME, "%s%s", b->prefix ? b->prefix : "", name);
    for (size_t i = 0; i < b->label_count; i++) {
        if (strcmp(b->labels[i], b->labels[b->label_count]) == 0)
            set_error(b, "label %s is declared twice", b->labels[i]);
    }
    return (mc_label){(int)b->label_count++};
}

static void declare_shared(mc_builder *b, const char *name, unsigned bytes, unsigned align) {
    if (b->shared_name) set_error(b, "a second shared array '%s'", name);
    if (bytes > STATIC_SHARED || align == 0 || align > MAX_SHARED_ALIGN || (align & (align - 1)))
        set_error(b, "shared array '%s': %u bytes, aligned to %u", name, bytes, align);
    b->shared_name = name;
    b->shared_bytes = bytes;
    b->shared_align = align;
}

void shared_array(mc_builder *b, const char *name, unsigned bytes, unsigned align) {
    if (bytes == 0) set_error(b, "shared array '%s' is empty", name);
    declare_shared(b, name, bytes, align);
}

void shared_dynamic(mc_builder *b, const char *name, unsigned align) { declare_shared(b, name, 0, align); }

/* -- Operands against the signature ------------------------------------------------------------------- */

mc_operand operand_vector(const mc_reg *regs, int count) {
    mc_operand operand = {.kind = OPERAND_REG, .count = count};
    for (int i = 0; i < count && i < MC_MAX_VECTOR; i++) operand.regs[i] = regs[i];
    return operand;
}

static const char *const type_names[] = {"predicate", "b32", "b64"};

/* What a signature's kind takes. type is -1 where no register is taken. */
typedef struct kind_rule {
    char kind;
    mc_operand_kind operand;
    int type;
    bool or_immediate;
    const char *text;
} kind_rule;

static const kind_rule kind_rules[] = {
    {'p', OPERAND_REG, REG_PRED, false, "predicate"},
    {'b', OPERAND_REG, REG_B32, false, "b32"},
    {'v', OPERAND_REG, REG_B32, false, "b32"},
    {'l', OPERAND_REG, REG_B64, false, "b64"},
    {'B', OPERAND_REG, REG_B32, true, "b32 or immediate"},
    {'L', OPERAND_REG, REG_B64, true, "b64 or immediate"},
    {'i', OPERAND_IMM, -1, true, "immediate"},
    {'X', OPERAND_IMM, -1, true, "mask"},
    {'m', OPERAND_ADDRESS, REG_B64, false, "[b64]"},
    {'s', OPERAND_ADDRESS, REG_B32, false, "[b32]"},
    {'T', OPERAND_TENSOR, -1, false, "[map, {b32, b32}]"},
    {'q', OPERAND_TEXT, -1, false, "[parameter]"},
    {'S', OPERAND_TEXT, -1, false, "special register"},
    {'t', OPERAND_TEXT, -1, false, "name of an array or parameter"},
    {'x', OPERAND_LABEL, -1, false, "label"},
};

static const kind_rule *rule_of(char kind) {
    for (size_t i = 0; i < sizeof kind_rules / sizeof *kind_rules; i++) {
        if (kind_rules[i].kind == kind) return &kind_rules[i];
    }
    return NULL;
}

static mc_reg_type type_of(const mc_builder *b, mc_reg reg) {
    return b->groups[b->regs[reg.id - 1].group].type;
}

static void describe_operand(const mc_builder *b, const mc_operand *operand, char text[48]) {
    static const char *const kinds[] = {"", "immediate", "address", "tensor", "name", "label"};
    if (operand->kind != OPERAND_REG) snprintf(text, 48, "%s", kinds[operand->kind]);
    else if (operand->regs[0].id == 0) snprintf(text, 48, "no register");
    else
        snprintf(text, 48, operand->count > 1 ? "%s x%d" : "%s", type_names[type_of(b, operand->regs[0])],
                 operand->count);
}

/* Immediates of 32-bit operands fit s32 or u32, masks 16 bits, addresses' offsets s32 (PTX
   ISA, "Operands"). */
static bool immediate_fits(char kind, int64_t value) {
    if (kind == 'X') return value >= 0 && value <= 0xffff;
    if (kind == 'L') return true;
    return value >= INT32_MIN && value <= (kind == 'm' || kind == 's' ? INT32_MAX : (int64_t)UINT32_MAX);
}

static bool tensor_fits(const mc_builder *b, const mc_operand *operand) {
    for (int i = 0; i < operand->count; i++) {
        mc_reg reg = operand->regs[i];
        if (reg.id == 0 || type_of(b, reg) != (i ? REG_B32 : REG_B64)) return false;
    }
    return true;
}

static bool operand_fits(const mc_builder *b, const kind_rule *rule, int count, const mc_operand *operand) {
    if (operand->kind == OPERAND_IMM) return rule->or_immediate && immediate_fits(rule->kind, operand->imm);
    if (operand->kind != rule->operand) return false;
    if (operand->kind == OPERAND_TENSOR) return tensor_fits(b, operand);
    if (rule->type < 0) return true;
    if (operand->count != count) return false;
    for (int i = 0; i < count; i++) {
        if (operand->regs[i].id == 0 || (int)type_of(b, operand->regs[i]) != rule->type) return false;
    }
    return operand->kind != OPERAND_ADDRESS || immediate_fits(rule->kind, operand->imm);
}

/* The signature's next operand: its rule and vector length; false at the end. */
static bool next_in_signature(const char **at, const kind_rule **rule, int *count) {
    if (**at == '=') ++*at;
    if (!**at) return false;
    *count = 1;
    if (**at >= '2' && **at <= '9') *count = *(*at)++ - '0';
    *rule = rule_of(*(*at)++);
    return true;
}

static size_t signature_length(const char *signature) {
    const kind_rule *rule;
    int length;
    size_t n = 0;
    while (next_in_signature(&signature, &rule, &length)) n++;
    return n;
}

/* A vector of destinations names each register once. */
static bool repeats(const mc_operand *operand) {
    for (int i = 0; i < operand->count; i++) {
        for (int j = 0; j < i; j++)
            if (operand->regs[i].id == operand->regs[j].id) return true;
    }
    return false;
}

static int vector_bytes(const mc_builder *b, const mc_operand *operand) {
    return operand->count * (type_of(b, operand->regs[0]) == REG_B64 ? 8 : 4);
}

/* Checks what the operands have to do with each other, or with what is declared. */
static const char *misfit(const mc_builder *b, const mc_op *op, const mc_operand *operands, size_t count) {
    bool defines = strchr(op->signature, '=') != NULL;
    if (defines && operands[0].kind == OPERAND_REG && repeats(&operands[0])) return "a destination twice";
    for (size_t i = 0; i < count; i++) {
        const mc_operand *moved = &operands[i ? 0 : count - 1]; /* beside the address */
        if (operands[i].kind == OPERAND_ADDRESS && moved->count > 1 &&
            operands[i].imm % vector_bytes(b, moved))
            return "a misaligned offset";
    }
    if (strcmp(op->name, "bar_sync") == 0 && (operands[0].imm < 0 || operands[0].imm > 15))
        return "no such barrier";
    if (strcmp(op->name, "mov_shared") == 0 &&
        (!b->shared_name || strcmp(b->shared_name, operands[1].text) != 0))
        return "no such shared array";
    return NULL;
}

/* Whether a line has room for the operands, and each operand for its registers. */
static bool check_room(mc_builder *b, const mc_op *op, const mc_operand *operands, size_t count) {
    if (count > MC_MAX_OPERANDS)
        set_error(b, "%s: %zu operands, at most %d", op->name, count, MC_MAX_OPERANDS);
    for (size_t i = 0; i < count; i++)
        if (operands[i].count > MC_MAX_VECTOR)
            set_error(b, "%s: operand %zu: a vector of %d, at most %d", op->name, i, operands[i].count,
                      MC_MAX_VECTOR);
    return !b->error[0];
}

static void check_operands(mc_builder *b, const mc_op *op, const mc_operand *operands, size_t count) {
    const char *at = op->signature;
    const kind_rule *rule;
    int length;
    if (count != signature_length(at)) {
        set_error(b, "%s: %zu operands do not fit %s", op->name, count, op->signature);
        return;
    }
    for (size_t i = 0; next_in_signature(&at, &rule, &length); i++) {
        if (operand_fits(b, rule, length, &operands[i])) continue;
        char got[48], want[48];
        describe_operand(b, &operands[i], got);
        snprintf(want, sizeof want, length > 1 ? "%s x%d" : "%s", rule->text, length);
        set_error(b, "%s: operand %zu: want %s, got %s", op->name, i, want, got);
        return;
    }
    const char *what = misfit(b, op, operands, count);
    if (what) set_error(b, "%s: %s", op->name, what);
}

int line_defs(const mc_line *line) {
    const char *signature = mc_ops[line->op].signature;
    if (line->kind != LINE_INSTR || !strchr(signature, '=')) return 0;
    int defs = 0;
    for (; *signature != '='; signature++) defs += !(*signature >= '2' && *signature <= '9');
    return defs;
}

/* -- Lines -------------------------------------------------------------------------------------------- */

static mc_line *new_line(mc_builder *b, mc_line_kind kind) {
    if (b->error[0] || !room_for_line(b, 1)) return NULL;
    mc_line *line = &b->lines[b->line_count++];
    *line = (mc_line){.kind = kind};
    return line;
}

void builder_emit(mc_builder *b, mc_reg guard, mc_opcode op, const mc_operand *operands, size_t count) {
    if (b->error[0] || !check_room(b, &mc_ops[op], operands, count)) return;
    check_operands(b, &mc_ops[op], operands, count);
    if (guard.id && type_of(b, guard) != REG_PRED)
        set_error(b, "%s: the guard is not a predicate", mc_ops[op].name);
    if (b->arch && mc_ops[op].sm > b->arch->sm)
        set_error(b, "%s needs sm_%d, target is %s", mc_ops[op].name, mc_ops[op].sm, b->arch->target);
    mc_line *line = new_line(b, LINE_INSTR);
    if (!line) return;
    line->op = op;
    line->guard = guard;
    line->operand_count = (int)count;
    for (size_t i = 0; i < count; i++) line->operands[i] = operands[i];
}

void place(mc_builder *b, mc_label target) {
    mc_line *line = new_line(b, LINE_LABEL);
    if (line) line->label = target.id;
}

static void add_note(mc_builder *b, mc_line_kind kind, const char *format, va_list args) {
    mc_text text = {0};
    mc_line *line = new_line(b, kind);
    if (!line) return;
    text_add_list(&text, format, args);
    line->note = text_take(&text);
    if (!line->note) b->no_memory = true, set_error(b, "out of memory");
}

void stage(mc_builder *b, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add_note(b, LINE_STAGE, format, args);
    va_end(args);
}

void note(mc_builder *b, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add_note(b, LINE_NOTE, format, args);
    va_end(args);
}
