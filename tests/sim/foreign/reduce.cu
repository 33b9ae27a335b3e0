// The sum of each block's elements, by cooperative groups: tiles of a warp, then the first warp.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

extern "C" __global__ void kernel(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    __shared__ unsigned partial[32];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    cg::grid_group grid = cg::this_grid();
    unsigned i = (unsigned)grid.thread_rank();
    unsigned sum = cg::reduce(warp, i < n ? a[i] + b[i] : 0u, cg::plus<unsigned>());
    if (warp.thread_rank() == 0) partial[warp.meta_group_rank()] = sum;
    block.sync();
    if (warp.meta_group_rank() != 0) return;
    unsigned mine = warp.thread_rank() < warp.meta_group_size() ? partial[warp.thread_rank()] : 0u;
    unsigned total = cg::reduce(warp, mine, cg::plus<unsigned>());
    if (warp.thread_rank() == 0) out[blockIdx.x] = total;
}
