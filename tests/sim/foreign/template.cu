// Templates: a functor, a loop that is unrolled at compile time, and a function by type.
struct add { __device__ unsigned operator()(unsigned x, unsigned y) const { return x + y; } };
struct most { __device__ unsigned operator()(unsigned x, unsigned y) const { return x > y ? x : y; } };

template <int Width, class Op> __device__ unsigned combine(const unsigned *from, Op op) {
    unsigned r = from[0];
#pragma unroll
    for (int k = 1; k < Width; k++) r = op(r, from[k]);
    return r;
}

template <class T> __device__ __noinline__ T scale(T x, T by) { return x * by + T(1); }

extern "C" __global__ void kernel(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 8 > n) return;
    unsigned r = combine<8>(a + i, add()) + combine<4>(b + i, most());
    out[i] = scale<unsigned>(r, 3) + (unsigned)scale<unsigned long long>(r, b[i]) + (unsigned)scale<short>((short)r, 5);
}
