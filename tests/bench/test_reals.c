/* The host's share of a run with floats: between what sums lie, what the libraries multiply, and matrices of whole blocks. */
#include <math.h>
#include <stdlib.h>
#include "base/real.h"
#include "check.h"
#include "library.h"
#include "operation.h"

static mc_diag *diag;

#define OK(call) CHECK((call) == MC_OK, "%s", mc_diag_text(diag))

enum { ROWS = 3, COLS = 37, SIZE = 21 };

/* A matrix, or mask, of OP's with operands of TYPE; N and K are no multiples of anything. */
static void prepare(const char *op, mc_type type, int vec, variant_list *list, work_plan *plan, work *w) {
    const mc_pattern pattern = {.rows = ROWS, .cols = COLS, .sparsity = 0.6, .seed = 9};
    mc_csr csr;
    *list = (variant_list){.operation = operation_find(op), .vec = vec, .lhs = type, .rhs = type};
    *plan = (work_plan){.operation = list->operation,
                        .sizes = {SIZE, 5},
                        .size_count = 2,
                        .variants = list,
                        .sparse_peers = true,
                        .seed = 3};
    *w = (work){.padded_cols = 48};
    OK(mc_csr_generate(&pattern, &csr, diag));
    OK(list->operation->dilate(list, &csr, 1, &w->a, diag));
    for (size_t i = 0; i < plan->size_count; i++)
        w->problems[i].shape = list->operation->shape(&w->a, plan->sizes[i]);
    OK(list->operation->prepare(w, plan, diag));
    mc_csr_free(&csr);
}

static double a_value(const mc_vsparse *a, int64_t row, int64_t col) {
    int64_t block = row / a->vec;
    for (int64_t v = a->row_ptr[block]; v < a->row_ptr[block + 1]; v++)
        if (a->col_idx[v] == col)
            return (double)real_from_bits(a->type, (uint32_t)mc_vsparse_value(a, v, (int)(row % a->vec)));
    return 0;
}

/* SUM, and the greatest that it could be off: the range holds it, and is no wider than twice that. */
static bool holds(float least, float most, double sum, double magnitude, int64_t terms) {
    double bound = (double)(8 * terms + 8) * 0x1p-24 * magnitude + 0x1p-100;
    return (double)least <= sum && sum <= (double)most && (double)most - (double)least <= 2 * bound;
}

/* -- SpMM */

static void test_sums(const work *w, const work_problem *p) {
    int wrong = 0;
    for (int64_t row = 0; row < w->a.rows; row++)
        for (int64_t j = 0; j < p->shape.n; j++) {
            double sum = 0, magnitude = 0;
            int64_t at = row * p->shape.n + j;
            for (int64_t k = 0; k < COLS; k++) {
                double term = a_value(&w->a, row, k) * mc_dense_real(&p->b, k, j);
                sum += term, magnitude += fabs(term);
            }
            wrong += !holds(((const float *)p->within.least.data)[at],
                            ((const float *)p->within.most.data)[at], sum, magnitude, COLS);
        }
    CHECK(wrong == 0, "N %lld: %d wrong", (long long)p->shape.n, wrong);
}

/* The same B for the libraries, in both widths; rows beyond A's columns are zeros. */
static void test_b(const work *w, const work_problem *p, mc_type type) {
    int wrong = 0;
    for (int64_t k = 0; k < w->padded_cols; k++)
        for (int64_t j = 0; j < p->shape.n; j++) {
            double want = k < COLS ? mc_dense_real(&p->b, k, j) : 0;
            wrong += (double)p->b_float[k * p->shape.n + j] != want;
            wrong += (double)real_from_bits(type, p->b_half[k * p->shape.n + j]) != want;
        }
    CHECK(wrong == 0, "%s: %d wrong", mc_type_text(type), wrong);
}

static double stored_at(const sparse_arrays *s, mc_type type, int64_t place) {
    return s->kept == FORMAT_F32 ? (double)((const float *)s->values)[place]
                                 : (double)real_from_bits(type, ((const uint16_t *)s->values)[place]);
}

/* What S, of COO, has at (ROW, COL). */
static double stored_coo(const sparse_arrays *s, mc_type type, int64_t row, int64_t col) {
    for (int64_t i = 0; i < s->indices; i++)
        if (s->row_ptr[i] == row && s->col_idx[i] == col) return stored_at(s, type, i);
    return 0;
}

