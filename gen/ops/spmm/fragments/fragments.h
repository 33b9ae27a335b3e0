/* SpMM by dense fragments of A (staging "fragments"): a tile of A comes to shared memory as it is packed
 * (format bitmap-tiles), beside a tile of B. Warpgroups expand it in their registers to the operand A of
 * wgmma, zeros included, and multiply. So all of k is multiplied, whatever is zero, and no dense tile of A
 * is ever stored.
 *
 * A packed tile has segments of 16 bytes: 8 rows of two columns, where one of the two has a vector, and a
 * bit for each. ldmatrix.trans takes 8 segments, whose addresses lanes name, and gives each lane what
 * wgmma wants: four k of a row. A lane whose bit is not set names zeros. So that is all of the expansion:
 * an address a lane for each 16 rows and 32 k of a warp.
 *
 *   stage: bits, segments, B -> a lane's word of bits -> its segment's address -> ldmatrix -> wgmma
 *
 * A stage has 128 k, four steps of 32. A step's wgmma come in units, each of one or two blocks of 64 rows.
 * While the words of A of a unit come, the wgmma of others are on their way.
 *
 * Thread blocks have one tile of C each, and two of them share a multiprocessor where there is room: one
 * computes while the other one begins or stores. `parts` thread blocks of a cluster share a tile, each with a
 * part of k. Or thread blocks take tiles in turn, and the last ones are dealt out along k (`stream`).
 *
 * emit.c has the kernel's frame, copy.c who copies, decode.c how segments become words of A, multiply.c
 * who multiplies, store.c how sums become C. */
#ifndef MC_SPMM_FRAGMENTS_H
#define MC_SPMM_FRAGMENTS_H

#include "ops/spmm/problem.h"
#include "parts/bitmap_tiles.h"
#include "parts/emit.h"
#include "parts/exchange.h"
#include "parts/k_part.h"
#include "parts/output.h"
#include "parts/pipeline.h"
#include "parts/roles.h"
#include "parts/schedule.h"
#include "parts/shared_tile.h"
#include "parts/warpgroup.h"

enum {
    FRAGMENTS_K = BITMAP_TILES_STAGE,              /* columns of A that a stage has */
    FRAGMENTS_STEPS = FRAGMENTS_K / WGMMA_K_BYTES, /* wgmma's steps of k */
    FRAGMENTS_BLOCKS = 4,                          /* of 64 rows, a consumer at most */
    FRAGMENTS_UNIT = 2,                            /* blocks that are a unit, where they are even */
    FRAGMENTS_SETS = 4,                            /* of registers for A, which units take in turn */
    FRAGMENTS_ZEROS = 128,                         /* bytes of zeros, in all banks */
};

typedef struct fragments_plan {
    spmm_plan base;
    const wgmma_form *form;
    int tile_rows, blocks, consumers; /* blocks: of 64 rows, a consumer */
    int stages, parts;
    bool stream; /* thread blocks take tiles in turn, and the last ones are dealt out along k */
} fragments_plan;

/* Sums of a thread. */
static inline int fragments_sums(const fragments_plan *p) { return p->blocks * p->base.tile_n / 2; }
/* Blocks of a unit; units of a step, and of a stage, which are a multiple of FRAGMENTS_SETS. */
static inline int fragments_unit(const fragments_plan *p) {
    return p->blocks % FRAGMENTS_UNIT ? 1 : FRAGMENTS_UNIT;
}
static inline int fragments_step_units(const fragments_plan *p) { return p->blocks / fragments_unit(p); }
static inline int fragments_units(const fragments_plan *p) {
    return FRAGMENTS_STEPS * fragments_step_units(p);
}
static inline bool fragments_are_split(const fragments_plan *p) { return p->parts > 1; }
/* Neighbouring rows of C that a lane stores at once. */
static inline int fragments_store_rows(const fragments_plan *p) {
    return out_element_bytes(p->base.output.element) == 2 ? 4 : 1;
}
/* Whether two thread blocks find room in a multiprocessor. */
bool fragments_are_paired(const fragments_plan *p);
/* Stream: how sums of pieces lie in the workspace. */
stream_sums fragments_pieces(const fragments_plan *p);
/* Stream: from this k on stages are too many to count. */
int64_t fragments_stream_k(const fragments_plan *p);

/* -- A stage: B, then a tile's segments, room for all of them, then its bits ---------------------------- */

shared_tile fragments_b(const fragments_plan *p);
static inline int fragments_row_blocks(const fragments_plan *p) { return p->tile_rows / p->base.vec; }
/* Bytes of the bits of a step, and of a stage. */
static inline int fragments_step_bits(const fragments_plan *p) { return fragments_row_blocks(p) * WORD; }
static inline int fragments_bits(const fragments_plan *p) { return FRAGMENTS_STEPS * fragments_step_bits(p); }
/* Bytes of a slot: segments of all rows of a vector. */
static inline int fragments_slot_bytes(const fragments_plan *p) {
    return p->base.vec / TILE_LINES * BITMAP_TILES_SEGMENT;
}
int fragments_values_at(const fragments_plan *p);
int fragments_bits_at(const fragments_plan *p);
int fragments_stage_bytes(const fragments_plan *p);

/* -- Shared memory: stages, or sums on their way in the same place; zeros; barriers ---------------------- */

