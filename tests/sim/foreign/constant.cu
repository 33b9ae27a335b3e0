// Tables in constant memory, one of them of pointers' offsets, and a structure.
__constant__ unsigned squares[8] = {0, 1, 4, 9, 16, 25, 36, 49};
__constant__ float weights[4] = {0.5f, 0.25f, 0.125f, 4.0f};
struct rule { unsigned char shift, add; unsigned short times; };
__constant__ rule rules[3] = {{1, 2, 3}, {4, 5, 600}, {7, 8, 9}};
__constant__ const unsigned *const tables[2] = {squares, squares + 4};
__device__ const double halves[4] = {0.5, 1.5, 2.5, 3.5};

extern "C" __global__ void kernel(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = a[i];
    rule r = rules[x % 3];
    const unsigned *table = tables[b[i] & 1];
    unsigned y = (squares[x & 7] << r.shift) + r.add * r.times + table[b[i] >> 4 & 3];
    out[i] = y + (unsigned)(weights[b[i] >> 8 & 3] * 16.0f) + (unsigned)(halves[x >> 3 & 3] * 2.0);
}
