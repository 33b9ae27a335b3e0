/* Which vectors of a row block share a stride of windowed-bcrs (gen/parts/windowed.h). */
#ifndef MCRT_WINDOWED_CHOOSE_H
#define MCRT_WINDOWED_CHOOSE_H

#include <stdbool.h>
#include "formats/pack.h"
#include "parts/windowed.h"

typedef struct chosen_stride {
    int64_t slots[WINDOWED_SLOTS]; /* the row block's vectors, from 0; -1: none */
    /* the lowest and the highest window of its vectors; `oldest` ascends from stride to stride */
    int64_t oldest, last;
} chosen_stride;

/* Zeroed before the first row block; its owner frees items and taken. */
typedef struct stride_choice {
    chosen_stride *items;
    int64_t count, room;
    bool *taken; /* scratch, for the longest row block so far */
    int64_t taken_room;
} stride_choice;

/* MC_USAGE where there is no such ring. */
mc_status windowed_check_ring(const mc_ring *ring, mc_diag *diag);

/* Of part PART, from 0 on, of ring->parts: its first window, or for PART = parts the number of all of them,
   and how many of B's COLS rows it has. */
int64_t windowed_part_first(const mc_ring *ring, int64_t cols, int part);
int64_t windowed_part_rows(const mc_ring *ring, int64_t cols, int part);

/* Windows that a stride may span (windowed_reach) of a matrix with COLS, or of a part of it with so many, of
   which ROW_BLOCKS have VECTORS together. */
int64_t windowed_span(const mc_ring *ring, int64_t cols, int64_t vectors, int64_t row_blocks);

/* The most strides, of SPAN windows, that windowed_choose makes of so many vectors of a matrix with COLS, and
   the room that it needs meanwhile. */
int64_t windowed_most_strides(const mc_ring *ring, int64_t cols, int64_t span, int64_t vectors);

/* Replaces CHOICE's strides with those of a row block that has vectors at the ascending COLUMNS. The vectors
   of a stride lie in SPAN windows, from the window on of the oldest vector that no stride before it has.
   False: no memory. */
bool windowed_choose(const mc_ring *ring, int64_t span, const int32_t *columns, int64_t count,
                     stride_choice *choice);

#endif
