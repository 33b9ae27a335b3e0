/* Any bytes as a spec: read, and where that works every stage up to the PTX. */
#include "mcgen.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mc_diag *diag = mc_diag_create();
    mc_spec *spec = NULL;
    mc_kernel *kernel = NULL;
    mc_status status = mc_spec_read_text("fuzz.lua", (const char *)data, size, NULL, 0, &spec, diag);
    if (status == MC_OK) status = mc_kernel_generate(spec, mc_spec_default(spec), &kernel, diag);
    /* A refusal says why, and a spec that was accepted makes a kernel. */
    if ((status != MC_OK) != (mc_diag_count(diag) > 0) || (spec && !kernel)) abort();
    mc_kernel_destroy(kernel);
    mc_spec_destroy(spec);
    mc_diag_destroy(diag);
    return 0;
}
