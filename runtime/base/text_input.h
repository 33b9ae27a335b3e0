/* A text file read token by token, with the line that every message names. Blanks are spaces, tabs and
   carriage returns, so that CRLF files read alike. */
#ifndef MCRT_TEXT_INPUT_H
#define MCRT_TEXT_INPUT_H

#include <stdbool.h>
#include <stdint.h>
#include "mc_status.h"

typedef struct text_input {
    const char *path;
    char *bytes;
    const char *at, *end;
    int64_t line; /* that AT is in, from 1 */
    mc_diag *diag;
} text_input;

/* Of a PATH that ends in .gz what gzip compressed. MC_FORMAT where there is nothing in the file. */
mc_status input_open(text_input *in, const char *path, mc_diag *diag);
void input_close(text_input *in);

/* Adds "path:line: message" and returns STATUS. */
mc_status input_fail(const text_input *in, mc_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The token at hand as a message shows it. */
typedef struct input_quote {
    char text[32];
} input_quote;
input_quote input_token(const text_input *in);

void input_skip_blanks(text_input *in);
void input_skip_space(text_input *in); /* blanks and line ends */
void input_skip_line(text_input *in);
bool input_at_line_end(const text_input *in); /* or at the end of the file */
size_t input_left(const text_input *in);      /* bytes */

/* Skips blanks and reads a decimal number from LEAST to MOST. WHAT names it in messages. */
mc_status input_integer(text_input *in, const char *what, int64_t least, int64_t most, int64_t *value);
/* Skips blanks and a decimal number with sign, fraction and exponent. */
mc_status input_skip_number(text_input *in, const char *what);
/* The same, of at most 63 characters, from LEAST to MOST. */
mc_status input_real(text_input *in, const char *what, double least, double most, double *value);
/* Checks that nothing but blanks stand up to the line's end, which is skipped. */
mc_status input_end_line(text_input *in, const char *after);

#endif
