#include <math.h>
#include <string.h>
#include "helpers.h"
#include "helpers_fill_ptx.h"
#include "helpers_product_ptx.h"

enum { THREADS = 256, REFERENCE_TILE = 64, WARP = 32 };

double type_rounding(mc_type type) {
    return type == MC_F16 ? 0x1p-11 : type == MC_BF16 ? 0x1p-8 : type == MC_F32 ? 0x1p-24 : 0;
}

typedef enum helper {
    NO_HELPER,
    FILL_S8,
    FILL_F16,
    FILL_BF16,
    FILL_TF32,
    FILL_F32,
    FILL_SMALL,
    NORMAL_S8,
    NORMAL_U8,
    NORMAL_F16,
    NORMAL_BF16,
    NORMAL_TF32,
    NORMAL_F32,
    NORMAL_E4M3,
    NORMAL_E5M2,
    MASK_1,
    MASK_2,
    REFERENCE_S8,
    REFERENCE_U8,
    REFERENCE_S8_U8,
    REFERENCE_U8_S8,
    REFERENCE_F16,
    REFERENCE_BF16,
    REFERENCE_TF32,
    REFERENCE_E4M3,
    REFERENCE_E5M2,
    REFERENCE_E4M3_E5M2,
    REFERENCE_E5M2_E4M3,
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
    OUTPUT_S8,
    OUTPUT_REALS,
    SAMPLED_S32,
    SAMPLED_F32,
    SAMPLED_OUTPUT_F16,
    SAMPLED_OUTPUT_BF16,
    SAMPLED_OUTPUT_F32,
    HELPERS,
} helper;
_Static_assert(HELPERS == (helper)HELPER_COUNT, "a module for each helper");

#define PRODUCT(name, bytes, load)          HEADER REFERENCE_REALS(name, bytes, load, bytes, load)
#define PRODUCT_BYTES(name, load_a, load_b) HEADER REFERENCE_BYTES(name, load_a, load_b)

