/* The file that a program which tries kernels writes the spec of each to: of its own process, as tests that run
 * at once may have the same working directory. */
#ifndef ENTRANT_SPEC_H
#define ENTRANT_SPEC_H

#include <stdio.h>
#include <unistd.h>

/* NAME.PID.lua, in a buffer that the next call overwrites. */
static inline const char *entrant_spec(const char *name) {
    static char path[64];
    snprintf(path, sizeof path, "%.40s.%ld.lua", name, (long)getpid());
    return path;
}

#endif
