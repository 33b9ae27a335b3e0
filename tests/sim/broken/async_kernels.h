/* Asynchronous kernels that are wrong on purpose, beside the right ones that they were made of, and what the simulator
 * must say. */
#ifndef TESTS_SIM_BROKEN_ASYNC_H
#define TESTS_SIM_BROKEN_ASYNC_H

#include "../async_kernel.h"

struct broken_async {
    const char *name;
    const char *code; /* from line 8 on: async_kernel.h. %map: 64 x 64 words, box 8 x 8 */
    unsigned threads;
    ptxsim_status status;
    int line, other; /* other: of a race, the line of the access that came first, in order */
    const char *text;
};

#define MINE                                                                                                 \
    "mad.lo.u32 %r1, %t, 4, %s; mad.wide.u32 %rd0, %t, 4, %in; xor.b32 %r2, %t, 1; mad.lo.u32 %r2, %r2, "    \
    "4, %s;\n"
#define COPY_MINE "cp.async.ca.shared.global [%r1], [%rd0], 4;\n"
#define COMMIT    "cp.async.commit_group;\n"
#define LOAD_MINE "ld.shared.u32 %r0, [%r1];\n"
#define BULK(to, bytes)                                                                                      \
    "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [" to "], [%in], " bytes         \
    ", [%b];\n"
#define EXPECT(bytes) "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], " bytes ";\n"
#define STORE_MINE    "st.shared.u32 [%r1], %t;\n"
#define BULK_STORE                                                                                           \
    "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%out], [%s], 128;\n@%p1 "                             \
    "cp.async.bulk.commit_group;\n"
#define THREAD_0 "setp.eq.u32 %p1, %t, 0;\n"
#define TENSOR(to)                                                                                           \
    "@%p1 cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [" to                      \
    "], [%map, {8, 8}], [%b];\n"

