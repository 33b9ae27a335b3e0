#include "parts/copy.h"
#include "parts/emit.h"

void copy_async(mc_builder *b, int width, copy_piece piece) {
    bool widest = width == COPY_WIDEST, whole = piece.size.kind == PTX_REG && !piece.size.id;
    mc_opcode op = widest ? OP_cp_async_unit : OP_cp_async_narrow;
    if (whole && widest) EMIT_IF(b, piece.guard, cp_async_whole, piece.to, piece.from, I(width));
    else
        builder_emit(b, piece.guard, op,
                     MC_OPERANDS(piece.to, piece.from, I(width), whole ? I(width) : piece.size));
}

copy_width copy_fixed_width(int bytes, int tile_bytes) {
    int log = log2_of(bytes);
    return (copy_width){
        .fixed = bytes, .bytes = I(bytes), .log_bytes = I(log), .log_pieces = I(log2_of(tile_bytes) - log)};
}

/* The logarithm of the widest piece's bytes. */
static mc_reg emit_log_width(mc_builder *b, mc_reg array, mc_operand row_bytes) {
    mc_reg low = b32(b, "low_bits"), odd = pred(b, "odd_copy");
    mc_reg bits = carried(b, "odd_bits", row_bytes);
    if (array.id) {
        EMIT(b, cvt_low, low, array);
        EMIT(b, or_b32, bits, bits, low);
    }
    mc_reg log = carried(b, "log_width", I(log2_of(COPY_WIDEST)));
    for (int next = 3; next >= 2; next--) {
        EMIT(b, and_b32, low, bits, I((2 << next) - 1));
        EMIT(b, setp_ne, odd, low, I(0));
        EMIT_IF(b, odd, mov_b32, log, I(next));
    }
    return log;
}

copy_width copy_find_width(mc_builder *b, mc_reg array, mc_operand row_bytes, int tile_bytes) {
    copy_width found = {.fixed = 0};
    found.log_bytes = emit_log_width(b, array, row_bytes);
    found.log_pieces = sub_s32(b, "log_pieces", I(log2_of(tile_bytes)), found.log_bytes);
    found.bytes = carried(b, "width", I(1));
    EMIT(b, shl_b32, found.bytes, found.bytes, found.log_bytes);
    pred_array(b, "wide", COPY_WIDTHS, found.is);
    for (int i = 0; i < COPY_WIDTHS; i++) EMIT(b, setp_eq, found.is[i], found.log_bytes, I(4 - i));
    return found;
}

void copy_any_width(mc_builder *b, const copy_width *width, copy_piece piece) {
    for (int i = 0; i < COPY_WIDTHS; i++) {
        int bytes = COPY_WIDEST >> i;
        if (width->fixed && width->fixed != bytes) continue;
        piece.guard = width->is[i];
        copy_async(b, bytes, piece);
    }
}

copy_pieces copy_pieces_of(mc_builder *b, const copy_width *width, mc_reg thread, int threads) {
    copy_pieces pieces = {.first_row = shr_u32(b, "first_row", thread, width->log_pieces)};
    mc_reg byte = pieces.byte = b32(b, "piece");
    EMIT(b, shl_b32, byte, pieces.first_row, width->log_pieces);
    EMIT(b, sub_s32, byte, thread, byte);
    EMIT(b, shl_b32, byte, byte, width->log_bytes);
    pieces.row_step = carried(b, "row_step", I(threads));
    EMIT(b, shr_u32, pieces.row_step, pieces.row_step, width->log_pieces);
    return pieces;
}