static const struct {
    const char *entry, *ptx;
} kernels[HELPER_COUNT] = {
    [FILL_S8] = {"fill_s8", HEADER FILL("fill_s8", "")},
    [FILL_F16] = {"fill_f16", HEADER FILL("fill_f16", HALVES("f16"))},
    [FILL_BF16] = {"fill_bf16", HEADER FILL("fill_bf16", HALVES("bf16"))},
    [FILL_TF32] = {"fill_tf32", HEADER FILL("fill_tf32", UNIFORM_TF32)},
    [FILL_F32] = {"fill_f32", HEADER FILL("fill_f32", UNIFORM_F32)},
    [FILL_SMALL] = {"fill_small", HEADER FILL("fill_small", SMALL_BYTES)},
    [NORMAL_S8] = {"normal_s8", HEADER FILL_NORMAL("normal_s8", "1", PUT_S8)},
    [NORMAL_U8] = {"normal_u8", HEADER FILL_NORMAL("normal_u8", "1", PUT_U8)},
    [NORMAL_F16] = {"normal_f16", HEADER FILL_NORMAL("normal_f16", "2", PUT_F16)},
    [NORMAL_BF16] = {"normal_bf16", HEADER FILL_NORMAL("normal_bf16", "2", PUT_BF16)},
    [NORMAL_TF32] = {"normal_tf32", HEADER FILL_NORMAL("normal_tf32", "4", PUT_TF32)},
    [NORMAL_F32] = {"normal_f32", HEADER FILL_NORMAL("normal_f32", "4", PUT_F32)},
    [NORMAL_E4M3] = {"normal_e4m3", HEADER FILL_NORMAL("normal_e4m3", "1", PUT_E4M3)},
    [NORMAL_E5M2] = {"normal_e5m2", HEADER FILL_NORMAL("normal_e5m2", "1", PUT_E5M2)},
    [MASK_1] = {"mask24_1", HEADER MASK24("mask24_1", "4", "b8", "1", "2", "3")},
    [MASK_2] = {"mask24_2", HEADER MASK24("mask24_2", "8", "b16", "2", "4", "6")},
    [REFERENCE_S8] = {"reference_s8", PRODUCT_BYTES("reference_s8", LOAD_OWN_S8, LOAD_OWN_S8)},
    [REFERENCE_U8] = {"reference_u8", PRODUCT_BYTES("reference_u8", LOAD_OWN_U8, LOAD_OWN_U8)},
    [REFERENCE_S8_U8] = {"reference_s8u8", PRODUCT_BYTES("reference_s8u8", LOAD_OWN_S8, LOAD_OWN_U8)},
    [REFERENCE_U8_S8] = {"reference_u8s8", PRODUCT_BYTES("reference_u8s8", LOAD_OWN_U8, LOAD_OWN_S8)},
    [REFERENCE_F16] = {"reference_f16", PRODUCT("reference_f16", "2", LOAD_F16)},
    [REFERENCE_BF16] = {"reference_bf16", PRODUCT("reference_bf16", "2", LOAD_BF16)},
    [REFERENCE_TF32] = {"reference_tf32", PRODUCT("reference_tf32", "4", LOAD_F32)},
    [REFERENCE_E4M3] = {"reference_e4m3", PRODUCT("reference_e4m3", "1", LOAD_E4M3)},
    [REFERENCE_E5M2] = {"reference_e5m2", PRODUCT("reference_e5m2", "1", LOAD_E5M2)},
    [REFERENCE_E4M3_E5M2] = {"reference_e4m3e5m2",
                             HEADER REFERENCE_REALS("reference_e4m3e5m2", "1", LOAD_E4M3, "1", LOAD_E5M2)},
    [REFERENCE_E5M2_E4M3] = {"reference_e5m2e4m3",
                             HEADER REFERENCE_REALS("reference_e5m2e4m3", "1", LOAD_E5M2, "1", LOAD_E4M3)},
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
    [OUTPUT_F16] = {"output_f16", HEADER OUTPUT("output_f16", OF_S32, ROUND_F16)},
    [OUTPUT_BF16] = {"output_bf16", HEADER OUTPUT("output_bf16", OF_S32, ROUND_BF16)},
    [OUTPUT_F32] = {"output_f32", HEADER OUTPUT("output_f32", OF_S32, "")},
    [OUTPUT_S8] = {"output_s8", HEADER OUTPUT("output_s8", OF_S32, ROUND_S8)},
    [OUTPUT_REALS] = {"output_reals", HEADER OUTPUT("output_reals", OF_F32, "")},
    [SAMPLED_S32] = {"sampled_sums", HEADER SAMPLED_SUMS("sampled_sums", "mad.lo.s32", "add.s32")},
    [SAMPLED_F32] = {"sampled_reals", HEADER SAMPLED_SUMS("sampled_reals", "fma.rn.f32", "add.rn.f32")},
    [SAMPLED_OUTPUT_F16] = {"sampled_f16", HEADER SAMPLED_OUTPUT("sampled_f16", ROUND_F16)},
    [SAMPLED_OUTPUT_BF16] = {"sampled_bf16", HEADER SAMPLED_OUTPUT("sampled_bf16", ROUND_BF16)},
    [SAMPLED_OUTPUT_F32] = {"sampled_f32", HEADER SAMPLED_OUTPUT("sampled_f32", "")},
};

