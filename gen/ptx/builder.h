/* The PTX builder. Emitters read as expressions: an instruction declares the register that it writes, and
 * returns it. What a loop carries is declared ahead, and written again by EMIT.
 *
 *   mc_reg lane = and_b32(b, "lane", thread, I(31));
 *   mc_reg count = carried(b, "count", I(0));
 *   EMIT(b, add_s32, count, count, I(1));
 *   EMIT_IF(b, in_range, ldg_v4, V4(rows), AT(address, 16));
 *
 * The builder checks every operand against the instruction's row in isa.def. print.c alone writes text. The
 * first mistake is kept (mc_builder.error) and everything after it is ignored, so that emitters need no
 * checks. */
#ifndef MC_BUILDER_H
#define MC_BUILDER_H

#include <string.h>
#include "arch/arch.h"
#include "schema/schema.h"

typedef enum mc_opcode {
#define O(name, mnemonic, signature, version, sm) OP_##name,
#include "ptx/isa.def"
#undef O
    MC_OPCODES
} mc_opcode;

/* `sm` of what only capability 9.0 has, in its target sm_90a. */
enum { SM_90A = 901 };

typedef struct mc_instruction {
    const char *name, *mnemonic, *signature;
    int version, sm;
} mc_instruction;

extern const mc_instruction mc_instructions[MC_OPCODES];

typedef enum mc_reg_type { REG_PRED, REG_B16, REG_B32, REG_B64 } mc_reg_type;

typedef enum mc_operand_kind {
    PTX_REG,     /* one register, `id`, or where count is above 1 a vector */
    PTX_IMM,     /* imm */
    PTX_ADDRESS, /* [id + imm] */
    PTX_TENSOR,  /* [map, {coordinates}]: id is the map, the vector has the coordinates */
    PTX_TEXT,    /* parameter, special register or shared array, by name */
    PTX_LABEL,   /* imm is the label's number */
} mc_operand_kind;

/* An operand of an instruction. It points to the registers of its vector until builder_emit has returned. */
typedef struct mc_operand {
    int id; /* a register's number + 1; 0: none */
    mc_operand_kind kind;
    int count;    /* registers of the vector */
    bool hex;     /* of an immediate: it is a mask, printed in hex */
    bool negated; /* of a guard: the instruction runs where the predicate is false */
    int64_t imm;
    union {
        const struct mc_operand *regs; /* what the caller passes */
        size_t first;     /* what the builder keeps: where the vector begins in mc_builder.vectors */
        const char *text; /* a string that stays */
    };
} mc_operand;

/* A virtual register is an operand, too. {0} is none. */
typedef mc_operand mc_reg;

typedef struct mc_label {
    int id;
} mc_label;

typedef enum mc_line_kind { LINE_INSTR, LINE_LABEL, LINE_NOTE, LINE_HEADING } mc_line_kind;

typedef struct mc_line {
    mc_line_kind kind;
    mc_opcode op;
    mc_reg guard;                        /* {0}: none */
    size_t first_operand, operand_count; /* in mc_builder.operands */
    int label;
    char *note;
} mc_line;

/* A declaration: a register, or COUNT of them, which have a number behind the name. */
typedef struct mc_reg_group {
    char name[MC_MAX_NAME];
    mc_reg_type type;
    int first, count; /* count 0: a single register without a number */
} mc_reg_group;

/* How often a register may be written. That of an expression is written once, where it is declared. */
typedef enum mc_writes { WRITTEN_OFTEN, WRITTEN_NOT_YET, WRITTEN_ONCE } mc_writes;

typedef struct mc_reg_info {
    int group, index;
    mc_writes writes;
} mc_reg_info;

/* An array in shared memory. 0 bytes: it is dynamic, as large as the launch says. */
typedef struct mc_shared_array {
    const char *name;
    unsigned bytes, align;
} mc_shared_array;

