/* Counts of a simulated launch, as a listing and as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "counts.h"

/* X(name): what a line of PTX is counted by. */
#define COUNT_LIST(X)                                                                                        \
    X(warp_instructions)                                                                                     \
    X(thread_instructions)                                                                                   \
    X(shared_requests)                                                                                       \
    X(shared_wavefronts)                                                                                     \
    X(shared_ideal)                                                                                          \
    X(global_requests)                                                                                       \
    X(global_sectors)                                                                                        \
    X(global_bytes)                                                                                          \
    X(bulk_bytes)                                                                                            \
    X(mma_products)                                                                                          \
    X(mma_nonzero)

enum { CLASSES = PTXSIM_CLASS_COUNT };

/* -- For people ------------------------------------------------------------------------------------- */

static double percent(const ptxsim_line *line) {
    return 100.0 * (double)line->mma_nonzero / (double)line->mma_products;
}

static size_t lines_never_executed(const ptxsim *sim) {
    size_t never = 0;
    for (size_t i = 0; i < ptxsim_line_count(sim); i++) never += !ptxsim_line_at(sim, i)->warp_instructions;
    return never;
}

static void print_totals(const ptxsim *sim) {
    ptxsim_line sum = ptxsim_line_sum(sim);
    const ptxsim_counts *counts = ptxsim_counts_of(sim);
    printf("\ncounts     %" PRIu64 " warp instructions, %" PRIu64 " thread instructions\n",
           sum.warp_instructions, sum.thread_instructions);
    printf("classes   ");
    for (int kind = 0; kind < CLASSES; kind++) {
        uint64_t issued = ptxsim_class_count(sim, (ptxsim_class)kind);
        if (issued) printf(" %s %" PRIu64, ptxsim_class_text((ptxsim_class)kind), issued);
    }
    printf("\nbarriers   %" PRIu64 " arrivals of warps\n", counts->barriers);
    printf("shared     %" PRIu64 " requests, %" PRIu64 " wavefronts, %" PRIu64 " without conflicts\n",
           sum.shared_requests, sum.shared_wavefronts, sum.shared_ideal);
    printf("global     %" PRIu64 " requests, %" PRIu64 " sectors, %" PRIu64 " bytes\n", sum.global_requests,
           sum.global_sectors, sum.global_bytes);
    if (sum.mma_products)
        printf("mma        %" PRIu64 " products, %" PRIu64 " of factors other than 0 (%.1f %%)\n",
               sum.mma_products, sum.mma_nonzero, percent(&sum));
    if (sum.bulk_bytes) printf("bulk       %" PRIu64 " bytes\n", sum.bulk_bytes);
    printf("never      %zu of %zu lines with instructions were not executed; they are marked -\n",
           lines_never_executed(sim), ptxsim_line_count(sim));
    printf("\n");
}

/* The counts of line NUMBER, or NULL. */
static const ptxsim_line *line_of(const ptxsim *sim, int number) {
    for (size_t i = 0; i < ptxsim_line_count(sim); i++) {
        const ptxsim_line *line = ptxsim_line_at(sim, i);
        if (line->line == number) return line;
    }
    return NULL;
}

static void print_counts(const ptxsim_line *line) {
    if (!line || !line->warp_instructions) {
        printf("%10s %21s %17s %6s | ", line ? "-" : "", "", "", "");
        return;
    }
    printf("%10" PRIu64 " ", line->warp_instructions);
    if (line->shared_requests)
        printf("%10" PRIu64 "/%-10" PRIu64 " ", line->shared_wavefronts, line->shared_ideal);
    else printf("%21s ", "");
    if (line->global_requests) printf("%8" PRIu64 "/%-8" PRIu64, line->global_sectors, line->global_requests);
    else printf("%17s", "");
    if (line->mma_products) printf(" %5.1f%%", percent(line));
    else printf(" %6s", "");
    printf(" | ");
}

void counts_print(const ptxsim *sim, const char *ptx) {
    print_totals(sim);
    printf("%10s %10s/%-10s %8s/%-8s %6s |\n", "warps", "wavefronts", "ideal", "sectors", "requests", "mma");
    int number = 1;
    for (const char *at = ptx; *at; number++) {
        int length = (int)strcspn(at, "\n");
        print_counts(line_of(sim, number));
        printf("%.*s\n", length, at);
        at += length + (at[length] == '\n');
    }
}

/* -- As JSON ------------------------------------------------------------------------------------------ */

static json_t *line_json(const ptxsim_line *line) {
    json_t *object = line->line
                         ? json_pack("{s:i, s:s}", "line", line->line, "class", ptxsim_class_text(line->kind))
                         : json_object();
#define X(name) json_object_set_new(object, #name, json_integer((json_int_t)line->name));
    COUNT_LIST(X)
#undef X
    return object;
}

json_t *counts_json(const ptxsim *sim) {
    ptxsim_line sum = ptxsim_line_sum(sim);
    const ptxsim_counts *counts = ptxsim_counts_of(sim);
    json_t *classes = json_object(), *lines = json_array();
    for (int kind = 0; kind < CLASSES; kind++)
        json_object_set_new(classes, ptxsim_class_text((ptxsim_class)kind),
                            json_integer((json_int_t)ptxsim_class_count(sim, (ptxsim_class)kind)));
    for (size_t i = 0; i < ptxsim_line_count(sim); i++)
        json_array_append_new(lines, line_json(ptxsim_line_at(sim, i)));
    return json_pack("{s:o, s:I, s:I, s:o, s:o}", "total", line_json(&sum), "barriers",
                     (json_int_t)counts->barriers, "mma", (json_int_t)counts->mma, "classes", classes,
                     "lines", lines);
}
