/* The family `softmax`: over the rows of a V x 1 matrix, whose values lie as an SDDMM writes them.
 *
 *   softmax.c   schema, hints, the family
 *   plan.c      the plan, and what fields have against each other
 *   contract.c  what a launch takes, facts, names
 *   costs.c     what the model of times adds to a GPU's rates; estimate.c is the model
 *   kernel.c    the kernel as a whole
 *   load.c      a thread's units of a row block, in f32
 *   join.c      what all threads have of a row, joined; once.c does it with one exchange
 *   store.c     exponentials, quotients, elements of C, the second output
 *
 * How elements are dealt to threads is in parts/rows/rows.h. */
#ifndef MC_SOFTMAX_FAMILY_H
#define MC_SOFTMAX_FAMILY_H

#include "mc_softmax.h"
#include "parts/batch.h"
#include "parts/output.h"
#include "parts/rows/rows.h"

extern const mc_family mc_family_softmax;

/* The fields, in the order of the schema. */
enum {
    F_LHS = FIELD_ARCH + 1,
    F_OUT,
    F_SCALE,
    F_C_SCALE,
    F_MASK,
    F_LSE,
    F_EXP,
    F_VEC,
    F_ORDER,
    F_WARPS,
    F_HOLD,
    F_UNIT,
    F_BATCH,
    F_ALIGN,
    F_M,
    F_N,
    F_EXCHANGE,
    F_ROWS_PER_WARP,
};

enum { BYTE = 8 }; /* bits */

/* A type of C; two elements of 4 bits share a byte, the first one in its low half. */
typedef struct softmax_type {
    const char *name;
    int bits;
    int least, most;     /* of integers; both 0: it is real */
    out_element element; /* what out_pack calls it; of 16-bit integers it counts for nothing */
} softmax_type;

extern const softmax_type softmax_types[];

typedef struct softmax_plan {
    rows_type in;
    int in_bytes;
    softmax_type out;
    bool scaled, c_scaled, masked, lse, batch;
    bool approx; /* exponentials by ex2.approx */
    bool late;   /* values become f32 unscaled, with their signs turned where the scale is below 0 */
    bool once;   /* threads exchange what they have of rows once: sums, against greatest elements of warps */
    bool packed; /* greatest elements are those of words, two rows each; so `late`, and bcrs */
    rows_plan deal;
    int align;
    int64_t m, n;
} softmax_plan;

static inline bool softmax_is_real(const softmax_plan *plan) { return plan->out.most == 0; }
/* Bytes of a unit of A, and words that it takes. */
static inline int softmax_unit_bytes(const softmax_plan *plan) { return plan->deal.unit * plan->in_bytes; }
static inline int softmax_unit_words(const softmax_plan *plan) {
    return rows_unit_words(&plan->deal, plan->in_bytes);
}
/* Bytes of COUNT elements of C, an even number of those that share bytes. */
static inline int64_t softmax_out_bytes(const softmax_plan *plan, int64_t count) {
    return count * plan->out.bits / BYTE;
}
/* Elements of C that are stored at once. */
int softmax_store_elements(const softmax_plan *plan);

void softmax_make_plan(const int64_t *point, void *plan, mc_complaints *complaints);
void softmax_contract(const void *plan, mc_contract *contract);
void softmax_facts(const void *plan, mc_facts *facts);
const char *softmax_computes(const void *plan);
void softmax_entry_name(const void *plan, char name[MC_MAX_ENTRY]);
double softmax_estimate(const void *plan, const mc_gpu *gpu, const mc_problem *problem);
void softmax_emit(const void *plan, mc_builder *b);
enum { SOFTMAX_BATCH_ARRAYS = 2 };
void softmax_list_batch(const softmax_plan *plan, mc_batch_array arrays[SOFTMAX_BATCH_ARRAYS]);

#endif
