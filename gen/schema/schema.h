/* The fields of specs. A field is a row: its name, what it may hold, its default, what it means. Reading,
   help, errors, hashes and the reference pages walk these rows. */
#ifndef MC_SCHEMA_H
#define MC_SCHEMA_H

#include "mcgen.h"
#include "text/text.h"

enum {
    MC_MAX_FIELDS = 64, /* fields of a family, at most */
    MC_MAX_CANDIDATES = 32,
    MC_MAX_NAME = 48,
};

typedef enum mc_field_kind {
    /* one of `names`; the value is its index. true and false stand for on and off, 8 for "8" */
    MC_FIELD_NAME,
    MC_FIELD_NUMBER, /* one of `numbers` */
    MC_FIELD_SWITCH, /* "on" or "off", also true and false; the value is 1 or 0 */
    MC_FIELD_SHAPE,  /* 1 .. 2^31 - 1, or "open": MC_OPEN */
} mc_field_kind;

typedef struct mc_field {
    const char *name;
    mc_field_kind kind;
    const char *const *names; /* NULL-terminated */
    const int *numbers;       /* 0-terminated, ascending */
    int64_t standard;         /* the default */
    bool tunable;             /* may be a list of values, to tune over */
    /* at its default it stands in no header and no hash, so that kernels that do not use it keep theirs */
    bool quiet;
    /* The solvers that have the field, as words ("gather window"); NULL: all. A point of any other one has it
       at its default. What is said where it has not: 'window: staging = "direct" LACKING'; NULL: "has none:
       leave it out". */
    const char *solvers, *lacking;
    const char *doc;
} mc_field;

typedef enum mc_raw_kind { MC_RAW_INTEGER, MC_RAW_SWITCH, MC_RAW_TEXT, MC_RAW_OTHER } mc_raw_kind;

/* A value as the spec file or the command line gave it. */
typedef struct mc_raw {
    mc_raw_kind kind;
    int64_t number;         /* INTEGER, SWITCH */
    char text[MC_MAX_NAME]; /* TEXT; OTHER: what it is ("a function", "0.5") */
} mc_raw;

bool field_accepts(const mc_field *field, const mc_raw *raw, int64_t *value);
void field_value_text(const mc_field *field, int64_t value, char text[MC_MAX_NAME]);
void field_allowed_text(const mc_field *field, mc_text *text);
/* The name most like WORD among COUNT names that NAME_AT gives, or NULL where none is near. */
const char *nearest_name(const char *word, const void *names, size_t count,
                         const char *(*name_at)(const void *, size_t));

#endif
