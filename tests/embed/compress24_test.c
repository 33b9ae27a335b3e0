/* What mc_compress24 makes on the device is, to the byte, what the host makes (matrix/sparse24.h, sparse24_layout.h, the format packed24):
 * every type, layout and mode, shapes at all edges, rows that are aligned and that are not. Nothing else is written or read.
 * compress24_test [DEVICE]: the simulator, or cuda:0; exit status 77 without a GPU. */
#include <inttypes.h>
#include "check.h"
#include "base/element.h"
#include "context/compress24.h"
#include "context/matrix_make.h"
#include "formats/pack.h"
#include "matrix/random.h"
#include "matrix/sparse24_layout.h"
#include "matrix/vsparse.h"
#include "parts/packed24.h"

enum { GUARD = 512, GUARD_BYTE = 0xa5, GAP_BYTE = 0xff, FILL_CODES = 0x44, BOTH = 2 };

static const mc_type types[] = {MC_F16, MC_BF16, MC_S8,     MC_U8, MC_E4M3, MC_E5M2,
                                MC_F32, MC_TF32, MC_TF32RZ, MC_S4, MC_U4};
static const int64_t sizes[] = {1, 7, 8, 63, 64, 65, 129, 200};
enum { TYPES = sizeof types / sizeof *types, SIZES = sizeof sizes / sizeof *sizes };

static bool has_pairs(mc_type type) { return mc_type_bits(type) == 4; }
static bool has_layout(mc_type type, int layout) { return !has_pairs(type) || layout != MC_LAYOUT24_SM90; }

static mc_context *context;
static mc_diag *diag;

static bool worked(const char *what, mc_status status) {
    CHECK(status == MC_OK, "%s: %s", what, mc_diag_text(diag));
    mc_diag_clear(diag);
    return status == MC_OK;
}

/* -- Matrices ----------------------------------------------------------------------------------------- */

/* ROOM: groups have no more nonzeros than are kept. Few magnitudes: ties. Any bits: NaNs, infinities, -0. */
typedef enum fill { FILL_ROOM, FILL_TIES, FILL_BITS, FILLS } fill;

static int64_t random_element(mcrt_random *random, mc_type type, fill how) {
    const int bits = mc_type_bits(type);
    uint64_t value = random_next(random) >> 11;
    if (how == FILL_TIES) {
        uint64_t sign = value >> 4 & 1;
        if (!mc_type_is_real(type))
            return mc_type_min(type) < 0 && sign ? -(int64_t)(value & 1) : (int64_t)(value & 1);
        value = (value & 1) << (bits - 3) | sign << (bits - 1);
    }
    mc_dense one = {type, 1, 1, 2, (uint64_t[2]){0}};
    memcpy(one.data, &value, (size_t)(bits + 7) / 8);
    return mc_dense_get(&one, 0, 0);
}

/* 0, or -0 where there is one. */
static int64_t random_zero(mcrt_random *random, mc_type type) {
    mc_dense one = {type, 1, 1, 2, (uint64_t[2]){0}};
    uint64_t bits = mc_type_is_real(type) ? (random_next(random) >> 40 & 1) << (mc_type_bits(type) - 1) : 0;
    memcpy(one.data, &bits, sizeof bits);
    return mc_dense_get(&one, 0, 0);
}

/* An element, or a pair, of which one may be zero. */
static void set_unit(mcrt_random *random, mc_dense *a, const mc_sparse24_rule *rule, int64_t row,
                     int64_t unit, bool kept, fill how) {
    const int alone = rule->unit > 1 ? (int)(random_next(random) >> 20 & 3) : 0;
    for (int e = 0; e < rule->unit; e++) {
        const int64_t col = unit * rule->unit + e;
        int64_t value =
            kept && alone != e + 1 ? random_element(random, a->type, how) : random_zero(random, a->type);
        if (col < a->cols) mc_dense_set(a, row, col, value);
    }
}

