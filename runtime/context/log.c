/* A context's log: the configuration's, or, where that has none, standard error if MCGEN_LOG asks for it. */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "context/context.h"

void context_log(mc_context *context, mc_log_level level, const char *format, ...) {
    char message[1024];
    va_list args;
    if (context->config.log == NULL) return;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    for (char *c = message; *c != '\0'; c++)
        if (*c == '\n') *c = ' ';
    context->config.log(context->config.log_user, level, message);
}

/* Control characters, which a record's text may have, are no terminal's business. One fprintf a line: they
   come from several threads. */
static void log_line(const char *message) {
    char line[1024];
    size_t length = 0;
    for (; message[length] != '\0' && length + 1 < sizeof line; length++)
        line[length] =
            (unsigned char)message[length] < ' ' || message[length] == 0x7f ? '?' : message[length];
    line[length] = '\0';
    fprintf(stderr, "libmcrt: %s\n", line);
}

static void log_notes(void *user, mc_log_level level, const char *message) {
    (void)user;
    if (level == MC_LOG_NOTE) log_line(message);
}

static void log_all(void *user, mc_log_level level, const char *message) {
    (void)user, (void)level;
    log_line(message);
}

void context_take_log(mc_context_config *config) {
    static atomic_flag told = ATOMIC_FLAG_INIT;
    const char *value = secure_getenv("MCGEN_LOG");
    if (config->log != NULL || value == NULL || *value == '\0') return;
    if (strcmp(value, "note") == 0) config->log = log_notes;
    else if (strcmp(value, "detail") == 0) config->log = log_all;
    else if (!atomic_flag_test_and_set(&told)) {
        char message[200];
        snprintf(message, sizeof message, "MCGEN_LOG is '%.100s', must be note or detail: nothing is logged",
                 value);
        log_line(message);
    }
}
