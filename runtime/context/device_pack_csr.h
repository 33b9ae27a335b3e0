/* csr packed on a device, by the steps of gen/ops/pack_csr. Those before anybody knows how many items there
   are, and those behind, are put apart, without waiting, as those of panels (device_pack_panels.h). */
#ifndef MCRT_DEVICE_PACK_CSR_H
#define MCRT_DEVICE_PACK_CSR_H

#include "context/device_pack.h"
#include "context/device_work.h"
#include "formats/csr.h"

typedef struct csr_packer {
    const device_pattern *pattern;
    mc_csr_form form;
    int64_t blocks;                  /* of rows; 0: there is no list, and nothing to find out */
    mc_address counts, sums, totals; /* scratch, [..] as docs of the steps' parameters have it */
} csr_packer;

/* Of PATTERN, with values of TYPE, for csr of FORM. All but the addresses. MC_USAGE and MC_CANNOT as
   mc_csr_pack; MC_CANNOT, too, for a list of more than 2^30 rows. */
mc_status csr_packer_open(const device_pattern *pattern, const mc_csr_form *form, mc_type type,
                          csr_packer *packer, mc_diag *diag);
/* Bytes of scratch; and its addresses, where it lies at ADDRESS, a multiple of 256. */
size_t csr_packer_scratch(csr_packer *packer, mc_address address);

/* Puts what finds out the sizes. */
mc_status csr_put_sizes(device_work *work, const csr_packer *packer, mc_diag *diag);
/* Waits for them. */
mc_status csr_read_sizes(const device_work *work, const csr_packer *packer, csr_sizes *sizes, mc_diag *diag);
/* Puts what writes the items, at an address that is a multiple of 16. There must be blocks. */
mc_status csr_put_items(device_work *work, const csr_packer *packer, mc_address items, mc_diag *diag);
/* Puts that, where there is a list, and what writes row_ptr, col_idx and the slots' vectors. */
mc_status csr_put_arrays(device_work *work, const csr_packer *packer, const device_packed *packed,
                         mc_diag *diag);

#endif
