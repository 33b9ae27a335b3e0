/* What kernels with wgmma are tested with: a frame of declarations, tiles whose product is known, and schedules. */
#ifndef TESTS_SIM_WGMMA_KERNEL_H
#define TESTS_SIM_WGMMA_KERNEL_H

#include "async_kernel.h"

/* A tile is A, 64 x 16 of f16, and behind its 2048 bytes B, 8 x 16: both in eights of rows and of elements along k
 * without a swizzle, as %x and %y describe them in shared memory at sm, where stages are 4096 bytes apart.
 *
 * %t thread, %w warp, %rank in the cluster, %in the tiles, %s sm, %b bar; %mine and %src: a thread's 16 bytes of A in sm
 * and in a tile; %first: the 16 threads that have 16 of B, too; %out: a thread's four sums; %yes, %no; %one: thread 0. */
#define WGMMA_KERNEL                                                                                         \
    ASYNC_HEADER                                                                                             \
    ".visible .entry k(.param .u64 in, .param .u64 out) %s\n{\n"                                             \
    ".reg .b32 %%r<16>, %%t, %%w, %%c, %%rank, %%s, %%b, %%mine, %%e; .reg .b64 %%in, %%out, %%src, "        \
    "%%x, "                                                                                                  \
    "%%y, %%rd<8>; .reg .f32 %%f<16>; .reg .b16 %%h<4>; .reg .pred %%yes, %%no, %%first, %%one, "            \
    "%%p<8>;\n"                                                                                              \
    ".shared .align 1024 .b8 sm[32768]; .shared .align 8 .b64 bar[16];\n"                                    \
    "mov.u32 %%t, %%tid.x; shr.u32 %%w, %%t, 5; mov.u32 %%c, %%ctaid.x; mov.u32 %%rank, "                    \
    "%%cluster_ctarank; "                                                                                    \
    "ld.param.u64 %%in, [in]; ld.param.u64 %%out, [out]; mov.u32 %%s, sm; mov.u32 %%b, bar;\n"               \
    "mad.lo.u32 %%mine, %%t, 16, %%s; mad.wide.u32 %%src, %%t, 16, %%in; mov.u32 %%r0, %%ntid.x; "           \
    "mad.lo.u32 "                                                                                            \
    "%%r0, %%c, %%r0, %%t; mad.wide.u32 %%out, %%r0, 16, %%out; setp.lt.u32 %%first, %%t, 16; "              \
    "setp.eq.u32 "                                                                                           \
    "%%one, %%t, 0; setp.eq.u32 %%yes, %%t, %%t; setp.ne.u32 %%no, %%t, %%t;\n"                              \
    "and.b32 %%r0, %%s, 0x3ffff; shr.u32 %%r0, %%r0, 4; cvt.u64.u32 %%x, %%r0; add.u64 %%y, %%x, 128; "      \
    "or.b64 %%x, %%x, ((1024 >> 4) "                                                                         \
    "<< "                                                                                                    \
    "16) | ((128 >> 4) << 32); or.b64 %%y, %%y, ((128 >> 4) << 16) | ((256 >> 4) << 32); mov.u32 %%e, "      \
    "0x44444444;\n%s\nret;\n}\n"

/* A line of the kernel; the one where the fault is; one where another schedule finds it. */
#define L(code)    code "\n"
#define HERE(code) code " //!\n"
#define OR(code)   code " //?\n"

/* Tile I to stage S by the threads' own stores. */
#define FILL(s, i)                                                                                           \
    "ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%src + 2304 * " #i "]; st.shared.v4.b32 [%mine + 4096 * " #s    \
    "], {%r0, %r1, "                                                                                         \
    "%r2, %r3}; @%first ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%src + 2304 * " #i                           \
    " + 2048]; @%first st.shared.v4.b32 "                                                                    \
    "[%mine + 4096 * " #s " + 2048], {%r0, %r1, %r2, %r3};"
/* The same by a bulk copy, of which mbarrier M is told. */
#define LOAD(guard, s, i, m)                                                                                 \
    guard "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s + 4096 * " #s               \
          "], [%in + 2304 * " #i "], 2304, [%b + 8 * " #m "];"
