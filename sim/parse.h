/* State and parts of the parser. Functions that can fail return false after they have set the fault. */
#ifndef SIM_PARSE_H
#define SIM_PARSE_H

#include "lex.h"
#include "module.h"
#include "ops.h"

enum { SIM_BUCKETS = 1024, SIM_MAX_INSNS = 1 << 20 };

enum sim_symbol_kind { SIM_SYMBOL_REGISTER, SIM_SYMBOL_VARIABLE };

/* A register, or a variable in .shared or .param. */
struct sim_symbol {
    struct sim_symbol *next; /* in its bucket, innermost scope first */
    const char *name;
    size_t length;
    enum sim_symbol_kind kind;
    enum sim_type type; /* of a register */
    int scope;
    const ptxsim_function *owner; /* where reg or at hold; NULL: not placed yet */
    uint16_t reg;
    uint32_t at; /* in the register file, or the variable's address */
    enum sim_space space;
    uint32_t bytes, align;
    bool dynamic; /* .extern .shared name[] */
};

/* A label, or a reference to one. */
struct sim_label {
    const char *name;
    size_t length;
    int scope, line;
    int at;   /* the instruction behind the label; of a reference, the branch */
    int next; /* in its bucket: the index of the one before, -1 at the end; of labels only */
};

struct sim_labels {
    struct sim_label *items;
    int count, capacity;
};

struct sim_constant {
    struct sim_constant *next;
    uint64_t bits;
    unsigned bytes;
    bool predicate;
    void *lanes;
};

/* A constant that holds an address in dynamic shared memory, known once all static shared memory is. */
struct sim_fixup {
    struct sim_fixup *next;
    void *lanes;
    unsigned bytes;
    uint64_t offset;
};

struct sim_parser {
    struct sim_lexer lexer;
    struct sim_token token; /* the next one */
    ptxsim_fault *fault;
    ptxsim_module *module;
    ptxsim_function *function; /* the one in work, or NULL */
    struct sim_arena scratch;  /* freed after parsing */
    struct sim_symbol *bucket[SIM_BUCKETS];
    int *scope_parent; /* by scope; scope 0 is the module's */
    int scope, scope_count, scope_capacity, depth;
    uint64_t declared;                    /* registers of ranges so far */
    struct sim_labels labels, references; /* of the function */
    int label_bucket[SIM_BUCKETS];
    struct sim_constant *constant[SIM_BUCKETS];
    struct sim_fixup *fixups;
    int code_capacity, register_capacity;
    struct sim_value value[SIM_MAX_VALUES]; /* of the instruction in work, as sim_insn has them */
    uint16_t use[SIM_MAX_VALUES];
    uint32_t special_at[SIM_SPECIAL_COUNT];
    uint16_t special_reg[SIM_SPECIAL_COUNT];
    uint32_t dynamic_align;
};

/* parse_base.c: tokens, errors, memory */
bool sim_error(struct sim_parser *p, ptxsim_status status, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool sim_unexpected(struct sim_parser *p, const char *wanted); /* "line's token is not WANTED" */
bool sim_no_memory(struct sim_parser *p);
bool sim_advance(struct sim_parser *p);
bool sim_is_punct(const struct sim_parser *p, char c);
bool sim_accept(struct sim_parser *p, char c, bool *accepted);
bool sim_expect(struct sim_parser *p, char c);
bool sim_token_is(const struct sim_token *token, enum sim_token_kind kind, const char *text);
/* Memory of the module, or of the parser alone; NULL after setting the fault. */
void *sim_keep(struct sim_parser *p, size_t bytes);
void *sim_scratch(struct sim_parser *p, size_t bytes);
/* Makes room for one more in ARRAY (COUNT items of SIZE bytes). */
bool sim_grow(struct sim_parser *p, void **array, int count, int *capacity, size_t size);

/* scope.c: names */
bool sim_scope_open(struct sim_parser *p);
void sim_scope_close(struct sim_parser *p);
struct sim_symbol *sim_lookup(const struct sim_parser *p, const char *name, size_t length);
/* A new symbol in the innermost scope; NULL if the name is taken there or memory ran out. */
struct sim_symbol *sim_declare(struct sim_parser *p, const char *name, size_t length,
                               enum sim_symbol_kind kind);
void sim_labels_reset(struct sim_parser *p);
bool sim_label_define(struct sim_parser *p, const struct sim_token *name);
bool sim_label_refer(struct sim_parser *p, const struct sim_token *name, int insn);
bool sim_labels_resolve(struct sim_parser *p);

/* constant.c: constant expressions and the constants that instructions read */
struct sim_number {
    bool is_float;
    unsigned float_bytes;
    uint64_t bits;
};
bool sim_parse_number(struct sim_parser *p, struct sim_number *number);
/* An integer constant expression between LOW and HIGH. */
bool sim_parse_integer(struct sim_parser *p, uint64_t low, uint64_t high, uint64_t *value);
bool sim_constant_value(struct sim_parser *p, const struct sim_number *number, enum sim_type type,
                        struct sim_value *value);
bool sim_constant_address(struct sim_parser *p, const struct sim_symbol *symbol, uint64_t offset,
                          enum sim_type type, struct sim_value *value);
void sim_fix_dynamic_addresses(struct sim_parser *p);

/* parse_decl.c: .reg and .shared */
bool sim_parse_reg(struct sim_parser *p);
bool sim_parse_shared(struct sim_parser *p, bool is_extern);
bool sim_parse_align(struct sim_parser *p, uint32_t *align);
bool sim_place_shared(struct sim_parser *p, struct sim_symbol *symbol);

/* parse_operand.c */
bool sim_use_register(struct sim_parser *p, struct sim_symbol *symbol, struct sim_value *value);
bool sim_parse_operands(struct sim_parser *p, struct sim_insn *insn);

/* check.c: what the ISA forbids beyond the types of operands; NULL, or why INSN is refused. */
const char *sim_check(const struct sim_insn *insn, ptxsim_status *status);

/* parse_insn.c: one statement that starts with an opcode, a guard or a label */
bool sim_parse_instruction(struct sim_parser *p);
bool sim_append_insn(struct sim_parser *p, const struct sim_insn *insn);

#endif
