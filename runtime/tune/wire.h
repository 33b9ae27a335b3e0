/* What a tuner and its worker say to each other.
 *
 *   worker.c       the tuner's side: one worker after another
 *   process.c      a worker's process: started, read from, ended
 *   worker_main.c  the worker's side
 *   job.c          the job as bytes
 *   line.c         events and notes as lines
 *
 * The worker is `PROGRAM tune-worker`, a process with
 *     descriptor 3   the job, a file in memory: wire_write_race, wire_write_entrants
 *     descriptor 0   a pipe that says nothing; its end asks to stop
 *     descriptor 1   lines to the tuner, each written at once and at most WIRE_LINE long:
 *
 *     mcgen-tune VERSION GENERATOR                          first, once the job is read
 *     event STAGE DONE TOTAL INDEX STATE PICOSECONDS TEXT   a tune_event; enumerations are numbers, too
 *     note TEXT, detail TEXT                                for the tuner's log
 *     end STATUS COMPLETE TEXT                              last: what tune_measure returned
 *
 * In TEXT a newline is "\n" and a backslash "\\".
 * A worker of another version or generator reads no job: both sides compare. */
#ifndef MCRT_TUNE_WIRE_H
#define MCRT_TUNE_WIRE_H

#include "tune/tune.h"

enum {
    WIRE_VERSION = 1,
    /* Bytes of a line, with the newline: Linux's PIPE_BUF (POSIX wants 512), so that lines of several threads
       stay whole. */
    WIRE_LINE = 4096,
    WIRE_JOB = 3, /* descriptors of the worker */
    WIRE_STOP = 0,
    WIRE_OUT = 1
};

/* A variable in the environment of every worker, which therefore starts none of its own. A program that is no
   worker, but tunes when it is started, would else start itself without end. */
#define WIRE_WORKER_SIGN "MCGEN_TUNE_WORKER"

/* -- Jobs (job.c) */

/* Writes all of RACE but the entrants to FILE, and says where those begin. */
mc_status wire_write_race(int file, const mc_context *context, const tune_race *race, int64_t *tail,
                          mc_diag *diag);
/* Puts the COUNT entrants that LEFT names, and SECONDS to measure them in, at TAIL. */
mc_status wire_write_entrants(int file, int64_t tail, const tune_race *race, const size_t *left, size_t count,
                              double seconds, mc_diag *diag);

/* A job as the worker has it. */
typedef struct wire_job {
    mc_context_config context; /* strings in BYTES */
    plan_problem problem;
    mc_vsparse matrix; /* likewise its arrays */
    tune_race race;    /* points to these */
    tune_entrant *entrants;
    char *bytes;
} wire_job;

/* MC_FORMAT for what no tuner of this version writes. */
mc_status wire_read_job(int file, wire_job *job, mc_diag *diag);
void wire_free_job(wire_job *job);

/* -- Lines (line.c) */

typedef enum wire_kind { WIRE_HELLO, WIRE_EVENT, WIRE_NOTE, WIRE_DETAIL, WIRE_END } wire_kind;

typedef struct wire_line {
    wire_kind kind;
    tune_event event; /* EVENT: but for its message */
    mc_status status; /* END */
    bool complete;
    char text[WIRE_LINE]; /* EVENT's message, NOTE, DETAIL, END */
} wire_line;

/* Writes LINE, with a newline, into TEXT and returns its length. A text that is too long is cut. */
size_t wire_print(const wire_line *line, char text[WIRE_LINE]);
/* The way back, of TEXT without its newline. COUNT is that of the entrants. False: nothing that a worker of
   this version says. */
bool wire_parse(const char *text, size_t count, wire_line *line);

#endif
