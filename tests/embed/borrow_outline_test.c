/* What a matrix of borrowed arrays is taken for while nobody has looked at its rows. */
#include "device_matrix.h"

mc_diag *diag;

/* What estimates see of rows that nobody has looked at: all nonzeros, one row that is longer than the others, which
   are alike, and none that has more of them than columns. */
static void test_outline(void) {
    static const struct {
        int64_t rows, cols, nonzeros, longest;
    } cases[] = {{1, 10, 7, 7},    {3, 10, 0, 0},   {1000, 4000, 12000, 768}, {1000, 100, 12000, 100},
                 {5, 1000, 20, 4}, {4, 10, 40, 10}, {7, 100, 3, 1},           {0, 10, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int64_t rows = cases[i].rows;
        const mc_csr_config csr = {sizeof csr,        MC_F32, rows, cases[i].cols,
                                   cases[i].nonzeros, 4096,   4096, 4096};
        mc_matrix *matrix = NULL;
        int64_t longest = 0;
        if (!worked("borrow", mc_matrix_borrow(context, &csr, &matrix, diag))) continue;
        const int64_t *row_ptr = matrix->host.row_ptr;
        CHECK(row_ptr[0] == 0 && row_ptr[rows] == cases[i].nonzeros, "case %zu", i);
        for (int64_t row = 0; row < rows; row++) {
            const int64_t length = row_ptr[row + 1] - row_ptr[row];
            CHECK(length >= 0 && length <= cases[i].cols, "case %zu, row %d: %d", i, (int)row, (int)length);
            if (length > longest) longest = length;
        }
        CHECK(longest == cases[i].longest, "case %zu: the longest row has %d", i, (int)longest);
        mc_matrix_destroy(matrix);
    }
}

int main(void) {
    const mc_context_config config = {
        .size = sizeof config, .device = "sim", .cache = MC_CACHE_MEMORY, .records = ""};
    diag = mc_diag_create();
    if (worked("context", mc_context_create(&config, &context, diag))) test_outline();
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return device_end(check_end());
}
