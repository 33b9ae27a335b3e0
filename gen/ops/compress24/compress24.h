/* The family `compress24`: a dense matrix in device memory becomes what sparse tensor cores read, in one
 * pass. No operator of the runtime: mc_compress24 launches it (docs/sparse24.md).
 *
 *   compress24.c  schema, hints, names, the family
 *   contract.c    what a launch takes
 *   place.c       where a thread is
 *   kernel.c      source "dense": what a thread loads, how it stores
 *   pattern.c     source "pattern": metadata and slots out of a pattern in device memory
 *   edge.c        loads where the matrix ends, or its rows are not aligned
 *   choose.c      which elements of a group are kept, and the code that says so: many groups at once
 *   pairs.c       the same of 32 bits, where one of two is kept
 *   layout.c      where values and metadata lie
 *   report.c      groups with more than may be kept
 *
 * A *slab* is 64 rows by 256 bytes of A, whose kept elements are an atom of packed24. A thread block has one.
 * A *piece* is 32 bytes of a row of A. It becomes 16 bytes of values, and 16 bits of metadata, or 32 of
 * elements of 8 bits. A thread has four, those whose metadata are its own in packed24 (parts/packed24.h). A
 * *unit* is half of a piece, what is loaded at once.
 *
 * Two neighbours of 4 bits are kept or dropped together, and share a byte. So all that is said of elements of
 * 8 bits goes for such pairs, but how great one is, how many elements A's bytes hold, and a pattern's
 * columns. */
#ifndef MC_COMPRESS24_FAMILY_H
#define MC_COMPRESS24_FAMILY_H

#include "parts/emit.h"
#include "parts/fragment.h"
#include "parts/lanes.h"
#include "parts/made_name.h"
#include "parts/packed24.h"
#include "schema/family.h"

extern const mc_family mc_family_compress24;

/* The fields, in the order of the schema. */
enum { F_ELEMENT = FIELD_ARCH + 1, F_MODE, F_LAYOUT, F_SOURCE };

/* How magnitudes are told. */
typedef enum compress24_kind {
    COMPRESS24_FLOAT,  /* the bits but the sign; NaNs are to be made one */
    COMPRESS24_FINITE, /* the same of a type with one NaN */
    COMPRESS24_SIGNED,
    COMPRESS24_UNSIGNED,
    COMPRESS24_SIGNED_PAIR, /* two of 4 bits: the sum of both magnitudes */
    COMPRESS24_UNSIGNED_PAIR
} compress24_kind;

typedef struct compress24_element {
    int bytes; /* of 4 bits those of a pair */
    compress24_kind kind;
    bool brain; /* of two kinds of 16 bits the one that is no f16 */
} compress24_element;

extern const compress24_element compress24_elements[];
extern const char *const compress24_element_names[]; /* NULL-terminated */

typedef enum compress24_layout {
    COMPRESS24_PACKED,
    COMPRESS24_NATURAL,
    COMPRESS24_SM80,
    COMPRESS24_SM90
} compress24_layout;

typedef enum compress24_mode {
    COMPRESS24_STRICT, /* nobody looks at what becomes of groups that are too full */
    COMPRESS24_PRUNE,
    COMPRESS24_COPY /* moves as many bytes, and chooses nothing */
} compress24_mode;

enum {
    COMPRESS24_THREADS = PACKED24_ROWS / PACKED24_WARP_ROWS * PACKED24_LANES,
    UNIT_WORDS = 4,
    PIECE_UNITS = 2,
    PIECE_BYTES = 32,  /* of A */
    PIECE_VALUES = 16, /* bytes of its values */
    SLAB_PIECES = 8,   /* of a row */
    THREAD_PIECES = 4,
    THREAD_UNITS = THREAD_PIECES * PIECE_UNITS,
    LOWER_ROW = 8, /* from a thread's first row to its second one */
};

typedef struct compress24_plan {
    const char *type;
    compress24_element element;
    compress24_mode mode;
    compress24_layout layout;
} compress24_plan;

/* Whether two elements share a byte. */
static inline bool has_pairs(const compress24_plan *plan) {
    return plan->element.kind >= COMPRESS24_SIGNED_PAIR;
}
/* Elements that so many bytes of a row of A, or of values, hold. */
static inline int elements_in(const compress24_plan *plan, int bytes) {
    return bytes / plan->element.bytes * (has_pairs(plan) ? 2 : 1);
}

