/* Matrices without vectors whose rows are not alike, and operands of products by them. */
#ifndef MC_TESTS_SPARSE_CASES_H
#define MC_TESTS_SPARSE_CASES_H

#include "check.h"
#include "base/real.h"
#include "matrix/random.h"
#include "mcrt_internal.h"
#include "parts/panels.h"
#include <math.h>
#include <stdlib.h>

/* Row ROW has column COL with this probability, in 2^-16. */
typedef int64_t density(int64_t row, int64_t col, int64_t rows, int64_t cols);

static inline int64_t few(int64_t row, int64_t col, int64_t rows, int64_t cols) {
    return (void)row, (void)col, (void)rows, (void)cols, 4000;
}
static inline int64_t all(int64_t row, int64_t col, int64_t rows, int64_t cols) {
    return (void)row, (void)col, (void)rows, (void)cols, 65536;
}
static inline int64_t none(int64_t row, int64_t col, int64_t rows, int64_t cols) {
    return (void)row, (void)col, (void)rows, (void)cols, 0;
}
static inline int64_t one_row(int64_t row, int64_t col, int64_t rows, int64_t cols) {
    return (void)col, (void)cols, row == rows / 2 ? 65536 : 300;
}
static inline int64_t one_column(int64_t row, int64_t col, int64_t rows, int64_t cols) {
    return (void)row, (void)rows, col == cols / 2 ? 65536 : 0;
}
static inline int64_t power_law(int64_t row, int64_t col, int64_t rows, int64_t cols) {
    return (void)rows, (void)cols, 65536 / ((row * 7 % rows + 1) * (1 + col / 16));
}
static inline int64_t band(int64_t row, int64_t col, int64_t rows, int64_t cols) {
    return llabs(row * cols / rows - col) < 5 ? 50000 : 0;
}
/* Empty rows at the beginning, in the middle and at the end. */
static inline int64_t ends(int64_t row, int64_t col, int64_t rows, int64_t cols) {
    return (void)col, (void)cols, row * 7 / rows % 3 == 0 ? 0 : 9000;
}
/* Rows of 1, 2, 4 and 8 strides, of one nonzero less, and of one more. */
static inline int64_t strides(int64_t row, int64_t col, int64_t rows, int64_t cols) {
    return (void)rows, (void)cols, col < (32 << row / 3 % 4) + row % 3 - 1 ? 65536 : 0;
}

/* Half of the nonzeros are in one row, and before and behind it rows are empty. */
static inline int64_t half(int64_t row, int64_t col, int64_t rows, int64_t cols) {
    if (row == rows / 3) return 65536;
    return (void)col, (void)cols, row < rows / 4 || row >= rows - rows / 4 ? 0 : 65536 * 2 / rows;
}
/* The halves of a panel of 32 have hardly a column in common. */
static inline int64_t halves(int64_t row, int64_t col, int64_t rows, int64_t cols) {
    return (void)rows, (void)cols, (row / 16 + col / 7) % 2 == 0 ? 20000 : 0;
}
/* Two of three panels of 16 are empty, the first and the last one among them. */
static inline int64_t gaps(int64_t row, int64_t col, int64_t rows, int64_t cols) {
    return (void)rows, (void)cols, row / 16 % 3 == 1 ? 9000 + col : 0;
}

static const struct {
    int64_t rows, cols;
    density *density;
} sparse_cases[] = {{1, 1, all},      {1, 3000, all},       {3, 700, one_row},     {7, 64, few},
                    {8, 33, all},     {9, 500, few},        {40, 1, all},          {64, 300, none},
                    {63, 90, band},   {130, 2500, one_row}, {200, 120, power_law}, {31, 400, one_column},
                    {70, 1100, all},  {96, 150, halves},    {70, 50, gaps},        {101, 900, half},
                    {140, 100, ends}, {27, 300, strides}};

static inline void make_pattern(size_t index, mc_csr *csr) {
    const int64_t rows = sparse_cases[index].rows, cols = sparse_cases[index].cols;
    mcrt_random random = random_start(index, 3);
    *csr = (mc_csr){.rows = rows, .cols = cols};
    csr->row_ptr = calloc((size_t)rows + 1, sizeof *csr->row_ptr);
    csr->col_idx = calloc((size_t)(rows * cols), sizeof *csr->col_idx);
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < cols; c++)
            if ((int64_t)(random_next(&random) % 65536) < sparse_cases[index].density(r, c, rows, cols))
                csr->col_idx[csr->nnz++] = (int32_t)c;
        csr->row_ptr[r + 1] = csr->nnz;
    }
}

/* Of floats: of either sign, powers of two apart. Of integers any. */
static inline uint32_t number(mc_type type, mcrt_random *random) {
    uint64_t r = random_next(random);
    if (!mc_type_is_real(type)) return (uint32_t)r;
    return real_to_bits(type, ldexpf((float)random_normal(random), (int)(r / 16 % 13) - 6));
}

static inline void make_operands(mc_diag *diag, size_t index, const mc_type types[2], int64_t n, int64_t ldb,
                                 mc_vsparse *a, mc_dense *b) {
    mcrt_random random = random_start((uint64_t)n, index);
    mc_csr csr;
    make_pattern(index, &csr);
    CHECK(mc_vsparse_dilate(&csr, 1, types[0], a, diag) == MC_OK &&
              mc_dense_create(types[1], csr.cols, n, ldb, b, diag) == MC_OK,
          "%s", mc_diag_text(diag));
    for (int64_t i = 0; i < a->vectors; i++) mc_vsparse_set_value(a, i, 0, number(types[0], &random));
    for (int64_t i = 0; i < csr.cols * n; i++) mc_dense_set(b, i / n, i % n, number(types[1], &random));
    mc_csr_free(&csr);
}

/* -- Items of packed panels and rows ---------------------------------------------------------------------- */

/* What stands in BITS bits of an item's last word, from SHIFT on. */
static inline unsigned item_bits(const int32_t *item, int shift, int bits) {
    return (unsigned)item[3] >> shift & ((1u << bits) - 1);
}

/* Where one warp of a thread block shares a panel or a row all of them know, since they meet at its barrier. */
static inline void check_knowing(const int32_t *item, int warps) {
    int sharing = 0, knowing = 0;
    for (int w = 0; w < warps; w++, item += PANEL_ITEM_WORDS) {
        sharing += (item[3] & ((1 << PANEL_SHARES_SHIFT) - 1)) != 0;
        knowing += (item[3] >> PANEL_SHARES_SHIFT & 1) != 0;
    }
    CHECK(knowing == (sharing > 0 ? warps : 0), "%d warps share something, %d of %d know", sharing, knowing,
          warps);
}

enum { SPARSE_CASES = sizeof sparse_cases / sizeof *sparse_cases };

#endif
