/* csr, packed on the device (gen/ops/pack_csr): who takes which rows is found out there, and offsets and
   columns are copied where they lie. */
#include "context/device_pack_csr.h"
#include <inttypes.h>
#include <stdio.h>
#include "parts/csr_work.h"
#include "parts/panels.h"

enum {
    FIELDS_TEXT = 64,
    ALIGN = 256,
    MOST_ROWS = 1 << 30,  /* whose items, with those of as many nonzeros as there may be, s32 counts */
    MOST_SHARE = 1 << 26, /* strides that 2^31 nonzeros have */
};

/* -- Sizes -------------------------------------------------------------------------------------------- */

static int64_t pieces_of(int64_t count, int64_t each) { return count / each + (count % each != 0); }

mc_status csr_packer_open(const device_pattern *pattern, const mc_csr_form *form, mc_type type,
                          csr_packer *packer, mc_diag *diag) {
    const mc_vsparse a = device_outline(pattern, type);
    *packer = (csr_packer){.pattern = pattern, .form = *form};
    mc_status status = csr_check(&a, form, diag);
    if (status != MC_OK || !csr_has_list(form)) return status;
    if (pattern->rows > MOST_ROWS)
        return mc_fail(diag, MC_CANNOT, "%" PRId64 " rows are dealt out on the host", pattern->rows);
    packer->blocks = pieces_of(pattern->rows, CSR_DEAL_ROWS);
    return MC_OK;
}

size_t csr_packer_scratch(csr_packer *p, mc_address address) {
    const int64_t counts = CSR_CLASSES * p->blocks;
    const struct {
        mc_address *address;
        int64_t words;
    } parts[] = {{&p->counts, counts}, {&p->sums, counts + 1}, {&p->totals, CSR_TOTALS}};
    size_t bytes = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i].address = address + bytes;
        bytes += (size_t)pieces_of(parts[i].words * (int64_t)sizeof(int32_t), ALIGN) * ALIGN;
    }
    return bytes;
}

/* -- Steps -------------------------------------------------------------------------------------------- */

static mc_status put(device_work *work, const char *step, bool segmented, const mc_binding *bindings,
                     size_t count, mc_diag *diag) {
    char fields[FIELDS_TEXT];
    snprintf(fields, sizeof fields, "step=%s segmented=%s", step, segmented ? "on" : "off");
    return work_put(work, "pack_csr", fields, bindings, count, diag);
}

/* Of "count" and of "deal": a step takes what it has a parameter for. A warp's groups take a row of the same
   strides together. */
static mc_status put_rows(device_work *work, const csr_packer *p, const char *step, mc_address items,
                          mc_diag *diag) {
    const mc_csr_form *form = &p->form;
    const int64_t share = (int64_t)form->share * form->groups;
    const mc_binding bindings[] = {{"offsets", (int64_t)p->pattern->offsets},
                                   {"counts", (int64_t)p->counts},
                                   {"sums", (int64_t)p->sums},
                                   {"totals", (int64_t)p->totals},
                                   {"items", (int64_t)items},
                                   {"rows", p->pattern->rows},
                                   {"blocks", p->blocks},
                                   {"most", (int64_t)form->share * CSR_STRIDE},
                                   {"joined", form->segmented ? CSR_SEGMENT_ROWS : form->groups},
                                   {"warps", form->warps},
                                   {"share", share < MOST_SHARE ? share : MOST_SHARE}};
    return put(work, step, form->segmented, bindings, sizeof bindings / sizeof *bindings, diag);
}

mc_status csr_put_sizes(device_work *work, const csr_packer *p, mc_diag *diag) {
    const mc_binding sums[] = {{"numbers", (int64_t)p->counts},
                               {"sums", (int64_t)p->sums},
                               {"totals", (int64_t)p->totals},
                               {"count", CSR_CLASSES * p->blocks},
                               {"each", p->blocks}};
    if (p->blocks == 0) return MC_OK;
    mc_status status = put_rows(work, p, "count", 0, diag);
    if (status != MC_OK) return status;
    return work_put(work, "pack_panels", "step=sums panel=8 values=slots", sums, sizeof sums / sizeof *sums,
                    diag);
}

