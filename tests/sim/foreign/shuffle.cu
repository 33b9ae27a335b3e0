// Exchanges within a warp: shuffles, votes, matches and reductions.
extern "C" __global__ void kernel(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, all = 0xffffffffu;
    unsigned x = a[i], y = b[i];
    unsigned r = __shfl_xor_sync(all, x, 5) + 3 * __shfl_down_sync(all, y, 3, 8) + 7 * __shfl_sync(all, x, (y & 31));
    double d = __shfl_xor_sync(all, (double)(x & 0xffff) * 0.5, 16);
    r ^= (unsigned)d;
    r += __ballot_sync(all, x > y) * 3 + __popc(__match_any_sync(all, x & 3));
    int same;
    r += __match_all_sync(all, y & 0, &same) & 15;
    r += same + 2 * __any_sync(all, x == 0) + 4 * __all_sync(all, x != y);
    r += __reduce_add_sync(all, x & 255) + __reduce_max_sync(all, y) + __reduce_xor_sync(all, x);
    if (threadIdx.x % 3 == 0) r += __popc(__activemask()) > 0;
    __syncwarp();
    out[i] = r + (unsigned)__reduce_min_sync(all, (int)y);
}
