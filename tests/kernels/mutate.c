#include "mutate.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t draw(uint64_t *state, uint64_t below) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (z ^ z >> 31) % below;
}

/* A piece of the text. */
typedef struct span {
    const char *at;
    size_t length;
} span;

enum { MAX_SITES = 8192, MAX_NAMES = 512, NAME_ROOM = 64 };

typedef struct sites {
    span site[MAX_SITES];
    size_t count;
    char type_name[MAX_NAMES][NAME_ROOM]; /* declared registers, expanded: "b32 acc3" */
    size_t names;
} sites;

/* -- Declared registers ------------------------------------------------------------------------------- */

static void add_name(sites *s, const char *type, const char *name, int index) {
    if (s->names == MAX_NAMES) return;
    if (index < 0) snprintf(s->type_name[s->names++], NAME_ROOM, "%s %.31s", type, name);
    else snprintf(s->type_name[s->names++], NAME_ROOM, "%s %.31s%d", type, name, index);
}

/* ".reg .b32  %a, %b<4>;" */
static void read_declaration(sites *s, span line) {
    char type[8], text[256];
    snprintf(text, sizeof text, "%.*s", (int)line.length, line.at);
    if (sscanf(text, " .reg .%7s", type) != 1) return;
    for (char *at = strchr(text, '%'); at; at = strchr(at + 1, '%')) {
        char name[32];
        int count = 0;
        if (sscanf(at, "%%%31[a-z_0-9]<%d>", name, &count) < 1) continue;
        for (int i = 0; i < count; i++) add_name(s, type, name, i);
        if (!count) add_name(s, type, name, -1);
    }
}

/* -- Places to change --------------------------------------------------------------------------------- */

static bool is_instruction(span line) {
    size_t indent = strspn(line.at, " ");
    return indent == 4 && (line.at[4] == '@' || islower((unsigned char)line.at[4]));
}

static void add_site(sites *s, const char *at, size_t length) {
    if (s->count < MAX_SITES) s->site[s->count++] = (span){at, length};
}

/* Register operands behind the mnemonic; special registers (%tid.x) are not among the declared ones. */
static void find_operands(sites *s, span line) {
    for (const char *at = line.at; at < line.at + line.length; at++) {
        if (*at != '%') continue;
        size_t length = 1 + strspn(at + 1, "abcdefghijklmnopqrstuvwxyz_0123456789");
        if (at[length] != '.') add_site(s, at, length);
    }
}

/* Immediates and address offsets, not the digits of names and mnemonics, and not the number of a barrier. */
static void find_indices(sites *s, span line) {
    const char *at = line.at + 4;
    if (*at == '@') at += strcspn(at, " ") + 1;
    at += strcspn(at, " ;");
    for (; at < line.at + line.length; at++) {
        bool starts = isdigit((unsigned char)*at) && (at[-1] == ' ' || at[-1] == '+' || at[-1] == '-');
        if (!starts) continue;
        size_t length = strspn(at, "0123456789abcdefx");
        if (!strstr(line.at, "bar.sync") || strstr(line.at, "bar.sync") > at) add_site(s, at, length);
        at += length - 1;
    }
}

static void find_sites(sites *s, const char *ptx, mutation_kind kind) {
    for (const char *at = ptx; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        span line = {at, strcspn(at, "\n")};
        read_declaration(s, line);
        if (!is_instruction(line)) continue;
        bool barrier = strncmp(at + 4, "bar.sync", 8) == 0;
        if (kind == MUTATE_OPERAND) find_operands(s, line);
        else if (kind == MUTATE_INDEX && !barrier) find_indices(s, line);
        else if (kind == MUTATE_BARRIER && barrier) add_site(s, at, line.length);
    }
}

/* -- Replacements ------------------------------------------------------------------------------------- */

