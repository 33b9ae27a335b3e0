/* HRPB as its kernel reads it: the published arrays, but that items (parts/panels.h, one a thread block) say
   which blocks of which panel are whose, in place of blocked_row_ptr. */
#include <inttypes.h>
#include <stdlib.h>
#include "base/memory.h"
#include "formats/format.h"
#include "formats/hrpb.h"
#include "formats/panels.h"

extern const packed_format format_hrpb;

_Static_assert((int)HRPB_MOST_PARTS <= (int)PANEL_MOST_PIECES, "an item has room for a panel's parts");

/* Items so far; LIST may be NULL: they are counted alone. */
typedef struct dealing {
    const mc_packed_array *row_ptr;
    double waves;
    int32_t *list;
    int64_t count;
    int64_t pieces; /* of panels that are cut */
} dealing;

static void put_panel(dealing *d, int64_t panel, int64_t parts) {
    const int32_t *start = d->row_ptr->data;
    for (int64_t part = 0; part < parts; part++)
        panels_put_item(d->list, d->count++, panel, hrpb_cut(start[panel], start[panel + 1], part, parts),
                        hrpb_cut(start[panel], start[panel + 1], part + 1, parts),
                        (unsigned)part << PANEL_PIECE_SHIFT | (unsigned)(parts - 1) << PANEL_PIECES_SHIFT);
}

/* Those that are CUT, or the others. */
static void put_panels(dealing *d, bool cut) {
    for (int64_t panel = 0; panel < d->row_ptr->count - 1; panel++) {
        const int64_t parts = hrpb_panel_parts(d->row_ptr, panel, d->waves);
        if ((parts > 1) == cut) put_panel(d, panel, parts);
    }
}

/* Panels that are cut come first, as those of whose sums the workspace has room; in both parts panels stay in
   their order, so that neighbours find their rows of B in L2. */
static void deal(dealing *d) {
    d->count = 0;
    put_panels(d, true);
    d->pieces = d->count;
    put_panels(d, false);
}

/* Puts items in the place of blocked_row_ptr. */
static mc_status take_items(mc_packed *packed, double waves, mc_diag *diag) {
    dealing d = {.row_ptr = &packed->arrays[0], .waves = waves};
    deal(&d);
    d.list = mcrt_array(mcrt_product(d.count, PANEL_ITEM_WORDS), sizeof *d.list);
    if (d.list == NULL) return mcrt_no_memory(diag, d.count, "virtual panels");
    const int64_t words = d.count * PANEL_ITEM_WORDS;
    deal(&d);
    free(packed->arrays[0].data);
    packed->arrays[0] = (mc_packed_array){"items", MC_S32, words, d.list};
    packed->pieces = d.pieces;
    return MC_OK;
}

static mc_hrpb form_of(const mc_kernel *kernel) {
    return (mc_hrpb){.tile_rows = (int)mc_kernel_field(kernel, "panel_rows"),
                     .tile_cols = (int)mc_kernel_field(kernel, "block_cols")};
}

static mc_status pack(const mc_kernel *kernel, const host_matrix *a, mc_packed *packed, mc_diag *diag) {
    const mc_hrpb form = form_of(kernel);
    mc_status status = mc_hrpb_export(a->vectors, &form, packed, diag);
    if (status == MC_OK) status = take_items(packed, (double)mc_kernel_field(kernel, "waves"), diag);
    if (status != MC_OK) mc_packed_free(packed);
    return status;
}

static mc_status pack_values(const mc_kernel *kernel, const host_matrix *a, mc_packed *packed,
                             mc_diag *diag) {
    const mc_hrpb form = form_of(kernel);
    mc_packed made;
    mc_status status = pack(kernel, a, &made, diag);
    if (status == MC_OK) status = hrpb_replace_values(&form, &made, packed, diag);
    mc_packed_free(&made);
    return status;
}

static mc_status slots_of(const mc_kernel *kernel, const host_matrix *a, packed_slots *slots, mc_diag *diag) {
    (void)kernel, (void)a, (void)slots;
    return mc_fail(diag, MC_CANNOT, "values of HRPB lie between its patterns: a device replaces none");
}

const packed_format format_hrpb = {.name = "hrpb",
                                   .doc = "bricks of 16 x 4 in blocks of active columns",
                                   .kind = MATRIX_VECTORS,
                                   .unit = MC_U8,
                                   .floats = true,
                                   .type = "lhs",
                                   .cols = "k",
                                   .form = "lhs panel_rows block_cols waves",
                                   .pack = pack,
                                   .pack_values = pack_values,
                                   .slots = slots_of};
