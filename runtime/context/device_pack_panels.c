/* panels, packed on the device (gen/ops/pack_panels). */
#include <inttypes.h>
#include <stdio.h>
#include "context/device_pack_panels.h"
#include "parts/fragment.h"
#include "parts/panels.h"
#include "parts/panels_work.h"
#include "parts/segment.h"

enum { FIELDS_TEXT = 64, ALIGN = 256, MOST_ROWS = INT32_MAX - ALIGN };

/* -- Sizes -------------------------------------------------------------------------------------------- */

static int64_t pieces_of(int64_t count, int64_t each) { return count / each + (count % each != 0); }

mc_status panels_packer_open(const device_pattern *pattern, const mc_panels *form, panels_packer *packer,
                             mc_diag *diag) {
    *packer = (panels_packer){.pattern = pattern, .form = *form};
    if (pattern->vec != 1)
        return mc_fail(diag, MC_CANNOT, "panels are of single nonzeros, the matrix has vectors of %d",
                       pattern->vec);
    if (form->order != ROWS_AS_THEY_COME)
        return mc_fail(diag, MC_CANNOT, "rows in another order are packed on the host");
    if (pattern->rows > MOST_ROWS || pattern->vectors > INT32_MAX)
        return mc_fail(diag, MC_CANNOT, "%" PRId64 " rows are packed on the host", pattern->rows);
    packer->panels = pieces_of(pattern->rows, form->rows);
    packer->segments = pattern->vectors / MC_SEGMENT + 1;
    packer->groups = packer->panels / PANEL_GROUP + 1;
    return MC_OK;
}

size_t panels_packer_scratch(panels_packer *p, mc_address address) {
    const int64_t nonzeros = p->pattern->vectors, words = p->segments * MC_SEGMENT_WORDS,
                  counts = PANEL_COUNTS * p->groups;
    const struct {
        mc_address *address;
        int64_t words;
    } parts[] = {{&p->sorted, nonzeros},
                 {&p->elements, nonzeros},
                 {&p->bits, words},
                 {&p->before, words},
                 {&p->leaders, nonzeros + 1},
                 {&p->starts, PANEL_START_WORDS * (p->panels + 1)},
                 {&p->segment_counts, p->segments},
                 {&p->segment_sums, p->segments + 1},
                 {&p->segment_totals, 2},
                 {&p->counts, counts},
                 {&p->sums, counts + 1},
                 {&p->totals, PANEL_TOTALS}};
    size_t bytes = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i].address = address + bytes;
        bytes += (size_t)pieces_of(parts[i].words * (int64_t)sizeof(int32_t), ALIGN) * ALIGN;
    }
    return bytes;
}

/* A panel has no more columns than nonzeros, and more strides never have fewer items. */
panel_sizes panels_packer_most(const panels_packer *p) {
    const device_pattern *a = p->pattern;
    panel_sizes sizes = {.nonzeros = a->vectors};
    for (int64_t row = 0; row < a->rows; row += p->form.rows) {
        const int64_t end = row + p->form.rows < a->rows ? row + p->form.rows : a->rows,
                      strides = pieces_of(a->row_ptr[end] - a->row_ptr[row], MC_GROUP_SLOTS);
        const panel_sharing s = panels_share(&p->form, strides);
        sizes.strides += strides;
        sizes.items += s.pieces * s.parts;
        if (s.pieces > 1) sizes.pieces += s.pieces;
    }
    sizes.items = pieces_of(sizes.items, p->form.warps) * p->form.warps;
    return sizes;
}

/* -- Steps -------------------------------------------------------------------------------------------- */

static mc_status put(device_work *work, const panels_packer *p, const char *step, bool nonzeros,
                     const mc_binding *bindings, size_t count, mc_diag *diag) {
    char fields[FIELDS_TEXT];
    snprintf(fields, sizeof fields, "step=%s panel=%d values=%s", step, p->form.rows,
             nonzeros ? "nonzeros" : "slots");
    return work_put(work, "pack_panels", fields, bindings, count, diag);
}

#define PUT(work, p, step, bindings, diag)                                                                   \
    put(work, p, step, false, bindings, sizeof(bindings) / sizeof *(bindings), diag)

static mc_status put_rank(device_work *work, const panels_packer *p, mc_diag *diag) {
    const device_pattern *a = p->pattern;
    const mc_binding bindings[] = {{"offsets", (int64_t)a->offsets},   {"columns", (int64_t)a->columns},
                                   {"sorted", (int64_t)p->sorted},     {"nonzeros", a->vectors},
                                   {"elements", (int64_t)p->elements}, {"rows", a->rows}};
    return a->vectors > 0 ? PUT(work, p, "rank", bindings, diag) : MC_OK;
}

static mc_status put_sums(device_work *work, const panels_packer *p, mc_diag *diag) {
    const mc_binding bindings[] = {{"numbers", (int64_t)p->segment_counts},
                                   {"sums", (int64_t)p->segment_sums},
                                   {"totals", (int64_t)p->segment_totals},
                                   {"count", p->segments},
                                   {"each", p->segments}};
    return PUT(work, p, "sums", bindings, diag);
}

