/* The family `softmax_grad`: the gradient of a softmax's A, of the P that it wrote and the gradient of that,
 * which an SDDMM wrote.
 *
 *   softmax_grad.c  schema, hints, the family
 *   plan.c          the plan, and what a launch takes
 *   costs.c         what the model of times adds to a GPU's rates; estimate.c is the model
 *   kernel.c        the kernel as a whole
 *   terms.c         its arithmetic (mc_softmax_grad.h)
 *
 * How elements are dealt to threads is in parts/rows/rows.h. */
#ifndef MC_SOFTMAX_GRAD_FAMILY_H
#define MC_SOFTMAX_GRAD_FAMILY_H

#include "mc_softmax_grad.h"
#include "parts/batch.h"
#include "parts/output.h"
#include "parts/rows/rows.h"

extern const mc_family mc_family_softmax_grad;

/* The fields, in the order of the schema. */
enum {
    F_LHS = FIELD_ARCH + 1,
    F_RHS,
    F_OUT,
    F_SCALE,
    F_VEC,
    F_ORDER,
    F_WARPS,
    F_HOLD,
    F_UNIT,
    F_BATCH,
    F_ALIGN,
    F_M,
    F_N,
    F_ROWS_PER_WARP,
};

typedef struct grad_plan {
    rows_type p, d; /* of P, and of its gradient */
    rows_type c;
    bool scaled, batch;
    bool packed; /* greatest terms are those of words, the upper halves of two rows' each */
    rows_plan deal;
    int align;
    int64_t m, n;
} grad_plan;

/* Elements of C that are stored at once. */
static inline int grad_store_elements(const grad_plan *plan) {
    return rows_store_elements(&plan->deal, 8 * rows_type_bytes(plan->c), plan->align);
}
/* Words of a unit, of P and its gradient. */
static inline int grad_unit_words(const grad_plan *plan) {
    return rows_unit_words(&plan->deal, rows_type_bytes(plan->p)) +
           rows_unit_words(&plan->deal, rows_type_bytes(plan->d));
}

void grad_make_plan(const int64_t *point, void *plan, mc_complaints *complaints);
void grad_contract(const void *plan, mc_contract *contract);
void grad_facts(const void *plan, mc_facts *facts);
void grad_entry_name(const void *plan, char name[MC_MAX_ENTRY]);
double grad_estimate(const void *plan, const mc_gpu *gpu, const mc_problem *problem);
void grad_emit(const void *plan, mc_builder *b);
enum { GRAD_BATCH_ARRAYS = 3 };
void grad_list_batch(const grad_plan *plan, mc_batch_array arrays[GRAD_BATCH_ARRAYS]);

#endif
