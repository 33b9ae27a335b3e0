/* Metadata of sparse operands A, of mma.sp and wgmma.sp: of each few elements along k a row of A has some,
 * and metadata say which (ISA, "Sparse matrix storage"). */
#ifndef SIM_METADATA_H
#define SIM_METADATA_H

#include "product.h"

/* The places along k of the elements that each of the warp's 16 rows of A has, of DEPTH, from the metadata
   and the selector that lie at VALUE one after the other. False after a fault: metadata without a meaning,
   or a selector that names no lanes. */
bool sim_read_metadata(struct sim_warp *warp, const struct sim_insn *insn, unsigned a_type, int depth,
                       const struct sim_value *value, sim_places places[SIM_PRODUCT_ROWS]);

#endif
