/* Packed formats: what kernels read (docs/formats.md). Functions that take a kernel for the sake of its
   format take NULL for the format dense (dense.h): mc_packs, mc_pack_fits, mc_pack, mc_pack_host,
   mc_pack_values, mc_pack_form and mc_pack_slots. */
#ifndef MCRT_PACK_H
#define MCRT_PACK_H

#include "arithmetic/code.h"
#include "matrix/host.h"
#include "matrix/row_order.h"
#include "parts/csr_lanes.h"

/* Named arrays, as the contract's mc_array lists them. count in elements. */
typedef struct mc_packed_array {
    const char *name; /* static string */
    mc_type type;
    int64_t count;
    void *data;
} mc_packed_array;

typedef struct mc_packed {
    mc_packed_array arrays[MC_MAX_ARRAYS];
    size_t array_count;
    int64_t pieces; /* thread blocks that share a panel, or a long row, and want a workspace */
} mc_packed;

MC_API void mc_packed_free(mc_packed *packed);
MC_API const mc_packed_array *mc_packed_find(const mc_packed *packed, const char *name); /* NULL: none */
/* MC_CANNOT where mc_pack would refuse A for KERNEL's fields. Of A, what it holds is not read. */
MC_API mc_status mc_pack_fits(const mc_kernel *kernel, const mc_vsparse *a, mc_diag *diag);
/* Whether packing for KERNEL makes any array. */
MC_API bool mc_packs(const mc_kernel *kernel);
/* Packs A, or the mask of an SDDMM, as the kernel's contract wants it (its format and fields). MC_CANNOT
   where the kernel's fields (vec, fixed m; lhs, fixed k; of an SDDMM fixed n) do not fit it. A kernel that
   reads no packed array gets none, whatever A is. */
MC_API mc_status mc_pack(const mc_kernel *kernel, const mc_vsparse *a, mc_packed *packed, mc_diag *diag);
/* The same of a matrix of any kind: MC_CANNOT where the format is made of another one. */
MC_API mc_status mc_pack_host(const mc_kernel *kernel, const host_matrix *a, mc_packed *packed,
                              mc_diag *diag);
/* The way back: the matrix of ROWS x COLS of which mc_pack made PACKED; MC_FORMAT for arrays that no matrix
   gives, MC_CANNOT where KERNEL's format has no way back. A mask's values are zeros if PACKED has none. */
MC_API mc_status mc_unpack(const mc_kernel *kernel, const mc_packed *packed, int64_t rows, int64_t cols,
                           mc_vsparse *a, mc_diag *diag);
/* Puts new values into what mc_pack made of a matrix with A's pattern. "values" ("mask_values") becomes, byte
 * for byte, what mc_pack would make of A. Every other array, all addresses and the order of vectors stay, so
 * that a copy of PACKED on a device needs "values" again and nothing else. No array holds sums of A's rows,
 * which would have to follow: a kernel computes what it must correct by them. MC_FORMAT where PACKED is of
 * another pattern, MC_CANNOT as for mc_pack; after any failure PACKED is as before. The formats' own
 * functions, *_pack_values and *_export_values, do the same. */
MC_API mc_status mc_pack_values(const mc_kernel *kernel, const mc_vsparse *a, mc_packed *packed,
                                mc_diag *diag);

/* What mc_pack for KERNEL depends on besides the matrix, as text ("windowed-bcrs window=128 stages=4 ..."):
   kernels with one form read the same arrays. */
enum { MC_PACK_FORM = 160 };
MC_API void mc_pack_form(const mc_kernel *kernel, char form[MC_PACK_FORM]);
/* The greatest value of TYPE, KERNEL's lhs, that mc_pack takes; it refuses greater ones. */
MC_API int64_t mc_pack_most(const mc_kernel *kernel, mc_type type);

/* strided-bcrs, the format of the gather SpMM: row blocks padded to whole strides; integers of at most 16
   bits, or floats of 16, with vec at most 16. The first strides of all row blocks, the heads, come first, so
   that a warp finds its own without row_ptr: row block b's are strides b * heads to b * heads + heads - 1,
   all padding where it has fewer. Its other strides follow from row_ptr[b] on. */
