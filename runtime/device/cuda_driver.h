/* The part of the CUDA driver API that we call, found in libcuda.so.1 when first asked for: programs that
   link libmcrt start on machines that have no driver. The types, numbers and versioned symbols are the ABI
   that the CUDA Driver API manual describes (version 11.4 and later). */
#ifndef MC_CUDA_DRIVER_H
#define MC_CUDA_DRIVER_H

#include "mcgen.h"
#include "mcrt.h"

typedef int cuda_result;
typedef int cuda_device; /* an ordinal's handle */
typedef uint64_t cuda_pointer;
typedef struct CUctx_st *cuda_context;
typedef struct CUmod_st *cuda_module;
typedef struct CUfunc_st *cuda_function;
typedef struct CUstream_st *cuda_stream;
typedef struct CUevent_st *cuda_event;
typedef struct CUgraph_st *cuda_graph;
typedef struct CUgraphExec_st *cuda_graph_exec;
typedef struct CUlinkState_st *cuda_link;

enum { /* CUresult */
       CUDA_SUCCESS = 0,
       CUDA_ERROR_STUB_LIBRARY = 34,
       CUDA_ERROR_NO_DEVICE = 100
};
enum { /* CUdevice_attribute */
       CUDA_MULTIPROCESSOR_COUNT = 16,
       CUDA_L2_CACHE_SIZE = 38,
       CUDA_COMPUTE_CAPABILITY_MAJOR = 75,
       CUDA_COMPUTE_CAPABILITY_MINOR = 76,
       CUDA_PAGEABLE_MEMORY_USES_HOST_PAGE_TABLES = 100
};
enum { /* CUjit_option */
       CUDA_JIT_INFO_LOG_BUFFER = 3,
       CUDA_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4,
       CUDA_JIT_ERROR_LOG_BUFFER = 5,
       CUDA_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
       CUDA_JIT_LOG_VERBOSE = 12
};
enum { CUDA_JIT_INPUT_PTX = 1 };                      /* CUjitInputType */
enum { CUDA_FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8 }; /* CUfunction_attribute */
enum {                                                /* CUtensorMapDataType */
       CUDA_TENSOR_UINT8 = 0,
       CUDA_TENSOR_UINT16 = 1,
       CUDA_TENSOR_INT32 = 3,
       CUDA_TENSOR_INT64 = 5,
       CUDA_TENSOR_FLOAT16 = 6,
       CUDA_TENSOR_FLOAT32 = 7,
       CUDA_TENSOR_BFLOAT16 = 9
};
enum { CUDA_SWIZZLE_NONE, CUDA_SWIZZLE_32B, CUDA_SWIZZLE_64B, CUDA_SWIZZLE_128B }; /* CUtensorMapSwizzle */
enum { CUDA_INTERLEAVE_NONE = 0, CUDA_L2_PROMOTION_NONE = 0, CUDA_L2_PROMOTION_256B = 3, CUDA_FILL_ZERO = 0 };
enum { CUDA_ATTRIBUTE_PROGRAMMATIC_SERIALIZATION = 6 };                     /* CUlaunchAttributeID */
enum { CUDA_STREAM_DEFAULT = 0, CUDA_STREAM_NON_BLOCKING = 1 };             /* CUstream_flags */
enum { CUDA_CAPTURE_MODE_THREAD_LOCAL = 1, CUDA_CAPTURE_MODE_RELAXED = 2 }; /* CUstreamCaptureMode */
enum { CUDA_CAPTURE_STATUS_NONE = 0 };                                      /* CUstreamCaptureStatus */

typedef struct cuda_launch_attribute { /* CUlaunchAttribute */
    int id, padding;
    union {
        int allowed;
        char bytes[64];
    } value;
} cuda_launch_attribute;

typedef struct cuda_launch_config { /* CUlaunchConfig */
    unsigned grid[3], block[3], shared_bytes;
    cuda_stream stream;
    cuda_launch_attribute *attributes;
    unsigned attribute_count;
} cuda_launch_config;