mc_status csr_read_sizes(const device_work *work, const csr_packer *p, csr_sizes *sizes, mc_diag *diag) {
    int32_t totals[CSR_TOTALS] = {0};
    *sizes = (csr_sizes){0};
    if (p->blocks == 0) return MC_OK;
    mc_status status =
        mc_device_read_on(work->context->device, p->totals, totals, sizeof totals, work->stream, diag);
    sizes->items = pieces_of(totals[CSR_TOTAL_ALL], p->form.warps) * p->form.warps;
    sizes->pieces = totals[CSR_TOTAL_PIECES] / p->form.warps;
    return status;
}

mc_status csr_put_items(device_work *work, const csr_packer *p, mc_address items, mc_diag *diag) {
    return put_rows(work, p, "deal", items, diag);
}

static mc_status put_copy(device_work *work, mc_address source, mc_address target, int64_t count,
                          mc_diag *diag) {
    const mc_binding bindings[] = {
        {"source", (int64_t)source}, {"target", (int64_t)target}, {"count", count}};
    if (count == 0) return MC_OK;
    return put(work, "copy", false, bindings, sizeof bindings / sizeof *bindings, diag);
}

mc_status csr_put_arrays(device_work *work, const csr_packer *p, const device_packed *packed, mc_diag *diag) {
    const device_pattern *a = p->pattern;
    const int64_t slots = packed->slots.groups * packed->slots.group;
    mc_status status =
        p->blocks > 0 ? csr_put_items(work, p, device_packed_at(packed, "items"), diag) : MC_OK;
    if (status == MC_OK)
        status = put_copy(work, a->offsets, device_packed_at(packed, "row_ptr"), a->rows + 1, diag);
    if (status == MC_OK)
        status = put_copy(work, a->columns, device_packed_at(packed, "col_idx"), a->vectors, diag);
    if (status != MC_OK || a->vectors == 0) return status;
    return device_number_slots(work, packed->vectors, a->vectors, slots, diag);
}

/* -- The whole ---------------------------------------------------------------------------------------- */

static mc_status find_sizes(device_work *work, csr_packer *p, csr_sizes *sizes, mc_diag *diag) {
    mc_address scratch = 0;
    *sizes = (csr_sizes){0};
    if (p->blocks == 0) return MC_OK;
    mc_status status = work_scratch(work, csr_packer_scratch(p, 0), &scratch, diag);
    (void)csr_packer_scratch(p, scratch);
    if (status == MC_OK) status = csr_put_sizes(work, p, diag);
    return status == MC_OK ? csr_read_sizes(work, p, sizes, diag) : status;
}

mc_status device_pack_csr(mc_context *context, const device_pattern *pattern, mc_type type,
                          const mc_kernel *kernel, void *stream, device_packed *packed, mc_diag *diag) {
    const mc_csr_form form = csr_form_of(kernel, type);
    const mc_vsparse a = device_outline(pattern, type);
    csr_packer packer;
    csr_sizes sizes;
    device_work work;
    *packed = (device_packed){0};
    mc_status status = csr_packer_open(pattern, &form, type, &packer, diag);
    if (status == MC_OK) status = work_begin(&work, context, stream, diag);
    if (status != MC_OK) return status;
    status = find_sizes(&work, &packer, &sizes, diag);
    if (status == MC_OK) status = csr_outline(&form, &a, &sizes, &packed->shape, &packed->slots, diag);
    if (status == MC_OK) status = device_packed_create(context, packed, diag);
    if (status == MC_OK) status = csr_put_arrays(&work, &packer, packed, diag);
    status = work_end(&work, status, diag);
    if (status != MC_OK) device_packed_free(context, packed);
    return status;
}
