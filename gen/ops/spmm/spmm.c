/* The operator `spmm`: C = A B with A in V x 1 nonzero vectors. Its fields, and which solver a spec asks for.
 *
 * Operands are swapped, C^T = B^T A^T: columns of B are the mma's 16 rows and the rows of a row block its 8
 * columns, so that m16n8k32 is full at V = 8. At V = 4, 2 and 1 the other columns are empty. Without a ring,
 * `order` can be the paper's instead: rows of A are then the 8 rows of m8n8k16, columns of B its columns.
 *
 * A warp takes a stride of nonzero vectors at a time. How their rows of B reach it is the field `staging`:
 *
 *   direct   Each lane loads its vectors' rows straight into registers; `split` warps share a row block's
 *            strides and add up through shared memory. Solver `gather`.
 *   shared   As direct, but the rows of B go through shared memory, as in Magicube. Solver `gather`.
 *   tma      Windows of B go through a ring in shared memory, from which all row blocks of the thread block
 *            gather; a warp of its own copies. Solver `ring`.
 *   async    The same ring, copied by all threads. Solver `ring`.
 *   csr      No mma: lanes multiply what they load. Solver `csr`.
 *   hrpb     Rows of B of a block of A's active columns go through shared memory, as in cuTeSpMM. Solver
 *            `hrpb`.
 *
 * Of floats an mma is m16n8k16. Vectors of 16 rows are the mma's 16 rows, and columns of B its 8 columns.
 *
 * Files of this folder are for all solvers; each solver has a folder of its own, and so have the arithmetics
 * of integers and of floats. Nothing includes or calls this file. */
#include "ops/spmm/costs.h"
#include "ops/spmm/problem.h"
#include "ops/spmm/solvers.h"

static const mc_field fields[] = {
#include "ops/spmm/fields.def"
#include "ops/spmm/gather/fields.def"
#include "ops/spmm/hrpb/fields.def"
#include "ops/spmm/integer/fields.def"
#include "ops/spmm/ring/fields.def"
#include "ops/spmm/csr/fields.def"
};
SCHEMA_FITS(fields, F_STREAM);

static const mc_solver *solver(const int64_t *point) {
    static const mc_solver *const solvers[] = {
        [SPMM_DIRECT] = &spmm_gather, [SPMM_SHARED] = &spmm_gather, [SPMM_TMA] = &spmm_ring,
        [SPMM_ASYNC] = &spmm_ring,    [SPMM_CSR] = &spmm_csr,       [SPMM_HRPB] = &spmm_hrpb};
    return solvers[point[F_STAGING]];
}

const mc_family mc_family_spmm = {
    .name = "spmm",
    .summary = "sparse times dense: C[m,n] = A[m,k] B[k,n], A in V x 1 nonzero vectors",
    .computes = SPMM_COMPUTES("integers, sums in s32 or s64; or floats, sums in f32."),
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .solver = solver,
    .chooser = F_STAGING,
    .hints = spmm_hints,
    .costs = &spmm_cost_table,
};
