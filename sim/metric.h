/* What a launch counts, a line of PTX at a time. Every instruction has a counter of its own while blocks run;
 * lines are added up at the end. */
#ifndef SIM_METRIC_H
#define SIM_METRIC_H

#include "module.h"

#include <stdbool.h>

/* The addresses that the lanes of one instruction access; shared ones are marked. */
struct sim_request {
    uint32_t mask;  /* of lanes that access memory */
    unsigned bytes; /* a lane */
    bool shared, atomic;
    uint64_t address[SIM_LANES];
};

struct sim_block;
struct ptxsim;

ptxsim_class sim_class_of(const struct sim_insn *insn);
/* Counts what REQUEST costs. */
void sim_metric_request(ptxsim_line *line, const struct sim_request *request);
void sim_metric_add(ptxsim_line *to, const ptxsim_line *from);
/* Sums the instructions' counters by line into SIM's. False: out of memory. */
bool sim_metric_lines(struct ptxsim *sim, const ptxsim_function *function, const ptxsim_line *by_insn);

#endif
