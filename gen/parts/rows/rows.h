/* Kernels over the rows of a V x 1 matrix, whose values lie as an SDDMM writes them: how the elements of a
 * row block are dealt to threads, and how these join what they have of a row.
 *
 *   deal.c   which thread has which elements
 *   place.c  the row block, and where a thread's units of it are; load.c loads them
 *   join.c   what all threads have of a row, joined
 *   ways.c   ways through the kernel for row blocks of different lengths
 *   teams.c  kernels whose warps take several row blocks, of short rows
 *   contract.c   what their contracts, facts and schemas have alike
 *
 * A thread block takes a row block; or, of short rows (V = 1), a warp takes several, each by a team of its
 * lanes. Its elements lie side by side in memory, and a unit is what a lane loads at once: neighbouring
 * elements, of bcrs of one vector, of srbcrs of one row. Thread t has units t, t + T, t + 2 T and so on of T
 * threads. So a thread has elements of `rows` rows: of bcrs of all rows of its unit, of
 * srbcrs of one, or of several where a stride has more units than there are threads; row_step apart.
 *
 *   emitter   rows_begin(r, b, plan); rows_find(r, ...); rows_count_units(r);
 *             rows_declare_places(r); rows_declare_scratch(r);
 *             rows_emit_ways(r, user, load, held); rows_emit_loop(r, user, prefix, turn);
 *   of these  loads and stores of each unit, which rows_place has placed; rows_join(r, ...) */
#ifndef MC_ROWS_H
#define MC_ROWS_H

#include "parts/emit.h"
#include "parts/fragment.h"
#include "schema/family.h"

/* What elements are before they are f32, in the order of their words in specs. */
typedef enum rows_type { ROWS_F32, ROWS_F16, ROWS_BF16, ROWS_S32 } rows_type;
int rows_type_bytes(rows_type type);

typedef enum rows_order { ROWS_BCRS, ROWS_SRBCRS16, ROWS_SRBCRS32 } rows_order;

enum {
    ROWS_BLOCK_WORDS = 4, /* of a row block in the packed array `rows` */
    ROWS_UNIT_BYTES = 16,
    ROWS_MAX_UNIT = 8,  /* elements */
    ROWS_MAX_HOLD = 32, /* units */
    ROWS_MAX_ROWS = 8,
    ROWS_MAX_VALUES = 64 /* elements of these */
};

/* -- deal.c ------------------------------------------------------------------------------------------- */

typedef struct rows_plan {
    rows_order order;
    int vec, warps, hold;
    int per_warp;       /* row blocks of a warp, a team of lanes each; 1: all warps take one */
    int team;           /* threads that share a row block: a team, or all */
    int stride;         /* slots; 1 of bcrs */
    int again;          /* units that a thread takes at once of a row block that is too long to be held */
    int unit;           /* elements */
    int beside;         /* bcrs: units of a vector; srbcrs: units of a row of a stride */
    int per_step;       /* units of a vector, or of a stride */
    int rows;           /* that a thread has */
    int row_step;       /* between these */
    int row_warps;      /* that have elements of the same rows */
    unsigned lane_bits; /* bits of a lane's number in which lanes differ that have the same rows */
} rows_plan;

static inline int rows_threads(const rows_plan *plan) { return MC_WARP * plan->warps; }
/* Whether a warp takes several row blocks, by a team of lanes each. */
static inline bool rows_in_teams(const rows_plan *plan) { return plan->team < rows_threads(plan); }

/* Row blocks that a thread block takes. */
static inline int rows_each(const rows_plan *plan) { return rows_threads(plan) / plan->team; }

/* Makes the rest of order, vec, warps, hold and per_warp: of units of at most UNIT_BYTES, of elements of
   ELEMENT_BYTES at multiples of ALIGN bytes. */
void rows_deal(rows_plan *plan, int unit_bytes, int element_bytes, int align);
/* Complains of what a thread cannot hold, of units of WORDS words and other REGISTERS; the fields are the
   family's. */
void rows_check(const rows_plan *plan, int words, int registers, int hold_field, int warps_field,
                mc_complaints *complaints);
/* Complains of teams of anything but single nonzeros in bcrs; FIELD is that of per_warp. */
void rows_check_teams(const rows_plan *plan, int field, mc_complaints *complaints);

/* The numbers of units of a thread for which a kernel has a way, up to `hold`. */
enum { ROWS_WAYS = 10 };
extern const int rows_ways[ROWS_WAYS];
/* Whether 32 bits hold the sum of what a warp keeps of a row, elements of at most 2^23 + 1 each, or of either
   sign and at most 2^22. */
bool rows_one_word(const rows_plan *plan);

/* Elements of BITS of a unit that are stored at once, at addresses that are multiples of ALIGN bytes. */
int rows_store_elements(const rows_plan *plan, int bits, int align);

/* The most columns that a matrix may have: the units of a row block are counted in s32. */
int64_t rows_most_columns(const rows_plan *plan);

/* For estimates, of a row block of LENGTH vectors: whether it is too long to be held; the units that each
   thread goes through, there or not, READS times where it is too long. */
