/* Patterns of graphs and meshes: the same everywhere (literal checksums), well-formed, as their laws say, and
   refused where there is no such matrix. */
#include <math.h>
#include "csr_checks.h"
#include "matrix/unstructured.h"

/* One of them, by its number. */
typedef struct law_case {
    enum { POWER, MESH, BLOCKS, HEAVY } law;
    mc_power_law power;
    mc_mesh mesh;
    mc_dense_blocks blocks;
    mc_heavy_row heavy;
    uint64_t checksum;
} law_case;

static mc_status make(const law_case *c, mc_csr *csr, mc_diag *diag) {
    switch (c->law) {
    case POWER: return mc_csr_generate_power(&c->power, csr, diag);
    case MESH: return mc_csr_generate_mesh(&c->mesh, csr, diag);
    case BLOCKS: return mc_csr_generate_blocks(&c->blocks, csr, diag);
    default: return mc_csr_generate_heavy(&c->heavy, csr, diag);
    }
}

static const law_case cases[] = {
    {.power = {500, 300, 6, 2.2, MC_ROWS_POWER, 1}, .checksum = 0xacd51b7f69c84c86u},
    {.power = {500, 300, 6, 2.2, MC_ROWS_POWER, 2}, .checksum = 0xb3b4922b8109136eu},
    {.power = {300, 5000, 9.5, 3, MC_ROWS_LEVEL, 1}, .checksum = 0x83aca81e2ab57eafu},
    {.power = {9, 8, 4, 1.5, MC_ROWS_POWER, 1},
     .checksum = 0x71cb88850c9981e2u}, /* rows that are half full of few favourites */
    {.law = MESH, .mesh = {{7, 5, 3}, 2, MC_STENCIL_BOX}, .checksum = 0xfdfe083da2acefb4u},
    {.law = BLOCKS, .blocks = {100, 90, 8, 16, .8, 1}, .checksum = 0xffdcffd86bfe7e4cu},
    {.law = HEAVY, .heavy = {400, 3000, 5.5, 1}, .checksum = 0x719e68188ee9a870u},
};

static void test_checksums(mc_diag *diag) {
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mc_csr csr;
        expect_ok("generate", make(&cases[i], &csr, diag), diag);
        CHECK(well_formed(&csr), "case %zu", i);
        CHECK(csr_checksum(&csr) == cases[i].checksum, "case %zu: 0x%016llx", i,
              (unsigned long long)csr_checksum(&csr));
        mc_csr_free(&csr);
    }
}

/* -- Power laws */

static int64_t row_length(const mc_csr *csr, int64_t row) {
    return csr->row_ptr[row + 1] - csr->row_ptr[row];
}

/* Of COUNT numbers of nonzeros those that are at least LEAST. */
static int64_t count_from(const int64_t *lengths, int64_t count, double least) {
    int64_t found = 0;
    for (int64_t i = 0; i < count; i++) found += (double)lengths[i] >= least;
    return found;
}

/* Twice as many nonzeros: 2^(1 - exponent) times as many rows or columns. */
static void expect_power(const char *what, const int64_t *lengths, int64_t count, double from,
                         double exponent) {
    double fell = (double)count_from(lengths, count, from) / (double)count_from(lengths, count, 2 * from);
    CHECK(fabs(fell / exp2(exponent - 1) - 1) < .1, "%s: %g", what, fell);
}

static void test_power(mc_row_law row_law, mc_diag *diag) {
    enum { ROWS = 200000, COLS = 100000, DEGREE = 12 };
    const mc_power_law p = {ROWS, COLS, DEGREE, 2.4, row_law, 7};
    int64_t *rows = calloc(ROWS, sizeof *rows), *cols = calloc(COLS, sizeof *cols);
    mc_csr csr;
    expect_ok("generate", mc_csr_generate_power(&p, &csr, diag), diag);
    CHECK(well_formed(&csr) && fabs((double)csr.nnz / ROWS / DEGREE - 1) < .01, "%d", (int)csr.nnz);
    for (int64_t row = 0; row < ROWS; row++) rows[row] = row_length(&csr, row);
    for (int64_t i = 0; i < csr.nnz; i++) cols[csr.col_idx[i]]++;
    expect_power("columns", cols, COLS, 60, p.exponent);
    if (row_law == MC_ROWS_POWER) expect_power("rows", rows, ROWS, 30, p.exponent);
    else CHECK(count_from(rows, ROWS, 2 * DEGREE) == 0 && count_from(rows, ROWS, 1) == ROWS, "level rows");
    CHECK(count_from(cols, COLS / 4, 300) > 10 && count_from(cols + COLS / 4 * 3, COLS / 4, 300) > 10,
          "the popular columns stand together");
    mc_csr_free(&csr);
    free(rows);
    free(cols);
}

