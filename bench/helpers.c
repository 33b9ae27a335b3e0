#include <string.h>
#include "helpers.h"
#include "helpers_ptx.h"

enum { THREADS = 256, REFERENCE_COLUMNS = 128, WARP = 32 };

double type_rounding(mc_type type) {
    return type == MC_F16 ? 0x1p-11 : type == MC_BF16 ? 0x1p-8 : type == MC_F32 ? 0x1p-24 : 0;
}

typedef enum helper {
    NO_HELPER,
    FILL_S8,
    FILL_F16,
    FILL_BF16,
    FILL_E4M3,
    REFERENCE_S8,
    REFERENCE_F16,
    REFERENCE_BF16,
    REFERENCE_E4M3,
    COMPARE_F16,
    COMPARE_BF16,
    COMPARE_S32,
    COMPARE_F32,
    COMPARE_S8,
    COMPARE_U8,
    WITHIN_F16,
    WITHIN_BF16,
    WITHIN_F32,
    WITHIN_S8,
    WITHIN_U8,
    OUTPUT_F16,
    OUTPUT_BF16,
    OUTPUT_F32,
    SAMPLED_S32,
    SAMPLED_F32,
    SAMPLED_OUTPUT_F16,
    SAMPLED_OUTPUT_BF16,
    SAMPLED_OUTPUT_F32,
    HELPERS,
} helper;
_Static_assert(HELPERS == (helper)HELPER_COUNT, "a module for each helper");

static const struct {
    const char *entry, *ptx;
} kernels[HELPER_COUNT] = {
    [FILL_S8] = {"fill_s8", HEADER FILL("fill_s8", "")},
    [FILL_F16] = {"fill_f16", HEADER FILL("fill_f16", HALVES("f16"))},
    [FILL_BF16] = {"fill_bf16", HEADER FILL("fill_bf16", HALVES("bf16"))},
    [FILL_E4M3] = {"fill_e4m3", HEADER FILL("fill_e4m3", SMALL_E4M3)},
    [REFERENCE_S8] = {"reference_s8", HEADER REFERENCE("reference_s8", "1", LOAD_S8, STORE_S32)},
    [REFERENCE_F16] = {"reference_f16", HEADER REFERENCE("reference_f16", "2", LOAD_F16, STORE_F32)},
    [REFERENCE_BF16] = {"reference_bf16", HEADER REFERENCE("reference_bf16", "2", LOAD_BF16, STORE_F32)},
    [REFERENCE_E4M3] = {"reference_e4m3", HEADER REFERENCE("reference_e4m3", "1", LOAD_E4M3, STORE_F32)},
    [COMPARE_F16] = {"compare_f16", HEADER COMPARE("compare_f16", "2", NEAR(LOAD_F16))},
    [COMPARE_BF16] = {"compare_bf16", HEADER COMPARE("compare_bf16", "2", NEAR(LOAD_BF16))},
    [COMPARE_S32] = {"compare_s32", HEADER COMPARE("compare_s32", "4", EQUAL)},
    [COMPARE_F32] = {"compare_f32", HEADER COMPARE("compare_f32", "4", NEAR(LOAD_F32))},
    [COMPARE_S8] = {"compare_s8", HEADER COMPARE("compare_s8", "1", NEAR(LOAD_S8))},
    [COMPARE_U8] = {"compare_u8", HEADER COMPARE("compare_u8", "1", NEAR(LOAD_U8))},
    [WITHIN_F16] = {"within_f16", HEADER WITHIN("within_f16", "2", LOAD_F16)},
    [WITHIN_BF16] = {"within_bf16", HEADER WITHIN("within_bf16", "2", LOAD_BF16)},
    [WITHIN_F32] = {"within_f32", HEADER WITHIN("within_f32", "4", LOAD_F32)},
    [WITHIN_S8] = {"within_s8", HEADER WITHIN("within_s8", "1", LOAD_S8)},
    [WITHIN_U8] = {"within_u8", HEADER WITHIN("within_u8", "1", LOAD_U8)},
    [OUTPUT_F16] = {"output_f16", HEADER OUTPUT("output_f16", ROUND_F16)},
    [OUTPUT_BF16] = {"output_bf16", HEADER OUTPUT("output_bf16", ROUND_BF16)},
    [OUTPUT_F32] = {"output_f32", HEADER OUTPUT("output_f32", "")},
    [SAMPLED_S32] = {"sampled_sums", HEADER SAMPLED_SUMS("sampled_sums", "mad.lo.s32", "add.s32")},
    [SAMPLED_F32] = {"sampled_reals", HEADER SAMPLED_SUMS("sampled_reals", "fma.rn.f32", "add.rn.f32")},
    [SAMPLED_OUTPUT_F16] = {"sampled_f16", HEADER SAMPLED_OUTPUT("sampled_f16", ROUND_F16)},
    [SAMPLED_OUTPUT_BF16] = {"sampled_bf16", HEADER SAMPLED_OUTPUT("sampled_bf16", ROUND_BF16)},
    [SAMPLED_OUTPUT_F32] = {"sampled_f32", HEADER SAMPLED_OUTPUT("sampled_f32", "")},
};