/* Of BSR. */
static double stored_bsr(const sparse_arrays *s, mc_type type, int64_t row, int64_t col) {
    for (int64_t i = s->row_ptr[row / s->block]; i < s->row_ptr[row / s->block + 1]; i++)
        if (s->col_idx[i] == col / s->block)
            return stored_at(s, type, (i * s->block + row % s->block) * s->block + col % s->block);
    return 0;
}

/* Of CSR or Blocked-ELL. */
static double stored(const sparse_arrays *s, bool ell, mc_type type, int64_t row, int64_t col) {
    int64_t line = row / s->block, first = ell ? line * s->ell_blocks : s->row_ptr[line],
            end = ell ? first + s->ell_blocks : s->row_ptr[line + 1];
    for (int64_t i = first; i < end; i++)
        if (s->col_idx[i] == col / s->block)
            return stored_at(
                s, type, !ell ? i : row * s->ell_blocks * s->block + (i - first) * s->block + col % s->block);
    return 0;
}

static void test_format(const work *w, int format) {
    const sparse_arrays *s = &w->formats[format];
    sparse_layout layout = sparse_formats[format].layout;
    int wrong = 0;
    for (int64_t row = 0; row < w->a.rows; row++)
        for (int64_t col = 0; col < COLS; col++) {
            double value = layout == COO   ? stored_coo(s, w->a.type, row, col)
                           : layout == BSR ? stored_bsr(s, w->a.type, row, col)
                                           : stored(s, layout == BLOCKED_ELL, w->a.type, row, col);
            wrong += value != a_value(&w->a, row, col);
        }
    for (int64_t i = 1; layout == COO && i < s->indices; i++) wrong += s->row_ptr[i] < s->row_ptr[i - 1];
    CHECK(wrong == 0, "format %d: %d wrong", format, wrong);
    int64_t block = sparse_formats[format].join != 0 ? s->block : 1;
    CHECK(s->matrix_rows == (w->a.rows + block - 1) / block * block && s->matrix_cols >= COLS &&
          s->matrix_cols <= w->padded_cols);
}

static void test_spmm(mc_type type, int vec) {
    static const int blocks[] = {SPARSE_CSR, SPARSE_CSR_F32, SPARSE_ELL, SPARSE_ELL_F32, SPARSE_BSR},
                     single[] = {SPARSE_CSR,   SPARSE_CSR_F32,   SPARSE_COO,   SPARSE_COO_F32,
                                 SPARSE_BSR_4, SPARSE_BSR_4_F32, SPARSE_BSR_8, SPARSE_BSR_8_F32};
    variant_list list;
    work_plan plan;
    work w;
    prepare("spmm", type, vec, &list, &plan, &w);
    for (size_t i = 0; i < plan.size_count; i++) {
        CHECK(w.problems[i].want == NULL && w.problems[i].b_cols == NULL);
        test_sums(&w, &w.problems[i]);
        test_b(&w, &w.problems[i], type);
    }
    for (size_t i = 0; vec > 1 && i < sizeof blocks / sizeof blocks[0]; i++) test_format(&w, blocks[i]);
    for (size_t i = 0; vec == 1 && i < sizeof single / sizeof single[0]; i++) test_format(&w, single[i]);
    CHECK((w.formats[SPARSE_COO].values == NULL) == (vec > 1), "COO of V = %d", vec);
    CHECK((w.formats[SPARSE_ELL].values == NULL) == (vec == 1), "Blocked-ELL of V = %d", vec);
    CHECK(w.formats[SPARSE_ELL_S8].values == NULL);
    CHECK(w.formats[SPARSE_UNIFORM_8].block == 8 && w.formats[SPARSE_UNIFORM_16].block == 16);
    work_release(&w, &plan);
}

/* -- SDDMM */

