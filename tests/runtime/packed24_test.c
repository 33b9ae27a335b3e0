/* packed24 of 4 bits: a matrix of pairs is packed as the matrix of their bytes is, in every byte of both arrays; and what has too many
 * pairs is refused. */
#include <stdlib.h>
#include "matrix/sparse24.h"
#include "scratch.h"

static mc_diag *diag;

static mc_vsparse grouped(mc_type type, int64_t rows, int64_t cols, uint64_t seed) {
    mc_sparse24_rule rule;
    mc_csr csr;
    mc_vsparse a;
    expect_ok("rule", mc_sparse24_rule_of(type, &rule, diag), diag);
    const mc_grouped groups = {rows, cols, rule.kept, rule.group, seed, rule.unit};
    expect_ok("pattern", mc_csr_generate_grouped(&groups, &csr, diag), diag);
    expect_ok("dilate", mc_vsparse_dilate(&csr, 1, type, &a, diag), diag);
    mc_vsparse_fill(&a, MC_VALUES_FULL, seed, NULL);
    mc_csr_free(&csr);
    return a;
}

/* Leaves out some vectors: halves of pairs, and pairs. */
static void thin_out(mc_vsparse *a, uint64_t seed) {
    int64_t left = 0, first = 0;
    for (int64_t row = 0; row < a->rows; row++) {
        for (int64_t v = first; v < a->row_ptr[row + 1]; v++) {
            const uint64_t draw = ((uint64_t)row * 31 + (uint64_t)a->col_idx[v] / 8 + seed) % 5;
            if (draw == 0 || (draw == 1 && a->col_idx[v] % 2) || (draw == 2 && a->col_idx[v] % 8 < 4))
                continue;
            a->col_idx[left] = a->col_idx[v];
            mc_vsparse_set_value(a, left++, 0, mc_vsparse_value(a, v, 0));
        }
        first = a->row_ptr[row + 1];
        a->row_ptr[row + 1] = left;
    }
    a->vectors = left;
}

/* The matrix of A's bytes, each a pair. */
static mc_vsparse bytes_of(const mc_vsparse *a) {
    int64_t *row_ptr = calloc((size_t)a->rows + 1, sizeof *row_ptr), count = 0;
    int32_t *columns = calloc((size_t)a->vectors + 1, sizeof *columns);
    for (int64_t row = 0; row < a->rows; row++) {
        for (int64_t v = a->row_ptr[row]; v < a->row_ptr[row + 1]; v++) {
            const int32_t byte = a->col_idx[v] / 2;
            if (count == row_ptr[row] || columns[count - 1] != byte) columns[count++] = byte;
        }
        row_ptr[row + 1] = count;
    }
    const mc_csr csr = {
        .rows = a->rows, .cols = (a->cols + 1) / 2, .nnz = count, .row_ptr = row_ptr, .col_idx = columns};
    mc_vsparse bytes;
    expect_ok("bytes", mc_vsparse_dilate(&csr, 1, MC_U8, &bytes, diag), diag);
    for (int64_t row = 0, byte = 0; row < a->rows; row++)
        for (int64_t v = a->row_ptr[row]; v < a->row_ptr[row + 1]; v++) {
            while (byte < row_ptr[row] || columns[byte] != a->col_idx[v] / 2) byte++;
            const int64_t half = (mc_vsparse_value(a, v, 0) & 15) << 4 * (a->col_idx[v] % 2);
            mc_vsparse_set_value(&bytes, byte, 0, mc_vsparse_value(&bytes, byte, 0) | half);
        }
    free(row_ptr);
    free(columns);
    return bytes;
}

static mc_kernel *kernel_of(const char *type) {
    char fields[128];
    mc_kernel *kernel = NULL;
    snprintf(fields, sizeof fields,
             "op=gemm24 arch=sm_80 method=mma lhs=%s rhs=%s out=s32 store=pairs stages=2 tile_m=64 tile_n=64 "
             "warp_n=32",
             type, type);
    expect_ok(fields, mc_kernel_from_fields(fields, &kernel, diag), diag);
    return kernel;
}

static void try_size(mc_type type, int64_t rows, int64_t cols, bool thin) {
    mc_kernel *pairs = kernel_of(mc_type_text(type)), *whole = kernel_of("u8");
    mc_vsparse a = grouped(type, rows, cols, (uint64_t)(rows + cols));
    if (thin) thin_out(&a, 3);
    mc_vsparse bytes = bytes_of(&a);
    mc_packed got, want;
    expect_ok("pack", mc_pack(pairs, &a, &got, diag), diag);
    expect_ok("pack", mc_pack(whole, &bytes, &want, diag), diag);
    for (size_t i = 0; i < 2; i++) {
        const mc_packed_array *g = &got.arrays[i], *w = &want.arrays[i];
        const int64_t size = mc_type_size(w->type, w->count);
        CHECK(mc_type_size(g->type, g->count) == size && memcmp(g->data, w->data, (size_t)size) == 0,
              "%s of %s, %d x %d", g->name, mc_type_text(type), (int)rows, (int)cols);
    }
    mc_packed_free(&got);
    mc_packed_free(&want);
    mc_vsparse_free(&a);
    mc_vsparse_free(&bytes);
    mc_kernel_destroy(pairs);
    mc_kernel_destroy(whole);
}

static void test_sizes(void) {
    static const int64_t sizes[][2] = {{1, 1},   {1, 2},      {3, 7},    {7, 8},     {8, 9},
                                       {63, 63}, {64, 64},    {65, 512}, {129, 513}, {64, 200},
                                       {2, 257}, {200, 1030}, {0, 64},   {130, 1024}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int thin = 0; thin < 2; thin++) try_size(thin ? MC_U4 : MC_S4, sizes[i][0], sizes[i][1], thin);
}

/* The columns of one row; whether they may be packed, else the message. */
static void test_limits(void) {
    static const struct {
        int count;
        int32_t columns[6];
        const char *refused;
    } rows[] = {
        {4, {8, 9, 14, 15}, NULL},
        {2, {8, 15}, NULL},
        {3, {8, 10, 12}, "1 group has more than 2 of 4 pairs, the first one is row 0, columns 8 to 15"},
        {6,
         {0, 2, 5, 9, 11, 15},
         "2 groups have more than 2 of 4 pairs, the first one is row 0, columns 0 to 7"}};
    mc_kernel *kernel = kernel_of("s4");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t row_ptr[] = {0, rows[i].count};
        int32_t columns[6];
        memcpy(columns, rows[i].columns, sizeof columns);
        const mc_csr csr = {
            .rows = 1, .cols = 16, .nnz = rows[i].count, .row_ptr = row_ptr, .col_idx = columns};
        mc_vsparse a;
        mc_packed packed;
        expect_ok("dilate", mc_vsparse_dilate(&csr, 1, MC_S4, &a, diag), diag);
        const mc_status status = mc_pack(kernel, &a, &packed, diag);
        CHECK(status == (rows[i].refused ? MC_CANNOT : MC_OK), "row %d: %s", (int)i, mc_diag_text(diag));
        if (rows[i].refused) CHECK_TEXT(mc_diag_text(diag), rows[i].refused);
        mc_diag_clear(diag);
        mc_packed_free(&packed);
        mc_vsparse_free(&a);
    }
    mc_kernel_destroy(kernel);
}

int main(void) {
    diag = mc_diag_create();
    test_sizes();
    test_limits();
    mc_diag_destroy(diag);
    return check_end();
}
