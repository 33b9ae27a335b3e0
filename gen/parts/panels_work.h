/* What kernels that pack panels (gen/ops/pack_panels) leave for one another, and for who launches them. */
#ifndef MC_PANELS_WORK_H
#define MC_PANELS_WORK_H

/* Panels are counted in groups, one for each lane of a warp. Behind the last panel is a group or the rest of
   one, in which its end is kept. */
enum { PANEL_GROUP = 32 };

/* Panels in the order of their items: those of several thread blocks; of 8, 4 and 2 warps; and of one. Those
   of as many warps as a thread block has are in the class of that number. */
enum { PANEL_CLASSES = 5, PANEL_LONE = PANEL_CLASSES - 1 };

/* Numbers of each group, [PANEL_COUNTS][groups]: its strides, and its items of each class. Their sums, from
   the first number on, tell where a group's strides begin, and, less all strides, where its items of a class
   do. */
enum { PANEL_COUNTS = 1 + PANEL_CLASSES };

/* Totals: the sum before the numbers of each kind, and behind all of them. */
enum {
    PANEL_TOTALS = PANEL_COUNTS + 1,
    PANEL_TOTAL_STRIDES = 1,             /* of all panels */
    PANEL_TOTAL_PIECES = 2,              /* and items of several thread blocks */
    PANEL_TOTAL_SHARED = 1 + PANEL_LONE, /* and all but those of one warp */
    PANEL_TOTAL_ALL = PANEL_COUNTS,
};

/* A panel's start: its first stride, and how many columns panels before it have. */
enum { PANEL_START_WORDS = 2 };

#endif
