/* SpMM: the plan, which spmm.c derives from a point and the emitters turn into instructions. */
#ifndef MC_SPMM_H
#define MC_SPMM_H

#include "parts/digits.h"
#include "parts/output.h"

enum {
    SPMM_MMA_ROWS = 8,              /* rows of A in an mma, its columns: those from vec on are empty */
    SPMM_MAX_ROW_BYTES = INT32_MAX, /* of B */
    SPMM_EDGE_COLUMNS = 32,         /* of C that the edge path computes at a time: 4 a lane */
};

/* In the order of the spec's names. */
typedef enum spmm_staging { SPMM_DIRECT, SPMM_TMA, SPMM_ASYNC, SPMM_SHARED } spmm_staging;
typedef enum spmm_mma_type { SPMM_AUTO, SPMM_INT8, SPMM_INT4 } spmm_mma_type;

/* Which operand of the mma A's vectors are; in the order of the spec's names. */
typedef enum spmm_order { SPMM_SWAPPED, SPMM_PAPER } spmm_order;

/* How one of the kernel's two paths reads B and writes C. Each lane of a row's 8 (one per mma row g) owns
   columns / 8 neighbouring columns. */
typedef struct spmm_path {
    bool emitted;
    int columns; /* of C that one pass computes */
    int unit;    /* bytes of B that one load takes: all of a lane's columns, or 4, or 1 */
    int copy;    /* bytes of a row that a lane copies to shared memory at once; 0: loads go to registers */
    bool clamp;  /* columns can lie beyond n: loads move left to the last unit inside, stores are guarded */
    int whole;   /* clamp: this many neighbouring columns of C lie inside n or beyond it together */
    int store;   /* columns of C that one store takes */
} spmm_path;

/* What the wide path needs and the spec does not settle: tested once a block. */
typedef struct spmm_checks {
    bool full_tile, ldb, ldc, b_address, c_address;
} spmm_checks;

/* A lane's sums: two runs of `run` = columns / 8 neighbouring columns.
     swapped   rows 2t and 2t + 1 of the row block, in them the columns of lane group g
     paper     row g, in it the columns of lane groups 2t and 2t + 1, which adjoin
   So lane 4 g + t has `rows` rows from rows * (t or g) on, in them `columns` columns from columns * (g or t) on. */
typedef struct spmm_lane_sums {
    int rows, columns, run;
} spmm_lane_sums;

static inline spmm_lane_sums spmm_lane_sums_of(spmm_order order, int columns) {
    int run = columns / 8;
    return order == SPMM_SWAPPED ? (spmm_lane_sums){2, run, run} : (spmm_lane_sums){1, 2 * run, run};
}
/* Of run I, 0 or 1, in the lane's rows and columns. */
static inline int spmm_run_row(spmm_lane_sums k, int i) { return i % k.rows; }
static inline int spmm_run_column(spmm_lane_sums k, int i) { return i / k.rows * k.run; }

/* Where a warp puts its partial sums, in s32: run i of lane 4 g + t at i * run + t * by_t + t / 2 * pair + g * by_g. The pads
   make the 16-byte stores of 8 neighbouring lanes (two g, four t) meet 8 different bank groups. Exact sums, of s64, lie in two such
   planes: columns 0 and 1 of each four, columns 2 and 3. */
typedef struct spmm_partial {
    int run, by_t, pair, by_g, warp; /* warp: one warp's share */
} spmm_partial;

/* Staging "shared": where the rows of B of a stride lie in a warp's share of shared memory (shared.c). */
typedef struct spmm_rows {
    int row;    /* bytes of a row's piece: the tile's columns */
    int copies; /* 16-byte units of a row, and rows of 32 slots of which a lane copies one */
    int octet;  /* bytes from the rows of 8 slots to those of the next 8, padding included */
} spmm_rows;

typedef struct spmm_plan {
    spmm_staging staging;
    spmm_order order;
    digit_side lhs, rhs;
    digit_set a, b;  /* of lhs, of rhs */
    int vec;         /* V: rows of a row block */
    digit_mode mode; /* of A's digits */
    bool ones;       /* offset: behind the rows of all planes comes one of ones */
    int planes, mma; /* digits of A that share an mma; the mma that they take for each digit of B */
    int sums;        /* accumulators of a sum: one for each weight of an mma's first plane times B's digit */
    bool takes_halves; /* a 4-bit B is multiplied as 8 bits (halves.c), */
    bool times_16;     /* its odd columns by 16 until the end: k allows it */
    int stride, tile_n, warps, split, align;
    int window, stages; /* of the ring */
    int copy;           /* async: bytes of a thread's copy; 0: found at launch */
    bool prefetch, overlap;
    bool batch;    /* the grid's z counts products, whose operands lie strides apart (parts/batch.h) */
    bool heads;    /* direct and shared: the first strides of all row blocks lie in front of the others */
    bool resident; /* thread blocks that hold all of B's column tile take row blocks in turn */
    int64_t m, n, k, ldb, ldc;
    out_kind output;
    int stride_values;              /* bytes of A's values in a stride, */
    char value_extent[24];          /* and the contract's formula for those of all */
    int row_blocks;                 /* of a thread block: warps / split */
    int threads;                    /* of a thread block */
    bool guard_rows;                /* the last block can have row blocks beyond m */
    int stride_mma, stride_a_bytes; /* what a stride takes of a warp */
    unsigned shared_bytes;

    /* direct and shared */
    bool int4, shuffle; /* mma of 4-bit integers; col_idx is permuted for its transpose (int4.c) */
    int depth;          /* nonzero vectors that an mma takes, its k: 32; the stride with int4 */
    int stride_steps;   /* steps of 32 vectors in a stride */
    int flush_strides;  /* exact sums: after so many strides accumulators are emptied; 0: once, at the end */
    bool padding;
    spmm_rows rows;
    spmm_path wide, edge;
    spmm_checks checks;
} spmm_plan;

