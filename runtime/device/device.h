/* Devices, modules, launches and graphs: what a kernel runs on, a GPU or the simulator.
   kind.h has what a kind of device implements. */
#ifndef MCRT_DEVICE_H
#define MCRT_DEVICE_H

#include "mcgen.h"
#include "mcrt.h"

/* -- Devices ------------------------------------------------------------------------------------------ */

typedef struct mc_device mc_device;

typedef enum mc_device_kind { MC_DEVICE_SIM, MC_DEVICE_CUDA } mc_device_kind;

typedef struct mc_device_info {
    mc_device_kind kind;
    char name[128];  /* "NVIDIA H200", "PTX simulator" */
    int ordinal;     /* the I of "cuda:I"; 0 for the simulator */
    int capability;  /* 90 for 9.0; 0 for the simulator */
    int driver;      /* 13000 for 13.0; 0 for the simulator */
    uint64_t memory; /* bytes; 0: the simulator */
    int multiprocessors;
    int l2_bytes; /* 0: the simulator */
} mc_device_info;

/* NAME: "cuda:I", "sim", or "auto" (cuda:0 where there is a GPU, else sim). "sim:reversed" runs warps in
   reversed order, "sim:seed=N" (N from 1 on) switches between them at random points; behind these,
   ":landing=first" and ":landing=last" say when asynchronous copies move their bytes (the last legal moment,
   with a seed by chance, if neither is there); ":limit=N" at its end stops a launch after N warp
   instructions. MC_CANNOT where there is no such device. */
MC_API mc_status mc_device_open(const char *name, mc_device **device, mc_diag *diag);
/* The same in CUDA_CONTEXT, a CUcontext of the GPU that NAME says (of any, for "auto"), which must outlive
   the device. NULL: the GPU's primary context. MC_USAGE where it is another GPU's. */
MC_API mc_status mc_device_open_in(const char *name, void *cuda_context, mc_device **device, mc_diag *diag);
MC_API void mc_device_close(mc_device *device); /* NULL is fine */
/* GPUs that the driver sees; 0 without a driver. */
MC_API int mc_device_cuda_count(void);

MC_API const mc_device_info *mc_device_get_info(const mc_device *device);
/* What besides PTX and target decides what compiling gives: the driver's build ("580.95.05"), or the
   simulator's version. */
MC_API const char *mc_device_build(const mc_device *device);
/* The record for estimates of DEVICE, with its number of multiprocessors; for the simulator, that of some
   GPU. */
MC_API mc_gpu mc_device_gpu(const mc_device *device);
/* The simulator of DEVICE, for its faults and counts (ptxsim.h); NULL if it is a GPU. It stays the
   device's. */
struct ptxsim;
MC_API struct ptxsim *mc_device_ptxsim(const mc_device *device);

/* -- The calling thread ------------------------------------------------------------------------------- */

/* Makes the device's context the calling thread's current one, pushed on those it has, and lets it do what a
   stream capture elsewhere would forbid (cuThreadExchangeStreamCaptureMode); *MODE is for mc_device_leave,
   which puts both back. Nothing on the simulator. */
MC_API mc_status mc_device_enter(mc_device *device, int *mode, mc_diag *diag);
MC_API void mc_device_leave(mc_device *device, int mode);
/* Whether the context of DEVICE is the calling thread's current one already: then mc_module_put needs no
   mc_device_enter. */
MC_API bool mc_device_is_current(mc_device *device);
/* Waits for all that was put on STREAM (a CUstream; NULL: the default one). */
MC_API mc_status mc_device_synchronize(mc_device *device, void *stream, mc_diag *diag);

/* -- Memory ------------------------------------------------------------------------------------------- */

/* Allocates BYTES at a multiple of 256. 0 bytes have an address, too. */
MC_API mc_status mc_device_alloc(mc_device *device, size_t bytes, uint64_t *address, mc_diag *diag);
MC_API void mc_device_free(mc_device *device, uint64_t address); /* 0 is fine */
/* These three have done it when they return, in the order of the default stream. BYTE: its low 8 bits. */
MC_API mc_status mc_device_write(mc_device *device, uint64_t address, const void *data, size_t bytes,
                                 mc_diag *diag);
