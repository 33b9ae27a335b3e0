/* Which records `mcrun records list` shows. */
#ifndef MCRUN_RECORD_FILTER_H
#define MCRUN_RECORD_FILTER_H

#include "options.h"
#include "records/record.h"

/* First member of the command's struct of options. */
typedef struct record_filter {
    /* Members of a problem (ops/members.def) with the value, or with several and commas between, of which a
       record has one */
    cmd_settings members;
    const char *gpu;  /* a part of the GPU's name, in letters of any size; NULL: all */
    const char *spec; /* the spec of the chosen kernel, with .lua or without; NULL: all */
    bool cold;        /* only those of cold operands */
} record_filter;

enum { RECORD_FILTER_OPTIONS = 11 };
extern const cmd_option record_filter_table[RECORD_FILTER_OPTIONS];

/* Whether there is anything to filter by. */
bool record_filter_given(const record_filter *filter);
/* MC_USAGE for a member that no problem has, or a value that it cannot have. */
mc_status record_filter_check(const record_filter *filter, mc_diag *diag);
bool record_filter_passes(const record_filter *filter, const record *r);

#endif
