/* The elements of a thread's units, loaded and made f32. */
#include "parts/rows/rows.h"
#include "parts/words.h"

int rows_type_bytes(rows_type type) {
    static const int bytes[] = {[ROWS_F32] = 4, [ROWS_F16] = 2, [ROWS_BF16] = 2, [ROWS_S32] = 4};
    return bytes[type];
}

int rows_bytes_at_once(const rows_plan *plan, const rows_array *array) {
    int all = plan->unit * array->bytes,
        most = array->align < ROWS_UNIT_BYTES ? array->align : ROWS_UNIT_BYTES;
    if (most < array->bytes) most = array->bytes;
    return all < most ? all : most;
}

void rows_load(rows_emitter *r, const rows_array *from, mc_operand absent, const mc_reg *to) {
    const rows_plan *plan = r->plan;
    const rows_places *at = &r->units;
    mc_builder *b = r->b;
    int words = rows_unit_words(plan, from->bytes), all = plan->unit * from->bytes,
        each = rows_bytes_at_once(plan, from);
    for (int i = at->sure * words; i < at->count * words; i++) EMIT(b, mov_b32, to[i], absent);
    EMIT(b, mad_wide, r->scratch.at, at->first, I(all), from->at);
    for (int i = 0; i < at->count; i++)
        for (int part = 0; part < all; part += each)
            emit_load_words(b, rows_inside(r, i), WORDS_GLOBAL, each, &to[i * words + part / WORD],
                            AT(r->scratch.at, (int64_t)i * plan->team * all + part));
}

void rows_convert(mc_builder *b, rows_type type, const mc_reg *words, int element, mc_reg to) {
    int bytes = rows_type_bytes(type);
    mc_reg word = words[element * bytes / WORD];
    bool upper = bytes == 2 && element % 2;
    switch (type) {
    case ROWS_F32: EMIT(b, mov_b32, to, word); break;
    case ROWS_S32: EMIT(b, cvt_f32_s32, to, word); break;
    case ROWS_BF16:
        if (upper) EMIT(b, and_b32, to, word, H(0xffff0000));
        else EMIT(b, shl_b32, to, word, I(16));
        break;
    case ROWS_F16:
        if (upper) EMIT(b, shr_u32, to, word, I(16));
        EMIT(b, cvt_f32_f16, to, upper ? to : word);
    }
}
