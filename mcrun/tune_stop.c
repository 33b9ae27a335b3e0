#include <signal.h>
#include "tune.h"

static volatile sig_atomic_t asked; /* a signal handler reaches nothing else */

static const int signals[] = {SIGINT, SIGTERM};
enum { SIGNAL_COUNT = sizeof signals / sizeof signals[0] };

/* The next one, of either kind, has its usual effect. */
static void ask(int number) {
    (void)number;
    asked = 1;
    for (int i = 0; i < SIGNAL_COUNT; i++) signal(signals[i], SIG_DFL);
}

/* One that the shell has told to be ignored (of a job in the background) stays so. */
void tune_stop_catch(void) {
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        struct sigaction action = {.sa_handler = ask, .sa_flags = SA_RESTART}, before;
        sigemptyset(&action.sa_mask);
        for (int j = 0; j < SIGNAL_COUNT; j++) sigaddset(&action.sa_mask, signals[j]);
        if (sigaction(signals[i], &action, &before) == 0 && before.sa_handler == SIG_IGN)
            sigaction(signals[i], &before, NULL);
    }
}

bool tune_stop_asked(void) { return asked != 0; }
