/* Messages through flags and counters, with fences, acquires and releases in the right and in wrong places (ISA,
 * "Memory Consistency Model"). */
#ifndef TESTS_SIM_ORDER_H
#define TESTS_SIM_ORDER_H

#include "kernels.h"

/* SENDER, a predicate, writes data in line 7 and a flag in line 9; RECEIVER waits for the flag in line 11 and reads the data
   in line 13. RELEASE and ACQUIRE stand in lines 8 and 12. */
#define MESSAGE(who, release, store, load, acquire)                                                          \
    who "mov.u32 %r3, 1;\n@%p0 st.global.u32 [%rd0], %t;\n" release "\n@%p0 " store                          \
        "\n@!%p1 bra E;\nL: " load " setp.eq.u32 %p0, %r2, 0; @%p0 bra L;\n" acquire                         \
        "\nld.global.u32 %r2, [%rd0];\nE:"
#define WARPS "setp.eq.u32 %p0, %t, 0; setp.eq.u32 %p1, %t, 32; " /* the receiver is in another warp */
#define BLOCKS                                                                                               \
    "or.b32 %r1, %c, %t; setp.eq.u32 %p0, %r1, 0; mad.lo.u32 %r1, %t, 2, %c; setp.eq.u32 %p1, %r1, 1; "
#define STORE(how)             "st." how ".global.u32 [%rd0+128], %r3;"
#define LOAD(how)              "ld." how ".global.u32 %r2, [%rd0+128];"
#define FENCE(scope)           "fence.acq_rel." scope ";"
#define ATOM(how)              "atom" how ".global.exch.b32 %r2, [%rd0+128], %r3;"
#define POLL(how)              "atom" how ".global.or.b32 %r2, [%rd0+128], 0;"
#define IN_WARPS               1, 64, PTXSIM_RACE, 13, 7, WR
#define IN_BLOCKS              2, 32, PTXSIM_RACE, 13, 7, WR
#define RIGHT(blocks, threads) blocks, threads, PTXSIM_OK, 0, 0, 0

/* All lanes of warp 0 write, one of them signals. */
#define GATHER(sync, how)                                                                                    \
    "setp.eq.u32 %p0, %t, 0; setp.lt.u32 %p1, %t, 32; mov.u32 %r3, 1; mad.wide.u32 %rd1, %t, 4, "            \
    "%rd0;\n@%p1 "                                                                                           \
    "st.global.u32 [%rd1], %t;\n" sync "\n@%p0 st." how                                                      \
    ".cta.global.u32 [%rd0+128], %r3;\nsetp.ne.u32 %p1, %t, 32; "                                            \
    "@%p1 bra E;\nL: ld.acquire.cta.global.u32 %r2, [%rd0+128]; setp.eq.u32 %p0, %r2, 0; @%p0 bra L;\n\n"    \
    "ld.global.u32 %r2, [%rd0+20];\nE:"

/* Every block writes its part in line 7 and counts itself in line 10; the last one reads the first one's part in line
   13. */
#define LAST(gather, release, count, acquire, spread)                                                        \
    "mad.lo.u32 %r0, %c, 64, %t; mad.wide.u32 %rd1, %r0, 4, %rd0; setp.eq.u32 %p0, %t, 0; setp.eq.u32 %p1, " \
    "%c, 2;\n"                                                                                               \
    "st.global.u32 [%rd1], %t;\n" gather "\n" release "\n@%p0 " count "\n" acquire "\n" spread               \
    "\n@%p1 ld.global.u32 %r3, [%rd1+-512];"
#define SYNC       "bar.sync 0;"
#define ZERO_FENCE "@%p0 fence.acq_rel.gpu;"
#define COUNT(how) "atom" how ".global.add.u32 %r2, [%rd0+1020], 1;"
#define IN_LAST    3, 64, PTXSIM_RACE, 13, 7, WR

/* Block 0 writes and signals, block 1 does ON, block 2 waits for the flag at AT and reads. */
#define HANDED(on, at)                                                                                       \
    "mov.u32 %r3, 1; setp.ne.u32 %p0, %t, 0; @%p0 bra E; setp.eq.u32 %p0, %c, 0; setp.eq.u32 %p1, %c, 2;\n"  \
    "@%p0 st.global.u32 [%rd0], %t;\n@%p0 st.release.gpu.global.u32 [%rd0+128], %r3;\nsetp.eq.u32 %p0, %c, " \
    "1; " on "\n@%p1 ld.acquire.gpu.global.u32 %r2, [%rd0+" at "];\n@%p1 ld.global.u32 %r2, [%rd0];\nE:"

