// A tile of 16 by 16 by 16 by nvcuda::wmma.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void kernel(const __half *a, const __half *b, float *out, unsigned n) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> y;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 0.5f);
    for (unsigned k = 0; k < 32; k += 16) {
        wmma::load_matrix_sync(x, a + k, 32);
        wmma::load_matrix_sync(y, b + k, 32);
        wmma::mma_sync(c, x, y, c);
    }
    wmma::store_matrix_sync(out, c, 16, wmma::mem_row_major);
}
