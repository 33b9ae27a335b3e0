/* A spec, from Lua text to variants:
 *
 *   sandbox   Lua text              -> assignments (name, values, where)
 *   spec      assignments, settings -> mc_spec: the values of each field, checked against the family's schema
 *   space     mc_spec               -> the legal variants; a variant -> a point (a value for each field) */
#ifndef MC_SPEC_H
#define MC_SPEC_H

#include "schema/family.h"

enum { MC_MAX_POINTS = 1 << 16 }; /* points of a tuning space, legal or not, at most */

/* -- sandbox.c: runs a spec script -------------------------------------------------------------------- */

typedef struct mc_assignment {
    char name[MC_MAX_NAME];
    int line; /* of the spec file; 0: a setting of the command line */
    bool list;
    char wrong[64]; /* what is wrong with the table that should be a list; "": nothing */
    size_t count;
    mc_raw values[MC_MAX_CANDIDATES];
} mc_assignment;

enum { MC_MAX_ASSIGNMENTS = 64 };

typedef struct mc_script {
    mc_assignment assignments[MC_MAX_ASSIGNMENTS];
    size_t count;
} mc_script;

mc_status sandbox_run(const char *name, const char *text, size_t size, mc_script *script, mc_diag *diag);
/* The assignment of NAME, which is made if it is new. NULL: there are too many. */
mc_assignment *script_assign(mc_script *script, const char *name);

/* -- hint.c */

/* What to tell who wrote NAME, which is no field of FAMILY. */
void hint_text(const mc_family *family, const char *name, mc_text *text);

/* -- spec.c, space.c ---------------------------------------------------------------------------------- */

typedef struct mc_candidates {
    int line; /* line of the spec that sets the field; 0: none does, or a setting did */
    bool set; /* the file or a setting sets it */
    size_t count;
    int64_t values[MC_MAX_CANDIDATES];
} mc_candidates;

struct mc_spec {
    char *name;           /* its path, as errors say it; "fields" without a file */
    const char *settings; /* what errors say in place of a line of the file: "--set", "fields" */
    const mc_family *family;
    mc_candidates fields[MC_MAX_FIELDS];
    size_t variant_count;
    uint32_t *variants; /* mixed-radix codes of the legal points, ascending */
};

/* Who is asked for the arch, where neither the file nor settings name one. TARGET gives it, or NULL for the
   family's own default. */
typedef struct mc_arch_default {
    const char *(*target)(void *user);
    void *user;
} mc_arch_default;

/* mc_spec_read with such a default. */
mc_status spec_read_path(const char *path, const mc_setting *settings, size_t setting_count,
                         const mc_arch_default *arch, mc_spec **spec, mc_diag *diag);
/* Finds the legal variants. Where there is none it returns MC_USAGE, with the complaints about the first
   point. */
mc_status space_build(mc_spec *spec, mc_diag *diag);
/* Says why the first point is not legal, which is what a spec without lists gets to read. Returns
   MC_USAGE. */
mc_status space_explain(const mc_spec *spec, mc_diag *diag);
void space_point(const mc_spec *spec, size_t variant, int64_t point[MC_MAX_FIELDS]);
/* The spec whose one variant has FIELDS ("op=spmm vec=8 ..."), and defaults elsewhere. */
mc_status spec_of_fields(const char *fields, mc_spec **spec, mc_diag *diag);
/* The point as text, "op=spmm vec=8 ...": the fields for which WANTED is true (NULL: all), without quiet
   ones. */
void point_text(const mc_family *family, const int64_t *point, const bool *wanted, mc_text *text);
uint64_t point_hash(const mc_family *family, const int64_t *point);

#endif
