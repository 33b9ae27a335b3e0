/* The families `gemm`, dense products C = A B, and `gemm24`, whose A is 2:4 sparse. Here are their schemas
   and their solvers; no other file includes or calls this one. How operands reach the tensor cores is the
   field `method`, and each method is a solver, in a folder of its own:

     wgmma    bulk and tensor copies into a pipeline in shared memory, from which warpgroups multiply (sm_90a)
     mma      copies by cp.async into stages in shared memory, from which each warp multiplies its part

   What all share is problem.[ch], and result.[ch], which makes C of sums. */
#include "ops/gemm/costs.h"
#include "ops/gemm/fields.h"
#include "ops/gemm/problem.h"
#include "ops/gemm/solvers.h"

/* clang-format off */
static const mc_field fields[] = {
[FIELD_OP] = {"op", WORDS("gemm"), .doc = "The kernel family."},
[F_LDA] = {"lda", SHAPE, .doc = "Elements from one row of A to the next, at least k."},
#include "ops/gemm/fields.def"
#include "ops/gemm/wgmma/fields.def"
#include "ops/gemm/mma/fields.def"
[F_BLOCK_SCALES] = {"block_scales", SWITCH, .quiet = true, .solvers = "wgmma", .lacking = "has no scales of blocks",
    .doc = "on, with sums = \"promoted\": what each 128 values of k of a row and a column add up to is multiplied by "
           "a_blocks, an f32 for each row of A and 128 of k, times b_blocks, one for each 128 columns of B and 128 of k, "
           "before it is added to the other sums."},
[F_A_BLOCKS_MAJOR] = {"a_blocks_major", WORDS("row", "column"), /* of mc_major */
    .quiet = true, .solvers = "wgmma", .lacking = "has no scales of blocks",
    .doc = "How a_blocks lie. row: [m][k / 128]. column: [k / 128][m]."},
}, fields24[] = {
[FIELD_OP] = {"op", WORDS("gemm24"), .doc = "The kernel family."},
[F_VEC] = {"vec", COUNTS(1), .standard = 1, .doc = "Rows of A's vectors: in a 2:4 matrix each element is one."},
#include "ops/gemm/fields.def"
#include "ops/gemm/wgmma/fields.def"
#include "ops/gemm/mma/fields.def"
};
/* clang-format on */
SCHEMA_FITS(fields, GEMM_FIELDS - 1);
SCHEMA_FITS(fields24, GEMM24_FIELDS - 1);

static const mc_solver *const solvers[] = {[GEMM_WGMMA] = &gemm_wgmma, [GEMM_MMA] = &gemm_mma},
                              *const solvers24[] = {[GEMM_WGMMA] = &gemm24_wgmma, [GEMM_MMA] = &gemm24_mma};

static const mc_solver *solver(const int64_t *point) { return solvers[point[F_METHOD]]; }
static const mc_solver *solver24(const int64_t *point) { return solvers24[point[F_METHOD]]; }

static const mc_hint hints[] = {
    {" block_m bm bsm cta_m tile_rows ", "tile_m is the rows of C that a thread block computes"},
    {" block_n bn bsn cta_n tile_columns ", "tile_n is the columns of C that a thread block computes"},
    {" block_k bk bsk tile_k cta_k ",
     "a stage has 128 bytes of k, with method = \"mma\" span bytes: stages says how many there are"},
    {" precision dtype type ", "lhs and rhs are the types of A and B, out is that of C"},
    {" num_stages pipeline_stages ", "stages is how many tiles of A and B are on their way"},
    {" num_warps warps warpgroups num_consumer_groups ",
     "consumers is how many warpgroups multiply; one more copies"},
    {" pingpong ping_pong schedule ", "turns = \"on\": two consumers take tiles in turn"},
    {" swizzle raster group_m group_size_m raster_order ",
     "group is how many rows of tiles go together, column by column"},
    {" trans_b transpose_b trans b_layout ", "layout = \"columns\" or \"rows\" says how B lies"},
    {" split_k splitk k_splits num_splits ",
     "split is how many thread blocks of a cluster share a tile, each with a part of k"},
    {" block_scale scale_a scale_b a_scales b_scales blockwise group_size ",
     "block_scales = \"on\": scales of 128 values of k of each row of A, and of 128 x 128 values of B"},
    {" stream_k streamk streamed ", "stream = \"on\" deals out along k what tiles are left over"},
    {" alpha ", "scale = \"tensor\" multiplies all of C"},
    {" beta ", "residual adds a matrix of C's shape"},
    {" sparsity nm n_m sparse ", "op = \"gemm24\" is the product by a 2:4 matrix"},
    {0},
};

const mc_family mc_family_gemm = {
    .name = "gemm",
    .summary = "dense product: C = A[m,k] B[k,n]",
    .computes = "C = A[m,k] B[k,n], all dense: integers, sums in s32; or floats, sums in f32 or f16.",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .chooser = F_METHOD,
    .solver = solver,
    .hints = hints,
    .costs = &gemm_cost_table,
};

const mc_family mc_family_gemm24 = {
    .name = "gemm24",
    .summary = "2:4 product: C = A[m,k] B[k,n], at most two of four elements of A's rows kept",
    .computes =
        "C = A[m,k] B[k,n], A 2:4 sparse, B dense: integers, sums in s32; or floats, sums in f32 or f16.",
    .fields = fields24,
    .field_count = sizeof fields24 / sizeof *fields24,
    .chooser = F_METHOD,
    .solver = solver24,
    .hints = hints,
    .costs = &gemm_cost_table,
};
