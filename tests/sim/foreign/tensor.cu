// mma.sync by inline PTX: a tile of 16 by 8 by 16, of halves that are made of floats here.
#include <cuda_fp16.h>

__device__ static unsigned pack(float low, float high) {
    __half2 h = __floats2half2_rn(low, high);
    return *(unsigned *)&h;
}

extern "C" __global__ void kernel(const float *a, const float *b, float *out, unsigned n) {
    unsigned lane = threadIdx.x, group = lane / 4, pair = lane % 4 * 2, x[4], y[2];
    float c[4] = {0.0f, 1.0f, 2.0f, 3.0f};
    for (unsigned i = 0; i < 4; i++) {
        const float *at = a + (group + i % 2 * 8) * 16 + pair + i / 2 * 8;
        x[i] = pack(at[0], at[1]);
    }
    for (unsigned i = 0; i < 2; i++) y[i] = pack(b[(pair + i * 8) * 8 + group], b[(pair + 1 + i * 8) * 8 + group]);
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    for (unsigned i = 0; i < 4; i++) out[(group + i / 2 * 8) * 8 + pair + i % 2] = c[i];
}
