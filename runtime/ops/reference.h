/* The CPU references: exact sums, and what a kernel must make of them. */
#ifndef MCRT_REFERENCE_H
#define MCRT_REFERENCE_H

#include "arithmetic/arithmetic.h"
#include "formats/pack.h"
#include "formats/sampled.h"

/* C = A B: of integers exactly, in int64 (MC_CANNOT where a sum leaves it); of floats in f32, in the order
   that arithmetic/floats.c says. c: a->rows x b->cols, created by the call. */
MC_API mc_status mc_reference_spmm(const mc_vsparse *a, const mc_dense *b, mc_dense *c, mc_diag *diag);
/* How far a kernel's sum may be from each of these, f32; zeros where sums are exact. */
MC_API mc_status mc_reference_spmm_bounds(const mc_vsparse *a, const mc_dense *b, mc_dense *bounds,
                                          mc_diag *diag);

/* In which order the gather kernel adds floats up: fields of its spec (docs/floats.md). */
typedef struct mc_gather_order {
    int stride;  /* slots that a warp takes at a time: a multiple of 32 */
    int split;   /* warps that share a row block: 1 to 32 */
    bool heads;  /* whether the first strides of all row blocks lie in front of the others */
    bool halves; /* whether e4m3 and e5m2 are made f16 before: all but sm_89, sm_120 and later */
} mc_gather_order;
/* C = A B of floats, or of small integers by f16 or bf16, in f32, in that order: to the bit as the kernel's
   sums are on an H200. c: a->rows x b->cols, created by the call. MC_CANNOT where A and B have other types,
   or A's slots leave s32; MC_USAGE where ORDER is none. */
MC_API mc_status mc_reference_spmm_ordered(const mc_vsparse *a, const mc_dense *b,
                                           const mc_gather_order *order, mc_dense *c, mc_diag *diag);
/* The same in the order of the ring kernel, whose columns of C depend on where they lie in a tile. HALVES as
   above. MC_CANNOT where RING has parts. */
MC_API mc_status mc_reference_spmm_ring_ordered(const mc_vsparse *a, const mc_dense *b, const mc_ring *ring,
                                                bool halves, mc_dense *c, mc_diag *diag);
/* The same in the order of the gather kernel with panels; A has vec = 1. A row of B that is infinite or a NaN
   reaches all rows of a panel in which one has something in that column. */
MC_API mc_status mc_reference_spmm_panels_ordered(const mc_vsparse *a, const mc_dense *b,
                                                  const mc_panels *form, bool halves, mc_dense *sums,
                                                  mc_diag *diag);
/* C = A B of f32, tf32, f16 or bf16 in the order of kernels that read A as CSR, which has vec = 1: by fused
   multiply-adds, on any processor to the bit as the kernel's sums are. */
MC_API mc_status mc_reference_spmm_csr_ordered(const mc_vsparse *a, const mc_dense *b,
                                               const mc_csr_form *form, mc_dense *c, mc_diag *diag);
/* The same in the order of kernels that read csr-stream, which round products before they add them. */
MC_API mc_status mc_reference_spmm_stream_ordered(const mc_vsparse *a, const mc_dense *b,
                                                  const mc_csr_stream *form, mc_dense *c, mc_diag *diag);
/* The same in the order of the kernel of staging "hrpb", of tf32 (docs/unstructured.md); A has vec = 1. A row
   of B that is infinite or a NaN reaches all rows of a panel. WAVES as of mc_hrpb_split. */
MC_API mc_status mc_reference_spmm_hrpb_ordered(const mc_vsparse *a, const mc_dense *b, const mc_hrpb *form,
                                                double waves, mc_dense *sums, mc_diag *diag);
/* MC_USAGE where there is no A B. */
mc_status reference_check_spmm(const mc_vsparse *a, const mc_dense *b, mc_diag *diag);

/* The sums of an SDDMM, likewise: A is m x k, B as LAYOUT says. sums: mask->vectors x mask->vec, created by
   the call. */
MC_API mc_status mc_reference_sddmm(const mc_vsparse *mask, const mc_dense *a, const mc_dense *b,
                                    mc_layout layout, mc_dense *sums, mc_diag *diag);

/* In which order a kernel adds floats up (docs/sddmm.md). ALIGNED: whole units of 16 bytes come first, in
   chunks, whose products go to one sum, to several CHAINS in turn, or to two, of the even chunks and of the
   odd ones (reads = "lines"). The k that are left come in rounds. */