typedef struct mc_strided {
    int stride; /* vectors, a multiple of 32 */
    /* heads of a row block, 1 to 32: as many as warps share it. 0: strides lie row block by row block, and
       values are whole elements, with stride 32 in the order MC_ORDER_SRBCRS32 */
    int heads;
    mc_coding coding; /* of integers mc_digits */
    bool int4;        /* strided-bcrs-int4, for an mma of 4-bit integers: stride 32 or 64 */
    bool shuffle;     /* int4: col_idx is permuted, as that of mc_srbcrs */
} mc_strided;
/*   row_ptr  s32[row_blocks + 1]           in strides; row_ptr[0] = row_blocks * heads, the last one is the
                                            number of strides
     col_idx  s32[strides * stride]         column of each slot, -1 for padding
     values   s8 [strides * stride * rows]  for each group of 32 slots [rows][32] (slot_value_offset), 0 for
                                            padding
   Floats take two bytes each, as they are: [vec][32] of them for each group, 0 for padding, so that a lane's
   eight of a row lie side by side. So do integers without heads, two bytes each, one, or half of one.
   Of integers the rows are [planes][vec]: a plane holds a digit of each value, in a byte. Values of at most 8
   bits have one, which is the value, those of 12 and 16 bits two (mc_digits), the low one first. Digits
   OFFSET: the last row is 1 for each vector.
   int4, which holds integers alone: digits have 4 bits, half a byte, and lie [rows][stride] in each stride,
   the first slot in a byte's low half; values have 1 to 4 of them. The index of slot j of 8 is at
   (j % 2) * 4 + j / 2 with the shuffle.
   Packing is MC_CANNOT, and names a value's row and column, where it has no such digits. */
MC_API mc_status mc_strided_pack(const mc_vsparse *a, const mc_strided *form, mc_packed *packed,
                                 mc_diag *diag);
MC_API mc_status mc_strided_pack_values(const mc_vsparse *a, const mc_strided *form, mc_packed *packed,
                                        mc_diag *diag);
/* The way back; TYPE, VEC, ROWS and COLS are the matrix's. Checks everything it reads: MC_FORMAT for packed
 * arrays that no matrix has. */
MC_API mc_status mc_strided_unpack(const mc_packed *packed, mc_type type, int vec, const mc_strided *form,
                                   int64_t rows, int64_t cols, mc_vsparse *a, mc_diag *diag);

/* panels, what the gather SpMM reads of a matrix without vectors (vec = 1): `rows` neighbouring rows are a
   panel. The columns in which any of them has something fill slots, in ascending order, and each panel whole
   strides of 32. Which warp takes which strides, the array of items says (gen/parts/panels.h). */
typedef struct mc_panels {
    int rows;         /* of a panel: 8 or 16 */
    int warps;        /* of a thread block: 1, 2, 4 or 8 */
    int share;        /* strides that a warp takes of a panel, before others share it */
    bool nonzeros;    /* values have no zeros for rows without something in a column */
    mc_coding coding; /* of integers mc_digits */
    row_order order;  /* in which rows become panels */
} mc_panels;
/*   items    s32[items * 4]              what each warp of the grid does, in whole thread blocks. First come
                                          panels of several thread blocks, then those of 8 warps (or as many
                                          as there are), of 4, of 2 and of 1, each kind in ascending order
     col_idx  s32[strides * 32]           column of each slot, -1 for padding
     values   s8 [strides * 32 * rows]    as strided-bcrs has them, 0 where a row has nothing in the column
   NONZEROS, of values that are one piece:
     masks    s32[strides][rows][2]       bit s: the row has something in slot s; and the number of the first
                                          of these values
     values   s8 [nonzeros * bytes]       stride by stride, row by row, slot by slot; nonzeros is rounded up
                                          to a multiple of 32
   Where rows do not come in their own order:
     row_of   s32[(panels + 1) * rows]    row of A and C that each row of each panel is; INT32_MAX: none
   Without masks arrays do not say which rows of a panel have something in a column: mc_panels_pack_values
   takes any matrix whose panels have the same columns.
   The matrix has vec = 1. MC_CANNOT as for strided-bcrs, and for 2^31 nonzeros or more. */
MC_API mc_status mc_panels_pack(const mc_vsparse *a, const mc_panels *form, mc_packed *packed, mc_diag *diag);
MC_API mc_status mc_panels_pack_values(const mc_vsparse *a, const mc_panels *form, mc_packed *packed,
                                       mc_diag *diag);

