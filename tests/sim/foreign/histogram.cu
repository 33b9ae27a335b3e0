// How often each byte of a occurs: counted in shared memory, added up in global memory.
extern "C" __global__ void kernel(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    __shared__ unsigned bins[256];
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) bins[i] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned word = a[i];
        for (int byte = 0; byte < 4; byte++) atomicAdd(&bins[word >> 8 * byte & 255], 1u);
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&out[i], bins[i]);
}
