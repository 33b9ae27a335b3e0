/* The SDDMM of method "dense": a thread block computes a tile of A B whole, and stores what the mask has of
 * it.
 *
 *   ranges of the mask -> all stages' copies asked for -> [wait for a stage -> multiply]
 *   sample.c              copy.c                           multiply.c
 *                      -> result to shared memory -> vectors to C
 *                         result.c                   sample.c
 *
 * All stages have room in shared memory at once, so that one barrier a stage is enough. */
#include "ops/sddmm/dense/dense.h"

static const char shared_name[] = "tile";
/* Registers beyond those alive, without which ptxas 13 spills. It computes addresses ahead, and scales have
   more of these; B's digits and parities, values that are made wider, small tiles, and vectors of one row
   want some, too. */
enum { SPARE = 16, MORE_SPARE = 8, WIDER_SPARE = 8, SCALE_SPARE = 24, SINGLE_SPARE = 16 };

/* -- This thread's place ------------------------------------------------------------------------------ */

/* Names of a side's registers, and of the special register that counts its tiles. */
typedef struct side_names {
    const char *number, *special, *first, *last;
} side_names;

static const side_names row_names = {"block_y", "ctaid.y", "tile_row", "last_row"};
static const side_names column_names = {"block_x", "ctaid.x", "tile_column", "last_column"};

/* Finds the tile's rows or columns, TILE of the EXTENT that the product has. */
static dense_side emit_side(mc_builder *b, const side_names *names, int tile, mc_operand extent) {
    mc_reg number = load_special(b, names->number, names->special), last = b32(b, names->last);
    mc_reg first = mul_s32(b, names->first, number, I(tile));
    EMIT(b, sub_s32, last, extent, first);
    EMIT(b, add_s32, last, last, I(-1));
    return (dense_side){.first = first, .last = last};
}

/* The bytes of a row of tile_ptr, which has an entry for each tile of N columns, and one more. */
static mc_reg emit_ptr_row(mc_builder *b, const dense_plan *plan, mc_operand n) {
    if (plan->problem.n != MC_OPEN)
        return mov_b32(b, "ptr_row", I(((plan->problem.n - 1) / plan->tile_n + 2) * WORD));
    mc_reg bytes = b32(b, "ptr_row");
    EMIT(b, add_s32, bytes, n, I(2 * plan->tile_n - 1));
    EMIT(b, shr_u32, bytes, bytes, I(log2_of(plan->tile_n)));
    EMIT(b, shl_b32, bytes, bytes, I(log2_of(WORD)));
    return bytes;
}

/* Sets the warp's numbers along both sides. Its number in the block is rows.warp + row_warps *
   columns.warp. */
static void emit_warps(dense_emitter *d) {
    mc_reg warp = d->place.warp;
    int row_warps = d->plan->row_warps;
    if (d->plan->column_warps == 1) {
        d->rows.warp = warp;
    } else if (row_warps == 1) {
        d->columns.warp = warp;
    } else {
        d->rows.warp = and_b32(d->b, "warp_row", warp, I(row_warps - 1));
        d->columns.warp = shr_u32(d->b, "warp_column", warp, I(log2_of(row_warps)));
    }
}

static dense_emitter emit_place(const dense_plan *plan, mc_builder *b) {
    const sddmm_problem *p = &plan->problem;
    dense_emitter d = {.plan = plan, .b = b};
    heading(b, "The tile; lane = 4 g + t");
    d.place = load_thread_place(b, MC_WARP * p->warps);
    d.shared = mov_shared(b, "shared", NAME(shared_name));
    mc_operand m = dim_operand(p->m, load_shape(b, "m", p->m == MC_OPEN));
    mc_operand n = dim_operand(p->n, load_shape(b, "n", p->n == MC_OPEN));
    note(b, "the tile's first row and column, and the last ones that there are in it");
    d.rows = emit_side(b, &row_names, plan->tile_rows, m);
    d.columns = emit_side(b, &column_names, plan->tile_n, n);
    d.ptr_row = emit_ptr_row(b, plan, n);
    emit_warps(&d);
    return d;
}

/* -- The kernel --------------------------------------------------------------------------------------- */

static int spare_registers(const dense_plan *plan) {
    const sddmm_arithmetic *a = &plan->problem.arithmetic;
    bool more = plan->tile_n < 64 || plan->tile_rows < 64 || !a->b_is_plain;
    bool wider = a->kind->real && a->a_operands > a->a_words;
    bool single = plan->problem.vec == 1;
    bool scales = out_by_rows(&plan->problem.output) || out_by_columns(&plan->problem.output);
    return SPARE + (more ? MORE_SPARE : 0) + (wider ? WIDER_SPARE : 0) + (scales ? SCALE_SPARE : 0) +
           (single ? SINGLE_SPARE : 0);
}

void dense_emit(const void *data, mc_builder *b) {
    const dense_plan *plan = data;
    dense_mask mask;
    dense_sums sums;
    shared_dynamic(b, shared_name, DENSE_COPY);
    b->fills_shared = true;
    b->spare += spare_registers(plan);
    sddmm_begin(&plan->problem, b);
    emit_launch_next(b, plan->problem.overlap);
    const dense_emitter d = emit_place(plan, b);
    dense_emit_ranges(&d, &mask);
    emit_grid_wait(b, plan->problem.overlap, "A or B");
    dense_emit_copies(&d);
    dense_emit_first_columns(&d, &mask);
    const dense_scales scales = dense_emit_scales(&d);
    dense_emit_products(&d, &sums);
    dense_emit_result(&d, &sums, &scales);
    dense_emit_samples(&d, &mask);
    EMIT_RET(b);
}