static mc_dense make_matrix(mc_type type, int64_t rows, int64_t cols, fill how, uint64_t seed) {
    mc_dense a;
    mc_sparse24_rule rule;
    mcrt_random random = random_start(seed, 1);
    (void)worked("rule", mc_sparse24_rule_of(type, &rule, diag));
    if (!worked("create", mc_dense_create(type, rows, cols, cols + cols % 2, &a, diag))) exit(1);
    const int64_t units = (cols + rule.unit - 1) / rule.unit;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t first = 0; first < units; first += rule.group) {
            int room =
                how == FILL_ROOM ? (int)(random_next(&random) % (unsigned)(rule.kept + 1)) : rule.group;
            int start = (int)(random_next(&random) % (unsigned)rule.group);
            for (int n = 0; n < rule.group; n++) {
                bool kept = n < room || (rule.group == 4 && n == 2 && room == 1 && random_next(&random) % 2);
                set_unit(&random, &a, &rule, i, first + (start + n) % rule.group, kept, how);
            }
        }
    return a;
}

/* -- What the host makes ------------------------------------------------------------------------------- */

typedef struct arrays {
    mc_compress24_size sizes;
    unsigned char *values, *meta;
} arrays;

static void copy_rows(const mc_dense *from, unsigned char *to, int64_t pitch) {
    const int64_t bytes = mc_type_size(from->type, from->cols), step = mc_type_size(from->type, from->ld);
    for (int64_t i = 0; i < from->rows; i++)
        memcpy(to + i * pitch, (const unsigned char *)from->data + i * step, (size_t)bytes);
}

static void take_meta(const mc_sparse24 *s, mc_layout24 layout, arrays *want) {
    static const char *const names[] = {NULL, "natural8", "cutlass-sm80", "cutlass-sm90"};
    mc_meta_layout how;
    mc_dense meta;
    if (!worked("layout", mc_meta_layout_named(names[layout], s->values.type, MC_META_TILE_K, &how, diag)))
        return;
    if (worked("export", mc_meta_export(s, &how, &meta, diag))) {
        const int64_t bytes = mc_type_size(meta.type, meta.rows * meta.cols);
        if (layout == MC_LAYOUT24_NATURAL) copy_rows(&meta, want->meta, want->sizes.meta_pitch);
        else
            CHECK(bytes == want->sizes.meta, "%s: %" PRId64 " bytes, not %" PRId64, names[layout],
                  want->sizes.meta, bytes);
        if (layout != MC_LAYOUT24_NATURAL) memcpy(want->meta, meta.data, (size_t)bytes);
        mc_dense_free(&meta);
    }
    mc_meta_layout_free(&how);
}

/* Each value and code of S goes where packed24 has it. */
static void take_packed(const mc_sparse24 *s, arrays *want) {
    const mc_type type = s->values.type;
    const int bytes = (int)mc_type_size(type, 1), in_row = 2 * packed24_meta_row(bytes);
    mc_sparse24_rule rule;
    (void)mc_sparse24_rule_of(type, &rule, NULL);
    const int64_t k = (int64_t)packed24_k(bytes) * rule.unit, steps = (s->cols + k - 1) / k,
                  groups = mc_sparse24_groups(&rule, s->cols), row_bytes = mc_type_size(type, s->values.cols),
                  step = mc_type_size(type, s->values.ld);
    for (int64_t i = 0; i < s->rows; i++) {
        const int row = (int)(i % PACKED24_ROWS);
        for (int64_t j = 0; j < row_bytes; j++) {
            int64_t atom = i / PACKED24_ROWS * steps + j / PACKED24_ROW_BYTES;
            want->values[atom * packed24_values() +
                         packed24_value_place(row, (int)(j % PACKED24_ROW_BYTES))] =
                ((const unsigned char *)s->values.data)[i * step + j];
        }
        for (int64_t g = 0; g < groups; g++) {
            int64_t atom = i / PACKED24_ROWS * steps + g / in_row;
            int place = packed24_meta_place(bytes, row, (int)(g % in_row) / 2);
            nibble_set(want->meta, 2 * (atom * packed24_meta(bytes) + place) + g % 2,
                       nibble_get(s->meta.data, i * 2 * s->meta.ld + g));
        }
    }
}

