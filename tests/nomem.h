/* Lets the nth allocation fail, or all from the nth on. For programs that link static libraries and are
   linked with --wrap for what NOMEM_WRAPPED in tests/CMakeLists.txt lists; those inside of the C library
   itself (fopen, opendir) do not count. */
#ifndef TESTS_NOMEM_H
#define TESTS_NOMEM_H

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long nomem_allowed = LONG_MAX; /* allocations until one fails */
static int nomem_stays;               /* the next ones fail, too */
static int nomem_failed;              /* one did */

static inline int nomem_allocates(void) {
    long left = __atomic_fetch_sub(&nomem_allowed, 1, __ATOMIC_RELAXED);
    if (nomem_stays ? left > 0 : left != 0) return 1;
    __atomic_store_n(&nomem_failed, 1, __ATOMIC_RELAXED);
    return 0;
}

/* From here on N allocations succeed. */
static inline void nomem_begin(long n, int stays) {
    nomem_failed = 0;
    nomem_stays = stays;
    __atomic_store_n(&nomem_allowed, n, __ATOMIC_RELAXED);
}

/* All succeed again; whether one failed. */
static inline int nomem_end(void) {
    __atomic_store_n(&nomem_allowed, LONG_MAX, __ATOMIC_RELAXED);
    return nomem_failed;
}

#define NOMEM_WRAP(type, name, failed, parameters, arguments)                                                \
    type __real_##name parameters;                                                                           \
    type __wrap_##name parameters;                                                                           \
    type __wrap_##name parameters { return nomem_allocates() ? __real_##name arguments : (failed); }

NOMEM_WRAP(void *, malloc, NULL, (size_t bytes), (bytes))
NOMEM_WRAP(void *, calloc, NULL, (size_t count, size_t bytes), (count, bytes))
NOMEM_WRAP(void *, realloc, NULL, (void *old, size_t bytes), (old, bytes))
NOMEM_WRAP(void *, aligned_alloc, NULL, (size_t alignment, size_t bytes), (alignment, bytes))
NOMEM_WRAP(char *, strdup, NULL, (const char *text), (text))
NOMEM_WRAP(char *, strndup, NULL, (const char *text, size_t most), (text, most))
NOMEM_WRAP(int, vasprintf, -1, (char **text, const char *format, va_list values), (text, format, values))

int __wrap_asprintf(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));
int __wrap_asprintf(char **text, const char *format, ...) {
    va_list values;
    va_start(values, format);
    int length = __wrap_vasprintf(text, format, values);
    va_end(values);
    return length;
}

#endif
