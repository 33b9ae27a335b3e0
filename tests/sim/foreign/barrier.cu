// cuda::barrier between the warps of a block: half of them produce, half consume.
#include <cuda/barrier>

extern "C" __global__ void kernel(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ unsigned buffer[64];
    __shared__ alignas(barrier) unsigned char room[2][sizeof(barrier)];
    barrier &full = *(barrier *)room[0], &empty = *(barrier *)room[1];
    if (threadIdx.x == 0) {
        init(&full, 128);
        init(&empty, 128);
    }
    __syncthreads();
    unsigned tiles = n / 64, sum = 0;
    for (unsigned tile = 0; tile < tiles; tile++) {
        if (threadIdx.x < 64) {
            if (tile > 0) empty.arrive_and_wait();
            buffer[threadIdx.x] = a[tile * 64 + threadIdx.x];
            (void)full.arrive();
        } else {
            full.arrive_and_wait();
            sum = sum * 3 + buffer[127 - threadIdx.x];
            if (tile + 1 < tiles) (void)empty.arrive();
        }
    }
    out[threadIdx.x] = threadIdx.x < 64 ? b[threadIdx.x] : sum;
}
