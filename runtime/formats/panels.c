/* panels: what the gather SpMM reads of a matrix without vectors. */
#include "formats/panels.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "formats/format.h"
#include "parts/fragment.h"
#include "parts/panels.h"

extern const packed_format format_panels;

enum { MOST_WARPS = 8 };

/* -- Who takes what ----------------------------------------------------------------------------------- */

static int64_t ceil_of(int64_t count, int64_t each) { return count / each + (count % each != 0); }

/* The least number whose square is at least COUNT. */
static int64_t root_of(int64_t count) {
    int64_t root = 1;
    while (root * root < count) root++;
    return root;
}

/* The pieces' sums are added up by the warps of one thread block, so that more pieces than about the root of
   the strides cost more than they save. */
panel_sharing panels_share(const mc_panels *form, int64_t strides) {
    int64_t each = (int64_t)form->warps * form->share;
    if (strides > each) {
        int64_t pieces = ceil_of(strides, each), most = root_of(strides);
        if (most > PANEL_MOST_PIECES) most = PANEL_MOST_PIECES;
        return (panel_sharing){pieces < most ? pieces : most, form->warps};
    }
    panel_sharing s = {1, 1};
    while ((int64_t)s.parts * form->share < strides) s.parts *= 2;
    return s;
}

/* Panels come by how many warps they have, which is a power of two, the most first. So those of one panel
   lie in one thread block, and the panels that take longest begin first. */
typedef struct dealing {
    const mc_panels *form;
    const int64_t *start; /* [panels + 1]: the first slot of each */
    int64_t panels;
    int32_t *items; /* NULL: they are counted alone */
    int64_t count;  /* of items, so far */
    int64_t pieces; /* thread blocks that share a panel with others */
} dealing;

static int64_t strides_of(const dealing *d, int64_t panel) {
    return (d->start[panel + 1] - d->start[panel]) / MC_GROUP_SLOTS;
}

static void put_item(dealing *d, int64_t panel, int64_t first, int64_t last, unsigned sharing) {
    panels_put_item(d->items, d->count++, panel, first, last, sharing);
}

static void put_panel(dealing *d, int64_t panel, panel_sharing s) {
    const int64_t strides = strides_of(d, panel), begin = d->start[panel] / MC_GROUP_SLOTS;
    const unsigned parts = (unsigned)(s.parts - 1) << PANEL_PARTS_SHIFT, pieces = (unsigned)(s.pieces - 1)
                                                                                  << PANEL_PIECES_SHIFT;
    for (int64_t leaf = 0; leaf < s.pieces * s.parts; leaf++) {
        unsigned part = (unsigned)(leaf % s.parts), piece = (unsigned)(leaf / s.parts) << PANEL_PIECE_SHIFT;
        put_item(d, panel, begin + panels_cut(s, strides, leaf), begin + panels_cut(s, strides, leaf + 1),
                 part | parts | piece | pieces);
    }
}

/* Those of PARTS warps, of several thread blocks or of one. */
static void put_panels(dealing *d, int parts, bool pieces) {
    for (int64_t panel = 0; panel < d->panels; panel++) {
        panel_sharing s = panels_share(d->form, strides_of(d, panel));
        if (s.parts == parts && (s.pieces > 1) == pieces) put_panel(d, panel, s);
    }
}

/* Warps that share nothing must know, too, where others of their thread block meet at a barrier. */
void panels_mark_sharing(int32_t *items, int64_t count, int warps) {
    const int32_t how = (1 << PANEL_SHARES_SHIFT) - 1;
    for (int64_t i = 0; i < count; i += warps) {
        int32_t *sharing = items + i * PANEL_ITEM_WORDS + PANEL_ITEM_WORDS - 1;
        bool shares = false;
        for (int w = 0; w < warps; w++) shares = shares || (sharing[w * PANEL_ITEM_WORDS] & how) != 0;
        for (int w = 0; w < warps && shares; w++) sharing[w * PANEL_ITEM_WORDS] |= 1 << PANEL_SHARES_SHIFT;
    }
}

static void deal(dealing *d) {
    d->count = 0;
    put_panels(d, d->form->warps, true);
    d->pieces = d->count / d->form->warps;
    for (int parts = d->form->warps; parts >= 1; parts /= 2) put_panels(d, parts, false);
    while (d->count % d->form->warps != 0) put_item(d, d->panels, 0, 0, 0);
    if (d->items != NULL) panels_mark_sharing(d->items, d->count, d->form->warps);
}

