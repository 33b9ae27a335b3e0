#include "bands.h"
#include <stdio.h>
#include <stdlib.h>
#include "stats.h"

enum { LABEL_WIDTH = 36 };

static const struct {
    const char *name, *key;
    int64_t least, most, bound;
} bands[] = {{"N >= 512", "least_n", 512, INT64_MAX, 512}, {"N <= 64", "most_n", 1, 64, 64}};
enum { BANDS = sizeof bands / sizeof *bands };

/* A peer's times over ours, of one band. */
typedef struct ratios {
    double mean, worst;
    size_t count;
} ratios;

/* VALUES has room for all problems. */
static ratios ratios_of(const results *r, size_t ours, size_t peer, size_t band, double *values) {
    ratios found = {0};
    for (size_t i = 0; i < r->problem_count; i++) {
        const result_problem *p = &r->problems[i];
        double us = p->best[ours].us, peer_us = p->best[peer].us;
        if (p->n < bands[band].least || p->n > bands[band].most || !(us > 0) || !(peer_us > 0)) continue;
        double ratio = peer_us / us;
        if (found.count == 0 || ratio < found.worst) found.worst = ratio;
        values[found.count++] = ratio;
    }
    found.mean = geometric_mean(values, found.count);
    return found;
}

/* Contenders of ours, all specs of the same types together. */
static bool is_ours(const results *r, size_t label) {
    return label_is_ours(r->labels[label]) && r->parents[label] == 0;
}

static void print_peer(const char *name, const ratios *all) {
    printf("  %-*s", LABEL_WIDTH - 2, name);
    for (size_t band = 0; band < BANDS; band++) {
        if (all[band].count == 0) printf("%24s", "-");
        else printf("%8.2f (%3zu, least %4.2f)", all[band].mean, all[band].count, all[band].worst);
    }
    printf("\n");
}

/* One of ours and a peer; `first` is the first peer of ours. */
typedef struct pair {
    size_t ours, peer;
    bool first;
    ratios bands[BANDS];
} pair;

/* Calls VISIT for each pair that has problems in some band. */
static mc_status visit_pairs(const results *r, void (*visit)(const results *r, const pair *p),
                             mc_diag *diag) {
    double *values = calloc(r->problem_count + 1, sizeof *values);
    if (values == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    for (size_t ours = 0; ours < r->label_count; ours++) {
        pair p = {.ours = ours, .first = true};
        for (p.peer = 0; is_ours(r, ours) && p.peer < r->label_count; p.peer++) {
            size_t met = 0;
            for (size_t band = 0; band < BANDS; band++) {
                p.bands[band] = ratios_of(r, ours, p.peer, band, values);
                met += p.bands[band].count;
            }
            if (met == 0 || label_is_ours(r->labels[p.peer])) continue;
            visit(r, &p);
            p.first = false;
        }
    }
    free(values);
    return MC_OK;
}

static void print_pair(const results *r, const pair *p) {
    if (p->first) {
        printf("\nTimes over those of %s, geometric means (problems, the least)\n%-*s", r->labels[p->ours],
               LABEL_WIDTH, "");
        for (size_t band = 0; band < BANDS; band++) printf("%24s", bands[band].name);
        printf("\n");
    }
    print_peer(r->labels[p->peer], p->bands);
}

static void print_pair_json(const results *r, const pair *p) {
    for (size_t band = 0; band < BANDS; band++) {
        const ratios *found = &p->bands[band];
        if (found->count == 0) continue;
        json_t *line = json_pack("{s:s, s:s, s:s, s:s, s:I, s:f, s:f, s:I}", "kind", "band", "op",
                                 r->problems[0].op, "ours", r->labels[p->ours], "peer", r->labels[p->peer],
                                 bands[band].key, (json_int_t)bands[band].bound, "ratio", found->mean,
                                 "worst", found->worst, "problems", (json_int_t)found->count);
        json_dumpf(line, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
        printf("\n");
        json_decref(line);
    }
}

mc_status bands_print(const results *r, mc_diag *diag) { return visit_pairs(r, print_pair, diag); }
mc_status bands_print_json(const results *r, mc_diag *diag) { return visit_pairs(r, print_pair_json, diag); }