/* csr, for SpMM kernels without tensor cores: CSR as it comes, and where rows are dealt out which thread
   block has which. */
typedef struct mc_csr_form {
    int lanes;  /* that share the nonzeros of a row: 1 to 32 */
    int groups; /* of a warp, each of which has a row: a power of two */
    int warps;  /* of a thread block: 1, 2, 4 or 8 */
    int share;  /* strides of 32 nonzeros that a group takes of a row, before others share it; 0: all */
    /* a warp walks through the nonzeros of neighbouring rows: of one lane, one group, and a share of 1 to
       8 */
    bool segmented;
    /* there is no list: a row is long as csr_is_long says of it, and its thread block's */
    bool by_blocks;
} mc_csr_form;
/*   items    s32[items * 4]  what each warp of the grid does, in whole thread blocks; none where share is 0,
                              or by_blocks.
                              First long rows, by how many thread blocks and warps share them, as in panels:
                              the row, the first of the warp's nonzeros, the one behind the last, CSR_LONG
                              and how they are shared (gen/parts/csr_lanes.h, panels.h). Then at most
                              `groups` neighbouring rows that are not long: the first one, the one behind the
                              last, 0, and whether others in the thread block share a row. With `segmented`
                              as many rows, up to 32, as together have at most share * 32 nonzeros: the first
                              one, their number and 256 times that of their nonzeros, the first of these, and
                              the same. Rows on both sides of a multiple of 256 are never in one item
     row_ptr  s32[m + 1]      the first nonzero of each row, then their number
     col_idx  s32[nonzeros]
     values   [nonzeros]      elements of A's type, as they are, and zeros up to a multiple of 32
   The matrix has vec = 1. MC_CANNOT for one of integers, and for 2^31 nonzeros or more. */
MC_API mc_status mc_csr_pack(const mc_vsparse *a, const mc_csr_form *form, mc_packed *packed, mc_diag *diag);

/* csr-stream, for products by a vector without tensor cores: a warp of the grid has an item, share * 32 slots
   for nonzeros of neighbouring rows, or for a part of a row that has more. */
typedef struct mc_csr_stream {
    int warps; /* of a thread block: 1, 2, 4 or 8 */
    int share; /* strides of 32 slots of an item: 1 to 63 */
    csr_columns columns;
} mc_csr_stream;
/*   items    s32[items * 4]   in whole thread blocks: the row, or the first one; the number of rows, of which
                               fillers have none; the most lanes of a row; and how the row is shared, as in
                               panels, with CSR_LONG where it has several items. Such rows come first.
                               (gen/parts/csr_lanes.h, panels.h)
     parts    u16[items][32]   of each lane the end of its products in the item, and from bit 11 on how many
                               lanes of the row follow
     col_idx  s32[items][share * 32]
                               of each slot; where there is no nonzero the column of the item's last one
     values   [items][share * 32]
                               elements of A's type, as they are; where there is no nonzero 0
   COLUMNS_U16:
     items    s32[items * 4]   the second word is the number of rows and 256 times the most lanes of a row,
                               the third one the least column of the item, 0 if it has none
     col_idx  u16[items][share * 32]
                               columns less the least one
   COLUMNS_SORTED:
     col_idx  s32[items][share * 32]
                               column << csr_place_bits | place: words of a thread block ascend from slot
                               to slot, and the place says which of its nonzeros it is
   Where an item's nonzero number i lies among the slots of an array csr_stream_slot says (csr_lanes.h). The
   matrix has vec = 1. MC_CANNOT for one of integers, for 2^31 slots or more, for a row of more than 2048 *
   warps * share * 32 nonzeros, of COLUMNS_U16 for an item with columns that are 65536 apart or more, and of
   COLUMNS_SORTED for more columns than have room (csr_sorted_columns). */
MC_API mc_status mc_csr_stream_pack(const mc_vsparse *a, const mc_csr_stream *form, mc_packed *packed,
                                    mc_diag *diag);

/* windowed-bcrs, the format of the ring SpMM: strides of 32 vectors, in an order that lets 8 rows of B be
   read from shared memory at once, and row blocks in an order that gives thread blocks equal work. Integers
   of at most 16 bits, or floats, with vec at most 16. */
