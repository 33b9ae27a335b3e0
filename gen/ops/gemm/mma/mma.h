/* The solver `mma` of a dense product: each warp multiplies its part of a tile by mma.sync.
 *
 *   copy.c      all threads copy a stage of the tile's rows of A and columns of B, by cp.async
 *   lines.c     the same where it takes care: at the matrices' ends, and of rows that begin anywhere
 *   packed.c    the same of a 2:4 sparse A, which is packed in atoms, and its metadata
 *   multiply.c  the loop over stages: ldmatrix, and the products
 *   result.c    what becomes of the sums
 *   emit.c      the kernel's frame
 *
 * A stage has `span` bytes of k. In shared memory a side of it is a shared_tile without the hardware's part:
 * lines of `span` bytes, whose 16-byte chunks are exchanged so that ldmatrix, which reads a chunk of each of
 * 8 neighbouring lines, meets no bank twice (mma_chunk_key). */
#ifndef MC_GEMM_MMA_H
#define MC_GEMM_MMA_H

#include "ops/gemm/problem.h"
#include "parts/copy.h"
#include "parts/emit.h"
#include "parts/schedule.h"
#include "parts/shared_tile.h"

enum {
    MMA_ROWS = 16, /* of an mma's A and D */
    MMA_COLUMNS = 8,
    MMA_K_BYTES = 32, /* of k that one mma takes of a row of A and a column of B, whatever their type */
    MMA_SUMS = 4,     /* of a lane, of one mma */
    MMA_A_REGS = 4,
    MMA_B_REGS = 2,       /* twice as many with a sparse A */
    MMA_MOST_ROWS = 4,    /* mma one below the other that a warp has */
    MMA_MOST_COLUMNS = 8, /* and side by side */
    MMA_MOST_WARPS = 16,
    MMA_EMULATION4 = 32, /* registers that ptxas takes where it makes others of an mma of 4 bits */
};

/* Which instruction multiplies. */
typedef struct mma_form {
    mc_opcode mma;
    int bytes;        /* of an element; of 4 bits, of two that share a byte */
    bool two_in_byte; /* elements have 4 bits */
    bool rounded;     /* elements are f32, and are rounded to tf32 first */
    bool halves;      /* sums are f16, two in a register */
    bool emulated;    /* ptxas makes other instructions of it, which want registers */
} mma_form;

typedef struct mma_plan {
    gemm_problem problem;
    mma_form form;
    int tile_m, tile_n, warp_m, warp_n;
    int stages, span, copy, group;
    int store; /* elements of C that are stored at a time: 1 or 2 */
} mma_plan;

static inline int mma_warps_beside(const mma_plan *plan) { return plan->tile_n / plan->warp_n; }
static inline int mma_warps(const mma_plan *plan) {
    return plan->tile_m / plan->warp_m * mma_warps_beside(plan);
}
static inline int mma_threads(const mma_plan *plan) { return 32 * mma_warps(plan); }
/* mma of a warp: one below the other, and side by side; steps of k of a stage. */
static inline int mma_row_tiles(const mma_plan *plan) { return plan->warp_m / MMA_ROWS; }
static inline int mma_column_tiles(const mma_plan *plan) { return plan->warp_n / MMA_COLUMNS; }
static inline int mma_b_regs(const mma_plan *plan) { return (plan->problem.sparse ? 2 : 1) * MMA_B_REGS; }
static inline int mma_sum_regs(const mma_plan *plan) { return MMA_SUMS / (plan->form.halves ? 2 : 1); }
static inline int mma_steps(const mma_plan *plan) { return plan->span / MMA_K_BYTES; }
/* Elements that lie in `form.bytes`. A side's lines are copied and multiplied by these: of 4 bits two
   neighbours along k count as one element of a byte. */
static inline int mma_held(const mma_plan *plan) { return plan->form.two_in_byte ? 2 : 1; }
/* Whether elements are copied one by one. */
static inline bool mma_by_element(const mma_plan *plan) { return plan->copy == 1; }

/* -- tiles.c: how a stage lies in shared memory --------------------------------------------------------- */

shared_tile mma_lhs(const mma_plan *plan);
shared_tile mma_rhs(const mma_plan *plan);
int mma_stage_bytes(const mma_plan *plan);
/* Elements of k of a stage. */
int mma_stage_k(const mma_plan *plan);
int mma_shared_bytes(const mma_plan *plan);
/* Bytes of metadata of a stage; 0: A is not sparse. */
int mma_metadata_bytes(const mma_plan *plan);

/* Chunk c of a line lies where chunk c xor its key would. The key is (line >> shift & mask) << left. */
typedef struct mma_key {
    int shift, mask, left;
} mma_key;
mma_key mma_key_of(const shared_tile *tile);
/* The bytes by which it moves the chunks of LINE, and the same of a line in a register. */
int mma_key_bytes(mma_key key, int line);
mc_reg mma_emit_key(mc_builder *b, const char *name, mma_key key, mc_reg line);

/* What threads copy of a side: lines of memory, each in pieces of WIDTH bytes. A thread has the same piece of
   COUNT lines that lie STEP lines apart. */
typedef struct mma_share {
    int lines, pieces, width, step, count;
} mma_share;
mma_share mma_share_of(const mma_plan *plan, const shared_tile *tile);

/* -- The kernel --------------------------------------------------------------------------------------- */

typedef struct mma_kernel {
    const mma_plan *plan;
    mc_builder *b;
    shared_tile lhs, rhs;
    thread_place place;
    mc_reg shared;                /* where stage 0 lies */
    mc_reg m, n, k, k_stages;     /* of C and A; how many stages k takes */
    mc_reg k_held;                /* k by what mma_held counts */
    mc_reg row, column;           /* the tile's first in C */
    mc_reg warp_row, warp_column; /* the warp's first in the tile */
} mma_kernel;

