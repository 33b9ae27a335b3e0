// Functions of the device's library, in single precision.
#include <math.h>
extern "C" __global__ void kernel(const float *a, const float *b, float *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i], y = b[i], s, c;
    sincosf(x * 3.0f, &s, &c);
    float r = s + 2 * c + expf(x) + logf(fabsf(y) + 0.5f) + powf(fabsf(x) + 0.25f, y);
    r += tanhf(y) + atan2f(x, y) + sqrtf(fabsf(x)) + rsqrtf(fabsf(y) + 1) + cbrtf(x) + erff(y);
    r += fmodf(x * 10, 3.0f) + floorf(x) + roundf(y * 5) + copysignf(1.5f, y) + fmaxf(x, y) + tanf(x);
    out[i] = r + ldexpf(x, 2) + log1pf(fabsf(x)) + __fdividef(x, 3.0f) + __frcp_rn(fabsf(y) + 2);
}
