#include "arithmetic/float_loops.h"
#include <math.h>

/* Each loop is written once, and compiled twice. Where fmaf is an instruction it is inlined, and loops become
   vectors of it; elsewhere it is a function of the C library, which gives the same. */
#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <stdatomic.h>
#define FUSED __attribute__((target("avx2,fma")))

/* Whether the processor has both, and the system saves their registers. __builtin_cpu_supports would want a
   runtime library that not every compiler comes with. */
static bool find_fused(void) {
    enum { SAVED = 6 /* of XCR0: the registers of SSE and AVX */, FMA_AND_SAVE = bit_FMA | bit_OSXSAVE };
    unsigned a, b, c, d, saved, upper;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & FMA_AND_SAVE) != FMA_AND_SAVE) return false;
    __asm__("xgetbv" : "=a"(saved), "=d"(upper) : "c"(0));
    return (saved & SAVED) == SAVED && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_AVX2) != 0;
}

/* Asked once: on a virtual machine an answer may take microseconds. */
static bool has_fused(void) {
    enum { UNKNOWN, NO, YES };
    static atomic_int known = UNKNOWN;
    int has = atomic_load_explicit(&known, memory_order_relaxed);
    if (has == UNKNOWN) atomic_store_explicit(&known, has = find_fused() ? YES : NO, memory_order_relaxed);
    return has == YES;
}
#else
#define FUSED
static bool has_fused(void) { return false; }
#endif
#define BOTH static inline __attribute__((always_inline))

/* -- A row of sums ------------------------------------------------------------------------------------ */

BOTH void add_products(float *restrict sum, const float *restrict b, float a, int64_t n) {
    for (int64_t j = 0; j < n; j++) sum[j] = fmaf(a, b[j], sum[j]);
}

FUSED static void add_products_fused(float *sum, const float *b, float a, int64_t n) {
    add_products(sum, b, a, n);
}

void float_add_products(float *sum, const float *b, float a, int64_t n) {
    if (has_fused()) add_products_fused(sum, b, a, n);
    else add_products(sum, b, a, n);
}

/* -- A row block of sampled sums ---------------------------------------------------------------------- */

enum { MOST_ROWS = 16, AT_ONCE = 4 };

/* ROWS rows, which stand side by side for each k, times COLUMNS columns. A sum is a chain of K steps, each of
   which waits for the one before: several columns at once fill the time. */
BOTH void add_columns(const float *restrict panel, const float *const *b, int64_t k, int rows, int columns,
                      float *restrict sums) {
    float sum[AT_ONCE][MOST_ROWS] = {{0}};
    for (int64_t i = 0; i < k; i++)
        for (int c = 0; c < columns; c++)
            for (int r = 0; r < rows; r++) sum[c][r] = fmaf(panel[i * rows + r], b[c][i], sum[c][r]);
    for (int c = 0; c < columns; c++)
        for (int r = 0; r < rows; r++) sums[c * rows + r] = sum[c][r];
}

BOTH void sample_rows(const sampled_product *p, int rows) {
    const float *columns = p->columns, *b[AT_ONCE];
    float *sums = p->sums;
    int64_t v = 0;
    for (; v + AT_ONCE <= p->count; v += AT_ONCE) {
        for (int c = 0; c < AT_ONCE; c++) b[c] = columns + p->places[v + c] * p->k;
        add_columns(p->panel, b, p->k, rows, AT_ONCE, sums + v * rows);
    }
    for (; v < p->count; v++) {
        b[0] = columns + p->places[v] * p->k;
        add_columns(p->panel, b, p->k, rows, 1, sums + v * rows);
    }
}

/* With the number of rows as a constant the sums stay in registers. */
BOTH void sample_all(const sampled_product *p) {
    switch (p->vec) {
    case 1: sample_rows(p, 1); break;
    case 2: sample_rows(p, 2); break;
    case 4: sample_rows(p, 4); break;
    case 8: sample_rows(p, 8); break;
    default: sample_rows(p, MOST_ROWS);
    }
}

FUSED static void sample_fused(const sampled_product *p) { sample_all(p); }

bool float_sample(const sampled_product *p) {
    if (p->vec != 1 && p->vec != 2 && p->vec != 4 && p->vec != 8 && p->vec != MOST_ROWS) return false;
    if (has_fused()) sample_fused(p);
    else sample_all(p);
    return true;
}