MC_API mc_status mc_device_read(mc_device *device, uint64_t address, void *data, size_t bytes, mc_diag *diag);
MC_API mc_status mc_device_fill(mc_device *device, uint64_t address, int byte, size_t bytes, mc_diag *diag);
/* Writes into memory that no work on any stream uses yet. It waits for no stream but one of its own, so that
   it spoils no capture elsewhere: mc_device_write, which waits for the default stream, does so to streams
   that wait for that. */
MC_API mc_status mc_device_upload(mc_device *device, uint64_t address, const void *data, size_t bytes,
                                  mc_diag *diag);
/* A copy that is put on STREAM; DATA, which is pageable memory (malloc's), may be changed when the call
   returns. MC_CANNOT while STREAM is being captured. */
MC_API mc_status mc_device_write_on(mc_device *device, uint64_t address, const void *data, size_t bytes,
                                    void *stream, mc_diag *diag);
/* MC_CANNOT while STREAM is being captured: for what has to wait for it. */
MC_API mc_status mc_device_check_stream(mc_device *device, void *stream, mc_diag *diag);
/* Reads what STREAM makes: all that was put on it is done, and the copy, when the call returns. */
MC_API mc_status mc_device_read_on(mc_device *device, uint64_t address, void *data, size_t bytes,
                                   void *stream, mc_diag *diag);
/* The stream of mc_device_upload: for work of the library's own that is waited for. It waits for no other
   stream, and no other one for it. */
MC_API mc_status mc_device_own_stream(mc_device *device, void **stream, mc_diag *diag);

/* -- Tensor maps -------------------------------------------------------------------------------------- */

/* A tensor in device memory, and the box of it that one copy moves (PTX ISA, cp.async.bulk.tensor). Index 0
   is the innermost dimension. Elements outside of the tensor read as 0. */
enum { MC_TENSOR_RANK = 3 };

typedef enum mc_swizzle { MC_SWIZZLE_NONE, MC_SWIZZLE_32B, MC_SWIZZLE_64B, MC_SWIZZLE_128B } mc_swizzle;

typedef struct mc_tensor {
    mc_type type;
    int rank;                      /* 1 to 3 */
    uint64_t address;              /* multiple of 16 */
    uint64_t dims[MC_TENSOR_RANK]; /* elements */
    /* Bytes from one index of dimensions 1 and 2 to the next: multiples of 16 */
    uint64_t strides[MC_TENSOR_RANK - 1];
    /* Elements, 1 to 256; rows of a multiple of 16 bytes, no longer than what the swizzle spans */
    unsigned box[MC_TENSOR_RANK];
    mc_swizzle swizzle;
} mc_tensor;

/* What a kernel takes as a parameter (.param .align 64 .b8 map[128]). Opaque, and of one kind of device. */
typedef struct mc_tensor_map {
    _Alignas(64) unsigned char opaque[128];
} mc_tensor_map;

/* MC_DEVICE where TENSOR breaks a rule; MC_CANNOT where the driver has no tensor maps (before CUDA 12). */
MC_API mc_status mc_device_tensor_map(mc_device *device, const mc_tensor *tensor, mc_tensor_map *map,
                                      mc_diag *diag);

/* -- Images and modules ------------------------------------------------------------------------------- */

/* Machine code for one kind of GPU (a cubin); for the simulator, and of a kernel whose warpgroups exchange
   registers (setmaxnreg), the PTX itself, whose machine code the driver's cache has. */
typedef struct mc_image {
    void *data; /* malloc'ed */
    size_t size;
} mc_image;

MC_API void mc_image_free(mc_image *image);
/* Whether PTX has setmaxnreg. */
MC_API bool mc_ptx_exchanges_registers(const char *ptx);
/* PTX to an image, by the driver. Thread-safe: several threads may compile for one device. *LOG,
   where LOG is not NULL, is what the compiler said, "" where it said nothing, also on failure (NULL: out of
   memory); the caller frees. */
