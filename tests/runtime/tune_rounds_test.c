/* Rounds and the choice, with times that the test makes up. */
#include <stdlib.h>
#include "check.h"
#include "mcrt_internal.h"
#include "tune/rounds.h"

enum { MAX_RUNNERS = 64 };

/* A GPU without a GPU: each runner has a time, all have noise, and a clock that rises. */
typedef struct stand {
    double times[MAX_RUNNERS];
    int laps[MAX_RUNNERS], fails_at[MAX_RUNNERS]; /* in which lap; 0: never */
    size_t order[4096], lap_count;
    double noise;              /* as a part: 0.02 */
    double rising;             /* the first lap takes that much longer, as a part */
    int stop_after, breaks_at; /* rounds; laps; 0: never */
    unsigned random;
} stand;

static double next_noise(stand *s) {
    s->random = s->random * 1664525U + 1013904223U;
    return s->noise * ((double)(s->random >> 8) / (1 << 24) - .5);
}

static mc_status lap(void *user, size_t runner, double *microseconds, bool *failed, mc_diag *diag) {
    stand *s = user;
    s->laps[runner]++;
    if (s->lap_count < sizeof s->order / sizeof s->order[0]) s->order[s->lap_count] = runner;
    s->lap_count++;
    *failed = s->laps[runner] == s->fails_at[runner];
    if (s->breaks_at != 0 && (int)s->lap_count == s->breaks_at)
        return mc_fail(diag, MC_DEVICE, "the device broke");
    *microseconds = s->times[runner] * (1 + next_noise(s)) * (1 + s->rising / (double)s->lap_count);
    return MC_OK;
}

static bool tick(void *user, int round, int rounds) {
    const stand *s = user;
    CHECK(round <= rounds, "%d of %d", round, rounds);
    return s->stop_after == 0 || round < s->stop_after;
}

static tune_runner *runners_of(const stand *s, size_t count) {
    tune_runner *runners = calloc(count, sizeof *runners);
    for (size_t i = 0; runners != NULL && i < count; i++)
        runners[i] = (tune_runner){.guess = s->times[i], .lap_us = 500};
    return runners;
}

static mc_status run(stand *s, const tune_rules *rules, tune_runner *runners, size_t count, mc_diag *diag) {
    const tune_track track = {lap, tick, s};
    return tune_rounds(&track, rules, runners, count, diag);
}

/* Times 10, 10.2, 14, 19, 25 and 90 with 2 % of noise. */
static void test_dropping(mc_diag *diag) {
    stand s = {.times = {10, 10.2, 14, 19, 25, 90}, .noise = .02, .random = 1};
    const tune_rules rules = {5, 11, 31, 0, 1e9};
    tune_runner *r = runners_of(&s, 6);
    r[5].stays = true;
    CHECK(run(&s, &rules, r, 6, diag) == MC_OK, "%s", mc_diag_text(diag));
    CHECK(!r[0].out && r[0].rounds == 31, "%d rounds", r[0].rounds);
    CHECK(!r[1].out && r[1].rounds == 31, "within noise of the leader: %d rounds", r[1].rounds);
    CHECK(r[2].out && r[2].rounds == 11, "clearly behind: %d rounds", r[2].rounds);
    CHECK(r[3].out && r[3].rounds == 11, "clearly behind: %d rounds", r[3].rounds);
    CHECK(r[4].out && r[4].rounds == 5, "more than twice: %d rounds", r[4].rounds);
    CHECK(!r[5].out && r[5].rounds == 31, "stays: %d rounds", r[5].rounds);
    CHECK(r[2].median > 13.8 && r[2].median < 14.2 && r[2].low <= r[2].median && r[2].median <= r[2].high,
          "%f %f %f", r[2].low, r[2].median, r[2].high);
    CHECK(tune_choose(r, 6) == 0, "the fastest is chosen");
    tune_runners_free(r, 6);
}

