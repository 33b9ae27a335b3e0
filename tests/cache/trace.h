/* Runs a function in a child process and meddles with its system calls, by ptrace: kills it at the entry of
   the nth, lets the nth return an error in place of being done, or do half of what was asked. Linux; errors
   and halves on x86-64 only. */
#ifndef TESTS_TRACE_H
#define TESTS_TRACE_H

#include <stdbool.h>
#include <sys/types.h>

/* COUNT: nothing. KILL: SIGKILL; the call is not done. FAIL: not done either, returns ERROR. HALF: of a
   read's or write's bytes. */
typedef enum trace_act { TRACE_COUNT, TRACE_KILL, TRACE_FAIL, TRACE_HALF } trace_act;

typedef struct trace_plan {
    trace_act act;
    long call;  /* number of the system call; TRACE_ANY: all count */
    long nth;   /* of those, from 1 */
    bool stays; /* and those after it */
    int error;  /* of FAIL: an errno */
    /* Once it has acted: called at the entry of the AFTERth call of any kind from there on. NULL: nothing. */
    void (*then)(pid_t child);
    long after;
} trace_plan;

enum { TRACE_ANY = -1, TRACE_SECONDS = 20 /* that the function may take */, TRACE_CALLS = 4096 };

typedef struct trace_outcome {
    long calls;                /* seen, of those that the plan means */
    bool hit;                  /* the plan came to act */
    long hit_call;             /* on this system call */
    long since;                /* calls of any kind after that */
    int signal;                /* that ended the child: SIGKILL by us; SIGALRM: it hung; 0: none did */
    int status;                /* exit status: 0 when the function returned */
    bool refused[TRACE_CALLS]; /* call n - 1 of them was done and returned an error, and so changed nothing */
} trace_outcome;

/* False: the system does not permit it. The child shares no memory with the caller
   but what was mapped as shared. */
bool trace_run(void (*function)(void *), void *user, const trace_plan *plan, trace_outcome *outcome);

/* Whether FAIL and HALF work on this machine. */
bool trace_can_fail(void);

#endif
