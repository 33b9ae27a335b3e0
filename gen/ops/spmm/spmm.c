/* The operator `spmm`: C = A B with A in V x 1 nonzero vectors. Its fields, and which solver a spec asks for.
 *
 * Operands are swapped, C^T = B^T A^T: columns of B are the mma's 16 rows and the rows of a row block its 8
 * columns, so that m16n8k32 is full at V = 8. At V = 4, 2 and 1 the other columns are empty. Without a ring,
 * `order` can be the paper's instead: rows of A are then the 8 rows of m8n8k16, columns of B its columns.
 *
 * A warp takes a stride of nonzero vectors at a time. How their rows of B reach it is the field `staging`
 * (stagings.def), whose words have a solver each: of `gather` `split` warps share a row block's strides and
 * add up through shared memory; of `ring` all row blocks of a thread block gather from windows of B.
 *
 * Of floats an mma is m16n8k16. Vectors of 16 rows are the mma's 16 rows, and columns of B its 8 columns.
 *
 * Files of this folder are for all solvers; each solver has a folder of its own, and so have the arithmetics
 * of integers and of floats. Nothing includes or calls this file. */
#include "ops/spmm/costs.h"
#include "ops/spmm/problem.h"
#include "ops/spmm/solvers.h"

/* clang-format off */
static const mc_field fields[] = {
#include "ops/spmm/fields.def"
#include "ops/spmm/gather/fields.def"
#include "ops/spmm/integer/fields.def"
#include "ops/spmm/ring/fields.def"
#define FIELD(name, ...) [name] = {__VA_ARGS__},
#include "ops/spmm/csr/fields.def"
#include "ops/spmm/hrpb/fields.def"
#include "ops/spmm/csr/stream_fields.def"
#include "ops/spmm/csr/segmented_fields.def"
#include "ops/spmm/csr/columns_fields.def"
#include "ops/spmm/ring/parts_fields.def"
#include "ops/spmm/expand/fields.def"
#include "ops/spmm/fragments/fields.def"
};
/* clang-format on */
SCHEMA_FITS(fields, F_STREAM_K);

static const mc_solver *solver(const int64_t *point) {
#define STAGING(name, word, solver, kind, doc) &solver,
    static const mc_solver *const solvers[] = {
#include "ops/spmm/stagings.def"
    };
#undef STAGING
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
