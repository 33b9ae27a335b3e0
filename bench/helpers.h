/* Small kernels of the bench itself: they make random operands, compute a plain reference, and compare
   results on the device. Written by hand, apart from gen/, so that they can disagree with what it
   generates. */
#ifndef BENCH_HELPERS_H
#define BENCH_HELPERS_H

#include "mcrt_internal.h"

/* Half the distance between neighbours, relative: 2^-11 for f16. 0 for integers. */
double type_rounding(mc_type type);

enum { HELPER_COUNT = 49 /* places of the modules, the first of which is empty */ };

typedef struct helpers {
    mc_device *device;
    mc_module *modules[HELPER_COUNT];
    uint64_t counter; /* u32 */
} helpers;

/* DEVICE may be the simulator. Kernels are loaded when they are first wanted. The caller closes also
   after a failure. */
mc_status helpers_open(helpers *helpers, mc_device *device, mc_diag *diag);
void helpers_close(helpers *helpers);

/* COUNT elements of TYPE (s8, u8, f16, bf16, tf32, f32, e4m3, e5m2). Uniform: bytes of integers over their
   whole range, f16, bf16, tf32 and f32 in [-1, 1) with all bits of their mantissas in use, e4m3 and e5m2 of
   all bits below 2 in magnitude; ADDRESS is a multiple of 4, and up to 3 bytes behind the end are written
   too. Normal: rounded to TYPE, with the deviation 1, of integers 32 (s8 at most 127, u8 magnitudes). The
   same seed gives the same values, whatever COUNT is. */
typedef enum fill_law { FILL_UNIFORM, FILL_NORMAL_VALUES } fill_law;
mc_status helpers_fill(helpers *helpers, mc_type type, fill_law law, uint64_t address, uint64_t count,
                       uint32_t seed, mc_diag *diag);
/* About: that of the values, of bytes of floats the greatest that their sums go by. */
double helpers_deviation(mc_type type, fill_law law);
/* Of each four neighbours of COUNT elements of TYPE (1 or 2 bytes) two become 0, one of the six pairs at
   random. */
mc_status helpers_mask24(helpers *helpers, mc_type type, uint64_t address, uint64_t count, uint32_t seed,
                         mc_diag *diag);

/* C = A B, one multiplication and addition a term in the order of k. A, of type A: m x k, row-major with LDA;
   B's element (k, n), of type B, lies at k * b_k + n * b_n; no element is NaN. C: m x n; of floats f32, each
   term one fused multiply-add; of s8 and u8 s32, exact modulo 2^32. */
typedef struct dense_product {
    uint64_t a, b, c;
    int64_t m, n, k, lda, b_k, b_n;
} dense_product;
mc_status helpers_reference(helpers *helpers, mc_type a, mc_type b, const dense_product *product,
                            mc_diag *diag);

/* The results that an output of TYPE (f16, bf16, f32, s8) must have for exact sums: fma(f32(sum), scale,
   bias) or, where that is more, LEAST, rounded to TYPE, and stored as f32. Element (row, col) takes
   scale[row * scale_row + col * scale_col], and the bias alike; what is one for the whole result has
   strides of 0. */
typedef struct output_rule {
    uint64_t scale, bias; /* f32 on the device */
    uint32_t scale_row, scale_col, bias_row, bias_col;
    float least; /* 0 for relu; -INFINITY: whatever it is */
} output_rule;
mc_status helpers_output(helpers *helpers, mc_type type, uint64_t sums, uint64_t out, int64_t rows,
                         int64_t cols, const output_rule *rule, mc_diag *diag);
/* The same of sums in f32, not rounded to another type. */
mc_status helpers_output_reals(helpers *helpers, uint64_t sums, uint64_t out, int64_t rows, int64_t cols,
                               const output_rule *rule, mc_diag *diag);

/* The slots of a sampled result (orders.h) on the device: COUNT of them, each VEC elements. */
typedef struct sampled_list {
    uint64_t slots;
    int64_t count;
    int vec;
    bool weighted;
    uint64_t values; /* f32: the mask's, where the elements lie; else one 1 */
} sampled_list;

/* A B at the slots of LIST, zeros at padding. A: rows of K elements of TYPE; B: columns of K of them, one
   after another. Of s32 modulo 2^32; of f32 in f32, 32 sums of every 32nd product each, these added up in a
   tree. */
mc_status helpers_sampled_sums(helpers *helpers, mc_type type, const sampled_list *list, uint64_t a,
                               uint64_t b, int64_t k, uint64_t sums, mc_diag *diag);
/* The results that an output of TYPE must have for exact sums: f32(sum) * scale * value, each product rounded
   to f32, and the last one to TYPE; stored as f32. RULE as above, but for biases and LEAST. */
mc_status helpers_sampled_output(helpers *helpers, mc_type type, const sampled_list *list, uint64_t sums,
                                 uint64_t out, const output_rule *rule, mc_diag *diag);

/* Whether results of TYPE can be compared. */
bool helpers_compare_type(mc_type type);
/* How many of COUNT elements of GOT are wrong. s32 (WANT s32): those that differ. f16, bf16, f32 (WANT f32):
   those for which |got - want| <= rel * (|want| + floor) does not hold, NaN included. */
typedef struct tolerance {
    double rel, floor;
} tolerance;
/* GOT has rows of COLS elements, LD apart; COLS 0: there are no gaps. WANT has none. */
typedef struct compared {
    uint64_t got, want, count, cols, ld;
} compared;
mc_status helpers_compare(helpers *helpers, mc_type type, const compared *compared, tolerance allowed,
                          uint64_t *wrong, mc_diag *diag);
/* The same of elements that may be anything from LEAST to MOST, both f32 (sum_range in ops/reference.h): a
   NaN where both are NaN, anything from -infinity to infinity. */
mc_status helpers_within(helpers *helpers, mc_type type, uint64_t got, uint64_t least, uint64_t most,
                         uint64_t count, uint64_t *wrong, mc_diag *diag);

#endif
