// Atomics of many types: floats, 64 bits, compare and swap in a loop, halves.
#include <cuda_fp16.h>

extern "C" __global__ void kernel(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = a[i], y = b[i];
    atomicMax(&out[0], x);
    atomicMin((int *)&out[1], (int)y);
    atomicXor(&out[2], x);
    atomicAdd((unsigned long long *)&out[4], (unsigned long long)x);
    atomicAdd((float *)&out[6], (float)(x & 15));
    unsigned *at = &out[8 + (y & 7)], old = *(volatile unsigned *)at, seen;
    for (; (seen = atomicCAS(at, old, old * 2 + 1 > 1000 ? old + 1 : old + 2)) != old;) old = seen;
    atomicAdd((__half2 *)&out[16], __floats2half2_rn((float)(x & 1), (float)(y & 1)));
    atomicInc(&out[17], 9);
    atomicAdd((double *)&out[18], (double)(y & 255));
}
