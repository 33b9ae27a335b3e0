/* Products by asynchronous tensor cores, fed by tensor copies (docs/pipelines.md), for any operator.
   emit.c has the kernel's frame, producer.c who copies, consumer.c who multiplies, expand.c who expands a
   sparse B, result.c how sums become C. */
#ifndef MC_WGMMA_H
#define MC_WGMMA_H

#include "parts/product_result.h"
#include "parts/exchange.h"
#include "parts/metadata.h"
#include "parts/pipeline.h"
#include "parts/roles.h"
#include "parts/schedule.h"
#include "parts/shared_tile.h"
#include "parts/tile_store.h"
#include "parts/warpgroup.h"

enum { WGMMA_STAGE_BYTES = 128 }; /* of a row of A, that a stage has */

typedef struct wgmma_plan {
    gemm_problem problem;
    const wgmma_form *form;
    int tile_m, tile_n; /* with turns of a consumer */
    int stages, consumers, group;
    int split; /* thread blocks of a cluster that share a tile, each with a part of k; 0 and 1: none do */
    gemm_store store;
    bool turns;
    bool stream; /* the last tiles are dealt out along k (parts/stream.h) */
    family_overlap overlap;
    bool early; /* with overlap: A's first stages are copied before the kernel ahead has ended */
    bool once;  /* A is read once, and leaves L2 first */
    /* What no field of the operator says: the parts' tests do (tests/gen/parts). */
    int cluster;      /* thread blocks one below the other, which share B; 0: there is none */
    int span;         /* of the swizzle of A and B: 64, 32, 16 for none; 0: 128 */
    bool a_registers; /* A goes through registers */
    bool a_mn_major;  /* A lies as [k][m] */
    bool adds;        /* C += A B, store STORE_TENSOR */
    /* B's columns are rows of a matrix of vectors, as many rows each, which helpers expand (expand.c); 0: B
       is dense. SETS of registers take stages in turn */
    int expand_vec, expand_sets;
    int helpers; /* warpgroups that expand */
} wgmma_plan;

enum { EXPAND_ITEMS = 4, EXPAND_SETS = 4 };
/* Octets of B's columns that a helper's warp expands of each stage. */
static inline int wgmma_expand_items(const wgmma_plan *plan) {
    return plan->tile_n / TILE_LINES / (plan->helpers * WARPGROUP_WARPS);
}
/* Bytes of the table of nibbles, and where it lies: behind all else. */
enum { EXPAND_TABLE = 64 };
int wgmma_table_at(const wgmma_plan *plan);
/* Bytes of a stage that tensor copies bring. */
int wgmma_copied_bytes(const wgmma_plan *plan);

/* The parameter that has A's tensor map. */
static inline const char *wgmma_lhs_map(const wgmma_plan *plan) {
    return plan->problem.turned ? "b_map" : "a_map";
}
shared_tile wgmma_lhs(const wgmma_plan *plan);
shared_tile wgmma_rhs(const wgmma_plan *plan);
int wgmma_stage_bytes(const wgmma_plan *plan);
/* Where a stage has the metadata of a sparse A: behind A and B. */
int wgmma_meta_at(const wgmma_plan *plan);
/* What each warp has for C on its way, with STORE_TENSOR; bytes of shared memory: of all slots, of
   the parts' sums on their way, of all. */
store_slots wgmma_slots(const wgmma_plan *plan);
int wgmma_slot_bytes(const wgmma_plan *plan);
int wgmma_parts_bytes(const wgmma_plan *plan);
int wgmma_shared_bytes(const wgmma_plan *plan);
static inline int wgmma_consumer_warps(const wgmma_plan *plan) { return plan->consumers * WARPGROUP_WARPS; }
static inline bool wgmma_is_split(const wgmma_plan *plan) { return plan->split > 1; }
static inline bool wgmma_is_promoted(const wgmma_plan *plan) { return plan->problem.sums == GEMM_PROMOTED; }
/* Blocks of 64 rows that a consumer has. */
static inline int wgmma_blocks(const wgmma_plan *plan) {
    return plan->tile_m / WARPGROUP_ROWS / (plan->turns ? 1 : plan->consumers);
}
/* Registers that a thread has for sums, and, promoted, for their totals. */
static inline int wgmma_sum_registers(const wgmma_plan *plan) {
    return wgmma_blocks(plan) * plan->tile_n / 2 * (wgmma_is_promoted(plan) ? 2 : 1);
}
/* Whether so few sums are a thread's that two thread blocks find room in a multiprocessor. */
bool wgmma_is_narrow(const wgmma_plan *plan);
/* The fewest columns that tensor copies of C take, which is what a tile's are a multiple of. */
int wgmma_store_columns(const wgmma_plan *plan);
/* Split: how the thread blocks share a tile's sums. */
exchange_shape wgmma_exchange(const wgmma_plan *plan);
/* Stream: how pieces' sums lie in the workspace; and the k from which on stages are too many to count. */
stream_sums wgmma_stream(const wgmma_plan *plan);
int64_t wgmma_stream_k(const wgmma_plan *plan);
/* Columns that a thread block makes C of at a time: the tile's, or a slice's. */
int wgmma_result_columns(const wgmma_plan *plan);
/* Columns of C that come out of registers at a time. */
static inline int wgmma_store_run(const wgmma_plan *plan) {
    return plan->store == STORE_SINGLE ? 1 : RESULT_RUN;
}
/* Whether a register of sums has two f16; and whether these are C as they are. */
bool wgmma_has_halves(const wgmma_plan *plan);
bool wgmma_stores_sums(const wgmma_plan *plan);

