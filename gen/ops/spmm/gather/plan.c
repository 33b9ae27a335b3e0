/* Which of the gather kernel's two paths a point needs, and what they may assume. */
#include "parts/fragment.h"
#include "ops/spmm/gather/gather.h"

static bool aligned(const gather_plan *plan, int bytes) { return plan->base.align % bytes == 0; }

/* Columns of C that a store of the wide path takes: 16 bytes, but no more than the four columns that a thread
   sums up. Where the spec's ldc allows no more, it is 8 bytes of 16-bit elements. */
static int widest_store(const gather_plan *plan, int lane_columns) {
    int columns = 128 / out_element_bits(plan->base.output.element);
    if (columns > OUT_MAX_STORE) columns = OUT_MAX_STORE;
    if (plan->base.split > 1 && columns > 4) columns = 4;
    if (columns > lane_columns) columns = lane_columns;
    int least = columns < 4 ? columns : 4;
    while (columns >= least && spmm_divides(columns, plan->base.ldc) == SPMM_NEVER) columns /= 2;
    return columns >= least ? columns : out_least_store(plan->base.output.element);
}

static int store_bytes(const gather_plan *plan, int columns) {
    return (int)out_bytes(plan->base.output.element, columns);
}

/* Columns of the residual that a load of the wide path takes: 16 bytes, but no more than a thread stores of a
   row; less where the spec's ldr allows no more. */
static int widest_residual(const gather_plan *plan, int lane_columns) {
    int bytes = out_residual_bytes(&plan->base.output);
    if (bytes == 0) return 0;
    int columns = 16 / bytes, most = plan->base.split > 1 ? 4 : lane_columns;
    if (columns > most) columns = most;
    while (spmm_divides(columns, plan->base.ldr) == SPMM_NEVER) columns /= 2;
    return columns;
}

/* Rows that a store of a column-major C takes: 16 bytes, but no more than the rows that are C's together, and
   what its ldc allows; of the edge path what is CERTAIN. */
static int rows_of_store(const gather_plan *plan, bool certain) {
    const spmm_plan *base = &plan->base;
    int rows = 16 / out_element_bytes(base->output.element),
        whole = base->guard_rows ? base->vec : base->vec * base->row_blocks;
    while (rows > whole) rows /= 2;
    while (rows > 1 && (spmm_divides(rows, base->ldc) < (certain ? SPMM_ALWAYS : SPMM_MAYBE) ||
                        (certain && !aligned(plan, store_bytes(plan, rows)))))
        rows /= 2;
    return rows;
}

/* Rows that a load of a column-major residual takes: of the two neighbours of a lane. */
static int rows_of_residual(const gather_plan *plan, bool certain) {
    const spmm_plan *base = &plan->base;
    int bytes = out_residual_bytes(&base->output);
    bool pairs = base->math.order == SPMM_SWAPPED && base->vec > 1 && base->split == 1,
         fits = spmm_divides(2, base->ldr) >= (certain ? SPMM_ALWAYS : SPMM_MAYBE) &&
                (!certain || aligned(plan, 2 * bytes));
    return bytes == 0 ? 0 : pairs && fits ? 2 : 1;
}

static int residual_load_bytes(const gather_plan *plan, const gather_path *path) {
    return path->residual * out_residual_bytes(&plan->base.output);
}

/* The wide path loads all of a lane's columns at once. What the spec settles decides whether it exists,
   whether it needs the edge path beside it, and what is left to test. */
static void plan_wide(gather_plan *plan) {
    int lane_columns = plan->base.tile_n / 8;
    gather_path *wide = &plan->wide;
    wide->columns = plan->base.tile_n;
    wide->unit = (int)spmm_b_bytes(&plan->base, lane_columns);
    if (plan->shared) spmm_gather_shared_plan(plan);
    int access_columns = gather_access_columns(plan);
    spmm_proof rows_aligned = spmm_divides(access_columns, plan->base.ldb),
               full = spmm_tile_is_full(&plan->base);
    spmm_proof columns_whole =
        plan->base.n == MC_OPEN ? SPMM_NEVER : spmm_divides(access_columns, plan->base.n);
    wide->clamp =
        full != SPMM_ALWAYS && columns_whole == SPMM_ALWAYS; /* then the wide path takes every tile */
    wide->emitted = rows_aligned != SPMM_NEVER && (full != SPMM_NEVER || wide->clamp);
    wide->whole = lane_columns;
    bool by_columns = plan->base.c_columns;
    wide->store = by_columns ? rows_of_store(plan, false) : widest_store(plan, lane_columns);
    wide->residual = by_columns ? rows_of_residual(plan, false) : widest_residual(plan, lane_columns);
    if (!wide->emitted) return;
    plan->checks.full_tile = full == SPMM_MAYBE && !wide->clamp;
    plan->checks.ldb = rows_aligned == SPMM_MAYBE;
    bool any_ldc = wide->store == out_least_store(plan->base.output.element);
    plan->checks.ldc = !any_ldc && spmm_divides(wide->store, plan->base.ldc) == SPMM_MAYBE;
    plan->checks.b_address = !aligned(plan, gather_access(wide));
    plan->checks.c_address = !any_ldc && !aligned(plan, store_bytes(plan, wide->store));
    plan->checks.ldr = wide->residual > 1 && spmm_divides(wide->residual, plan->base.ldr) == SPMM_MAYBE;
    plan->checks.r_address = wide->residual > 1 && !aligned(plan, residual_load_bytes(plan, wide));
}

