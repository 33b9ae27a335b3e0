// Two stages of asynchronous copies by the pipeline primitives, each summed while the next one is on its way.
#include <cuda_pipeline.h>

extern "C" __global__ void kernel(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    __shared__ __align__(16) unsigned stage[2][512];
    unsigned sum = b[threadIdx.x], tiles = n / 512;
    __pipeline_memcpy_async(&stage[0][threadIdx.x * 4], &a[threadIdx.x * 4], 16);
    __pipeline_commit();
    for (unsigned tile = 0; tile < tiles; tile++) {
        if (tile + 1 < tiles)
            __pipeline_memcpy_async(&stage[(tile + 1) % 2][threadIdx.x * 4], &a[(tile + 1) * 512 + threadIdx.x * 4], 16);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        for (unsigned i = 0; i < 4; i++) sum = sum * 5 + stage[tile % 2][i * 128 + threadIdx.x];
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}
