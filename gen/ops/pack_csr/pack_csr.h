/* The family `pack_csr`: row offsets on the device become the list of items of the format csr
 * (formats/csr.c). No operator of the runtime: context/device_pack_csr.c launches its steps one after another
 * (docs/matrices.md), with step "sums" of the family `pack_panels` between "count" and "deal".
 *
 *   pack_csr.c  schema, names, contract, the family
 *   deal.c      steps "count" and "deal": a warp walks through a block of rows
 *   copy.c      step "copy": words are copied
 *
 * All of it is, to the byte, what formats/csr.c makes on the host. */
#ifndef MC_PACK_CSR_FAMILY_H
#define MC_PACK_CSR_FAMILY_H

#include "parts/csr_work.h"
#include "parts/emit.h"
#include "schema/family.h"

extern const mc_family mc_family_pack_csr;

typedef enum csr_step { CSR_COUNT, CSR_DEAL, CSR_COPY, CSR_STEPS } csr_step;

/* The fields, in the order of the schema. */
enum { F_STEP = FIELD_ARCH + 1, F_SEGMENTED };

typedef struct pack_csr_plan {
    csr_step step;
    bool segmented; /* an item of short rows has as many as its nonzeros allow */
} pack_csr_plan;

enum { PACK_CSR_THREADS = 128, PACK_CSR_WARPS = PACK_CSR_THREADS / CSR_WARP };

void csr_emit_blocks(const pack_csr_plan *plan, mc_builder *b);
void csr_emit_copy(const pack_csr_plan *plan, mc_builder *b);

#endif
