#include "ptx/builder.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SHARED_ALIGN = 1024 };

const mc_instruction mc_instructions[MC_OPCODES] = {
#define O(name, mnemonic, signature, version, sm) {#name, mnemonic, signature, version, sm},
#include "ptx/isa.def"
#undef O
};

void builder_fail(mc_builder *b, const char *format, ...) {
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
        builder_fail(b, "out of memory");
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
DEFINE_ROOM(operand)
DEFINE_ROOM(vector)
DEFINE_ROOM(group)
DEFINE_ROOM(reg)
DEFINE_ROOM(label)
DEFINE_ROOM(shared)

void builder_free(mc_builder *b) {
    for (size_t i = 0; i < b->line_count; i++) free(b->lines[i].note);
    free(b->lines);
    free(b->operands);
    free(b->vectors);
    free(b->groups);
    free(b->regs);
    free(b->labels);
    free(b->shareds);
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
            builder_fail(b, "register %%%s is one of PTX's own", group->name);
    }
    for (size_t i = 0; i < b->group_count; i++) {
        const mc_reg_group *other = &b->groups[i];
        bool clash = strcmp(other->name, group->name) == 0 ||
                     (!group->count && is_element(other, group->name)) ||
                     (!other->count && is_element(group, other->name));
        if (clash) builder_fail(b, "register %%%s is declared twice", group->name);
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

mc_reg b16(mc_builder *b, const char *name) { return declare_one(b, REG_B16, name); }
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
            builder_fail(b, "label %s is declared twice", b->labels[i]);
    }
    return (mc_label){(int)b->label_count++};
}

/* -- Shared memory ------------------------------------------------------------------------------------ */

/* What is wrong with a further shared ARRAY, or NULL. */
static const char *shared_mistake(const mc_builder *b, mc_shared_array array) {
    unsigned align = array.align;
    uint64_t bytes = array.bytes;
    if (align == 0 || align > MAX_SHARED_ALIGN || (align & (align - 1))) return "its alignment";
    for (size_t i = 0; i < b->shared_count; i++) {
        if (strcmp(b->shareds[i].name, array.name) == 0) return "it is declared twice";
        if (!array.bytes && !b->shareds[i].bytes) return "there is a dynamic array already";
        bytes += b->shareds[i].bytes;
    }
    return bytes > STATIC_SHARED ? "a kernel declares at most 49152 bytes" : NULL;
}

static void declare_shared(mc_builder *b, mc_shared_array array) {
    const char *mistake = shared_mistake(b, array);
    if (mistake)
        builder_fail(b, "shared array '%s': %u bytes, aligned to %u: %s", array.name, array.bytes,
                     array.align, mistake);
    if (!b->error[0] && room_for_shared(b, 1)) b->shareds[b->shared_count++] = array;
}

void shared_array(mc_builder *b, const char *name, unsigned bytes, unsigned align) {
    if (bytes == 0) builder_fail(b, "shared array '%s' is empty", name);
    declare_shared(b, (mc_shared_array){name, bytes, align});
}

void shared_dynamic(mc_builder *b, const char *name, unsigned align) {
    declare_shared(b, (mc_shared_array){name, 0, align});
}

/* -- Lines -------------------------------------------------------------------------------------------- */

static mc_line *new_line(mc_builder *b, mc_line_kind kind) {
    if (b->error[0] || !room_for_line(b, 1)) return NULL;
    mc_line *line = &b->lines[b->line_count++];
    *line = (mc_line){.kind = kind};
    return line;
}

/* Keeps OPERAND, and the registers of its vector. */
static void keep_operand(mc_builder *b, mc_operand operand) {
    size_t first = b->vector_count, count = (size_t)operand.count;
    if (!room_for_operand(b, 1) || (count && !room_for_vector(b, count))) return;
    for (size_t i = 0; i < count; i++) b->vectors[b->vector_count++] = operand.regs[i].id;
    if (count) operand.first = first;
    b->operands[b->operand_count++] = operand;
}

