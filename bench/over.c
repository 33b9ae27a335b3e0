#include "over.h"
#include <stdio.h>
#include <string.h>
#include "stats.h"

enum { LABEL_WIDTH = 36, SPEED_WIDTH = 10 };

static const double clearly_slower = 0.9; /* speeds below it are listed */

static bool is_ours(const results *r, size_t label) {
    return label_is_ours(r->labels[label]) && r->parents[label] == 0;
}

/* The name of what P is compared with. */
static const char *base_name(const results *r, const result_problem *p) { return r->labels[p->base]; }

/* -- By size --------------------------------------------------------------------------------------------- */

/* Of problems of SIZE; 0: of any. */
static void print_mean(const results *r, size_t label, double size, double *values) {
    size_t count = 0;
    double least = 0;
    for (size_t i = 0; i < r->problem_count; i++) {
        const result_problem *p = &r->problems[i];
        double speed = result_speed(p, label);
        if (speed <= 0 || (size > 0 && (double)p->size != size)) continue;
        if (count == 0 || speed < least) least = speed;
        values[count++] = speed;
    }
    if (count == 0) printf("%24s", "-");
    else printf("%8.2f (%3zu, least %4.2f)", geometric_mean(values, count), count, least);
}

static void print_sizes(const results *r, const double *sizes, size_t size_count, double *values) {
    printf("\nSpeed over the fastest verified %s by %c, geometric means (problems, least)\n%-*c",
           r->labels[0], r->problems[0].size_name, LABEL_WIDTH, r->problems[0].size_name);
    for (size_t i = 0; i < size_count; i++) printf("%24.0f", sizes[i]);
    printf("%24s\n", "all");
    for (size_t label = 1; label < r->label_count; label++) {
        if (!is_ours(r, label)) continue;
        printf("%-*s", LABEL_WIDTH, r->labels[label]);
        for (size_t i = 0; i < size_count; i++) print_mean(r, label, sizes[i], values);
        print_mean(r, label, 0, values);
        printf("\n");
    }
}

/* -- Where the base is faster ---------------------------------------------------------------------------- */

static void print_problem(const results *r, size_t label, const result_problem *p) {
    printf("  %5.2f  %c %-5lld %8.2f us, %s %8.2f us  %s\n", result_speed(p, label), p->size_name,
           (long long)p->size, p->best[label].us, base_name(r, p), p->best[0].us, p->matrix);
}

/* Speeds of a label: of how many problems, how many are below the bound, and whose is the least. */
typedef struct slower {
    size_t met, below;
    const result_problem *least;
} slower;

static slower find_slower(const results *r, size_t label) {
    slower found = {0};
    for (size_t i = 0; i < r->problem_count; i++) {
        const result_problem *p = &r->problems[i];
        double speed = result_speed(p, label);
        if (speed <= 0) continue;
        found.met++;
        found.below += speed < clearly_slower;
        if (found.least == NULL || speed < result_speed(found.least, label)) found.least = p;
    }
    return found;
}

/* The least problem first. */
static void print_slower(const results *r, size_t label) {
    const slower found = find_slower(r, label);
    if (found.least == NULL) return;
    printf("\n%s: below %.2f of %s on %zu of %zu problems; the least%s\n", r->labels[label], clearly_slower,
           r->labels[0], found.below, found.met, found.below > 1 ? ", and the others" : "");
    print_problem(r, label, found.least);
    for (size_t i = 0; i < r->problem_count; i++) {
        const result_problem *p = &r->problems[i];
        double speed = result_speed(p, label);
        if (speed > 0 && speed < clearly_slower && p != found.least) print_problem(r, label, p);
    }
}

/* -- By matrix ------------------------------------------------------------------------------------------- */

static bool same_matrix(const result_problem *a, const result_problem *b) {
    return a->file == b->file && a->vec == b->vec && strcmp(a->matrix, b->matrix) == 0;
}

/* Whether no problem before FIRST is of its matrix. */
static bool is_first(const results *r, size_t first) {
    for (size_t i = 0; i < first; i++)
        if (same_matrix(&r->problems[i], &r->problems[first])) return false;
    return true;
}

static double speed_of(const results *r, size_t label, const result_problem *of, double size) {
    for (size_t i = 0; i < r->problem_count; i++) {
        const result_problem *p = &r->problems[i];
        if (same_matrix(p, of) && (double)p->size == size) return result_speed(p, label);
    }
    return 0;
}

static void print_matrices(const results *r, size_t label, const double *sizes, size_t size_count) {
    printf("\n%s over %s by %c\n", r->labels[label], r->labels[0], r->problems[0].size_name);
    for (size_t i = 0; i < size_count; i++) printf("%*.0f", SPEED_WIDTH, sizes[i]);
    printf("  matrix\n");
    for (size_t first = 0; first < r->problem_count; first++) {
        const result_problem *p = &r->problems[first];
        if (!is_first(r, first)) continue;
        for (size_t i = 0; i < size_count; i++) {
            double speed = speed_of(r, label, p, sizes[i]);
            if (speed > 0) printf("%*.2f", SPEED_WIDTH, speed);
            else printf("%*s", SPEED_WIDTH, "-");
        }
        printf("  %s\n", p->matrix);
    }
}

void over_print(const results *r, const double *sizes, size_t size_count, bool brief, double *values) {
    print_sizes(r, sizes, size_count, values);
    for (size_t label = 1; label < r->label_count; label++) {
        if (!is_ours(r, label)) continue;
        print_slower(r, label);
        if (!brief) print_matrices(r, label, sizes, size_count);
    }
}
