/* Where elements of a tile lie: shared_tile.h against the addresses that a GPU was seen to read by each
 * descriptor, whose fields are taken from the descriptor's words, and against the order in which tensor
 * copies write. */
#include "check.h"
#include "parts/shared_tile.h"

/* What a GPU reads by a descriptor of span W: the byte of element (ROW, K), counted from the descriptor's
   address, before the swizzle. LEADING and STRIDE are its distances in bytes. */
static int read_by(const shared_tile *t, int row, int k, int leading, int stride) {
    int w = t->span, chunk = k * t->bytes / 16, chunks = w / 16, byte = k * t->bytes % 16;
    if (!t->mn_major)
        return row % 8 * w + row / 8 * stride + chunk % chunks * 16 + chunk / chunks * leading + byte;
    if (w == 16) return row / 8 * stride + k % 8 * 16 + k / 8 * leading + row % 8 * 2;
    return row % (w / 2) / 8 * 16 + row / (w / 2) * leading + k % 8 * w + k / 8 * stride + row % 8 * 2;
}

static int swizzled(int at, int span) { return at ^ ((at >> 7 & (span / 16 - 1)) << 4); }

static void test_reads(const shared_tile *t) {
    static const unsigned codes[] = {[1] = 0, [2] = 3, [4] = 2, [8] = 1};
    int leading = (int)(descriptor_low(t) >> 16) * 16, stride = (int)(descriptor_high(t) & 0x3fff) * 16,
        wrong = 0;
    CHECK(descriptor_high(t) >> 30 == codes[t->span / 16]);
    for (int row = 0; row < t->rows; row++)
        for (int k = 0; k < t->k; k++)
            wrong += tile_place(t, row, k) != swizzled(read_by(t, row, k, leading, stride), t->span);
    CHECK(wrong == 0, "rows %d, k %d, %d bytes, span %d, %s-major: %d elements", t->rows, t->k, t->bytes,
          t->span, t->mn_major ? "MN" : "K", wrong);
}

/* Every step of k, and every 64 rows, begins where the sum of offsets says. */
static void test_steps(const shared_tile *t) {
    int step = 32 / t->bytes, wrong = 0;
    for (int row = 0; row < t->rows; row++)
        for (int k = 0; k < t->k; k++) {
            int from = tile_offset(t, row / 64 * 64, k / step * step);
            int within = tile_offset(t, row % 64, k % step);
            wrong += tile_offset(t, row, k) != from + within;
        }
    CHECK(wrong == 0, "rows %d, k %d, span %d: %d steps", t->rows, t->k, t->span, wrong);
}

/* A copy writes panel after panel, each line after line, and swizzles by the address. */
static void test_copies(const shared_tile *t) {
    int at = 0, wrong = 0;
    for (int panel = 0; panel < tile_panels(t); panel++)
        for (int line = 0; line < tile_lines(t); line++)
            for (int i = 0; i < tile_line(t); i++, at += t->bytes) {
                int along = panel * tile_line(t) + i;
                int row = t->mn_major ? along : line, k = t->mn_major ? line : along;
                wrong += tile_place(t, row, k) != swizzled(at, t->span);
            }
    CHECK(wrong == 0 && at == tile_bytes(t), "rows %d, k %d, span %d: %d elements", t->rows, t->k, t->span,
          wrong);
}

int main(void) {
    static const int spans[] = {16, 32, 64, 128}, widths[] = {1, 2, 4};
    for (size_t s = 0; s < 4; s++)
        for (size_t w = 0; w < 3; w++)
            for (int rows = 64; rows <= 256; rows += 64)
                for (int k = 128; k <= 256; k += 128)
                    for (int major = 0; major <= (widths[w] == 2); major++) {
                        shared_tile t = {rows, k / widths[w], widths[w], spans[s], major};
                        test_reads(&t);
                        test_steps(&t);
                        test_copies(&t);
                    }
    return check_end();
}
