/* One variant, whole: point -> plan -> instructions -> check -> text. */
#include "builder.h"
#include <stdlib.h>
#include <string.h>

static mc_status build_failure(const mc_builder *b, const mc_kernel *kernel, mc_diag *diag) {
    if (b->no_memory) return mc_fail(diag, MC_NOMEM, "out of memory");
    return mc_fail(diag, MC_CANNOT, "%s: %s (an error of the generator)", kernel->family->name, b->error);
}

static mc_status build(mc_kernel *kernel, const char *spec_name, mc_diag *diag) {
    const mc_family *family = kernel->family;
    mc_builder b = {.arch = &mc_archs[kernel->point[FIELD_ARCH]]};
    mc_text text = {0};
    mc_status status = MC_OK;
    family->emit(kernel->plan, &b);
    if (builder_check(&b, &kernel->contract.ptx_version, &kernel->registers)) {
        print_module(&b, kernel, spec_name, &text);
        kernel->ptx = text_take(&text);
        if (!kernel->ptx) status = mc_fail(diag, MC_NOMEM, "out of memory");
    } else {
        status = build_failure(&b, kernel, diag);
    }
    builder_free(&b);
    return status;
}

mc_status mc_kernel_generate(const mc_spec *spec, size_t variant, mc_kernel **out, mc_diag *diag) {
    *out = NULL;
    if (variant >= spec->variant_count)
        return mc_fail(diag, MC_USAGE, "%s: there is no variant %zu", spec->name, variant);
    mc_kernel *kernel = calloc(1, sizeof *kernel);
    if (!kernel) return mc_fail(diag, MC_NOMEM, "out of memory");
    mc_complaints complaints = {0};
    kernel->family = spec->family;
    space_point(spec, variant, kernel->point);
    kernel->hash = point_hash(spec->family, kernel->point);
    for (size_t i = 0; i < spec->family->field_count; i++)
        field_value_text(&spec->family->fields[i], kernel->point[i], kernel->texts[i]);
    spec->family->plan(kernel->point, kernel->plan, &complaints);
    spec->family->entry_name(kernel->plan, kernel->entry);
    spec->family->contract(kernel->plan, &kernel->contract);
    spec->family->facts(kernel->plan, &kernel->facts);
    kernel->contract.entry = kernel->entry;
    kernel->contract.family = spec->family->name;
    kernel->contract.target = mc_archs[kernel->point[FIELD_ARCH]].target;
    mc_status status = build(kernel, spec->name, diag);
    if (status == MC_OK) *out = kernel;
    else mc_kernel_destroy(kernel);
    return status;
}

void mc_kernel_destroy(mc_kernel *kernel) {
    if (kernel) free(kernel->ptx);
    free(kernel);
}

const char *mc_kernel_ptx(const mc_kernel *kernel) { return kernel->ptx; }
const mc_contract *mc_kernel_contract(const mc_kernel *kernel) { return &kernel->contract; }

int64_t mc_kernel_field(const mc_kernel *kernel, const char *name) {
    int field = family_field(kernel->family, name);
    return field < 0 ? -2 : kernel->point[field];
}

const char *mc_kernel_field_text(const mc_kernel *kernel, const char *name) {
    int field = family_field(kernel->family, name);
    return field < 0 ? NULL : kernel->texts[field];
}
