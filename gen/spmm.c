/* The family `spmm`: C = A B with A in 8x1 nonzero vectors. Schema, plan, contract and facts; spmm_emit.c
   emits.

   The gather kernel. Operands are swapped, C^T = B^T A^T: columns of B are the mma's 16 rows and the 8 rows
   of a row block its 8 columns, so that m16n8k32 is full at V = 8. A warp takes a stride of nonzero vectors
   at a time; each lane loads its vectors' rows of B straight into registers. `split` warps share a row
   block's strides and add up through shared memory. */
#include "spmm.h"
#include "fragment.h"
#include <stdio.h>

enum {
    F_LHS = FIELD_ARCH + 1,
    F_RHS,
    F_OUT,
    F_SCALE,
    F_BIAS,
    F_VEC,
    F_STRIDE,
    F_TILE_N,
    F_WARPS,
    F_SPLIT,
    F_PREFETCH,
    F_STACKING,
    F_STAGING,
    F_ALIGN,
    F_M,
    F_N,
    F_K,
    F_LDB,
    F_LDC,
};

static const char *const ops[] = {"spmm", NULL};
static const char *const byte_types[] = {"s8", NULL};
/* In the order of spmm_element and spmm_per. */
static const char *const out_types[] = {"s32", "f16", "bf16", "f32", NULL};
static const char *const scales[] = {"none", "tensor", "row", "column", NULL};
static const char *const biases[] = {"none", "row", "column", NULL};
static const char *const stagings[] = {"direct", NULL};
static const int vecs[] = {8, 0}, strides[] = {32, 64, 0}, tiles[] = {32, 64, 128, 0},
                 warp_counts[] = {1, 2, 4, 8, 0}, aligns[] = {1, 4, 16, 0};

#define NAMES   .kind = MC_FIELD_NAME, .names
#define NUMBERS .kind = MC_FIELD_NUMBER, .numbers
#define SWITCH  .kind = MC_FIELD_SWITCH
#define SHAPE   .kind = MC_FIELD_SHAPE, .standard = MC_OPEN

static const mc_field fields[] = {
    {"op", NAMES = ops, .doc = "The kernel family."},
    {"arch", NAMES = mc_arch_names,
     .doc = "The .target of the PTX. It also runs on every later GPU, except for the targets that end in a."},
    {"lhs", NAMES = byte_types, .doc = "Type of A's values."},
    {"rhs", NAMES = byte_types, .doc = "Type of B."},
    {"out", NAMES = out_types,
     .doc = "Type of C. Sums are exact modulo 2^32. s32: the sums. Others: out(f32(sum) * scale), or "
            "out(fma(f32(sum), scale, bias)), each step rounded to nearest even (docs/output.md)."},
    {"scale", NAMES = scales, .quiet = true,
     .doc = "Scales of an out that is not s32: one f32 for all of C, or one for each of its m rows or n "
            "columns."},
    {"bias", NAMES = biases, .quiet = true,
     .doc = "Biases of an out that is not s32: an f32 for each of C's m rows or n columns."},
    {"vec", NUMBERS = vecs, .standard = 8, .doc = "V: rows of a nonzero vector, and so of a row block."},
    {"stride", NUMBERS = strides, .standard = 32, .tunable = true,
     .doc = "Nonzero vectors that a warp takes at a time; row blocks are padded to whole strides. 64 has "
            "twice the loads in flight and wants more registers."},
    {"tile_n", NUMBERS = tiles, .standard = 128, .tunable = true,
     .doc = "Columns of C that a thread block computes. A row of B is read in pieces of tile_n bytes: 128 is "
            "a whole line, less makes more blocks."},
    {"warps", NUMBERS = warp_counts, .standard = 4, .tunable = true, .doc = "Warps of a thread block."},
    {"split", NUMBERS = warp_counts, .standard = 1, .tunable = true,
     .doc = "Warps that share one row block's strides and add up through shared memory; warps / split row "
            "blocks make a thread block. More helps where row blocks are few."},
    {"prefetch", SWITCH, .standard = 1, .tunable = true,
     .doc = "on: the next stride's indices and values are loaded before this stride's mma, as in Magicube's "
            "Algorithm 1."},
    {"stacking", SWITCH, .tunable = true,
     .doc = "Digit planes of A in unused columns of the mma. There are none at V = 8."},
    {"staging", NAMES = stagings,
     .doc = "How rows of B reach the mma. direct: from global memory to registers, transposed there."},
    {"align", NUMBERS = aligns, .standard = 16,
     .doc = "Bytes that B's address is promised to be a multiple of; C's too, and at least "
            "an element's size. cuMemAlloc gives 256. Below 16 the kernel tests the addresses."},
    {"m", SHAPE,
     .doc = "Rows of A and C, a multiple of vec. open: a kernel parameter, where the kernel needs it."},
    {"n", SHAPE, .doc = "Columns of B and C. Fixed, it saves the guards that can be proven away."},
    {"k", SHAPE, .doc = "Columns of A, rows of B. Fixed, a matrix of another width is refused."},
    {"ldb", SHAPE,
     .doc =
         "Elements from one row of B to the next, at least n. 16-byte loads want a multiple of tile_n / 8."},
    {"ldc", SHAPE,
     .doc = "Elements from one row of C to the next, at least n. 16-byte stores want a multiple of 4, "
            "or of 8 where elements have 16 bits."},
};

