/* Between those who pack CSR for kernels without tensor cores, and those who must know how long rows are
   shared. */
#ifndef MCRT_FORMAT_CSR_H
#define MCRT_FORMAT_CSR_H

#include "formats/panels.h"
#include "formats/slots.h"
#include "parts/csr_lanes.h"

/* Whether KERNEL reads row_ptr, col_idx and values as CSR has them, and nothing else of the matrix. */
bool csr_reads_as_it_comes(const mc_kernel *kernel);
/* What KERNEL, which reads csr of a matrix of TYPE, has of it. */
mc_csr_form csr_form_of(const mc_kernel *kernel, mc_type type);
/* Whether there is the array "items". */
bool csr_has_list(const mc_csr_form *form);
typedef struct csr_sizes {
    int64_t items;  /* in whole thread blocks */
    int64_t pieces; /* thread blocks that share a row with others */
} csr_sizes;
/* Adds "items", where there is that array, and the pieces to PACKED. Of A row offsets alone are read. */
mc_status csr_add_items(const mc_vsparse *a, const mc_csr_form *form, mc_packed *packed, mc_diag *diag);
/* What mc_csr_pack makes of A, if it has such SIZES: the arrays without data; and the slots, without their
   vectors. Of A row offsets alone are read. Both are the caller's to free, also where it fails. MC_USAGE and
   MC_CANNOT as mc_csr_pack. */
mc_status csr_outline(const mc_csr_form *form, const mc_vsparse *a, const csr_sizes *sizes, mc_packed *packed,
                      packed_slots *slots, mc_diag *diag);
/* MC_USAGE where FORM is none. */
mc_status csr_check_form(const mc_csr_form *form, mc_diag *diag);
/* That, and MC_CANNOT where A is none that csr holds. */
mc_status csr_check(const mc_vsparse *a, const mc_csr_form *form, mc_diag *diag);
/* Whether row ROW of A is more than a group's. Without a list a row is that only beside shorter ones in its
   thread block, or where it is long enough for the whole thread block (gen/ops/spmm/csr/block_rows.c). */
bool csr_is_long(const mc_csr_form *form, const mc_vsparse *a, int64_t row);
/* How a long row of LENGTH nonzeros is shared: panels_cut cuts it into as many parts as it has warps. */
panel_sharing csr_share(const mc_csr_form *form, int64_t length);
/* With `segmented`: the row behind those of the item that begins with row FIRST of A, which is not long; at
   most the next multiple of CSR_DEAL_ROWS. */
int64_t csr_segment_end(const mc_csr_form *form, const mc_vsparse *a, int64_t first);
/* Where group GROUP's part of LENGTH nonzeros begins, which are a warp's; that of `groups` is the end. */
static inline int64_t csr_group_cut(const mc_csr_form *form, int64_t length, int64_t group) {
    return length / form->groups * group + length % form->groups * group / form->groups;
}

#endif
