/* Kernels that rest on what fences with relaxed arrivals order, on what of global memory copies hold, and
 * on the pool of registers: wrong ones, each with a right one that differs in nothing else. Frame and
 * macros are wgmma_kernels.h's. */
#ifndef TESTS_SIM_BROKEN_ORDER_KERNELS_H
#define TESTS_SIM_BROKEN_ORDER_KERNELS_H

#include "wgmma_kernels.h"

#define CLUSTER_RELAXED "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.acquire.aligned;"
#define REMOTE          "@%one mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];"
#define PEERS_WORD                                                                                           \
    "xor.b32 %r2, %rank, 1; mapa.shared::cluster.u32 %r4, %mine, %r2; ld.shared::cluster.u32 %r5, [%r4];"
#define FILL_WORD      L("st.shared.u32 [%mine], %t;")
#define ARRIVE_RELAXED "mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%b];"
#define AWAIT_RELAXED  "{ W: mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p7, [%b], 0; @!%p7 bra W; }"
#define OTHERS_WORD    "xor.b32 %r5, %mine, 1024; ld.shared.u32 %r4, [%r5];"
/* Thread 0 of the first block stores the tile to where the results begin. */
#define STORE_TILE                                                                                           \
    L("ld.param.u64 %rd0, [out]; setp.eq.and.u32 %p1, %rank, 0, %one; @%p1 "                                 \
      "cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%s], 2048; @%p1 cp.async.bulk.commit_group;")
#define STORED_READ L("@%p1 cp.async.bulk.wait_group.read 0;")
#define STORED      L("@%p1 cp.async.bulk.wait_group 0;")
#define TILE_OF_OUT "ld.global.u32 %r5, [%rd0];"
#define HALF_TWO    L(MBARRIER(0, 1)) L(MBARRIERS_DONE) L(EXPECT("@%one ", 0, 2304)) L(CLUSTER) L(HALF("3"))
#define OVER_SOURCE "@%one st.global.u32 [%rd0], %t;"

