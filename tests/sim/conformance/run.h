/* Forms on a device of libmcrt: a GPU or the simulator. */
#ifndef TESTS_SIM_CONFORMANCE_RUN_H
#define TESTS_SIM_CONFORMANCE_RUN_H

#include "form.h"
#include "mcrt_internal.h"

struct runner {
    mc_device *device;
    mc_diag *diag;
    int blocks; /* that its buffers have room for */
    uint64_t in, scratch, out;
    mc_module *module; /* of the last run */
    char text[FORM_HEADER_TEXT + FORM_TEXT];
    uint32_t *inputs; /* of the last run */
    unsigned char *raw;
    uint32_t *results; /* of the last run: the warps' results one after another, packed (form_warp_bytes) */
};

/* Opens DEVICE with room for runs of BLOCKS warps; on failure the diag says why. */
bool runner_open(struct runner *runner, const char *device, int blocks);
void runner_close(struct runner *runner);
/* Runs BLOCKS warps of FORM with inputs of its own, or, if there are any, with INPUTS. */
bool runner_run(struct runner *runner, const struct form *form, int blocks, const uint32_t *inputs);
size_t runner_words(const struct form *form, int blocks);
/* What the diag says. */
const char *runner_reason(const struct runner *runner);

#endif
