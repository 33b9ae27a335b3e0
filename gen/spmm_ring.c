/* Staging "tma": the ring's size and the arrays that the kernel reads. windowed.h has the format. */
#include "fragment.h"
#include "spmm.h"
#include "windowed.h"

enum { BARRIER_BYTES = 8, BARRIERS = 2 /* a stage: full, empty */ };

void spmm_ring_plan(spmm_plan *plan) {
    plan->threads = MC_WARP * (plan->warps + 1); /* one warp copies */
    plan->stride_mma = 2 * WINDOWED_SLOTS / WINDOWED_HALF * plan->tile_n / 32;
    plan->stride_a_bytes = WINDOWED_STRIDE_VALUES + 4 * WINDOWED_STRIDE_WORDS + 4;
    plan->shared_bytes = (unsigned)(plan->stages * (plan->window * plan->tile_n + BARRIERS * BARRIER_BYTES));
}

void spmm_ring_contract(const spmm_plan *plan, mc_contract *c) {
    c->format = "windowed-bcrs";
    spmm_add_array(c, 4, (mc_array){"row_order", "s32", "m / 8", "the row block that each place computes"});
    spmm_add_array(
        c, 4,
        (mc_array){"row_ptr", "s32", "m / 8 + 1", "first stride of each place, then the number of strides"});
    spmm_add_array(c, 4,
                   (mc_array){"control", "s32", "strides",
                              "first leave control / 256 windows, then wait for control % 256"});
    spmm_add_array(c, 4,
                   (mc_array){"places", "s32", "strides * 16",
                              "where slots w and 16 + w lie in the ring: low and high half, in 16 bytes"});
    spmm_add_array(c, 8,
                   (mc_array){"values", "s8", "strides * 256",
                              "[8][4][8]: for each row of A, slots as the mma's lanes want them"});
    c->map = (mc_map_param){.param = "b_map",
                            .array = "b",
                            .rows = "k",
                            .cols = "n",
                            .ld = "ldb",
                            .box_rows = (unsigned)plan->window,
                            .box_cols = (unsigned)plan->tile_n,
                            .swizzle = (unsigned)plan->tile_n};
    c->params[c->param_count++] =
        (mc_param){"b_map", "b8[128]", MC_PARAM_TENSOR_MAP, 64, "tensor map of B: s8[k][ldb], row-major"};
}
