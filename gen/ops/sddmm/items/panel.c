/* A panel of A in registers, of a row in each octet: it is loaded, and made operands. */
#include "ops/sddmm/items/items.h"
#include "parts/words.h"

void sddmm_declare_panel(sddmm_panel *panel, const sddmm_multiplier *m, int octets, int chunks, bool ahead) {
    const sddmm_arithmetic *a = m->arithmetic;
    int steps = chunks * a->steps, count = octets * steps * a->a_words;
    panel->multiplier = m, panel->octets = octets, panel->chunks = chunks;
    panel->octet_operands = steps * a->a_operands;
    b32_array(m->b, "a_word", count, panel->word);
    if (ahead || !a->a_is_plain) b32_array(m->b, "a_operand", octets * panel->octet_operands, panel->operand);
    else
        for (int i = 0; i < count; i++) panel->operand[i] = panel->word[i];
}

/* Loads are relaxed, and so stay where they stand. Others, those of the next group, would move down behind
   the branch. */
static void emit_load_row(const sddmm_panel *panel, int octet, mc_reg at, const mc_reg *inside) {
    mc_builder *b = panel->multiplier->b;
    const sddmm_arithmetic *a = panel->multiplier->arithmetic;
    int access = sddmm_a_access(a), count = a->steps * a->a_words;
    int64_t chunk_bytes = values_bytes(a->lhs, sddmm_chunk_k(a));
    for (int chunk = 0; chunk < panel->chunks; chunk++) {
        const mc_reg *to = &panel->word[(octet * panel->chunks + chunk) * count];
        if (inside[chunk].id) sddmm_emit_zero(b, to, count);
        for (int i = 0; i < count; i += access / WORD)
            emit_load_words(b, inside[chunk], WORDS_RELAXED, access, to + i,
                            AT(at, chunk * chunk_bytes + i * WORD));
    }
}

void sddmm_emit_load_panel(const sddmm_panel *panel, const mc_reg *at, const mc_reg *inside) {
    note(panel->multiplier->b, "A: units of this lane's row%s", panel->octets > 1 ? "s" : "");
    for (int octet = 0; octet < panel->octets; octet++) emit_load_row(panel, octet, at[octet], inside);
}

void sddmm_emit_operands(const sddmm_panel *panel) {
    mc_builder *b = panel->multiplier->b;
    const sddmm_arithmetic *a = panel->multiplier->arithmetic;
    const mc_reg *words = panel->word, *operands = panel->operand;
    int steps = panel->octets * panel->chunks * a->steps;
    if (!a->a_is_plain) {
        note(b, "A's values in the order of B's");
        for (int step = 0; step < steps; step++)
            sddmm_emit_a_step(panel->multiplier, &words[a->a_words * step], &operands[a->a_operands * step]);
        return;
    }
    for (int i = 0; i < steps * a->a_words; i++)
        if (operands[i].id != words[i].id) EMIT(b, mov_b32, operands[i], words[i]);
}
