/* The packed format bitmap-tiles, as kernels and packers must both see it (docs/formats.md). */
#ifndef MC_BITMAP_TILES_H
#define MC_BITMAP_TILES_H

enum {
    BITMAP_TILES_STAGE = 128,                                    /* columns of a stage */
    BITMAP_TILES_STEP = 32,                                      /* columns of a step */
    BITMAP_TILES_STEPS = BITMAP_TILES_STAGE / BITMAP_TILES_STEP, /* of a stage */
    BITMAP_TILES_PAIRS = BITMAP_TILES_STEP / 2,                  /* pairs of columns of a step */
    BITMAP_TILES_FIRST_SHIFT = 16, /* of a word of masks: from this bit on it has the first slot's number */
    BITMAP_TILES_SEGMENT = 16,     /* bytes of a slot that 8 rows of its pair of columns take */
    BITMAP_TILES_ROWS = 512,       /* of a tile, at most */
};

#endif
