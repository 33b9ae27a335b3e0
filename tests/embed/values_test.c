/* Values from device memory: in every format, type, height and digit the packed array becomes, byte for byte, what packing on the
 * host makes of the same values, whether they lie as vectors or in a dense matrix; they come back from there; plans made later have
 * them; what cannot be is refused. values_test [DEVICE]: the simulator, or cuda:0. */
#include <stdlib.h>
#include "base/element.h"
#include "base/real.h"
#include "context/matrix.h"
#include "packed_kernels.h"
#include "product.h"

mc_diag *diag;
static mc_context *context;

enum { COLS = 100, GAP = 6 };

/* -- A matrix: row blocks with no, few and all columns */

static int group_unit; /* above 0: of four neighbours at most two have vectors, each so many columns */

static bool has_unit(int64_t block, int64_t unit) {
    return unit % 4 == block % 4 || (unit % 8 < 4 && unit % 4 == (block + 1 + unit / 8 % 3) % 4);
}

/* Of a pair one may be missing. */
static bool has_vector(int64_t block, int64_t col) {
    if (block == 1) return false;
    if (group_unit > 0)
        return has_unit(block, col / group_unit) && (group_unit == 1 || (block + col * 3) % 5 != 0);
    return block == 2 || (block * 37 + col * 11 + col * col * block) % 5 < 2;
}

static mc_vsparse make_host(mc_type type, int vec, int64_t row_blocks) {
    mc_vsparse host;
    int64_t vectors = 0;
    for (int64_t b = 0; b < row_blocks; b++)
        for (int64_t j = 0; j < COLS; j++) vectors += has_vector(b, j);
    if (!worked("create", mcrt_vsparse_create(type, vec, row_blocks, COLS, vectors, &host, diag))) exit(1);
    int64_t v = 0;
    for (int64_t b = 0; b < row_blocks; host.row_ptr[++b] = v)
        for (int64_t j = 0; j < COLS; j++)
            if (has_vector(b, j)) host.col_idx[v++] = (int32_t)j;
    return host;
}

/* Every bit pattern that may matter: of floats infinities, NaNs of low bits, subnormal numbers, and halves to be rounded. */
static void fill(mc_vsparse *host, uint64_t seed, int64_t most) {
    static const uint32_t words[] = {0x7f800000, 0x7f800001, 0xffc12345, 0x00000001, 0x80000fff,
                                     0x3f801000, 0x3f800fff, 0x7f7fffff, 0x80000000};
    if (host->type == MC_F32) mc_scale_fill(host->values, host->vectors * host->vec, MC_VALUES_FULL, seed);
    else mc_vsparse_fill(host, MC_VALUES_FULL, seed, NULL);
    for (int64_t v = 0; v < host->vectors && v < 9; v++)
        if (mc_type_bits(host->type) == 32) mc_vsparse_set_value(host, v, (int)(v % host->vec), words[v]);
    if (!mc_type_is_real(host->type)) mc_vsparse_clamp(host, most);
}

/* -- Sources */

static int64_t even(int64_t count) { return count + count % 2; }

static int64_t ld_of(const mc_vsparse *host, mc_values_from from, bool gap) {
    int64_t length = from == MC_FROM_ROWS ? host->cols : host->rows;
    if (from == MC_FROM_VECTORS) return 0;
    return even(gap ? length + GAP : length);
}

/* Elements of the source, among which the dense ones have others between. */
static void *make_source(const mc_vsparse *host, mc_values_from from, int64_t ld, size_t *bytes) {
    int64_t lines = from == MC_FROM_ROWS ? host->rows : host->cols;
    int64_t count = from == MC_FROM_VECTORS ? host->vectors * host->vec : lines * ld;
    *bytes = (size_t)mc_type_size(host->type, count);
    unsigned char *source = malloc(*bytes + 1);
    memset(source, 0x5a, *bytes);
    for (int64_t b = 0; b < host->row_blocks; b++)
        for (int64_t v = host->row_ptr[b]; v < host->row_ptr[b + 1]; v++)
            for (int r = 0; r < host->vec; r++) {
                int64_t row = b * host->vec + r, col = host->col_idx[v];
                int64_t at = from == MC_FROM_VECTORS ? v * host->vec + r
                             : from == MC_FROM_ROWS  ? row * ld + col
                                                     : col * ld + row;
                element_set(host->type, source, at, mc_vsparse_value(host, v, r));
            }
    return source;
}

