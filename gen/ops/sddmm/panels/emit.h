/* What the emitters of the SDDMM in panels share: the registers that live through the kernel. */
#ifndef MC_SDDMM_PANELS_EMIT_H
#define MC_SDDMM_PANELS_EMIT_H

#include "ops/sddmm/panels/panels.h"

/* How much of k there is, and how much of it comes in units. An operand is a constant where it is known. */
typedef struct panels_depth {
    mc_operand all, units;
    mc_reg open, units_left; /* registers of these two, where they are not known */
} panels_depth;

/* A or B: the array, and bytes from a row, of B a column, to the next. */
typedef struct panels_side {
    mc_reg array;
    mc_operand row_bytes;
} panels_side;

/* This lane's part of the stride at hand. */
typedef struct panels_stride {
    mc_reg column[PANELS_MOST_SLOTS], next[PANELS_MOST_SLOTS]; /* next: those of the stride behind */
    mc_reg row_words[2 * PANELS_MOST_ROWS];                    /* masks, and numbers of the first nonzeros */
    mc_reg columns_at, rows_at, left; /* left: strides of the item, this one among them */
} panels_stride;

/* Where C's elements lie, and what they are multiplied by. */
typedef struct panels_store {
    mc_reg c, values, scale; /* scale: of all C, or the array's address */
    mc_reg row_scale[PANELS_MOST_ROWS], column_scale[PANELS_MOST_SLOTS];
    mc_reg bit; /* of slot g */
    mc_reg slot_bit, below, place[PANELS_MOST_ROWS], has[PANELS_MOST_ROWS], value[PANELS_MOST_ROWS], at;
    out_scratch elements;
} panels_store;

/* The wide part. */
typedef struct panels_tiles {
    mc_reg a_first[SDDMM_MAX_OCTETS], b_first; /* this lane's first unit of its rows, of column 0 */
    mc_reg a_at[SDDMM_MAX_OCTETS], b_at;       /* the same of the tile at hand */
    mc_reg done, left,
        inside[SDDMM_MAX_CHUNKS]; /* k ahead of the tile; units' k from the lane's first one on */
    mc_reg none, stays;           /* whether there are no units; whether A's tile is in registers already */
    mc_reg address;
    sddmm_panel a;
    mc_reg word[PANELS_MOST_SLOTS][SDDMM_MAX_ROW];
} panels_tiles;

typedef struct panels_emitter {
    const panels_plan *plan;
    mc_builder *b;
    thread_place place;
    mc_reg item[SAMPLED_PANEL_WORDS];
    panels_depth k;
    panels_side a, b_side;
    mc_reg a_row[SDDMM_MAX_OCTETS]; /* this lane's row of A in each octet */
    panels_stride stride;
    sddmm_multiplier multiplier;
    mc_reg acc[PANELS_MOST_ACCS];
    panels_store store;
    panels_tiles tiles;
} panels_emitter;

/* The accumulators of group GROUP's sums in OCTET. */
static inline const mc_reg *panels_acc(const panels_emitter *e, int group, int octet) {
    return &e->acc[(group * e->plan->octets + octet) * SDDMM_ACC];
}
/* Multiplies group GROUP by a step of A in each octet. X and Y are the lane's words of its two columns. */
static inline void panels_emit_products(const panels_emitter *e, int group, const mc_reg *x, const mc_reg *y,
                                        const mc_reg *const operands[]) {
    sddmm_factor factors[SDDMM_MAX_OCTETS];
    for (int octet = 0; octet < e->plan->octets; octet++)
        factors[octet] = (sddmm_factor){operands[octet], panels_acc(e, group, octet)};
    sddmm_emit_products(&e->multiplier, x, y, factors, e->plan->octets);
}

/* tiles.c. The first stands in front of all strides, the second adds a stride's products. */
void panels_begin_tiles(panels_emitter *e);
void panels_emit_tiles(panels_emitter *e);
/* rounds.c. Adds the products of the k behind the units. */
void panels_emit_rounds(panels_emitter *e);

/* store.c. The first stands in front of all strides; then for each stride: load what depends on it alone;
   store its sums. */
void panels_begin_store(panels_emitter *e);
void panels_emit_factors(panels_emitter *e);
void panels_emit_store(panels_emitter *e);

#endif