void mma_emit(const void *plan, mc_builder *b);

/* -- copy.c ------------------------------------------------------------------------------------------- */

enum { MMA_SIDES = 2, MMA_MOST_ELEMENTS = 32, MMA_MOST_ATOMS = 4 };

/* Scratch of copies by the line: lines and turns that are left; the line at hand, and the bytes of it that
   are there; elements of a few lines. */
typedef struct mma_lines {
    mc_reg lines, turns, again, line, bytes, line_bytes;
    mc_reg elements[MMA_MOST_ELEMENTS], there;
    mc_reg last, half, odd, ends; /* of 4 bits: of the thread's piece the byte that k ends in; that byte;
                                     whether k is odd and ends in the stage, and in the piece */
} mma_lines;

/* A thread's copies of one side. Lines are those of memory: rows of A; columns of B, or its rows. */
typedef struct mma_copier {
    const char *name;
    const shared_tile *tile;
    mma_share share;
    int at; /* where the side lies in a stage */
    mma_key key;
    mc_reg lines_left;  /* lines from the thread's first one to the matrix's end */
    mc_reg left;        /* elements from its piece to the line's end, as mma_held counts */
    mc_reg from, to;    /* its first piece: in memory, and in stage 0 */
    mc_reg step, stage; /* bytes from one of its lines to the next; from a stage to the next */
    bool all_lines;     /* all lines that a whole stage has are the matrix's */
    mc_reg next, size, part, target, inside; /* scratch */
    mma_lines by_line;
} mma_copier;

/* A thread's copies of a sparse A: pieces of 16 bytes of atoms, and of their metadata. */
typedef struct mma_packed {
    int count, meta_count; /* of a stage */
    mc_reg thread;         /* its number, where there are more threads than pieces of metadata; else none */
    mc_reg values[MMA_MOST_ATOMS], meta[MMA_MOST_ATOMS]; /* where they come from */
    mc_reg to, target, some;                             /* where the first one goes in stage 0; scratch */
} mma_packed;

/* Stages on their way. */
typedef struct mma_feed {
    const mma_kernel *g;
    mma_copier sides[MMA_SIDES];
    mma_packed packed; /* a sparse A, which is not among the sides then */
    mc_reg left;       /* elements of k, from the stage on that is copied next; 0 and less: there is none */
    mc_reg fill;       /* bytes from stage 0 to where it goes */
    mc_reg wraps;
    mc_reg whole, edge;   /* whether all of it is copied at once; whether it is copied by the line */
    mc_reg whole_columns; /* of B by rows: whether the tile's columns do; none: they certainly do */
    mc_label lines, copied;
} mma_feed;

/* The first of the sides that are copied by the line. */
static inline int mma_first_side(const mma_feed *f) { return f->g->plan->problem.sparse ? 1 : 0; }

void mma_begin_feed(mma_feed *f, const mma_kernel *g);
/* Asks for all stages but one. */
void mma_fill(mma_feed *f);
/* Asks for the next stage, in PARTS parts that stand between other work, and ends it. */
void mma_feed_part(const mma_feed *f, int part, int parts);
void mma_feed_end(mma_feed *f);
/* Behind the kernel's end: copies by the line. */
void mma_emit_lines(const mma_feed *f);
/* Waits for all but the newest PENDING stages, of all threads. */
void mma_await(const mma_feed *f, int pending);

/* -- lines.c -------------------------------------------------------------------------------------------- */

void mma_declare_lines(mc_builder *b, mma_copier *c, const mma_plan *plan);
/* Copies the next stage line by line, or element by element. FIRST: before the loop. */
void mma_copy_lines(const mma_feed *f, bool first);

/* -- packed.c ------------------------------------------------------------------------------------------- */

/* The instruction with a sparse A that is like MMA. */
mc_opcode mma_sparse_like(mc_opcode mma);
void mma_begin_packed(mma_feed *f);
/* Asks for the next stage's atoms, where GUARD holds (none: always); goes on to the one behind it. */
void mma_copy_packed(const mma_feed *f, mc_reg guard);
void mma_next_packed(const mma_feed *f);

enum { MMA_MOST_WORDS = 4 };

/* A lane's metadata: words of the stage at hand, and of the next one, for each row of mma. */
typedef struct mma_metadata {
    mc_reg lane, at; /* where they lie in stage 0; scratch */
    mc_reg now[MMA_MOST_ROWS][MMA_MOST_WORDS], next[MMA_MOST_ROWS][MMA_MOST_WORDS];
} mma_metadata;
void mma_begin_metadata(mma_metadata *m, const mma_kernel *g);
/* Loads those of the stage READ bytes behind stage 0 as the next one's; they become those at hand. */
void mma_load_metadata(const mma_metadata *m, const mma_kernel *g, mc_reg read, mc_reg guard);
void mma_take_metadata(const mma_metadata *m, const mma_kernel *g);
/* Of step STEP: the word, and the selector. */
mc_reg mma_metadata_word(const mma_metadata *m, const mma_kernel *g, int step, int row);
int mma_metadata_selector(const mma_kernel *g, int step);

/* -- multiply.c ---------------------------------------------------------------------------------------- */

/* [rows of mma][mma of a row][sum] */
typedef mc_reg mma_sums[MMA_MOST_ROWS][MMA_MOST_COLUMNS][MMA_SUMS];

void mma_emit_products(const mma_kernel *g, mma_feed *f, mma_sums sums);

/* -- result.c ------------------------------------------------------------------------------------------ */

void mma_emit_result(const mma_kernel *g, mma_sums sums);

#endif