static arrays host_arrays(const mc_sparse24 *s, const mc_compress24_config *config) {
    arrays want = {.sizes.size = sizeof want.sizes};
    if (!worked("sizes", mc_compress24_sizes(config, &want.sizes, diag))) exit(1);
    want.values = calloc(1, (size_t)want.sizes.values + 1);
    want.meta = malloc((size_t)want.sizes.meta + 1);
    memset(want.meta, FILL_CODES, (size_t)want.sizes.meta);
    if (config->layout == MC_LAYOUT24_PACKED) {
        take_packed(s, &want);
        return want;
    }
    copy_rows(&s->values, want.values, want.sizes.values_pitch);
    take_meta(s, config->layout, &want);
    return want;
}

/* -- On the device ------------------------------------------------------------------------------------- */

/* Memory with a guard at both ends; address 0 of a block is behind the first. */
static mc_address guarded(int64_t bytes) {
    mc_address address = 0;
    const size_t all = (size_t)bytes + BOTH * GUARD;
    unsigned char *pattern = malloc(all);
    memset(pattern, GUARD_BYTE, all);
    (void)worked("memory", mc_memory_create(context, all, &address, diag));
    (void)worked("write", mc_memory_write(context, address, pattern, all, diag));
    free(pattern);
    return address + GUARD;
}

static void release(mc_address address) { mc_memory_destroy(context, address - GUARD); }

static void compare(const char *text, const char *name, mc_address address, const unsigned char *want,
                    int64_t bytes) {
    const size_t all = (size_t)bytes + BOTH * GUARD;
    unsigned char *got = malloc(all);
    int64_t i = 0;
    (void)worked("read", mc_memory_read(context, address - GUARD, got, all, diag));
    while (i < bytes && got[GUARD + i] == want[i]) i++;
    CHECK(i == bytes, "%s: byte %" PRId64 " of %" PRId64 " of %s is %02x, must be %02x", text, i, bytes, name,
          i < bytes ? got[GUARD + i] : 0, i < bytes ? want[i] : 0);
    bool whole = true;
    for (int g = 0; g < GUARD; g++)
        whole &= got[g] == GUARD_BYTE && got[GUARD + (size_t)bytes + (size_t)g] == GUARD_BYTE;
    CHECK(whole, "%s: something beside %s was written", text, name);
    free(got);
}

/* A lies OFFSET elements, or pairs, behind an aligned place, with GAP elements between its rows. What shares
   a byte with the last one of a row is no zero. */
static mc_address put_matrix(const mc_dense *a, int64_t offset, int64_t gap, mc_address *block) {
    const int64_t first = offset * mc_type_size(a->type, 1), pitch = mc_type_size(a->type, a->cols + gap);
    const size_t bytes = (size_t)(first + a->rows * pitch);
    unsigned char *data = malloc(bytes + 1);
    memset(data, GAP_BYTE, bytes);
    copy_rows(a, data + first, pitch);
    for (int64_t i = 0; i < a->rows && has_pairs(a->type) && a->cols % 2 == 1; i++)
        nibble_set(data + first + i * pitch, a->cols, GAP_BYTE);
    (void)worked("memory", mc_memory_create(context, bytes + 1, block, diag));
    (void)worked("write", mc_memory_write(context, *block, data, bytes, diag));
    free(data);
    return *block + (mc_address)first;
}

