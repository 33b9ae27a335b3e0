/* The simulator object. */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "memory.h"
#include "module.h"

struct ptxsim {
    ptxsim_order order;
    ptxsim_landing landing;
    uint64_t max_instructions, seed;
    unsigned threads;
    bool races;
    struct sim_memory memory;
    ptxsim_module *modules;
    ptxsim_fault fault;
    ptxsim_counts counts;
    ptxsim_line *lines; /* counts of the last launch, by line */
    size_t line_count;
    uint64_t by_class[PTXSIM_CLASS_COUNT];
    char text[512];
};

/* Clears the fault. Returns PTXSIM_OK. */
ptxsim_status sim_done(ptxsim *sim);
/* Sets a fault that has no place in the PTX; returns STATUS. */
ptxsim_status sim_fail(ptxsim *sim, ptxsim_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* module_variable.c: makes the variables of a module that was parsed; false: out of memory. */
bool sim_variables_open(ptxsim *sim, const ptxsim_module *module);
void sim_variables_free(ptxsim *sim, const ptxsim_module *module);

#endif
