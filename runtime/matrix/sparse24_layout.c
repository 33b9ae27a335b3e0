#include "matrix/sparse24_layout.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

/* -- The layouts

   In memory the indices of row and group are numbers of mixed radix. A form lists their radices, from that
   whose neighbours are nearest in memory to that whose are farthest. The radix { of, unit, extent } is the
   number index / unit mod extent. */

typedef enum radix_of { OF_NONE, OF_ROW, OF_GROUP } radix_of;

/* EXTENT 0: as many as the tile's k leaves. */
typedef struct radix {
    radix_of of;
    int unit, extent;
} radix;

enum { MOST_RADICES = 6, CODE_BITS = 4 };

typedef struct form {
    int word_bits;
    radix radices[MOST_RADICES];
} form;

static const form bytes = {8, {{OF_GROUP, 1, 2}}};
static const form halves = {16, {{OF_GROUP, 1, 4}}};
static const form words = {32, {{OF_GROUP, 1, 8}}};

/* A lane's metadata of mma.sp are neighbours: of 16-bit words those of rows g, g + 8, g + 16 and g + 24, of
   32-bit ones those of g and g + 8. */
static const form sm80_halves = {
    16, {{OF_GROUP, 1, 4}, {OF_ROW, 8, 2}, {OF_GROUP, 4, 2}, {OF_ROW, 16, 2}, {OF_ROW, 1, 8}}};
static const form sm80_words = {32, {{OF_GROUP, 1, 8}, {OF_ROW, 8, 2}, {OF_GROUP, 8, 2}, {OF_ROW, 1, 8}}};

/* The 64 rows of a wgmma. A lane's metadata of all wgmma of a tile's k are neighbours, or rows are as they
   are. */
static const form sm90_halves = {
    8,
    {{OF_GROUP, 1, 4}, {OF_ROW, 8, 2}, {OF_GROUP, 8, 0}, {OF_ROW, 1, 8}, {OF_GROUP, 4, 2}, {OF_ROW, 16, 4}}};
static const form sm90_rows = {8, {{OF_GROUP, 1, 0}, {OF_ROW, 1, 64}}};

/* By the bits of an element. */
enum { BITS_4, BITS_8, BITS_16, BITS_32, WIDTHS };

static const struct named_layout {
    const char *name, *text;
    bool rows_first;
    const form *forms[WIDTHS]; /* NULL: the layout does not have such types */
} layouts[] = {
    {"natural8", "bytes, row by row", false, {&bytes, &bytes, &bytes, &bytes}},
    {"natural16", "words of 16 bits, row by row", false, {&halves, &halves, &halves, &halves}},
    {"natural32", "words of 32 bits, row by row", false, {&words, &words, &words, &words}},
    {"cutlass-sm80",
     "CUTLASS 2 and PyTorch, for mma.sp",
     true,
     {&sm80_words, &sm80_words, &sm80_halves, &sm80_halves}},
    {"cutlass-sm90", "CUTLASS 3, for wgmma.sp", true, {NULL, &sm90_rows, &sm90_halves, &sm90_halves}},
};

enum { LAYOUTS = sizeof layouts / sizeof *layouts, NAMES_TEXT = 160 };

const char *mc_meta_layout_name(int index) {
    return index >= 0 && index < LAYOUTS ? layouts[index].name : NULL;
}

const char *mc_meta_layout_text(int index) {
    return index >= 0 && index < LAYOUTS ? layouts[index].text : NULL;
}

/* -- From a form to a table */

/* The rows or the groups of an atom; one that is left open counts as 1. */
static int extent_of(const form *f, radix_of of) {
    int extent = 1;
    for (int i = 0; i < MOST_RADICES; i++)
        if (f->radices[i].of == of && f->radices[i].extent > 0) extent *= f->radices[i].extent;
    return extent;
}

static bool has_open_radix(const form *f) {
    for (int i = 0; i < MOST_RADICES; i++)
        if (f->radices[i].of != OF_NONE && f->radices[i].extent == 0) return true;
    return false;
}

static int32_t offset_of(const form *f, int open, int row, int group) {
    int32_t offset = 0, weight = 1;
    for (int i = 0; i < MOST_RADICES && f->radices[i].of != OF_NONE; i++) {
        const radix *r = &f->radices[i];
        int extent = r->extent > 0 ? r->extent : open;
        offset += (r->of == OF_ROW ? row : group) / r->unit % extent * weight;
        weight *= extent;
    }
    return offset;
}

static mc_status create(mc_meta_layout *out, mc_diag *diag) {
    out->offset = mcrt_array((int64_t)out->rows * out->groups, sizeof *out->offset);
    if (out->offset != NULL) return MC_OK;
    mc_status status = mcrt_no_memory(diag, (int64_t)out->rows * out->groups, "offsets");
    *out = (mc_meta_layout){0};
    return status;
}

static mc_status fill(const form *f, int open, mc_meta_layout *out, mc_diag *diag) {
    out->word_bits = f->word_bits;
    out->rows = extent_of(f, OF_ROW);
    out->groups = extent_of(f, OF_GROUP) * open;
    mc_status status = create(out, diag);
    for (int row = 0; status == MC_OK && row < out->rows; row++)
        for (int group = 0; group < out->groups; group++)
            out->offset[row * out->groups + group] = offset_of(f, open, row, group);
    return status;
}

/* -- By name */