/* -- Meshes, by their definition */

static bool holds(const mc_csr *csr, int64_t row, int64_t col) {
    for (int64_t i = csr->row_ptr[row]; i < csr->row_ptr[row + 1]; i++)
        if (csr->col_idx[i] == col) return true;
    return false;
}

static int64_t apart(int64_t a, int64_t b) { return a < b ? b - a : a - b; }

static bool shares(const mc_mesh *m, int64_t row, int64_t col) {
    int64_t a = row / m->dof, b = col / m->dof, most = 0, sum = 0;
    for (int i = 0; i < 3; i++) {
        int64_t steps = apart(a % m->nodes[i], b % m->nodes[i]);
        most = steps > most ? steps : most, sum += steps;
        a /= m->nodes[i], b /= m->nodes[i];
    }
    return m->stencil == MC_STENCIL_BOX ? most <= 1 : sum <= 1;
}

static void test_meshes(mc_diag *diag) {
    static const mc_mesh meshes[] = {{{1, 1, 1}, 1, MC_STENCIL_BOX},  {{1, 1, 1}, 3, MC_STENCIL_STAR},
                                     {{7, 1, 1}, 1, MC_STENCIL_BOX},  {{1, 5, 1}, 2, MC_STENCIL_STAR},
                                     {{4, 6, 1}, 1, MC_STENCIL_BOX},  {{4, 6, 1}, 3, MC_STENCIL_STAR},
                                     {{2, 3, 5}, 1, MC_STENCIL_STAR}, {{4, 3, 3}, 2, MC_STENCIL_BOX}};
    for (size_t i = 0; i < sizeof meshes / sizeof meshes[0]; i++) {
        const mc_mesh *m = &meshes[i];
        mc_csr csr;
        int64_t wrong = 0;
        expect_ok("generate", mc_csr_generate_mesh(m, &csr, diag), diag);
        CHECK(well_formed(&csr) && csr.rows == m->nodes[0] * m->nodes[1] * m->nodes[2] * m->dof &&
                  csr.cols == csr.rows,
              "mesh %zu", i);
        for (int64_t row = 0; row < csr.rows; row++)
            for (int64_t col = 0; col < csr.cols; col++)
                wrong += holds(&csr, row, col) != shares(m, row, col);
        CHECK(wrong == 0, "mesh %zu: %d entries are wrong", i, (int)wrong);
        mc_csr_free(&csr);
    }
}

/* -- Blocks and a heavy row */

static void test_blocks(mc_diag *diag) {
    enum { ROWS = 203, COLS = 330, HIGH = 8, WIDE = 4 };
    const mc_dense_blocks p = {ROWS, COLS, HIGH, WIDE, .7, 3};
    mc_csr csr;
    int64_t full = 0, mixed = 0, blocks = (ROWS + HIGH - 1) / HIGH * ((COLS + WIDE - 1) / WIDE);
    expect_ok("generate", mc_csr_generate_blocks(&p, &csr, diag), diag);
    for (int64_t row = 0; row < ROWS; row++)
        for (int64_t col = 0; col < COLS; col++)
            mixed += holds(&csr, row, col) != holds(&csr, row / HIGH * HIGH, col / WIDE * WIDE);
    for (int64_t row = 0; row < ROWS; row += HIGH)
        for (int64_t col = 0; col < COLS; col += WIDE) full += holds(&csr, row, col);
    CHECK(well_formed(&csr) && mixed == 0, "%d entries differ from their block's first", (int)mixed);
    CHECK(fabs((double)full / (double)blocks - .3) < .03, "%d of %d blocks", (int)full, (int)blocks);
    mc_csr_free(&csr);
}

static void test_heavy(mc_diag *diag) {
    for (uint64_t seed = 1; seed < 20; seed++) {
        const mc_heavy_row p = {300, 4000, 13, seed};
        mc_csr csr;
        int64_t heaviest = 0;
        expect_ok("generate", mc_csr_generate_heavy(&p, &csr, diag), diag);
        for (int64_t row = 0; row < csr.rows; row++)
            heaviest = row_length(&csr, row) > heaviest ? row_length(&csr, row) : heaviest;
        CHECK(well_formed(&csr) && csr.nnz == 2 * heaviest, "%d of %d", (int)heaviest, (int)csr.nnz);
        CHECK(heaviest == 299 * 13, "%d", (int)heaviest);
        mc_csr_free(&csr);
    }
}

/* -- Limits */

