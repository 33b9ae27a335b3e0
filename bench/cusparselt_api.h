/* The part of cuSPARSELt that the bench calls: products with a matrix of 2:4. Written as cublaslt_api.h, of
   version 0.8 to 0.10. */
#ifndef BENCH_CUSPARSELT_API_H
#define BENCH_CUSPARSELT_API_H

#include "cublaslt_api.h"

enum { LTS_OP_N = 0, LTS_OP_T = 1 };               /* cusparseOperation_t */
enum { LTS_ORDER_COL = 1, LTS_ORDER_ROW = 2 };     /* cusparseOrder_t */
enum { LTS_HALF = 0 };                             /* cusparseLtSparsity_t */
enum { LTS_COMPUTE_32I = 0, LTS_COMPUTE_32F = 2 }; /* cusparseComputeType */
enum { LTS_ALG_DEFAULT = 0 };                      /* cusparseLtMatmulAlg_t */
enum {                                             /* cusparseLtMatmulAlgAttribute_t */
       LTS_ALG_ID = 0,
       LTS_ALG_MAX_ID = 1,
       LTS_ALG_SPLIT_K = 3,
       LTS_ALG_SPLIT_K_MODE = 4
};
enum { /* cusparseLtSplitKMode_t */
       LTS_SPLIT_ONE_KERNEL = 1,
       LTS_SPLIT_TWO_KERNELS = 2,
       LTS_SPLIT_DATA_PARALLEL = 4,
       LTS_SPLIT_K = 5,
       LTS_SPLIT_STREAM_K = 6
};

/* The library's handle, descriptors, selections and plans are bytes of the caller's: as many as any version
   has had. */
typedef struct lts_object {
    _Alignas(16) uint8_t data[1024];
} lts_object;

/* X(name, parameters): the symbol is cusparseLt name. */
#define LTS_LIST(X)                                                                                          \
    X(Init, (lts_object * handle))                                                                           \
    X(Destroy, (const lts_object *handle))                                                                   \
    X(GetVersion, (const lts_object *handle, int *version))                                                  \
    X(DenseDescriptorInit, (const lts_object *handle, lts_object *desc, int64_t rows, int64_t cols,          \
                            int64_t ld, uint32_t alignment, int type, int order))                            \
    X(StructuredDescriptorInit, (const lts_object *handle, lts_object *desc, int64_t rows, int64_t cols,     \
                                 int64_t ld, uint32_t alignment, int type, int order, int sparsity))         \
    X(MatDescriptorDestroy, (const lts_object *desc))                                                        \
    X(MatmulDescriptorInit,                                                                                  \
      (const lts_object *handle, lts_object *matmul, int op_a, int op_b, const lts_object *a,                \
       const lts_object *b, const lts_object *c, const lts_object *d, int compute))                          \
    X(MatmulAlgSelectionInit,                                                                                \
      (const lts_object *handle, lts_object *selection, const lts_object *matmul, int algorithm))            \
    X(MatmulAlgSelectionDestroy, (const lts_object *selection))                                              \
    X(MatmulAlgSetAttribute,                                                                                 \
      (const lts_object *handle, lts_object *selection, int attribute, const void *value, size_t size))      \
    X(MatmulAlgGetAttribute,                                                                                 \
      (const lts_object *handle, const lts_object *selection, int attribute, void *value, size_t size))      \
    X(MatmulPlanInit,                                                                                        \
      (const lts_object *handle, lts_object *plan, const lts_object *matmul, const lts_object *selection))   \
    X(MatmulPlanDestroy, (const lts_object *plan))                                                           \
    X(MatmulGetWorkspace, (const lts_object *handle, const lts_object *plan, size_t *bytes))                 \
    X(SpMMACompressedSize2,                                                                                  \
      (const lts_object *handle, const lts_object *sparse, size_t *bytes, size_t *buffer_bytes))             \
    X(SpMMACompress2, (const lts_object *handle, const lts_object *sparse, int is_a, int op, uint64_t dense, \
                       uint64_t compressed, uint64_t buffer, cuda_stream stream))                            \
    X(Matmul, (LTS_PRODUCT_ARGUMENTS))                                                                       \
    X(MatmulSearch, (LTS_SEARCH_ARGUMENTS))

/* A product, and the search for the fastest one, take the same; the search changes the plan. */
#define LTS_OPERANDS                                                                                         \
    const void *alpha, uint64_t a, uint64_t b, const void *beta, uint64_t c, uint64_t d, uint64_t workspace, \
        cuda_stream *streams, int32_t stream_count
#define LTS_PRODUCT_ARGUMENTS const lts_object *handle, const lts_object *plan, LTS_OPERANDS
#define LTS_SEARCH_ARGUMENTS  const lts_object *handle, lts_object *plan, LTS_OPERANDS

typedef struct cusparselt {
#define X(name, parameters) int(*name) parameters;
    LTS_LIST(X)
#undef X
} cusparselt;

mc_status cusparselt_open(cusparselt *lts, mc_diag *diag);
/* MC_OK, or MC_DEVICE with "cusparseLtMatmul: status 10" (cusparseStatus_t). */
mc_status cusparselt_check(int result, const char *call, mc_diag *diag);

#define LTS_CALL(lts, diag, name, ...) cusparselt_check((lts)->name(__VA_ARGS__), "cusparseLt" #name, diag)

#endif
