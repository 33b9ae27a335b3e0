/* What the packed formats have in common. Each row block's nonzero vectors fill slots, one after another, and
   the last stride of the row block is padded with slots of index -1 and value 0. A value is one piece or
   several (value_code), each in a plane of its own, the first one first. The formats differ in where a slot's
   index and pieces lie, in how wide a piece is, in how many strides of each row block come first (the heads),
   and in what row_ptr says. */
#ifndef MCRT_STRIDE_H
#define MCRT_STRIDE_H

#include "formats/slots.h"

enum { MC_MAX_VEC = 16 /* elements of a vector, at most */ };

typedef struct stride_layout {
    value_code code; /* of A's values */
    int planes;      /* pieces that there is room for; those beyond the value's are 0 */
    int vec, stride; /* values of a slot; slots of a stride */
    /* Strides of each row block that lie together before all others, whether it fills them or not */
    int heads;
    int64_t (*index_place)(const struct stride_layout *layout, int64_t slot);
    /* Where a piece lies, counted in pieces. PLANE `planes` has one row: the ones of the code. */
    int64_t (*value_place)(const struct stride_layout *layout, int64_t slot, int row, int plane);
    /* Element INDEX of row_ptr, where START is what stride_starts gives; and how many elements there are. */
    int64_t (*row_ptr)(const struct stride_layout *layout, const mc_vsparse *a, const int64_t *start,
                       int64_t index);
    int64_t (*row_ptr_count)(int64_t row_blocks);
    /* COUNT receives how many vectors packed arrays say that each row block has. row_ptr has the right
       length, but any content. */
    mc_status (*count_blocks)(const struct stride_layout *layout, const mc_packed *packed, int64_t row_blocks,
                              int64_t *count, mc_diag *diag);
} stride_layout;

/* Slots of a row block of COUNT vectors: in its heads, and behind them. */
int64_t stride_head_slots(const stride_layout *layout);
int64_t stride_tail_slots(const stride_layout *layout, int64_t count);
/* The slot of vector VECTOR (which may be padding) of a row block whose slots
   behind the heads start at START. */
int64_t stride_slot(const stride_layout *layout, int64_t start, int64_t block, int64_t vector);

/* The layout of strided-bcrs, of values of TYPE in vectors of VEC. */
mc_status strided_layout(mc_type type, int vec, const mc_strided *form, stride_layout *layout, mc_diag *diag);

/* For index_place: indices in the order of the slots, and shuffled inside each 8 (nibbles.h). */
int64_t stride_plain_index(const stride_layout *layout, int64_t slot);
int64_t stride_shuffled_index(const stride_layout *layout, int64_t slot);

/* Adds a zeroed array to PACKED. */
mc_status packed_add(mc_packed *packed, const char *name, mc_type type, int64_t count, mc_diag *diag);
/* The array NAME of PACKED with TYPE, and COUNT elements unless COUNT is -1; MC_FORMAT. */
mc_status packed_get(const mc_packed *packed, const char *name, mc_type type, int64_t count,
                     const mc_packed_array **array, mc_diag *diag);

/* MC_FORMAT where PACKED has not the arrays of WANT, all of s32, which WHAT ("this mask") gives. */
mc_status packed_check_same(const mc_packed *packed, const mc_packed *want, const char *what, mc_diag *diag);
/* Takes the values of MADE, its last array, whose others are PACKED's, too; frees MADE. MC_FORMAT where these
   are not; PACKED is as before then. */
mc_status packed_take_values(mc_packed *packed, mc_packed *made, mc_diag *diag);
/* MC_USAGE where arrays that are to become a matrix cannot be of one of ROWS x COLS, with vectors of VEC
   rows, MOST_VEC at most. */
mc_status packed_check_shape(int vec, int64_t rows, int64_t cols, mc_diag *diag);

/* START receives each row block's first slot behind the heads, and the number of slots at the end:
   row_blocks + 1, malloc'ed. MC_CANNOT where A's vector length is not the layout's, or slots leave s32. */
mc_status stride_starts(const stride_layout *layout, const mc_vsparse *a, int64_t **start, mc_diag *diag);
/* Makes row_ptr, col_idx and values of A. */
mc_status stride_pack(const stride_layout *layout, const mc_vsparse *a, mc_packed *packed, mc_diag *diag);
/* The last two of these, each by itself: added to PACKED. START is what stride_starts gives; A's values have
   the code's pieces. */
mc_status stride_add_columns(const stride_layout *layout, const mc_vsparse *a, const int64_t *start,
                             mc_packed *packed, mc_diag *diag);
mc_status stride_add_values(const stride_layout *layout, const mc_vsparse *a, const int64_t *start,
                            mc_packed *packed, mc_diag *diag);
/* Puts A's values where stride_pack would. MC_FORMAT, and PACKED as before: it is not of A's pattern. */
mc_status stride_pack_values(const stride_layout *layout, const mc_vsparse *a, mc_packed *packed,
                             mc_diag *diag);
/* Which vectors the slots of A hold, whose values lie alike every GROUP slots. */
mc_status stride_slots(const stride_layout *layout, const mc_vsparse *a, int group, packed_slots *slots,
                       mc_diag *diag);
/* What follows of A's row offsets alone: PACKED has row_ptr, and the other arrays without data; SLOTS has all
   but its vectors. Both are the caller's to free, also where it fails. */
mc_status stride_outline(const stride_layout *layout, const mc_vsparse *a, int group, mc_packed *packed,
                         packed_slots *slots, mc_diag *diag);
/* Makes the matrix A of ROWS x COLS from what stride_pack made of it. Checks everything: MC_FORMAT for arrays
   that no matrix gives, MC_USAGE for a shape that none has. */
mc_status stride_unpack(const stride_layout *layout, const mc_packed *packed, int64_t rows, int64_t cols,
                        mc_vsparse *a, mc_diag *diag);

#endif