MC_API mc_status mc_device_compile(mc_device *device, const char *ptx, mc_image *image, char **log,
                                   mc_diag *diag);

typedef struct mc_module mc_module; /* one loaded kernel entry */

/* JIT-loads PTX and finds ENTRY. On failure the message carries the driver's JIT log, or the simulator's
   line. */
MC_API mc_status mc_module_load(mc_device *device, const char *ptx, const char *entry, mc_module **module,
                                mc_diag *diag);
/* Loads what mc_device_compile made for the same kind of GPU. */
MC_API mc_status mc_module_load_image(mc_device *device, const mc_image *image, const char *entry,
                                      mc_module **module, mc_diag *diag);
MC_API void mc_module_unload(mc_module *module); /* NULL is fine */

/* -- Launches ----------------------------------------------------------------------------------------- */

typedef struct mc_launch {
    unsigned grid[3], block[3];
    unsigned shared_dynamic; /* bytes */
    /* May start before what was launched before it has finished (mc_contract.overlap); clear it to forbid */
    bool overlap;
    /* One for each parameter, in the order of the contract; an s32 in the low half */
    uint64_t values[MC_MAX_PARAMS];
    /* Where one is not NULL, it is the parameter, and the value is not */
    const mc_tensor_map *maps[MC_MAX_PARAMS];
    size_t count;
    /* Above 1: the kernel runs that often, one time after another, and parameter `pass` counts from 0 */
    unsigned passes;
    size_t pass;
} mc_launch;

/* Launches, all passes, and waits. */
MC_API mc_status mc_module_launch(mc_module *module, const mc_launch *launch, mc_diag *diag);
/* Does once what launches otherwise do each time: compares parameters with LAUNCH's, and allows its shared
   memory. mc_module_put then only launches, with LAUNCH's values as they are at the call; on the simulator it
   has run when it returns. For both the context must be current (mc_device_enter). */
MC_API mc_status mc_module_prepare(mc_module *module, const mc_launch *launch, mc_diag *diag);
MC_API mc_status mc_module_put(mc_module *module, const mc_launch *launch, void *stream, mc_diag *diag);
/* Puts one launch on STREAM (a CUstream of the device's context) and returns: for callers that capture
   graphs or overlap work. The order of STREAM is all that says when it has run. MC_CANNOT on the
   simulator. */
MC_API mc_status mc_module_enqueue(mc_module *module, const mc_launch *launch, void *stream, mc_diag *diag);
/* Median time of one launch in microseconds: a CUDA graph of LAUNCHES launches, replayed ROUNDS times after a
   warm-up. MC_CANNOT on the simulator. */
MC_API mc_status mc_module_time(mc_module *module, const mc_launch *launch, int launches, int rounds,
                                double *microseconds, mc_diag *diag);

/* -- Graphs ------------------------------------------------------------------------------------------- */

/* Launches captured into a CUDA graph, with the values that they have at mc_graph_create, to be replayed and
   timed. Before its MODULE is unloaded a graph is destroyed. On the simulator a replay's time is the warp
   instructions that it executes, a thousandth of a microsecond each: no time, but an order to test with. */
typedef struct mc_graph mc_graph;
MC_API mc_status mc_graph_create(mc_module *module, const mc_launch *launches, size_t count, mc_graph **graph,
                                 mc_diag *diag);
/* One replay, waited for: microseconds of all launches together. */
MC_API mc_status mc_graph_replay(mc_graph *graph, double *microseconds, mc_diag *diag);
/* COUNT replays, from 1 on, and the last one's time. That one began right behind the one before it, on the L2
   that it left, while the time of a single replay has the way from the host to the GPU in it. */
MC_API mc_status mc_graph_replay_last(mc_graph *graph, int count, double *microseconds, mc_diag *diag);
MC_API void mc_graph_destroy(mc_graph *graph); /* NULL is fine */

#endif
