/* The types that values of a product's two sides, A and B, may have (mc_element.h). */
#ifndef MC_SIDE_H
#define MC_SIDE_H

#include <stdbool.h>

/* Their words in specs, for the fields lhs and rhs: NULL-terminated. */
extern const char *const side_type_names[];

/* Of which kind the type of the word SIDE is. */
bool side_is_integer(int side);
/* Its bits. */
int side_value_bits(int side);

#endif