static const struct broken_async broken_async[] = {
    /* cp.async */
    {"no wait for a group", MINE COPY_MINE COMMIT LOAD_MINE, 64, PTXSIM_ASYNC, 11, 0, "cp.async of line 9"},
    {"a wait one group too early",
     MINE COPY_MINE COMMIT "cp.async.ca.shared.global [%r1+256], [%rd0+256], 4;\n" COMMIT
                           "cp.async.wait_group 1;\nld.shared.u32 %r0, [%r1];\nld.shared.u32 %r0, [%r1+256];",
     64, PTXSIM_ASYNC, 15, 0, "cp.async of line 11"},
    {"right: a wait for both groups",
     MINE COPY_MINE COMMIT "cp.async.ca.shared.global [%r1+256], [%rd0+256], 4;\n" COMMIT
                           "cp.async.wait_group 0;\nld.shared.u32 %r0, [%r1];\nld.shared.u32 %r0, [%r1+256];",
     64, PTXSIM_OK, 0, 0, ""},
    {"no commit", MINE COPY_MINE "cp.async.wait_group 0;\n" LOAD_MINE, 64, PTXSIM_ASYNC, 11, 0,
     "cp.async of line 9"},
    {"no barrier behind the wait", MINE COPY_MINE COMMIT "cp.async.wait_group 0;\nld.shared.u32 %r0, [%r2];",
     64, PTXSIM_RACE, 12, 9, "race on shared"},
    {"a barrier before the wait",
     MINE COPY_MINE COMMIT "bar.sync 0;\ncp.async.wait_group 0;\nld.shared.u32 %r0, [%r2];", 64, PTXSIM_RACE,
     13, 9, "race on shared"},
    {"right: wait, then barrier",
     MINE COPY_MINE COMMIT "cp.async.wait_group 0;\nbar.sync 0;\nld.shared.u32 %r0, [%r2];", 64, PTXSIM_OK, 0,
     0, ""},
    {"a store into bytes in flight", MINE COPY_MINE COMMIT STORE_MINE, 64, PTXSIM_ASYNC, 11, 0,
     "writes shared"},
    {"a stage filled again without a barrier",
     MINE COPY_MINE "cp.async.wait_all; bar.sync 0;\nld.shared.u32 %r0, [%r2];\n" COPY_MINE
                    "cp.async.wait_all;",
     64, PTXSIM_RACE, 12, 11, "it read, this writes"},
    {"right: a stage filled again behind a barrier",
     MINE COPY_MINE "cp.async.wait_all; bar.sync 0;\nld.shared.u32 %r0, [%r2];\nbar.sync 0;\n" COPY_MINE
                    "cp.async.wait_all;",
     64, PTXSIM_OK, 0, 0, ""},
    {"a thread that exits before its copy is done", MINE COPY_MINE COMMIT, 32, PTXSIM_ASYNC, 9, 0, "exits"},
    {"a source that changes in flight", MINE COPY_MINE COMMIT "st.global.u32 [%rd0], %t;\ncp.async.wait_all;",
     32, PTXSIM_ASYNC, 11, 0, "which the copy of line 9 reads"},
    {"right: a source that changes later",
     MINE COPY_MINE COMMIT "cp.async.wait_all;\nst.global.u32 [%rd0], %t;", 32, PTXSIM_OK, 0, 0, ""},
    {"a cp.async of misaligned bytes",
     MINE "cp.async.ca.shared.global [%r1], [%rd0+2], 4;\ncp.async.wait_all;", 32, PTXSIM_ALIGN, 9, 0,
     "misaligned"},
    {"a cp.async that reads more than it copies",
     MINE "mov.u32 %r3, 5; cp.async.ca.shared.global [%r1], [%rd0], 4, %r3;\ncp.async.wait_all;", 32,
     PTXSIM_ASYNC, 9, 0, "reads 5"},
    {"a cp.async that its mbarrier does not track",
     INIT_BAR("64") MINE "mbarrier.arrive.shared.b64 _, [%b];\n" COPY_MINE WAIT_PARITY("%b", "0") LOAD_MINE,
     64, PTXSIM_ASYNC, 13, 0, "cp.async of line 11"},

    /* mbarriers */
    {"the wrong parity", INIT_BAR("1") MINE EXPECT("256") BULK("%s", "256") WAIT_PARITY("%b", "1") LOAD_MINE,
     32, PTXSIM_ASYNC, 13, 0, "of line 11"},
    {"right: the right parity",
     INIT_BAR("1") MINE EXPECT("256") BULK("%s", "256") WAIT_PARITY("%b", "0") LOAD_MINE, 64, PTXSIM_OK, 0, 0,
     ""},
    {"no bytes expected",
     INIT_BAR("1") MINE "@%p1 mbarrier.arrive.shared.b64 _, [%b];\n" BULK("%s", "256") WAIT_PARITY("%b", "0")
         LOAD_MINE,
     32, PTXSIM_ASYNC, 13, 0, "of line 11"},
    {"too many bytes expected",
     INIT_BAR("1") MINE EXPECT("512") BULK("%s", "256") WAIT_PARITY("%b", "0") LOAD_MINE, 64, PTXSIM_BARRIER,
     12, 0, "0 arrivals and 256 bytes are missing"},
    {"too few bytes expected",
     INIT_BAR("1") MINE EXPECT("128") BULK("%s", "128") BULK("%s+128", "128") WAIT_PARITY("%b", "0")
         LOAD_MINE,
     64, PTXSIM_ASYNC, 14, 0, "of line 12"},
    {"an arrival too few", INIT_BAR("65") "mbarrier.arrive.shared.b64 _, [%b];\n" WAIT_PARITY("%b", "0"), 64,
     PTXSIM_BARRIER, 10, 0, "1 arrivals and 0 bytes"},
    {"an arrival too many",
     INIT_BAR("63") "bar.sync 0;\nmbarrier.arrive.noComplete.shared.b64 %rd0, [%b], 64;", 64, PTXSIM_ASYNC,
     10, 0, ".noComplete"},
    {"more arrivals than a phase awaits", INIT_BAR("32") "mbarrier.arrive.shared.b64 _, [%b], 33;", 32,
     PTXSIM_ASYNC, 9, 0, "arrives 33 times"},
    {"an arrival that is not the last completes a phase",
     INIT_BAR("32") "@%p1 mbarrier.arrive.noComplete.shared.b64 %rd0, [%b], 32;", 32, PTXSIM_ASYNC, 9, 0,
     ".noComplete"},
    {"more bytes than a phase counts",
     INIT_BAR("1") "@%p1 mbarrier.expect_tx.relaxed.cta.shared.b64 [%b], 1048575;\n@%p1 "
                   "mbarrier.expect_tx.relaxed.cta.shared.b64 [%b], 1;",
     32, PTXSIM_ASYNC, 10, 0, "1048576"},
    {"no initialisation", "mbarrier.arrive.shared.b64 _, [%b];", 32, PTXSIM_ASYNC, 8, 0,
     "no initialised mbarrier"},
    {"initialised for no arrivals", INIT_BAR("0"), 32, PTXSIM_ASYNC, 8, 0, "for 0 arrivals"},
    {"an mbarrier between two", "mbarrier.init.shared.b64 [%b+4], 1;", 1, PTXSIM_ALIGN, 8, 0, "aligned to 8"},
    {"nobody waits for the initialisation",
     THREAD_0 "@%p1 mbarrier.init.shared.b64 [%b], 32;\nmbarrier.arrive.shared.b64 _, [%b];", 32, PTXSIM_RACE,
     10, 9, "line 9"},
    {"an mbarrier that is read", INIT_BAR("32") "ld.shared.u64 %rd0, [%b];", 32, PTXSIM_ASYNC, 9, 0,
     "initialised in line 8"},
    {"an mbarrier that is overwritten", INIT_BAR("32") "@%p1 st.shared.u32 [%b+4], %t;", 32, PTXSIM_ASYNC, 9,
     0, "initialised in line 8"},
    {"initialised twice", INIT_BAR("32") "@%p1 mbarrier.init.shared.b64 [%b], 32;", 32, PTXSIM_ASYNC, 9, 0,
     "initialised in line 8"},
    {"used when it is no more",
     INIT_BAR("32") "@%p1 mbarrier.inval.shared.b64 [%b];\nbar.sync 0;\nmbarrier.arrive.shared.b64 _, [%b];",
     32, PTXSIM_ASYNC, 11, 0, "no initialised mbarrier"},
    {"an mbarrier that is waited for is no more",
     INIT_BAR("1") "setp.lt.u32 %p2, %t, 32; setp.eq.u32 %p3, %t, 0;\n@%p2 bra B; " WAIT_PARITY(
         "%b", "0") "ret;\nB: @%p3 "
                    "mbarrier.inval.shared.b64 [%b];",
     64, PTXSIM_ASYNC, 12, 10, "waited for in line 10"},
    {"a state that is two phases old",
     INIT_BAR("32") "mbarrier.arrive.shared.b64 %rd0, [%b];\nmbarrier.arrive.shared.b64 _, [%b];\n"
                    "mbarrier.test_wait.shared.b64 %p0, [%b], %rd0;",
     32, PTXSIM_ASYNC, 11, 0, "neither the current one"},
    {"one lane waits, the others read",
     INIT_BAR("1") MINE EXPECT("128")
         BULK("%s", "128") "@!%p1 bra E;\n" WAIT_PARITY("%b", "0") "E:\n" LOAD_MINE,
     32, PTXSIM_ASYNC, 15, 0, "of line 11"},
    {"right: one lane waits, then the warp meets",
     INIT_BAR("1") MINE EXPECT("128")
         BULK("%s", "128") "@!%p1 bra E;\n" WAIT_PARITY("%b", "0") "E: bar.warp.sync -1;\n" LOAD_MINE,
     32, PTXSIM_OK, 0, 0, ""},
    {"nobody waits for a load", INIT_BAR("1") EXPECT("256") BULK("%s", "256"), 64, PTXSIM_ASYNC, 10, 0,
     "the block ends"},

    /* Stages: warp 1 loads, warp 0 reads and says that the stage is empty. */
    {"a stage filled again while the first copy is in flight",
     INIT_BAR("2") MINE EXPECT("256") BULK("%s", "256") EXPECT("256") BULK("%s", "256")
         WAIT_PARITY("%b", "0"),
     64, PTXSIM_ASYNC, 13, 0, "of line 11"},
    {"a stage filled again while others read",
     INIT_BAR("1") MINE EXPECT("256") BULK("%s", "256") WAIT_PARITY("%b", "0") LOAD_MINE EXPECT("256")
         BULK("%s", "256") WAIT_PARITY("%b", "1"),
     64, PTXSIM_RACE, 15, 13, ""},
    {"right: a stage filled again behind a barrier",
     INIT_BAR("1") MINE EXPECT("256") BULK("%s", "256") WAIT_PARITY("%b", "0") LOAD_MINE
     "bar.sync 0;\n" EXPECT("256") BULK("%s", "256") WAIT_PARITY("%b", "1"),
     64, PTXSIM_OK, 0, 0, ""},
    {"one lane says empty before the warp has met",
     INIT_BAR("1") MINE "@%p1 mbarrier.init.shared.b64 [%b+8], 1; bar.sync 0;\n" EXPECT("256")
         BULK("%s", "256") WAIT_PARITY("%b", "0") LOAD_MINE
     "setp.eq.u32 %p2, %t, 32;\n@%p2 mbarrier.arrive.shared.b64 _, [%b+8];\n@!%p1 "
     "bra E;\n" WAIT_PARITY("%b+8", "0") EXPECT("256") BULK("%s+128", "128")
         BULK("%s", "128") "E:" WAIT_PARITY("%b", "1"),
     64, PTXSIM_RACE, 20, 14, ""},
    {"right: the warp meets, one lane says empty",
     INIT_BAR("1") MINE "@%p1 mbarrier.init.shared.b64 [%b+8], 2; bar.sync 0;\n" EXPECT("256")
         BULK("%s", "256") WAIT_PARITY("%b", "0") LOAD_MINE
     "and.b32 %r3, %t, 31; setp.eq.u32 %p2, %r3, 0; bar.warp.sync -1;\n@%p2 "
     "mbarrier.arrive.shared.b64 _, [%b+8];\n@!%p1 bra E;\n" WAIT_PARITY("%b+8", "0") EXPECT("256")
         BULK("%s+128", "128") BULK("%s", "128") "E:" WAIT_PARITY("%b", "1"),
     64, PTXSIM_OK, 0, 0, ""},

    /* Proxies and bulk stores */
    {"no proxy fence before a bulk store",
     MINE STORE_MINE "bar.sync 0;\n" THREAD_0 BULK_STORE "cp.async.bulk.wait_group 0;", 64, PTXSIM_ASYNC, 12,
     0, "missing proxy fence"},
    {"a proxy fence before the stores",
     MINE "fence.proxy.async;\n" STORE_MINE "bar.sync 0;\n" THREAD_0 BULK_STORE "cp.async.bulk.wait_group 0;",
     64, PTXSIM_ASYNC, 13, 0, "the store of line 10"},
    {"a proxy fence of one of the writers",
     MINE STORE_MINE THREAD_0 "@%p1 fence.proxy.async;\nbar.sync 0;\n" BULK_STORE
                              "cp.async.bulk.wait_group 0;",
     64, PTXSIM_ASYNC, 13, 0, "the store of line 9"},
    {"a proxy fence for global memory alone",
     MINE STORE_MINE "fence.proxy.async.global; bar.sync 0;\n" THREAD_0 BULK_STORE
                     "cp.async.bulk.wait_group 0;",
     64, PTXSIM_ASYNC, 12, 0, "missing proxy fence"},
    {"no barrier before a bulk store",
     MINE STORE_MINE "fence.proxy.async;\n" THREAD_0 BULK_STORE "cp.async.bulk.wait_group 0;", 64,
     PTXSIM_RACE, 12, 9, ""},
    {"right: all writers fence",
     MINE STORE_MINE "fence.proxy.async;\nbar.sync 0;\n" THREAD_0 BULK_STORE "cp.async.bulk.wait_group 0;",
     64, PTXSIM_OK, 0, 0, ""},
    {"right: the thread that copies fences behind the barrier",
     MINE STORE_MINE "bar.sync 0;\n" THREAD_0 "@%p1 fence.proxy.async.shared::cta;\n" BULK_STORE
                     "cp.async.bulk.wait_group 0;",
     64, PTXSIM_OK, 0, 0, ""},
    {"no fence behind an initialisation",
     THREAD_0 "@%p1 mbarrier.init.shared.b64 [%b], 1;\nbar.sync 0;\n" EXPECT("256") BULK("%s", "256")
         WAIT_PARITY("%b", "0"),
     64, PTXSIM_ASYNC, 12, 0, "fence.mbarrier_init"},
    {"a load over bytes that were stored",
     INIT_BAR("1") MINE STORE_MINE "bar.sync 0;\n" EXPECT("256") BULK("%s", "256") WAIT_PARITY("%b", "0"), 64,
     PTXSIM_ASYNC, 13, 0, "the store of line 10"},
    {"no proxy fence before a load of what was stored to global memory",
     INIT_BAR("1") "mad.wide.u32 %rd0, %t, 4, %in; st.global.u32 [%rd0], %t;\nbar.sync 0;\n" EXPECT("128")
         BULK("%s", "128") WAIT_PARITY("%b", "0"),
     32, PTXSIM_ASYNC, 12, 0, "the store of line 9"},
    {"right: a proxy fence before a load of what was stored to global memory",
     INIT_BAR("1") "mad.wide.u32 %rd0, %t, 4, %in; st.global.u32 [%rd0], %t;\nfence.proxy.async.global; "
                   "bar.sync 0;\n" EXPECT("128") BULK("%s", "128") WAIT_PARITY("%b", "0"),
     32, PTXSIM_OK, 0, 0, ""},
    {"no wait for a bulk store", MINE STORE_MINE "fence.proxy.async; bar.sync 0;\n" THREAD_0 BULK_STORE, 64,
     PTXSIM_ASYNC, 12, 0, "has read its source"},
    {"no commit of a bulk store",
     MINE STORE_MINE
     "fence.proxy.async; bar.sync 0;\n" THREAD_0
     "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%out], [%s], 128;\ncp.async.bulk.wait_group 0;",
     64, PTXSIM_ASYNC, 12, 0, "has read its source"},
    {"the source of a bulk store is overwritten",
     MINE STORE_MINE "fence.proxy.async; bar.sync 0;\n" THREAD_0 BULK_STORE "@%p1 st.shared.u32 [%r1], %s;\n"
                     "cp.async.bulk.wait_group 0;",
     64, PTXSIM_ASYNC, 14, 0, "bulk copy of line 12"},
    {"others overwrite the source before they know that it was read",
     MINE STORE_MINE "fence.proxy.async; bar.sync 0;\n" THREAD_0 BULK_STORE
                     "cp.async.bulk.wait_group.read 0;\n"
                     "st.shared.u32 [%r1], %s;",
     32, PTXSIM_RACE, 15, 12, ""},
    {"right: others overwrite the source behind a barrier",
     MINE STORE_MINE "fence.proxy.async; bar.sync 0;\n" THREAD_0 BULK_STORE
                     "cp.async.bulk.wait_group.read 0;\nbar.sync 0;\nst.shared.u32 [%r1], %s;",
     64, PTXSIM_OK, 0, 0, ""},
    {"the result of a bulk store is read too early",
     MINE STORE_MINE "fence.proxy.async; bar.sync 0;\n" THREAD_0 BULK_STORE
                     "cp.async.bulk.wait_group.read 0;\n@%p1 ld.global.u32 %r0, [%out];",
     64, PTXSIM_ASYNC, 15, 0, "line 12 writes"},

    /* Shapes and maps */
    {"a bulk copy of 20 bytes", INIT_BAR("1") "mov.u32 %r3, 20;\n" EXPECT("20") BULK("%s", "%r3"), 32,
     PTXSIM_ALIGN, 11, 0, "20 bytes"},
    {"a bulk copy to 8 bytes past the line", INIT_BAR("1") EXPECT("32") BULK("%s+8", "32"), 32, PTXSIM_ALIGN,
     10, 0, "aligned to 16"},
    {"a bulk copy past the end of shared memory", INIT_BAR("1") EXPECT("256") BULK("%s+20480", "256"), 32,
     PTXSIM_BOUNDS, 10, 0, "the block has"},
    {"a box that is not aligned to 128 bytes", INIT_BAR("1") EXPECT("256") TENSOR("%s+64"), 32, PTXSIM_ALIGN,
     10, 0, "aligned to 128"},
    {"right: a box that is", INIT_BAR("1") EXPECT("256") TENSOR("%s+128") WAIT_PARITY("%b", "0"), 32,
     PTXSIM_OK, 0, 0, ""},
    {"a box that begins off 16 bytes",
     INIT_BAR("1")
         EXPECT("256") "@%p1 cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes "
                       "[%s], [%map, {2, 0}], [%b];",
     32, PTXSIM_ALIGN, 10, 0, "not a multiple of 16"},
    {"a tensor store before the first row",
     MINE STORE_MINE "st.shared.u32 [%r1+128], %t; fence.proxy.async; bar.sync 0;\n" THREAD_0
                     "@%p1 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%map, {0, -1}], [%s];",
     32, PTXSIM_BOUNDS, 12, 0, "coordinate -1 of dimension 1"},
    {"a map that nobody encoded", INIT_BAR("1") "mov.u64 %map, %in;\n" EXPECT("256") TENSOR("%s"), 32,
     PTXSIM_ASYNC, 11, 0, "no tensor map"},
    {"a map whose address is not generic", INIT_BAR("1") "mov.b64 %map, map;\n" EXPECT("256") TENSOR("%s"),
     32, PTXSIM_BOUNDS, 11, 0, "cvta.param"},
    {"a map of another rank",
     INIT_BAR("1")
         EXPECT("256") "@%p1 cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes "
                       "[%s], [%map, {8}], [%b];",
     32, PTXSIM_ASYNC, 10, 0, "rank 1"},
};

