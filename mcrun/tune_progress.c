#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "mcrt_internal.h"
#include "base/clock.h"
#include "costs.h"
#include "tune.h"
#include "shown.h"

/* Seconds between two states of the line that is rewritten, and between two lines of a log. */
static const double rewrite_pause = 0.1, line_pause = 10;
enum { LINE_SIZE = 512, USUAL_WIDTH = 80 };

static size_t terminal_width(void) {
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : USUAL_WIDTH;
}

void tune_view_clear(tune_view *view) {
    if (view->shown) fprintf(stderr, "\r\33[K");
    view->shown = false;
}

void tune_view_begin(tune_view *view, size_t problems, bool simulated) {
    *view = (tune_view){.terminal = isatty(STDERR_FILENO) == 1,
                        .simulated = simulated,
                        .problems = problems,
                        .started = clock_seconds()};
}

/* In a log the first line comes after a while: a tuning that is done by then has its line of the table. */
void tune_view_problem(tune_view *view, const tune_outcome *outcome) {
    view->problem++;
    view->name = outcome->source->name;
    view->size = tune_size_of(outcome);
    view->best_fields[0] = '\0';
    view->told = clock_seconds();
    if (view->terminal) view->told = 0;
}

/* -- A line */

/* Of all problems: those to come take as long as those so far. */
static double seconds_left(const tune_view *view, const mc_tune_progress *p) {
    double gone = clock_seconds() - view->started, left = p->left > 0 ? p->left : 0;
    return left + (double)(view->problems - view->problem) * (gone + left) / (double)view->problem;
}

static void add(char *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(char *line, const char *format, ...) {
    size_t used = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + used, LINE_SIZE - used, format, arguments);
    va_end(arguments);
}

static void add_time(char *line, double seconds) {
    if (seconds < 90) add(line, ", %.0f s left", seconds);
    else add(line, ", %.0f min left", seconds / 60);
}

static void describe(const tune_view *view, const mc_tune_progress *p, char line[LINE_SIZE]) {
    line[0] = '\0';
    if (view->problems > 1) add(line, "%zu of %zu  ", view->problem, view->problems);
    add(line, "%s %s: %s %zu of %zu", view->name, view->size.text, p->stage, p->done, p->total);
    if (p->best > 0) add(line, ", best %s", cost_text(p->best, view->simulated, 2).text);
    add_time(line, seconds_left(view, p));
    if (p->best > 0 && view->best_fields[0] != '\0') add(line, "  %s", view->best_fields);
}

static void rewrite(tune_view *view, const char *line) {
    fprintf(stderr, "\r\33[K%.*s", (int)terminal_width() - 1, line);
    fflush(stderr);
    view->shown = true;
}

bool tune_view_progress(void *user, const mc_tune_progress *p) {
    tune_view *view = user;
    char line[LINE_SIZE];
    double time = clock_seconds();
    if (p->best_fields != NULL) snprintf(view->best_fields, sizeof view->best_fields, "%s", p->best_fields);
    if (time - view->told < (view->terminal ? rewrite_pause : line_pause)) return !tune_stop_asked();
    describe(view, p, line);
    snprintf(line, sizeof line, "%.*s", LINE_SIZE - 1, shown(line).text);
    if (view->terminal) rewrite(view, line);
    else fprintf(stderr, "%s: %s\n", cmd_program, line);
    view->told = time;
    return !tune_stop_asked();
}

/* -- Notes. One fprintf a line: they come from several threads */

void tune_view_log(void *user, mc_log_level level, const char *message) {
    const tune_view *view = user;
    if (!cmd_logs(level)) return;
    fprintf(stderr, "%s%s: %s\n", view->terminal ? "\r\33[K" : "", cmd_program, shown_message(message).text);
}
