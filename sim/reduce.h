/* What cp.reduce.async.bulk does to the elements that are in memory (ISA, "cp.reduce.async.bulk"). */
#ifndef SIM_REDUCE_H
#define SIM_REDUCE_H

#include "module.h"

/* Whether there is a REDUCTION of elements of TYPE. */
bool sim_reduces(unsigned reduction, unsigned type);
/* Combines BYTES of elements at TO with those at FROM. */
void sim_reduce(unsigned reduction, unsigned type, unsigned char *to, const unsigned char *from, unsigned bytes);

#endif
