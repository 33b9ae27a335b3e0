#include "gpu.h"

enum { MAX_SETS = 512 };

size_t slab_part(operand_slab *slab, size_t bytes) {
    slab->offsets[slab->parts] = slab->set_bytes;
    slab->lengths[slab->parts] = bytes;
    slab->set_bytes += (bytes + SLAB_ALIGN - 1) / SLAB_ALIGN * SLAB_ALIGN;
    return slab->parts++;
}

mc_status slab_create(gpu_device *gpu, operand_slab *slab, int sets, mc_diag *diag) {
    slab->sets = sets;
    return mc_device_alloc(gpu->device, slab->set_bytes * (size_t)sets, &slab->base, diag);
}

void slab_free(gpu_device *gpu, operand_slab *slab) {
    mc_device_free(gpu->device, slab->base);
    *slab = (operand_slab){0};
}

uint64_t slab_address(const operand_slab *slab, size_t part, int set) {
    return slab->base + (size_t)set * slab->set_bytes + slab->offsets[part];
}

mc_status slab_write(gpu_device *gpu, const operand_slab *slab, size_t part, const void *data, size_t bytes,
                     mc_diag *diag) {
    mc_status status = MC_OK;
    for (int set = 0; set < slab->sets && status == MC_OK; set++)
        status = mc_device_write(gpu->device, slab_address(slab, part, set), data, bytes, diag);
    return status;
}

mc_status slab_clear_gaps(gpu_device *gpu, const operand_slab *slab, size_t parts, mc_diag *diag) {
    mc_status status = MC_OK;
    for (int set = 0; set < slab->sets; set++)
        for (size_t i = 0; i < parts && status == MC_OK; i++) {
            size_t next = i + 1 < slab->parts ? slab->offsets[i + 1] : slab->set_bytes;
            size_t end = slab->offsets[i] + slab->lengths[i];
            uint64_t gap = slab_address(slab, i, set) + slab->lengths[i];
            status = mc_device_fill(gpu->device, gap, 0, next - end, diag);
        }
    return status;
}

int gpu_sets(const gpu_device *gpu, const operand_slab *slab, bool cold) {
    if (!cold || slab->set_bytes == 0) return 1;
    uint64_t sets = 3 * (uint64_t)gpu->l2_bytes / slab->set_bytes + 2;
    return sets > MAX_SETS ? MAX_SETS : (int)sets;
}
