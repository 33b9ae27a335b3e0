/* An operand's words: loaded, taken apart into elements in f32, put together, stored. */
#include "ops/optimise/kernel.h"
#include "parts/words.h"
#include <stdio.h>

static int unit_bytes(const optimise_stream *s, int unit) { return unit * optimise_bytes(s->is.type); }

/* Registers of a unit. */
static int unit_words(const optimise_stream *s, int unit) {
    int bytes = unit_bytes(s, unit);
    return bytes < WORD ? 1 : bytes / WORD;
}

static bool is_named(const optimise_stream *s, const char *name) { return strcmp(s->is.name, name) == 0; }

void optimise_declare_streams(optimise_emitter *e) {
    mc_builder *b = e->b;
    const optimise_plan *plan = e->plan;
    optimise_operand operands[OPTIMISE_MAX_STREAMS];
    e->stream_count = optimise_operands(plan, operands);
    for (int i = 0; i < e->stream_count; i++) {
        optimise_stream *s = &e->streams[i];
        char name[MC_MAX_NAME];
        s->is = operands[i];
        s->base = load_array(b, s->is.name);
        snprintf(name, sizeof name, "%s_at", s->is.name);
        s->at = b64(b, name);
        snprintf(name, sizeof name, "%s_word", s->is.name);
        b32_array(b, name, s->is.read ? plan->hold * unit_words(s, plan->unit) : unit_words(s, plan->unit),
                  s->word);
    }
    e->element.g = b32(b, "gradient"), e->element.w = b32(b, "weight");
    e->element.upper = b32(b, "upper"), e->element.over = b32(b, "over");
    b32_array(b, "rounded", OPTIMISE_MAX_UNIT, e->rounded);
}

void optimise_place(const optimise_emitter *e, mc_reg place) {
    for (int i = 0; i < e->stream_count; i++) {
        const optimise_stream *s = &e->streams[i];
        EMIT(e->b, mad_s64, s->at, place, I(optimise_bytes(s->is.type)), s->base);
    }
}

/* -- Memory -------------------------------------------------------------------------------------------- */

/* How far unit I lies behind the first one. */
static int64_t unit_offset(const optimise_emitter *e, const optimise_stream *s, int i, int unit) {
    return (int64_t)i * optimise_threads(e->plan) * unit_bytes(s, unit);
}

static int piece_bytes(const optimise_stream *s, int unit) {
    int bytes = unit_bytes(s, unit);
    return bytes < OPTIMISE_PIECE ? bytes : OPTIMISE_PIECE;
}

/* The registers of unit I; of a stream that is not read there is one unit. */
static const mc_reg *words_of(const optimise_stream *s, int i, int unit) {
    return s->word + (s->is.read ? (ptrdiff_t)i * unit_words(s, unit) : 0);
}

/* What is in place is read by loads that stay where they stand. */
static void load_unit(const optimise_emitter *e, const optimise_stream *s, int i, int unit) {
    const mc_reg *to = words_of(s, i, unit);
    int bytes = piece_bytes(s, unit);
    const mc_reg always = {0};
    for (int at = 0; at < unit_bytes(s, unit); at += bytes)
        emit_load_words(e->b, always, s->is.written ? WORDS_RELAXED : WORDS_GLOBAL, bytes, to + at / WORD,
                        AT(s->at, unit_offset(e, s, i, unit) + at));
}

void optimise_load(const optimise_emitter *e, int i, int unit) {
    for (int k = 0; k < e->stream_count; k++)
        if (e->streams[k].is.read) load_unit(e, &e->streams[k], i, unit);
}

/* The weight's elements become halves, two to a register; a single one stands in both. */
static void pack_halves(const optimise_emitter *e, const optimise_stream *s, int i, int unit) {
    const mc_reg *to = words_of(s, i, unit);
    for (int k = 0; k < unit; k += 2) {
        mc_reg high = e->rounded[unit > 1 ? k + 1 : k];
        if (s->is.type == OPTIMISE_F16) EMIT(e->b, cvt_f16x2, to[k / 2], high, e->rounded[k]);
        else EMIT(e->b, cvt_bf16x2, to[k / 2], high, e->rounded[k]);
    }
}

static void store_unit(const optimise_emitter *e, const optimise_stream *s, int i, int unit) {
    const mc_reg *from = words_of(s, i, unit);
    const mc_reg always = {0};
    int bytes = piece_bytes(s, unit);
    for (int at = 0; at < unit_bytes(s, unit); at += bytes)
        emit_store_words(e->b, always, WORDS_GLOBAL, bytes, AT(s->at, unit_offset(e, s, i, unit) + at),
                         from + at / WORD);
}

void optimise_store(const optimise_emitter *e, int i, int unit) {
    for (int k = 0; k < e->stream_count; k++) {
        const optimise_stream *s = &e->streams[k];
        if (is_named(s, "w") && s->is.type != OPTIMISE_F32) pack_halves(e, s, i, unit);
        if (s->is.written) store_unit(e, s, i, unit);
    }
}

/* -- Elements ------------------------------------------------------------------------------------------ */

/* Element ELEMENT of unit I in f32. */
static void take_value(const optimise_emitter *e, const optimise_stream *s, int i, int unit, int element,
                       mc_reg to) {
    enum { HALF_BITS = 16 };
    mc_builder *b = e->b;
    const mc_reg *words = words_of(s, i, unit);
    bool upper = element % 2 != 0;
    if (s->is.type == OPTIMISE_F32) {
        EMIT(b, mov_b32, to, words[element]);
    } else if (s->is.type == OPTIMISE_F16) {
        if (upper) EMIT(b, shr_u32, e->element.upper, words[element / 2], I(HALF_BITS));
        EMIT(b, cvt_f32_f16, to, upper ? e->element.upper : words[element / 2]);
    } else {
        if (upper) EMIT(b, and_b32, to, words[element / 2], H(0xffff0000));
        else EMIT(b, shl_b32, to, words[element / 2], I(HALF_BITS));
    }
}

/* The moments, in f32, stay in their words. */
void optimise_take(optimise_emitter *e, int i, int unit, int element) {
    for (int k = 0; k < e->stream_count; k++) {
        const optimise_stream *s = &e->streams[k];
        bool stepped = is_named(s, "master") || (is_named(s, "w") && s->is.read);
        if (is_named(s, "g")) take_value(e, s, i, unit, element, e->element.g);
        else if (stepped) take_value(e, s, i, unit, element, e->element.w);
        else if (is_named(s, "first")) e->element.first = words_of(s, i, unit)[element];
        else if (is_named(s, "second")) e->element.second = words_of(s, i, unit)[element];
    }
}

void optimise_put(const optimise_emitter *e, int i, int unit, int element) {
    for (int k = 0; k < e->stream_count; k++) {
        const optimise_stream *s = &e->streams[k];
        bool copy = is_named(s, "master") || is_named(s, "w");
        if (copy && s->is.type == OPTIMISE_F32)
            EMIT(e->b, mov_b32, words_of(s, i, unit)[element], e->element.w);
        else if (copy) EMIT(e->b, mov_b32, e->rounded[element], e->element.w);
    }
}
