/* The family `softmax_grad`: schema, hints, its one solver. */
#include "ops/softmax_grad/softmax_grad.h"
#include "ops/softmax_grad/costs.h"

static const char *const reals[] = {"f32", "f16", "bf16", NULL};
static const char *const pers[] = {"none", "tensor", NULL};

static const mc_field fields[] = {
    {"op", WORDS("softmax_grad"), .doc = "The kernel family."},
    ARCH_FIELD,
    {"lhs", NAMES = reals, .doc = "Type of P's values, as a softmax wrote them."},
    {"rhs", NAMES = reals, .doc = "Type of the values of P's gradient, as an SDDMM writes them."},
    {"out", NAMES = reals, .doc = "Type of C's values: the gradient, rounded once."},
    {"scale", NAMES = pers, .quiet = true,
     .doc = "tensor: C is multiplied by one f32, the softmax's own scale."},
    ROWS_VEC_FIELD,
    {"order", WORDS("bcrs", "srbcrs16", "srbcrs32"),
     .doc = "Order of the values of P, its gradient and C. bcrs: vector after vector, row block by row "
            "block. srbcrs16, srbcrs32: in strides of 16 or 32 vectors of a row block, each row-major; the "
            "kernel writes zeros where the last one has no vectors, and what P and its gradient have there "
            "does not count."},
    ROWS_WARPS_FIELD,
    ROWS_HOLD_FIELD,
    {"unit", COUNTS(16, 8, 4), .standard = 16, .tunable = true, .quiet = true,
     .doc = "Bytes of P that a lane loads at once, at most. Of fewer a thread has fewer rows to exchange."},
    BATCH_FIELD,
    {"align", NUMBERS = family_aligns, .standard = 16,
     .doc = "Bytes that the addresses of P, its gradient and C are promised to be multiples of; at least an "
            "element's. A unit of P is no longer than that."},
    {"m", SHAPE, .doc = "Rows, a multiple of vec."},
    {"n", SHAPE, .doc = "Columns."},
    ROWS_PER_WARP_FIELD,
};
SCHEMA_FITS(fields, F_ROWS_PER_WARP);

static const mc_hint hints[] = {
    {" dtype type p_type in input lhs_type a_type ", "lhs is the type of P's values: lhs = \"f16\""},
    {" dp_type grad_type b_type rhs_type ", "rhs is the type of the values of P's gradient: rhs = \"f16\""},
    {" out_type c_type dx_type output ", "out is the type of C's values: out = \"f16\""},
    {" temperature sm_scale softmax_scale ", "scale = \"tensor\" multiplies the gradient by one f32"},
    {" num_warps nwarps threads block_size ", "a thread block has 32 threads a warp: set warps"},
    {0},
};

static const char *computes(const void *data) {
    const grad_plan *plan = data;
    return plan->scaled ? "C = scale * P o (dP - rowsum(P o dP)) over the nonzero vectors of each row."
                        : "C = P o (dP - rowsum(P o dP)) over the nonzero vectors of each row.";
}

static const char *how(const void *plan) { return rows_how(&((const grad_plan *)plan)->deal); }

static const mc_solver rows = {.name = "rows",
                               .plan = grad_make_plan,
                               .contract = grad_contract,
                               .facts = grad_facts,
                               .emit = grad_emit,
                               .estimate = grad_estimate,
                               .entry_name = grad_entry_name,
                               .computes = computes,
                               .how = how};

static const mc_solver *solver(const int64_t *point) {
    (void)point;
    return &rows;
}

const mc_family mc_family_softmax_grad = {
    .name = "softmax_grad",
    .summary = "the gradient of a softmax over the rows of a sparse matrix",
    .computes = "C = scale * P o (dP - rowsum(P o dP)) over the nonzero vectors of each row, all of one "
                "pattern.",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .solver = solver,
    .chooser = F_ORDER,
    .hints = hints,
    .costs = &grad_cost_table};
