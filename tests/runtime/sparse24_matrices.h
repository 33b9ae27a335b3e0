/* Random matrices of every type that sparse tensor cores have, with room in each group. */
#ifndef TESTS_SPARSE24_MATRICES_H
#define TESTS_SPARSE24_MATRICES_H

#include "matrix/random.h"
#include "matrix/sparse24.h"
#include "scratch.h"

static const mc_type types[] = {MC_F16,  MC_BF16, MC_S8,  MC_U8, MC_E4M3,
                                MC_E5M2, MC_TF32, MC_F32, MC_S4, MC_U4};
enum { TYPES = sizeof types / sizeof *types };

static inline mc_dense dense_of(mc_type type, int64_t rows, int64_t cols, mc_diag *diag) {
    mc_dense dense;
    expect_ok("create", mc_dense_create(type, rows, cols, cols + cols % 2, &dense, diag), diag);
    return dense;
}

static inline bool same(const mc_dense *a, const mc_dense *b) {
    bool same = a->type == b->type && a->rows == b->rows && a->cols == b->cols;
    for (int64_t i = 0; same && i < a->rows; i++)
        for (int64_t j = 0; same && j < a->cols; j++) same = mc_dense_get(a, i, j) == mc_dense_get(b, i, j);
    return same;
}

/* A nonzero of TYPE that is not minus zero. */
static inline int64_t random_nonzero(mcrt_random *random, mc_type type) {
    mc_dense one = {type, 1, 1, 2, (uint64_t[2]){0}};
    do mc_dense_set(&one, 0, 0, random_value(random, type, MC_VALUES_FULL));
    while (mc_dense_real(&one, 0, 0) == 0);
    return mc_dense_get(&one, 0, 0);
}

/* At most as many units of a group have nonzeros as may be kept. */
static inline mc_dense random_matrix(mc_type type, int64_t rows, int64_t cols, uint64_t seed, mc_diag *diag) {
    mc_sparse24_rule rule;
    mc_dense dense = dense_of(type, rows, cols, diag);
    expect_ok("rule", mc_sparse24_rule_of(type, &rule, diag), diag);
    mcrt_random random = random_start(seed, 1);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t first = 0; first < cols; first += rule.group * rule.unit)
            for (int n = 0; n < rule.kept; n++) {
                int64_t unit = (int64_t)(random_next(&random) % (uint64_t)(rule.group + 1));
                for (int e = 0; e < rule.unit && unit < rule.group; e++) {
                    int64_t col = first + unit * rule.unit + e;
                    if (col < cols) mc_dense_set(&dense, i, col, random_nonzero(&random, type));
                }
            }
    return dense;
}

static const struct {
    int64_t rows, cols;
} shapes[] = {{0, 0}, {0, 8}, {3, 0}, {1, 1}, {2, 2},   {3, 3},   {1, 4},    {5, 5},
              {1, 6}, {4, 7}, {2, 8}, {3, 9}, {17, 40}, {33, 64}, {65, 200}, {70, 260}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

#endif
