// A product of matrices of 32 by 32 by tiles in shared memory, of floats.
extern "C" __global__ void kernel(const float *a, const float *b, float *out, unsigned n) {
    __shared__ float left[16][17], right[16][17];
    const unsigned size = 32;
    unsigned row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (unsigned k = 0; k < size; k += 16) {
        left[threadIdx.y][threadIdx.x] = a[row * size + k + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * size + column];
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();
    }
    if (row * size + column < n) out[row * size + column] = sum;
}
