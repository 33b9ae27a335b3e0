/* The packed format bitmap-bcrs, as kernels and packers must both see it (docs/formats.md). */
#ifndef MC_BITMAP_H
#define MC_BITMAP_H

enum {
    BITMAP_WORD = 32,  /* columns of a word of bits */
    BITMAP_TILE = 128, /* columns are padded to whole tiles, each of so many */
    BITMAP_END = 64,   /* pairs behind the last one: kernels load pairs ahead, and so beyond the end */
};

#endif
