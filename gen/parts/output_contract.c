/* What specs may ask of an output, and what contracts say of it. */
#include "parts/output.h"
#include "schema/family.h"
#include "text/text.h"
#include <stdio.h>
#include <string.h>

enum { FACTOR_BYTES = 4, FACTOR_ALIGN = 16, TYPES_TEXT = 96 };

/* -- Checks ------------------------------------------------------------------------------------------- */

static bool is_listed(const out_fields *fields, out_element element) {
    return out_is_scaled(element) && (fields->pairs || out_element_bits(element) >= 8);
}

/* The types that sums are brought into, in QUOTEs: "f16, bf16 LAST f32". */
static void list_types(const out_fields *fields, const char *quote, const char *last, char text[TYPES_TEXT]) {
    int left = 0;
    size_t used = 0;
    for (int i = 0; out_element_names[i] != NULL; i++) left += is_listed(fields, (out_element)i);
    for (int i = 0; out_element_names[i] != NULL && used < TYPES_TEXT; i++) {
        if (!is_listed(fields, (out_element)i)) continue;
        const char *link = --left > 1 ? ", " : left == 1 ? last : "";
        used += (size_t)snprintf(text + used, TYPES_TEXT - used, "%s%s%s%s", quote, out_element_names[i],
                                 quote, link);
    }
}

/* C is the sums: what is only for other types is refused. */
static void check_sums(const out_kind *output, const out_fields *fields, mc_complaints *complaints) {
    const char *name = out_element_name(output->element);
    bool scales = output->scale != OUT_PER_NONE || output->b_scale, bias = output->bias != OUT_PER_NONE;
    bool residual = output->residual != OUT_NO_ADDEND, act = output->act != ACT_NONE;
    char types[TYPES_TEXT];
    if (!scales && !bias && !residual && !act) return;
    list_types(fields, "", " and ", types);
    if (scales)
        complain(complaints, output->b_scale ? fields->b_scale : fields->scale,
                 "out = \"%s\" is the sums as they are: scales go with %s", name, types);
    if (bias)
        complain(complaints, fields->bias, "out = \"%s\" is the sums as they are: a bias goes with %s", name,
                 types);
    if (residual)
        complain(complaints, fields->residual,
                 "out = \"%s\" is the sums as they are: a residual goes with %s", name, types);
    if (act)
        complain(complaints, fields->act, "out = \"%s\" is the sums as they are: \"%s\" goes with %s", name,
                 out_act_names[output->act], types);
}

void out_check(const out_kind *output, const out_fields *fields, const mc_arch *arch,
               mc_complaints *complaints) {
    const char *name = out_element_name(output->element);
    bool scaled = out_is_scaled(output->element), integer = out_is_integer(output->element);
    int sm = out_least_sm(output->element);
    if (!scaled) check_sums(output, fields, complaints);
    if (arch->sm < sm) complain(complaints, fields->out, "\"%s\" wants sm_%d or later", name, sm);
    if (!scaled && output->real) complain(complaints, fields->out, "\"%s\" holds sums of integers", name);
    if (scaled && (!output->real || integer) && output->scale == OUT_PER_NONE)
        complain(complaints, fields->scale, "out = \"%s\" wants one: \"tensor\", \"row\" or \"column\"",
                 name);
    if (output->c_scale && !integer && out_element_bits(output->element) > 8)
        complain(complaints, fields->c_scale,
                 "out = \"%s\" has no scale of its own: that goes with s8, u8, s4, u4, e4m3 and e5m2", name);
    if (output->zero && !integer)
        complain(complaints, fields->zero, "out = \"%s\" has no zero point: that goes with s8, u8, s4 and u4",
                 name);
    if (output->beta && output->residual == OUT_NO_ADDEND)
        complain(complaints, fields->beta,
                 "is the residual's factor, and there is none: residual = \"f16\", "
                 "\"bf16\" or \"f32\"");
    if (output->element == OUT_S64 && !output->exact)
        complain(complaints, fields->sum, "out = \"s64\" wants \"exact\"");
    if (output->element == OUT_S32 && output->exact) {
        char types[TYPES_TEXT];
        list_types(fields, "\"", " or ", types);
        complain(complaints, fields->out, "sum = \"exact\" wants \"s64\", or %s with a scale", types);
    }
}

/* -- Contract ----------------------------------------------------------------------------------------- */

static void append(char text[OUT_TEXT], const char *more) {
    size_t used = strlen(text);
    text_copy(text + used, OUT_TEXT - used, more);
}

static void describe_scaled(const out_kind *output, char text[OUT_TEXT]) {
    bool bias = output->bias != OUT_PER_NONE, scale = output->scale != OUT_PER_NONE;
    const char *last = output->b_scale ? "b_scale" : scale ? "scale" : NULL, *add = last ? ", " : " + ";
    if (bias && last) append(text, "fma(");
    append(text, output->real ? "sum" : "f32(sum)");
    if (scale && output->b_scale) append(text, " * scale");
    if (last) append(text, bias ? ", " : " * ");
    if (last) append(text, last);
    if (bias) append(text, add);
    if (bias) append(text, last ? "bias)" : "bias");
}

