/* Kernels that exchange words between the blocks of a cluster, and what each thread stores in the end. */
#ifndef TESTS_SIM_CLUSTER_TABLE_H
#define TESTS_SIM_CLUSTER_TABLE_H

#include "cluster_kernel.h"

struct exchange {
    const char *name, *code; /* stores a word at %mine */
    uint32_t (*want)(unsigned cluster, unsigned block, unsigned threads, unsigned thread);
};

/* What a thread stores in its word: its block, then itself. */
static inline uint32_t word_of(unsigned block, unsigned thread) { return block * 4096 + thread; }

static inline uint32_t sum_of_all(unsigned cluster, unsigned block, unsigned threads, unsigned thread) {
    uint32_t sum = 0;
    (void)threads;
    for (unsigned rank = 0; rank < cluster; rank++) sum += word_of(block - block % cluster + rank, thread);
    return sum;
}

static inline unsigned next_block(unsigned cluster, unsigned block) {
    return block - block % cluster + (block % cluster + 1) % cluster;
}

static inline unsigned block_before(unsigned cluster, unsigned block) {
    return block - block % cluster + (block % cluster + cluster - 1) % cluster;
}

static inline uint32_t of_next(unsigned cluster, unsigned block, unsigned threads, unsigned thread) {
    (void)threads;
    return word_of(next_block(cluster, block), thread);
}

static inline uint32_t of_before(unsigned cluster, unsigned block, unsigned threads, unsigned thread) {
    (void)threads;
    return word_of(block_before(cluster, block), thread);
}

static inline uint32_t reversed_of_next(unsigned cluster, unsigned block, unsigned threads, unsigned thread) {
    return word_of(next_block(cluster, block), threads - 1 - thread);
}

static inline uint32_t threads_of_all(unsigned cluster, unsigned block, unsigned threads, unsigned thread) {
    (void)block, (void)thread;
    return cluster * threads;
}

/* After as many steps as the cluster has blocks, each word has come round to its block, plus 1 a step. */
static inline uint32_t after_ring(unsigned cluster, unsigned block, unsigned threads, unsigned thread) {
    (void)threads;
    return word_of(block, thread) + cluster;
}

static inline uint32_t constant_7(unsigned cluster, unsigned block, unsigned threads, unsigned thread) {
    (void)cluster, (void)block, (void)threads, (void)thread;
    return 7;
}

#define WORD       "mad.lo.u32 %r1, %c, 4096, %t; "
#define STORE      WORD "st.shared.u32 [%a], %r1;\n"
#define RESULT     "\nst.global.u32 [%mine], %r2;"
#define FIRST_LANE "setp.eq.u32 %p0, %t, 0; "

