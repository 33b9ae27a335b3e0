/* What every family's emitters begin with: parameters, shapes, the thread's numbers, 4-bit values as
   bytes. */
#ifndef MC_EMIT_H
#define MC_EMIT_H

#include "ptx/builder.h"

enum {
    WORD = 4,                /* bytes of a register */
    LOW_HALVES = 0x0f0f0f0f, /* the low halves of four bytes, each with two 4-bit values */
};

/* The exponent of POWER, a power of two. */
int log2_of(int power);

/* A shape as an operand: the constant FIXED, or the parameter's register where FIXED is open. */
mc_operand dim_operand(int64_t fixed, mc_reg reg);

/* Load an array's global address, in a batch that of the thread block's product; a shape, or none where it is
   not WANTED; a special register. */
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

/* Where the spec lets kernels OVERLAP: the first lets the kernel behind this one start; the second waits for
   the kernel before this one, which may write INPUTS ("B") and read C. */
void emit_launch_next(mc_builder *b, bool overlap);
void emit_grid_wait(mc_builder *b, bool overlap, const char *inputs);

/* How four bytes with two 4-bit values each, the first in the low half, become operands of four 8-bit values:
 *
 *                 first values              second values
 *   s4, times 16  value + 8   x & 0f ^ 08   16 value          x & f0
 *   u4, times 16  value       x & 0f        16 value + first  x
 *   s4            value + 8   x & 0f ^ 08   value + 8         x >> 4 & 0f ^ 08
 *   u4            value       x & 0f        value             x >> 4 & 0f
 *
 * A signed value plus 8 has no sign; 16 times a signed value has one. */
typedef struct half_form {
    bool is_signed, times_16;
} half_form;

/* Makes an operand of the first values of BYTES, or of the SECOND. Returns the register that it is in, TO or
   BYTES itself. */
mc_reg emit_halves(mc_builder *b, half_form form, mc_reg bytes, bool second, mc_reg to);

#endif
