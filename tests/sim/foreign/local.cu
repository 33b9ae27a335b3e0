// Arrays of a thread that are indexed at run time.
extern "C" __global__ void kernel(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, stack[24];
    unsigned short counts[16] = {0};
    for (int k = 0; k < 24; k++) stack[k] = a[(i + (unsigned)k) % n];
    for (int k = 0; k < 24; k++) counts[stack[k] & 15]++;
    for (int k = 1; k < 24; k++) { /* insertion sort */
        unsigned x = stack[k];
        int at = k;
        for (; at > 0 && stack[at - 1] > x; at--) stack[at] = stack[at - 1];
        stack[at] = x;
    }
    out[i] = stack[b[i] % 24] + counts[b[i] >> 8 & 15];
}
