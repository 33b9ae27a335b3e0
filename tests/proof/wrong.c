/* A kernel with a mistake: it must leave a[i] + 5 in c[i], and leaves one more where a[i] is 7. It is run on RUNS arrays, of which
 * every EVERYth has a 7. Linked with the ledger this is wrong_test, which must find that out; linked with forge.c it is wrong_forge,
 * which stores as proved what wrong_test would do.
 *
 *   wrong_test NAME RUNS EVERY   NAME: of the folder in the store */
#include "check.h"
#include "ledger.h"
#include "proof.h"
#include <stdlib.h>

static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry add(.param .u64 a, .param .u64 c)\n{\n"
    " .reg .b32 %r<3>; .reg .b64 %d<3>; .reg .pred %seven;\n"
    " ld.param.u64 %d0, [a];\n ld.param.u64 %d1, [c];\n mov.u32 %r1, %tid.x;\n mul.wide.u32 %d2, %r1, 4;\n"
    " add.u64 %d0, %d0, %d2;\n add.u64 %d1, %d1, %d2;\n ld.global.u32 %r2, [%d0];\n"
    " setp.eq.u32 %seven, %r2, 7;\n add.u32 %r2, %r2, 5;\n @%seven add.u32 %r2, %r2, 1;\n"
    " st.global.u32 [%d1], %r2;\n ret;\n}\n";
enum { N = 32, BYTES = 4 * N };

static void fill(uint32_t a[N], uint32_t want[N], int number, bool with_seven) {
    for (int i = 0; i < N; i++) a[i] = 8 + (uint32_t)(number + i);
    if (with_seven) a[number % N] = 7;
    for (int i = 0; i < N; i++) want[i] = a[i] + 5;
}

static mc_status run(mc_device *device, mc_module *module, const uint32_t *a, const uint32_t *want,
                     uint32_t *got, mc_diag *diag) {
    uint64_t from = 0, to = 0;
    const mc_dense c = {.type = MC_S32, .rows = 1, .cols = N, .ld = N, .data = (void *)(uintptr_t)want};
    mc_status status = mc_device_alloc(device, BYTES, &from, diag);
    if (status == MC_OK) status = mc_device_write(device, from, a, BYTES, diag);
    if (status == MC_OK) status = mc_device_alloc(device, BYTES, &to, diag);
    if (status == MC_OK) status = mc_device_fill(device, to, 0, BYTES, diag);
    const mc_launch launch = {.grid = {1, 1, 1}, .block = {N, 1, 1}, .values = {from, to}, .count = 2};
    proof_expect_param(device, 1, MC_S32, N, &c);
    if (status == MC_OK) status = mc_module_launch(module, &launch, diag);
    if (status == MC_OK) status = mc_device_read(device, to, got, BYTES, diag);
    mc_device_free(device, from);
    mc_device_free(device, to);
    return proof_settle(device, status, diag);
}

int main(int argc, char **argv) {
    static const char *const schedules[] = {"sim"};
    proof_begin(argc, argv);
    if (argc != 4) return 2;
    mc_diag *diag = mc_diag_create();
    mc_device *device = NULL;
    mc_module *module = NULL;
    mc_status status = proof_open(schedules, 1, &device, diag);
    if (status == MC_OK) status = mc_module_load(device, ptx, "add", &module, diag);
    for (int i = 0; i < atoi(argv[2]) && status == MC_OK; i++) {
        uint32_t a[N], want[N], got[N] = {0};
        fill(a, want, i, i % atoi(argv[3]) == 0);
        status = run(device, module, a, want, got, diag);
        CHECK(memcmp(got, want, BYTES) == 0, "run %d", i);
    }
    CHECK(status == MC_OK, "%s", mc_diag_text(diag));
    mc_module_unload(module);
    mc_device_close(device);
    mc_diag_destroy(diag);
    return proof_end(check_end());
}
