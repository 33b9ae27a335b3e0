#include "parts/real/mma.h"
#include <string.h>

static const struct {
    const char *name;
    mc_opcode mma;
} types[] = {{"f16", OP_mma_f16}, {"bf16", OP_mma_bf16}};

mc_opcode real_mma(const char *name) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0) return types[i].mma;
    return MC_OPCODES;
}
