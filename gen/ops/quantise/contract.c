/* What launching a kernel that quantises takes, and what --describe says of it. */
#include "ops/quantise/quantise.h"
#include <stdio.h>

#define PAIRS ", the even column in a byte's low half"
static const char *const a_docs[] = {"A: f16[m][lda], row-major",       "A: bf16[m][lda], row-major",
                                     "A: f32[m][lda], row-major",       "A: s32[m][lda], row-major",
                                     "A: s8[m][lda], row-major",        "A: s16[m][lda], row-major",
                                     ("A: s4[m][lda], row-major" PAIRS)};

#define BOTH(type, more)                                                                                     \
    { "C: " type "[m][ldc], row-major" more, "C: " type "[n][ldc], A's transpose, row-major" more }
static const char *const c_docs[][2] = {
    [QUANTISE_S8] = BOTH("s8", ""),    [QUANTISE_U8] = BOTH("u8", ""),   [QUANTISE_S4] = BOTH("s4", PAIRS),
    [QUANTISE_U4] = BOTH("u4", PAIRS), [QUANTISE_F16] = BOTH("f16", ""), [QUANTISE_BF16] = BOTH("bf16", ""),
    [QUANTISE_F32] = BOTH("f32", ""),  [QUANTISE_S16] = BOTH("s16", ""), [QUANTISE_S32] = BOTH("s32", "")};

/* One by value, more as an array. */
static void add_factor(const quantise_plan *plan, mc_contract *c, const char *name, const char *doc) {
    if (plan->scale == OUT_PER_TENSOR && !plan->computed)
        add_param(c, (mc_param){name, "f32", MC_PARAM_SCALAR, 4, doc});
    else add_param(c, (mc_param){name, "u64", MC_PARAM_ARRAY, WORD, doc});
}

static void add_factors(const quantise_plan *plan, mc_contract *c) {
    static const char *const scales[][2] = {
        [OUT_PER_NONE] = {"", ""},
        [OUT_PER_TENSOR] = {"of all elements", "f32[1], of all elements, which the kernel writes"},
        [OUT_PER_ROW] = {"f32[m], one for each row of A",
                         "f32[m], one for each row of A, which the kernel writes"},
        [OUT_PER_COLUMN] = {"f32[n], one for each column of A", ""}};
    static const char *const zeros[][2] = {
        [OUT_PER_TENSOR] = {"zero point of all elements", "zero point, f32[1], which the kernel writes"},
        [OUT_PER_ROW] = {"zero points, f32[m], integers", "zero points, f32[m], which the kernel writes"}};
    if (plan->scale != OUT_PER_NONE) add_factor(plan, c, "scale", scales[plan->scale][plan->computed]);
    if (plan->zero) add_factor(plan, c, "zero", zeros[plan->scale][plan->computed]);
}

void quantise_list_batch(const quantise_plan *plan, mc_batch_array arrays[QUANTISE_BATCH_ARRAYS]) {
    arrays[0] =
        (mc_batch_array){"x", "a_stride", "elements from one product's A to the next's", plan->in_bits};
    arrays[1] =
        (mc_batch_array){"c", "c_stride", "elements from one product's C to the next's", plan->out_bits};
}

static unsigned align_of(const quantise_plan *plan, int element) {
    return (unsigned)(plan->align > element ? plan->align : element);
}

static void add_params(const quantise_plan *plan, mc_contract *c) {
    add_param(c, (mc_param){"x", "u64", MC_PARAM_ARRAY, align_of(plan, quantise_piece_bytes(plan->in_bits)),
                            a_docs[plan->in]});
    add_param(c, (mc_param){"c", "u64", MC_PARAM_ARRAY, align_of(plan, quantise_piece_bytes(plan->out_bits)),
                            c_docs[plan->out][plan->turned]});
    add_factors(plan, c);
    add_shape(c, "m", plan->m, "rows of A");
    add_shape(c, "n", plan->n, "columns of A");
    add_shape(c, "lda", plan->lda, "elements from one row of A to the next");
    add_shape(c, "ldc", plan->ldc, "elements from one row of C, as it is stored, to the next");
    if (!plan->reaches) return;
    add_workspace(c, quantise_workspace(plan), WORD, "how far parts of A reach, f32, from pass to pass");
    add_passes(c, 2, "0: finds how far A reaches; 1: quantises");
}

