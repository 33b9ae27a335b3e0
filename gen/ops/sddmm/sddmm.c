/* The family `sddmm`: C = A B where a mask of V x 1 vectors is nonzero. Here are its schema and its solvers;
   no other file includes or calls this one. How columns of B reach the warp that wants them is the field
   `method`, and each method is a solver, in a folder of its own:

     gather   from global memory to registers
     window   from a window of B in shared memory
     dense    a thread block computes a tile of A B, and stores what the mask has of it
     csr      no tensor cores: lanes multiply what they load, of matrices without vectors

   The first two give out the mask's vectors in items, of up to 16 * groups neighbours of one row block, and a
   warp computes an item: what they share is in items/. What all share is problem.[ch], how values are
   multiplied is arithmetic.h. */
#include "ops/sddmm/costs.h"
#include "ops/sddmm/fields.h"
#include "ops/sddmm/items/items.h"
#include "ops/sddmm/problem.h"
#include "ops/sddmm/solvers.h"
#include "parts/side.h"

/* clang-format off */
static const mc_field fields[] = {
#include "ops/sddmm/fields.def"
#include "ops/sddmm/integer/fields.def"
#include "ops/sddmm/items/fields.def"
#include "ops/sddmm/gather/fields.def"
#include "ops/sddmm/dense/fields.def"
#include "ops/sddmm/window/fields.def"
#include "ops/sddmm/csr/fields.def"
};
/* clang-format on */
SCHEMA_FITS(fields, SDDMM_FIELDS - 1);

static const mc_solver *const solvers[] = {[SDDMM_GATHER] = &sddmm_gather,
                                           [SDDMM_WINDOW] = &sddmm_window,
                                           [SDDMM_DENSE] = &sddmm_dense,
                                           [SDDMM_CSR] = &sddmm_csr};

static const mc_solver *solver(const int64_t *point) { return solvers[point[F_METHOD]]; }

const mc_family mc_family_sddmm = {
    .name = "sddmm",
    .summary = "sampled product: C = A[m,k] B[k,n] where a mask of V x 1 vectors is nonzero",
    .computes = SDDMM_COMPUTES("by columns or rows", "integers, sums in s32; or floats, sums in f32."),
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .chooser = F_METHOD,
    .solver = solver,
    .hints = sddmm_hints,
    .costs = &sddmm_cost_table,
};
