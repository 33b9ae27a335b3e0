/* Thread blocks whose warpgroups have different work (warp specialisation): CONSUMERS warpgroups multiply,
 * and the last warpgroup is the producer, of which one thread asks for copies. A warpgroup is four warps;
 * wgmma are a warpgroup's.
 *
 *   warp_roles r = {.b = b, .consumers = 2, .cluster = 2};
 *   roles_begin(&r);                    all threads: their numbers
 *   pipeline_init(...);                 under r.first_thread
 *   roles_meet(&r);                     everybody knows of the barriers: in a cluster, in all thread blocks
 *   roles_produce(&r, producer);        the producer's warpgroup goes to that label
 *   ...                                 the consumers
 *   EMIT(b, bra, TO(end));
 *   roles_producer(&r, producer, end);  label; all but one thread go to END
 *   ...
 *   roles_end(&r, end);                 label; in a cluster, waits for the other thread blocks; returns
 *
 * In a cluster whose thread blocks share tiles of C, each with a part of k (`parts`), they only copy into
 * their own stages. They need to know of each other later, when they exchange sums (exchange.h): roles_meet
 * tells the others, and who needs them waits. At its end a thread block waits for no other one there:
 * exchange_end does.
 *
 *   roles_meet_cluster(&r);             the consumers, before they exchange anything
 *
 * Registers. A kernel is launched with equal shares for all threads (`launch`). The producer's warpgroup
 * gives most of them back, and the consumers take them (PTX ISA, "setmaxnreg"). The rows of roles_shares fill
 * the 65536 registers of a multiprocessor with one thread block. roles_begin tells the builder of `launch`
 * (mc_builder.launch_registers), which becomes the entry's .maxnreg: without it ptxas ignores setmaxnreg.
 *
 * Helpers. Warpgroups behind the producer's may fill a part of each stage by stores (pipeline.h, fillers):
 *
 *   roles_help(&r, helper);             they go to that label, before roles_produce
 *   roles_helper(&r, helper);           label; they take their share of the registers
 *
 * One consumer whose sums are few (`narrow`) needs no more than half a multiprocessor's registers. One with
 * more, or two with few, can have that half but for the producer's (`paired`), beside another thread block.
 *
 * Turns. Consumers can share a tile, each with rows of its own (cooperative), or take whole tiles in turn
 * (ping-pong): then one multiplies while the other one stores. A named barrier for each consumer orders them:
 * it passes when the other one has given it the turn. */
#ifndef MC_ROLES_H
#define MC_ROLES_H

#include "ptx/builder.h"

enum {
    WARPGROUP = 128, /* threads */
    WARPGROUP_WARPS = 4,
    WARPGROUP_ROWS = 64, /* of a wgmma's A and D */
};

/* Registers of a thread: at launch, of a producer's, of a consumer's and of a helper's. 0: they stay as they
   are. */
typedef struct role_shares {
    int launch, producer, consumer, helper;
} role_shares;

/* Of kernels with 1 to 3 consumers and HELPERS: none, or 2 beside one or two consumers. */
role_shares roles_shares(int consumers, int helpers);

/* Registers at launch of a kernel with one consumer of few sums: two thread blocks find room in a
   multiprocessor. */
enum { NARROW_LAUNCH = 128 };

/* The caller sets the first part. */
typedef struct warp_roles {
    mc_builder *b;
    int consumers, helpers;
    bool narrow; /* one consumer, of few sums */
    bool
        paired; /* one consumer or two, which exchange registers with the producer in half a multiprocessor */
    int cluster; /* thread blocks that copy into each other's stages; 0 and 1: there are no others */
    int parts;   /* thread blocks of a cluster that share tiles, without `cluster`; 0 and 1: likewise */

    mc_reg thread, lane, warp; /* in the thread block, the warp, the thread block */
    mc_reg warpgroup;          /* in the thread block: the consumer's number */
    mc_reg warp_row;           /* the first of the 16 rows, of a warpgroup's 64, that the warp has in D */
    mc_reg first_thread;       /* whether it is thread 0 */
    mc_reg rank;               /* in a cluster: the thread block's number in it */
    /* Who leaves stages (pipeline.h): a consumer's warp arrives by its first lanes, one for each thread block
       of the cluster, and this is the lane's */
    mc_reg arrives, peer;
} warp_roles;

static inline int roles_threads(int consumers, int helpers) { return (consumers + 1 + helpers) * WARPGROUP; }

void roles_begin(warp_roles *r);
void roles_meet(const warp_roles *r);
void roles_help(const warp_roles *r, mc_label helper);
void roles_helper(const warp_roles *r, mc_label helper);
void roles_produce(const warp_roles *r, mc_label producer);
void roles_producer(const warp_roles *r, mc_label producer, mc_label end);
void roles_end(const warp_roles *r, mc_label end);
void roles_meet_cluster(const warp_roles *r);

/* Two consumers that take tiles in turn. */
typedef struct role_turns {
    mc_reg own, other; /* the named barriers of this consumer and of the other one */
} role_turns;

/* ANY is a predicate: whether the thread block has a tile at all. */
role_turns roles_turns(const warp_roles *r, mc_reg any);
/* Waits for the turn. Gives it to the other one, if MORE: if that one has a tile to take. */
void roles_await_turn(const warp_roles *r, const role_turns *t);
void roles_pass_turn(const warp_roles *r, const role_turns *t, mc_reg more);

#endif
