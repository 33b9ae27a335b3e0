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

/* Tests of many kernels take every so many of them: 1, or what MCGEN_TESTS_PART says, for builds in which a simulation takes
   ten times as long. */
static inline int check_part(void) {
    const char *part = getenv("MCGEN_TESTS_PART");
    int number = part != NULL ? atoi(part) : 1;
    return number > 0 ? number : 1;
}

static inline int check_end(void) {
    printf("%d checks passed, %d failed\n", check_passed, check_failed);
    return check_failed ? 1 : 0;
}

#endif
