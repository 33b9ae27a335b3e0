/* What mcbench has to know of an operator beside its row in the runtime (ops/operator.h): how its operands
   and its exact result are made, and what they cost at least. Racing, the dense peers, lines, summary and
   plots are the same for all. An operator's is in bench/ops/NAME.c.

   A problem is a matrix and a size, the operator's dimension that no matrix gives. */
#ifndef BENCH_OPERATION_H
#define BENCH_OPERATION_H

#include "floor.h"
#include "work.h"

struct race;
struct our_sums;
struct want_kind;

/* What of a file's matrix counts: all of it; or its shape alone, where A is dense, or where the operator
   keeps two of each four at places of its own (2:4). */
typedef enum operation_mask { MASK_PATTERN, MASK_SHAPE, MASK_24 } operation_mask;

typedef struct operation {
    mc_op op;
    operation_mask mask;
    const char *usual; /* sizes of a run that lists none: "256,512" */
    bool k_contiguous; /* the dense peers' B, in all types */
    bool turned;       /* the dense product's m and k are the problem's k and m */
    bool plain;        /* of one column a plain kernel that reads the same bytes runs beside ours (plain.h) */
    bool drawn;        /* operands may be drawn on the GPU (drawn.h): sets of shapes want that */

    /* The matrix that all variants of LIST share: PATTERN dilated by their V, with random values. */
    mc_status (*dilate)(const variant_list *list, const mc_csr *pattern, uint64_t seed, mc_vsparse *a,
                        mc_diag *diag);
    problem_shape (*shape)(const mc_vsparse *a, int64_t size);
    /* On the host: all problems of WORK, whose shapes are set. What is made before a failure, work_release
       frees. */
    mc_status (*prepare)(work *work, const work_plan *plan, mc_diag *diag);
    int64_t (*slots)(const mc_packed *packed, const mc_vsparse *a); /* padding included */
    /* Slots that are no padding: what names a row or column of B. NULL: A's vectors */
    int64_t (*named)(const mc_packed *packed, const mc_vsparse *a);

    /* On the device: SUMS->elements exact sums, of floats in f32, in SUMS->order at SUMS->address; what KIND
       makes of exact ones by RULE. */
    mc_status (*make_sums)(struct race *r, struct our_sums *sums, mc_diag *diag);
    mc_status (*make_output)(struct race *r, const struct our_sums *sums, const struct want_kind *kind,
                             const output_rule *rule, uint64_t out, mc_diag *diag);

    /* Of floats, whose sums lie within WORK's bounds: the least and greatest elements of KIND, by the factors
       of RACE. NULL: the operator's results are exact. */
    mc_status (*make_range)(struct race *r, const struct want_kind *kind, reference_result *want,
                            mc_diag *diag);

    floor_load (*load)(const variant *variant, const floor_problem *problem);
} operation;

/* NULL: none that mcbench measures. */
const operation *operation_find(const char *family);
const char *operation_name(const operation *o);
const char *operation_size(const operation *o); /* "n" */
/* C has elements where the matrix is nonzero only: kernels have fields order and layout. */
bool operation_is_sampled(const operation *o);

#endif