/* What there is for each type. `deviation` is that of normal values. */
static const struct {
    helper fill, normal, mask, compare, within, output, sampled_sums, sampled_output;
    float deviation;
} types[MC_TYPE_COUNT] = {
    [MC_S8] = {.fill = FILL_S8,
               .normal = NORMAL_S8,
               .mask = MASK_1,
               .compare = COMPARE_S8,
               .within = WITHIN_S8,
               .output = OUTPUT_S8,
               .deviation = 32},
    [MC_U8] = {.fill = FILL_S8,
               .normal = NORMAL_U8,
               .mask = MASK_1,
               .compare = COMPARE_U8,
               .within = WITHIN_U8,
               .deviation = 32},
    [MC_E4M3] = {.fill = FILL_SMALL, .normal = NORMAL_E4M3, .mask = MASK_1, .deviation = 1},
    [MC_E5M2] = {.fill = FILL_SMALL, .normal = NORMAL_E5M2, .mask = MASK_1, .deviation = 1},
    [MC_S32] = {.compare = COMPARE_S32, .sampled_sums = SAMPLED_S32},
    [MC_F16] = {.fill = FILL_F16,
                .normal = NORMAL_F16,
                .mask = MASK_2,
                .compare = COMPARE_F16,
                .within = WITHIN_F16,
                .output = OUTPUT_F16,
                .sampled_output = SAMPLED_OUTPUT_F16,
                .deviation = 1},
    [MC_BF16] = {.fill = FILL_BF16,
                 .normal = NORMAL_BF16,
                 .mask = MASK_2,
                 .compare = COMPARE_BF16,
                 .within = WITHIN_BF16,
                 .output = OUTPUT_BF16,
                 .sampled_output = SAMPLED_OUTPUT_BF16,
                 .deviation = 1},
    [MC_TF32] = {.fill = FILL_TF32, .normal = NORMAL_TF32, .deviation = 1},
    [MC_TF32RZ] = {.fill = FILL_TF32, .normal = NORMAL_TF32, .deviation = 1},
    [MC_F32] = {.fill = FILL_F32,
                .normal = NORMAL_F32,
                .compare = COMPARE_F32,
                .within = WITHIN_F32,
                .output = OUTPUT_F32,
                .sampled_sums = SAMPLED_F32,
                .sampled_output = SAMPLED_OUTPUT_F32,
                .deviation = 1},
};

/* Which plain product there is of two types. */
static const struct {
    mc_type a, b;
    helper reference;
} products[] = {{MC_S8, MC_S8, REFERENCE_S8},           {MC_U8, MC_U8, REFERENCE_U8},
                {MC_S8, MC_U8, REFERENCE_S8_U8},        {MC_U8, MC_S8, REFERENCE_U8_S8},
                {MC_F16, MC_F16, REFERENCE_F16},        {MC_BF16, MC_BF16, REFERENCE_BF16},
                {MC_TF32, MC_TF32, REFERENCE_TF32},     {MC_TF32RZ, MC_TF32RZ, REFERENCE_TF32},
                {MC_F32, MC_F32, REFERENCE_TF32},       {MC_E4M3, MC_E4M3, REFERENCE_E4M3},
                {MC_E5M2, MC_E5M2, REFERENCE_E5M2},     {MC_E4M3, MC_E5M2, REFERENCE_E4M3_E5M2},
                {MC_E5M2, MC_E4M3, REFERENCE_E5M2_E4M3}};

bool helpers_compare_type(mc_type type) { return types[type].compare != NO_HELPER; }

/* -- Launches ----------------------------------------------------------------------------------------- */

