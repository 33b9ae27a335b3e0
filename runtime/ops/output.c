/* What becomes of the sums of an SpMM or an SDDMM: the CPU reference of the kernels' last step, and scales
   and biases to try it with. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "ops/reference.h"
#include "base/element.h"
#include "matrix/random.h"
#include "base/real.h"

/* -- What a kernel does ------------------------------------------------------------------------------- */

/* In the order of the enums. */
static const char *const per_names[] = {"none", "tensor", "row", "column", NULL}, *const activation_names[] =
                                                                                      {"none", "relu", NULL};

/* The place of FIELD's value in NAMES; 0 where KERNEL has no such field. */
static mc_status name_of(const mc_kernel *kernel, const char *field, const char *const names[], int *place,
                         mc_diag *diag) {
    const char *text = mc_kernel_field_text(kernel, field);
    *place = 0;
    if (text == NULL) return MC_OK;
    while (names[*place] && strcmp(text, names[*place]) != 0) ++*place;
    return names[*place] ? MC_OK : mc_fail(diag, MC_CANNOT, "%s = %s is not known here", field, text);
}

mc_status mc_output_of(const mc_kernel *kernel, mc_output *output, mc_diag *diag) {
    int scale = 0, bias = 0, activation = 0;
    *output = (mc_output){.type = MC_S32};
    mc_status status = mc_type_of(kernel, "out", &output->type, diag);
    if (status == MC_OK) status = name_of(kernel, "scale", per_names, &scale, diag);
    if (status == MC_OK) status = name_of(kernel, "bias", per_names, &bias, diag);
    if (status == MC_OK) status = name_of(kernel, "act", activation_names, &activation, diag);
    if (status != MC_OK) return status;
    output->scale = (mc_per)scale;
    output->bias = (mc_per)bias;
    output->activation = (mc_activation)activation;
    const char *sum = mc_kernel_field_text(kernel, "sum");
    output->exact = sum != NULL && strcmp(sum, "exact") == 0;
    const char *mask = mc_kernel_field_text(kernel, "mask");
    output->masked = mask != NULL && strcmp(mask, "values") == 0;
    return MC_OK;
}

int64_t mc_per_count(mc_per per, int64_t rows, int64_t cols) {
    const int64_t counts[] = {0, 1, rows, cols};
    return counts[per];
}

/* -- Random scales and biases ------------------------------------------------------------------------- */

/* +-[1, 2) * 2^e with e from LEAST to MOST; one in ZEROS (0: none) is 0. */
typedef struct real_law {
    int least, most;
    unsigned zeros;
} real_law;

static void fill_reals(float *values, int64_t count, real_law law, uint64_t seed) {
    mcrt_random random = random_start(seed, 0);
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits = random_next(&random);
        int exponent = law.least + (int)(bits % (uint64_t)(law.most - law.least + 1));
        float fraction = 1 + (float)(bits >> 41) * 0x1p-23f;
        bool zero = law.zeros && (bits >> 20) % law.zeros == 0;
        values[i] = zero ? 0 : ldexpf(bits >> 40 & 1 ? -fraction : fraction, exponent);
    }
}

static void fill_factors(float *values, int64_t count, const real_law laws[2], mc_value_law law,
                         uint64_t seed) {
    if (law != MC_VALUES_ONES) fill_reals(values, count, laws[law == MC_VALUES_EXTREME], seed);
    for (int64_t i = 0; law == MC_VALUES_ONES && i < count; i++) values[i] = 1;
}

void mc_scale_fill(float *scale, int64_t count, mc_value_law law, uint64_t seed) {
    static const real_law laws[2] = {{-16, -9, 0}, {-44, 4, 16}};
    fill_factors(scale, count, laws, law, seed);
}

void mc_bias_fill(float *bias, int64_t count, mc_value_law law, uint64_t seed) {
    static const real_law laws[2] = {{-3, 6, 0}, {-30, 17, 16}};
    fill_factors(bias, count, laws, law, seed);
}

/* -- Reference ---------------------------------------------------------------------------------------- */

/* That of mc_per_count FACTORS that is for C[i][j]; NULL: there is none. */
static const float *factor(mc_per per, const float *factors, int64_t i, int64_t j) {
    if (per == MC_PER_NONE) return NULL;
    return &factors[per == MC_PER_ROW ? i : per == MC_PER_COLUMN ? j : 0];
}

/* +0 for -0, as max.NaN.f32 with +0 has it; a NaN stays one. */
static float relu(float x) { return x > 0 || isnan(x) ? x : 0; }

/* REAL as an element of TYPE. Integers are the nearest ones, cut off at the type's ends, and 0 for a NaN, as
   cvt.rni.sat has it. */
static int64_t element_of(mc_type type, float real) {
    if (mc_type_is_real(type)) return real_to_bits(type, real);
    if (isnan(real)) return 0;
    float least = (float)mc_type_min(type), most = (float)mc_type_max(type);
    return (int64_t)fminf(fmaxf(rintf(real), least), most);
}

/* An element of the reference's sums, of TYPE, becomes an element of C before it is rounded: one
   multiplication that rounds, or one fma with BIAS; then the activation. What is NULL is left out. */
