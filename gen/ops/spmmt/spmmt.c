/* The family `spmmt`: schema, hints, its one solver. */
#include "ops/spmmt/spmmt.h"
#include "ops/spmmt/costs.h"

static const char *const sides[] = {"f16", "bf16", NULL};
static const char *const outs[] = {"f16", "bf16", "f32", NULL};

static const mc_field fields[] = {
    {"op", WORDS("spmmt"), .doc = "The kernel family."},
    ARCH_FIELD,
    {"lhs", NAMES = sides, .doc = "Type of A's values, which lie as an SDDMM of order bcrs writes them."},
    {"rhs", NAMES = sides, .doc = "Type of B, that of A."},
    {"out", NAMES = outs, .doc = "Type of C: the sum in f32, rounded once."},
    {"vec", NUMBERS = family_vecs, .standard = 8,
     .doc = "V: rows of a nonzero vector, and so of a row block. Below 8 an mma's other rows are zeros."},
    {"tile_k", COUNTS(128, 256, 512, 1024, 2048), .standard = 512, .tunable = true,
     .doc = "Rows of C, columns of A, of a thread block's tile, which stays in shared memory in f32."},
    {"tile_n", COUNTS(16, 32, 64, 128), .standard = 32, .tunable = true,
     .doc = "Columns of C of a thread block's tile."},
    {"warp_k", COUNTS(64, 128, 256, 512, 1024), .standard = 256, .tunable = true,
     .doc = "Rows of C of a warp's share of the tile. Of more a row block has more vectors, for one wait."},
    {"warp_n", COUNTS(16, 32), .standard = 16, .tunable = true,
     .doc = "Columns of C of a warp's share of the tile."},
    {"slots", COUNTS(16, 32), .standard = 16, .tunable = true,
     .doc = "Vectors of a row block that a warp takes at a time, 16 for each mma."},
    {"blocks", COUNTS(1, 2), .standard = 1, .tunable = true,
     .doc = "Row blocks that a warp takes together: a column that both have has one slot. With two there are "
            "fewer "
            "steps, and a stage wants twice the rows. V = 16 has 1."},
    {"ahead", COUNTS(1, 2, 3, 4, 6), .standard = 3, .tunable = true,
     .doc = "A turn is twice as many steps. At its beginning a warp asks for all that the next turn needs."},
    {"stage_rows", COUNTS(32, 64, 128, 256), .standard = 128, .tunable = true,
     .doc = "Rows of B that are copied to shared memory at a time; there is room for three times as many."},
    {"m", SHAPE, .doc = "Rows of A and B, a multiple of vec."},
    {"n", SHAPE, .doc = "Columns of B and C."},
    {"k", SHAPE, .doc = "Columns of A, rows of C."},
    {"ldb", SHAPE, .doc = "Elements from row to row of B."},
    {"ldc", SHAPE, .doc = "Elements from row to row of C."},
};
SCHEMA_FITS(fields, F_LDC);

static const mc_hint hints[] = {
    {" dtype type a_type lhs_type values_type ", "lhs is the type of A's values: lhs = \"f16\""},
    {" b_type rhs_type ", "rhs is the type of B: rhs = \"f16\""},
    {" out_type c_type output ", "out is the type of C: out = \"f16\""},
    {" transpose transposed trans_a op_a ", "the family spmmt always transposes A"},
    {" block_m block_k bm bk ", "tile_k is the rows of C, columns of A, of a tile"},
    {" block_n bn ", "tile_n is the columns of C of a tile"},
    {" num_warps nwarps warps threads block_size ",
     "a thread block has tile_k / warp_k * tile_n / warp_n warps: set these"},
    {" num_stages stages prefetch ", "ahead is how many steps ahead values are asked for"},
    {0},
};

static const char *computes(const void *data) {
    (void)data;
    return "C[k,n] = A^T B, of A[m,k] in V x 1 vectors, whose values lie in the order of its row blocks.";
}

static const char *how(const void *data) {
    (void)data;
    return "A tile of C stays in shared memory. Each warp walks over the row blocks of A, and adds vectors "
           "times\n"
           "rows of B to its own rows and columns of the tile.";
}

static const mc_solver tiles = {.name = "tiles",
                                .plan = spmmt_make_plan,
                                .contract = spmmt_contract,
                                .facts = spmmt_facts,
                                .emit = spmmt_emit,
                                .estimate = spmmt_estimate,
                                .entry_name = spmmt_entry_name,
                                .computes = computes,
                                .how = how};

static const mc_solver *solver(const int64_t *point) {
    (void)point;
    return &tiles;
}

const mc_family mc_family_spmmt = {
    .name = "spmmt",
    .summary = "product with a transposed sparse matrix whose values lie once: the backward pass of an SpMM",
    .computes = "C[k,n] = A^T B, A[m,k] in V x 1 vectors whose values come in the order of its row blocks.",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .solver = solver,
    .chooser = F_VEC,
    .hints = hints,
    .costs = &spmmt_cost_table};
