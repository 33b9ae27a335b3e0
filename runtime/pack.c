/* Which packer makes the format that a kernel's contract names. */
#include <inttypes.h>
#include <string.h>
#include "mcrt.h"

static const char int4_format[] = "strided-bcrs-int4";

mc_digits mc_digits_of(const mc_kernel *kernel) {
    const char *name = mc_kernel_field_text(kernel, "digits");
    if (name && strcmp(name, "balanced") == 0) return MC_DIGITS_BALANCED;
    return name && strcmp(name, "offset") == 0 ? MC_DIGITS_OFFSET : MC_DIGITS_TOP_SIGNED;
}

static bool is_int4(const mc_kernel *kernel) {
    return strcmp(mc_kernel_contract(kernel)->format, int4_format) == 0;
}

int64_t mc_pack_most(const mc_kernel *kernel, mc_type type) {
    return mc_digits_most(mc_digits_of(kernel), is_int4(kernel) ? 4 : 8, type);
}

static mc_strided strided_form(const mc_kernel *kernel) {
    bool int4 = is_int4(kernel);
    return (mc_strided){.stride = (int)mc_kernel_field(kernel, "stride"),
                        .heads = (int)mc_kernel_field(kernel, "split"),
                        .digits = mc_digits_of(kernel),
                        .int4 = int4,
                        .shuffle = int4 && mc_kernel_field(kernel, "shuffle") == 1};
}

static mc_status pack_strided(const mc_kernel *kernel, const mc_vsparse *a, mc_packed *packed,
                              mc_diag *diag) {
    const mc_strided form = strided_form(kernel);
    return mc_strided_pack(a, &form, packed, diag);
}

static mc_status replace_strided(const mc_kernel *kernel, const mc_vsparse *a, mc_packed *packed,
                                 mc_diag *diag) {
    const mc_strided form = strided_form(kernel);
    return mc_strided_pack_values(a, &form, packed, diag);
}

static mc_status ring_of(const mc_kernel *kernel, mc_ring *ring, mc_diag *diag) {
    mc_type rhs;
    mc_status status = mc_type_of(kernel, "rhs", &rhs, diag);
    if (status != MC_OK) return status;
    *ring = (mc_ring){.window = (int)mc_kernel_field(kernel, "window"),
                      .stages = (int)mc_kernel_field(kernel, "stages"),
                      .tile_n = (int)mc_type_size(rhs, mc_kernel_field(kernel, "tile_n")),
                      .split = (int)mc_kernel_field(kernel, "split"),
                      .digits = mc_digits_of(kernel)};
    return MC_OK;
}

static mc_status pack_windowed(const mc_kernel *kernel, const mc_vsparse *a, mc_packed *packed,
                               mc_diag *diag) {
    mc_ring ring;
    mc_status status = ring_of(kernel, &ring, diag);
    return status == MC_OK ? mc_windowed_pack(a, &ring, packed, diag) : status;
}

static mc_status replace_windowed(const mc_kernel *kernel, const mc_vsparse *a, mc_packed *packed,
                                  mc_diag *diag) {
    mc_ring ring;
    mc_status status = ring_of(kernel, &ring, diag);
    return status == MC_OK ? mc_windowed_pack_values(a, &ring, packed, diag) : status;
}

typedef mc_status packer(const mc_kernel *kernel, const mc_vsparse *a, mc_packed *packed, mc_diag *diag);

static const struct format {
    const char *name;
    packer *pack, *replace;
} formats[] = {{"strided-bcrs", pack_strided, replace_strided},
               {int4_format, pack_strided, replace_strided},
               {"windowed-bcrs", pack_windowed, replace_windowed}};

static mc_status find_format(const mc_kernel *kernel, const struct format **format, mc_diag *diag) {
    const char *name = mc_kernel_contract(kernel)->format;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(name, formats[i].name) == 0) {
            *format = &formats[i];
            return MC_OK;
        }
    return mc_fail(diag, MC_CANNOT, "there is no packer for the format %s", name);
}

static mc_status check_size(const mc_kernel *kernel, const char *field, int64_t size, mc_diag *diag) {
    int64_t want = mc_kernel_field(kernel, field);
    if (want == MC_OPEN || want == size) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "the kernel is made for %s = %" PRId64 ", the matrix has %" PRId64, field,
                   want, size);
}

static mc_status check_fields(const mc_kernel *kernel, const mc_vsparse *a, mc_diag *diag) {
    const char *lhs = mc_kernel_field_text(kernel, "lhs");
    if (!lhs || strcmp(lhs, mc_type_text(a->type)) != 0)
        return mc_fail(diag, MC_CANNOT, "the kernel is made for lhs = %s, the matrix holds %s",
                       lhs ? lhs : "none", mc_type_text(a->type));
    mc_status status = check_size(kernel, "vec", a->vec, diag);
    if (status == MC_OK) status = check_size(kernel, "m", a->rows, diag);
    return status == MC_OK ? check_size(kernel, "k", a->cols, diag) : status;
}

mc_status mc_pack(const mc_kernel *kernel, const mc_vsparse *a, mc_packed *packed, mc_diag *diag) {
    *packed = (mc_packed){0};
    const struct format *format = NULL;
    mc_status status = check_fields(kernel, a, diag);
    if (status == MC_OK) status = find_format(kernel, &format, diag);
    return status == MC_OK ? format->pack(kernel, a, packed, diag) : status;
}

mc_status mc_pack_values(const mc_kernel *kernel, const mc_vsparse *a, mc_packed *packed, mc_diag *diag) {
    const struct format *format = NULL;
    mc_status status = check_fields(kernel, a, diag);
    if (status == MC_OK) status = find_format(kernel, &format, diag);
    return status == MC_OK ? format->replace(kernel, a, packed, diag) : status;
}
