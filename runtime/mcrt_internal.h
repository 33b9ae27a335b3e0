/* What libmcrt is made of, for itself and the project's own programs (mcrt.h is what applications include):
 * matrices, packed formats, devices and the CPU reference; what stands between a generated kernel and a
 * result that is known to be right.
 *
 * matrix file -> mc_csr (pattern) -> mc_vsparse (nonzero vectors with values)
 *             -> mc_packed (what the kernel reads) -> mc_device (GPU or simulator)
 *             -> mc_dense (result), compared with mc_reference_spmm or mc_reference_sddmm.
 *
 * Functions return a status and put a message into DIAG (mc_status.h). Objects that a function makes belong
 * to the caller and are freed by the *_free function, which accepts a zeroed struct; on failure the output is
 * left zeroed. */
#ifndef MCRT_INTERNAL_H
#define MCRT_INTERNAL_H

#include "mcgen.h"
#include "mcrt.h"
#include "mcrt_device.h"

/* -- Element types ------------------------------------------------------------------------------------ */

enum {
#define X(name, text, bits, bytes, descr) +1
    MC_TYPE_COUNT = MC_TYPE_LIST(X)
#undef X
};

MC_API int mc_type_bits(mc_type type);     /* of the value */
MC_API size_t mc_type_bytes(mc_type type); /* of an element in memory; 0: two to a byte */
/* Bytes of COUNT elements one after another, the last one filled up;
   -1 where they leave int64 or COUNT is negative. */
MC_API int64_t mc_type_size(mc_type type, int64_t count);
MC_API const char *mc_type_text(mc_type type);
MC_API mc_status mc_type_from_text(const char *text, mc_type *type, mc_diag *diag);
/* The type that FIELD ("lhs", "rhs", "out") of KERNEL names; MC_CANNOT where it has no such field. */
MC_API mc_status mc_type_of(const mc_kernel *kernel, const char *field, mc_type *type, mc_diag *diag);
MC_API bool mc_type_is_real(mc_type type); /* f16, bf16, f32 */
MC_API int64_t mc_type_min(mc_type type);  /* of the integers */
MC_API int64_t mc_type_max(mc_type type);

/* -- Sparsity patterns -------------------------------------------------------------------------------- */

/* CSR pattern: row_ptr[rows + 1] offsets into col_idx[nnz]; columns ascending and distinct inside a row. */
typedef struct mc_csr {
    int64_t rows, cols, nnz;
    int64_t *row_ptr;
    int32_t *col_idx;
} mc_csr;

/* Reads PATH by its ending: .smtx (DLMC: "rows, cols, nnz", row offsets, column indices) or .mtx
   (MatrixMarket coordinate; general, symmetric, skew-symmetric or hermitian; values are dropped, entries
   sorted by row). Malformed, truncated, out-of-range, unsorted (.smtx) or duplicate input: MC_FORMAT with
   "path:line: ...". */
MC_API mc_status mc_csr_read(const char *path, mc_csr *csr, mc_diag *diag);
MC_API mc_status mc_csr_write_smtx(const char *path, const mc_csr *csr, mc_diag *diag);
MC_API void mc_csr_free(mc_csr *csr);

/* How row lengths vary: UNIFORM keeps each entry with probability 1 - sparsity; REALISTIC draws each row's
   length from a log-normal law with coefficient of variation CV (magnitude-pruned DLMC layers show 0.2 to
   0.4), the columns with a mild preference that the whole matrix shares, as pruned layers have; the mean
   length is kept. */
typedef enum mc_pattern_law { MC_PATTERN_UNIFORM, MC_PATTERN_REALISTIC } mc_pattern_law;

typedef struct mc_pattern {
    int64_t rows, cols;
    double sparsity; /* 0 (full) to 1 (empty) */
    mc_pattern_law law;
    double cv; /* REALISTIC only */
    uint64_t seed;
} mc_pattern;

/* Same arguments, same matrix, on every machine. */
MC_API mc_status mc_csr_generate(const mc_pattern *pattern, mc_csr *csr, mc_diag *diag);

/* -- Dense matrices ----------------------------------------------------------------------------------- */

/* Row-major: element (i, j) at data[i * ld + j]; ld >= cols, and even where two elements share a byte, so
   that rows begin with a byte. The gap columns of a row belong to the allocation. */
