/* SpMM: the plan, which spmm.c derives from a point and the emitters turn into instructions. */
#ifndef MC_SPMM_H
#define MC_SPMM_H

#include "parts/integer/integer.h"
#include "parts/output.h"

enum {
    SPMM_MMA_ROWS = 8,              /* rows of A that an mma has room for; those from vec on are empty */
    SPMM_MAX_ROW_BYTES = INT32_MAX, /* bytes of a row of B */
    SPMM_EDGE_COLUMNS = 32,         /* columns of C that the edge path computes at a time: 4 for each lane */
};

/* In the order of the spec's names. */
typedef enum spmm_staging { SPMM_DIRECT, SPMM_TMA, SPMM_ASYNC, SPMM_SHARED } spmm_staging;
typedef enum spmm_mma_type { SPMM_AUTO, SPMM_INT8, SPMM_INT4 } spmm_mma_type;

/* Which operand of the mma A's vectors are; in the order of the spec's names. */
typedef enum spmm_order { SPMM_SWAPPED, SPMM_PAPER } spmm_order;

/* A kernel has a wide path, for aligned rows and whole tiles, and an edge path for the rest. Eight lanes
   share a row of B, one of each lane group g; each owns columns / 8 neighbouring columns. */
typedef struct spmm_path {
    bool emitted;
    int columns; /* columns of C that the path computes at a time */
    int unit;    /* bytes of B that one load takes: all of a lane's columns, or 4, or 1 */
    int copy;    /* bytes of a row that a lane copies to shared memory at once; 0: loads go to registers */
    /* columns can lie beyond n: a load beyond it takes the last unit inside, stores are guarded */
    bool clamp;
    int whole; /* with clamp, C's columns are inside n or outside in groups of this many */
    int store; /* columns of C that one store takes */
} spmm_path;

/* What the wide path needs and the spec leaves open. Each thread block tests what is true here. */
typedef struct spmm_checks {
    bool full_tile, ldb, ldc, b_address, c_address;
} spmm_checks;

/* The sums of C that a lane has after the mma. They are two runs of `run` = columns / 8 neighbouring columns:
        swapped   run 0 in row 2t of the row block, run 1 in row 2t + 1: the columns of lane group g
        paper     both in row g, where they adjoin: the columns of lane groups 2t and 2t + 1
   A lane's `rows` rows begin at row rows * t, its `columns` columns at column columns * g; in the paper's
   order at row rows * g and column columns * t. */
typedef struct spmm_lane_sums {
    int rows, columns, run;
} spmm_lane_sums;

static inline spmm_lane_sums spmm_lane_sums_of(spmm_order order, int columns) {
    int run = columns / 8;
    return order == SPMM_SWAPPED ? (spmm_lane_sums){2, run, run} : (spmm_lane_sums){1, 2 * run, run};
}
/* The row and the first column of run I (0 or 1), counted from the lane's first ones. */
static inline int spmm_run_row(spmm_lane_sums k, int i) { return i % k.rows; }
static inline int spmm_run_column(spmm_lane_sums k, int i) { return i / k.rows * k.run; }

/* Where a warp puts its partial sums in shared memory. Run i of lane 4 g + t begins at word i * run + t *
   by_t + t / 2 * pair + g * by_g. The pads keep the 16-byte stores of 8 neighbouring lanes (two g, four t) in
   8 different groups of banks. Exact sums have two words and take two such areas: one has columns 0 and 1 of
   each four, the other columns 2 and 3. */
typedef struct spmm_partial {
    int run, by_t, pair, by_g, warp; /* in words; warp: all that a warp has in an area */
} spmm_partial;

/* Staging "shared": how the rows of B of a stride lie in a warp's share of shared memory (shared.c). */
typedef struct spmm_rows {
    int row;    /* bytes of a row: the tile's columns */
    int copies; /* 16-byte units of a row; a lane copies one unit of as many rows of each 32 */
    int octet;  /* bytes from the rows of 8 slots to those of the next 8, padding included */
} spmm_rows;

typedef struct spmm_plan {
    spmm_staging staging;
    spmm_order order;
    digit_side lhs, rhs;
    digit_set a, b;  /* digits of lhs and of rhs */
    int vec;         /* V: rows of a row block */
    digit_mode mode; /* of A's digits */
    bool ones;       /* offset digits: behind the rows of all planes comes a row of ones */
    int planes, mma; /* planes of A that share an mma; mma that all planes take for each digit of B */
    /* accumulators of an element of C: one for each weight of an mma's first plane times a digit of B */
    int sums;
    bool takes_halves; /* a 4-bit B is multiplied as 8 bits (halves.c) */
    bool times_16;     /* and its odd columns count 16 times until the end: k allows it */
    int stride, tile_n, warps, split, align;
    int window, stages; /* of the ring */
    int copy;           /* async: bytes of a thread's copy; 0: the kernel finds it out */
    bool prefetch, overlap;
    bool batch;    /* the grid's z counts products, whose operands lie strides apart (parts/batch.h) */
    bool heads;    /* direct and shared: the first strides of all row blocks lie in front of the others */
    bool resident; /* thread blocks keep all of B's column tile, and take row blocks in turn */
    int64_t m, n, k, ldb, ldc;
    out_kind output;
    int stride_values;              /* bytes of A's values in a stride */
    char value_extent[24];          /* the contract's formula for the bytes of all values */
    int row_blocks;                 /* of a thread block: warps / split */
    int threads;                    /* of a thread block */
    bool guard_rows;                /* the last block can have row blocks beyond m */
    int stride_mma, stride_a_bytes; /* of a stride: a warp's mma, and bytes of A's packed arrays */
    unsigned shared_bytes;

    /* direct and shared */
    bool int4, shuffle; /* the mma is of 4-bit integers; col_idx is permuted for its transpose (int4.c) */
    int depth;          /* nonzero vectors that an mma takes, its k: 32; with int4 the stride */
    int stride_steps;   /* steps of 32 slots in a stride */
    int flush_strides;  /* exact sums: accumulators are emptied after so many strides; 0: once, at the end */
    bool padding;
    spmm_rows rows;
    spmm_path wide, edge;
    spmm_checks checks;
} spmm_plan;