static const struct exchange exchanges[] = {
    {"each block adds up the words of all",
     STORE SYNC "mov.u32 %r2, 0; mov.u32 %r3, 0;\nL: mapa.shared::cluster.u32 %r4, %a, %r3;\n"
                "ld.shared::cluster.u32 %r5, [%r4]; add.u32 %r2, %r2, %r5; add.u32 %r3, %r3, 1; "
                "setp.lt.u32 %p0, %r3, %n;\n@%p0 bra L;\n" SYNC RESULT,
     sum_of_all},
    {"each block writes into the next",
     "barrier.cluster.arrive.relaxed; barrier.cluster.wait.acquire;\n" WORD
     "st.shared::cluster.u32 [%b], %r1;\n" SYNC "ld.shared.u32 %r2, [%a];" RESULT,
     of_before},
    {"across the threads, by another warp's word",
     STORE SYNC "mov.u32 %r3, %ntid.x; sub.u32 %r3, %r3, 1; sub.u32 %r3, %r3, %t; sub.u32 %r3, %r3, %t; "
                "shl.b32 %r3, %r3, 2;"
                "add.u32 %r3, %r3, %b; ld.shared::cluster.u32 %r2, [%r3];\n" SYNC RESULT,
     reversed_of_next},
    {"by generic addresses",
     STORE SYNC "cvt.u64.u32 %rd0, %a; cvta.shared.u64 %rd0, %rd0; add.u32 %r3, %rank, 1; rem.u32 %r3, %r3, "
                "%n; mapa.u64 %rd1, %rd0, %r3; ld.u32 %r2, [%rd1];\n" SYNC RESULT,
     of_next},
    {"by 64-bit shared addresses, converted there and back",
     STORE SYNC "cvt.u64.u32 %rd0, %a; add.u32 %r3, %rank, 1; rem.u32 %r3, %r3, %n; "
                "mapa.shared::cluster.u64 %rd1, %rd0, %r3; cvta.shared::cluster.u64 %rd2, %rd1; ld.u32 %r4, "
                "[%rd2]; cvta.to.shared::cluster.u64 %rd3, %rd2; ld.shared::cluster.u32 %r2, [%rd3]; "
                "sub.u32 %r4, %r4, %r2; add.u32 %r2, %r2, %r4;\n" SYNC RESULT,
     of_next},
    {"by a variable's name, and an own address in .shared::cluster",
     FIRST_LANE "mov.u32 %r1, 3; @%p0 st.shared::cluster.u32 [sm], %r1; mov.u32 %r1, 4; @%p0 st.shared.u32 "
                "[sm+4], %r1;\n" SYNC "mov.u32 %r3, 0; mapa.shared::cluster.u32 %r4, sm, %r3; "
                "mapa.shared::cluster.u32 %r5, sm+4, %rank; ld.shared::cluster.u32 %r6, [%r4]; "
                "ld.shared::cluster.u32 %r7, [%r5]; add.u32 %r2, %r6, %r7;\n" SYNC RESULT,
     constant_7},
    {"vectors and narrow types",
     "shl.b32 %r3, %t, 4; mov.u32 %r4, sm; add.u32 %r3, %r3, %r4; setp.lt.u32 %p0, %t, 32; add.u32 %r5, "
     "%rank, 1; rem.u32 %r5, %r5, %n; mapa.shared::cluster.u32 %r6, %r3, %r5; mov.u32 %r4, 0; " SYNC
     "@%p0 st.shared::cluster.v4.u32 [%r6], {%r4, %r4, %r4, %t};\n" SYNC
     "@%p0 st.shared::cluster.v2.u32 [%r6], {%t, %t}; @%p0 st.shared::cluster.u8 [%r6+8], %t; "
     "@%p0 ld.shared::cluster.v4.u32 {%r4, %r5, %r7, %r8}, [%r6]; @%p0 ld.shared::cluster.u8 %h0, [%r6+8]; "
     "@%p0 ld.shared::cluster.v2.f32 {%f0, %f1}, [%r6]; @%p0 ld.shared::cluster.f64 %d, [%r6+8]; "
     "@%p0 ld.shared::cluster.b64 %rd0, [%r6+8]; @%p0 ld.volatile.shared::cluster.s16 %h1, [%r6]; "
     "@%p0 ld.weak.shared::cluster.s8 %h1, [%r6];\n"
     "mov.u32 %r2, 7; @%p0 sub.u32 %r4, %r4, %r8; @%p0 sub.u32 %r7, %r7, %r5; @%p0 add.u32 %r2, %r2, %r4; "
     "@%p0 add.u32 %r2, %r2, %r7;\n" SYNC RESULT,
     constant_7},
    {"atomics on the first block's word",
     FIRST_LANE "mov.u32 %r1, 0; @%p0 st.shared.u32 [sm], %r1;\n" SYNC
                "mapa.shared::cluster.u32 %r4, sm, %r1; atom.shared::cluster.add.u32 %r5, [%r4], 0; "
                "red.relaxed.cluster.shared::cluster.add.u32 [%r4], 1;\n" SYNC
                "ld.shared::cluster.u32 %r2, [%r4];\n" SYNC RESULT,
     threads_of_all},
    {"atomics on subnormal floats, which shared memory keeps",
     FIRST_LANE "mov.u32 %r1, 1; mov.f32 %f0, 0f00000000; @%p0 st.shared.u32 [sm], %r1;\n" SYNC
                "mov.u32 %r3, sm; cvt.u64.u32 %rd0, %r3; cvta.shared.u64 %rd0, %rd0; mov.u32 %r3, 0; "
                "mapa.u64 %rd1, %rd0, %r3; atom.add.f32 %f1, [%rd1], %f0;\n" SYNC
                "ld.shared.u32 %r2, [sm]; add.u32 %r2, %r2, 6;\n" SYNC RESULT,
     constant_7},
    {"atomics of the cluster's scope on global memory",
     "sub.u32 %r3, %c, %rank; mad.wide.u32 %rd0, %r3, 1024, %out; add.u64 %rd0, %rd0, 1020; mov.u32 %r1, 0; "
     "setp.eq.u32 %p0, %t, 0; setp.eq.and.u32 %p0, %rank, 0, %p0;\n@%p0 st.global.u32 [%rd0], %r1;\n" SYNC
     "red.relaxed.cluster.global.add.u32 [%rd0], 1;\n" SYNC "ld.global.u32 %r2, [%rd0];" RESULT,
     threads_of_all},
    {"words that go round the ring, two barriers a step",
     STORE "mov.u32 %r3, 0;\n" SYNC "L: ld.shared.u32 %r4, [%a]; add.u32 %r4, %r4, 1;\n" SYNC
           "st.shared::cluster.u32 [%b], %r4;\n" SYNC
           "add.u32 %r3, %r3, 1; setp.lt.u32 %p0, %r3, %n;\n@%p0 bra L;\nld.shared.u32 %r2, [%a];" RESULT,
     after_ring},
    {"work between arrival and wait",
     STORE ARRIVE "mov.u32 %r2, 0; st.global.u32 [%mine], %r2; " WAIT
                  "ld.shared::cluster.u32 %r2, [%b];\n" ARRIVE "st.global.u32 [%mine], %r2; " WAIT,
     of_next},
    {"through global memory",
     WORD
     "st.global.u32 [%mine], %r1;\n" SYNC
     "add.u32 %r3, %rank, 1; rem.u32 %r3, %r3, %n; sub.u32 %r4, %c, %rank; add.u32 %r3, %r3, %r4; "
     "mad.wide.u32 %rd0, %r3, 1024, %out; mad.wide.u32 %rd0, %t, 4, %rd0; ld.global.u32 %r2, [%rd0];\n" SYNC
         RESULT,
     of_next},
    {"cp.async, awaited before the barrier",
     WORD "st.global.u32 [%mine], %r1; cp.async.ca.shared.global [%a], [%mine], 4; cp.async.wait_all;\n" SYNC
          "ld.shared::cluster.u32 %r2, [%b];\n" SYNC RESULT,
     of_next},
    {"a bulk copy, awaited by one thread before the barrier",
     "mul.wide.u32 %rd0, %t, 4; sub.u64 %rd0, %mine, %rd0; " WORD "st.global.u32 [%mine], %r1; setp.eq.u32 "
     "%p0, %t, 0; fence.proxy.async;\nbar.sync 0; @%p0 mbarrier.init.shared::cta.b64 [bar], 1; @!%p0 bra J;\n"
     "fence.mbarrier_init.release.cluster; mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128; "
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sm], [%rd0], 128, [bar];\n"
     "W: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0; @!%p1 bra W;\nJ:\n" SYNC
     "mov.u32 %r2, 7; setp.lt.u32 %p2, %t, 32; mul.wide.u32 %rd0, %t, 4; @%p2 ld.shared::cluster.u32 %r2, "
     "[%b]; add.u32 %r3, %rank, 1; rem.u32 %r3, %r3, %n; sub.u32 %r3, %r3, %rank; add.u32 %r3, %r3, %c; "
     "shl.b32 %r3, %r3, 12; add.u32 %r3, %r3, %t; sub.u32 %r2, %r2, %r3; add.u32 %r2, %r2, 7; "
     "@!%p2 mov.u32 %r2, 7;\n" SYNC RESULT,
     constant_7},
    {"st.async into the next block, whose mbarrier counts the bytes",
     FIRST_LANE
     "mov.u32 %r6, %ntid.x; mul.lo.u32 %r6, %r6, 4;\n@!%p0 bra J;\nmbarrier.init.shared::cta.b64 [bar], 1; "
     "fence.mbarrier_init.release.cluster; mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %r6;\n"
     "J:\n" SYNC WORD "mapa.shared::cluster.u32 %r4, bar, %r0; "
     "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%b], %r1, [%r4];\n"
     "W: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;\n@!%p1 bra W;\n"
     "ld.shared.u32 %r2, [%a];\n" SYNC RESULT,
     of_before},
    {"st.async of vectors, from all blocks into the first",
     FIRST_LANE
     "mul.lo.u32 %r6, %n, 512; setp.eq.u32 %p2, %rank, 0; setp.lt.u32 %p3, %t, 8; mov.u32 %r7, 0;\n"
     "@!%p0 bra J;\nmbarrier.init.shared::cta.b64 [bar], 1; fence.mbarrier_init.release.cluster; shr.u32 "
     "%r6, "
     "%r6, 2; @%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %r6;\nJ:\n" SYNC
     "mov.u32 %r1, sm; mad.lo.u32 %r1, %rank, 128, %r1; mad.lo.u32 %r1, %t, 16, %r1; "
     "mapa.shared::cluster.u32 %r3, %r1, %r7; mapa.shared::cluster.u32 %r4, bar, %r7;\n"
     "@%p3 st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r3], {%rank, 1, %t, 3}, [%r4];\n"
     "@!%p2 bra D;\nW: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;\n@!%p1 bra W;\n"
     "D: mov.u32 %r2, 7; mov.u32 %r5, sm; setp.lt.and.u32 %p3, %t, 8, %p2;\n"
     "@%p3 ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [%r1]; @%p3 sub.u32 %r8, %r8, %t; "
     "@%p3 add.u32 %r2, %r6, %r7; @%p3 add.u32 %r2, %r2, %r8; @%p3 add.u32 %r2, %r2, %r9; "
     "@%p3 add.u32 %r2, %r2, 3;\n" SYNC RESULT,
     constant_7},
    {"an exited warp holds up nobody, nor does one that exits after it arrived",
     "mov.u32 %r2, 7; st.global.u32 [%mine], %r2; shr.u32 %r3, %t, 5; setp.eq.u32 %p0, %r3, 2;\n@%p0 ret;\n"
     "setp.eq.u32 %p0, %r3, 1; " ARRIVE "\n@%p0 ret;\n" WAIT SYNC SYNC,
     constant_7},
};

enum { EXCHANGES = sizeof exchanges / sizeof *exchanges };

/* Blocks of a cluster and of the grid, and threads of a block. */
static const unsigned exchange_shapes[][2] = {{1, 3}, {2, 4}, {3, 6}, {4, 4}, {4, 16}, {8, 8}};
static const unsigned exchange_threads[] = {32, 96, 40};

enum {
    EXCHANGE_SHAPES = sizeof exchange_shapes / sizeof *exchange_shapes,
    EXCHANGE_THREADS = sizeof exchange_threads / sizeof *exchange_threads
};

static inline void directive_of(char text[64], unsigned cluster) {
    snprintf(text, 64, ".reqnctapercluster %u", cluster);
}

#endif
