#include "replay.h"
#include <stdlib.h>

enum { REPLAYS = 100, ROUNDS = 15, CAPTURE_GLOBAL = 0 };

static mc_status capture(const cuda_driver *driver, cuda_stream stream, replay_pass *pass, const void *user,
                         cuda_graph_exec *exec, mc_diag *diag) {
    cuda_graph graph = NULL;
    mc_status status = CUDA_CALL(driver, diag, StreamBeginCapture, stream, CAPTURE_GLOBAL);
    if (status != MC_OK) return status;
    status = pass(user, stream, diag);
    cuda_result ended = driver->StreamEndCapture(stream, &graph);
    if (status == MC_OK) status = cuda_check(driver, ended, "cuStreamEndCapture", diag);
    if (status == MC_OK) status = CUDA_CALL(driver, diag, GraphInstantiateWithFlags, exec, graph, 0);
    if (graph != NULL) (void)driver->GraphDestroy(graph);
    return status;
}

/* Microseconds of a replay, of REPLAYS. */
static mc_status time_replays(const cuda_driver *driver, cuda_graph_exec exec, cuda_stream stream, double *us,
                              mc_diag *diag) {
    cuda_event begin = NULL, end = NULL;
    float ms = 0;
    mc_status status = CUDA_CALL(driver, diag, EventCreate, &begin, 0);
    if (status == MC_OK) status = CUDA_CALL(driver, diag, EventCreate, &end, 0);
    if (status == MC_OK) status = CUDA_CALL(driver, diag, EventRecord, begin, stream);
    for (int i = 0; i < REPLAYS && status == MC_OK; i++)
        status = CUDA_CALL(driver, diag, GraphLaunch, exec, stream);
    if (status == MC_OK) status = CUDA_CALL(driver, diag, EventRecord, end, stream);
    if (status == MC_OK) status = CUDA_CALL(driver, diag, StreamSynchronize, stream);
    if (status == MC_OK) status = CUDA_CALL(driver, diag, EventElapsedTime, &ms, begin, end);
    if (begin != NULL) (void)driver->EventDestroy(begin);
    if (end != NULL) (void)driver->EventDestroy(end);
    *us = (double)ms * 1e3 / REPLAYS;
    return status;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

mc_status replay_time(const cuda_driver *driver, cuda_stream stream, replay_pass *pass, const void *user,
                      double us[3], mc_diag *diag) {
    cuda_graph_exec exec = NULL;
    double times[ROUNDS];
    mc_status status = capture(driver, stream, pass, user, &exec, diag);
    if (status == MC_OK) status = time_replays(driver, exec, stream, times, diag); /* warm */
    for (int i = 0; i < ROUNDS && status == MC_OK; i++)
        status = time_replays(driver, exec, stream, &times[i], diag);
    if (exec != NULL) (void)driver->GraphExecDestroy(exec);
    if (status != MC_OK) return status;
    qsort(times, ROUNDS, sizeof *times, by_value);
    us[0] = times[ROUNDS / 2], us[1] = times[ROUNDS / 4], us[2] = times[ROUNDS * 3 / 4];
    return MC_OK;
}
