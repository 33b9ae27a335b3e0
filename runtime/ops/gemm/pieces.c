#include "ops/gemm/pieces.h"
#include "parts/gemm_order.h"

static int64_t pieces_of(int64_t extent, int64_t size) { return (extent + size - 1) / size; }
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* The number of the tile of (ROW, COLUMN): tiles go by columns in groups of rows. */
static int64_t tile_of(const gemm_pieces *p, int64_t row, int64_t column) {
    const int64_t rows = pieces_of(p->m, p->stream.tile_m), columns = pieces_of(p->n, p->stream.tile_n),
                  tile_row = row / p->stream.tile_m, group = tile_row / p->stream.group * p->stream.group,
                  height = least(p->stream.group, rows - group);
    return group * columns + column / p->stream.tile_n * height + tile_row - group;
}

/* Tiles that are taken whole, of TILES. */
static int64_t whole_tiles(const gemm_pieces *p, int64_t tiles) {
    const int64_t blocks = p->stream.blocks, left = tiles % blocks;
    return STREAM_OF * left > STREAM_FULL * blocks ? tiles : tiles - left;
}

/* Ranges of a line of so many tiles. */
static int64_t ranges_of(const gemm_pieces *p, int64_t tiles) {
    const int64_t most = least(p->stream.blocks, STREAM_RANGES * tiles);
    return most > 0 ? most : 1;
}

/* The end of the range that has stage AT of a line of STAGES. */
static int64_t range_end(int64_t stages, int64_t ranges, int64_t at) {
    const int64_t length = stages / ranges, longer = stages % ranges, bend = longer * (length + 1);
    if (at < bend) return at - at % (length + 1) + length + 1;
    return at - (at - bend) % length + length;
}

int64_t gemm_piece_end(const gemm_pieces *p, int64_t row, int64_t column, int64_t at) {
    const int64_t tile = tile_of(p, row, column),
                  tiles = pieces_of(p->m, p->stream.tile_m) * pieces_of(p->n, p->stream.tile_n),
                  whole = whole_tiles(p, tiles), first = (tile - whole) * p->stages;
    if (tile < whole) return p->stages;
    const int64_t line = (tiles - whole) * p->stages;
    return least(range_end(line, ranges_of(p, tiles - whole), first + at) - first, p->stages);
}
