/* Launching a generated kernel with nothing but the CUDA driver API. The files come from
 *
 *   mcrun pack specs/spmm_l8r8.lua matrix.smtx --out packed
 *   cc examples/launch.c -I/usr/local/cuda/include -lcuda -o launch
 *   ./launch packed M K N
 *
 * What is written here by hand for the default variant, the header comment of kernel.ptx and contract.json
 * say for every kernel: the entry's name, the parameters in order, the grid, the block and the layout of the
 * arrays. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(CUresult result, const char *what) {
    const char *text = "";
    if (result == CUDA_SUCCESS) return;
    cuGetErrorString(result, &text);
    fprintf(stderr, "%s: %s\n", what, text);
    exit(1);
}
#define CHECK(call) check(call, #call)

/* A file of the packed directory, with a NUL behind it: PTX handed to the driver must end in one. */
static char *read_file(const char *folder, const char *name, size_t *size) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        perror(path);
        exit(1);
    }
    long length = ftell(file);
    char *data = malloc((size_t)length + 1);
    rewind(file);
    if (!data || fread(data, 1, (size_t)length, file) != (size_t)length) {
        fprintf(stderr, "%s: cannot read\n", path);
        exit(1);
    }
    fclose(file);
    data[length] = '\0';
    *size = (size_t)length;
    return data;
}

static CUdeviceptr upload(const void *data, size_t bytes) {
    CUdeviceptr address;
    CHECK(cuMemAlloc(&address, bytes ? bytes : 1));
    CHECK(cuMemcpyHtoD(address, data, bytes));
    return address;
}

static CUdeviceptr upload_array(const char *folder, const char *name) {
    size_t size;
    char *data = read_file(folder, name, &size);
    CUdeviceptr address = upload(data, size);
    free(data);
    return address;
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: launch FOLDER M K N\n");
        return 2;
    }
    int m = atoi(argv[2]), k = atoi(argv[3]), n = atoi(argv[4]), ldb = n, ldc = n;
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));

    size_t size;
    char *ptx = read_file(argv[1], "kernel.ptx", &size);
    CHECK(cuModuleLoadData(&module, ptx)); /* the driver compiles it for this GPU */
    CHECK(cuModuleGetFunction(&kernel, module, "spmm_s8s8s32_v8_k32_n128_w4_s4"));

    signed char *b = malloc((size_t)k * (size_t)ldb);
    int *c = malloc((size_t)m * (size_t)ldc * sizeof *c);
    for (size_t i = 0; i < (size_t)k * (size_t)ldb; i++) b[i] = (signed char)(i * 31 % 255 - 127);

    CUdeviceptr row_ptr = upload_array(argv[1], "row_ptr.bin"),
                col_idx = upload_array(argv[1], "col_idx.bin");
    CUdeviceptr values = upload_array(argv[1], "values.bin"), b_device = upload(b, (size_t)k * (size_t)ldb),
                c_device;
    CHECK(cuMemAlloc(&c_device, (size_t)m * (size_t)ldc * sizeof *c));

    /* grid (ceil(m / 8), ceil(n / 128)), block 128 */
    void *params[] = {&row_ptr, &col_idx, &values, &b_device, &c_device, &n, &ldb, &ldc};
    CHECK(cuLaunchKernel(kernel, (unsigned)(m + 7) / 8, (unsigned)(n + 127) / 128, 1, 128, 1, 1, 0, NULL,
                         params, NULL));
    CHECK(cuMemcpyDtoH(c, c_device, (size_t)m * (size_t)ldc * sizeof *c));

    unsigned long long sum = 0;
    for (size_t i = 0; i < (size_t)m * (size_t)ldc; i++) sum = sum * 31 + (unsigned)c[i];
    printf("C[0][0] = %d, checksum %016llx\n", c[0], sum);
    return 0;
}
