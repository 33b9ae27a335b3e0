/* What a record of another problem says of this one's kernels. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "choose/weigh.h"
#include "records.h"

/* The candidate of LIST whose fields have FRAGMENT. */
static size_t find_candidate(const candidate_list *list, const char *fragment) {
    for (size_t i = 0; i < list->count; i++)
        if (strstr(list->items[i].fields, fragment) != NULL) return i;
    CHECK(false, "no %s", fragment);
    return 0;
}

/* What R of OTHER says of P's candidates: two kernels that it names are to each other as they were measured
   there, as far as the record's weight goes; one that it does not name is slower. */
static void check_said(const plan_problem *p, const record *r, double distance) {
    const candidate_target target = {.gpu = *mc_gpu_find("NVIDIA H200", 90), .capability = 90};
    candidate_list list;
    CHECK(candidates_find(p, &target, NULL, 0, &list, NULL) == MC_OK, "no candidates");
    weighed *said = calloc(list.count + 1, sizeof *said);
    for (size_t i = 0; i < list.count; i++) said[i].nearest = INFINITY;
    weigh_by(r, distance, p, &target.gpu, &list, said);
    size_t fast = find_candidate(&list, "stride=64 tile_n=64 warps=2 split=2 prefetch=on"),
           slow = find_candidate(&list, "stride=32 tile_n=64 warps=2 split=2 prefetch=on"),
           unnamed = find_candidate(&list, "stride=32 tile_n=32 warps=1 split=1 prefetch=on");
    mc_problem there = plan_problem_estimate(&r->problem);
    mc_kernel *kernels[2] = {record_kernel_for(r, 0, &r->problem), record_kernel_for(r, 1, &r->problem)};
    double weight = exp(-distance * distance),
           measured = r->candidates[1].microseconds / r->candidates[0].microseconds,
           expected = mc_kernel_estimate(kernels[1], &target.gpu, &there) /
                      mc_kernel_estimate(kernels[0], &target.gpu, &there);
    double now = weighed_estimate(&list.items[slow], &said[slow]) /
                 weighed_estimate(&list.items[fast], &said[fast]),
           before = list.items[slow].estimate / list.items[fast].estimate;
    CHECK(fabs(now / before - pow(measured / expected, weight)) < 1e-9, "%g times as long, %g before", now,
          before);
    CHECK(weighed_estimate(&list.items[unnamed], &said[unnamed]) > list.items[unnamed].estimate, "not named");
    CHECK(fabs(said[fast].off + said[slow].off) < 1e-9, "they are compared with each other");
    CHECK(fabs(said[fast].nearest - distance) < 1e-12 && isinf(said[unnamed].nearest), "whose record it is");
    mc_kernel_destroy(kernels[0]);
    mc_kernel_destroy(kernels[1]);
    free(said);
    candidates_free(&list);
}

int main(void) {
    plan_problem p = test_usual(MC_OP_SPMM), other = p;
    record_candidate candidates[] = {{1, RECORD_TIMED, 5, "mine.lua",
                                      "op=spmm arch=sm_90 stride=64 tile_n=64 warps=2 split=2 prefetch=on"},
                                     {2, RECORD_TIMED, 7, "mine.lua",
                                      "op=spmm arch=sm_90 stride=32 tile_n=64 warps=2 split=2 prefetch=on"},
                                     {3, RECORD_DROPPED, 20, "mine.lua",
                                      "op=spmm arch=sm_90 stride=32 tile_n=32 warps=1 split=1 prefetch=on"},
                                     {4, RECORD_TIMED, 6, "mine.lua", "rubbish"}};
    other.m = 1024;
    test_complete(&other);
    const record r = {.problem = other, .gpu = "NVIDIA H200", .candidates = candidates, .candidate_count = 4};
    check_said(&p, &r, 0.5);
    check_said(&p, &r, 2);
    return check_end();
}
