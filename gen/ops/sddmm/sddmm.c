/* The family `sddmm`: C = A B where a mask of V x 1 vectors is nonzero. Here are its schema and its solvers;
   no other file includes or calls this one. How columns of B reach the warp that wants them is the field
   `method` (methods.def), and each method is a solver, in a folder of its own.
   Gather and window give out the mask's vectors in items, of up to 16 * groups neighbours of one row block,
   and a warp computes an item: what they share is in items/. What all share is problem.[ch], how values are
   multiplied is arithmetic.h. */
#include "ops/sddmm/costs.h"
#include "ops/sddmm/fields.h"
#include "ops/sddmm/items/items.h"
#include "ops/sddmm/problem.h"
#include "ops/sddmm/solvers.h"
#include "parts/side.h"

#define METHOD(name, word, solver, kind, doc) word,
static const char *const methods[] = {
#include "ops/sddmm/methods.def"
    NULL};
#undef METHOD

/* clang-format off */
static const mc_field fields[] = {
#include "ops/sddmm/fields.def"
#include "ops/sddmm/integer/fields.def"
#include "ops/sddmm/items/fields.def"
#include "ops/sddmm/gather/fields.def"
#include "ops/sddmm/dense/fields.def"
#include "ops/sddmm/window/fields.def"
#define FIELD(name, ...) [name] = {__VA_ARGS__},
#include "ops/sddmm/csr/fields.def"
#include "ops/sddmm/panels/fields.def"
};
/* clang-format on */
SCHEMA_FITS(fields, SDDMM_FIELDS - 1);

#define METHOD(name, word, solver, kind, doc) &solver,
static const mc_solver *const solvers[] = {
#include "ops/sddmm/methods.def"
};
#undef METHOD

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
