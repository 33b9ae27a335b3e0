/* Which packer makes the format that a kernel's contract names. */
#include <inttypes.h>
#include <string.h>
#include "mcrt.h"

static mc_status pack_strided(const mc_kernel *kernel, const mc_vsparse *a, mc_packed *packed,
                              mc_diag *diag) {
    const mc_strided form = {.stride = (int)mc_kernel_field(kernel, "stride"),
                             .heads = (int)mc_kernel_field(kernel, "split")};
    return mc_strided_pack(a, &form, packed, diag);
}

static mc_status pack_windowed(const mc_kernel *kernel, const mc_vsparse *a, mc_packed *packed,
                               mc_diag *diag) {
    mc_type rhs;
    mc_status status = mc_type_of(kernel, "rhs", &rhs, diag);
    if (status != MC_OK) return status;
    const mc_ring ring = {.window = (int)mc_kernel_field(kernel, "window"),
                          .stages = (int)mc_kernel_field(kernel, "stages"),
                          .tile_n = (int)mc_type_size(rhs, mc_kernel_field(kernel, "tile_n")),
                          .split = (int)mc_kernel_field(kernel, "split")};
    return mc_windowed_pack(a, &ring, packed, diag);
}

static const struct {
    const char *name;
    mc_status (*pack)(const mc_kernel *kernel, const mc_vsparse *a, mc_packed *packed, mc_diag *diag);
} formats[] = {{"strided-bcrs", pack_strided}, {"windowed-bcrs", pack_windowed}};

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
    const char *format = mc_kernel_contract(kernel)->format;
    mc_status status = check_fields(kernel, a, diag);
    if (status != MC_OK) return status;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(format, formats[i].name) == 0) return formats[i].pack(kernel, a, packed, diag);
    return mc_fail(diag, MC_CANNOT, "there is no packer for the format %s", format);
}
