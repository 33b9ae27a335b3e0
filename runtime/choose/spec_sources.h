/* Texts of kernel specs: those built in, or those of some files. */
#ifndef MCRT_SPEC_SOURCES_H
#define MCRT_SPEC_SOURCES_H

#include "mcgen.h"
#include "mcrt.h"

typedef struct spec_source {
    const char *name; /* the file's, without its folder */
    const char *path; /* what messages call it */
    const char *text;
    size_t size;
    char *owned; /* the text, where it is not built in */
} spec_source;

typedef struct spec_sources {
    spec_source *items;
    size_t count;
    bool builtin;
} spec_sources;

/* PATHS, or with COUNT 0 those built in. PATHS must live as long. MC_IO, or MC_USAGE for what is too large to
   be a spec. */
mc_status spec_sources_load(const char *const *paths, size_t count, spec_sources *sources, mc_diag *diag);
void spec_sources_free(spec_sources *sources);
/* Whether a line of a shipped spec's TEXT says that it is of operator OP. Shipped specs name theirs in plain
   words, so that nobody reads specs of others to find out. */
bool spec_text_is_of(const char *text, const char *op);
/* Whether a line of a shipped spec's TEXT sets FIELD. */
bool spec_text_sets(const char *text, const char *field);

#endif