/* What is added to that. */
static void describe_added(const out_kind *output, char text[OUT_TEXT]) {
    describe_scaled(output, text);
    if (output->residual != OUT_NO_ADDEND) append(text, output->beta ? " + beta * residual" : " + residual");
}

/* An activation is a function of its name, and relu the greater of its argument and 0. */
static void describe_active(const out_kind *output, char text[OUT_TEXT]) {
    bool relu = output->act == ACT_RELU;
    if (output->act != ACT_NONE) append(text, relu ? "max" : out_act_names[output->act]);
    if (output->act != ACT_NONE) append(text, "(");
    describe_added(output, text);
    if (output->act != ACT_NONE) append(text, relu ? ", 0)" : ")");
}

void out_describe(const out_kind *output, bool columns, char text[OUT_TEXT]) {
    const char *type = out_element_name(output->element);
    bool rounded = out_is_rounded(output->element);
    bool pairs = out_element_bits(output->element) < 8;
    text[0] = 0;
    append(text, "C: ");
    append(text, type);
    append(text, columns ? "[n][ldc], column-major" : "[m][ldc], row-major");
    if (pairs) append(text, ", two to a byte");
    append(text, columns ? "; rows m and beyond are not touched" : "; columns n and beyond are not touched");
    if (!out_is_scaled(output->element)) return;
    append(text, "; C = ");
    if (rounded) append(text, type);
    if (rounded) append(text, "(");
    if (output->zero) append(text, "round(");
    bool sum = output->c_scale && output->act == ACT_NONE && output->residual != OUT_NO_ADDEND;
    if (sum) append(text, "(");
    describe_active(output, text);
    if (sum) append(text, ")");
    if (output->c_scale) append(text, " / c_scale");
    if (output->zero) append(text, ") + zero");
    if (rounded) append(text, ")");
}

static void add_factor(mc_contract *c, const char *name, out_per per, const char *const docs[]) {
    if (per == OUT_PER_NONE) return;
    bool scalar = per == OUT_PER_TENSOR;
    add_param(c, (mc_param){name, scalar ? "f32" : "u64", scalar ? MC_PARAM_SCALAR : MC_PARAM_ARRAY,
                            scalar ? FACTOR_BYTES : FACTOR_ALIGN, docs[per]});
}

void out_add_factors(const out_kind *output, mc_contract *c) {
    static const char *const scales[] = {[OUT_PER_TENSOR] = "scale of every sum",
                                         [OUT_PER_ROW] = "f32[m]: scale of each row of C",
                                         [OUT_PER_COLUMN] = "f32[n]: scale of each column of C"};
    static const char *const biases[] = {[OUT_PER_ROW] = "f32[m]: bias of each row of C",
                                         [OUT_PER_COLUMN] = "f32[n]: bias of each column of C"};
    static const char *const b_scales[] = {[OUT_PER_COLUMN] = "f32[n]: scale of each column of B"};
    static const char *const c_scales[] = {[OUT_PER_TENSOR] = "scale of C's elements"};
    static const char *const betas[] = {
        [OUT_PER_TENSOR] = "factor of the residual, which may be C itself; where it is 0 none is read"};
    static const char *const zeros[] = {[OUT_PER_TENSOR] = "C's zero point: the nearest integer of its type"};
    add_factor(c, "scale", output->scale, scales);
    add_factor(c, "bias", output->bias, biases);
    add_factor(c, "b_scale", output->b_scale ? OUT_PER_COLUMN : OUT_PER_NONE, b_scales);
    add_factor(c, "c_scale", output->c_scale ? OUT_PER_TENSOR : OUT_PER_NONE, c_scales);
    add_factor(c, "zero", output->zero ? OUT_PER_TENSOR : OUT_PER_NONE, zeros);
    add_factor(c, "beta", output->beta ? OUT_PER_TENSOR : OUT_PER_NONE, betas);
}

#define RESIDUAL(type)                                                                                       \
    {                                                                                                        \
        type "[m][ldr], row-major, added before the activation",                                             \
            type "[n][ldr], column-major, added before the activation"                                       \
    }

void out_add_residual(const out_kind *output, bool columns, unsigned align, mc_contract *c) {
    static const char *const docs[][2] = {[OUT_ADDS_F16] = RESIDUAL("f16"),
                                          [OUT_ADDS_BF16] = RESIDUAL("bf16"),
                                          [OUT_ADDS_F32] = RESIDUAL("f32")};
    unsigned bytes = (unsigned)out_residual_bytes(output);
    if (bytes == 0) return;
    add_param(c, (mc_param){"residual", "u64", MC_PARAM_ARRAY, align < bytes ? bytes : align,
                            docs[output->residual][columns]});
}

unsigned out_align(out_element element, unsigned align) {
    unsigned bytes = (unsigned)out_element_bytes(element);
    return align < bytes ? bytes : align;
}

void out_add_dense(const out_kind *output, const char *doc, unsigned align, mc_contract *c) {
    add_param(c, (mc_param){"c", "u64", MC_PARAM_ARRAY, out_align(output->element, align), doc});
    out_add_factors(output, c);
}
