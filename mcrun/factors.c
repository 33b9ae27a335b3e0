#include "factors.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One operand's: what it is called, its file (NULL: none), what there is one for or how many, what all of
   them are without a file (0: random), how they are drawn. */
typedef struct factor_source {
    const char *name, *file;
    mc_per per;
    int count; /* not 0: there are so many instead */
    float all;
    void (*fill)(float *values, int64_t count, mc_value_law law, uint64_t seed);
    uint64_t seed;
} factor_source;

void factor_option(const char *name, char option[FACTOR_OPTION]) {
    snprintf(option, FACTOR_OPTION, "%s", name);
    for (char *c = option; *c != '\0'; c++)
        if (*c == '_') *c = '-';
}

static mc_status refuse_file(const char *name, const char *why, mc_diag *diag) {
    char option[FACTOR_OPTION];
    factor_option(name, option);
    return mc_fail(diag, MC_CANNOT, "--%s: the kernel %s", option, why);
}

/* As many as the kernel has, or one for all of these. */
static mc_status take_file(const factor_source *from, float *values, int64_t count, mc_diag *diag) {
    mc_dense read;
    mc_status status = mc_npy_read_vector(from->file, &read, diag);
    if (status != MC_OK) return status;
    int64_t length = read.rows == 1 ? read.cols : read.cols == 1 ? read.rows : -1;
    if (read.type != MC_F32)
        status = mc_fail(diag, MC_CANNOT, "%s: a %s is f32, this file holds %s", from->file, from->name,
                         mc_type_text(read.type));
    else if (length != count && length != 1)
        status = mc_fail(diag, MC_CANNOT,
                         "%s is %" PRId64 " x %" PRId64 ", but the kernel's %s has %" PRId64 " elements",
                         from->file, read.rows, read.cols, from->name, count);
    else
        for (int64_t i = 0; i < count; i++) values[i] = ((const float *)read.data)[length == 1 ? 0 : i];
    mc_dense_free(&read);
    return status;
}

/* Allocates and makes *VALUES, *COUNT of them, for a matrix of ROWS x COLS; NULL: the kernel takes none. */
static mc_status factor_make(const factor_source *from, int64_t rows, int64_t cols, float **values,
                             int64_t *count, mc_diag *diag) {
    bool none = from->per == MC_PER_NONE && from->count == 0;
    if (none && from->file != NULL) return refuse_file(from->name, "takes none", diag);
    if (none) return MC_OK;
    if (from->per == MC_PER_COLUMN && cols < 0)
        return mc_fail(diag, MC_USAGE, "the %s goes by columns: --n says how many C has", from->name);
    *count = from->count > 0 ? from->count : mc_per_count(from->per, rows, cols);
    *values = calloc((size_t)*count + 1, sizeof **values);
    if (*values == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    if (from->file != NULL) return take_file(from, *values, *count, diag);
    if (from->all == 0) from->fill(*values, *count, MC_VALUES_FULL, from->seed);
    for (int64_t i = 0; from->all != 0 && i < *count; i++) (*values)[i] = from->all;
    return MC_OK;
}

/* The first factor's seed is 2 behind the one given, the next one's 3. */
mc_status factors_make(const problem *p, const mc_kernel *kernel, const char *const files[MAX_OPERANDS],
                       int64_t rows, int64_t cols, factors *f, mc_diag *diag) {
    plan_problem own;
    uint64_t seed = (uint64_t)p->options->seed + 2;
    *f = (factors){0};
    mc_status status = plan_problem_read(kernel, &own, diag);
    if (status != MC_OK) return status;
    f->op = operator_of(own.op);
    for (size_t i = 0; i < f->op->operand_count && status == MC_OK; i++) {
        const operand_row *operand = &f->op->operands[i];
        if (operand->kind != OPERAND_FACTOR) continue;
        bool computed = operand_is_computed(&own, operand);
        if (computed && files[i] != NULL) status = refuse_file(operand->name, "computes it itself", diag);
        if (computed) continue;
        bool is_scale = strcmp(operand->name, "scale") == 0;
        const factor_source from = {operand->name,
                                    files[i],
                                    operand_per(&own, operand),
                                    operand->count,
                                    is_scale ? (float)p->scale : 0,
                                    operand->fill,
                                    seed++};
        status = factor_make(&from, rows, cols, &f->values[i], &f->counts[i], diag);
    }
    if (status != MC_OK) factors_free(f);
    return status;
}

void factors_free(factors *f) {
    for (size_t i = 0; i < MAX_OPERANDS; i++) free(f->values[i]);
    *f = (factors){0};
}
