#include "grids.h"
#include <stdio.h>
#include <string.h>

enum { NAME_WIDTH = 16, WIDTH = 10 };

/* Of label OVER, or of its times over those of OURS; 0: there is none. */
static double value_of(const result_problem *p, size_t ours, size_t over) {
    double us = p->best[ours].us, other = p->best[over].us;
    if (!(us > 0) || !(other > 0)) return 0;
    return over == ours ? us : other / us;
}

static const result_problem *find(const results *r, const result_problem *like, double size) {
    for (size_t i = 0; i < r->problem_count; i++) {
        const result_problem *p = &r->problems[i];
        if (p->file == like->file && (double)p->size == size && strcmp(p->matrix, like->matrix) == 0)
            return p;
    }
    return NULL;
}

/* Whether no problem before it is of the same file and matrix. */
static bool is_first(const results *r, size_t problem) {
    const result_problem *p = &r->problems[problem];
    for (size_t i = 0; i < problem; i++)
        if (r->problems[i].file == p->file && strcmp(r->problems[i].matrix, p->matrix) == 0) return false;
    return true;
}

static bool has_any(const results *r, const result_problem *line, size_t ours, size_t over) {
    for (size_t i = 0; i < r->problem_count; i++) {
        const result_problem *p = &r->problems[i];
        bool same = line == NULL || (p->file == line->file && strcmp(p->matrix, line->matrix) == 0);
        if (same && value_of(p, ours, over) > 0) return true;
    }
    return false;
}

static void print_line(const results *r, const result_problem *line, size_t ours, size_t over,
                       const double *sizes, size_t count) {
    printf("%-*s", NAME_WIDTH, line->matrix);
    for (size_t i = 0; i < count; i++) {
        const result_problem *p = find(r, line, sizes[i]);
        double value = p != NULL ? value_of(p, ours, over) : 0;
        if (value > 0) printf("%*.2f", WIDTH, value);
        else printf("%*s", WIDTH, "-");
    }
    printf("\n");
}

static void print_grid(const results *r, size_t ours, size_t over, const double *sizes, size_t count) {
    if (!has_any(r, NULL, ours, over)) return;
    if (ours == over) printf("\n%s, us\n", r->labels[ours]);
    else printf("\n%s over %s\n", r->labels[over], r->labels[ours]);
    printf("%-*s", NAME_WIDTH, "N");
    for (size_t i = 0; i < count; i++) printf("%*.0f", WIDTH, sizes[i]);
    printf("\n");
    for (size_t i = 0; i < r->problem_count; i++)
        if (is_first(r, i) && has_any(r, &r->problems[i], ours, over))
            print_line(r, &r->problems[i], ours, over, sizes, count);
}

void grids_print(const results *r, const double *sizes, size_t count) {
    for (size_t ours = 0; ours < r->label_count; ours++) {
        if (!label_is_ours(r->labels[ours]) || r->parents[ours] > 0) continue;
        print_grid(r, ours, ours, sizes, count);
        for (size_t peer = 0; peer < r->label_count; peer++)
            if (!label_is_ours(r->labels[peer])) print_grid(r, ours, peer, sizes, count);
    }
}
