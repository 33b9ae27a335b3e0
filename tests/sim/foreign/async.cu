// cooperative_groups::memcpy_async into shared memory, and a wait of the whole group.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
namespace cg = cooperative_groups;

extern "C" __global__ void kernel(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    __shared__ __align__(16) unsigned left[256], right[256];
    cg::thread_block block = cg::this_thread_block();
    unsigned base = blockIdx.x * 256;
    cg::memcpy_async(block, left, a + base, cuda::aligned_size_t<16>(sizeof left));
    cg::memcpy_async(block, right, b + base, sizeof right);
    cg::wait(block);
    for (unsigned i = block.thread_rank(); i < 256; i += block.size()) out[base + i] = left[255 - i] * 3 + right[i ^ 7];
}
