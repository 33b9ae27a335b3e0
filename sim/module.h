/* What a parsed module is made of. The parser writes it, the executors read it and never change it. */
#ifndef SIM_MODULE_H
#define SIM_MODULE_H

#include "ptxsim.h"
#include "types.h"

enum {
    SIM_LANES = 32,
    SIM_MAX_VALUES = 160,      /* operands of an instruction, vectors counted by element */
    SIM_MAX_REGISTERS = 65535, /* of a function */
    SIM_NO_REGISTER = 0xffff,
    SIM_MAX_SHARED = 227 * 1024, /* bytes a block, static and dynamic */
    SIM_MAX_PARAM_BYTES = 32764, /* ISA, "Kernel Function Parameters" */
    SIM_MAX_BLOCK = 1024,
    SIM_BARRIERS = 16,
    SIM_MAX_CLUSTER = 8,          /* blocks of a cluster; every device with clusters has room for as many */
    SIM_COPY_SIZE = 4,            /* index of the operand of a cp.async that is its size */
    SIM_MAX_CONST = 64 * 1024,    /* bytes of a .const variable */
    SIM_MAX_INITIAL = 1 << 26,    /* bytes of a variable that has an initial value */
    SIM_MAX_VARIABLE_ALIGN = 256, /* what an allocation has */
    SIM_MAX_CALL_DEPTH = 32,      /* calls inside of calls */
    SIM_MAX_THREAD_BYTES = 512 * 1024 /* a thread's local memory and its frames */
};

/* Constant memory's addresses are generic ones less this: where allocations begin. */
#define SIM_CONST_BASE (UINT64_C(1) << 44)

#define SIM_FULL_MASK    0xffffffffu
#define SIM_EACH_LANE(l) for (int l = 0; l < SIM_LANES; l++)
#define SIM_ACTIVE(m, l) ((m) >> (l)&1u)

/* State spaces (ISA, "State Spaces"). SIM_SHARED is .shared::cta, SIM_PARAM a kernel's parameters,
   SIM_FRAME those that functions are called with. */
enum sim_space {
    SIM_GENERIC,
    SIM_GLOBAL,
    SIM_SHARED,
    SIM_SHARED_CLUSTER,
    SIM_PARAM,
    SIM_CONST,
    SIM_LOCAL,
    SIM_FRAME
};

/* Whether a space holds nothing that two threads could race on. */
static inline bool sim_is_private(unsigned space) { return space >= SIM_PARAM; }

/* Comparisons in the order of the names in match.c. */
enum sim_comparison {
    SIM_EQ,
    SIM_NE,
    SIM_LT,
    SIM_LE,
    SIM_GT,
    SIM_GE,
    SIM_LO,
    SIM_LS,
    SIM_HI,
    SIM_HS,
    SIM_EQU,
    SIM_NEU,
    SIM_LTU,
    SIM_LEU,
    SIM_GTU,
    SIM_GEU,
    SIM_NUM,
    SIM_NAN
};

enum sim_memory_order { SIM_RELAXED = 1, SIM_ACQUIRE, SIM_RELEASE, SIM_ACQ_REL };

enum sim_scope { SIM_CTA = 1, SIM_CLUSTER, SIM_GPU, SIM_SYS };

enum sim_combine { SIM_COMBINE_NONE, SIM_COMBINE_AND, SIM_COMBINE_OR, SIM_COMBINE_XOR };

/* What cp.reduce.async.bulk does with the bytes that are there. */
enum sim_reduction { SIM_ADD = 1, SIM_MIN, SIM_MAX, SIM_AND, SIM_OR, SIM_XOR, SIM_INC, SIM_DEC };

enum sim_rounding {
    SIM_ROUND_NONE,
    SIM_RN,
    SIM_RZ,
    SIM_RM,
    SIM_RP,
    SIM_RNA,
    SIM_RNI,
    SIM_RZI,
    SIM_RMI,
    SIM_RPI
};

enum sim_modifier {
    SIM_SAT = 1,
    SIM_SATFINITE = 2,
    SIM_UNI = 4,
    SIM_FTZ = 8,
    SIM_ALIGNED = 16,
    SIM_RELU = 32,
    SIM_NAN_WINS = 64,      /* min and max: .NaN */
    SIM_TRANSPOSED = 128,   /* .trans */
    SIM_CACHE_POLICY = 256, /* .L2::cache_hint, which brings an operand */
    SIM_NOINC = 512,
    SIM_READ_ONLY = 1024,    /* .read of cp.async.bulk.wait_group */
    SIM_ORDERED = 2048,      /* ::ordered_metadata */
    SIM_SPARSE = 4096,       /* .sp of wgmma */
    SIM_MULTICAST = 8192,    /* .multicast::cluster, which brings an operand */
    SIM_INCREASE = 16384,    /* .inc of setmaxnreg */
    SIM_SET_CARRY = 1 << 15, /* .cc */
    SIM_XOR_SIGN = 1 << 16   /* .xorsign */
};

enum sim_value_kind {
    SIM_SINK, /* `_`, or an optional operand that is not there */
    SIM_REGISTER,
    SIM_CONSTANT
};

/* One scalar operand. A register's 32 lanes lie at byte AT of a warp's register file, each of the register's
   size; a predicate is one 32-bit mask there. A constant is laid out the same, at LANES. */
struct sim_value {
    uint8_t kind;
    uint8_t type; /* the register's type, or the type that the constant was made for */
    bool negated; /* !p */
    uint16_t reg;
    union {
        uint32_t at;
        const void *lanes;
    };
};

struct sim_warp;
struct sim_insn;
/* Executes INSN for the lanes in MASK, which is not 0. A fault is reported through sim_fault_at. */
typedef void sim_exec(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask);

