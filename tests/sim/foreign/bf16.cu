// Arithmetic of bf16 and of its pairs; where nothing is said of rounding, ptxas may fuse a product and a sum.
#include <cuda_bf16.h>

extern "C" __global__ void kernel(const float *a, const float *b, float *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __nv_bfloat16 x = __float2bfloat16(a[i]), y = __float2bfloat16_rn(b[i]);
    __nv_bfloat162 p = __floats2bfloat162_rn(a[i], b[i]), q = __halves2bfloat162(y, x);
    __nv_bfloat162 r = __hfma2(p, q, __hadd2_rn(p, q));
    r = __hmax2(r, __hneg2(q));
    r = __hadd2_rn(r, __hge2(p, q));
    __nv_bfloat16 s = __hsub_rn(__hmul_rn(x, y), __hfma(x, y, __habs(x)));
    float t = __bfloat162float(s) + __low2float(r) - __high2float(r);
    if (__hgt(x, y)) t += __bfloat162float(__int2bfloat16_rn((int)i - 20));
    out[i] = t + (float)__bfloat162int_rz(x);
}
