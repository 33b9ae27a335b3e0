#include <stdlib.h>
#include "gpu.h"

static mc_address take_new(gpu_device *gpu, size_t bytes) {
    kept_memory *kept = &gpu->kept;
    kept_block *grown = realloc(kept->blocks, (kept->count + 1) * sizeof *grown);
    if (grown == NULL) return 0;
    kept->blocks = grown;
    kept_block *block = &grown[kept->count];
    *block = (kept_block){.bytes = bytes, .used = true};
    if (mc_device_alloc(gpu->device, bytes, &block->address, NULL) != MC_OK) return 0;
    kept->count++;
    return block->address;
}

mc_address kept_take(void *user, size_t bytes) {
    gpu_device *gpu = user;
    for (size_t i = 0; i < gpu->kept.count; i++) {
        kept_block *block = &gpu->kept.blocks[i];
        if (block->used || block->bytes != bytes) continue;
        block->used = true;
        return block->address;
    }
    return take_new(gpu, bytes);
}

void kept_give(void *user, mc_address address) {
    gpu_device *gpu = user;
    for (size_t i = 0; i < gpu->kept.count; i++)
        if (gpu->kept.blocks[i].address == address) gpu->kept.blocks[i].used = false;
}

void kept_empty(gpu_device *gpu) {
    kept_memory *kept = &gpu->kept;
    size_t used = 0;
    for (size_t i = 0; i < kept->count; i++) {
        if (kept->blocks[i].used) kept->blocks[used++] = kept->blocks[i];
        else mc_device_free(gpu->device, kept->blocks[i].address);
    }
    kept->count = used;
    if (used > 0) return;
    free(kept->blocks);
    *kept = (kept_memory){0};
}