static void test_limits(mc_diag *diag) {
    static const struct {
        law_case what;
        int64_t nnz;
    } limits[] = {
        {{.power = {0, 9, 2, 2, MC_ROWS_POWER, 1}}, 0},
        {{.power = {9, 0, 0, 2, MC_ROWS_POWER, 1}}, 0},
        {{.power = {9, 9, 0, 2, MC_ROWS_POWER, 1}}, 0},
        {{.power = {9, 1, 1, 2, MC_ROWS_LEVEL, 1}}, 9},
        {{.power = {9, 9, 5, 2, MC_ROWS_POWER, 1}}, 45},
        {{.power = {9, 9, 5, 100, MC_ROWS_LEVEL, 1}}, 45},
        {{.law = BLOCKS, .blocks = {9, 7, 4, 4, 0, 1}}, 63},
        {{.law = BLOCKS, .blocks = {9, 7, 4, 4, 1, 1}}, 0},
        {{.law = BLOCKS, .blocks = {9, 7, INT32_MAX, INT32_MAX, 0, 1}}, 63},
        {{.law = BLOCKS, .blocks = {0, 0, 1, 1, 0, 1}}, 0},
        {{.law = HEAVY, .heavy = {0, 0, 0, 1}}, 0},
        {{.law = HEAVY, .heavy = {1, 9, 0, 1}}, 0},
        {{.law = HEAVY, .heavy = {9, 8, 1, 1}}, 16},
        {{.law = HEAVY, .heavy = {2, 8, 8, 1}}, 8},
    };
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        mc_csr csr;
        expect_ok("generate", make(&limits[i].what, &csr, diag), diag);
        CHECK(csr.nnz == limits[i].nnz && well_formed(&csr), "case %zu: %lld", i, (long long)csr.nnz);
        mc_csr_free(&csr);
    }
}

static void test_refused(mc_diag *diag) {
    static const struct {
        law_case what;
        const char *message;
    } refused[] = {
        {{.power = {-1, 9, 2, 2, MC_ROWS_POWER, 1}}, "a pattern of -1 x 9"},
        {{.power = {1L << 31, 9, 2, 2, MC_ROWS_POWER, 1}}, "2147483648 rows: at most 2147483647"},
        {{.power = {9, 1L << 31, 2, 2, MC_ROWS_POWER, 1}}, "a pattern of 9 x 2147483648"},
        {{.power = {9, 9, 5.1, 2, MC_ROWS_POWER, 1}},
         "the degree is 5.1, must be 0 to 5, half of the 9 columns"},
        {{.power = {9, 9, NAN, 2, MC_ROWS_POWER, 1}}, "the degree is nan"},
        {{.power = {9, 9, 2, 1.4, MC_ROWS_POWER, 1}}, "the exponent is 1.4, must be 1.5 to 100"},
        {{.power = {9, 9, 2, NAN, MC_ROWS_POWER, 1}}, "the exponent is nan"},
        {{.law = MESH, .mesh = {{3, 3, 0}, 1, MC_STENCIL_BOX}}, "0 nodes: at least 1"},
        {{.law = MESH, .mesh = {{3, 3, 3}, 0, MC_STENCIL_BOX}}, "0 unknowns a node: at least 1"},
        {{.law = MESH, .mesh = {{1L << 40, 1L << 40, 3}, 1, MC_STENCIL_BOX}}, "at most 2147483647 unknowns"},
        {{.law = MESH, .mesh = {{1 << 15, 1 << 15, 1}, 2, MC_STENCIL_BOX}}, "at most 2147483647 unknowns"},
        {{.law = BLOCKS, .blocks = {9, 9, 0, 4, 0, 1}}, "blocks of 0 x 4: must be 1 to 2147483647 each way"},
        {{.law = BLOCKS, .blocks = {9, 9, 4, 1L << 31, 0, 1}}, "blocks of 4 x 2147483648"},
        {{.law = BLOCKS, .blocks = {9, 9, 4, 4, 1.5, 1}}, "sparsity is 1.5, must be 0 to 1"},
        {{.law = HEAVY, .heavy = {9, 16, 2.5, 1}},
         "the degree is 2.5, must be 0 to 2: the heavy row would have more than 16 nonzeros"},
        {{.law = HEAVY, .heavy = {9, 16, NAN, 1}}, "the degree is nan"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        mc_csr csr = {.nnz = 7};
        mc_status status = make(&refused[i].what, &csr, diag);
        CHECK(csr.nnz == 0 && csr.row_ptr == NULL, "case %zu: the output is not zeroed", i);
        expect_failure("generate", status, MC_USAGE, diag, refused[i].message);
    }
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    test_checksums(diag);
    test_power(MC_ROWS_POWER, diag);
    test_power(MC_ROWS_LEVEL, diag);
    test_meshes(diag);
    test_blocks(diag);
    test_heavy(diag);
    test_limits(diag);
    test_refused(diag);
    mc_diag_destroy(diag);
    return check_end();
}