bool rows_is_long(const rows_plan *plan, double length);
double rows_steps(const rows_plan *plan, double length, int reads);
/* Of PROBLEM's rows: what one has that its threads hold; with teams also how many of a thread block's rows
   are too long for one, and how long these are. */
typedef struct rows_lengths {
    double held, longer, length;
} rows_lengths;
rows_lengths rows_lengths_of(const rows_plan *plan, const mc_problem *problem);

/* -- contract.c --------------------------------------------------------------------------------------- */

extern const char *const rows_order_names[]; /* by rows_order */

/* Rows of a schema. */
#define ROWS_VEC_FIELD                                                                                       \
    {                                                                                                        \
        "vec", NUMBERS = family_vecs, .standard = 8,                                                         \
               .doc = "V: rows of a nonzero vector, and so of a row block."                                  \
    }
#define ROWS_WARPS_FIELD                                                                                     \
    {                                                                                                        \
        "warps", COUNTS(1, 2, 4, 8, 16), .standard = 4, .tunable = true,                                     \
                                         .doc = "Warps of a thread block, which takes a row block."          \
    }
#define ROWS_HOLD_FIELD                                                                                      \
    {                                                                                                        \
        "hold", COUNTS(1, 2, 4, 8, 16, 32), .standard = 2, .tunable = true,                                  \
                                            .doc = "Units that a thread keeps in registers. A row block "    \
                                                   "that fits is read once, a longer one three "             \
                                                   "times."                                                  \
    }
#define ROWS_PER_WARP_FIELD                                                                                  \
    {                                                                                                        \
        "rows_per_warp", COUNTS(1, 2, 4, 8),                                                                 \
            .standard = 1, .tunable = true, .quiet = true,                                                   \
            .doc = "Rows that a warp takes, where rows are short: vec = 1, "                                 \
                   "order = \"bcrs\". 32 lanes are shared out among them. "                                  \
                   "1: all warps of a thread block take one."                                                \
    }
/* What the array NAME of TYPE is, by rows_order. */
#define ROWS_BY_ORDER(type, name)                                                                            \
    {                                                                                                        \
        name ": " type "[vectors][vec]", name ": " type "[strides][vec][16]",                                \
            name ": " type "[strides][vec][32]"                                                              \
    }

/* Adds the packed array `rows`, and its parameter. */
void rows_add_blocks(mc_contract *c);
/* Sets the format, what limits n and m, and the launch, with SHARED_BYTES a thread block. */
void rows_contract(const rows_plan *plan, int shared_bytes, mc_contract *c);
typedef struct rows_traffic {
    int unit_bytes;
    const char *unit_is; /* "of A, that a lane loads at once" */
    int value_bytes;     /* read and written for each value */
} rows_traffic;
void rows_facts(const rows_plan *plan, const rows_traffic *traffic, int shared_bytes, mc_facts *facts);
/* Complains of an M that is not whole row blocks; FIELD is the family's. */
void rows_check_m(const rows_plan *plan, int64_t m, int field, mc_complaints *complaints);
/* A solver's `how`. */
const char *rows_how(const rows_plan *plan);

/* A part of a kernel, of the emitter that USER is. */
typedef void (*rows_step)(void *user);

/* -- place.c ------------------------------------------------------------------------------------------ */

/* Of the thread block's row block: its number, its first slot in memory, how much there is. */
typedef struct rows_block {
    mc_reg number; /* of a team that takes none -1 */
    mc_reg slot, vectors, units;
    mc_reg most; /* units, of the warp's longest row block; the same where all threads have one */
} rows_block;

/* Where the units are that are taken at once. */
typedef struct rows_places {
    int count;
    int sure;                     /* the first ones, which all threads have */
    mc_reg first;                 /* the number of the first one */
    mc_reg inside[ROWS_MAX_HOLD]; /* it is the row block's */
    mc_reg left[ROWS_MAX_HOLD];   /* vectors from its first slot on; of srbcrs */
} rows_places;

typedef struct rows_scratch {
    mc_reg at, real, other, test; /* an address, two words, a predicate */
} rows_scratch;

typedef struct rows_emitter {
    mc_builder *b;
    const rows_plan *plan;
    mc_reg thread; /* its number among those that share the row block */
    mc_reg lane, warp;
    mc_reg row; /* the first of the thread's, in the row block */
    rows_block block;
    rows_places units;
    rows_scratch scratch;
} rows_emitter;

/* The guard of unit I; none: it is surely the row block's. */
static inline mc_reg rows_inside(const rows_emitter *r, int i) {
    const mc_reg always = {0};
    return i < r->units.sure ? always : r->units.inside[i];
}
/* Which of the thread's rows ELEMENT of unit I is of. */
static inline int rows_row_of(const rows_plan *plan, int i, int element) {
    return plan->order == ROWS_BCRS ? element : i % plan->rows;
}
/* Words that a unit of elements of BYTES takes. */
static inline int rows_unit_words(const rows_plan *plan, int bytes) {
    return plan->unit * bytes < WORD ? 1 : plan->unit * bytes / WORD;
}