static mc_status add_items(const mc_panels *form, const int64_t *start, int64_t panels, mc_packed *packed,
                           mc_diag *diag) {
    dealing d = {.form = form, .start = start, .panels = panels};
    deal(&d);
    mc_status status = packed_add(packed, "items", MC_S32, mcrt_product(d.count, PANEL_ITEM_WORDS), diag);
    if (status != MC_OK) return status;
    packed->pieces = d.pieces;
    d.items = mc_packed_find(packed, "items")->data;
    deal(&d);
    return MC_OK;
}

/* -- Packing ------------------------------------------------------------------------------------------ */

static mc_status check_form(const mc_panels *form, mc_diag *diag) {
    if (form->warps < 1 || form->warps > MOST_WARPS || (form->warps & (form->warps - 1)) != 0)
        return mc_fail(diag, MC_USAGE, "%d warps: must be 1, 2, 4 or %d", form->warps, MOST_WARPS);
    if (form->share >= 1) return MC_OK;
    return mc_fail(diag, MC_USAGE, "a share of %d strides: must be 1 or more", form->share);
}

/* As strided-bcrs with heads has values, but panel by panel. */
static mc_status make_layout(mc_type type, const mc_panels *form, stride_layout *layout, mc_diag *diag) {
    const mc_strided strided = {.stride = MC_GROUP_SLOTS, .heads = 1, .coding = form->coding};
    mc_status status = check_form(form, diag);
    if (status == MC_OK) status = strided_layout(type, form->rows, &strided, layout, diag);
    layout->heads = 0;
    return status;
}

static mc_status add_row_of(const panel_matrix *m, mc_packed *packed, mc_diag *diag) {
    const int64_t count = mcrt_product(m->joined.row_blocks + 1, m->joined.vec);
    mc_status status = packed_add(packed, "row_of", MC_S32, count, diag);
    if (status == MC_OK)
        memcpy(mc_packed_find(packed, "row_of")->data, m->row_of, (size_t)count * sizeof *m->row_of);
    return status;
}

static mc_status add_arrays(const mc_panels *form, const stride_layout *layout, const panel_matrix *m,
                            int64_t nonzeros, mc_packed *packed, mc_diag *diag) {
    int64_t *start = NULL;
    mc_status status = stride_starts(layout, &m->joined, &start, diag);
    if (status == MC_OK) status = code_check(&layout->code, &m->joined, diag);
    if (status == MC_OK) status = add_items(form, start, m->joined.row_blocks, packed, diag);
    if (status == MC_OK) status = stride_add_columns(layout, &m->joined, start, packed, diag);
    if (status == MC_OK && m->row_of != NULL) status = add_row_of(m, packed, diag);
    if (status == MC_OK)
        status = form->nonzeros ? panels_add_nonzeros(m, layout, start, nonzeros, packed, diag)
                                : stride_add_values(layout, &m->joined, start, packed, diag);
    free(start);
    return status;
}

mc_status mc_panels_pack(const mc_vsparse *a, const mc_panels *form, mc_packed *packed, mc_diag *diag) {
    stride_layout layout = {.vec = 0};
    panel_matrix m;
    *packed = (mc_packed){0};
    mc_status status = make_layout(a->type, form, &layout, diag);
    if (status == MC_OK) status = panels_join_ordered(a, form->rows, form->order, &m, diag);
    if (status != MC_OK) return status;
    status = add_arrays(form, &layout, &m, a->vectors, packed, diag);
    if (status != MC_OK) mc_packed_free(packed);
    panels_free(&m);
    return status;
}

mc_status mc_panels_pack_values(const mc_vsparse *a, const mc_panels *form, mc_packed *packed,
                                mc_diag *diag) {
    mc_packed made;
    mc_status status = mc_panels_pack(a, form, &made, diag);
    return status == MC_OK ? packed_take_values(packed, &made, diag) : status;
}

/* -- Slots -------------------------------------------------------------------------------------------- */

/* A slot there is an element of a slot here. */
static packed_slots begin_slots(const stride_layout *layout) {
    const int group = MC_GROUP_SLOTS * layout->vec;
    return (packed_slots){
        .code = layout->code, .vec = 1, .group = group, .period = group * layout->code.pieces};
}

static void name_pieces(const stride_layout *layout, packed_slots *slots) {
    const int rows = layout->vec;
    for (int slot = 0; slot < MC_GROUP_SLOTS; slot++)
        for (int r = 0; r < rows; r++)
            for (int p = 0; p < layout->code.pieces; p++)
                slots->pieces[layout->value_place(layout, slot, r, p)] =
                    packed_piece(slots, slot * rows + r, 0, p);
}

