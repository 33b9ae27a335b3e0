/* The part of cuBLASLt that the bench calls. Types, numbers and struct layouts are the ABI that the cuBLAS
   library documentation describes (version 12 and later); tests/bench/abi.c holds them against its
   headers. */
#ifndef BENCH_CUBLASLT_API_H
#define BENCH_CUBLASLT_API_H

#include "mcrt_internal.h"
#include "device/cuda_driver.h"

enum { /* cudaDataType_t, also cuSPARSE's */
       VENDOR_R_32F = 0,
       VENDOR_R_16F = 2,
       VENDOR_R_8I = 3,
       VENDOR_R_32I = 10,
       VENDOR_R_16BF = 14,
       VENDOR_R_8F_E4M3 = 28,
       VENDOR_R_8F_E5M2 = 29
};
int vendor_type(mc_type type);                                           /* one of these; -1: there is none */
enum { LT_COMPUTE_32F = 68, LT_COMPUTE_32I = 72, LT_COMPUTE_TF32 = 77 }; /* cublasComputeType_t */
enum { LT_OP_N = 0, LT_OP_T = 1 };                                       /* cublasOperation_t */
enum {                                                                   /* cublasLtMatmulDescAttributes_t */
       LT_DESC_TRANSA = 3,
       LT_DESC_TRANSB = 4,
       LT_DESC_A_SCALE = 17,
       LT_DESC_B_SCALE = 18,
       LT_DESC_FAST_ACCUM = 25
};
enum { LT_PREF_MAX_WORKSPACE_BYTES = 1 }; /* cublasLtMatmulPreferenceAttributes_t */
enum {
    LT_ALGO_ID = 0,
    LT_ALGO_TILE = 1,
    LT_ALGO_SPLITK = 2,
    LT_ALGO_STAGES = 6
}; /* cublasLtMatmulAlgoConfigAttributes_t */

typedef struct lt_algo {
    uint64_t data[8];
} lt_algo;

/* cublasLtMatmulHeuristicResult_t */
typedef struct lt_heuristic {
    lt_algo algo;
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
} lt_heuristic;

/* X(result, name, parameters): the symbol is cublasLt name. */
#define LT_LIST(X)                                                                                           \
    X(int, Create, (void **handle))                                                                          \
    X(int, Destroy, (void *handle))                                                                          \
    X(size_t, GetVersion, (void))                                                                            \
    X(int, MatmulDescCreate, (void **desc, int compute, int scale_type))                                     \
    X(int, MatmulDescDestroy, (void *desc))                                                                  \
    X(int, MatmulDescSetAttribute, (void *desc, int attribute, const void *value, size_t size))              \
    X(int, MatrixLayoutCreate, (void **layout, int type, uint64_t rows, uint64_t cols, int64_t ld))          \
    X(int, MatrixLayoutDestroy, (void *layout))                                                              \
    X(int, MatmulPreferenceCreate, (void **preference))                                                      \
    X(int, MatmulPreferenceDestroy, (void *preference))                                                      \
    X(int, MatmulPreferenceSetAttribute, (void *preference, int attribute, const void *value, size_t size))  \
    X(int, MatmulAlgoGetHeuristic,                                                                           \
      (void *handle, void *desc, void *a, void *b, void *c, void *d, void *preference, int requested,        \
       lt_heuristic *results, int *returned))                                                                \
    X(int, MatmulAlgoConfigGetAttribute,                                                                     \
      (const lt_algo *algo, int attribute, void *value, size_t size, size_t *written))                       \
    X(int, Matmul,                                                                                           \
      (void *handle, void *desc, const void *alpha, uint64_t a, void *a_layout, uint64_t b, void *b_layout,  \
       const void *beta, uint64_t c, void *c_layout, uint64_t d, void *d_layout, const lt_algo *algo,        \
       uint64_t workspace, size_t workspace_bytes, cuda_stream stream))

typedef struct cublaslt {
#define X(result, name, parameters) result(*name) parameters;
    LT_LIST(X)
#undef X
} cublaslt;

mc_status cublaslt_open(cublaslt *lt, mc_diag *diag);
/* MC_OK, or MC_DEVICE with "cublasLtMatmul: status 15" (cublasStatus_t). */
mc_status cublaslt_check(int result, const char *call, mc_diag *diag);

#define LT_CALL(lt, diag, name, ...) cublaslt_check((lt)->name(__VA_ARGS__), "cublasLt" #name, diag)

#endif
