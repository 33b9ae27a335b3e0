/* Matrices in published formats, a directory each: format.json says which (docs/formats.md), NAME.npy hold
   the arrays. */
#ifndef MCRUN_PUBLISHED_H
#define MCRUN_PUBLISHED_H

#include "mcrt_internal.h"

typedef enum published_name { PUBLISHED_BCRS, PUBLISHED_SRBCRS, PUBLISHED_HRPB } published_name;

typedef struct published_form {
    published_name name;
    mc_srbcrs srbcrs; /* of SRBCRS */
    mc_hrpb hrpb;     /* of HRPB */
} published_form;

/* What lies beside the matrix: NAME.npy, in one dimension. */
typedef struct published_beside {
    const char *name;
    const mc_dense *array;
} published_beside;
enum { PUBLISHED_MOST_BESIDE = 4 };

/* Writes A into DIRECTORY (out_write), with what lies BESIDE it, COUNT of these, and with LIST the files'
   names to standard output. */
mc_status published_write(const published_form *form, const mc_vsparse *a, const published_beside *beside,
                          size_t count, const char *directory, bool force, bool list, mc_diag *diag);
/* The way back. MC_FORMAT, with the directory's name in front, for what no matrix gives. */
mc_status published_read(const char *directory, mc_vsparse *a, mc_diag *diag);

/* A directory, and none with the arrays of a BSR (matrix/bsr.h). */
bool published_is_directory(const char *path);

#endif