static void name_slots(const panel_matrix *m, const int64_t *start, packed_slots *slots) {
    const int rows = m->joined.vec;
    for (int64_t b = 0; b < m->joined.row_blocks; b++)
        for (int64_t v = m->joined.row_ptr[b]; v < m->joined.row_ptr[b + 1]; v++)
            memcpy(&slots->vectors[(start[b] + v - m->joined.row_ptr[b]) * rows], &m->element[v * rows],
                   (size_t)rows * sizeof *m->element);
}

static mc_status find_slots(const stride_layout *layout, const panel_matrix *m, packed_slots *slots,
                            mc_diag *diag) {
    int64_t *start = NULL;
    *slots = begin_slots(layout);
    mc_status status = stride_starts(layout, &m->joined, &start, diag);
    if (status == MC_OK)
        status = packed_slots_create("values", start[m->joined.row_blocks] / MC_GROUP_SLOTS, slots, diag);
    if (status == MC_OK) name_pieces(layout, slots);
    if (status == MC_OK) name_slots(m, start, slots);
    free(start);
    return status;
}

/* -- Without columns ---------------------------------------------------------------------------------- */

static void outline_array(mc_packed *packed, const char *name, mc_type type, int64_t count) {
    packed->arrays[packed->array_count++] = (mc_packed_array){name, type, count, NULL};
}

mc_status panels_outline(const mc_panels *form, mc_type type, const panel_sizes *sizes, mc_packed *packed,
                         packed_slots *slots, mc_diag *diag) {
    stride_layout layout;
    *slots = (packed_slots){0};
    *packed = (mc_packed){.pieces = sizes->pieces};
    mc_status status = make_layout(type, form, &layout, diag);
    if (status == MC_OK && sizes->strides > INT32_MAX / MC_GROUP_SLOTS)
        status = mc_fail(diag, MC_CANNOT, "%" PRId64 " strides leave s32", sizes->strides);
    if (status != MC_OK) return status;
    outline_array(packed, "items", MC_S32, sizes->items * PANEL_ITEM_WORDS);
    outline_array(packed, "col_idx", MC_S32, sizes->strides * MC_GROUP_SLOTS);
    if (form->nonzeros) return panels_outline_nonzeros(form->rows, &layout.code, sizes, packed, slots, diag);
    *slots = begin_slots(&layout);
    outline_array(packed, "values", MC_S8, mc_type_size(layout.code.unit, sizes->strides * slots->period));
    status = packed_slots_outline("values", sizes->strides, slots, diag);
    if (status == MC_OK) name_pieces(&layout, slots);
    return status;
}

/* -- As a row ----------------------------------------------------------------------------------------- */

mc_panels panels_form_of(const mc_kernel *kernel) {
    return (mc_panels){.rows = (int)mc_kernel_field(kernel, "panel"),
                       .warps = (int)mc_kernel_field(kernel, "warps"),
                       .share = (int)mc_kernel_field(kernel, "share"),
                       .nonzeros = mc_kernel_field(kernel, "values") != 0,
                       .coding = code_of_kernel(kernel),
                       .order = (row_order)mc_kernel_field(kernel, "reorder")};
}

static mc_status pack(const mc_kernel *kernel, const host_matrix *a, mc_packed *packed, mc_diag *diag) {
    const mc_panels form = panels_form_of(kernel);
    return mc_panels_pack(a->vectors, &form, packed, diag);
}

static mc_status pack_values(const mc_kernel *kernel, const host_matrix *a, mc_packed *packed,
                             mc_diag *diag) {
    const mc_panels form = panels_form_of(kernel);
    return mc_panels_pack_values(a->vectors, &form, packed, diag);
}

static mc_status slots_of(const mc_kernel *kernel, const host_matrix *a, packed_slots *slots, mc_diag *diag) {
    const mc_panels form = panels_form_of(kernel);
    stride_layout layout;
    panel_matrix m;
    mc_status status = make_layout(a->vectors->type, &form, &layout, diag);
    if (status == MC_OK) status = panels_join_ordered(a->vectors, form.rows, form.order, &m, diag);
    if (status != MC_OK) return status;
    status = form.nonzeros ? panels_nonzero_slots(&m, &layout.code, a->vectors->vectors, slots, diag)
                           : find_slots(&layout, &m, slots, diag);
    panels_free(&m);
    return status;
}

const packed_format format_panels = {.name = "panels",
                                     .doc = "rows in panels, whose columns are joined",
                                     .kind = MATRIX_VECTORS,
                                     .unit = MC_U8,
                                     .floats = true,
                                     .type = "lhs",
                                     .cols = "k",
                                     .form = "lhs panel warps share values digits reorder",
                                     .pack = pack,
                                     .pack_values = pack_values,
                                     .slots = slots_of};
