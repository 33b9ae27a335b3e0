/* Which packer makes the format that a kernel's contract names. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "formats/dense.h"

#define F(name) extern const packed_format format_##name;
#include "formats/formats.def"
#undef F

static const packed_format *const formats[] = {
#define F(name) &format_##name,
#include "formats/formats.def"
#undef F
};

static mc_status find_format(const mc_kernel *kernel, const packed_format **format, mc_diag *diag) {
    if (kernel == NULL) return *format = &format_dense, MC_OK;
    const char *name = mc_kernel_contract(kernel)->format;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(name, formats[i]->name) == 0) {
            *format = formats[i];
            return MC_OK;
        }
    return mc_fail(diag, MC_CANNOT, "there is no packer for the format %s", name);
}

int64_t mc_pack_most(const mc_kernel *kernel, mc_type type) {
    const packed_format *format = NULL;
    value_code code;
    if (find_format(kernel, &format, NULL) != MC_OK) return mc_type_max(type);
    mc_type unit = format->floats ? code_unit(type, format->unit) : format->unit;
    mc_status status = code_make(type, code_of_kernel(kernel), unit, &code, NULL);
    return status == MC_OK ? code_most(&code) : mc_type_max(type);
}

static mc_status check_size(const mc_kernel *kernel, const char *field, int64_t size, mc_diag *diag) {
    int64_t want = mc_kernel_field(kernel, field);
    if (want == MC_OPEN || want == size) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "the kernel is made for %s = %" PRId64 ", the matrix has %" PRId64, field,
                   want, size);
}

static mc_status check_type(const mc_kernel *kernel, const char *field, mc_type type, mc_diag *diag) {
    const char *want = mc_kernel_field_text(kernel, field);
    if (want && strcmp(want, mc_type_text(type)) == 0) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "the kernel is made for %s = %s, the matrix holds %s", field,
                   want ? want : "none", mc_type_text(type));
}

static mc_status check_vectors(const mc_kernel *kernel, const packed_format *format, const mc_vsparse *a,
                               mc_diag *diag) {
    mc_status status = format->type ? check_type(kernel, format->type, a->type, diag) : MC_OK;
    return status == MC_OK ? check_size(kernel, "vec", a->vec, diag) : status;
}

/* The format that KERNEL reads, which A fits. */
static mc_status choose_format(const mc_kernel *kernel, const host_matrix *a, const packed_format **format,
                               mc_diag *diag) {
    mc_status status = find_format(kernel, format, diag);
    if (status != MC_OK) return status;
    if ((*format)->kind != a->kind)
        return mc_fail(diag, MC_CANNOT, "the format %s (%s) is made of %s, the matrix has %s",
                       (*format)->name, (*format)->doc, matrix_kind_text((*format)->kind),
                       matrix_kind_text(a->kind));
    if (kernel == NULL) return MC_OK;
    if (a->kind == MATRIX_VECTORS) status = check_vectors(kernel, *format, a->vectors, diag);
    if (status == MC_OK) status = check_size(kernel, "m", a->rows, diag);
    return status == MC_OK ? check_size(kernel, (*format)->cols, a->cols, diag) : status;
}

bool mc_packs(const mc_kernel *kernel) {
    return kernel == NULL || mc_kernel_contract(kernel)->array_count > 0;
}

mc_status mc_pack_host(const mc_kernel *kernel, const host_matrix *a, mc_packed *packed, mc_diag *diag) {
    *packed = (mc_packed){0};
    const packed_format *format = NULL;
    if (!mc_packs(kernel)) return MC_OK;
    mc_status status = choose_format(kernel, a, &format, diag);
    return status == MC_OK ? format->pack(kernel, a, packed, diag) : status;
}

mc_status mc_pack_fits(const mc_kernel *kernel, const mc_vsparse *a, mc_diag *diag) {
    const host_matrix host = host_vectors(a);
    const packed_format *format = NULL;
    return choose_format(kernel, &host, &format, diag);
}

mc_status mc_pack(const mc_kernel *kernel, const mc_vsparse *a, mc_packed *packed, mc_diag *diag) {
    const host_matrix host = host_vectors(a);
    return mc_pack_host(kernel, &host, packed, diag);
}

mc_status mc_pack_values(const mc_kernel *kernel, const mc_vsparse *a, mc_packed *packed, mc_diag *diag) {
    const host_matrix host = host_vectors(a);
    const packed_format *format = NULL;
    mc_status status = choose_format(kernel, &host, &format, diag);
    return status == MC_OK ? format->pack_values(kernel, &host, packed, diag) : status;
}

mc_status mc_pack_slots(const mc_kernel *kernel, const mc_vsparse *a, packed_slots *slots, mc_diag *diag) {
    const host_matrix host = host_vectors(a);
    const packed_format *format = NULL;
    *slots = (packed_slots){0};
    mc_status status = choose_format(kernel, &host, &format, diag);
    if (status != MC_OK || format->slots == NULL) return status;
    return format->slots(kernel, &host, slots, diag);
}

mc_status mc_unpack(const mc_kernel *kernel, const mc_packed *packed, int64_t rows, int64_t cols,
                    mc_vsparse *a, mc_diag *diag) {
    const packed_format *format = NULL;
    mc_type type = MC_F32;
    *a = (mc_vsparse){0};
    mc_status status = find_format(kernel, &format, diag);
    if (status == MC_OK && format->type) status = mc_type_of(kernel, format->type, &type, diag);
    if (status != MC_OK) return status;
    if (format->unpack == NULL)
        return mc_fail(diag, MC_CANNOT, "the format %s (%s) is not unpacked", format->name, format->doc);
    return format->unpack(kernel, packed, type, rows, cols, a, diag);
}

/* TEXT, of at most MC_PACK_FORM bytes, gets " FIELD=value". */
static void add_field(const mc_kernel *kernel, const char *field, int length, char *text) {
    char name[32];
    size_t used = strlen(text);
    snprintf(name, sizeof name, "%.*s", length, field);
    const char *value = mc_kernel_field_text(kernel, name);
    snprintf(text + used, MC_PACK_FORM - used, " %s=%s", name, value ? value : "none");
}

void mc_pack_form(const mc_kernel *kernel, char form[MC_PACK_FORM]) {
    const packed_format *format = NULL;
    const char *name = kernel == NULL ? format_dense.name : mc_kernel_contract(kernel)->format;
    snprintf(form, MC_PACK_FORM, "%s", mc_packs(kernel) ? name : "none");
    if (!mc_packs(kernel) || find_format(kernel, &format, NULL) != MC_OK) return;
    for (const char *field = format->form; *field;) {
        size_t length = strcspn(field, " ");
        add_field(kernel, field, (int)length, form);
        field += length + (field[length] == ' ');
    }
}
