// The fast functions: sin, cos, exp and log by the special function unit.
extern "C" __global__ void kernel(const float *a, const float *b, float *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i], y = b[i], s, c;
    __sincosf(x, &s, &c);
    out[i] = s + c * __expf(y) + __logf(__saturatef(x) + 1.0f) + __powf(2.0f, y) + __tanf(x * 0.25f) + __cosf(y);
}
