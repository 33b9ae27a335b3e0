/* What mutation_test mutates: kernels, the problems that must tell a mutant apart, and the mutations that no problem can. */
#ifndef TESTS_MUTATIONS_H
#define TESTS_MUTATIONS_H

#include "mutate.h"
#include "problem.h"

enum { MUTATION_SETTINGS = 12, MUTATION_CASES = 24, MUTATION_KERNELS = 8 };

/* A rule for mutations that provably change no result. */
typedef struct equivalence {
    bool (*holds)(const mutation *);
    const char *why;
} equivalence;

typedef struct mutation_suite {
    const char *name;
    const problem_case *cases; /* at most MUTATION_CASES */
    int case_count;
    const mc_setting (*kernels)[MUTATION_SETTINGS]; /* at most MUTATION_KERNELS */
    int kernel_count;
    const equivalence *equivalents; /* ended by one without a rule */
    bool rounds;                    /* kernels of exact sums */
} mutation_suite;

#define LENGTH(a) (int)(sizeof(a) / sizeof *(a))

/* Each ended by one without a name. */
extern const mutation_suite spmm_mutations[], float_mutations[], ring_mutations[], sddmm_mutations[];

/* The number that a line ends with. */
long mutation_number(const char *line);
/* Another number where one or four registers are zeroed, each of which has one of COUNT NAMES in its name. */
bool mutation_of_zeros(const mutation *m, const char *const *names, size_t count);
/* The new number is not all bits, a NaN of every float; 0 to 8 are finite. */
bool mutation_is_finite(const mutation *m);
/* An accumulator of floats begins at 1 to 8 of the least subnormal numbers, at most 2^-146: cut off of any other sum, and alone
   rounded to a zero of 16 bits. An unscaled f32 shows it, and does not count. */
bool mutation_of_tiny_start(const mutation *m);
/* Bytes of B in a padding slot meet a value of zero. */
bool mutation_of_row(const mutation *m);
/* Whether more is added, by the instruction whose first two operands are REGISTERS. */
bool mutation_adds_more(const mutation *m, const char *registers);
/* A full tile takes the edge path; the next tile's columns are computed twice: the sums are the same. */
bool mutation_of_sooner_edge(const mutation *m);
bool mutation_of_longer_edge(const mutation *m);
/* What is a generic address is a global address. */
bool mutation_of_conversion(const mutation *m);

#endif
