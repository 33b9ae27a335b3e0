/* Holds our declarations of the vendor's ABI against its own headers, where they are installed. It compiles, or not. */
#include <cublasLt.h>
#include <cusparse.h>
#include <stdio.h>
#include "cublaslt_api.h"
#include "cusparse_api.h"

#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs)

SAME(VENDOR_R_32F, CUDA_R_32F);
SAME(VENDOR_R_16F, CUDA_R_16F);
SAME(VENDOR_R_16BF, CUDA_R_16BF);
SAME(VENDOR_R_8I, CUDA_R_8I);
SAME(VENDOR_R_32I, CUDA_R_32I);
SAME(LT_COMPUTE_32F, CUBLAS_COMPUTE_32F);
SAME(LT_COMPUTE_32I, CUBLAS_COMPUTE_32I);
SAME(LT_OP_N, CUBLAS_OP_N);
SAME(LT_OP_T, CUBLAS_OP_T);
SAME(LT_DESC_TRANSA, CUBLASLT_MATMUL_DESC_TRANSA);
SAME(LT_DESC_TRANSB, CUBLASLT_MATMUL_DESC_TRANSB);
SAME(LT_PREF_MAX_WORKSPACE_BYTES, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
SAME(LT_ALGO_ID, CUBLASLT_ALGO_CONFIG_ID);
SAME(LT_ALGO_TILE, CUBLASLT_ALGO_CONFIG_TILE_ID);
SAME(LT_ALGO_SPLITK, CUBLASLT_ALGO_CONFIG_SPLITK_NUM);
SAME(LT_ALGO_STAGES, CUBLASLT_ALGO_CONFIG_STAGES_ID);
SAME(SP_OP_N, CUSPARSE_OPERATION_NON_TRANSPOSE);
SAME(SP_INDEX_32I, CUSPARSE_INDEX_32I);
SAME(SP_BASE_ZERO, CUSPARSE_INDEX_BASE_ZERO);
SAME(SP_ORDER_COL, CUSPARSE_ORDER_COL);
SAME(SP_ORDER_ROW, CUSPARSE_ORDER_ROW);
SAME(SP_ALG_CSR_1, CUSPARSE_SPMM_CSR_ALG1);
SAME(SP_ALG_CSR_2, CUSPARSE_SPMM_CSR_ALG2);
SAME(SP_ALG_CSR_3, CUSPARSE_SPMM_CSR_ALG3);
SAME(SP_ALG_BLOCKED_ELL_1, CUSPARSE_SPMM_BLOCKED_ELL_ALG1);
#if CUSPARSE_VERSION >= 12500
SAME(SP_ALG_BSR_1, CUSPARSE_SPMM_BSR_ALG1);
#endif
SAME(SP_SDDMM_DEFAULT, CUSPARSE_SDDMM_ALG_DEFAULT);
SAME(sizeof(lt_algo), sizeof(cublasLtMatmulAlgo_t));
SAME(sizeof(lt_heuristic), sizeof(cublasLtMatmulHeuristicResult_t));
SAME(offsetof(lt_heuristic, workspace), offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
SAME(offsetof(lt_heuristic, state), offsetof(cublasLtMatmulHeuristicResult_t, state));

int main(void) {
    printf("the declarations agree with cuBLASLt %d and cuSPARSE %d\n", CUBLAS_VERSION, CUSPARSE_VERSION);
    return 0;
}
