/* Pruning to V x 1 vectors: which are kept, what they become, and how far a product is off. */
#include <math.h>
#include "scratch.h"
#include "matrix/prune.h"

enum { ROWS = 5, COLS = 4 };

/* Worth by magnitude, V = 2: 3 9 0 5 | 4 0 0 4 | 1 0 7 0; by squares: 5 45 0 25 | 16 0 0 8 | 1 0 49 0. */
static const float weight[ROWS][COLS] = {
    {1, 3, 0, 5}, {-2, -6, 0, 0}, {4, 0, 0, 2}, {0, 0, 0, -2}, {1, 0, -7, 0}};

static mc_dense dense_weight(mc_diag *diag) {
    mc_dense dense;
    expect_ok("create", mc_dense_create(MC_F32, ROWS, COLS, COLS, &dense, diag), diag);
    memcpy(dense.data, weight, sizeof weight);
    return dense;
}

static const mc_prune_config half = {.vec = 2, .sparsity = .5, .type = MC_S8, .scale_rows = true};

static void check_kept(const char *name, const mc_vsparse *a, const char *want) {
    char got[64] = "";
    for (int64_t block = 0; block < a->row_blocks; block++) {
        for (int64_t v = a->row_ptr[block]; v < a->row_ptr[block + 1]; v++)
            snprintf(got + strlen(got), sizeof got - strlen(got), "%d", a->col_idx[v]);
        snprintf(got + strlen(got), sizeof got - strlen(got), "|");
    }
    CHECK(strcmp(got, want) == 0, "%s: kept %s, want %s", name, got, want);
}

static void test_choice(mc_diag *diag) {
    static const struct {
        const char *name;
        double sparsity;
        mc_prune_by by;
        const char *want;
    } cases[] = {{"nothing", 1, MC_PRUNE_L2, "|||"},
                 {"all", 0, MC_PRUNE_L2, "0123|0123|0123|"},
                 {"half", .5, MC_PRUNE_MAGNITUDE, "013|03|2|"},
                 {"two", 10. / 12, MC_PRUNE_MAGNITUDE, "1||2|"},
                 {"two", 10. / 12, MC_PRUNE_L2, "1||2|"},
                 {"one", 11. / 12, MC_PRUNE_MAGNITUDE, "1|||"},
                 {"one", 11. / 12, MC_PRUNE_L2, "||2|"},
                 {"of equal ones the first", 8. / 12, MC_PRUNE_MAGNITUDE, "13|0|2|"}};
    mc_dense dense = dense_weight(diag);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mc_prune_config config = half;
        mc_pruned p;
        config.sparsity = cases[i].sparsity, config.by = cases[i].by;
        expect_ok(cases[i].name, mc_prune(&dense, &config, &p, diag), diag);
        check_kept(cases[i].name, &p.a, cases[i].want);
        mc_pruned_free(&p);
    }
    mc_dense_free(&dense);
}

/* Scales take the greatest magnitude that is kept to 127; the last row block has a row that is none. */
static void test_values(mc_diag *diag) {
    mc_dense dense = dense_weight(diag);
    mc_pruned p;
    expect_ok("rows", mc_prune(&dense, &half, &p, diag), diag);
    CHECK(p.a.rows == 6 && p.scales.cols == 6, "%lld rows", (long long)p.a.rows);
    CHECK(((float *)p.scales.data)[0] == 5.0F / 127 && ((float *)p.scales.data)[5] == 0x1p-126F, "scales");
    CHECK(mc_vsparse_value(&p.a, 0, 0) == 25 && mc_vsparse_value(&p.a, 2, 0) == 127, "row 0");
    CHECK(mc_vsparse_value(&p.a, 1, 1) == -127 && mc_vsparse_value(&p.a, 5, 1) == 0, "rows 1 and 5");
    CHECK(fabs(p.energy - (1 + 9 + 25 + 4 + 36 + 16 + 4 + 4 + 49.) / 149) < 1e-12, "energy %.9g", p.energy);
    mc_pruned_free(&p);
    mc_prune_config one = half;
    one.scale_rows = false, one.type = MC_S4, one.sparsity = 0;
    expect_ok("tensor", mc_prune(&dense, &one, &p, diag), diag);
    CHECK(p.scales.cols == 1 && ((float *)p.scales.data)[0] == 1 && p.energy == 1, "one scale");
    CHECK(mc_vsparse_value(&p.a, 10, 0) == -7 && mc_vsparse_value(&p.a, 0, 1) == -2, "as they are");
    mc_pruned_free(&p);
    mc_dense_free(&dense);
}

static void test_mask(mc_diag *diag) {
    static int64_t row_ptr[] = {0, 1, 3, 3, 3, 4};
    static int32_t col_idx[] = {2, 0, 2, 3};
    const mc_csr mask = {5, 4, 4, row_ptr, col_idx, MC_CSR_PATTERN, NULL, 0},
                 other = {4, 4, 0, row_ptr, col_idx, MC_CSR_PATTERN, NULL, 0};
    mc_prune_config config = half;
    mc_dense dense = dense_weight(diag);
    mc_pruned p;
    config.mask = &mask;
    expect_ok("mask", mc_prune(&dense, &config, &p, diag), diag);
    check_kept("mask", &p.a, "02||3|");
    mc_pruned_free(&p);
    config.mask = &other;
    expect_failure("shape", mc_prune(&dense, &config, &p, diag), MC_USAGE, diag,
                   "the mask is 4 x 4, the matrix 5 x 4");
    mc_dense_free(&dense);
}

