/* Between those who make panels, and those who must know how they are shared. */
#ifndef MCRT_PANELS_H
#define MCRT_PANELS_H

#include "formats/stride.h"
#include "parts/panels.h"

/* The rows of a panel joined: a matrix whose row blocks are panels, and whose vectors are columns in which
   any row of the panel has something. */
typedef struct panel_matrix {
    mc_vsparse joined;
    int32_t *element; /* [joined.vectors][rows]: the number of the nonzero there; -1: there is none */
    int32_t *row_of;  /* [(panels + 1) * rows]: whose row it is, INT32_MAX: none. NULL: they come in order */
} panel_matrix;

/* Joins panels of ROWS rows of A, which has vec = 1. Values are left out if NULL in A. */
mc_status panels_join(const mc_vsparse *a, int rows, panel_matrix *m, mc_diag *diag);
/* The same of rows in ORDER. */
mc_status panels_join_ordered(const mc_vsparse *a, int rows, row_order order, panel_matrix *m, mc_diag *diag);
void panels_free(panel_matrix *m);

/* How a panel of STRIDES strides is shared. */
typedef struct panel_sharing {
    int64_t pieces; /* thread blocks */
    int parts;      /* warps of each of these */
} panel_sharing;
panel_sharing panels_share(const mc_panels *form, int64_t strides);
/* The first of STRIDES that the LEAF-th of all warps takes; of the one behind the last the end. */
static inline int64_t panels_cut(panel_sharing s, int64_t strides, int64_t leaf) {
    int64_t leaves = s.pieces * s.parts;
    return strides / leaves * leaf + strides % leaves * leaf / leaves;
}

/* Writes item NUMBER of ITEMS, which are counted alone where they are NULL: of a panel, or rows; what is
   taken from FROM to TO, and how it is shared (gen/parts/panels.h). */
static inline void panels_put_item(int32_t *items, int64_t number, int64_t of, int64_t from, int64_t to,
                                   unsigned sharing) {
    if (items == NULL) return;
    int32_t *item = items + number * PANEL_ITEM_WORDS;
    item[0] = (int32_t)of, item[1] = (int32_t)from, item[2] = (int32_t)to, item[3] = (int32_t)sharing;
}
/* Tells all warps of a thread block, of WARPS, where one of them shares a panel, of COUNT items. */
void panels_mark_sharing(int32_t *items, int64_t count, int warps);

/* Adds masks and values of M, without zeros, to PACKED. START is what stride_starts gives; the matrix has so
   many NONZEROS. MC_CANNOT where a value has several pieces. */
mc_status panels_add_nonzeros(const panel_matrix *m, const stride_layout *layout, const int64_t *start,
                              int64_t nonzeros, mc_packed *packed, mc_diag *diag);
/* Which of them packed values are. */
mc_status panels_nonzero_slots(const panel_matrix *m, const value_code *code, int64_t nonzeros,
                               packed_slots *slots, mc_diag *diag);

/* -- Without columns, for who packs on a device -------------------------------------------------------- */

/* What KERNEL, which reads panels, has of them. */
mc_panels panels_form_of(const mc_kernel *kernel);
typedef struct panel_sizes {
    int64_t nonzeros, strides, items;
    int64_t pieces; /* thread blocks that share a panel with others */
} panel_sizes;
/* What mc_panels_pack and the slots of a matrix with values of TYPE have, if it has such SIZES: PACKED the
   arrays without data, SLOTS all but its vectors. Both are the caller's to free, also where it fails. */
mc_status panels_outline(const mc_panels *form, mc_type type, const panel_sizes *sizes, mc_packed *packed,
                         packed_slots *slots, mc_diag *diag);
/* The part of it that is of masks, and of values without zeros. */
mc_status panels_outline_nonzeros(int rows, const value_code *code, const panel_sizes *sizes,
                                  mc_packed *packed, packed_slots *slots, mc_diag *diag);

#endif