static void set_values(mc_matrix *matrix, const mc_vsparse *fresh, mc_values_from from, bool gap) {
    size_t bytes;
    mc_address address = 0;
    int64_t ld = ld_of(fresh, from, gap);
    void *source = make_source(fresh, from, ld, &bytes);
    if (worked("memory", mc_memory_create(context, bytes + 1, &address, diag)) &&
        worked("write", mc_memory_write(context, address, source, bytes, diag))) {
        const mc_device_values values = {
            .size = sizeof values, .from = from, .address = address, .ld = gap ? ld : 0};
        const mc_device_values dense = {.size = sizeof values, .from = from, .address = address, .ld = ld};
        (void)worked(
            "mc_matrix_set_device_values",
            mc_matrix_set_device_values(matrix, ld % 2 == 0 && ld != 0 ? &dense : &values, NULL, diag));
        (void)worked("mc_synchronize", mc_synchronize(context, NULL, diag));
    }
    mc_memory_destroy(context, address);
    free(source);
}

/* -- Packings */

static void compare_packing(mc_matrix *matrix, const matrix_packing *packing, const mc_vsparse *fresh,
                            const char *text) {
    const mc_packed_array *array = packing_values(packing);
    mc_packed want = {0};
    size_t bytes = (size_t)mc_type_size(array->type, array->count);
    unsigned char *got = malloc(bytes + 1);
    (void)worked("mc_pack", mc_pack(packing->kernel, fresh, &want, diag));
    (void)worked("read",
                 mc_memory_read(context, packing->arrays[array - packing->host.arrays], got, bytes, diag));
    const unsigned char *right = mc_packed_find(&want, array->name)->data;
    size_t i = 0;
    while (i < bytes && got[i] == right[i]) i++;
    CHECK(i == bytes, "%s: byte %zu of %zu is %02x, must be %02x", text, i, bytes, i < bytes ? got[i] : 0,
          i < bytes ? right[i] : 0);
    (void)matrix;
    mc_packed_free(&want);
    free(got);
}

static void compare_host(const mc_vsparse *got, const mc_vsparse *want, const char *text) {
    int64_t wrong = 0;
    for (int64_t v = 0; v < want->vectors; v++)
        for (int r = 0; r < want->vec; r++) {
            int64_t value = mc_vsparse_value(want, v, r);
            if (want->type == MC_TF32) value = real_factor(MC_TF32, (uint32_t)value);
            wrong += mc_vsparse_value(got, v, r) != value;
        }
    CHECK(wrong == 0, "%s: %lld values came back otherwise", text, (long long)wrong);
}

static const char *const froms[] = {"vectors", "rows", "columns"};

static void try_sources(mc_matrix *matrix, const matrix_packing *packing, mc_vsparse *fresh,
                        const char *fields) {
    char text[400];
    for (int turn = 0; turn < 6; turn++) {
        const mc_values_from from = (mc_values_from)(turn % 3);
        snprintf(text, sizeof text, "%s from %s%s", fields, froms[from], turn < 3 ? "" : ", gaps");
        fill(fresh, 100 + (uint64_t)turn, mc_pack_most(packing->kernel, fresh->type));
        set_values(matrix, fresh, from, turn >= 3);
        compare_packing(matrix, packing, fresh, text);
        (void)worked("matrix_fetch_values", matrix_fetch_values(matrix, NULL, diag));
        compare_host(&matrix->host, fresh, text);
    }
}

/* A kernel with FIELDS need not be launched: its packing is what counts. False: there is no such kernel. */
static bool try_kernel(const char *fields, const char *type_field, int64_t row_blocks) {
    mc_kernel *kernel = NULL;
    matrix_packing *packing = NULL;
    mc_type type = MC_F32;
    context_visit visit;
    if (mc_kernel_from_fields(fields, &kernel, NULL) != MC_OK) return false;
    if (type_field != NULL) (void)worked("type", mc_type_of(kernel, type_field, &type, diag));
    mc_vsparse fresh = make_host(type, (int)mc_kernel_field(kernel, "vec"), row_blocks);
    fill(&fresh, 1, mc_pack_most(kernel, type));
    mc_matrix *matrix = product_matrix(context, &fresh);
    (void)context_enter(context, &visit, diag);
    if (worked("matrix_pack_for", matrix_pack_for(matrix, kernel, &packing, diag))) {
        try_sources(matrix, packing, &fresh, fields);
        matrix_unpack(matrix, packing);
    }
    context_leave(context, &visit);
    mc_matrix_destroy(matrix);
    mc_vsparse_free(&fresh);
    mc_kernel_destroy(kernel);
    return true;
}