/* One token that picks column 1: what is kept of it is exact, or missing. */
static void test_error(mc_diag *diag) {
    mc_dense dense = dense_weight(diag), x, wrong;
    mc_pruned p;
    mc_prune_errors e;
    expect_ok("create", mc_dense_create(MC_F32, 1, COLS, COLS, &x, diag), diag);
    expect_ok("create", mc_dense_create(MC_F32, 1, 3, 3, &wrong, diag), diag);
    ((float *)x.data)[1] = 2;
    expect_ok("prune", mc_prune(&dense, &half, &p, diag), diag);
    expect_ok("error", mc_prune_error(&dense, &p, &x, NULL, &e, diag), diag);
    CHECK(e.pruned == 0 && e.quantised > 0 && e.quantised < .01 && e.activations == 0, "%g, %g", e.pruned,
          e.quantised);
    ((float *)x.data)[1] = 0, ((float *)x.data)[0] = 1;
    expect_ok("error", mc_prune_error(&dense, &p, &x, NULL, &e, diag), diag);
    CHECK(fabs(e.pruned - sqrt(1 / 22.)) < 1e-12, "row 4 is dropped: %g", e.pruned);
    expect_failure("features", mc_prune_error(&dense, &p, &wrong, NULL, &e, diag), MC_USAGE, diag,
                   "activations have 3 features, the matrix 4 columns");
    mc_pruned_free(&p);
    mc_dense_free(&x);
    mc_dense_free(&wrong);
    mc_dense_free(&dense);
}

/* Weights that s4 holds as they are, times tokens that are not: the products of tokens rounded by scale and
   zero point, and the bias that takes the zero point off again. */
static void test_activations(mc_diag *diag) {
    static const float tokens[2][COLS] = {{.25F, -1, 3, .5F}, {2, 0, 1.75F, -.5F}};
    static const quantiser how = {MC_U4, .5F, 2};
    const mc_prune_config whole = {.vec = 2, .type = MC_S4};
    mc_dense dense = dense_weight(diag), x, bias;
    mc_pruned p;
    mc_prune_errors e;
    double off = 0, all = 0;
    expect_ok("create", mc_dense_create(MC_F32, 2, COLS, COLS, &x, diag), diag);
    memcpy(x.data, tokens, sizeof tokens);
    expect_ok("prune", mc_prune(&dense, &whole, &p, diag), diag);
    expect_ok("error", mc_prune_error(&dense, &p, &x, &how, &e, diag), diag);
    expect_ok("bias", mc_prune_bias(&p, &how, &bias, diag), diag);
    for (int i = 0; i < ROWS; i++)
        for (int t = 0; t < 2; t++) {
            double want = 0, got = (double)((float *)bias.data)[i];
            for (int j = 0; j < COLS; j++) {
                want += (double)weight[i][j] * (double)tokens[t][j];
                got += (double)weight[i][j] * .5 * (double)quantiser_apply(&how, tokens[t][j]);
            }
            off += (want - got) * (want - got), all += want * want;
        }
    CHECK(e.pruned == 0 && e.quantised == 0, "the weights are as they were");
    CHECK(off > 0 && fabs(e.activations - sqrt(off / all)) < 1e-12, "%.17g, must be %.17g", e.activations,
          sqrt(off / all));
    CHECK(bias.cols == 6 && ((float *)bias.data)[0] == -9 && ((float *)bias.data)[5] == 0, "bias");
    mc_pruned_free(&p);
    mc_dense_free(&bias);
    mc_dense_free(&x);
    mc_dense_free(&dense);
}

static void test_refused(mc_diag *diag) {
    mc_dense dense = dense_weight(diag);
    mc_prune_config config = half;
    mc_pruned p;
    config.type = MC_U8;
    expect_failure("type", mc_prune(&dense, &config, &p, diag), MC_USAGE, diag,
                   "u8: values are quantised to signed");
    config = half, config.vec = 0;
    expect_failure("vec", mc_prune(&dense, &config, &p, diag), MC_USAGE, diag, "vectors of 0 elements");
    config = half, config.sparsity = 1.5;
    expect_failure("sparsity", mc_prune(&dense, &config, &p, diag), MC_USAGE, diag, "a sparsity of 1.5");
    ((float *)dense.data)[5] = INFINITY;
    expect_failure("infinity", mc_prune(&dense, &half, &p, diag), MC_CANNOT, diag, "element [1][1] is inf");
    mc_dense_free(&dense);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    test_choice(diag);
    test_values(diag);
    test_mask(diag);
    test_error(diag);
    test_activations(diag);
    test_refused(diag);
    mc_diag_destroy(diag);
    return check_end();
}