/* B goes through a ring of windows; else each warp gathers what it multiplies. */
static inline bool spmm_is_ring(const spmm_plan *plan) {
    return plan->staging == SPMM_TMA || plan->staging == SPMM_ASYNC;
}

/* Bytes that rows of B must be aligned to on PATH; on the wide path in columns. */
static inline int spmm_access(const spmm_path *path) { return path->copy ? path->copy : path->unit; }
static inline int spmm_access_columns(const spmm_plan *plan) {
    return spmm_access(&plan->wide) * 8 / (plan->rhs.bits == 4 ? 4 : 8 * side_bytes(plan->rhs));
}

/* stack.c */

enum { SPMM_WHY = 160 };
/* Whether A's digits can share an mma; if not, WHY. */
bool spmm_can_stack(const spmm_plan *plan, char why[SPMM_WHY]);
/* Derives planes, mma and sums. */
void spmm_plan_mma(spmm_plan *plan, bool stacked);
/* Rows of a stride's packed values, all digits'; those that mma MMA takes, from row MMA * planes * vec on. */
static inline int spmm_value_rows(const spmm_plan *plan) { return plan->a.count * plan->vec + plan->ones; }
int spmm_mma_rows(const spmm_plan *plan, int mma);
/* The sum that mma MMA adds to with digit RHS_DIGIT of B; what it weighs, as an exponent of 2. */
static inline int spmm_sum_of(const spmm_plan *plan, int mma, int rhs_digit) {
    return plan->b.count == 1 ? mma : mma * plan->planes + rhs_digit;
}
static inline int spmm_sum_weight(const spmm_plan *plan, int sum) {
    return plan->a.bits * (plan->b.count == 1 ? plan->planes : 1) * sum;
}

/* Sets stride_values and value_extent. */
void spmm_plan_values(spmm_plan *plan, int stride_bytes);
/* Of the gather kernel: registers that hold a lane's values, for an mma and in all. */
static inline int spmm_mma_regs(const spmm_plan *plan) { return plan->depth * plan->a.bits / (4 * 32); }
static inline int spmm_value_regs(const spmm_plan *plan) {
    return spmm_mma_regs(plan) * plan->mma * plan->stride / plan->depth;
}

/* B in the words of the contract; AS_MAP: of a parameter that is a tensor map of it. */
const char *spmm_b_doc(const spmm_plan *plan, bool as_map);

/* An s4 B has 8 added where it is multiplied as 8 bits: an mma more for each digit of A and 32 vectors (halves.c). */
static inline bool spmm_is_biased(const spmm_plan *plan) { return plan->takes_halves && plan->rhs.is_signed; }

/* Both derive the rest of PLAN from its spec fields. */
void spmm_direct_plan(spmm_plan *plan);
void spmm_ring_plan(spmm_plan *plan);
/* Derives how rows of B lie in shared memory, and the wide path's copies. */
void spmm_shared_plan(spmm_plan *plan);
/* What a ring's B must be a multiple of, in bytes, and ldb, in elements. */
int spmm_copy_unit(const spmm_plan *plan);
int spmm_ldb_unit(const spmm_plan *plan);
void spmm_direct_contract(const spmm_plan *plan, mc_contract *c);
void spmm_ring_contract(const spmm_plan *plan, mc_contract *c);

/* range.c, of the types' whole ranges: the largest magnitude of a product; the vectors of a row up to which no sum leaves
   s32; the slots up to which no accumulator does, and none of products with 16 times a 4-bit value of B; flush_strides. */
int64_t spmm_largest_product(const spmm_plan *plan);
int64_t spmm_sum_bound(const spmm_plan *plan);
int64_t spmm_accumulator_bound(const spmm_plan *plan);
int64_t spmm_exact_k(const spmm_plan *plan);
int spmm_flush_strides(const spmm_plan *plan);

/* Requires columns of 32, 64 or 128, and swapped 256. */
spmm_partial spmm_partial_of(spmm_order order, int columns);
/* Bytes of shared memory of one warp: for rows of B; in all, since its partial sums take the place of the rows. */
int spmm_rows_bytes(const spmm_plan *plan);
int spmm_share_bytes(const spmm_plan *plan, const spmm_path *path);

/* cost.c: a mc_family's estimate; DATA is a spmm_plan. */
double spmm_estimate(const void *data, const mc_gpu *gpu, const mc_problem *problem);

void spmm_emit(const spmm_plan *plan, mc_builder *b);
void spmm_ring_emit(const spmm_plan *plan, mc_builder *b);

#endif