/* -- The kernel --------------------------------------------------------------------------------------- */

typedef struct wgmma_kernel {
    const wgmma_plan *plan;
    mc_builder *b;
    shared_tile lhs, rhs;
    warp_roles roles;
    pipeline pipe;
    mc_reg m, n, k, k_stages; /* of C and A; how many stages k takes, or the thread block's part of it */
    mc_reg k_first, k_all;    /* split: the part's first stage; how many stages k takes */
    sum_exchange parts;       /* split */
    mc_reg a_map, b_map;      /* split: the tensor maps' addresses */
    mc_reg table;             /* helpers: what each nibble becomes */
    /* in a batch: the numbers of the product, and of its A and B in their tensor maps, which are 0 where all
       products have the same */
    mc_reg product, a_product, b_product;
} wgmma_kernel;

void wgmma_emit(const void *plan, mc_builder *b);

/* The tiles that a producer, or a consumer with its TURN (none: all), takes. */
tile_schedule wgmma_schedule(const wgmma_kernel *g, mc_reg turn);
/* The roles: what stands between their labels. */
void wgmma_emit_producer(const wgmma_kernel *g, mc_label producer, mc_label end);
void wgmma_emit_consumer(const wgmma_kernel *g, mc_label end);
/* Before all meet. */
void wgmma_init_table(wgmma_kernel *g);
void wgmma_emit_helper(const wgmma_kernel *g, mc_label helper, mc_label end);

/* -- Scales of blocks --------------------------------------------------------------------------------- */

/* A stage is a block of k. A lane has the scales of its two rows of each 64, and the one of the tile's
   columns; they are loaded while the stage before is multiplied. */
typedef struct wgmma_scales {
    const wgmma_kernel *g;
    mc_reg line, last_row;    /* the lane's first row of a tile; A's last one */
    mc_reg a_array, b_array;  /* of the thread block's first block of k */
    mc_operand a_row, a_step; /* bytes from a row of A to the next; from a block of k */
    mc_reg b_row;             /* bytes from 128 columns to the next ones */
    mc_reg any;               /* split: whether the part has blocks */
    mc_reg row;               /* scratch */
    mc_reg a_at[WARPGROUP_BLOCKS][WARPGROUP_LANE_ROWS], b_at; /* where those of the next stage lie */
    mc_reg a[WARPGROUP_BLOCKS][WARPGROUP_LANE_ROWS], b;       /* those themselves */
} wgmma_scales;

/* OWN_ROW: the first of the consumer's rows of a tile (none: 0). */
void wgmma_begin_scales(wgmma_scales *s, const wgmma_kernel *g, mc_reg own_row);
/* Loads those of the first stage of the tile at (ROW, COLUMN). */
void wgmma_load_scales(const wgmma_scales *s, mc_reg row, mc_reg column);
/* Puts the scales of the stage at hand into SCALES, and loads those of the next one, if there are MORE. */
void wgmma_take_scales(const wgmma_scales *s, const mc_reg scales[][WARPGROUP_LANE_ROWS], mc_reg more);

/* -- C ------------------------------------------------------------------------------------------------ */

/* How a consumer makes C of its sums. */
typedef struct wgmma_result {
    const wgmma_kernel *g;
    tile_store store; /* of tensor copies */
    gemm_result lane;
    mc_reg pair;             /* the lane's first column of 8 */
    mc_reg wide[WGMMA_SUMS]; /* sums of f16 in f32 */
} wgmma_result;

void wgmma_begin_result(wgmma_result *r, const wgmma_kernel *g);
/* Makes C of SUMS, those of 64 rows from (ROW + OFFSET, COLUMN) on, which are lost. */
void wgmma_store_result(wgmma_result *r, const mc_reg *sums, mc_reg row, int offset, mc_reg column);
/* Before the thread ends. */
void wgmma_end_result(const wgmma_result *r);

#endif
