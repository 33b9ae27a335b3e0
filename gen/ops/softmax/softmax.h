/* The family `softmax`: over the rows of a V x 1 matrix, whose values lie as an SDDMM writes them.
 *
 *   softmax.c   schema, hints, the family
 *   plan.c      the plan, and what fields have against each other
 *   contract.c  what a launch takes, facts, names
 *   costs.c     what the model of times adds to a GPU's rates; estimate.c is the model
 *   rows.c      the kernel as a whole
 *   load.c      a thread's units of a row block, in f32
 *   join.c      what all threads have of a row, joined
 *   store.c     exponentials, quotients, elements of C, the second output
 *
 * A thread block takes a row block. Its elements lie side by side in memory, and a unit is what a lane loads
 * at once: neighbouring elements, of bcrs of one vector, of srbcrs of one row. Thread t has units t, t + T, t
 * + 2 T and so on of T threads. So a thread has elements of `rows` rows: of bcrs of all rows of its unit, of
 * srbcrs of one, or of several where a stride has more units than there are threads; row_step apart. */
#ifndef MC_SOFTMAX_FAMILY_H
#define MC_SOFTMAX_FAMILY_H

#include "mc_softmax.h"
#include "parts/batch.h"
#include "parts/emit.h"
#include "parts/fragment.h"
#include "parts/output.h"

extern const mc_family mc_family_softmax;

typedef enum softmax_in { SOFTMAX_IN_F32, SOFTMAX_IN_F16, SOFTMAX_IN_BF16, SOFTMAX_IN_S32 } softmax_in;
typedef enum softmax_order { SOFTMAX_BCRS, SOFTMAX_SRBCRS16, SOFTMAX_SRBCRS32 } softmax_order;

enum {
    SOFTMAX_ROW_WORDS = 4, /* of a row block in the packed array `rows` */
    SOFTMAX_UNIT_BYTES = 16,
    SOFTMAX_MAX_UNIT = 8,  /* elements */
    SOFTMAX_MAX_HOLD = 32, /* units */
    SOFTMAX_MAX_ROWS = 8,
    SOFTMAX_MAX_VALUES = 64 /* elements of these */
};

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
};

/* A type of C. */
typedef struct softmax_type {
    const char *name;
    int bytes;
    int least, most;     /* of integers; both 0: it is real */
    out_element element; /* what out_pack calls it; of 16-bit integers it counts for nothing */
} softmax_type;

extern const softmax_type softmax_types[];

typedef struct softmax_plan {
    softmax_in in;
    int in_bytes;
    softmax_type out;
    bool scaled, c_scaled, masked, lse, batch;
    bool approx; /* exponentials by ex2.approx */
    bool late;   /* values become f32 unscaled, with their signs turned where the scale is below 0 */
    bool packed; /* greatest elements are those of words, two rows each; so `late`, and bcrs */
    softmax_order order;
    int vec, stride; /* stride: slots; 1 of bcrs */
    int warps, hold, again, align;
    int unit;           /* elements */
    int beside;         /* bcrs: units of a vector; srbcrs: units of a row of a stride */
    int per_step;       /* units of a vector, or of a stride */
    int rows;           /* that a thread has */
    int row_step;       /* between these */
    int row_warps;      /* that have elements of the same rows */
    unsigned lane_bits; /* bits of a lane's number in which lanes differ that have the same rows */
    int64_t m, n;
} softmax_plan;

static inline int softmax_threads(const softmax_plan *plan) { return MC_WARP * plan->warps; }
static inline bool softmax_is_real(const softmax_plan *plan) { return plan->out.most == 0; }
/* Words that a unit of A takes, and of loads its bytes. */
static inline int softmax_unit_bytes(const softmax_plan *plan) { return plan->unit * plan->in_bytes; }
static inline int softmax_unit_words(const softmax_plan *plan) {
    return softmax_unit_bytes(plan) < WORD ? 1 : softmax_unit_bytes(plan) / WORD;
}
/* The numbers of units of a thread for which the kernel has a way, up to `hold` and SOFTMAX_MAX_HOLD. */
enum { SOFTMAX_WAYS = 10 };
extern const int softmax_ways[SOFTMAX_WAYS];
/* Whether 32 bits hold the sum of what a warp keeps of a row, elements of at most 2^23 + 1 each. */
bool softmax_one_word(const softmax_plan *plan);
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
