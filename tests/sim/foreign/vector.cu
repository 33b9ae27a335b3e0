// Vectors of memory: float4, short4, uchar4 and structures.
struct __align__(16) record { float position[3]; int id; };

extern "C" __global__ void kernel(const float4 *a, const uchar4 *b, record *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 v = a[i];
    uchar4 c = b[i];
    record r = {{v.x + c.x, v.y * v.z, v.w - c.y}, (int)(signed char)c.z * c.w};
    out[i] = r;
}