typedef struct mc_dense {
    mc_type type;
    int64_t rows, cols, ld;
    void *data;
} mc_dense;

MC_API mc_status mc_dense_create(mc_type type, int64_t rows, int64_t cols, int64_t ld, mc_dense *dense,
                                 mc_diag *diag);
MC_API void mc_dense_free(mc_dense *dense);
/* An integer; of a real type the element's bits. */
MC_API int64_t mc_dense_get(const mc_dense *dense, int64_t row, int64_t col);
MC_API void mc_dense_set(mc_dense *dense, int64_t row, int64_t col, int64_t value);
/* The element's value, which every type but s64 holds exactly. */
MC_API double mc_dense_real(const mc_dense *dense, int64_t row, int64_t col);
/* A copy with elements of TYPE and the leading dimension LD. Integers become integers: MC_FORMAT names, as
   element of NAME, the first one out of TYPE's range. */
MC_API mc_status mc_dense_convert(const mc_dense *from, const char *name, mc_type type, int64_t ld,
                                  mc_dense *to, mc_diag *diag);
/* NumPy .npy, format 1.0 to 3.0, little-endian C order, 2-D, of a type of MC_TYPE_LIST (bf16: what ml_dtypes'
   arrays are saved as, void of two bytes). ld = cols on reading. Types of 4 and 12 bits are written as those
   of 8 and 16 bits, and read as these: mc_dense_convert makes them what they were. */
MC_API mc_status mc_npy_read(const char *path, mc_dense *dense, mc_diag *diag);
/* The same, also of a 1-D array (1 x length) or a scalar (1 x 1). */
MC_API mc_status mc_npy_read_vector(const char *path, mc_dense *dense, mc_diag *diag);
MC_API mc_status mc_npy_write(const char *path, const mc_dense *dense, mc_diag *diag);
/* The rows of DENSE, one after another, as a 1-D array. */
MC_API mc_status mc_npy_write_vector(const char *path, const mc_dense *dense, mc_diag *diag);

/* Where generated values come from: FULL uniform over the type's range, EXTREME only the type's least and
   greatest values, ONES all 1. */
typedef enum mc_value_law { MC_VALUES_FULL, MC_VALUES_EXTREME, MC_VALUES_ONES } mc_value_law;
MC_API void mc_dense_fill(mc_dense *dense, mc_value_law law, uint64_t seed); /* integers; gap columns too */

/* -- Vector-sparse matrices --------------------------------------------------------------------------- */

/* BCRS (column-vector encoding): row blocks of VEC rows; row block i holds the nonzero vectors
   row_ptr[i] .. row_ptr[i + 1] - 1, each a VEC x 1 column at col_idx[j], its VEC values one after another in
   values[j * vec ...]. Columns ascend inside a row block. */
typedef struct mc_vsparse {
    mc_type type;
    int vec;
    int64_t rows, cols; /* rows = row_blocks * vec */
    int64_t row_blocks, vectors;
    int64_t *row_ptr;
    int32_t *col_idx;
    void *values;
} mc_vsparse;

/* Each nonzero of the pattern becomes a VEC x 1 vector: rows = vec * csr->rows. Values are zero until filled.
 */
MC_API mc_status mc_vsparse_dilate(const mc_csr *csr, int vec, mc_type type, mc_vsparse *out, mc_diag *diag);
/* Each group of VEC rows becomes a row block holding the union of its columns; rows is rounded up to a
   multiple of VEC. *fill is nonzeros / (vectors * vec), 1 where nothing is stored. MASK, if not NULL,
   receives a malloc'ed byte for each value, 1 where the pattern has it (the caller frees). */
MC_API mc_status mc_vsparse_union(const mc_csr *csr, int vec, mc_type type, mc_vsparse *out, double *fill,
                                  uint8_t **mask, mc_diag *diag);
MC_API void mc_vsparse_free(mc_vsparse *a);
MC_API int64_t mc_vsparse_value(const mc_vsparse *a, int64_t vector, int row);
MC_API void mc_vsparse_set_value(mc_vsparse *a, int64_t vector, int row, int64_t value);
/* Fills all values; with MASK (see union) those outside of the pattern stay zero. */
MC_API void mc_vsparse_fill(mc_vsparse *a, mc_value_law law, uint64_t seed, const uint8_t *mask);
/* Values beyond MOST become MOST. */
MC_API void mc_vsparse_clamp(mc_vsparse *a, int64_t most);
/* Takes values from DENSE: either rows x cols (MC_FORMAT where it is nonzero outside of the pattern) or
   vectors x vec in BCRS order; where both fit, the matrix is meant. A value out of A's type's range is
   MC_FORMAT; an A of f32, a mask, takes f32 alone. On failure A is as before. */
