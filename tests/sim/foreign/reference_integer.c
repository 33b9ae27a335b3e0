/* References of kernels on integers. */
#include "half.h"
#include "references.h"

#include <stdbool.h>
#include <stdlib.h>

__extension__ typedef unsigned __int128 uint128_t;

void reference_reduce(const void *a, const void *b, void *out, unsigned n) {
    const uint32_t *x = a, *y = b;
    uint32_t *to = out;
    for (unsigned i = 0; i < n; i++) to[i / 256] += x[i] + y[i];
}

void reference_scan(const void *a, const void *b, void *out, unsigned n) {
    const uint32_t *x = a, *y = b;
    uint32_t *to = out, sum = 0;
    for (unsigned i = 0; i < n; i++) {
        if (i % 128 == 0) sum = 0;
        to[i] = sum += x[i] ^ y[i];
    }
}

void reference_histogram(const void *a, const void *b, void *out, unsigned n) {
    const unsigned char *x = a;
    uint32_t *to = out;
    (void)b;
    for (unsigned i = 0; i < 4 * n; i++) to[x[i]]++;
}

void reference_transpose(const void *a, const void *b, void *out, unsigned n) {
    const uint32_t *x = a;
    uint32_t *to = out;
    (void)b;
    for (unsigned i = 0; i < n; i++) to[i % 64 * (n / 64) + i / 64] = x[i];
}

/* -- Warps -------------------------------------------------------------------------------------------- */

static unsigned alike(const uint32_t *x, uint32_t value) {
    unsigned count = 0;
    for (int l = 0; l < 32; l++) count += (x[l] & 3) == (value & 3);
    return count;
}

struct votes {
    uint32_t ballot, sum, most, all_bits;
    int32_t least;
    unsigned zero, differ;
};

static struct votes vote(const uint32_t *x, const uint32_t *y) {
    struct votes v = {.least = INT32_MAX, .differ = 1};
    for (int l = 0; l < 32; l++) {
        v.ballot |= (uint32_t)(x[l] > y[l]) << l;
        v.sum += x[l] & 255;
        v.all_bits ^= x[l];
        if (y[l] > v.most) v.most = y[l];
        if ((int32_t)y[l] < v.least) v.least = (int32_t)y[l];
        v.zero |= x[l] == 0;
        v.differ &= x[l] != y[l];
    }
    return v;
}

void reference_shuffle(const void *a, const void *b, void *out, unsigned n) {
    uint32_t *to = out;
    for (unsigned i = 0; i < n; i++) {
        const uint32_t *x = (const uint32_t *)a + i / 32 * 32, *y = (const uint32_t *)b + i / 32 * 32;
        unsigned l = i % 32;
        struct votes v = vote(x, y);
        uint32_t r = x[l ^ 5] + 3 * y[l % 8 + 3 < 8 ? l + 3 : l] + 7 * x[y[l] & 31];
        r ^= (uint32_t)((x[l ^ 16] & 0xffff) / 2);
        r += v.ballot * 3 + alike(x, x[l]) + 15 + 1 + 2 * v.zero + 4 * v.differ + v.sum + v.most + v.all_bits;
        to[i] = r + (i % 96 % 3 == 0) + (uint32_t)v.least;
    }
}

/* -- Functions and memory ----------------------------------------------------------------------------- */

struct pair {
    uint32_t first, second;
    unsigned char tag[5];
};

static uint32_t mix(uint32_t x, uint32_t y) { return x & 1 ? x * 3 + y : x ^ y >> 1; }

static struct pair make(uint32_t x, uint32_t y) {
    return (struct pair){mix(x, y), mix(y, x), {1, 2, 3, 4, (unsigned char)x}};
}

static void step(struct pair *p, uint32_t by) {
    for (uint32_t i = 0; i < by % 5; i++) {
        p->first += mix(p->second, i);
        p->tag[i] = (unsigned char)(p->tag[i] + by);
    }
}

static uint32_t fold(struct pair p) {
    uint32_t sum = p.first + 2 * p.second;
    for (int i = 0; i < 5; i++) sum = sum * 31 + p.tag[i];
    return sum;
}