/* One matrix, one layout. */
static void try_one(const mc_dense *a, mc_layout24 layout, bool prune, int64_t offset, int64_t gap) {
    mc_compress24_config config = {.size = sizeof config,
                                   .type = a->type,
                                   .rows = a->rows,
                                   .cols = a->cols,
                                   .ld = a->cols + gap,
                                   .layout = layout,
                                   .prune = prune};
    mc_compress24_report report = {.size = sizeof report};
    mc_sparse24 s;
    char text[128];
    mc_address block = 0;
    snprintf(text, sizeof text, "%s, %" PRId64 " x %" PRId64 " + %" PRId64 ", layout %d, %s",
             mc_type_text(a->type), a->rows, a->cols, gap, (int)layout, prune ? "prune" : "strict");
    if (!worked(text, mc_sparse24_compress(a, prune ? MC_SPARSE24_PRUNE : MC_SPARSE24_STRICT, &s, diag)))
        return;
    arrays want = host_arrays(&s, &config);
    config.data = put_matrix(a, offset, gap, &block);
    config.values = guarded(want.sizes.values);
    config.meta = guarded(want.sizes.meta);
    if (worked(text, mc_compress24(context, &config, NULL, &report, diag))) {
        compare(text, "values", config.values, want.values, want.sizes.values);
        compare(text, "metadata", config.meta, want.meta, want.sizes.meta);
        CHECK(report.full == s.lost && report.row == -1 && report.group == -1,
              "%s: %" PRId64 " groups, not %" PRId64, text, report.full, s.lost);
    }
    release(config.values);
    release(config.meta);
    mc_memory_destroy(context, block);
    free(want.values);
    free(want.meta);
    mc_sparse24_free(&s);
}

/* Rows at multiples of 16 bytes, and at others. */
static int64_t gap_of(const mc_dense *a, int turn) {
    const int64_t unit = (has_pairs(a->type) ? 32 : 16) / mc_type_size(a->type, 1);
    const int64_t gap = turn % 3 == 0 ? (unit - a->cols % unit) % unit : turn % 3 == 1 ? 0 : turn % 7 + 1;
    return has_pairs(a->type) ? gap + (a->cols + gap) % 2 : gap;
}

static void test_shapes(void) {
    int number = 0, turn = 0;
    for (size_t t = 0; t < TYPES; t++)
        for (size_t i = 0; i < SIZES; i++)
            for (size_t j = 0; j < SIZES; j++) {
                if (!check_takes(number++)) continue;
                for (int layout = MC_LAYOUT24_PACKED; layout <= MC_LAYOUT24_SM90; layout++, turn++) {
                    if (!has_layout(types[t], layout)) continue;
                    const fill how = (fill)(turn / 2 % FILLS);
                    mc_dense a = make_matrix(types[t], sizes[i], sizes[j], how, (uint64_t)turn);
                    try_one(&a, (mc_layout24)layout, how != FILL_ROOM, turn % 5 == 4, gap_of(&a, turn));
                    mc_dense_free(&a);
                }
            }
}

/* The same in strict mode, and matrices of more than a few slabs, with a stride that is aligned. */
static void test_room(void) {
    int turn = 0;
    for (size_t t = 0; t < TYPES; t++)
        for (int layout = MC_LAYOUT24_PACKED; layout <= MC_LAYOUT24_SM90; layout++, turn++)
            for (int prune = 0; prune < 2 && has_layout(types[t], layout); prune++) {
                mc_dense a = make_matrix(types[t], 130, 1032, FILL_ROOM, 77 + (uint64_t)turn);
                try_one(&a, (mc_layout24)layout, prune == 1, 0, gap_of(&a, 0));
                mc_dense_free(&a);
            }
    mc_dense none = make_matrix(MC_F16, 0, 64, FILL_ROOM, 1),
             narrow = make_matrix(MC_S8, 70, 0, FILL_ROOM, 1);
    for (int layout = MC_LAYOUT24_PACKED; layout <= MC_LAYOUT24_SM90; layout++) {
        try_one(&none, (mc_layout24)layout, false, 0, 0);
        try_one(&narrow, (mc_layout24)layout, false, 0, 0);
    }
    mc_dense_free(&none);
    mc_dense_free(&narrow);
}

