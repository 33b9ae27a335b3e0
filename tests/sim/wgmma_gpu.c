/* Runs the right twins of the broken kernels of wgmma pipelines on a GPU: what is right there is right here. Exits with 77,
 * which CTest takes for "skipped", where there is none of compute capability 9.0. */
#include "broken/order_kernels.h"
#include "mcrt_internal.h"

static mc_device *device;
static mc_diag *diag;
static uint64_t in, out;
static uint16_t tiles[WGMMA_TILES][WGMMA_TILE_BYTES / 2];

static bool is_ok(mc_status status, const char *name) {
    CHECK(status == MC_OK, "%s: %s", name, mc_diag_text(diag));
    mc_diag_clear(diag);
    return status == MC_OK;
}

static bool launch(const struct broken_wgmma *k) {
    static char text[WGMMA_TEXT];
    mc_module *module;
    mc_launch launch = {
        .grid = {k->blocks, 1, 1}, .block = {k->threads, 1, 1}, .values = {in, out}, .count = 2};
    snprintf(text, sizeof text, WGMMA_KERNEL, k->directive, k->right);
    if (!is_ok(mc_module_load(device, text, "k", &module, diag), k->name)) return false;
    bool ran = is_ok(mc_module_launch(module, &launch, diag), k->name);
    mc_module_unload(module);
    return ran;
}

static void run(const struct broken_wgmma *k) {
    static float sums[WGMMA_RESULT_BYTES / 4];
    is_ok(mc_device_write(device, in, tiles, sizeof tiles, diag), k->name);
    is_ok(mc_device_fill(device, out, 0x5a, sizeof sums, diag), k->name);
    if (!launch(k) || !is_ok(mc_device_read(device, out, sums, sizeof sums, diag), k->name)) return;
    for (unsigned block = 0; k->count && block < k->blocks; block++)
        for (unsigned t = 0; t < 128; t++)
            for (unsigned i = 0; i < 4; i++) {
                float got = sums[(block * k->threads + t) * 4 + i];
                CHECK(got == wgmma_sum(k->first, k->count, (int)t, (int)i),
                      "right twin of: %s, thread %u: %g", k->name, t, (double)got);
            }
}

int main(void) {
    diag = mc_diag_create();
    if (mc_device_open("cuda:0", &device, diag) != MC_OK || mc_device_get_info(device)->capability != 90) {
        printf("SKIPPED: no GPU of compute capability 9.0\n");
        return 77;
    }
    wgmma_fill(tiles);
    is_ok(mc_device_alloc(device, sizeof tiles, &in, diag), "the tiles");
    is_ok(mc_device_alloc(device, WGMMA_RESULT_BYTES, &out, diag), "the result");
    for (int i = 0; i < BROKEN; i++) run(broken_at(i));
    mc_device_close(device);
    mc_diag_destroy(diag);
    return check_end();
}
