/* Which packer makes the format that a kernel's contract names. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "formats/sampled.h"

static const char int4_format[] = "strided-bcrs-int4", windows_format[] = "sampled-windows";

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
                        .heads = mc_kernel_field(kernel, "heads") ? (int)mc_kernel_field(kernel, "split") : 0,
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

static mc_status sampled_form(const mc_kernel *kernel, mc_sampled *form, mc_diag *diag) {
    const char *mask = mc_kernel_field_text(kernel, "mask");
    *form = (mc_sampled){.groups = (int)mc_kernel_field(kernel, "groups"),
                         .window = mc_kernel_field(kernel, "window"),
                         .values = mask != NULL && strcmp(mask, "values") == 0,
                         .windows = strcmp(mc_kernel_contract(kernel)->format, windows_format) == 0};
    return mc_order_of(kernel, &form->order, diag);
}

static mc_status pack_sampled(const mc_kernel *kernel, const mc_vsparse *mask, mc_packed *packed,
                              mc_diag *diag) {
    mc_sampled form;
    mc_status status = sampled_form(kernel, &form, diag);
    return status == MC_OK ? mc_sampled_pack(mask, &form, packed, diag) : status;
}

static mc_status replace_sampled(const mc_kernel *kernel, const mc_vsparse *mask, mc_packed *packed,
                                 mc_diag *diag) {
    mc_sampled form;
    mc_status status = sampled_form(kernel, &form, diag);
    return status == MC_OK ? mc_sampled_pack_values(mask, &form, packed, diag) : status;
}

static mc_status tiles_of(const mc_kernel *kernel, mc_sampled_tiles *form, mc_diag *diag) {
    *form = (mc_sampled_tiles){.tile_n = mc_kernel_field(kernel, "tile_n")};
    return mc_order_of(kernel, &form->order, diag);
}

static mc_status pack_tiles(const mc_kernel *kernel, const mc_vsparse *mask, mc_packed *packed,
                            mc_diag *diag) {
    mc_sampled_tiles form;
    mc_status status = tiles_of(kernel, &form, diag);
    return status == MC_OK ? mc_sampled_dense_pack(mask, &form, packed, diag) : status;
}

static mc_status replace_tiles(const mc_kernel *kernel, const mc_vsparse *mask, mc_packed *packed,
                               mc_diag *diag) {
    mc_sampled_tiles form;
    mc_status status = tiles_of(kernel, &form, diag);
    return status == MC_OK ? mc_sampled_dense_pack_values(mask, &form, packed, diag) : status;
}

typedef mc_status packer(const mc_kernel *kernel, const mc_vsparse *a, mc_packed *packed, mc_diag *diag);

static const struct format {
    const char *name;
    packer *pack, *replace;
    const char *type, *cols; /* the fields that say the matrix's type (NULL: any) and its columns */
    const char *form;        /* those that the arrays depend on */
} formats[] = {
    {"strided-bcrs", pack_strided, replace_strided, "lhs", "k", "lhs vec stride split heads digits"},
    {int4_format, pack_strided, replace_strided, "lhs", "k", "lhs vec stride split heads digits shuffle"},
    {"windowed-bcrs", pack_windowed, replace_windowed, "lhs", "k",
     "lhs vec rhs tile_n window stages split digits"},
    {"sampled-list", pack_sampled, replace_sampled, NULL, "n", "vec order groups window mask"},
    {windows_format, pack_sampled, replace_sampled, NULL, "n", "vec order groups window mask"},
    {"sampled-dense", pack_tiles, replace_tiles, NULL, "n", "vec order tile_n"}};

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

static mc_status check_type(const mc_kernel *kernel, const char *field, mc_type type, mc_diag *diag) {
    const char *want = mc_kernel_field_text(kernel, field);
    if (want && strcmp(want, mc_type_text(type)) == 0) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "the kernel is made for %s = %s, the matrix holds %s", field,
                   want ? want : "none", mc_type_text(type));
}

/* The format that KERNEL reads, which A fits. */
static mc_status choose_format(const mc_kernel *kernel, const mc_vsparse *a, const struct format **format,
                               mc_diag *diag) {
    mc_status status = find_format(kernel, format, diag);
    if (status == MC_OK && (*format)->type) status = check_type(kernel, (*format)->type, a->type, diag);
    if (status == MC_OK) status = check_size(kernel, "vec", a->vec, diag);
    if (status == MC_OK) status = check_size(kernel, "m", a->rows, diag);
    return status == MC_OK ? check_size(kernel, (*format)->cols, a->cols, diag) : status;
}

mc_status mc_pack(const mc_kernel *kernel, const mc_vsparse *a, mc_packed *packed, mc_diag *diag) {
    *packed = (mc_packed){0};
    const struct format *format = NULL;
    if (mc_kernel_contract(kernel)->array_count == 0) return MC_OK;
    mc_status status = choose_format(kernel, a, &format, diag);
    return status == MC_OK ? format->pack(kernel, a, packed, diag) : status;
}

mc_status mc_pack_values(const mc_kernel *kernel, const mc_vsparse *a, mc_packed *packed, mc_diag *diag) {
    const struct format *format = NULL;
    mc_status status = choose_format(kernel, a, &format, diag);
    return status == MC_OK ? format->replace(kernel, a, packed, diag) : status;
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
    const struct format *format = NULL;
    const mc_contract *contract = mc_kernel_contract(kernel);
    snprintf(form, MC_PACK_FORM, "%s", contract->array_count > 0 ? contract->format : "none");
    if (contract->array_count == 0) return;
    if (find_format(kernel, &format, NULL) != MC_OK) return;
    for (const char *field = format->form; *field;) {
        size_t length = strcspn(field, " ");
        add_field(kernel, field, (int)length, form);
        field += length + (field[length] == ' ');
    }
}