/* Notes that the registers of a destination are written. */
static void write_destination(mc_builder *b, mc_opcode op, const mc_operand *to) {
    for (int i = 0; i < (to->count > 1 ? to->count : 1); i++) {
        const mc_reg *reg = to->count > 1 ? &to->regs[i] : to;
        mc_reg_info *info = &b->regs[reg->id - 1];
        if (info->writes == WRITTEN_ONCE)
            builder_fail(b, "%s: writes %%%s, which an expression has defined", mc_instructions[op].name,
                         b->groups[info->group].name);
        if (info->writes == WRITTEN_NOT_YET) info->writes = WRITTEN_ONCE;
    }
}

static void check_line(mc_builder *b, mc_reg guard, mc_opcode op, const mc_operand *operands, size_t count) {
    const mc_instruction *row = &mc_instructions[op];
    builder_check_operands(b, op, operands, count);
    if (guard.id && (guard.kind != PTX_REG || builder_type_of(b, guard) != REG_PRED))
        builder_fail(b, "%s: the guard is not a predicate", row->name);
    if (b->arch && row->sm == SM_90A && !b->arch->wgmma)
        builder_fail(b, "%s needs sm_90a, target is %s", row->name, b->arch->target);
    if (b->arch && row->sm != SM_90A && row->sm > b->arch->sm)
        builder_fail(b, "%s needs sm_%d, target is %s", row->name, row->sm, b->arch->target);
    for (int i = 0; !b->error[0] && i < op_destinations(op); i++) write_destination(b, op, &operands[i]);
}

void builder_emit(mc_builder *b, mc_reg guard, mc_opcode op, const mc_operand *operands, size_t count) {
    if (b->error[0]) return;
    check_line(b, guard, op, operands, count);
    mc_line *line = new_line(b, LINE_INSTR);
    if (!line) return;
    line->op = op;
    line->guard = guard;
    line->first_operand = b->operand_count;
    line->operand_count = count;
    for (size_t i = 0; i < count; i++) keep_operand(b, operands[i]);
}

void set_label(mc_builder *b, mc_label target) {
    mc_line *line = new_line(b, LINE_LABEL);
    if (line) line->label = target.id;
}

static void add_note(mc_builder *b, mc_line_kind kind, const char *format, va_list args) {
    mc_text text = {0};
    mc_line *line = new_line(b, kind);
    if (!line) return;
    text_add_list(&text, format, args);
    line->note = text_take(&text);
    if (!line->note) b->no_memory = true, builder_fail(b, "out of memory");
}

void heading(mc_builder *b, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add_note(b, LINE_HEADING, format, args);
    va_end(args);
}

void note(mc_builder *b, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add_note(b, LINE_NOTE, format, args);
    va_end(args);
}

/* -- Expressions -------------------------------------------------------------------------------------- */

/* Emits an instruction of one destination into a new register, which nothing else may write. */
static mc_reg define(mc_builder *b, mc_opcode op, const char *name, const mc_operand *sources, size_t count) {
    mc_operand operands[5];
    operands[0] = declare_one(b, op_result_type(op), name);
    if (b->error[0]) return operands[0];
    b->regs[operands[0].id - 1].writes = WRITTEN_NOT_YET;
    memcpy(operands + 1, sources, count * sizeof *sources);
    builder_emit(b, (mc_reg){0}, op, operands, count + 1);
    return operands[0];
}

#define ARGUMENTS_1 x
#define ARGUMENTS_2 x, y
#define ARGUMENTS_3 x, y, z
#define ARGUMENTS_4 x, y, z, w
#define O(...)
#define E(count, name, ...)                                                                                  \
    mc_reg name(mc_builder *b, const char *reg, SOURCES_##count) {                                           \
        return define(b, OP_##name, reg, (const mc_operand[]){ARGUMENTS_##count}, count);                    \
    }
#include "ptx/isa.def"
#undef O

static mc_reg give_first(mc_builder *b, mc_reg reg, mc_opcode op, mc_operand value) {
    builder_emit(b, (mc_reg){0}, op, MC_OPERANDS(reg, value));
    return reg;
}

mc_reg carried(mc_builder *b, const char *name, mc_operand value) {
    return give_first(b, b32(b, name), OP_mov_b32, value);
}
mc_reg carried_b64(mc_builder *b, const char *name, mc_operand value) {
    return give_first(b, b64(b, name), OP_mov_b64, value);
}
