/* SDDMM: the plan, which sddmm.c derives from a point and the emitters turn into instructions.
 *
 * How k is shared out. Of a row of B a lane takes
 *
 *   a unit    16 bytes, one load of the wide path. The units of a lane group's four lanes adjoin: a chunk
 *   a step    what one mma takes of the unit for each digit and each parity: half the unit, of 16-bit values
 *             all of it
 *
 * and of its row of A it takes the same k. Of a row-major B, where neighbouring k are neighbours in no row, a
 * unit is a step. Which of the mma's k a value meets is free, as long as both sides agree. */
#ifndef MC_SDDMM_H
#define MC_SDDMM_H

#include "parts/batch.h"
#include "parts/fragment.h"
#include "parts/integer/integer.h"
#include "parts/output.h"

enum {
    SDDMM_MMA_ROWS = 8, /* rows of A that an mma has room for; those from vec on are empty */
    SDDMM_UNIT = 16,    /* bytes */
    SDDMM_MAX_CHAINS = 4,
    SDDMM_MAX_ABREAST = 2,
    SDDMM_MAX_BUFFERS = 4,
    SDDMM_GATHER_WARPS = 8,
    SDDMM_WINDOW_GROUPS = 4,
    SDDMM_MAX_PANEL = 512, /* bytes of a column of B in registers at once */
    SDDMM_MAX_ROWS = 128,  /* the same of a row-major B, in k */
    SDDMM_MAX_TILE = 512   /* tile_k */
};

/* In the order of the spec's names. */
typedef enum sddmm_order { SDDMM_BCRS, SDDMM_SRBCRS16, SDDMM_SRBCRS32 } sddmm_order;
typedef enum sddmm_method { SDDMM_GATHER, SDDMM_WINDOW, SDDMM_DENSE } sddmm_method;
typedef enum sddmm_layout { SDDMM_COLUMNS, SDDMM_ROWS } sddmm_layout;
typedef enum sddmm_lhs_in { SDDMM_LHS_REGISTERS, SDDMM_LHS_SHARED } sddmm_lhs_in;
typedef enum sddmm_mask { SDDMM_PATTERN, SDDMM_VALUES } sddmm_mask;

/* What the wide path needs and the spec leaves open. Each thread tests what is true here. */
typedef struct sddmm_checks {
    bool lda, ldb, a_address, b_address;
} sddmm_checks;

/* Method "dense": how warps share a tile, and what it takes of shared memory. */
typedef struct sddmm_dense {
    int row_warps, column_warps;
    int warp_rows, warp_columns; /* of a warp, in groups of 8 rows of A and of 16 columns of B */
    int stages;                  /* stages of k */
    int64_t shared_bytes;
} sddmm_dense;

typedef struct sddmm_plan {
    digit_side lhs, rhs;
    digit_set a, b; /* digits of lhs and rhs; a 4-bit B is multiplied as 8 bits, in two parities */
    out_kind output;
    sddmm_mask mask;
    sddmm_order order;
    sddmm_layout layout;
    sddmm_method method;
    int vec, groups, warps, tile_k, align;
    int abreast; /* lane groups that read a column of B side by side, a chunk each: 1 or 2 (lines.c) */
    sddmm_lhs_in lhs_in;
    bool prefetch, prefetch_lhs, overlap;
    bool batch; /* the grid's z counts products, whose operands lie strides apart (parts/batch.h) */
    int tile_n, tile_rows; /* columns of B and rows of A in a tile */
    int64_t m, n, k, lda, ldb, window;

    int sums;      /* accumulators of an element of C: one for each weight of a digit of A times one of B */
    bool times_16; /* 4-bit values of B count 16 times, and with them those of a 4-bit A: k allows it */
    int parities;  /* 4-bit B: 2, since even and odd k are operands of their own; else 1 */
    int step_k, unit_k, steps; /* k of a lane's step and of its unit; steps of a unit */
    int chunks;                /* chunks of a panel: units of a lane that are in registers at once */
    bool wide, edge;
    bool loops;       /* the wide path can have several panels */
    bool guard_units; /* units of a panel can lie beyond k */
    int buffers;      /* groups whose columns of B have registers: all but one are loaded ahead */
    int chains;       /* chains of a group's mma; each has accumulators of its own */
    bool store_early; /* a group's sums are whole before the next group's begin */
    int store;        /* rows of C that one store takes: 1 or 2 */
    sddmm_checks checks;
    unsigned shared_bytes; /* panels of A, with lhs_in "shared"; the window's columns, with method "window" */
    sddmm_dense dense;
    char items_doc[160], index_extent[32];
} sddmm_plan;

