/* Stagings "tma" and "async": the ring's size, and the arrays that the kernel reads. windowed.h describes
   their format. */
#include "schema/family.h"
#include "parts/fragment.h"
#include "ops/spmm/ring.h"
#include "parts/windowed.h"

int spmm_copy_unit(const spmm_plan *plan) { return plan->staging == SPMM_TMA ? 16 : 4; }
int spmm_ldb_unit(const spmm_plan *plan) {
    int unit = spmm_copy_unit(plan);
    return plan->rhs.bits == 4 ? 2 * unit : unit / side_bytes(plan->rhs);
}

/* The widest copy that divides ldb. 0: it is found out at launch, since ldb is open, or B's address promises
   less. */
static int widest_copy(const spmm_plan *plan) {
    int bytes = 16;
    if (plan->ldb == MC_OPEN) return 0;
    while (bytes > 4 && side_row_bytes(plan->rhs, plan->ldb) % bytes) bytes /= 2;
    return bytes <= plan->align ? bytes : 0;
}

void spmm_ring_plan(spmm_plan *plan) {
    bool map = plan->staging == SPMM_TMA;
    plan->threads = MC_WARP * (plan->warps + map); /* tma: one warp more, which copies */
    plan->copy = map ? 0 : widest_copy(plan);
    plan->stride_mma = plan->mma * (2 * WINDOWED_SLOTS / WINDOWED_HALF * plan->tile_n / 32 * plan->b.count +
                                    spmm_is_biased(plan));
    spmm_plan_values(plan, WINDOWED_ROW_VALUES * spmm_value_rows(plan));
    plan->stride_a_bytes = plan->stride_values + 4 * WINDOWED_STRIDE_WORDS + 4;
    /* row_ptr's parts are as far apart as A has row blocks: m is wanted anyway */
    if (plan->split > 1) plan->guard_rows = true;
    plan->shared_bytes = (unsigned)ring_sum_offset(plan) + ring_sum_bytes(plan);
}

void spmm_ring_contract(const spmm_plan *plan, mc_contract *c) {
    static const char *const orders[] = {[2] = "m / 2", [4] = "m / 4", [8] = "m / 8"};
    static const char *const row_ptrs[] = {[2] = "m / 2 + 1", [4] = "m / 4 + 1", [8] = "m / 8 + 1"};
    static const char *const part_ptrs[] = {
        [2] = "split * m / 2 + 1", [4] = "split * m / 4 + 1", [8] = "split * m / 8 + 1"};
    static const char *const values[] = {
        [DIGITS_TOP_SIGNED] = "[digits][vec][4][8], the low digit first: slots as the mma's lanes want them",
        [DIGITS_BALANCED] =
            "[digits][vec][4][8], all digits signed, the low one first: slots as the mma's lanes want them",
        [DIGITS_OFFSET] =
            ("[digits * vec + 1][4][8]: digits of value + half its range, the low one first; then 1 for each "
             "vector; 0 where padded")};
    c->format = "windowed-bcrs";
    add_array(c, 4,
              (mc_array){"row_order", "s32", orders[plan->vec], "the row block that each place computes"});
    add_array(c, 4,
              (mc_array){"row_ptr", "s32", (plan->split > 1 ? part_ptrs : row_ptrs)[plan->vec],
                         "first stride of each place, part by part, then the number of strides"});
    add_array(
        c, 4,
        (mc_array){"control", "s32", "strides",
                   "bits 8-30: windows to leave; bits 0-7: to wait for then; bit 31: slots 16 on are empty"});
    add_array(c, 4,
              (mc_array){"places", "s32", "strides * 16",
                         "where slots w and 16 + w lie in the ring: low and high half, in 16 bytes"});
    add_array(c, 8, (mc_array){"values", "s8", plan->value_extent, values[plan->mode]});
    int bytes = side_bytes(plan->rhs);
    c->ldb_multiple = (unsigned)spmm_ldb_unit(plan);
    if (plan->staging == SPMM_ASYNC) {
        add_param(c, (mc_param){"b", "u64", MC_PARAM_ARRAY, (unsigned)plan->align, spmm_b_doc(plan, false)});
        if (bytes > 1) c->ldb_limit = SPMM_MAX_ROW_BYTES / bytes;
        return;
    }
    c->map = (mc_map_param){.param = "b_map",
                            .array = "b",
                            .rows = "k",
                            .cols = "n",
                            .ld = "ldb",
                            .box_rows = (unsigned)plan->window,
                            .box_cols = (unsigned)(ring_row_bytes(plan) / bytes),
                            .swizzle = (unsigned)ring_row_bytes(plan),
                            .element_bytes = (unsigned)bytes,
                            .per_byte = plan->rhs.bits == 4 ? 2 : 1};
    add_param(c, (mc_param){"b_map", "b8[128]", MC_PARAM_TENSOR_MAP, 64, spmm_b_doc(plan, true)});
    if (plan->times_16 && plan->k == MC_OPEN) c->k_limit = spmm_exact_k(plan);
}