static void test_sampled(const work *w, const work_problem *p) {
    int wrong = 0;
    for (int64_t block = 0; block < w->a.row_blocks; block++)
        for (int64_t v = w->a.row_ptr[block]; v < w->a.row_ptr[block + 1]; v++)
            for (int r = 0; r < w->a.vec; r++) {
                double sum = 0, magnitude = 0;
                int64_t at = v * w->a.vec + r, row = block * w->a.vec + r, col = w->a.col_idx[v];
                for (int64_t k = 0; k < p->shape.k; k++) {
                    double term = mc_dense_real(&p->a, row, k) * mc_dense_real(&p->b, col, k);
                    sum += term, magnitude += fabs(term);
                    wrong += (double)p->a_float[row * p->shape.k + k] != mc_dense_real(&p->a, row, k);
                    wrong += (double)real_from_bits(p->a.type, p->a_half[row * p->shape.k + k]) !=
                             mc_dense_real(&p->a, row, k);
                    wrong += (double)p->b_float[col * p->shape.k + k] != mc_dense_real(&p->b, col, k);
                    wrong += (double)real_from_bits(p->b.type, p->b_half[col * p->shape.k + k]) !=
                             mc_dense_real(&p->b, col, k);
                }
                wrong += !holds(((const float *)p->within.least.data)[at],
                                ((const float *)p->within.most.data)[at], sum, magnitude, p->shape.k);
            }
    CHECK(wrong == 0, "K %lld: %d wrong", (long long)p->shape.k, wrong);
}

static void test_sddmm(mc_type type, int vec) {
    variant_list list;
    work_plan plan;
    work w;
    prepare("sddmm", type, vec, &list, &plan, &w);
    for (size_t i = 0; i < plan.size_count; i++) {
        CHECK(w.problems[i].wide_a == NULL && w.problems[i].wide_b == NULL);
        test_sampled(&w, &w.problems[i]);
    }
    work_release(&w, &plan);
}

/* -- Whole blocks at random places */

/* Every block row has as many, ascending, inside of the matrix; over many rows each block column is as frequent. */
static void test_places(const sparse_arrays *s, int64_t kept) {
    int64_t columns = s->matrix_cols / s->block, hits[64] = {0};
    int wrong = 0;
    CHECK(s->ell_blocks == kept && s->indices == kept * s->rows && columns <= 64, "%lld blocks a row",
          (long long)s->ell_blocks);
    for (int64_t i = 0; i < s->indices; i++) {
        wrong += s->col_idx[i] < 0 || s->col_idx[i] >= columns;
        wrong += i % kept != 0 && s->col_idx[i] <= s->col_idx[i - 1];
        if (s->col_idx[i] >= 0 && s->col_idx[i] < columns) hits[s->col_idx[i]]++;
    }
    double mean = (double)s->indices / (double)columns, most = 5 * sqrt(mean);
    for (int64_t i = 0; i < columns && s->rows > 100; i++) wrong += fabs((double)hits[i] - mean) > most;
    CHECK(wrong == 0, "%d wrong", wrong);
}

static void test_expanded(const sparse_arrays *s, mc_type type) {
    uint16_t *dense = formats_expand_ell(s);
    int wrong = 0;
    int64_t zeros = 0, stored_zeros = 0;
    for (int64_t i = 0; i < s->value_count; i++) stored_zeros += ((const uint16_t *)s->values)[i] == 0;
    for (int64_t row = 0; row < s->matrix_rows; row++)
        for (int64_t col = 0; col < s->matrix_cols; col++) {
            uint16_t bits = dense[row * s->matrix_cols + col];
            zeros += bits == 0;
            wrong += (double)real_from_bits(type, bits) != stored(s, true, type, row, col);
        }
    CHECK(wrong == 0, "%d wrong", wrong);
    CHECK(zeros - stored_zeros == s->matrix_rows * s->matrix_cols - s->value_count);
    free(dense);
}

static void test_uniform(uniform_blocks of, int64_t kept) {
    sparse_arrays one, again;
    OK(formats_uniform_ell(&of, &one, diag));
    OK(formats_uniform_ell(&of, &again, diag));
    CHECK(one.matrix_rows == (of.rows + of.block - 1) / of.block * of.block);
    CHECK(one.matrix_cols == (of.cols + of.block - 1) / of.block * of.block);
    CHECK(memcmp(one.values, again.values, (size_t)one.value_count * 2) == 0 &&
          memcmp(one.col_idx, again.col_idx, (size_t)one.indices * 4) == 0);
    test_places(&one, kept);
    test_expanded(&one, of.type);
    sparse_arrays_free(&again);
    of.seed++;
    OK(formats_uniform_ell(&of, &again, diag));
    CHECK(memcmp(one.values, again.values, (size_t)one.value_count * 2) != 0);
    sparse_arrays_free(&one);
    sparse_arrays_free(&again);
}

/* -- Which formats take part */

