#include "factors.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static mc_status take_file(const factor_source *from, float *values, int64_t count, mc_diag *diag) {
    mc_dense read;
    mc_status status = mc_npy_read_vector(from->file, &read, diag);
    if (status != MC_OK) return status;
    int64_t length = read.rows == 1 ? read.cols : read.cols == 1 ? read.rows : -1;
    if (read.type != MC_F32)
        status = mc_fail(diag, MC_CANNOT, "%s: a %s is f32, this file holds %s", from->file, from->name,
                         mc_type_text(read.type));
    else if (length != count)
        status = mc_fail(diag, MC_CANNOT,
                         "%s is %" PRId64 " x %" PRId64 ", but the kernel's %s has %" PRId64 " elements",
                         from->file, read.rows, read.cols, from->name, count);
    else memcpy(values, read.data, (size_t)count * sizeof *values);
    mc_dense_free(&read);
    return status;
}

mc_status factor_make(const factor_source *from, int64_t rows, int64_t cols, float **values, int64_t *count,
                      mc_diag *diag) {
    if (from->per == MC_PER_NONE && from->file != NULL)
        return mc_fail(diag, MC_CANNOT, "--%s: the kernel takes none", from->name);
    if (from->per == MC_PER_NONE) return MC_OK;
    if (from->per == MC_PER_COLUMN && cols < 0)
        return mc_fail(diag, MC_USAGE, "the %s goes by columns: --n says how many C has", from->name);
    *count = mc_per_count(from->per, rows, cols);
    *values = calloc((size_t)*count + 1, sizeof **values);
    if (*values == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    if (from->file != NULL) return take_file(from, *values, *count, diag);
    if (from->all == 0) from->fill(*values, *count, MC_VALUES_FULL, from->seed);
    for (int64_t i = 0; from->all != 0 && i < *count; i++) (*values)[i] = from->all;
    return MC_OK;
}

mc_status factors_make(const problem *p, const mc_kernel *kernel, int64_t rows, int64_t cols, factors *f,
                       mc_diag *diag) {
    const problem_options *options = p->options;
    uint64_t seed = (uint64_t)options->seed;
    *f = (factors){0};
    mc_status status = mc_output_of(kernel, &f->output, diag);
    if (status != MC_OK) return status;
    const factor_source scale = {"scale",         options->scale_file, f->output.scale,
                                 (float)p->scale, mc_scale_fill,       seed + 2};
    const factor_source bias = {"bias", options->bias_file, f->output.bias, 0, mc_bias_fill, seed + 3};
    status = factor_make(&scale, rows, cols, &f->scale, &f->scale_count, diag);
    if (status == MC_OK) status = factor_make(&bias, rows, cols, &f->bias, &f->bias_count, diag);
    if (status != MC_OK) factors_free(f);
    return status;
}

void factors_free(factors *f) {
    free(f->scale);
    free(f->bias);
    *f = (factors){0};
}
