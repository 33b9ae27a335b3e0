/* The solver `csr`: no tensor cores. Rows of A are read as CSR has them, and each lane multiplies what it
   loads. Its plan.
 *
 * The lanes of a warp are dealt out as lane = (group * lanes + part) * columns + column:
 *
 *   column   `columns` lanes share a row of B: each loads `load` neighbouring elements of it at a time,
 *            `runs` times, columns * load apart
 *   part     `lanes` lanes share the nonzeros of a row of A: part p has nonzeros p, p + lanes and so on
 *   group    has a row of its own
 *
 * So a warp has `groups` rows, or a long one: each group then has an equal part of what the warp takes of it
 * (docs/unstructured.md).
 *
 * Without a list (`deal` off) the warps of a thread block share its long rows, one after another, before each
 * group takes its own row (block_rows.c).
 *
 * With `segmented` all lanes share the columns, and a warp has up to 32 rows, one after another
 * (segmented.c).
 *
 * With `stream` all lanes share the nonzeros of all rows of an item, up to 32 rows. Their products go through
 * shared memory, from which lanes add up rows (stream.c). A is then in the format csr-stream. */
#ifndef MC_SPMM_CSR_H
#define MC_SPMM_CSR_H

#include "ops/spmm/problem.h"
#include "parts/csr_lanes.h"
#include "parts/emit.h"

/* The wide path is for aligned rows of B and whole tiles, the edge path for the rest. */
typedef struct csr_path {
    bool emitted;
    int load;            /* elements of B that a load takes */
    int runs;            /* loads of a lane for a nonzero */
    bool last;           /* columns may lie beyond n */
    int store, residual; /* columns of C that a store takes, and of the residual that a load takes */
} csr_path;

/* What the wide path needs and the spec leaves open. */
typedef struct csr_checks {
    bool full_tile, ldb, b_address, ldc, c_address, ldr, r_address;
} csr_checks;

enum { CSR_BLOCK_SETS = 2 /* of sums, of rows that a thread block shares */ };

typedef struct csr_plan {
    spmm_plan base;
    int lanes, columns, groups;
    int ahead;      /* nonzeros that a lane has in flight */
    int share;      /* strides of 32 nonzeros that a group takes of a row, before others share it */
    bool deal;      /* long rows are dealt out by a list */
    bool stream;    /* products go through shared memory */
    bool segmented; /* a warp walks through the nonzeros of several rows */
    csr_columns column_form;
    csr_path wide, edge;
    csr_checks checks;
} csr_plan;

/* Rows that a thread block has at most, none of which is long. */
static inline int csr_rows(const csr_plan *plan) {
    return plan->base.warps * (plan->segmented ? CSR_SEGMENT_ROWS
                               : plan->stream  ? CSR_STREAM_ROWS
                                               : plan->groups);
}
/* Bytes of shared memory for the products of a warp, and for the sums of warps that share a row. */
static inline int csr_product_bytes(const csr_plan *plan) {
    return plan->stream ? plan->share * CSR_STREAM_PITCH * WORD : 0;
}
/* Strides that a lane of `stream` takes at once: `ahead`, but no part of what it loads at once. */
static inline int csr_stream_turn(const csr_plan *plan) {
    const int columns =
                  csr_stream_vector(plan->column_form, plan->share, csr_column_bytes(plan->column_form)),
              values = csr_stream_vector(plan->column_form, plan->share, plan->base.math.b_bits / 8),
              vector = columns > values ? columns : values,
              least = plan->ahead < vector ? vector : plan->ahead;
    return least < plan->share ? least : plan->share;
}
/* And for the columns and values of a warp's item. */
static inline int csr_segment_bytes(const csr_plan *plan) {
    return plan->segmented ? 2 * plan->share * CSR_STRIDE * WORD : 0;
}
/* Whether long rows are their thread block's. */
static inline bool csr_by_blocks(const csr_plan *plan) { return !plan->deal && csr_rows(plan) > 1; }
/* Where thread blocks share rows, the sums of one row are added while warps put those of the next beside
   them. */
static inline int csr_partial_bytes(const csr_plan *plan) {
    const int sets = plan->deal ? 1 : CSR_BLOCK_SETS;
    return plan->base.warps > 1 ? sets * plan->base.warps * plan->base.tile_n * WORD : 0;
}
/* Elements of C that a lane has. */
static inline int csr_sums(const csr_plan *plan) { return plan->base.tile_n / plan->columns; }
static inline int csr_element_bytes(const csr_plan *plan) { return plan->base.math.b_bits / 8; }
/* Bytes of the sums that a thread block leaves of a long row, and their flag. */
int spmm_csr_piece_bytes(const csr_plan *plan);

/* plan.c, estimate.c, emit.c */
void spmm_csr_make_plan(const int64_t *point, void *plan, mc_complaints *complaints);
double spmm_csr_estimate(const void *plan, const mc_gpu *gpu, const mc_problem *problem);
void spmm_csr_emit(const void *plan, mc_builder *b);

#endif
