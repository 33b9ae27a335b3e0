/* Sums that the thread blocks of a cluster have of one tile of C, each of its part of k: they are added up
 * through the cluster's shared memory.
 *
 * The tile is cut into slices, and slice i is finished by thread block i of the cluster: all others send it
 * their sums, it puts its own beside them, and adds all up in the order of the parts, from part 0 on. Thread
 * blocks beyond the last slice only send. A slice is one of the consumers' blocks of 64 rows, by some of the
 * columns.
 *
 * The sums lie where they come in as the threads have them: those of part p, eight columns o of the slice
 * (an octet: four sums a thread) and thread t are 16 bytes at ((p * octets) + o) * threads + t. A thread adds
 * up what the same thread of each thread block has sent. So nothing is rearranged, and no bank is met twice.
 *
 * A thread block has two barriers for it, like a pipeline of one stage (pipeline.h):
 *
 *   full    an arrival of its own, and the bytes of the other parts, which st.async brings
 *   empty   an arrival of each warp that finishes a slice, in any thread block: all have read what came for
 *           the tile before, and this thread block may send again
 *
 *   sum_exchange e = {.b = b, .parts = 4, ...};
 *   exchange_place(&e);                all threads
 *   exchange_init(&e);                 one thread
 *   exchange_begin(&e);                the consumers
 *   exchange_send(&e, sums);           a tile's sums, once they are there
 *   exchange_take(&e, sums[0], next);  the slice's sums; who has no slice goes to NEXT
 *   exchange_end(&e);                  before the thread ends
 *
 * Sums may come in where the stages of a pipeline were (`in_stages`), of thread blocks that have one tile
 * each, and of which each finishes a slice. Then `empty` has another phase before: exchange_free stands
 * before exchange_send, and says that this thread block's stages were read. Nobody sends before all have said
 * so.
 *
 * Before the first tile a thread block waits until the others have begun (roles.h). Nobody reaches into it
 * any more when all have read what came for its last tile: what it was sent has come by then. */
#ifndef MC_EXCHANGE_H
#define MC_EXCHANGE_H

#include "parts/warpgroup.h"

enum { OCTET_BYTES = 16, EXCHANGE_BARRIER_BYTES = 16 }; /* of a thread's sums; of both barriers */

/* How a tile is shared. */
typedef struct exchange_shape {
    int parts;        /* thread blocks of the cluster: a power of two */
    int threads;      /* that have sums */
    int blocks;       /* of 64 rows that a thread has */
    int octets;       /* of columns that a tile has */
    int slice_octets; /* of which a slice has so many */
} exchange_shape;

/* The shape whose slices are as many as there are thread blocks, if they can be: LEAST octets is the fewest
   that a slice may have. */
exchange_shape exchange_shape_of(int parts, int consumers, int blocks, int octets, int least);
static inline int exchange_slices(const exchange_shape *s) { return s->blocks * s->octets / s->slice_octets; }
/* Bytes of a part of a slice, and of all that come in. */
static inline int exchange_part_bytes(const exchange_shape *s) {
    return s->slice_octets * s->threads * OCTET_BYTES;
}
static inline int exchange_bytes(const exchange_shape *s) { return s->parts * exchange_part_bytes(s); }

/* The caller sets the first part. */
typedef struct sum_exchange {
    mc_builder *b;
    exchange_shape shape;
    bool real;           /* sums are f32; else s32 */
    bool in_stages;      /* what comes in lies where stages were; there is one tile */
    mc_reg first, full;  /* shared addresses: of what comes in, a multiple of 16; of the barriers */
    mc_reg rank, thread; /* the thread block's number in the cluster; the thread's in the thread block */
    mc_reg lane, first_thread;

    mc_reg empty;
    mc_reg takes, expects; /* whether the thread block has a slice; whether this thread expects its bytes */
    mc_reg tells, teller;  /* whether the lane tells a thread block that a slice was read; its barrier */
    mc_reg own, in;        /* where the thread's sums go; where the parts' come in */
    mc_reg phase;          /* the parity of the phase at hand */
    mc_reg row, column;    /* of the slice's first sum, in the consumer's rows and in the tile */
    mc_reg no_bits;        /* 0, which no compiler knows: a grid has fewer than 2^31 thread blocks across */
    mc_reg passed, is_slice, state, part[4]; /* scratch */
} sum_exchange;

void exchange_place(sum_exchange *e);
/* By the thread for which GUARD holds (none: there is one alone). */
void exchange_init(const sum_exchange *e, mc_reg guard);
void exchange_begin(sum_exchange *e);
/* In stages: this thread has read all of them. */
void exchange_free(const sum_exchange *e);
/* SUMS are those of the thread's blocks of rows (warpgroup.h). */
void exchange_send(const sum_exchange *e, const mc_reg sums[WARPGROUP_BLOCKS][WGMMA_SUMS]);
/* Makes SUMS, from the first one on, those of the slice. */
void exchange_take(const sum_exchange *e, const mc_reg *sums, mc_label next);
void exchange_end(const sum_exchange *e);

#endif
