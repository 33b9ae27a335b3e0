/* Doors into the fake driver for the test that loads it (found by dlsym, as the driver's own symbols are). */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

typedef struct fake_cuda {
    char log[32768];    /* a line a call: "cuMemFree_v2 0x1000" */
    int calls, fail_at; /* the fail_at-th call from now fails, 0: none */
    int alive;          /* allocations, modules, links, streams, events, graphs, contexts held or pushed */
    int capture_mode;   /* of the thread */
    int captured;       /* not 0: streams of the caller's are being captured */
    int host_tables;    /* not 0: the GPU reads pageable memory through the host's page tables */
    int devices;        /* what cuDeviceGetCount says */
    size_t params;      /* of every kernel, 8 bytes each; 0: 2 */
    const char *other;  /* not NULL: kernels whose names begin so have other_params */
    size_t other_params;
    size_t map_at;                     /* which of them is a tensor map, of 128 bytes; 0: none */
    const char *jit_error;             /* not NULL: loading and linking fail with this log */
    const char *jit_info;              /* not NULL: what linking says besides */
    const float *elapsed;              /* milliseconds of the coming measurements */
    void (*kernel)(void *const *args); /* what a launch outside of a capture does */
} fake_cuda;

/* extern fake_cuda fake_cuda_state;
   extern char fake_cuda_handles[64]: contexts, modules, streams ... are addresses in here; 41 to 63 are nobody's */

#endif
