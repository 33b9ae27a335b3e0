/* Turns of a resident ring kernel on a matrix of 2^30 - 1 row blocks, on the simulator: the place behind a warp's last one does not
 * fit 31 bits. Row blocks are empty, and of their arrays only what the kernel should read is filled: by one thread block, the first, of
 * a grid of such a size that one warp has a second turn.
 *
 *   turns_test SPEC */
#include "check.h"
#include "mcrt_internal.h"
#include <ptxsim.h>
#include <stdlib.h>
#include <string.h>

enum { VEC = 2, ROW_BLOCKS = (1 << 30) - 1, WARPS = 16, THREAD_BLOCKS = ROW_BLOCKS / WARPS, N = 16, K = 64 };

/* The kernel as it is in that grid, launched alone: the simulator would take years for the others. */
static char *lonely(const char *ptx) {
    static const char grid[] = "%nctaid.x";
    const char *at = strstr(ptx, grid);
    size_t room = strlen(ptx) + 16;
    char *copy = at ? malloc(room) : NULL;
    if (!copy) return NULL;
    snprintf(copy, room, "%.*s%d%s", (int)(at - ptx), ptx, THREAD_BLOCKS, at + strlen(grid));
    return copy;
}

/* Of the places that the thread block has: no strides, and a row block for each. */
static mc_status fill_places(mc_device *device, uint64_t ptr, uint64_t order, mc_diag *diag) {
    static const int32_t none[2] = {0, 0};
    mc_status status = MC_OK;
    for (int32_t item = 0; item <= WARPS && status == MC_OK; item++) {
        uint64_t at = (uint64_t)item * THREAD_BLOCKS * sizeof item;
        status = mc_device_write(device, ptr + at, none, sizeof none, diag);
        if (status == MC_OK) status = mc_device_write(device, order + at, &item, sizeof item, diag);
    }
    return status;
}

static mc_status launch(mc_device *device, const mc_kernel *kernel, const mc_launch *bound, mc_diag *diag) {
    mc_launch alone = *bound;
    mc_module *module = NULL;
    char *ptx = lonely(mc_kernel_ptx(kernel));
    alone.grid[0] = 1;
    CHECK(ptx, "no grid in the kernel");
    mc_status status = mc_module_load(device, ptx, mc_kernel_contract(kernel)->entry, &module, diag);
    if (status == MC_OK) status = mc_module_launch(module, &alone, diag);
    mc_module_unload(module);
    free(ptx);
    return status;
}

static void run(mc_device *device, const mc_kernel *kernel, mc_diag *diag) {
    enum { PTR, ORDER, B, C, ARRAYS };
    static const size_t bytes[ARRAYS] = {4 * ((size_t)ROW_BLOCKS + 1), 4 * (size_t)ROW_BLOCKS, K * N,
                                         4 * VEC * N * (WARPS + 1)};
    uint64_t array[ARRAYS];
    mc_launch bound;
    mc_status status = MC_OK;
    for (int i = 0; i < ARRAYS && status == MC_OK; i++)
        status = mc_device_alloc(device, bytes[i], &array[i], diag);
    if (status == MC_OK) status = mc_device_fill(device, array[B], 0, bytes[B], diag);
    if (status == MC_OK) status = fill_places(device, array[PTR], array[ORDER], diag);
    CHECK(status == MC_OK, "%s", mc_diag_text(diag));
    if (status != MC_OK) return;
    const int64_t empty = (int64_t)array[PTR];
    const mc_binding bindings[] = {{"row_order", (int64_t)array[ORDER]},
                                   {"row_ptr", (int64_t)array[PTR]},
                                   {"control", empty},
                                   {"places", empty},
                                   {"values", empty},
                                   {"b", (int64_t)array[B]},
                                   {"c", (int64_t)array[C]},
                                   {"m", (int64_t)VEC * ROW_BLOCKS},
                                   {"n", N},
                                   {"k", K},
                                   {"ldb", N},
                                   {"ldc", N},
                                   {"multiprocessors", 1}};
    status = mc_bind(kernel, bindings, sizeof bindings / sizeof *bindings, &bound, diag);
    if (status == MC_OK) status = launch(device, kernel, &bound, diag);
    CHECK(status == MC_OK, "%s", mc_diag_text(diag));
}

int main(int argc, char **argv) {
    static const mc_setting settings[] = {{"vec", "2"},       {"warps", "16"}, {"split", "1"},
                                          {"resident", "on"}, {"out", "s32"},  {"scale", "none"},
                                          {"window", "64"},   {"stages", "2"}};
    if (argc != 2) return 2;
    mc_diag *diag = mc_diag_create();
    mc_device *device = NULL;
    mc_spec *spec = NULL;
    mc_kernel *kernel = NULL;
    mc_status status = mc_spec_read(argv[1], settings, sizeof settings / sizeof *settings, &spec, diag);
    if (status == MC_OK) status = mc_kernel_generate(spec, 0, &kernel, diag);
    if (status == MC_OK) status = mc_device_open("sim:limit=1000000", &device, diag);
    CHECK(status == MC_OK, "%s", mc_diag_text(diag));
    if (status == MC_OK) run(device, kernel, diag);
    mc_device_close(device);
    mc_kernel_destroy(kernel);
    mc_spec_destroy(spec);
    mc_diag_destroy(diag);
    return check_end();
}
