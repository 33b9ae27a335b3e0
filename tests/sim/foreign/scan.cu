// Inclusive prefix sums of each block's elements: shuffles within warps, shared memory between them.
__device__ static unsigned scan_warp(unsigned x) {
    unsigned lane = threadIdx.x & 31;
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        unsigned other = __shfl_up_sync(0xffffffffu, x, distance);
        if (lane >= distance) x += other;
    }
    return x;
}

extern "C" __global__ void kernel(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    __shared__ unsigned totals[32];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, warp = threadIdx.x / 32;
    unsigned x = scan_warp(i < n ? a[i] ^ b[i] : 0);
    if (threadIdx.x % 32 == 31) totals[warp] = x;
    __syncthreads();
    if (warp == 0) {
        unsigned warps = blockDim.x / 32;
        unsigned total = scan_warp(threadIdx.x < warps ? totals[threadIdx.x] : 0);
        if (threadIdx.x < warps) totals[threadIdx.x] = total;
    }
    __syncthreads();
    if (i < n) out[i] = x + (warp ? totals[warp - 1] : 0);
}
