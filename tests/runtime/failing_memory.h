/* Allocations that fail: the linker's --wrap puts these functions between the library and libc. */
#ifndef TESTS_FAILING_MEMORY_H
#define TESTS_FAILING_MEMORY_H

#include <stdlib.h>
#include "mcrt_internal.h"

static long failing_after = -1; /* allocations to go; -1: none fails */

static bool allocation_fails(void) { return failing_after >= 0 && failing_after-- == 0; }

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size) { return allocation_fails() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) {
    return allocation_fails() ? NULL : __real_calloc(count, size);
}
void *__wrap_realloc(void *old, size_t size) { return allocation_fails() ? NULL : __real_realloc(old, size); }

/* ASan refuses huge sizes by aborting, unless told so. */
MC_API const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }

#endif