/* Rows of pairs that end in the middle of one, where all that comes before is loaded as units; tails; and
   rows of what the usual sizes are not. */
static void test_pairs(void) {
    static const int64_t cols[] = {2, 9, 15, 16, 17, 447, 448, 449, 511, 512, 513, 1023};
    int turn = 0;
    for (size_t i = 0; i < sizeof cols / sizeof *cols; i++)
        for (int layout = MC_LAYOUT24_PACKED; layout < MC_LAYOUT24_SM90; layout++)
            for (int how = 0; how < FILLS; how++, turn++) {
                const mc_type type = turn % 2 ? MC_S4 : MC_U4;
                mc_dense a = make_matrix(type, turn % 5 ? 17 : 65, cols[i], (fill)how, 900 + (uint64_t)turn);
                try_one(&a, (mc_layout24)layout, how != FILL_ROOM, 0, gap_of(&a, 0));
                mc_dense_free(&a);
            }
}

/* Each byte competes with each other one for the second place in a group, behind the greatest pair there is
   and before a zero. */
static void test_all_pairs(mc_type type) {
    const unsigned char greatest = type == MC_S4 ? 0x88 : 0xff;
    mc_dense a;
    if (!worked("create", mc_dense_create(type, 256, 2048, 2048, &a, diag))) return;
    for (int64_t i = 0; i < a.rows; i++)
        for (int64_t j = 0; j < 256; j++) {
            const int64_t place = (i + j) % 4, behind = 1 + (i / 4 + j / 4) % 3;
            unsigned char *group = (unsigned char *)a.data + (i * a.ld + j * 8) / 2;
            group[place] = (unsigned char)i;
            group[(place + behind) % 4] = (unsigned char)j;
            group[(place + behind % 3 + 1) % 4] = greatest;
        }
    try_one(&a, MC_LAYOUT24_PACKED, true, 0, 0);
    mc_dense_free(&a);
}

/* -- packed24, as plans pack it ------------------------------------------------------------------------ */

/* The kernel of a product packs the same arrays, but that the zeros which it keeps have no sign. */
static void test_packing(const char *fields, mc_type type) {
    mc_kernel *kernel = NULL;
    mc_vsparse host;
    mc_packed packed;
    mc_dense a = make_matrix(type, 129, 300, FILL_ROOM, 5);
    for (int64_t i = 0; i < a.rows; i++)
        for (int64_t j = 0; j < a.cols; j++)
            if (mc_dense_real(&a, i, j) == 0) mc_dense_set(&a, i, j, 0);
    const mc_dense_config dense = {.size = sizeof dense,
                                   .type = type,
                                   .vec = 1,
                                   .rows = a.rows,
                                   .cols = a.cols,
                                   .ld = a.ld,
                                   .data = a.data};
    mc_compress24_config config = {.size = sizeof config, .type = type, .rows = a.rows, .cols = a.cols};
    mc_compress24_size bytes = {.size = sizeof bytes};
    mc_address block = 0;
    if (!worked(fields, mc_kernel_from_fields(fields, &kernel, diag))) return;
    if (worked("vectors", matrix_make_dense(&dense, &host, diag)) &&
        worked("pack", mc_pack(kernel, &host, &packed, diag)) &&
        worked("sizes", mc_compress24_sizes(&config, &bytes, diag))) {
        CHECK(mc_type_size(packed.arrays[0].type, packed.arrays[0].count) == bytes.values &&
              packed.arrays[1].count == bytes.meta);
        config.data = put_matrix(&a, 0, 0, &block);
        config.values = guarded(bytes.values), config.meta = guarded(bytes.meta);
        if (worked(fields, mc_compress24(context, &config, NULL, NULL, diag))) {
            compare(fields, "values", config.values, packed.arrays[0].data, bytes.values);
            compare(fields, "metadata", config.meta, packed.arrays[1].data, bytes.meta);
        }
        release(config.values);
        release(config.meta);
        mc_memory_destroy(context, block);
        mc_packed_free(&packed);
        mc_vsparse_free(&host);
    }
    mc_kernel_destroy(kernel);
    mc_dense_free(&a);
}