MC_API mc_status mc_vsparse_take(mc_vsparse *a, const mc_dense *dense, mc_diag *diag);

/* What estimates (mc_spec_estimate) want to know of A B,
   where B has N columns and the leading dimension LDB. */
MC_API mc_problem mc_problem_of(const mc_vsparse *a, int64_t n, int64_t ldb);

/* -- Packed formats ----------------------------------------------------------------------------------- */

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
} mc_packed;

MC_API void mc_packed_free(mc_packed *packed);
MC_API const mc_packed_array *mc_packed_find(const mc_packed *packed, const char *name); /* NULL: none */
/* Packs A, or the mask of an SDDMM, as the kernel's contract wants it (its format and fields). MC_CANNOT
   where the kernel's fields (vec, fixed m; lhs, fixed k; of an SDDMM fixed n) do not fit it. */
MC_API mc_status mc_pack(const mc_kernel *kernel, const mc_vsparse *a, mc_packed *packed, mc_diag *diag);
/* New values in what mc_pack made of a matrix with A's pattern: "values" ("mask_values") becomes, byte for
   byte, what mc_pack would make of A; every other array, all addresses and the order of vectors stay. So a
   copy of PACKED on a device needs "values" again and nothing else. No array holds sums of A's rows that
   would have to follow: what a kernel must correct by them, it computes. MC_FORMAT where PACKED is of another
   pattern, MC_CANNOT as for mc_pack; after any failure PACKED is as before. The formats' own functions,
   *_pack_values and *_export_values, are alike. */
MC_API mc_status mc_pack_values(const mc_kernel *kernel, const mc_vsparse *a, mc_packed *packed,
                                mc_diag *diag);

/* How values are taken apart into digits of 8 bits, v = d0 + 256 d1, or of 4 (docs/precisions.md).
     TOP_SIGNED  the top digit with the sign that v's type has, the others from 0 to 255 (15). The only one
                 for unsigned values and for those of one digit.
     BALANCED    all from -128 to 127 (-8 to 7): the greatest values of a type may have no such digits
                 (mc_digits_most).
     OFFSET      the digits of v + 2^(bits of v - 1), without signs; the packed values have a row more, 1 for
                 each vector. */
typedef enum mc_digits { MC_DIGITS_TOP_SIGNED, MC_DIGITS_BALANCED, MC_DIGITS_OFFSET } mc_digits;

/* Those of KERNEL's field `digits`. */
MC_API mc_digits mc_digits_of(const mc_kernel *kernel);
/* The greatest value of TYPE that has such digits of BITS bits, 8 or 4. */
MC_API int64_t mc_digits_most(mc_digits digits, int bits, mc_type type);
/* What mc_pack for KERNEL depends on besides the matrix, as text ("windowed-bcrs window=128 stages=4 ..."):
   kernels with one form read the same arrays. */
enum { MC_PACK_FORM = 160 };
MC_API void mc_pack_form(const mc_kernel *kernel, char form[MC_PACK_FORM]);
/* The greatest value of TYPE, KERNEL's lhs, that mc_pack takes; it refuses greater ones. */
MC_API int64_t mc_pack_most(const mc_kernel *kernel, mc_type type);

/* strided-bcrs, the format of the gather SpMM: row blocks padded to whole strides; integers of at most 16
   bits, vec at most 8. The first strides of all row blocks, the heads, come first, so that a warp finds its
   own without row_ptr: row block b's are strides b * heads to b * heads + heads - 1, all padding where it has
   fewer. Its other strides follow from row_ptr[b] on. */
