/* A product with everything that it takes: random operands, a plan, addresses; computed by the library and by
   the reference. */
#ifndef TESTS_EMBED_PRODUCT_H
#define TESTS_EMBED_PRODUCT_H

#include "check.h"
#include "mcrt_internal.h"

/* What there is to multiply. Members of config that are not here (matrix) are filled in. */
typedef struct product_kind {
    const char *name;
    mc_type type; /* of the matrix */
    int vec;
    int64_t row_blocks, cols;
    double sparsity;
    unsigned offset; /* of A, B and C past an aligned address */
    mc_plan_config config;
} product_kind;

typedef struct product {
    const product_kind *kind;
    mc_context *context;
    mc_vsparse host; /* what the matrix should hold */
    mc_matrix *matrix;
    mc_plan_config config;
    mc_plan *plan;
    mc_dense a, b, residual; /* A of an SDDMM only */
    int64_t ldc;             /* of an SpMM, whose C may lie by columns where there is no residual */
    float *scale, *bias, *b_scale;
    float c_scale, zero;
    mc_argument list[4]; /* these, and the residual */
    mc_args args;
    mc_address workspace; /* of the plan */
    mc_address buffers[10];
    size_t buffer_count;
} product;

/* Every test's messages; cleared by those who look into them. */
extern mc_diag *diag;

/* What main returns: checks of the test and of product.c, which counts its own. */
int product_end(int test_end);

/* True: it worked; else a check has failed, with the message, which is cleared. */
bool worked(const char *what, mc_status status);

/* mc_context_config.log with a HEARD as user: how many notes there were, and the last one. */
typedef struct heard {
    int notes;
    char last[2048];
} heard;
void product_listen(void *user, mc_log_level level, const char *message);

/* A matrix of KIND with values of SEED, and a context's own one of the same content. */
mc_vsparse product_host(const product_kind *kind, uint64_t seed);
mc_matrix *product_matrix(mc_context *context, const mc_vsparse *host);

/* Everything but the plan; and that. False: a check has failed. product_close takes both. */
bool product_open(product *p, mc_context *context, const product_kind *kind, uint64_t seed);
bool product_plan(product *p);
void product_close(product *p);

/* Random elements; LD of 0: no gaps. The caller frees. */
mc_dense product_dense(mc_type type, int64_t rows, int64_t cols, int64_t ld, uint64_t seed);
/* Device memory that product_close frees: OFFSET bytes past an aligned address. */
mc_address product_reserve(product *p, int64_t bytes, unsigned offset);
/* A B of P's as it lies on the device: itself, or by columns; the caller frees. */
mc_dense product_stored(const product *p, const mc_dense *b);
/* Gaps stay unwritten: the simulator stops who reads them. */
void product_write(const product *p, mc_address address, const mc_dense *dense);

/* The C that must come of it, row-major; of floats the least, or the least and the most. The caller frees. */
mc_dense product_want(const product *p);
reference_result product_result(const product *p);
/* Poisons C, executes, and compares: every element, and the gaps.
   The parts: for those who execute otherwise. */
void product_check(const product *p);
void product_poison(const product *p);
void product_compare(const product *p);
/* The whole: open, plan, check, close. */
void product_run(mc_context *context, const product_kind *kind, uint64_t seed);

#endif
