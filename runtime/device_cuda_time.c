/* Timing on a GPU. Launches go into a CUDA graph, so that what is measured is the kernel and not the driver's
   launch path (some 3 us a launch), as kernels run in the deployments that care. */
#include <stdlib.h>
#include "device_cuda.h"

/* Everything that a measurement holds; what is NULL was not made. */
typedef struct stopwatch {
    const cuda_driver *driver;
    cuda_stream stream;
    cuda_graph graph;
    cuda_graph_exec exec;
    cuda_event begin, end;
} stopwatch;

static void stopwatch_close(stopwatch *watch) {
    const cuda_driver *driver = watch->driver;
    if (watch->exec != NULL) (void)driver->GraphExecDestroy(watch->exec);
    if (watch->graph != NULL) (void)driver->GraphDestroy(watch->graph);
    if (watch->begin != NULL) (void)driver->EventDestroy(watch->begin);
    if (watch->end != NULL) (void)driver->EventDestroy(watch->end);
    if (watch->stream != NULL) (void)driver->StreamDestroy(watch->stream);
}

static mc_status stopwatch_open(stopwatch *watch, mc_diag *diag) {
    mc_status status = CUDA_CALL(watch->driver, diag, StreamCreate, &watch->stream, CUDA_STREAM_NON_BLOCKING);
    if (status == MC_OK) status = CUDA_CALL(watch->driver, diag, EventCreate, &watch->begin, 0);
    if (status == MC_OK) status = CUDA_CALL(watch->driver, diag, EventCreate, &watch->end, 0);
    return status;
}

/* A capture that began must end, also where a launch was refused. */
static mc_status capture(stopwatch *watch, const cuda_module_state *module, const mc_launch *launch,
                         int launches, mc_diag *diag) {
    mc_status status =
        CUDA_CALL(watch->driver, diag, StreamBeginCapture, watch->stream, CUDA_CAPTURE_MODE_THREAD_LOCAL);
    if (status != MC_OK) return status;
    for (int i = 0; i < launches && status == MC_OK; i++)
        status = cuda_enqueue(module, launch, watch->stream, diag);
    cuda_result ended = watch->driver->StreamEndCapture(watch->stream, &watch->graph);
    if (status == MC_OK) status = cuda_check(watch->driver, ended, "cuStreamEndCapture", diag);
    if (status == MC_OK)
        status = CUDA_CALL(watch->driver, diag, GraphInstantiateWithFlags, &watch->exec, watch->graph, 0);
    return status;
}

static mc_status warm_up(const stopwatch *watch, mc_diag *diag) {
    mc_status status = CUDA_CALL(watch->driver, diag, GraphLaunch, watch->exec, watch->stream);
    if (status == MC_OK) status = CUDA_CALL(watch->driver, diag, StreamSynchronize, watch->stream);
    return status;
}

static mc_status measure_round(const stopwatch *watch, double *milliseconds, mc_diag *diag) {
    float elapsed = 0;
    mc_status status = CUDA_CALL(watch->driver, diag, EventRecord, watch->begin, watch->stream);
    if (status == MC_OK) status = CUDA_CALL(watch->driver, diag, GraphLaunch, watch->exec, watch->stream);
    if (status == MC_OK) status = CUDA_CALL(watch->driver, diag, EventRecord, watch->end, watch->stream);
    if (status == MC_OK) status = CUDA_CALL(watch->driver, diag, EventSynchronize, watch->end);
    if (status == MC_OK)
        status = CUDA_CALL(watch->driver, diag, EventElapsedTime, &elapsed, watch->begin, watch->end);
    *milliseconds = (double)elapsed;
    return status;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof values[0], compare_doubles);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static mc_status measure(const stopwatch *watch, int launches, int rounds, double *microseconds,
                         mc_diag *diag) {
    double *milliseconds = calloc((size_t)rounds, sizeof *milliseconds);
    if (milliseconds == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    mc_status status = warm_up(watch, diag);
    for (int i = 0; i < rounds && status == MC_OK; i++) status = measure_round(watch, &milliseconds[i], diag);
    if (status == MC_OK) *microseconds = 1000.0 * median(milliseconds, rounds) / launches;
    free(milliseconds);
    return status;
}

mc_status cuda_time(mc_module *module, const mc_launch *launch, int launches, int rounds,
                    double *microseconds, mc_diag *diag) {
    const cuda_module_state *loaded = (const cuda_module_state *)module;
    stopwatch watch = {.driver = ((cuda_device_state *)module->device)->driver};
    mc_status status = cuda_enter(module->device, diag);
    if (status == MC_OK) status = cuda_check_params(loaded, launch, diag);
    if (status == MC_OK) status = stopwatch_open(&watch, diag);
    if (status == MC_OK) status = capture(&watch, loaded, launch, launches, diag);
    if (status == MC_OK) status = measure(&watch, launches, rounds, microseconds, diag);
    stopwatch_close(&watch);
    return status;
}
