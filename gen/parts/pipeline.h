/* A pipeline through shared memory: `stages` stages in a ring, each with room for one copy. A producer fills
 * them in order, and consumers read them in the same order. A stage has two mbarriers:
 *
 *   full    one arrival, and the bytes that its copy brings: the copy is there. With fillers one of each, too
 *   empty   an arrival of each consumer: all have left the stage, which may be filled again
 *
 * A barrier counts phases, and a wait names the parity of a phase (PTX ISA, "mbarrier"). The copy that a
 * stage gets as its i-th, from 0 on, ends phase i of its full barrier. The producer waits for phase i - 1 of
 * the empty barrier before it. So the parity of a consumer begins with 0 and that of a producer with 1, and
 * either changes where the ring begins again. Producers and consumers of a thread block that takes several
 * tiles, one after another, keep their places from tile to tile, and so the phases run on.
 *
 * In a cluster, thread blocks may copy into each other's stages (multicast, tensor_copy.h): each brings a
 * part of a copy to all of them. Their pipelines are alike, and run in step:
 *
 *   full    still one arrival, of the own producer, which expects the bytes of all parts
 *   empty   an arrival of each consumer of each thread block: a producer must know of all stages that it
 *           writes to that they were left. So a consumer arrives in every thread block, by a thread for each
 *
 * Before the first copy and before its end a thread block waits for the others (roles.h).
 *
 *   pipeline p = {.b = b, .stages = 4, .stage_bytes = 8192, .consumers = 8, .first = shared_address};
 *   pipeline_place(&p);                            all threads
 *   pipeline_init(&p);                             one thread, before all others meet it at a barrier
 *
 *   pipeline_producer w = pipeline_produce(&p);    one thread
 *   pipeline_await_empty(&p, &w, "LEFT");          it comes at once before the first `stages` copies
 *   pipeline_expect(&p, &w);                       then the copy: to AT(w.to, 0), with barrier AT(w.full, 0)
 *   pipeline_filled(&p, &w);
 *   pipeline_drain(&p, &w, ...);                   before the thread block ends
 *
 *   pipeline_consumer c = pipeline_consume(&p, arrives);
 *   pipeline_wait(&p, &c, "FULL");                 the next stage's copy is there
 *   pipeline_leave(&p, &c);                        once every thread of the consumer has read the stage
 *
 * Warps may fill a part of each stage by stores of their own (`fillers`). Each walks the ring as the producer
 * does, with a pipeline_producer of its own, and arrives at the full barrier once its part is there:
 *
 *   pipeline_await_empty(&p, &f, "ROOM");          then the stores, to f.to and on
 *   pipeline_fill(&p, &f, arrives);                copies and wgmma see them; ARRIVES is one lane
 *   pipeline_filled(&p, &f);
 *
 * The registers have fixed names: of two pipelines one has a prefix (mc_builder). */
#ifndef MC_PIPELINE_H
#define MC_PIPELINE_H

#include "ptx/builder.h"

enum {
    PIPELINE_BARRIER_BYTES = 8,
    PIPELINE_BARRIERS = 2, /* of a stage */
};

/* The caller sets the first part. */
typedef struct pipeline {
    mc_builder *b;
    int stages, stage_bytes, consumers;
    int gap;      /* bytes between the last stage and the barriers, for the caller's use */
    int fillers;  /* warps that fill a part of each stage, beside the producer's copies */
    int copied;   /* bytes of a stage that copies bring, where fillers have the others; 0: all of them */
    int cluster;  /* thread blocks that copy into each other's stages; 0 and 1: there are no others */
    bool counts;  /* consumers count the stages that they waited for and left */
    mc_reg first; /* the shared address of stage 0 */
    mc_reg peer;  /* in a cluster: the number of the thread block at which a consumer's thread arrives */

    mc_reg full, empty;   /* those of stage 0's barriers. All full ones lie together, then all empty ones */
    mc_reg passed, state; /* scratch: whether a phase is over; what arriving returns, and nobody reads */
} pipeline;

/* Bytes of shared memory that stages and barriers take, without a gap between them. */
static inline int pipeline_bytes(int stages, int stage_bytes) {
    return stages * (stage_bytes + PIPELINE_BARRIERS * PIPELINE_BARRIER_BYTES);
}

