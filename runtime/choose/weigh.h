/* Estimates, weighed by what was measured of problems near this one. */
#ifndef MCRT_WEIGH_H
#define MCRT_WEIGH_H

#include "choose/candidates.h"
#include "records/record.h"

/* What records say of the candidate of the same index. */
typedef struct weighed {
    double off;    /* logarithm: how much slower it was than its estimates made expect of it, times weights */
    double weight; /* of these records together */
    double nearest; /* the least distance of a record that names it; INFINITY: none does */
} weighed;

/* Adds what R says, a record DISTANCE away from PROBLEM; ITEMS has one for each candidate of LIST, zeroed but
   for nearest. The kernels that R names are compared with each other, those that it leaves out were slower.
   No memory: R says nothing. */
void weigh_by(const record *r, double distance, const plan_problem *problem, const mc_gpu *gpu,
              const candidate_list *list, weighed *items);
/* What to expect of ITEM: its estimate times what records made of it. For comparing candidates. */
double weighed_estimate(const candidate *item, const weighed *said);

#endif
