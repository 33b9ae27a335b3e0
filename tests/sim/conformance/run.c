#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 32, INPUT_BYTES = 4 * FORM_INPUT_WORDS };

const char *runner_reason(const struct runner *runner) {
    return mc_diag_count(runner->diag) ? mc_diag_text(runner->diag) : "out of memory";
}

bool runner_open(struct runner *r, const char *device, int blocks) {
    size_t lanes = (size_t)LANES * (size_t)blocks;
    *r = (struct runner){.diag = mc_diag_create(), .blocks = blocks};
    r->inputs = calloc(lanes, INPUT_BYTES);
    r->raw = calloc(lanes, FORM_OUTPUT_BYTES);
    r->results = calloc(lanes, FORM_OUTPUT_BYTES);
    return r->diag && r->inputs && r->raw && r->results &&
           mc_device_open(device, &r->device, r->diag) == MC_OK &&
           mc_device_alloc(r->device, lanes * INPUT_BYTES, &r->in, r->diag) == MC_OK &&
           mc_device_alloc(r->device, lanes * FORM_SCRATCH_BYTES, &r->scratch, r->diag) == MC_OK &&
           mc_device_alloc(r->device, lanes * FORM_OUTPUT_BYTES, &r->out, r->diag) == MC_OK;
}

void runner_close(struct runner *r) {
    if (r->module) mc_module_unload(r->module);
    if (r->device) mc_device_close(r->device);
    mc_diag_destroy(r->diag);
    free(r->inputs);
    free(r->raw);
    free(r->results);
    *r = (struct runner){0};
}

size_t runner_words(const struct form *form, int blocks) {
    return form_warp_bytes(form) * (size_t)blocks / 4;
}

/* Lanes store 16 bytes apart; what is packed is what the form stored. */
static void pack(const struct form *form, int blocks, const unsigned char *raw, uint32_t *results) {
    size_t bytes = form_warp_bytes(form) / LANES;
    memset(results, 0, runner_words(form, blocks) * sizeof *results);
    for (size_t lane = 0; lane < (size_t)(LANES * blocks); lane++, raw += FORM_OUTPUT_BYTES) {
        if (form->row->result == 'p') results[lane / LANES] |= (uint32_t)(raw[0] & 1) << lane % LANES;
        else memcpy((char *)results + lane * bytes, raw, bytes);
    }
}

/* Loads FORM unless it ran last. */
static bool load(struct runner *r, const struct form *form) {
    char text[sizeof r->text];
    strcpy(text, form_warps(form) > 1 ? FORM_HEADER("sm_90a") : FORM_HEADER("sm_90"));
    form_entry(form, "k", text + strlen(text));
    if (r->module && strcmp(text, r->text) == 0) return true;
    if (r->module) mc_module_unload(r->module);
    r->module = NULL;
    strcpy(r->text, text);
    return mc_module_load(r->device, text, "k", &r->module, r->diag) == MC_OK;
}

static bool launch(struct runner *r, const struct form *form, int blocks) {
    const int warps = form_warps(form);
    mc_launch launch = {.grid = {(unsigned)(blocks / warps), 1, 1},
                        .block = {(unsigned)(LANES * warps), 1, 1},
                        .values = {r->in, r->scratch, r->out},
                        .count = 3};
    return mc_module_launch(r->module, &launch, r->diag) == MC_OK;
}

bool runner_run(struct runner *r, const struct form *form, int blocks, const uint32_t *inputs) {
    size_t lanes = (size_t)LANES * (size_t)blocks;
    mc_diag_clear(r->diag);
    if (inputs) memcpy(r->inputs, inputs, lanes * INPUT_BYTES);
    else form_inputs(form, blocks, r->inputs);
    bool done = load(r, form) &&
                mc_device_write(r->device, r->in, r->inputs, lanes * INPUT_BYTES, r->diag) == MC_OK &&
                mc_device_fill(r->device, r->out, 0, lanes * FORM_OUTPUT_BYTES, r->diag) == MC_OK &&
                launch(r, form, blocks) &&
                mc_device_read(r->device, r->out, r->raw, lanes * FORM_OUTPUT_BYTES, r->diag) == MC_OK;
    if (done) pack(form, blocks, r->raw, r->results);
    return done;
}
