/* Seeded operands, with the values at which instructions differ. */
#ifndef TESTS_SIM_CONFORMANCE_VALUES_H
#define TESTS_SIM_CONFORMANCE_VALUES_H

#include <stdbool.h>
#include <stdint.h>

uint64_t value_random(uint64_t *state); /* xorshift64* */

/* Whether KIND is a float format, and its bits. */
bool value_format(char kind, int *exponent_bits, int *fraction_bits);

/* The number that BITS are in a float format of up to 32 bits. */
double value_of(char kind, uint32_t bits);

/* 64 bits of KIND, packed as many times as they fit:
 *   i integer   s shift amount or bit position   g f64   f f32   h f16   b bf16   t tf32   4 e4m3   5 e5m2 */
uint64_t value_any(char kind, uint64_t *state);

/* The same for the operands of tensor cores: exponents that differ by more than a sum keeps; by about as many bits as a
 * sum keeps; subnormals; products about the smallest f32; all edges. */
enum value_shape { VALUE_WIDE, VALUE_ALIGNED, VALUE_SUBNORMAL, VALUE_LOW, VALUE_EDGES, VALUE_SHAPES };
uint64_t value_shaped(char kind, enum value_shape shape, uint64_t *state);

#endif