void reference_call(const void *a, const void *b, void *out, unsigned n) {
    const uint32_t *x = a, *y = b;
    uint32_t *to = out, *folded = calloc(n, sizeof *folded);
    if (!folded) abort();
    for (unsigned i = 0; i < n; i++) {
        struct pair p = make(x[i], y[i]);
        if (x[i] > y[i]) step(&p, y[i]);
        else p.second = mix(p.second, 7);
        folded[i] = fold(p);
    }
    for (unsigned i = 0; i < n; i++) {
        uint32_t r = folded[i / 64 * 64 + 63 - i % 64];
        to[i] = i % 3 ? r : r + fold(make(r, i));
    }
    free(folded);
}

static int compare_words(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

void reference_local(const void *a, const void *b, void *out, unsigned n) {
    const uint32_t *x = a, *y = b;
    uint32_t *to = out;
    for (unsigned i = 0; i < n; i++) {
        uint32_t stack[24], counts[16] = {0};
        for (unsigned k = 0; k < 24; k++) stack[k] = x[(i + k) % n], counts[stack[k] & 15]++;
        qsort(stack, 24, sizeof *stack, compare_words);
        to[i] = stack[y[i] % 24] + counts[y[i] >> 8 & 15];
    }
}

void reference_constant(const void *a, const void *b, void *out, unsigned n) {
    static const uint32_t shift[] = {1, 4, 7}, add[] = {2, 5, 8}, times[] = {3, 600, 9},
                          weights[] = {8, 4, 2, 64};
    const uint32_t *x = a, *y = b;
    uint32_t *to = out;
    for (unsigned i = 0; i < n; i++) {
        uint32_t rule = x[i] % 3, low = x[i] & 7, at = (y[i] & 1) * 4 + (y[i] >> 4 & 3);
        to[i] = (low * low << shift[rule]) + add[rule] * times[rule] + at * at + weights[y[i] >> 8 & 3] +
                (2 * (x[i] >> 3 & 3) + 1);
    }
}

void reference_global(const void *a, const void *b, void *out, unsigned n) {
    const uint32_t *y = b;
    uint32_t *to = out;
    (void)a;
    for (unsigned i = 0; i < n; i++) to[i] = y[i] + 22 * 2 + 44;
}

void reference_template(const void *a, const void *b, void *out, unsigned n) {
    const uint32_t *x = a, *y = b;
    uint32_t *to = out;
    for (unsigned i = 0; i + 8 <= n; i++) {
        uint32_t sum = 0, most = 0;
        for (unsigned k = 0; k < 8; k++) sum += x[i + k];
        for (unsigned k = 0; k < 4; k++) most = y[i + k] > most ? y[i + k] : most;
        uint32_t r = sum + most;
        int32_t narrow = (int16_t)(r * 5 + 1);
        uint64_t wide = (uint64_t)r * y[i] + 1;
        to[i] = r * 3 + 1 + (uint32_t)wide;
        to[i] += (uint32_t)narrow;
    }
}

/* One step of the program; false where it ends. */
static bool run(uint32_t *x, uint32_t program, uint32_t at) {
    switch (program & 15) {
    case 0: *x += 12345; break;
    case 1: *x ^= *x << 13; break;
    case 2: {
        uint32_t reversed = 0;
        for (int i = 0; i < 32; i++) reversed |= (*x >> i & 1) << (31 - i);
        *x = reversed;
        break;
    }
    case 3: *x = *x * 7 - at; break;
    case 4: *x -= at; break;
    case 5: *x = ~*x; break;
    case 6: *x = *x >> 3 | *x << 29; break;
    case 7: *x = (uint32_t)__builtin_popcount(*x); break;
    case 8: *x /= 3; break;
    case 9: return false;
    case 10: *x += program; break;
    case 11: *x &= 0xffff00ff; break;
    default: (*x)++; break;
    }
    return true;
}

void reference_switch(const void *a, const void *b, void *out, unsigned n) {
    const uint32_t *x = a, *y = b;
    uint32_t *to = out;
    for (unsigned i = 0; i < n; i++) {
        to[i] = x[i];
        for (uint32_t at = 0; at < 6 && run(&to[i], y[i] >> 4 * at, at);) at++;
    }
}

/* -- Arithmetic --------------------------------------------------------------------------------------- */

static uint64_t high_signed(int64_t x, int64_t y) {
    uint64_t high = (uint64_t)((uint128_t)(uint64_t)x * (uint64_t)y >> 64);
    return high - (x < 0 ? (uint64_t)y : 0) - (y < 0 ? (uint64_t)x : 0);
}

void reference_divide(const void *a, const void *b, void *out, unsigned n) {
    const uint32_t *p = a, *q = b;
    uint64_t *to = out;
    for (unsigned i = 0; i < n; i++) {
        uint64_t x = (uint64_t)p[i] << 29 ^ q[i], y = (uint64_t)q[i] << (i & 31) | 1;
        int64_t s = (int64_t)(x * UINT64_C(0x9e3779b97f4a7c15)), t = (int64_t)(y >> 3) - 77;
        uint128_t wide = (uint128_t)x * y + ((uint128_t)y << 64) + x;
        if (t == 0) t = 1;
        uint64_t r = x / y + x % y + (uint64_t)(s / t) + (uint64_t)(s % t);
        r ^= (uint64_t)(wide >> 64) + (uint64_t)wide + (uint64_t)(wide / y);
        to[i] = r + (uint64_t)((uint128_t)x * y >> 64) + high_signed(s, t) + p[i] / (q[i] | 1) + p[i] % 7;
    }
}

static uint32_t permute(uint32_t x, uint32_t y, uint32_t selector) {
    uint64_t bytes = (uint64_t)y << 32 | x;
    uint32_t r = 0;
    for (int i = 0; i < 4; i++) r |= (uint32_t)(bytes >> 8 * (selector >> 4 * i & 7) & 255) << 8 * i;
    return r;
}

static uint32_t dots(uint32_t x, uint32_t y) {
    uint32_t r = 5 + 9 + 1 + 3;
    for (int i = 0; i < 4; i++) {
        r += (uint32_t)((int8_t)(x >> 8 * i) * (int8_t)(y >> 8 * i));
        r += (x >> 8 * i & 255) * (y >> 8 * i & 255);
    }
    for (int i = 0; i < 2; i++) {
        r += (uint32_t)((int16_t)(x >> 16 * i) * (int8_t)(y >> 8 * i));
        r += (x >> 16 * i & 0xffff) * (y >> (8 * i + 16) & 255);
    }
    return r;
}

static uint32_t pairs(uint32_t x, uint32_t y) {
    uint32_t sums = 0, most = 0;
    for (unsigned i = 0; i < 32; i += 8) sums |= (((x >> i) + (y >> i)) & 255) << i;
    for (int i = 0; i < 32; i += 16) {
        uint32_t p = x >> i & 0xffff, q = y >> i & 0xffff;
        most |= (p > q ? p : q) << i;
    }
    return sums ^ most;
}

static int64_t low24(uint32_t x) { return (int32_t)(x << 8) >> 8; }

static uint32_t products(uint32_t x, uint32_t y) {
    uint32_t r = (uint32_t)(low24(x) * low24(y)) + (x & 0xffffff) * (y & 0xffffff);
    r += (uint32_t)((uint64_t)x * y >> 32) + (uint32_t)((uint64_t)((int64_t)(int32_t)x * (int32_t)y) >> 32);
    r += (uint32_t)llabs((int64_t)(int32_t)x - (int32_t)y) + 4 + (x > y ? x - y : y - x) + 6;
    return r + ((x >> 1) + (y >> 1)) / 2 +
           (uint32_t)(((int64_t)((int32_t)x >> 1) + ((int32_t)y >> 1) + 1) >> 1);
}

void reference_bits(const void *a, const void *b, void *out, unsigned n) {
    const uint32_t *p = a, *q = b;
    uint32_t *to = out;
    for (unsigned i = 0; i < n; i++) {
        uint32_t x = p[i], y = q[i], reversed = 0, rest = 3 * i < 32 ? 3 * i : 32;
        uint64_t joined = (uint64_t)y << 32 | x, product = (uint64_t)x * y, both = (uint64_t)x << 32 | y;
        uint32_t r =
            (uint32_t)(__builtin_popcount(x) + (y ? __builtin_clz(y) : 32) * 64 + __builtin_ffs((int)x) * 3);
        for (int k = 0; k < 32; k++) reversed |= (x >> k & 1) << (31 - k);
        r += (uint32_t)__builtin_popcountll(both);
        r += reversed ^ permute(x, y, y & 0x7777) ^ (uint32_t)(product ? __builtin_clzll(product) : 64);
        r += dots(x, y) + (uint32_t)(joined << (i & 31) >> 32) + (uint32_t)(joined >> rest);
        r += products(x, y);
        r += pairs(x, y);
        uint32_t most = (int32_t)x > (int32_t)y ? x : y, magnitude = (int32_t)x < 0 ? 0 - x : x;
        to[i] = r ^ most ^ (x < y ? x : y) ^ magnitude;
    }
}

/* -- Copies and barriers ------------------------------------------------------------------------------ */

void reference_pipeline(const void *a, const void *b, void *out, unsigned n) {
    const uint32_t *x = a, *y = b;
    uint32_t *to = out;
    for (unsigned t = 0; t < 128; t++) {
        to[t] = y[t];
        for (unsigned i = t; i < n; i += 128) to[t] = to[t] * 5 + x[i];
    }
}

void reference_async(const void *a, const void *b, void *out, unsigned n) {
    const uint32_t *x = a, *y = b;
    uint32_t *to = out;
    for (unsigned i = 0; i < n; i++) to[i] = x[i / 256 * 256 + 255 - i % 256] * 3 + y[i ^ 7];
}

void reference_barrier(const void *a, const void *b, void *out, unsigned n) {
    const uint32_t *x = a, *y = b;
    uint32_t *to = out;
    for (unsigned t = 0; t < 128; t++) {
        to[t] = t < 64 ? y[t] : 0;
        for (unsigned i = 127 - t; t >= 64 && i < n; i += 64) to[t] = to[t] * 3 + x[i];
    }
}

void reference_cluster(const void *a, const void *b, void *out, unsigned n) {
    const uint32_t *x = a, *y = b;
    uint32_t *to = out;
    for (unsigned i = 0; i < n; i++) {
        unsigned rank = i / 64 % 4, next = (rank + 1) % 4, first = i / 256 * 256;
        uint32_t other = x[first + next * 64 + 63 - i % 64] + next;
        to[i] = (other + 256 + i % 256) * 3 + y[i];
    }
}

/* -- Atomics ------------------------------------------------------------------------------------------ */

/* What the words of the result are sums of. */
struct sums {
    uint64_t words;
    double bytes;
    float nibbles;
    unsigned odd[2];
};

static void put_sums(uint32_t *to, const struct sums *s, unsigned n) {
    memcpy(&to[4], &s->words, sizeof s->words);
    memcpy(&to[6], &s->nibbles, sizeof s->nibbles);
    memcpy(&to[18], &s->bytes, sizeof s->bytes);
    to[16] = (uint32_t)half_of(s->odd[1]) << 16 | half_of(s->odd[0]);
    to[17] = n % 10;
}

void reference_atomics(const void *a, const void *b, void *out, unsigned n) {
    const uint32_t *x = a, *y = b;
    uint32_t *to = out;
    struct sums s = {.words = 0};
    for (unsigned i = 0; i < n; i++) {
        uint32_t *at = &to[8 + (y[i] & 7)];
        if (x[i] > to[0]) to[0] = x[i];
        if ((int32_t)y[i] < (int32_t)to[1]) to[1] = y[i];
        to[2] ^= x[i];
        *at += *at * 2 + 1 > 1000 ? 1 : 2;
        s.words += x[i];
        s.nibbles += (float)(x[i] & 15);
        s.bytes += (double)(y[i] & 255);
        s.odd[0] += x[i] & 1;
        s.odd[1] += y[i] & 1;
    }
    put_sums(to, &s, n);
}

void reference_bulk(const void *a, const void *b, void *out, unsigned n) {
    const uint32_t *x = a, *y = b;
    uint32_t *to = out;
    for (unsigned i = 0; i < n; i++) to[i] = x[i] * 3 + y[i];
}
