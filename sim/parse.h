/* State and parts of the parser. Functions that can fail return false after they have set the fault. */
#ifndef SIM_PARSE_H
#define SIM_PARSE_H

#include "lex.h"
#include "module.h"
#include "ops.h"

enum { SIM_BUCKETS = 1024, SIM_MAX_INSNS = 1 << 20 };

enum sim_symbol_kind { SIM_SYMBOL_REGISTER, SIM_SYMBOL_VARIABLE, SIM_SYMBOL_FUNCTION };

/* A register, a variable or a function. */
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
    bool dynamic;                  /* .extern .shared name[] */
    struct sim_variable *variable; /* in .global or .const; NULL: declared, not defined */
    struct sim_routine *routine;
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

/* A function of the module, as it was declared or defined. */
struct sim_routine {
    const char *name;
    bool defined, is_extern;
    struct sim_lexer lexer; /* behind `.func`, with the token there */
    struct sim_token token;
    int result_count, param_count;
    const struct sim_room *results, *params; /* their sizes */
    /* While an entry is parsed: what its code has of the function. */
    const ptxsim_function *owner;
    struct sim_callee *callee;
    struct sim_routine *waiting; /* the next one whose code is to follow */
    struct sim_edge *calls;
    int depth; /* of calls from here on; 0: not known, -1: being looked at */
};

/* CALLER calls ROUTINE. */
struct sim_edge {
    struct sim_edge *next;
    struct sim_routine *routine;
    int line;
};

/* A ret of a function, which jumps to its end. */
struct sim_jump {
    struct sim_jump *next;
    int insn;
};

/* A brx.idx, and the name of its table. */
struct sim_switch {
    struct sim_switch *next;
    struct sim_token name;
    struct sim_targets *targets;
};

/* A .branchtargets. */
struct sim_table {
    struct sim_table *next;
    struct sim_token name;
    const struct sim_token *labels;
    int count, scope;
};

/* An entry that calls a function which is defined behind it. */
struct sim_entry {
    struct sim_entry *next;
    struct sim_lexer lexer;
    struct sim_token token;
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
    /* Functions: parse_function.c. */
    struct sim_routine *routine; /* whose code is in work, NULL in an entry */
    struct sim_routine *waiting; /* those whose code is to follow */
    struct sim_edge *edges;      /* calls by the entry itself */
    struct sim_jump *returns;    /* of the function in work */
    struct sim_table *tables;    /* of the function in work */
    struct sim_switch *switches;
    int total_code, room_capacity;
    size_t repeated;         /* letters of functions, as often as they were parsed */
    int total_targets;       /* of brx.idx */
    struct sim_entry *later; /* entries to parse at the end */
    bool at_end, postponed;  /* whether that is now; whether the entry in work calls what is defined later */
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
/* Where NAME is, seen from SCOPE; -1 after an error. */
int sim_label_find(struct sim_parser *p, const struct sim_token *name, int scope);

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

/* parse.c */
bool sim_accept_dot(struct sim_parser *p, const char *text, bool *accepted);
bool sim_parse_body(struct sim_parser *p);
/* A directive between parameters and body. */
bool sim_parse_tuning(struct sim_parser *p);
/* Begins a function's code. */
bool sim_new_function(struct sim_parser *p, const char *name);

/* parse_function.c: .func, call, brx.idx */
bool sim_parse_func(struct sim_parser *p, bool is_extern);
bool sim_parse_call(struct sim_parser *p, struct sim_insn *insn);
/* A ret in a function becomes a branch to its end. */
bool sim_parse_return(struct sim_parser *p, struct sim_insn *insn);
void sim_start_calls(struct sim_parser *p);
/* Appends the code of the functions that the entry in work calls. */
bool sim_finish_calls(struct sim_parser *p);

/* Of all entries, to bound what a module can make of its functions. */
bool sim_count_code(struct sim_parser *p, int line);

/* parse_memory.c: variables in .local and .param, of which each thread has its own, and in .global and
   .const */
bool sim_parse_local(struct sim_parser *p);
bool sim_parse_frame(struct sim_parser *p);
/* One variable in .param of a function, or, SIZE_ONLY, its size: {.align n} .type name{[n]} */
bool sim_parse_frame_variable(struct sim_parser *p, bool size_only, struct sim_room *room);
bool sim_parse_module_variable(struct sim_parser *p, enum sim_space space, bool is_extern);
/* LANES, of BYTES each, are to hold the variable's address. */
bool sim_refer_variable(struct sim_parser *p, const struct sim_symbol *symbol, uint64_t offset, void *lanes,
                        unsigned bytes);

/* parse_table.c: .branchtargets and brx.idx */
bool sim_parse_label_directive(struct sim_parser *p, const struct sim_token *label);
bool sim_parse_targets(struct sim_parser *p, struct sim_insn *insn);
bool sim_tables_resolve(struct sim_parser *p);

/* parse_decl.c: .reg and .shared */
bool sim_parse_reg(struct sim_parser *p);
bool sim_parse_shared(struct sim_parser *p, bool is_extern);
bool sim_parse_align(struct sim_parser *p, uint32_t *align);
bool sim_place_shared(struct sim_parser *p, struct sim_symbol *symbol);
/* [n][m]... behind a variable's name; *ELEMENTS is their product, at most MOST, *OPEN whether the first is
   []. */
bool sim_parse_dimensions(struct sim_parser *p, uint64_t most, uint64_t *elements, bool *open);

/* parse_operand.c */
bool sim_use_register(struct sim_parser *p, struct sim_symbol *symbol, struct sim_value *value);
bool sim_parse_operands(struct sim_parser *p, struct sim_insn *insn);

/* check.c: what the ISA forbids beyond the types of operands; NULL, or why INSN is refused. */
const char *sim_check(const struct sim_insn *insn, ptxsim_status *status);

/* parse_insn.c: one statement that starts with an opcode, a guard or a label */
bool sim_parse_instruction(struct sim_parser *p);
bool sim_append_insn(struct sim_parser *p, const struct sim_insn *insn);

#endif