typedef struct mc_strided {
    int stride; /* vectors, a multiple of 32 */
    int heads;  /* of a row block, 1 to 32: the warps that share it */
    mc_digits digits;
    bool int4;    /* strided-bcrs-int4, for an mma of 4-bit integers: stride 32 or 64 */
    bool shuffle; /* of int4: col_idx is permuted, as that of mc_srbcrs */
} mc_strided;
/*   row_ptr  s32[row_blocks + 1]           in strides; row_ptr[0] = row_blocks * heads, the last one is the
                                            number of strides
     col_idx  s32[strides * stride]         column of each slot, -1 for padding
     values   s8 [strides * stride * rows]  for each group of 32 slots [rows][32] (slot_value_offset), 0 for
                                            padding
   The rows are [planes][vec]: a plane holds a digit of each value, in a byte. Values of at most 8 bits have
   one, which is the value, those of 12 and 16 bits two (mc_digits), the low one first. Digits OFFSET: the
   last row is 1 for each vector.
   int4: digits have 4 bits, half a byte, and lie [rows][stride] in each stride, the first slot in a byte's
   low half; values have 1 to 4 of them. The index of slot j of 8 is at (j % 2) * 4 + j / 2 with the shuffle.
   Packing is MC_CANNOT, and names a value's row and column, where it has no such digits. */
MC_API mc_status mc_strided_pack(const mc_vsparse *a, const mc_strided *form, mc_packed *packed,
                                 mc_diag *diag);
MC_API mc_status mc_strided_pack_values(const mc_vsparse *a, const mc_strided *form, mc_packed *packed,
                                        mc_diag *diag);
/* The way back; TYPE, VEC, ROWS and COLS are the matrix's. Checks everything it reads: MC_FORMAT for packed
 * arrays that no matrix has. */
MC_API mc_status mc_strided_unpack(const mc_packed *packed, mc_type type, int vec, const mc_strided *form,
                                   int64_t rows, int64_t cols, mc_vsparse *a, mc_diag *diag);

/* windowed-bcrs, the format of the ring SpMM: strides of 32 vectors, in an order that lets 8 rows of B be
   read from shared memory at once, and row blocks in an order that gives thread blocks equal work. Integers
   of at most 16 bits, vec at most 8. */
typedef struct mc_ring {
    int window, stages; /* rows of B in a window, a multiple of 8; windows in the ring, 2 to 255 */
    int tile_n;         /* bytes of B in a row of the ring: 32, 64 or 128; the ring has less than 1 MiB */
    int split;          /* parts of a row block's strides, each for a warp of its own: 1, 2, 4 or 8 */
    mc_digits digits;
} mc_ring;
/*   row_order  s32[row_blocks]              the row block at each place
     row_ptr    s32[split * row_blocks + 1]  in strides: part p of place q begins at [p * row_blocks + q]
                                             and ends where the next one begins
     control    s32[strides]                 256 * windows to leave + windows to wait for, before the stride
     places     s32[strides * 16]            where slots w (low half) and 16 + w lie in the ring, in 16 bytes
     values     s8 [strides * 32 * rows]     for each stride [rows][32] (windowed_value_offset), rows as
                                             strided-bcrs has them */
MC_API mc_status mc_windowed_pack(const mc_vsparse *a, const mc_ring *ring, mc_packed *packed, mc_diag *diag);
MC_API mc_status mc_windowed_pack_values(const mc_vsparse *a, const mc_ring *ring, mc_packed *packed,
                                         mc_diag *diag);

/* BCRS of V x 1 column vectors as published (vectorSparse), which is mc_vsparse with 32-bit offsets: integers
   of at most 16 bits, vec at most 8.
     row_ptr  s32[row_blocks + 1]  row_ptr[b] is block b's first vector, the last one the number of vectors
     col_idx  s32[vectors]         ascending inside a row block
     values   s8 [bytes]           vectors * vec elements of A's type, a vector's one after another; 12 bits
                                   in 16, two of 4 bits in a byte, the lower index in the low half */
MC_API mc_status mc_bcrs_export(const mc_vsparse *a, mc_packed *packed, mc_diag *diag);
MC_API mc_status mc_bcrs_export_values(const mc_vsparse *a, mc_packed *packed, mc_diag *diag);
/* The way back, as mc_srbcrs_import. */
MC_API mc_status mc_bcrs_import(const mc_packed *packed, mc_type type, int vec, int64_t rows, int64_t cols,
                                mc_vsparse *a, mc_diag *diag);

/* SR-BCRS as published (Magicube), docs/formats.md: of integers of at most 16 bits, vec at most 8. Its own
   kernels want k = 16 with digits of 8 bits where both sides have 8 bits or more, and k = 32 with digits of 4
   bits and the shuffle where a side has 4. */
