/* Seeded random numbers, the same on every machine: integers, and doubles made by IEEE additions,
   multiplications, divisions and square roots only (libm's log and exp differ between machines; host.cmake
   turns contraction into fused multiply-adds off). */
#ifndef MCRT_RANDOM_H
#define MCRT_RANDOM_H

#include <stdint.h>
#include "matrix/dense.h"

typedef struct mcrt_random {
    uint64_t state[4];
} mcrt_random;

/* Streams of one seed are independent of each other. */
mcrt_random random_start(uint64_t seed, uint64_t stream);
/* 64 uniform bits. */
uint64_t random_next(mcrt_random *random);
/* Uniform in (0, 1]: a multiple of 2^-53. */
double random_unit(mcrt_random *random);
/* Standard normal, as the sum of twelve uniforms less 6: mean 0 and variance 1 exactly, no tail beyond 6. */
double random_normal(mcrt_random *random);
/* A value of TYPE by LAW; of a real type its bits. */
int64_t random_value(mcrt_random *random, mc_type type, mc_value_law law);

/* Natural logarithm of a finite X > 0, and exponential for |X| <= 64; relative error below 1e-12. */
double portable_log(double x);
double portable_exp(double x);

#endif
