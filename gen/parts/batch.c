#include "parts/batch.h"
#include "parts/emit.h"
#include <stdio.h>
#include <string.h>

void batch_contract(mc_contract *c, const mc_batch_array *arrays, size_t count) {
    for (size_t i = 0; i < count; i++) add_shape(c, arrays[i].stride, MC_OPEN, arrays[i].doc);
    c->grid[2] = (mc_grid_axis){"batch", 1};
}

void batch_begin(mc_builder *b, const mc_batch_array *arrays, size_t count) {
    b->batch = b32(b, "batch");
    b->batch_arrays = arrays;
    b->batch_array_count = count;
    EMIT(b, mov_special, b->batch, NAME("ctaid.z"));
}

/* Two elements of 4 bits share a byte. */
static void add_offset(mc_builder *b, const mc_batch_array *of, mc_reg address) {
    char name[MC_MAX_NAME];
    mc_reg stride = b32(b, of->stride);
    snprintf(name, sizeof name, "%s_offset", of->array);
    mc_reg offset = b64(b, name);
    EMIT(b, ld_param_s32, stride, NAME(of->stride));
    if (of->bits == 4) EMIT(b, shr_u32, stride, stride, I(1));
    EMIT(b, mul_wide, offset, b->batch, stride);
    if (of->bits > 8) EMIT(b, shl_b64, offset, offset, I(log2_of(of->bits / 8)));
    EMIT(b, add_s64, address, address, offset);
}

void batch_move(mc_builder *b, const char *name, mc_reg address) {
    for (size_t i = 0; i < b->batch_array_count; i++)
        if (strcmp(b->batch_arrays[i].array, name) == 0) add_offset(b, &b->batch_arrays[i], address);
}