/* Bits that a value takes in memory. */
static inline int sddmm_stored_bits(digit_side side) { return side.bits > 8 ? 16 : side.bits; }
/* Bytes of COUNT neighbouring values; 4-bit ones come in pairs. */
static inline int64_t sddmm_bytes(digit_side side, int64_t count) {
    return count * sddmm_stored_bits(side) / 8;
}
/* Registers of COUNT neighbouring values. */
static inline int sddmm_words(digit_side side, int count) { return count * sddmm_stored_bits(side) / 32; }
/* k of a chunk. */
static inline int sddmm_chunk_k(const sddmm_plan *plan) { return 4 * plan->unit_k; }
/* Bytes that the wide path loads of a row of A at once. */
static inline int sddmm_a_access(const sddmm_plan *plan) {
    int64_t bytes = sddmm_bytes(plan->lhs, plan->unit_k);
    return bytes < SDDMM_UNIT ? (int)bytes : SDDMM_UNIT;
}
/* Units that a lane loads of a column of B for a panel. */
static inline int sddmm_loads(const sddmm_plan *plan) {
    return (plan->chunks + plan->abreast - 1) / plan->abreast;
}
/* The last chunk that one of the lanes abreast loads by load LOAD. */
static inline int sddmm_last_chunk(const sddmm_plan *plan, int load) {
    int last = plan->abreast * (load + 1) - 1;
    return last < plan->chunks ? last : plan->chunks - 1;
}
/* Registers of a lane for what the wide path loads of a column of B in a chunk: words, or values of a
   row-major B. */
static inline int sddmm_chunk_regs(const sddmm_plan *plan) {
    return plan->layout == SDDMM_ROWS ? plan->unit_k : SDDMM_UNIT / 4;
}
/* The same for a group's columns. */
static inline int sddmm_group_regs(const sddmm_plan *plan) {
    return plan->abreast * 2 * sddmm_chunk_regs(plan) * sddmm_loads(plan);
}
/* The multiple of elements that rows of A, or of B, must be for vector loads. */
static inline int sddmm_row_unit(const sddmm_plan *plan, bool is_b) {
    int a_bytes = plan->method == SDDMM_DENSE ? SDDMM_UNIT : sddmm_a_access(plan);
    return is_b ? plan->unit_k : a_bytes * 8 / sddmm_stored_bits(plan->lhs);
}
/* Slots of SR-BCRS's strides; 0 in BCRS. */
static inline int sddmm_stride(const sddmm_plan *plan) {
    static const int strides[] = {[SDDMM_BCRS] = 0, [SDDMM_SRBCRS16] = 16, [SDDMM_SRBCRS32] = 32};
    return strides[plan->order];
}
/* The k up to which no accumulator leaves s32 where values of a 4-bit B count 16 times. */
int64_t sddmm_times_16_k(const sddmm_plan *plan);

/* lhs.c: bytes of shared memory that a thread block has for panels of A. */
unsigned sddmm_lhs_shared_bytes(const sddmm_plan *plan);
/* dense.c */
void sddmm_contract(const void *plan, mc_contract *c);
void sddmm_facts(const void *plan, mc_facts *facts);
/* The arrays that each product of a batch has for itself. */
enum { SDDMM_BATCH_ARRAYS = 3 };
void sddmm_list_batch(const sddmm_plan *plan, mc_batch_array arrays[SDDMM_BATCH_ARRAYS]);

void sddmm_dense_plan(sddmm_plan *plan);
void sddmm_dense_add_packed(const sddmm_plan *plan, mc_contract *c);
void sddmm_dense_set_launch(const sddmm_plan *plan, mc_contract *c);
void sddmm_dense_facts(const sddmm_plan *plan, mc_facts *facts);
/* dense_emit.c */
void sddmm_dense_emit(const sddmm_plan *plan, mc_builder *b);

/* emit.c, window.c: the kernels of the two methods. */
void sddmm_emit(const sddmm_plan *plan, mc_builder *b);
void sddmm_emit_window(const sddmm_plan *plan, mc_builder *b);

#endif