static const struct named_layout *find(const char *name, mc_diag *diag) {
    char all[NAMES_TEXT] = "";
    for (int i = 0; i < LAYOUTS; i++) {
        if (strcmp(layouts[i].name, name) == 0) return &layouts[i];
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", i > 0 ? ", " : "", layouts[i].name);
    }
    (void)mc_fail(diag, MC_USAGE, "'%s' is no layout of metadata: %s", name, all);
    return NULL;
}

static const form *form_of(const struct named_layout *layout, mc_type type) {
    int bits = mc_type_bits(type);
    return layout->forms[bits == 4 ? BITS_4 : bits == 8 ? BITS_8 : bits == 16 ? BITS_16 : BITS_32];
}

/* The extent of the open radix: of TILE_K elements, or MC_META_TILE_K of them. A wgmma takes 512 bits of a
   row of A. */
static mc_status open_extent(const form *f, mc_type type, const mc_sparse24_rule *rule, int64_t tile_k,
                             int *open, mc_diag *diag) {
    enum { WGMMA_BITS = 512 };
    int step = WGMMA_BITS / mc_type_bits(type);
    *open = 1;
    if (!has_open_radix(f)) return MC_OK;
    if (tile_k <= 0 || tile_k % step != 0)
        return mc_fail(diag, MC_USAGE, "a tile of %" PRId64 " in k: must be a multiple of %d for %s", tile_k,
                       step, mc_type_text(type));
    int taken = tile_k < MC_META_TILE_K ? (int)tile_k : MC_META_TILE_K;
    *open = taken / (rule->group * rule->unit) / extent_of(f, OF_GROUP);
    return MC_OK;
}

mc_status mc_meta_layout_named(const char *name, mc_type type, int64_t tile_k, mc_meta_layout *out,
                               mc_diag *diag) {
    mc_sparse24_rule rule;
    int open;
    *out = (mc_meta_layout){0};
    const struct named_layout *layout = find(name, diag);
    if (layout == NULL) return MC_USAGE;
    mc_status status = mc_sparse24_rule_of(type, &rule, diag);
    if (status != MC_OK) return status;
    const form *f = form_of(layout, type);
    if (f == NULL) return mc_fail(diag, MC_CANNOT, "%s has no metadata of %s", name, mc_type_text(type));
    status = open_extent(f, type, &rule, tile_k, &open, diag);
    if (status != MC_OK) return status;
    out->rows_first = layout->rows_first;
    return fill(f, open, out, diag);
}

/* -- By a table */

static mc_status check_table(const mc_dense *table, int word_bits, mc_diag *diag) {
    if (word_bits != 8 && word_bits != 16 && word_bits != 32)
        return mc_fail(diag, MC_USAGE, "words of %d bits: must have 8, 16 or 32", word_bits);
    if (mc_type_is_real(table->type))
        return mc_fail(diag, MC_FORMAT, "the table holds %s, must hold integers", mc_type_text(table->type));
    int64_t codes = mcrt_product(table->rows, table->cols);
    if (codes < 1 || codes > MC_META_MOST_CODES)
        return mc_fail(diag, MC_FORMAT, "the table is %" PRId64 " x %" PRId64 ": must have 1 to %d offsets",
                       table->rows, table->cols, MC_META_MOST_CODES);
    if (table->cols % (word_bits / CODE_BITS) != 0)
        return mc_fail(diag, MC_FORMAT,
                       "the table has %" PRId64 " columns: must be a multiple of the %d codes of a word",
                       table->cols, word_bits / CODE_BITS);
    return MC_OK;
}

/* TAKEN has a zeroed byte for each offset. */
static mc_status take_offsets(const mc_dense *table, uint8_t *taken, mc_meta_layout *out, mc_diag *diag) {
    int64_t codes = table->rows * table->cols;
    for (int64_t i = 0; i < codes; i++) {
        int64_t row = i / table->cols, group = i % table->cols, offset = mc_dense_get(table, row, group);
        bool is_one = offset >= 0 && offset < codes;
        if (!is_one || taken[offset])
            return mc_fail(diag, MC_FORMAT,
                           "the table's [%" PRId64 "][%" PRId64 "] is %" PRId64
                           ", %s: it must have each of 0 to "
                           "%" PRId64 " once",
                           row, group, offset, is_one ? "which it has twice" : "no offset", codes - 1);
        taken[offset] = 1;
        out->offset[i] = (int32_t)offset;
    }
    return MC_OK;
}

mc_status mc_meta_layout_table(const mc_dense *table, int word_bits, bool rows_first, mc_meta_layout *out,
                               mc_diag *diag) {
    *out = (mc_meta_layout){0};
    mc_status status = check_table(table, word_bits, diag);
    if (status != MC_OK) return status;
    *out = (mc_meta_layout){.word_bits = word_bits,
                            .rows_first = rows_first,
                            .rows = (int)table->rows,
                            .groups = (int)table->cols};
    status = create(out, diag);
    if (status != MC_OK) return status;
    uint8_t *taken = mcrt_array(table->rows * table->cols, 1);
    status = taken != NULL ? take_offsets(table, taken, out, diag)
                           : mcrt_no_memory(diag, table->rows * table->cols, "offsets");
    free(taken);
    if (status != MC_OK) mc_meta_layout_free(out);
    return status;
}

void mc_meta_layout_free(mc_meta_layout *layout) {
    free(layout->offset);
    *layout = (mc_meta_layout){0};
}
