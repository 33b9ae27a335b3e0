/* packed24, packed on the device (gen/ops/compress24, source "pattern"). */
#include <stdio.h>
#include "context/compress24.h"
#include "context/device_pack.h"
#include "context/device_work.h"

static mc_status put_kernel(device_work *work, const device_pattern *pattern, mc_type type,
                            const packed24_sizes *sizes, const device_packed *packed, mc_diag *diag) {
    enum { FIELDS_TEXT = 96, META = 1 /* of the arrays */ };
    full_groups full = {.count = 0};
    mc_address report = 0;
    char fields[FIELDS_TEXT];
    mc_status status = compress24_start_report(work, &report, diag);
    if (status != MC_OK) return status;
    const mc_binding bindings[] = {{"offsets", (int64_t)pattern->offsets},
                                   {"columns", (int64_t)pattern->columns},
                                   {"meta", (int64_t)packed->arrays[META]},
                                   {"vectors", (int64_t)packed->vectors},
                                   {"report", (int64_t)report},
                                   {"rows", pattern->rows},
                                   {"steps", sizes->steps > 0 ? sizes->steps : 1},
                                   {"items", sizes->atoms}};
    snprintf(fields, sizeof fields, "element=%s mode=strict layout=packed24 source=pattern",
             mc_type_text(type));
    status = work_put(work, "compress24", fields, bindings, sizeof bindings / sizeof *bindings, diag);
    if (status == MC_OK) status = compress24_read_report(work, report, &full, diag);
    if (status != MC_OK || full.count == 0) return status;
    return mc_fail(diag, MC_CANNOT, "the host says which groups are too full");
}

mc_status device_pack_packed24(mc_context *context, const device_pattern *pattern, mc_type type,
                               const mc_kernel *kernel, void *stream, device_packed *packed, mc_diag *diag) {
    const mc_vsparse a = device_outline(pattern, type);
    mc_sparse24_rule rule;
    packed24_sizes sizes;
    device_work work;
    *packed = (device_packed){0};
    mc_status status = mc_sparse24_rule_of(type, &rule, diag);
    if (status == MC_OK && (rule.kept == 1 || pattern->vec > 1))
        status = mc_fail(diag, MC_CANNOT, "only two of four elements, or pairs, are packed on the device");
    if (status == MC_OK) status = work_begin(&work, context, stream, diag);
    if (status != MC_OK) return status;
    status = packed24_outline(kernel, &a, &sizes, &packed->shape, &packed->slots, diag);
    if (status == MC_OK) status = device_packed_create(context, packed, diag);
    if (status == MC_OK) status = put_kernel(&work, pattern, type, &sizes, packed, diag);
    status = work_end(&work, status, diag);
    if (status != MC_OK) device_packed_free(context, packed);
    return status;
}
