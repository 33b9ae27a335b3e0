/* Lets the nth allocation fail, or all from the nth on, for every n, while a module is loaded and run, by one thread and
 * by several: each failure must come back as PTXSIM_NOMEM or be made up for, and nothing may leak or crash. Linked with
 * --wrap for malloc, calloc, realloc, aligned_alloc, mmap and pthread_create. */
#include "harness.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sys/mman.h>

static long allowed = LONG_MAX; /* allocations until one fails */
static int stays;               /* the next ones fail, too */
static int failed;

static int may_allocate(void) {
    long left = __atomic_fetch_sub(&allowed, 1, __ATOMIC_RELAXED);
    if (stays ? left > 0 : left != 0) return 1;
    __atomic_store_n(&failed, 1, __ATOMIC_RELAXED);
    return 0;
}

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes) { return may_allocate() ? __real_malloc(bytes) : NULL; }

void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes) {
    return may_allocate() ? __real_calloc(count, bytes) : NULL;
}

void *__real_realloc(void *old, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes) { return may_allocate() ? __real_realloc(old, bytes) : NULL; }

void *__real_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes) {
    return may_allocate() ? __real_aligned_alloc(alignment, bytes) : NULL;
}

void *__real_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset) {
    return may_allocate() ? __real_mmap(at, bytes, protection, flags, file, offset) : MAP_FAILED;
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                          void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                          void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                          void *argument) {
    return may_allocate() ? __real_pthread_create(thread, attributes, start, argument) : EAGAIN;
}

enum { BLOCKS = 8, THREADS = 128, WORDS = BLOCKS * THREADS, MORE = 256 /* bytes behind them */ };

/* Adds 1 to a word of the thread's own, so that the memory that is read is written later. */
static const char plain[] =
    PTX_HEADER ".visible .entry k(.param .u64 a) { .reg .b32 %r<400>; .reg .b64 %d<2>; .reg .pred %p; "
               ".shared .b8 s[64];\n"
               "ld.param.u64 %d0, [a]; mov.u32 %r0, %tid.x; setp.ne.u32 %p, %r0, 5; @%p bra A; { .reg .b32 "
               "%x; mov.u32 %x, 7; st.shared.u32 [s], %x; }\n"
               "A: bar.sync 0; ld.shared.u32 %r1, [s]; st.release.cta.shared.u32 [s+8], %r0; "
               "fence.acq_rel.cta; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r0, %r1, 128, %r0; "
               "mad.wide.u32 %d0, %r0, "
               "4, %d0; ld.global.u32 %r0, [%d0]; add.u32 %r0, %r0, 1; st.global.u32 [%d0], %r0; ret; }\n";

/* The same by copies: of a word a thread, of 16 bytes behind the words, and of those to where no other block writes. */
static const char copies[] = PTX_HEADER
    ".visible .entry k(.param .u64 a) { .reg .b32 %r<400>; .reg .b64 %d<4>; .reg .pred %p, %p1; "
    ".shared .align 16 .b8 s[1024]; .shared .b64 bar[2];\n"
    "ld.param.u64 %d0, [a]; mov.u32 %r0, %tid.x; setp.eq.u32 %p, %r0, 0; @%p mbarrier.init.shared.b64 [bar], "
    "129;\n"
    "@%p fence.mbarrier_init.release.cluster; bar.sync 0; mov.u32 %r1, %ctaid.x; mul.wide.u32 %d2, %r1, 16; "
    "add.u64 "
    "%d2, %d2, %d0; @%p mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16; @%p "
    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s+512], [%d0+4096], 16, [bar];\n"
    "mov.u32 %r2, s; mad.lo.u32 %r2, %r0, 4, %r2; mad.lo.u32 %r0, %r1, 128, %r0; mad.wide.u32 %d0, %r0, 4, "
    "%d0; "
    "cp.async.ca.shared.global [%r2], [%d0], 4; cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n"
    "W: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra W; @%p "
    "cp.async.bulk.global.shared::cta.bulk_group "
    "[%d2+4112], [s+512], 16; @%p cp.async.bulk.commit_group; @%p cp.async.bulk.wait_group.read 0;\n"
    "ld.shared.u32 %r0, [%r2]; add.u32 %r0, %r0, 1; st.global.u32 [%d0], %r0; ret; }\n";

