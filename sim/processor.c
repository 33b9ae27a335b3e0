/* What this processor has. The compiler's own question, __builtin_cpu_supports, reads a variable that some
 * linkers put into no shared library. */
#include "processor.h"

#include <stdint.h>

#if defined __x86_64__

#include <cpuid.h>

/* The system saves the 256 bits of a vector register with a thread's others (Intel's manual, volume 1,
   "Detection of AVX2"). */
static bool are_vectors_saved(void) {
    enum { SSE_AND_AVX = 6 };
    uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & SSE_AND_AVX) == SSE_AND_AVX;
}

static bool ask(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) || !(c & bit_AVX) || !are_vectors_saved())
        return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_AVX2);
}

#else

static bool ask(void) { return false; }

#endif

bool sim_processor_has_avx2(void) {
    /* Asking takes a microsecond and more in a virtual machine. Threads that ask at once find the same. */
    static int answer; /* 0: nobody asked */
    int known = __atomic_load_n(&answer, __ATOMIC_RELAXED);
    if (known == 0) __atomic_store_n(&answer, known = ask() ? 1 : -1, __ATOMIC_RELAXED);
    return known > 0;
}
