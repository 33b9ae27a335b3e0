/* Layouts of the metadata for sparse tensor cores: each code has its own place, and comes back. */
#include "base/element.h"
#include "base/memory.h"
#include "matrix/sparse24_layout.h"
#include "sparse24_matrices.h"

/* Where CUTLASS for sm_80 has word COL of ROW, of ROWS rows, by steps: rows change places in their GROUP, then
   words in each square of 2 x 2, then pairs of columns follow each other. */
static int64_t sm80_word(int64_t rows, int64_t row, int64_t col, int group, int interleave) {
    int64_t r = row / group * group + row % 8 * interleave + row % group / 8, c = col;
    if (r % 2 == 0 && c % 2 == 1) r++, c--;
    else if (r % 2 == 1 && c % 2 == 0) r--, c++;
    return c / 2 * 2 * rows + 2 * r + c % 2;
}

static int64_t want_natural(mc_type type, int64_t rows, int64_t across, int64_t row, int64_t group) {
    (void)type, (void)rows;
    return row * across + group;
}

static int64_t want_sm80(mc_type type, int64_t rows, int64_t across, int64_t row, int64_t group) {
    (void)across;
    bool is_half = mc_type_bits(type) >= 16;
    int codes = is_half ? 4 : 8;
    return sm80_word(rows, row, group / codes, is_half ? 32 : 16, is_half ? 4 : 2) * codes + group % codes;
}

/* Of tiles of 128 elements in k: lane 4 g + t of a warp has its words of all steps side by side, g before t. */
static int64_t want_sm90(mc_type type, int64_t rows, int64_t across, int64_t row, int64_t group) {
    (void)across;
    int bits = mc_type_bits(type), atom = bits == 32 ? 64 : 32, steps = atom / 8;
    int64_t first = (group / atom * (rows / 64) + row / 64) * 64 * atom, r = row % 64, c = group % atom;
    if (bits == 8) return first + r * atom + c;
    int64_t warp = r / 16, g = r % 8, step = c / 8, t = c % 8 / 4;
    return first +
           2 * (16 * steps * 4 * warp + 8 * steps * 4 * t + 4 * steps * g + 4 * step + 2 * (r % 16 / 8)) +
           c % 4;
}

static const struct {
    const char *name;
    int64_t (*want)(mc_type type, int64_t rows, int64_t across, int64_t row, int64_t group);
} wanted[] = {{"natural8", want_natural},
              {"natural16", want_natural},
              {"natural32", want_natural},
              {"cutlass-sm80", want_sm80},
              {"cutlass-sm90", want_sm90}};
enum { NAMED = sizeof wanted / sizeof *wanted };

/* No two codes at one place, and each where WANT, if there is one, has it. */
static void check_positions(const char *name, const mc_meta_layout *layout, mc_type type, int64_t rows,
                            int64_t groups_across, int which) {
    int64_t down = mc_meta_padded(rows, layout->rows), across = mc_meta_padded(groups_across, layout->groups);
    int64_t twice = 0, wrong = 0;
    uint8_t *taken = mcrt_array(down * across, 1);
    for (int64_t i = 0; i < down; i++)
        for (int64_t g = 0; g < across; g++) {
            int64_t at = mc_meta_position(layout, rows, groups_across, i, g);
            bool is_one = at >= 0 && at < down * across;
            twice += !is_one || taken[at];
            if (is_one) taken[at] = 1;
            wrong += which >= 0 && at != wanted[which].want(type, down, across, i, g);
        }
    CHECK(twice == 0 && wrong == 0, "%s of %s, %lld x %lld: %lld at one place, %lld elsewhere", name,
          mc_type_text(type), (long long)rows, (long long)groups_across, (long long)twice, (long long)wrong);
    free(taken);
}

/* What fills atoms up is 4. */
static void check_padding(const char *name, const mc_meta_layout *layout, const mc_dense *meta, int64_t rows,
                          int64_t groups_across) {
    int64_t down = mc_meta_padded(rows, layout->rows), across = mc_meta_padded(groups_across, layout->groups);
    int64_t wrong = 0;
    for (int64_t i = 0; i < down; i++)
        for (int64_t g = i < rows ? groups_across : 0; g < across; g++)
            wrong += nibble_get(meta->data, mc_meta_position(layout, rows, groups_across, i, g)) != 4;
    CHECK(wrong == 0, "%s: %lld codes", name, (long long)wrong);
}

static void check_layout(const char *name, const mc_meta_layout *layout, mc_type type, int which,
                         mc_diag *diag) {
    for (int i = 0; i < SHAPES; i++) {
        mc_sparse24 s;
        mc_sparse24_rule rule;
        mc_dense a = random_matrix(type, shapes[i].rows, shapes[i].cols, 7, diag), meta, natural;
        expect_ok(name, mc_sparse24_rule_of(type, &rule, diag), diag);
        check_positions(name, layout, type, a.rows, mc_sparse24_groups(&rule, a.cols), which);
        expect_ok(name, mc_sparse24_compress(&a, MC_SPARSE24_STRICT, &s, diag), diag);
        expect_ok(name, mc_meta_export(&s, layout, &meta, diag), diag);
        check_padding(name, layout, &meta, a.rows, mc_sparse24_groups(&rule, a.cols));
        natural = s.meta;
        s.meta = (mc_dense){0};
        expect_ok(name, mc_meta_import(&meta, layout, &s, diag), diag);
        CHECK(same(&natural, &s.meta), "%s of %s: %lld x %lld", name, mc_type_text(type), (long long)a.rows,
              (long long)a.cols);
        mc_dense_free(&natural);
        mc_dense_free(&meta);
        mc_sparse24_free(&s);
        mc_dense_free(&a);
    }
}

