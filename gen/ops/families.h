/* The kernel families, a line each: the one place in gen/ that knows them all. */
#ifndef MC_FAMILIES_H
#define MC_FAMILIES_H

#include "schema/family.h"

extern const mc_family *const mc_families[]; /* NULL-terminated */
const mc_family *family_find(const char *name);

#endif
