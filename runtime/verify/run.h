/* One launch of an operator on a device, from packing to the result in host memory. What lies around the
   result is checked. */
#ifndef MCRT_RUN_H
#define MCRT_RUN_H

#include "device/device.h"
#include "problem/problem.h"

/* How often to launch, and what came of it. */
typedef struct mc_timing {
    int launches, rounds; /* in: 0 rounds, no timing */
    double microseconds;  /* out: median of a launch */
} mc_timing;

/* What a run takes. operands.problem is not looked at: sizes and leading dimensions are the operands' own. */
typedef struct mc_run {
    host_operands operands;
    int64_t ld; /* the output's leading dimension, if it has one; 0: rows without gaps */
    /* Bytes that an operand's device address lies past a 256-byte boundary, at the operand's index in the
       operator's list. 0, or more for a test of unaligned data */
    unsigned offsets[MAX_OPERANDS];
    int repeats; /* further launches, each of which must leave the bytes of the first one */
    /* [MAX_OPERANDS]: room for further outputs, which the call creates; NULL: nobody wants them */
    mc_dense *others;
    /* The kernel, loaded, which stays the caller's; then PTX is not looked at. NULL: PTX is loaded */
    mc_module *module;
    int multiprocessors; /* that the grid is made for; 0: those of the device, or a few */
} mc_run;

/* Packs, loads PTX (or, where PTX is NULL, KERNEL's own), runs, and reads the output, which the call creates
   in the shape that the operator gives it. The output, its gaps and what lies in front of it and behind it
   are poisoned before, but for what an output in place holds. MC_MISMATCH where the kernel wrote anything
   else, or a repeated launch other bytes. TIMING may be NULL. */
MC_API mc_status mc_operator_run(mc_device *device, const mc_kernel *kernel, const char *ptx,
                                 const mc_run *run, mc_timing *timing, mc_dense *out, mc_diag *diag);

#endif
