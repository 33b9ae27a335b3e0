/* A covering set of a spec's variants. */
#ifndef TESTS_COVER_H
#define TESTS_COVER_H

#include "mcgen.h"

/* Chooses variants of SPEC so that every pair of values of two tuned fields stands in at least one; variant 0
   first. Returns how many of CHOSEN (room for all variants) are set, *pairs the number of pairs; 0: out of
   memory. */
size_t cover_pairs(const mc_spec *spec, size_t *chosen, size_t *pairs);

#endif
