#include "pattern.h"
#include <string.h>
#include "ops/members.h"
#include "options.h"
#include "shown.h"

int pattern_span(const char *text) {
    int64_t span = 0;
    if (text != NULL && !word_value(problem_members[MEMBER_pattern].words, text, &span)) return -1;
    return (int)span;
}

int pattern_check(const char *text) {
    if (text == NULL || pattern_span(text) > 0) return CMD_DONE;
    if (strcmp(text, "4:8") == 0)
        return cmd_usage("--pattern: 4:8 of pairs, of values of 4 bits, is 2:4, the usual one: leave it out");
    return cmd_usage("--pattern: '%s' is not 2:4, 4:6, 6:8 and so on to 62:64", shown(text).text);
}