/* -- Plan --------------------------------------------------------------------------------------------- */

typedef enum proof { NEVER, MAYBE, ALWAYS } proof;

static proof divides(int64_t divisor, int64_t shape) {
    if (shape == MC_OPEN) return divisor == 1 ? ALWAYS : MAYBE;
    return shape % divisor == 0 ? ALWAYS : NEVER;
}

static proof tile_is_full(const spmm_plan *plan) {
    if (plan->n == MC_OPEN) return MAYBE;
    if (plan->n % plan->tile_n == 0) return ALWAYS;
    return plan->n < plan->tile_n ? NEVER : MAYBE;
}

static bool aligned(const spmm_plan *plan, int bytes) { return plan->align % bytes == 0; }

/* Columns of C that a store of the wide path takes: 16 bytes, or the four columns that a thread sums up; 8 bytes of
   16-bit elements where the spec's ldc allows no more. */
static int widest_store(const spmm_plan *plan, int lane_columns) {
    int columns = 16 / spmm_element_bytes(plan->output.element);
    if (plan->split > 1) columns = 4;
    if (columns > lane_columns) columns = lane_columns;
    while (columns >= 4 && divides(columns, plan->ldc) == NEVER) columns /= 2;
    return columns >= 4 ? columns : 1;
}

static int store_bytes(const spmm_plan *plan, int columns) {
    return columns * spmm_element_bytes(plan->output.element);
}

/* The wide path loads all of a lane's columns at once. What the spec settles decides whether it exists,
   whether it needs the edge path beside it, and what is left to test. */
static void plan_wide(spmm_plan *plan) {
    int lane_columns = plan->tile_n / 8;
    proof rows_aligned = divides(lane_columns, plan->ldb), full = tile_is_full(plan);
    proof columns_whole = plan->n == MC_OPEN ? NEVER : divides(lane_columns, plan->n);
    spmm_path *wide = &plan->wide;
    wide->columns = plan->tile_n;
    wide->unit = lane_columns;
    wide->clamp = full != ALWAYS && columns_whole == ALWAYS; /* then every tile is the wide path's */
    wide->emitted = rows_aligned != NEVER && (full != NEVER || wide->clamp);
    wide->whole = lane_columns;
    wide->store = widest_store(plan, lane_columns);
    if (!wide->emitted) return;
    plan->checks.full_tile = full == MAYBE && !wide->clamp;
    plan->checks.ldb = rows_aligned == MAYBE;
    plan->checks.ldc = divides(wide->store, plan->ldc) == MAYBE;
    plan->checks.b_address = !aligned(plan, lane_columns);
    plan->checks.c_address = wide->store > 1 && !aligned(plan, store_bytes(plan, wide->store));
}

static void plan_edge(spmm_plan *plan) {
    const spmm_checks *c = &plan->checks;
    bool whole = plan->n != MC_OPEN && plan->n % 4 == 0;
    bool covered = plan->wide.emitted && !(c->full_tile || c->ldb || c->ldc || c->b_address || c->c_address);
    plan->edge = (spmm_path){
        .emitted = !covered,
        .columns = SPMM_EDGE_COLUMNS,
        .unit = whole && divides(4, plan->ldb) == ALWAYS && aligned(plan, 4) ? 4 : 1,
        .clamp = true,
        .whole = whole ? 4 : 1,
        .store = whole && divides(4, plan->ldc) == ALWAYS && aligned(plan, store_bytes(plan, 4)) ? 4 : 1,
    };
}

