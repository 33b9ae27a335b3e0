/* Sampled products (SDDMM): the packed mask, and the order of C. */
#ifndef MCRT_SAMPLED_H
#define MCRT_SAMPLED_H

#include "formats/pack.h"

/* C = A B, computed only where a mask has nonzero vectors. The mask is an mc_vsparse of m x n. Its values
   count only where a kernel multiplies by them; they are then of f32 (mc_scale_fill fills them as it does any
   f32). */

/* The layout that KERNEL's field `layout` says; MC_CANNOT where it has none. */
MC_API mc_status mc_layout_of(const mc_kernel *kernel, mc_layout *layout, mc_diag *diag);
/* The n and the k of the B that DENSE holds. */
MC_API int64_t mc_layout_n(mc_layout layout, const mc_dense *dense);
MC_API int64_t mc_layout_k(mc_layout layout, const mc_dense *dense);

/* The order that KERNEL's field `order` says; MC_CANNOT where it has none. */
MC_API mc_status mc_order_of(const mc_kernel *kernel, mc_order *order, mc_diag *diag);
/* Creates C for MASK, filled with zeros. MC_CANNOT where its slots leave s32. */
MC_API mc_status mc_sampled_create(const mc_vsparse *mask, mc_order order, mc_type type, mc_dense *c,
                                   mc_diag *diag);
/* The shape of such a C alone: SHAPE has no data. */
MC_API mc_status mc_sampled_shape(const mc_vsparse *mask, mc_order order, mc_type type, mc_dense *shape,
                                  mc_diag *diag);
/* Brings VECTORS (vectors x vec: BCRS order) into ORDER, with zeros at its padding.
   c: created by the call. */
MC_API mc_status mc_sampled_arrange(const mc_vsparse *mask, mc_order order, const mc_dense *vectors,
                                    mc_dense *c, mc_diag *diag);
/* The way back: C in ORDER becomes vectors x vec, without padding. vectors: created by the call. */
MC_API mc_status mc_sampled_collect(const mc_vsparse *mask, mc_order order, const mc_dense *c,
                                    mc_dense *vectors, mc_diag *diag);

/* sampled-list, the format of the SDDMM: the slots of C (of BCRS order: its vectors) given out as items. An
   item is at most 16 * groups consecutive slots of one row block, whose columns are in one window; a warp
   computes it. Items are ordered by window, then row block, then column; in sampled-windows by window, there
   the longest first, and where they are equally long by row block, then column. Padding at a row block's end
   belongs to the window of its last vector. */
typedef struct mc_sampled {
    int groups;     /* groups of 16 slots in an item: 1, 2, 4 or 8 */
    int64_t window; /* columns; 0 or MC_OPEN: one window has them all */
    mc_order order;
    bool values; /* C is multiplied by the mask's values */
    /* sampled-list, in one window: neighbouring row blocks that take turns: the first item of each, in the
       order of row blocks, then the second ones, and so on; 0 or 1: none do */
    int turn;
    int run; /* sampled-list: neighbouring slots that a lane group has: 2, 4; 0 or 1: each eighth slot */
    /* The format is sampled-windows: window is 1 to 65536, and at [g][2 j + h] col_idx has for row 8 h + g of
       the item's mma j a column, counted from the window's first, | its slot in the item << 16; the sign
       where that slot has no vector. Slots are in such an order that of rows 2 q and 2 q + 1 one has a column
       with bit pair_bit and the other one without, as often as that goes, those in use in the first mma. */
    bool windows;
    int pair_bit; /* 0: even and odd columns; 2: as tensor copies want it */
} mc_sampled;
/*   items        s32[items][4]               row block, first slot, slots (padding is counted), 0
     col_idx      s32[items][8][2 * groups]   the column of the item's slot 16 j + 8 h + g at [g][2 j + h],
                                              with runs of slot 8 run j + run g + i at [g][run j + i];
                                              -1: padding, or beyond the item's slots
     window_ptr   s32[windows + 1]            the first item of each window; where form.windows only
     mask_values  f32, in C's order and of C's size, 0 at padding; where form.values only
   MC_CANNOT where slots or items leave s32, or form.values and MASK is not of f32. */
