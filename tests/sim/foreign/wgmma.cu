// for sm_90a: wgmma by inline PTX, 64 by 8 by 16, both matrices in shared memory without a swizzle.
#include <cuda_fp16.h>

__device__ static unsigned long long descriptor(const void *at, unsigned leading, unsigned stride) {
    unsigned address = (unsigned)__cvta_generic_to_shared(at) & 0x3ffff;
    return address >> 4 | (unsigned long long)(leading >> 4) << 16 | (unsigned long long)(stride >> 4) << 32;
}

extern "C" __global__ void kernel(const __half *a, const __half *b, float *out, unsigned n) {
    __shared__ alignas(128) __half left[64 * 16], right[8 * 16];
    for (unsigned i = threadIdx.x; i < 64 * 16; i += 128) {
        unsigned row = i / 16, k = i % 16;
        left[k / 8 * 512 + row / 8 * 64 + row % 8 * 8 + k % 8] = a[i];
    }
    right[threadIdx.x % 16 / 8 * 64 + threadIdx.x / 16 * 8 + threadIdx.x % 8] = b[threadIdx.x];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    float d[4];
    asm volatile("{ .reg .pred p; setp.ne.u32 p, 0, 0; wgmma.fence.sync.aligned;\n"
                 "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0;\n"
                 "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; }"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "l"(descriptor(left, 1024, 128)), "l"(descriptor(right, 128, 256))
                 : "memory");
    unsigned row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
    for (unsigned i = 0; i < 4 && i < n; i++) out[(row + i / 2 * 8) * 8 + column + i % 2] = d[i];
}
