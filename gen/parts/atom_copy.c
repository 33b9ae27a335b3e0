#include "parts/atom_copy.h"
#include "parts/emit.h"
#include <stdio.h>

void atom_copy_begin(atom_copy *c) {
    char name[MC_MAX_NAME];
    c->array = load_array(c->b, c->param);
    snprintf(name, sizeof name, "%s_from", c->name);
    b64_array(c->b, name, c->blocks, c->from);
}

void atom_copy_row(const atom_copy *c, mc_reg block, mc_reg steps, mc_reg last, mc_reg scratch) {
    mc_builder *b = c->b;
    note(b, "where the tile's first atoms of %s are; below A they are those of its last rows", c->name);
    for (int i = 0; i < c->blocks; i++) {
        EMIT(b, add_s32, scratch, block, I(i));
        EMIT(b, min_s32, scratch, scratch, last);
        EMIT(b, mul_s32, scratch, scratch, steps);
        EMIT(b, mad_wide, c->from[i], scratch, I(c->bytes), c->array);
    }
}

void atom_copy_step(const atom_copy *c, mc_reg stage, mc_reg barrier) {
    mc_builder *b = c->b;
    for (int i = 0; i < c->blocks; i++) {
        EMIT(b, bulk_load, AT(stage, c->at + i * c->bytes), AT(c->from[i], 0), I(c->bytes), AT(barrier, 0));
        EMIT(b, add_s64, c->from[i], c->from[i], I(c->bytes));
    }
}