/* -- What is refused ----------------------------------------------------------------------------------- */

/* The message is the host's, and so are number and place. */
static void test_full(mc_type type, int64_t rows, int64_t cols, uint64_t seed) {
    mc_dense a = make_matrix(type, rows, cols, FILL_ROOM, seed);
    mc_sparse24_rule rule;
    mc_sparse24 s;
    mcrt_random random = random_start(seed, 2);
    char want[256];
    int64_t first = INT64_MAX, groups = cols / 4;
    (void)mc_sparse24_rule_of(type, &rule, NULL);
    groups = cols / rule.group / rule.unit;
    for (int n = 0; n < 3; n++) {
        int64_t row = (int64_t)(random_next(&random) % (uint64_t)rows),
                group = (int64_t)(random_next(&random) % (uint64_t)groups);
        for (int e = 0; e < rule.kept + 1; e++) /* of pairs in turn the first and the second one */
            mc_dense_set(&a, row, (group * rule.group + e) * rule.unit + e % rule.unit,
                         mc_type_is_real(type) ? 0x31 : 3);
        if (row * groups + group < first) first = row * groups + group;
    }
    CHECK(mc_sparse24_compress(&a, MC_SPARSE24_STRICT, &s, diag) == MC_FORMAT);
    snprintf(want, sizeof want, "%s", mc_diag_text(diag));
    for (int layout = MC_LAYOUT24_PACKED; layout <= MC_LAYOUT24_SM90; layout++) {
        if (!has_layout(type, layout)) continue;
        const int64_t gap = has_pairs(type) ? 2 + cols % 2 : 1;
        mc_compress24_config config = {.size = sizeof config,
                                       .type = type,
                                       .rows = rows,
                                       .cols = cols,
                                       .ld = cols + gap,
                                       .layout = (mc_layout24)layout};
        mc_compress24_size bytes = {.size = sizeof bytes};
        mc_compress24_report report = {.size = sizeof report};
        mc_address block = 0;
        mc_diag_clear(diag);
        if (!worked("sizes", mc_compress24_sizes(&config, &bytes, diag))) continue;
        config.data = put_matrix(&a, 0, gap, &block);
        config.values = guarded(bytes.values), config.meta = guarded(bytes.meta);
        CHECK(mc_compress24(context, &config, NULL, &report, diag) == MC_FORMAT);
        CHECK(strcmp(mc_diag_text(diag), want) == 0, "%s, not %s", mc_diag_text(diag), want);
        CHECK(report.row * groups + report.group == first, "row %" PRId64 ", group %" PRId64, report.row,
              report.group);
        release(config.values);
        release(config.meta);
        mc_memory_destroy(context, block);
    }
    mc_diag_clear(diag);
    mc_dense_free(&a);
}

static void expect_refusal(const mc_compress24_config *config, mc_status status, const char *text) {
    mc_status got = mc_compress24(context, config, NULL, NULL, diag);
    CHECK(got == status, "%s: status %d", text, (int)got);
    CHECK_TEXT(mc_diag_text(diag), text);
    mc_diag_clear(diag);
}

