/* Kernels with cp.async, bulk copies and mbarriers: each stores one word a thread, the same whatever the order of the warps
 * and whenever copies land. */
#ifndef TESTS_SIM_ASYNC_TABLE_H
#define TESTS_SIM_ASYNC_TABLE_H

#include "async_kernel.h"

typedef uint32_t expect_fn(unsigned t);

struct async_case {
    const char *name, *code; /* leaves the result in %r0 */
    unsigned threads;
    expect_fn *want;
};

static uint32_t same(unsigned t) { return in_word(t); }
static uint32_t by_four(unsigned t) { return in_word(4 * t) ^ in_word(4 * t + 3); }
static uint32_t by_two(unsigned t) { return in_word(2 * t) ^ in_word(2 * t + 1); }
static uint32_t partial(unsigned t) {
    uint32_t sum = 0;
    for (unsigned i = 0; i < t % 5; i++) sum += in_word(4 * t + i);
    return sum;
}
static uint32_t odd_bytes(unsigned t) {
    unsigned n = t % 5;
    return n == 0 ? 0 : in_word(t) & (0xffffffffu >> (32 - 8 * n));
}
static uint32_t even_threads(unsigned t) { return t % 2 ? 0 : in_word(t); }
static uint32_t three_groups(unsigned t) { return in_word(t) + 3 * in_word(t + 64) + 5 * in_word(t + 128); }
static uint32_t neighbour(unsigned t) { return in_word(t ^ 63); }
static uint32_t two_phases(unsigned t) { return in_word(t) + 7 * in_word(1024 + t); }
static uint32_t four_stages(unsigned t) {
    uint32_t sum = 0;
    for (unsigned i = 0; i < 8; i++) sum = sum * 3 + in_word(256 * i + t);
    return sum;
}
static uint32_t plain(unsigned t) { return t; }
static uint32_t seven(unsigned t) { return t * 0 + 7; }
static uint32_t counts(unsigned t) { return t < 32 ? 100 + t : 200 + t; }
static uint32_t twice(unsigned t) { return 2 * in_word(t); }

#define MINE4 "mad.lo.u32 %r1, %t, 16, %s; mad.wide.u32 %rd0, %t, 16, %in;\n"
#define MINE1 "mad.lo.u32 %r1, %t, 4, %s; mad.wide.u32 %rd0, %t, 4, %in;\n"

