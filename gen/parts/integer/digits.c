#include "parts/integer/integer.h"
#include <stdio.h>
#include <string.h>
#include "mc_element.h"

/* A float has no digits: its row is of no use. */
#define NO(...)
#define SIDE(name, text, bits, kind, is_signed, place) [place] = {text, bits, is_signed},
const digit_side digit_sides[] = {MC_ELEMENT_LIST(MC_ELEMENT_SIDE, )};
#undef SIDE

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
    if (split == DIGIT_SPLIT_AUTO) return true;
    digit_split_text(side, bits, text);
    return strcmp(digit_split_names[split], text) == 0;
}