/* What there is for each type. */
static const struct {
    helper fill, reference, compare, within, output, sampled_sums, sampled_output;
} types[MC_TYPE_COUNT] = {
    [MC_S8] = {.fill = FILL_S8, .reference = REFERENCE_S8, .compare = COMPARE_S8, .within = WITHIN_S8},
    [MC_E4M3] = {.fill = FILL_E4M3, .reference = REFERENCE_E4M3},
    [MC_U8] = {.compare = COMPARE_U8, .within = WITHIN_U8},
    [MC_S32] = {.compare = COMPARE_S32, .sampled_sums = SAMPLED_S32},
    [MC_F16] = {.fill = FILL_F16,
                .reference = REFERENCE_F16,
                .compare = COMPARE_F16,
                .within = WITHIN_F16,
                .output = OUTPUT_F16,
                .sampled_output = SAMPLED_OUTPUT_F16},
    [MC_BF16] = {.fill = FILL_BF16,
                 .reference = REFERENCE_BF16,
                 .compare = COMPARE_BF16,
                 .within = WITHIN_BF16,
                 .output = OUTPUT_BF16,
                 .sampled_output = SAMPLED_OUTPUT_BF16},
    [MC_F32] = {.compare = COMPARE_F32,
                .within = WITHIN_F32,
                .output = OUTPUT_F32,
                .sampled_sums = SAMPLED_F32,
                .sampled_output = SAMPLED_OUTPUT_F32},
};

bool helpers_compare_type(mc_type type) { return types[type].compare != NO_HELPER; }

/* -- Launches ----------------------------------------------------------------------------------------- */

mc_status helpers_open(helpers *h, mc_device *device, mc_diag *diag) {
    *h = (helpers){.device = device};
    mc_status status = mc_device_alloc(device, sizeof(uint32_t), &h->counter, diag);
    for (int i = NO_HELPER + 1; i < HELPER_COUNT && status == MC_OK; i++)
        status = mc_module_load(device, kernels[i].ptx, kernels[i].entry, &h->modules[i], diag);
    return status;
}

void helpers_close(helpers *h) {
    for (int i = NO_HELPER + 1; i < HELPER_COUNT; i++) mc_module_unload(h->modules[i]);
    if (h->device != NULL) mc_device_free(h->device, h->counter);
    *h = (helpers){0};
}

static uint64_t float_bits(double value) {
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    return bits;
}

static mc_status launch_helper(helpers *h, helper which, const mc_launch *launch, mc_diag *diag) {
    if (which == NO_HELPER) return mc_fail(diag, MC_CANNOT, "the bench has no kernel for this type");
    return mc_module_launch(h->modules[which], launch, diag);
}

/* One thread an element. */
static mc_status launch_flat(helpers *h, helper which, uint64_t elements, mc_launch launch, mc_diag *diag) {
    if (elements == 0) return MC_OK;
    launch.grid[0] = (unsigned)((elements + THREADS - 1) / THREADS);
    launch.grid[1] = launch.grid[2] = 1;
    launch.block[0] = THREADS;
    launch.block[1] = launch.block[2] = 1;
    return launch_helper(h, which, &launch, diag);
}