static float finish(const mc_output *o, mc_type type, int64_t sum, const float *scale, const float *bias) {
    float real = arithmetic_of(type)->real_of_sum(sum, o->exact);
    if (scale) real = bias ? fmaf(real, *scale, *bias) : real * *scale;
    else if (bias) real += *bias;
    return o->activation == MC_ACTIVATION_RELU ? relu(real) : real;
}

/* OF: the arithmetic of the sums. */
static mc_status check_output(const arithmetic *of, const mc_output *output, mc_diag *diag) {
    bool real = !of->holds_sums(output->type), scale = output->scale != MC_PER_NONE;
    if ((real && of->scaled && !scale) || (!real && (scale || output->bias != MC_PER_NONE)))
        return mc_fail(diag, MC_USAGE, "C of %s %s", mc_type_text(output->type),
                       real ? "wants a scale" : "takes no scale and no bias");
    if (!real && output->activation != MC_ACTIVATION_NONE)
        return mc_fail(diag, MC_USAGE, "C of %s takes no activation", mc_type_text(output->type));
    if (!real && output->masked)
        return mc_fail(diag, MC_USAGE, "C of %s is not multiplied by the mask", mc_type_text(output->type));
    if (output->type == MC_S64 && !output->exact) return mc_fail(diag, MC_USAGE, "C of s64 wants exact sums");
    return MC_OK;
}

/* Integers as they are, modulo C's type. */
static void copy_sums(const mc_dense *sums, mc_dense *c) {
    for (int64_t i = 0; i < c->rows; i++)
        for (int64_t j = 0; j < c->cols; j++) mc_dense_set(c, i, j, mc_dense_get(sums, i, j));
}

static void convert(const mc_output *o, const float *scale, const float *bias, const mc_dense *sums,
                    mc_dense *c) {
    for (int64_t i = 0; i < c->rows; i++)
        for (int64_t j = 0; j < c->cols; j++) {
            float real = finish(o, sums->type, mc_dense_get(sums, i, j), factor(o->scale, scale, i, j),
                                factor(o->bias, bias, i, j));
            mc_dense_set(c, i, j, element_of(o->type, real));
        }
}

mc_status mc_reference_output(const mc_output *output, const float *scale, const float *bias,
                              const mc_dense *sums, mc_dense *c, mc_diag *diag) {
    *c = (mc_dense){0};
    const arithmetic *of = arithmetic_of(sums->type);
    mc_status status = check_output(of, output, diag);
    if (status == MC_OK) status = mc_dense_create(output->type, sums->rows, sums->cols, sums->cols, c, diag);
    if (status != MC_OK) return status;
    if (of->holds_sums(output->type)) copy_sums(sums, c);
    else convert(output, scale, bias, sums, c);
    return MC_OK;
}

/* -- Reference of sampled sums ------------------------------------------------------------------------ */

static float mask_value(const mc_vsparse *mask, int64_t vector, int row) {
    return real_from_bits(MC_F32, (uint32_t)mc_vsparse_value(mask, vector, row));
}

static void convert_block(const mc_output *o, const mc_vsparse *mask, int64_t block, const float *scale,
                          const mc_dense *sums, mc_dense *c) {
    for (int64_t v = mask->row_ptr[block]; v < mask->row_ptr[block + 1]; v++)
        for (int r = 0; r < mask->vec; r++) {
            const float *by = factor(o->scale, scale, block * mask->vec + r, mask->col_idx[v]);
            float real = finish(o, sums->type, mc_dense_get(sums, v, r), by, NULL);
            if (o->masked) real *= mask_value(mask, v, r);
            mc_dense_set(c, v, r, element_of(o->type, real));
        }
}

static mc_status check_sampled(const mc_output *output, const mc_vsparse *mask, const mc_dense *sums,
                               mc_diag *diag) {
    if (output->bias != MC_PER_NONE) return mc_fail(diag, MC_USAGE, "sampled sums take no bias");
    if (output->activation != MC_ACTIVATION_NONE)
        return mc_fail(diag, MC_USAGE, "sampled sums take no activation");
    if (output->masked && mask->type != MC_F32)
        return mc_fail(diag, MC_USAGE, "the mask's values are %s, C is multiplied by f32",
                       mc_type_text(mask->type));
    if (sums->rows != mask->vectors || sums->cols != mask->vec)
        return mc_fail(diag, MC_USAGE,
                       "the mask has %" PRId64 " vectors of %d elements, there are %" PRId64 " x %" PRId64
                       " sums",
                       mask->vectors, mask->vec, sums->rows, sums->cols);
    return check_output(arithmetic_of(sums->type), output, diag);
}

mc_status mc_reference_sampled(const mc_output *output, const mc_vsparse *mask, mc_order order,
                               const float *scale, const mc_dense *sums, mc_dense *c, mc_diag *diag) {
    mc_dense vectors = {0};
    *c = (mc_dense){0};
    mc_status status = check_sampled(output, mask, sums, diag);
    if (status == MC_OK)
        status = mc_dense_create(output->type, mask->vectors, mask->vec, mask->vec, &vectors, diag);
    if (status != MC_OK) return status;
    bool as_they_are = arithmetic_of(sums->type)->holds_sums(output->type);
    if (as_they_are) copy_sums(sums, &vectors);
    for (int64_t b = 0; !as_they_are && b < mask->row_blocks; b++)
        convert_block(output, mask, b, scale, sums, &vectors);
    status = mc_sampled_arrange(mask, order, &vectors, c, diag);
    mc_dense_free(&vectors);
    return status;
}
