// Division and products of 64 bits, and of 128 by carries.
extern "C" __global__ void kernel(const unsigned *a, const unsigned *b, unsigned long long *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long x = (unsigned long long)a[i] << 29 ^ b[i], y = (unsigned long long)b[i] << (i & 31) | 1;
    long long s = (long long)(x * 0x9e3779b97f4a7c15ull), t = (long long)(y >> 3) - 77;
    unsigned __int128 wide = (unsigned __int128)x * y + ((unsigned __int128)y << 64) + x;
    if (t == 0) t = 1;
    unsigned long long r = x / y + x % y + (unsigned long long)(s / t) + (unsigned long long)(s % t);
    r ^= (unsigned long long)(wide >> 64) + (unsigned long long)wide + (unsigned long long)(wide / y);
    out[i] = r + __umul64hi(x, y) + (unsigned long long)__mul64hi(s, t) + (unsigned)(a[i] / (b[i] | 1)) + a[i] % 7;
}