spmm_partial spmm_partial_of(int columns) {
    /* In units of 16 bytes, eight to a row of banks: neighbouring g lie columns / 32 apart, t must fill the
     * gaps. */
    spmm_partial p = {.pitch = columns == 32 ? 40 : columns + 4, .pair = columns == 64 ? 8 : 0};
    p.half = 4 * p.pitch + 2 * p.pair;
    p.warp = 2 * p.half;
    return p;
}

static void check_shapes(const spmm_plan *plan, mc_complaints *complaints) {
    if (plan->m != MC_OPEN && plan->m % SPMM_VEC)
        complain(complaints, F_M, "%lld is not a multiple of vec = 8", (long long)plan->m);
    if (plan->n != MC_OPEN && plan->ldb != MC_OPEN && plan->ldb < plan->n)
        complain(complaints, F_LDB, "%lld is less than n = %lld", (long long)plan->ldb, (long long)plan->n);
    if (plan->n != MC_OPEN && plan->ldc != MC_OPEN && plan->ldc < plan->n)
        complain(complaints, F_LDC, "%lld is less than n = %lld", (long long)plan->ldc, (long long)plan->n);
    if (plan->n != MC_OPEN && (plan->n + plan->tile_n - 1) / plan->tile_n > 65535)
        complain(complaints, F_N, "more than 65535 tiles of %d columns: the grid's limit", plan->tile_n);
}

static spmm_output output_of(const int64_t *point) {
    static const spmm_per bias_of[] = {SPMM_PER_NONE, SPMM_PER_ROW, SPMM_PER_COLUMN};
    return (spmm_output){(spmm_element)point[F_OUT], (spmm_per)point[F_SCALE], bias_of[point[F_BIAS]]};
}

static void check_output(const spmm_output *output, mc_complaints *complaints) {
    const char *name = spmm_element_name(output->element);
    if (output->element != SPMM_S32 && output->scale == SPMM_PER_NONE)
        complain(complaints, F_SCALE, "out = \"%s\" wants one: \"tensor\", \"row\" or \"column\"", name);
    if (output->element == SPMM_S32 && output->scale != SPMM_PER_NONE)
        complain(complaints, F_SCALE,
                 "out = \"s32\" is the sums as they are: scales go with f16, bf16 and f32");
    if (output->element == SPMM_S32 && output->bias != SPMM_PER_NONE)
        complain(complaints, F_BIAS,
                 "out = \"s32\" is the sums as they are: a bias goes with f16, bf16 and f32");
}

static void make_plan(const int64_t *point, void *out, mc_complaints *complaints) {
    spmm_plan *plan = out;
    *plan = (spmm_plan){
        .output = output_of(point),
        .stride = (int)point[F_STRIDE],
        .tile_n = (int)point[F_TILE_N],
        .warps = (int)point[F_WARPS],
        .split = (int)point[F_SPLIT],
        .align = (int)point[F_ALIGN],
        .prefetch = point[F_PREFETCH] != 0,
        .m = point[F_M],
        .n = point[F_N],
        .k = point[F_K],
        .ldb = point[F_LDB],
        .ldc = point[F_LDC],
    };
    if (point[F_STACKING])
        complain(complaints, F_STACKING,
                 "a vector of 8 rows fills the mma's 8 columns: there is nothing to stack");
    if (plan->split > plan->warps) {
        complain(complaints, F_SPLIT, "%d warps cannot share a row block in a thread block of %d",
                 plan->split, plan->warps);
        plan->split = plan->warps;
    }
    check_shapes(plan, complaints);
    check_output(&plan->output, complaints);
    plan->row_blocks = plan->warps / plan->split;
    plan->stride_steps = plan->stride / MC_GROUP_SLOTS;
    plan->guard_rows =
        plan->row_blocks > 1 && (plan->m == MC_OPEN || plan->m / SPMM_VEC % plan->row_blocks != 0);
    plan_wide(plan);
    plan_edge(plan);
    const spmm_path *widest = plan->wide.emitted ? &plan->wide : &plan->edge;
    if (plan->split > 1)
        plan->shared_bytes = (unsigned)(plan->warps * spmm_partial_of(widest->columns).warp * 4);
}

/* -- Contract and facts ------------------------------------------------------------------------------- */

static void add_param(mc_contract *c, mc_param param) { c->params[c->param_count++] = param; }