static void test_refusals(void) {
    const mc_compress24_config right = {.size = sizeof right,
                                        .type = MC_F16,
                                        .rows = 8,
                                        .cols = 8,
                                        .data = 4096,
                                        .values = 8192,
                                        .meta = 16384};
    mc_compress24_config c = right;
    mc_compress24_report report = {.size = 3};
    expect_refusal((c = right, c.type = MC_S4, c.layout = MC_LAYOUT24_SM90, &c), MC_CANNOT,
                   "cutlass-sm90 has no metadata of s4");
    expect_refusal((c = right, c.type = MC_U4, c.ld = 9, &c), MC_USAGE,
                   "ld is 9, must be even: two elements of u4 share a byte");
    expect_refusal((c = right, c.type = MC_U4, c.cols = c.ld = 7, &c), MC_USAGE, "ld is 7, must be even");
    expect_refusal((c = right, c.type = MC_S32, &c), MC_CANNOT, "sparse tensor cores have");
    expect_refusal((c = right, c.type = (mc_type)99, &c), MC_USAGE, "type is 99, must be an mc_type");
    expect_refusal((c = right, c.layout = (mc_layout24)4, &c), MC_USAGE,
                   "layout is 4, must be an mc_layout24");
    expect_refusal((c = right, c.rows = -1, &c), MC_USAGE, "rows is -1, must be 0 to 2147483647");
    expect_refusal((c = right, c.cols = INT64_MAX, &c), MC_USAGE,
                   "cols is 9223372036854775807, must be 0 to");
    expect_refusal((c = right, c.ld = 7, &c), MC_USAGE, "ld is 7, must be 8, the columns, to 2147483647");
    expect_refusal((c = right, c.data = 0, &c), MC_USAGE, "data is 0");
    expect_refusal((c = right, c.values = 0, &c), MC_USAGE, "values is 0");
    expect_refusal((c = right, c.meta = 0, &c), MC_USAGE, "meta is 0");
    expect_refusal((c = right, c.data = 4097, &c), MC_CANNOT,
                   "data is 0x1001, which is not a multiple of the 2 bytes of f16");
    expect_refusal((c = right, c.meta = 16388, &c), MC_CANNOT,
                   "meta is 0x4004, which is not a multiple of 16");
    expect_refusal((c = right, c.rows = c.cols = INT32_MAX, &c), MC_CANNOT, "are too many for a launch");
    expect_refusal((c = right, c.size = 5, &c), MC_USAGE, "mc_compress24_config");
    CHECK(mc_compress24(NULL, &right, NULL, NULL, diag) == MC_USAGE);
    CHECK(mc_compress24(context, &right, NULL, &report, diag) == MC_USAGE);
    mc_diag_clear(diag);
}

int main(int argc, char **argv) {
    const char *device = argc > 1 ? argv[1] : "sim";
    const mc_context_config config = {
        .size = sizeof config, .device = device, .cache = MC_CACHE_MEMORY, .records = ""};
    if (strncmp(device, "cuda", 4) == 0 && mc_device_cuda_count() == 0)
        return printf("SKIPPED: no GPU\n"), 77;
    diag = mc_diag_create();
    if (worked("mc_context_create", mc_context_create(&config, &context, diag))) {
        test_refusals();
        test_shapes();
        test_room();
        test_pairs();
        test_all_pairs(MC_S4);
        test_all_pairs(MC_U4);
        test_packing("op=gemm24 arch=sm_90a lhs=f16 rhs=f16 out=f16 stages=2", MC_F16);
        test_packing("op=gemm24 arch=sm_90a lhs=s8 rhs=s8 out=s32 stages=2 tile_n=64", MC_S8);
        test_packing("op=gemm24 arch=sm_80 method=mma lhs=s4 rhs=s4 out=s32 tile_m=64 tile_n=64 warp_m=64 "
                     "warp_n=32 stages=2 store=pairs",
                     MC_S4);
        test_packing("op=gemm24 arch=sm_80 method=mma lhs=u4 rhs=s4 out=s32 tile_m=64 tile_n=64 warp_m=64 "
                     "warp_n=32 stages=2 store=pairs",
                     MC_U4);
        test_full(MC_S4, 70, 1031, 7);
        test_full(MC_U4, 3, 77, 8);
        test_full(MC_F16, 65, 300, 3);
        test_full(MC_S8, 130, 520, 4);
        test_full(MC_F32, 20, 90, 5);
        test_full(MC_E4M3, 3, 77, 6);
    }
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return check_end();
}
