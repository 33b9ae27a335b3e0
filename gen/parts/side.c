#include "parts/side.h"
#include "mc_element.h"

#define NO(...)
#define SIDE(...) +1
enum { SIDES = MC_ELEMENT_LIST(MC_ELEMENT_SIDE, ) };
#undef SIDE

#define SIDE(name, text, bits, kind, is_signed, place) [place] = text,
const char *const side_type_names[SIDES + 1] = {MC_ELEMENT_LIST(MC_ELEMENT_SIDE, )};
#undef SIDE

enum { INTEGER, FLOAT, FINITE, ROUNDED, CUT };
#define SIDE(name, text, bits, kind, is_signed, place) [place] = {bits, kind},
static const struct { int bits, kind; } sides[SIDES] = {MC_ELEMENT_LIST(MC_ELEMENT_SIDE, )};
#undef SIDE

bool side_is_integer(int side) { return sides[side].kind == INTEGER; }
int side_value_bits(int side) { return sides[side].bits; }
