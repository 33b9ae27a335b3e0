/* The PTX builder. Families say what to do with typed virtual registers; the builder checks every operand
 * against the instruction's row in isa.def; print.c alone writes text.
 *
 *   mc_reg lane = b32(b, "lane");
 *   EMIT(b, and_b32, R(lane), R(tid), I(31));
 *   EMIT_IF(b, in_range, ldg_v4, V4(rows), AT(address, 16));
 *
 * The first mistake is kept (mc_builder.error) and everything after it is ignored, so that emitters need no
 * checks. */
#ifndef MC_BUILDER_H
#define MC_BUILDER_H

#include "arch/arch.h"
#include "schema/schema.h"

typedef enum mc_opcode {
#define O(name, mnemonic, signature, version, sm) OP_##name,
#include "ptx/isa.def"
#undef O
    MC_OPCODES
} mc_opcode;

typedef struct mc_op {
    const char *name, *mnemonic, *signature;
    int version, sm;
} mc_op;

extern const mc_op mc_ops[MC_OPCODES];

typedef enum mc_reg_type { REG_PRED, REG_B32, REG_B64 } mc_reg_type;

/* A virtual register: its number + 1, or 0 for none. */
typedef struct mc_reg {
    int id;
} mc_reg;

typedef struct mc_label {
    int id;
} mc_label;

enum { MC_MAX_VECTOR = 4, MC_MAX_OPERANDS = 5 };

typedef enum mc_operand_kind {
    OPERAND_REG, /* one register or a vector of them */
    OPERAND_IMM,
    OPERAND_ADDRESS, /* [reg + imm] */
    OPERAND_TENSOR,  /* [map, {x, y}]: regs[0] is the map, regs[1] and regs[2] are the coordinates */
    OPERAND_TEXT,    /* parameter, special register or shared array, by name */
    OPERAND_LABEL,   /* imm is the label's number */
} mc_operand_kind;

typedef struct mc_operand {
    mc_operand_kind kind;
    int count;
    mc_reg regs[MC_MAX_VECTOR];
    int64_t imm;
    bool hex;         /* of an immediate: it is a mask, printed in hex */
    const char *text; /* a string that stays */
} mc_operand;

typedef enum mc_line_kind { LINE_INSTR, LINE_LABEL, LINE_NOTE, LINE_STAGE } mc_line_kind;

typedef struct mc_line {
    mc_line_kind kind;
    mc_opcode op;
    mc_reg guard; /* 0: none */
    int operand_count;
    mc_operand operands[MC_MAX_OPERANDS];
    int label;
    char *note;
} mc_line;

/* A declaration: a register, or COUNT of them, which have a number behind the name. */
typedef struct mc_reg_group {
    char name[MC_MAX_NAME];
    mc_reg_type type;
    int first, count; /* count 0: a single register without a number */
} mc_reg_group;

typedef struct mc_reg_info {
    int group, index;
} mc_reg_info;

typedef struct mc_builder {
    const mc_arch *arch;
    mc_line *lines;
    size_t line_count, line_room;
    mc_reg_group *groups;
    size_t group_count, group_room;
    mc_reg_info *regs;
    size_t reg_count, reg_room;
    char (*labels)[MC_MAX_NAME];
    size_t label_count, label_room;
    const char *shared_name;             /* the one shared array, NULL: none */
    unsigned shared_bytes, shared_align; /* 0 bytes: dynamic, as large as the launch says */
    bool
        /* shared memory decides how many thread blocks a multiprocessor holds, and registers follow */
        fills_shared;
    int spare;    /* registers that ptxas takes beyond those alive and the usual reserve */
    mc_reg batch; /* the grid's z, where it counts products (parts/batch.h) */
    const struct mc_batch_array *batch_arrays;
    size_t batch_array_count;
    const char *prefix; /* put before the names of registers and labels */
    char error[200];
    bool no_memory;
} mc_builder;