static const char *type_of(const sites *s, span reg) {
    for (size_t i = 0; i < s->names; i++) {
        const char *name = strchr(s->type_name[i], ' ') + 1;
        if (strlen(name) == reg.length - 1 && strncmp(name, reg.at + 1, reg.length - 1) == 0)
            return s->type_name[i];
    }
    return NULL;
}

/* Another register of the same type. */
static void other_register(const sites *s, span reg, uint64_t *state, char *out, size_t room) {
    const char *old = type_of(s, reg);
    snprintf(out, room, "%.*s", (int)reg.length, reg.at);
    for (int tries = 0; old && tries < 1000; tries++) {
        const char *candidate = s->type_name[draw(state, s->names)];
        size_t type_length = strcspn(old, " ") + 1;
        if (strncmp(candidate, old, type_length) != 0 || strcmp(candidate, old) == 0) continue;
        snprintf(out, room, "%%%s", candidate + type_length);
        return;
    }
}

static void other_number(span number, uint64_t *state, char *out, size_t room) {
    bool hex = number.length > 2 && number.at[1] == 'x';
    long long value = strtoll(number.at, NULL, 0), changed;
    switch (draw(state, 4)) {
    case 0: changed = value + 1; break;
    case 1: changed = value - 1; break;
    case 2: changed = value ? 2 * value : 2; break;
    default: changed = value + 4; break;
    }
    if (hex) snprintf(out, room, "0x%04llx", (unsigned long long)changed & 0xffff);
    else
        snprintf(out, room, changed < 0 && (number.at[-1] == '+') ? "%lld" : "%lld",
                 changed < 0 && number.at[-1] == '+' ? value + 8 : changed);
}

static void line_text(const char *text, const char *at, char *out, size_t room) {
    const char *start = at;
    while (start > text && start[-1] != '\n') start--;
    snprintf(out, room, "%.*s", (int)strcspn(start, "\n"), start);
}

char *mutate(const char *ptx, mutation_kind kind, uint64_t *state, mutation *m) {
    sites *s = calloc(1, sizeof *s);
    char *out = malloc(strlen(ptx) + 256), replacement[64] = "";
    if (s) find_sites(s, ptx, kind);
    if (!s || !out || s->count == 0) {
        free(s);
        free(out);
        return NULL;
    }
    span site = s->site[draw(state, s->count)];
    if (kind == MUTATE_OPERAND) other_register(s, site, state, replacement, sizeof replacement);
    else if (kind == MUTATE_INDEX) other_number(site, state, replacement, sizeof replacement);
    size_t before = (size_t)(site.at - ptx);
    memcpy(out, ptx, before);
    sprintf(out + before, "%s%s", replacement, site.at + site.length);
    *m = (mutation){.kind = kind, .line = 1};
    for (const char *at = ptx; at < site.at; at++) m->line += *at == '\n';
    line_text(ptx, site.at, m->from, sizeof m->from);
    line_text(out, out + before, m->to, sizeof m->to);
    free(s);
    return out;
}

/* -- Rounds of exact sums ------------------------------------------------------------------------------ */

/* The next limit in PTX, which is compared with the strides that are done: setp.lt.and.s32 %in_round, %done, 516, %more. */
static const char *next_limit(const char *ptx) {
    static const char count[] = "done, ";
    while ((ptx = strstr(ptx, count)) != NULL) {
        ptx += strlen(count);
        size_t digits = strspn(ptx, "0123456789");
        if (digits > 0 && ptx[digits] == ',') return ptx;
    }
    return NULL;
}

char *shorten_rounds(const char *ptx, int strides, int *places) {
    char *copy = malloc(strlen(ptx) + 1), *end = copy;
    *places = 0;
    if (!copy) return NULL;
    for (const char *limit; (limit = next_limit(ptx)) != NULL; (*places)++) {
        end += sprintf(end, "%.*s%c", (int)(limit - ptx), ptx, '0' + strides);
        ptx = limit + strspn(limit, "0123456789");
    }
    strcpy(end, ptx);
    return copy;
}
