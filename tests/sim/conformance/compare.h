/* Results against recorded ones. */
#ifndef TESTS_SIM_CONFORMANCE_COMPARE_H
#define TESTS_SIM_CONFORMANCE_COMPARE_H

#include "form.h"

/* How many results one run of BLOCKS warps has: of pairs, two each. */
int compare_count(const struct form *form, int blocks);
/* Result INDEX of packed WORDS. */
uint64_t compare_result(const struct form *form, const uint32_t *words, int index);
/* The lane of the whole run that made it. */
int compare_lane(const struct form *form, int index);
/* Whether GOT is as good as WANT under the form's rule. Sums are compared bit for bit. */
bool compare_equal(const struct form *form, uint64_t got, uint64_t want);

#endif
