/* Eight columns at a time, by vectors of the compiler's, which it makes of whatever the processor has. (As
 * arguments they would have an interface that depends on the processor: so pointers.) */
#ifndef SIM_WIDE_H
#define SIM_WIDE_H

#include "processor.h"
#include "product.h"

typedef int32_t wide_int __attribute__((vector_size(4 * SIM_WIDE)));
typedef float wide_float __attribute__((vector_size(4 * SIM_WIDE)));

#define SIM_INLINE static inline __attribute__((always_inline))

/* Lane by lane the larger of the two. */
#define SIM_LARGER(a, b) (((a) & ((a) > (b))) | ((b) & ~((a) > (b))))

/* Some lane is not 0. */
SIM_INLINE bool sim_any(const wide_int *mask) {
    uint64_t words[SIM_WIDE / 2];
    memcpy(words, mask, sizeof words);
    return (words[0] | words[1] | words[2] | words[3]) != 0;
}

/* FUNCTION_body is compiled twice on x86, for processors with AVX2 and for all, and the right one is
   called. */
#if defined __x86_64__
#define SIM_BY_PROCESSOR(function, job)                                                                      \
    __attribute__((target("avx2"))) static void function##_avx2(const struct job *j) { function##_body(j); } \
    static void function##_plain(const struct job *j) { function##_body(j); }                                \
    static void function(const struct job *j) {                                                              \
        if (sim_processor_has_avx2()) function##_avx2(j);                                                    \
        else function##_plain(j);                                                                            \
    }
#else
#define SIM_BY_PROCESSOR(function, job)                                                                      \
    static void function(const struct job *j) { function##_body(j); }
#endif

#endif
