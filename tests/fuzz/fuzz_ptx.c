/* Any bytes as PTX: loaded, and where that works run for at most some thousand instructions. */
#include "ptxsim.h"
#include <stdbool.h>
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

/* Threads of a block: what .reqntid says, or two warps. */
static unsigned block_size(const char *text) {
    const char *at = strstr(text, ".reqntid");
    unsigned threads = at ? (unsigned)strtoul(at + strlen(".reqntid"), NULL, 10) : 64;
    return threads >= 1 && threads <= 1024 ? threads : 64;
}

/* Blocks of the grid: one, or some clusters. */
static unsigned grid_size(const char *text) { return strstr(text, ".reqnctapercluster") ? 8 : 1; }

/* Of 64 rows of 16 words at ADDRESS, boxes of 8 by 8. */
static bool encode_map(ptxsim *sim, uint64_t address, void *map) {
    ptxsim_tensor tensor = {.size = sizeof tensor,
                            .element = PTXSIM_ELEMENT_U32,
                            .rank = 2,
                            .address = address,
                            .dims = {16, 64},
                            .strides = {64},
                            .box = {8, 8},
                            .swizzle = PTXSIM_SWIZZLE_32B};
    return ptxsim_tensor_map_encode(sim, &tensor, map) == PTXSIM_OK;
}

static void run(ptxsim *sim, const char *text, const ptxsim_module *module) {
    enum { PARAMS = 64, PARAM_BYTES = 64 };
    static uint64_t values[PARAM_BYTES / 8], map[PTXSIM_TENSOR_MAP_BYTES / 8];
    const ptxsim_function *function;
    uint64_t memory;
    size_t sizes[PARAMS];
    void *params[PARAMS];
    char *name = entry_name(text);
    if (name && ptxsim_module_function(sim, module, name, &function) == PTXSIM_OK &&
        ptxsim_alloc(sim, 4096, &memory) == PTXSIM_OK && encode_map(sim, memory, map)) {
        size_t count = ptxsim_function_params(function, sizes, PARAMS);
        bool fits = count <= PARAMS;
        for (size_t i = 0; fits && i < count; i++) {
            bool is_map = sizes[i] == sizeof map;
            params[i] = is_map ? map : values;
            fits = is_map || sizes[i] <= PARAM_BYTES;
        }
        ptxsim_fill(sim, memory, 0, 4096);
        for (size_t i = 0; i < PARAM_BYTES / 8; i++) values[i] = memory;
        if (fits)
            ptxsim_launch(sim, function, (ptxsim_dim3){grid_size(text), 1, 1},
                          (ptxsim_dim3){block_size(text), 1, 1}, 0, params);
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
