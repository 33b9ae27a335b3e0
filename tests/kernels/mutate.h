/* One-place changes of PTX text: a register operand, an immediate, or a barrier. */
#ifndef TESTS_MUTATE_H
#define TESTS_MUTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum mutation_kind { MUTATE_OPERAND, MUTATE_INDEX, MUTATE_BARRIER } mutation_kind;

typedef struct mutation {
    mutation_kind kind;
    int line;                /* 1-based */
    char from[160], to[160]; /* the line before and after */
    const char *entry, *ptx; /* of the kernel: its types and fields, and what was changed; the caller says */
} mutation;

/* A changed copy of PTX, chosen by *STATE (which it advances); the caller frees. NULL: out of memory. */
char *mutate(const char *ptx, mutation_kind kind, uint64_t *state, mutation *m);

/* A copy of PTX whose exact sums have rounds of STRIDES (1 to 9), on every path, so that short rows go through many; *PLACES: how many were
   changed. The caller frees. NULL: out of memory. */
char *shorten_rounds(const char *ptx, int strides, int *places);

#endif
