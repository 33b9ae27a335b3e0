/* windowed-bcrs made on the device, by the two kernels of gen/ops/pack_windowed. The first one chooses which
   vectors share a stride, and counts strides; the host makes sums of the counts; the second one writes the
   arrays.
   The first one needs room before anybody knows how many strides there are (windowed_most_strides). */
#include <stdio.h>
#include <stdlib.h>
#include "base/memory.h"
#include "context/device_pack.h"
#include "context/device_work.h"
#include "formats/order.h"
#include "formats/windowed.h"
#include "formats/windowed_choose.h"
#include "parts/windowed_work.h"

enum { FIELDS_TEXT = 120, ALIGN = 256, UNIT = 16 };
enum { ROW_ORDER, ROW_PTR, CONTROL, PLACES, VALUES, PACKED_ARRAYS };

/* What both kernels read and write besides the packed arrays, and the host side of it. */
typedef struct workspace {
    mc_address chosen, windows, starts, counts;
    int32_t *order, *start, *row_ptr; /* [row_blocks], the same, [split * row_blocks + 1] */
    int64_t strides;                  /* that there is room for */
} workspace;

typedef struct windowed_packer {
    mc_context *context;
    const device_pattern *pattern;
    mc_vsparse outline; /* of the pattern, on the host, without columns */
    windowed_form form;
    device_work on; /* the stream, and what is done there */
    workspace work;
    device_packed *packed;
    mc_diag *diag;
} windowed_packer;

/* -- On the host -------------------------------------------------------------------------------------- */

static int64_t split_of(const windowed_packer *p) { return p->form.ring.split; }
static int64_t span_of(const windowed_packer *p) {
    const device_pattern *a = p->pattern;
    return windowed_span(&p->form.ring, a->cols, a->vectors, a->row_blocks);
}

static mc_status make_host(windowed_packer *p) {
    workspace *w = &p->work;
    int64_t row_blocks = p->pattern->row_blocks;
    w->order = mcrt_array(row_blocks, sizeof *w->order);
    w->start = mcrt_array(row_blocks, sizeof *w->start);
    w->row_ptr = mcrt_array(split_of(p) * row_blocks + 1, sizeof *w->row_ptr);
    if (w->order != NULL && w->start != NULL && w->row_ptr != NULL) return MC_OK;
    return mcrt_no_memory(p->diag, row_blocks, "row blocks");
}

/* Longest first, so that no long row block begins when the others are done. */
static mc_status find_starts(windowed_packer *p) {
    const device_pattern *a = p->pattern;
    workspace *w = &p->work;
    int together = p->form.ring.together > 1 ? p->form.ring.together : 1;
    mc_status status = order_longest_first(&p->outline, together, w->order, p->diag);
    for (int64_t place = 0; place < a->row_blocks && status == MC_OK; place++) {
        int64_t block = w->order[place];
        w->start[place] = (int32_t)w->strides;
        w->strides += windowed_most_strides(&p->form.ring, a->cols, span_of(p),
                                            a->row_ptr[block + 1] - a->row_ptr[block]);
        if (w->strides > INT32_MAX)
            status = mc_fail(p->diag, MC_CANNOT, "there may be more than %d strides", INT32_MAX);
    }
    return status;
}

/* row_ptr[i + 1] becomes a sum of what lies there. */
static mc_status add_counts(windowed_packer *p) {
    int32_t *row_ptr = p->work.row_ptr;
    int64_t count = 0;
    for (int64_t i = 1; i <= split_of(p) * p->pattern->row_blocks; i++) {
        count += row_ptr[i];
        mc_status status = windowed_check_count(count, p->diag);
        if (status != MC_OK) return status;
        row_ptr[i] = (int32_t)count;
    }
    return MC_OK;
}

/* -- Memory ------------------------------------------------------------------------------------------- */

static int64_t aligned(int64_t bytes) { return (bytes + ALIGN - 1) / ALIGN * ALIGN; }

static mc_status make_workspace(windowed_packer *p) {
    workspace *w = &p->work;
    const int64_t row_bytes = p->pattern->row_blocks * (int64_t)sizeof(int32_t);
    const int64_t bytes[] = {aligned(w->strides * WINDOWED_SLOTS * (int64_t)sizeof(int32_t)),
                             aligned(w->strides * WINDOWS_WORDS * (int64_t)sizeof(int32_t)),
                             aligned(row_bytes), aligned((split_of(p) + 1) * row_bytes)};
    mc_address *const parts[] = {&w->chosen, &w->windows, &w->starts, &w->counts};
    const size_t count = sizeof parts / sizeof *parts;
    size_t all = 0;
    for (size_t i = 0; i < count; i++) all += (size_t)bytes[i];
    mc_address at = 0;
    mc_status status = work_scratch(&p->on, all, &at, p->diag);
    for (size_t i = 0; i < count; at += (size_t)bytes[i++]) *parts[i] = at;
    if (status != MC_OK) return status;
    return mc_device_upload(p->context->device, w->starts, w->start, (size_t)row_bytes, p->diag);
}

static mc_status add_array(windowed_packer *p, int place, const char *name, mc_type type, int64_t count,
                           const void *data) {
    device_packed *packed = p->packed;
    size_t bytes = (size_t)mc_type_size(type, count);
    packed->shape.arrays[place] = (mc_packed_array){.name = name, .type = type, .count = count};
    packed->shape.array_count = (size_t)place + 1;
    mc_status status = context_alloc(p->context, bytes, &packed->arrays[place], p->diag);
    if (status != MC_OK || data == NULL) return status;
    return mc_device_upload(p->context->device, packed->arrays[place], data, bytes, p->diag);
}

