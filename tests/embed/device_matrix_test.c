/* Matrices made from device memory, of BCRS or of a dense matrix with or without a mask: what they hold, and what is packed of them on
 * the device, is byte for byte what comes of the same matrix on the host; new values come into them; plans on them give the same
 * products; what no matrix has is refused with its place; nothing leaks where memory ends. device_matrix_test [DEVICE]: the
 * simulator, or cuda:0. */
#include <stdlib.h>
#include "base/element.h"
#include "context/device_pack.h"
#include "context/matrix.h"
#include "device/cuda.h"
#include "packed_kernels.h"
#include "product.h"

mc_diag *diag;
static mc_context *context;

enum { GAP = 6, MOST_ROW_BLOCKS = 7 };

/* -- Patterns: how many columns, and which of them a row block has */

typedef struct shape {
    const char *name;
    int64_t row_blocks, cols;
    bool (*has)(int64_t block, int64_t col);
} shape;

static bool has_some(int64_t block, int64_t col) {
    if (block == 1) return false;
    return block == 2 || (block * 37 + col * 11 + col * col * block) % 5 < 2;
}
static bool has_none(int64_t block, int64_t col) { return (void)block, (void)col, false; }
static bool has_one_row(int64_t block, int64_t col) { return (void)col, block == 3; }
static bool has_last(int64_t block, int64_t col) { return block == 5 && col == 2100; }

/* A row block of more than a segment of 1024, and one of several in a launch's thread block. */
static const shape shapes[] = {
    {"mixed", 7, 100, has_some}, {"no vectors", 4, 50, has_none},    {"one full row", 6, 1100, has_one_row},
    {"last", 6, 2101, has_last}, {"no row blocks", 0, 40, has_some}, {"no columns", 3, 0, has_some},
    {"long", 3, 1500, has_some},
};

