// The transpose of a matrix of 64 columns, by tiles of 32 by 32 with a column of padding.
extern "C" __global__ void kernel(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    __shared__ unsigned tile[32][33];
    const unsigned columns = 64, rows = n / columns;
    unsigned x = blockIdx.x * 32 + threadIdx.x;
#pragma unroll
    for (unsigned y = threadIdx.y; y < 32; y += 8) tile[y][threadIdx.x] = a[(blockIdx.y * 32 + y) * columns + x];
    __syncthreads();
    unsigned row = blockIdx.y * 32 + threadIdx.x;
#pragma unroll
    for (unsigned y = threadIdx.y; y < 32; y += 8) out[(blockIdx.x * 32 + y) * rows + row] = tile[threadIdx.x][y];
}
