/* What becomes of the sums of an SpMM or an SDDMM: the CPU reference of the kernels' last step, and scales
   and biases to try it with. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "mc_activation.h"
#include "ops/output.h"
#include "base/element.h"
#include "matrix/random.h"
#include "base/real.h"

/* -- What a kernel does ------------------------------------------------------------------------------- */

/* In the order of the enums. */
static const char *const per_names[] = {"none", "tensor", "row", "column", NULL};
#define NAME_OF(NAME, text) text,
static const char *const activation_names[] = {MC_ACTIVATION_LIST(NAME_OF) NULL};
#undef NAME_OF

/* The place of FIELD's value in NAMES; 0 where KERNEL has no such field. */
static mc_status name_of(const mc_kernel *kernel, const char *field, const char *const names[], int *place,
                         mc_diag *diag) {
    const char *text = mc_kernel_field_text(kernel, field);
    *place = 0;
    if (text == NULL) return MC_OK;
    while (names[*place] && strcmp(text, names[*place]) != 0) ++*place;
    return names[*place] ? MC_OK : mc_fail(diag, MC_CANNOT, "%s = %s is not known here", field, text);
}

static mc_status per_of(const mc_kernel *kernel, const char *field, mc_per *per, mc_diag *diag) {
    int place = 0;
    mc_status status = name_of(kernel, field, per_names, &place, diag);
    *per = (mc_per)place;
    return status;
}

