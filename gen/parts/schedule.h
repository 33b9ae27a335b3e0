/* Which tiles of C a thread block computes, where it stays and takes several (a persistent grid). All roles
 * of the thread block (roles.h) walk the same list, each with registers of its own:
 *
 *   tile_schedule s = {.b = b, .tile_rows = 128, .tile_columns = 256, .group = 8};
 *   schedule_begin(&s, m, n);
 *   set_label(b, tile);
 *   schedule_take(&s, end);          s.row and s.column are the tile's, or the list is at its end
 *   ...
 *   schedule_next(&s);
 *   EMIT(b, bra, TO(tile));
 *
 * The list is static: thread block i takes tiles i, i + grid, i + 2 grid. Tiles are numbered so that those
 * that run at the same time share rows of A and columns of B, which are then in the L2 cache: `group` rows of
 * tiles make a group, and in it tiles go by columns:
 *
 *   group of 2:    0 2 4
 *                  1 3 5
 *                  6 8 10
 *                  7 9 11
 *
 * schedule_begin and schedule_next alone say which number comes next. A dynamic list takes it from a counter
 * in memory there: the rest stays as it is.
 *
 * With `stream` the list ends with pieces of tiles, of which `line` says what they have of k (stream.h).
 *
 * In a cluster the unit of work is `cluster` tiles, one below the other, and the numbers are those of units.
 * A unit's last tiles may lie below C; they take part in copies, and store nothing. */
#ifndef MC_SCHEDULE_H
#define MC_SCHEDULE_H

#include "parts/stream.h"

/* The caller sets the first part. */
typedef struct tile_schedule {
    mc_builder *b;
    int tile_rows, tile_columns; /* of C, a power of two each, or what is a multiple of 8 */
    int group;
    int cluster; /* 0 and 1: there is none */
    mc_reg rank; /* in a cluster: the thread block's number in it */
    /* For consumers that take turns: the consumer's number, and how many there are. None: all take all */
    mc_reg turn;
    int turns;
    /* The last tiles are dealt out along k (stream.h): without clusters. With turns everybody takes all, and
       who takes turns leaves out what is another one's */
    bool stream;
    stream_line line; /* then: the caller sets `stages` */

    mc_reg block, blocks;      /* the thread block's number, and how many there are */
    mc_reg tile, count, step;  /* the number of the next tile, how many there are, and from one to the next */
    mc_reg turn_step;          /* from a tile to that of who has the next turn */
    mc_reg units, group_tiles; /* rows of units, and tiles of a whole group */
    mc_reg more;               /* whether there is a tile */
    mc_reg row, column;        /* the tile's first element */
    mc_reg unit_row, unit_column, group_first, group_rows; /* scratch */
} tile_schedule;

void schedule_begin(tile_schedule *s, mc_operand m, mc_operand n);
/* Goes to END where there is no tile left. */
void schedule_take(const tile_schedule *s, mc_label end);
void schedule_next(const tile_schedule *s);
/* A predicate: whether whoever has the next turn has a tile. */
mc_reg schedule_is_more(const tile_schedule *s, const char *name);
/* Instead of all these, where there are as many thread blocks as tiles, and no clusters: its one tile. */
void schedule_only(tile_schedule *s, mc_operand m, mc_operand n);

#endif