static void make_contract(const void *data, mc_contract *c) {
    const spmm_plan *plan = data;
    unsigned align = (unsigned)plan->align;
    c->format = "strided-bcrs";
    add_param(c, (mc_param){"row_ptr", "u64", MC_PARAM_ARRAY, 4, "packed array"});
    add_param(c, (mc_param){"col_idx", "u64", MC_PARAM_ARRAY, 16, "packed array"});
    add_param(c, (mc_param){"values", "u64", MC_PARAM_ARRAY, 8, "packed array"});
    add_param(c, (mc_param){"b", "u64", MC_PARAM_ARRAY, align, "B: s8[k][ldb], row-major"});
    spmm_output_params(&plan->output, align, c);
    if (plan->guard_rows && plan->m == MC_OPEN)
        add_param(c, (mc_param){"m", "s32", MC_PARAM_SHAPE, 4, "rows of A and C, a multiple of 8"});
    if (plan->n == MC_OPEN) add_param(c, (mc_param){"n", "s32", MC_PARAM_SHAPE, 4, "columns of B and C"});
    if (plan->ldb == MC_OPEN)
        add_param(c, (mc_param){"ldb", "s32", MC_PARAM_SHAPE, 4, "elements from one row of B to the next"});
    if (plan->ldc == MC_OPEN)
        add_param(c, (mc_param){"ldc", "s32", MC_PARAM_SHAPE, 4, "elements from one row of C to the next"});
    c->arrays[0] = (mc_array){"row_ptr", "s32", "m / 8 + 1",
                              "first stride of each row block, then the number of strides"};
    c->arrays[1] = (mc_array){"col_idx", "s32", plan->stride == 32 ? "strides * 32" : "strides * 64",
                              "column of each slot; -1 pads a row block's last stride"};
    c->arrays[2] = (mc_array){"values", "s8", plan->stride == 32 ? "strides * 256" : "strides * 512",
                              "[8][32] for each 32 slots, rows of A first; 0 where padded"};
    c->array_count = 3;
    c->grid[0] = (mc_grid_axis){"m", (int64_t)SPMM_VEC * plan->row_blocks};
    c->grid[1] = (mc_grid_axis){"n", plan->tile_n};
    c->grid[2] = (mc_grid_axis){NULL, 1};
    c->block[0] = (unsigned)(MC_WARP * plan->warps);
    c->block[1] = c->block[2] = 1;
    c->shared_static = plan->shared_bytes;
}

static void add_fact(mc_facts *facts, const char *name, int64_t value, const char *doc) {
    facts->list[facts->count++] = (mc_fact){name, value, doc};
}

static void make_facts(const void *data, mc_facts *facts) {
    const spmm_plan *plan = data;
    add_fact(facts, "tile_rows", SPMM_VEC * plan->row_blocks, "rows of C a thread block");
    add_fact(facts, "tile_columns", plan->tile_n, "columns of C a thread block");
    add_fact(facts, "threads", MC_WARP * plan->warps, "a thread block");
    add_fact(facts, "shared_bytes", plan->shared_bytes, "partial sums of a thread block");
    add_fact(facts, "stride_b_bytes", (int64_t)plan->stride * plan->tile_n,
             "gathered from B, a stride and warp");
    add_fact(facts, "stride_a_bytes", (int64_t)plan->stride * (SPMM_VEC + 4),
             "values and indices, a stride and warp");
    add_fact(facts, "stride_mma", plan->stride_steps * plan->tile_n / 16,
             "m16n8k32 instructions, a stride and warp");
    add_fact(facts, "wide_path", plan->wide.emitted, "vector loads of B");
    add_fact(facts, "edge_path", plan->edge.emitted, "guarded narrow loads of B");
}

static void entry_name(const void *data, char name[MC_MAX_NAME]) {
    const spmm_plan *plan = data;
    snprintf(name, MC_MAX_NAME, "spmm_s8s8%s_v8_k%d_n%d_w%d_s%d", spmm_element_name(plan->output.element),
             plan->stride, plan->tile_n, plan->warps, plan->split);
}

const mc_family mc_family_spmm = {
    .name = "spmm",
    .summary = "sparse times dense: C[m,n] = A[m,k] B[k,n], A in V x 1 nonzero vectors",
    .computes =
        "C[m,n] = A[m,k] B[k,n]: A of 8x1 nonzero vectors, B and C dense and row-major; s8 x s8 -> s32.\n"
        "Swapped operands (C^T = B^T A^T): columns of B are the mma's 16 rows, the row block's 8 rows its "
        "columns.\n"
        "Rows of B are gathered from global memory straight into registers and transposed there.",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .plan = make_plan,
    .contract = make_contract,
    .facts = make_facts,
    .emit = spmm_emit,
    .entry_name = entry_name,
};
