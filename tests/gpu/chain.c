/* What an SDDMM writes an SpMM reads, on a GPU: both launches of two chains are captured into one graph, which is replayed.
 * The chains have an S between them: each replay writes and reads it twice, so that a launch that begins too early reads the
 * other chain's. chain_gpu [DEVICE], in the project's folder. Exit status 77: no GPU. */
#include <stdlib.h>
#include "device/cuda.h"
#include "embed/chain.h"

enum { REPLAYS = 200, TIMED = 20, CAPTURE_GLOBAL = 0 };

static const chain_kind kinds[] = {
    {"s8, one pattern", MC_S8, 8, 16, 512, 512, 64, 64, 0.9, .gap = 0},
    {"u8, one pattern, gaps, V = 4", MC_U8, 4, 16, 512, 512, 64, 64, 0.9, .gap = 1024},
    {"s8, a pattern each", MC_S8, 8, 16, 512, 512, 64, 64, 0.9, .patterns = true},
    {"s8, open shapes", MC_S8, 8, 16, 512, 500, 64, 64, 0.8, .shapes = MC_SHAPES_OPEN},
    {"s8, launches overlap", MC_S8, 8, 16, 512, 512, 64, 64, 0.9,
     .specs = {CHAIN_SPECS "/chain_sddmm.lua", CHAIN_SPECS "/chain_spmm.lua"}},
    {"s8, 64 heads", MC_S8, 8, 64, 256, 1024, 128, 128, 0.95, .gap = 0},
};

static mc_diag *diag;
static const cuda_driver *driver;
static cuda_stream stream;

static bool worked(const char *what, mc_status status) {
    CHECK(status == MC_OK, "%s: %s", what, mc_diag_text(diag));
    mc_diag_clear(diag);
    return status == MC_OK;
}

/* ROUNDS times all chains. */
static bool capture(const chain *chains, int count, int rounds, cuda_graph_exec *exec) {
    cuda_graph graph = NULL;
    mc_status status = CUDA_CALL(driver, diag, StreamBeginCapture, stream, CAPTURE_GLOBAL);
    for (int i = 0; i < rounds * count && status == MC_OK; i++)
        status = chain_launch(&chains[i % count], stream, diag);
    cuda_result ended = driver->StreamEndCapture(stream, &graph);
    if (status == MC_OK) status = cuda_check(driver, ended, "cuStreamEndCapture", diag);
    if (status == MC_OK) status = CUDA_CALL(driver, diag, GraphInstantiateWithFlags, exec, graph, 0);
    if (graph != NULL) (void)driver->GraphDestroy(graph);
    return worked("capture", status);
}

/* Replays that were right. Only the first that is wrong is told. */
static int replay(const chain *chains, cuda_graph_exec exec) {
    int right = 0;
    for (int i = 0; i < REPLAYS; i++) {
        mc_status status = chain_poison(&chains[0], diag);
        if (status == MC_OK) status = chain_poison(&chains[1], diag);
        if (status == MC_OK) status = CUDA_CALL(driver, diag, GraphLaunch, exec, stream);
        if (status == MC_OK) status = mc_synchronize(chains[0].context, stream, diag);
        for (int c = 0; c < 2 && status == MC_OK; c++) status = chain_check(&chains[c], diag);
        if (status == MC_OK) right++;
        else if (right == i) worked("replay", status);
        mc_diag_clear(diag);
    }
    return right;
}

/* Microseconds a chain, the least of some replays of a graph with many. */
static double time_chain(const chain *of) {
    enum { ROUNDS = 100 };
    cuda_graph_exec exec = NULL;
    cuda_event begin = NULL, end = NULL;
    float least = 0;
    if (!capture(of, 1, ROUNDS, &exec)) return 0;
    mc_status status = CUDA_CALL(driver, diag, EventCreate, &begin, 0);
    if (status == MC_OK) status = CUDA_CALL(driver, diag, EventCreate, &end, 0);
    for (int i = 0; i < TIMED && status == MC_OK; i++) {
        float ms = 0;
        status = CUDA_CALL(driver, diag, EventRecord, begin, stream);
        if (status == MC_OK) status = CUDA_CALL(driver, diag, GraphLaunch, exec, stream);
        if (status == MC_OK) status = CUDA_CALL(driver, diag, EventRecord, end, stream);
        if (status == MC_OK) status = mc_synchronize(of->context, stream, diag);
        if (status == MC_OK) status = CUDA_CALL(driver, diag, EventElapsedTime, &ms, begin, end);
        if (least == 0 || ms < least) least = ms;
    }
    worked("time", status);
    if (begin != NULL) (void)driver->EventDestroy(begin);
    if (end != NULL) (void)driver->EventDestroy(end);
    (void)driver->GraphExecDestroy(exec);
    return 1e3 * (double)least / ROUNDS;
}

static void print_plan(const mc_plan *plan) {
    mc_plan_info info = {.size = sizeof info};
    if (worked("info", mc_plan_get_info(plan, &info, diag))) printf("    %s\n", info.fields);
}

static void run(mc_context *context, const chain_kind *kind, uint64_t seed) {
    chain chains[2] = {0};
    cuda_graph_exec exec = NULL;
    int right = 0;
    bool opened = worked(kind->name, chain_open(&chains[0], context, kind, seed, diag)) &&
                  worked(kind->name, chain_open(&chains[1], context, kind, seed + 5000, diag));
    mc_address own = chains[1].device_s;
    if (opened) {
        const chain *wider = &chains[chains[1].s_elements > chains[0].s_elements];
        const mc_address first = chains[0].device_s;
        chains[0].device_s = chains[1].device_s = wider->device_s;
        if (capture(chains, 2, 1, &exec)) {
            right = replay(chains, exec);
            (void)driver->GraphExecDestroy(exec);
        }
        CHECK(right == REPLAYS, "%s: %d of %d replays were right", kind->name, right, REPLAYS);
        printf("%-30s %d of %d replays right, %.2f us a chain of %d heads\n", kind->name, right, REPLAYS,
               time_chain(&chains[0]), kind->heads);
        print_plan(chains[0].sddmm);
        print_plan(chains[0].spmm);
        chains[0].device_s = first;
        chains[1].device_s = own;
    }
    for (int c = 0; c < 2; c++)
        if (chains[c].kind != NULL) chain_close(&chains[c]);
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "cuda:0";
    if (mc_device_cuda_count() == 0) {
        printf("SKIPPED: no GPU\n");
        return 77;
    }
    mc_context *context = NULL;
    mc_device *device = NULL;
    const mc_context_config config = {
        .size = sizeof config, .device = name, .cache = MC_CACHE_MEMORY, .tuning = MC_TUNING_OFF};
    diag = mc_diag_create();
    if (!worked("mc_device_open", mc_device_open(name, &device, diag))) return check_end();
    driver = ((cuda_device_state *)device)->driver;
    worked("context", CUDA_CALL(driver, diag, CtxSetCurrent, ((cuda_device_state *)device)->context));
    worked("stream", CUDA_CALL(driver, diag, StreamCreate, &stream, CUDA_STREAM_NON_BLOCKING));
    if (worked("mc_context_create", mc_context_create(&config, &context, diag)))
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) run(context, &kinds[i], 7000 * i + 1);
    mc_context_destroy(context);
    mc_device_close(device);
    mc_diag_destroy(diag);
    return check_end();
}