void builder_free(mc_builder *b);

/* -- Registers, labels, shared memory ----------------------------------------------------------------- */

mc_reg b32(mc_builder *b, const char *name);
mc_reg b64(mc_builder *b, const char *name);
mc_reg pred(mc_builder *b, const char *name);
void b32_array(mc_builder *b, const char *name, int count, mc_reg *regs);
void b64_array(mc_builder *b, const char *name, int count, mc_reg *regs);
void pred_array(mc_builder *b, const char *name, int count, mc_reg *regs);
mc_label label(mc_builder *b, const char *name);
void place(mc_builder *b, mc_label label);
enum { STATIC_SHARED = 48 << 10 }; /* bytes that the PTX of a kernel can declare */
void shared_array(mc_builder *b, const char *name, unsigned bytes, unsigned align);
void shared_dynamic(mc_builder *b, const char *name, unsigned align);

/* -- Operands ----------------------------------------------------------------------------------------- */

/* Of more than MC_MAX_VECTOR registers it keeps only the count, which builder_emit refuses. */
mc_operand operand_vector(const mc_reg *regs, int count);
static inline mc_operand R(mc_reg reg) { return operand_vector(&reg, 1); }
static inline mc_operand V2(const mc_reg *regs) { return operand_vector(regs, 2); }
static inline mc_operand V4(const mc_reg *regs) { return operand_vector(regs, 4); }
static inline mc_operand I(int64_t value) { return (mc_operand){.kind = OPERAND_IMM, .imm = value}; }
static inline mc_operand H(uint32_t mask) {
    return (mc_operand){.kind = OPERAND_IMM, .imm = mask, .hex = true};
}
static inline mc_operand TENSOR(mc_reg map, mc_reg x, mc_reg y) {
    return (mc_operand){.kind = OPERAND_TENSOR, .count = 3, .regs = {map, x, y}};
}
static inline mc_operand AT(mc_reg base, int64_t offset) {
    return (mc_operand){.kind = OPERAND_ADDRESS, .count = 1, .regs = {base}, .imm = offset};
}
static inline mc_operand NAME(const char *text) { return (mc_operand){.kind = OPERAND_TEXT, .text = text}; }
static inline mc_operand TO(mc_label target) { return (mc_operand){.kind = OPERAND_LABEL, .imm = target.id}; }

/* -- Instructions and notes --------------------------------------------------------------------------- */

void builder_emit(mc_builder *b, mc_reg guard, mc_opcode op, const mc_operand *operands, size_t count);
/* A heading before a section of the kernel, and a remark inside of one. */
void stage(mc_builder *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void note(mc_builder *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define MC_OPERANDS(...)                                                                                     \
    (const mc_operand[]){__VA_ARGS__}, sizeof((const mc_operand[]){__VA_ARGS__}) / sizeof(mc_operand)
#define EMIT(b, op, ...)       builder_emit(b, (mc_reg){0}, OP_##op, MC_OPERANDS(__VA_ARGS__))
#define EMIT_IF(b, p, op, ...) builder_emit(b, p, OP_##op, MC_OPERANDS(__VA_ARGS__))
/* Instructions without operands. */
#define EMIT_BARE(b, op) builder_emit(b, (mc_reg){0}, OP_##op, NULL, 0)
#define EMIT_RET(b)      EMIT_BARE(b, ret)

/* -- check.c ------------------------------------------------------------------------------------------ */

/* How many operands of LINE are destinations. */
int line_defs(const mc_line *line);
/* Whether labels are placed once, and registers are written on every path before they are read. On success it
   sets the least .version, and the most 32-bit registers that are alive at one point. */
bool builder_check(mc_builder *b, int *version, int *registers);

/* -- print.c ------------------------------------------------------------------------------------------ */

/* Appends the braces of the entry and all between them. */
void print_body(const mc_builder *b, mc_text *text);

#endif
