/* Whole files in, and files out that appear complete or not at all. */
#ifndef MC_FILE_H
#define MC_FILE_H

#include <stdio.h>
#include "mc_status.h"

/* All bytes of PATH, malloc'ed, *SIZE of them. MC_IO with "path: why". */
mc_status file_read(const char *path, char **bytes, size_t *size, mc_diag *diag);
/* The same as a string, which ends in NUL. MC_FORMAT where it holds one before: WHAT ("PTX") is text. */
mc_status file_read_text(const char *path, const char *what, char **text, mc_diag *diag);

/* A file being written. It is a temporary file beside the target, which commit renames to the target's name.
   A target that exists and is no regular file, such as /dev/stdout, is written directly. A regular one keeps
   its mode, and a link stays a link. */
typedef struct file_output {
    FILE *stream;
    int error;                /* errno of a failed file_write */
    char *target, *temporary; /* temporary: NULL where the target is written directly */
} file_output;

mc_status file_open(const char *path, file_output *output, mc_diag *diag);
/* Writes SIZE bytes. An error shows at the commit, like one of writing to the stream, but with its reason. */
void file_write(file_output *output, const void *bytes, size_t size);
/* Closes and puts the file in place; on an error of any write since opening, MC_IO and no file. */
mc_status file_commit(file_output *output, mc_diag *diag);

#endif
