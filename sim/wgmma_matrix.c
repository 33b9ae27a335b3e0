/* Matrices of wgmma in shared memory: where their elements lie (ISA, "Shared Memory Matrix Layout",
 * "Strides", "Matrix descriptor"), and their reads by the async proxy. Formulas are those that an H100
 * showed for every swizzle, stride and base offset that was tried (docs/simulator.md, "wgmma"). */
#include "wgmma.h"

enum { CHUNK = 16, EIGHT = 8 }; /* bytes; rows, or elements along k, of a core matrix */

struct sim_descriptor sim_descriptor_of(uint64_t bits) {
    return (struct sim_descriptor){.start = (uint32_t)(bits & 0x3fff) << 4,
                                   .leading = (uint32_t)(bits >> 16 & 0x3fff) << 4,
                                   .stride = (uint32_t)(bits >> 32 & 0x3fff) << 4,
                                   .base = (unsigned)(bits >> 49 & 7),
                                   .swizzle = 16u >> (bits >> 62 ? bits >> 62 : 4)};
}

static bool is_sparse(const struct sim_insn *insn) { return insn->modifiers & SIM_SPARSE; }

/* Transposes are the last operands, that of A only there where it has a descriptor. */
static bool is_transposed(const struct sim_insn *insn, int from_end) {
    const struct sim_value *value = &insn->value[insn->value_count - from_end];
    if (sim_types[insn->type2].bytes != 2 || value->kind != SIM_CONSTANT) return false;
    return *(const uint32_t *)value->lanes != 0;
}

struct sim_extent sim_extent_of_a(const struct sim_warp *warp, const struct sim_insn *insn) {
    return (struct sim_extent){.first = warp->index % SIM_GROUP_WARPS * SIM_PRODUCT_ROWS,
                               .rows = SIM_PRODUCT_ROWS,
                               .depth = insn->depth / (is_sparse(insn) ? 2 : 1),
                               .bytes = sim_types[insn->type2].bytes,
                               .transposed = is_transposed(insn, 2)};
}

struct sim_extent sim_extent_of_b(const struct sim_insn *insn) {
    return (struct sim_extent){.rows = insn->columns,
                               .depth = insn->depth,
                               .bytes = sim_types[insn->type2].bytes,
                               .transposed = is_transposed(insn, 1)};
}

/* -- Chunks of 16 bytes --------------------------------------------------------------------------------- */

/* The chunks of a matrix: LINES of them, PER to a line. A line is a row of elements along k, or,
   transposed, one element along k of all rows. */
static int lines_of(const struct sim_extent *e) { return e->transposed ? e->depth : e->rows; }

static int chunks_of(const struct sim_extent *e) {
    return (e->transposed ? e->rows : e->depth) * e->bytes / CHUNK;
}

/* Chunk C of ROW, of elements along k: what goes beyond the swizzle's span is LBO away, and eight rows SBO.
   */
static uint32_t offset_along_k(const struct sim_descriptor *d, int row, int c) {
    const int span = (int)d->swizzle;
    return (uint32_t)(row % EIGHT * span * CHUNK + c % span * CHUNK) + (uint32_t)(row / EIGHT) * d->stride +
           (uint32_t)(c / span) * d->leading;
}

/* Chunk C of the rows at element K: without a swizzle chunks are SBO apart, and eight elements along k LBO;
   with one, it is the other way about. */
static uint32_t offset_along_rows(const struct sim_descriptor *d, int k, int c) {
    const int span = (int)d->swizzle;
    const uint32_t eights = (uint32_t)(k / EIGHT), spans = (uint32_t)(c / span);
    const uint32_t inside = (uint32_t)(k % EIGHT * span * CHUNK + c % span * CHUNK);
    return inside +
           (span == 1 ? spans * d->stride + eights * d->leading : spans * d->leading + eights * d->stride);
}