static mc_status put_leaders(device_work *work, const panels_packer *p, mc_diag *diag) {
    const mc_binding count[] = {{"sorted", (int64_t)p->sorted},
                                {"bits", (int64_t)p->bits},
                                {"counts", (int64_t)p->segment_counts},
                                {"nonzeros", p->pattern->vectors},
                                {"segments", p->segments}},
                     list[] = {{"bits", (int64_t)p->bits},
                               {"sums", (int64_t)p->segment_sums},
                               {"before", (int64_t)p->before},
                               {"leaders", (int64_t)p->leaders},
                               {"segments", p->segments}};
    mc_status status = PUT(work, p, "count", count, diag);
    if (status == MC_OK) status = put_sums(work, p, diag);
    return status == MC_OK ? PUT(work, p, "list", list, diag) : status;
}

/* Of "measure" and of "deal": a step takes what it has a parameter for. */
static mc_status put_panels(device_work *work, const panels_packer *p, const char *step, mc_address items,
                            mc_diag *diag) {
    const mc_binding bindings[] = {{"offsets", (int64_t)p->pattern->offsets},
                                   {"bits", (int64_t)p->bits},
                                   {"before", (int64_t)p->before},
                                   {"counts", (int64_t)p->counts},
                                   {"sums", (int64_t)p->sums},
                                   {"totals", (int64_t)p->totals},
                                   {"starts", (int64_t)p->starts},
                                   {"items", (int64_t)items},
                                   {"rows", p->pattern->rows},
                                   {"panels", p->panels},
                                   {"groups", p->groups},
                                   {"warps", p->form.warps},
                                   {"share", p->form.share}};
    return PUT(work, p, step, bindings, diag);
}

mc_status panels_put_sizes(device_work *work, const panels_packer *p, mc_diag *diag) {
    const mc_binding sums[] = {{"numbers", (int64_t)p->counts},
                               {"sums", (int64_t)p->sums},
                               {"totals", (int64_t)p->totals},
                               {"count", PANEL_COUNTS * p->groups},
                               {"each", p->groups}};
    mc_status status = put_rank(work, p, diag);
    if (status == MC_OK) status = put_leaders(work, p, diag);
    if (status == MC_OK) status = put_panels(work, p, "measure", 0, diag);
    return status == MC_OK ? PUT(work, p, "sums", sums, diag) : status;
}

mc_status panels_read_sizes(const device_work *work, const panels_packer *p, panel_sizes *sizes,
                            mc_diag *diag) {
    int32_t totals[PANEL_TOTALS] = {0};
    mc_status status =
        mc_device_read_on(work->context->device, p->totals, totals, sizeof totals, work->stream, diag);
    const int64_t strides = totals[PANEL_TOTAL_STRIDES];
    *sizes = (panel_sizes){.nonzeros = p->pattern->vectors,
                           .strides = strides,
                           .items = totals[PANEL_TOTAL_ALL] - strides,
                           .pieces = (totals[PANEL_TOTAL_PIECES] - strides) / p->form.warps};
    sizes->items = pieces_of(sizes->items, p->form.warps) * p->form.warps;
    return status;
}

mc_status panels_put_arrays(device_work *work, const panels_packer *p, int64_t strides,
                            const device_packed *packed, mc_diag *diag) {
    const mc_binding bindings[] = {{"offsets", (int64_t)p->pattern->offsets},
                                   {"sorted", (int64_t)p->sorted},
                                   {"elements", (int64_t)p->elements},
                                   {"leaders", (int64_t)p->leaders},
                                   {"starts", (int64_t)p->starts},
                                   {"totals", (int64_t)p->totals},
                                   {"col_idx", (int64_t)device_packed_at(packed, "col_idx")},
                                   {"masks", (int64_t)device_packed_at(packed, "masks")},
                                   {"vectors", (int64_t)packed->vectors},
                                   {"rows", p->pattern->rows},
                                   {"panels", p->panels},
                                   {"strides", strides},
                                   {"nonzeros", p->pattern->vectors}};
    mc_status status = put_panels(work, p, "deal", device_packed_at(packed, "items"), diag);
    if (status != MC_OK || strides == 0) return status;
    return put(work, p, "write", p->form.nonzeros, bindings, sizeof bindings / sizeof *bindings, diag);
}

/* -- The whole ---------------------------------------------------------------------------------------- */

static mc_status find_sizes(device_work *work, panels_packer *p, panel_sizes *sizes, mc_diag *diag) {
    mc_address scratch = 0;
    *sizes = (panel_sizes){0};
    if (p->panels == 0) return MC_OK;
    mc_status status = work_scratch(work, panels_packer_scratch(p, 0), &scratch, diag);
    (void)panels_packer_scratch(p, scratch);
    if (status == MC_OK) status = panels_put_sizes(work, p, diag);
    return status == MC_OK ? panels_read_sizes(work, p, sizes, diag) : status;
}

mc_status device_pack_panels(mc_context *context, const device_pattern *pattern, mc_type type,
                             const mc_kernel *kernel, void *stream, device_packed *packed, mc_diag *diag) {
    const mc_panels form = panels_form_of(kernel);
    panels_packer packer;
    panel_sizes sizes;
    device_work work;
    *packed = (device_packed){0};
    mc_status status = panels_packer_open(pattern, &form, &packer, diag);
    if (status == MC_OK) status = work_begin(&work, context, stream, diag);
    if (status != MC_OK) return status;
    status = find_sizes(&work, &packer, &sizes, diag);
    if (status == MC_OK) status = panels_outline(&form, type, &sizes, &packed->shape, &packed->slots, diag);
    if (status == MC_OK) status = device_packed_create(context, packed, diag);
    if (status == MC_OK && packer.panels > 0)
        status = panels_put_arrays(&work, &packer, sizes.strides, packed, diag);
    status = work_end(&work, status, diag);
    if (status != MC_OK) device_packed_free(context, packed);
    return status;
}
