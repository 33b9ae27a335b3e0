#include "form.h"

#include "values.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW(code, types, more, result, inputs, compare, bound)                                               \
    {code, types, more, result, inputs, FORM_##compare, bound},
static const struct form_row rows[] = {
#include "integer.def"
#include "float.def"
#include "convert.def"
#include "memory.def"
#include "async.def"
#include "warp.def"
#include "matrix.def"
#include "sparse.def"
#include "wgmma.def"
#include "foreign.def"
};
#undef ROW

static int count_words(const char *list) {
    int count = 1;
    for (; *list; list++) count += *list == ' ';
    return count;
}

static void word_at(const char *list, int index, char word[32]) {
    for (; index > 0; index--) list += strcspn(list, " ") + 1;
    snprintf(word, 32, "%.*s", (int)strcspn(list, " "), list);
}

/* The register letter of a type. */
static char letter_of(const char *type) {
    if (strcmp(type, "f32") == 0) return 'f';
    if (strcmp(type, "f64") == 0) return 'g';
    if (strstr(type, "64")) return 'd';
    return strstr(type, "32") || strstr(type, "16x2") ? 'r' : 'h';
}

static void append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void append(char *text, size_t size, const char *format, ...) {
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

/* How many accumulators a thread has of an N columns wide wgmma, "nN". */
static int accumulators_of(const struct form *form) {
    const int columns = form->more[0] == 'n' ? atoi(form->more + 1) : 8;
    return columns / (form->row->result == 'W' ? 2 : 4);
}

static void append_accumulators(struct form *form) {
    for (int i = 0; i < accumulators_of(form); i++)
        append(form->code, sizeof form->code, "%s%%d%d", i ? ", " : "{", i);
    append(form->code, sizeof form->code, "}");
}

static void expand(struct form *form) {
    size_t size = sizeof form->code;
    for (const char *s = form->row->code; *s; s++) {
        if (*s == '$') append(form->code, size, "%s", form->type);
        else if (*s == '#') append(form->code, size, "%s", form->more);
        else if (*s == '~') append_accumulators(form);
        else if (*s == '@' && s[1] >= '0' && s[1] <= '9')
            append(form->code, size, "%%%c", letter_of(form->type));
        else append(form->code, size, "%c", *s);
    }
}

/* FNV-1a */
static uint32_t hash(uint32_t seed, const char *s) {
    for (; *s; s++) seed = (seed ^ (uint8_t)*s) * 16777619u;
    return seed;
}

static bool is_of_warpgroup(const struct form *form) {
    return form->row->result == 'W' || form->row->result == 'w';
}

bool form_is_matrix(const struct form *form) {
    return is_of_warpgroup(form) || (form->row->result >= '1' && form->row->result <= '4');
}

int form_warps(const struct form *form) { return is_of_warpgroup(form) ? 4 : 1; }

static size_t lane_bytes(char result) {
    switch (result) {
    case 'h': return 2;
    case 'd':
    case 'g':
    case 'w':
    case '2': return 8;
    case 'W':
    case '4': return 16;
    default: return 4;
    }
}

size_t form_warp_bytes(const struct form *form) {
    return form->row->result == 'p' ? 4 : 32 * lane_bytes(form->row->result);
}

/* As many as a record of moderate size has room for. */
static int blocks_of(const struct form *form) {
    if (form->row->compare == FORM_DIGEST) return form_warps(form);
    if (form_is_matrix(form) && form->row->inputs[0] != 'i') return (VALUE_SHAPES + 1) * form_warps(form);
    if (is_of_warpgroup(form)) return form_warps(form);
    bool is_arithmetic =
        form->row->result == 'f' && form->row->inputs[0] == 'f' && form->row->compare == FORM_EXACT;
    size_t room = is_arithmetic ? 256 : 128, blocks = room / form_warp_bytes(form);
    return blocks < 1 ? 1 : blocks > 4 ? 4 : (int)blocks;
}

bool form_get(int index, struct form *form) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int types = count_words(rows[i].types), all = types * count_words(rows[i].more);
        if (index >= all) {
            index -= all;
            continue;
        }
        memset(form, 0, sizeof *form);
        form->row = &rows[i];
        word_at(rows[i].types, index % types, form->type);
        word_at(rows[i].more, index / types, form->more);
        expand(form);
        form->hash = hash(hash(2166136261u, form->code), rows[i].inputs);
        form->blocks = blocks_of(form);
        return true;
    }
    return false;
}

static const char *store_of(char result) {
    switch (result) {
    case 'p': return "selp.u32 %r0, 1, 0, %p0; st.global.u32 [%o], %r0;";
    case 'h': return "st.global.b16 [%o], %h0;";
    case 'd': return "st.global.b64 [%o], %d0;";
    case 'f': return "st.global.f32 [%o], %f0;";
    case 'g': return "st.global.f64 [%o], %g0;";
    case '1': return "st.global.b32 [%o], %e0;";
    case '2': return "st.global.v2.b32 [%o], {%e0, %e1};";
    case 'w': return "st.global.v2.b32 [%o], {%e0, %e1};";
    case 'W':
    case '4': return "st.global.v4.b32 [%o], {%e0, %e1, %e2, %e3};";
    default: return "st.global.b32 [%o], %r0;";
    }
}

