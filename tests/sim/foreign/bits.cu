// Bits and bytes: counts, permutations, dot products of bytes, funnel shifts, saturating and 24-bit arithmetic.
extern "C" __global__ void kernel(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = a[i], y = b[i];
    unsigned r = __popc(x) + __clz((int)y) * 64 + __ffs((int)x) * 3 + __popcll((unsigned long long)x << 32 | y);
    r += __brev(x) ^ __byte_perm(x, y, y & 0x7777) ^ (unsigned)__clzll((long long)x * y);
    r += (unsigned)__dp4a((int)x, (int)y, 5) + __dp4a(x, y, 9u) + (unsigned)__dp2a_lo((int)x, (int)y, 1);
    r += __dp2a_hi(x, y, 3u) + __funnelshift_l(x, y, i) + __funnelshift_rc(x, y, i * 3);
    r += (unsigned)__mul24((int)x, (int)y) + __umul24(x, y) + __umulhi(x, y) + (unsigned)__mulhi((int)x, (int)y);
    r += __sad((int)x, (int)y, 4u) + __usad(x, y, 6u) + __hadd((int)(x >> 1), (int)(y >> 1)) + __rhadd((int)x >> 1, (int)y >> 1);
    r += __vadd4(x, y) ^ __vmaxu2(x, y);
    out[i] = r ^ (unsigned)max((int)x, (int)y) ^ min(x, y) ^ (unsigned)abs((int)x);
}
