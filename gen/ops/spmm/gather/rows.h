/* Rows of B in a lane's registers. */
#ifndef MC_SPMM_GATHER_ROWS_H
#define MC_SPMM_GATHER_ROWS_H

#include "ops/spmm/gather/emit.h"

enum { GATHER_MAX_WORDS = 4 /* registers of one row of B, a lane */ };

/* Loads of whole words hold a stride's rows at once. Loads of single elements go four slots at a time, so
   that the edge path does not decide how many registers the kernel takes. */
typedef struct gather_lane_rows {
    const gather_path *path;
    /* path->unit is one element (or two, where these share a byte); each load then has a register of its
       own */
    bool single;
    int units;      /* loads of one row of B, a lane */
    int words;      /* registers of one row of B, a lane */
    int count;      /* of `row` */
    mc_reg base[4]; /* addresses of the lane's columns in row 0 of B, one for each unit */
    /* [step][slot][word], or [slot % 4][element] */
    mc_reg row[SPMM_MAX_STEPS * MC_LANE_SLOTS * GATHER_MAX_WORDS];
    mc_reg used[MC_LANE_SLOTS], address[MC_LANE_SLOTS]; /* scratch, one for each slot */
    mc_reg is_full;                                     /* of floats: whether a lane's slots are all in use */
    gather_stager stager;                               /* path->copy: rows go through shared memory */
} gather_lane_rows;

void spmm_gather_declare_rows(gather_emitter *e, gather_lane_rows *r, const gather_path *path);
/* Sets where the lane's columns begin. Columns beyond n are read at the last unit inside: what comes out
   of them is not stored. Returns the first of the columns that it multiplies; none where it copies for other
   lanes, or runs are set apart. */
mc_reg spmm_gather_find_rows(gather_emitter *e, gather_lane_rows *r, mc_reg path_col);
/* Zeroes what a padding slot leaves as it is. */
void spmm_gather_clear_rows(gather_emitter *e, gather_lane_rows *r);
/* Loads this lane's columns of the rows that the indices name, for COUNT slots from FIRST on in step STEP. */
void spmm_gather_load_rows(gather_emitter *e, const gather_lane_rows *r, int step, int first, int count);

#endif