typedef struct mc_builder {
    const mc_arch *arch;
    mc_line *lines;
    size_t line_count, line_room;
    mc_operand *operands; /* of all lines */
    size_t operand_count, operand_room;
    int *vectors; /* registers of the operands' vectors */
    size_t vector_count, vector_room;
    mc_reg_group *groups;
    size_t group_count, group_room;
    mc_reg_info *regs;
    size_t reg_count, reg_room;
    char (*labels)[MC_MAX_NAME];
    size_t label_count, label_room;
    mc_shared_array *shareds;
    size_t shared_count, shared_room;
    /* shared memory decides how many thread blocks a multiprocessor holds, and registers follow */
    bool fills_shared;
    int spare; /* registers that ptxas takes beyond those alive and the usual reserve */
    /* a thread's registers at launch, where warpgroups then exchange some (parts/roles.h); 0: as needed */
    int launch_registers;
    mc_reg batch; /* the grid's z, where it counts products (parts/batch.h) */
    const struct mc_batch_array *batch_arrays;
    size_t batch_array_count;
    const char *prefix; /* put before the names of registers and labels */
    char error[200];
    bool no_memory;
} mc_builder;

void builder_free(mc_builder *b);
/* Keeps a mistake, unless there is one. */
void builder_fail(mc_builder *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* -- Registers, labels, shared memory ----------------------------------------------------------------- */

mc_reg b16(mc_builder *b, const char *name);
mc_reg b32(mc_builder *b, const char *name);
mc_reg b64(mc_builder *b, const char *name);
mc_reg pred(mc_builder *b, const char *name);
void b32_array(mc_builder *b, const char *name, int count, mc_reg *regs);
void b64_array(mc_builder *b, const char *name, int count, mc_reg *regs);
void pred_array(mc_builder *b, const char *name, int count, mc_reg *regs);
mc_label label(mc_builder *b, const char *name);
void set_label(mc_builder *b, mc_label label);
enum { STATIC_SHARED = 48 << 10 }; /* bytes that the PTX of a kernel can declare */
/* Of dynamic arrays a kernel has one. */
void shared_array(mc_builder *b, const char *name, unsigned bytes, unsigned align);
void shared_dynamic(mc_builder *b, const char *name, unsigned align);

/* -- Operands ----------------------------------------------------------------------------------------- */

static inline mc_operand operand_vector(const mc_reg *regs, int count) {
    if (count == 1) return *regs;
    return (mc_operand){.kind = PTX_REG, .count = count, .regs = regs};
}
static inline mc_operand V2(const mc_reg *regs) { return operand_vector(regs, 2); }
static inline mc_operand V4(const mc_reg *regs) { return operand_vector(regs, 4); }
static inline mc_operand I(int64_t value) { return (mc_operand){.kind = PTX_IMM, .imm = value}; }
static inline mc_operand H(uint32_t mask) { return (mc_operand){.kind = PTX_IMM, .imm = mask, .hex = true}; }
/* The bits of VALUE. */
static inline mc_operand F32(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return H(bits);
}
static inline mc_operand AT(mc_reg base, int64_t offset) {
    return (mc_operand){.kind = PTX_ADDRESS, .id = base.id, .imm = offset};
}
static inline mc_operand NAME(const char *text) { return (mc_operand){.kind = PTX_TEXT, .text = text}; }
static inline mc_operand TO(mc_label target) { return (mc_operand){.kind = PTX_LABEL, .imm = target.id}; }
/* A guard that holds where PREDICATE does not. */
static inline mc_operand NOT(mc_reg predicate) {
    predicate.negated = !predicate.negated;
    return predicate;
}
/* TENSOR(map, x, y, ...): coordinates in the order of the tensor map's dimensions, the innermost first. */
#define TENSOR(map, ...)                                                                                     \
    ((mc_operand){.kind = PTX_TENSOR,                                                                        \
                  .id = (map).id,                                                                            \
                  .count = sizeof((const mc_reg[]){__VA_ARGS__}) / sizeof(mc_reg),                           \
                  .regs = (const mc_reg[]){__VA_ARGS__}})

/* -- Expressions -------------------------------------------------------------------------------------- */

/* Every row E of isa.def is a function of its name: and_b32(b, "lane", thread, I(31)) declares the register
   %lane, writes it and returns it. Nothing else may write that register. */
#define SOURCES_1 mc_operand x
#define SOURCES_2 mc_operand x, mc_operand y
#define SOURCES_3 mc_operand x, mc_operand y, mc_operand z
#define SOURCES_4 mc_operand x, mc_operand y, mc_operand z, mc_operand w
#define O(...)
#define E(count, name, ...) mc_reg name(mc_builder *b, const char *reg, SOURCES_##count);
#include "ptx/isa.def"
#undef O

/* Declares a register that EMIT may write again, and gives it a first VALUE: b32, or b64. */
mc_reg carried(mc_builder *b, const char *name, mc_operand value);
mc_reg carried_b64(mc_builder *b, const char *name, mc_operand value);

/* -- Instructions and notes --------------------------------------------------------------------------- */

void builder_emit(mc_builder *b, mc_reg guard, mc_opcode op, const mc_operand *operands, size_t count);
/* A heading before a section of the kernel, and a remark inside of one. */
void heading(mc_builder *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void note(mc_builder *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define MC_OPERANDS(...)                                                                                     \
    (const mc_operand[]){__VA_ARGS__}, sizeof((const mc_operand[]){__VA_ARGS__}) / sizeof(mc_operand)
#define EMIT(b, op, ...)       builder_emit(b, (mc_reg){0}, OP_##op, MC_OPERANDS(__VA_ARGS__))
#define EMIT_IF(b, p, op, ...) builder_emit(b, p, OP_##op, MC_OPERANDS(__VA_ARGS__))
/* Instructions without operands. */
#define EMIT_BARE(b, op) builder_emit(b, (mc_reg){0}, OP_##op, NULL, 0)
#define EMIT_RET(b)      EMIT_BARE(b, ret)

/* -- signature.c -------------------------------------------------------------------------------------- */

/* Says in b->error what is wrong with OPERANDS of an instruction. */
void builder_check_operands(mc_builder *b, mc_opcode op, const mc_operand *operands, size_t count);
mc_reg_type builder_type_of(const mc_builder *b, mc_reg reg);
/* How many operands of an instruction are destinations, and the type of the first. */
int op_destinations(mc_opcode op);
mc_reg_type op_result_type(mc_opcode op);
/* The letter of operand INDEX in the signature. */
char op_letter(mc_opcode op, size_t index);
/* How many columns of B an accumulator of a wgmma stands for: n is so many times their number. 0: OP is no
   wgmma. */
int op_columns(mc_opcode op);

/* -- Lines as they are kept --------------------------------------------------------------------------- */

static inline const mc_operand *line_operands(const mc_builder *b, const mc_line *line) {
    return &b->operands[line->first_operand];
}
/* How many registers a kept OPERAND names, and its register I. */
static inline int operand_regs(const mc_operand *operand) {
    return (operand->id != 0) + (operand->kind == PTX_IMM ? 0 : operand->count);
}
static inline int operand_reg(const mc_builder *b, const mc_operand *operand, int i) {
    if (operand->id) return i ? b->vectors[operand->first + (size_t)i - 1] : operand->id;
    return b->vectors[operand->first + (size_t)i];
}

/* -- check.c ------------------------------------------------------------------------------------------ */

/* Whether labels are placed once, and registers are written on every path before they are read. On success it
   sets the least .version, and, unless REGISTERS is NULL, the most 32-bit registers that are alive at one
   point. */
bool builder_check(mc_builder *b, int *version, int *registers);

/* -- simplify.c -------------------------------------------------------------------------------------- */

/* Drops what does nothing. It requires lines that builder_check has accepted; so are those that it leaves. */
bool builder_simplify(mc_builder *b);

/* -- print.c ------------------------------------------------------------------------------------------ */

/* Appends the braces of the entry and all between them. */
void print_body(const mc_builder *b, mc_text *text);

#endif
