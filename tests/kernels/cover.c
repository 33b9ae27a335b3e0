#include "cover.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_TOKENS = 16, MAX_PAIRS = 4096 };

/* The "field=value" words of each variant. */
typedef struct words {
    char *text;
    const char *word[MAX_TOKENS];
    int count;
} words;

typedef struct pair {
    const char *first, *second;
    bool covered;
} pair;

static bool split_words(const mc_spec *spec, size_t variant, words *w) {
    w->text = mc_spec_variant_text(spec, variant, false);
    if (!w->text) return false;
    for (char *rest = NULL, *word = strtok_r(w->text, " ", &rest); word && w->count < MAX_TOKENS;
         word = strtok_r(NULL, " ", &rest))
        w->word[w->count++] = word;
    return true;
}

static pair *find_pair(pair *pairs, size_t count, const char *first, const char *second) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(pairs[i].first, first) == 0 && strcmp(pairs[i].second, second) == 0) return &pairs[i];
    }
    return NULL;
}

static void collect_pairs(const words *w, pair *pairs, size_t *count) {
    for (int i = 0; i < w->count; i++) {
        for (int j = i + 1; j < w->count; j++) {
            if (*count < MAX_PAIRS && !find_pair(pairs, *count, w->word[i], w->word[j]))
                pairs[(*count)++] = (pair){w->word[i], w->word[j], false};
        }
    }
}

/* How many uncovered pairs W has; MARK covers them. */
static int new_pairs(const words *w, pair *pairs, size_t count, bool mark) {
    int fresh = 0;
    for (int i = 0; i < w->count; i++) {
        for (int j = i + 1; j < w->count; j++) {
            pair *p = find_pair(pairs, count, w->word[i], w->word[j]);
            fresh += p && !p->covered;
            if (p && mark) p->covered = true;
        }
    }
    return fresh;
}

/* Greedy: the variant with the most uncovered pairs next, the default first. */
static size_t choose(const words *all, size_t variants, pair *pairs, size_t pair_count, size_t *chosen) {
    size_t count = 0, next = 0;
    for (;;) {
        new_pairs(&all[next], pairs, pair_count, true);
        chosen[count++] = next;
        int best = 0;
        for (size_t v = 0; v < variants; v++) {
            int fresh = new_pairs(&all[v], pairs, pair_count, false);
            if (fresh > best) best = fresh, next = v;
        }
        if (best == 0) return count;
    }
}

size_t cover_pairs(const mc_spec *spec, size_t *chosen, size_t *pair_count) {
    size_t variants = mc_spec_variant_count(spec), count = 0;
    words *all = calloc(variants, sizeof *all);
    pair *pairs = calloc(MAX_PAIRS, sizeof *pairs);
    bool ready = all && pairs;
    *pair_count = 0;
    for (size_t v = 0; ready && v < variants; v++) {
        ready = split_words(spec, v, &all[v]);
        if (ready) collect_pairs(&all[v], pairs, pair_count);
    }
    if (ready) count = choose(all, variants, pairs, *pair_count, chosen);
    for (size_t v = 0; all && v < variants; v++) free(all[v].text);
    free(all);
    free(pairs);
    return count;
}
