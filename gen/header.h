/* A kernel as a C header: its PTX and its launch contract, for programs that launch it themselves. */
#ifndef MC_HEADER_H
#define MC_HEADER_H

#include "kernel/kernel.h"

/* Adds the header of KERNEL to OUT. All its names begin with NAME, or with the entry's where that is NULL. It
   includes nothing, and C17 and C++17 take it. MC_USAGE: NAME is no identifier; MC_NOMEM. */
mc_status header_write(const mc_kernel *kernel, const char *name, mc_text *out, mc_diag *diag);

#endif
