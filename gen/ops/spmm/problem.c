/* What all kernels of an SpMM have in common: types, shapes, output and thread block. */
#include "ops/spmm/problem.h"
#include <stdio.h>

#define STAGING(name, word, solver, kind, doc) word,
const char *const spmm_stagings[] = {
#include "ops/spmm/stagings.def"
    NULL};
#undef STAGING

/* -- Plan --------------------------------------------------------------------------------------------- */

static out_kind output_of(const int64_t *point) {
    static const out_per bias_of[] = {OUT_PER_NONE, OUT_PER_ROW, OUT_PER_COLUMN};
    return (out_kind){.element = (out_element)point[F_OUT],
                      .scale = (out_per)point[F_SCALE],
                      .bias = bias_of[point[F_BIAS]],
                      .exact = point[F_SUM] != 0,
                      .act = (out_act)point[F_ACT],
                      .b_scale = point[F_B_SCALE] != 0,
                      .c_scale = point[F_C_SCALE] != 0,
                      .zero = point[F_ZERO] != 0,
                      .residual = (out_addend)point[F_RESIDUAL],
                      .beta = point[F_BETA] != 0};
}

static const out_fields output_fields = {F_OUT,     F_SCALE, F_BIAS,     F_SUM, F_ACT, F_B_SCALE,
                                         F_C_SCALE, F_ZERO,  F_RESIDUAL, true,  F_BETA};

/* LD, the value of FIELD, is that of C or of the residual. */
static void check_c_rows(const spmm_plan *plan, int field, int64_t ld, mc_complaints *complaints) {
    int64_t least = plan->c_columns ? plan->m : plan->n;
    if (least != MC_OPEN && ld != MC_OPEN && ld < least)
        complain(complaints, field, "%lld is less than %s = %lld", (long long)ld, plan->c_columns ? "m" : "n",
                 (long long)least);
}

/* Only the ring has room for more warps than MANY. */
static void check_warps(const spmm_plan *plan, mc_complaints *complaints) {
    enum { MANY = 16 };
    if (plan->warps <= MANY || plan->staging == SPMM_TMA || plan->staging == SPMM_ASYNC) return;
    complain(complaints, F_WARPS, "more than %d are for staging = \"tma\" and \"async\", not \"%s\"", MANY,
             plan->staging_name);
}

static void check_shapes(const spmm_plan *plan, mc_complaints *complaints) {
    if (plan->m != MC_OPEN && !plan->panels && plan->m % plan->vec)
        complain(complaints, F_M, "%lld is not a multiple of vec = %d", (long long)plan->m, plan->vec);
    const int64_t line = plan->b_columns ? plan->k : plan->n;
    if (line != MC_OPEN && plan->ldb != MC_OPEN && plan->ldb < line)
        complain(complaints, F_LDB, "%lld is less than %s = %lld", (long long)plan->ldb,
                 plan->b_columns ? "k" : "n", (long long)line);
    check_c_rows(plan, F_LDC, plan->ldc, complaints);
    check_c_rows(plan, F_LDR, plan->ldr, complaints);
    if (out_least_store(plan->output.element) > 1 && plan->ldc != MC_OPEN && plan->ldc % 2)
        complain(complaints, F_LDC, "out = \"%s\" wants an even number, not %lld",
                 out_element_name(plan->output.element), (long long)plan->ldc);
    if (plan->ldr != MC_OPEN && plan->output.residual == OUT_NO_ADDEND)
        complain(complaints, F_LDR, "there is no residual: leave it out");
    if (plan->n != MC_OPEN && (plan->n + plan->tile_n - 1) / plan->tile_n > 65535)
        complain(complaints, F_N, "more than 65535 tiles of %d columns: the grid's limit", plan->tile_n);
}

void spmm_check_ldb(const spmm_plan *base, mc_complaints *complaints) {
    if (base->ldb > SPMM_MAX_ROW_BYTES / spmm_b_unit(base))
        complain(complaints, F_LDB, "%lld: a row of B has 2^31 bytes or more", (long long)base->ldb);
    if (spmm_b_is_paired(base) && base->ldb != MC_OPEN && base->ldb % 2)
        complain(complaints, F_LDB, "rhs = \"%s\" wants an even number, not %lld", base->math.rhs,
                 (long long)base->ldb);
}

void spmm_check_tile(spmm_plan *plan, mc_complaints *complaints) {
    int64_t bytes = spmm_b_bytes(plan, plan->tile_n);
    if (bytes < 32 || bytes > 128)
        complain(complaints, F_TILE_N, "rhs = \"%s\" wants %s: 32 to 128 bytes of a row of B", plan->math.rhs,
                 plan->math.b_bits == 4    ? "64, 128 or 256"
                 : plan->math.b_bits == 8  ? "32, 64 or 128"
                 : plan->math.b_bits == 16 ? "32 or 64"
                                           : "32");
    if (bytes < 32) plan->tile_n = 32 * 8 / plan->math.b_bits; /* what else is derived wants as many */
}

