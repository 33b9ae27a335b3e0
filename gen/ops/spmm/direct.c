/* Stagings "direct" and "shared": which of the gather kernel's two paths a point needs, what they may assume,
   and which arrays they read. */
#include "schema/family.h"
#include "parts/fragment.h"
#include "ops/spmm/emit.h"

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

/* Columns of C that a store of the wide path takes: 16 bytes, but no more than the four columns that a thread
   sums up. Where the spec's ldc allows no more, it is 8 bytes of 16-bit elements. */
static int widest_store(const spmm_plan *plan, int lane_columns) {
    int columns = 16 / out_element_bytes(plan->output.element);
    if (plan->split > 1 && columns > 4) columns = 4;
    if (columns > lane_columns) columns = lane_columns;
    int least = columns < 4 ? columns : 4;
    while (columns >= least && divides(columns, plan->ldc) == NEVER) columns /= 2;
    return columns >= least ? columns : 1;
}

static int store_bytes(const spmm_plan *plan, int columns) {
    return columns * out_element_bytes(plan->output.element);
}

/* The wide path loads all of a lane's columns at once. What the spec settles decides whether it exists,
   whether it needs the edge path beside it, and what is left to test. */
static void plan_wide(spmm_plan *plan) {
    int lane_columns = plan->tile_n / 8;
    spmm_path *wide = &plan->wide;
    wide->columns = plan->tile_n;
    wide->unit = plan->rhs.bits == 4 ? lane_columns / 2 : lane_columns * side_bytes(plan->rhs);
    if (plan->staging == SPMM_SHARED) spmm_shared_plan(plan);
    int access_columns = spmm_access_columns(plan);
    proof rows_aligned = divides(access_columns, plan->ldb), full = tile_is_full(plan);
    proof columns_whole = plan->n == MC_OPEN ? NEVER : divides(access_columns, plan->n);
    wide->clamp = full != ALWAYS && columns_whole == ALWAYS; /* then the wide path takes every tile */
    wide->emitted = rows_aligned != NEVER && (full != NEVER || wide->clamp);
    wide->whole = lane_columns;
    wide->store = widest_store(plan, lane_columns);
    if (!wide->emitted) return;
    plan->checks.full_tile = full == MAYBE && !wide->clamp;
    plan->checks.ldb = rows_aligned == MAYBE;
    plan->checks.ldc = divides(wide->store, plan->ldc) == MAYBE;
    plan->checks.b_address = !aligned(plan, spmm_access(wide));
    plan->checks.c_address = wide->store > 1 && !aligned(plan, store_bytes(plan, wide->store));
}

static void plan_edge(spmm_plan *plan) {
    const spmm_checks *c = &plan->checks;
    bool whole = plan->n != MC_OPEN && plan->n % 4 == 0, words = whole && plan->rhs.bits == 8;
    int store = plan->output.element == OUT_S64 ? 2 : 4;
    bool covered = plan->wide.emitted && !(c->full_tile || c->ldb || c->ldc || c->b_address || c->c_address);
    plan->edge = (spmm_path){
        .emitted = !covered,
        .columns = SPMM_EDGE_COLUMNS,
        .unit = words && divides(4, plan->ldb) == ALWAYS && aligned(plan, 4) ? 4 : side_bytes(plan->rhs),
        .clamp = true,
        .whole = whole ? 4 : 1,
        .store = whole && divides(store, plan->ldc) == ALWAYS && aligned(plan, store_bytes(plan, store))
                     ? store
                     : 1,
    };
}

/* How partial sums lie in swapped order (spmm_partial). Row 2t + r begins at r * run + t * by_t, and its
   columns lie in a row. Counted in units of 16 bytes, of which eight fill a row of banks, neighbouring g are
   columns / 32 units apart, with 256 columns 9. The four t must fall into the gaps between. */
static spmm_partial swapped_partial(int columns) {
    spmm_partial p = {
        .by_t = columns == 32 ? 40 : columns + 4, .pair = columns == 64 ? 8 : 0, .by_g = columns / 8};
    if (columns == 256) p.by_g += 4, p.by_t = 8 * p.by_g + 8;
    p.run = 4 * p.by_t + 2 * p.pair;
    p.warp = 2 * p.run;
    return p;
}

/* How partial sums lie in the paper's order. Row g begins at g * by_g, and the columns of a t lie in a row.
   The four t must fall into different units of 16 bytes, and two g must fill the gaps. Reads take 8
   neighbouring units of a row, so that two t must adjoin where each has four units. */
static spmm_partial paper_partial(int columns) {
    int unit = 4, of_t = columns / 4;
    spmm_partial p = {.run = columns / 8, .by_t = of_t, .by_g = columns + unit};
    if (columns == 64) {
        p.pair = 2 * unit;
        p.by_g += p.pair;
    } else if (columns > 64) {
        p.by_t = of_t + unit;
        p.by_g = 4 * p.by_t;
    }
    p.warp = SPMM_MMA_ROWS * p.by_g;
    return p;
}

spmm_partial spmm_partial_of(spmm_order order, int columns) {
    return order == SPMM_SWAPPED ? swapped_partial(columns) : paper_partial(columns);
}

int spmm_rows_bytes(const spmm_plan *plan) {
    return plan->wide.emitted ? plan->stride / MC_LANE_SLOTS * plan->rows.octet : 0;
}

