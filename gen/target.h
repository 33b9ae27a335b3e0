/* Which target mcgen makes kernels for: what is said of targets that options name, and the one that is taken
   where neither options nor the spec name one. */
#ifndef MC_TARGET_H
#define MC_TARGET_H

#include "spec/spec.h"

/* MC_USAGE unless NAME, which OPTION gave, is a target; NULL is none, and fine. */
mc_status target_check(const char *option, const char *name, mc_diag *diag);

/* How a spec that names no target gets one: the environment's MCGEN_ARCH, else this machine's GPU. Must stay
   where it is while the spec is read. */
typedef struct target_source {
    mc_arch_default spec;    /* for spec_read_path */
    const char *environment; /* NULL: not set */
    bool guessed;            /* the spec was read: it named no target, and no GPU did */
} target_source;

/* MC_USAGE where MCGEN_ARCH is no target. */
mc_status target_source_begin(target_source *source, mc_diag *diag);

/* Says on standard error where a target that was guessed chose the mma of 4 bits: for newer GPUs the same
   fields make another kernel. */
void target_note(const target_source *source, const mc_kernel *kernel);

#endif
