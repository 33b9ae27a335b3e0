/* How the lanes of a warp are dealt out to the columns and the rows of a product by A in CSR, for kernels and
   for those who pack A and know the order of their sums (gen/ops/spmm/csr/csr.h). */
#ifndef MC_CSR_LANES_H
#define MC_CSR_LANES_H

enum {
    CSR_STRIDE = 32,     /* nonzeros by which the field `share` counts */
    CSR_LOAD_BYTES = 16, /* of B, that a lane loads at once */
    CSR_WARP = 32
};

/* Without a list: a row that is so many times `share` strides of nonzeros is always its thread block's. */
enum { CSR_BLOCK_LONG = 32 };

/* Set in the last word of an item (panels.h) whose warp has a long row. */
#define CSR_LONG 0x80000000u

/* The field `stream`: a warp reads the nonzeros of neighbouring rows side by side, and leaves their products
   in shared memory, a word each, with a word between strides so that lanes that add them meet in few banks.

   An item has `share` strides of slots. Its four words are the first of its rows, how many it has, how many
   lanes the row has that has most, and the last word of other items. A row has neighbouring lanes. The array
   `parts` has for each lane the number of the product behind its last one, counted in the item, and from
   CSR_BEHIND_SHIFT on how many lanes of the row follow. Lanes that no row has come last.

   With columns of 16 bits the second word has the number of rows and, from CSR_LANES_SHIFT on, the lanes of
   the row that has most. The third one is the column from which the item's columns are counted.

   With sorted columns the slots of all items of a thread block have its nonzeros in the order of their
   columns. A word of the array of columns has the column and, in its low bits, the place of the product:
   product i of the thread block's item w is at place w * `share` * 32 + i. No two slots have the same place.
   Where there is no nonzero the column is the thread block's last one. */
typedef enum csr_columns { CSR_COLUMNS_S32, CSR_COLUMNS_U16, CSR_COLUMNS_SORTED } csr_columns;
enum {
    CSR_STREAM_ROWS = 32,              /* of an item, at most */
    CSR_STREAM_PITCH = CSR_STRIDE + 1, /* words of shared memory from a stride of products to the next */
    CSR_STREAM_SHARE = 63,             /* of `share`, that a lane's part has room for */
    CSR_STREAM_VECTOR = 4,             /* strides of which a lane loads slots at once, at most */
    CSR_BEHIND_SHIFT = 11,
    CSR_LANES_SHIFT = 8
};
/* How many slots a lane loads at once of the array of columns, and of that of values, whose elements have so
   many BYTES: the largest power of two that divides SHARE, up to 16 bytes, but four of columns of 32 bits and
   of their values. */
static inline int csr_stream_vector(csr_columns columns, int share, int bytes) {
    int vector = columns == CSR_COLUMNS_U16 ? CSR_LOAD_BYTES / bytes : CSR_STREAM_VECTOR;
    while (share % vector != 0) vector /= 2;
    return vector;
}
static inline int csr_column_bytes(csr_columns columns) { return columns == CSR_COLUMNS_U16 ? 2 : 4; }
/* Bits of a place, with sorted columns. */
static inline int csr_place_bits(int warps, int share) {
    int bits = 0;
    while (1 << bits < warps * share * CSR_STRIDE) bits++;
    return bits;
}
/* How many columns have room beside it. */
static inline long long csr_sorted_columns(int warps, int share) {
    return 1LL << (32 - csr_place_bits(warps, share));
}
/* The greatest distance of two columns of an item. */
static inline int csr_column_span(csr_columns columns) {
    return columns == CSR_COLUMNS_U16 ? 0xffff : 0x7fffffff;
}
/* Where nonzero NUMBER of an item lies among an array's slots. Lane l has nonzeros l, l + 32 and so on, and
   loads VECTOR of them at once. */
static inline int csr_stream_slot(int number, int vector) {
    const int stride = number / CSR_STRIDE, lane = number % CSR_STRIDE;
    return (stride / vector * CSR_STRIDE + lane) * vector + stride % vector;
}

/* The field `segmented`: a warp walks through the nonzeros of neighbouring rows as one sequence. The words of
   its item are the first row; the number of the rows and, from CSR_SEGMENT_SHIFT on, of their nonzeros; the
   first of these; and the last word of other items. */
enum {
    CSR_SEGMENT_ROWS = 32, /* of an item, at most */
    CSR_SEGMENT_SHIFT = 8,
    CSR_SEGMENT_SHARE = 8 /* of `share`, whose nonzeros shared memory has room for */
};

/* An item of rows that are not long never has rows on both sides of a multiple of this number, so that blocks
   of so many rows are dealt out side by side. */
enum { CSR_DEAL_ROWS = 256 };

typedef struct csr_lanes {
    int load;    /* elements of B that a lane loads at once of an aligned row */
    int columns; /* lanes that share the columns of a row */
    int groups;  /* groups of lanes in a warp, each with a row of its own */
} csr_lanes;

/* LANES share the nonzeros of a row, in a tile of TILE_N columns of elements of BYTES. */
static inline csr_lanes csr_lanes_of(int tile_n, int lanes, int bytes) {
    csr_lanes l = {.load = CSR_LOAD_BYTES / bytes};
    if (l.load > tile_n) l.load = tile_n;
    l.columns = tile_n / l.load;
    if (l.columns > CSR_WARP / lanes) l.columns = CSR_WARP / lanes;
    l.groups = CSR_WARP / lanes / l.columns;
    return l;
}

/* The same where all lanes of a warp share the columns of a row, 32 of them or more. */
static inline csr_lanes csr_lanes_segmented(int tile_n, int bytes) {
    csr_lanes l = {.load = CSR_LOAD_BYTES / bytes, .columns = CSR_WARP, .groups = 1};
    while (l.load > 1 && l.load * CSR_WARP > tile_n) l.load /= 2;
    return l;
}

#endif