mc_status mc_output_of(const mc_kernel *kernel, mc_output *output, mc_diag *diag) {
    int activation = 0;
    *output = (mc_output){.type = MC_S32};
    mc_status status = mc_type_of(kernel, "out", &output->type, diag);
    if (status == MC_OK) status = per_of(kernel, "scale", &output->scale, diag);
    if (status == MC_OK) status = per_of(kernel, "b_scale", &output->b_scale, diag);
    if (status == MC_OK) status = per_of(kernel, "bias", &output->bias, diag);
    if (status == MC_OK) status = per_of(kernel, "c_scale", &output->c_scale, diag);
    if (status == MC_OK) status = per_of(kernel, "zero", &output->zero, diag);
    if (status == MC_OK) status = per_of(kernel, "beta", &output->beta, diag);
    if (status == MC_OK) status = name_of(kernel, "act", activation_names, &activation, diag);
    if (status != MC_OK) return status;
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

mc_factors output_factors_at(const mc_output *o, const mc_factors *all, int64_t i, int64_t j) {
    return (mc_factors){.scale = factor(o->scale, all->scale, i, j),
                        .b_scale = factor(o->b_scale, all->b_scale, i, j),
                        .bias = factor(o->bias, all->bias, i, j),
                        .c_scale = factor(o->c_scale, all->c_scale, i, j),
                        .zero = factor(o->zero, all->zero, i, j),
                        .beta = factor(o->beta, all->beta, i, j)};
}

/* The integer nearest to VALUE, 0 for a NaN, cut off at TYPE's ends less POINT. */
static int64_t nearest_within(mc_type type, float value, int64_t point) {
    float least = (float)(mc_type_min(type) - point), most = (float)(mc_type_max(type) - point);
    float nearest = isnan(value) ? 0 : rintf(value);
    return (int64_t)fminf(fmaxf(nearest, least), most);
}

/* The NaN that instructions on f32 give (PTX ISA, "Floating-Point Instructions"), whichever the host's is. */
enum { PTX_NAN = 0x7fffffff };

/* VALUE, of elements of 8 bits cut off at the type's greatest finite number. */
static float real_within(mc_type type, float value) {
    if (element_rows[type].bits > 8 || isnan(value)) return value;
    float most = real_most(type);
    return fmaxf(fminf(value, most), -most);
}

int64_t output_element(mc_type type, float real, const float *zero) {
    if (mc_type_is_real(type))
        return isnan(real) && type == MC_F32 ? PTX_NAN : real_to_bits(type, real_within(type, real));
    int64_t point = zero == NULL ? 0 : nearest_within(type, *zero, 0);
    return nearest_within(type, real, point) + point;
}

/* With a factor an fma, and what its factor is 0 for is not looked at. */
static float add_residual(float real, float residual, const float *beta) {
    if (beta == NULL) return real + residual;
    return fmaf(*beta == 0 ? 0 : residual, *beta, real);
}

/* Multiplications that round, the last one an fma if there is a bias; then the residual. */
float output_scaled(const mc_output *o, mc_type type, int64_t sum, mc_factors f, const float *residual) {
    float real = arithmetic_of(type)->real_of_sum(sum, o->exact);
    const float *scale = f.scale;
    if (f.b_scale) {
        if (scale) real *= *scale;
        scale = f.b_scale;
    }
    if (scale) real = f.bias ? fmaf(real, *scale, *f.bias) : real * *scale;
    else if (f.bias) real += *f.bias;
    return residual ? add_residual(real, *residual, f.beta) : real;
}

/* The whole way to what is rounded to C. */
static float finish(const mc_output *o, mc_type type, int64_t sum, mc_factors f, const float *residual) {
    float real = mc_activation_of(o->activation, output_scaled(o, type, sum, f, residual));
    return f.c_scale ? real * output_c_factor(f) : real;
}

mc_status output_check(const arithmetic *of, const mc_output *output, mc_diag *diag) {
    bool real = !of->holds_sums(output->type), scale = output->scale != MC_PER_NONE;
    bool wants = real && arithmetic_wants_scale(of, output->type);
    if ((wants && !scale) || (!real && (scale || output->bias != MC_PER_NONE)))
        return mc_fail(diag, MC_USAGE, "C of %s %s", mc_type_text(output->type),
                       real ? "wants a scale" : "takes no scale and no bias");
    if (!real && output->activation != MC_ACTIVATION_NONE)
        return mc_fail(diag, MC_USAGE, "C of %s takes no activation", mc_type_text(output->type));
    if (!real && output->masked)
        return mc_fail(diag, MC_USAGE, "C of %s is not multiplied by the mask", mc_type_text(output->type));
    if (!real && output->b_scale != MC_PER_NONE)
        return mc_fail(diag, MC_USAGE, "C of %s takes no scale", mc_type_text(output->type));
    bool zero = output->zero && mc_type_is_real(output->type);
    if ((output->c_scale || output->zero) && (!real || zero || mc_type_bits(output->type) > 8))
        return mc_fail(diag, MC_USAGE, "C of %s takes no scale or zero point of its own",
                       mc_type_text(output->type));
    if (output->type == MC_S64 && !output->exact) return mc_fail(diag, MC_USAGE, "C of s64 wants exact sums");
    return MC_OK;
}

/* Integers as they are, modulo C's type. */
static void copy_sums(const mc_dense *sums, mc_dense *c) {
    for (int64_t i = 0; i < c->rows; i++)
        for (int64_t j = 0; j < c->cols; j++) mc_dense_set(c, i, j, mc_dense_get(sums, i, j));
}

static void convert(const mc_output *o, const mc_factors *factors, const mc_dense *sums, mc_dense *c) {
    const mc_dense *added = factors->residual;
    bool adds = added != NULL && added->data != NULL;
    for (int64_t i = 0; i < c->rows; i++)
        for (int64_t j = 0; j < c->cols; j++) {
            const mc_factors f = output_factors_at(o, factors, i, j);
            float residual = adds ? (float)mc_dense_real(added, i, j) : 0;
            float real = finish(o, sums->type, mc_dense_get(sums, i, j), f, adds ? &residual : NULL);
            mc_dense_set(c, i, j, output_element(o->type, real, f.zero));
        }
}

static mc_status check_residual(const arithmetic *of, const mc_output *output, const mc_dense *residual,
                                const mc_dense *sums, mc_diag *diag) {
    if (residual == NULL || residual->data == NULL) return MC_OK;
    if (of->holds_sums(output->type) || !mc_type_is_real(residual->type))
        return mc_fail(diag, MC_USAGE, "a residual of %s is not added to a C of %s",
                       mc_type_text(residual->type), mc_type_text(output->type));
    if (residual->rows == sums->rows && residual->cols == sums->cols) return MC_OK;
    return mc_fail(diag, MC_USAGE, "the residual is %" PRId64 " x %" PRId64 ", C %" PRId64 " x %" PRId64,
                   residual->rows, residual->cols, sums->rows, sums->cols);
}

mc_status output_create(const mc_output *output, const mc_factors *factors, const mc_dense *sums, mc_dense *c,
                        mc_diag *diag) {
    *c = (mc_dense){0};
    const arithmetic *of = arithmetic_of(sums->type);
    mc_status status = output_check(of, output, diag);
    if (status == MC_OK) status = check_residual(of, output, factors->residual, sums, diag);
    int64_t ld = sums->cols + (mc_type_bytes(output->type) == 0 && sums->cols % 2 != 0);
    return status == MC_OK ? mc_dense_create(output->type, sums->rows, sums->cols, ld, c, diag) : status;
}

mc_status mc_reference_output(const mc_output *output, const mc_factors *factors, const mc_dense *sums,
                              mc_dense *c, mc_diag *diag) {
    static const mc_factors none = {0};
    if (factors == NULL) factors = &none;
    mc_status status = output_create(output, factors, sums, c, diag);
    if (status != MC_OK) return status;
    if (arithmetic_of(sums->type)->holds_sums(output->type)) copy_sums(sums, c);
    else convert(output, factors, sums, c);
    return MC_OK;
}

/* -- Reference of sampled sums ------------------------------------------------------------------------ */

float output_mask_value(const mc_vsparse *mask, int64_t vector, int row) {
    return real_from_bits(MC_F32, (uint32_t)mc_vsparse_value(mask, vector, row));
}

static void convert_block(const mc_output *o, const mc_vsparse *mask, int64_t block, const float *scale,
                          const mc_dense *sums, mc_dense *c) {
    for (int64_t v = mask->row_ptr[block]; v < mask->row_ptr[block + 1]; v++)
        for (int r = 0; r < mask->vec; r++) {
            const mc_factors f =
                output_factors_at(o, &(mc_factors){.scale = scale}, block * mask->vec + r, mask->col_idx[v]);
            float real = finish(o, sums->type, mc_dense_get(sums, v, r), f, NULL);
            if (o->masked) real *= output_mask_value(mask, v, r);
            mc_dense_set(c, v, r, output_element(o->type, real, NULL));
        }
}

mc_status output_check_sampled(const mc_output *output, const mc_vsparse *mask, const mc_dense *sums,
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
    return output_check(arithmetic_of(sums->type), output, diag);
}

mc_status mc_reference_sampled(const mc_output *output, const mc_vsparse *mask, mc_order order,
                               const float *scale, const mc_dense *sums, mc_dense *c, mc_diag *diag) {
    mc_dense vectors = {0};
    *c = (mc_dense){0};
    mc_status status = output_check_sampled(output, mask, sums, diag);
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