/* -- Every format, type and height */

static void try_heights(const char *const *list, size_t count, const char *type, int highest) {
    char fields[200];
    for (size_t i = 0; i < count; i++) {
        int tried = 0;
        for (int vec = 1; vec <= highest; vec *= 2) {
            snprintf(fields, sizeof fields, "%s vec=%d", list[i], vec);
            tried += try_kernel(fields, type, 7);
        }
        CHECK(tried >= 3, "%s: %d heights", list[i], tried); /* digits offset want a free column of the mma */
    }
}

#define HEIGHTS(list, type, highest) try_heights(list, sizeof(list) / sizeof *(list), type, highest)

static void test_formats(void) {
    HEIGHTS(packed_kernels, "lhs", 16);
    HEIGHTS(packed_pairs, "lhs", 8);
    HEIGHTS(packed_masks, NULL, 16);
    CHECK(try_kernel("op=spmm lhs=f16 rhs=f16 out=f16 tile_n=64", "lhs", 130)); /* several thread blocks */
    CHECK(try_kernel("op=spmm lhs=f16 rhs=f16 out=f16 tile_n=64", "lhs", 2));
    for (int vec = 8; vec <= 16; vec += 8)
        for (int rows = 2; rows <= 130; rows += 128) {
            char fields[200];
            snprintf(fields, sizeof fields,
                     "op=spmm staging=expand arch=sm_90a lhs=%s rhs=s8 b_major=column c_major=column vec=%d",
                     vec == 8 ? "s8" : "u8", vec);
            CHECK(try_kernel(fields, "lhs", rows), "%s", fields);
        }
}

/* Rows of CSR, whose number of nonzeros is no multiple of what a thread puts in place. */
static void test_rows(void) {
    static const char *const kernels[] = {
        "op=spmm staging=csr lhs=f32 rhs=f32 out=f32 tile_n=32 vec=1",
        "op=spmm staging=csr lhs=f32 rhs=f32 out=f32 tile_n=32 vec=1 deal=off",
        "op=spmm staging=csr lhs=f16 rhs=f16 out=f16 tile_n=32 vec=1",
        "op=spmm staging=csr lhs=bf16 rhs=bf16 out=f32 tile_n=32 vec=1"};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        CHECK(try_kernel(kernels[i], "lhs", 7) && try_kernel(kernels[i], "lhs", 130), "%s", kernels[i]);
}

/* Panels whose rows come in another order. */
static void test_order(void) {
    static const char *const kernels[] = {
        "op=spmm lhs=f16 rhs=f16 out=f16 tile_n=64 vec=1 panel=8 reorder=similarity",
        "op=spmm lhs=s16 rhs=s8 tile_n=64 vec=1 panel=16 reorder=degree",
        "op=spmm lhs=tf32 rhs=tf32 out=f32 tile_n=32 vec=1 panel=8 values=nonzeros reorder=degree",
        "op=spmm lhs=s8 rhs=s8 tile_n=64 vec=1 panel=16 values=nonzeros reorder=similarity"};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        CHECK(try_kernel(kernels[i], "lhs", 7) && try_kernel(kernels[i], "lhs", 130), "%s", kernels[i]);
}

