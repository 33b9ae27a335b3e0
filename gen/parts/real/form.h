/* Values as they lie in memory become what an mma multiplies: integers and floats of 8 bits become floats of
   16, exactly. */
#ifndef MC_REAL_FORM_H
#define MC_REAL_FORM_H

#include "parts/real/mma.h"

enum { REAL_CONSTANTS = 2, REAL_SCRATCH = 2, REAL_HALVES = 2 };

/* The registers that this takes. */
typedef struct real_widener {
    mc_builder *b;
    real_form form;
    mc_reg fill; /* bytes beside the values' */
    mc_reg constant[REAL_CONSTANTS], scratch[REAL_SCRATCH];
    bool converts; /* the GPU has an instruction for it, which takes 16 bits */
    mc_reg half[REAL_HALVES];
} real_widener;

/* Of a register's four values two become TO[0], and the other two TO[1]: bytes 0 and 1, then 2 and 3; or
   bytes 0 and 2, then 1 and 3. */
typedef enum real_bytes { REAL_NEIGHBOURS, REAL_ALTERNATE } real_bytes;

/* Declares what FORM takes. Of a form that is not made wider that is nothing. The registers of two sides have
   names that begin with SIDE. */
real_widener real_declare_widener(mc_builder *b, real_form form, const char *side);
void real_widen(const real_widener *w, mc_reg from, real_bytes bytes, const mc_reg to[2]);

#endif
