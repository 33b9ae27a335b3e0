/* How long a pass of examples/mlp.c takes, captured in a graph: tuned first, verified, then replayed. Run by hand, on a
 * GPU; tests/gpu/mlp.py times the same layers in PyTorch.
 *
 *   mlp_gpu ACTIVATION TOKENS INPUTS HIDDEN OUTPUTS [untuned]
 *
 * untuned: with the kernels that plans choose; MCGEN_TUNING=off has them choose without records. */
#define main example_main
#include "../../examples/mlp.c"
#undef main
#include "replay.h"

static mc_diag *diag;

static bool works(const char *what, mc_status status) {
    if (status != MC_OK) fprintf(stderr, "%s: %s\n", what, mc_diag_text(diag));
    return status == MC_OK;
}

static mc_status pass(const void *user, void *stream, mc_diag *to) { return forward(user, stream, to); }

static bool tune(const model *on, const mlp *m) {
    static const char *const names[STEPS] = {"quantise", "up", "down", "back"};
    const mc_tune_config config = {.size = sizeof config, .candidates = 60, .seconds = 10, .worker = ""};
    mc_plan_config steps[STEPS];
    bool tuned = true;
    describe(on, m, steps);
    for (int i = 0; i < STEPS; i++) {
        mc_tune_result result = {.size = sizeof result};
        tuned &= works(names[i], mc_tune(on->context, &steps[i], &config, &result, diag));
        printf("  %-9s %8.2f us alone, of %zu kernels (the default one: %.2f)\n", names[i],
               result.microseconds, (size_t)result.measured, result.standard);
    }
    return tuned;
}

static bool run_all(mlp *m, bool tuned, const cuda_driver *driver) {
    model on = {0};
    double us[3] = {0};
    cuda_stream stream = NULL;
    size_t bytes = (size_t)(m->tokens * m->down.outputs) * sizeof *m->y;
    mc_context_config config = {.size = sizeof config, .device = "cuda:0"};
    bool right = works("context", mc_context_create(&config, &on.context, diag)) &&
                 works("matrices", make_matrices(&on, m, diag)) && (!tuned || tune(&on, m)) &&
                 works("plans", load(&on, m, diag)) &&
                 works("stream", CUDA_CALL(driver, diag, StreamCreate, &stream, CUDA_STREAM_NON_BLOCKING)) &&
                 works("replays", replay_time(driver, stream, pass, &on, us, diag)) &&
                 works("read", mc_memory_read(on.context, on.args[BACK].c, m->y, bytes, diag));
    int64_t wrong = right ? wrong_of(m) : 0;
    if (right)
        printf("mlp %lld tokens  %.2f us a pass (%.2f to %.2f), %lld outputs wrong\n", (long long)m->tokens,
               us[0], us[1], us[2], (long long)wrong);
    unload(&on);
    mc_context_destroy(on.context);
    return right && wrong == 0;
}

int main(int argc, char **argv) {
    if (mc_device_cuda_count() == 0) {
        printf("SKIPPED: no GPU\n");
        return 77;
    }
    bool tuned = argc != 7 || strcmp(argv[6], "untuned") != 0;
    if (argc != (tuned ? 6 : 7)) return usage();
    mlp m = {.tokens = atoll(argv[2])};
    if (!activation_named(argv[1], &m.activation)) return usage();
    make_mlp(&m, atoll(argv[3]), atoll(argv[4]), atoll(argv[5]));
    diag = mc_diag_create();
    mc_device *device = NULL;
    bool right = works("device", mc_device_open("cuda:0", &device, diag));
    if (right) {
        const cuda_device_state *state = (const cuda_device_state *)device;
        right = works("current", CUDA_CALL(state->driver, diag, CtxSetCurrent, state->context)) &&
                run_all(&m, tuned, state->driver);
        mc_device_close(device);
    }
    mc_diag_destroy(diag);
    free_mlp(&m);
    return !right;
}
