/* Launches in a CUDA graph, between two events: what is measured is the kernels and not the driver's launch
   path (some 3 us a launch), as kernels run in the deployments that care. */
#include <stdlib.h>
#include "device/cuda.h"

/* What is NULL was not made. */
typedef struct cuda_graph_state {
    mc_graph base;
    cuda_stream stream;
    cuda_graph graph;
    cuda_graph_exec exec;
    cuda_event begin, end;
} cuda_graph_state;

static const cuda_driver *driver_of(const cuda_graph_state *graph) {
    return cuda_of(graph->base.device)->driver;
}

void cuda_graph_destroy(mc_graph *graph) {
    cuda_graph_state *state = (cuda_graph_state *)graph;
    const cuda_driver *driver = driver_of(state);
    (void)cuda_make_current(graph->device, NULL);
    if (state->exec != NULL) (void)driver->GraphExecDestroy(state->exec);
    if (state->graph != NULL) (void)driver->GraphDestroy(state->graph);
    if (state->begin != NULL) (void)driver->EventDestroy(state->begin);
    if (state->end != NULL) (void)driver->EventDestroy(state->end);
    if (state->stream != NULL) (void)driver->StreamDestroy(state->stream);
    free(state);
}

static mc_status make_stream(cuda_graph_state *graph, mc_diag *diag) {
    const cuda_driver *driver = driver_of(graph);
    mc_status status = CUDA_CALL(driver, diag, StreamCreate, &graph->stream, CUDA_STREAM_NON_BLOCKING);
    if (status == MC_OK) status = CUDA_CALL(driver, diag, EventCreate, &graph->begin, 0);
    if (status == MC_OK) status = CUDA_CALL(driver, diag, EventCreate, &graph->end, 0);
    return status;
}

/* The LAUNCHES, in turn, until there are COUNT. */
typedef struct launch_series {
    const mc_launch *launches;
    size_t distinct, count;
} launch_series;

static mc_status prepare_all(mc_module *module, const launch_series *series, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < series->distinct && status == MC_OK; i++)
        status = cuda_prepare(module, &series->launches[i], diag);
    return status;
}

/* A capture that began must end, also where a launch was refused. */
static mc_status capture(cuda_graph_state *graph, mc_module *module, const launch_series *series,
                         mc_diag *diag) {
    const cuda_driver *driver = driver_of(graph);
    mc_status status =
        CUDA_CALL(driver, diag, StreamBeginCapture, graph->stream, CUDA_CAPTURE_MODE_THREAD_LOCAL);
    if (status != MC_OK) return status;
    for (size_t i = 0; i < series->count && status == MC_OK; i++)
        status = cuda_put(module, &series->launches[i % series->distinct], graph->stream, diag);
    cuda_result ended = driver->StreamEndCapture(graph->stream, &graph->graph);
    if (status == MC_OK) status = cuda_check(driver, ended, "cuStreamEndCapture", diag);
    if (status == MC_OK)
        status = CUDA_CALL(driver, diag, GraphInstantiateWithFlags, &graph->exec, graph->graph, 0);
    return status;
}

static mc_status create(mc_module *module, const launch_series *series, cuda_graph_state **graph,
                        mc_diag *diag) {
    mc_status status = cuda_make_current(module->device, diag);
    if (status == MC_OK) status = prepare_all(module, series, diag);
    if (status != MC_OK) return status;
    cuda_graph_state *made = calloc(1, sizeof *made);
    if (made == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    made->base.device = module->device;
    status = make_stream(made, diag);
    if (status == MC_OK) status = capture(made, module, series, diag);
    if (status == MC_OK) *graph = made;
    else cuda_graph_destroy(&made->base);
    return status;
}

mc_status cuda_graph_create(mc_module *module, const mc_launch *launches, size_t count, mc_graph **graph,
                            mc_diag *diag) {
    const launch_series series = {launches, count, count};
    cuda_graph_state *made = NULL;
    mc_status status = create(module, &series, &made, diag);
    if (status == MC_OK) *graph = &made->base;
    return status;
}

mc_status cuda_graph_replay(mc_graph *graph, int count, double *microseconds, mc_diag *diag) {
    const cuda_graph_state *state = (const cuda_graph_state *)graph;
    const cuda_driver *driver = driver_of(state);
    float milliseconds = 0;
    mc_status status = cuda_make_current(graph->device, diag);
    for (int i = 1; i < count && status == MC_OK; i++)
        status = CUDA_CALL(driver, diag, GraphLaunch, state->exec, state->stream);
    if (status == MC_OK) status = CUDA_CALL(driver, diag, EventRecord, state->begin, state->stream);
    if (status == MC_OK) status = CUDA_CALL(driver, diag, GraphLaunch, state->exec, state->stream);
    if (status == MC_OK) status = CUDA_CALL(driver, diag, EventRecord, state->end, state->stream);
    if (status == MC_OK) status = CUDA_CALL(driver, diag, EventSynchronize, state->end);
    if (status == MC_OK)
        status = CUDA_CALL(driver, diag, EventElapsedTime, &milliseconds, state->begin, state->end);
    *microseconds = 1000.0 * (double)milliseconds;
    return status;
}

/* -- mc_module_time */

static mc_status warm_up(const cuda_graph_state *graph, mc_diag *diag) {
    mc_status status = CUDA_CALL(driver_of(graph), diag, GraphLaunch, graph->exec, graph->stream);
    if (status == MC_OK) status = CUDA_CALL(driver_of(graph), diag, StreamSynchronize, graph->stream);
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

/* *MICROSECONDS: the median of all launches together. */
static mc_status measure(cuda_graph_state *graph, int rounds, double *microseconds, mc_diag *diag) {
    double *each = calloc((size_t)rounds, sizeof *each);
    if (each == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    mc_status status = warm_up(graph, diag);
    for (int i = 0; i < rounds && status == MC_OK; i++)
        status = cuda_graph_replay(&graph->base, 1, &each[i], diag);
    if (status == MC_OK) *microseconds = median(each, rounds);
    free(each);
    return status;
}

mc_status cuda_time(mc_module *module, const mc_launch *launch, int launches, int rounds,
                    double *microseconds, mc_diag *diag) {
    const launch_series series = {launch, 1, (size_t)launches};
    cuda_graph_state *graph = NULL;
    double all = 0;
    mc_status status = create(module, &series, &graph, diag);
    if (status == MC_OK) status = measure(graph, rounds, &all, diag);
    if (status == MC_OK) *microseconds = all / launches;
    if (graph != NULL) cuda_graph_destroy(&graph->base);
    return status;
}
