/* Holds our declarations of the driver's ABI (runtime/cuda_driver.h) against its own header, where it is
   installed. Numbers and sizes are compared by the compiler, names of symbols when it runs. */
#include <cuda.h>
#include <stddef.h>
#include "check.h"
/* Names that both headers have. */
#define CUDA_SUCCESS            OUR_SUCCESS
#define CUDA_ERROR_STUB_LIBRARY OUR_STUB_LIBRARY
#define CUDA_ERROR_NO_DEVICE    OUR_NO_DEVICE
#include "mcrt_internal.h"
#include "device/cuda_driver.h"
#undef CUDA_SUCCESS
#undef CUDA_ERROR_STUB_LIBRARY
#undef CUDA_ERROR_NO_DEVICE

#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs)

SAME(OUR_SUCCESS, CUDA_SUCCESS);
SAME(OUR_STUB_LIBRARY, CUDA_ERROR_STUB_LIBRARY);
SAME(OUR_NO_DEVICE, CUDA_ERROR_NO_DEVICE);
SAME(CUDA_MULTIPROCESSOR_COUNT, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME(CUDA_L2_CACHE_SIZE, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
SAME(CUDA_COMPUTE_CAPABILITY_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(CUDA_COMPUTE_CAPABILITY_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME(CUDA_PAGEABLE_MEMORY_USES_HOST_PAGE_TABLES,
     CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES);
SAME(CUDA_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER);
SAME(CUDA_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
SAME(CUDA_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER);
SAME(CUDA_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME(CUDA_JIT_LOG_VERBOSE, CU_JIT_LOG_VERBOSE);
SAME(CUDA_JIT_INPUT_PTX, CU_JIT_INPUT_PTX);
SAME(CUDA_FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME(CUDA_TENSOR_UINT8, CU_TENSOR_MAP_DATA_TYPE_UINT8);
SAME(CUDA_TENSOR_UINT16, CU_TENSOR_MAP_DATA_TYPE_UINT16);
SAME(CUDA_TENSOR_INT32, CU_TENSOR_MAP_DATA_TYPE_INT32);
SAME(CUDA_TENSOR_INT64, CU_TENSOR_MAP_DATA_TYPE_INT64);
SAME(CUDA_TENSOR_FLOAT16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
SAME(CUDA_TENSOR_FLOAT32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
SAME(CUDA_TENSOR_BFLOAT16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
SAME(CUDA_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE);
SAME(CUDA_SWIZZLE_128B, CU_TENSOR_MAP_SWIZZLE_128B);
SAME(CUDA_INTERLEAVE_NONE, CU_TENSOR_MAP_INTERLEAVE_NONE);
SAME(CUDA_L2_PROMOTION_256B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
SAME(CUDA_FILL_ZERO, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
SAME(CUDA_ATTRIBUTE_PROGRAMMATIC_SERIALIZATION, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
SAME(CUDA_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING);
SAME(CUDA_CAPTURE_MODE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
SAME(CUDA_CAPTURE_MODE_RELAXED, CU_STREAM_CAPTURE_MODE_RELAXED);
SAME(CUDA_CAPTURE_STATUS_NONE, CU_STREAM_CAPTURE_STATUS_NONE);
SAME(sizeof(cuda_device), sizeof(CUdevice));
SAME(sizeof(cuda_pointer), sizeof(CUdeviceptr));
SAME(sizeof(cuda_launch_attribute), sizeof(CUlaunchAttribute));
SAME(offsetof(cuda_launch_attribute, value), offsetof(CUlaunchAttribute, value));
SAME(sizeof(cuda_launch_config), sizeof(CUlaunchConfig));
SAME(offsetof(cuda_launch_config, shared_bytes), offsetof(CUlaunchConfig, sharedMemBytes));
SAME(offsetof(cuda_launch_config, stream), offsetof(CUlaunchConfig, hStream));
SAME(offsetof(cuda_launch_config, attributes), offsetof(CUlaunchConfig, attrs));
SAME(offsetof(cuda_launch_config, attribute_count), offsetof(CUlaunchConfig, numAttrs));

/* cuda.h makes of cuMemAlloc the newest symbol, cuMemAlloc_v2: ours, or one that was added later under a name
   that ours begins. */
#define TEXT_OF(symbol)             #symbol
#define NEWEST(symbol)              TEXT_OF(symbol)
#define X(name, suffix, parameters) {"cu" #name #suffix, NEWEST(cu##name)},
static const struct { const char *ours, *newest; } symbols[] = {CUDA_DRIVER_LIST(X) CUDA_OPTIONAL_LIST(X)};

int main(void) {
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        bool later = strcmp(symbols[i].ours, "cuEventElapsedTime") == 0; /* _v2 from 12.8 on */
        CHECK(later || strcmp(symbols[i].ours, symbols[i].newest) == 0, "%s: the newest is %s",
              symbols[i].ours, symbols[i].newest);
    }
    return check_end();
}
