/* The whole of our unit test framework: CHECK counts and reports, check_end gives the exit status. */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_passed, check_failed;

#define CHECK(condition, ...)                                                                                \
    do {                                                                                                     \
        if (condition) {                                                                                     \
            check_passed++;                                                                                  \
        } else {                                                                                             \
            check_failed++;                                                                                  \
            printf("%s:%d: failed: %s:", __FILE__, __LINE__, #condition);                                    \
            printf(" " __VA_ARGS__);                                                                         \
            printf("\n");                                                                                    \
        }                                                                                                    \
    } while (0)

/* The text that is wanted must occur in the text that was got. */
#define CHECK_TEXT(got, want) CHECK(strstr((got), (want)) != NULL, "want \"%s\" in \"%s\"", (want), (got))

/* Tests of many kernels take all of them, or, where MCGEN_TESTS_PART is "SEED/N", one in N: which one the seed says, a hex number
   such as a commit's. */
typedef struct check_share {
    int first, step; /* of numbers from 0 on */
} check_share;

static inline check_share check_part(void) {
    const char *part = getenv("MCGEN_TESTS_PART"), *slash = part != NULL ? strchr(part, '/') : NULL;
    int step = slash != NULL ? atoi(slash + 1) : 1;
    unsigned seed = 0;
    if (step < 1) step = 1;
    for (const char *c = part; slash != NULL && c < slash; c++) seed = seed * 31 + (unsigned char)*c;
    return (check_share){(int)(seed % (unsigned)step), step};
}

/* Whether NUMBER, counted from 0, is of the part. */
static inline int check_takes(int number) {
    const check_share share = check_part();
    return number % share.step == share.first;
}

static inline int check_end(void) {
    printf("%d checks passed, %d failed\n", check_passed, check_failed);
    return check_failed ? 1 : 0;
}

#endif
