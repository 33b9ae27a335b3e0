/* Many processes plan one problem cold, in one cache directory: each has exact results, few generate and
 * compile. A process that is killed amid it leaves nothing that the next one stumbles over. */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"
#include "layer.h"
#include "tree.h"

enum { PROCESSES = 64, SECONDS = 120, SEED = 3, N = 40, MOST_COMPILED = 4, KILLS = 24 };

/* Shared by all. */
typedef struct crowd {
    atomic_int ready, right, compiled, from_cache;
    atomic_int notes; /* lines of level NOTE */
    char note[256];
} crowd;

static char root[] = "processes-XXXXXX", directory[64], records[64];
static crowd *shared;

static void note(void *user, mc_log_level level, const char *message) {
    (void)user;
    if (level == MC_LOG_NOTE && shared->notes++ == 0)
        snprintf(shared->note, sizeof shared->note, "%s", message);
}

/* Exit status: 0, or where it failed. */
static int plan_and_execute(void) {
    mc_context *context;
    mc_context_info info = {.size = sizeof info};
    int wrong;
    mc_context_config config = layer_context(directory, records);
    config.log = note;
    mc_diag *diag = mc_diag_create();
    if (mc_context_create(&config, &context, diag) != MC_OK) return 2;
    if (layer_run(context, SEED, N, &wrong, diag) != MC_OK)
        return note(NULL, MC_LOG_NOTE, mc_diag_text(diag)), 3;
    if (mc_context_get_info(context, &info, diag) != MC_OK) return 4;
    shared->right += wrong == 0;
    shared->compiled += (int)info.kernels_compiled;
    shared->from_cache += (int)info.kernels_from_cache;
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return wrong == 0 ? 0 : 5;
}

static pid_t start(int crowd_size) {
    fflush(NULL);
    pid_t child = fork();
    if (child != 0) return child;
    alarm(SECONDS);
    for (shared->ready++; shared->ready < crowd_size;) usleep(1000);
    _exit(plan_and_execute());
}

static int end(pid_t child) {
    int status;
    if (waitpid(child, &status, 0) != child) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void test_cold(void) {
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) children[i] = start(PROCESSES);
    for (int i = 0; i < PROCESSES; i++) {
        int status = end(children[i]);
        CHECK(status == 0, "process %d ended with %d", i, status);
    }
    printf("%d cold processes: %d compiled, %d found it\n", PROCESSES, shared->compiled, shared->from_cache);
    CHECK(shared->right == PROCESSES, "%d of %d are right", shared->right, PROCESSES);
    CHECK(shared->compiled >= 1 && shared->compiled <= MOST_COMPILED, "%d compiled", shared->compiled);
    CHECK(shared->compiled + shared->from_cache == PROCESSES, "%d compiled, %d found it", shared->compiled,
          shared->from_cache);
    CHECK(shared->notes == 0, "%d notes: %s", shared->notes, shared->note);
}

static void test_warm(void) {
    *shared = (crowd){0};
    int status = end(start(1));
    CHECK(status == 0 && shared->compiled == 0 && shared->from_cache == 1, "warm: %d; %d compiled", status,
          shared->compiled);
}

static void remove_cache(void) { tree_remove(directory); }

/* Cold, killed after more and more time; then another one, at once. */
static void test_killed(void) {
    int killed = 0;
    for (int i = 0; i < KILLS; i++) {
        remove_cache();
        *shared = (crowd){0};
        pid_t child = start(1);
        usleep((useconds_t)(i * 1000));
        kill(child, SIGKILL);
        killed += end(child) == -SIGKILL;
        *shared = (crowd){0};
        int status = end(start(1));
        CHECK(status == 0 && shared->right == 1 && shared->notes == 0, "after a kill: %d; %s", status,
              shared->note);
    }
    CHECK(killed > 3, "%d of %d were killed", killed, KILLS);
    printf("%d of %d were killed in time\n", killed, KILLS);
}

int main(void) {
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || mkdtemp(root) == NULL) return 1;
    snprintf(directory, sizeof directory, "%s/cache", root);
    snprintf(records, sizeof records, "%s/records.jsonl", root);
    test_cold();
    test_warm();
    test_killed();
    tree_remove(root);
    return check_end();
}