/* HRPB takes new values from the host, and none from a device. */
static void test_bricks(int rows) {
    char fields[200];
    mc_kernel *kernel = NULL;
    matrix_packing *packing = NULL;
    context_visit visit;
    const mc_device_values values = {.size = sizeof values, .address = 256};
    snprintf(fields, sizeof fields, "op=spmm staging=hrpb lhs=tf32 rhs=tf32 out=f32 panel_rows=%d vec=1",
             rows);
    if (!worked(fields, mc_kernel_from_fields(fields, &kernel, diag))) return;
    mc_vsparse fresh = make_host(MC_TF32, 1, 130);
    fill(&fresh, 1, mc_pack_most(kernel, MC_TF32));
    mc_matrix *matrix = product_matrix(context, &fresh);
    (void)context_enter(context, &visit, diag);
    if (worked("matrix_pack_for", matrix_pack_for(matrix, kernel, &packing, diag))) {
        fill(&fresh, 2, mc_pack_most(kernel, MC_TF32));
        (void)worked("mc_matrix_set_values", mc_matrix_set_values(matrix, fresh.values, NULL, diag));
        (void)worked("mc_synchronize", mc_synchronize(context, NULL, diag));
        compare_packing(matrix, packing, &fresh, fields);
        CHECK(mc_matrix_set_device_values(matrix, &values, NULL, diag) == MC_CANNOT);
        CHECK_TEXT(mc_diag_text(diag), "values of HRPB lie between its patterns");
        mc_diag_clear(diag);
        compare_packing(matrix, packing, &fresh, fields);
        matrix_unpack(matrix, packing);
    }
    context_leave(context, &visit);
    mc_matrix_destroy(matrix);
    mc_vsparse_free(&fresh);
    mc_kernel_destroy(kernel);
}

static void test_grouped(void) {
    group_unit = 1;
    for (size_t i = 0; i < sizeof packed_grouped / sizeof *packed_grouped; i++)
        CHECK(try_kernel(packed_grouped[i], "lhs", 7) && try_kernel(packed_grouped[i], "lhs", 130));
    group_unit = 2;
    for (size_t i = 0; i < sizeof packed_grouped_pairs / sizeof *packed_grouped_pairs; i++)
        CHECK(try_kernel(packed_grouped_pairs[i], "lhs", 7) &&
              try_kernel(packed_grouped_pairs[i], "lhs", 130));
    group_unit = 0;
}

/* -- Values that a kernel cannot take become the nearest */

static void check_cut(const char *fields, mc_type type, int64_t value, int64_t want) {
    mc_kernel *kernel = NULL;
    matrix_packing *packing = NULL;
    context_visit visit;
    if (!worked(fields, mc_kernel_from_fields(fields, &kernel, diag))) return;
    mc_vsparse fresh = make_host(type, (int)mc_kernel_field(kernel, "vec"), 2);
    const int64_t count = fresh.vectors * fresh.vec;
    mc_matrix *matrix = product_matrix(context, &fresh);
    (void)context_enter(context, &visit, diag);
    if (worked("matrix_pack_for", matrix_pack_for(matrix, kernel, &packing, diag))) {
        for (int64_t i = 0; i < count; i++) ((int16_t *)fresh.values)[i] = (int16_t)value;
        size_t bytes = (size_t)count * sizeof(int16_t);
        mc_address address = 0;
        (void)worked("memory", mc_memory_create(context, bytes, &address, diag));
        (void)worked("write", mc_memory_write(context, address, fresh.values, bytes, diag));
        (void)worked("set",
                     mc_matrix_set_device_values(
                         matrix, &(mc_device_values){.size = sizeof(mc_device_values), .address = address},
                         NULL, diag));
        for (int64_t v = 0; v < fresh.vectors; v++)
            for (int r = 0; r < fresh.vec; r++) mc_vsparse_set_value(&fresh, v, r, want);
        compare_packing(matrix, packing, &fresh, fields);
        mc_memory_destroy(context, address);
        matrix_unpack(matrix, packing);
    }
    context_leave(context, &visit);
    mc_matrix_destroy(matrix);
    mc_vsparse_free(&fresh);
    mc_kernel_destroy(kernel);
}

static void test_cut(void) {
    check_cut("op=spmm lhs=s16 rhs=s8 digits=balanced", MC_S16, 32767, 32639);
    check_cut("op=spmm lhs=s16 rhs=s8 digits=balanced", MC_S16, -32768, -32768);
    check_cut("op=spmm mma=int4 lhs=s16 rhs=s4 digits=balanced", MC_S16, 32000, 30583);
    check_cut("op=spmm lhs=s12 rhs=s8", MC_S12, 5000, 2047);
    check_cut("op=spmm lhs=s12 rhs=s8 digits=offset vec=4", MC_S12, -2049, -2048);
    check_cut("op=spmm lhs=u12 rhs=s8", MC_U12, -1, 4095); /* 65535 */
}

/* -- Plans */

