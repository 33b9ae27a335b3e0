/* Kernels of wgmma pipelines that are wrong on purpose, each with what the simulator must say, and beside it a right one
 * that differs in nothing else. */
#ifndef TESTS_SIM_BROKEN_WGMMA_H
#define TESTS_SIM_BROKEN_WGMMA_H

#include "../wgmma_kernel.h"

struct broken_wgmma {
    const char *name;
    unsigned threads, blocks;
    const char *directive;
    ptxsim_status status; /* of the wrong one, at the line that HERE marks */
    const char *message, *wrong, *right;
    int first, count; /* tiles whose products the right one adds; count 0: it has no result */
};

#define ASYNC   PTXSIM_ASYNC
#define BARRIER PTXSIM_BARRIER

/* One tile, from stage 0. */
#define PRODUCT(add) L(FENCE) L(MMA(0, add)) L(COMMIT) L(WAIT(0)) L(STORE)
#define TILE         L(FILL(0, 0)) L(PROXY) L(BLOCK)
#define ZERO         "mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;"
/* A product with A in registers, and one of 16 columns. */
#define MMA_A(add)                                                                                           \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 " D ", {%r4, %r5, %r6, %r7}, %y, " add ", 1, 1, 0;"
#define LOAD_A                                                                                               \
    "and.b32 %r8, %t, 31; shr.u32 %r8, %r8, 2; mad.lo.u32 %r8, %w, 16, %r8; shl.b32 %r8, %r8, 4; and.b32 "   \
    "%r9, %t, 3; "                                                                                           \
    "mad.lo.u32 %r8, %r9, 4, %r8; add.u32 %r8, %r8, %s; ld.shared.u32 %r4, [%r8]; ld.shared.u32 %r5, "       \
    "[%r8+128]; "                                                                                            \
    "ld.shared.u32 %r6, [%r8+1024]; ld.shared.u32 %r7, [%r8+1152];"
#define MMA_16                                                                                               \
    "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, %x, %y, "  \
    "%no, 1, 1, 0, 0;"
#define SPARSE(meta)                                                                                         \
    "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 " D ", %x, %y, " meta ", 0, %no, 1, 1, 0, 0;"
/* B of a sparse product: its second half is what A's begins with. */
#define FILL_SPARSE L(FILL(0, 0)) L("@%first st.shared.v4.b32 [%mine + 2304], {%r0, %r1, %r2, %r3};")

/* A pipeline of two stages: thread 128 loads four tiles, four warps multiply them. full 0, 1; empty 2, 3. */
#define ROLES L("setp.eq.u32 %p0, %t, 128; setp.lt.u32 %p1, %t, 128;")
#define STARTS                                                                                               \
    L(MBARRIER(0, 1) MBARRIER(1, 1) MBARRIER(2, 128) MBARRIER(3, 128))                                       \
    L(MBARRIERS_DONE) ROLES L("@!%p1 bra PRODUCER;")
#define PRODUCER                L("bra END;\nPRODUCER: @!%p0 bra END;")
#define END                     L("END:")
#define CONSUME(s, parity, add) L(AWAIT(s, parity)) L(FENCE) L(MMA(s, add)) L(COMMIT) L(WAIT(0))
#define PRODUCE(s, i)           L(EXPECT("", s, 2304)) L(LOAD("", s, i, s))
#define FOUR_CONSUMED                                                                                        \
    CONSUME(0, 0, "%no")                                                                                     \
    L(LEAVE("", 2))                                                                                          \
    CONSUME(1, 0, "%yes")                                                                                    \
    L(LEAVE("", 3)) CONSUME(0, 1, "%yes") L(LEAVE("", 2)) CONSUME(1, 1, "%yes") L(LEAVE("", 3)) L(STORE)
#define FOUR_PRODUCED PRODUCE(0, 0) PRODUCE(1, 1) L(AWAIT(2, 0)) PRODUCE(0, 2) L(AWAIT(3, 0)) PRODUCE(1, 3)

/* Clusters of two blocks. Each has a tile, of which rank 0 brings the first half for both and rank 1 the second. */
#define CLUSTER "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;"
#define TWO     ".reqnctapercluster 2"
#define HALF(mask)                                                                                           \
    "mad.lo.u32 %r1, %rank, 1152, %s; mul.wide.u32 %rd0, %rank, 1152; add.u64 %rd0, %rd0, %in; mov.b16 "     \
    "%h0, " mask                                                                                             \
    "; @%one cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], "   \
    "[%rd0], 1152, "                                                                                         \
    "[%b], %h0;"
#define PEER     "xor.b32 %r2, %rank, 1; mapa.shared::cluster.u32 %r3, %b, %r2;"
#define MULTIPLY L(AWAIT(0, 0)) PRODUCT("%no")

