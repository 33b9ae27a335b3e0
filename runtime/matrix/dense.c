#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "matrix/dense.h"
#include "base/element.h"
#include "base/real.h"
#include "base/memory.h"
#include "matrix/random.h"

mc_status mc_dense_create(mc_type type, int64_t rows, int64_t cols, int64_t ld, mc_dense *dense,
                          mc_diag *diag) {
    *dense = (mc_dense){0};
    if (rows < 0 || cols < 0)
        return mc_fail(diag, MC_USAGE, "a matrix cannot be %" PRId64 " x %" PRId64, rows, cols);
    if (ld < cols)
        return mc_fail(diag, MC_USAGE, "leading dimension %" PRId64 " is below the %" PRId64 " columns", ld,
                       cols);
    if (mc_type_bytes(type) == 0 && ld % 2 != 0)
        return mc_fail(diag, MC_USAGE,
                       "leading dimension %" PRId64 " must be even: two elements of %s share a byte", ld,
                       mc_type_text(type));
    int64_t count = mcrt_product(rows, ld);
    void *data = mcrt_array(mc_type_size(type, count), 1);
    if (!data) return mcrt_no_memory(diag, count, "matrix elements");
    *dense = (mc_dense){.type = type, .rows = rows, .cols = cols, .ld = ld, .data = data};
    return MC_OK;
}

void mc_dense_free(mc_dense *dense) {
    free(dense->data);
    *dense = (mc_dense){0};
}

int64_t mc_dense_get(const mc_dense *dense, int64_t row, int64_t col) {
    return element_get(dense->type, dense->data, row * dense->ld + col);
}

void mc_dense_set(mc_dense *dense, int64_t row, int64_t col, int64_t value) {
    element_set(dense->type, dense->data, row * dense->ld + col, value);
}

double mc_dense_real(const mc_dense *dense, int64_t row, int64_t col) {
    int64_t bits = mc_dense_get(dense, row, col);
    return mc_type_is_real(dense->type) ? (double)real_from_bits(dense->type, (uint32_t)bits) : (double)bits;
}

static mc_status copy_elements(const mc_dense *from, const char *name, mc_dense *to, mc_diag *diag) {
    bool any = mc_type_is_real(to->type);
    int64_t least = any ? 0 : mc_type_min(to->type), most = any ? 0 : mc_type_max(to->type);
    int64_t rows = from->cols > 0 ? from->rows : 0; /* rows of nothing can be more than can be counted */
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < from->cols; j++) {
            int64_t value = mc_dense_get(from, i, j);
            if (!any && (value < least || value > most))
                return mc_fail(diag, MC_FORMAT,
                               "%s[%" PRId64 "][%" PRId64 "] is %" PRId64 ", out of %s's range", name, i, j,
                               value, mc_type_text(to->type));
            mc_dense_set(to, i, j, value);
        }
    return MC_OK;
}

mc_status mc_dense_convert(const mc_dense *from, const char *name, mc_type type, int64_t ld, mc_dense *to,
                           mc_diag *diag) {
    *to = (mc_dense){0};
    bool alike = type_of_elements(from->type) == type_of_elements(type);
    if (!alike && (mc_type_is_real(from->type) || mc_type_is_real(type)))
        return mc_fail(diag, MC_FORMAT, "%s holds %s, must hold %s", name, mc_type_text(from->type),
                       mc_type_text(type));
    mc_status status = mc_dense_create(type, from->rows, from->cols, ld, to, diag);
    if (status == MC_OK) status = copy_elements(from, name, to, diag);
    if (status != MC_OK) mc_dense_free(to);
    return status;
}

/* Each row is a stream of its own, so that an element's value does not depend on ld. */
void mc_dense_fill(mc_dense *dense, mc_value_law law, uint64_t seed) {
    for (int64_t row = 0; row < dense->rows; row++) {
        mcrt_random random = random_start(seed, (uint64_t)row);
        for (int64_t col = 0; col < dense->ld; col++)
            mc_dense_set(dense, row, col, random_value(&random, dense->type, law));
    }
}

static bool is_right(const mc_dense *got, const mc_dense *want, int64_t row, int64_t col) {
    int64_t element = mc_dense_get(got, row, col), wanted = mc_dense_get(want, row, col);
    if (!mc_type_is_real(got->type)) return element == element_wrap(got->type, wanted);
    return element == wanted || (isnan(mc_dense_real(got, row, col)) && isnan(mc_dense_real(want, row, col)));
}

static void element_text(const mc_dense *dense, mc_type type, int64_t row, int64_t col, char text[64]) {
    int64_t element = mc_dense_get(dense, row, col);
    if (mc_type_is_real(type))
        snprintf(text, 64, "%.9g (0x%0*" PRIx64 ")", mc_dense_real(dense, row, col),
                 (int)mc_type_bytes(type) * 2, element);
    else snprintf(text, 64, "%" PRId64, element_wrap(type, element));
}