typedef struct mc_srbcrs {
    int k;          /* slots a stride: 16 or 32, the mma's k */
    int digit_bits; /* 4 or 8: of the digits that values are cut into */
    bool shuffle;   /* k = 32 only: col_idx permuted for the transpose of a 4-bit B */
} mc_srbcrs;
/*   row_ptr  s32[2 * row_blocks]  each block's first slot, and that plus its number of vectors
     col_idx  s32[slots]           column of each slot, -1 for padding
     values   s8 [slots * vec * planes * digit_bits / 8]
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

/* -- Sampled products (SDDMM) ------------------------------------------------------------------------- */

/* C = A B, only where a mask has its nonzero vectors: the mask is an mc_vsparse of m x n. Its values count
   only where a kernel multiplies by them; they are then of f32 (mc_scale_fill fills them as it does any
   f32). */

/* That of KERNEL's field `layout`; MC_CANNOT where it has none. */
MC_API mc_status mc_layout_of(const mc_kernel *kernel, mc_layout *layout, mc_diag *diag);
/* The n and the k of the B that DENSE holds. */
MC_API int64_t mc_layout_n(mc_layout layout, const mc_dense *dense);
MC_API int64_t mc_layout_k(mc_layout layout, const mc_dense *dense);

/* That of KERNEL's field `order`; MC_CANNOT where it has none. */
MC_API mc_status mc_order_of(const mc_kernel *kernel, mc_order *order, mc_diag *diag);
/* Zeros in the shape of MASK's C. MC_CANNOT where its slots leave s32. */
MC_API mc_status mc_sampled_create(const mc_vsparse *mask, mc_order order, mc_type type, mc_dense *c,
                                   mc_diag *diag);
/* Brings VECTORS (vectors x vec: BCRS order) into ORDER, with zeros at its padding.
   c: created by the call. */
MC_API mc_status mc_sampled_arrange(const mc_vsparse *mask, mc_order order, const mc_dense *vectors,
                                    mc_dense *c, mc_diag *diag);
/* The way back: C in ORDER becomes vectors x vec, without padding. vectors: created by the call. */
MC_API mc_status mc_sampled_collect(const mc_vsparse *mask, mc_order order, const mc_dense *c,
                                    mc_dense *vectors, mc_diag *diag);

/* sampled-list, the format of the SDDMM: the slots of C (of BCRS order: its vectors) given out as items. An
   item is at most 16 * groups consecutive slots of one row block, whose columns are in one window; a warp
   computes it. Items are ordered by window, then row block, then column. Padding at a row block's end belongs
   to the window of its last vector. */
typedef struct mc_sampled {
    int groups;     /* of 16 slots: 1, 2, 4 or 8 */
    int64_t window; /* columns; 0 or MC_OPEN: one window has them all */
    mc_order order;
    bool values; /* C is multiplied by the mask's values */
    /* The format is sampled-windows: window is 1 to 65536, and at [g][2 j + h] col_idx has for row 8 h + g of
       the item's mma j a column, counted from the window's first, | its slot in the item << 16; the sign
       where that slot has no vector. Slots are in such an order that rows 2 q and 2 q + 1 have an even column
       and an odd one as often as that goes, those in use in the first mma. */
    bool windows;
} mc_sampled;
/*   items        s32[items][4]               row block, first slot, slots (padding is counted), 0
     col_idx      s32[items][8][2 * groups]   the column of the item's slot 16 j + 8 h + g at [g][2 j + h];
                                              -1: padding, or beyond the item's slots
     window_ptr   s32[windows + 1]            the first item of each window; where form.windows only
     mask_values  f32, in C's order and of C's size, 0 at padding; where form.values only
   MC_CANNOT where slots or items leave s32, or form.values and MASK is not of f32. */
MC_API mc_status mc_sampled_pack(const mc_vsparse *mask, const mc_sampled *form, mc_packed *packed,
                                 mc_diag *diag);
MC_API mc_status mc_sampled_pack_values(const mc_vsparse *mask, const mc_sampled *form, mc_packed *packed,
                                        mc_diag *diag);
/* The way back: a mask of f32, of zeros without form.values. Checks everything it reads: MC_FORMAT for arrays
   that no mask gives. */
MC_API mc_status mc_sampled_unpack(const mc_packed *packed, int vec, const mc_sampled *form, int64_t rows,
                                   int64_t cols, mc_vsparse *mask, mc_diag *diag);
