/* libptxsim: a functional simulator of PTX.
 *
 * It parses PTX text and runs a grid of thread blocks on the CPU, instruction by instruction, as the PTX ISA
 * says. It knows nothing of the program that wrote the PTX. It stops at the first thing that a GPU would get
 * wrong or would let pass in silence: an access out of bounds or misaligned, a read of a register or of
 * memory that nothing wrote, a race, a barrier that only some threads of a block reach, an instruction that
 * it does not know. The shape is the CUDA driver's:
 *
 *   ptxsim *sim;  ptxsim_module *module;  const ptxsim_function *function;
 *   ptxsim_create(NULL, &sim);
 *   ptxsim_alloc(sim, bytes, &address);   ptxsim_write(sim, address, data, bytes);
 *   ptxsim_module_load(sim, ptx_text, &module);
 *   ptxsim_module_function(sim, module, "kernel", &function);
 *   void *params[] = {&address, &n};
 *   ptxsim_launch(sim, function, (ptxsim_dim3){grid, 1, 1}, (ptxsim_dim3){256, 1, 1}, 0, params);
 *
 * Every function returns a status; after one that is not PTXSIM_OK, ptxsim_fault_of says what, where and who.
 * A ptxsim and all that it made may be used by one thread at a time; different ptxsim are independent. */
#ifndef PTXSIM_H
#define PTXSIM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PTXSIM_API __attribute__((visibility("default")))

#define PTXSIM_STATUS_LIST(X)                                                                                \
    X(OK, "done")                                                                                            \
    X(NOMEM, "out of memory")                                                                                \
    X(INVALID, "wrong argument of a call")                                                                   \
    X(PARSE, "the PTX does not parse")                                                                       \
    X(UNSUPPORTED, "an instruction or form that the simulator does not know")                                \
    X(BOUNDS, "an access out of bounds")                                                                     \
    X(ALIGN, "a misaligned access")                                                                          \
    X(UNINIT, "a read of a register or of memory that was never written")                                    \
    X(RACE, "two accesses that nothing orders")                                                              \
    X(BARRIER, "a divergent or incomplete barrier")                                                          \
    X(TRAP, "the kernel trapped, or an operation's operands are illegal")                                    \
    X(LIMIT, "the launch ran past its instruction limit")                                                    \
    X(ASYNC, "an asynchronous copy, mbarrier or proxy used against the rules")

typedef enum ptxsim_status {
#define X(name, text) PTXSIM_##name,
    PTXSIM_STATUS_LIST(X)
#undef X
} ptxsim_status;

PTXSIM_API const char *ptxsim_status_text(ptxsim_status status);

typedef struct ptxsim ptxsim;
typedef struct ptxsim_module ptxsim_module;
typedef struct ptxsim_function ptxsim_function;

typedef struct ptxsim_dim3 {
    unsigned x, y, z;
} ptxsim_dim3;

/* In which order the warps of a block, and the blocks of a cluster, get their turns. In order and reversed, a
   warp runs until it waits; seeded, warps take turns at random points after accesses to memory, by
   options.seed. A kernel without races computes the same in every order. */
typedef enum ptxsim_order { PTXSIM_IN_ORDER, PTXSIM_REVERSED, PTXSIM_SEEDED } ptxsim_order;

/* When asynchronous copies move their bytes: at the first or at the last moment that is legal; ANY: at the
   last, or, in seeded schedules, at the one or the other by chance. Neither makes bytes that nobody waited
   for readable. */
typedef enum ptxsim_landing { PTXSIM_LANDING_ANY, PTXSIM_LANDING_FIRST, PTXSIM_LANDING_LAST } ptxsim_landing;

/* The struct grows at its end: what a smaller size leaves out is 0, and a larger one than the library's is
   PTXSIM_INVALID. */
typedef struct ptxsim_options {
    size_t size; /* sizeof(ptxsim_options) */
    ptxsim_order order;
    uint64_t max_instructions; /* warp instructions a launch, 0: 2^40 */
    uint64_t seed;             /* of PTXSIM_SEEDED */
    unsigned threads;          /* that run blocks, 0: as many as there are processors */
    int no_races;              /* not 0: does not look for races */
    ptxsim_landing landing;
} ptxsim_options;

/* Which accesses race: the first word is the one that came first. */
typedef enum ptxsim_race {
    PTXSIM_NO_RACE,
    PTXSIM_WRITE_WRITE,
    PTXSIM_READ_WRITE,
    PTXSIM_WRITE_READ
} ptxsim_race;

/* The other side of a race: the access that came first. */
typedef struct ptxsim_side {
    int line;
    ptxsim_dim3 block, thread;
} ptxsim_side;

/* What went wrong last. line is the 1-based line of the PTX text, 0 where none applies; block and thread are
   meaningful if in_kernel is not 0, race, other and address (of the first byte in common, in its space) if
   the status is PTXSIM_RACE. */
typedef struct ptxsim_fault {
    ptxsim_status status;
    int line;
    int in_kernel;
    ptxsim_dim3 block, thread;
    ptxsim_race race;
    ptxsim_side other;
    uint64_t address;
    char message[256];
} ptxsim_fault;