static mc_status add_arrays(windowed_packer *p) {
    const int64_t offsets = split_of(p) * p->pattern->row_blocks, strides = p->work.row_ptr[offsets];
    const int64_t bytes = windowed_stride_bytes(&p->form.code, p->pattern->vec);
    mc_status status = add_array(p, ROW_PTR, "row_ptr", MC_S32, offsets + 1, p->work.row_ptr);
    if (status == MC_OK) status = add_array(p, CONTROL, "control", MC_S32, strides, NULL);
    if (status == MC_OK)
        status = add_array(p, PLACES, "places", MC_S32, strides * WINDOWED_STRIDE_WORDS, NULL);
    if (status == MC_OK) status = add_array(p, VALUES, "values", MC_S8, mcrt_product(strides, bytes), NULL);
    if (status != MC_OK) return status;
    return context_alloc(p->context, (size_t)strides * WINDOWED_SLOTS * sizeof(int32_t), &p->packed->vectors,
                         p->diag);
}

/* -- Kernels ------------------------------------------------------------------------------------------ */

static int64_t units_of(const windowed_packer *p) {
    int64_t ones = p->form.code.ones ? WINDOWED_ONES_BYTES : 0;
    return (windowed_stride_bytes(&p->form.code, p->pattern->vec) - ones) / UNIT;
}

static mc_status put_kernel(windowed_packer *p, const char *fields) {
    const workspace *w = &p->work;
    const mc_address *arrays = p->packed->arrays;
    const mc_ring *ring = &p->form.ring;
    const mc_binding bindings[] = {{"row_order", (int64_t)arrays[ROW_ORDER]},
                                   {"row_ptr", (int64_t)arrays[ROW_PTR]},
                                   {"control", (int64_t)arrays[CONTROL]},
                                   {"places", (int64_t)arrays[PLACES]},
                                   {"values", (int64_t)arrays[VALUES]},
                                   {"vectors", (int64_t)p->packed->vectors},
                                   {"offsets", (int64_t)p->pattern->offsets},
                                   {"columns", (int64_t)p->pattern->columns},
                                   {"starts", (int64_t)w->starts},
                                   {"chosen", (int64_t)w->chosen},
                                   {"windows", (int64_t)w->windows},
                                   {"counts", (int64_t)w->counts},
                                   {"row_blocks", p->pattern->row_blocks},
                                   {"window", ring->window},
                                   {"stages", ring->stages},
                                   {"span", span_of(p)},
                                   {"split", ring->split},
                                   {"units", units_of(p)}};
    return work_put(&p->on, "pack_windowed", fields, bindings, sizeof bindings / sizeof *bindings, p->diag);
}

static mc_status choose(windowed_packer *p) {
    const workspace *w = &p->work;
    int64_t row_blocks = p->pattern->row_blocks;
    mc_status status = row_blocks > 0 ? put_kernel(p, "task=choose padding=banks ones=off tile=64") : MC_OK;
    if (status != MC_OK) return status;
    return mc_device_read_on(p->context->device, w->counts, w->row_ptr + 1,
                             (size_t)(split_of(p) * row_blocks) * sizeof *w->row_ptr, p->on.stream, p->diag);
}

static mc_status place(windowed_packer *p) {
    const mc_ring *ring = &p->form.ring;
    const mc_type type = p->form.code.type;
    const char *padding = windowed_reads_words(type)        ? "words"
                          : windowed_pads_zeros(ring, type) ? "zeros"
                                                            : "banks";
    char fields[FIELDS_TEXT];
    snprintf(fields, sizeof fields, "task=place padding=%s ones=%s tile=%d", padding,
             p->form.code.ones ? "on" : "off", ring->tile_n);
    return p->pattern->row_blocks > 0 ? put_kernel(p, fields) : MC_OK;
}

/* -- The whole ---------------------------------------------------------------------------------------- */

static mc_status pack(windowed_packer *p) {
    const int64_t row_blocks = p->pattern->row_blocks;
    mc_status status = make_host(p);
    if (status == MC_OK) status = find_starts(p);
    if (status == MC_OK) status = add_array(p, ROW_ORDER, "row_order", MC_S32, row_blocks, p->work.order);
    if (status == MC_OK) status = make_workspace(p);
    if (status == MC_OK) status = choose(p);
    if (status == MC_OK) status = add_counts(p);
    if (status == MC_OK) status = add_arrays(p);
    if (status == MC_OK) status = place(p);
    if (status != MC_OK) return status;
    return windowed_outline(&p->form, p->pattern->vec, p->work.row_ptr[split_of(p) * row_blocks],
                            &p->packed->slots, p->diag);
}

static void free_host(windowed_packer *p) {
    free(p->work.order);
    free(p->work.start);
    free(p->work.row_ptr);
}

mc_status device_pack_windowed(mc_context *context, const device_pattern *pattern, mc_type type,
                               const mc_kernel *kernel, void *stream, device_packed *packed, mc_diag *diag) {
    windowed_packer p = {.context = context,
                         .pattern = pattern,
                         .outline = device_outline(pattern, type),
                         .packed = packed,
                         .diag = diag};
    *packed = (device_packed){0};
    mc_status status = work_begin(&p.on, context, stream, diag);
    if (status != MC_OK) return status;
    status = windowed_form_of(kernel, &p.outline, &p.form, diag);
    if (status == MC_OK && p.form.ring.parts > 1)
        status = mc_fail(diag, MC_CANNOT, "parts of windows are packed on the host");
    if (status == MC_OK) status = pack(&p);
    status = work_end(&p.on, status, diag);
    free_host(&p);
    if (status != MC_OK) device_packed_free(context, packed);
    return status;
}
