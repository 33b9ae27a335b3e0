// Arithmetic and comparison of pairs of half.
#include <cuda_fp16.h>

extern "C" __global__ void kernel(const __half2 *a, const __half2 *b, __half2 *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half2 x = a[i], y = b[i], sum = __hadd2(x, y), product = __hmul2(x, y);
    __half2 r = __hfma2(sum, product, __hneg2(x));
    r = __hadd2(r, __heq2(x, y));
    r = __hadd2(r, __hgt2(x, y));
    r = __hadd2(r, __hleu2(sum, product));
    if (__hbge2(x, y)) r = __hadd2_sat(r, __float2half2_rn(0.25f));
    if (__hlt(__low2half(x), __high2half(y))) r = __hmax2(r, __hmin2(x, y));
    out[i] = __habs2(__lowhigh2highlow(r));
}