static void test_table(void) {
    static const sparse_sides all[] = {
        {MC_OP_SPMM, MC_S8, 8, 0},    {MC_OP_SPMM, MC_F16, 8, 0},   {MC_OP_SPMM, MC_BF16, 8, 0},
        {MC_OP_SPMM, MC_F16, 1, 0},   {MC_OP_SDDMM, MC_S8, 8, 0},   {MC_OP_SDDMM, MC_F16, 4, 0},
        {MC_OP_SDDMM, MC_BF16, 4, 0}, {MC_OP_SPMM, MC_S16, 8, 0},   {MC_OP_SPMM, MC_TF32, 1, 0},
        {MC_OP_SPMM, MC_TF32, 8, 0},  {MC_OP_SDDMM, MC_TF32, 1, 0}, {MC_OP_SPMM, MC_S8, 1, 0},
        {MC_OP_SPMM, MC_F32, 1, 64},  {MC_OP_SPMM, MC_F32, 1, 1},   {MC_OP_SPMM, MC_F32, 8, 1},
        {MC_OP_SPMM, MC_TF32, 1, 1},  {MC_OP_SPMM, MC_F16, 1, 1},   {MC_OP_SPMM, MC_F16, 8, 1},
        {MC_OP_SDDMM, MC_F16, 4, 1}};
    static const int counts[] = {6, 7, 7, 10, 4, 4, 2, 0, 4, 2, 1, 6, 4, 8, 3, 8, 18, 9, 4};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        int count = 0;
        for (int format = 0; format < SPARSE_FORMATS; format++) count += sparse_is_of(format, &all[i]);
        CHECK(count == counts[i], "row %zu: %d", i, count);
    }
    CHECK(sparse_takes(MC_OP_SPMM, MC_BF16, MC_BF16) && !sparse_takes(MC_OP_SPMM, MC_F16, MC_BF16));
    CHECK(!sparse_takes(MC_OP_SPMM, MC_S16, MC_S16) && !sparse_takes(MC_OP_SDDMM, MC_S8, MC_S4));
    CHECK(sparse_lacks(MC_OP_SDDMM, MC_BF16) && !sparse_lacks(MC_OP_SDDMM, MC_F16));
    CHECK(!sparse_lacks(MC_OP_SPMM, MC_BF16) && !sparse_lacks(MC_OP_SDDMM, MC_S8));
    CHECK(sparse_lacks(MC_OP_SPMM, MC_TF32) && !sparse_lacks(MC_OP_SPMM, MC_F32));
    CHECK(sparse_takes(MC_OP_SPMM, MC_F32, MC_F32) && !sparse_takes(MC_OP_SPMM, MC_F32, MC_F16));
}

/* -- Libraries: what newer versions alone have may be missing */

typedef struct mathematics {
    double (*cosine)(double), (*newer)(double);
} mathematics;

static void test_optional(void) {
    static const char *const names[] = {"libm.so.6", NULL};
    library_entry entries[] = {
        {.symbol = "cos", .offset = offsetof(mathematics, cosine)},
        {.symbol = "mcgen_none", .offset = offsetof(mathematics, newer), .optional = true}};
    mathematics m = {0};
    m.newer = fabs;
    OK(library_open(names, entries, 2, &m, diag));
    CHECK(m.cosine != NULL && m.newer == NULL);
    entries[1].optional = false;
    CHECK(library_open(names, entries, 2, &m, diag) == MC_CANNOT, "an entry that is not there");
    mc_diag_clear(diag);
}

int main(void) {
    diag = mc_diag_create();
    test_optional();
    for (mc_type type = MC_F16; type <= MC_BF16; type++)
        for (int vec = 1; vec <= 16; vec *= 2) {
            test_spmm(type, vec);
            test_sddmm(type, vec);
        }
    test_uniform((uniform_blocks){.rows = 4000, .cols = 160, .block = 8, .sparsity = 0.7, .type = MC_F16}, 6);
    test_uniform((uniform_blocks){.rows = 30, .cols = 500, .block = 16, .sparsity = 0.9, .type = MC_BF16}, 3);
    test_uniform((uniform_blocks){.rows = 8, .cols = 20, .block = 8, .sparsity = 1, .type = MC_F16}, 1);
    test_uniform((uniform_blocks){.rows = 8, .cols = 20, .block = 8, .sparsity = 0, .type = MC_F16}, 3);
    test_table();
    mc_diag_destroy(diag);
    return check_end();
}
