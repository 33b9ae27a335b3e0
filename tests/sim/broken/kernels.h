/* Kernels that are wrong on purpose, and what the simulator must say. */
#ifndef TESTS_SIM_BROKEN_H
#define TESTS_SIM_BROKEN_H

#include "ptxsim.h"

struct broken {
    const char *name;
    const char *code; /* from line 6 on; %t: thread, %c: block, %rd0: address of 1024 bytes, all written.
                         `sm` is shared, 1024 bytes */
    unsigned blocks, threads;
    ptxsim_status status;
    int line;
    int other; /* of a race: the line of the access that came first, in order */
    ptxsim_race race;
};

#define WR PTXSIM_WRITE_READ
#define RW PTXSIM_READ_WRITE
#define WW PTXSIM_WRITE_WRITE
#define NEIGHBOUR                                                                                            \
    "add.u32 %r1, %t, 1; rem.u32 %r1, %r1, 64; shl.b32 %r1, %r1, 2; shl.b32 %r0, %t, 2; mov.u32 %r2, sm; "   \
    "add.u32 %r0, %r0, %r2; add.u32 %r1, %r1, %r2;\n"
#define MINE "mad.wide.u32 %rd1, %t, 4, %rd0;\n"

static const struct broken broken_kernels[] = {
    /* shared memory: no barrier, too late a barrier, the wrong one */
    {"no barrier", NEIGHBOUR "st.shared.u32 [%r0], %t;\nld.shared.u32 %r3, [%r1];", 1, 64, PTXSIM_RACE, 8, 7,
     WR},
    {"barrier in front", NEIGHBOUR "bar.sync 0;\nst.shared.u32 [%r0], %t;\nld.shared.u32 %r3, [%r1];", 1, 64,
     PTXSIM_RACE, 9, 8, WR},
    {"no barrier before the second write",
     NEIGHBOUR "st.shared.u32 [%r0], %t;\nbar.sync 0;\nld.shared.u32 %r3, [%r1];\nst.shared.u32 [%r0], %r3;",
     1, 64, PTXSIM_RACE, 10, 9, RW},
    {"no barrier at the end of a loop",
     NEIGHBOUR
     "mov.u32 %r3, 0;\nL: st.shared.u32 [%r0], %r3;\nbar.sync 0;\nld.shared.u32 %r2, [%r1];\nadd.u32 "
     "%r3, %r3, 1;\nsetp.lt.u32 %p0, %r3, 4;\n@%p0 bra L;",
     1, 64, PTXSIM_RACE, 8, 10, RW},
    {"two named barriers",
     NEIGHBOUR "st.shared.u32 [%r0], %t; bar.sync 0; st.shared.u32 [%r0], %t;\nshr.u32 %r2, %t, 5; add.u32 "
               "%r2, %r2, 1;\nbar.sync %r2, "
               "32;\nld.shared.u32 %r3, [%r1];",
     1, 64, PTXSIM_RACE, 7, 10, RW},
    {"a barrier of half the block",
     NEIGHBOUR "st.shared.u32 [%r0], %t; bar.sync 0; st.shared.u32 [%r0], %t;\nsetp.lt.u32 %p0, %t, "
               "32;\n@%p0 bar.sync 1, 32;\nld.shared.u32 %r3, "
               "[%r1];",
     1, 64, PTXSIM_RACE, 10, 7, WR},
    {"the consumer only arrives",
     NEIGHBOUR
     "setp.lt.u32 %p0, %t, 32;\n@%p0 st.shared.u32 [%r0], %t;\n@%p0 bar.sync 1, 64;\n@!%p0 bar.arrive "
     "1, 64;\nadd.u32 %r1, %r0, -128;\n@!%p0 ld.shared.u32 %r3, [%r1];",
     1, 64, PTXSIM_RACE, 12, 8, WR},
    {"the producer writes after it arrived",
     NEIGHBOUR
     "setp.lt.u32 %p0, %t, 32;\n@%p0 st.shared.u32 [%r0], %t;\n@%p0 bar.arrive 1, 64;\n@%p0 "
     "st.shared.u32 [%r0], %r1;\n@!%p0 bar.sync 1, 64;\nadd.u32 %r1, %r0, -128;\n@!%p0 ld.shared.u32 "
     "%r3, [%r1];",
     1, 64, PTXSIM_RACE, 13, 10, WR},
    {"a warp without warp sync",
     NEIGHBOUR "st.shared.u32 [%r0], %t;\nxor.b32 %r1, %r0, 4;\nld.shared.u32 %r3, [%r1];", 1, 32,
     PTXSIM_RACE, 9, 7, WR},
    {"a warp sync of other lanes",
     NEIGHBOUR
     "setp.lt.u32 %p0, %t, 16; st.shared.u32 [%r0], %t;\n@%p0 bar.warp.sync 0xffff;\nxor.b32 %r1, %r0, "
     "64;\n@%p0 ld.shared.u32 %r3, [%r1];",
     1, 32, PTXSIM_RACE, 10, 7, WR},
    {"shfl is no fence",
     NEIGHBOUR "st.shared.u32 [%r0], %t;\nshfl.sync.bfly.b32 %r3, %t, 1, 31, -1;\nxor.b32 %r1, %r0, "
               "4;\nld.shared.u32 %r3, [%r1];",
     1, 32, PTXSIM_RACE, 10, 7, WR},
    {"all lanes store the same", "mov.u32 %r0, 7;\nst.shared.u32 [sm], %r0;", 1, 32, PTXSIM_RACE, 7, 7, WW},
    {"two warps store the same",
     "and.b32 %r0, %t, 31; shl.b32 %r0, %r0, 2; mov.u32 %r1, sm; add.u32 %r0, %r0, %r1;\n"
     "st.shared.u32 [%r0], %r1;",
     1, 64, PTXSIM_RACE, 7, 7, WW},
    {"a flag that is not atomic",
     "setp.eq.u32 %p0, %t, 0;\n@%p0 st.shared.u32 [sm], %t;\nld.shared.u32 %r0, [sm];", 1, 64, PTXSIM_RACE, 8,
     7, WR},
    {"atomic against plain",
     "setp.eq.u32 %p0, %t, 0;\n@%p0 st.shared.u32 [sm], %t;\nbar.sync 0;\nred.shared.add.u32 "
     "[sm], 1;\nld.shared.u32 %r0, [sm];",
     1, 64, PTXSIM_RACE, 10, 9, WR},
    {"bytes of one word that overlap",
     "mov.u32 %r0, sm; add.u32 %r0, %r0, %t; st.shared.u8 [%r0], %t;\nand.b32 %r1, "
     "%r0, -4;\nld.shared.u32 %r2, [%r1];",
     1, 32, PTXSIM_RACE, 8, 6, WR},
    {"of three readers one is not awaited",
     "mov.u32 %r0, 0; setp.eq.u32 %p0, %t, 0; @%p0 st.shared.u32 [sm], %r0; bar.sync 0; shr.u32 %r1, %t, 5; "
     "setp.eq.u32 %p0, %r1, 3; setp.eq.u32 %p1, %r1, 1;\n@!%p0 ld.shared.u32 %r0, [sm];\n@%p1 bra L; "
     "bar.sync 1, "
     "96;\nL: setp.eq.u32 %p0, %t, 96;\n@%p0 st.shared.u32 [sm], %r0;",
     1, 128, PTXSIM_RACE, 10, 7, RW},
    {"the same in global memory",
     "shr.u32 %r1, %t, 5; setp.eq.u32 %p0, %r1, 3; setp.eq.u32 %p1, %r1, 1;\n@!%p0 ld.global.u32 %r0, "
     "[%rd0];\n@%p1 "
     "bra L; bar.sync 1, 96;\nL: setp.eq.u32 %p0, %t, 96;\n@%p0 st.global.u32 [%rd0], %t;",
     1, 128, PTXSIM_RACE, 10, 7, RW},
    /* global memory */
    {"two blocks write one word", "setp.eq.u32 %p0, %t, 0;\n@%p0 st.global.u32 [%rd0], %c;", 2, 32,
     PTXSIM_RACE, 7, 7, WW},
    {"a block reads what another wrote",
     MINE "setp.eq.u32 %p0, %c, 0;\n@%p0 st.global.u32 [%rd1], %t;\n@!%p0 "
          "ld.global.u32 %r0, [%rd1];",
     2, 32, PTXSIM_RACE, 9, 8, WR},
    {"a block writes what others read",
     MINE "setp.eq.u32 %p0, %c, 3;\nld.global.u32 %r0, [%rd1];\n@%p0 st.global.u32 [%rd1], %t;", 4, 32,
     PTXSIM_RACE, 9, 8, RW},
    {"an accumulation without atomics",
     MINE "ld.global.u32 %r0, [%rd1];\nadd.u32 %r0, %r0, 1;\nst.global.u32 [%rd1], "
          "%r0;",
     2, 32, PTXSIM_RACE, 7, 9, WR},
    {"rows of blocks overlap by one",
     "mad.lo.u32 %r0, %c, 31, %t;\nmad.wide.u32 %rd1, %r0, 4, %rd0;\nst.global.u32 [%rd1], %t;", 2, 32,
     PTXSIM_RACE, 8, 8, WW},
    {"a block barrier does not order blocks",
     MINE
     "setp.eq.u32 %p0, %c, 0;\n@%p0 st.global.u32 [%rd1], %t;\nbar.sync 0;\n@!%p0 ld.global.u32 %r0, [%rd1];",
     2, 32, PTXSIM_RACE, 10, 8, WR},
    {"global memory within a block",
     MINE "st.global.u32 [%rd1], %t;\nxor.b32 %r0, %t, 32;\nmad.wide.u32 %rd1, %r0, "
          "4, %rd0;\nld.global.u32 %r0, [%rd1];",
     1, 64, PTXSIM_RACE, 7, 10, RW},
    /* off by one, misaligned, uninitialised */
    {"one element too far", "mad.wide.u32 %rd1, %t, 16, %rd0;\nst.global.u32 [%rd1+16], %t;", 1, 64,
     PTXSIM_BOUNDS, 7, 0, 0},
    {"one row too many in shared memory",
     "mov.u32 %r0, sm; mad.lo.u32 %r0, %t, 32, %r0;\nst.shared.u32 [%r0], %t;", 1, 64, PTXSIM_BOUNDS, 7, 0,
     0},
    {"one element in front", "mad.wide.u32 %rd1, %t, 4, %rd0;\nld.global.u32 %r0, [%rd1+-4];", 1, 32,
     PTXSIM_BOUNDS, 7, 0, 0},
    {"a vector load at a scalar's address", MINE "ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%rd1];", 1, 32,
     PTXSIM_ALIGN, 7, 0, 0},
    {"a pitch that breaks alignment",
     "mov.u32 %r0, sm; mad.lo.u32 %r0, %t, 20, %r0;\nst.shared.v2.u32 [%r0], {%t, "
     "%t};",
     1, 32, PTXSIM_ALIGN, 7, 0, 0},
    {"a tile that is not filled",
     NEIGHBOUR "setp.lt.u32 %p0, %t, 63;\n@%p0 st.shared.u32 [%r0], %t;\nbar.sync "
               "0;\nld.shared.u32 %r3, [%r1];",
     1, 64, PTXSIM_UNINIT, 10, 0, 0},
    {"an accumulator that is not zeroed", "add.u32 %r0, %r1, %t;", 1, 32, PTXSIM_UNINIT, 6, 0, 0},
    /* barriers */
    {"a barrier in a branch", "setp.lt.u32 %p0, %t, 7;\n@%p0 bar.sync 0;", 1, 32, PTXSIM_BARRIER, 7, 0, 0},
    {"a barrier that a warp skips", "setp.lt.u32 %p0, %t, 32;\n@%p0 bar.sync 1, 64;", 1, 64, PTXSIM_BARRIER,
     7, 0, 0},
    /* right ones, so that the simulator does not cry wolf */
    {"right: a barrier",
     NEIGHBOUR "st.shared.u32 [%r0], %t;\nbar.sync 0;\nld.shared.u32 %r3, [%r1];\nbar.sync "
               "0;\nst.shared.u32 [%r0], %r3;",
     2, 64, PTXSIM_OK, 0, 0, 0},
    {"right: producer and consumer",
     NEIGHBOUR
     "setp.lt.u32 %p0, %t, 32;\n@%p0 st.shared.u32 [%r0], %t;\n@%p0 bar.arrive 1, 64;\n@!%p0 bar.sync 1, "
     "64;\nadd.u32 %r1, %r0, -128;\n@!%p0 ld.shared.u32 %r3, [%r1];",
     1, 64, PTXSIM_OK, 0, 0, 0},
    {"right: a warp sync",
     NEIGHBOUR "st.shared.u32 [%r0], %t;\nbar.warp.sync -1;\nxor.b32 %r1, %r0, 4;\nld.shared.u32 "
               "%r3, [%r1];",
     1, 64, PTXSIM_OK, 0, 0, 0},
    {"right: three readers are awaited, in a loop",
     "mov.u32 %r0, 0; mov.u32 %r2, 0; setp.eq.u32 %p0, %t, 0;\nL: @%p0 st.shared.u32 [sm], %r0; bar.sync 0; "
     "ld.shared.u32 %r0, [sm]; bar.sync 0; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 9; @%p1 bra L;",
     2, 128, PTXSIM_OK, 0, 0, 0},
    {"right: three readers of global memory are awaited, in a loop",
     "mov.u32 %r2, 0; setp.eq.u32 %p0, %t, 0;\nL: @%p0 st.global.u32 [%rd0], %r2; bar.sync 0; ld.global.u32 "
     "%r0, "
     "[%rd0]; bar.sync 0; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 9; @%p1 bra L;",
     1, 128, PTXSIM_OK, 0, 0, 0},
    {"right: atomics of all blocks", "red.global.add.u32 [%rd0], 1;", 3, 64, PTXSIM_OK, 0, 0, 0},
    {"right: bytes of one word",
     "mov.u32 %r0, sm; add.u32 %r0, %r0, %t; st.shared.u8 [%r0], %t;\nld.shared.u8 %r2, "
     "[%r0];",
     1, 32, PTXSIM_OK, 0, 0, 0},
};

#endif