typedef struct mc_ring {
    int window, stages; /* rows of B in a window, a multiple of 8; windows in the ring, 2 to 255 */
    int tile_n;         /* bytes of B in a row of the ring: 16, 32, 64 or 128; the ring has less than 1 MiB */
    int split;          /* parts of a row block's strides, each for a warp of its own: 1, 2, 4 or 8 */
    mc_coding coding;   /* of integers mc_digits */
    bool zeros;   /* padding names a row of zeros behind the last stage, as that of floats does anyway */
    int together; /* row blocks that stay neighbours in row_order; 0: 1 */
    int parts;    /* of all windows of B, 2, 4 or 8, each for a thread block of its own, which has a ring of
                     its own; with split = 1. 0: 1 */
    bool fours;   /* of integers: values as sparse mma take them (windowed_fours_offset), without ones */
} mc_ring;
/*   row_order  s32[row_blocks]              the row block at each place
     row_ptr    s32[split * row_blocks + 1]  in strides: part p of place q begins at [p * row_blocks + q]
                                             and ends where the next one begins. With parts above 1 there are
                                             so many in place of split: part p has the vectors in windows
                                             floor(W p / parts) to floor(W (p + 1) / parts) - 1 of all W, and
                                             control and places count from its first window on
     control    s32[strides]                 256 * windows to leave + windows to wait for, before the stride
     places     s32[strides * 16]            where slots w (low half) and 16 + w lie in the ring, in 16 bytes
     values     s8 [strides * 32 * rows]     for each stride [rows][32] (windowed_value_offset), rows as
                                             strided-bcrs has them; of floats [vec][32], as they are
                                             (windowed_float_place). Of 32 bits places and values have an
                                             order of their own (windowed_word_of, windowed_word_place) */
MC_API mc_status mc_windowed_pack(const mc_vsparse *a, const mc_ring *ring, mc_packed *packed, mc_diag *diag);
MC_API mc_status mc_windowed_pack_values(const mc_vsparse *a, const mc_ring *ring, mc_packed *packed,
                                         mc_diag *diag);

/* BCRS of V x 1 column vectors as published (vectorSparse), which is mc_vsparse with 32-bit offsets: integers
   of at most 16 bits or floats, vec at most 16.
     row_ptr  s32[row_blocks + 1]  row_ptr[b] is block b's first vector, the last one the number of vectors
     col_idx  s32[vectors]         ascending inside a row block
     values   s8 [bytes]           vectors * vec elements of A's type, a vector's one after another; 12 bits
                                   in 16, two of 4 bits in a byte, the lower index in the low half */
MC_API mc_status mc_bcrs_export(const mc_vsparse *a, mc_packed *packed, mc_diag *diag);
MC_API mc_status mc_bcrs_export_values(const mc_vsparse *a, mc_packed *packed, mc_diag *diag);
/* The way back, as mc_srbcrs_import. */
MC_API mc_status mc_bcrs_import(const mc_packed *packed, mc_type type, int vec, int64_t rows, int64_t cols,
                                mc_vsparse *a, mc_diag *diag);

/* SR-BCRS as published (Magicube), docs/formats.md: of integers of at most 16 bits, vec at most 16. Its own
   kernels want k = 16 with digits of 8 bits where both sides have 8 bits or more, and k = 32 with digits of 4
   bits and the shuffle where a side has 4. */
typedef struct mc_srbcrs {
    int k;          /* slots of a stride, 16 or 32: the mma's k */
    int piece_bits; /* bits of the digits that values are cut into: 4 or 8 */
    bool shuffle;   /* k = 32 only: col_idx permuted for the transpose of a 4-bit B */
} mc_srbcrs;
/*   row_ptr  s32[2 * row_blocks]  each block's first slot, and that plus its number of vectors
     col_idx  s32[slots]           column of each slot, -1 for padding
     values   s8 [slots * vec * planes * piece_bits / 8]
                                   for each stride [planes][vec][k] digits, the low one first, 0 for padding;
                                   of two 4-bit digits in a byte, that of the lower slot is in the low half
   From the paper: strides, padding, row-major values (IV-A), the shuffle inside each 8 slots, padding
   included: the index at position j moves to position (j % 2) * 4 + j / 2, the values stay (IV-B3), values
   cut into digits, of which the top one has the sign and the others none (IV-D). From its authors' host code:
   -1, the pair of offsets, planes inside a stride, which half of a byte, and that values of 12 bits take the
   room of 16: with 4-bit digits the fourth plane is 0. That code has no signed values. Ours: a value narrower
   than its digits (s4 and the top digit of s12 in 8 bits) is extended by its sign; every type goes with every
   k and digit width, with or without the shuffle. */