mc_status helpers_open(helpers *h, mc_device *device, mc_diag *diag) {
    *h = (helpers){.device = device};
    return mc_device_alloc(device, sizeof(uint32_t), &h->counter, diag);
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

/* A kernel is loaded when it is first launched. */
static mc_status launch_helper(helpers *h, helper which, const mc_launch *launch, mc_diag *diag) {
    if (which == NO_HELPER) return mc_fail(diag, MC_CANNOT, "the bench has no kernel for this type");
    mc_status status = MC_OK;
    if (h->modules[which] == NULL)
        status =
            mc_module_load(h->device, kernels[which].ptx, kernels[which].entry, &h->modules[which], diag);
    return status == MC_OK ? mc_module_launch(h->modules[which], launch, diag) : status;
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

mc_status helpers_fill(helpers *h, mc_type type, fill_law law, uint64_t address, uint64_t count,
                       uint32_t seed, mc_diag *diag) {
    uint64_t words = (count * mc_type_bytes(type) + 3) / 4;
    if (law == FILL_UNIFORM)
        return launch_flat(h, types[type].fill, words,
                           (mc_launch){.values = {address, words, seed}, .count = 3}, diag);
    uint64_t scale = float_bits((double)types[type].deviation);
    return launch_flat(h, types[type].normal, count,
                       (mc_launch){.values = {address, count, seed, scale}, .count = 4}, diag);
}

double helpers_deviation(mc_type type, fill_law law) {
    if (law == FILL_NORMAL_VALUES) return (double)types[type].deviation;
    double uniform = sqrt(1.0 / 3);
    return type == MC_S8 ? 128 * uniform : type == MC_U8 ? 256 * uniform : uniform;
}

mc_status helpers_mask24(helpers *h, mc_type type, uint64_t address, uint64_t count, uint32_t seed,
                         mc_diag *diag) {
    return launch_flat(h, types[type].mask, count / 4,
                       (mc_launch){.values = {address, count / 4, seed}, .count = 3}, diag);
}

mc_status helpers_reference(helpers *h, mc_type a, mc_type b, const dense_product *p, mc_diag *diag) {
    enum { COUNT = sizeof products / sizeof *products, TILE = REFERENCE_TILE };
    size_t i = 0;
    while (i < COUNT && (products[i].a != a || products[i].b != b)) i++;
    mc_launch launch = {
        .grid = {(unsigned)((p->m + TILE - 1) / TILE), (unsigned)((p->n + TILE - 1) / TILE), 1},
        .block = {THREADS, 1, 1},
        .values = {p->a, p->b, p->c, (uint64_t)p->m, (uint64_t)p->n, (uint64_t)p->k, (uint64_t)p->lda,
                   (uint64_t)p->b_k, (uint64_t)p->b_n},
        .count = 9};
    if (i == COUNT)
        return mc_fail(diag, MC_CANNOT, "the bench has no plain product of %s by %s", mc_type_text(a),
                       mc_type_text(b));
    return launch_helper(h, products[i].reference, &launch, diag);
}

static mc_launch output_launch(uint64_t sums, uint64_t out, int64_t rows, int64_t cols,
                               const output_rule *rule) {
    return (mc_launch){.values = {sums, out, (uint64_t)(rows * cols), (uint64_t)cols, rule->scale,
                                  rule->scale_row, rule->scale_col, rule->bias, rule->bias_row,
                                  rule->bias_col, float_bits((double)rule->least)},
                       .count = 11};
}

mc_status helpers_output(helpers *h, mc_type type, uint64_t sums, uint64_t out, int64_t rows, int64_t cols,
                         const output_rule *rule, mc_diag *diag) {
    const mc_launch launch = output_launch(sums, out, rows, cols, rule);
    return launch_flat(h, types[type].output, (uint64_t)(rows * cols), launch, diag);
}

mc_status helpers_output_reals(helpers *h, uint64_t sums, uint64_t out, int64_t rows, int64_t cols,
                               const output_rule *rule, mc_diag *diag) {
    const mc_launch launch = output_launch(sums, out, rows, cols, rule);
    return launch_flat(h, OUTPUT_REALS, (uint64_t)(rows * cols), launch, diag);
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

mc_status helpers_compare(helpers *h, mc_type type, const compared *c, tolerance allowed, uint64_t *wrong,
                          mc_diag *diag) {
    uint64_t cols = c->cols > 0 ? c->cols : c->count > 0 ? c->count : 1;
    const mc_launch launch = {.values = {c->got, c->want, c->count, cols, c->cols > 0 ? c->ld : cols,
                                         float_bits(allowed.rel), float_bits(allowed.floor)},
                              .count = 7};
    return count_wrong(h, types[type].compare, c->count, launch, wrong, diag);
}

mc_status helpers_within(helpers *h, mc_type type, uint64_t got, uint64_t least, uint64_t most,
                         uint64_t count, uint64_t *wrong, mc_diag *diag) {
    const mc_launch launch = {.values = {got, least, most, count}, .count = 4};
    return count_wrong(h, types[type].within, count, launch, wrong, diag);
}
