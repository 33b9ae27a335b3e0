/* Between those who pack items of neighbouring rows (format csr-stream), and those who must know how many
   lanes a row has. */
#ifndef MCRT_FORMAT_CSR_STREAM_H
#define MCRT_FORMAT_CSR_STREAM_H

#include "formats/panels.h"
#include "parts/csr_lanes.h"

/* MC_USAGE where FORM is none. */
mc_status csr_stream_check_form(const mc_csr_stream *form, mc_diag *diag);
/* Nonzeros that an item has room for. */
static inline int64_t csr_stream_slots(const mc_csr_stream *form) {
    return (int64_t)form->share * CSR_STRIDE;
}
/* How a row of LENGTH nonzeros is shared: by one warp's item where they fit one, of which other rows may be
   a part. panels_cut cuts a longer one into as many parts as it has warps. */
panel_sharing csr_stream_share(const mc_csr_stream *form, int64_t length);
/* The row behind those of the item that begins with row FIRST of A, which fits an item. */
int64_t csr_stream_end(const mc_csr_stream *form, const mc_vsparse *a, int64_t first);
/* The most products of a lane in the item of rows FIRST to END of A, the last left out. It is the least with
   which the rows have enough lanes. */
int64_t csr_stream_most(const mc_vsparse *a, int64_t first, int64_t end);
/* How many lanes a row of LENGTH nonzeros has where a lane has at most MOST of them. */
static inline int csr_stream_lanes(int64_t length, int64_t most) {
    return length <= most ? 1 : (int)((length + most - 1) / most);
}
/* The first product of lane LANE of the LANES that share a row of LENGTH; that behind the last is the end. */
static inline int64_t csr_stream_cut(int64_t length, int lane, int lanes) { return length * lane / lanes; }

#endif
