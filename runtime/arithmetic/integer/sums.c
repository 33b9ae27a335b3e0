/* The arithmetic of integers: sums are exact, in int64. */
#include "arithmetic/arithmetic.h"
#include "arithmetic/integer/digit.h"
#include "base/element.h"

/* -- Both of at most 8 bits --------------------------------------------------------------------------- */

/* A product is at most 255 * 255, so this many leave room in an int32. */
enum { NARROW_TERMS = 1 << 15 };

static void widen_narrow(mc_type type, const void *data, int64_t first, int64_t step, int64_t count,
                         void *to) {
    int16_t *wide = to;
    for (int64_t i = 0; i < count; i++) wide[i] = (int16_t)element_get(type, data, first + i * step);
}

/* SUM[j] += A * B[j]: of 16 bits each, which compilers multiply in vector registers. */
static void add_products(int32_t *restrict sum, const int16_t *restrict b, int16_t a, int64_t n) {
    for (int64_t j = 0; j < n; j++) sum[j] += a * b[j];
}

static void flush_sums(int64_t *restrict c, int32_t *restrict sum, int64_t count) {
    for (int64_t j = 0; j < count; j++) {
        c[j] += sum[j];
        sum[j] = 0;
    }
}

static bool multiply_narrow(const block_product *p) {
    const mc_vsparse *a = p->a;
    int64_t terms = 0;
    int32_t *sum = p->scratch;
    for (int64_t v = a->row_ptr[p->block]; v < a->row_ptr[p->block + 1]; v++) {
        const int16_t *row = (const int16_t *)p->rows + a->col_idx[v] * p->n;
        for (int r = 0; r < a->vec; r++)
            add_products(sum + r * p->n, row, (int16_t)mc_vsparse_value(a, v, r), p->n);
        if (++terms % NARROW_TERMS == 0) flush_sums(p->sums, sum, a->vec * p->n);
    }
    flush_sums(p->sums, sum, a->vec * p->n);
    return true;
}

static bool dot_narrow(const void *a, const void *b, int64_t k, void *sum) {
    const int16_t *restrict x = a, *restrict y = b;
    int64_t total = 0;
    for (int64_t from = 0; from < k; from += NARROW_TERMS) {
        int64_t to = k - from < NARROW_TERMS ? k : from + NARROW_TERMS;
        int32_t part = 0;
        for (int64_t i = from; i < to; i++) part += x[i] * y[i];
        total += part;
    }
    *(int64_t *)sum = total;
    return true;
}

/* -- Both of at most 16 bits -------------------------------------------------------------------------- */

static void widen_wide(mc_type type, const void *data, int64_t first, int64_t step, int64_t count, void *to) {
    int32_t *wide = to;
    for (int64_t i = 0; i < count; i++) wide[i] = (int32_t)element_get(type, data, first + i * step);
}

/* Products below 2^32, of which less than 2^31 do not leave int64. */
static void add_wide_products(int64_t *restrict sum, const int32_t *restrict b, int32_t a, int64_t n) {
    for (int64_t j = 0; j < n; j++) sum[j] += (int64_t)a * b[j];
}

static bool multiply_wide(const block_product *p) {
    const mc_vsparse *a = p->a;
    for (int64_t v = a->row_ptr[p->block]; v < a->row_ptr[p->block + 1]; v++)
        for (int r = 0; r < a->vec; r++)
            add_wide_products((int64_t *)p->sums + r * p->n, (const int32_t *)p->rows + a->col_idx[v] * p->n,
                              (int32_t)mc_vsparse_value(a, v, r), p->n);
    return true;
}

static bool dot_wide(const void *a, const void *b, int64_t k, void *sum) {
    const int32_t *restrict x = a, *restrict y = b;
    int64_t total = 0;
    for (int64_t i = 0; i < k; i++) total += (int64_t)x[i] * y[i];
    *(int64_t *)sum = total;
    return true;
}

/* -- Any types ---------------------------------------------------------------------------------------- */

static void widen_any(mc_type type, const void *data, int64_t first, int64_t step, int64_t count, void *to) {
    int64_t *wide = to;
    for (int64_t i = 0; i < count; i++) wide[i] = element_get(type, data, first + i * step);
}

static bool add_product(int64_t a, int64_t b, int64_t *sum) {
    int64_t product;
    return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(*sum, product, sum);
}

static bool multiply_any(const block_product *p) {
    const mc_vsparse *a = p->a;
    for (int64_t v = a->row_ptr[p->block]; v < a->row_ptr[p->block + 1]; v++) {
        const int64_t *row = (const int64_t *)p->rows + a->col_idx[v] * p->n;
        for (int r = 0; r < a->vec; r++)
            for (int64_t j = 0; j < p->n; j++)
                if (!add_product(mc_vsparse_value(a, v, r), row[j], (int64_t *)p->sums + r * p->n + j))
                    return false;
    }
    return true;
}

static bool dot_any(const void *a, const void *b, int64_t k, void *sum) {
    const int64_t *x = a, *y = b;
    int64_t *total = sum;
    *total = 0;
    for (int64_t i = 0; i < k; i++)
        if (!add_product(x[i], y[i], total)) return false;
    return true;
}

/* -- The arithmetic ----------------------------------------------------------------------------------- */

static const sum_loops *loops(mc_type a, mc_type b) {
    static const sum_loops narrow = {sizeof(int16_t), sizeof(int32_t), widen_narrow,
                                     multiply_narrow, dot_narrow,      NULL},
                           wide = {sizeof(int32_t), 0, widen_wide, multiply_wide, dot_wide, NULL},
                           any = {sizeof(int64_t), 0, widen_any, multiply_any, dot_any, NULL};
    int bits = mc_type_bits(a) > mc_type_bits(b) ? mc_type_bits(a) : mc_type_bits(b);
    return bits <= 8 ? &narrow : bits <= 16 ? &wide : &any;
}

/* Accumulators and what is wider. */
static bool holds_sums(mc_type type) {
    return !mc_type_is_real(type) && mc_type_bits(type) >= mc_type_bits(MC_S32);
}

/* Kernels whose sums are not exact have them modulo 2^32. */
static float real_of_sum(int64_t sum, bool exact) {
    return (float)(exact ? sum : element_wrap(element_rows[MC_S8].accumulator, sum));
}

const arithmetic integer_arithmetic = {.name = "integers",
                                       .sums = MC_S64,
                                       .loops = loops,
                                       .holds_sums = holds_sums,
                                       .scaled = true,
                                       .real_of_sum = real_of_sum,
                                       .code = &digit_kind};
