/* Texts of kernel specs. */
#include "choose/spec_sources.h"
#include <stdlib.h>
#include <string.h>
#include "text/file.h"

static const file_limit limit = {1, "a spec"}; /* as mc_spec_read has it */

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static spec_source source_of(const mc_builtin_spec *spec) {
    return (spec_source){spec->name, spec->name, spec->text, strlen(spec->text), NULL};
}

static mc_status load(const char *path, spec_source *source, mc_diag *diag) {
    const mc_builtin_spec *shipped;
    *source = (spec_source){.name = last_part(path), .path = path};
    mc_status status = mc_builtin_spec_find(path, &shipped, diag);
    if (shipped != NULL) *source = source_of(shipped);
    if (status != MC_OK || shipped != NULL) return status;
    status = file_read(path, &limit, &source->owned, &source->size, diag);
    source->text = source->owned;
    return status;
}

static size_t builtin_count(void) {
    size_t count = 0;
    while (mc_builtin_specs()[count].name != NULL) count++;
    return count;
}

mc_status spec_sources_load(const char *const *paths, size_t count, spec_sources *sources, mc_diag *diag) {
    mc_status status = MC_OK;
    size_t all = count != 0 ? count : builtin_count();
    *sources = (spec_sources){.items = calloc(all + 1, sizeof *sources->items), .builtin = count == 0};
    if (sources->items == NULL) return mc_fail(diag, MC_NOMEM, "no memory for %zu specs", all);
    for (; sources->count < all && status == MC_OK; sources->count++) {
        spec_source *source = &sources->items[sources->count];
        const mc_builtin_spec *spec = &mc_builtin_specs()[count == 0 ? sources->count : 0];
        if (count != 0) status = load(paths[sources->count], source, diag);
        else *source = source_of(spec);
    }
    if (status != MC_OK) spec_sources_free(sources);
    return status;
}

/* The text behind `FIELD =` in the first line of TEXT that begins so; NULL: there is none. */
static const char *value_in(const char *text, const char *field) {
    const size_t length = strlen(field);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, field, length) != 0) continue;
        const char *value = line + length;
        value += strspn(value, " ");
        if (*value == '=') return value + 1 + strspn(value + 1, " ");
    }
    return NULL;
}

/* op = "spmm" */
bool spec_text_is_of(const char *text, const char *op) {
    const char *value = value_in(text, "op");
    const size_t length = strlen(op);
    return value != NULL && *value == '"' && strncmp(value + 1, op, length) == 0 && value[1 + length] == '"';
}

bool spec_text_sets(const char *text, const char *field) { return value_in(text, field) != NULL; }

void spec_sources_free(spec_sources *sources) {
    for (size_t i = 0; i < sources->count; i++) free(sources->items[i].owned);
    free(sources->items);
    *sources = (spec_sources){0};
}
