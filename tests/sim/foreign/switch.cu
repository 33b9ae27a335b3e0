// A switch that becomes a table of jumps, in a loop.
extern "C" __global__ void kernel(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = a[i], program = b[i];
    for (int step = 0; step < 6; step++, program >>= 4) {
        switch (program & 15) {
        case 0: x += 12345; break;
        case 1: x ^= x << 13; break;
        case 2: x = __brev(x); break;
        case 3: x *= 7; /* falls through */
        case 4: x -= step; break;
        case 5: x = ~x; break;
        case 6: x = x >> 3 | x << 29; break;
        case 7: x = __popc(x); break;
        case 8: x = x / 3; break;
        case 9: out[i] = x; return;
        case 10: x += program; break;
        case 11: x &= 0xffff00ff; break;
        default: x++; break;
        }
    }
    out[i] = x;
}