/* Counts of the last launch. A thread instruction is one instruction that one lane executed: active, and not
   held back by @p. */
typedef struct ptxsim_counts {
    uint64_t warp_instructions; /* issued, whatever the mask */
    uint64_t thread_instructions;
    uint64_t mma;      /* mma warp instructions */
    uint64_t barriers; /* barrier arrivals by warps */
    uint64_t global_load_bytes, global_store_bytes;
    uint64_t bulk_bytes; /* of bulk and tensor copies, which are not in the former two */
} ptxsim_counts;

/* Kinds of instructions. */
#define PTXSIM_CLASS_LIST(X)                                                                                 \
    X(INTEGER, "integer and logic")                                                                          \
    X(FLOAT, "floating point")                                                                               \
    X(MOVE, "moves and conversions")                                                                         \
    X(LOAD, "loads")                                                                                         \
    X(STORE, "stores")                                                                                       \
    X(ATOMIC, "atomics")                                                                                     \
    X(MMA, "mma")                                                                                            \
    X(WARP, "warp exchange")                                                                                 \
    X(BARRIER, "barriers and fences")                                                                        \
    X(CONTROL, "control")                                                                                    \
    X(COPY, "asynchronous copies")

typedef enum ptxsim_class {
#define X(name, text) PTXSIM_CLASS_##name,
    PTXSIM_CLASS_LIST(X)
#undef X
        PTXSIM_CLASS_COUNT
} ptxsim_class;

/* Counts of the last launch for one line of PTX that holds instructions; of several on a line, the sum, and
   the first one's kind. A request is an access to memory by one warp instruction. docs/simulator.md says how
   wavefronts are counted. The struct may grow at its end: reach it through ptxsim_line_at alone. */
typedef struct ptxsim_line {
    int line;
    ptxsim_class kind;
    uint64_t warp_instructions; /* issued with at least one lane */
    uint64_t thread_instructions;
    uint64_t shared_requests, shared_wavefronts;
    uint64_t shared_ideal; /* wavefronts if no banks conflicted: distinct bytes by 128, rounded up */
    uint64_t global_requests, global_sectors; /* of 32 bytes */
    uint64_t global_bytes;                    /* distinct bytes of each request, summed */
    uint64_t bulk_bytes;                      /* of bulk and tensor copies: they are no requests */
    uint64_t mma_products, mma_nonzero;       /* multiplications of mma; those of two factors other than 0 */
} ptxsim_line;

/* OPTIONS may be NULL (in order, default limit). */
PTXSIM_API ptxsim_status ptxsim_create(const ptxsim_options *options, ptxsim **sim);
PTXSIM_API void ptxsim_destroy(ptxsim *sim); /* frees its memory and modules */
PTXSIM_API void ptxsim_set_order(ptxsim *sim, ptxsim_order order);
PTXSIM_API void ptxsim_set_seed(ptxsim *sim, uint64_t seed); /* sets the order to PTXSIM_SEEDED, too */
PTXSIM_API void ptxsim_watch_races(ptxsim *sim, int watch);  /* 0: does not look for races, which is faster */
PTXSIM_API void ptxsim_set_landing(ptxsim *sim, ptxsim_landing landing);
/* Of the last call on SIM that can fail; PTXSIM_OK after one that did not, and before the first. */
PTXSIM_API const ptxsim_fault *ptxsim_fault_of(const ptxsim *sim);
/* "line 41, block (0,0,0), thread (3,0,0): message": one line, valid until the next call on SIM. */
PTXSIM_API const char *ptxsim_fault_text(ptxsim *sim);
PTXSIM_API const ptxsim_counts *ptxsim_counts_of(const ptxsim *sim);
/* The lines of the last launch's kernel in the order of its code, whether executed or not; valid until the
   next launch. A launch that stopped at a fault has none. NULL where INDEX is past them. */
PTXSIM_API size_t ptxsim_line_count(const ptxsim *sim);
PTXSIM_API const ptxsim_line *ptxsim_line_at(const ptxsim *sim, size_t index);
/* The sum over all lines; line is 0. */
PTXSIM_API ptxsim_line ptxsim_line_sum(const ptxsim *sim);
PTXSIM_API uint64_t ptxsim_class_count(const ptxsim *sim, ptxsim_class kind); /* warp instructions */
PTXSIM_API const char *ptxsim_class_text(ptxsim_class kind);

/* Global memory. An allocation is 256-byte aligned, its bytes count as never written until a write or fill,
   and nothing around it may be touched. BYTES may be 0 (an address of its own that nothing may be read
   through). */