/* Inside of a block: the receiver spins until another warp wrote, which in reversed order does not come to it. */
static const struct broken warp_messages[] = {
    {"a fence of another thread, which met the flag's",
     MESSAGE(WARPS,
             "bar.warp.sync -1; setp.eq.u32 %p1, %t, 1; @%p1 fence.acq_rel.gpu; setp.eq.u32 %p1, %t, 32;",
             STORE("relaxed.gpu"), LOAD("relaxed.gpu"), FENCE("gpu")),
     IN_WARPS},
    {"lanes that do not meet before one fences", GATHER("@%p0 fence.acq_rel.cta;", "relaxed"), IN_WARPS},
    {"a flag that the block before has left",
     "mad.wide.u32 %rd1, %c, 4, %rd0; mov.u32 %r3, 1; setp.eq.u32 %p0, %t, 0;\n@%p0 st.global.u32 [%rd1], "
     "%t;\n"
     "or.b32 %r1, %c, %t; setp.eq.u32 %p0, %r1, 0; setp.eq.u32 %p1, %t, 32;\n@%p0 st.release.gpu.global.u32 "
     "[%rd0+128], %r3;\n@!%p1 bra E;\nL: ld.acquire.gpu.global.u32 %r2, [%rd0+128]; setp.eq.u32 %p0, %r2, 0; "
     "@%p0 "
     "bra L;\n\nld.global.u32 %r2, [%rd1];\nE:",
     2, 64, PTXSIM_RACE, 13, 7, WR},
    {"a flag without a fence before it",
     MESSAGE(WARPS, "", STORE("relaxed.gpu"), LOAD("relaxed.gpu"), FENCE("gpu")), IN_WARPS},
    {"a fence behind the flag",
     MESSAGE(WARPS, "", STORE("relaxed.gpu") FENCE("gpu"), LOAD("relaxed.gpu"), FENCE("gpu")), IN_WARPS},
    {"a fence of another thread than the flag's",
     MESSAGE(WARPS, "setp.eq.u32 %p1, %t, 1; @%p1 fence.acq_rel.gpu; setp.eq.u32 %p1, %t, 32;",
             STORE("relaxed.gpu"), LOAD("relaxed.gpu"), FENCE("gpu")),
     IN_WARPS},
    {"no fence behind the wait", MESSAGE(WARPS, FENCE("gpu"), STORE("relaxed.gpu"), LOAD("relaxed.gpu"), ""),
     IN_WARPS},
    {"a relaxed atomic as a release", MESSAGE(WARPS, "", ATOM(""), LOAD("acquire.gpu"), ""), IN_WARPS},
    {"a relaxed atomic as an acquire", MESSAGE(WARPS, "", STORE("release.gpu"), POLL(".relaxed.gpu"), ""),
     IN_WARPS},
    {"an acquiring atomic as a release", MESSAGE(WARPS, "", ATOM(".acquire.gpu"), LOAD("acquire.gpu"), ""),
     IN_WARPS},
    {"a releasing atomic as an acquire", MESSAGE(WARPS, "", STORE("release.gpu"), POLL(".release.gpu"), ""),
     IN_WARPS},
    {"a volatile flag alone", MESSAGE(WARPS, "", STORE("volatile"), LOAD("volatile"), ""), IN_WARPS},
    {"lanes that do not meet before one signals", GATHER("", "release"), IN_WARPS},
    {"data in shared memory, the flag relaxed",
     "setp.eq.u32 %p0, %t, 0; setp.eq.u32 %p1, %t, 32; mov.u32 %r3, 1;\n@%p0 st.shared.u32 [sm], %t;\n\n@%p0 "
     "st.relaxed.cta.global.u32 [%rd0+128], %r3;\n@!%p1 bra E;\nL: ld.acquire.cta.global.u32 %r2, "
     "[%rd0+128]; "
     "setp.eq.u32 %p0, %r2, 0; @%p0 bra L;\n\nld.shared.u32 %r2, [sm];\nE:",
     IN_WARPS},
    {"right: a fence on either side",
     MESSAGE(WARPS, FENCE("gpu"), STORE("relaxed.gpu"), LOAD("relaxed.gpu"), FENCE("gpu")), RIGHT(1, 64)},
    {"right: fences of the block",
     MESSAGE(WARPS, FENCE("cta"), STORE("relaxed.cta"), LOAD("relaxed.cta"), FENCE("cta")), RIGHT(1, 64)},
    {"right: release and acquire", MESSAGE(WARPS, "", STORE("release.cta"), LOAD("acquire.cta"), ""),
     RIGHT(1, 64)},
    {"right: atomics of both", MESSAGE(WARPS, "", ATOM(".acq_rel.gpu"), POLL(".acq_rel.gpu"), ""),
     RIGHT(1, 64)},
    {"right: a releasing and an acquiring atomic",
     MESSAGE(WARPS, "", ATOM(".release.gpu"), POLL(".acquire.gpu"), ""), RIGHT(1, 64)},
    {"right: a volatile flag and fences",
     MESSAGE(WARPS, "membar.gl;", STORE("volatile"), LOAD("volatile"), "membar.gl;"), RIGHT(1, 64)},
    {"right: lanes meet before one signals", GATHER("bar.warp.sync -1;", "release"), RIGHT(1, 64)},
};

