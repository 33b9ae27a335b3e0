/* Names of registers, labels and prefixes that differ by a number, or by what is behind them. */
#ifndef MC_MADE_NAME_H
#define MC_MADE_NAME_H

#include <stdio.h>
#include "mcgen.h"

typedef struct made_name {
    char text[MC_MAX_NAME];
} made_name;

static inline made_name name_nth(const char *stem, int number) {
    made_name name;
    snprintf(name.text, sizeof name.text, "%.30s%d", stem, number);
    return name;
}

static inline made_name name_with(const char *stem, const char *end) {
    made_name name;
    snprintf(name.text, sizeof name.text, "%.30s%.16s", stem, end);
    return name;
}

#endif
