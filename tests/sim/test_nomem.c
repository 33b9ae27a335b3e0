/* Lets the nth allocation fail, for every n, while a module is loaded and run: each failure must come back as
 * PTXSIM_NOMEM, and nothing may leak or crash. Linked with --wrap for malloc, calloc, realloc, aligned_alloc
 * and mmap. */
#include "harness.h"

#include <sys/mman.h>

static long allowed = -1; /* allocations until one fails; below 0: none fails */
static int failed;

static int may_allocate(void) {
    if (allowed < 0) return 1;
    if (allowed-- > 0) return 1;
    failed = 1;
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

static const char text[] =
    PTX_HEADER ".visible .entry k(.param .u64 a) { .reg .b32 %r<400>; .reg .b64 %d<2>; .reg .pred %p; "
               ".shared .b8 s[64];\n"
               "ld.param.u64 %d0, [a]; mov.u32 %r0, %tid.x; setp.ne.u32 %p, %r0, 5; @%p bra A; { .reg .b32 "
               "%x; mov.u32 %x, 7; st.shared.u32 [s], %x; }\n"
               "A: bar.sync 0; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r0, %r1, 64, %r0; mad.wide.u32 %d0, %r0, "
               "4, %d0; st.global.u32 [%d0], %r0; ret; }\n";

static ptxsim_status run_once(void) {
    ptxsim *sim;
    uint64_t a;
    void *params[] = {&a};
    ptxsim_options options = {.size = sizeof options,
                              .threads = 1}; /* the count of allocations is one thread's */
    ptxsim_status status = ptxsim_create(&options, &sim);
    if (status != PTXSIM_OK) return status;
    status = ptxsim_alloc(sim, 512, &a);
    if (status == PTXSIM_OK)
        status = run_kernel(sim, text, (ptxsim_dim3){2, 1, 1}, (ptxsim_dim3){64, 1, 1}, 32, params);
    CHECK(status == PTXSIM_OK || ptxsim_fault_of(sim)->message[0] != 0);
    ptxsim_destroy(sim);
    return status;
}

int main(void) {
    int n = 0;
    do {
        failed = 0;
        allowed = n++;
        ptxsim_status status = run_once();
        allowed = -1;
        CHECK(status == (failed ? PTXSIM_NOMEM : PTXSIM_OK), "allocation %d: status %d", n, (int)status);
    } while (failed && n < 1000);
    CHECK(n > 15 && n < 1000, "%d allocations", n);
    return check_end();
}