/* X(name, suffix, parameters): the symbol is "cu" name suffix. */
#define CUDA_DRIVER_LIST(X)                                                                                  \
    X(Init, , (unsigned flags))                                                                              \
    X(DriverGetVersion, , (int *version))                                                                    \
    X(GetErrorName, , (cuda_result result, const char **name))                                               \
    X(GetErrorString, , (cuda_result result, const char **text))                                             \
    X(DeviceGetCount, , (int *count))                                                                        \
    X(DeviceGet, , (cuda_device * device, int ordinal))                                                      \
    X(DeviceGetName, , (char *name, int size, cuda_device device))                                           \
    X(DeviceGetAttribute, , (int *value, int attribute, cuda_device device))                                 \
    X(DeviceTotalMem, _v2, (size_t * bytes, cuda_device device))                                             \
    X(DevicePrimaryCtxRetain, , (cuda_context * context, cuda_device device))                                \
    X(DevicePrimaryCtxRelease, _v2, (cuda_device device))                                                    \
    X(CtxGetCurrent, , (cuda_context * context))                                                             \
    X(CtxGetDevice, , (cuda_device * device))                                                                \
    X(CtxPushCurrent, _v2, (cuda_context context))                                                           \
    X(CtxPopCurrent, _v2, (cuda_context * context))                                                          \
    X(CtxSetCurrent, , (cuda_context context))                                                               \
    X(CtxSynchronize, , (void))                                                                              \
    X(MemAlloc, _v2, (cuda_pointer * address, size_t bytes))                                                 \
    X(MemFree, _v2, (cuda_pointer address))                                                                  \
    X(MemcpyHtoD, _v2, (cuda_pointer to, const void *from, size_t bytes))                                    \
    X(MemcpyDtoH, _v2, (void *to, cuda_pointer from, size_t bytes))                                          \
    X(MemcpyHtoDAsync, _v2, (cuda_pointer to, const void *from, size_t bytes, cuda_stream stream))           \
    X(MemcpyDtoHAsync, _v2, (void *to, cuda_pointer from, size_t bytes, cuda_stream stream))                 \
    X(MemsetD8, _v2, (cuda_pointer address, unsigned char byte, size_t count))                               \
    X(LinkCreate, _v2, (unsigned count, int *options, void **values, cuda_link *link))                       \
    X(LinkAddData, _v2,                                                                                      \
      (cuda_link link, int type, void *data, size_t size, const char *name, unsigned count, int *options,    \
       void **values))                                                                                       \
    X(LinkComplete, , (cuda_link link, void **cubin, size_t *size))                                          \
    X(LinkDestroy, , (cuda_link link))                                                                       \
    X(ModuleLoadDataEx, ,                                                                                    \
      (cuda_module * module, const void *image, unsigned count, int *options, void **values))                \
    X(ModuleUnload, , (cuda_module module))                                                                  \
    X(ModuleGetFunction, , (cuda_function * function, cuda_module module, const char *name))                 \
    X(FuncSetAttribute, , (cuda_function function, int attribute, int value))                                \
    X(LaunchKernel, ,                                                                                        \
      (cuda_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,          \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, cuda_stream stream, void **params,         \
       void **extra))                                                                                        \
    X(StreamCreate, , (cuda_stream * stream, unsigned flags))                                                \
    X(StreamDestroy, _v2, (cuda_stream stream))                                                              \
    X(StreamSynchronize, , (cuda_stream stream))                                                             \
    X(StreamIsCapturing, , (cuda_stream stream, int *status))                                                \
    X(StreamBeginCapture, _v2, (cuda_stream stream, int mode))                                               \
    X(StreamEndCapture, , (cuda_stream stream, cuda_graph * graph))                                          \
    X(GraphInstantiateWithFlags, , (cuda_graph_exec * exec, cuda_graph graph, unsigned long long flags))     \
    X(GraphLaunch, , (cuda_graph_exec exec, cuda_stream stream))                                             \
    X(GraphExecDestroy, , (cuda_graph_exec exec))                                                            \
    X(GraphDestroy, , (cuda_graph graph))                                                                    \
    X(EventCreate, , (cuda_event * event, unsigned flags))                                                   \
    X(EventDestroy, _v2, (cuda_event event))                                                                 \
    X(EventRecord, , (cuda_event event, cuda_stream stream))                                                 \
    X(EventSynchronize, , (cuda_event event))                                                                \
    X(EventElapsedTime, , (float *milliseconds, cuda_event begin, cuda_event end))

/* NULL in a driver before 10.1, 11.8, 12.0, and 12.4. */
#define CUDA_OPTIONAL_LIST(X)                                                                                \
    X(ThreadExchangeStreamCaptureMode, , (int *mode))                                                        \
    X(LaunchKernelEx, ,                                                                                      \
      (const cuda_launch_config *config, cuda_function function, void **params, void **extra))               \
    X(TensorMapEncodeTiled, ,                                                                                \
      (void *map, int type, unsigned rank, void *address, const uint64_t *dims, const uint64_t *strides,     \
       const unsigned *box, const unsigned *element_strides, int interleave, int swizzle, int promotion,     \
       int fill))                                                                                            \
    X(FuncGetParamInfo, , (cuda_function function, size_t index, size_t * offset, size_t * size))            \
    X(FuncLoad, , (cuda_function function))

typedef struct cuda_driver {
#define X(name, suffix, parameters) cuda_result(*name) parameters;
    CUDA_DRIVER_LIST(X) CUDA_OPTIONAL_LIST(X)
#undef X
} cuda_driver;

typedef enum cuda_presence {
    CUDA_READY,
    CUDA_ABSENT, /* no libcuda.so.1, or a driver without a device */
    CUDA_BROKEN  /* a driver that lacks a symbol or does not initialise */
} cuda_presence;

/* Loads and initialises the driver at the first call (thread-safe). *DRIVER is NULL unless CUDA_READY; *WHY
   then says what is missing. Both live as long as the process. */
cuda_presence cuda_driver_get(const cuda_driver **driver, const char **why);

/* MC_OK, or MC_DEVICE with "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY: out of memory". */
mc_status cuda_check(const cuda_driver *driver, cuda_result result, const char *call, mc_diag *diag);

/* Calls one entry point: CUDA_CALL(driver, diag, MemFree, address). */
#define CUDA_CALL(driver, diag, name, ...) cuda_check((driver), (driver)->name(__VA_ARGS__), "cu" #name, diag)

#endif