static void plan_edge(gather_plan *plan) {
    const gather_checks *c = &plan->checks;
    bool whole = plan->base.n != MC_OPEN && plan->base.n % 4 == 0,
         words = whole && plan->base.math.b_bits == 8;
    int store = plan->base.output.element == OUT_S64 ? 2 : 4;
    bool tested = c->full_tile || c->ldb || c->ldc || c->b_address || c->c_address || c->ldr || c->r_address;
    int residual = out_residual_bytes(&plan->base.output);
    bool residual_words = residual > 0 && whole && spmm_divides(4, plan->base.ldr) == SPMM_ALWAYS &&
                          aligned(plan, 4 * residual);
    plan->edge = (gather_path){
        .emitted = !plan->wide.emitted || tested,
        .columns = GATHER_EDGE_COLUMNS,
        .unit = words && spmm_divides(4, plan->base.ldb) == SPMM_ALWAYS && aligned(plan, 4)
                    ? 4
                    : spmm_b_unit(&plan->base),
        .clamp = true,
        .whole = whole ? 4 : 1,
        .store = whole && spmm_divides(store, plan->base.ldc) == SPMM_ALWAYS &&
                         aligned(plan, store_bytes(plan, store))
                     ? store
                     : out_least_store(plan->base.output.element),
        .residual = residual == 0    ? 0
                    : residual_words ? 4
                                     : 1,
    };
    if (!plan->base.c_columns) return;
    plan->edge.store = rows_of_store(plan, true);
    plan->edge.residual = rows_of_residual(plan, true);
}

/* A's bytes are those of about one nonzero a slot. */
static void plan_nonzeros(gather_plan *plan) {
    spmm_plan *base = &plan->base;
    base->stride_values = base->vec * GATHER_MASK_BYTES;
    base->stride_a_bytes = base->stride * (WORD + base->math.value_bytes) + base->stride_values;
}

void spmm_gather_make_plan(const int64_t *point, void *out, mc_complaints *complaints) {
    gather_plan *plan = out;
    spmm_plan *base = &plan->base;
    spmm_plan_problem(point, true, base, complaints);
    spmm_check_tile(base, complaints);
    plan->shared = base->staging == SPMM_SHARED;
    plan->prefetch = point[F_PREFETCH] != 0;
    plan->share = (int)point[F_SHARE];
    plan->nonzeros = point[F_VALUES] != 0;
    plan->reorder = point[F_REORDER] != 0;
    plan->given = point[F_HEADS] == 0;
    plan->heads = !plan->given && !base->panels;
    plan->padding = point[F_PADDING] != 0;
    plan->stride_steps = base->stride / MC_GROUP_SLOTS;
    base->threads = MC_WARP * base->warps;
    base->stride_mma = base->stride / base->math.depth * spmm_mma_count(&base->math, base->tile_n);
    spmm_plan_values(base, spmm_values_of(&base->math).stride_bytes);
    base->stride_a_bytes = base->stride * WORD + base->stride_values;
    if (plan->nonzeros) plan_nonzeros(plan);
    plan_wide(plan);
    plan_edge(plan);
    const gather_path *widest = plan->wide.emitted ? &plan->wide : &plan->edge;
    base->shared_bytes = (unsigned)(base->warps * spmm_gather_share_bytes(plan, widest));
    if (base->c_columns) {
        const column_tile tile = spmm_gather_tile(plan, widest);
        base->shared_bytes += (unsigned)column_tile_bytes(&tile);
    }
    spmm_gather_check(point, plan, complaints);
}