static const struct broken_wgmma broken_order[] = {
    /* -- relaxed arrivals -- */
    {"a relaxed arrival, and no fence behind the initialisation", 128, 2, TWO, PTXSIM_RACE,
     "nothing orders this after line", L(MBARRIER(0, 1)) L(CLUSTER_RELAXED) L(PEER) HERE(REMOTE) L(CLUSTER),
     L(MBARRIER(0, 1)) L("@%one fence.mbarrier_init.release.cluster;") L(CLUSTER_RELAXED) L(PEER) L(REMOTE)
         L(CLUSTER),
     0, 0},
    {"a multicast behind a relaxed arrival and no fence", 128, 2, TWO, ASYNC, "no fence.mbarrier_init",
     L(MBARRIER(0, 1)) L(CLUSTER_RELAXED) L(EXPECT("@%one ", 0, 2304)) L(CLUSTER) HERE(HALF("3"))
         MULTIPLY L(CLUSTER),
     L(MBARRIER(0, 1)) L("@%one fence.mbarrier_init.release.cluster;") L(CLUSTER_RELAXED)
         L(EXPECT("@%one ", 0, 2304)) L(CLUSTER) L(HALF("3")) MULTIPLY L(CLUSTER),
     0, 1},
    {"the fence before a relaxed arrival has the block's scope", 128, 2, TWO, PTXSIM_RACE, "race on",
     FILL_WORD L("fence.acq_rel.cta;") L(CLUSTER_RELAXED) HERE(PEERS_WORD) L(CLUSTER),
     FILL_WORD L("fence.acq_rel.cluster;") L(CLUSTER_RELAXED) L(PEERS_WORD) L(CLUSTER), 0, 0},
    {"the store lies between the fence and the relaxed arrival", 128, 2, TWO, PTXSIM_RACE, "race on",
     L("fence.acq_rel.cluster;") FILL_WORD L(CLUSTER_RELAXED) HERE(PEERS_WORD) L(CLUSTER),
     FILL_WORD L("fence.sc.gpu;") L(CLUSTER_RELAXED) L(PEERS_WORD) L(CLUSTER), 0, 0},
    {"relaxed operations on an mbarrier without fences", 128, 1, "", PTXSIM_RACE, "race on",
     L(MBARRIER(0, 128)) L(MBARRIERS_DONE) FILL_WORD L(ARRIVE_RELAXED) L(AWAIT_RELAXED) HERE(OTHERS_WORD),
     L(MBARRIER(0, 128)) L(MBARRIERS_DONE) FILL_WORD L("fence.acq_rel.cta;") L(ARRIVE_RELAXED)
         L(AWAIT_RELAXED) L("fence.acq_rel.cta;") L(OTHERS_WORD),
     0, 0},
    {"a peer's copy signals what no fence told the async proxy of", 128, 2, TWO, ASYNC,
     "no fence.mbarrier_init",
     L(MBARRIER(0, 1)) L(CLUSTER) L(EXPECT("@%one ", 0, 2304)) L(CLUSTER) HERE(HALF("3")) MULTIPLY L(CLUSTER),
     L(MBARRIER(0, 1)) L("@%one fence.proxy.async;") L(CLUSTER) L(EXPECT("@%one ", 0, 2304)) L(CLUSTER)
         L(HALF("3")) MULTIPLY L(CLUSTER),
     0, 1},

    /* -- global memory of copies -- */
    {"a peer reads what a bulk store has yet to write", 128, 2, TWO, ASYNC, "nobody has waited for it",
     TILE STORE_TILE STORED_READ L(CLUSTER) HERE(TILE_OF_OUT) L(CLUSTER),
     TILE STORE_TILE STORED L(CLUSTER) L(TILE_OF_OUT) L(CLUSTER), 0, 0},
    {"a peer overwrites what a bulk load reads", 128, 2, TWO, ASYNC, "nobody has waited for it",
     L("mov.u64 %rd0, %in;") L(MBARRIER(0, 1)) L(MBARRIERS_DONE) L("setp.eq.and.u32 %p1, %rank, 0, %one;")
         L(EXPECT("@%p1 ", 0, 2304)) L(LOAD("@%p1 ", 0, 0, 0)) L(CLUSTER)
             L("setp.eq.and.u32 %p2, %rank, 1, %one;") HERE("@%p2 st.global.u32 [%rd0], %t;")
                 L("setp.eq.u32 %p3, %rank, 1; @%p3 bra END;") OR(AWAIT(0, 0)) L("END:"),
     L("mov.u64 %rd0, %in;") L(MBARRIER(0, 1)) L(MBARRIERS_DONE) L("setp.eq.and.u32 %p1, %rank, 0, %one;")
         L(EXPECT("@%p1 ", 0, 2304)) L(LOAD("@%p1 ", 0, 0, 0)) L("setp.eq.u32 %p3, %rank, 1; @%p3 bra END;")
             L(AWAIT(0, 0)) L("END:") L(CLUSTER) L("setp.eq.and.u32 %p2, %rank, 1, %one;")
                 L("@%p2 st.global.u32 [%rd0], %t;"),
     0, 0},
    {"a multicast's source is overwritten while the peer has yet to get it", 128, 2, TWO, ASYNC,
     "nobody has waited for it", HALF_TWO OR(AWAIT(0, 0)) HERE(OVER_SOURCE) L(CLUSTER),
     HALF_TWO L(AWAIT(0, 0)) L(CLUSTER) L(OVER_SOURCE), 0, 0},
    {"a bulk load's source is overwritten before anybody waits", 128, 1, "", ASYNC,
     "nobody has waited for it",
     L(MBARRIER(0, 1)) L(MBARRIERS_DONE) L(EXPECT("@%one ", 0, 2304)) L(LOAD("@%one ", 0, 0, 0)) L(BLOCK)
         HERE("@%one st.global.u32 [%in], %t;") L(AWAIT(0, 0)),
     L(MBARRIER(0, 1)) L(MBARRIERS_DONE) L(EXPECT("@%one ", 0, 2304)) L(LOAD("@%one ", 0, 0, 0))
         L(AWAIT(0, 0)) L(BLOCK) L("@%one st.global.u32 [%in], %t;"),
     0, 0},
    {"a bulk load reads what a bulk store has yet to write", 128, 1, "", ASYNC, "nobody has waited for it",
     L(MBARRIER(0, 1)) L(MBARRIERS_DONE) TILE STORE_TILE STORED_READ L(EXPECT("@%one ", 0, 2048))
         HERE("@%one cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s+8192], [%rd0], "
              "2048, [%b];") L(AWAIT(0, 0)),
     L(MBARRIER(0, 1)) L(MBARRIERS_DONE) TILE STORE_TILE STORED L(EXPECT("@%one ", 0, 2048))
         L("@%one cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s+8192], [%rd0], 2048, "
           "[%b];") L(AWAIT(0, 0)),
     0, 0},

    {"an mbarrier is made anew while a copy has yet to tell the old one", 128, 1, "", ASYNC, "",
     L(MBARRIER(0, 1)) L(MBARRIERS_DONE) L(EXPECT("@%one ", 0, 2304)) L(LOAD("@%one ", 0, 0, 0))
         HERE("@%one mbarrier.inval.shared::cta.b64 [%b];") L(BLOCK) L(MBARRIER(0, 1)) L(MBARRIERS_DONE)
             L(EXPECT("@%one ", 0, 2304)) OR(LOAD("@%one ", 0, 0, 0)) L(AWAIT(0, 0)),
     L(MBARRIER(0, 1)) L(MBARRIERS_DONE) L(EXPECT("@%one ", 0, 2304)) L(LOAD("@%one ", 0, 0, 0))
         L(AWAIT(0, 0)) L(BLOCK) L("@%one mbarrier.inval.shared::cta.b64 [%b];") L(BLOCK) L(MBARRIER(0, 1))
             L(MBARRIERS_DONE) L(EXPECT("@%one ", 0, 2304)) L(LOAD("@%one ", 0, 1, 0)) L(AWAIT(0, 0))
                 PRODUCT("%no"),
     1, 1},

    /* -- registers of the pool -- */
    {"setmaxnreg.inc to fewer registers than there are", 128, 1, ".maxntid 128 .minnctapersm 1", PTXSIM_TRAP,
     "and there are 160",
     L("setmaxnreg.inc.sync.aligned.u32 160;") L(BLOCK) HERE("setmaxnreg.inc.sync.aligned.u32 152;"),
     L("setmaxnreg.dec.sync.aligned.u32 152;") L(BLOCK) L("setmaxnreg.inc.sync.aligned.u32 160;"), 0, 0},
    {"more registers at the start than a multiprocessor has", 384, 1, ".maxnreg 240", PTXSIM_TRAP,
     "do not fit", HERE("setmaxnreg.inc.sync.aligned.u32 240;"), L("setmaxnreg.inc.sync.aligned.u32 160;"), 0,
     0},
};

/* The kernels of both tables. */
enum {
    BROKEN_OF_WGMMA = sizeof broken_wgmma / sizeof *broken_wgmma,
    BROKEN_OF_ORDER = sizeof broken_order / sizeof *broken_order,
    BROKEN = BROKEN_OF_WGMMA + BROKEN_OF_ORDER
};

static inline const struct broken_wgmma *broken_at(int i) {
    return i < BROKEN_OF_WGMMA ? &broken_wgmma[i] : &broken_order[i - BROKEN_OF_WGMMA];
}

#endif
