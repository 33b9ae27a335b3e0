// Scalar half: conversions of every kind, and functions.
#include <cuda_fp16.h>

extern "C" __global__ void kernel(const float *a, const float *b, float *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half x = __float2half(a[i]), y = __float2half_rz(b[i]);
    float r = __half2float(__hadd(x, y)) + __half2float(__hmul(x, y));
    r += (float)__half2int_rn(__hmul(x, __int2half_rn(7))) + (float)__half2uint_rz(__habs(y));
    r += __half2float(hfloor(x)) - __half2float(hceil(y)) + __half2float(hrint(x)) + __half2float(htrunc(y));
    r += __half2float(__hmax(x, y)) + (__hisnan(x) ? 100.0f : 0.0f) + __half2float(hsqrt(__habs(x)));
    r += __half2float(hrcp(__hadd(__habs(x), __float2half(1.0f)))) + __half2float(__hdiv(x, __float2half(3.0f)));
    r += __half2float(hexp2(x)) + __half2float(hlog2(__hadd(__habs(y), __float2half(2.0f))));
    r += __half2float(__short2half_rn((short)i)) + (float)__half2short_rz(x) + (float)__half2ll_rd(y);
    out[i] = r;
}
