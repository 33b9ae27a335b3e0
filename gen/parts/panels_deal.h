/* How work is dealt out to warps on the device: how many of them share a panel, or a long row, and the items
   that say who takes which part of it (panels.h). Both are what formats/panels.c has on the host, to the
   byte. */
#ifndef MC_PANELS_DEAL_H
#define MC_PANELS_DEAL_H

#include "parts/emit.h"

/* How a panel is shared, as panels_share has it. */
typedef struct dealt_sharing {
    mc_reg warps;         /* of a thread block that reads the items */
    mc_reg pieces, parts; /* thread blocks, and warps of each of them */
    mc_reg items;
    mc_reg is_long; /* it has several thread blocks */
} dealt_sharing;
/* Of a panel of STRIDES strides. The launch's shapes `warps` and `share` say what a thread block has and what
   a warp takes of a panel before others share it. 3 warps * share and 8 * share stay below 2^31. */
dealt_sharing panels_emit_sharing(mc_builder *b, mc_reg strides);

/* What items are written of: a panel, of one lane or in turn of all, and how many of its items a lane goes
   on by. */
typedef struct dealt_panel {
    mc_reg number, begin, strides; /* its first stride, and how many */
    mc_reg pieces, parts;
    mc_reg item; /* its first one */
    mc_reg leaf, step;
    mc_reg shares; /* what all of its items have in common */
} dealt_panel;
/* Writes the items LEAF, LEAF + STEP and so on of P to ITEMS. Names of registers begin with PREFIX. */
void panels_emit_items(mc_builder *b, mc_reg items, const char *prefix, const dealt_panel *p);
/* The same of panels of several thread blocks. Each lane of a warp has a panel P; of those where IS_LONG, all
   lanes write the items of one after another. LANE is the lane's number, SHARES what all of these items have
   in common; the leaf and the shares of P do not count. */
void panels_emit_long(mc_builder *b, mc_reg items, mc_reg lane, mc_reg is_long, const dealt_panel *p,
                      mc_operand shares);

/* What the last thread block that reads the items is filled up with. */
typedef struct dealt_end {
    mc_reg thread, number;          /* of the thread, and of its group: those of number 0 write */
    mc_reg items;                   /* that are dealt out */
    mc_reg warps, shared_end, none; /* none: the number of a panel that is not there */
} dealt_end;
/* Writes as many items without work to ITEMS as its warps have none. */
void panels_emit_fill(mc_builder *b, mc_reg items, const dealt_end *end);

/* Bit PANEL_SHARES_SHIFT of ITEM, which is shared by none: whether its thread block begins with one that is
   shared, of which SHARED_END is the end. */
mc_reg panels_emit_shares(mc_builder *b, mc_reg item, mc_reg warps, mc_reg shared_end);

#endif
