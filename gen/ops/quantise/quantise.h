/* The family `quantise`: what its solvers share. A is m x n, row-major; C is A with other elements, by
 * columns (so that C is A's transpose, row-major: the field layout) or by rows.
 *
 *   quantise.c   schema, hints, and which solver a point asks for
 *   plan.c       the plan, and what fields have against each other
 *   contract.c   what a launch takes
 *   patch.c      a thread's patch of A: loaded, made elements of C, packed, stored
 *   point.c      the edge path: one element at a time
 *   ends.c       how far rows of A reach, and the scales that come of it
 *   costs.c      what the model of times adds to a GPU's rates
 *   model.c      the model: how thread blocks share a GPU; a solver's estimate.c says what these do
 *   tile/        given scales, a computed one of the tensor, and the way back: tiles of A by way of shared
 *                memory
 *   token/       scales a row, computed from all of the row's elements, which stay on the chip
 *
 * A thread has a patch of `rows` rows and a unit of columns at each step: 16 bytes of each row. The patch is
 * as high as `words` words of C by columns have elements. Lanes of a warp lie `lanes_down` below each other
 * and `lanes_across` side by side, warps of a thread block `warps_down` and `warps_across`. A step is as wide
 * as all these are together. */
#ifndef MC_QUANTISE_H
#define MC_QUANTISE_H

#include "parts/batch.h"
#include "parts/emit.h"
#include "parts/fragment.h"
#include "parts/output.h"

extern const mc_family mc_family_quantise;

typedef enum quantise_in {
    QUANTISE_IN_F16,
    QUANTISE_IN_BF16,
    QUANTISE_IN_F32,
    QUANTISE_IN_S32,
    QUANTISE_IN_S8,
    QUANTISE_IN_S16,
    QUANTISE_IN_S4
} quantise_in;
typedef enum quantise_out {
    QUANTISE_S8,
    QUANTISE_U8,
    QUANTISE_S4,
    QUANTISE_U4,
    QUANTISE_F16,
    QUANTISE_BF16,
    QUANTISE_F32,
    QUANTISE_S16,
    QUANTISE_S32
} quantise_out;

enum { QUANTISE_UNIT = 16, QUANTISE_MAX_ROWS = 8, QUANTISE_MAX_UNIT = 8, QUANTISE_MAX_STEPS = 8 };

/* The fields, in the order of the schema. */
enum {
    F_LHS = FIELD_ARCH + 1,
    F_OUT,
    F_SCALE,
    F_ZERO,
    F_SCALES,
    F_LAYOUT,
    F_TILE,
    F_WARPS,
    F_HOLD,
    F_KEEP,
    F_WORDS,
    F_ROUNDING,
    F_SHARE,
    F_CLUSTER,
    F_OVERLAP,
    F_BATCH,
    F_ALIGN,
    F_M,
    F_N,
    F_LDA,
    F_LDC,
};

/* What is not known before the launch, and tested by the kernel. */
typedef struct quantise_tests {
    bool lda, ldc, n, a_address, c_address;
} quantise_tests;

typedef struct quantise_plan {
    quantise_in in;
    quantise_out out;
    int in_bits, out_bits, least, most; /* least and most: of C's integers */
    bool real;                          /* C is: this is the way back */
    bool moves;                         /* one type on both sides, no scales: elements stay as they are */
    out_per scale;
    bool zero, computed, turned, batch; /* turned: C lies by columns */
    /* Where scales are computed: a row, thread blocks have whole rows (token); of the tensor, a first pass
       finds how far it reaches (tile) */
    bool by_token, reaches;
    bool by_addition; /* how elements are rounded; else by conversions */
    int tile, warps, hold, keep, align;
    int words; /* of C by columns that a thread makes of each column of its patch */
    int rows, unit, lanes_down, lanes_across, warps_down, warps_across, step; /* step: columns of one */
    int out_align;        /* bytes that stores of the wide path want C's rows to begin at multiples of */
    bool wide, edge;      /* paths that there are */
    bool whole;           /* every tile is certainly inside of A */
    quantise_tests tests; /* between the two */
    unsigned shared_static, shared_dynamic;
    int64_t m, n, lda, ldc;
    int64_t share; /* columns that a thread block makes of its rows; MC_OPEN: all */
    int cluster;   /* thread blocks of a cluster, each with a part of the columns of the same rows */
    int64_t part;  /* columns of such a part; MC_OPEN: not known */
    family_overlap overlap;
} quantise_plan;

/* Bytes of COUNT elements of A, and of C, which end with a byte. */
static inline int quantise_in_bytes(const quantise_plan *plan, int count) {
    return count * plan->in_bits / 8;
}
static inline int quantise_out_bytes(const quantise_plan *plan, int count) {
    return count * plan->out_bits / 8;
}

/* Bytes of the least piece that is loaded or stored: an element of BITS, or the two that share a byte. */
static inline int quantise_piece_bytes(int bits) { return bits > 8 ? bits / 8 : 1; }

/* Thread blocks of the first pass that find how far A reaches, at most. */
enum { QUANTISE_REACHES = 256 };

/* Bytes of their ends in the workspace, and of the warps' ends in shared memory. */
static inline unsigned quantise_workspace(const quantise_plan *plan) {
    return plan->reaches ? (unsigned)(QUANTISE_REACHES * WORD * (plan->zero ? 2 : 1)) : 0;
}
static inline unsigned quantise_reach_bytes(const quantise_plan *plan) {
    return plan->reaches ? (unsigned)(plan->warps * WORD * (plan->zero ? 2 : 1)) : 0;
}

/* By way of shared memory: bytes of a unit's columns there, and the most. */
static inline int quantise_group_bytes(const quantise_plan *plan) {
    return plan->unit * quantise_out_bytes(plan, plan->tile);
}
static inline int quantise_most_group(const quantise_plan *plan) { return plan->in_bits < 8 ? 2048 : 1024; }

/* Rows of a word of C by columns. */
static inline int quantise_word_rows(const quantise_plan *plan) { return 32 / plan->out_bits; }

extern const mc_solver quantise_tile, quantise_token;

/* -- plan.c and contract.c */

void quantise_make_plan(const int64_t *point, void *plan, mc_complaints *complaints);
void quantise_contract(const void *plan, mc_contract *contract);
void quantise_facts(const void *plan, mc_facts *facts);
const char *quantise_computes(const void *plan);
void quantise_entry_name(const void *plan, char name[MC_MAX_ENTRY]);
enum { QUANTISE_BATCH_ARRAYS = 2 };
void quantise_list_batch(const quantise_plan *plan, mc_batch_array arrays[QUANTISE_BATCH_ARRAYS]);

#endif