/* Between blocks. */
static const struct broken block_messages[] = {
    {"a flag that another block has overwritten",
     HANDED("@%p0 st.relaxed.gpu.global.u32 [%rd0+128], %r3;", "128"), 3, 32, PTXSIM_RACE, 11, 7, WR},
    {"right: a message is handed on",
     HANDED("@%p0 ld.acquire.gpu.global.u32 %r2, [%rd0+128]; @%p0 st.release.gpu.global.u32 [%rd0+132], %r3;",
            "132"),
     RIGHT(3, 32)},
    {"a fence of the block for a message to another",
     MESSAGE(BLOCKS, FENCE("cta"), STORE("relaxed.gpu"), LOAD("relaxed.gpu"), FENCE("gpu")), IN_BLOCKS},
    {"a fence of the block for a message from another",
     MESSAGE(BLOCKS, FENCE("gpu"), STORE("relaxed.gpu"), LOAD("relaxed.gpu"), "membar.cta;"), IN_BLOCKS},
    {"an acquire of the block", MESSAGE(BLOCKS, FENCE("gpu"), ATOM(".acq_rel.gpu"), POLL(".acq_rel.cta"), ""),
     2, 32, PTXSIM_RACE, 11, 9, WW},
    {"a flag of the block",
     MESSAGE(BLOCKS, FENCE("gpu"), STORE("relaxed.cta"), LOAD("relaxed.gpu"), FENCE("gpu")), 2, 32,
     PTXSIM_RACE, 11, 9, WR},
    {"parts counted without a barrier before", LAST("", ZERO_FENCE, COUNT(""), ZERO_FENCE, SYNC), IN_LAST},
    {"parts counted without a fence before", LAST(SYNC, "", COUNT(""), ZERO_FENCE, SYNC), IN_LAST},
    {"parts read without a fence before", LAST(SYNC, ZERO_FENCE, COUNT(""), "", SYNC), IN_LAST},
    {"parts read without a barrier before", LAST(SYNC, ZERO_FENCE, COUNT(""), ZERO_FENCE, ""), IN_LAST},
    {"right: to another block",
     MESSAGE(BLOCKS, FENCE("gpu"), STORE("relaxed.gpu"), LOAD("relaxed.gpu"), FENCE("gpu")), RIGHT(2, 32)},
    {"right: to another block, by atomics",
     MESSAGE(BLOCKS, "", ATOM(".acq_rel.gpu"), POLL(".acq_rel.sys"), ""), RIGHT(2, 32)},
    {"right: the last block reads all parts", LAST(SYNC, ZERO_FENCE, COUNT(""), ZERO_FENCE, SYNC),
     RIGHT(3, 64)},
    {"right: the same by one atomic", LAST(SYNC, "", COUNT(".acq_rel.gpu"), "", SYNC), RIGHT(3, 64)},
};

#endif
