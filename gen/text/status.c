/* Statuses, and the list of messages that a failed call leaves. */
#include "mc_status.h"
#include "text/text.h"
#include <stdlib.h>

struct mc_diag {
    mc_text text;
    size_t count;
};

const char *mc_status_text(mc_status status) {
    static const char *const texts[] = {
#define X(name, text) text,
        MC_STATUS_LIST(X)
#undef X
    };
    return (size_t)status < sizeof texts / sizeof *texts ? texts[status] : "unknown status";
}

mc_diag *mc_diag_create(void) { return calloc(1, sizeof(mc_diag)); }

void mc_diag_destroy(mc_diag *diag) {
    if (diag) text_free(&diag->text);
    free(diag);
}

void mc_diag_clear(mc_diag *diag) {
    if (!diag) return;
    text_free(&diag->text);
    diag->count = 0;
}

size_t mc_diag_count(const mc_diag *diag) { return diag ? diag->count : 0; }

const char *mc_diag_text(const mc_diag *diag) {
    if (diag && diag->text.failed) return "out of memory";
    return diag && diag->text.data ? diag->text.data : "";
}

/* Messages quote what files say: nothing of it steers a terminal. */
static void make_printable(char *text) {
    for (; *text; text++) {
        bool control = ((unsigned char)*text < ' ' && *text != '\n' && *text != '\t') || *text == 127;
        if (control) *text = '?';
    }
}

mc_status mc_fail(mc_diag *diag, mc_status status, const char *format, ...) {
    if (!diag) return status;
    if (diag->count++) text_add(&diag->text, "\n");
    va_list args;
    va_start(args, format);
    size_t start = diag->text.size;
    text_add_list(&diag->text, format, args);
    va_end(args);
    if (diag->text.data) make_printable(diag->text.data + start);
    return status;
}
