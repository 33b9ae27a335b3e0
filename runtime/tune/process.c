#include "tune/process.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    FIRST_FREE = 10,      /* descriptors from here on are in nobody's way: 0 to 3 are the worker's */
    END_PAUSE = 10,       /* milliseconds */
    END_PATIENCE = 200,   /* of these: two seconds, for a driver to put things in order */
    KILL_PATIENCE = 2000, /* a driver may hold on to a killed process; its tuner goes on without it */
};

/* -- Descriptors */

/* DESCRIPTOR with a number that the worker's own cannot meet, closed on exec. */
static int lift(int descriptor) {
    if (descriptor < 0) return -1;
    int lifted = fcntl(descriptor, F_DUPFD_CLOEXEC, FIRST_FREE);
    int error = errno;
    close(descriptor);
    errno = error;
    return lifted;
}

static void drop(int *descriptor) {
    if (*descriptor >= 0) close(*descriptor);
    *descriptor = -1;
}

int tune_process_file(void) { return lift(memfd_create("mcgen-tune", MFD_CLOEXEC)); }

typedef struct pipe_ends {
    int read, write;
} pipe_ends;

static mc_status make_pipe(pipe_ends *ends, mc_diag *diag) {
    int made[2];
    *ends = (pipe_ends){-1, -1};
    if (pipe2(made, O_CLOEXEC) != 0) return mc_fail(diag, MC_IO, "pipe: %s", strerror(errno));
    *ends = (pipe_ends){lift(made[0]), lift(made[1])};
    if (ends->read >= 0 && ends->write >= 0) return MC_OK;
    mc_status status = mc_fail(diag, MC_IO, "pipe: %s", strerror(errno));
    drop(&ends->read);
    drop(&ends->write);
    return status;
}

/* -- Starting */

static int set_files(posix_spawn_file_actions_t *actions, int stop, int out, int job) {
    int error = posix_spawn_file_actions_init(actions);
    if (error != 0) return error;
    error = posix_spawn_file_actions_adddup2(actions, stop, WIRE_STOP);
    if (error == 0) error = posix_spawn_file_actions_adddup2(actions, out, WIRE_OUT);
    if (error == 0) error = posix_spawn_file_actions_adddup2(actions, job, WIRE_JOB);
#if __GLIBC_PREREQ(2, 34)
    if (error == 0) error = posix_spawn_file_actions_addclosefrom_np(actions, WIRE_JOB + 1);
#endif
    if (error != 0) posix_spawn_file_actions_destroy(actions);
    return error;
}

/* All signals as a program that is started by hand has them, whatever the embedding one does with its own. */
static int set_signals(posix_spawnattr_t *attributes) {
    sigset_t none, all;
    int error = posix_spawnattr_init(attributes);
    if (error != 0) return error;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &all);
    posix_spawnattr_setpgroup(attributes, 0);
    return posix_spawnattr_setflags(attributes,
                                    POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

/* Our environment, and the sign of a worker. NULL: no memory. */
static char **make_environment(void) {
    static char sign[] = WIRE_WORKER_SIGN "=1";
    size_t count = 0;
    while (environ != NULL && environ[count] != NULL) count++;
    char **made = calloc(count + 2, sizeof *made);
    if (made == NULL) return NULL;
    if (count > 0) memcpy(made, environ, count * sizeof *made);
    made[count] = sign;
    return made;
}

/* fork is out of the question: a process whose driver is initialised must exec. */
static int spawn(const char *program, int stop, int out, int job, pid_t *pid) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char name[] = "tune-worker";
    char *const arguments[] = {(char *)program, name, NULL};
    int error = set_files(&actions, stop, out, job);
    if (error != 0) return error;
    error = set_signals(&attributes);
    if (error == 0) {
        char **environment = make_environment();
        error = environment == NULL
                    ? ENOMEM
                    : posix_spawnp(pid, program, &actions, &attributes, arguments, environment);
        free(environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

mc_status tune_process_start(const char *program, int job, tune_process *process, mc_diag *diag) {
    pipe_ends stop, out = {-1, -1};
    *process = (tune_process){.stop = -1, .out = -1};
    mc_status status = make_pipe(&stop, diag);
    if (status == MC_OK) status = make_pipe(&out, diag);
    int error = status == MC_OK ? spawn(program, stop.read, out.write, job, &process->pid) : 0;
    drop(&stop.read);
    drop(&out.write);
    if (status == MC_OK && error == 0) {
        process->stop = stop.write;
        process->out = out.read;
        return MC_OK;
    }
    process->pid = 0;
    drop(&stop.write);
    drop(&out.read);
    return status != MC_OK ? status : mc_fail(diag, MC_IO, "%s: %s", program, strerror(error));
}

/* -- Reading */

/* The first line of what was read. */
static tune_reading take_line(tune_process *process, char *line) {
    char *end = memchr(process->input, '\n', process->input_size);
    if (end == NULL) return process->input_size == WIRE_LINE ? READING_GARBAGE : READING_NOTHING;
    size_t length = (size_t)(end - process->input), rest = process->input_size - length - 1;
    memcpy(line, process->input, length);
    line[length] = '\0';
    memmove(process->input, end + 1, rest);
    process->input_size = rest;
    return strlen(line) == length ? READING_LINE : READING_GARBAGE;
}

tune_reading tune_process_read(tune_process *process, int milliseconds, char line[WIRE_LINE]) {
    tune_reading reading = take_line(process, line);
    if (reading != READING_NOTHING) return reading;
    struct pollfd out = {.fd = process->out, .events = POLLIN};
    if (poll(&out, 1, milliseconds) <= 0) return READING_NOTHING;
    ssize_t got = read(process->out, process->input + process->input_size, WIRE_LINE - process->input_size);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return READING_NOTHING;
    if (got <= 0) return READING_END; /* a line that has no end was not said */
    process->input_size += (size_t)got;
    return take_line(process, line);
}

/* -- Ending */

void tune_process_stop(tune_process *process) { drop(&process->stop); }

static void pause_for(int milliseconds) {
    const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    nanosleep(&time, NULL);
}

static tune_ending describe(int status) {
    tune_ending ending;
    if (WIFSIGNALED(status))
        snprintf(ending.text, sizeof ending.text, "it was ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else snprintf(ending.text, sizeof ending.text, "it ended with status %d", WEXITSTATUS(status));
    return ending;
}

/* False: PID runs. *STATUS is 0 where somebody else,
   or the kernel because SIGCHLD is ignored, has had its end. */
static bool has_ended(pid_t pid, int *status) {
    pid_t got;
    do got = waitpid(pid, status, WNOHANG);
    while (got < 0 && errno == EINTR);
    if (got < 0) *status = 0;
    return got != 0;
}

static bool await_end(pid_t pid, int pauses, int *status) {
    bool ended = has_ended(pid, status);
    for (; !ended && pauses > 0; pauses--) {
        pause_for(END_PAUSE);
        ended = has_ended(pid, status);
    }
    return ended;
}

tune_ending tune_process_end(tune_process *process, bool now) {
    int status = 0;
    if (process->pid == 0) return (tune_ending){""};
    tune_process_stop(process);
    drop(&process->out);
    bool ended = await_end(process->pid, now ? 0 : END_PATIENCE, &status);
    if (!ended) {
        kill(process->pid, SIGKILL);
        ended = await_end(process->pid, KILL_PATIENCE, &status);
    }
    process->pid = 0;
    return ended ? describe(status) : (tune_ending){"it cannot be ended"};
}
