/* Kernels of all combinations of words for the fields of a spec. */
#ifndef TESTS_CHOICES_H
#define TESTS_CHOICES_H

#include "mcgen.h"

/* A field, and words for it; the first that is NULL ends them. */
typedef struct choice {
    const char *field, *words[10];
} choice;

enum { MOST_CHOICES = 14 };

/* TEXT has the settings as people write them. */
typedef void choice_try(void *user, const char *text, const mc_setting *settings, size_t count);
/* Tries every STEP-th of all combinations, in an order in which the first choice changes fastest. */
void choices_try_all(const choice *choices, size_t count, int step, choice_try *try, void *user);

/* The default kernel of SPEC with SETTINGS; NULL: DIAG says why there is none. */
mc_kernel *choices_kernel(const char *spec, const mc_setting *settings, size_t count, mc_diag *diag);

#endif
