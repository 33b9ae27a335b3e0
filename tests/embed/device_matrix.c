#include "device_matrix.h"
#include <stdlib.h>
#include "base/element.h"

mc_context *context;

enum { GAP = 6 };

int device_end(int test_end) { return product_end(test_end | check_end()); }

/* -- Patterns */

static bool has_some(int64_t block, int64_t col) {
    if (block == 1) return false;
    return block == 2 || (block * 37 + col * 11 + col * col * block) % 5 < 2;
}
static bool has_none(int64_t block, int64_t col) { return (void)block, (void)col, false; }
static bool has_one_row(int64_t block, int64_t col) { return (void)col, block == 3; }
static bool has_last(int64_t block, int64_t col) { return block == 5 && col == 2100; }

/* A row block of more than a segment of 1024, and one of several in a launch's thread block. */
const device_shape device_shapes[DEVICE_SHAPES] = {
    {"mixed", 7, 100, has_some}, {"no vectors", 4, 50, has_none},    {"one full row", 6, 1100, has_one_row},
    {"last", 6, 2101, has_last}, {"no row blocks", 0, 40, has_some}, {"no columns", 3, 0, has_some},
    {"long", 3, 1500, has_some},
};

mc_vsparse device_make_host(mc_type type, int vec, const device_shape *s) {
    mc_vsparse host;
    int64_t vectors = 0, v = 0;
    for (int64_t b = 0; b < s->row_blocks; b++)
        for (int64_t j = 0; j < s->cols; j++) vectors += s->has(b, j);
    if (!worked("create", mcrt_vsparse_create(type, vec, s->row_blocks, s->cols, vectors, &host, diag)))
        exit(1);
    for (int64_t b = 0; b < s->row_blocks; host.row_ptr[++b] = v)
        for (int64_t j = 0; j < s->cols; j++)
            if (s->has(b, j)) host.col_idx[v++] = (int32_t)j;
    return host;
}

void device_fill(mc_vsparse *host, uint64_t seed, int64_t most) {
    if (host->type == MC_F32) mc_scale_fill(host->values, host->vectors * host->vec, MC_VALUES_FULL, seed);
    else mc_vsparse_fill(host, MC_VALUES_FULL, seed, NULL);
    if (!mc_type_is_real(host->type)) mc_vsparse_clamp(host, most);
}

/* -- Device memory */

mc_address device_put(const void *data, size_t bytes) {
    mc_address address = 0;
    (void)worked("memory", mc_memory_create(context, bytes + 1, &address, diag));
    if (bytes > 0) (void)worked("write", mc_memory_write(context, address, data, bytes, diag));
    return address;
}

static mc_address offsets_on_device(const mc_vsparse *host) {
    int32_t *offsets = malloc((size_t)(host->row_blocks + 1) * sizeof *offsets);
    for (int64_t b = 0; b <= host->row_blocks; b++) offsets[b] = (int32_t)host->row_ptr[b];
    mc_address address = device_put(offsets, (size_t)(host->row_blocks + 1) * sizeof *offsets);
    free(offsets);
    return address;
}

size_t device_value_bytes(const mc_vsparse *host) {
    return (size_t)mc_type_size(host->type, host->vectors * host->vec);
}

mc_matrix *device_from_bcrs(const mc_vsparse *host, bool zeros) {
    mc_matrix *matrix = NULL;
    mc_address parts[] = {offsets_on_device(host), device_put(host->col_idx, (size_t)host->vectors * 4),
                          device_put(host->values, device_value_bytes(host))};
    const mc_device_matrix_config config = {.size = sizeof config,
                                            .type = host->type,
                                            .vec = host->vec,
                                            .rows = host->rows,
                                            .cols = host->cols,
                                            .row_ptr = parts[0],
                                            .col_idx = parts[1],
                                            .values = zeros ? 0 : parts[2]};
    (void)worked("mc_matrix_from_device", mc_matrix_from_device(context, &config, NULL, &matrix, diag));
    for (int i = 0; i < 3; i++) mc_memory_destroy(context, parts[i]); /* all is copied */
    return matrix;
}

/* -- Dense matrices */

const device_dense_kind device_dense_kinds[DEVICE_DENSE_KINDS] = {
    {false, false, false, false}, {false, true, false, false}, {true, false, false, false},
    {true, true, false, false},   {false, true, true, true},   {true, true, true, true},
    {false, false, true, false}};

static int64_t ld_of(const mc_vsparse *host, device_dense_kind kind) {
    int64_t length = kind.by_columns ? host->rows : host->cols;
    return length + length % 2 + (kind.gap ? GAP : 0);
}

static int64_t place_in(const mc_vsparse *host, device_dense_kind kind, int64_t row, int64_t col) {
    int64_t ld = ld_of(host, kind);
    return kind.by_columns ? col * ld + row : row * ld + col;
}

/* Bytes of a dense matrix of TYPE and what is between its lines: not zero, so that reading it is wrong. */
static unsigned char *dense_room(const mc_vsparse *host, device_dense_kind kind, mc_type type,
                                 size_t *bytes) {
    int64_t lines = kind.by_columns ? host->cols : host->rows;
    *bytes = (size_t)mc_type_size(type, lines * ld_of(host, kind));
    unsigned char *room = malloc(*bytes + 1);
    memset(room, 0x25, *bytes);
    return room;
}

