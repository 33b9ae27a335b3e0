/* A prmt puts two bytes into the halves of a register, and a byte of FILL beside each. Then
 *
 *   s8, u8 to f16    0x64 above byte u makes 1024 + u, whose units are 1. 1024 comes off, or of u = s ^ 0x80
 *                    1152. 5 instructions for four values of s8, 4 of u8
 *   s8, u8 to bf16   0x43 above the low 7 bits makes 128 + those, and above the high bit alone 128, or 256 if
 *                    it is set. The second number comes off, or of u8 it is added, less 256. 8 and 10
 *   e5m2 to f16      a zero below the byte: it is the number. 2
 *   e4m3 to f16      the magnitude moves down by one bit, which makes the number, subnormal or not, times
 *                    2^-8. 256 times that is the number. The NaN has become 480, and 36000 times that and no
 *                    other is infinite: zero times it is added, which is a zero or a NaN. 14. From sm_89 on
 *                    there is an instruction for two values: 2
 *
 * All of these steps are exact, and zeros keep their sign. */
#include "parts/real/form.h"
#include <stdio.h>
#include "parts/emit.h"

/* Two halves alike. */
#define BOTH(half) ((uint32_t)(half) << 16 | (half))

enum { AND_OR = 0xea /* lop3: (a & b) | c */ };

typedef struct form_row {
    uint8_t fill;
    bool high;     /* values come above the fill */
    uint32_t flip; /* of a whole register, before */
    int constants, scratch;
    uint32_t constant[REAL_CONSTANTS];
    void (*finish)(const real_widener *w, mc_reg x); /* two values; NULL: they are what they are to be */
} form_row;

/* Whether GPUs that B's kernel is for have an instruction for FORM. */
static bool has_conversion(const mc_builder *b, real_form form) {
    return form == REAL_E4M3_TO_F16 && b->arch->sm >= REAL_ADA;
}

static void add_constant(const real_widener *w, mc_reg x) { EMIT(w->b, add_f16x2, x, x, w->constant[0]); }

/* The number that the high bit makes, to SCRATCH; the other one to X. */
static void split_bf16(const real_widener *w, mc_reg x) {
    EMIT(w->b, and_b32, w->scratch[0], x, H(BOTH(0xff80)));
    EMIT(w->b, and_b32, x, x, H(BOTH(0xff7f)));
}

static void finish_s8_bf16(const real_widener *w, mc_reg x) {
    split_bf16(w, x);
    EMIT(w->b, fma_bf16x2, x, w->scratch[0], w->constant[0], x);
}

static void finish_u8_bf16(const real_widener *w, mc_reg x) {
    split_bf16(w, x);
    EMIT(w->b, fma_bf16x2, w->scratch[0], w->scratch[0], w->constant[0], w->constant[1]);
    EMIT(w->b, fma_bf16x2, x, w->scratch[0], w->constant[0], x);
}

static void finish_e4m3(const real_widener *w, mc_reg x) {
    const mc_reg small = w->scratch[0], end = w->scratch[1];
    EMIT(w->b, shr_u32, small, x, I(1));
    EMIT(w->b, and_b32, small, small, H(BOTH(0x3f80)));
    EMIT(w->b, lop3, x, x, H(BOTH(0x8000)), small, I(AND_OR));
    EMIT(w->b, mul_f16x2, end, x, w->constant[1]);
    EMIT(w->b, mul_f16x2, x, x, w->constant[0]);
    EMIT(w->b, fma_f16x2, x, end, w->fill, x);
}

static const form_row rows[] = {
    [REAL_S8_TO_F16] = {0x64, false, 0x80808080, 1, 1, {BOTH(0xe480) /* -1152 */}, add_constant},
    [REAL_U8_TO_F16] = {0x64, false, 0, 1, 0, {BOTH(0xe400) /* -1024 */}, add_constant},
    [REAL_S8_TO_BF16] = {0x43, false, 0, 1, 1, {BOTH(0xbf80) /* -1 */}, finish_s8_bf16},
    [REAL_U8_TO_BF16] =
        {0x43, false, 0, 2, 1, {BOTH(0x3f80) /* 1 */, BOTH(0xc380) /* -256 */}, finish_u8_bf16},
    [REAL_E4M3_TO_F16] = {0, true, 0, 2, 2, {BOTH(0x5c00) /* 256 */, BOTH(0x7865) /* 36000 */}, finish_e4m3},
    [REAL_E5M2_TO_F16] = {0, true, 0, 0, 0, {0}, NULL},
};

real_widener real_declare_widener(mc_builder *b, real_form form, const char *side) {
    real_widener w = {.b = b, .form = form};
    char name[MC_MAX_NAME];
    if (!real_widens(form)) return w;
    const form_row *row = &rows[form];
    w.converts = has_conversion(b, form);
    for (int i = 0; w.converts && i < REAL_HALVES; i++) {
        snprintf(name, sizeof name, "%s_half%d", side, i);
        w.half[i] = b16(b, name);
    }
    if (w.converts) return w;
    snprintf(name, sizeof name, "%s_fill", side);
    w.fill = mov_b32(b, name, H(row->fill * 0x01010101u));
    for (int i = 0; i < row->constants; i++) {
        snprintf(name, sizeof name, "%s_constant%d", side, i);
        w.constant[i] = mov_b32(b, name, H(row->constant[i]));
    }
    snprintf(name, sizeof name, "%s_scratch", side);
    if (row->scratch) b32_array(b, name, row->scratch, w.scratch);
    return w;
}

/* The bytes of half HALF of a result: two of the values', numbered 0 to 3, and two of the fill's. */
static uint32_t bytes_of(const form_row *row, real_bytes bytes, int half) {
    uint32_t first = (uint32_t)(bytes == REAL_NEIGHBOURS ? 2 * half : half),
             second = first + (bytes == REAL_NEIGHBOURS ? 1 : 2);
    return row->high ? 0x0404 | first << 4 | second << 12 : 0x4040 | first | second << 8;
}

/* Neighbouring values share the 16 bits that a conversion takes. */
static void convert(const real_widener *w, mc_reg from, real_bytes bytes, const mc_reg to[2]) {
    enum { EVEN_THEN_ODD = 0x3120 };
    if (bytes == REAL_ALTERNATE) EMIT(w->b, prmt, to[0], from, from, I(EVEN_THEN_ODD));
    EMIT(w->b, split_halves, V2(w->half), bytes == REAL_ALTERNATE ? to[0] : from);
    for (int half = 0; half < REAL_HALVES; half++) EMIT(w->b, cvt_f16x2_e4m3x2, to[half], w->half[half]);
}

void real_widen(const real_widener *w, mc_reg from, real_bytes bytes, const mc_reg to[2]) {
    const form_row *row = &rows[w->form];
    if (w->converts) {
        convert(w, from, bytes, to);
        return;
    }
    if (row->flip) EMIT(w->b, xor_b32, w->scratch[0], from, H(row->flip));
    for (int half = 0; half < 2; half++) {
        EMIT(w->b, prmt, to[half], row->flip ? w->scratch[0] : from, w->fill, I(bytes_of(row, bytes, half)));
        if (row->finish) row->finish(w, to[half]);
    }
}
