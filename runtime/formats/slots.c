#include "formats/slots.h"
#include <stdlib.h>
#include <string.h>
#include "base/element.h"
#include "base/memory.h"
#include "formats/order.h"
#include "matrix/vsparse.h"
#include "parts/pieces.h"

void packed_slots_free(packed_slots *slots) {
    free(slots->vectors);
    free(slots->pieces);
    *slots = (packed_slots){0};
}

mc_status packed_slots_outline(const char *array, int64_t groups, packed_slots *slots, mc_diag *diag) {
    slots->array = array;
    slots->groups = groups;
    slots->pieces = mcrt_array(slots->period, sizeof *slots->pieces);
    if (slots->pieces == NULL) return mcrt_no_memory(diag, slots->period, "pieces");
    for (int i = 0; i < slots->period; i++) slots->pieces[i] = MC_PIECE_NONE;
    return MC_OK;
}

mc_status packed_slots_create(const char *array, int64_t groups, packed_slots *slots, mc_diag *diag) {
    mc_status status = packed_slots_outline(array, groups, slots, diag);
    return status == MC_OK ? packed_slots_empty(slots, diag) : status;
}

mc_status packed_slots_empty(packed_slots *slots, mc_diag *diag) {
    const int64_t count = mcrt_product(slots->groups, slots->group);
    slots->vectors = mcrt_array(count, sizeof *slots->vectors);
    if (slots->vectors == NULL) return mcrt_no_memory(diag, count, "slots");
    for (int64_t i = 0; i < count; i++) slots->vectors[i] = -1;
    return MC_OK;
}

int16_t packed_piece(const packed_slots *slots, int slot, int row, int digit) {
    return (int16_t)(digit << MC_PIECE_DIGIT_SHIFT | (slot * slots->vec + row));
}

/* -- Values as they are -------------------------------------------------------------------------------- */

/* Floats of 32 bits of any kind are not rounded, and of integers the digits lie as bytes of a word do. */
static mc_status plain_code(mc_type type, value_code *code, mc_diag *diag) {
    const mc_type as_is = mc_type_bits(type) == 32 ? MC_F32 : type;
    *code = (value_code){.type = as_is, .unit = as_is, .pieces = 1};
    if (mc_type_is_real(as_is)) return MC_OK;
    return code_make(type, 0, mc_type_bytes(type) == 0 ? MC_U4 : MC_U8, code, diag);
}

mc_status packed_slots_plain(const char *array, mc_type type, int vec, int64_t count, packed_slots *slots,
                             mc_diag *diag) {
    *slots = (packed_slots){.vec = vec, .group = SLOTS_PLAIN};
    mc_status status = plain_code(type, &slots->code, diag);
    const int pieces = slots->code.pieces;
    slots->period = SLOTS_PLAIN * vec * pieces;
    if (status == MC_OK)
        status = packed_slots_outline(array, (count + SLOTS_PLAIN - 1) / SLOTS_PLAIN, slots, diag);
    for (int i = 0; i < slots->period && status == MC_OK; i++) {
        const int value = i / pieces;
        slots->pieces[i] = packed_piece(slots, value / vec, value % vec, i % pieces);
    }
    return status;
}

/* -- A mask's values ---------------------------------------------------------------------------------- */

static void place_vectors(const mc_vsparse *mask, const int64_t *start, packed_slots *slots) {
    for (int64_t b = 0; b < mask->row_blocks; b++)
        for (int64_t v = mask->row_ptr[b]; v < mask->row_ptr[b + 1]; v++)
            slots->vectors[start[b] + v - mask->row_ptr[b]] = (int32_t)v;
}

mc_status order_slots(const mc_vsparse *mask, mc_order order, packed_slots *slots, mc_diag *diag) {
    int64_t *start = NULL;
    int group = order == MC_ORDER_BCRS ? 1 : (int)order;
    *slots = (packed_slots){.code = {.type = MC_F32, .unit = MC_F32, .pieces = 1},
                            .vec = mask->vec,
                            .group = group,
                            .period = group * mask->vec};
    mc_status status = order_starts(mask, order, &start, diag);
    if (status == MC_OK)
        status = packed_slots_create("mask_values", start[mask->row_blocks] / group, slots, diag);
    if (status == MC_OK) place_vectors(mask, start, slots);
    for (int slot = 0; slot < group && status == MC_OK; slot++)
        for (int r = 0; r < mask->vec; r++)
            slots->pieces[order_place(order, mask->vec, slot, r)] = packed_piece(slots, slot, r, 0);
    free(start);
    return status;
}

/* -- The way back ------------------------------------------------------------------------------------- */

/* Where a value's pieces lie in a group: [slot][row][digit]. */
typedef struct piece_places {
    int of[(MC_PIECE_PLACE_MASK + 1) * CODE_PIECES];
} piece_places;

static void find_places(const packed_slots *slots, piece_places *places) {
    for (int i = 0; i < slots->period; i++) {
        int entry = slots->pieces[i];
        if (entry < 0) continue;
        int digit = entry >> MC_PIECE_DIGIT_SHIFT, place = entry & MC_PIECE_PLACE_MASK;
        places->of[place * CODE_PIECES + digit] = i;
    }
}

static int64_t take_value(const packed_slots *slots, const piece_places *places, const void *packed,
                          int64_t group, int place) {
    int64_t pieces[CODE_PIECES];
    for (int i = 0; i < slots->code.pieces; i++)
        pieces[i] = element_get(slots->code.unit, packed,
                                group * slots->period + places->of[place * CODE_PIECES + i]);
    return code_join(&slots->code, pieces);
}

void packed_slots_take(const packed_slots *slots, const void *packed, mc_vsparse *a) {
    piece_places places;
    find_places(slots, &places);
    for (int64_t i = 0; i < slots->groups * slots->group; i++) {
        if (slots->vectors[i] < 0) continue;
        const slot_place place = packed_slot_place(slots, i, a->vec);
        for (int r = 0; r < slots->vec; r++)
            mc_vsparse_set_value(a, place.vector, place.row + r,
                                 take_value(slots, &places, packed, i / slots->group,
                                            (int)(i % slots->group) * slots->vec + r));
    }
}
