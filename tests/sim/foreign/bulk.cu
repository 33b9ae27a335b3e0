// Bulk copies by inline PTX: a tile comes with an mbarrier, and goes with a group.
#include <cstdint>

__device__ static uint32_t shared(const void *at) { return (uint32_t)__cvta_generic_to_shared(at); }

extern "C" __global__ void kernel(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    __shared__ alignas(16) unsigned tile[64];
    __shared__ alignas(8) uint64_t full;
    const unsigned first = blockIdx.x * 64;
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster;" ::"r"(shared(&full)));
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%1], 256;\n"
                     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%2], 256, [%1];" ::"r"(
                         shared(tile)),
                     "r"(shared(&full)), "l"(__cvta_generic_to_global(a + first))
                     : "memory");
    unsigned done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(shared(&full))
                     : "memory");
    tile[threadIdx.x] = tile[threadIdx.x] * 3 + b[first + threadIdx.x];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0 && first < n)
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%1], [%0], 256; cp.async.bulk.commit_group;\n"
                     "cp.async.bulk.wait_group 0;" ::"r"(shared(tile)),
                     "l"(__cvta_generic_to_global(out + first))
                     : "memory");
}