/* The address of chunk C of a line. The swizzle exchanges chunks by the address bits above 128 bytes. */
static uint32_t address_of(const struct sim_descriptor *d, const struct sim_extent *e, int line, int c) {
    const uint32_t offset = e->transposed ? offset_along_rows(d, line, c + e->first * e->bytes / CHUNK)
                                          : offset_along_k(d, line + e->first, c);
    const uint32_t at = d->start + offset;
    return at ^ (((at >> 7) - d->base) & (d->swizzle - 1)) << 4;
}

/* -- Reads ---------------------------------------------------------------------------------------------- */

/* Whether the bytes are there for the warp, and the async proxy knows of their last writes. What one lane
   knows is enough: the instruction is one of the whole warp. */
static bool may_read(struct sim_warp *warp, const struct sim_insn *insn, uint32_t at) {
    struct sim_block *block = warp->block;
    if (at > block->launch->shared_bytes || CHUNK > block->launch->shared_bytes - at) {
        sim_fault_at(warp, insn, 0, PTXSIM_BOUNDS, "reads 16 bytes at shared 0x%x: the block has %u bytes",
                     at, block->launch->shared_bytes);
        return false;
    }
    if (!sim_async_touch_together(warp, insn, at, CHUNK)) return false;
    if (!sim_shadow_written(block->shared_shadow, at, CHUNK)) {
        sim_fault_at(warp, insn, 0, PTXSIM_UNINIT, "reads shared 0x%zx, which nothing wrote",
                     sim_shadow_first_unwritten(block->shared_shadow, at, CHUNK));
        return false;
    }
    return !block->launch->races || sim_race_together(warp, insn, at, CHUNK);
}

/* The elements of a chunk, STEP apart. Only those of two bytes are ever transposed. */
static void put_elements(const unsigned char *chunk, int bytes, uint32_t *elements, int step) {
    uint16_t halves[CHUNK / 2];
    memcpy(halves, chunk, sizeof halves);
    if (bytes == 4) memcpy(elements, chunk, CHUNK);
    else if (bytes == 1)
        for (int i = 0; i < CHUNK; i++) elements[i] = chunk[i];
    else
        for (int i = 0; i < CHUNK / 2; i++) elements[i * step] = halves[i];
}

bool sim_read_matrix(struct sim_warp *warp, const struct sim_insn *insn, const struct sim_descriptor *d,
                     const struct sim_extent *e, uint32_t *elements, int pitch) {
    for (int line = 0; line < lines_of(e); line++)
        for (int c = 0; c < chunks_of(e); c++) {
            const uint32_t at = address_of(d, e, line, c);
            if (!may_read(warp, insn, at)) return false;
            const int first = c * CHUNK / e->bytes;
            if (e->transposed)
                put_elements(warp->block->shared + at, e->bytes, &elements[first * pitch + line], pitch);
            else put_elements(warp->block->shared + at, e->bytes, &elements[line * pitch + first], 1);
        }
    return true;
}

void sim_change_readers(struct sim_wgmma *wgmma, const struct sim_descriptor *d, const struct sim_extent *e,
                        int by) {
    for (int line = 0; line < lines_of(e); line++)
        for (int c = 0; c < chunks_of(e); c++) {
            uint16_t *count = &wgmma->readers[address_of(d, e, line, c) / CHUNK];
            *count = (uint16_t)(*count + by);
        }
}

bool sim_note_matrix(struct sim_warp *warp, const struct sim_insn *insn, const struct sim_descriptor *d,
                     const struct sim_extent *e) {
    for (int line = 0; line < lines_of(e); line++)
        for (int c = 0; c < chunks_of(e); c++)
            if (!sim_race_shared(warp, warp->block, insn, 0, address_of(d, e, line, c), CHUNK, SIM_READ))
                return false;
    return true;
}

bool sim_matrix_overlaps(const struct sim_descriptor *d, const struct sim_extent *e, size_t at,
                         unsigned bytes) {
    for (int line = 0; line < lines_of(e); line++)
        for (int c = 0; c < chunks_of(e); c++) {
            const size_t chunk = address_of(d, e, line, c);
            if (chunk < at + bytes && at < chunk + CHUNK) return true;
        }
    return false;
}
