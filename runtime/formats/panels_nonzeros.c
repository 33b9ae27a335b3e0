/* Values of panels without zeros: those that rows have, one after another, and masks that say where they
   belong. */
#include "base/element.h"
#include "formats/panels.h"
#include "parts/fragment.h"

enum { MASK_WORDS = 2, GROUP = MC_GROUP_SLOTS };

/* A nonzero, the NUMBER-th in the order of packed values: in row ROW of its panel, and in slot SLOT of stride
   STRIDE. Among the joined columns it is VECTOR, of the matrix ELEMENT. */
typedef struct nonzero {
    int64_t stride, vector, number;
    int row, slot;
    int32_t element;
} nonzero;

typedef void nonzero_found(void *user, const nonzero *n);

static void walk(const panel_matrix *m, nonzero_found *found, void *user) {
    const mc_vsparse *a = &m->joined;
    nonzero n = {.stride = 0};
    for (int64_t b = 0; b < a->row_blocks; b++)
        for (int64_t at = a->row_ptr[b]; at < a->row_ptr[b + 1]; at += GROUP, n.stride++)
            for (n.row = 0; n.row < a->vec; n.row++)
                for (n.slot = 0; n.slot < GROUP && at + n.slot < a->row_ptr[b + 1]; n.slot++) {
                    n.vector = at + n.slot, n.element = m->element[n.vector * a->vec + n.row];
                    if (n.element < 0) continue;
                    found(user, &n);
                    n.number++;
                }
}

static int64_t groups_of(int64_t count) { return count / GROUP + (count % GROUP != 0); }

static int64_t mask_words(int rows, int64_t strides) { return strides * rows * MASK_WORDS; }
static int64_t value_bytes(const value_code *code, int64_t nonzeros) {
    return mc_type_size(code->unit, groups_of(nonzeros) * GROUP);
}

static mc_status check_code(const value_code *code, mc_diag *diag) {
    if (code->pieces == 1) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "values of %s have several digits, of which no zeros are left out",
                   mc_type_text(code->type));
}

/* -- Packed arrays ------------------------------------------------------------------------------------ */

typedef struct filling {
    const value_code *code;
    const mc_vsparse *joined;
    int32_t *masks; /* [stride][row][MASK_WORDS] */
    void *values;
} filling;

static void put(void *user, const nonzero *n) {
    const filling *f = user;
    int64_t pieces[CODE_PIECES];
    int32_t *words = f->masks + (n->stride * f->joined->vec + n->row) * MASK_WORDS;
    if (words[0] == 0) words[1] = (int32_t)n->number;
    words[0] |= (int32_t)(1u << n->slot);
    code_split(f->code, mc_vsparse_value(f->joined, n->vector, n->row), pieces);
    element_set(f->code->unit, f->values, n->number, pieces[0]);
}

mc_status panels_add_nonzeros(const panel_matrix *m, const stride_layout *layout, const int64_t *start,
                              int64_t nonzeros, mc_packed *packed, mc_diag *diag) {
    const value_code *code = &layout->code;
    const int64_t strides = start[m->joined.row_blocks] / GROUP;
    mc_status status = check_code(code, diag);
    if (status == MC_OK)
        status = packed_add(packed, "masks", MC_S32, mask_words(m->joined.vec, strides), diag);
    if (status == MC_OK) status = packed_add(packed, "values", MC_S8, value_bytes(code, nonzeros), diag);
    if (status != MC_OK) return status;
    filling f = {.code = code,
                 .joined = &m->joined,
                 .masks = mc_packed_find(packed, "masks")->data,
                 .values = mc_packed_find(packed, "values")->data};
    walk(m, put, &f);
    return MC_OK;
}

/* -- Slots -------------------------------------------------------------------------------------------- */

static void name(void *user, const nonzero *n) {
    packed_slots *slots = user;
    slots->vectors[n->number] = n->element;
}

static packed_slots begin_slots(const value_code *code) {
    return (packed_slots){.code = *code, .vec = 1, .group = GROUP, .period = GROUP};
}

static void name_pieces(packed_slots *slots) {
    for (int i = 0; i < GROUP; i++) slots->pieces[i] = packed_piece(slots, i, 0, 0);
}

mc_status panels_nonzero_slots(const panel_matrix *m, const value_code *code, int64_t nonzeros,
                               packed_slots *slots, mc_diag *diag) {
    *slots = begin_slots(code);
    mc_status status = packed_slots_create("values", groups_of(nonzeros), slots, diag);
    if (status != MC_OK) return status;
    name_pieces(slots);
    walk(m, name, slots);
    return MC_OK;
}

mc_status panels_outline_nonzeros(int rows, const value_code *code, const panel_sizes *sizes,
                                  mc_packed *packed, packed_slots *slots, mc_diag *diag) {
    mc_status status = check_code(code, diag);
    *slots = begin_slots(code);
    if (status == MC_OK) status = packed_slots_outline("values", groups_of(sizes->nonzeros), slots, diag);
    if (status != MC_OK) return status;
    packed->arrays[packed->array_count++] =
        (mc_packed_array){"masks", MC_S32, mask_words(rows, sizes->strides), NULL};
    packed->arrays[packed->array_count++] =
        (mc_packed_array){"values", MC_S8, value_bytes(code, sizes->nonzeros), NULL};
    name_pieces(slots);
    return MC_OK;
}
