/* Doors into the fake driver for the test that loads it (found by dlsym, as the driver's own symbols are). */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

typedef struct fake_cuda {
    char log[16384];                   /* a line a call: "cuMemFree_v2 0x1000" */
    int calls, fail_at;                /* the fail_at-th call from now fails, 0: none */
    int alive;                         /* allocations, modules, streams, events, graphs, contexts held */
    int devices;                       /* what cuDeviceGetCount says */
    size_t params;                     /* of every kernel, 8 bytes each; 0: 2 */
    size_t map_at;                     /* which of them is a tensor map, of 128 bytes; 0: none */
    const char *jit_error;             /* not NULL: loading fails with this log */
    const float *elapsed;              /* milliseconds of the coming measurements */
    void (*kernel)(void *const *args); /* what a launch outside of a capture does */
} fake_cuda;

/* extern fake_cuda fake_cuda_state; */

#endif
