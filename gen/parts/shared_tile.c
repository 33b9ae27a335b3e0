#include "parts/shared_tile.h"
#include <stdio.h>

/* A line and an element of it. */
typedef struct line_place {
    int panel, line, element;
} line_place;

static line_place line_of(const shared_tile *t, int row, int k) {
    int along = t->mn_major ? row : k;
    return (line_place){
        .panel = along / tile_line(t), .line = t->mn_major ? k : row, .element = along % tile_line(t)};
}

int tile_offset(const shared_tile *t, int row, int k) {
    line_place at = line_of(t, row, k);
    return at.panel * tile_panel(t) + at.line * t->span + at.element * t->bytes;
}

int tile_place(const shared_tile *t, int row, int k) {
    int at = tile_offset(t, row, k), chunks = t->span / TILE_CHUNK;
    return at ^ ((at / (TILE_LINES * TILE_CHUNK) & (chunks - 1)) * TILE_CHUNK);
}

/* -- Matrix descriptors ------------------------------------------------------------------------------- */

/* The word that names the swizzle, in the upper two bits. */
static uint32_t swizzle_code(int span) {
    static const uint32_t codes[] = {[1] = 0, [2] = 3, [4] = 2, [8] = 1};
    return codes[span / TILE_CHUNK];
}

/* In an unswizzled MN-major tile the two distances change places. */
static bool exchanged(const shared_tile *t) { return t->mn_major && t->span == TILE_CHUNK; }

static int between_lines(const shared_tile *t) { return TILE_LINES * t->span; }

uint32_t descriptor_low(const shared_tile *t) {
    int leading = exchanged(t) ? between_lines(t) : tile_panel(t);
    return (uint32_t)(leading / DESCRIPTOR_UNIT) << 16;
}

uint32_t descriptor_high(const shared_tile *t) {
    int stride = exchanged(t) ? tile_panel(t) : between_lines(t);
    return (uint32_t)(stride / DESCRIPTOR_UNIT) | swizzle_code(t->span) << 30;
}

mc_reg tile_descriptor(mc_builder *b, const char *name, const shared_tile *t, mc_reg at) {
    char part[MC_MAX_NAME];
    mc_reg halves[2], descriptor = b64(b, name);
    /* in a cluster, addresses have the block's rank above the bits that a descriptor has room for */
    snprintf(part, sizeof part, "%s_place", name);
    at = and_b32(b, part, at, H(DESCRIPTOR_ADDRESSES));
    snprintf(part, sizeof part, "%s_address", name);
    mc_reg address = shr_u32(b, part, at, I(4));
    snprintf(part, sizeof part, "%s_low", name);
    halves[0] = or_b32(b, part, address, H(descriptor_low(t)));
    snprintf(part, sizeof part, "%s_high", name);
    halves[1] = mov_b32(b, part, H(descriptor_high(t)));
    EMIT(b, join_b64, descriptor, V2(halves));
    return descriptor;
}