MC_API mc_status mc_srbcrs_export(const mc_vsparse *a, const mc_srbcrs *form, mc_packed *packed,
                                  mc_diag *diag);
MC_API mc_status mc_srbcrs_export_values(const mc_vsparse *a, const mc_srbcrs *form, mc_packed *packed,
                                         mc_diag *diag);
/* The way back; TYPE, VEC, ROWS and COLS are the matrix's. Checks everything it reads: MC_FORMAT, with the
   array and the place, for what no matrix gives; columns must ascend inside a row block, as those of
   mc_vsparse do. */
MC_API mc_status mc_srbcrs_import(const mc_packed *packed, mc_type type, int vec, const mc_srbcrs *form,
                                  int64_t rows, int64_t cols, mc_vsparse *a, mc_diag *diag);

/* HRPB as published (cuTeSpMM), docs/formats.md: of single nonzeros, vec = 1, with values of whole bytes,
   integers or floats, as they lie in memory; those of tf32 are rounded to it. */
typedef struct mc_hrpb {
    int tile_rows; /* TM, rows of a panel: 16 or 32 */
    int tile_cols; /* TK, active columns of a block: a multiple of 4, at most 64 */
} mc_hrpb;
/*   blocked_row_ptr  s32[panels + 1]    the first block of each panel, the last one the number of blocks
     size_ptr         s32[blocks + 1]    where each block begins in packed_blocks, in bytes
     active_cols      s32[blocks * TK]   of each panel the columns that have something, ascending; -1 behind
                                         them in its last block
     packed_blocks    s8 [bytes]         block after block (gen/parts/hrpb.h), each in little-endian order
                                           patterns  u64[TM / 16 * TK / 4]  of brick j bit 4 r + c: there is a
                                                                            value in row r and column c
                                           col_ptr   u32[TK / 4 + 1]        the first brick of each column of
                                                                            bricks, and their number
                                           rows      u32[TM / 16 * TK / 4]  the brick is the block's rows
                                                                            16 rows[j] and on
                                           values    brick after brick, each row by row
                                         and zeros up to a multiple of 16 bytes; patterns and rows are 0 from
                                         the number of bricks on
   From the paper: panels, active columns, bricks and their order, patterns, values row by row (3.2), the
   three arrays of a block and the four of a matrix (figures 4 and 5), which bit is which (algorithm 1). Ours:
   the order of the arrays in a block, offsets in bytes, the 16, and -1.
   MC_USAGE for a form that there is not; MC_CANNOT for vectors, for values of 4 bits, and where blocks,
   bytes or panels leave s32. */
MC_API mc_status mc_hrpb_export(const mc_vsparse *a, const mc_hrpb *form, mc_packed *packed, mc_diag *diag);
MC_API mc_status mc_hrpb_export_values(const mc_vsparse *a, const mc_hrpb *form, mc_packed *packed,
                                       mc_diag *diag);
/* The way back; TYPE, ROWS and COLS are the matrix's. Checks every array: MC_FORMAT, with the array and the
   place, for what no matrix gives, MC_USAGE for a form or a shape that there is not. */
MC_API mc_status mc_hrpb_import(const mc_packed *packed, mc_type type, const mc_hrpb *form, int64_t rows,
                                int64_t cols, mc_vsparse *a, mc_diag *diag);
/* Adds the virtual panels of section 5 to what mc_hrpb_export made. A panel of more blocks than the mean of
   all panels times WAVES is cut into parts, each of at most about so many (equations 6 and 7). In a launch of
   so many waves of thread blocks no panel then takes longer than the others together. WAVES 0: none is cut.
     virtual_panels  s32[parts * 4]  panel, first block, the block behind the last, and the part with the
                                     number of parts less 1 above it (HRPB_PARTS_SHIFT); empty panels have one
                                     without blocks
   MC_FORMAT where PACKED has no blocked_row_ptr. */
MC_API mc_status mc_hrpb_split(mc_packed *packed, double waves, mc_diag *diag);

#endif