static const char scalar_registers[] =
    " .reg .b16 %h<8>; .reg .b32 %r<8>, %l, %s; .reg .b64 %d<8>, %i, %m, %o;\n"
    " .reg .f32 %f<8>; .reg .f64 %g<8>; .reg .pred %p<8>; .shared .align 16 .b8 buf[1024];\n";

static const char matrix_registers[] =
    " .reg .b32 %a<4>, %b<2>, %c<4>, %e<4>, %t<4>, %r<1>, %l, %s; .reg .b64 %i, %m, %o; .reg .pred %p<2>;\n"
    " .shared .align 16 .b8 buf[2048];\n";

static const char group_registers[] = " .reg .b32 %a<4>, %b<2>, %c<4>, %e<4>, %t<8>, %r<1>, %l, %s; .reg "
                                      ".b64 %i, %m, %o, %x, %y; .reg .pred %p<3>;\n"
                                      " .shared .align 1024 .b8 buf[40960];\n";

/* The threads' words in shared memory; the first copy of each is as it is. */
static const char group_fill[] =
    " mov.u32 %%t0, 0;\nFILL:\n"
    " and.b32 %%t1, %%t0, 1; setp.eq.u32 %%p0, %%t1, 0; and.b32 %%t1, %%t0, 2; setp.eq.u32 %%p1, %%t1, 0;\n"
    " selp.b32 %%t2, %%a0, %%a1, %%p0; selp.b32 %%t3, %%a2, %%a3, %%p0; selp.b32 %%t2, %%t2, %%t3, %%p1;\n"
    " selp.b32 %%t3, %%b0, %%b1, %%p0; setp.lt.u32 %%p2, %%t0, 16; selp.b32 %%t2, %%t2, %%t3, %%p2;\n"
    " mul.lo.u32 %%t1, %%t0, 0x9e3779b1; and.b32 %%t1, %%t1, 0x%08x; xor.b32 %%t2, %%t2, %%t1;\n"
    " mad.lo.u32 %%t1, %%t0, 128, %%l; mad.lo.u32 %%t1, %%t1, 4, %%s; st.shared.b32 [%%t1], %%t2;\n"
    " add.u32 %%t0, %%t0, 1; setp.lt.u32 %%p0, %%t0, 80; @%%p0 bra FILL;\n"
    " fence.proxy.async; bar.sync 0; setp.eq.u32 %%p0, 0, 0; setp.eq.u32 %%p1, 0, 1;\n";

static const char addresses[] =
    " mov.u32 %r0, %ctaid.x; mov.u32 %l, %tid.x; mov.u32 %s, %ntid.x; mad.lo.u32 %r0, %r0, %s, %l; mov.u32 "
    "%s, buf;\n"
    " ld.param.u64 %i, [in]; ld.param.u64 %m, [scratch]; ld.param.u64 %o, [out];\n"
    " mad.wide.u32 %i, %r0, 40, %i; mad.wide.u32 %m, %r0, 64, %m; mad.wide.u32 %o, %r0, 16, %o;\n";

static const char scalar_operand[] =
    " ld.global.b64 %%d%d, [%%i+%d]; cvt.u32.u64 %%r%d, %%d%d; cvt.u16.u64 %%h%d, %%d%d; mov.b32 %%f%d, "
    "%%r%d;\n"
    " mov.b64 %%g%d, %%d%d; and.b32 %%r0, %%r%d, 1; setp.ne.u32 %%p%d, %%r0, 0;\n";

static const char matrix_operands[] =
    " ld.global.v2.b32 {%a0, %a1}, [%i]; ld.global.v2.b32 {%a2, %a3}, [%i+8];\n"
    " ld.global.v2.b32 {%b0, %b1}, [%i+16];\n"
    " ld.global.v2.b32 {%c0, %c1}, [%i+24]; ld.global.v2.b32 {%c2, %c3}, [%i+32];\n";

/* The bits of a word that are fractions of the kind. */
static unsigned fractions_of(char kind) {
    switch (kind) {
    case 'h': return 0x03ff03ff;
    case 'b': return 0x007f007f;
    case 't': return 0x007fe000;
    case '4': return 0x07070707;
    case '5': return 0x03030303;
    default: return 0xffffffff;
    }
}

static void append_group(const struct form *form, char text[FORM_TEXT]) {
    const int count = accumulators_of(form), digest = form->row->result == 'W' ? 4 : 2;
    append(text, FORM_TEXT, " .reg .%s %%d<%d>;\n", form->row->inputs[2] == 'f' ? "f32" : "b32", count);
    append(text, FORM_TEXT, group_fill, fractions_of(form->row->inputs[1]));
    for (int i = 0; i < count; i++) append(text, FORM_TEXT, " mov.b32 %%d%d, %%c%d;\n", i, i % 4);
    append(text, FORM_TEXT, " %s\n wgmma.commit_group.sync.aligned;\n wgmma.wait_group.sync.aligned 0;\n",
           form->code);
    for (int i = 0; i < count; i++) {
        const int e = i % digest;
        if (i < digest) append(text, FORM_TEXT, " mov.b32 %%e%d, %%d%d;\n", e, i);
        else
            append(
                text, FORM_TEXT,
                " shf.l.wrap.b32 %%e%d, %%e%d, %%e%d, 5; mov.b32 %%t0, %%d%d; xor.b32 %%e%d, %%e%d, %%t0;\n",
                e, e, e, i, e, e);
    }
}

