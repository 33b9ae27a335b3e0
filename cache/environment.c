/* The environment. secure_getenv: a set-user-ID program takes no directory from who started it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

/* NULL where it is not set, or empty. */
static const char *variable(const char *name) {
    const char *text = secure_getenv(name);
    return text != NULL && *text != '\0' ? text : NULL;
}

static const char *read_mode(mccache_mode *mode) {
    static const struct {
        const char *word;
        mccache_mode mode;
    } words[] = {
        {"rw", MCCACHE_READ_WRITE}, {"ro", MCCACHE_READ_ONLY}, {"mem", MCCACHE_MEMORY}, {"off", MCCACHE_OFF}};
    const char *text = variable("MCGEN_CACHE");
    if (text == NULL) return NULL;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(text, words[i].word) == 0) {
            *mode = words[i].mode;
            return NULL;
        }
    return "MCGEN_CACHE is not one of rw, ro, mem and off";
}

static const char *read_bytes(uint64_t *bytes) {
    static const char wrong[] =
        "MCGEN_CACHE_MAX is not a number of bytes from 1 on, with K, M or G behind or without";
    static const char units[] = "KMG";
    const char *text = variable("MCGEN_CACHE_MAX");
    if (text == NULL) return NULL;
    uint64_t number = 0;
    bool overflow = false;
    for (; *text >= '0' && *text <= '9'; text++) {
        overflow |= __builtin_mul_overflow(number, 10, &number);
        overflow |= __builtin_add_overflow(number, (uint64_t)(*text - '0'), &number);
    }
    const char *unit = *text != '\0' ? strchr(units, *text) : NULL;
    if (unit != NULL) {
        overflow |= __builtin_mul_overflow(number, (uint64_t)1 << 10 * (unit - units + 1), &number);
        text++;
    }
    if (*text != '\0' || overflow || number == 0) return wrong;
    *bytes = number;
    return NULL;
}

/* PREFIX and ENDING into PATH; false where that is too long. */
static bool join(char path[MCCACHE_MAX_PATH], const char *prefix, const char *ending) {
    int length = snprintf(path, MCCACHE_MAX_PATH, "%s%s", prefix, ending);
    return length >= 0 && length < MCCACHE_MAX_PATH;
}

/* The first of these that is set and can be one; XDG says that a relative path there is to be ignored. */
static const char *read_directory(const char **directory, char path[MCCACHE_MAX_PATH]) {
    static const struct {
        const char *name, *ending;
        bool absolute;
    } places[] = {
        {"MCGEN_CACHE_DIR", "", false}, {"XDG_CACHE_HOME", "/mcgen", true}, {"HOME", "/.cache/mcgen", true}};
    const char *why = NULL;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const char *text = variable(places[i].name);
        if (text == NULL || (places[i].absolute && *text != '/')) continue;
        if (join(path, text, places[i].ending)) {
            *directory = path;
            return why;
        }
        why = "the path of the cache's directory is too long";
    }
    return why;
}

/* PATHS is cut at the colons. */
static const char *read_system(const char *system[MCCACHE_MAX_SYSTEM], char paths[MCCACHE_MAX_PATH]) {
    const char *text = variable("MCGEN_CACHE_SYSTEM");
    size_t count = 0;
    char *rest = NULL;
    if (text == NULL) return NULL;
    if (!join(paths, text, "")) return "MCGEN_CACHE_SYSTEM is too long";
    for (char *path = strtok_r(paths, ":", &rest); path != NULL; path = strtok_r(NULL, ":", &rest)) {
        const char *why = count == MCCACHE_MAX_SYSTEM ? "MCGEN_CACHE_SYSTEM has more than 8 directories"
                          : *path != '/'              ? "MCGEN_CACHE_SYSTEM has a path that is not absolute"
                                                      : NULL;
        if (why != NULL) {
            memset(system, 0, MCCACHE_MAX_SYSTEM * sizeof *system);
            return why;
        }
        system[count++] = path;
    }
    return NULL;
}

bool mccache_environment(mccache_config *config, mccache_paths *paths, const char **why) {
    mccache_config read = {.size = config->size, .mode = MCCACHE_READ_WRITE};
    const char *faults[] = {read_mode(&read.mode), read_directory(&read.directory, paths->directory),
                            read_system(read.system, paths->system), read_bytes(&read.max_bytes)};
    memcpy(config, &read, config->size < sizeof read ? config->size : sizeof read);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        if (faults[i] != NULL) {
            if (why != NULL) *why = faults[i];
            return false;
        }
    return true;
}