int spmm_share_bytes(const spmm_plan *plan, const spmm_path *path) {
    int rows = spmm_rows_bytes(plan);
    int sum_bytes = plan->output.exact ? 2 * WORD : WORD;
    int sums = plan->split > 1 ? spmm_partial_of(plan->order, path->columns).warp * sum_bytes : 0;
    return rows > sums ? rows : sums;
}

/* How many mma `depth` slots take for one of A's mma. A large one takes 16 columns and all of these slots; a
   small one takes 8 columns and 16 slots, of 4 bits 32. */
static int digit_mma(const spmm_plan *plan) {
    int digits = plan->b.count, biased = spmm_is_biased(plan), small = plan->int4 ? plan->depth / 32 : 2;
    return plan->order == SPMM_PAPER ? small * (plan->tile_n / 8 * digits + biased)
                                     : plan->tile_n / 16 * digits + biased;
}

void spmm_direct_plan(spmm_plan *plan) {
    plan->threads = MC_WARP * plan->warps;
    plan->depth = plan->int4 ? plan->stride : MC_GROUP_SLOTS;
    plan->stride_steps = plan->stride / MC_GROUP_SLOTS;
    plan->stride_mma = plan->stride / plan->depth * plan->mma * digit_mma(plan);
    spmm_plan_values(plan, plan->stride * spmm_value_rows(plan) * plan->a.bits / 8);
    plan->stride_a_bytes = plan->stride * WORD + plan->stride_values;
    plan_wide(plan);
    plan_edge(plan);
    plan->flush_strides = spmm_flush_strides(plan);
    const spmm_path *widest = plan->wide.emitted ? &plan->wide : &plan->edge;
    plan->shared_bytes = (unsigned)(plan->warps * spmm_share_bytes(plan, widest));
}

/* -- Contract ----------------------------------------------------------------------------------------- */

/* What the contract says of col_idx: where the heads lie, which a warp finds without row_ptr, and whether
   indices are shuffled. By the split. */
#define HEADS(where)                                                                                         \
    {                                                                                                        \
        "column of each slot, -1 for padding; " where,                                                       \
            "column of each slot, -1 for padding, those of 8 slots at 0, 4, 1, 5, 2, 6, 3, 7; " where        \
    }
static const char *const heads[][2] = {
    [0] = HEADS("strides as row_ptr has them"),
    [1] = HEADS("row block b's first stride, its head, is stride b"),
    [2] = HEADS("row block b's first strides, its heads, are strides 2 b and 2 b + 1"),
    [4] = HEADS("row block b's first strides, its heads, are strides 4 b to 4 b + 3"),
    [8] = HEADS("row block b's first strides, its heads, are strides 8 b to 8 b + 7"),
};

/* How digits of 4 bits lie in a row of a stride. */
#define HALVES "[4][stride / 32][8] half bytes for each stride, slot 32 h + 8 t + i at [t][h][i]"

static void add_b(const spmm_plan *plan, mc_contract *c) {
    if (plan->times_16 && plan->k == MC_OPEN && !plan->output.exact) c->k_limit = spmm_exact_k(plan);
    int bytes = side_bytes(plan->rhs), align = plan->align > bytes ? plan->align : bytes;
    add_param(c, (mc_param){"b", "u64", MC_PARAM_ARRAY, (unsigned)align, spmm_b_doc(plan, false)});
    if (plan->rhs.bits == 4) c->ldb_multiple = 2;
    if (bytes > 1) c->ldb_limit = SPMM_MAX_ROW_BYTES / bytes;
}

void spmm_direct_contract(const spmm_plan *plan, mc_contract *c) {
    static const char *const row_ptrs[] = {[2] = "m / 2 + 1", [4] = "m / 4 + 1", [8] = "m / 8 + 1"};
    static const char *const values[][2] = {
        [DIGITS_TOP_SIGNED] = {"[digits][vec][32] for each 32 slots, the low digit first; 0 where padded",
                               "[digits][vec]" HALVES ", the low digit first; 0 where padded"},
        [DIGITS_BALANCED] =
            {"[digits][vec][32] for each 32 slots, all digits signed, the low one first; 0 where padded",
             "[digits][vec]" HALVES ", all digits signed, the low one first; 0 where padded"},
        [DIGITS_OFFSET] = {
            ("[digits * vec + 1][32]: digits of value + half its range, the low one first; then 1 for each "
             "vector; 0 where padded"),
            "[digits * vec + 1]" HALVES
            ": digits of value + half its range, then 1 for each vector; 0 where padded"}};
    c->format = plan->int4 ? "strided-bcrs-int4" : "strided-bcrs";
    add_array(c, 4,
              (mc_array){"row_ptr", "s32", row_ptrs[plan->vec],
                         plan->heads
                             ? "first stride of each row block behind the heads, then the number of strides"
                             : "first stride of each row block, then the number of strides"});
    add_array(c, 16,
              (mc_array){"col_idx", "s32", plan->stride == 64 ? "strides * 64" : "strides * 32",
                         heads[plan->heads ? plan->split : 0][plan->int4 && plan->shuffle]});
    add_array(c, 8, (mc_array){"values", "s8", plan->value_extent, values[plan->mode][plan->int4]});
    if (!plan->heads) c->awaited = "values";
    add_b(plan, c);
}
