/* The part of cuSPARSE that the bench calls: the generic SpMM, SpMV and SDDMM of version 12. Written as
   cublaslt_api.h. */
#ifndef BENCH_CUSPARSE_API_H
#define BENCH_CUSPARSE_API_H

#include "cublaslt_api.h"

enum { SP_OP_N = 0 };                        /* cusparseOperation_t */
enum { SP_INDEX_32I = 2 };                   /* cusparseIndexType_t */
enum { SP_BASE_ZERO = 0 };                   /* cusparseIndexBase_t */
enum { SP_ORDER_COL = 1, SP_ORDER_ROW = 2 }; /* cusparseOrder_t */
enum {                                       /* cusparseSpMMAlg_t */
       SP_ALG_DEFAULT = 0,
       SP_ALG_COO_1 = 1,
       SP_ALG_COO_2 = 2,
       SP_ALG_COO_3 = 3,
       SP_ALG_COO_4 = 5,
       SP_ALG_CSR_1 = 4,
       SP_ALG_CSR_2 = 6,
       SP_ALG_CSR_3 = 12,
       SP_ALG_BLOCKED_ELL_1 = 13,
       SP_ALG_BSR_1 = 14
};

enum { /* cusparseSpMVAlg_t */
       SP_SPMV_COO_1 = 1,
       SP_SPMV_CSR_1 = 2,
       SP_SPMV_CSR_2 = 3,
       SP_SPMV_COO_2 = 4,
       SP_SPMV_BSR_1 = 6
};

enum { SP_SDDMM_DEFAULT = 0 }; /* cusparseSDDMMAlg_t */

/* SpMM and SDDMM take the same: two of A, B and C are dense, the first or the last is sparse. */
#define SP_PRODUCT_ARGUMENTS                                                                                 \
    void *handle, int op_a, int op_b, const void *alpha, void *a, void *b, const void *beta, void *c,        \
        int compute, int algorithm

/* SpMV: a matrix by a vector, which cannot be transposed. */
#define SP_VECTOR_ARGUMENTS                                                                                  \
    void *handle, int op_a, const void *alpha, void *a, void *x, const void *beta, void *y, int compute,     \
        int algorithm

/* X(name, parameters): the symbol is cusparse name. */
#define SP_LIST(X)                                                                                           \
    X(Create, (void **handle))                                                                               \
    X(Destroy, (void *handle))                                                                               \
    X(GetVersion, (void *handle, int *version))                                                              \
    X(SetStream, (void *handle, cuda_stream stream))                                                         \
    X(CreateCsr, (void **desc, int64_t rows, int64_t cols, int64_t nnz, uint64_t row_ptr, uint64_t col_idx,  \
                  uint64_t values, int row_type, int col_type, int base, int value_type))                    \
    X(CreateCoo, (void **desc, int64_t rows, int64_t cols, int64_t nnz, uint64_t row_idx, uint64_t col_idx,  \
                  uint64_t values, int index_type, int base, int value_type))                                \
    X(CreateBsr, (void **desc, int64_t block_rows, int64_t block_cols, int64_t blocks, int64_t row_size,     \
                  int64_t col_size, uint64_t row_ptr, uint64_t col_idx, uint64_t values, int row_type,       \
                  int col_type, int base, int value_type, int order))                                        \
    X(CreateBlockedEll, (void **desc, int64_t rows, int64_t cols, int64_t block, int64_t ell_cols,           \
                         uint64_t col_idx, uint64_t values, int col_type, int base, int value_type))         \
    X(DestroySpMat, (void *desc))                                                                            \
    X(CreateDnMat,                                                                                           \
      (void **desc, int64_t rows, int64_t cols, int64_t ld, uint64_t values, int value_type, int order))     \
    X(DestroyDnMat, (void *desc))                                                                            \
    X(CreateDnVec, (void **desc, int64_t size, uint64_t values, int value_type))                             \
    X(DestroyDnVec, (void *desc))                                                                            \
    X(SpMM_bufferSize, (SP_PRODUCT_ARGUMENTS, size_t * bytes))                                               \
    X(SpMM_preprocess, (SP_PRODUCT_ARGUMENTS, uint64_t buffer))                                              \
    X(SpMM, (SP_PRODUCT_ARGUMENTS, uint64_t buffer))                                                         \
    X(SpMV_bufferSize, (SP_VECTOR_ARGUMENTS, size_t * bytes))                                                \
    X(SpMV, (SP_VECTOR_ARGUMENTS, uint64_t buffer))                                                          \
    X(SDDMM_bufferSize, (SP_PRODUCT_ARGUMENTS, size_t * bytes))                                              \
    X(SDDMM_preprocess, (SP_PRODUCT_ARGUMENTS, uint64_t buffer))                                             \
    X(SDDMM, (SP_PRODUCT_ARGUMENTS, uint64_t buffer))

/* What older versions have not: NULL there. SpMV is preprocessed from CUDA 12.4 on. */
#define SP_NEWER_LIST(X) X(SpMV_preprocess, (SP_VECTOR_ARGUMENTS, uint64_t buffer))

typedef struct cusparse {
#define X(name, parameters) int(*name) parameters;
    SP_LIST(X)
    SP_NEWER_LIST(X)
#undef X
} cusparse;

mc_status cusparse_open(cusparse *sp, mc_diag *diag);
/* MC_OK, or MC_DEVICE with "cusparseSpMM: status 10" (cusparseStatus_t). */
mc_status cusparse_check(int result, const char *call, mc_diag *diag);

#define SP_CALL(sp, diag, name, ...) cusparse_check((sp)->name(__VA_ARGS__), "cusparse" #name, diag)

#endif