static mc_status check_alike(const mc_dense *got, const mc_dense *want, mc_diag *diag) {
    bool real = mc_type_is_real(got->type) || mc_type_is_real(want->type);
    if (real && got->type != want->type)
        return mc_fail(diag, MC_USAGE, "%s elements cannot be compared with %s ones", mc_type_text(got->type),
                       mc_type_text(want->type));
    if (got->rows == want->rows && got->cols == want->cols) return MC_OK;
    return mc_fail(diag, MC_USAGE,
                   "a %" PRId64 " x %" PRId64 " matrix cannot be compared with a %" PRId64 " x %" PRId64
                   " one",
                   got->rows, got->cols, want->rows, want->cols);
}

/* The first wrong element, and how many there are. */
typedef struct wrong_elements {
    int64_t count, row, col;
} wrong_elements;

static void add_wrong(wrong_elements *wrong, int64_t row, int64_t col) {
    if (wrong->count++ == 0) wrong->row = row, wrong->col = col;
}

mc_status mc_dense_compare(const mc_dense *got, const mc_dense *want, mc_diag *diag) {
    return mc_dense_compare_named("C", got, want, diag);
}

mc_status mc_dense_compare_named(const char *name, const mc_dense *got, const mc_dense *want, mc_diag *diag) {
    wrong_elements wrong = {0};
    char is[64], must_be[64];
    mc_status status = check_alike(got, want, diag);
    if (status != MC_OK) return status;
    for (int64_t i = 0; i < got->rows; i++)
        for (int64_t j = 0; j < got->cols; j++)
            if (!is_right(got, want, i, j)) add_wrong(&wrong, i, j);
    if (wrong.count == 0) return MC_OK;
    element_text(got, got->type, wrong.row, wrong.col, is);
    element_text(want, got->type, wrong.row, wrong.col, must_be);
    return mc_fail(diag, MC_MISMATCH,
                   "%s[%" PRId64 "][%" PRId64 "] is %s, must be %s (%" PRId64 " of %" PRId64
                   " elements wrong)",
                   name, wrong.row, wrong.col, is, must_be, wrong.count, got->rows * got->cols);
}

/* -- Within bounds */

/* FLOATS: of a real type, else NULL. */
static bool is_within(const float_bits *floats, int64_t is, int64_t least, int64_t most) {
    if (floats == NULL) return is >= least && is <= most;
    bool nan = float_is_nan(floats, is), least_nan = float_is_nan(floats, least),
         most_nan = float_is_nan(floats, most);
    int64_t from = float_order(floats, least), to = float_order(floats, most), at = float_order(floats, is);
    if (from == -floats->infinity && to == floats->infinity) return true;
    if (least_nan && most_nan) return nan;
    return !least_nan && !most_nan && at >= from && at <= to; /* NaNs lie beyond the infinities */
}

mc_status mc_dense_within(const mc_dense *got, const mc_dense *low, const mc_dense *high, mc_diag *diag) {
    return mc_dense_within_named("C", got, low, high, diag);
}

mc_status mc_dense_within_named(const char *name, const mc_dense *got, const mc_dense *low,
                                const mc_dense *high, mc_diag *diag) {
    wrong_elements wrong = {0};
    char is[64], least[64], most[64];
    mc_status status = check_alike(got, low, diag);
    if (status == MC_OK) status = check_alike(got, high, diag);
    if (status != MC_OK) return status;
    const float_bits bits = float_bits_of(got->type), *floats = mc_type_is_real(got->type) ? &bits : NULL;
    for (int64_t i = 0; i < got->rows; i++)
        for (int64_t j = 0; j < got->cols; j++)
            if (!is_within(floats, mc_dense_get(got, i, j), mc_dense_get(low, i, j),
                           mc_dense_get(high, i, j)))
                add_wrong(&wrong, i, j);
    if (wrong.count == 0) return MC_OK;
    element_text(got, got->type, wrong.row, wrong.col, is);
    element_text(low, got->type, wrong.row, wrong.col, least);
    element_text(high, got->type, wrong.row, wrong.col, most);
    return mc_fail(diag, MC_MISMATCH,
                   "%s[%" PRId64 "][%" PRId64 "] is %s, must be from %s to %s (%" PRId64 " of %" PRId64
                   " elements wrong)",
                   name, wrong.row, wrong.col, is, least, most, wrong.count, got->rows * got->cols);
}

mc_status mc_dense_transpose(const mc_dense *from, int64_t ld, mc_dense *to, mc_diag *diag) {
    mc_status status = mc_dense_create(from->type, from->cols, from->rows, ld, to, diag);
    for (int64_t i = 0; status == MC_OK && i < from->rows; i++)
        for (int64_t j = 0; j < from->cols; j++) mc_dense_set(to, j, i, mc_dense_get(from, i, j));
    return status;
}
