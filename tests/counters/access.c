#include "access.h"

#include <stdio.h>

/* -- Forms ---------------------------------------------------------------------------------------------- */

const struct access_form access_forms[] = {
    {"ld.shared.u8", 1, false, SHARED_LD, "@%p ld.shared.u8 %r0, [%s];"},
    {"ld.shared.u16", 2, false, SHARED_LD, "@%p ld.shared.u16 %r0, [%s];"},
    {"ld.shared.b32", 4, false, SHARED_LD, "@%p ld.shared.b32 %r0, [%s];"},
    {"ld.shared.b64", 8, false, SHARED_LD, "@%p ld.shared.b64 %d0, [%s];"},
    {"ld.shared.v4.b32", 16, false, SHARED_LD, "@%p ld.shared.v4.b32 {%r0, %r1, %r2, %r3}, [%s];"},
    {"st.shared.u8", 1, false, SHARED_ST, "@%p st.shared.u8 [%s], %t;"},
    {"st.shared.b32", 4, false, SHARED_ST, "@%p st.shared.b32 [%s], %t;"},
    {"st.shared.b64", 8, false, SHARED_ST, "@%p st.shared.v2.b32 [%s], {%t, %t};"},
    {"st.shared.v4.b32", 16, false, SHARED_ST, "@%p st.shared.v4.b32 [%s], {%t, %t, %t, %t};"},
    {"ldmatrix.x1", 16, true, SHARED_LD, "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%s];"},
    {"ldmatrix.x2", 16, true, SHARED_LD, "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r0, %r1}, [%s];"},
    {"ldmatrix.x4", 16, true, SHARED_LD,
     "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%s];"},
    {"ldmatrix.x4.trans", 16, true, SHARED_LD,
     "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r0, %r1, %r2, %r3}, [%s];"},
    {"stmatrix.x1", 16, true, SHARED_ST, "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%s], {%t};"},
    {"stmatrix.x2", 16, true, SHARED_ST, "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%s], {%t, %t};"},
    {"stmatrix.x4", 16, true, SHARED_ST, "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%s], {%t, %t, %t, %t};"},
    {"atom.shared.add.u32", 4, false, SHARED_ATOM, "@%p atom.shared.add.u32 %r0, [%s], %t;"},
    {"red.shared.add.u32", 4, false, SHARED_ATOM, "@%p red.shared.add.u32 [%s], %t;"},
    {"red.shared.add.u32.one", 4, false, SHARED_ATOM, "@%p red.shared.add.u32 [%s], 1;"},
    {"atom.shared.min.s32", 4, false, SHARED_ATOM, "@%p atom.shared.min.s32 %r0, [%s], %t;"},
    {"atom.shared.exch.b32", 4, false, SHARED_ATOM, "@%p atom.shared.exch.b32 %r0, [%s], %t;"},
    {"atom.shared.cas.b32", 4, false, SHARED_ATOM, "@%p atom.shared.cas.b32 %r0, [%s], 7, %t;"},
    {"atom.shared.exch.b64", 8, false, SHARED_ATOM, "@%p atom.shared.exch.b64 %d0, [%s], %d1;"},
    {"atom.shared.cas.b64", 8, false, SHARED_ATOM, "@%p atom.shared.cas.b64 %d0, [%s], %d1, %d1;"},
    {"red.shared.add.f32", 4, false, SHARED_ATOM, "@%p red.shared.add.f32 [%s], 0f3f800000;"},
    {"ld.b32", 4, false, SHARED_LD, "cvt.u64.u32 %w, %s; cvta.shared.u64 %w, %w;\n @%p ld.b32 %r0, [%w];"},
    {"ld.v4.b32", 16, false, SHARED_LD,
     "cvt.u64.u32 %w, %s; cvta.shared.u64 %w, %w;\n @%p ld.v4.b32 {%r0, %r1, %r2, %r3}, [%w];"},
    {"st.b64", 8, false, SHARED_ST, "cvt.u64.u32 %w, %s; cvta.shared.u64 %w, %w;\n @%p st.b64 [%w], %d1;"},
    {"cp.async.ca.4", 4, false, SHARED_COPY,
     "@%p cp.async.ca.shared.global [%s], [%g], 4; cp.async.wait_all;"},
    {"cp.async.ca.8", 8, false, SHARED_COPY,
     "@%p cp.async.ca.shared.global [%s], [%g], 8; cp.async.wait_all;"},
    {"cp.async.ca.16", 16, false, SHARED_COPY,
     "@%p cp.async.ca.shared.global [%s], [%g], 16; cp.async.wait_all;"},
    {"red.global.add.f32", 4, false, GLOBAL_RED, "@%p red.global.add.f32 [%g], 0f3f800000;"},
    {"ld.global.u8", 1, false, GLOBAL_LD, "@%p ld.global.u8 %r0, [%g];"},
    {"ld.global.b32", 4, false, GLOBAL_LD, "@%p ld.global.b32 %r0, [%g];"},
    {"ld.global.b64", 8, false, GLOBAL_LD, "@%p ld.global.b64 %d0, [%g];"},
    {"ld.global.v4.b32", 16, false, GLOBAL_LD, "@%p ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%g];"},
    {"ld.global.nc.v4.b32", 16, false, GLOBAL_LD,
     "@%p ld.global.nc.L1::no_allocate.v4.b32 {%r0, %r1, %r2, %r3}, [%g];"},
    {"st.global.b32", 4, false, GLOBAL_ST, "@%p st.global.b32 [%g], %t;"},
    {"st.global.v4.b32", 16, false, GLOBAL_ST, "@%p st.global.v4.b32 [%g], {%t, %t, %t, %t};"},
    {"red.global.add.u32", 4, false, GLOBAL_RED, "@%p red.global.add.u32 [%g], %t;"},
    {"atom.global.add.u32", 4, false, GLOBAL_ATOM, "@%p atom.global.add.u32 %r0, [%g], %t;"},
};
const size_t access_form_count = sizeof access_forms / sizeof *access_forms;

