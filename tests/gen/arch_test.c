/* How many thread blocks a multiprocessor holds follows from the architecture's record, whatever limits it. */
#include "kernel/kernel.h"
#include "check.h"

/* A kernel of WARPS warps, each with REGISTERS registers a thread; BLOCKS is what the CUDA programming guide's table
   ("Technical Specifications per Compute Capability") leaves. */
typedef struct hold {
    const char *arch;
    const char *warps;
    unsigned registers, blocks;
} hold;

static const hold holds[] = {
    {"sm_80", "1", 16, 32},  {"sm_86", "1", 16, 16},  {"sm_89", "1", 16, 24}, /* by thread blocks */
    {"sm_90", "1", 16, 32},  {"sm_100", "1", 16, 32}, {"sm_120", "1", 16, 24},
    {"sm_80", "4", 24, 16},  {"sm_86", "4", 24, 12},  {"sm_89", "4", 24, 12}, /* by threads */
    {"sm_90a", "4", 24, 16}, {"sm_100", "4", 24, 16}, {"sm_120", "4", 24, 12},
    {"sm_80", "4", 128, 4},  {"sm_86", "4", 128, 4}, /* by registers */
};

static void check_place(const hold *p, mc_diag *diag) {
    const mc_setting settings[] = {{"arch", p->arch}, {"warps", p->warps}, {"split", "1"}};
    mc_spec *spec = NULL;
    mc_kernel *kernel = NULL;
    mc_status status = mc_spec_read_text("spec", "op = \"spmm\"", 11, settings, 3, &spec, diag);
    if (status == MC_OK) status = mc_kernel_outline(spec, 0, &kernel, diag);
    CHECK(status == MC_OK, "%s", mc_diag_text(diag));
    if (kernel) {
        kernel_limit_registers(kernel, p->registers);
        CHECK(kernel->contract.blocks_per_sm == p->blocks,
              "%s, %s warps, %u registers: %u thread blocks, want %u", p->arch, p->warps, p->registers,
              kernel->contract.blocks_per_sm, p->blocks);
    }
    mc_kernel_destroy(kernel);
    mc_spec_destroy(spec);
}

/* sm_90a is for 9.0 alone, and there beside sm_90. */
static void check_suits(void) {
    CHECK(mc_arch_suits("sm_90", 90) && mc_arch_suits("sm_90a", 90), "9.0 runs sm_90 and sm_90a");
    CHECK(!mc_arch_suits("sm_80", 90), "sm_80 is not the newest that 9.0 runs");
    CHECK(mc_arch_suits("sm_100", 100) && !mc_arch_suits("sm_90a", 100), "10.0 does not run sm_90a");
    CHECK(!mc_arch_suits("sm_none", 90), "there is no such architecture");
    CHECK(mc_arch_suits("sm_80", 70), "there is none for 7.0");
}

int main(void) {
    check_suits();
    mc_diag *diag = mc_diag_create();
    for (size_t i = 0; i < sizeof holds / sizeof *holds; i++) check_place(&holds[i], diag);
    mc_diag_destroy(diag);
    return check_end();
}