struct sim_op;

struct sim_insn {
    sim_exec *exec;
    const struct sim_op *op;
    int line;
    int target;     /* bra: where to */
    int reconverge; /* bra: the immediate post-dominator */
    uint8_t type, type2, type3;
    uint8_t space, vector;
    uint16_t columns, depth; /* N and K of a wgmma's shape */
    uint32_t modifiers;
    uint8_t comparison, combine, rounding;
    uint8_t reduction; /* of cp.reduce.async.bulk; 0: none */
    uint8_t value_count, destination_count, use_count;
    bool reads_clock;
    bool guard_negated;
    uint8_t order, scope; /* order and scope of a strong access or a fence; 0: not said */
    bool relaxed;         /* an mbarrier operation that orders nothing */
    uint16_t guard;       /* predicate register, or SIM_NO_REGISTER */
    uint32_t guard_at;
    struct sim_value base; /* base of an address; SIM_SINK if the address is the offset alone */
    int64_t offset;
    uint32_t low, high;      /* .param: the bytes that the access may touch */
    struct sim_value *value; /* the operands, destinations first */
    uint16_t *use;           /* the registers that it reads */
};

/* Whether a strong access reaches the other blocks of its cluster. */
static inline bool sim_reaches_cluster(const struct sim_insn *insn) {
    return insn->scope == 0 || insn->scope >= SIM_CLUSTER;
}

/* Whether a strong access or fence reaches other blocks. Its default is .gpu, and a volatile access has more
   than that. */
static inline bool sim_is_wide(const struct sim_insn *insn) {
    return insn->scope == 0 || insn->scope >= SIM_GPU;
}

struct sim_register {
    const char *name;
    enum sim_type type;
};

struct sim_param {
    const char *name;
    uint32_t at, bytes;
};

/* A variable in a thread's own memory. */
struct sim_room {
    uint32_t at, bytes;
    bool local; /* in .local: otherwise a parameter of a call */
};

/* A function as one entry calls it: a part of the entry's code, with registers and memory of its own, which
   are undefined where a call begins. */
struct sim_callee {
    const char *name;
    int start, end; /* its instructions; the last one leaves it */
    int first_register, end_register;
    uint32_t first_byte, end_byte; /* of a thread's own memory */
    int result_count, param_count;
    const struct sim_room *results, *params;
    bool missing; /* declared only: a call of it is a fault */
};

/* A call, where value[0] of the instruction points. */
struct sim_call {
    const struct sim_callee *callee;
    const struct sim_room *results, *params; /* of the caller: as many as the callee has */
};

/* The targets of a brx.idx, where value[1] of the instruction points. */
struct sim_targets {
    int count;
    int *at;
};

/* A variable in .global or .const. */
struct sim_variable {
    struct sim_variable *next;
    const char *name;
    enum sim_space space;
    size_t bytes;
    unsigned char *initial; /* NULL: zeros */
    uint64_t address;       /* its generic one, 0 before the module is loaded */
};

/* A place that holds a variable's address, known once the module is loaded: COUNT times BYTES at TO, or, in
   the initial value of another variable, once. */
struct sim_relocation {
    struct sim_relocation *next;
    const struct sim_variable *variable;
    uint64_t offset;
    bool generic; /* the address is a generic one, otherwise one in the variable's space */
    void *to;
    unsigned bytes, count;
};

/* A special register is a register that the warp's start fills. */
struct sim_special {
    uint8_t which;
    uint16_t reg;
    uint32_t at;
};

struct ptxsim_function {
    const char *name;
    ptxsim_function *next;
    struct sim_insn *code;
    int code_count;
    int *parts; /* where the code of the functions begins that the entry calls, in ascending order */
    int part_count;
    struct sim_register *registers; /* those that the code names */
    int register_count;
    uint32_t file_bytes; /* of a warp's register file */
    struct sim_special *specials;
    int special_count;
    struct sim_param *params;
    int param_count;
    uint32_t param_bytes;
    struct sim_room *rooms; /* of a thread's own memory, by address */
    int room_count;
    uint32_t thread_bytes;                   /* of a thread's own memory: .local, and frames of calls */
    uint32_t shared_bytes;                   /* static */
    unsigned reqntid[3], maxntid;            /* 0: not stated */
    unsigned maxnreg, minnctapersm;          /* the same */
    unsigned cluster[3];                     /* .reqnctapercluster; 0: not stated */
    bool explicit_cluster, max_cluster_rank; /* whether these directives are there */
};

struct sim_chunk {
    struct sim_chunk *next;
};

/* Memory that is freed all at once. */
struct sim_arena {
    struct sim_chunk *chunks;
    char *at;
    size_t left;
};

struct ptxsim_module {
    ptxsim_module *next;
    struct sim_arena arena;
    ptxsim_function *functions;
    struct sim_variable *variables;
    uint64_t variable_bytes;
    struct sim_relocation *relocations;
};

/* BYTES of zeroed memory, 16-byte aligned; NULL if there is none. */
void *sim_arena_alloc(struct sim_arena *arena, size_t bytes);
void sim_arena_free(struct sim_arena *arena);

/* Parses TEXT into a module; on failure *MODULE is not set and FAULT says why. */
ptxsim_status sim_parse(const char *text, ptxsim_module **module, ptxsim_fault *fault);
void sim_module_free(ptxsim_module *module);

/* Sets `reconverge` of every branch (cfg.c). False if memory ran out. */
bool sim_find_reconvergence(ptxsim_function *function);

void sim_fault_set(ptxsim_fault *fault, ptxsim_status status, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
