/* Values of panels of which only nonzeros are packed.
 *
 * Of a graph most columns of a panel have something in one of its rows alone. So packed values have no zeros
 * for the others, and a row has a mask of 32 bits for each stride instead, which says in which slots it has
 * something, and the number of the first of its values there, in 8 bytes. A lane has eight slots of a row, or
 * of two rows of 16: eight bits of the mask. Its own values are neighbours, behind those of the bits
 * below. */
#include "ops/spmm/gather/emit.h"

enum { ROW_BYTES = GATHER_MASK_BYTES, JOIN_BYTES = 0x40, JOIN_LOW = 0x5410 /* prmt: low bytes, halves */ };

/* Operands of 8 rows that A's values make, each with masks of its own. */
static int operands(const gather_emitter *e) { return e->plan->base.math.mma; }

static gather_nonzeros *nonzeros_of(gather_emitter *e) { return &e->stream.nonzeros; }

void spmm_gather_declare_nonzeros(gather_emitter *e, mc_reg masks, mc_reg values) {
    static const char *const words[2][2] = {{"mask", "first_value"}, {"next_mask", "next_first_value"}},
                             *const elements[] = {"element", "next_element"};
    mc_builder *b = e->b;
    gather_nonzeros *n = nonzeros_of(e);
    n->values = values;
    note(b, "lane: the masks of row g; of these bits 8 t and on");
    e->stream.value_lane = mad_wide(b, "mask_lane", e->at.place.g, I(ROW_BYTES), masks);
    n->shift = shl_b32(b, "mask_shift", e->at.place.t, I(3));
    n->below =
        add_s32(b, "mask_below", shl_b32(b, "mask_bit", mov_b32(b, "mask_one", I(1)), n->shift), I(-1));
    n->bits = b32(b, "bits"), n->bit = b32(b, "bit"), n->number = b32(b, "value_number");
    n->has = pred(b, "has_element"), n->at = b64(b, "element_at");
    for (int i = 0; i < operands(e); i++) {
        for (int w = 0; w < 2; w++) n->words[i][w] = carried(b, words[i][w], I(0));
        b32_array(b, elements[i], MC_LANE_SLOTS, n->element[i]);
    }
}

void spmm_gather_load_masks(gather_emitter *e, mc_reg guard, mc_opcode load) {
    for (int i = 0; i < operands(e); i++)
        builder_emit(
            e->b, guard, load,
            MC_OPERANDS(V2(nonzeros_of(e)->words[i]), AT(e->stream.value_at, i * SPMM_MMA_ROWS * ROW_BYTES)));
}

static void load_element(const gather_emitter *e, mc_reg has, mc_reg to, mc_reg at) {
    mc_builder *b = e->b;
    int bytes = e->plan->base.math.value_bytes;
    if (bytes == 1) EMIT_IF(b, has, ldg_u8, to, AT(at, 0));
    else if (bytes == 2) EMIT_IF(b, has, ldg_u16, to, AT(at, 0));
    else EMIT_IF(b, has, ldg_b32, to, AT(at, 0));
}

void spmm_gather_load_elements(gather_emitter *e) {
    mc_builder *b = e->b;
    gather_nonzeros *n = nonzeros_of(e);
    for (int i = 0; i < operands(e); i++) {
        note(b, "values of the slots that row g%s has", i ? " + 8" : "");
        EMIT(b, and_b32, n->bits, n->words[i][0], n->below);
        EMIT(b, popc_b32, n->number, n->bits);
        EMIT(b, add_s32, n->number, n->number, n->words[i][1]);
        EMIT(b, shr_u32, n->bits, n->words[i][0], n->shift);
        for (int slot = 0; slot < MC_LANE_SLOTS; slot++) {
            EMIT(b, mov_b32, n->element[i][slot], I(0));
            EMIT(b, and_b32, n->bit, n->bits, I(1 << slot));
            EMIT(b, setp_ne, n->has, n->bit, I(0));
            EMIT(b, mad_wide, n->at, n->number, I(e->plan->base.math.value_bytes), n->values);
            load_element(e, n->has, n->element[i][slot], n->at);
            EMIT_IF(b, n->has, add_s32, n->number, n->number, I(1));
        }
    }
}

/* Brings elements into the registers VALUE that an mma takes, so many to each. */
static void join(const gather_emitter *e, const mc_reg *element, const mc_reg *value) {
    mc_builder *b = e->b;
    int bytes = e->plan->base.math.value_bytes, each = WORD / bytes;
    for (int i = 0; i < MC_LANE_SLOTS / each; i++) {
        const mc_reg *of = element + i * each;
        if (each == 1) EMIT(b, mov_b32, value[i], of[0]);
        if (each == 2) EMIT(b, prmt, value[i], of[0], of[1], I(JOIN_LOW));
        if (each < 4) continue;
        EMIT(b, prmt, of[0], of[0], of[1], I(JOIN_BYTES));
        EMIT(b, prmt, of[2], of[2], of[3], I(JOIN_BYTES));
        EMIT(b, prmt, value[i], of[0], of[2], I(JOIN_LOW));
    }
}

void spmm_gather_join_elements(gather_emitter *e, const mc_reg *value) {
    int regs = spmm_values_of(&e->plan->base.math).load_regs;
    for (int i = 0; i < operands(e); i++) join(e, nonzeros_of(e)->element[i], value + i * regs);
}
