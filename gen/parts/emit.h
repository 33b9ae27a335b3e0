/* What every family's emitters begin with: parameters, shapes, the thread's numbers. */
#ifndef MC_EMIT_H
#define MC_EMIT_H

#include "schema/family.h"
#include "ptx/builder.h"

enum { WORD = 4 }; /* bytes of a register */

/* The exponent of POWER, a power of two. */
int log2_of(int power);

/* A shape as an operand: the constant FIXED, or the parameter's register where FIXED is open. */
mc_operand dim_operand(int64_t fixed, mc_reg reg);

/* A shape in register REG, whether the spec fixes it or the kernel gets it as the parameter NAME. */
mc_reg load_size(mc_builder *b, const char *reg, const char *name, int64_t fixed);

/* Load an array's global address, in a batch that of the thread block's product (array.c); a shape, or
   none where it is not WANTED; a special register. */
mc_reg load_array(mc_builder *b, const char *name);
mc_reg load_shape(mc_builder *b, const char *name, bool wanted);
mc_reg load_special(mc_builder *b, const char *reg_name, const char *special_name);

/* A thread's number in its block, and what follows from it: warp, lane = 4 g + t (fragment.h). */
typedef struct thread_place {
    mc_reg thread, lane, g, t;
    mc_reg warp; /* none where the block is one warp */
} thread_place;

/* THREADS is the number of threads of the block. */
thread_place load_thread_place(mc_builder *b, int threads);

/* Where the spec lets kernels OVERLAP: the first lets the kernel behind this one start, but for OVERLAP_WAIT;
   the second waits for the kernel before this one, which may write INPUTS ("B") and read C. */
void emit_launch_next(mc_builder *b, family_overlap overlap);
void emit_grid_wait(mc_builder *b, bool overlap, const char *inputs);

#endif
