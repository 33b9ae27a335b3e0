#ifndef MCRUN_PATTERN_H
#define MCRUN_PATTERN_H

/* The option --pattern, of a 2:4 matrix that is one of 6:8 or the like. */
#define PATTERN_WORDS "2:4|4:6|6:8|8:10|..."
#define PATTERN_HELP                                                                                         \
    "nonzeros of so many neighbours of a row that MATRIX has at most; beyond 2:4 B gets more rows (2:4)"

/* An exit status: a message where TEXT is no such pattern; NULL is fine. */
int pattern_check(const char *text);
/* The length of the spans that TEXT says; 0 for NULL. */
int pattern_span(const char *text);

#endif