static mc_vsparse make_host(mc_type type, int vec, const shape *s) {
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

static void fill(mc_vsparse *host, uint64_t seed, int64_t most) {
    if (host->type == MC_F32) mc_scale_fill(host->values, host->vectors * host->vec, MC_VALUES_FULL, seed);
    else mc_vsparse_fill(host, MC_VALUES_FULL, seed, NULL);
    if (!mc_type_is_real(host->type)) mc_vsparse_clamp(host, most);
}

/* -- Device memory */

static mc_address on_device(const void *data, size_t bytes) {
    mc_address address = 0;
    (void)worked("memory", mc_memory_create(context, bytes + 1, &address, diag));
    if (bytes > 0) (void)worked("write", mc_memory_write(context, address, data, bytes, diag));
    return address;
}

static mc_address offsets_on_device(const mc_vsparse *host) {
    int32_t *offsets = malloc((size_t)(host->row_blocks + 1) * sizeof *offsets);
    for (int64_t b = 0; b <= host->row_blocks; b++) offsets[b] = (int32_t)host->row_ptr[b];
    mc_address address = on_device(offsets, (size_t)(host->row_blocks + 1) * sizeof *offsets);
    free(offsets);
    return address;
}

static size_t value_bytes(const mc_vsparse *host) {
    return (size_t)mc_type_size(host->type, host->vectors * host->vec);
}

static mc_matrix *from_device(const mc_vsparse *host, bool zeros) {
    mc_matrix *matrix = NULL;
    mc_address parts[] = {offsets_on_device(host), on_device(host->col_idx, (size_t)host->vectors * 4),
                          on_device(host->values, value_bytes(host))};
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

/* -- A dense matrix of what HOST has; elements of no vector are zero, or JUNK, which a mask leaves out */

typedef struct dense_kind {
    bool by_columns, gap, mask, junk;
} dense_kind;

static const dense_kind dense_kinds[] = {{false, false, false, false}, {false, true, false, false},
                                         {true, false, false, false},  {true, true, false, false},
                                         {false, true, true, true},    {true, true, true, true},
                                         {false, false, true, false}};

static int64_t ld_of(const mc_vsparse *host, dense_kind kind) {
    int64_t length = kind.by_columns ? host->rows : host->cols;
    return length + length % 2 + (kind.gap ? GAP : 0);
}

static int64_t place_in(const mc_vsparse *host, dense_kind kind, int64_t row, int64_t col) {
    int64_t ld = ld_of(host, kind);
    return kind.by_columns ? col * ld + row : row * ld + col;
}

/* Bytes of a dense matrix of TYPE and what is between its lines: not zero, so that reading it is wrong. */
static unsigned char *dense_room(const mc_vsparse *host, dense_kind kind, mc_type type, size_t *bytes) {
    int64_t lines = kind.by_columns ? host->cols : host->rows;
    *bytes = (size_t)mc_type_size(type, lines * ld_of(host, kind));
    unsigned char *room = malloc(*bytes + 1);
    memset(room, 0x25, *bytes);
    return room;
}

static void *make_dense(const mc_vsparse *host, dense_kind kind, size_t *bytes) {
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
static void *make_mask(const mc_vsparse *host, dense_kind kind, size_t *bytes) {
    unsigned char *mask = dense_room(host, kind, MC_U8, bytes);
    for (int64_t i = 0; i < host->rows; i++)
        for (int64_t j = 0; j < host->cols; j++) mask[place_in(host, kind, i, j)] = 0;
    for (int64_t b = 0; b < host->row_blocks; b++)
        for (int64_t v = host->row_ptr[b]; v < host->row_ptr[b + 1]; v++)
            mask[place_in(host, kind, b * host->vec + v % host->vec, host->col_idx[v])] =
                (uint8_t)(1 << v % 8);
    return mask;
}

static mc_device_dense_config dense_config(const mc_vsparse *host, dense_kind kind) {
    return (mc_device_dense_config){.size = sizeof(mc_device_dense_config),
                                    .type = host->type,
                                    .vec = host->vec,
                                    .rows = host->rows,
                                    .cols = host->cols,
                                    .major = kind.by_columns ? MC_MAJOR_COLUMN : MC_MAJOR_ROW,
                                    .ld = ld_of(host, kind),
                                    .mask_ld = kind.mask ? ld_of(host, kind) : 0};
}

static mc_matrix *from_dense(const mc_vsparse *host, dense_kind kind) {
    size_t bytes, mask_bytes;
    mc_matrix *matrix = NULL;
    void *data = make_dense(host, kind, &bytes), *mask = make_mask(host, kind, &mask_bytes);
    mc_device_dense_config config = dense_config(host, kind);
    config.data = on_device(data, bytes);
    mc_address mask_at = on_device(mask, mask_bytes);
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

static void compare_host(mc_matrix *matrix, const mc_vsparse *want, const char *text) {
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

/* -- Packings */

static void compare_array(const char *name, mc_address address, const void *right, size_t bytes,
                          const char *text) {
    const unsigned char *want = right;
    unsigned char *got = malloc(bytes + 1);
    (void)worked("read", mc_memory_read(context, address, got, bytes, diag));
    size_t i = 0;
    while (i < bytes && got[i] == want[i]) i++;
    CHECK(i == bytes, "%s: byte %zu of %zu of %s is %02x, must be %02x", text, i, bytes, name,
          i < bytes ? got[i] : 0, i < bytes ? want[i] : 0);
    free(got);
}

static void compare_packing(const matrix_packing *packing, const mc_vsparse *host, const char *text) {
    mc_packed want = {0};
    if (!worked("mc_pack", mc_pack(packing->kernel, host, &want, diag))) return;
    CHECK(packing->host.array_count == want.array_count, "%s: %zu arrays", text, packing->host.array_count);
    for (size_t i = 0; i < want.array_count && i < packing->host.array_count; i++) {
        const mc_packed_array *got = &packing->host.arrays[i], *right = &want.arrays[i];
        CHECK(strcmp(got->name, right->name) == 0 && got->type == right->type && got->count == right->count,
              "%s: array %zu is %s[%lld]", text, i, got->name, (long long)got->count);
        compare_array(right->name, packing->arrays[i], right->data,
                      (size_t)mc_type_size(right->type, right->count), text);
    }
    mc_packed_free(&want);
}

static void compare_slots(const matrix_packing *packing, const mc_vsparse *host, const char *text) {
    packed_slots want;
    if (packing->vectors == 0 || !worked("slots", mc_pack_slots(packing->kernel, host, &want, diag))) return;
    CHECK(want.groups == packing->slots.groups && want.period == packing->slots.period, "%s", text);
    compare_array("vectors", packing->vectors, want.vectors, (size_t)(want.groups * want.group) * 4, text);
    compare_array("pieces", packing->pieces, want.pieces, (size_t)want.period * sizeof *want.pieces, text);
    packed_slots_free(&want);
}

/* New values of FRESH, by one of the ways in turn. */
static void set_values(mc_matrix *matrix, const mc_vsparse *fresh, int turn) {
    const mc_values_from from = (mc_values_from)(turn % 3);
    const dense_kind kind = {.by_columns = from == MC_FROM_COLUMNS, .gap = true, .junk = true};
    size_t bytes = value_bytes(fresh);
    void *source = from == MC_FROM_VECTORS ? NULL : make_dense(fresh, kind, &bytes);
    mc_device_values values = {.size = sizeof values, .from = from};
    values.ld = from == MC_FROM_VECTORS ? 0 : ld_of(fresh, kind);
    values.address = on_device(source != NULL ? source : fresh->values, bytes);
    (void)worked("set device values", mc_matrix_set_device_values(matrix, &values, NULL, diag));
    (void)worked("mc_synchronize", mc_synchronize(context, NULL, diag));
    mc_memory_destroy(context, values.address);
    free(source);
}

static void try_values(mc_matrix *matrix, const matrix_packing *packing, mc_vsparse *fresh,
                       const char *text) {
    const int64_t most = mc_pack_most(packing->kernel, fresh->type);
    for (int turn = 0; turn < 4; turn++) {
        char what[400];
        snprintf(what, sizeof what, "%s, values set in way %d", text, turn);
        fill(fresh, 100 + (uint64_t)turn, most);
        if (turn < 3) set_values(matrix, fresh, turn);
        else (void)worked("set values", mc_matrix_set_values(matrix, fresh->values, NULL, diag));
        if (packing_values(packing) != NULL) compare_packing(packing, fresh, what);
        compare_host(matrix, fresh, what);
    }
}

/* MADE_THERE counts packings that the device made. */
static void try_packing(mc_matrix *matrix, const mc_kernel *kernel, mc_vsparse *host, bool whole,
                        int *made_there, const char *text) {
    matrix_packing *packing = NULL;
    context_visit visit;
    (void)context_enter(context, &visit, diag);
    if (worked("matrix_pack_for", matrix_pack_for(matrix, kernel, &packing, diag))) {
        *made_there += packing->vectors != 0;
        compare_packing(packing, host, text);
        compare_slots(packing, host, text);
        if (whole && host->vectors > 0) try_values(matrix, packing, host, text);
        matrix_unpack(matrix, packing);
    }
    context_leave(context, &visit);
}

/* False: there is no such kernel. */
static bool try_kernel(const char *fields, const char *type_field, const shape *s, bool whole,
                       int *made_there) {
    mc_kernel *kernel = NULL;
    mc_type type = MC_F32;
    char text[300];
    if (mc_kernel_from_fields(fields, &kernel, NULL) != MC_OK) return false;
    if (type_field != NULL) (void)worked("type", mc_type_of(kernel, type_field, &type, diag));
    mc_vsparse host = make_host(type, (int)mc_kernel_field(kernel, "vec"), s);
    fill(&host, 1, mc_pack_most(kernel, type));
    snprintf(text, sizeof text, "%s, %s", fields, s->name);
    mc_matrix *matrix = from_device(&host, false);
    if (matrix != NULL) try_packing(matrix, kernel, &host, whole, made_there, text);
    mc_matrix_destroy(matrix);
    mc_vsparse_free(&host);
    mc_kernel_destroy(kernel);
    return true;
}

static int try_heights(const char *const *list, size_t count, const char *type, int highest) {
    int made_there = 0;
    for (size_t i = 0; i < count; i++) {
        char fields[200];
        int tried = 0;
        for (int vec = 1; vec <= highest; vec *= 2) {
            const shape *other = &shapes[(i + (size_t)vec) % (sizeof shapes / sizeof *shapes)];
            snprintf(fields, sizeof fields, "%s vec=%d", list[i], vec);
            tried += try_kernel(fields, type, &shapes[0], true, &made_there);
            (void)try_kernel(fields, type, other, false, &made_there);
        }
        CHECK(tried >= 3, "%s: %d heights", list[i], tried);
    }
    return made_there;
}

#define HEIGHTS(list, type, highest) try_heights(list, sizeof(list) / sizeof *(list), type, highest)

static void test_formats(void) {
    int made_there = 0;
    CHECK(HEIGHTS(packed_kernels, "lhs", 16) > 100);
    CHECK(HEIGHTS(packed_pairs, "lhs", 8) > 20);
    (void)HEIGHTS(packed_masks, NULL, 16);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        CHECK(try_kernel("op=spmm lhs=u8 rhs=s8 heads=off stride=32", "lhs", &shapes[i], false, &made_there));
        CHECK(try_kernel("op=spmm lhs=f16 rhs=f16 out=f16 tile_n=64 split=4 stride=64", "lhs", &shapes[i],
                         true, &made_there));
        CHECK(try_kernel("op=spmm mma=int4 lhs=s12 rhs=s4 digits=offset stride=64 vec=4", "lhs", &shapes[i],
                         true, &made_there));
    }
}

/* -- Dense matrices */

static void try_dense(mc_type type, int vec, const shape *s) {
    mc_vsparse host = make_host(type, vec, s);
    fill(&host, 7, mc_type_max(type));
    for (int64_t v = 0; v < host.vectors; v++) mc_vsparse_set_value(&host, v, (int)(v % vec), 1);
    for (size_t i = 0; i < sizeof dense_kinds / sizeof *dense_kinds; i++) {
        char text[200];
        if (dense_kinds[i].junk && (type == MC_S12 || type == MC_U12)) continue; /* which is out of range */
        snprintf(text, sizeof text, "dense %s, V = %d, %s, kind %zu", mc_type_text(type), vec, s->name, i);
        mc_matrix *matrix = from_dense(&host, dense_kinds[i]);
        if (matrix != NULL) compare_host(matrix, &host, text);
        mc_matrix_destroy(matrix);
    }
    mc_vsparse_free(&host);
}

/* What is not zero: of floats not the sign alone. On the host mc_matrix_from_dense says the same. */
static void test_zeros(void) {
    static const uint16_t halves[] = {0x8000, 0x0001, 0, 0x8001, 0x7e00, 0xffff, 0x8000, 0x3c00};
    enum { COUNT = sizeof halves / sizeof *halves };
    mc_matrix *host = NULL, *device = NULL;
    const mc_dense_config on_host = {sizeof on_host, MC_F16, 1, 2, COUNT / 2, 0, halves};
    mc_device_dense_config config = {
        .size = sizeof config, .type = MC_F16, .vec = 1, .rows = 2, .cols = COUNT / 2};
    config.data = on_device(halves, sizeof halves);
    (void)worked("host", mc_matrix_from_dense(context, &on_host, &host, diag));
    (void)worked("device", mc_matrix_from_device_dense(context, &config, NULL, &device, diag));
    if (host != NULL && device != NULL) compare_host(device, matrix_host(host), "zeros");
    CHECK(host != NULL && matrix_host(host)->vectors == 5);
    mc_matrix_destroy(host);
    mc_matrix_destroy(device);
    mc_memory_destroy(context, config.data);
}

static void test_dense(void) {
    static const mc_type types[] = {MC_S8,  MC_U8,   MC_S4,   MC_U4,   MC_S12,  MC_U12, MC_S16, MC_U16,
                                    MC_F16, MC_BF16, MC_TF32, MC_E4M3, MC_E5M2, MC_F32, MC_S32};
    const size_t count = sizeof types / sizeof *types;
    for (size_t i = 0; i < count; i++)
        for (int vec = 1, turn = 0; vec <= 16; vec *= 2, turn++) {
            try_dense(types[i], vec, &shapes[0]);
            try_dense(types[i], vec, &shapes[(i + (size_t)turn) % (sizeof shapes / sizeof *shapes)]);
        }
    test_zeros();
}

/* -- Zeros, patterns along a diagonal, types that are no kernel's */

static void test_kinds(void) {
    mc_vsparse host = make_host(MC_S4, 2, &shapes[0]);
    fill(&host, 3, 7);
    mc_matrix *matrix = from_device(&host, true);
    memset(host.values, 0, value_bytes(&host));
    if (matrix != NULL) compare_host(matrix, &host, "zeros");
    mc_matrix_destroy(matrix);
    mc_vsparse_free(&host);
    static const int32_t row_ptr[] = {0, 2, 3, 3, 5}, col_idx[] = {0, 4, 2, 1, 3};
    const mc_matrix_config on_host = {.size = sizeof on_host,
                                      .type = MC_F16,
                                      .vec = 1,
                                      .rows = 4,
                                      .cols = 5,
                                      .row_ptr = row_ptr,
                                      .col_idx = col_idx,
                                      .patterns = 2};
    mc_device_matrix_config config = {.size = sizeof config,
                                      .type = MC_F16,
                                      .vec = 1,
                                      .rows = 4,
                                      .cols = 5,
                                      .row_ptr = on_device(row_ptr, sizeof row_ptr),
                                      .col_idx = on_device(col_idx, sizeof col_idx),
                                      .patterns = 2};
    mc_matrix *want = NULL;
    (void)worked("host", mc_matrix_create(context, &on_host, &want, diag));
    (void)worked("device", mc_matrix_from_device(context, &config, NULL, &matrix, diag));
    if (want != NULL && matrix != NULL) compare_host(matrix, matrix_host(want), "patterns");
    CHECK(want != NULL && matrix_host(want)->col_idx[4] == 8);
    mc_matrix_destroy(want);
    mc_matrix_destroy(matrix);
    mc_memory_destroy(context, config.row_ptr);
    mc_memory_destroy(context, config.col_idx);
}

/* -- Refusals: the device says what the host says */

enum { WRONG_COLS = 1300, WRONG_VECTORS = 2 * WRONG_COLS };

/* Row blocks 0 and 2 have all columns, 1 none, at first. */
typedef struct wrong_bcrs {
    int32_t row_ptr[4], col_idx[WRONG_VECTORS];
    int16_t values[WRONG_VECTORS];
} wrong_bcrs;

static void check_refusal(const wrong_bcrs *w, mc_type type, const char *message) {
    mc_diag *said = mc_diag_create();
    mc_matrix *matrix = NULL;
    const mc_matrix_config on_host = {.size = sizeof on_host,
                                      .type = type,
                                      .vec = 1,
                                      .rows = 3,
                                      .cols = WRONG_COLS,
                                      .row_ptr = w->row_ptr,
                                      .col_idx = w->col_idx,
                                      .values = w->values};
    mc_device_matrix_config config = {
        .size = sizeof config, .type = type, .vec = 1, .rows = 3, .cols = WRONG_COLS};
    config.row_ptr = on_device(w->row_ptr, sizeof w->row_ptr);
    config.col_idx = on_device(w->col_idx, sizeof w->col_idx);
    config.values = on_device(w->values, sizeof w->values);
    CHECK(mc_matrix_create(context, &on_host, &matrix, said) == MC_FORMAT, "%s", message);
    CHECK(mc_matrix_from_device(context, &config, NULL, &matrix, diag) == MC_FORMAT && matrix == NULL, "%s",
          message);
    CHECK(strcmp(mc_diag_text(said), mc_diag_text(diag)) == 0, "\"%s\", on the host \"%s\"",
          mc_diag_text(diag), mc_diag_text(said));
    CHECK_TEXT(mc_diag_text(diag), message);
    mc_diag_clear(diag);
    mc_diag_destroy(said);
    mc_memory_destroy(context, config.row_ptr);
    mc_memory_destroy(context, config.col_idx);
    mc_memory_destroy(context, config.values);
}

static wrong_bcrs right_bcrs(void) {
    wrong_bcrs w = {.row_ptr = {0, WRONG_COLS, WRONG_COLS, WRONG_VECTORS}};
    for (int i = 0; i < WRONG_VECTORS; i++) w.col_idx[i] = i % WRONG_COLS, w.values[i] = (int16_t)(i % 2000);
    return w;
}

static void test_contents(void) {
    wrong_bcrs w = right_bcrs();
    w.row_ptr[0] = 1;
    check_refusal(&w, MC_S16, "row_ptr[0] is 1");
    w = right_bcrs();
    w.row_ptr[2] = 5;
    check_refusal(&w, MC_S16, "row_ptr[2] is 5, less than the 1300");
    w = right_bcrs();
    w.col_idx[2400] = 1, w.col_idx[2599] = 5000;
    check_refusal(&w, MC_S16, "col_idx[2400], of row block 2, is 1:");
    w.col_idx[1299] = WRONG_COLS;
    check_refusal(&w, MC_S16, "col_idx[1299], of row block 0, is 1300:");
    w.col_idx[1100] = w.col_idx[1099];
    check_refusal(&w, MC_S16, "col_idx[1100], of row block 0, is 1099:");
    w.col_idx[0] = -1;
    check_refusal(&w, MC_S16, "col_idx[0], of row block 0, is -1:");
    w = right_bcrs();
    w.values[2599] = 2048, w.values[1030] = -2049, w.values[1031] = 3000;
    check_refusal(&w, MC_S12, "values[1030] is -2049, out of s12's range");
    w.values[1030] = 0, w.values[1031] = 4096;
    check_refusal(&w, MC_U12, "values[1031] is 4096, out of u12's range");
}

/* The first wrong element by rows is not the first of its segment or row block. */
static void check_wrong_dense(bool by_columns) {
    enum { ROWS = 4, COLS = 1500 };
    static int16_t rows[ROWS * COLS], lines[ROWS * COLS];
    memset(rows, 0, sizeof rows);
    rows[3 * COLS + 2] = 4000, rows[1 * COLS + 1400] = 2048, rows[1 * COLS + 1401] = -3000,
                    rows[2 * COLS] = 9000;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++) lines[by_columns ? j * ROWS + i : i * COLS + j] = rows[i * COLS + j];
    mc_device_dense_config config = {.size = sizeof config,
                                     .type = MC_S12,
                                     .vec = 4,
                                     .rows = ROWS,
                                     .cols = COLS,
                                     .major = by_columns ? MC_MAJOR_COLUMN : MC_MAJOR_ROW};
    mc_matrix *matrix = NULL;
    config.data = on_device(lines, sizeof lines);
    CHECK(mc_matrix_from_device_dense(context, &config, NULL, &matrix, diag) == MC_FORMAT && matrix == NULL);
    CHECK_TEXT(mc_diag_text(diag), "data[1][1400] is 2048, out of s12's range");
    mc_diag_clear(diag);
    mc_memory_destroy(context, config.data);
}

static void test_usage(void) {
    static const struct {
        mc_device_matrix_config config;
        mc_status status;
        const char *message;
    } rows[] = {
        {{.type = MC_F16, .vec = 3, .rows = 3, .cols = 3, .row_ptr = 256}, MC_USAGE, "vec is 3"},
        {{.type = MC_S64, .vec = 1, .rows = 3, .cols = 3, .row_ptr = 256}, MC_CANNOT, "type is s64"},
        {{.type = MC_F16, .vec = 1, .rows = 3, .cols = 3}, MC_USAGE, "row_ptr is 0"},
        {{.type = MC_F16, .vec = 1, .rows = 3, .cols = 3, .row_ptr = 258}, MC_CANNOT, "row_ptr is 0x102"},
        {{.type = MC_F16, .vec = 1, .rows = 3, .cols = 3, .row_ptr = 256, .values = 257},
         MC_CANNOT,
         "values is 0x101"},
        {{.type = MC_F16, .vec = 1, .rows = 3, .cols = 3, .row_ptr = 256, .patterns = 2},
         MC_USAGE,
         "patterns is 2"},
    };
    static const struct {
        mc_device_dense_config config;
        mc_status status;
        const char *message;
    } dense[] = {
        {{.type = MC_F16, .vec = 2, .rows = 3, .cols = 3, .data = 256}, MC_USAGE, "rows is 3"},
        {{.type = MC_F16, .vec = 2, .rows = 4, .cols = 3}, MC_USAGE, "data is 0"},
        {{.type = MC_F16, .vec = 2, .rows = 4, .cols = 3, .data = 257}, MC_CANNOT, "data is 0x101"},
        {{.type = MC_F16, .vec = 2, .rows = 4, .cols = 3, .data = 256, .ld = 2},
         MC_USAGE,
         "ld is 2, must be 3, the columns"},
        {{.type = MC_F16,
          .vec = 2,
          .rows = 4,
          .cols = 3,
          .data = 256,
          .major = MC_MAJOR_COLUMN,
          .mask_ld = 3},
         MC_USAGE,
         "mask_ld is 3, must be 4, the rows"},
        {{.type = MC_S4, .vec = 2, .rows = 4, .cols = 3, .data = 256}, MC_USAGE, "ld is 3, must be even"},
        {{.type = MC_S4, .vec = 2, .rows = 4, .cols = 3, .data = 256, .major = (mc_major)2},
         MC_USAGE,
         "major is 2"},
    };
    mc_matrix *matrix = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mc_device_matrix_config config = rows[i].config;
        config.size = sizeof config;
        CHECK(mc_matrix_from_device(context, &config, NULL, &matrix, diag) == rows[i].status, "row %zu", i);
        CHECK_TEXT(mc_diag_text(diag), rows[i].message);
        mc_diag_clear(diag);
    }
    for (size_t i = 0; i < sizeof dense / sizeof *dense; i++) {
        mc_device_dense_config config = dense[i].config;
        config.size = sizeof config;
        CHECK(mc_matrix_from_device_dense(context, &config, NULL, &matrix, diag) == dense[i].status,
              "row %zu", i);
        CHECK_TEXT(mc_diag_text(diag), dense[i].message);
        mc_diag_clear(diag);
    }
    CHECK(mc_matrix_from_device(context, NULL, NULL, &matrix, NULL) == MC_USAGE && matrix == NULL);
    CHECK(mc_matrix_from_device(NULL, NULL, NULL, &matrix, NULL) == MC_USAGE);
    CHECK(mc_matrix_from_device_dense(context, NULL, NULL, NULL, NULL) == MC_USAGE);
}

/* Balanced digits: what the device would make the nearest value, set_values refuses, and nothing changes. */
static void test_digits(void) {
    mc_kernel *kernel = NULL;
    matrix_packing *packing = NULL;
    context_visit visit;
    if (!worked("kernel", mc_kernel_from_fields("op=spmm lhs=s16 rhs=s8 digits=balanced", &kernel, diag)))
        return;
    mc_vsparse host = make_host(MC_S16, 8, &shapes[0]);
    fill(&host, 5, mc_pack_most(kernel, MC_S16));
    mc_matrix *matrix = from_device(&host, false);
    (void)context_enter(context, &visit, diag);
    if (worked("matrix_pack_for", matrix_pack_for(matrix, kernel, &packing, diag))) {
        int16_t kept = ((int16_t *)host.values)[9];
        ((int16_t *)host.values)[9] = 32767;
        CHECK(mc_matrix_set_values(matrix, host.values, NULL, diag) == MC_CANNOT);
        CHECK_TEXT(mc_diag_text(diag), "row 1");
        mc_diag_clear(diag);
        ((int16_t *)host.values)[9] = kept;
        compare_packing(packing, &host, "digits");
        matrix_unpack(matrix, packing);
    }
    context_leave(context, &visit);
    mc_matrix_destroy(matrix);
    mc_vsparse_free(&host);
    mc_kernel_destroy(kernel);
}

/* -- Plans */

static const product_kind kind = {"f16",
                                  MC_F16,
                                  8,
                                  .row_blocks = 6,
                                  .cols = 100,
                                  .sparsity = 0.6,
                                  .config = {.b = MC_F16, .c = MC_F16, .n = 40}};

/* P's matrix becomes one from device memory. */
static bool open_product(product *p) {
    if (!product_open(p, context, &kind, 4)) return false;
    mc_matrix_destroy(p->matrix);
    p->matrix = from_device(&p->host, false);
    p->config.matrix = p->matrix;
    return p->matrix != NULL;
}

/* A plan takes the newest values, whichever way they came, and also where no other plan is left. */
static void test_plans(void) {
    static const char *const gather[] = {"spmm_f16"}, *const ring[] = {"spmm_f16_tiled"};
    product p;
    if (!open_product(&p)) return;
    p.config.specs = gather, p.config.spec_count = 1;
    mc_vsparse_fill(&p.host, MC_VALUES_FULL, 49, NULL);
    set_values(p.matrix, &p.host, 0); /* no plan wants them yet */
    if (product_plan(&p)) {
        product_check(&p);
        mc_plan *first = p.plan;
        mc_vsparse_fill(&p.host, MC_VALUES_FULL, 50, NULL);
        set_values(p.matrix, &p.host, 1);
        product_check(&p);
        p.config.specs = ring, p.plan = NULL;
        if (product_plan(&p)) product_check(&p);
        mc_plan_destroy(first);
        mc_vsparse_fill(&p.host, MC_VALUES_FULL, 51, NULL);
        (void)worked("set values", mc_matrix_set_values(p.matrix, p.host.values, NULL, diag));
        product_check(&p);
        mc_plan_destroy(p.plan);
        p.config.specs = gather, p.plan = NULL;
        if (product_plan(&p)) product_check(&p);
    }
    product_close(&p);
}

/* New values and an execution in one graph. The driver that is the simulator runs what it captures. */
static void test_graph(void) {
    const cuda_driver *driver = NULL;
    const char *why = "";
    context_visit visit;
    cuda_stream stream = NULL;
    cuda_graph graph = NULL;
    product p;
    CHECK(cuda_driver_get(&driver, &why) == CUDA_READY, "%s", why);
    if (driver == NULL || !open_product(&p) || !product_plan(&p)) return;
    set_values(p.matrix, &p.host, 0); /* makes what it needs */
    mc_vsparse_fill(&p.host, MC_VALUES_FULL, 60, NULL);
    mc_device_values values = {.size = sizeof values,
                               .address = on_device(p.host.values, value_bytes(&p.host))};
    product_poison(&p);
    (void)worked("enter", context_enter(context, &visit, diag));
    (void)worked("stream", CUDA_CALL(driver, diag, StreamCreate, &stream, 1));
    (void)worked("capture", CUDA_CALL(driver, diag, StreamBeginCapture, stream, 0));
    (void)worked("set", mc_matrix_set_device_values(p.matrix, &values, stream, diag));
    (void)worked("execute", mc_execute(p.plan, &p.args, p.workspace, stream, diag));
    (void)worked("end", CUDA_CALL(driver, diag, StreamEndCapture, stream, &graph));
    (void)worked("graph", CUDA_CALL(driver, diag, GraphDestroy, graph));
    (void)worked("stream", CUDA_CALL(driver, diag, StreamDestroy, stream));
    context_leave(context, &visit);
    product_compare(&p);
    mc_memory_destroy(context, values.address);
    product_close(&p);
}

/* The library asks for its helpers by all fields, in their order: so the cache keeps them. */
static void test_fields(void) {
    int helpers = 0;
    for (const loaded_kernel *k = context->kernels; k != NULL; k = k->next) {
        if (strncmp(k->fields, "op=pa", 5) != 0 && strncmp(k->fields, "op=values", 9) != 0) continue;
        CHECK(strcmp(k->fields, mc_kernel_fields(k->kernel)) == 0, "%s, not %s", k->fields,
              mc_kernel_fields(k->kernel));
        helpers++;
    }
    CHECK(helpers > 3, "%d", helpers);
}

/* -- Where memory ends: after each allocation in turn */

static int allocations_left, allocations_open;

static mc_address allocate(void *user, size_t bytes) {
    mc_address address = 0;
    if (allocations_left == 0 || mc_memory_create(*(mc_context **)user, bytes, &address, NULL) != MC_OK)
        return 0;
    allocations_left--;
    allocations_open++;
    return address;
}

static void release(void *user, mc_address address) {
    if (address != 0) allocations_open--;
    mc_memory_destroy(*(mc_context **)user, address);
}

static mc_status make_and_pack(const mc_kernel *kernel, const mc_device_dense_config *config) {
    mc_matrix *matrix = NULL;
    matrix_packing *packing = NULL;
    context_visit visit;
    mc_status status = mc_matrix_from_device_dense(context, config, NULL, &matrix, NULL);
    CHECK((matrix != NULL) == (status == MC_OK));
    if (status != MC_OK) return status;
    (void)context_enter(context, &visit, diag);
    status = matrix_pack_for(matrix, kernel, &packing, NULL);
    if (status == MC_OK) matrix_unpack(matrix, packing);
    context_leave(context, &visit);
    mc_matrix_destroy(matrix);
    return status;
}

static void test_memory(const char *device) {
    const mc_context_config config = {.size = sizeof config,
                                      .device = device,
                                      .cache = MC_CACHE_MEMORY,
                                      .records = "",
                                      .allocate = allocate,
                                      .release = release,
                                      .memory_user = &context};
    mc_context *usual = context;
    mc_kernel *kernel = NULL;
    mc_status status = MC_NOMEM;
    int count = 0;
    (void)worked("kernel", mc_kernel_from_fields("op=spmm lhs=f16 rhs=f16 out=f16 tile_n=64", &kernel, diag));
    if (!worked("mc_context_create", mc_context_create(&config, &context, diag))) return;
    mc_vsparse host = make_host(MC_F16, 8, &shapes[0]);
    fill(&host, 9, 0);
    size_t bytes;
    void *data = make_dense(&host, dense_kinds[0], &bytes);
    mc_device_dense_config dense = dense_config(&host, dense_kinds[0]);
    dense.data = on_device(data, bytes);
    for (; count < 40 && status != MC_OK; count++) {
        allocations_left = count;
        status = make_and_pack(kernel, &dense);
        CHECK(status == MC_OK || status == MC_NOMEM, "%d allocations: status %d", count, (int)status);
        CHECK(allocations_open == 0, "%d allocations: %d left", count, allocations_open);
    }
    CHECK(status == MC_OK && count > 10, "%d allocations", count);
    mc_memory_destroy(context, dense.data);
    free(data);
    mc_vsparse_free(&host);
    mc_kernel_destroy(kernel);
    mc_context_destroy(context);
    context = usual;
}

int main(int argc, char **argv) {
    const char *device = argc > 1 ? argv[1] : "sim";
    const mc_context_config config = {
        .size = sizeof config, .device = device, .cache = MC_CACHE_MEMORY, .records = ""};
    diag = mc_diag_create();
    if (worked("mc_context_create", mc_context_create(&config, &context, diag))) {
        test_kinds();
        test_contents();
        check_wrong_dense(false);
        check_wrong_dense(true);
        test_usage();
        test_digits();
        test_plans();
        test_fields();
        if (strncmp(device, "cuda", 4) == 0) test_graph();
        test_memory(device);
        test_dense();
        test_formats();
    }
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return product_end(check_end());
}
