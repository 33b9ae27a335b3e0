/* Runs the kernels of cluster_table.h on a GPU: a check of what the table wants, not of the simulator. Exits
 * with 77, which CTest takes for "skipped", where there is none of compute capability 9.0. */
#include "cluster_table.h"
#include "mcrt_internal.h"

enum { WORDS = CLUSTER_BLOCK_BYTES / 4, MOST_BLOCKS = 16 };

static mc_device *device;
static mc_diag *diag;
static uint64_t out;

static bool is_ok(mc_status status, const char *name) {
    CHECK(status == MC_OK, "%s: %s", name, mc_diag_text(diag));
    mc_diag_clear(diag);
    return status == MC_OK;
}

static bool launch(const struct exchange *e, unsigned cluster, unsigned blocks, unsigned threads) {
    static char text[CLUSTER_TEXT];
    char directive[64];
    mc_module *module;
    mc_launch launch = {.grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .values = {out}, .count = 1};
    directive_of(directive, cluster);
    cluster_text(text, directive, e->code);
    if (!is_ok(mc_module_load(device, text, "k", &module, diag), e->name)) return false;
    bool ran = is_ok(mc_module_launch(module, &launch, diag), e->name);
    mc_module_unload(module);
    return ran;
}

static void run_exchange(const struct exchange *e, unsigned cluster, unsigned blocks, unsigned threads) {
    static uint32_t got[MOST_BLOCKS][WORDS];
    is_ok(mc_device_fill(device, out, 0x5a, sizeof got, diag), e->name);
    if (!launch(e, cluster, blocks, threads)) return;
    is_ok(mc_device_read(device, out, got, sizeof got, diag), e->name);
    for (unsigned b = 0; b < blocks; b++)
        for (unsigned t = 0; t < threads; t++)
            CHECK(got[b][t] == e->want(cluster, b, threads, t), "%s: cluster of %u, block %u, thread %u: %u",
                  e->name, cluster, b, t, got[b][t]);
}

int main(void) {
    diag = mc_diag_create();
    if (mc_device_open("cuda:0", &device, diag) != MC_OK || mc_device_get_info(device)->capability != 90) {
        printf("SKIPPED: no GPU of compute capability 9.0\n");
        return 77;
    }
    is_ok(mc_device_alloc(device, MOST_BLOCKS * CLUSTER_BLOCK_BYTES, &out, diag), "the output");
    for (int e = 0; e < EXCHANGES; e++)
        for (int s = 0; s < EXCHANGE_SHAPES; s++)
            for (int t = 0; t < EXCHANGE_THREADS; t++)
                run_exchange(&exchanges[e], exchange_shapes[s][0], exchange_shapes[s][1],
                             exchange_threads[t]);
    mc_device_close(device);
    mc_diag_destroy(diag);
    return check_end();
}