typedef enum mc_sample_sums { MC_SAMPLE_ONE, MC_SAMPLE_CHAINS, MC_SAMPLE_LINES } mc_sample_sums;
typedef struct mc_sample_order {
    mc_sample_sums sums;
    bool aligned;
    bool halves; /* as in mc_gather_order */
} mc_sample_order;
/* The sums, f32, in that order: to the bit as the kernel's. MC_CANNOT where no mma multiplies such values. */
MC_API mc_status mc_reference_sddmm_ordered(const mc_vsparse *mask, const mc_dense *a, const mc_dense *b,
                                            mc_layout layout, const mc_sample_order *order, mc_dense *sums,
                                            mc_diag *diag);
/* The sums in the order of kernels of method "csr", in which LANES lanes share a nonzero: on any processor to
   the bit as theirs. A and B, by columns, are f32, tf32, f16 or bf16, the mask has vec = 1. sums: f32,
   mask->vectors x 1, created by the call. MC_USAGE where shapes do not fit or LANES is no power of two up to
   32, MC_CANNOT for other types and vectors. */
MC_API mc_status mc_reference_sddmm_csr_ordered(const mc_vsparse *mask, const mc_dense *a, const mc_dense *b,
                                                int lanes, mc_dense *sums, mc_diag *diag);
/* MC_USAGE where there is no A B of the mask's shape. */
mc_status reference_check_sddmm(const mc_vsparse *mask, const mc_dense *a, const mc_dense *b,
                                mc_layout layout, mc_diag *diag);

MC_API mc_status mc_reference_sddmm_bounds(const mc_vsparse *mask, const mc_dense *a, const mc_dense *b,
                                           mc_layout layout, mc_dense *bounds, mc_diag *diag);

/* C = A^T B of f16 or bf16, in f32, in the order of the kernels of spmmt (docs/transposed.md): to the bit
   as theirs on an H200. A's values are VALUES, vectors x vec. sums: a->cols x b->cols, created by the call.
   MC_USAGE where shapes do not fit, MC_CANNOT for other types. */
MC_API mc_status mc_reference_spmmt_ordered(const mc_vsparse *a, const mc_dense *values, const mc_dense *b,
                                            mc_dense *sums, mc_diag *diag);

/* C = A B of dense floats, in f32, in the order of the kernels of METHOD (docs/gemm.md): to the bit as theirs
   on an H200. A is m x k, B as LAYOUT says. sums: m x n, created by the call, f32 though they are f16.
   MC_USAGE where shapes do not fit, MC_CANNOT for other types. */
typedef enum mc_gemm_method { MC_GEMM_WGMMA, MC_GEMM_MMA } mc_gemm_method; /* in the order of the words */
/* Tiles of which the last ones are dealt out along k, as by `stream` of wgmma's kernels. */
typedef struct mc_gemm_stream {
    int blocks; /* thread blocks of the grid; 0: no tile is */
    int tile_m, tile_n, group;
} mc_gemm_stream;
typedef struct mc_gemm_order {
    mc_gemm_method method;
    int parts; /* that k is split into, as by `split` of wgmma's kernels: 1 where it is not */
    mc_sum_mode sums;
    /* scales of blocks, where sums are PROMOTED: as executions bring them (mcrt.h); NULL: none */
    const mc_dense *a_blocks, *b_blocks;
    mc_major a_blocks_major;
    mc_gemm_stream stream; /* with parts = 1 */
} mc_gemm_order;
MC_API mc_status mc_reference_gemm_ordered(const mc_dense *a, const mc_dense *b, mc_layout layout,
                                           const mc_gemm_order *order, mc_dense *sums, mc_diag *diag);

/* The same of a 2:4 A: each wgmma, or mma, adds the products of the next elements that A's groups keep. Where
   a group has fewer than it may keep, zeros beside them are kept, the earliest ones. */
MC_API mc_status mc_reference_gemm24_ordered(const mc_vsparse *a, const mc_dense *b, mc_layout layout,
                                             const mc_gemm_order *order, mc_dense *sums, mc_diag *diag);

/* COUNT sums of magnitudes of TERMS products become bounds, rounded up. */
void reference_bound(const arithmetic *of, int64_t terms, float *bounds, int64_t count);
/* Sums, of a type of the reference's. MOST without data: they are exact, and all in LEAST. Else a kernel's
   may be anything from LEAST to MOST, which are f32; from -infinity to infinity also NaNs. */
typedef struct sum_range {
    mc_dense least, most;
} sum_range;

