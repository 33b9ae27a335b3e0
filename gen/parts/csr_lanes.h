/* How the lanes of a warp are dealt out to the columns and the rows of a product by A in CSR, for kernels and
   for those who pack A and know the order of their sums (gen/ops/spmm/csr/csr.h). */
#ifndef MC_CSR_LANES_H
#define MC_CSR_LANES_H

enum {
    CSR_STRIDE = 32,     /* nonzeros by which the field `share` counts */
    CSR_LOAD_BYTES = 16, /* of B, that a lane loads at once */
    CSR_WARP = 32
};

/* Set in the last word of an item (panels.h) whose warp has a long row. */
#define CSR_LONG 0x80000000u

/* The field `stream`: a warp reads the nonzeros of neighbouring rows side by side, and leaves their products
   in shared memory, a word each, with a word between strides so that lanes that add them meet in few banks.
   The second word of the item has the number of its rows, from CSR_LANES_SHIFT on the logarithm of the lanes
   that share a row, and from CSR_NONZEROS_SHIFT on the number of its nonzeros. */
enum {
    CSR_STREAM_ROWS = 32,              /* of an item, at most */
    CSR_STREAM_PITCH = CSR_STRIDE + 1, /* words of shared memory from a stride of products to the next */
    CSR_STREAM_SHARE = 1023,           /* of `share`, that the item has room for */
    CSR_LANES_SHIFT = 8,
    CSR_NONZEROS_SHIFT = 16
};

/* The field `segmented`: a warp walks through the nonzeros of neighbouring rows as one sequence. The words of
   its item are the first row; the number of the rows and, from CSR_SEGMENT_SHIFT on, of their nonzeros; the
   first of these; and the last word of other items. */
enum {
    CSR_SEGMENT_ROWS = 32, /* of an item, at most */
    CSR_SEGMENT_SHIFT = 8,
    CSR_SEGMENT_SHARE = 8 /* of `share`, whose nonzeros shared memory has room for */
};

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
