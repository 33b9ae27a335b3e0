/* The records that the library ships: every file of records/,
   which the build puts here (cmake/embed.cmake). */
#include "records/record.h"

const record_shipped_file record_shipped[] = {
#include "record_files.inc"
    {NULL, NULL}};