/* The parameter item_count of kernels that read sampled-list; 0 where PACKED has no items. */
MC_API int64_t mc_sampled_items(const mc_packed *packed);
/* What kernels that read sampled-windows have bound as window_items: items of the longest window; 0 where
   PACKED is no such. */
MC_API int64_t mc_sampled_longest(const mc_packed *packed);

/* sampled-dense, the format of the SDDMM that computes dense tiles: which slots of C (of BCRS order: vectors)
   have columns in each tile, that is tile_n columns. Padding at a row block's end belongs to the tile of its
   last vector.
     tile_ptr  s32[row_blocks][tiles + 1]  the row block's first slot in each tile, and the end of its
                                           last one's
     col_idx   s32[slots]                  the column of each slot of C, -1: padding
   MC_CANNOT where slots leave s32. */
typedef struct mc_sampled_tiles {
    int64_t tile_n; /* columns */
    mc_order order;
} mc_sampled_tiles;
MC_API mc_status mc_sampled_dense_pack(const mc_vsparse *mask, const mc_sampled_tiles *form,
                                       mc_packed *packed, mc_diag *diag);
/* There are no values in it: MC_FORMAT where PACKED is not of MASK's pattern, else nothing to do. */
MC_API mc_status mc_sampled_dense_pack_values(const mc_vsparse *mask, const mc_sampled_tiles *form,
                                              const mc_packed *packed, mc_diag *diag);
/* The way back, as mc_sampled_unpack: a mask of f32 with zeros. */
MC_API mc_status mc_sampled_dense_unpack(const mc_packed *packed, int vec, const mc_sampled_tiles *form,
                                         int64_t rows, int64_t cols, mc_vsparse *mask, mc_diag *diag);

/* -- Reference ---------------------------------------------------------------------------------------- */

/* C = A B exactly, in int64 (MC_CANNOT where a sum leaves it). c: a->rows x b->cols, created by the call. */
MC_API mc_status mc_reference_spmm(const mc_vsparse *a, const mc_dense *b, mc_dense *c, mc_diag *diag);

/* The same of an SDDMM: A is m x k, B as LAYOUT says. sums: mask->vectors x mask->vec,
   created by the call. */
MC_API mc_status mc_reference_sddmm(const mc_vsparse *mask, const mc_dense *a, const mc_dense *b,
                                    mc_layout layout, mc_dense *sums, mc_diag *diag);

/* How a kernel turns its sums into C (docs/output.md). */
typedef struct mc_output {
    mc_type type;             /* of C: s32, s64, f16, bf16 or f32 */
    mc_per scale, bias;       /* what they go by; none for s32 and s64 */
    mc_activation activation; /* of what scale and bias give; none for s32 and s64 */
    bool exact;               /* made of the sums themselves, s64 always; else of the sums modulo 2^32 */
    bool masked;              /* SDDMM of a real type: the scaled sum times the mask's value, before TYPE */
} mc_output;

MC_API mc_status mc_output_of(const mc_kernel *kernel, mc_output *output, mc_diag *diag);
/* How many scales or biases there are for a C of ROWS x COLS: 0, 1, ROWS or COLS. */
MC_API int64_t mc_per_count(mc_per per, int64_t rows, int64_t cols);
/* Random scales and biases of either sign. FULL: of a size that suits sums of s8 products and f16; EXTREME:
   some make zeros, subnormal halves, or leave f16; ONES: 1. */
MC_API void mc_scale_fill(float *scale, int64_t count, mc_value_law law, uint64_t seed);
MC_API void mc_bias_fill(float *bias, int64_t count, mc_value_law law, uint64_t seed);
/* The C that a kernel with OUTPUT must give for the exact SUMS (of mc_reference_spmm), bit for bit: the sum,
   modulo 2^32 where OUTPUT is not exact, and, for a real type, rounded to f32, times SCALE (or fmaf with
   BIAS), through the activation, rounded to C's type. SCALE and BIAS have mc_per_count elements. c: created
   by the call. */
MC_API mc_status mc_reference_output(const mc_output *output, const float *scale, const float *bias,
                                     const mc_dense *sums, mc_dense *c, mc_diag *diag);
/* The same for the SUMS of mc_reference_sddmm and the elements of C in ORDER: scales by row and column are
   those of the rows of A and the columns of B (mc_per_count of mask->rows x mask->cols). c: created by the
   call. */