exchange_shape fragments_exchange(const fragments_plan *p);
int fragments_zeros_at(const fragments_plan *p);
/* Bytes between the last stage and the barriers. */
int fragments_gap(const fragments_plan *p);
int fragments_shared_bytes(const fragments_plan *p);

/* -- The kernel ----------------------------------------------------------------------------------------- */

/* A warp's rows of the tile are neighbours. In each block of wgmma it has two groups of 8 rows; so group
   2 i + h is rows g and g + 8 of block i, of lanes 4 g to 4 g + 3. */
enum { FRAGMENTS_HALVES = 2 /* groups of a block */ };
static inline int fragments_groups(const fragments_plan *p) { return p->blocks * FRAGMENTS_HALVES; }
static inline int fragments_warp_rows(const fragments_plan *p) { return fragments_groups(p) * TILE_LINES; }

/* The rows of C that a lane has sums of: one of each group, the first one of them ROW. */
typedef struct fragments_rows {
    mc_reg g, t;       /* the lane's row of each group; its two columns of each 8 */
    mc_reg first, row; /* the warp's first row of C, and the lane's */
    mc_reg inside[FRAGMENTS_BLOCKS * FRAGMENTS_HALVES]; /* whether the group's rows are C's */
    out_factors factors;
} fragments_rows;

typedef struct fragments_kernel {
    const fragments_plan *plan;
    mc_builder *b;
    shared_tile rhs;
    warp_roles roles;
    pipeline pipe;
    mc_reg m, n, k_stages; /* how many stages k takes */
    /* Stream: of the tile at hand, and a role's own: the producer's, which is emitted last, replace those of
       the consumers */
    mc_reg tile, row, column; /* the number of the tile's rows; its first row and column of C */
    k_part part;              /* the thread block's stages of it */
    mc_reg zeros;
    sum_exchange parts;
    fragments_rows rows;
    mc_reg sums[FRAGMENTS_BLOCKS][WGMMA_SUMS]; /* of a consumer's thread */
} fragments_kernel;

void spmm_fragments_make_plan(const int64_t *point, void *plan, mc_complaints *complaints);
double spmm_fragments_estimate(const void *plan, const mc_gpu *gpu, const mc_problem *problem);
void spmm_fragments_emit(const void *plan, mc_builder *b);

/* Stream: the list of tiles, of which each role has its own. Takes the next one as the tile at hand, or goes
   to END where there is none. */
tile_schedule spmm_fragments_begin_tiles(const fragments_kernel *f);
void spmm_fragments_take_tile(fragments_kernel *f, const tile_schedule *tiles, mc_label end);

void spmm_fragments_emit_producer(fragments_kernel *f, mc_label producer, mc_label end);
/* Finds the lane's rows, and loads their factors: memory is far, and so before the loop. */
void spmm_fragments_begin_rows(fragments_kernel *f);
/* Makes C of the sums, which are lost. */
void spmm_fragments_store(fragments_kernel *f);

/* How a lane expands its words of A. Segments are found for as many units at once as there are sets of words:
   each is a chain of instructions that wait for each other, and several chains take no longer than one. */
typedef struct fragments_decoder {
    const fragments_kernel *f;
    mc_builder *b;
    mc_reg bits_at, values_at;                   /* the lane's in the stage at hand */
    mc_reg bits_start, values_start, bits_end;   /* in stage 0, and behind all stages */
    mc_reg bit, below;                           /* the lane's bit of a word, and those below it */
    mc_reg apart;                                /* what moves a segment's bank to one that no segment has */
    mc_reg word[FRAGMENTS_SETS][FRAGMENTS_UNIT]; /* words of bits of FRAGMENTS_SETS units */
    mc_reg at[FRAGMENTS_SETS][FRAGMENTS_UNIT];   /* where their segments lie */
    mc_reg rank, zero, has;                      /* scratch */
    mc_reg a[FRAGMENTS_SETS][FRAGMENTS_UNIT][WGMMA_A_REGS]; /* words of A of each wgmma of a unit */
} fragments_decoder;

fragments_decoder spmm_fragments_begin_decoder(const fragments_kernel *f);
/* Reads the bits of FRAGMENTS_SETS units of the stage at hand, from UNIT on, a multiple of that. Finds the
   segments of those whose bits were read. Loads UNIT's words of A, whose segments were found. */
void spmm_fragments_read(const fragments_decoder *d, int unit);
void spmm_fragments_find(const fragments_decoder *d);
void spmm_fragments_load(const fragments_decoder *d, int unit);
/* Goes to the next stage where MORE holds (none: always); to before the first one. */
void spmm_fragments_next(const fragments_decoder *d, mc_reg more);
void spmm_fragments_rewind(const fragments_decoder *d);

/* The consumers' loop over stages. */
typedef struct fragments_multiplier {
    const fragments_kernel *f;
    mc_builder *b;
    fragments_decoder decoder;
    pipeline_consumer stage;
    mc_reg b_first, b_end, b_desc, b_step; /* descriptors of B: of stage 0, behind all; at hand, of a step */
    mc_reg adds, index, more; /* whether there are sums; stages that were begun; whether there are more */
} fragments_multiplier;

fragments_multiplier spmm_fragments_begin_multiplier(fragments_kernel *f);
/* Multiplies the part of k of the tile at hand: f->sums. */
void spmm_fragments_multiply(const fragments_multiplier *m);

#endif
