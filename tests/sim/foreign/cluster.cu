// A cluster of four blocks, each of which reads its right neighbour's shared memory.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void __cluster_dims__(4, 1, 1) kernel(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    __shared__ unsigned mine[64];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned i = blockIdx.x * 64 + threadIdx.x, rank = cluster.block_rank();
    mine[threadIdx.x] = a[i] + rank;
    cluster.sync();
    const unsigned *other = cluster.map_shared_rank(mine, (rank + 1) % cluster.num_blocks());
    unsigned x = other[63 - threadIdx.x] + cluster.dim_threads().x + cluster.thread_rank();
    cluster.sync();
    if (i < n) out[i] = x * 3 + b[i];
}