MC_API mc_status mc_reference_sampled(const mc_output *output, const mc_vsparse *mask, mc_order order,
                                      const float *scale, const mc_dense *sums, mc_dense *c, mc_diag *diag);
/* Compares GOT with WANT: integers modulo GOT's type's range (an s32 result is exact modulo 2^32), reals of
   one type bit for bit, where any NaN is as good as another. MC_MISMATCH: the message names the first wrong
   element and how many there are. */
MC_API mc_status mc_dense_compare(const mc_dense *got, const mc_dense *want, mc_diag *diag);

/* -- Problems ----------------------------------------------------------------------------------------- */

/* A value for a parameter of the contract. Arrays by device address, shapes by number, scalars (f32) by their
   bits. */
typedef struct mc_binding {
    const char *name;
    int64_t value;
} mc_binding;

MC_API mc_binding mc_bind_f32(const char *name, float value);

/* The tensor that KERNEL's contract wants a map of, from the array and shapes that are bound; of rank 0 where
   it wants none. MC_CANNOT where the array's address or leading dimension is not aligned for it. */
MC_API mc_status mc_bind_tensor(const mc_kernel *kernel, const mc_binding *bindings, size_t count,
                                mc_tensor *tensor, mc_diag *diag);
/* Makes the map of it, and BINDING for it: MAP must live as long as launches with it. BINDING->name is NULL
   where the kernel wants none. */
MC_API mc_status mc_bind_map(mc_device *device, const mc_kernel *kernel, const mc_binding *bindings,
                             size_t count, mc_tensor_map *map, mc_binding *binding, mc_diag *diag);

/* Fills LAUNCH for KERNEL: grid from the shapes, parameters by name. MC_CANNOT where a binding is missing, a
   fixed shape differs, an address misses its alignment, a shape leaves s32, or the grid leaves the hardware's
   limits. Those of m, n, k, lda, ldb, ldc that the kernel's family has, every array of the contract and every
   parameter (so item_count, mc_sampled_items) and what the grid is made of (so window_items,
   mc_sampled_longest) must be bound. "multiprocessors" may be, for kernels whose thread blocks take their
   work in turn. */
MC_API mc_status mc_bind(const mc_kernel *kernel, const mc_binding *bindings, size_t count, mc_launch *launch,
                         mc_diag *diag);

/* How often to launch, and what came of it. */
typedef struct mc_timing {
    int launches, rounds; /* in: 0 rounds, no timing */
    double microseconds;  /* out: median of a launch */
} mc_timing;

/* C = A B on DEVICE. */
typedef struct mc_spmm {
    const mc_vsparse *a;
    const mc_dense *b;
    int64_t ldc;
    /* Bytes that B's and C's device addresses lie past a 256-byte boundary: 0, or a test of
       unaligned data. */
    unsigned b_offset, c_offset;
    /* Where the kernel's output has them, NULL elsewhere: mc_per_count elements each, in host memory. */
    const float *scale, *bias;
} mc_spmm;

/* Packs, loads PTX (or, where PTX is NULL, the kernel's own), runs, and reads C (of the kernel's output type,
   created by the call: rows x n with ld = ldc). C, its gap and what lies in front of it and behind it are
   poisoned before; MC_MISMATCH where the kernel wrote any but C. TIMING may be NULL. */
MC_API mc_status mc_spmm_run(mc_device *device, const mc_kernel *kernel, const char *ptx,
                             const mc_spmm *problem, mc_timing *timing, mc_dense *c, mc_diag *diag);

/* C = A B where MASK has nonzero vectors. */
typedef struct mc_sddmm {
    const mc_vsparse *mask;
    const mc_dense *a, *b;                 /* m x k; as the kernel's layout says */
    unsigned a_offset, b_offset, c_offset; /* as in mc_spmm */
    const float *scale; /* where the kernel's output has them, NULL elsewhere: mc_per_count of m x n */
} mc_sddmm;

/* As mc_spmm_run. c: of the kernel's output type, in its order (mc_sampled_create). */
MC_API mc_status mc_sddmm_run(mc_device *device, const mc_kernel *kernel, const char *ptx,
                              const mc_sddmm *problem, mc_timing *timing, mc_dense *c, mc_diag *diag);

#endif
