/* What of cuBLASLt takes part: a row for each pair of types, result and way to add up. */
#ifndef BENCH_DENSE_KINDS_H
#define BENCH_DENSE_KINDS_H

#include "peers.h"

enum { DENSE_KINDS = 25 };

/* How a product of floats is added up: in f32; as Hopper's tensor cores add floats of 8 bits, with 13 bits
   ("fast accumulation"); so, but promoted to f32 every few k. */
typedef enum dense_sums { SUMS_F32, SUMS_FAST, SUMS_PROMOTED } dense_sums;

/* Whose problems it takes part in, beside those of its own types. */
typedef enum dense_use {
    USE_OWN,
    USE_BYTES, /* both sides have at most 8 bits */
    USE_ALL,
    USE_BASE /* all, also where only own types are asked for */
} dense_use;

typedef struct dense_kind {
    const char *label;
    mc_type a, b, result;
    dense_use use;
    dense_sums sums;
    bool whole; /* B is stored with k contiguous; n and k are multiples of 16 */
} dense_kind;

extern const dense_kind dense_kinds[DENSE_KINDS];

/* Whether KIND takes part in PROBLEM. */
bool dense_kind_takes(const dense_kind *kind, const peer_problem *problem);
#endif
