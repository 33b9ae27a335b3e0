/* The family `pack_panels`: the pattern of a matrix of single nonzeros, on the device, becomes the arrays of
 * the format panels (parts/panels.h). No operator of the runtime: context/device_pack_panels.c launches its
 * steps one after another (docs/matrices.md). Values are put in place by the family `values`.
 *
 *   pack_panels.c  schema, names, the family
 *   contract.c     what each step's launch takes
 *   rank.c         step "rank": each nonzero finds its place in its panel, by column and then by row
 *   leaders.c      steps "count" and "list": the first nonzero of each column of a panel, its leader
 *   sums.c         step "sums": sums of what comes before
 *   panel.c        how long a panel is, and how it is shared
 *   measure.c      step "measure": strides and items of 32 panels
 *   deal.c         step "deal": where each panel's strides begin, and who takes them
 *   write.c        step "write": the arrays of a stride
 *
 * All of it is, to the byte, what formats/panels.c makes on the host. Sizes that come of the pattern are read
 * from memory, so that a launch needs none but bounds of them. */
#ifndef MC_PACK_PANELS_FAMILY_H
#define MC_PACK_PANELS_FAMILY_H

#include "parts/emit.h"
#include "parts/lanes.h"
#include "parts/made_name.h"
#include "parts/panels.h"
#include "parts/panels_work.h"
#include "schema/family.h"

extern const mc_family mc_family_pack_panels;

typedef enum panels_step {
    PANELS_RANK,
    PANELS_COUNT,
    PANELS_SUMS,
    PANELS_LIST,
    PANELS_MEASURE,
    PANELS_DEAL,
    PANELS_WRITE,
    PANELS_STEPS
} panels_step;

/* The fields, in the order of the schema. */
enum { F_STEP = FIELD_ARCH + 1, F_PANEL, F_VALUES };

typedef struct pack_panels_plan {
    panels_step step;
    int panel;     /* rows of a panel */
    bool nonzeros; /* values have no zeros for rows without something in a column */
} pack_panels_plan;

enum {
    PANELS_THREADS = 256, /* of all steps but "sums", which has one thread block */
    PANELS_WARPS = PANELS_THREADS / MC_WARP,
    SUMS_THREADS = 1024,
    SUMS_SHARED = 2 * SUMS_THREADS / MC_WARP * WORD, /* bytes: sums of its warps, of two turns */
    PANELS_MOST_ROWS = 16,
    /* Bit 31 of a nonzero's column: it is a leader */
    LEADER_SHIFT = 31,
};
#define LEADER H(0x80000000)

void pack_panels_contract(const void *plan, mc_contract *contract);
void pack_panels_facts(const void *plan, mc_facts *facts);

void panels_emit_rank(const pack_panels_plan *plan, mc_builder *b);
void panels_emit_count(const pack_panels_plan *plan, mc_builder *b);
void panels_emit_sums(const pack_panels_plan *plan, mc_builder *b);
void panels_emit_list(const pack_panels_plan *plan, mc_builder *b);
void panels_emit_measure(const pack_panels_plan *plan, mc_builder *b);
void panels_emit_deal(const pack_panels_plan *plan, mc_builder *b);
void panels_emit_write(const pack_panels_plan *plan, mc_builder *b);

/* -- What steps have in common ------------------------------------------------------------------------ */

/* A warp's number in the grid, and a thread's in its warp. */
typedef struct grid_warp {
    mc_reg thread, lane;
    mc_reg number, count;
} grid_warp;
/* Warps from the number on that the parameter COUNT says go to END. */
grid_warp panels_find_warp(mc_builder *b, const char *count, mc_label end);

/* Where element INDEX of ARRAY lies, BYTES from one to the next. */
mc_reg panels_at(mc_builder *b, const char *name, mc_reg array, mc_operand index, int bytes);

/* A panel for each lane of a warp, which takes 32 of them, its group. */
typedef struct lane_panel {
    grid_warp warp;
    mc_reg number, panels; /* of all of them */
    mc_reg is_there;
    mc_reg warps;   /* of a thread block that reads them */
    mc_reg first;   /* leaders before it */
    mc_reg strides; /* 0 where there is no panel */
    mc_reg pieces, parts, items;
    mc_reg in_class[PANEL_CLASSES]; /* in the order of items, whether it is of that class */
} lane_panel;
/* Warps without a group go to END. */
lane_panel panels_find_panel(const pack_panels_plan *plan, mc_builder *b, mc_label end);

#endif