/* Whether B goes through a ring of windows. In the other kernels each warp gathers the rows that it
   multiplies. */
static inline bool spmm_is_ring(const spmm_plan *plan) {
    return plan->staging == SPMM_TMA || plan->staging == SPMM_ASYNC;
}

/* Bytes that rows of B must be aligned to on PATH; and the same of the wide path, in columns. */
static inline int spmm_access(const spmm_path *path) { return path->copy ? path->copy : path->unit; }
static inline int spmm_access_columns(const spmm_plan *plan) {
    return spmm_access(&plan->wide) * 8 / (plan->rhs.bits == 4 ? 4 : 8 * side_bytes(plan->rhs));
}

/* stack.c */

enum { SPMM_WHY = 160 };
/* Whether A's digits can share an mma; where they cannot, WHY says why. */
bool spmm_can_stack(const spmm_plan *plan, char why[SPMM_WHY]);
/* Derives planes, mma and sums. */
void spmm_plan_mma(spmm_plan *plan, bool stacked);
/* Rows of a stride's packed values: those of all planes, then the ones. Mma MMA takes spmm_mma_rows of them,
   from row MMA * planes * vec on. */
static inline int spmm_value_rows(const spmm_plan *plan) { return plan->a.count * plan->vec + plan->ones; }
int spmm_mma_rows(const spmm_plan *plan, int mma);
/* The sum that mma MMA adds to when it multiplies digit RHS_DIGIT of B; and the exponent of 2 that a sum
   weighs. */
static inline int spmm_sum_of(const spmm_plan *plan, int mma, int rhs_digit) {
    return plan->b.count == 1 ? mma : mma * plan->planes + rhs_digit;
}
static inline int spmm_sum_weight(const spmm_plan *plan, int sum) {
    return plan->a.bits * (plan->b.count == 1 ? plan->planes : 1) * sum;
}

/* Sets stride_values and value_extent. */
void spmm_plan_values(spmm_plan *plan, int stride_bytes);
/* The gather kernel's registers for a lane's values: of one mma, and of a stride. */
static inline int spmm_mma_regs(const spmm_plan *plan) { return plan->depth * plan->a.bits / (4 * 32); }
static inline int spmm_value_regs(const spmm_plan *plan) {
    return spmm_mma_regs(plan) * plan->mma * plan->stride / plan->depth;
}

/* What the contract says of B; AS_MAP: of the parameter that is a tensor map of B. */
const char *spmm_b_doc(const spmm_plan *plan, bool as_map);

/* Whether 8 is added to B's values. It is so for an s4 B that is multiplied as 8 bits, and costs one mma more
   for each of A's mma and each 32 vectors (halves.c). */
static inline bool spmm_is_biased(const spmm_plan *plan) { return plan->takes_halves && plan->rhs.is_signed; }

/* Both derive the rest of PLAN from its spec fields. */
void spmm_direct_plan(spmm_plan *plan);
void spmm_ring_plan(spmm_plan *plan);
/* Derives how rows of B lie in shared memory, and what the wide path copies at once. */
void spmm_shared_plan(spmm_plan *plan);
/* With a ring, B's address must be a multiple of so many bytes, and ldb of so many elements. */
int spmm_copy_unit(const spmm_plan *plan);
int spmm_ldb_unit(const spmm_plan *plan);
void spmm_direct_contract(const spmm_plan *plan, mc_contract *c);
void spmm_ring_contract(const spmm_plan *plan, mc_contract *c);

/* range.c. Each is for the worst values that the types hold:
        largest_product     the largest magnitude of a product of two values
        sum_bound           vectors of a row up to which no sum leaves s32
        accumulator_bound   slots up to which no accumulator leaves s32
        exact_k             the same where 4-bit values of B count 16 times
        flush_strides       the member of spmm_plan */
int64_t spmm_largest_product(const spmm_plan *plan);
int64_t spmm_sum_bound(const spmm_plan *plan);
int64_t spmm_accumulator_bound(const spmm_plan *plan);
int64_t spmm_exact_k(const spmm_plan *plan);
int spmm_flush_strides(const spmm_plan *plan);

/* Where partial sums of COLUMNS columns lie: 32, 64 or 128, in swapped order also 256. */
spmm_partial spmm_partial_of(spmm_order order, int columns);
/* Bytes of a warp's share of shared memory: what rows of B take of it, and all of it. Its partial sums come
   later, and lie where the rows were. */
int spmm_rows_bytes(const spmm_plan *plan);
int spmm_share_bytes(const spmm_plan *plan, const spmm_path *path);

/* cost.c: a mc_family's estimate; DATA is a spmm_plan. */
double spmm_estimate(const void *data, const mc_gpu *gpu, const mc_problem *problem);

void spmm_emit(const spmm_plan *plan, mc_builder *b);
void spmm_ring_emit(const spmm_plan *plan, mc_builder *b);

#endif
