#include "trace.h"

#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_PERMITTED = 97, CALL_STOP = SIGTRAP | 0x80 /* PTRACE_O_TRACESYSGOOD */ };

#ifdef __x86_64__
bool trace_can_fail(void) { return true; }

static void set_register(pid_t child, size_t offset, long value) {
    ptrace(PTRACE_POKEUSER, child, offset, value);
}
static void set_call(pid_t child, long call) {
    set_register(child, offsetof(struct user_regs_struct, orig_rax), call);
}
static void set_result(pid_t child, long result) {
    set_register(child, offsetof(struct user_regs_struct, rax), result);
}
static void set_third_argument(pid_t child, long value) {
    set_register(child, offsetof(struct user_regs_struct, rdx), value);
}
#else
bool trace_can_fail(void) { return false; }

static void set_call(pid_t child, long call) { (void)child, (void)call; }
static void set_result(pid_t child, long result) { (void)child, (void)result; }
static void set_third_argument(pid_t child, long value) { (void)child, (void)value; }
#endif

static void be_traced(void (*function)(void *), void *user) {
    alarm(TRACE_SECONDS);
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(NOT_PERMITTED);
    raise(SIGSTOP);
    function(user);
    _exit(0);
}

/* A child that is stopped before FUNCTION; -1 where that is not permitted. */
static pid_t start(void (*function)(void *), void *user) {
    int status;
    pid_t child = fork();
    if (child == 0) be_traced(function, user);
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return -1;
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SETOPTIONS, child, NULL, options) == 0) return child;
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return -1;
}

static bool acts(const trace_plan *plan, long call, trace_outcome *outcome) {
    if (plan->call != TRACE_ANY && plan->call != call) return false;
    outcome->calls++;
    if (plan->act == TRACE_COUNT || outcome->calls < plan->nth) return false;
    return outcome->calls == plan->nth || plan->stays;
}

static void act(pid_t child, const trace_plan *plan, const struct __ptrace_syscall_info *info) {
    unsigned long bytes = info->entry.args[2];
    if (plan->act == TRACE_KILL) kill(child, SIGKILL);
    if (plan->act == TRACE_FAIL) set_call(child, -1);
    if (plan->act == TRACE_HALF && bytes > 1) set_third_argument(child, (long)(bytes / 2));
}

/* CHILD stands at a system call's entry or exit; *FAILING: it was made to fail at its entry. */
static void at_call(pid_t child, const trace_plan *plan, bool *failing, trace_outcome *outcome) {
    struct __ptrace_syscall_info info;
    if (ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info) <= 0) return;
    if (info.op == PTRACE_SYSCALL_INFO_EXIT && outcome->calls > 0 && outcome->calls <= TRACE_CALLS)
        outcome->refused[outcome->calls - 1] = info.exit.is_error;
    if (info.op == PTRACE_SYSCALL_INFO_EXIT && *failing) {
        set_result(child, -plan->error);
        *failing = false;
    }
    if (info.op != PTRACE_SYSCALL_INFO_ENTRY) return;
    if (outcome->hit && plan->then != NULL && ++outcome->since == plan->after) plan->then(child);
    if (!acts(plan, (long)info.entry.nr, outcome)) return;
    outcome->hit = true;
    outcome->hit_call = (long)info.entry.nr;
    *failing = plan->act == TRACE_FAIL;
    act(child, plan, &info);
}

bool trace_run(void (*function)(void *), void *user, const trace_plan *plan, trace_outcome *outcome) {
    int status = 0, signal = 0;
    bool failing = false;
    pid_t child = start(function, user);
    *outcome = (trace_outcome){0};
    if (child < 0) return false;
    for (;;) {
        ptrace(PTRACE_SYSCALL, child, NULL, (long)signal);
        if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) break;
        signal = WSTOPSIG(status);
        if (signal == CALL_STOP) {
            at_call(child, plan, &failing, outcome);
            signal = 0;
        }
    }
    if (WIFSIGNALED(status)) outcome->signal = WTERMSIG(status);
    if (WIFEXITED(status)) outcome->status = WEXITSTATUS(status);
    return true;
}
