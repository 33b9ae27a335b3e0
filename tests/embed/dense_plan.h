/* Products of which a plan may take a dense kernel. */
#ifndef TESTS_EMBED_DENSE_PLAN_H
#define TESTS_EMBED_DENSE_PLAN_H

#include "product.h"

/* Of 32 rows and 2048 columns a dense kernel should take 2.1 us, and a sparse one 3.1 at 30 %, 1.7 at 98 %. */
enum { LONG = 2048, TOKENS = 40 };
#define FULL(v)  .vec = (v), .row_blocks = 32 / (v), .cols = LONG, .sparsity = 0.3
#define EMPTY(v) .vec = (v), .row_blocks = 32 / (v), .cols = LONG, .sparsity = 0.98
#define CONFIG(tokens, ...)                                                                                  \
    { .dense = MC_DENSE_IF_FASTER, .n = (tokens), __VA_ARGS__ }
#define BY_COLUMNS .b = MC_S8, .b_major = MC_MAJOR_COLUMN

static inline mc_plan_info info_of(const mc_plan *plan) {
    mc_plan_info info = {.size = sizeof info};
    (void)worked("info", mc_plan_get_info(plan, &info, diag));
    return info;
}

/* What is said goes with what is there. */
static inline void check_said(const product *p, bool taken, const char *reason) {
    const mc_plan_info info = info_of(p->plan);
    const char *name = p->kind->name;
    CHECK(info.dense == taken, "%s: %s: %s", name, info.dense_reason, info.fields);
    CHECK((strstr(info.fields, "op=gemm ") != NULL) == taken, "%s: %s", name, info.fields);
    CHECK_TEXT(info.dense_reason, reason);
    if (!taken) return;
    CHECK(info.dense_microseconds > 0 && info.dense_microseconds < info.sparse_microseconds, "%s: %g and %g",
          name, info.dense_microseconds, info.sparse_microseconds);
    CHECK(info.dense_bytes >= mc_type_size(p->host.type, p->host.rows * p->host.cols), "%s", name);
    const bool passes = mc_type_bits(p->host.type) == 8 && p->config.b_major == MC_MAJOR_ROW;
    CHECK((info.transpose_fields[0] != '\0') == passes && (mc_plan_workspace(p->plan) > 0) == passes,
          "%s: transposed", name);
}

#endif
