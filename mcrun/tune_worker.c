/* mcrun tune-worker: what `mcrun tune` and applications run kernels in. No command for people: without a job
   it only fails. */
#include "options.h"
#include "mcrt_internal.h"
#include "tune/worker_main.h"

static int run_worker(int argc, char **argv) {
    (void)argv;
    return argc > 1 ? cmd_usage("tune-worker: takes no arguments") : tune_worker_main();
}

const cmd cmd_tune_worker = {.name = "tune-worker", .run = run_worker};
