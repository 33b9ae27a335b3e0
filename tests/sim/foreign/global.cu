// Variables of the module: a counter, a table that a launch leaves to the next one, a pointer to another variable.
__device__ unsigned arrived;
__device__ unsigned history[4] = {11, 22, 33, 44};
__device__ unsigned *last = &history[3];

extern "C" __global__ void kernel(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (a[i] & 1) atomicAdd(&arrived, 1u);
    __shared__ bool is_last;
    __threadfence();
    __syncthreads();
    __shared__ unsigned dummy;
    if (threadIdx.x == 0) dummy = atomicAdd(&history[0], 1u), is_last = dummy == 11 + gridDim.x - 1;
    __syncthreads();
    out[i] = b[i] + history[1] * 2 + *last;
    if (is_last && threadIdx.x == 0) atomicExch(&history[2], atomicAdd(&arrived, 0u));
}
