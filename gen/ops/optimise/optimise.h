/* The family `optimise`: an optimiser's step, in place, element by element.
 *
 *   optimise.c   schema, hints, the family
 *   plan.c       the plan, and what fields have against each other
 *   contract.c   what a launch takes, facts, names
 *   costs.c      what the model of times adds to a GPU's rates; estimate.c is the model
 *   kernel.c     the kernel as a whole: its paths, and who takes which elements
 *   stream.c     an operand's words, and elements in f32
 *   step.c       what an element becomes
 *
 * All operands have m x n elements without gaps, which are one long row here. A unit is neighbouring elements
 * that a thread takes at once; it has `hold` units at a time, T apart of T threads. Thread blocks, a fixed
 * number for each multiprocessor, take the row in turn. */
#ifndef MC_OPTIMISE_FAMILY_H
#define MC_OPTIMISE_FAMILY_H

#include "mc_optimise.h"
#include "parts/emit.h"
#include "parts/fragment.h"
#include "schema/family.h"

extern const mc_family mc_family_optimise;

typedef enum optimise_real { OPTIMISE_F16, OPTIMISE_BF16, OPTIMISE_F32 } optimise_real;

enum {
    OPTIMISE_PIECE = 16, /* bytes that a load or a store has at most */
    OPTIMISE_MAX_UNIT = 8,
    OPTIMISE_MAX_HOLD = 4,
    OPTIMISE_MAX_WORDS = OPTIMISE_MAX_UNIT * OPTIMISE_MAX_HOLD,
    OPTIMISE_MAX_STREAMS = 5
};

/* The fields, in the order of the schema. */
enum {
    F_RULE = FIELD_ARCH + 1,
    F_LHS,
    F_OUT,
    F_MASTER,
    F_UNIT,
    F_HOLD,
    F_WARPS,
    F_BLOCKS,
    F_ALIGN,
    F_M,
    F_N,
};

typedef struct optimise_plan {
    mc_rule rule;
    bool master;
    optimise_real grad, weight;
    int unit, hold, warps, blocks, align; /* blocks: of a multiprocessor */
    int64_t m, n;
} optimise_plan;

extern const char *const optimise_real_names[], *const optimise_rule_names[];

static inline int optimise_bytes(optimise_real type) { return type == OPTIMISE_F32 ? WORD : WORD / 2; }
static inline int optimise_threads(const optimise_plan *plan) { return MC_WARP * plan->warps; }
static inline bool optimise_is_adam(const optimise_plan *plan) { return plan->rule >= MC_RULE_ADAM; }

/* An operand that has an element for each of the weight's. Of a weight with a master nothing is read. */
typedef struct optimise_operand {
    const char *name, *doc;
    optimise_real type;
    bool read, written;
} optimise_operand;

/* In the order of parameters. Returns how many there are. */
int optimise_operands(const optimise_plan *plan, optimise_operand operands[OPTIMISE_MAX_STREAMS]);
/* Of a thread, about. */
int optimise_registers(const optimise_plan *plan);
/* Bytes that are read and written for an element. */
int optimise_element_bytes(const optimise_plan *plan);

void optimise_make_plan(const int64_t *point, void *plan, mc_complaints *complaints);
void optimise_contract(const void *plan, mc_contract *contract);
void optimise_facts(const void *plan, mc_facts *facts);
const char *optimise_computes(const void *plan);
void optimise_entry_name(const void *plan, char name[MC_MAX_ENTRY]);
double optimise_estimate(const void *plan, const mc_gpu *gpu, const mc_problem *problem);
void optimise_emit(const void *plan, mc_builder *b);

#endif