void quantise_contract(const void *data, mc_contract *c) {
    const quantise_plan *plan = data;
    mc_batch_array arrays[QUANTISE_BATCH_ARRAYS];
    add_params(plan, c);
    add_constraint(c, (mc_constraint){"lda", plan->in_bits < 8 ? 2 : 0,
                                      INT32_MAX / quantise_piece_bytes(plan->in_bits), ROWS_FIT});
    c->grid[0] = (mc_grid_axis){"m", plan->tile};
    c->grid[1] = c->grid[2] = (mc_grid_axis){NULL, 1};
    if (plan->share != MC_OPEN) c->grid[1] = (mc_grid_axis){"n", plan->share};
    if (plan->cluster > 1) {
        c->grid[1] = (mc_grid_axis){NULL, plan->cluster};
        c->cluster[0] = c->cluster[2] = 1, c->cluster[1] = (unsigned)plan->cluster;
    }
    if (!plan->by_token) c->grid[1] = (mc_grid_axis){"n", (int64_t)plan->hold * plan->step};
    c->block[0] = (unsigned)(MC_WARP * plan->warps), c->block[1] = c->block[2] = 1;
    c->overlap = plan->overlap;
    c->shared_static = plan->shared_static, c->shared_dynamic = plan->shared_dynamic;
    quantise_list_batch(plan, arrays);
    if (plan->batch) batch_contract(c, arrays, QUANTISE_BATCH_ARRAYS);
}

void quantise_facts(const void *data, mc_facts *facts) {
    const quantise_plan *plan = data;
    int held = plan->hold + plan->keep;
    add_fact(facts, "tile_rows", plan->tile, "of A, a thread block");
    add_fact(facts, "tile_columns", (int64_t)plan->step * held,
             plan->by_token ? "of A that stay on the chip" : "of A, a thread block");
    if (plan->cluster > 1)
        add_fact(facts, "cluster", plan->cluster, "thread blocks, each with a part of the columns");
    add_fact(facts, "threads", MC_WARP * plan->warps, "a thread block");
    add_fact(facts, "loads", (int64_t)plan->hold * plan->rows, "of 16 bytes that a thread has in flight");
    add_fact(facts, "shared_bytes", plan->shared_static + plan->shared_dynamic, "a thread block");
    add_fact(facts, "wide_path", plan->wide, "loads of 16 bytes");
    add_fact(facts, "edge_path", plan->edge, "an element at a time");
}

const char *quantise_computes(const void *data) {
    static const char *const texts[] = {
        "C = A[m,n] with other elements: C = round(A * (1 / scale)), integers.",
        "C = A[m,n] with other elements: C = round(A * (1 / scale)) + zero point, integers.",
        "C = A[m,n] with other elements: C = f32(A) * scale, rounded to C's type.",
        "C = A[m,n], with elements as they are."};
    const quantise_plan *plan = data;
    return texts[plan->moves ? 3 : plan->real ? 2 : plan->zero];
}

void quantise_entry_name(const void *data, char name[MC_MAX_ENTRY]) {
    static const char *const ins[] = {"f16", "bf16", "f32", "s32", "s8", "s16", "s4"};
    static const char *const outs[] = {"s8", "u8", "s4", "u4", "f16", "bf16", "f32", "s16", "s32"};
    const quantise_plan *plan = data;
    const char *source = plan->moves      ? "moved"
                         : plan->reaches  ? "tensor"
                         : plan->computed ? "computed"
                                          : "given";
    int length = snprintf(name, MC_MAX_ENTRY, "quantise_%s_%s_%s%s%s_t%d_w%d_h%d", ins[plan->in],
                          outs[plan->out], source, plan->turned ? "" : "_rows",
                          plan->by_addition ? "_add" : "", plan->tile, plan->warps, plan->hold);
    if (!plan->by_token) return;
    length += snprintf(name + length, MC_MAX_ENTRY - (size_t)length, "_k%d_x%d", plan->keep, plan->words);
    if (plan->cluster > 1) snprintf(name + length, MC_MAX_ENTRY - (size_t)length, "_c%d", plan->cluster);
}