/* Thread, lane, warp, row. */
void rows_begin(rows_emitter *r, mc_builder *b, const rows_plan *plan);
/* The row block, by the packed array `rows`; its number where it is NUMBERED. */
void rows_find(rows_emitter *r, bool numbered);
void rows_count_units(rows_emitter *r);
void rows_declare_places(rows_emitter *r);
void rows_declare_scratch(rows_emitter *r);
/* COUNT units, T apart from unit FIRST on. The first SURE are there for all threads. */
void rows_place(rows_emitter *r, mc_reg first, int count, int sure);
/* Sets r->scratch.test to whether ELEMENT of unit I is there. Only of srbcrs. */
void rows_test_element(const rows_emitter *r, int i, int element);

/* -- teams.c ------------------------------------------------------------------------------------------ */

/* Of G thread blocks number i has places i, i + G, i + 2 G and so on of the array `rows`, in which long row
   blocks come first: so that they are dealt out, and each thread block begins with what it has of them. */
typedef struct rows_grid {
    mc_operand m; /* rows */
    mc_reg first, step, array;
} rows_grid;

/* The plan of the threads of a thread block that take a row block together, where PLAN has teams. */
rows_plan rows_whole(const rows_plan *plan);
rows_grid rows_load_grid(mc_builder *b, int64_t m);
/* The row blocks that are too long for a team of TEAMS: all threads, those of R, TAKE one after another. */
void rows_emit_whole(rows_emitter *r, const rows_grid *grid, const rows_plan *teams, bool numbered,
                     void *user, rows_step take);
/* From WHOLE, that of all threads, to R, a team's of PLAN, with its row block; if it has none that it takes
   this has no vectors. */
void rows_find_team(rows_emitter *r, const rows_plan *plan, const rows_emitter *whole, const rows_grid *grid,
                    bool numbered);

/* -- load.c ------------------------------------------------------------------------------------------- */

/* An array with elements of BYTES at multiples of ALIGN. AT is that of the row block's first one. */
typedef struct rows_array {
    mc_reg at;
    int bytes, align;
} rows_array;

/* Bytes of a unit that are loaded at once, which is what the array's address must be a multiple of. */
int rows_bytes_at_once(const rows_plan *plan, const rows_array *array);
/* Loads the placed units TO words, [unit][rows_unit_words]. Of a unit that is not there all words are
   ABSENT. */
void rows_load(rows_emitter *r, const rows_array *from, mc_operand absent, const mc_reg *to);
/* TO = element ELEMENT of the unit in WORDS, in f32. */
void rows_convert(mc_builder *b, rows_type type, const mc_reg *words, int element, mc_reg to);

/* -- join.c ------------------------------------------------------------------------------------------- */

typedef enum rows_joined {
    ROWS_GREATEST,        /* of f32 */
    ROWS_GREATEST_F16X2,  /* of words that have two rows each */
    ROWS_GREATEST_BF16X2, /* likewise */
    ROWS_REALS,           /* sums of f32, in the order in which they meet */
    ROWS_SUMS_OF_A_WORD,  /* of s32; together they have two words */
    ROWS_SUMS_OF_TWO      /* of s64 */
} rows_joined;

/* Values of 1 or 2 words of each of the thread's rows, and how two become one. */
typedef struct rows_joint {
    rows_joined what;
    mc_reg *word[2];
    bool is_signed;     /* sums of a word: they are of either sign */
    const char *array;  /* in shared memory: a value of each row and warp */
    const char *prefix; /* of registers */
    /* Reals: a word of the warp that it leaves beside its values; and what becomes of the COUNT values that a
       lane reads before they are added, each with the word that was left beside it */
    mc_reg beside;
    void (*weigh)(void *user, int count, const mc_reg *values, const mc_reg *words);
    void *user;
} rows_joint;

/* The values of a row that a lane reads at the most. */
enum { ROWS_MAX_PARTS = 8 };

/* TO = the greater ones of the halves of words X and Y. */
void rows_greater_pairs(mc_builder *b, rows_joined what, mc_reg to, mc_reg x, mc_reg y);
/* Leaves in TO what all threads have of the row that is the lane's own, lane % vec; of two in a word of both.
   What threads have is overwritten. */
void rows_join(rows_emitter *r, const rows_joint *joint, mc_reg *to);
/* TO of the thread's rows = WORD of the lanes whose own rows they are. */
void rows_spread(rows_emitter *r, mc_reg word, const mc_reg *to);

/* -- ways.c ------------------------------------------------------------------------------------------- */

/* A way for each number of units up to `hold`, from what LOAD asks for to the end of the kernel; what follows
   is for longer row blocks. LOAD is there once, for the most units. */
void rows_emit_ways(rows_emitter *r, void *user, rows_step load, rows_step way);

/* TURN, with `again` units of each thread placed, until all units have been. PREFIX is of its registers; the
   builder has none behind it. */
void rows_emit_loop(rows_emitter *r, void *user, const char *prefix, rows_step turn);

#endif