static const char head[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 data, .param .u64 offsets, .param .u64 out)\n{\n"
    " .reg .b32 %r<4>, %s, %t, %o; .reg .b64 %d<2>, %g, %w; .reg .pred %p;\n"
    " .shared .align 16 .b8 sm[8192];\n"
    " mov.u32 %t, %tid.x; mov.u32 %r0, 0; mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0;\n"
    " mov.u64 %d0, 0; cvt.u64.u32 %d1, %t;\n"
    " ld.param.u64 %g, [data]; ld.param.u64 %w, [offsets]; mad.wide.u32 %w, %t, 4, %w;\n"
    " ld.global.s32 %o, [%w]; setp.ge.s32 %p, %o, 0;\n";

static const char tail[] =
    " ld.param.u64 %w, [out]; mad.wide.u32 %w, %t, 4, %w; cvt.u32.u64 %o, %d0;\n"
    " xor.b32 %r0, %r0, %r1; xor.b32 %r2, %r2, %r3; xor.b32 %r0, %r0, %r2; xor.b32 %r0, %r0, %o;\n"
    " st.global.u32 [%w], %r0;\n ret;\n}\n";

void access_text(const struct access_form *form, char text[ACCESS_TEXT]) {
    int n = snprintf(text, ACCESS_TEXT,
                     "%s mov.u32 %%s, sm; shl.b32 %%r1, %%t, 4; add.u32 %%r1, %%r1, %%s;\n", head);
    for (int i = 0; (form->measure == SHARED_LD || form->measure == SHARED_ATOM) && i < ACCESS_BYTES;
         i += 512)
        n += snprintf(text + n, ACCESS_TEXT - (size_t)n,
                      " st.shared.v4.b32 [%%r1+%d], {%%t, %%r0, %%t, %%r0};\n", i);
    snprintf(text + n, ACCESS_TEXT - (size_t)n,
             " mov.u32 %%r1, 0; bar.warp.sync -1;\n add.u32 %%s, %%s, %%o; cvt.s64.s32 %%w, %%o; add.s64 "
             "%%g, %%g, "
             "%%w;\n %s\n%s",
             form->code, tail);
}

/* -- Patterns ------------------------------------------------------------------------------------------- */

static unsigned hash(unsigned x) { /* "lowbias32" of C. Wellons' search for integer hashes */
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

/* A number below N for LANE, of stream SEED. */
static int drawn(int seed, int lane, int n) {
    return (int)(hash((unsigned)(seed * 64 + lane + 1)) % (unsigned)n);
}

/* Lane's place in a permutation of 32. */
static int shuffled(int seed, int lane) {
    int place = 0, mine = drawn(seed, lane, 1 << 20) * 32 + lane;
    for (int l = 0; l < 32; l++) place += drawn(seed, l, 1 << 20) * 32 + l < mine;
    return place;
}

#define PATTERN(name, expression)                                                                            \
    static int name(int l, int b) {                                                                          \
        (void)l, (void)b;                                                                                    \
        return expression;                                                                                   \
    }
PATTERN(row, l *b)
PATTERN(reversed, (31 - l) * b)
PATTERN(next, (l + 1) * b)
PATTERN(stride2, l * 2 * b)
PATTERN(stride4, l * 4 * b)
PATTERN(column, l * 128)
PATTERN(padded, l *(128 + b))
PATTERN(one_word, 0)
PATTERN(two_words, l % 2 * 128)
PATTERN(pairs, l / 2 * b)
PATTERN(eights, l / 8 * b)
PATTERN(halves, l % 16 * b)
PATTERN(quarters, l % 8 * b)
PATTERN(fours, l % 4 * b)
PATTERN(transposed, (l % 4 * 8 + l / 4) * b)
PATTERN(swizzled, l * 128 + (l % 8) * 16)
PATTERN(fragment, l / 4 * 128 + l % 4 * b)
PATTERN(padded_fragment, l / 4 * 144 + l % 4 * b)
PATTERN(odd, l % 2 ? l * b : -1)
PATTERN(first8, l < 8 ? l * b : -1)
PATTERN(last16, l >= 16 ? l * b : -1)
PATTERN(one_lane, l == 5 ? 128 : -1)
PATTERN(two_lanes, l == 0 || l == 31 ? l * 128 : -1)

#define SEEDED(name, expression)                                                                             \
    static int name(int s, int l, int b) { return expression; }                                              \
    PATTERN(name##1, name(1, l, b))                                                                          \
    PATTERN(name##2, name(2, l, b))                                                                          \
    PATTERN(name##3, name(3, l, b))                                                                          \
    PATTERN(name##4, name(4, l, b))
SEEDED(far, drawn(s, l, ACCESS_BYTES / b) * b)
SEEDED(near, drawn(s + 4, l, 256 / b) * b)
SEEDED(middle, drawn(s + 8, l, 1024 / b) * b)
SEEDED(half, drawn(s + 12, l, 2) ? drawn(s + 16, l, ACCESS_BYTES / b) * b : -1)
SEEDED(few, drawn(s + 20, l, 4) == 0 ? drawn(s + 24, l, 512 / b) * b : -1)
SEEDED(permuted, shuffled(s + 28, l) * b)
SEEDED(clean, shuffled(s + 32, l) * b + drawn(s + 36, l, 8) * 32 * b)
SEEDED(copied, shuffled(s + 40, l < 16 ? l : drawn(s + 44, l, 16)) * b)
SEEDED(masked, drawn(s + 48, l, 4) ? shuffled(s + 52, l) * b : -1)

#define ROW(name)                                                                                            \
    { #name, name }
#define ROWS(name) ROW(name##1), ROW(name##2), ROW(name##3), ROW(name##4)
const struct access_pattern access_patterns[] = {
    ROW(row),      ROW(reversed), ROW(next),       ROW(stride2),  ROW(stride4),   ROW(column),
    ROW(padded),   ROW(one_word), ROW(two_words),  ROW(pairs),    ROW(eights),    ROW(halves),
    ROW(quarters), ROW(fours),    ROW(transposed), ROW(swizzled), ROW(fragment),  ROW(padded_fragment),
    ROW(odd),      ROW(first8),   ROW(last16),     ROW(one_lane), ROW(two_lanes), ROWS(far),
    ROWS(near),    ROWS(middle),  ROWS(half),      ROWS(few),     ROWS(permuted), ROWS(clean),
    ROWS(copied),  ROWS(masked),
};
const size_t access_pattern_count = sizeof access_patterns / sizeof *access_patterns;

static bool are_apart(const int32_t offsets[ACCESS_LANES]) {
    for (int l = 0; l < ACCESS_LANES; l++)
        for (int other = 0; other < l; other++)
            if (offsets[l] >= 0 && offsets[l] == offsets[other]) return false;
    return true;
}

void access_offsets(const struct access_form *form, const struct access_pattern *pattern,
                    int32_t offsets[ACCESS_LANES]) {
    for (int l = 0; l < ACCESS_LANES; l++) {
        offsets[l] = pattern->offset(l, (int)form->bytes);
        if (form->whole && offsets[l] < 0) offsets[l] = 0;
    }
    if (form->measure == SHARED_COPY && !are_apart(offsets)) /* no two copies may write to one place */
        for (int l = 0; l < ACCESS_LANES; l++) offsets[l] = -1;
}
