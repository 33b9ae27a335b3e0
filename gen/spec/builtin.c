/* The specs that the library ships: every file of specs/, which the build puts here (cmake/embed.cmake). */
#include "schema/schema.h"
#include <stdio.h>
#include <string.h>

static const mc_builtin_spec specs[] = {
#include "builtin_specs.inc"
    {NULL, NULL}};

const mc_builtin_spec *mc_builtin_specs(void) { return specs; }

static const char ending[] = ".lua";
enum { ENDING = sizeof ending - 1, SPEC_COUNT = sizeof specs / sizeof specs[0] - 1 };

static bool is_path(const char *name) { return strpbrk(name, "/.") || strcmp(name, "-") == 0; }

static const char *name_at(const void *list, size_t i) { return ((const mc_builtin_spec *)list)[i].name; }

static mc_status no_such_spec(const char *name, const char *file, mc_diag *diag) {
    const char *near = nearest_name(file, specs, SPEC_COUNT, name_at);
    int length = near ? (int)(strlen(near) - ENDING) : 0;
    return mc_fail(diag, MC_USAGE,
                   "%s: no shipped spec has this name%s%.*s%s; mcgen --list-specs lists them, and a file is "
                   "named by its path: ./%s",
                   name, near ? " (did you mean '" : "", length, near ? near : "", near ? "'?)" : "", name);
}

mc_status mc_builtin_spec_find(const char *name, const mc_builtin_spec **spec, mc_diag *diag) {
    char file[MC_MAX_NAME + ENDING];
    *spec = NULL;
    if (is_path(name)) return MC_OK;
    snprintf(file, sizeof file, "%s%s", name, ending);
    for (size_t i = 0; i < SPEC_COUNT && strlen(name) < MC_MAX_NAME; i++)
        if (strcmp(specs[i].name, file) == 0) *spec = &specs[i];
    return *spec ? MC_OK : no_such_spec(name, file, diag);
}
