/* The types of C: what each is, and how f32 become elements of it. */
#include "parts/output.h"
#include "parts/integer/integer.h"
#include "parts/emit.h"

#define NO(...)
#define OP_none MC_OPCODES

#define OUT(...) +1
enum { OUT_ELEMENTS = MC_ELEMENT_LIST(MC_ELEMENT_OUT, ) };
#undef OUT

#define OUT(name, text, bytes, kind, round, place) [place] = text,
const char *const out_element_names[OUT_ELEMENTS + 1] = {MC_ELEMENT_LIST(MC_ELEMENT_OUT, )};
#undef OUT

const char *const out_per_names[] = {"none", "tensor", "row", "column", NULL};
const char *const out_addend_names[] = {"none", "f16", "bf16", "f32", NULL};

enum { INTEGER, FLOAT, FINITE };
#define OUT(name, text, bytes, kind, round, place) [place] = {bytes, kind, OP_##round},
static const struct {
    int bytes, kind;
    mc_opcode pack; /* of two f32, for 16-bit elements; of one, for narrower ones; none: C is not rounded */
} elements[OUT_ELEMENTS] = {MC_ELEMENT_LIST(MC_ELEMENT_OUT, )};
#undef OUT

int out_element_bytes(out_element element) { return elements[element].bytes; }

int out_element_bits(out_element element) {
    enum { PAIR_BITS = 4 };
    return elements[element].bytes == 0 ? PAIR_BITS : 8 * elements[element].bytes;
}

bool out_is_integer(out_element element) {
    return out_is_scaled(element) && elements[element].kind == INTEGER;
}

int out_residual_bytes(const out_kind *output) {
    static const int bytes[] = {
        [OUT_NO_ADDEND] = 0, [OUT_ADDS_F16] = 2, [OUT_ADDS_BF16] = 2, [OUT_ADDS_F32] = 4};
    return bytes[output->residual];
}

const char *out_element_name(out_element element) { return out_element_names[element]; }

bool out_is_scaled(out_element element) {
    return elements[element].kind != INTEGER || elements[element].pack != MC_OPCODES;
}

bool out_is_rounded(out_element element) { return elements[element].pack != MC_OPCODES; }

int out_least_sm(out_element element) {
    return out_is_rounded(element) ? mc_instructions[elements[element].pack].sm : 0;
}

bool out_by_rows(const out_kind *output) {
    return output->scale == OUT_PER_ROW || output->bias == OUT_PER_ROW;
}

bool out_by_columns(const out_kind *output) {
    return output->scale == OUT_PER_COLUMN || output->bias == OUT_PER_COLUMN || output->b_scale;
}

/* The integers that C's type has. */
static bool is_signed(out_element element) { return element == OUT_S8 || element == OUT_S4; }
static int least_of(out_element element) {
    return is_signed(element) ? -(1 << (out_element_bits(element) - 1)) : 0;
}
static int most_of(out_element element) { return least_of(element) + (1 << out_element_bits(element)) - 1; }

/* A zero point is the nearest integer that the type has. */
void out_declare_point(mc_builder *b, out_element element, out_point *p) {
    int least = least_of(element), most = most_of(element);
    p->zero = cvt_s32_f32(b, "zero_nearest", ld_param_f32(b, "zero_given", NAME("zero")));
    p->zero = max_s32(b, "zero_point", min_s32(b, "zero_low", p->zero, I(most)), I(least));
    p->low = sub_s32(b, "least_element", I(least), p->zero);
    p->high = sub_s32(b, "most_element", I(most), p->zero);
}

/* -- Conversion --------------------------------------------------------------------------------------- */

static bool is_small_float(out_element element) {
    return elements[element].kind != INTEGER && out_element_bits(element) == 8;
}

void out_declare_scratch(out_scratch *s, mc_builder *b, out_element element, int count) {
    if (!out_is_scaled(element)) return;
    b32_array(b, "real", count, s->real);
    if (out_element_bytes(element) == 2) b32_array(b, "packed", (count + 1) / 2, s->packed);
    if (out_element_bits(element) <= 8) b32_array(b, "packed", count, s->packed);
    if (!is_small_float(element)) return;
    s->half[0] = b16(b, "half_low");
    s->half[1] = count > 2 ? b16(b, "half_high") : s->half[0];
}