void *device_make_dense(const mc_vsparse *host, device_dense_kind kind, size_t *bytes) {
    unsigned char *data = dense_room(host, kind, host->type, bytes);
    for (int64_t i = 0; i < host->rows; i++)
        for (int64_t j = 0; j < host->cols; j++)
            if (!kind.junk) element_set(host->type, data, place_in(host, kind, i, j), 0);
    for (int64_t b = 0; b < host->row_blocks; b++)
        for (int64_t v = host->row_ptr[b]; v < host->row_ptr[b + 1]; v++)
            for (int r = 0; r < host->vec; r++)
                element_set(host->type, data, place_in(host, kind, b * host->vec + r, host->col_idx[v]),
                            mc_vsparse_value(host, v, r));
    return data;
}

/* One element of each vector is set, in turn another one. */
static void *make_mask(const mc_vsparse *host, device_dense_kind kind, size_t *bytes) {
    unsigned char *mask = dense_room(host, kind, MC_U8, bytes);
    for (int64_t i = 0; i < host->rows; i++)
        for (int64_t j = 0; j < host->cols; j++) mask[place_in(host, kind, i, j)] = 0;
    for (int64_t b = 0; b < host->row_blocks; b++)
        for (int64_t v = host->row_ptr[b]; v < host->row_ptr[b + 1]; v++)
            mask[place_in(host, kind, b * host->vec + v % host->vec, host->col_idx[v])] =
                (uint8_t)(1 << v % 8);
    return mask;
}

mc_device_dense_config device_dense_config(const mc_vsparse *host, device_dense_kind kind) {
    return (mc_device_dense_config){.size = sizeof(mc_device_dense_config),
                                    .type = host->type,
                                    .vec = host->vec,
                                    .rows = host->rows,
                                    .cols = host->cols,
                                    .major = kind.by_columns ? MC_MAJOR_COLUMN : MC_MAJOR_ROW,
                                    .ld = ld_of(host, kind),
                                    .mask_ld = kind.mask ? ld_of(host, kind) : 0};
}

mc_matrix *device_from_dense(const mc_vsparse *host, device_dense_kind kind) {
    size_t bytes, mask_bytes;
    mc_matrix *matrix = NULL;
    void *data = device_make_dense(host, kind, &bytes), *mask = make_mask(host, kind, &mask_bytes);
    mc_device_dense_config config = device_dense_config(host, kind);
    config.data = device_put(data, bytes);
    mc_address mask_at = device_put(mask, mask_bytes);
    config.mask = kind.mask ? mask_at : 0;
    (void)worked("mc_matrix_from_device_dense",
                 mc_matrix_from_device_dense(context, &config, NULL, &matrix, diag));
    mc_memory_destroy(context, config.data);
    mc_memory_destroy(context, mask_at);
    free(data);
    free(mask);
    return matrix;
}

/* -- What a matrix holds */

void device_compare_host(mc_matrix *matrix, const mc_vsparse *want, const char *text) {
    const mc_vsparse *got = &matrix->host;
    context_visit visit;
    (void)context_enter(context, &visit, diag);
    (void)worked("matrix_complete", matrix_complete(matrix, diag));
    context_leave(context, &visit);
    CHECK(got->vectors == want->vectors && got->rows == want->rows && got->cols == want->cols,
          "%s: %lld vectors, must be %lld", text, (long long)got->vectors, (long long)want->vectors);
    if (got->vectors != want->vectors) return;
    size_t offsets = (size_t)(want->row_blocks + 1) * sizeof *want->row_ptr;
    CHECK(memcmp(got->row_ptr, want->row_ptr, offsets) == 0, "%s: row_ptr", text);
    CHECK(memcmp(got->col_idx, want->col_idx, (size_t)want->vectors * 4) == 0, "%s: col_idx", text);
    int64_t wrong = 0;
    for (int64_t v = 0; v < want->vectors; v++)
        for (int r = 0; r < want->vec; r++)
            wrong += mc_vsparse_value(got, v, r) != mc_vsparse_value(want, v, r);
    CHECK(wrong == 0, "%s: %lld values are others", text, (long long)wrong);
}

/* New values of FRESH, by one of the ways in turn. */
void device_set_values(mc_matrix *matrix, const mc_vsparse *fresh, int turn) {
    const mc_values_from from = (mc_values_from)(turn % 3);
    const device_dense_kind kind = {.by_columns = from == MC_FROM_COLUMNS, .gap = true, .junk = true};
    size_t bytes = device_value_bytes(fresh);
    void *source = from == MC_FROM_VECTORS ? NULL : device_make_dense(fresh, kind, &bytes);
    mc_device_values values = {.size = sizeof values, .from = from};
    values.ld = from == MC_FROM_VECTORS ? 0 : ld_of(fresh, kind);
    values.address = device_put(source != NULL ? source : fresh->values, bytes);
    (void)worked("set device values", mc_matrix_set_device_values(matrix, &values, NULL, diag));
    (void)worked("mc_synchronize", mc_synchronize(context, NULL, diag));
    mc_memory_destroy(context, values.address);
    free(source);
}