MC_API mc_status mc_sampled_pack(const mc_vsparse *mask, const mc_sampled *form, mc_packed *packed,
                                 mc_diag *diag);
MC_API mc_status mc_sampled_pack_values(const mc_vsparse *mask, const mc_sampled *form, mc_packed *packed,
                                        mc_diag *diag);
/* The way back: a mask of f32, of zeros without form.values. Checks everything it reads: MC_FORMAT for arrays
   that no mask gives. */
MC_API mc_status mc_sampled_unpack(const mc_packed *packed, int vec, const mc_sampled *form, int64_t rows,
                                   int64_t cols, mc_vsparse *mask, mc_diag *diag);
/* The parameter item_count of kernels that read sampled-list; 0 where PACKED has no items. */
MC_API int64_t mc_sampled_items(const mc_packed *packed);
/* The number that kernels that read sampled-windows have bound as window_items: the items of the longest
   window. 0 where PACKED is no such format. */
MC_API int64_t mc_sampled_longest(const mc_packed *packed);

/* sampled-dense, the format of the SDDMM that computes dense tiles: which slots of C (of BCRS order: vectors)
   have columns in each tile, that is tile_n columns. Padding at a row block's end belongs to the tile of its
   last vector.
     tile_ptr  s32[row_blocks][tiles + 1]  the row block's first slot in each tile, and the end of its
                                           last one's
     col_idx   s32[slots]                  the column of each slot of C, -1: padding
   MC_CANNOT where slots leave s32. */
typedef struct mc_sampled_tiles {
    int64_t tile_n; /* columns */
    mc_order order;
} mc_sampled_tiles;
MC_API mc_status mc_sampled_dense_pack(const mc_vsparse *mask, const mc_sampled_tiles *form,
                                       mc_packed *packed, mc_diag *diag);
/* The format has no values, so that there is nothing to do. MC_FORMAT where PACKED is not of MASK's
   pattern. */
MC_API mc_status mc_sampled_dense_pack_values(const mc_vsparse *mask, const mc_sampled_tiles *form,
                                              const mc_packed *packed, mc_diag *diag);
/* The way back, as mc_sampled_unpack: a mask of f32 with zeros. */
MC_API mc_status mc_sampled_dense_unpack(const mc_packed *packed, int vec, const mc_sampled_tiles *form,
                                         int64_t rows, int64_t cols, mc_vsparse *mask, mc_diag *diag);

/* transposed-steps, the format of A^T B, which has A's values elsewhere: what each warp takes step by step.
   A part is warp_k columns; there are as many as fill whole tiles of tile_k. Each part has the row blocks
   in order, `blocks` of them together, and of these one step at least, of at most `slots` columns. Of each
   row block a step has neighbouring vectors. Steps without vectors fill the part's last turn, two more end
   it, and two turns of these come behind the last part. A kernel reads rows of B two steps ahead, in a turn
   those of its third step and on to the next turn's second one: where these include the first step of a
   stage, stage_rows rows of B, the turn's first step says so. gen/parts/transposed.h has the bits.
     part_ptr    s32[parts + 1]               first step of each part, and behind the last one's end
     steps       s32[steps + 2 turn]            row of B in three stages, with bit 31 "next stage"
     step_slots  s32[steps + 2 turn][slots * (1 + blocks)]
   MC_CANNOT where steps or vectors leave s32. */
typedef struct mc_transposed {
    int tile_k, warp_k; /* columns; tile_k is a multiple of warp_k, which is 64 to 1024 */
    int slots;          /* 16 or 32 */
    int blocks;         /* row blocks of a step: 1 or 2 */
    int turn;           /* steps */
    int stage_rows;     /* a multiple of blocks * V, at least `turn` such */
} mc_transposed;
MC_API mc_status mc_transposed_pack(const mc_vsparse *a, const mc_transposed *form, mc_packed *packed,
                                    mc_diag *diag);
/* The format has no values, so that there is nothing to do. MC_FORMAT where PACKED is not of A's pattern. */
MC_API mc_status mc_transposed_pack_values(const mc_vsparse *a, const mc_transposed *form,
                                           const mc_packed *packed, mc_diag *diag);

#endif
