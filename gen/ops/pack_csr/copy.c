#include "ops/pack_csr/pack_csr.h"

void csr_emit_copy(const pack_csr_plan *plan, mc_builder *b) {
    (void)plan;
    const thread_place thread = load_thread_place(b, PACK_CSR_THREADS);
    mc_reg block = load_special(b, "block", "ctaid.x");
    mc_reg index = mad_s32(b, "index", block, I(PACK_CSR_THREADS), thread.thread);
    mc_reg is_there = setp_lt(b, "is_there", index, load_shape(b, "count", true));
    mc_reg from = mad_wide(b, "source_at", index, I(WORD), load_array(b, "source"));
    mc_reg to = mad_wide(b, "target_at", index, I(WORD), load_array(b, "target"));
    mc_reg word = carried(b, "word", I(0));
    EMIT_IF(b, is_there, ldg_b32, word, AT(from, 0));
    EMIT_IF(b, is_there, stg_b32, AT(to, 0), word);
    EMIT_RET(b);
}
