#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "tune/wire.h"

static const char *const words[] = {[WIRE_HELLO] = "mcgen-tune",
                                    [WIRE_EVENT] = "event",
                                    [WIRE_NOTE] = "note",
                                    [WIRE_DETAIL] = "detail",
                                    [WIRE_END] = "end"};
enum { WORD_COUNT = sizeof words / sizeof words[0] };

/* Times are whole picoseconds: a program may have set a locale whose numbers have commas. */
static const double picoseconds = 1e6;
static const double longest = 1e12; /* microseconds: eleven days, and picoseconds in an int64 */

/* -- Printing */

static int64_t print_time(double microseconds) {
    return microseconds >= 0 && microseconds <= longest ? (int64_t)(microseconds * picoseconds) : 0;
}

static size_t print_text(const char *from, char *to, size_t room) {
    size_t used = 0;
    for (; *from != '\0' && used + 2 < room; from++) {
        bool escaped = *from == '\n' || *from == '\\';
        if (escaped) to[used++] = '\\';
        to[used++] = *from == '\n' ? 'n' : *from;
    }
    return used;
}

static int print_head(const wire_line *line, char *text, size_t size) {
    const tune_event *e = &line->event;
    const char *word = words[line->kind];
    switch (line->kind) {
    case WIRE_HELLO: return snprintf(text, size, "%s %d %s", word, WIRE_VERSION, mc_generator_id());
    case WIRE_EVENT:
        return snprintf(text, size, "%s %d %zu %zu %zu %d %" PRId64 " ", word, (int)e->stage, e->done,
                        e->total, e->index, (int)e->state, print_time(e->microseconds));
    case WIRE_END: return snprintf(text, size, "%s %d %d ", word, (int)line->status, (int)line->complete);
    case WIRE_NOTE:
    case WIRE_DETAIL: break;
    }
    return snprintf(text, size, "%s ", word);
}

size_t wire_print(const wire_line *line, char text[WIRE_LINE]) {
    size_t used = (size_t)print_head(line, text, WIRE_LINE - 1);
    if (line->kind != WIRE_HELLO) used += print_text(line->text, text + used, WIRE_LINE - 1 - used);
    text[used++] = '\n';
    return used;
}

/* -- Parsing */

/* A whole number from 0 to MOST, and the blank behind it. */
static bool take_number(const char **at, int64_t most, int64_t *value) {
    *value = 0;
    const char *first = *at;
    for (; **at >= '0' && **at <= '9'; ++*at) {
        if (__builtin_mul_overflow(*value, 10, value) || __builtin_add_overflow(*value, **at - '0', value) ||
            *value > most)
            return false;
    }
    if (*at == first || **at != ' ') return false;
    ++*at;
    return true;
}

/* False for an escape that nobody writes. TO has room for all of FROM. */
static bool take_text(const char *from, char *to) {
    for (; *from != '\0'; from++) {
        if (*from != '\\') *to++ = *from;
        else if (*++from == 'n') *to++ = '\n';
        else if (*from == '\\') *to++ = '\\';
        else return false;
    }
    *to = '\0';
    return true;
}

static bool take_event(const char *at, size_t count, wire_line *line) {
    enum { STAGE, DONE, TOTAL, INDEX, STATE, TIME, NUMBERS };
    const int64_t limit = (int64_t)count;
    const int64_t most[NUMBERS] = {TUNE_TIME, INT32_MAX,   INT32_MAX,
                                   limit,     TUNE_CHOSEN, (int64_t)(longest * picoseconds)};
    int64_t numbers[NUMBERS];
    for (int i = 0; i < NUMBERS; i++)
        if (!take_number(&at, most[i], &numbers[i])) return false;
    line->event = (tune_event){.stage = (tune_stage)numbers[STAGE],
                               .done = (size_t)numbers[DONE],
                               .total = (size_t)numbers[TOTAL],
                               .index = (size_t)numbers[INDEX],
                               .state = (tune_state)numbers[STATE],
                               .microseconds = (double)numbers[TIME] / picoseconds};
    return numbers[DONE] <= numbers[TOTAL] && take_text(at, line->text);
}

static bool take_end(const char *at, wire_line *line) {
    int64_t status, complete;
    if (!take_number(&at, MC_MISMATCH, &status) || !take_number(&at, 1, &complete)) return false;
    line->status = (mc_status)status;
    line->complete = complete != 0;
    return take_text(at, line->text);
}

static bool take_hello(const char *at) {
    char want[64];
    snprintf(want, sizeof want, "%d %s", WIRE_VERSION, mc_generator_id());
    return strcmp(at, want) == 0;
}

bool wire_parse(const char *text, size_t count, wire_line *line) {
    size_t length = strcspn(text, " ");
    int kind = 0;
    while (kind < WORD_COUNT && (strlen(words[kind]) != length || strncmp(text, words[kind], length) != 0))
        kind++;
    if (kind == WORD_COUNT || text[length] == '\0' || strlen(text) >= WIRE_LINE) return false;
    const char *rest = text + length + 1;
    line->kind = (wire_kind)kind;
    line->text[0] = '\0';
    switch (line->kind) {
    case WIRE_HELLO: return take_hello(rest);
    case WIRE_EVENT: return take_event(rest, count, line);
    case WIRE_NOTE:
    case WIRE_DETAIL: return take_text(rest, line->text);
    case WIRE_END: return take_end(rest, line);
    }
    return false;
}