static const struct async_case async_cases[] = {
    {"16 bytes",
     MINE4 "cp.async.cg.shared.global [%r1], [%rd0], 16; cp.async.wait_all; ld.shared.u32 %r0, [%r1]; "
           "ld.shared.u32 %r2, [%r1+12]; xor.b32 %r0, %r0, %r2;",
     64, by_four},
    {"16 bytes, hints",
     MINE4 "createpolicy.fractional.L2::evict_first.b64 %rd1; "
           "cp.async.ca.shared::cta.global.L2::cache_hint.L2::128B "
           "[%r1], [%rd0], 16, %rd1; cp.async.commit_group; cp.async.wait_group 0; ld.shared.u32 %r0, [%r1]; "
           "ld.shared.u32 %r2, [%r1+12]; xor.b32 %r0, %r0, %r2;",
     64, by_four},
    {"8 bytes",
     "mad.lo.u32 %r1, %t, 8, %s; mad.wide.u32 %rd0, %t, 8, %in; cp.async.ca.shared.global.L2::256B [%r1], "
     "[%rd0], 8;\n"
     "cp.async.wait_all; ld.shared.v2.u32 {%r0, %r2}, [%r1]; xor.b32 %r0, %r0, %r2;",
     64, by_two},
    {"4 bytes",
     MINE1 "cp.async.ca.shared.global [%r1], [%rd0], 4; cp.async.wait_all; ld.shared.u32 %r0, [%r1];", 64,
     same},
    {"the rest is zero",
     MINE4 "mov.u32 %r2, -1; st.shared.v4.u32 [%r1], {%r2, %r2, %r2, %r2}; rem.u32 %r2, %t, 5; shl.b32 %r2, "
           "%r2, 2; cp.async.cg.shared.global [%r1], [%rd0], 16, %r2; "
           "cp.async.wait_all;\nld.shared.v4.u32 {%r0, %r2, %r3, %r4}, [%r1]; add.u32 %r0, %r0, %r2; add.u32 "
           "%r3, %r3, "
           "%r4; add.u32 %r0, %r0, %r3;",
     64, partial},
    {"some bytes of a word",
     MINE1 "mov.u32 %r2, -1; st.shared.u32 [%r1], %r2; rem.u32 %r2, %t, 5; cp.async.ca.shared.global [%r1], "
           "[%rd0], 4, %r2; cp.async.wait_all; ld.shared.u32 "
           "%r0, [%r1];",
     64, odd_bytes},
    {"a source that is not there",
     MINE1 "and.b32 %r2, %t, 1; setp.ne.u32 %p0, %r2, 0; @%p0 add.u64 %rd0, %rd0, 0x100000000;\n"
           "cp.async.ca.shared.global [%r1], [%rd0], 4, %p0; cp.async.wait_all; ld.shared.u32 %r0, [%r1];",
     64, even_threads},
    {"groups complete in order",
     MINE1 "cp.async.ca.shared.global [%r1], [%rd0], 4; cp.async.commit_group; cp.async.ca.shared.global "
           "[%r1+1024], "
           "[%rd0+256], 4;\ncp.async.commit_group; cp.async.ca.shared.global [%r1+2048], [%rd0+512], 4; "
           "cp.async.commit_group; cp.async.commit_group;\ncp.async.wait_group 3; ld.shared.u32 %r0, [%r1];\n"
           "cp.async.wait_group 2; ld.shared.u32 %r2, [%r1+1024]; mad.lo.u32 %r0, %r2, 3, %r0;\n"
           "cp.async.wait_group 1; ld.shared.u32 %r2, [%r1+2048]; mad.lo.u32 %r0, %r2, 5, %r0;",
     64, three_groups},
    {"for the neighbour, behind a barrier",
     MINE1 "cp.async.ca.shared.global [%r1], [%rd0], 4; cp.async.wait_all; bar.sync 0; xor.b32 %r2, %t, 63; "
           "mad.lo.u32 "
           "%r1, %r2, 4, %s; ld.shared.u32 %r0, [%r1];",
     64, neighbour},
    {"an mbarrier tracks cp.async",
     INIT_BAR("64") MINE1
     "cp.async.ca.shared.global [%r1], [%rd0], 4; cp.async.mbarrier.arrive.noinc.shared::cta.b64 "
     "[%b];\n" WAIT_PARITY("%b",
                           "0") "xor.b32 %r2, %t, 63; mad.lo.u32 %r1, %r2, 4, %s; ld.shared.u32 %r0, [%r1];",
     64, neighbour},
    {"an mbarrier tracks cp.async and counts it",
     INIT_BAR("64") MINE1
     "cp.async.ca.shared.global [%r1], [%rd0], 4; cp.async.mbarrier.arrive.shared.b64 [%b]; "
     "mbarrier.arrive.shared.b64 "
     "_, [%b];\n" WAIT_PARITY(
         "%b", "0") "xor.b32 %r2, %t, 63; mad.lo.u32 %r1, %r2, 4, %s; ld.shared.u32 %r0, [%r1];",
     64, neighbour},
    {"an mbarrier as a barrier",
     INIT_BAR("64") "mad.lo.u32 %r1, %t, 4, %s; st.shared.u32 [%r1], %t; mbarrier.arrive.shared::cta.b64 "
                    "%rd0, [%b];\n"
                    "{ W: mbarrier.test_wait.shared::cta.b64 %p0, [%b], %rd0; @!%p0 bra W; }\n"
                    "xor.b32 %r2, %t, 33; mad.lo.u32 %r1, %r2, 4, %s; ld.shared.u32 %r0, [%r1]; xor.b32 %r0, "
                    "%r0, 33;",
     64, plain},
    {"arrivals that count, of one thread a warp",
     INIT_BAR(
         "7") "mad.lo.u32 %r1, %t, 4, %s; st.shared.u32 [%r1], %t; bar.warp.sync -1; setp.eq.u32 %p2, %t, 0; "
              "setp.eq.u32 %p3, %t, 32;\n@%p2 mbarrier.arrive.release.cta.shared::cta.b64 _, [%b], 5;\n"
              "@%p3 mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %rd0, [%b], 1; @%p3 "
              "mbarrier.arrive.shared::cta.b64 _, [%b];\n" WAIT_PARITY(
                  "%b", "0") "xor.b32 %r2, %t, 33; mad.lo.u32 %r1, %r2, 4, %s; ld.shared.u32 %r0, [%r1]; "
                             "xor.b32 %r0, %r0, 33;",
     64, plain},
    {"qualifiers and generic addresses",
     INIT_BAR(
         "64") "cvt.u64.u32 %rd0, %b; cvta.shared.u64 %rd0, %rd0; mad.lo.u32 %r1, %t, 4, %s; st.shared.u32 "
               "[%r1], %t;\n"
               "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%b];\n{ W: "
               "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p0, [%b], 0, 100; @!%p0 bra W; }\n"
               "mbarrier.arrive.b64 %rd1, [%rd0];\n{ W: mbarrier.try_wait.acquire.cta.b64 %p0, [%rd0], %rd1, "
               "100; "
               "@!%p0 bra W; }\nmbarrier.arrive.relaxed.cta.shared::cta.b64 %rd1, [%b];\n{ W: "
               "mbarrier.test_wait.relaxed.cta.shared::cta.b64 %p0, [%b], %rd1; @!%p0 bra W; }\n"
               "xor.b32 %r2, %t, 33; mad.lo.u32 %r1, %r2, 4, %s; ld.shared.u32 %r0, [%r1]; xor.b32 %r0, %r0, "
               "33;",
     64, plain},
    {"pending arrivals",
     "setp.eq.u32 %p1, %t, 0; @!%p1 bra E; mbarrier.init.shared.b64 [%b], 8; "
     "mbarrier.arrive.noComplete.shared.b64 "
     "%rd0, [%b], 1;\nmbarrier.arrive.noComplete.shared.b64 %rd0, [%b], 2; mbarrier.pending_count.b64 %r0, "
     "%rd0; "
     "st.global.u32 [%out], %r0; ret;\nE: mov.u32 %r0, 7;",
     33, seven},
    {"a warp drops out",
     INIT_BAR("64") "setp.lt.u32 %p2, %t, 32; add.u32 %r0, %t, 100; @%p2 mbarrier.arrive_drop.shared.b64 "
                    "%rd0, [%b]; "
                    "@%p2 bra E;\nmbarrier.arrive.shared.b64 %rd0, [%b];\n" WAIT_PARITY(
                        "%b", "0") "mbarrier.arrive.shared.b64 %rd0, [%b];\n" WAIT_PARITY("%b",
                                                                                          "1") "add.u32 %r0, "
                                                                                               "%t, 200;\nE:",
     64, counts},
    {"an object that is made anew",
     INIT_BAR("64") "mbarrier.arrive.shared.b64 %rd0, [%b];\n" WAIT_PARITY(
         "%b", "0") "bar.sync 0; @%p1 "
                    "mbarrier.inval.shared.b64 [%b]; @%p1 mbarrier.init.shared.b64 [%b], 64; bar.sync 0; "
                    "mbarrier.arrive.shared.b64 "
                    "%rd0, [%b];\n" WAIT_PARITY("%b", "0") "mov.u32 %r0, %t;",
     64, plain},
    {"a bulk load",
     INIT_BAR("1") "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], 256;\n@%p1 "
                   "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%in], 256, "
                   "[%b];\n" WAIT_PARITY("%b", "0") "mad.lo.u32 %r1, %t, 4, %s; ld.shared.u32 %r0, [%r1];",
     64, same},
    {"bytes are expected after the copy was issued",
     INIT_BAR(
         "1") "@%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%s], [%in], 256, [%b];\n"
              "@%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%b], 256; @%p1 "
              "mbarrier.arrive.shared.b64 _, "
              "[%b];\n" WAIT_PARITY("%b", "0") "mad.lo.u32 %r1, %t, 4, %s; ld.shared.u32 %r0, [%r1];",
     64, same},
    {"two phases, by parity",
     INIT_BAR("1") "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], 256;\n@%p1 "
                   "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%in], 256, "
                   "[%b];\n" WAIT_PARITY(
                       "%b", "0") "mad.lo.u32 %r1, %t, 4, %s; ld.shared.u32 %r0, [%r1];\nbar.sync 0;\n"
                                  "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], 256;\n@%p1 "
                                  "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], "
                                  "[%in+4096], 256, [%b];\n" WAIT_PARITY(
                                      "%b", "1") "ld.shared.u32 %r2, [%r1]; mad.lo.u32 %r0, %r2, 7, %r0;",
     64, two_phases},
    /* Warp 2 loads 8 tiles into 2 stages, full at b and b + 8, empty at b + 16 and b + 24; the others consume. */
    {"a pipeline of two stages",
     "setp.ne.u32 %p1, %t, 0; @%p1 bra A; mbarrier.init.shared.b64 [%b], 1; mbarrier.init.shared.b64 [%b+8], "
     "1; "
     "mbarrier.init.shared.b64 [%b+16], 2; mbarrier.init.shared.b64 [%b+24], 2; "
     "fence.mbarrier_init.release.cluster;\nA: bar.sync 0; mov.u32 %r3, 0; mov.u32 %r0, 0; setp.lt.u32 %p1, "
     "%t, 64; "
     "@%p1 bra C; setp.ne.u32 %p1, %t, 64; @%p1 ret;\n"
     "P: and.b32 %r4, %r3, 1; shl.b32 %r5, %r4, 3; add.u32 %r5, %r5, %b; shr.u32 %r6, %r3, 1; and.b32 %r6, "
     "%r6, 1; "
     "xor.b32 %r6, %r6, 1;\n" WAIT_PARITY(
         "%r5+16", "%r6") "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 256; mad.lo.u32 %r4, %r4, "
                          "256, %s; mad.wide.u32 %rd1, %r3, "
                          "1024, %in;\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                          "[%r4], [%rd1], 256, [%r5];\n"
                          "add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 8; @%p1 bra P; ret;\n"
                          "C: and.b32 %r4, %r3, 1; shl.b32 %r5, %r4, 3; add.u32 %r5, %r5, %b; shr.u32 %r6, "
                          "%r3, 1; and.b32 %r6, %r6, 1;\n" WAIT_PARITY(
                              "%r5", "%r6") "mad.lo.u32 %r4, %r4, 256, %s; mad.lo.u32 %r4, %t, 4, %r4; "
                                            "ld.shared.u32 %r7, [%r4]; mad.lo.u32 "
                                            "%r0, %r0, 3, %r7; bar.warp.sync -1;\nand.b32 %r8, %t, 31; "
                                            "setp.eq.u32 %p2, %r8, 0; @%p2 "
                                            "mbarrier.arrive.shared::cta.b64 _, [%r5+16];\nadd.u32 %r3, %r3, "
                                            "1; setp.lt.u32 %p1, %r3, 8; @%p1 bra C;",
     96, four_stages},
    {"a bulk store",
     MINE1 "ld.global.u32 %r2, [%rd0]; shl.b32 %r2, %r2, 1; st.shared.u32 [%r1], %r2; "
           "fence.proxy.async.shared::cta; "
           "bar.sync 0;\nsetp.ne.u32 %p1, %t, 0; @%p1 ret; cp.async.bulk.global.shared::cta.bulk_group "
           "[%out], [%s], "
           "256; cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0; ret;",
     64, twice},
    {"a bulk store, its result read again",
     MINE1 "ld.global.u32 %r2, [%rd0]; shl.b32 %r2, %r2, 1; st.shared.u32 [%r1], %r2; fence.proxy.async; "
           "bar.sync 0;\n"
           "setp.eq.u32 %p1, %t, 0; @%p1 cp.async.bulk.global.shared::cta.bulk_group [%out], [%s], 256; @%p1 "
           "cp.async.bulk.commit_group;\n@%p1 cp.async.bulk.wait_group 0; bar.sync 0; mad.wide.u32 %rd0, %t, "
           "4, %out; "
           "ld.global.u32 %r0, [%rd0];",
     64, twice},
    {"prefetches and fences that do nothing",
     "cp.async.bulk.prefetch.L2.global [%in], 64; fence.proxy.async.global; fence.proxy.async; mov.u32 %r0, "
     "%t;",
     64, plain},
    /* The last: lanes of one warp wait for each other, so that waits may return false, and are counted. */
    {"a warp waits for a load of one of its lanes",
     INIT_BAR("1") "@!%p1 bra C; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], 128;\n"
                   "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%in], 128, "
                   "[%b]; bra J;\nC:" WAIT_PARITY("%b", "0") "mad.lo.u32 %r1, %t, 4, %s; ld.shared.u32 %r0, "
                                                             "[%r1];\nJ: @%p1 ld.global.u32 %r0, [%in];",
     32, same},
};

static void async_text(char *text, size_t size, const char *code) {
    char body[8192];
    snprintf(body, sizeof body, "%s\nmad.wide.u32 %%rd3, %%t, 4, %%out; st.global.u32 [%%rd3], %%r0;", code);
    snprintf(text, size, ASYNC_KERNEL, body);
}

enum { ASYNC_CASES = sizeof async_cases / sizeof *async_cases, ASYNC_TEXT = 10240 };

#endif