/* Bits that are 0, once all of LOADED is there; NO_BITS is 0, which no compiler may know. An mbarrier's
   arrival can overtake what it tells of: ptxas lets it go while loads are on their way, and what comes next
   may then be written first. So the arrival's address is made to depend on what was loaded, by these bits. */
mc_reg pipeline_behind(mc_builder *b, const mc_reg *loaded, int count, mc_reg no_bits);

/* Waits until the barrier at AT is beyond the phase of PARITY. NAME is the loop's label, PASSED scratch. */
void pipeline_await(mc_builder *b, const char *name, mc_reg passed, mc_reg at, mc_reg parity);

/* Sets the rest of P. */
void pipeline_place(pipeline *p);
void pipeline_init(const pipeline *p);
/* The same by as many threads as there are stages: STAGE is the thread's. */
void pipeline_init_stage(const pipeline *p, mc_reg stage);

/* -- Who fills stages --------------------------------------------------------------------------------- */

typedef struct pipeline_producer {
    mc_reg to, full, empty; /* the next stage to fill, and its barriers */
    mc_reg parity;
    mc_reg wrap; /* whether the stage before was the ring's last one; scratch before the first */
} pipeline_producer;

pipeline_producer pipeline_produce(const pipeline *p);
/* Waits until all consumers have left the stage. NAME is its loop's label, as in all that wait. */
void pipeline_await_empty(const pipeline *p, const pipeline_producer *w, const char *name);
/* Tells the full barrier how many bytes copies will bring. */
void pipeline_expect(const pipeline *p, const pipeline_producer *w);
/* A filler's part of the stage is stored: tells the full barrier, by the lane that ARRIVES. */
void pipeline_fill(const pipeline *p, const pipeline_producer *w, mc_reg arrives);
/* Goes on to the next stage. */
void pipeline_filled(const pipeline *p, const pipeline_producer *w);
/* Goes back to stage 0 as before the first copy: the first round of stages gets copies in two turns. */
void pipeline_rewind(const pipeline *p, const pipeline_producer *w);
/* Waits for the copies that are on their way, of COPIES in all, which is at least 1. A copy must have landed
   before the thread block ends, since its shared memory is then another block's. LEFT and MORE are
   scratch. */
void pipeline_drain(const pipeline *p, const pipeline_producer *w, mc_reg copies, mc_reg left, mc_reg more);

/* -- Who reads them ----------------------------------------------------------------------------------- */

typedef struct pipeline_consumer {
    mc_reg wait_at, parity; /* the full barrier of the next stage to wait for */
    mc_reg leave_at;        /* the empty barrier of the next stage to leave, of thread block `peer` */
    mc_reg start, end;      /* that of stage 0, and the end of all of them */
    mc_reg waited, left;    /* with `counts`: how many stages were waited for and left so far */
    mc_reg arrives; /* whether this thread arrives for its consumer; in a cluster, one for each peer */
    mc_reg wrap;    /* whether the stage before was the ring's last one; scratch before the first */
} pipeline_consumer;

pipeline_consumer pipeline_consume(const pipeline *p, mc_reg arrives);
/* Waits for the next stage. Leaves the oldest one that was not left yet. */
void pipeline_wait(const pipeline *p, const pipeline_consumer *c, const char *name);
void pipeline_leave(const pipeline *p, const pipeline_consumer *c);
/* Finds whether the next stage is THERE, and waits for it if it was not: an answer takes a while, in which
   there may be other work. As in all waits, an instruction of a warp gets one answer for all lanes. */
void pipeline_test(const pipeline *p, const pipeline_consumer *c, mc_reg there);
void pipeline_wait_tested(const pipeline *p, const pipeline_consumer *c, const char *name, mc_reg there);
/* Goes to where COPIES were waited for and left, whoever did it: the next stage is number COPIES modulo
   `stages`, which is returned. For consumers that take turns, each with stages of its own; NAME begins the
   names of registers. */
mc_reg pipeline_seek(const pipeline *p, const pipeline_consumer *c, const char *name, mc_reg copies);

#endif
