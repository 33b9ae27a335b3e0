/* Metadata from the layout natural8 to any other, and back. */
#include <inttypes.h>
#include <string.h>
#include "base/element.h"
#include "base/memory.h"
#include "matrix/sparse24_layout.h"

enum { CODE_BITS = 4, CODE_FILL = 0x44 };

int64_t mc_meta_position(const mc_meta_layout *layout, int64_t rows, int64_t groups, int64_t row,
                         int64_t group) {
    int64_t down = mc_meta_padded(rows, layout->rows) / layout->rows;
    int64_t across = mc_meta_padded(groups, layout->groups) / layout->groups;
    int64_t atom_row = row / layout->rows, atom_group = group / layout->groups;
    int64_t atom = layout->rows_first ? atom_group * down + atom_row : atom_row * across + atom_group;
    int64_t inside = row % layout->rows * layout->groups + group % layout->groups;
    return atom * layout->rows * layout->groups + layout->offset[inside];
}

/* The shape of the metadata, rows x words, and the groups of a row of S. */
typedef struct meta_shape {
    int64_t groups, rows, words;
} meta_shape;

static mc_status shape_of(const mc_sparse24 *s, const mc_meta_layout *layout, meta_shape *shape,
                          mc_diag *diag) {
    mc_sparse24_rule rule;
    mc_status status = mc_sparse24_rule_of(s->values.type, &rule, diag);
    if (status != MC_OK) return status;
    if (s->rows < 0 || s->cols < 0 || s->rows > INT32_MAX || s->cols > INT32_MAX)
        return mc_fail(diag, MC_FORMAT, "%" PRId64 " x %" PRId64 " elements: at most %d each way", s->rows,
                       s->cols, INT32_MAX);
    shape->groups = mc_sparse24_groups(&rule, s->cols);
    shape->rows = mc_meta_padded(s->rows, layout->rows);
    shape->words = mc_meta_padded(shape->groups, layout->groups) * CODE_BITS / layout->word_bits;
    return MC_OK;
}

static mc_type word_type(const mc_meta_layout *layout) {
    return layout->word_bits == 8 ? MC_U8 : layout->word_bits == 16 ? MC_S16 : MC_S32;
}

mc_status mc_meta_create(const mc_sparse24 *s, const mc_meta_layout *layout, mc_dense *out, mc_diag *diag) {
    meta_shape shape = {0};
    *out = (mc_dense){0};
    mc_status status = shape_of(s, layout, &shape, diag);
    if (status == MC_OK)
        status = mc_dense_create(word_type(layout), shape.rows, shape.words, shape.words, out, diag);
    if (status != MC_OK) return status;
    memset(out->data, CODE_FILL, (size_t)mc_type_size(out->type, shape.rows * shape.words));
    return MC_OK;
}

mc_status mc_meta_export(const mc_sparse24 *s, const mc_meta_layout *layout, mc_dense *out, mc_diag *diag) {
    meta_shape shape = {0};
    mc_status status = mc_meta_create(s, layout, out, diag);
    if (status == MC_OK) status = shape_of(s, layout, &shape, diag);
    if (status != MC_OK) return status;
    for (int64_t row = 0; shape.groups > 0 && row < s->rows; row++)
        for (int64_t group = 0; group < shape.groups; group++)
            nibble_set(out->data, mc_meta_position(layout, s->rows, shape.groups, row, group),
                       nibble_get(s->meta.data, row * 2 * s->meta.ld + group));
    return MC_OK;
}

static mc_status check_meta(const mc_dense *meta, const mc_meta_layout *layout, const meta_shape *shape,
                            mc_diag *diag) {
    int64_t wanted = shape->rows * shape->words;
    if (mc_type_is_real(meta->type) || mc_type_bytes(meta->type) * 8 != (size_t)layout->word_bits)
        return mc_fail(diag, MC_FORMAT, "metadata are %s, must be integers of %d bits",
                       mc_type_text(meta->type), layout->word_bits);
    if (meta->ld == meta->cols && mcrt_product(meta->rows, meta->cols) == wanted) return MC_OK;
    return mc_fail(diag, MC_FORMAT,
                   "metadata are %" PRId64 " x %" PRId64 " words, must be %" PRId64 " x %" PRId64, meta->rows,
                   meta->cols, shape->rows, shape->words);
}

mc_status mc_meta_import(const mc_dense *meta, const mc_meta_layout *layout, mc_sparse24 *s, mc_diag *diag) {
    meta_shape shape;
    mc_dense natural = {0};
    mc_status status = shape_of(s, layout, &shape, diag);
    if (status == MC_OK) status = check_meta(meta, layout, &shape, diag);
    int64_t across = status == MC_OK ? mc_meta_padded(shape.groups, 2) / 2 : 0;
    if (status == MC_OK) status = mc_dense_create(MC_U8, s->rows, across, across, &natural, diag);
    if (status != MC_OK) return status;
    memset(natural.data, CODE_FILL, (size_t)(s->rows * across));
    for (int64_t row = 0; shape.groups > 0 && row < s->rows; row++)
        for (int64_t group = 0; group < shape.groups; group++)
            nibble_set(natural.data, row * 2 * across + group,
                       nibble_get(meta->data, mc_meta_position(layout, s->rows, shape.groups, row, group)));
    mc_dense_free(&s->meta);
    s->meta = natural;
    return MC_OK;
}
