/* IEEE 754 binary16. */
#ifndef SIM_HALF_H
#define SIM_HALF_H

#include <stdint.h>

float sim_half_to_float(uint16_t half);
/* Rounded to nearest even; a NaN becomes 0x7fff, the canonical one of the ISA. */
uint16_t sim_double_to_half(double x);

#endif
