// Double precision: division, square roots and functions of the library.
#include <math.h>
extern "C" __global__ void kernel(const float *a, const float *b, double *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = (double)a[i], y = (double)b[i] + 3.5;
    double r = x / y + sqrt(fabs(x)) + exp(x) + log(y) + sin(x * 5) + cos(y) + fma(x, y, 0.125) + pow(y, x);
    out[i] = r + floor(x * 3) + (double)(long long)(y * 1e6) + rint(y) + fmin(x, y) + tanh(x) + trunc(x * 9);
}
