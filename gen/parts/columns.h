/* The output of the kernels where C is column-major, [n][ldc]: sums in registers become elements of C, by the
 * same arithmetic as in output.h. The residual, if there is one, lies as C does.
 *
 * A lane has few neighbouring elements of a column. They are stored as they are (the ring kernel), or brought
 * into whole sectors first, through a tile in shared memory that all warps of a thread block fill (gather):
 *
 *   column_writer w = {.w = {...}, .tile = ...};
 *   columns_declare(&w, 2, 8);
 *   columns_put_at(&w, tile, row, col);            where the lane's first element goes, in the tile
 *   columns_load_residual(&w, col, 0, 8, 0, 2, 1);
 *   columns_put(&w, &f, &(out_patch){...});        once a patch
 *   ...                                            a barrier
 *   columns_store_tile(&w, ...); */
#ifndef MC_COLUMNS_H
#define MC_COLUMNS_H

#include "parts/emit.h"
#include "parts/output.h"

enum { PATCH_ROWS = 2 };

/* Elements of C: COLUMNS neighbouring columns of ROWS rows. */
typedef struct out_patch {
    int columns, rows;
    int row_step;                   /* from a row to the next, where they are stored one by one; 0: 1 */
    const mc_reg *sums[PATCH_ROWS]; /* [row][column] */
    int factor_row, factor_column;  /* which of the loaded factors are the first row's and column's */
} out_patch;

/* Elements of C in shared memory: COLUMNS columns of ROWS elements, one column behind the other. After each
   `run` columns there are `pad` bytes more, a multiple of 16, so that lanes with neighbouring runs meet other
   banks. */
typedef struct column_tile {
    int columns, rows, run, pad;
    int bytes; /* of an element */
} column_tile;

/* Bytes of the whole tile. */
int column_tile_bytes(const column_tile *tile);

/* Of `w` the caller sets b, output, columns, ldc, c_array, in_rows, residual.array and .ld, residual.load,
   which is the rows of one load, 1 or 2; and store, the neighbouring rows that columns_store_tile stores at
   once. */
typedef struct column_writer {
    out_writer w;
    column_tile tile;

    mc_reg tile_at, put_at;                /* the tile; where the lane's first element lies in the tile */
    mc_reg inside;                         /* whether a column is below n */
    mc_reg col, residual_col, residual_at; /* scratch */
} column_writer;

/* Declares registers for patches of ROWS rows and COLUMNS columns. */
void columns_declare(column_writer *w, int rows, int columns);

/* Sets where the residual's element [row][0] lies. Nothing without a residual. */
void columns_residual_address(column_writer *w, mc_reg row);
/* Loads the residual of a patch: of COUNT columns from column COL + OFFSET on and ROWS rows from the ROW-th
   behind that one on, ROW_STEP apart. Where a column is none of C's, the last one is read. */
void columns_load_residual(column_writer *w, mc_reg col, int offset, int count, int row, int rows,
                           int row_step);

/* -- Straight to C */

/* Sets w->w.at to the address of C[row][col]. */
void columns_address(column_writer *w, mc_reg row, mc_reg col);
/* Converts and stores a patch, w->w.store rows at once. COL + OFFSET is its first column. w->w.at is the
   address of its first element, and then of that of its last column. */
void columns_store_patch(column_writer *w, const out_factors *f, const out_patch *patch, mc_reg col,
                         int offset);
/* Moves w->w.at COUNT columns on. */
void columns_advance(column_writer *w, int count);

/* -- Through the tile */

/* Sets put_at to the place of row ROW, column COL, a multiple of 4, of the tile at TILE_AT. */
void columns_put_at(column_writer *w, mc_reg tile_at, mc_reg row, mc_reg col);
/* Converts a patch and puts it into the tile, where in_rows holds. Its first element lies COLUMN columns and
   ROW rows from put_at: COLUMN is a multiple of the tile's run, or the patch stays in one run. */
void columns_put(column_writer *w, const out_factors *f, const out_patch *patch, int row, int column);

/* How the thread block copies its tile. */
typedef struct tile_copy {
    mc_reg thread;
    int threads;
    mc_reg first_row, first_col; /* of the tile in C */
    mc_operand m;
    bool guard_rows; /* rows can lie beyond m, whole stores of them */
} tile_copy;

/* Stores the tile in C. Every element of it that lies in C has been put there. */
void columns_store_tile(column_writer *w, const tile_copy *copy);

#endif
