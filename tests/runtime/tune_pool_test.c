/* Pieces of work on all cores: each once, none after a stop, and the caller hears of it all the while. */
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include "check.h"
#include "mcrt_internal.h"
#include "tune/pool.h"

enum { PIECES = 1000 };

typedef struct job {
    atomic_int times[PIECES];
    atomic_int begun;
    int ticks;
    size_t stop_at, last_done;
    bool backwards;
    long nanoseconds; /* that a piece takes */
} job;

static void piece(void *user, size_t index) {
    job *j = user;
    atomic_fetch_add(&j->times[index], 1);
    atomic_fetch_add(&j->begun, 1);
    struct timespec t = {0, j->nanoseconds};
    if (j->nanoseconds > 0) nanosleep(&t, NULL);
}

static bool tick(void *user, size_t done) {
    job *j = user;
    j->ticks++;
    j->backwards = j->backwards || done < j->last_done;
    j->last_done = done;
    return j->stop_at == 0 || done < j->stop_at;
}

static size_t once(const job *j) {
    size_t count = 0;
    for (int i = 0; i < PIECES; i++) {
        CHECK(j->times[i] <= 1, "piece %d was done %d times", i, j->times[i]);
        count += j->times[i] == 1;
    }
    return count;
}

static void test_all(void) {
    job *j = calloc(1, sizeof *j);
    const tune_work work = {PIECES, piece, tick, j}, silent = {PIECES, piece, NULL, j},
                    none = {0, piece, tick, j};
    CHECK(tune_work_do(&work) == PIECES && once(j) == PIECES, "%zu", once(j));
    CHECK(j->ticks > 0 && !j->backwards && j->last_done == PIECES, "%zu at the last tick", j->last_done);
    *j = (job){0};
    CHECK(tune_work_do(&silent) == PIECES && once(j) == PIECES && j->ticks == 0, "without ticks");
    *j = (job){0};
    CHECK(tune_work_do(&none) == 0 && once(j) == 0, "no pieces");
    free(j);
}

static void test_stop(void) {
    job *j = calloc(1, sizeof *j);
    *j = (job){.stop_at = 10, .nanoseconds = 1000000};
    const tune_work work = {PIECES, piece, tick, j};
    size_t done = tune_work_do(&work);
    CHECK(done >= 10 && done < PIECES && once(j) == done, "%zu done, %zu begun", done, once(j));
    for (size_t i = 0; i < done; i++) CHECK(j->times[i] == 1, "the first %zu: not %zu", done, i);
    free(j);
}

/* A piece of 0.35 s: three ticks before it is done. */
static void test_waiting(void) {
    job *j = calloc(1, sizeof *j);
    *j = (job){.nanoseconds = 350000000};
    const tune_work work = {1, piece, tick, j};
    CHECK(tune_work_do(&work) == 1 && j->ticks >= 3, "%d ticks", j->ticks);
    free(j);
}

int main(void) {
    CHECK(tune_cores() >= 1, "%zu cores", tune_cores());
    test_all();
    test_stop();
    test_waiting();
    return check_end();
}
