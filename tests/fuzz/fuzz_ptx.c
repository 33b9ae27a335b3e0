/* Any bytes as PTX: loaded, and where that works run for at most some thousand instructions. */
#include "ptxsim.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The name behind the first ".entry". */
static char *entry_name(const char *text) {
    const char *at = strstr(text, ".entry");
    if (!at) return NULL;
    at += strlen(".entry");
    at += strspn(at, " \t\r\n");
    return strndup(at, strcspn(at, " \t\r\n("));
}

static void run(ptxsim *sim, const char *text, const ptxsim_module *module) {
    const ptxsim_function *function;
    uint64_t memory, values[16];
    void *params[16];
    char *name = entry_name(text);
    if (name && ptxsim_module_function(sim, module, name, &function) == PTXSIM_OK &&
        ptxsim_alloc(sim, 4096, &memory) == PTXSIM_OK) {
        ptxsim_fill(sim, memory, 1, 4096);
        for (int i = 0; i < 16; i++) values[i] = memory, params[i] = &values[i];
        ptxsim_launch(sim, function, (ptxsim_dim3){1, 1, 1}, (ptxsim_dim3){64, 1, 1}, 0, params);
    }
    free(name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const ptxsim_options options = {.size = sizeof options, .max_instructions = 5000};
    ptxsim *sim;
    ptxsim_module *module;
    char *text = malloc(size + 1);
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (ptxsim_create(&options, &sim) == PTXSIM_OK) {
        if (ptxsim_module_load(sim, text, &module) == PTXSIM_OK) run(sim, text, module);
        else if (!ptxsim_fault_of(sim)->message[0]) abort();
        ptxsim_destroy(sim);
    }
    free(text);
    return 0;
}