#define EXPECT(guard, m, bytes)                                                                              \
    guard "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b + 8 * " #m "], " #bytes ";"
#define LEAVE(guard, m) guard "mbarrier.arrive.shared::cta.b64 _, [%b + 8 * " #m "];"
#define AWAIT(m, parity)                                                                                     \
    "{ W: mbarrier.try_wait.parity.shared::cta.b64 %p7, [%b + 8 * " #m "], " #parity "; @!%p7 bra W; }"
#define MBARRIER(m, count) "@%one mbarrier.init.shared::cta.b64 [%b + 8 * " #m "], " #count "; "
#define MBARRIERS_DONE     "@%one fence.mbarrier_init.release.cluster; bar.sync 0;"
#define PROXY              "fence.proxy.async;"
#define BLOCK              "bar.sync 0;"
#define FENCE              "wgmma.fence.sync.aligned;"
#define COMMIT             "wgmma.commit_group.sync.aligned;"
#define WAIT(n)            "wgmma.wait_group.sync.aligned " #n ";"
#define D                  "{%f0, %f1, %f2, %f3}"
/* The product of stage S's tile, added to D if ADD. */
#define MMA(s, add)                                                                                          \
    "add.u64 %rd6, %x, 256 * " #s "; add.u64 %rd7, %y, 256 * " #s                                            \
    "; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 " D ", %rd6, %rd7, " add ", 1, 1, 0, 0;"
#define STORE "st.global.v4.f32 [%out], {%f0, %f1, %f2, %f3};"

enum { WGMMA_TEXT = 16384, WGMMA_TILES = 16, WGMMA_TILE_BYTES = 2304, WGMMA_RESULT_BYTES = 65536 };

/* Elements of tile I, small integers. */
static inline int wgmma_a(int tile, int row, int k) { return (row * 7 + k * 5 + tile * 3) % 9 - 4; }
static inline int wgmma_b(int tile, int column, int k) { return (column * 5 + k * 11 + tile * 7) % 7 - 3; }

static inline uint16_t wgmma_half(int x) {
    static const uint16_t halves[] = {0, 0x3c00, 0x4000, 0x4200, 0x4400};
    return (uint16_t)(x < 0 ? 0x8000 | halves[-x] : halves[x]);
}

static inline void wgmma_fill(uint16_t halves[WGMMA_TILES][WGMMA_TILE_BYTES / 2]) {
    for (int tile = 0; tile < WGMMA_TILES; tile++)
        for (int k = 0; k < 16; k++) {
            for (int row = 0; row < 64; row++)
                halves[tile][row % 8 * 8 + row / 8 * 64 + k / 8 * 512 + k % 8] =
                    wgmma_half(wgmma_a(tile, row, k));
            for (int column = 0; column < 8; column++)
                halves[tile][1024 + column * 8 + k / 8 * 64 + k % 8] = wgmma_half(wgmma_b(tile, column, k));
        }
}

/* The tiles in global memory. */
static inline uint64_t wgmma_input(ptxsim *sim) {
    static uint16_t halves[WGMMA_TILES][WGMMA_TILE_BYTES / 2];
    uint64_t in = 0;
    wgmma_fill(halves);
    CHECK(ptxsim_alloc(sim, sizeof halves, &in) == PTXSIM_OK &&
          ptxsim_write(sim, in, halves, sizeof halves) == PTXSIM_OK);
    return in;
}

/* Sum I of thread T of a warpgroup, of the products of COUNT tiles from FIRST on. */
static inline float wgmma_sum(int first, int count, int t, int i) {
    const int row = t / 32 * 16 + t % 32 / 4 + i / 2 * 8, column = t % 4 * 2 + i % 2;
    int sum = 0;
    for (int tile = first; tile < first + count; tile++)
        for (int k = 0; k < 16; k++) sum += wgmma_a(tile, row, k) * wgmma_b(tile, column, k);
    return (float)sum;
}

#endif