/* Of a piece: elements, and groups; bytes of its metadata. */
static inline int piece_elements(const compress24_plan *plan) { return elements_in(plan, PIECE_BYTES); }
static inline int piece_groups(const compress24_plan *plan) { return plan->element.bytes == 1 ? 8 : 4; }
static inline int piece_meta(const compress24_plan *plan) { return piece_groups(plan) / 2; }
static inline int unit_groups(const compress24_plan *plan) { return piece_groups(plan) / PIECE_UNITS; }

/* A thread's pieces: of elements of 8 bits those of one row, every second one; of others two of one row,
   every fourth one, each with the one LOWER_ROW below it. */
static inline bool has_two_rows(const compress24_plan *plan) { return plan->element.bytes > 1; }
static inline int piece_row(const compress24_plan *plan, int piece) {
    return has_two_rows(plan) ? piece % 2 : 0;
}
static inline int piece_step(const compress24_plan *plan, int piece) {
    return has_two_rows(plan) ? piece / 2 * 4 : piece * 2;
}

/* What a thread is at. */
typedef struct compress24_place {
    mc_reg thread, lane, warp, g, t;
    mc_reg item, block, step; /* number of the slab; of its rows and its columns among slabs */
    mc_reg row[2], is_row[2]; /* those of its pieces; whether A has them */
    mc_reg piece;             /* number of its first piece in the row */
    mc_reg in_slab;           /* the same in the slab */
    mc_reg at[2], left;       /* the first piece: address in each row; columns of A from there on */
} compress24_place;

compress24_place compress24_find_place(const compress24_plan *plan, mc_builder *b);

/* What becomes of a unit. */
typedef struct compressed_unit {
    mc_reg values[2];
    mc_reg codes; /* one in each lane */
    mc_reg full;  /* the greatest bit of a lane says that its group has more nonzeros than may be kept; other
                     bits are any */
} compressed_unit;

/* Lanes of a word that are computed with at once, a group each. Of 32 bits as of 16. */
static inline int lane_bits(const compress24_plan *plan) { return plan->element.bytes == 1 ? 8 : 16; }
static inline uint32_t lanes_of(const compress24_plan *plan, uint32_t value) {
    return value * (plan->element.bytes == 1 ? 0x01010101U : 0x00010001U);
}

void choose_units(const compress24_plan *plan, mc_builder *b, const mc_reg *words, mc_reg zero,
                  compressed_unit *unit);
void choose_pairs(const compress24_plan *plan, mc_builder *b, const mc_reg *words, compressed_unit *unit);

/* Loads the thread's WORDS where not all of them can be loaded as units. */
void emit_edge(const compress24_plan *plan, mc_builder *b, const compress24_place *place,
               const mc_reg *words);

/* Before the names of a piece's registers. */
static inline made_name piece_prefix(int piece) { return name_with(name_nth("p", piece).text, "_"); }

/* Where the thread stores. */
typedef struct compress24_stores {
    mc_reg values[THREAD_PIECES], is_piece[THREAD_PIECES]; /* none: all are there */
    mc_reg meta[THREAD_PIECES], is_meta[THREAD_PIECES]; /* of each word, or in layout natural of each piece */
    /* natural, of 8 bits: half of a slab's metadata of a row, which two lanes have between them and this one
       stores at once; those of its pieces that are stored so have no is_meta */
    mc_reg half, is_half;
    lane_exchange exchange;
} compress24_stores;

/* Where a thread's metadata lie in packed24. */
mc_reg find_packed_meta(const compress24_plan *plan, mc_builder *b, const compress24_place *place);
compress24_stores find_stores(const compress24_plan *plan, mc_builder *b, const compress24_place *place);
/* METADATA: those of each piece, in the low bits. */
void store_metadata(const compress24_plan *plan, mc_builder *b, const compress24_stores *stores,
                    const mc_reg *metadata);
/* The metadata of a piece of the codes of its two units; bits above them are any. */
mc_reg join_codes(const compress24_plan *plan, mc_builder *b, mc_reg first, mc_reg second);

/* FULL: bit `full_bit` of each group that is too full. */
static inline int full_bit(const compress24_plan *plan, int unit, int group) {
    return (group + 1) * lane_bits(plan) - 1 - unit;
}
/* Adds up the OWN numbers of the warp's lanes. Where all are 0 it goes to END; else it returns the address of
   the slot. */
mc_reg emit_count(mc_builder *b, const compress24_place *place, mc_reg own, mc_label end);
void emit_report(const compress24_plan *plan, mc_builder *b, const compress24_place *place, mc_reg full);

void compress24_contract(const void *plan, mc_contract *contract);
void compress24_emit(const void *plan, mc_builder *b);
void compress24_pattern_contract(const void *plan, mc_contract *contract);
void compress24_emit_pattern(const void *plan, mc_builder *b);

#endif
