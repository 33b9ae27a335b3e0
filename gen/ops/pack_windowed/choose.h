/* What the files of the kernel "choose" share. A warp chooses as formats/windowed_choose.c does, but for the
 * order of its work.
 *
 * In the pool vectors of one bank class are taken in the order of their columns. So each class is a queue, in
 * shared memory, and what is in it are two numbers, `head` and `available`. Four lanes have a class. */
#ifndef MC_PACK_WINDOWED_CHOOSE_H
#define MC_PACK_WINDOWED_CHOOSE_H

#include "ops/pack_windowed/pack_windowed.h"

enum {
    BANKS = WINDOWED_GROUP,
    BANK_BITS = 3,
    BANK_SHIFT = 2, /* lanes of a class: 1 << 2 */
    BANK_LANES = 1 << BANK_SHIFT,
    QUEUE = 256,      /* entries of a class, of which at most WINDOWED_POOL are there */
    ENTRY = 2 * WORD, /* a vector, and its window */
    QUEUE_BYTES = QUEUE * ENTRY,
};

/* The lane's own class, and what of it is in the pool: the same in all its lanes. */
typedef struct bank_queue {
    mc_reg at;              /* where its queue begins, in shared memory */
    mc_reg item;            /* which of the class's lanes this is */
    mc_reg lanes;           /* the class's lanes, a bit each */
    mc_reg bit[BANK_BITS];  /* all ones where the class's number has the bit */
    mc_reg lower[BANKS];    /* 1 for a class below the lane's own, else 0 */
    mc_reg head, available; /* vectors taken so far, and those in the pool */
} bank_queue;

/* Of the row block, vectors below `seen` are in the pool or taken. Lane l has column of vector seen + l: all
   ones behind the last one. */
typedef struct vector_stream {
    mc_reg columns; /* the address of the row block's first one */
    mc_reg count, seen, taken;
    mc_reg column, window;
} vector_stream;

/* The stride at hand. */
typedef struct stride_state {
    mc_reg oldest, last; /* windows; `last` is the lane's own until the stride is full */
    mc_reg front;        /* the class's first vector */
    mc_reg is_oldest;    /* it is the oldest of all; a predicate */
    mc_reg slots;        /* where its slots are gathered, in shared memory */
} stride_state;

typedef struct choose_emitter {
    mc_builder *b;
    mc_reg lane;
    mc_reg window, span; /* parameters: rows of a window, windows that a stride may span */
    mc_reg spare;        /* slots that a group may leave empty early */
    bank_queue bank;
    vector_stream stream;
    stride_state stride;
} choose_emitter;

/* -- choose_pool.c ------------------------------------------------------------------------------------ */

/* Asks for the columns from vector `seen` on. */
void choose_load_columns(choose_emitter *e);
/* Vectors come into the pool while there is room, and windows allow it. Sets oldest, front and is_oldest of
   the stride. */
void choose_fill_pool(choose_emitter *e);
/* Bit I of VALUE, in all bits. */
mc_reg choose_spread_bit(mc_builder *b, const char *stem, mc_reg value, int i);
/* Entry INDEX of the lane's queue, which wraps around. */
mc_reg choose_entry_at(choose_emitter *e, const char *name, mc_reg index);

/* -- choose_group.c ----------------------------------------------------------------------------------- */

/* Takes the vectors of group GROUP into the stride's slots. */
void choose_take_group(choose_emitter *e, int group);

#endif
