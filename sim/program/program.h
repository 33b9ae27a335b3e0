/* The parts of the program ptxsim. Functions that can fail return false after they have reported the error,
 * one line on standard error. */
#ifndef PTXSIM_PROGRAM_H
#define PTXSIM_PROGRAM_H

#include "ptxsim.h"

#include <stdbool.h>

enum { STATUS_DONE, STATUS_FAILED, STATUS_USAGE, MAX_ARGS = 64 };

/* "ptxsim: message" on standard error; false. */
bool complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* -- options.c ---------------------------------------------------------------------------------------- */

struct options {
    const char *file, *entry; /* NULL: the only one */
    ptxsim_dim3 grid, block;
    uint64_t shared, limit, seed, threads;
    ptxsim_order order;
    ptxsim_landing landing;
    bool no_races, counts, help;
    const char *arg[MAX_ARGS];
    int arg_count;
};

/* What stands behind `run` or, with CHECK, `check`. */
bool options_parse(int argc, char **argv, bool check, struct options *options);
/* The help of a command. */
void options_help(bool check);
/* An unsigned number that fills TEXT, or LENGTH letters of it; K, M and G behind it multiply by 2^10, 2^20,
   2^30. */
bool parse_count(const char *text, size_t length, uint64_t most, uint64_t *value);

/* -- file.c: whole files; the caller frees --------------------------------------------------------------- */

void *file_read(const char *path, size_t *bytes); /* NULL after an error; a NUL stands behind */
bool file_write(const char *path, const void *data, size_t bytes);

/* -- argument.c: values of parameters ------------------------------------------------------------------- */

/* One parameter: a number, or the address of a buffer. */
struct argument {
    const char *text;
    unsigned char value[8];
    size_t bytes;     /* of the value */
    bool unreadable;  /* its file cannot be read */
    uint64_t address; /* of the buffer, 0: none */
    size_t buffer_bytes;
    char *out; /* a file that the buffer is written to, or NULL */
    int shown; /* the type whose elements are printed, -1: none */
};

/* Makes the value that TEXT describes, of a parameter of BYTES. */
bool argument_make(ptxsim *sim, const char *text, size_t bytes, struct argument *argument);
/* After the launch: writes the buffer to its file, or prints it. */
bool argument_finish(ptxsim *sim, const struct argument *argument);
void argument_free(struct argument *argument);

/* -- report.c ------------------------------------------------------------------------------------------- */

/* What went wrong, with its line of TEXT, which is PATH's; false. */
bool report_fault(ptxsim *sim, const char *path, const char *text);
void report_counts(const ptxsim *sim, const char *text);

#endif
