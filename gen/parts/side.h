/* The types that values of a product's two sides, A and B, may have (mc_element.h). */
#ifndef MC_SIDE_H
#define MC_SIDE_H

#include "mc_element.h"
#include <stdbool.h>

/* SIDE_S8 and so on: the words, in their order. */
#define SIDE(name, text, bits, kind, is_signed, place) SIDE_##name = place,
#define NO(...)
enum { MC_ELEMENT_LIST(MC_ELEMENT_SIDE, ) };
#undef NO
#undef SIDE

/* Their words in specs, for the fields lhs and rhs: NULL-terminated. */
extern const char *const side_type_names[];

/* Of which kind the type of the word SIDE is. */
bool side_is_integer(int side);
/* Its bits. */
int side_value_bits(int side);

#endif
