#include <math.h>
#include <stdlib.h>
#include "stats.h"
#include "timer.h"

enum { QUICK_REPLAYS = 3, REPLAY_US = 250, LEAST_LAUNCHES = 3, MOST_LAUNCHES = 512, LONG_ROUND_US = 4000 };

/* A captured graph and the events around its replays; what is NULL was not made. */
typedef struct replay {
    cuda_graph graph;
    cuda_graph_exec exec;
    cuda_event begin, end;
    int launches, rounds;
    double *times;
} replay;

static void replay_close(const gpu_device *gpu, replay *r) {
    if (r->exec != NULL) (void)gpu->driver->GraphExecDestroy(r->exec);
    if (r->graph != NULL) (void)gpu->driver->GraphDestroy(r->graph);
    if (r->begin != NULL) (void)gpu->driver->EventDestroy(r->begin);
    if (r->end != NULL) (void)gpu->driver->EventDestroy(r->end);
    free(r->times);
}

/* A capture that began must end, also where a launch was refused. */
static mc_status capture(const gpu_device *gpu, replay *r, const contender *c, mc_diag *diag) {
    mc_status status =
        CUDA_CALL(gpu->driver, diag, StreamBeginCapture, gpu->stream, CUDA_CAPTURE_MODE_THREAD_LOCAL);
    if (status != MC_OK) return status;
    for (int i = 0; i < r->launches && status == MC_OK; i++)
        status = c->enqueue(c, i % c->sets, gpu->stream, diag);
    cuda_result ended = gpu->driver->StreamEndCapture(gpu->stream, &r->graph);
    if (status == MC_OK) status = cuda_check(gpu->driver, ended, "cuStreamEndCapture", diag);
    if (status == MC_OK)
        status = CUDA_CALL(gpu->driver, diag, GraphInstantiateWithFlags, &r->exec, r->graph, 0);
    return status;
}

/* LAUNCHES is rounded up to whole turns of the operand sets. */
static mc_status replay_open(const gpu_device *gpu, replay *r, const contender *c, int launches, int rounds,
                             mc_diag *diag) {
    r->launches = (launches + c->sets - 1) / c->sets * c->sets;
    r->times = calloc((size_t)rounds, sizeof *r->times);
    if (r->times == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    mc_status status = capture(gpu, r, c, diag);
    if (status == MC_OK) status = CUDA_CALL(gpu->driver, diag, EventCreate, &r->begin, 0);
    if (status == MC_OK) status = CUDA_CALL(gpu->driver, diag, EventCreate, &r->end, 0);
    return status;
}

static mc_status replay_untimed(const gpu_device *gpu, const replay *r, mc_diag *diag) {
    return CUDA_CALL(gpu->driver, diag, GraphLaunch, r->exec, gpu->stream);
}

static mc_status replay_timed(const gpu_device *gpu, const replay *r, mc_diag *diag) {
    mc_status status = CUDA_CALL(gpu->driver, diag, EventRecord, r->begin, gpu->stream);
    if (status == MC_OK) status = replay_untimed(gpu, r, diag);
    if (status == MC_OK) status = CUDA_CALL(gpu->driver, diag, EventRecord, r->end, gpu->stream);
    return status;
}

/* Waits for a timed replay and adds its time. */
static mc_status replay_collect(const gpu_device *gpu, replay *r, mc_diag *diag) {
    float milliseconds = 0;
    mc_status status = CUDA_CALL(gpu->driver, diag, EventSynchronize, r->end);
    if (status == MC_OK)
        status = CUDA_CALL(gpu->driver, diag, EventElapsedTime, &milliseconds, r->begin, r->end);
    r->times[r->rounds++] = 1e3 * (double)milliseconds / r->launches;
    return status;
}

mc_status timer_quick(gpu_device *gpu, contender *c, int launches, mc_diag *diag) {
    replay r = {0};
    mc_status status = replay_open(gpu, &r, c, launches, QUICK_REPLAYS, diag);
    if (status == MC_OK) status = replay_untimed(gpu, &r, diag);
    for (int i = 0; i < QUICK_REPLAYS && status == MC_OK; i++) {
        status = replay_timed(gpu, &r, diag);
        if (status == MC_OK) status = replay_collect(gpu, &r, diag);
    }
    if (status == MC_OK) c->quick = box_of(r.times, (size_t)r.rounds).median;
    replay_close(gpu, &r);
    return status;
}

/* -- Interleaved rounds */

static int launches_for(const contender *c) {
    double launches = c->quick > 0 ? ceil(REPLAY_US / c->quick) : MOST_LAUNCHES;
    if (launches < LEAST_LAUNCHES) return LEAST_LAUNCHES;
    return launches > MOST_LAUNCHES ? MOST_LAUNCHES : (int)launches;
}

static bool sits_out(const replay *r, const contender *c, int round) {
    return round >= TIMER_MIN_ROUNDS && c->quick * r->launches > LONG_ROUND_US;
}

/* The GPU runs a whole round before the host waits for it. */
static mc_status run_round(const gpu_device *gpu, replay *replays, const contender *const *contenders,
                           size_t count, int round, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < count && status == MC_OK; i++) {
        if (sits_out(&replays[i], contenders[i], round)) continue;
        status = replay_untimed(gpu, &replays[i], diag);
        if (status == MC_OK) status = replay_timed(gpu, &replays[i], diag);
    }
    for (size_t i = 0; i < count && status == MC_OK; i++)
        if (!sits_out(&replays[i], contenders[i], round)) status = replay_collect(gpu, &replays[i], diag);
    return status;
}

static timing timing_of(replay *r) {
    box times = box_of(r->times, (size_t)r->rounds);
    return (timing){times.median, times.low, times.high, r->launches, r->rounds};
}

mc_status timer_rounds(gpu_device *gpu, const contender *const *contenders, size_t count, int rounds,
                       timing *timings, mc_diag *diag) {
    replay *replays = calloc(count > 0 ? count : 1, sizeof *replays);
    if (replays == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    mc_status status = MC_OK;
    for (size_t i = 0; i < count && status == MC_OK; i++)
        status = replay_open(gpu, &replays[i], contenders[i], launches_for(contenders[i]), rounds, diag);
    for (int round = 0; round < rounds && status == MC_OK; round++)
        status = run_round(gpu, replays, contenders, count, round, diag);
    for (size_t i = 0; i < count && status == MC_OK; i++) timings[i] = timing_of(&replays[i]);
    for (size_t i = 0; i < count; i++) replay_close(gpu, &replays[i]);
    free(replays);
    return status;
}
