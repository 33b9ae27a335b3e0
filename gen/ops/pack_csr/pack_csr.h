/* The family `pack_csr`: row offsets on the device become the list of items of the format csr
 * (formats/csr.c). No operator of the runtime: context/device_pack_csr.c launches its steps one after another
 * (docs/matrices.md), with step "sums" of the family `pack_panels` between "count" and "deal".
 *
 *   pack_csr.c  schema, names, contract, the family
 *   rows.c      which rows of a block begin an item, and how many are in it
 *   deal.c      steps "count" and "deal": items of a block are counted, or written
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

enum { PACK_CSR_THREADS = CSR_DEAL_ROWS, PACK_CSR_WARPS = PACK_CSR_THREADS / CSR_WARP };

/* A thread's row, of the block of rows that its thread block has. */
typedef struct csr_row {
    mc_reg thread, lane, warp;
    mc_reg block;      /* its number */
    mc_reg left;       /* rows of the block */
    mc_reg number;     /* of the row; it may be behind the last one */
    mc_reg begin, end; /* the row's first nonzero, and the one behind its last */
    mc_reg rows;       /* of the item that would begin with the row; 0: it is long, and alone */
    mc_reg is_item;    /* whether one does */
} csr_row;
/* All but the last two, which csr_find_item finds; there all threads meet at barriers. */
csr_row csr_load_row(mc_builder *b);
void csr_find_item(const pack_csr_plan *plan, mc_builder *b, csr_row *row);
/* With `segmented`, behind that: of the item that begins with the row. */
mc_reg csr_nonzeros_of_item(mc_builder *b, const csr_row *row);

/* Bytes of shared memory: of so many words in an array of their own, of csr_find_item, and of all of steps
   "count" and "deal". */
static inline unsigned csr_array_bytes(int count) {
    const unsigned words = 4;
    return ((unsigned)count + words - 1) / words * words * WORD;
}
unsigned csr_item_shared(const pack_csr_plan *plan);
unsigned csr_blocks_shared(const pack_csr_plan *plan);

void csr_emit_blocks(const pack_csr_plan *plan, mc_builder *b);
void csr_emit_copy(const pack_csr_plan *plan, mc_builder *b);

#endif