/* Waits that nobody repeats: right unless one returns false, which it does in seeded schedules. */
static const char unrepeated_wait[] = INIT_BAR("1") MINE EXPECT("128")
    BULK("%s", "128") "mbarrier.try_wait.parity.shared::cta.b64 %p0, [%b], 0;\n" LOAD_MINE;

/* What differs where copies land at once: the phase is over before anyone waits for it, and the wait is for the next. */
static const struct {
    const char *name;
    ptxsim_status status;
    int line;
} landed_first[] = {{"the wrong parity", PTXSIM_BARRIER, 12}};

/* Forms that are not simulated, named when the module is loaded. */
static const struct {
    const char *code, *text;
} refused[] = {
    {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%s], [%in], 16, "
     "[%b], %rd0;",
     ".b16 is needed"},
    {"cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%s], [%map, {0, 0, "
     "0}], [%b];",
     "im2col"},
    {"cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%map, {0, 0, 0, "
     "0}], [%b];",
     "4d"},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.inc.u64 [%out], [%s], 16;", "a reduction of this type"},
    {"cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%s], [%s], 16, [%b];",
     "cp.reduce.async.bulk.shared::cluster"},
    {"fence.proxy.tensormap::generic.release.gpu;", "tensormap::generic"},
    {"barrier.cluster.wait.relaxed;", "barrier.cluster"},
    {"mapa.shared::cta.u32 %r0, %s, 0;", "mapa"},
    {"cp.async.ca.shared.global [%s], [%in], 12;", "12 bytes"},
    {"cp.async.cg.shared.global [%s], [%in], 8;", "16"},
};

#endif
