#include "parts/integer/integer.h"
#include <stdio.h>
#include <string.h>

const char *const digit_side_names[] = {"s8", "u8", "s4", "u4", "s12", "u12", "s16", "u16", NULL};
const digit_side digit_sides[] = {{"s8", 8, true},   {"u8", 8, false},  {"s4", 4, true},
                                  {"u4", 4, false},  {"s12", 12, true}, {"u12", 12, false},
                                  {"s16", 16, true}, {"u16", 16, false}};

const char *const digit_mode_names[] = {"top-signed", "balanced", "offset", NULL};

/* -- Splits ------------------------------------------------------------------------------------------- */

const char *const digit_split_names[] = {"auto", "8", "4", "8+8", "4+8", "4+4", "4+4+4", "4+4+4+4", NULL};

void digit_split_text(digit_side side, int bits, char text[DIGIT_SPLIT_TEXT]) {
    int below = digits_of(side, bits, DIGITS_TOP_SIGNED).count - 1;
    size_t length = (size_t)snprintf(text, DIGIT_SPLIT_TEXT, "%d", side.bits - below * bits);
    for (int i = 0; i < below; i++)
        length += (size_t)snprintf(text + length, DIGIT_SPLIT_TEXT - length, "+%d", bits);
}

bool digit_split_fits(int64_t split, digit_side side, int bits) {
    char text[DIGIT_SPLIT_TEXT];
    digit_split_text(side, bits, text);
    return split == DIGIT_SPLIT_AUTO || strcmp(digit_split_names[split], text) == 0;
}
