/* Panels packed on a device, by the steps of gen/ops/pack_panels. Those before anybody knows sizes, and those
   behind, are put apart: who has room for as much as there may be puts both without waiting, also while the
   stream is being captured. */
#ifndef MCRT_DEVICE_PACK_PANELS_H
#define MCRT_DEVICE_PACK_PANELS_H

#include "context/device_pack.h"
#include "context/device_work.h"
#include "formats/panels.h"

typedef struct panels_packer {
    const device_pattern *pattern;
    mc_panels form;
    int64_t panels, segments, groups;
    /* Scratch, [..] as docs of the steps' parameters have it */
    mc_address sorted, elements, bits, before, leaders, starts;
    mc_address segment_counts, segment_sums, segment_totals;
    mc_address counts, sums, totals;
} panels_packer;

/* Of PATTERN for panels of FORM. All but the addresses. MC_CANNOT as device_pack_panels. */
mc_status panels_packer_open(const device_pattern *pattern, const mc_panels *form, panels_packer *packer,
                             mc_diag *diag);
/* Bytes of scratch; and its addresses, where it lies at ADDRESS, a multiple of 256. */
size_t panels_packer_scratch(panels_packer *packer, mc_address address);
/* The most that a pattern with the row offsets of PACKER's can need. */
panel_sizes panels_packer_most(const panels_packer *packer);

/* Puts what finds out the sizes. */
mc_status panels_put_sizes(device_work *work, const panels_packer *packer, mc_diag *diag);
/* Waits for them. */
mc_status panels_read_sizes(const device_work *work, const panels_packer *packer, panel_sizes *sizes,
                            mc_diag *diag);
/* Puts what writes items, col_idx, masks and vectors, which have room for at least their own sizes. STRIDES
   may be more than there are. */
mc_status panels_put_arrays(device_work *work, const panels_packer *packer, int64_t strides,
                            const device_packed *packed, mc_diag *diag);

#endif
