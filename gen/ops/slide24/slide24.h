/* The family `slide24`: rows become as long as products by weights of 6:8, or another pattern of 2N - 2 of
 * 2N, want them. Each span of 2N elements becomes N - 1 groups of four, which overlap by two.
 *
 *   slide24.c   schema, hints, the family
 *   plan.c      the plan, and what fields have against each other
 *   contract.c  what a launch takes, facts, names
 *   costs.c     what the model of times adds to a GPU's rates; estimate.c is the model
 *   kernel.c    the kernel
 *
 * Everything goes by pairs of neighbouring elements, since groups begin at even ones: group g of a row, which
 * lies in span g / (N - 1), has the pairs g + g / (N - 1) and the next one. A *vector* is 16 bytes of C,
 * which a thread makes at once. A thread block has whole spans, so many that their groups are whole vectors,
 * of `hold` rows, in all of which a thread has the same vector. */
#ifndef MC_SLIDE24_FAMILY_H
#define MC_SLIDE24_FAMILY_H

#include "parts/batch.h"
#include "parts/emit.h"
#include "parts/fragment.h"

extern const mc_family mc_family_slide24;

enum {
    SLIDE24_GROUP = 4,  /* elements */
    SLIDE24_VECTOR = 16 /* bytes */
};

/* The fields, in the order of the schema. */
enum {
    F_LHS = FIELD_ARCH + 1,
    F_OUT,
    F_PATTERN,
    F_HOLD,
    F_WARPS,
    F_OVERLAP,
    F_BATCH,
    F_ALIGN,
    F_M,
    F_N,
    F_LDA,
    F_LDC
};

typedef struct slide24_plan {
    int type;               /* the number of its name */
    int bytes, pair;        /* of an element, of two */
    int span, groups;       /* elements of a span, its groups */
    int vector_groups;      /* groups of a vector */
    int spans, vectors;     /* of a row that a thread block takes; vectors of C that these become */
    int hold, warps, align; /* hold: rows of a thread block */
    bool batch;
    family_overlap overlap;
    bool wide, edge; /* paths that there are */
    struct {
        bool x, c, lda, ldc;
    } tests; /* of addresses and leading dimensions, between the two */
    int64_t m, n, lda, ldc;
} slide24_plan;

extern const char *const slide24_types[];
extern const char *const slide24_patterns[];

/* Columns that C has at most. */
enum { SLIDE24_MOST_COLS = (1 << 30) - 64 };

static inline int slide24_threads(const slide24_plan *plan) { return MC_WARP * plan->warps; }

void slide24_make_plan(const int64_t *point, void *plan, mc_complaints *complaints);
void slide24_contract(const void *plan, mc_contract *contract);
void slide24_facts(const void *plan, mc_facts *facts);
const char *slide24_computes(const void *plan);
void slide24_entry_name(const void *plan, char name[MC_MAX_ENTRY]);
double slide24_estimate(const void *plan, const mc_gpu *gpu, const mc_problem *problem);
void slide24_emit(const void *plan, mc_builder *b);

enum { SLIDE24_BATCH_ARRAYS = 2 };
void slide24_list_batch(const slide24_plan *plan, mc_batch_array arrays[SLIDE24_BATCH_ARRAYS]);

#endif