static void check_split(spmm_plan *plan, mc_complaints *complaints) {
    if (plan->split <= plan->warps) return;
    complain(complaints, F_SPLIT, "%d warps cannot share a row block in a thread block of %d", plan->split,
             plan->warps);
    plan->split = plan->warps;
}

static void check_major(spmm_plan *plan, mc_complaints *complaints) {
    if (!plan->c_columns) return;
    if (out_element_bits(plan->output.element) >= 8) return;
    complain(complaints, F_C_MAJOR, "out = \"%s\" has two columns in a byte, which go with \"row\"",
             out_element_name(plan->output.element));
    plan->c_columns = false;
}

static spmm_plan plan_of(const int64_t *point) {
    return (spmm_plan){
        .staging = (spmm_staging)point[F_STAGING],
        .staging_name = spmm_stagings[point[F_STAGING]],
        .vec = spmm_rows_of(point),
        .panels = point[F_PANEL] > 1,
        .m = point[F_M],
        .n = point[F_N],
        .k = point[F_K],
        .ldb = point[F_LDB],
        .ldc = point[F_LDC],
        .ldr = point[F_LDR],
        .output = output_of(point),
        .align = (int)point[F_ALIGN],
        .b_columns = point[F_B_MAJOR] != 0,
        .c_columns = point[F_C_MAJOR] != 0,
        .batch = point[F_BATCH] != 0,
        .overlap = (family_overlap)point[F_OVERLAP],
        .tile_n = (int)point[F_TILE_N],
        .warps = (int)point[F_WARPS],
        .split = (int)point[F_SPLIT],
        .stride = (int)point[F_STRIDE],
    };
}

void spmm_plan_problem(const int64_t *point, bool gathers, spmm_plan *plan, mc_complaints *complaints) {
    *plan = plan_of(point);
    plan->math = spmm_plan_arithmetic(point, gathers, plan->output.exact, complaints);
    plan->output.real = plan->math.kind->real;
    check_split(plan, complaints);
    check_warps(plan, complaints);
    check_shapes(plan, complaints);
    check_major(plan, complaints);
    out_check(&plan->output, &output_fields, &mc_archs[point[FIELD_ARCH]], complaints);
    out_describe(&plan->output, plan->c_columns, plan->c_doc);
    check_overlap(point, F_OVERLAP, complaints);
    spmm_check_arithmetic(point, &plan->math, plan->staging_name, gathers, complaints);
    plan->row_blocks = plan->warps / plan->split;
    plan->guard_rows = plan->panels || (plan->row_blocks > 1 &&
                                        (plan->m == MC_OPEN || plan->m / plan->vec % plan->row_blocks));
}

void spmm_plan_values(spmm_plan *plan, int stride_bytes) {
    plan->stride_values = stride_bytes;
    snprintf(plan->value_extent, sizeof plan->value_extent, "strides * %d",
             stride_bytes / plan->math.value_bytes);
}

spmm_proof spmm_divides(int64_t divisor, int64_t shape) {
    if (shape == MC_OPEN) return divisor == 1 ? SPMM_ALWAYS : SPMM_MAYBE;
    return shape % divisor == 0 ? SPMM_ALWAYS : SPMM_NEVER;
}

spmm_proof spmm_tile_is_full(const spmm_plan *plan) {
    if (plan->n == MC_OPEN) return plan->tile_n == 1 ? SPMM_ALWAYS : SPMM_MAYBE;
    if (plan->n % plan->tile_n == 0) return SPMM_ALWAYS;
    return plan->n < plan->tile_n ? SPMM_NEVER : SPMM_MAYBE;
}

/* -- Contract and facts ------------------------------------------------------------------------------- */

spmm_batch spmm_batch_of(const spmm_plan *plan) {
    int residual_bits = 8 * out_residual_bytes(&plan->output);
    return (spmm_batch){
        {{"values", "values_stride", "elements from one product's values to the next's",
          plan->math.given_bits},
         {"b", "b_stride", "elements from one product's B to the next's", plan->math.b_bits},
         {"c", "c_stride", "elements from one product's C to the next's",
          out_element_bits(plan->output.element)},
         {"residual", "r_stride", "elements from one product's residual to the next's", residual_bits}},
        residual_bits > 0 ? SPMM_BATCH_ARRAYS : SPMM_BATCH_ARRAYS - 1};
}

void spmm_add_values(const spmm_plan *plan, bool windowed, mc_contract *c) {
    const spmm_arithmetic *math = &plan->math;
    add_array(c, math->value_bytes > 1 ? 16 : 8,
              (mc_array){"values", math->value_type, plan->value_extent, spmm_values_doc(math, windowed)});
}

