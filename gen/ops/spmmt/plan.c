#include "ops/spmmt/spmmt.h"

static const out_element outs[] = {OUT_F16, OUT_BF16, OUT_F32};

static void take_point(const int64_t *point, spmmt_plan *plan) {
    *plan = (spmmt_plan){.side = (spmmt_side)point[F_LHS],
                         .out = outs[point[F_OUT]],
                         .vec = (int)point[F_VEC],
                         .tile_k = (int)point[F_TILE_K],
                         .tile_n = (int)point[F_TILE_N],
                         .warp_k = (int)point[F_WARP_K],
                         .warp_n = (int)point[F_WARP_N],
                         .slots = (int)point[F_SLOTS],
                         .blocks = (int)point[F_BLOCKS],
                         .ahead = (int)point[F_AHEAD],
                         .stage_rows = (int)point[F_STAGE_ROWS],
                         .m = point[F_M],
                         .n = point[F_N],
                         .k = point[F_K],
                         .ldb = point[F_LDB],
                         .ldc = point[F_LDC]};
}

static void plan_shares(spmmt_plan *plan) {
    plan->parts = plan->tile_k / plan->warp_k;
    plan->beside = plan->tile_n / plan->warp_n;
    plan->mmas = plan->slots / TRANSPOSED_MMA_SLOTS;
    /* 16 bytes more, so that ldmatrix meets no bank twice */
    plan->pitch = plan->tile_n * SPMMT_ELEMENT + SPMMT_COPY;
    plan->fragments = plan->warp_n / SPMMT_COLUMNS * spmmt_row_parts(plan);
}

int spmmt_registers(const spmmt_plan *plan) {
    enum { OTHERS = 28, STEPS = 2 };
    int turn = spmmt_turn(plan), rows = spmmt_rows(plan),
        words = 2 * turn * (1 + rows + spmmt_values(plan)) + turn * plan->blocks * rows,
        sums = spmmt_sums(plan) * (1 + plan->blocks); /* and products */
    return words + STEPS * (sums + plan->fragments) + OTHERS;
}

static void check_registers(const spmmt_plan *plan, mc_complaints *complaints) {
    enum { SM_REGISTERS = 65536, MOST_REGISTERS = 255 };
    int threads = spmmt_threads(plan), most = threads > 0 ? SM_REGISTERS / threads : MOST_REGISTERS;
    if (most > MOST_REGISTERS) most = MOST_REGISTERS;
    if (spmmt_registers(plan) > most)
        complain(complaints, F_SLOTS, "%d registers a thread are too many for %d warps",
                 spmmt_registers(plan), spmmt_warps(plan));
}

static void check_shares(const spmmt_plan *plan, mc_complaints *complaints) {
    if (plan->parts < 1)
        complain(complaints, F_WARP_K, "%d columns of A a warp are more than tile_k = %d", plan->warp_k,
                 plan->tile_k);
    else if (plan->beside < 1)
        complain(complaints, F_WARP_N, "%d columns a warp are more than tile_n = %d", plan->warp_n,
                 plan->tile_n);
    else if (spmmt_warps(plan) > SPMMT_MAX_WARPS)
        complain(complaints, F_TILE_K, "the tile has %d warps, at most %d will do", spmmt_warps(plan),
                 SPMMT_MAX_WARPS);
}

static void check_shared(const spmmt_plan *plan, const mc_arch *arch, mc_complaints *complaints) {
    int bytes = spmmt_shared_bytes(plan), most = (int)arch->shared << 10;
    if (bytes > most)
        complain(complaints, F_TILE_K,
                 "the tile takes %d bytes of shared memory, a thread block of %s has %d", bytes, arch->target,
                 most);
}

static void check_stages(const spmmt_plan *plan, mc_complaints *complaints) {
    int copies = plan->stage_rows * plan->tile_n * SPMMT_ELEMENT / SPMMT_COPY;
    int steps = plan->stage_rows / (plan->vec * plan->blocks);
    if (steps < spmmt_turn(plan))
        complain(complaints, F_STAGE_ROWS, "%d rows may have %d steps, fewer than the %d of a turn",
                 plan->stage_rows, steps, spmmt_turn(plan));
    else if (spmmt_warps(plan) > 0 && copies > SPMMT_MAX_COPIES * spmmt_threads(plan))
        complain(complaints, F_STAGE_ROWS, "a stage has %d copies, %d threads do %d each at the most", copies,
                 spmmt_threads(plan), SPMMT_MAX_COPIES);
}

static void check_blocks(const spmmt_plan *plan, mc_complaints *complaints) {
    if (plan->blocks > 1 && plan->vec > SPMMT_COLUMNS)
        complain(complaints, F_BLOCKS, "two row blocks of vec = %d have more than 16 rows", plan->vec);
}

static void check_shapes(const int64_t *point, const spmmt_plan *plan, mc_complaints *complaints) {
    if (point[F_LHS] != point[F_RHS]) complain(complaints, F_RHS, "must be the type of lhs");
    if (plan->m != MC_OPEN && plan->m % plan->vec)
        complain(complaints, F_M, "%lld is not a multiple of vec = %d", (long long)plan->m, plan->vec);
    if (plan->n != MC_OPEN && plan->ldb != MC_OPEN && plan->ldb < plan->n)
        complain(complaints, F_LDB, "%lld is less than n = %lld", (long long)plan->ldb, (long long)plan->n);
    if (plan->n != MC_OPEN && plan->ldc != MC_OPEN && plan->ldc < plan->n)
        complain(complaints, F_LDC, "%lld is less than n = %lld", (long long)plan->ldc, (long long)plan->n);
}

void spmmt_make_plan(const int64_t *point, void *data, mc_complaints *complaints) {
    spmmt_plan *plan = data;
    take_point(point, plan);
    plan_shares(plan);
    check_shapes(point, plan, complaints);
    check_blocks(plan, complaints);
    check_shares(plan, complaints);
    check_stages(plan, complaints);
    check_registers(plan, complaints);
    check_shared(plan, &mc_archs[point[FIELD_ARCH]], complaints);
}
