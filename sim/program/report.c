#include "program.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Line NUMBER of TEXT without the blanks in front; *LENGTH is how long it is. */
static const char *line_of(const char *text, int number, int *length) {
    for (int i = 1; i < number && *text; i++) {
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    text += strspn(text, " \t");
    *length = (int)strcspn(text, "\r\n");
    return text;
}

static void print_line(FILE *to, const char *text, int number) {
    int length;
    const char *line = line_of(text, number, &length);
    if (number > 0) fprintf(to, "%7d | %.*s\n", number, length < 200 ? length : 200, line);
}

bool report_fault(ptxsim *sim, const char *path, const char *text) {
    const ptxsim_fault *fault = ptxsim_fault_of(sim);
    complain("%s: %s", path, ptxsim_fault_text(sim));
    print_line(stderr, text, fault->line);
    if (fault->status == PTXSIM_RACE && fault->other.line != fault->line)
        print_line(stderr, text, fault->other.line);
    return false;
}

void report_counts(const ptxsim *sim, const char *text) {
    const ptxsim_counts *counts = ptxsim_counts_of(sim);
    printf("%7s %12s %14s %12s %12s %12s  PTX\n", "line", "warp", "thread", "shared", "wavefronts",
           "sectors");
    for (size_t i = 0; i < ptxsim_line_count(sim); i++) {
        const ptxsim_line *l = ptxsim_line_at(sim, i);
        int length;
        const char *line = line_of(text, l->line, &length);
        if (l->warp_instructions == 0) continue;
        printf("%7d %12" PRIu64 " %14" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64 "  %.*s\n", l->line,
               l->warp_instructions, l->thread_instructions, l->shared_requests, l->shared_wavefronts,
               l->global_sectors, length < 120 ? length : 120, line);
    }
    ptxsim_line sum = ptxsim_line_sum(sim);
    printf("%7s %12" PRIu64 " %14" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64 "\n", "sum",
           counts->warp_instructions, counts->thread_instructions, sum.shared_requests, sum.shared_wavefronts,
           sum.global_sectors);
}
