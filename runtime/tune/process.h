/* A worker's process as its tuner has it. */
#ifndef MCRT_TUNE_PROCESS_H
#define MCRT_TUNE_PROCESS_H

#include <sys/types.h>
#include "tune/wire.h"

typedef struct tune_process {
    pid_t pid; /* 0: none */
    int stop;  /* our ends; -1: closed */
    int out;
    char input[WIRE_LINE]; /* what was read, and is no line yet */
    size_t input_size;
} tune_process;

/* An empty file in memory; -1 and errno: there is none. */
int tune_process_file(void);

/* Starts PROGRAM tune-worker on JOB. Nothing of the calling process but its environment and standard error is
   shared, and its group is its own, so that a terminal's Ctrl-C is the tuner's alone. MC_IO where it cannot
   be started. */
mc_status tune_process_start(const char *program, int job, tune_process *process, mc_diag *diag);

typedef enum tune_reading {
    READING_LINE,
    READING_NOTHING, /* until the time was over */
    READING_END,     /* it has closed its output */
    READING_GARBAGE  /* too long for a line, or with a zero byte */
} tune_reading;

/* The next line, without its newline, waiting at most MILLISECONDS for it. */
tune_reading tune_process_read(tune_process *process, int milliseconds, char line[WIRE_LINE]);

/* Asks to stop. */
void tune_process_stop(tune_process *process);

/* How it came to its end. */
typedef struct tune_ending {
    char text[96]; /* "it was ended by signal 11 (Segmentation fault)" */
} tune_ending;

/* Ends the process, which has a moment to do so itself unless NOW. Nothing if there is none. */
tune_ending tune_process_end(tune_process *process, bool now);

#endif
