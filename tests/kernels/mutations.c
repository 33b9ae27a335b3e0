#include "mutations.h"
#include <stdlib.h>
#include <string.h>

long mutation_number(const char *line) {
    const char *at = strrchr(line, ' ');
    return at ? strtol(at, NULL, 0) : 0;
}

bool mutation_of_conversion(const mutation *m) {
    return strstr(m->from, "cvta.to.global") && strcmp(strrchr(m->from, ' '), strrchr(m->to, ' ')) == 0;
}

static bool is_named(const char *reg, size_t length, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const char *at = strstr(reg, names[i]);
        if (at && at + strlen(names[i]) <= reg + length) return true;
    }
    return false;
}

bool mutation_of_zeros(const mutation *m, const char *const *names, size_t count) {
    bool one = strstr(m->from, "mov.b32") && strstr(m->from, ", 0;"),
         four = strstr(m->from, "mov.v4.b32") && strstr(m->from, "{0, 0, 0, 0};");
    if (m->kind != MUTATE_INDEX || (!one && !four)) return false;
    for (const char *reg = strchr(m->from, '%'); reg; reg = strchr(reg + 1, '%'))
        if (!is_named(reg, strcspn(reg, ",}"), names, count)) return false;
    return true;
}

bool mutation_is_finite(const mutation *m) { return m->kind == MUTATE_INDEX && !strstr(m->to, "-1"); }

bool mutation_of_tiny_start(const mutation *m) {
    static const char *const names[] = {"acc"};
    return mutation_of_zeros(m, names, 1) && mutation_is_finite(m) && !strstr(m->entry, "f32_");
}

/* bytes of B in a padding slot meet a value of zero */
bool mutation_of_row(const mutation *m) {
    static const char *const names[] = {"row"};
    return mutation_of_zeros(m, names, 1);
}

bool mutation_adds_more(const mutation *m, const char *registers) {
    return m->kind == MUTATE_INDEX && strstr(m->from, "add.s32") && strstr(m->from, registers) &&
           mutation_number(m->to) > mutation_number(m->from);
}

/* a full tile takes the edge path, to the same sums */
bool mutation_of_sooner_edge(const mutation *m) { return mutation_adds_more(m, "%odd_bits, %tile_col"); }

/* the next tile's columns are computed twice, with the same sums */
bool mutation_of_longer_edge(const mutation *m) {
    return m->kind == MUTATE_INDEX && strstr(m->from, "part_end") && strstr(m->from, "add") &&
           mutation_number(m->to) > mutation_number(m->from);
}
