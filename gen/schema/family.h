/* What the families' schemas, contracts and facts share. */
#ifndef MC_FAMILY_H
#define MC_FAMILY_H

#include "all.h"

/* -- Rows of a schema: {"vec", NUMBERS = vecs, .standard = 8, .doc = "..."} --------------------------- */

#define NAMES   .kind = MC_FIELD_NAME, .names
#define NUMBERS .kind = MC_FIELD_NUMBER, .numbers
#define SWITCH  .kind = MC_FIELD_SWITCH
#define SHAPE   .kind = MC_FIELD_SHAPE, .standard = MC_OPEN

#define ARCH_FIELD                                                                                           \
    {                                                                                                        \
        "arch", NAMES = mc_arch_names,                                                                       \
                .doc = "The .target of the PTX. It also runs on every later GPU, except for the targets "    \
                       "that end in a."                                                                      \
    }

extern const int family_vecs[];   /* V */
extern const int family_aligns[]; /* bytes that an array's address is promised to be a multiple of */

/* FIELD, which is on in POINT, wants an architecture with programmatic dependent launch. */
void check_overlap(const int64_t *point, int field, mc_complaints *complaints);

/* -- Contract and facts ------------------------------------------------------------------------------- */

void add_param(mc_contract *c, mc_param param);
/* A packed array, and its parameter. */
void add_array(mc_contract *c, unsigned align, mc_array array);
/* Shapes that the spec settles, or the kernel does not want (0), are no parameters. */
void add_shape(mc_contract *c, const char *name, int64_t shape, const char *doc);
void add_fact(mc_facts *facts, const char *name, int64_t value, const char *doc);

#endif
