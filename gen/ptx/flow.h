/* The control flow of a builder's lines: blocks, and which follows which. check.c and simplify.c walk it. */
#ifndef MC_FLOW_H
#define MC_FLOW_H

#include "ptx/builder.h"

typedef struct mc_block {
    size_t first, last; /* lines [first, last) */
    int next[2], next_count;
} mc_block;

typedef struct mc_flow {
    mc_builder *b;
    mc_block *blocks;
    size_t block_count;
    int *block_of_label; /* -1: not placed */
    size_t words;        /* of a set of registers */
} mc_flow;

/* Finds the blocks. False where labels or branches are wrong, or there is no memory: b->error says it. */
bool flow_make(mc_flow *f, mc_builder *b);
void flow_free(mc_flow *f);

/* -- Sets of registers: a bit for each -- */

typedef uint64_t mc_word;

static inline bool set_has(const mc_word *set, int id) { return set[(id - 1) / 64] >> ((id - 1) % 64) & 1; }
static inline void set_add(mc_word *set, int id) { set[(id - 1) / 64] |= (mc_word)1 << ((id - 1) % 64); }
static inline void set_remove(mc_word *set, int id) {
    set[(id - 1) / 64] &= ~((mc_word)1 << ((id - 1) % 64));
}

/* Whether a wgmma adds to its accumulators, or only writes them: perhaps, where a predicate says it. */
typedef enum mc_adds { ADDS_NEVER, ADDS_ALWAYS, ADDS_PERHAPS } mc_adds;
/* ADDS_NEVER also for what is no wgmma. */
mc_adds flow_adds(const mc_builder *b, const mc_line *line);
static inline bool flow_is_wgmma(const mc_line *line) {
    return line->kind == LINE_INSTR && op_columns(line->op) != 0;
}

/* Calls VISIT for each register that LINE reads (DEFS false) or writes (true). The guard is read, and so are
   the accumulators that a wgmma adds to. */
typedef void visit_reg(void *user, const mc_line *line, int id);
void each_reg(const mc_builder *b, const mc_line *line, bool defs, visit_reg *visit, void *user);

#endif
