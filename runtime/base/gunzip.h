/* Files that gzip has compressed (RFC 1952), in memory. */
#ifndef MCRT_GUNZIP_H
#define MCRT_GUNZIP_H

#include <stdbool.h>
#include <stddef.h>
#include "mc_status.h"

/* Whether PATH ends in .gz, and how long it is without that ending, or as it is. */
bool gunzip_is(const char *path, size_t *length);

/* What the SIZE bytes at BYTES, of the file PATH, were before they were compressed: malloc'ed, *OUT_SIZE of
   them. Members that follow each other are one text, as gzip has it; zeros behind the last one are skipped.
   MC_FORMAT with "path: ..." where it is not such a file, ends early, is damaged (a checksum differs) or
   has anything else behind it. On failure *OUT is NULL. */
mc_status gunzip(const char *path, const void *bytes, size_t size, char **out, size_t *out_size,
                 mc_diag *diag);

#endif