static const product_kind kind = {"f16",
                                  MC_F16,
                                  8,
                                  .row_blocks = 6,
                                  .cols = COLS,
                                  .sparsity = 0.6,
                                  .config = {.b = MC_F16, .c = MC_F16, .n = 40}};

/* The newest values are read back. */
static void check_read(const product *p) {
    size_t bytes = (size_t)mc_type_size(p->host.type, p->host.vectors * p->host.vec);
    void *values = malloc(bytes);
    CHECK(mc_matrix_read(p->matrix, NULL, NULL, values, diag) == MC_OK &&
              memcmp(values, p->host.values, bytes) == 0,
          "%s", mc_diag_text(diag));
    free(values);
}

/* The values of a plan that is made afterwards, of another form, and of one made when no other is left. */
static void test_plans(void) {
    static const char *const ring[] = {"spmm_f16_tiled"}, *const gather[] = {"spmm_f16"};
    product p;
    if (!product_open(&p, context, &kind, 4)) return;
    p.config.specs = gather, p.config.spec_count = 1;
    const mc_device_values early = {.size = sizeof early, .address = 256};
    CHECK(mc_matrix_set_device_values(p.matrix, &early, NULL, diag) == MC_CANNOT);
    CHECK_TEXT(mc_diag_text(diag), "no plan has values of the matrix");
    mc_diag_clear(diag);
    if (product_plan(&p)) {
        mc_plan *first = p.plan;
        mc_vsparse_fill(&p.host, MC_VALUES_FULL, 50, NULL);
        set_values(p.matrix, &p.host, MC_FROM_ROWS, true);
        product_check(&p);
        check_read(&p);
        p.config.specs = ring, p.config.spec_count = p.context->device != NULL;
        p.plan = NULL;
        if (product_plan(&p)) product_check(&p);
        mc_plan_destroy(first);
        mc_vsparse_fill(&p.host, MC_VALUES_FULL, 51, NULL);
        set_values(p.matrix, &p.host, MC_FROM_COLUMNS, false);
        product_check(&p);
        mc_plan_destroy(p.plan);
        p.plan = NULL;
        if (product_plan(&p)) product_check(&p);
    }
    product_close(&p);
}

/* -- Refusals */

static void test_refusals(void) {
    product p;
    if (!product_open(&p, context, &kind, 4) || !product_plan(&p)) return;
    static const struct {
        mc_device_values values;
        mc_status status;
        const char *message;
    } rows[] = {
        {{.from = (mc_values_from)3, .address = 256}, MC_USAGE, "from is 3"},
        {{.address = 0}, MC_USAGE, "address is 0"},
        {{.address = 257}, MC_CANNOT, "not a multiple of the 2 bytes of f16"},
        {{.address = 256, .ld = 8}, MC_USAGE, "ld is 8, which vectors have not"},
        {{.from = MC_FROM_ROWS, .address = 256, .ld = 99},
         MC_USAGE,
         "ld is 99, must be 100, the columns, to"},
        {{.from = MC_FROM_COLUMNS, .address = 256, .ld = 47}, MC_USAGE, "ld is 47, must be 48, the rows, to"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mc_device_values values = rows[i].values;
        values.size = sizeof values;
        CHECK(mc_matrix_set_device_values(p.matrix, &values, NULL, diag) == rows[i].status, "row %zu", i);
        CHECK_TEXT(mc_diag_text(diag), rows[i].message);
        mc_diag_clear(diag);
    }
    CHECK(mc_matrix_set_device_values(NULL, &rows[0].values, NULL, NULL) == MC_USAGE);
    CHECK(mc_matrix_set_device_values(p.matrix, NULL, NULL, NULL) == MC_USAGE);
    product_check(&p); /* values are as they were */
    product_close(&p);
}

int main(int argc, char **argv) {
    const mc_context_config config = {
        .size = sizeof config, .device = argc > 1 ? argv[1] : "sim", .cache = MC_CACHE_MEMORY, .records = ""};
    diag = mc_diag_create();
    if (worked("mc_context_create", mc_context_create(&config, &context, diag))) {
        test_formats();
        test_rows();
        test_order();
        test_bricks(16);
        test_bricks(32);
        test_grouped();
        test_cut();
        test_plans();
        test_refusals();
    }
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return product_end(check_end());
}
