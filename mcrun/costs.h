/* What a launch costs. On a GPU it is time, in microseconds. The simulator has no time: it counts warp
   instructions, and the runtime and its records take each for a thousandth of a microsecond. Here they are
   called what they are. */
#ifndef MCRUN_COSTS_H
#define MCRUN_COSTS_H

#include <jansson.h>
#include <stdbool.h>

/* "us" or "instructions". */
const char *cost_unit(bool simulated);

typedef struct cost_label {
    char text[48];
} cost_label;
/* "1.35 us" or "1347 instructions"; DIGITS of microseconds behind the point. */
cost_label cost_text(double microseconds, bool simulated, int digits);
/* The number alone. */
cost_label cost_number(double microseconds, bool simulated, int digits);

/* The number for JSON: a real, or an integer. NULL: out of memory. */
json_t *cost_json(double microseconds, bool simulated);
/* Sets the member NAME_us, or NAME_instructions, of OBJECT, but not for a cost of 0, which is not known.
   False: out of memory. */
bool cost_put(json_t *object, const char *name, double microseconds, bool simulated);

#endif
