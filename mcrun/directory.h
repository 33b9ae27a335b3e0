/* A directory of files that appears complete or not at all. */
#ifndef MCRUN_DIRECTORY_H
#define MCRUN_DIRECTORY_H

#include "mcrt_internal.h"

/* One file to write: DATA as it is or, where that is NULL, ARRAY as .npy,
   in one dimension if it is flat. Both stay the caller's. */
typedef struct out_file {
    char name[64];
    const void *data;
    size_t bytes;
    mc_dense array;
    bool flat;
} out_file;

enum { OUT_MAX_FILES = MC_MAX_ARRAYS + 5 };

/* In the order of writing. */
typedef struct out_files {
    out_file items[OUT_MAX_FILES];
    size_t count;
} out_files;

void out_add(out_files *files, const char *stem, const char *ending, const void *data, size_t bytes);
void out_add_array(out_files *files, const char *stem, const mc_dense *array, bool flat);

/* Makes DIRECTORY, or fills an empty one. One with files in it is MC_CANNOT, unless FORCE: then the files
   replace those of their names one by one, the last one last, and others stay. */
mc_status out_write(const char *directory, bool force, const out_files *files, mc_diag *diag);

#endif