MC_API void mc_sum_range_free(sum_range *sums);
/* The range of SUMS, of f32, with BOUNDS. range: created by the call. */
MC_API mc_status mc_sum_range_make(const mc_dense *sums, const mc_dense *bounds, sum_range *range,
                                   mc_diag *diag);

/* What a kernel's result must be: each element LOW's or, where HIGH has data, anything from LOW's to
   HIGH's. */
typedef struct reference_result {
    mc_dense low, high;
} reference_result;

MC_API void mc_result_free(reference_result *result);
/* MC_MISMATCH names the first element of GOT, as one of NAME, that WANT does not allow. */
MC_API mc_status mc_result_compare_named(const char *name, const mc_dense *got, const reference_result *want,
                                         mc_diag *diag);
/* The same of C. */
MC_API mc_status mc_result_compare(const mc_dense *got, const reference_result *want, mc_diag *diag);

/* How a kernel turns its sums into C (docs/output.md). */
typedef struct mc_output {
    mc_type type;         /* of C: s32, s64, f16, bf16, f32, s8, u8, s4 or u4; sampled not s64, s4 and u4 */
    mc_per scale, bias;   /* what there is one for; none for s32 and s64 */
    mc_per b_scale;       /* none or column: a second scale, before the bias */
    mc_per c_scale, zero; /* none or tensor, of s8, u8, s4 and u4: C's own scale and zero point */
    mc_per beta;          /* none or tensor: the residual's factor */
    mc_activation activation; /* of what scale and bias give; none for s32 and s64 */
    /* made of the sums themselves, as s64 always is; else of the sums modulo 2^32 */
    bool exact;
    /* SDDMM of a real type: the scaled sum is multiplied by the mask's value before it is brought into
       TYPE */
    bool masked;
} mc_output;

/* Scales, biases and zero points, mc_per_count of each; NULL: none. And a matrix of C's shape, of reals, that
   is added before the activation, times beta; NULL, or without data: none. */
typedef struct mc_factors {
    const float *scale, *b_scale, *bias, *c_scale, *zero, *beta;
    const mc_dense *residual;
} mc_factors;

/* 2^T of T from -126 to 124.1, to the bit as kernels have it. */
MC_API float mc_power_of(float t);
/* What ACTIVATION makes of X, to the bit. */
MC_API float mc_activation_of(mc_activation activation, float x);
/* LOW and HIGH become the ends of what ACTIVATION makes of all numbers between them: wider than that by
   rounding errors alone. NaNs stay NaNs. */
void activation_range(mc_activation activation, float *low, float *high);
MC_API mc_status mc_output_of(const mc_kernel *kernel, mc_output *output, mc_diag *diag);
/* How many scales or biases there are for a C of ROWS x COLS: 0, 1, ROWS or COLS. */
MC_API int64_t mc_per_count(mc_per per, int64_t rows, int64_t cols);
/* Random scales and biases of either sign. FULL: of a size that suits sums of s8 products and f16; EXTREME:
   some make zeros, subnormal halves, or leave f16; ONES: 1. */
MC_API void mc_scale_fill(float *scale, int64_t count, mc_value_law law, uint64_t seed);
MC_API void mc_bias_fill(float *bias, int64_t count, mc_value_law law, uint64_t seed);
/* The C that a kernel with OUTPUT must give for the SUMS (of mc_reference_spmm), bit for bit: the sum,
   modulo 2^32 where OUTPUT is not exact, and, where it is scaled, what docs/output.md makes of it. FACTORS
   NULL: there are none. c: created by the call. */
MC_API mc_status mc_reference_output(const mc_output *output, const mc_factors *factors, const mc_dense *sums,
                                     mc_dense *c, mc_diag *diag);
/* The least and the greatest elements of such a C for SUMS that have a range. WANT: created by the call. */
MC_API mc_status mc_reference_range(const mc_output *output, const mc_factors *factors, const sum_range *sums,
                                    reference_result *want, mc_diag *diag);
/* The same two for the SUMS of mc_reference_sddmm and the elements of C in ORDER: scales by row and column
   are those of the rows of A and the columns of B (mc_per_count of mask->rows x mask->cols). c: created by
   the call. */
MC_API mc_status mc_reference_sampled(const mc_output *output, const mc_vsparse *mask, mc_order order,
                                      const float *scale, const mc_dense *sums, mc_dense *c, mc_diag *diag);
MC_API mc_status mc_reference_sampled_range(const mc_output *output, const mc_vsparse *mask, mc_order order,
                                            const float *scale, const sum_range *sums, reference_result *want,
                                            mc_diag *diag);

#endif