void out_scale(mc_builder *b, const out_kind *output, mc_reg sum, out_terms terms, mc_reg real) {
    mc_reg scale = terms.scale;
    if (output->real && real.id != sum.id) EMIT(b, mov_b32, real, sum);
    else if (!output->real) emit_real_of_sum(b, output->exact, sum, real);
    if (terms.b_scale.id) {
        if (scale.id) EMIT(b, mul_f32, real, real, scale);
        scale = terms.b_scale;
    }
    if (output->bias == OUT_PER_NONE && scale.id) EMIT(b, mul_f32, real, real, scale);
    else if (output->bias != OUT_PER_NONE && scale.id) EMIT(b, fma_f32, real, real, scale, terms.bias);
    else if (output->bias != OUT_PER_NONE) EMIT(b, add_f32, real, real, terms.bias);
    if (terms.beta.id) EMIT(b, fma_f32, real, terms.residual, terms.beta, real);
    else if (terms.residual.id) EMIT(b, add_f32, real, real, terms.residual);
    if (terms.act != NULL) activation_emit(terms.act, b, real);
    if (terms.by.id) EMIT(b, mul_f32, real, real, terms.by);
}

/* The integer is cut off where the sum will be at the type's ends. */
static void emit_point(mc_builder *b, const out_point *p, mc_reg to) {
    EMIT(b, min_s32, to, to, p->high);
    EMIT(b, max_s32, to, to, p->low);
    EMIT(b, add_s32, to, to, p->zero);
}

/* Packs two at a time, the later ones first, for these go above. */
static void join_bytes(mc_builder *b, mc_opcode pack, const mc_reg *packed, int count) {
    for (int i = 0; i < count; i += 4)
        for (int two = count - i > 2 ? 2 : 0; two >= 0; two -= 2) {
            mc_operand above = two == 0 && count - i > 2 ? packed[i + 2] : I(0);
            mc_reg to = two == 0 ? packed[i / 4] : packed[i + 2];
            builder_emit(b, (mc_reg){0}, pack, MC_OPERANDS(to, packed[i + two + 1], packed[i + two], above));
        }
}

static void cut_off(mc_builder *b, out_element element, mc_reg to) {
    EMIT(b, min_s32, to, to, I(most_of(element)));
    EMIT(b, max_s32, to, to, I(least_of(element)));
}

/* Each two elements of 4 bits become the integer that their byte is, signed or not as they are: cvt.pack then
   cuts nothing off. */
static void join_pairs(mc_builder *b, const mc_reg *packed, int count) {
    for (int i = 0; i < count; i += 2) {
        EMIT(b, and_b32, packed[i], packed[i], I(15));
        EMIT(b, mad_s32, packed[i / 2], packed[i + 1], I(16), packed[i]);
    }
}

/* COUNT elements of 8 or 4 bits, in the low bytes of as many registers as they need. ptxas makes one
   instruction of both steps, for two elements of 8 bits. */
static const mc_reg *pack_bytes(mc_builder *b, out_element element, const out_scratch *s,
                                const out_point *point, int count) {
    if (count == 1 && point == NULL) {
        builder_emit(b, (mc_reg){0}, elements[element].pack, MC_OPERANDS(s->packed[0], s->real[0]));
        return s->packed;
    }
    bool pairs = out_element_bits(element) < 8;
    for (int i = 0; i < count; i++) {
        EMIT(b, cvt_s32_f32, s->packed[i], s->real[i]);
        if (point != NULL) emit_point(b, point, s->packed[i]);
        else if (pairs) cut_off(b, element, s->packed[i]);
    }
    if (pairs) join_pairs(b, s->packed, count);
    int bytes = pairs ? count / 2 : count;
    if (bytes > 1) join_bytes(b, is_signed(element) ? OP_cvt_pack_s8 : OP_cvt_pack_u8, s->packed, bytes);
    return s->packed;
}

/* The same of floats of 8 bits. A single one stands in all bytes. */
static const mc_reg *pack_small_floats(mc_builder *b, out_element element, const out_scratch *s, int count) {
    const mc_reg halves[] = {s->half[0], s->half[count > 2]};
    for (int i = 0; i < count; i += 4) {
        for (int half = 0; half < (count > 2 ? 2 : 1); half++) {
            const mc_reg *real = &s->real[i + 2 * half];
            builder_emit(b, (mc_reg){0}, elements[element].pack,
                         MC_OPERANDS(halves[half], real[count > 1], real[0]));
        }
        EMIT(b, mov_halves, s->packed[i / 4], V2(halves));
    }
    return s->packed;
}

const mc_reg *out_pack(mc_builder *b, out_element element, const out_scratch *s, const out_point *point,
                       int count) {
    mc_opcode pack = elements[element].pack;
    if (pack == MC_OPCODES) return s->real;
    if (is_small_float(element)) return pack_small_floats(b, element, s, count);
    if (out_element_bits(element) <= 8) return pack_bytes(b, element, s, point, count);
    for (int i = 0; i < count; i += 2) {
        mc_reg high = s->real[count > 1 ? i + 1 : i];
        builder_emit(b, (mc_reg){0}, pack, MC_OPERANDS(s->packed[i / 2], high, s->real[i]));
    }
    return s->packed;
}
