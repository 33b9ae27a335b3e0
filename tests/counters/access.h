/* Accesses to memory by one warp whose cost a GPU counts and the simulator claims to know: every form of instruction
 * with every pattern of addresses. One launch, of one warp, makes one access. */
#ifndef TESTS_COUNTERS_ACCESS_H
#define TESTS_COUNTERS_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ACCESS_LANES = 32, ACCESS_BYTES = 8192, ACCESS_TEXT = 4096 };

/* What is counted of a launch, in words of the counters of a GPU (counters.sh has their names): wavefronts of shared
   memory or sectors of global memory, of loads, stores, atomics or copies. */
enum measure {
    SHARED_LD,
    SHARED_ST,
    SHARED_ATOM,
    SHARED_COPY, /* with GLOBAL_COPY: the two sides of a cp.async */
    GLOBAL_LD,
    GLOBAL_ST,
    GLOBAL_ATOM,
    GLOBAL_RED,
    GLOBAL_COPY,
    MEASURES
};

/* An instruction's form. In its code %s is a lane's shared address, %g its global one, %p says whether the lane takes
   part, %t is a number of the lane's own; results go to %r0 to %r3 and %d0; %d1 is a number, too. The access is
   the first instruction of its line. */
struct access_form {
    const char *name;
    unsigned bytes; /* a lane; its address is a multiple of it */
    bool whole;     /* all lanes must take part */
    enum measure measure;
    const char *code;
};

/* A pattern: the lanes' offsets from the start of ACCESS_BYTES, or -1 for one that takes no part. */
struct access_pattern {
    const char *name;
    int (*offset)(int lane, int bytes);
};

extern const struct access_form access_forms[];
extern const size_t access_form_count;
extern const struct access_pattern access_patterns[];
extern const size_t access_pattern_count;

/* The kernel of FORM: .visible .entry k(.param .u64 data, .param .u64 offsets, .param .u64 out). DATA has ACCESS_BYTES,
   OFFSETS 32 s32, OUT 32 x 4 bytes. */
void access_text(const struct access_form *form, char text[ACCESS_TEXT]);
/* What PATTERN gives FORM. */
void access_offsets(const struct access_form *form, const struct access_pattern *pattern,
                    int32_t offsets[ACCESS_LANES]);

#endif