/* A clock that rises makes the first laps slow. It is the same for all: who is first in a round has no disadvantage. */
static void test_fairness(mc_diag *diag) {
    for (unsigned seed = 1; seed <= 20; seed++) {
        stand s = {.times = {10, 10.4}, .noise = .03, .rising = .5, .random = seed};
        tune_runner *r = runners_of(&s, 2);
        CHECK(run(&s, &tune_rules_field, r, 2, diag) == MC_OK, "%s", mc_diag_text(diag));
        CHECK(tune_choose(r, 2) == 0, "seed %u: %f %f", seed, r[0].median, r[1].median);
        tune_runners_free(r, 2);
    }
    stand s = {.times = {1, 1, 1}};
    const tune_rules rules = {5, 11, 11, 0, 1e9};
    tune_runner *r = runners_of(&s, 3);
    CHECK(run(&s, &rules, r, 3, diag) == MC_OK, "%s", mc_diag_text(diag));
    static const size_t want[] = {2, 1, 0, 0, 1, 2, 2, 1, 0};
    CHECK(s.lap_count == 33 && memcmp(s.order, want, sizeof want) == 0, "there and back: %zu laps",
          s.lap_count);
    tune_runners_free(r, 3);
}

static void test_budget(mc_diag *diag) {
    stand s = {.times = {10, 10}};
    const tune_rules rules = {5, 11, 31, 0, 15 * 1000.0}, warm = {1, 2, 2, 4500, 1e9};
    tune_runner *r = runners_of(&s, 2);
    CHECK(run(&s, &rules, r, 2, diag) == MC_OK && r[0].rounds == 15, "budget for 15 rounds: %d", r[0].rounds);
    tune_runners_free(r, 2);
    s = (stand){.times = {10, 10}};
    r = runners_of(&s, 2);
    const tune_rules poor = {5, 11, 31, 0, 3500};
    CHECK(run(&s, &poor, r, 2, diag) == MC_OK && r[0].rounds == 7, "twice the budget is for 7: %d",
          r[0].rounds);
    tune_runners_free(r, 2);
    s = (stand){.times = {10, 10}};
    r = runners_of(&s, 2);
    CHECK(run(&s, &warm, r, 2, diag) == MC_OK && r[0].rounds == 2 && s.laps[0] == 7,
          "5 rounds to warm up, 2 that count: %d laps, %d count", s.laps[0], r[0].rounds);
    tune_runners_free(r, 2);
}

static void test_ends(mc_diag *diag) {
    stand s = {.times = {10, 12, 11}, .stop_after = 3};
    tune_runner *r = runners_of(&s, 3);
    const tune_rules rules = {5, 11, 31, 0, 1e9};
    CHECK(run(&s, &rules, r, 3, diag) == MC_OK && r[1].rounds == 3, "stopped after 3: %d", r[1].rounds);
    CHECK(tune_choose(r, 3) == 0, "the best so far");
    tune_runners_free(r, 3);

    s = (stand){.times = {10, 12, 11}, .fails_at = {4}};
    r = runners_of(&s, 3);
    CHECK(run(&s, &rules, r, 3, diag) == MC_OK, "%s", mc_diag_text(diag));
    CHECK(r[0].failed && r[0].out && s.laps[0] == 4, "failed in its fourth lap of %d", s.laps[0]);
    CHECK(tune_choose(r, 3) == 2 && r[2].rounds == 31, "the others go on");
    tune_runners_free(r, 3);

    s = (stand){.times = {10, 12, 11}, .breaks_at = 8};
    r = runners_of(&s, 3);
    CHECK(run(&s, &rules, r, 3, diag) == MC_DEVICE && s.lap_count == 8, "%zu laps", s.lap_count);
    CHECK_TEXT(mc_diag_text(diag), "the device broke");
    mc_diag_clear(diag);
    tune_runners_free(r, 3);
    CHECK(run(&s, &rules, NULL, 0, diag) == MC_OK && tune_choose(NULL, 0) == 0, "nobody at all");
}

static void test_choice(void) {
    tune_runner r[] = {{.median = 10.05, .stays = true}, {.median = 10}, {.median = 9, .out = true}};
    CHECK(tune_choose(r, 3) == 0, "the default wins a tie");
    r[0].median = 10.2;
    CHECK(tune_choose(r, 3) == 1, "and nothing else");
    r[0].out = r[1].out = true;
    CHECK(tune_choose(r, 3) == 3, "all are out");
    tune_runner two[] = {{.median = 10.09, .stays = true}, {.median = 10}, {.median = 10.02, .stays = true}};
    CHECK(tune_choose(two, 3) == 2, "of two defaults the faster one");
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    test_dropping(diag);
    test_fairness(diag);
    test_budget(diag);
    test_ends(diag);
    test_choice();
    mc_diag_destroy(diag);
    return check_end();
}
