/* What a launch counts, for each line of PTX. While blocks run every instruction has a counter of its own;
 * lines are added up at the end. */
#ifndef SIM_METRIC_H
#define SIM_METRIC_H

#include "module.h"

#include <stdbool.h>

/* The addresses that the lanes of one instruction access; shared ones are marked. */
struct sim_request {
    uint32_t mask;  /* lanes that access memory */
    unsigned bytes; /* bytes that a lane accesses */
    bool shared, atomic;
    uint64_t address[SIM_LANES];
};

/* In what portions shared memory serves a request (request.c). */
struct sim_service {
    uint8_t lanes; /* lanes that are served together: 32, 16 or 8 */
    enum sim_sharing {
        SIM_SHARED_WORDS, /* lanes that want the same word share it */
        SIM_SHARED_PAIRS, /* the same; where all neighbours share, twice as many lanes are served together */
        SIM_NOT_SHARED,   /* atomics: lanes on one bank wait for each other */
        SIM_TWICE,        /* the same, read and compared, then written */
        SIM_RETRIED /* a loop of load and compare-and-swap, in which one lane a bank gets through at a time */
    } sharing;
};

struct sim_block;
struct ptxsim;

ptxsim_class sim_class_of(const struct sim_insn *insn);
struct sim_service sim_service_of(const struct sim_insn *insn);
/* Counts what REQUEST costs, which is served by SERVICE if it is to shared memory. */
void sim_metric_request(ptxsim_line *line, const struct sim_request *request, struct sim_service service);
void sim_metric_add(ptxsim_line *to, const ptxsim_line *from);
/* Sums the instructions' counters by line into SIM's. False: out of memory. */
bool sim_metric_lines(struct ptxsim *sim, const ptxsim_function *function, const ptxsim_line *by_insn);

#endif
