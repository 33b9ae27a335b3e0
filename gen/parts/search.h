/* Searches among numbers in global memory. */
#ifndef MC_SEARCH_H
#define MC_SEARCH_H

#include "parts/emit.h"

/* The last of numbers in ARRAY, BYTES from one to the next, that is not above VALUE: its index. They ascend,
   and the first one is not above. COUNT is the parameter that says how many there are. */
mc_reg search_last(mc_builder *b, mc_reg array, int bytes, const char *count, mc_reg value);

#endif
