/* Kernels of clusters that are wrong on purpose, and what the simulator must say. */
#ifndef TESTS_SIM_BROKEN_CLUSTER_H
#define TESTS_SIM_BROKEN_CLUSTER_H

#include "../cluster_kernel.h"

struct broken_cluster {
    const char *name;
    const char *code; /* from line 8 on, in the frame of cluster_kernel.h */
    unsigned cluster, blocks, threads;
    ptxsim_status status;
    int line, other; /* of a race: the lines of both sides, in order */
    ptxsim_race race;
    const char *message;
};

#define WR PTXSIM_WRITE_READ
#define RW PTXSIM_READ_WRITE
#define WW PTXSIM_WRITE_WRITE
/* %p0: thread 0 of the cluster; %p1: a thread 0; %r8: the first rank's sm; %p2: of the last rank. */
#define RANKS                                                                                                \
    "setp.eq.u32 %p1, %t, 0; setp.eq.and.u32 %p0, %rank, 0, %p1; mov.u32 %r9, 0; mapa.shared::cluster.u32 "  \
    "%r8, sm, %r9; add.u32 %r7, %rank, 1; setp.eq.u32 %p2, %r7, %n; "

static const struct broken_cluster broken_clusters[] = {
    /* races on shared memory: lines 8 to 9 are INIT's */
    {"no barrier behind the store", INIT "st.shared.u32 [%a], %t;\nld.shared::cluster.u32 %r2, [%b];\n" SYNC,
     2, 2, 32, PTXSIM_RACE, 9, 10, RW, "race on shared 0x0 with line 10, block (1,0,0)"},
    {"the same of four blocks in two clusters",
     INIT "st.shared.u32 [%a], %t;\nld.shared::cluster.u32 %r2, [%b];\n" SYNC, 4, 8, 64, PTXSIM_RACE, 9, 10,
     RW, "race on shared 0x0 with line 10, block (3,0,0)"},
    {"only a barrier of the block",
     INIT "st.shared.u32 [%a], %t;\nbar.sync 0;\nld.shared::cluster.u32 %r2, [%b];\n" SYNC, 2, 2, 64,
     PTXSIM_RACE, 9, 11, RW, "race on shared"},
    {"a relaxed arrival releases nothing",
     INIT "st.shared.u32 [%a], %t;\n" RELAXED WAIT "ld.shared::cluster.u32 %r2, [%b];\n" SYNC, 2, 2, 32,
     PTXSIM_RACE, 11, 9, WR, "race on block (1,0,0)'s shared 0x0 with line 9, block (1,0,0)"},
    {"a relaxed arrival in a later cluster",
     INIT "setp.lt.u32 %p0, %c, 2; st.shared.u32 [%a], %t;\n@%p0 " ARRIVE "@!%p0 " RELAXED WAIT
          "ld.shared::cluster.u32 %r2, [%b];\n" SYNC,
     2, 4, 32, PTXSIM_RACE, 11, 9, WR, "with line 9, block (3,0,0)"},
    {"a store behind the arrival",
     INIT ARRIVE "st.shared.u32 [%a], %t;\n" WAIT "ld.shared::cluster.u32 %r2, [%b];\n" SYNC, 2, 2, 32,
     PTXSIM_RACE, 11, 9, WR, "race on block (1,0,0)'s shared"},
    {"a load before the wait",
     INIT "st.shared.u32 [%a], %t;\n" ARRIVE "ld.shared::cluster.u32 %r2, [%b];\n" WAIT SYNC, 2, 2, 32,
     PTXSIM_RACE, 9, 10, RW, "race on shared"},
    {"no second barrier: the block overwrites what another reads",
     INIT "ld.shared::cluster.u32 %r2, [%b];\nst.shared.u32 [%a], %t;\n" SYNC, 2, 2, 32, PTXSIM_RACE, 9, 10,
     WR, "it wrote, this reads"},
    {"two blocks store to one word", INIT "st.shared::cluster.u32 [%b], %t;\nst.shared.u32 [%a], %t;\n" SYNC,
     2, 2, 32, PTXSIM_RACE, 9, 10, WW, "both write"},
    {"of the readers in many blocks one releases nothing",
     INIT RANKS "setp.eq.u32 %p2, %rank, 1; ld.shared::cluster.u32 %r2, [%r8];\n@%p2 " RELAXED
                "@!%p2 " ARRIVE WAIT "@%p0 st.shared.u32 [sm], %t;\n" SYNC,
     4, 4, 96, PTXSIM_RACE, 11, 9, RW, "with line 9, block (1,0,0)"},
    {"a relaxed arrival orders the warps of a block neither",
     "st.shared.u32 [%a], %t;\n" RELAXED WAIT "xor.b32 %r3, %a, 128;\nld.shared.u32 %r2, [%r3];", 1, 2, 64,
     PTXSIM_RACE, 11, 8, WR, "race on shared"},
    {"an atomic of the scope .cta", INIT RANKS "red.relaxed.cta.shared::cluster.add.u32 [%r8], 1;\n" SYNC, 2,
     2, 32, PTXSIM_RACE, 9, 9, WW, "race on shared 0x0 with line 9, block (1,0,0)"},
    {"an atomic against a plain load",
     INIT RANKS "@%p2 red.shared::cluster.add.u32 [%r8], 1;\n@%p0 ld.shared.u32 %r2, [sm];\n" SYNC, 2, 2, 1,
     PTXSIM_RACE, 10, 9, WR, "race on shared 0x0 with line 9, block (1,0,0)"},

    /* the same on global memory */
    {"global memory without a barrier",
     INIT RANKS "@%p0 st.global.u32 [%out], %t;\n@%p2 ld.global.u32 %r2, [%out];\n" SYNC, 2, 2, 1,
     PTXSIM_RACE, 9, 10, RW, "race on global"},
    {"global memory, and a relaxed arrival",
     INIT RANKS "@%p0 st.global.u32 [%out], %t;\n" RELAXED WAIT "@%p2 ld.global.u32 %r2, [%out];\n" SYNC, 2,
     2, 1, PTXSIM_RACE, 11, 9, WR, "race on global"},
    {"global memory, and readers in many blocks",
     INIT RANKS "@%p0 st.global.u32 [%out], %t;\n" SYNC
                "setp.eq.u32 %p2, %rank, 1; ld.global.u32 %r2, [%out];\n@%p2 " RELAXED "@!%p2 " ARRIVE WAIT
                "@%p0 st.global.u32 [%out], %t;\n" SYNC,
     4, 4, 1, PTXSIM_RACE, 13, 11, RW, "with line 11, block (1,0,0)"},
    {"a cluster's barrier does not order another cluster",
     INIT RANKS "@%p0 st.global.u32 [%out], %t;\n" SYNC "ld.global.u32 %r2, [%out];\n" SYNC, 2, 4, 1,
     PTXSIM_RACE, 9, 9, WW, "race on global"},

    {"a cluster writes what the blocks of another read",
     INIT RANKS "ld.global.u32 %r2, [%out];\nsetp.eq.u32 %p3, %c, 7;\n@%p3 st.global.u32 [%out], %t;", 4, 8,
     1, PTXSIM_RACE, 11, 9, RW, "race on global"},

    /* blocks that have not started, or have ended */
    {"no barrier at the start", "ld.shared::cluster.u32 %r2, [%b];\n" SYNC, 2, 2, 32, PTXSIM_BARRIER, 8, 0, 0,
     "block (1,0,0), which may not have started"},
    {"an arrival alone does not say that the others started",
     "st.shared.u32 [%a], %t; " ARRIVE "\nst.shared::cluster.u32 [%b], %t;\n" WAIT, 4, 4, 32, PTXSIM_BARRIER,
     9, 0, 0, "may not have started"},
    {"no barrier at the end: the block has ended", INIT "ld.shared::cluster.u32 %r2, [%b];\n", 2, 2, 32,
     PTXSIM_RACE, 9, 11, WR,
     "accesses the shared memory of a block all of whose threads have exited: line 11, block (1,0,0)"},
    {"no barrier at the end: the block ends after it was read",
     INIT RANKS "@%p2 ld.shared::cluster.u32 %r2, [%r8];\n", 2, 2, 64, PTXSIM_RACE, 11, 9, RW,
     "the block ends, and nothing orders this after an access to its shared memory: line 9, block (1,0,0)"},
    {"the same, a store", INIT RANKS "@%p2 st.shared::cluster.u32 [%b], %t;\n", 2, 2, 64, PTXSIM_RACE, 11, 9,
     WW, "the block ends, and nothing orders this after"},
    {"a relaxed arrival at the end", INIT "ld.shared::cluster.u32 %r2, [%b];\n" RELAXED WAIT, 2, 2, 32,
     PTXSIM_RACE, 12, 9, RW, "the block ends, and nothing orders this after"},
    {"the block arrives and exits without a wait", INIT "ld.shared::cluster.u32 %r2, [%b];\n" ARRIVE, 2, 2,
     32, PTXSIM_RACE, 9, 11, WR, "all of whose threads have exited"},

    /* the barrier itself */
    {"arrives twice", ARRIVE "\n" ARRIVE WAIT, 2, 2, 32, PTXSIM_BARRIER, 9, 0, 0,
     "arrives at the barrier of the cluster twice, without a wait in between"},
    {"waits without arriving", SYNC WAIT, 2, 2, 32, PTXSIM_BARRIER, 9, 0, 0,
     "waits at the barrier of the cluster without having arrived"},
    {"a part of a warp arrives",
     "setp.lt.u32 %p0, %t, 7;\n@%p0 barrier.cluster.arrive;\nbarrier.cluster.wait;", 2, 2, 32, PTXSIM_BARRIER,
     9, 0, 0, "lanes 0x0000007f of the warp execute this together, and 0xffffffff must"},
    {"a part of a warp waits", "setp.lt.u32 %p0, %t, 7; " ARRIVE "\n@%p0 barrier.cluster.wait;", 1, 2, 32,
     PTXSIM_BARRIER, 9, 0, 0, "lanes 0x0000007f of the warp execute this together, and 0xffffffff must"},
    {"a warp that waits elsewhere",
     "setp.lt.u32 %p0, %t, 32; setp.eq.and.u32 %p0, %rank, 1, %p0;\n@%p0 bar.sync 0;\n" SYNC, 2, 2, 64,
     PTXSIM_BARRIER, 10, 0, 0,
     "waits forever at the barrier of the cluster: 3 of 4 warps arrived; warp 0 of block (1,0,0), which "
     "waits "
     "in line 9, did not"},
    {"an mbarrier that nothing completes",
     "setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared.b64 [bar], 1; bar.sync 0; setp.eq.u32 %p1, %rank, "
     "1;\n"
     "W: mbarrier.try_wait.parity.shared.b64 %p0, [bar], 0;\n@!%p0 bra W;\n" SYNC,
     2, 2, 32, PTXSIM_BARRIER, 9, 0, 0, "which nothing will complete"},

    /* addresses */
    {"a rank that the cluster has not", SYNC "mapa.shared::cluster.u32 %r2, %a, %n;\n", 2, 2, 32,
     PTXSIM_BOUNDS, 9, 0, 0, "maps to rank 2 of the cluster, which has 2 blocks"},
    {"the address of another block, mapped again", SYNC "mapa.shared::cluster.u32 %r2, %b, 0;\n", 2, 2, 32,
     PTXSIM_BOUNDS, 9, 0, 0, "maps an address that is not in the block's own shared memory"},
    {"an address that nothing mapped", SYNC "mov.u32 %r3, 0x7f000000; ld.shared::cluster.u32 %r2, [%r3];\n",
     2, 2, 32, PTXSIM_BOUNDS, 9, 0, 0,
     "0x7f000000 is no address in .shared::cluster: the cluster has 2 blocks"},
    {"a mapped address in .shared::cta", INIT "ld.shared.u32 %r2, [%b];\n", 2, 2, 32, PTXSIM_BOUNDS, 9, 0, 0,
     "shared load of 4 bytes at 0x1000000"},
    {"beyond the end of the other block's memory", INIT "ld.shared::cluster.u32 %r2, [%b+1032];\n", 2, 2, 32,
     PTXSIM_BOUNDS, 9, 0, 0, "block (0,0,0)'s shared load of 4 bytes at 0x408: the block has 1032 bytes"},
    {"misaligned in the other block's memory", INIT "st.shared::cluster.u32 [%b+2], %t;\n", 2, 2, 32,
     PTXSIM_ALIGN, 9, 0, 0, "misaligned address 0x2"},
    {"bytes of the other block that nobody wrote", INIT "ld.shared::cluster.u32 %r2, [%b+128];\n", 2, 2, 32,
     PTXSIM_UNINIT, 9, 0, 0, "block (0,0,0)'s shared read of 4 bytes at 0x80"},

    /* asynchronous copies of another block */
    {"a cp.async that its block has not waited for",
     "mov.u32 %r9, 0; st.global.u32 [%mine], %r9; cp.async.ca.shared.global [%a], [%mine], 4;\n" SYNC
     "ld.shared::cluster.u32 %r2, [%b];\ncp.async.wait_all;\n" SYNC,
     2, 2, 32, PTXSIM_ASYNC, 10, 0, 0,
     "reads block (0,0,0)'s shared 0x0, and its thread has not waited for the cp.async of line 8"},
    {"a cp.async that was waited for behind the arrival",
     "mov.u32 %r9, 0; st.global.u32 [%mine], %r9; cp.async.ca.shared.global [%a], [%mine], 4;\n" ARRIVE
     "cp.async.wait_all;\n" WAIT "ld.shared::cluster.u32 %r2, [%b];\n" SYNC,
     2, 2, 32, PTXSIM_RACE, 11, 8, WR, "race on block (0,0,0)'s shared 0x0"},
    {"a bulk copy that its block waits for behind the arrival",
     RANKS "mul.wide.u32 %rd0, %t, 4; sub.u64 %rd0, %mine, %rd0; st.global.u32 [%mine], %t; "
           "fence.proxy.async; bar.sync 0;\n@!%p1 bra J;\nmbarrier.init.shared.b64 [bar], 1; "
           "fence.mbarrier_init.release.cluster; mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;\n"
           "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sm], [%rd0], 128, "
           "[bar];\nJ:\n" ARRIVE
           "@!%p1 bra K;\nW: mbarrier.try_wait.parity.shared.b64 %p3, [bar], 0;\n@!%p3 bra W;\nK:\n" WAIT
           "ld.shared::cluster.u32 %r2, [%b];\n" SYNC,
     2, 2, 32, PTXSIM_ASYNC, 18, 0, 0,
     "reads block (1,0,0)'s shared 0x0, and has not waited for the mbarrier's phase"},
    {"an arrival at the mbarrier of another block, which may have ended",
     "setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared.b64 [bar], 1;\n" SYNC
     "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%b+1024];\n",
     2, 2, 1, PTXSIM_RACE, 10, 12, WW, "a block all of whose threads have exited"},
    {"a bulk copy to another block that signals its own mbarrier",
     "setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster; "
     "st.global.u32 [%mine], %t; st.global.u32 [%mine+4], %t; st.global.v2.u32 [%mine+8], {%t, %t}; "
     "fence.proxy.async;\n" SYNC "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%b], "
     "[%mine], 16, [bar];\n",
     2, 2, 1, PTXSIM_ASYNC, 10, 0, 0, "and its mbarrier is in that of rank"},
    {"a st.async that nobody waited for, but for a barrier of the cluster",
     INIT RANKS "@%p1 mbarrier.init.shared.b64 [bar], 1; @%p1 fence.mbarrier_init.release.cluster; @%p1 "
                "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;\n" SYNC
                "mapa.shared::cluster.u32 %r4, bar, %r0;\n"
                "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%b], %t, [%r4];\n" SYNC
                "ld.shared.u32 %r2, [%a];\n" SYNC,
     2, 2, 32, PTXSIM_ASYNC, 14, 0, 0,
     "shared 0x0, into which a copy is in flight whose mbarrier nobody waited for"},
    {"a st.async into another block that signals its own mbarrier",
     RANKS "@%p1 mbarrier.init.shared.b64 [bar], 1; @%p1 fence.mbarrier_init.release.cluster;\n" SYNC
           "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%b], %t, [bar];\n" SYNC,
     2, 2, 32, PTXSIM_ASYNC, 10, 0, 0, "and its mbarrier is in that of rank"},
    {"a misaligned st.async",
     RANKS "@%p1 mbarrier.init.shared.b64 [bar], 1; @%p1 fence.mbarrier_init.release.cluster;\n" SYNC
           "mapa.shared::cluster.u32 %r4, bar, %r0;\n"
           "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%b+4], {%t, %t}, [%r4];\n" SYNC,
     2, 2, 32, PTXSIM_ALIGN, 11, 0, 0, "a store of 8 bytes to misaligned address 0x4"},

    /* right ones */
    {"right: many readers in many blocks, in a loop",
     INIT RANKS "mov.u32 %r6, 0;\nL: @%p0 st.shared.u32 [sm], %r6;\n" SYNC "ld.shared::cluster.u32 %r2, "
                "[%r8];\n" SYNC "add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 9;\n@%p3 bra L;",
     4, 8, 96, PTXSIM_OK, 0, 0, 0, ""},
    {"right: many readers of global memory, in a loop",
     RANKS "sub.u32 %r5, %c, %rank; mad.wide.u32 %rd0, %r5, 4, %out; mov.u32 %r6, 0;\nL: @%p0 st.global.u32 "
           "[%rd0], %r6;\n" SYNC "ld.global.u32 %r2, [%rd0];\n" SYNC
           "add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 9;\n@%p3 bra L;",
     4, 8, 96, PTXSIM_OK, 0, 0, 0, ""},
    {"right: a relaxed barrier at the start, and one that releases",
     RELAXED WAIT "st.shared::cluster.u32 [%b], %t;\n" SYNC "ld.shared.u32 %r2, [%a];", 4, 4, 64, PTXSIM_OK,
     0, 0, 0, ""},
    {"right: the barrier orders what another thread of the block learned",
     INIT RANKS "@%p0 st.shared.u32 [sm+4], %t;\n" SYNC "@!%p2 bra J;\n@!%p1 bra J;\nadd.u32 %r4, %r8, 4; "
                "ld.shared::cluster.u32 %r3, [%r4];\nJ: bar.sync 0;\n" SYNC "@%p0 st.shared.u32 [sm+4], %t;",
     3, 3, 64, PTXSIM_OK, 0, 0, 0, ""},
    {"right: bytes of one word, from several blocks",
     INIT RANKS "add.u32 %r3, %r8, %rank;\nst.shared::cluster.u8 [%r3], %t;\n" SYNC
                "ld.shared.u32 %r2, [sm];",
     4, 4, 1, PTXSIM_OK, 0, 0, 0, ""},
    {"right: a warp that exits after it arrived counts once",
     INIT "setp.eq.u32 %p0, %rank, 0; setp.ge.and.u32 %p0, %t, 32, %p0; setp.lt.u32 %p1, %t, 32; "
          "st.shared.u32 [%a], %t;\n" ARRIVE "\n@%p0 ret;\n" WAIT
          "@%p1 ld.shared::cluster.u32 %r2, [%b+128];\n" SYNC,
     2, 2, 64, PTXSIM_OK, 0, 0, 0, ""},
    {"right: messages inside of blocks, at one address in each",
     INIT
     "setp.lt.u32 %p0, %t, 32; setp.eq.u32 %p1, %t, 0; setp.eq.u32 %p2, %t, 32;\n"
     "@%p0 st.shared.u32 [%a], %t;\n@%p0 bar.warp.sync -1;\n@%p1 st.release.cta.shared.u32 [sm+128], 1;\n"
     "mov.u32 %r2, 0; @%p2 ld.acquire.cta.shared.u32 %r2, [sm+128];\nsetp.eq.u32 %p3, %r2, 1;\n"
     "@%p3 ld.shared.u32 %r3, [%a+-128];\n" SYNC,
     4, 4, 64, PTXSIM_OK, 0, 0, 0, ""},
    {"right: a message through global memory",
     INIT RANKS "@%p0 st.shared.u32 [sm], 5;\n@%p0 st.release.gpu.global.u32 [%out], 1;\n"
                "mov.u32 %r2, 0; @%p2 ld.acquire.gpu.global.u32 %r2, [%out]; setp.eq.u32 %p3, %r2, 1;\n"
                "@%p3 ld.shared::cluster.u32 %r2, [%r8];\n" SYNC,
     4, 4, 1, PTXSIM_OK, 0, 0, 0, ""},
    {"a message of the scope .cta",
     INIT RANKS "@%p0 st.shared.u32 [sm], 5; @%p0 st.relaxed.gpu.global.u32 [%out+4], 1;\n@%p0 "
                "st.release.cta.global.u32 [%out], 1;\n"
                "mov.u32 %r2, 0; @%p2 ld.acquire.cta.global.u32 %r2, [%out];\n" SYNC,
     4, 4, 1, PTXSIM_RACE, 10, 11, RW, "race on global"},
    {"right: a message from another cluster, passed on by the barrier",
     RANKS
     "setp.eq.u32 %p3, %c, 0;\n@%p3 st.global.u32 [%out+8], 5;\n@%p3 st.release.gpu.global.u32 [%out], 1;\n"
     "mov.u32 %r2, 0; @%p0 ld.acquire.gpu.global.u32 %r2, [%out]; @%p0 st.shared.u32 [sm], %r2;\n" SYNC
     "ld.shared::cluster.u32 %r2, [%r8]; setp.eq.u32 %p3, %r2, 1; @%p3 ld.global.u32 %r3, [%out+8];\n" SYNC,
     2, 4, 1, PTXSIM_OK, 0, 0, 0, ""},
    {"right: what an earlier barrier said of a bulk copy holds behind a relaxed one",
     RANKS "mul.wide.u32 %rd0, %t, 4; sub.u64 %rd0, %mine, %rd0; st.global.u32 [%mine], %t; "
           "fence.proxy.async; bar.sync 0;\n@!%p1 bra J;\nmbarrier.init.shared.b64 [bar], 1; "
           "fence.mbarrier_init.release.cluster; mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;\n"
           "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sm], [%rd0], 128, [bar];\n"
           "W: mbarrier.try_wait.parity.shared.b64 %p3, [bar], 0;\n@!%p3 bra W;\nJ:\n" SYNC RELAXED WAIT
           "ld.shared::cluster.u32 %r2, [%b];\n" SYNC,
     2, 4, 32, PTXSIM_OK, 0, 0, 0, ""},
    {"right: a cluster of one block",
     "st.shared.u32 [%a], %t;\n" SYNC
     "xor.b32 %r3, %a, 128; ld.shared.u32 %r2, [%r3]; xor.b32 %r3, %a, 4; ld.shared.u32 %r2, [%r3];",
     1, 3, 64, PTXSIM_OK, 0, 0, 0, ""},
};

#endif
