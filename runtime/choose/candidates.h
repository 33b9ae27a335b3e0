/* The kernels that could do a problem: all variants of all specs that fit it, each once. */
#ifndef MCRT_CANDIDATES_H
#define MCRT_CANDIDATES_H

#include "device/device.h"
#include "problem/problem.h"
#include "choose/spec_sources.h"

typedef struct candidate {
    const char *spec; /* "spmm_l8r8_tiled.lua" */
    char *fields;     /* canonical, whole; identifies the kernel */
    char *tuned;      /* the fields that the spec leaves to tuning */
    uint64_t hash;
    double estimate; /* microseconds; INFINITY: there is no model */
    bool standard;   /* its spec's default */
    size_t place;    /* its index in the order of specs and variants */
} candidate;

typedef struct candidate_list {
    /* In the order of estimates, the least first. Without a model the specs' defaults come first, then the
       others as the specs have them. */
    candidate *items;
    size_t count;
    char **names; /* of the specs */
    size_t name_count;
} candidate_list;

/* What a candidate must run on: a GPU as estimates see it, and its compute capability, 0 for the simulator,
   which runs every architecture. Specs are made for the newest architecture that runs there. */
typedef struct candidate_target {
    mc_gpu gpu; /* mc_device_gpu */
    int capability;
    bool cold; /* estimates are of operands that are not in the L2 cache */
} candidate_target;
candidate_target candidate_target_of(const mc_device *device);

/* Finds the candidates in SPECS, which are COUNT paths, or with COUNT 0 in the shipped specs. A spec of
   another family, or with no variant that can run PROBLEM, is passed over. MC_CANNOT where nothing is left,
   with each one's reason; MC_IO or MC_USAGE for a path that cannot be read or is no spec. */
mc_status candidates_find(const plan_problem *problem, const candidate_target *target,
                          const char *const *specs, size_t count, candidate_list *list, mc_diag *diag);
/* The same of texts that are read already. */
mc_status candidates_of(const plan_problem *problem, const candidate_target *target,
                        const spec_sources *sources, candidate_list *list, mc_diag *diag);
void candidates_free(candidate_list *list);
/* Makes PROBLEM the one that is tuned. Where a caller names SPECS, and these have kernels that read operands
   as they lie, it stays as it is. Else it becomes what plan_problem_transpose makes of it: passes are not
   tuned. Errors are plan_problem_transpose's and, where it could have stayed, those of candidates_find. */
mc_status candidates_pose(plan_problem *problem, const candidate_target *target, const char *const *specs,
                          size_t count, mc_diag *diag);
/* Appends to DIAG why SPECS, which a caller names, have no kernel for POSED with operands as they lie.
   Call it where there is none behind passes, either. It appends nothing where POSED wants its passes in
   any case. */
void candidates_tell_posed(const plan_problem *posed, const candidate_target *target,
                           const char *const *specs, size_t count, mc_diag *diag);

/* The kernel of FIELDS with CHANGES (base/fields.h) in them, an outline, which the caller
   destroys. NULL: there is none, or no memory. */
mc_kernel *candidate_changed(const char *fields, const char *changes);
/* The kernel of FIELDS as it is behind some other kernel, which does not begin early: `overlap` saves nothing
   there. mc_kernel_estimate_alone estimates a kernel so; this is for who estimates one again and again. One
   that is nothing without it (`early`) stays as it is. An outline, which the caller destroys; NULL: there is
   none, or no memory. */
MC_API mc_kernel *candidate_alone(const char *fields);

#endif