void spmm_add_b(const spmm_plan *plan, mc_contract *c) {
    int bytes = spmm_b_unit(plan), align = plan->align > bytes ? plan->align : bytes;
    add_param(c, (mc_param){"b", "u64", MC_PARAM_ARRAY, (unsigned)align, spmm_b_doc(&plan->math, false)});
    int64_t limit = bytes > 1 ? SPMM_MAX_ROW_BYTES / bytes : 0;
    add_constraint(c, (mc_constraint){"ldb", spmm_b_is_paired(plan) ? 2 : 0, limit, ROWS_FIT});
}

static void add_shapes(const spmm_plan *plan, bool takes_k, bool takes_ldb, mc_contract *c) {
    add_shape(c, "m", plan->guard_rows ? plan->m : 0,
              plan->panels ? "rows of A and C" : "rows of A and C, a multiple of vec");
    add_shape(c, "n", plan->n, "columns of B and C");
    add_shape(c, "k", takes_k ? plan->k : 0, "columns of A, rows of B");
    add_shape(c, "ldb", takes_ldb ? plan->ldb : 0, "elements from one row of B to the next");
    add_shape(c, "ldc", plan->ldc,
              plan->c_columns ? "elements from one column of C to the next"
                              : "elements from one row of C to the next");
    add_shape(c, "ldr", plan->output.residual != OUT_NO_ADDEND ? plan->ldr : 0,
              plan->c_columns ? "elements from one column of the residual to the next"
                              : "elements from one row of the residual to the next");
}

void spmm_contract(const spmm_plan *plan, bool takes_k, bool takes_ldb, mc_contract *c) {
    out_add_dense(&plan->output, plan->c_doc, (unsigned)plan->align, c);
    bool pairs = out_least_store(plan->output.element) > 1;
    out_add_residual(&plan->output, plan->c_columns, (unsigned)plan->align, c);
    add_shapes(plan, takes_k, takes_ldb, c);
    add_constraint(c, (mc_constraint){"ldc", pairs ? 2 : 0, 0, ROWS_FIT});
    add_constraint(c, (mc_constraint){"k", 0, spmm_k_limit(&plan->math), SUMS_ARE_EXACT});
    c->sums = spmm_sums_contract(&plan->math);
    c->overlap = plan->overlap;
    c->grid[0] = (mc_grid_axis){"m", (int64_t)plan->vec * plan->row_blocks};
    c->grid[1] = (mc_grid_axis){"n", plan->tile_n};
    c->grid[2] = (mc_grid_axis){NULL, 1};
    spmm_batch batch = spmm_batch_of(plan);
    if (plan->batch) batch_contract(c, batch.arrays, batch.count);
    c->block[0] = (unsigned)plan->threads;
    c->block[1] = c->block[2] = 1;
}

void spmm_add_tile_limits(int rows, int columns, mc_contract *c) {
    static const char why[] = "a tile's last row and column are counted in s32";
    add_constraint(c, (mc_constraint){"m", 0, INT32_MAX - rows + 1, why});
    add_constraint(c, (mc_constraint){"n", 0, INT32_MAX - columns + 1, why});
}

void spmm_facts(const spmm_plan *plan, mc_facts *facts) {
    add_fact(facts, "tile_rows", plan->vec * plan->row_blocks, "rows of C a thread block");
    add_fact(facts, "tile_columns", plan->tile_n, "columns of C a thread block");
    add_fact(facts, "threads", plan->threads, "a thread block");
    add_fact(facts, "shared_bytes", plan->shared_bytes, "of a thread block");
    add_fact(facts, "stride_b_bytes", plan->stride * spmm_b_bytes(plan, plan->tile_n),
             "gathered from B, a stride and warp");
    add_fact(facts, "stride_a_bytes", plan->stride_a_bytes, "of A's packed arrays, a stride and warp");
    add_fact(facts, "stride_mma", plan->stride_mma, spmm_mma_doc(&plan->math));
    spmm_arithmetic_facts(&plan->math, facts);
}

/* By the type of the sums, and how C lies. */
#define COMPUTES(sums)                                                                                       \
    { SPMM_COMPUTES(sums), SPMM_COMPUTES_COLUMNS(sums) }

const char *spmm_computes(const void *data) {
    static const char *const of_floats[] = COMPUTES("floats, sums in f32."),
                             *const exact[] = COMPUTES("integers, sums in s64."),
                             *const wrapped[] = COMPUTES("integers, sums in s32.");
    const spmm_plan *plan = data;
    if (plan->output.real) return of_floats[plan->c_columns];
    return (plan->output.exact ? exact : wrapped)[plan->c_columns];
}
