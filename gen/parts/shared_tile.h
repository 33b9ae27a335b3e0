/* A tile of a matrix in shared memory, as tensor copies bring it and as wgmma read it.
 *
 * A tile has `rows` and `k`: of an operand A the rows are A's, of B they are B's columns. It consists of
 * panels. A panel has lines of `span` bytes, one behind the other:
 *
 *   K-major    a line is `span` bytes of k of one row; a panel has all rows
 *   MN-major   a line is `span` bytes of rows of one k; a panel has all k
 *
 * One tensor copy brings a panel: its box is a line's elements by the lines. `span` is the width of the
 * swizzle that the tensor map has: 128, 64 or 32 bytes, or 16 for none. The swizzle exchanges the 16-byte
 * chunks of a line, by bits 7 and up of the address, so that equal chunks of 8 neighbouring lines lie in all
 * banks. A panel begins at a multiple of 8 * span bytes.
 *
 * A matrix descriptor (PTX ISA, "Matrix Descriptor Format") has the address of the first element that a wgmma
 * reads, and two distances, of which the table says what lies so far apart:
 *
 *                         leading (LBO)           stride (SBO)
 *   K-major               panels                  8 rows
 *   MN-major, swizzled    panels                  8 k
 *   MN-major, span 16     8 k                     panels
 *
 * The next step of k is `tile_offset(tile, 0, k)` bytes further on. Inside a swizzle's span this is no
 * multiple of the pattern, and need not be: the swizzle goes by the address that is read. */
#ifndef MC_SHARED_TILE_H
#define MC_SHARED_TILE_H

#include "ptx/builder.h"

enum {
    TILE_CHUNK = 16, /* bytes that a swizzle keeps together */
    TILE_LINES = 8,  /* lines of a swizzle's pattern, and rows or k of a core matrix */
    TILE_ALIGN = 1024,
    DESCRIPTOR_UNIT = 16,           /* bytes that addresses and distances in a descriptor count */
    DESCRIPTOR_ADDRESSES = 0x3ffff, /* the bits of an address that it has room for */
};

typedef struct shared_tile {
    int rows, k;
    int bytes; /* of an element */
    int span;
    bool mn_major; /* of elements of 2 bytes alone */
} shared_tile;

static inline int tile_bytes(const shared_tile *t) { return t->rows * t->k * t->bytes; }
/* Elements of a line, lines of a panel, bytes of a panel, and panels. */
static inline int tile_line(const shared_tile *t) { return t->span / t->bytes; }
static inline int tile_lines(const shared_tile *t) { return t->mn_major ? t->k : t->rows; }
static inline int tile_panel(const shared_tile *t) { return tile_lines(t) * t->span; }
static inline int tile_panels(const shared_tile *t) { return tile_bytes(t) / tile_panel(t); }

/* Where element (row, k) would lie without a swizzle: bytes from the tile's first one. What is added to an
   address to begin at another row or k, since the swizzle goes by the sum. */
int tile_offset(const shared_tile *t, int row, int k);
/* Where it lies. The tile begins at a multiple of TILE_ALIGN. */
int tile_place(const shared_tile *t, int row, int k);

/* -- Matrix descriptors ------------------------------------------------------------------------------- */

/* The two halves of a descriptor, but for the address. */
uint32_t descriptor_low(const shared_tile *t);
uint32_t descriptor_high(const shared_tile *t);
/* The descriptor of the tile at the shared address AT, which is below 256 KiB; NAME is its register's. */
mc_reg tile_descriptor(mc_builder *b, const char *name, const shared_tile *t, mc_reg at);
/* What is added to a descriptor to move it by BYTES. */
static inline mc_operand descriptor_step(int bytes) { return I(bytes / DESCRIPTOR_UNIT); }

#endif
