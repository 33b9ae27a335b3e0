/* What the packed formats have in common: each row block's nonzero vectors fill slots, one after another, and
   the last stride of the block is padded with slots of index -1 and value 0. The formats differ in where a
   slot's index and values lie, and in what row_ptr says. */
#ifndef MCRT_STRIDE_H
#define MCRT_STRIDE_H

#include "mcrt.h"

/* The operand of the mma that holds a vector has 8 rows (or columns). */
enum { MC_MAX_VEC = 8 };

typedef struct stride_layout {
    int vec, stride; /* values a slot, slots a stride */
    int64_t (*index_place)(const struct stride_layout *layout, int64_t slot);
    int64_t (*value_place)(const struct stride_layout *layout, int64_t slot, int row);
} stride_layout;

/* COUNT rounded up to whole strides. */
int64_t stride_padded(const stride_layout *layout, int64_t count);

/* Adds a zeroed array to PACKED. */
mc_status packed_add(mc_packed *packed, const char *name, mc_type type, int64_t count, mc_diag *diag);
/* The array NAME of PACKED with TYPE, and COUNT elements unless COUNT is -1; MC_FORMAT. */
mc_status packed_get(const mc_packed *packed, const char *name, mc_type type, int64_t count,
                     const mc_packed_array **array, mc_diag *diag);

/* START receives the first slot of each row block of A, and the number of slots at the end: row_blocks + 1,
   malloc'ed. MC_CANNOT where A's type or vector length is not the layout's, or the slots leave s32. */
mc_status stride_starts(const stride_layout *layout, const mc_vsparse *a, int64_t **start, mc_diag *diag);
/* Adds col_idx and values of A to PACKED. */
mc_status stride_pack(const stride_layout *layout, const mc_vsparse *a, const int64_t *start,
                      mc_packed *packed, mc_diag *diag);
/* Makes A from col_idx and values of PACKED, where row block b holds COUNT[b] vectors. The row blocks'
   strides must be all that there is. */
mc_status stride_unpack(const stride_layout *layout, const mc_packed *packed, const int64_t *count,
                        int64_t row_blocks, int64_t cols, mc_vsparse *a, mc_diag *diag);
/* A shape that stride_unpack takes; MC_USAGE. */
mc_status stride_check_shape(const stride_layout *layout, int64_t rows, int64_t cols, mc_diag *diag);

#endif