static const struct broken_wgmma broken_wgmma[] = {
    /* -- proxies -- */
    {"no proxy fence before wgmma", 128, 1, "", ASYNC, "missing proxy fence",
     L(FILL(0, 0)) L(BLOCK) L(FENCE) HERE(MMA(0, "%no")) L(COMMIT) L(WAIT(0)) L(STORE), TILE PRODUCT("%no"),
     0, 1},
    {"the proxy fence lies before the stores", 128, 1, "", ASYNC, "missing proxy fence",
     L(PROXY) L(FILL(0, 0)) L(BLOCK) L(FENCE) HERE(MMA(0, "%no")) L(COMMIT) L(WAIT(0)) L(STORE),
     TILE L(PROXY) PRODUCT("%no"), 0, 1},
    {"one thread fences for all, before the barrier", 128, 1, "", ASYNC, "missing proxy fence",
     L(FILL(0, 0)) L("@%one fence.proxy.async;") L(BLOCK) L(FENCE) HERE(MMA(0, "%no")) L(COMMIT) L(WAIT(0))
         L(STORE),
     L(FILL(0, 0)) L(BLOCK) L(PROXY) L(BLOCK) PRODUCT("%no"), 0, 1},
    {"a proxy fence for global memory alone", 128, 1, "", ASYNC, "missing proxy fence",
     L(FILL(0, 0)) L("fence.proxy.async.global;") L(BLOCK) L(FENCE) HERE(MMA(0, "%no")) L(COMMIT) L(WAIT(0))
         L(STORE),
     L(FILL(0, 0)) L("fence.proxy.async.shared::cta;") L(BLOCK) PRODUCT("%no"), 0, 1},
    {"B was stored behind the proxy fence", 128, 1, "", ASYNC, "missing proxy fence",
     TILE L("@%first st.shared.v4.b32 [%mine + 2048], {%r0, %r1, %r2, %r3};") L(BLOCK) L(FENCE)
         HERE(MMA(0, "%no")) L(COMMIT) L(WAIT(0)) L(STORE),
     TILE L("@%first st.shared.v4.b32 [%mine + 2048], {%r0, %r1, %r2, %r3};") L(PROXY) L(BLOCK)
         PRODUCT("%no"),
     0, 1},
    {"cp.async fills a stage, and no proxy fence", 128, 1, "", ASYNC, "missing proxy fence",
     L("cp.async.cg.shared.global [%mine], [%src], 16; @%first cp.async.cg.shared.global [%mine+2048], "
       "[%src+2048], 16; "
       "cp.async.wait_all;") L(BLOCK) L(FENCE) HERE(MMA(0, "%no")) L(COMMIT) L(WAIT(0)) L(STORE),
     L("cp.async.cg.shared.global [%mine], [%src], 16; @%first cp.async.cg.shared.global [%mine+2048], "
       "[%src+2048], 16; "
       "cp.async.wait_all;") L(PROXY) L(BLOCK) PRODUCT("%no"),
     0, 1},
    {"no proxy fence before wgmma.sp", 128, 1, "", ASYNC, "missing proxy fence",
     FILL_SPARSE L(BLOCK) L(FENCE) HERE(SPARSE("%e")) L(COMMIT) L(WAIT(0)),
     FILL_SPARSE L(PROXY) L(BLOCK) L(FENCE) L(SPARSE("%e")) L(COMMIT) L(WAIT(0)), 0, 0},
    {"no proxy fence before the bulk store of what was stored", 128, 1, "", ASYNC, "missing proxy fence",
     TILE L(FENCE) L(MMA(0, "%no")) L(COMMIT) L(WAIT(0))
         L("st.shared.v4.f32 [%mine+8192], {%f0, %f1, %f2, %f3};") L(BLOCK)
             HERE("@%one cp.async.bulk.global.shared::cta.bulk_group [%out], [%s+8192], 2048;")
                 L("@%one cp.async.bulk.commit_group; @%one cp.async.bulk.wait_group 0;"),
     TILE L(FENCE) L(MMA(0, "%no")) L(COMMIT) L(WAIT(0))
         L("st.shared.v4.f32 [%mine+8192], {%f0, %f1, %f2, %f3};") L(PROXY) L(BLOCK)
             L("@%one cp.async.bulk.global.shared::cta.bulk_group [%out], [%s+8192], 2048;")
                 L("@%one cp.async.bulk.commit_group; @%one cp.async.bulk.wait_group 0;"),
     0, 1},
    {"no barrier between the stores and wgmma", 128, 1, "", PTXSIM_UNINIT, "which nothing wrote",
     L(FILL(0, 0)) L(PROXY) L(FENCE) HERE(MMA(0, "%no")) L(COMMIT) L(WAIT(0)) L(STORE), TILE PRODUCT("%no"),
     0, 1},
    {"wgmma reads what nothing wrote", 128, 1, "", PTXSIM_UNINIT, "which nothing wrote",
     TILE L(FENCE) HERE(MMA(1, "%no")) L(COMMIT) L(WAIT(0)) L(STORE), TILE PRODUCT("%no"), 0, 1},

    /* -- registers -- */
    {"no wgmma.fence at all", 128, 1, "", ASYNC, "no wgmma.fence lies before it",
     TILE HERE(MMA(0, "%no")) L(COMMIT) L(WAIT(0)) L(STORE), TILE PRODUCT("%no"), 0, 1},
    {"accumulators are cleared behind the fence", 128, 1, "", ASYNC, "%f0 was accessed, and no wgmma.fence",
     TILE L(FENCE) L(ZERO) HERE(MMA(0, "%yes")) L(COMMIT) L(WAIT(0)) L(STORE), TILE L(ZERO) PRODUCT("%yes"),
     0, 1},
    {"A is loaded behind the fence", 128, 1, "", ASYNC, "%r4 was accessed, and no wgmma.fence",
     TILE L(FENCE) L(LOAD_A) HERE(MMA_A("%no")) L(COMMIT) L(WAIT(0)) L(STORE),
     TILE L(LOAD_A) L(FENCE) L(MMA_A("%no")) L(COMMIT) L(WAIT(0)) L(STORE), 0, 1},
    {"sums are scaled between two wgmma without a second fence", 128, 1, "", ASYNC,
     "%f2 was accessed, and no wgmma.fence",
     TILE L(FENCE) L(MMA(0, "%no")) L(COMMIT) L(WAIT(0)) L("add.f32 %f2, %f2, 0f00000000;")
         HERE(MMA(0, "%yes")) L(COMMIT) L(WAIT(0)) L(STORE),
     TILE L(FENCE) L(MMA(0, "%no")) L(COMMIT) L(WAIT(0)) L("mul.f32 %f2, %f2, 0f3f800000;") L(FENCE)
         L(MMA(0, "%no")) L(COMMIT) L(WAIT(0)) L(STORE),
     0, 1},
    {"sums are read before the wait", 128, 1, "", ASYNC, "accesses %f0, which the wgmma of line",
     TILE L(FENCE) L(MMA(0, "%no")) L(COMMIT) HERE(STORE) L(WAIT(0)), TILE PRODUCT("%no"), 0, 1},
    {"sums are read after a wait that leaves their group", 128, 1, "", ASYNC,
     "accesses %f0, which the wgmma of line", TILE L(FENCE) L(MMA(0, "%no")) L(COMMIT) L(WAIT(1)) HERE(STORE),
     TILE L(FENCE) L(MMA(0, "%no")) L(COMMIT) L(COMMIT) L(WAIT(1)) L(STORE), 0, 1},
    {"a wait without a commit", 128, 1, "", ASYNC, "accesses %f0, which the wgmma of line",
     TILE L(FENCE) L(MMA(0, "%no")) L(WAIT(0)) HERE(STORE) L(COMMIT), TILE PRODUCT("%no"), 0, 1},
    {"an accumulator is written in flight", 128, 1, "", ASYNC, "accesses %f3, which the wgmma of line",
     TILE L(FENCE) L(MMA(0, "%no")) L(COMMIT) HERE("mov.f32 %f3, 0f00000000;") L(WAIT(0)) L(STORE),
     TILE L("mov.f32 %f3, 0f00000000;") PRODUCT("%no"), 0, 1},
    {"the next A overwrites registers in flight", 128, 1, "", ASYNC, "accesses %r4, which the wgmma of line",
     TILE L(LOAD_A) L(FENCE) L(MMA_A("%no")) L(COMMIT) HERE("mov.b32 %r4, 0;") L(WAIT(0)) L(STORE),
     TILE L(LOAD_A) L(FENCE) L(MMA_A("%no")) L(COMMIT) L(WAIT(0)) L("mov.b32 %r4, 0;") L(STORE), 0, 1},
    {"the next metadata overwrite a register in flight", 128, 1, "", ASYNC, "writes %e, which holds metadata",
     FILL_SPARSE L(PROXY) L(BLOCK) L(FENCE) L(SPARSE("%e")) L(COMMIT) HERE("mov.u32 %e, 0xeeeeeeee;")
         L(WAIT(0)),
     FILL_SPARSE L(PROXY) L(BLOCK) L(FENCE) L(SPARSE("%e")) L(COMMIT) L("mov.u32 %r0, %e;") L(WAIT(0))
         L("mov.u32 %e, 0xeeeeeeee;"),
     0, 0},
    {"accumulators of another shape in flight", 128, 1, "", ASYNC, "of another shape",
     L("@%first st.shared.v4.b32 [%mine + 2304], {%t, %t, %t, %t};") TILE L(FENCE) L(MMA(0, "%no"))
         HERE(MMA_16) L(COMMIT) L(WAIT(0)),
     L("@%first st.shared.v4.b32 [%mine + 2304], {%t, %t, %t, %t};") TILE L(FENCE) L(MMA(0, "%no")) L(COMMIT)
         L(WAIT(0)) L(FENCE) L(MMA_16) L(COMMIT) L(WAIT(0)),
     0, 0},
    {"accumulators that nothing wrote are added", 128, 1, "", PTXSIM_UNINIT, "reads %f0, which nothing wrote",
     TILE L(FENCE) HERE(MMA(0, "%yes")) L(COMMIT) L(WAIT(0)) L(STORE), TILE L(ZERO) PRODUCT("%yes"), 0, 1},

    /* -- the warpgroup -- */
    {"a warp computes its own descriptor", 128, 1, "", BARRIER, "the descriptor of A is",
     TILE L("mul.wide.u32 %rd0, %w, 0; add.u64 %x, %x, %rd0; setp.eq.u32 %p0, %w, 3; @%p0 add.u64 %x, %x, 8;")
         L(FENCE) HERE(MMA(0, "%no")) L(COMMIT) L(WAIT(0)) L(STORE),
     TILE L("add.u64 %x, %x, 0;") PRODUCT("%no"), 0, 1},
    {"a descriptor that differs between lanes", 128, 1, "", BARRIER, "in lane 0",
     TILE L("cvt.u64.u32 %rd0, %t; and.b64 %rd0, %rd0, 1; add.u64 %x, %x, %rd0;") L(FENCE) HERE(MMA(0, "%no"))
         L(COMMIT) L(WAIT(0)),
     TILE L(FENCE) L(MMA(0, "%no")) L(COMMIT) L(WAIT(0)), 0, 0},
    {"one warp of four leaves wgmma out", 128, 1, "", BARRIER, "never executed this",
     TILE L("setp.eq.u32 %p0, %w, 2; @%p0 bra OUT;") HERE(FENCE) L(MMA(0, "%no")) L(COMMIT) L(WAIT(0))
         L("OUT:"),
     TILE L("setp.eq.u32 %p0, %w, 4; @%p0 bra OUT;") L(FENCE) L(MMA(0, "%no")) L(COMMIT) L(WAIT(0)) L("OUT:"),
     0, 0},
    {"a part of a warp", 128, 1, "", BARRIER, "execute this together",
     TILE L("@%first bra OUT;") HERE(FENCE) L(MMA(0, "%no")) L(COMMIT) L(WAIT(0)) L("OUT:"),
     TILE L("@%no bra OUT;") L(FENCE) L(MMA(0, "%no")) L(COMMIT) L(WAIT(0)) L("OUT:"), 0, 0},
    {"three warps are no warpgroup", 96, 1, "", BARRIER, "is in no warpgroup", HERE(FENCE), L(BLOCK), 0, 0},
    {"whether D is added differs between lanes", 128, 1, "", BARRIER, "is not the same in all lanes",
     TILE L(ZERO) L(FENCE) HERE(MMA(0, "%first")) L(COMMIT) L(WAIT(0)),
     TILE L(ZERO) L(FENCE) L(MMA(0, "%yes")) L(COMMIT) L(WAIT(0)), 0, 0},

    /* -- metadata and layouts -- */
    {"metadata of all zeros", 128, 1, "", PTXSIM_TRAP, "metadata 0x0 of row 0",
     FILL_SPARSE L(PROXY) L(BLOCK) L("mov.u32 %e, 0;") L(FENCE) HERE(SPARSE("%e")) L(COMMIT) L(WAIT(0)),
     FILL_SPARSE L(PROXY) L(BLOCK) L("mov.u32 %e, 0xe4eeee44;") L(FENCE) L(SPARSE("%e")) L(COMMIT) L(WAIT(0)),
     0, 0},
    {"metadata that name one place twice", 128, 1, "", PTXSIM_TRAP, "metadata 0x5 of row",
     FILL_SPARSE L(PROXY) L(BLOCK) L("mov.u32 %e, 0x44544444;") L(FENCE) HERE(SPARSE("%e")) L(COMMIT)
         L(WAIT(0)),
     FILL_SPARSE L(PROXY) L(BLOCK) L("mov.u32 %e, 0x44944444;") L(FENCE) L(SPARSE("%e")) L(COMMIT) L(WAIT(0)),
     0, 0},
    {"mma.sp of metadata out of order", 32, 1, "", PTXSIM_TRAP, "or not in order",
     L("mov.u32 %r0, 0; mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %e, 0x44444144;") L(ZERO)
         HERE("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 " D
              ", {%r0, %r1, %r2, %r3}, {%r0, %r1, "
              "%r2, %r3}, " D ", %e, 0;"),
     L("mov.u32 %r0, 0; mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %e, 0x44444444;") L(ZERO)
         L("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 " D
           ", {%r0, %r1, %r2, %r3}, {%r0, %r1, "
           "%r2, %r3}, " D ", %e, 0;"),
     0, 0},
    {"a stride of the sparse B that passes the tile's end", 128, 1, "", PTXSIM_UNINIT, "which nothing wrote",
     FILL_SPARSE L(PROXY) L(BLOCK) L("add.u64 %y, %y, ((256 - 128) >> 4) << 16;") L(FENCE) HERE(SPARSE("%e"))
         L(COMMIT) L(WAIT(0)),
     FILL_SPARSE L(PROXY) L(BLOCK) L(FENCE) L(SPARSE("%e")) L(COMMIT) L(WAIT(0)), 0, 0},
    {"a descriptor beyond the block's memory", 128, 1, "", PTXSIM_BOUNDS, "the block has",
     TILE L("add.u64 %y, %y, 3072;") L(FENCE) HERE(MMA(0, "%no")) L(COMMIT) L(WAIT(0)),
     TILE L(FENCE) L(MMA(0, "%no")) L(COMMIT) L(WAIT(0)), 0, 0},

    /* -- stages that are overwritten -- */
    {"a stage is stored to before the wait", 128, 1, "", ASYNC, "may still read",
     TILE L(FENCE) L(MMA(0, "%no")) L(COMMIT) HERE("st.shared.v4.b32 [%mine], {%t, %t, %t, %t};") L(WAIT(0))
         L(STORE),
     TILE L(FENCE) L(MMA(0, "%no")) L(COMMIT) L(WAIT(0)) L(BLOCK)
         L("st.shared.v4.b32 [%mine], {%t, %t, %t, %t};") L(STORE),
     0, 1},
    {"no barrier at the loop's back edge", 128, 1, "", PTXSIM_RACE, "it read, this writes",
     L("mov.u32 %r10, 0;") L(ZERO) L("LOOP:") HERE(FILL(0, 0)) L(PROXY) L(BLOCK) L(FENCE) OR(MMA(0, "%yes"))
         L(COMMIT) L(WAIT(0))
             L("add.u32 %r10, %r10, 1; add.u64 %src, %src, 2304; setp.lt.u32 %p0, %r10, 3; @%p0 bra LOOP;")
                 L(STORE),
     L("mov.u32 %r10, 0;") L(ZERO) L("LOOP:") L(FILL(0, 0)) L(PROXY) L(BLOCK) L(FENCE) L(MMA(0, "%yes"))
         L(COMMIT) L(WAIT(0)) L(BLOCK)
             L("add.u32 %r10, %r10, 1; add.u64 %src, %src, 2304; setp.lt.u32 %p0, %r10, 3; @%p0 bra LOOP;")
                 L(STORE),
     0, 3},
    {"consumers leave a stage before they waited", 160, 1, "", ASYNC, "may still read",
     STARTS CONSUME(0, 0, "%no") L(LEAVE("", 2)) L(AWAIT(1, 0)) L(FENCE) L(MMA(1, "%yes")) L(COMMIT)
         L(LEAVE("", 3)) L("{ W: mbarrier.try_wait.parity.shared::cta.b64 %p7, [%b + 8], 1; @!%p7 bra W; }")
             L(WAIT(0)) L(STORE) PRODUCER PRODUCE(0, 0) PRODUCE(1, 1) L(AWAIT(3, 0)) L(EXPECT("", 1, 2304))
                 HERE(LOAD("", 1, 2, 1)) END,
     STARTS CONSUME(0, 0, "%no") L(LEAVE("", 2)) CONSUME(1, 0, "%yes") L(LEAVE("", 3))
         L("{ W: mbarrier.try_wait.parity.shared::cta.b64 %p7, [%b + 8], 1; @!%p7 bra W; }") L(STORE)
             PRODUCER PRODUCE(0, 0) PRODUCE(1, 1) L(AWAIT(3, 0)) PRODUCE(1, 2) END,
     0, 2},
    {"the producer does not wait until a stage is empty", 160, 1, "", PTXSIM_RACE, "it read, this writes",
     STARTS OR(AWAIT(0, 0)) L(FENCE) OR(MMA(0, "%no")) L(COMMIT) L(WAIT(0)) CONSUME(0, 1, "%yes") L(STORE)
         PRODUCER PRODUCE(0, 0) L(AWAIT(0, 0)) L(EXPECT("", 0, 2304)) HERE(LOAD("", 0, 1, 0)) END,
     STARTS CONSUME(0, 0, "%no") L(LEAVE("", 2)) CONSUME(0, 1, "%yes") L(STORE) PRODUCER PRODUCE(0, 0)
         L(AWAIT(2, 0)) PRODUCE(0, 1) END,
     0, 2},

    /* -- phases and bytes -- */
    {"a consumer waits for the wrong phase", 160, 1, "", ASYNC, "",
     STARTS OR(AWAIT(0, 1)) L(FENCE) HERE(MMA(0, "%no")) L(COMMIT) L(WAIT(0)) L(LEAVE("", 2)) L(STORE)
         PRODUCER PRODUCE(0, 0) END,
     STARTS CONSUME(0, 0, "%no") L(LEAVE("", 2)) L(STORE) PRODUCER PRODUCE(0, 0) END, 0, 1},
    {"the phase is not turned in the second round", 160, 1, "", PTXSIM_RACE, "it read, this writes",
     STARTS CONSUME(0, 0, "%no") L(LEAVE("", 2)) L(AWAIT(2, 0)) L(AWAIT(0, 0)) L(FENCE) OR(MMA(0, "%yes"))
         L(COMMIT) L(WAIT(0)) L(STORE) PRODUCER PRODUCE(0, 0) L(AWAIT(2, 0)) L(EXPECT("", 0, 2304))
             HERE(LOAD("", 0, 1, 0)) END,
     STARTS CONSUME(0, 0, "%no") L(LEAVE("", 2)) L(AWAIT(2, 0)) CONSUME(0, 1, "%yes") L(STORE)
         PRODUCER PRODUCE(0, 0) L(AWAIT(2, 0)) PRODUCE(0, 1) END,
     0, 2},
    {"fewer bytes are expected than come", 160, 1, "", BARRIER, "which nothing will complete",
     STARTS HERE(AWAIT(0, 0)) L(FENCE) L(MMA(0, "%no")) L(COMMIT) L(WAIT(0)) L(STORE)
         PRODUCER L(EXPECT("", 0, 2048)) L(LOAD("", 0, 0, 0)) END,
     STARTS CONSUME(0, 0, "%no") L(STORE) PRODUCER PRODUCE(0, 0) END, 0, 1},
    {"more bytes are expected than come", 160, 1, "", BARRIER, "which nothing will complete",
     STARTS HERE(AWAIT(0, 0)) L(FENCE) L(MMA(0, "%no")) L(COMMIT) L(WAIT(0)) L(STORE)
         PRODUCER L(EXPECT("", 0, 4096)) L(LOAD("", 0, 0, 0)) END,
     STARTS CONSUME(0, 0, "%no") L(STORE) PRODUCER PRODUCE(0, 0) END, 0, 1},
    {"an empty mbarrier for one arrival too many", 160, 1, "", BARRIER, "which nothing will complete",
     L(MBARRIER(0, 1) MBARRIER(1, 1) MBARRIER(2, 129) MBARRIER(3, 129)) L(MBARRIERS_DONE)
         ROLES L("@!%p1 bra PRODUCER;") CONSUME(0, 0, "%no") L(LEAVE("", 2)) HERE(AWAIT(0, 1)) L(STORE)
             PRODUCER PRODUCE(0, 0) OR(AWAIT(2, 0)) PRODUCE(0, 1) END,
     STARTS CONSUME(0, 0, "%no") L(LEAVE("", 2)) L(AWAIT(0, 1)) L(STORE) PRODUCER PRODUCE(0, 0) L(AWAIT(2, 0))
         PRODUCE(0, 1) END,
     0, 1},
    {"the last tile along K is dropped", 160, 1, "", ASYNC, "no thread has waited for this copy",
     STARTS CONSUME(0, 0, "%no") L(LEAVE("", 2)) L(STORE) PRODUCER PRODUCE(0, 0) L(EXPECT("", 1, 2304))
         HERE(LOAD("", 1, 1, 1)) END,
     STARTS CONSUME(0, 0, "%no") L(LEAVE("", 2)) CONSUME(1, 0, "%yes") L(STORE) PRODUCER PRODUCE(0, 0)
         PRODUCE(1, 1) END,
     0, 2},
    {"a stage is read without a wait for its mbarrier", 160, 1, "", ASYNC, "",
     STARTS L(FENCE) HERE(MMA(0, "%no")) L(COMMIT) L(WAIT(0)) L(STORE) PRODUCER PRODUCE(0, 0) END,
     STARTS CONSUME(0, 0, "%no") L(STORE) PRODUCER PRODUCE(0, 0) END, 0, 1},
    {"one warp of four waits for the stage", 160, 1, "", ASYNC, "",
     STARTS L("setp.ne.u32 %p2, %w, 0; @%p2 bra GO;") L(AWAIT(0, 0)) L("GO:") L(FENCE) HERE(MMA(0, "%no"))
         L(COMMIT) L(WAIT(0)) L(STORE) PRODUCER PRODUCE(0, 0) END,
     STARTS L("and.b32 %r5, %t, 31; setp.ne.u32 %p2, %r5, 0; @%p2 bra GO;") L(AWAIT(0, 0))
         L("GO: bar.warp.sync -1;") L(FENCE) L(MMA(0, "%no")) L(COMMIT) L(WAIT(0)) L(STORE)
             PRODUCER PRODUCE(0, 0) END,
     0, 1},
    {"the mbarrier's initialisation is not fenced", 160, 1, "", ASYNC, "tells the async proxy of it",
     L(MBARRIER(0, 1)) L(BLOCK) ROLES L("@!%p1 bra PRODUCER;") CONSUME(0, 0, "%no") L(STORE)
         PRODUCER L(EXPECT("", 0, 2304)) HERE(LOAD("", 0, 0, 0)) END,
     L(MBARRIER(0, 1)) L(MBARRIERS_DONE) ROLES L("@!%p1 bra PRODUCER;") CONSUME(0, 0, "%no") L(STORE)
         PRODUCER PRODUCE(0, 0) END,
     0, 1},

    /* -- clusters -- */
    {"a multicast to a block that may not have started", 128, 2, TWO, BARRIER, "which may not have started",
     L(MBARRIER(0, 1)) L(MBARRIERS_DONE) L(EXPECT("@%one ", 0, 2304)) HERE(HALF("3")) MULTIPLY L(CLUSTER),
     L(MBARRIER(0, 1)) L(MBARRIERS_DONE) L(EXPECT("@%one ", 0, 2304)) L(CLUSTER) L(HALF("3"))
         MULTIPLY L(CLUSTER),
     0, 1},
    {"a block ends while its peer multicasts to it", 128, 2, TWO, PTXSIM_RACE,
     "all of whose threads have exited",
     L(MBARRIER(0, 1)) L(MBARRIERS_DONE) L(CLUSTER) L("setp.eq.u32 %p0, %rank, 1; @%p0 bra END;")
         HERE(HALF("3")) END,
     L(MBARRIER(0, 1)) L(MBARRIERS_DONE) L(EXPECT("@%one ", 0, 1152)) L(CLUSTER)
         L("setp.eq.u32 %p0, %rank, 1; @%p0 bra END;") L(HALF("3")) L("END:") L(AWAIT(0, 0)) L(CLUSTER),
     0, 0},
    {"a block ends before what its peer multicast has come", 128, 2, TWO, ASYNC,
     "no thread has waited for this copy",
     L(MBARRIER(0, 1)) L(MBARRIERS_DONE) L(EXPECT("@%one ", 0, 2304)) L(CLUSTER) HERE(HALF("3")) L(CLUSTER)
         L("setp.eq.u32 %p0, %rank, 1; @%p0 bra END;") MULTIPLY END,
     L(MBARRIER(0, 1)) L(MBARRIERS_DONE) L(EXPECT("@%one ", 0, 2304)) L(CLUSTER) L(HALF("3"))
         MULTIPLY L(CLUSTER),
     0, 1},
    {"the peer's mbarrier is not told of its half", 128, 2, TWO, BARRIER, "which nothing will complete",
     L(MBARRIER(0, 1)) L(MBARRIERS_DONE) L(EXPECT("@%one ", 0, 2304)) L(CLUSTER) L(HALF("1"))
         HERE(AWAIT(0, 0)) PRODUCT("%no") L(CLUSTER),
     L(MBARRIER(0, 1)) L(MBARRIERS_DONE) L(EXPECT("@%one ", 0, 2304)) L(CLUSTER) L(HALF("3"))
         MULTIPLY L(CLUSTER),
     0, 1},
    {"a multicast to a rank that is not there", 128, 2, TWO, PTXSIM_BOUNDS, "rank 2 of the cluster",
     L(MBARRIER(0, 1)) L(MBARRIERS_DONE) L(EXPECT("@%one ", 0, 2304)) L(CLUSTER) HERE(HALF("7"))
         MULTIPLY L(CLUSTER),
     L(MBARRIER(0, 1)) L(MBARRIERS_DONE) L(EXPECT("@%one ", 0, 2304)) L(CLUSTER) L(HALF("3"))
         MULTIPLY L(CLUSTER),
     0, 1},
    {"the peer's consumers still read when the next half is multicast", 128, 2, TWO, ASYNC, "",
     L(MBARRIER(0, 1)) L(MBARRIERS_DONE) L(EXPECT("@%one ", 0, 2304)) L(CLUSTER) L(HALF("3"))
         MULTIPLY L(BLOCK) L(EXPECT("@%one ", 0, 2304)) HERE(HALF("3")) L(AWAIT(0, 1)) L(CLUSTER),
     L(MBARRIER(0, 1)) L(MBARRIERS_DONE) L(EXPECT("@%one ", 0, 2304)) L(CLUSTER) L(HALF("3"))
         MULTIPLY L(CLUSTER) L(EXPECT("@%one ", 0, 2304)) L(CLUSTER) L(HALF("3")) L(AWAIT(0, 1)) L(CLUSTER),
     0, 1},
    {"an arrival at a peer that may have ended", 128, 2, TWO, PTXSIM_RACE,
     "the block ends, and nothing orders this",
     L(MBARRIER(0, 128)) L(MBARRIERS_DONE) L(CLUSTER) L(PEER) L("setp.eq.u32 %p0, %rank, 0; @%p0 bra END;")
         OR("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];") L("END:") HERE("ret;"),
     L(MBARRIER(0, 128)) L(MBARRIERS_DONE) L(CLUSTER) L(PEER)
         L("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];") L(AWAIT(0, 0)),
     0, 0},
    {"one warp leaves the cluster's barrier out", 128, 2, TWO, BARRIER,
     "waits forever at the barrier of the cluster",
     L("setp.eq.u32 %p0, %w, 1; @%p0 bra OUT; barrier.cluster.arrive.release.aligned;")
         HERE("barrier.cluster.wait.acquire.aligned;") L("OUT:") L(BLOCK),
     L(CLUSTER) L(BLOCK), 0, 0},
    {"the copy's mbarrier is the issuer's, its bytes the peer's", 128, 2, TWO, ASYNC,
     "and its mbarrier is in that of rank",
     L(MBARRIER(0, 1)) L(MBARRIERS_DONE) L(CLUSTER)
         L("xor.b32 %r2, %rank, 1; mapa.shared::cluster.u32 %r3, %s, %r2;")
             HERE("@%one cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%in], "
                  "2304, [%b];") L(CLUSTER),
     L(MBARRIER(0, 1)) L(MBARRIERS_DONE) L(EXPECT("@%one ", 0, 2304)) L(CLUSTER)
         L("xor.b32 %r2, %rank, 1; mapa.shared::cluster.u32 %r3, %s, %r2; mapa.shared::cluster.u32 %r4, %b, "
           "%r2;") L("@%one cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%in], "
                     "2304, [%r4];") MULTIPLY L(CLUSTER),
     0, 1},

    /* -- registers of the pool, stores -- */
    {"setmaxnreg takes what nobody gave back", 384, 1, ".maxntid 384 .minnctapersm 1", BARRIER,
     "waits forever for 240", HERE("setmaxnreg.inc.sync.aligned.u32 240;"),
     L("setp.lt.u32 %p0, %t, 128; @%p0 bra LESS;") L("setmaxnreg.inc.sync.aligned.u32 232; bra END;")
         L("LESS: setmaxnreg.dec.sync.aligned.u32 40;") END,
     0, 0},
    {"setmaxnreg.dec to more registers than there are", 128, 1, ".maxnreg 96", PTXSIM_TRAP,
     "and there are 96", HERE("setmaxnreg.dec.sync.aligned.u32 104;"),
     L("setmaxnreg.dec.sync.aligned.u32 88;"), 0, 0},
    {"three warps of four execute setmaxnreg", 128, 1, ".maxnreg 96", BARRIER, "never executed this",
     L("setp.eq.u32 %p0, %w, 3; @%p0 bra END;") HERE("setmaxnreg.dec.sync.aligned.u32 40;") END,
     L("setmaxnreg.dec.sync.aligned.u32 40;"), 0, 0},
    {"what a bulk store reads is overwritten", 128, 1, "", ASYNC, "",
     TILE L("@%one cp.async.bulk.global.shared::cta.bulk_group [%out], [%s], 2048; @%one "
            "cp.async.bulk.commit_group;") L(BLOCK) HERE("st.shared.v4.b32 [%mine], {%t, %t, %t, %t};")
         L("@%one cp.async.bulk.wait_group 0;"),
     TILE L("@%one cp.async.bulk.global.shared::cta.bulk_group [%out], [%s], 2048; @%one "
            "cp.async.bulk.commit_group; @%one "
            "cp.async.bulk.wait_group.read 0;") L(BLOCK) L("st.shared.v4.b32 [%mine], {%t, %t, %t, %t};")
         L("@%one cp.async.bulk.wait_group 0;"),
     0, 0},
    {"a reduction into memory that nothing wrote", 128, 1, "", PTXSIM_UNINIT, "nothing wrote",
     TILE HERE("@%one cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%out], [%s], 2048;")
         L("@%one cp.async.bulk.commit_group; @%one cp.async.bulk.wait_group 0;"),
     TILE L("st.global.v4.b32 [%out], {%t, %t, %t, %t}; fence.proxy.async; bar.sync 0;")
         L("@%one cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%out], [%s], 2048;")
             L("@%one cp.async.bulk.commit_group; @%one cp.async.bulk.wait_group 0;"),
     0, 0},
    /* no fault of its own: a right pipeline of four tiles over two stages */
    {"the third tile is loaded into the wrong stage", 160, 1, "", ASYNC, "",
     STARTS FOUR_CONSUMED PRODUCER PRODUCE(0, 0) PRODUCE(1, 1) L(AWAIT(2, 0)) L(EXPECT("", 0, 2304))
         HERE(LOAD("", 1, 2, 0)) L(AWAIT(3, 0)) PRODUCE(1, 3) END,
     STARTS FOUR_CONSUMED PRODUCER FOUR_PRODUCED END, 0, 4},
};

#endif