/* The same by pairs of blocks: each adds what it finds in the other's shared memory. */
static const char pairs[] = PTX_HEADER
    ".visible .entry k(.param .u64 a) .reqnctapercluster 2 { .reg .b32 %r<400>; .reg .b64 %d<2>; "
    ".shared .b32 s[128];\n"
    "ld.param.u64 %d0, [a]; mov.u32 %r0, %tid.x; mov.u32 %r1, s; mad.lo.u32 %r1, %r0, 4, %r1; mov.u32 %r2, "
    "1; "
    "st.shared.u32 [%r1], %r2; st.release.cta.shared.u32 [%r1], %r2; barrier.cluster.arrive; "
    "barrier.cluster.wait; mov.u32 %r2, %cluster_ctarank; xor.b32 %r2, %r2, 1; mapa.shared::cluster.u32 %r1, "
    "%r1, %r2; ld.shared::cluster.u32 %r3, [%r1]; mapa.shared::cluster.u32 %r4, s, 0; "
    "ld.shared::cluster.u32 %r4, [%r4]; barrier.cluster.arrive; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r0, %r1, "
    "128, %r0; mad.wide.u32 %d0, %r0, 4, %d0; ld.global.u32 %r0, [%d0]; add.u32 %r0, %r0, %r3; "
    "st.global.u32 [%d0], %r0; barrier.cluster.wait; ret; }\n";

/* The same by a function, defined behind the entry, with a variable of each kind. */
static const char calls[] =
    PTX_HEADER ".global .align 8 .u32 g[2] = {3, 1};\n.const .u64 at = generic(g)+4;\n.func (.param .b32 y) "
               "f(.param .b32 x);\n"
               ".visible .entry k(.param .u64 a) { .reg .b32 %r<4>; .reg .b64 %d<2>; ld.param.u64 %d0, [a]; "
               "mov.u32 %r0, %tid.x; "
               "mov.u32 %r1, %ctaid.x; mad.lo.u32 %r0, %r1, 128, %r0; mad.wide.u32 %d0, %r0, 4, %d0; "
               "ld.global.u32 %r0, [%d0];\n"
               "{ .param .b32 x, y; st.param.b32 [x], %r0; call (y), f, (x); ld.param.b32 %r0, [y]; } "
               "st.global.u32 [%d0], %r0; ret; }\n"
               ".func (.param .b32 y) f(.param .b32 x) { .local .b32 l; .reg .b32 %r<2>; .reg .b64 %d; T: "
               ".branchtargets A, A; "
               "ld.param.b32 %r0, [x]; st.local.u32 [l], %r0; ld.const.u64 %d, [at]; ld.global.u32 %r1, "
               "[%d]; brx.idx %r1, T;\n"
               "A: ld.local.u32 %r0, [l]; add.u32 %r0, %r0, %r1; st.param.b32 [y], %r0; ret; }\n";

static const char *text = plain;

static void check_result(ptxsim *sim, uint64_t a) {
    uint32_t r[WORDS];
    int wrong = 0;
    CHECK(ptxsim_read(sim, a, r, sizeof r) == PTXSIM_OK);
    for (int i = 0; i < WORDS; i++) wrong += r[i] != 0x01010102;
    CHECK(wrong == 0, "%d words are wrong", wrong);
    CHECK(ptxsim_line_sum(sim).global_requests == (text == calls ? 3 : 2) * WORDS / 32);
}

static ptxsim_status run_once(unsigned threads) {
    ptxsim *sim;
    uint64_t a;
    void *params[] = {&a};
    ptxsim_options options = {.size = sizeof options, .threads = threads};
    ptxsim_status status = ptxsim_create(&options, &sim);
    if (status != PTXSIM_OK) return status;
    status = ptxsim_alloc(sim, 4 * WORDS + MORE, &a);
    if (status == PTXSIM_OK) status = ptxsim_fill(sim, a, 1, 4 * WORDS + MORE);
    if (status == PTXSIM_OK)
        status = run_kernel(sim, text, (ptxsim_dim3){BLOCKS, 1, 1}, (ptxsim_dim3){THREADS, 1, 1}, 32, params);
    CHECK(status == PTXSIM_OK || ptxsim_fault_of(sim)->message[0] != 0);
    __atomic_store_n(&allowed, LONG_MAX, __ATOMIC_RELAXED);
    if (status == PTXSIM_OK) check_result(sim, a);
    ptxsim_destroy(sim);
    return status;
}

static void run_all(unsigned threads) {
    int n = 0, reported = 0;
    do {
        failed = 0;
        allowed = n++;
        ptxsim_status status = run_once(threads);
        allowed = LONG_MAX;
        CHECK(status == PTXSIM_OK || (failed && status == PTXSIM_NOMEM), "allocation %d: status %d", n,
              (int)status);
        CHECK(status != PTXSIM_OK || !failed || !stays || threads > 1, "allocation %d: no error", n);
        reported += status == PTXSIM_NOMEM;
    } while (failed && n < 1000);
    printf("%u threads, %s: %d allocations, %d reported\n", threads, stays ? "all from one on" : "one", n - 1,
           reported);
    CHECK(reported > 10 && n < 1000, "%d allocations", n);
}

int main(void) {
    const char *const texts[] = {plain, copies, pairs, calls};
    for (int i = 0; i < 4; i++)
        for (stays = 0, text = texts[i]; stays < 2; stays++)
            for (unsigned threads = 1; threads <= 4; threads *= 2) run_all(threads);
    return check_end();
}
