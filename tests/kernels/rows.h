/* What tests of kernels over the rows of a mask have in common: masks with row blocks of all lengths, kernels of all combinations of
 * fields, parts of a test. */
#ifndef TESTS_ROWS_H
#define TESTS_ROWS_H

#include "choices.h"
#include "matrix/vsparse.h"
#include "mcrt_internal.h"

enum { ROWS_COLUMNS = 1200 };

typedef struct rows_bench {
    mc_device *device;
    mc_kernel *kernel;
    const mc_operator *op;
    plan_problem problem;
    mc_vsparse mask;
    mc_dense x, y; /* the operator's inputs */
    const int *lengths;
    int blocks;
    float scale, c_scale;
    const float *own_scale; /* NULL: the usual */
    bool special;
    mc_value_law law;
    mc_diag *diag;
    mc_status (*run)(struct rows_bench *t); /* makes operands, runs the kernel, compares */
    const char *text;                       /* of the settings at hand */
} rows_bench;

/* A mask with t->lengths, and values. */
mc_status rows_make_mask(rows_bench *t, int vec);
/* Lengths of more vectors than small kernels hold. */
void rows_make_long(rows_bench *t);
/* Of a graph: mostly a few, none, and one that is long. */
void rows_make_short(rows_bench *t);
/* Rows of nothing, but for one; of HELD elements, and of one more; all of more than HELD. */
typedef enum rows_edge { ROWS_EMPTY, ROWS_AT, ROWS_BEYOND } rows_edge;
void rows_make_edges(rows_bench *t, rows_edge edge, int held);
void rows_try(rows_bench *t, const char *spec, const mc_setting *settings, size_t count);

/* Every STEP-th of all combinations. */
void rows_try_all(rows_bench *t, const char *spec, const choice *choices, size_t count, int step);

#define TRY(t, spec, step, choices) rows_try_all(t, spec, choices, sizeof(choices) / sizeof *(choices), step)

#define EVERY_VEC                                                                                            \
    {                                                                                                        \
        "vec", { "1", "2", "4", "8", "16" }                                                                  \
    }
#define EVERY_ORDER                                                                                          \
    {                                                                                                        \
        "order", { "bcrs", "srbcrs16", "srbcrs32" }                                                          \
    }
#define EVERY_IN                                                                                             \
    {                                                                                                        \
        "lhs", { "f32", "f16", "bf16", "s32" }                                                               \
    }
#define EVERY_OUT                                                                                            \
    {                                                                                                        \
        "out", { "f32", "f16", "bf16", "s8", "u8", "s16", "u16" }                                            \
    }

typedef struct rows_part {
    const char *name;
    void (*run)(rows_bench *t, const char *spec);
} rows_part;

/* The arguments are SPEC, PART and, if it is not the simulator, DEVICE. Returns what kernels made of it: 1 where one failed; the caller
   counts its own checks. */
int rows_main(int argc, char **argv, mc_status (*run)(rows_bench *t), const rows_part *parts, size_t count);

#endif
