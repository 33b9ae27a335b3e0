/* Activations in a kernel's output: f32 in, f32 out. mc_activation.h has the arithmetic. */
#ifndef MC_PARTS_ACTIVATION_H
#define MC_PARTS_ACTIVATION_H

#include "mc_activation.h"
#include "ptx/builder.h"

#define ACT(NAME, text) ACT_##NAME,
typedef enum out_act { MC_ACTIVATION_LIST(ACT) } out_act;
#undef ACT

extern const char *const out_act_names[]; /* in the order of out_act, NULL-terminated */

enum { ACTIVATION_MAX_TERMS = 9 };

/* Constants and scratch of an activation, in registers. Of what it does not want a register is none. */
typedef struct activation {
    out_act act;
    mc_reg least, whole, one, minus_one, by[2], inverse_term[2], least_power;
    mc_reg power[ACTIVATION_MAX_TERMS], tail[ACTIVATION_MAX_TERMS];
    mc_reg clamped, exponent, scratch, tail_of, inverse;
} activation;

void activation_declare(activation *a, mc_builder *b, out_act act);
/* Of a kernel that wants 2^t alone: the constants, and T, -126 to 124.1, becomes 2^T. */
void activation_declare_power(activation *a, mc_builder *b);
void activation_emit_power(const activation *a, mc_builder *b, mc_reg t);
/* REAL becomes what the activation makes of it. */
void activation_emit(const activation *a, mc_builder *b, mc_reg real);

#endif
