#include <math.h>
#include <stdlib.h>
#include "stats.h"
#include <time.h>
#include "timer.h"

enum { QUICK_REPLAYS = 3, REPLAY_US = 250, LEAST_LAUNCHES = 3, MOST_LAUNCHES = 512, LONG_ROUND_US = 4000 };

static double read_clock(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

double timer_wall_us(void) { return read_clock(CLOCK_MONOTONIC); }
double timer_thread_us(void) { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

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
    for (int i = 0; i < r->launches && status == MC_OK; i++) {
        if (gpu->between != NULL && gpu->between != c)
            status = gpu->between->enqueue(gpu->between, 0, gpu->stream, diag);
        if (status == MC_OK) status = c->enqueue(c, i % c->sets, gpu->stream, diag);
    }
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

static double between_us(const gpu_device *gpu) { return gpu->between != NULL ? gpu->between->quick : 0; }

mc_status timer_quick(gpu_device *gpu, contender *c, int launches, mc_diag *diag) {
    replay r = {0};
    mc_status status = replay_open(gpu, &r, c, launches, QUICK_REPLAYS, diag);
    if (status == MC_OK) status = replay_untimed(gpu, &r, diag);
    for (int i = 0; i < QUICK_REPLAYS && status == MC_OK; i++) {
        status = replay_timed(gpu, &r, diag);
        if (status == MC_OK) status = replay_collect(gpu, &r, diag);
    }
    if (status == MC_OK) c->quick = box_of(r.times, (size_t)r.rounds).median - between_us(gpu);
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

static timing timing_of(replay *r, double between) {
    box times = box_of(r->times, (size_t)r->rounds);
    return (timing){times.median - between, times.low - between, times.high - between, r->launches,
                    r->rounds};
}

/* CONTENDERS and, where there is one, behind them what runs between. */
static mc_status time_field(gpu_device *gpu, replay *replays, const contender *const *contenders,
                            size_t count, int rounds, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < count && status == MC_OK; i++)
        status = replay_open(gpu, &replays[i], contenders[i], launches_for(contenders[i]), rounds, diag);
    for (int round = 0; round < rounds && status == MC_OK; round++)
        status = run_round(gpu, replays, contenders, count, round, diag);
    return status;
}

mc_status timer_rounds(gpu_device *gpu, const contender *const *contenders, size_t count, int rounds,
                       timing *timings, mc_diag *diag) {
    size_t all = count + (gpu->between != NULL);
    replay *replays = calloc(all + 1, sizeof *replays);
    const contender **field = calloc(all + 1, sizeof(const contender *));
    mc_status status = replays == NULL || field == NULL ? mc_fail(diag, MC_NOMEM, "out of memory") : MC_OK;
    for (size_t i = 0; i < all && status == MC_OK; i++) field[i] = i < count ? contenders[i] : gpu->between;
    if (status == MC_OK) status = time_field(gpu, replays, field, all, rounds, diag);
    double between = status == MC_OK && all > count ? timing_of(&replays[count], 0).median : 0;
    for (size_t i = 0; i < count && status == MC_OK; i++) timings[i] = timing_of(&replays[i], between);
    for (size_t i = 0; i < all && replays != NULL; i++) replay_close(gpu, &replays[i]);
    free(field);
    free(replays);
    return status;
}
