/* What `mcrun spmm --report` prints: the simulator's counts of the last launch. */
#ifndef MCRUN_COUNTS_H
#define MCRUN_COUNTS_H

#include <jansson.h>
#include "ptxsim.h"

/* Totals, then PTX with its counts beside each line. */
void counts_print(const ptxsim *sim, const char *ptx);
/* The same as an object: totals, classes, and an array of lines. NULL: out of memory. */
json_t *counts_json(const ptxsim *sim);

#endif
