/* The format packed24, a 2:4 sparse A as kernels read it: facts that emitters and the packer share.
 *
 * A is cut into atoms of 64 rows by as much of k as 128 bytes of kept elements are: 128 of 16 bits, 256 of
 * 8, 64 of 32 bits (1:2), or 512 of 4 bits. Of these two neighbours share a byte, and are kept or dropped
 * together: such a matrix is packed as one of bytes (4:8). A's rows and its k are filled up with zeros to
 * whole atoms. Those of 64 rows follow one another in the order of k, and then those of the next 64 rows.
 * Behind all is one more, of zeros:
 *
 *   values  lhs[atoms * 64 * 128 bytes]    what is kept, row by row of 128 bytes, with chunks of 16 bytes
 *                                          exchanged as a swizzle of 128 bytes does (shared_tile.h)
 *   meta    u8 [atoms * 64 * 16 or 32]     for each group of 4 elements (of 32 bits: 2) the places of what is
 *                                          kept, in the order of lanes
 *
 * So a stage's A and its metadata come to shared memory by plain bulk copies, as pieces without gaps, and lie
 * there as wgmma wants them: A behind a descriptor, and a lane's metadata side by side.
 *
 * A row's metadata in an atom are 4 bits a group, lower k in lower bits: 16 bytes, or 32 of elements of 8
 * bits. A step of k (32 bytes of A) takes 4 of them, or 8. Lane 4 g + t of warp w has rows 16 w + g and
 * 16 w + g + 8 (PTX ISA, "Sparse matrix storage"):
 *
 *   2 and 4 bytes   two words. Word i has step 2 i in lanes whose t is 0 or 1, and step 2 i + 1 in the
 *                   others, as a selector of 0 and 1 picks them: half t mod 2 of the step, that of row g in
 *                   the low 16 bits and that of row g + 8 in the others
 *   1 byte          four words, one a step: word t / 2 of the step, of row g + 8 (t mod 2) */
#ifndef MC_PACKED24_H
#define MC_PACKED24_H

#include <stdint.h>

enum {
    PACKED24_ROWS = 64,
    PACKED24_ROW_BYTES = 128, /* of values of a row in an atom */
    PACKED24_STEPS = 4,       /* of k, in an atom */
    PACKED24_LANES = 32,
    PACKED24_WARP_ROWS = 16,
};

/* Of elements of BYTES: how many k an atom has; bytes of values and of metadata of an atom; words that a lane
   has of these, and steps that a word has. */
static inline int packed24_k(int bytes) { return 2 * PACKED24_ROW_BYTES / bytes; }
static inline int packed24_values(void) { return PACKED24_ROWS * PACKED24_ROW_BYTES; }
static inline int packed24_meta_row(int bytes) { return bytes == 1 ? 32 : 16; }
static inline int packed24_meta(int bytes) { return PACKED24_ROWS * packed24_meta_row(bytes); }
static inline int packed24_words(int bytes) { return bytes == 1 ? PACKED24_STEPS : PACKED24_STEPS / 2; }
static inline int packed24_word_steps(int bytes) { return bytes == 1 ? 1 : 2; }

/* Where byte AT of ROW's values lies in its atom. */
static inline int packed24_value_place(int row, int at) {
    return row * PACKED24_ROW_BYTES + (at ^ (row % 8 * 16));
}

/* Where byte AT of ROW's metadata lies in its atom. */
static inline int packed24_meta_place(int bytes, int row, int at) {
    int warp = row / PACKED24_WARP_ROWS, g = row % 8, below = row / 8 % 2;
    int step_bytes = packed24_meta_row(bytes) / PACKED24_STEPS, step = at / step_bytes;
    int part = at % step_bytes / (step_bytes / 2); /* of the two halves that a step has */
    int t = bytes == 1 ? below + 2 * part : part + 2 * (step % 2);
    int word = step / packed24_word_steps(bytes), in_word = bytes == 1 ? at % 4 : 2 * below + at % 2;
    int lane = warp * PACKED24_LANES + 4 * g + t;
    return (lane * packed24_words(bytes) + word) * 4 + in_word;
}

#endif
