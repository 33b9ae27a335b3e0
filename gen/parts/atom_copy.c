#include "parts/atom_copy.h"
#include "parts/emit.h"
#include <stdio.h>

void atom_copy_begin(atom_copy *c) {
    char name[MC_MAX_NAME];
    c->array = load_array(c->b, c->param);
    if (c->once) {
        snprintf(name, sizeof name, "%s_policy", c->name);
        c->policy = b64(c->b, name);
        EMIT(c->b, policy_leaves_first, c->policy);
    }
    snprintf(name, sizeof name, "%s_from", c->name);
    b64_array(c->b, name, c->blocks, c->from);
    snprintf(name, sizeof name, "%s_inside", c->name);
    if (c->first.id) c->is_inside = pred(c->b, name);
}

/* ATOM is the row block's first one. It becomes that of step `first`, or the one behind all others. */
static void begin_step(const atom_copy *c, mc_reg steps, mc_reg last, mc_reg atom) {
    mc_builder *b = c->b;
    EMIT(b, add_s32, atom, atom, c->first);
    EMIT(b, setp_lt, c->is_inside, c->first, steps);
    EMIT_IF(b, NOT(c->is_inside), mad_s32, atom, last, steps, steps);
}

void atom_copy_row(const atom_copy *c, mc_reg block, mc_reg steps, mc_reg last, mc_reg scratch) {
    mc_builder *b = c->b;
    note(b, "where the tile's first atoms of %s are; below A they are those of its last rows", c->name);
    for (int i = 0; i < c->blocks; i++) {
        EMIT(b, add_s32, scratch, block, I(i));
        EMIT(b, min_s32, scratch, scratch, last);
        EMIT(b, mul_s32, scratch, scratch, steps);
        if (c->first.id) begin_step(c, steps, last, scratch);
        EMIT(b, mad_wide, c->from[i], scratch, I(c->bytes), c->array);
    }
}

static void copy_atom(const atom_copy *c, mc_operand from, mc_operand to, mc_reg barrier) {
    if (c->once) EMIT(c->b, bulk_load_kept, to, from, I(c->bytes), AT(barrier, 0), c->policy);
    else EMIT(c->b, bulk_load, to, from, I(c->bytes), AT(barrier, 0));
}

void atom_copy_step(const atom_copy *c, mc_reg stage, mc_reg barrier) {
    mc_builder *b = c->b;
    for (int i = 0; i < c->blocks; i++) {
        copy_atom(c, AT(c->from[i], 0), AT(stage, c->at + i * c->bytes), barrier);
        EMIT(b, add_s64, c->from[i], c->from[i], I(c->bytes));
    }
}
