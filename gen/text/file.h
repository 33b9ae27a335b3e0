/* Whole files in, and files out that appear complete or not at all. */
#ifndef MC_FILE_H
#define MC_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "mc_status.h"

/* How large a file may be, and what one that is larger is not: "a spec". */
typedef struct file_limit {
    size_t megabytes;
    const char *what;
} file_limit;

/* All bytes of PATH, malloc'ed, *SIZE of them. LIMIT: NULL where any size will do. It is a regular file, or
   what a shell has opened: a pipe in /dev or /proc, at most FILE_MOST_OF_PIPE megabytes of it. Nothing else
   is waited for or read. MC_IO with "path: why", MC_USAGE where the file is too large. */
enum { FILE_MOST_OF_PIPE = 1024 };
mc_status file_read(const char *path, const file_limit *limit, char **bytes, size_t *size, mc_diag *diag);
/* The same as a string, which ends in NUL. MC_FORMAT where it holds one before: LIMIT->what is text. */
mc_status file_read_text(const char *path, const file_limit *limit, char **text, mc_diag *diag);
extern const file_limit file_ptx_limit;

/* A regular file of which parts are read. */
typedef struct file_parts {
    const char *path; /* the caller's */
    int descriptor;   /* -1: closed */
    uint64_t size;
} file_parts;

mc_status file_open_parts(const char *path, file_parts *parts, mc_diag *diag);
/* SIZE bytes from FROM on; MC_IO where the file ends before. */
mc_status file_read_part(const file_parts *parts, uint64_t from, size_t size, void *bytes, mc_diag *diag);
void file_close_parts(file_parts *parts);

/* Whether both paths lead to one file or folder that is there. */
bool file_is_same(const char *a, const char *b);

/* Whether PATH is there, and right in FOLDER. */
bool file_is_in(const char *path, const char *folder);
/* MC_IO where PATH is read-only, or a link to nowhere: it must not be replaced. */
mc_status file_check_target(const char *path, mc_diag *diag);

/* A file being written. It is a temporary file beside the target, which commit renames to the target's name.
   A target that exists and is no regular file, such as /dev/stdout, is written directly. A regular one keeps
   its mode, and a link stays a link; one that is read-only and a link to nowhere are MC_IO. */
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
