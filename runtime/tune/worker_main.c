/* The worker's side: reads the job, measures it, says what comes of it. Its streams are wire.h's. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "tune/wire.h"
#include "tune/worker_main.h"

enum { DONE = 0, FAILED = 1 };

typedef struct speaker {
    int out;
} speaker;

/* In one write, so that lines of several threads do not mix. A tuner that is gone needs no more lines. */
static void say(const speaker *to, const wire_line *line) {
    char text[WIRE_LINE];
    size_t size = wire_print(line, text), done = 0;
    while (done < size) {
        ssize_t got = write(to->out, text + done, size - done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) _exit(FAILED);
        done += (size_t)got;
    }
}

static void say_text(const speaker *to, wire_kind kind, const char *text) {
    wire_line line = {.kind = kind};
    snprintf(line.text, sizeof line.text, "%s", text);
    say(to, &line);
}

static void say_log(void *user, mc_log_level level, const char *message) {
    say_text(user, level == MC_LOG_NOTE ? WIRE_NOTE : WIRE_DETAIL, message);
}

/* The other end of the pipe is closed: asked to stop, or the tuner is gone. */
static bool is_stopped(void) {
    struct pollfd stop = {.fd = WIRE_STOP};
    return poll(&stop, 1, 0) > 0;
}

static bool say_event(void *user, const tune_event *event) {
    wire_line line = {.kind = WIRE_EVENT, .event = *event};
    snprintf(line.text, sizeof line.text, "%s", event->message != NULL ? event->message : "");
    say(user, &line);
    return !is_stopped();
}

static int say_end(const speaker *to, mc_status status, bool complete, const mc_diag *diag) {
    wire_line line = {.kind = WIRE_END, .status = status, .complete = complete};
    if (status != MC_OK) snprintf(line.text, sizeof line.text, "%s", diag != NULL ? mc_diag_text(diag) : "");
    say(to, &line);
    return status == MC_OK ? DONE : FAILED;
}

static mc_status measure(const wire_job *job, mc_context *context, speaker *to, bool *complete,
                         mc_diag *diag) {
    context_visit visit;
    mc_status status = context_enter(context, &visit, diag);
    if (status != MC_OK) return status;
    say_text(to, WIRE_HELLO, "");
    status = tune_measure(context, &job->race, say_event, to, complete, diag);
    context_leave(context, &visit);
    return status;
}

static mc_status work(speaker *to, bool *complete, mc_diag *diag) {
    wire_job job;
    mc_context *context = NULL;
    mc_status status = wire_read_job(WIRE_JOB, &job, diag);
    if (status != MC_OK) return status;
    job.context.log = say_log;
    job.context.log_user = to;
    status = mc_context_create(&job.context, &context, diag);
    if (status == MC_OK) status = measure(&job, context, to, complete, diag);
    mc_context_destroy(context);
    wire_free_job(&job);
    return status;
}

/* What a driver or a library prints goes to standard error, not among the lines; where the tuner has none,
   nowhere. */
static int take_output(void) {
    if (fcntl(STDERR_FILENO, F_GETFD) < 0)
        (void)open("/dev/null", O_WRONLY); /* the lowest number that is free */
    int out = fcntl(WIRE_OUT, F_DUPFD, WIRE_JOB + 1);
    if (out < 0 || dup2(STDERR_FILENO, WIRE_OUT) < 0) return -1;
    return out;
}

int tune_worker_main(void) {
    bool complete = false;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a kernel that hangs must not outlive its tuner */
    signal(SIGPIPE, SIG_IGN);
    speaker to = {take_output()};
    if (to.out < 0) return FAILED;
    mc_diag *diag = mc_diag_create();
    mc_status status = work(&to, &complete, diag);
    int exit_status = say_end(&to, status, complete, diag);
    mc_diag_destroy(diag);
    return exit_status;
}