mc_status helpers_fill(helpers *h, mc_type type, uint64_t address, uint64_t count, uint32_t seed,
                       mc_diag *diag) {
    uint64_t words = (count * mc_type_bytes(type) + 3) / 4;
    return launch_flat(h, types[type].fill, words, (mc_launch){.values = {address, words, seed}, .count = 3},
                       diag);
}

mc_status helpers_reference(helpers *h, mc_type type, const dense_product *p, mc_diag *diag) {
    unsigned groups = (unsigned)((p->n + REFERENCE_COLUMNS - 1) / REFERENCE_COLUMNS);
    mc_launch launch = {.grid = {(unsigned)p->m, groups, 1},
                        .block = {REFERENCE_COLUMNS, 1, 1},
                        .values = {p->a, p->b, p->c, (uint64_t)p->n, (uint64_t)p->k, (uint64_t)p->lda,
                                   (uint64_t)p->b_k, (uint64_t)p->b_n},
                        .count = 8};
    return launch_helper(h, types[type].reference, &launch, diag);
}

mc_status helpers_output(helpers *h, mc_type type, uint64_t sums, uint64_t out, int64_t rows, int64_t cols,
                         const output_rule *rule, mc_diag *diag) {
    uint64_t count = (uint64_t)(rows * cols);
    mc_launch launch = {.values = {sums, out, count, (uint64_t)cols, rule->scale, rule->scale_row,
                                   rule->scale_col, rule->bias, rule->bias_row, rule->bias_col,
                                   float_bits((double)rule->least)},
                        .count = 11};
    return launch_flat(h, types[type].output, count, launch, diag);
}

mc_status helpers_sampled_sums(helpers *h, mc_type type, const sampled_list *list, uint64_t a, uint64_t b,
                               int64_t k, uint64_t sums, mc_diag *diag) {
    uint64_t lanes = (uint64_t)list->count * (uint64_t)list->vec * WARP;
    mc_launch launch = {.values = {list->slots, lanes, (uint64_t)list->vec, a, b, (uint64_t)k, sums},
                        .count = 7};
    return launch_flat(h, types[type].sampled_sums, lanes, launch, diag);
}

mc_status helpers_sampled_output(helpers *h, mc_type type, const sampled_list *list, uint64_t sums,
                                 uint64_t out, const output_rule *rule, mc_diag *diag) {
    uint64_t elements = (uint64_t)list->count * (uint64_t)list->vec;
    mc_launch launch = {.values = {list->slots, elements, (uint64_t)list->vec, sums, out, rule->scale,
                                   rule->scale_row, rule->scale_col, list->values,
                                   list->weighted ? sizeof(float) : 0},
                        .count = 10};
    return launch_flat(h, types[type].sampled_output, elements, launch, diag);
}

/* Counts the elements that LAUNCH, of WHICH, finds wrong. */
static mc_status count_wrong(helpers *h, helper which, uint64_t count, mc_launch launch, uint64_t *wrong,
                             mc_diag *diag) {
    uint32_t counted = 0;
    launch.values[launch.count++] = h->counter;
    mc_status status = mc_device_fill(h->device, h->counter, 0, sizeof counted, diag);
    if (status == MC_OK) status = launch_flat(h, which, count, launch, diag);
    if (status == MC_OK) status = mc_device_read(h->device, h->counter, &counted, sizeof counted, diag);
    *wrong = counted;
    return status;
}

mc_status helpers_compare(helpers *h, mc_type type, uint64_t got, uint64_t want, uint64_t count,
                          tolerance allowed, uint64_t *wrong, mc_diag *diag) {
    const mc_launch launch = {
        .values = {got, want, count, float_bits(allowed.rel), float_bits(allowed.floor)}, .count = 5};
    return count_wrong(h, types[type].compare, count, launch, wrong, diag);
}

mc_status helpers_within(helpers *h, mc_type type, uint64_t got, uint64_t least, uint64_t most,
                         uint64_t count, uint64_t *wrong, mc_diag *diag) {
    const mc_launch launch = {.values = {got, least, most, count}, .count = 4};
    return count_wrong(h, types[type].within, count, launch, wrong, diag);
}