static void test_layouts(mc_diag *diag) {
    CHECK(mc_meta_layout_name(NAMED) == NULL && mc_meta_layout_name(-1) == NULL, "all layouts are tested");
    for (int n = 0; n < NAMED; n++)
        for (int t = 0; t < TYPES; t++) {
            mc_meta_layout layout;
            bool is_none = wanted[n].want == want_sm90 && mc_type_bits(types[t]) == 4;
            CHECK(strcmp(mc_meta_layout_name(n), wanted[n].name) == 0, "%s", mc_meta_layout_name(n));
            mc_status status = mc_meta_layout_named(wanted[n].name, types[t], 128, &layout, diag);
            CHECK(status == (is_none ? MC_CANNOT : MC_OK), "%s: %s", wanted[n].name, mc_diag_text(diag));
            mc_diag_clear(diag);
            if (status == MC_OK) check_layout(wanted[n].name, &layout, types[t], n, diag);
            mc_meta_layout_free(&layout);
        }
}

/* Smaller tiles have smaller atoms. */
static void test_tiles(mc_diag *diag) {
    static const struct {
        mc_type type;
        int64_t tile_k;
        int groups;
    } tiles[] = {{MC_F16, 32, 8},   {MC_BF16, 64, 16}, {MC_F16, 256, 32}, {MC_TF32, 16, 8},
                 {MC_TF32, 64, 32}, {MC_S8, 64, 16},   {MC_E4M3, 192, 32}};
    mc_meta_layout layout;
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
        mc_status status =
            mc_meta_layout_named("cutlass-sm90", tiles[i].type, tiles[i].tile_k, &layout, diag);
        expect_ok("tile", status, diag);
        CHECK(layout.rows == 64 && layout.groups == tiles[i].groups, "%d groups", layout.groups);
        check_layout("cutlass-sm90", &layout, tiles[i].type, -1, diag);
        mc_meta_layout_free(&layout);
    }
    expect_failure("tile", mc_meta_layout_named("cutlass-sm90", MC_S8, 32, &layout, diag), MC_USAGE, diag,
                   "a tile of 32 in k: must be a multiple of 64 for s8");
    expect_failure("tile", mc_meta_layout_named("cutlass-sm90", MC_F16, -32, &layout, diag), MC_USAGE, diag,
                   "a tile of -32 in k");
    expect_failure("name", mc_meta_layout_named("natural", MC_S8, 128, &layout, diag), MC_USAGE, diag,
                   "'natural' is no layout of metadata: natural8, natural16, natural32, cutlass-sm80, cut");
    expect_failure(
        "type", mc_meta_layout_named("natural8", MC_S16, 128, &layout, diag), MC_CANNOT, diag,
        "s16: sparse tensor cores have s8, u8, s4, u4, f16, bf16, f32, tf32, e4m3, e5m2 and tf32rz");
}

/* A table may be any permutation. */
static void test_tables(mc_diag *diag) {
    enum { ROWS = 6, COLS = 16 };
    mc_dense table = dense_of(MC_S64, ROWS, COLS, diag);
    mcrt_random random = random_start(3, 3);
    mc_meta_layout layout;
    for (int i = 0; i < ROWS * COLS; i++) mc_dense_set(&table, i / COLS, i % COLS, i);
    for (int i = ROWS * COLS - 1; i > 0; i--) {
        int j = (int)(random_next(&random) % (uint64_t)(i + 1));
        int64_t other = mc_dense_get(&table, j / COLS, j % COLS);
        mc_dense_set(&table, j / COLS, j % COLS, mc_dense_get(&table, i / COLS, i % COLS));
        mc_dense_set(&table, i / COLS, i % COLS, other);
    }
    for (int i = 0; i < 6; i++) {
        expect_ok("table", mc_meta_layout_table(&table, 8 << i % 3, i >= 3, &layout, diag), diag);
        check_layout("table", &layout, types[i], -1, diag);
        mc_meta_layout_free(&layout);
    }
    expect_failure("word", mc_meta_layout_table(&table, 64, false, &layout, diag), MC_USAGE, diag,
                   "words of 64 bits: must have 8, 16 or 32");
    mc_dense_set(&table, 5, 15, mc_dense_get(&table, 0, 0));
    expect_failure("twice", mc_meta_layout_table(&table, 8, false, &layout, diag), MC_FORMAT, diag,
                   "which it has twice: it must have each of 0 to 95 once");
    mc_dense_set(&table, 0, 0, -1);
    expect_failure("sign", mc_meta_layout_table(&table, 8, false, &layout, diag), MC_FORMAT, diag,
                   "the table's [0][0] is -1, no offset");
    table.cols = 3;
    expect_failure("word", mc_meta_layout_table(&table, 8, false, &layout, diag), MC_FORMAT, diag,
                   "the table has 3 columns: must be a multiple of the 2 codes of a word");
    table.cols = 0;
    expect_failure("empty", mc_meta_layout_table(&table, 8, false, &layout, diag), MC_FORMAT, diag,
                   "the table is 6 x 0: must have 1 to 1048576 offsets");
    table.cols = COLS, table.type = MC_F32;
    expect_failure("type", mc_meta_layout_table(&table, 8, false, &layout, diag), MC_FORMAT, diag,
                   "the table holds f32, must hold integers");
    table.type = MC_S64;
    mc_dense_free(&table);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    test_layouts(diag);
    test_tiles(diag);
    test_tables(diag);
    mc_diag_destroy(diag);
    return check_end();
}
