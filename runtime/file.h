/* Whole files in, and files out that appear complete or not at all. */
#ifndef MCRT_FILE_H
#define MCRT_FILE_H

#include <stdio.h>
#include "mc_status.h"

/* All bytes of PATH, malloc'ed, *SIZE of them. MC_IO with "path: why". */
mc_status mcrt_file_read(const char *path, char **bytes, size_t *size, mc_diag *diag);

/* A file being written: a temporary beside the target that commit renames onto it. A target that exists and
   is no regular file, such as /dev/stdout, is written directly. */
typedef struct mcrt_output {
    FILE *stream;
    char *target, *temporary; /* temporary: NULL where the target is written directly */
} mcrt_output;

mc_status mcrt_output_open(const char *path, mcrt_output *output, mc_diag *diag);
/* Closes and puts the file in place; on an error of any write since opening, MC_IO and no file. */
mc_status mcrt_output_commit(mcrt_output *output, mc_diag *diag);

#endif
