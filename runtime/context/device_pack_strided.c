/* strided-bcrs and strided-bcrs-int4, packed on the device (gen/ops/pack_strided). */
#include <stdio.h>
#include "context/device_pack.h"
#include "context/device_work.h"
#include "parts/segment.h"

enum { FIELDS_TEXT = 96, HOLD = 4 };

/* Segments of the longest row block's slots. */
static int64_t segments_of(const mc_vsparse *a, const mc_strided *form) {
    int64_t heads = (int64_t)form->heads * form->stride, longest = mcrt_vsparse_longest(a, 0, a->row_blocks);
    int64_t all = (longest + form->stride - 1) / form->stride * form->stride,
            most = all > heads ? all : heads;
    return most / MC_SEGMENT + (most % MC_SEGMENT != 0);
}

static void name_kernel(const mc_strided *form, const packed_slots *slots, char fields[FIELDS_TEXT]) {
    const char *ones = !slots->code.ones ? "none" : form->int4 ? "halves" : "bytes";
    snprintf(fields, FIELDS_TEXT, "index=%s ones=%s group=%d hold=%d", form->shuffle ? "shuffled" : "plain",
             ones, slots->group, HOLD);
}

static mc_status put_kernel(device_work *work, const device_pattern *pattern, const mc_vsparse *a,
                            const mc_strided *form, const device_packed *packed, mc_diag *diag) {
    const packed_slots *slots = &packed->slots;
    const int64_t segments = segments_of(a, form),
                  before_ones = (int64_t)slots->code.pieces * slots->vec * slots->group;
    const mc_binding bindings[] = {{"offsets", (int64_t)pattern->offsets},
                                   {"columns", (int64_t)pattern->columns},
                                   {"row_ptr", (int64_t)device_packed_at(packed, "row_ptr")},
                                   {"col_idx", (int64_t)device_packed_at(packed, "col_idx")},
                                   {"vectors", (int64_t)packed->vectors},
                                   {"values", (int64_t)device_packed_at(packed, "values")},
                                   {"group_bytes", mc_type_size(slots->code.unit, slots->period)},
                                   {"ones_at", mc_type_size(slots->code.unit, before_ones)},
                                   {"stride", form->stride},
                                   {"heads", (int64_t)form->heads * form->stride},
                                   {"items", pattern->row_blocks * segments},
                                   {"segments", segments}};
    char fields[FIELDS_TEXT];
    if (slots->groups == 0) return MC_OK;
    name_kernel(form, slots, fields);
    return work_put(work, "pack_strided", fields, bindings, sizeof bindings / sizeof *bindings, diag);
}

mc_status device_pack_strided(mc_context *context, const device_pattern *pattern, mc_type type,
                              const mc_kernel *kernel, void *stream, device_packed *packed, mc_diag *diag) {
    const mc_vsparse a = device_outline(pattern, type);
    device_work work;
    mc_strided form;
    *packed = (device_packed){0};
    mc_status status = work_begin(&work, context, stream, diag);
    if (status != MC_OK) return status;
    status = strided_outline(kernel, &a, &form, &packed->shape, &packed->slots, diag);
    if (status == MC_OK) status = device_packed_create(context, packed, diag);
    if (status == MC_OK) status = put_kernel(&work, pattern, &a, &form, packed, diag);
    status = work_end(&work, status, diag);
    if (status != MC_OK) device_packed_free(context, packed);
    return status;
}