void form_entry(const struct form *form, const char *name, char text[FORM_TEXT]) {
    bool matrix = form_is_matrix(form);
    snprintf(text, FORM_TEXT,
             ".visible .entry %s(.param .u64 in, .param .u64 scratch, .param .u64 out)\n{\n%s%s", name,
             is_of_warpgroup(form) ? group_registers
             : matrix              ? matrix_registers
                                   : scalar_registers,
             addresses);
    if (matrix) append(text, FORM_TEXT, "%s", matrix_operands);
    else append(text, FORM_TEXT, " mad.lo.u32 %%s, %%l, 32, %%s;\n");
    for (int i = 1; !matrix && i <= 3; i++)
        append(text, FORM_TEXT, scalar_operand, i, 8 * (i - 1), i, i, i, i, i, i, i, i, i, i);
    if (is_of_warpgroup(form)) append_group(form, text);
    else append(text, FORM_TEXT, " %s\n", form->code);
    append(text, FORM_TEXT, " %s\n ret;\n}\n", store_of(form->row->result));
}

/* Makes c of f32 or f64 -a b, rounded, unless that is a NaN. */
static void product_with(char kind, uint64_t operand[3]) {
    float a, b, c;
    double x, y, z;
    memcpy(&a, &operand[0], sizeof a), memcpy(&b, &operand[1], sizeof b), c = -a * b;
    memcpy(&x, &operand[0], sizeof x), memcpy(&y, &operand[1], sizeof y), z = -x * y;
    if (kind == 'f' && c == c) memcpy(&operand[2], &c, sizeof c);
    if (kind == 'g' && z == z) memcpy(&operand[2], &z, sizeof z);
}

/* Now and then b is nearly a or -a, or c is the negative product, so that sums cancel. */
static void scalar_inputs(const struct form *form, uint64_t *seed, uint64_t operand[3]) {
    const char *kind = form->row->inputs;
    for (int i = 0; i < 3; i++) operand[i] = value_any(kind[i], seed);
    uint64_t r = value_random(seed);
    if (kind[0] == kind[1] && r >> 61 == 0) operand[1] = operand[0] ^ (r & UINT64_C(0x8001800180018001));
    if (kind[0] == kind[2] && r >> 61 == 1) product_with(kind[0], operand);
}

/* Neighbours along k: the same in A, opposite in B but for the last bit. */
static void cancel(char kind, uint32_t *a, uint32_t *b, uint64_t *seed) {
    uint32_t flip = (uint32_t)value_random(seed);
    if (kind == 't') {
        a[2] = a[0], a[3] = a[1];
        b[1] = b[0] ^ (0x80000000 | (flip & 0x2000));
        return;
    }
    int width = kind == '4' || kind == '5' ? 8 : 16;
    uint32_t low = width == 8 ? 0x00ff00ff : 0x0000ffff, sign = width == 8 ? 0x80008000 : 0x80000000;
    for (int i = 0; i < 4; i++) a[i] = (a[i] & low) | (a[i] & low) << width;
    for (int i = 0; i < 2; i++)
        b[i] = (b[i] & low) | (((b[i] & low) << width) ^ sign ^ (flip >> i & (sign >> (width - 1))));
}

/* Each warp's numbers are of another shape; the last shape of all cancels. */
static void matrix_inputs(const struct form *form, int block, uint64_t *seed, uint32_t *words) {
    static const int first[] = {0, 4, 6, FORM_INPUT_WORDS};
    int shape = block / form_warps(form) % (VALUE_SHAPES + 1);
    for (int operand = 0; operand < 3; operand++)
        for (int i = first[operand]; i < first[operand + 1]; i++)
            words[i] =
                (uint32_t)value_shaped(form->row->inputs[operand],
                                       shape < VALUE_SHAPES ? (enum value_shape)shape : VALUE_ALIGNED, seed);
    if (form->row->compare == FORM_SUM && shape == VALUE_SHAPES)
        cancel(form->row->inputs[0], words, words + first[1], seed);
}

void form_inputs(const struct form *form, int blocks, uint32_t *words) {
    uint64_t seed = UINT64_C(0x9e3779b97f4a7c15) ^ form->hash;
    for (int lane = 0; lane < 32 * blocks; lane++, words += FORM_INPUT_WORDS) {
        uint64_t operand[3];
        memset(words, 0, FORM_INPUT_WORDS * sizeof *words);
        if (form_is_matrix(form)) {
            matrix_inputs(form, lane / 32, &seed, words);
        } else {
            scalar_inputs(form, &seed, operand);
            memcpy(words, operand, sizeof operand);
        }
    }
}