PTXSIM_API ptxsim_status ptxsim_alloc(ptxsim *sim, size_t bytes, uint64_t *address);
PTXSIM_API ptxsim_status ptxsim_free(ptxsim *sim, uint64_t address);
PTXSIM_API ptxsim_status ptxsim_write(ptxsim *sim, uint64_t address, const void *data, size_t bytes);
/* Fails with PTXSIM_UNINIT at the first byte that nothing wrote. */
PTXSIM_API ptxsim_status ptxsim_read(ptxsim *sim, uint64_t address, void *data, size_t bytes);
PTXSIM_API ptxsim_status ptxsim_fill(ptxsim *sim, uint64_t address, int byte, size_t bytes);

/* TEXT is NUL-terminated PTX; it is copied. */
PTXSIM_API ptxsim_status ptxsim_module_load(ptxsim *sim, const char *text, ptxsim_module **module);
PTXSIM_API ptxsim_status ptxsim_module_unload(ptxsim *sim, ptxsim_module *module);
PTXSIM_API ptxsim_status ptxsim_module_function(ptxsim *sim, const ptxsim_module *module, const char *name,
                                                const ptxsim_function **function);

/* The name of the module's entry INDEX, in the order of the text; NULL past the last one. */
PTXSIM_API const char *ptxsim_module_entry(const ptxsim_module *module, size_t index);

/* The address of a variable in .global or .const, and, in *BYTES unless that is NULL, its size. The module
   makes it when it is loaded, with its initial value or zeros; launches change it as they change other
   memory, as do ptxsim_write and ptxsim_fill, and it lives until the module is unloaded. */
PTXSIM_API ptxsim_status ptxsim_module_variable(ptxsim *sim, const ptxsim_module *module, const char *name,
                                                uint64_t *address, size_t *bytes);

/* How many parameters FUNCTION has. SIZES, if not NULL, receives the bytes of the first ROOM of them. */
PTXSIM_API size_t ptxsim_function_params(const ptxsim_function *function, size_t *sizes, size_t room);

/* -- Tensor maps (ISA, "Tensors") ------------------------------------------------------------------------ */

/* X(name, bytes, is a float): element types. */
#define PTXSIM_ELEMENT_LIST(X)                                                                               \
    X(U8, 1, 0)                                                                                              \
    X(U16, 2, 0)                                                                                             \
    X(U32, 4, 0)                                                                                             \
    X(S32, 4, 0)                                                                                             \
    X(U64, 8, 0)                                                                                             \
    X(S64, 8, 0)                                                                                             \
    X(F16, 2, 1)                                                                                             \
    X(F32, 4, 1)                                                                                             \
    X(F64, 8, 1)                                                                                             \
    X(BF16, 2, 1)

typedef enum ptxsim_element {
#define X(name, bytes, is_float) PTXSIM_ELEMENT_##name,
    PTXSIM_ELEMENT_LIST(X)
#undef X
        PTXSIM_ELEMENT_COUNT
} ptxsim_element;

typedef enum ptxsim_swizzle {
    PTXSIM_SWIZZLE_NONE,
    PTXSIM_SWIZZLE_32B,
    PTXSIM_SWIZZLE_64B,
    PTXSIM_SWIZZLE_128B
} ptxsim_swizzle;

enum { PTXSIM_TENSOR_RANK = 3, PTXSIM_TENSOR_MAP_BYTES = 128 };

/* A tensor in global memory and the box that one copy moves; index 0 is the innermost dimension. */
typedef struct ptxsim_tensor {
    size_t size; /* sizeof(ptxsim_tensor) */
    ptxsim_element element;
    unsigned rank;                     /* 1 to 3 */
    uint64_t address;                  /* multiple of 16 */
    uint64_t dims[PTXSIM_TENSOR_RANK]; /* elements, 1 to 2^32 */
    uint64_t
        strides[PTXSIM_TENSOR_RANK - 1]; /* bytes from one index of dimensions 1 and 2 to the next: multiples
                                                 of 16 below 2^40 */
    unsigned box[PTXSIM_TENSOR_RANK];    /* elements, 1 to 256; the innermost a multiple of 16 bytes, no more
                                                 than the swizzle's span */
    ptxsim_swizzle swizzle;
    int fill_nan; /* what lies outside of the tensor reads as NaN (of floats only), otherwise as 0 */
} ptxsim_tensor;

/* Writes TENSOR's map, 128 bytes that only this simulator reads, to MAP, as cuTensorMapEncodeTiled does and
   by its rules: PTXSIM_INVALID says which one TENSOR breaks. Element strides are 1, there is no interleave.
   The map is a parameter of a kernel (.param .align 64 .b8 map[128]) or is written to global memory, 64-byte
   aligned. */
PTXSIM_API ptxsim_status ptxsim_tensor_map_encode(ptxsim *sim, const ptxsim_tensor *tensor, void *map);

/* Runs the whole grid; returns when it is done or has stopped at a fault, which is that of the block that
   comes first (memory then holds what it and those before it wrote). PARAMS: one pointer a parameter, to a
   value of that parameter's size. */
PTXSIM_API ptxsim_status ptxsim_launch(ptxsim *sim, const ptxsim_function *function, ptxsim_dim3 grid,
                                       ptxsim_dim3 block, size_t dynamic_shared, void *const *params);

#ifdef __cplusplus
}
#endif

#endif
