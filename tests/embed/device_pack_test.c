/* What is packed on the device of matrices made from device memory is, byte for byte, what packing on the host makes of the same
 * matrix, in every format, with every type and height; and new values come into it. device_pack_test [DEVICE]: the simulator, or
 * cuda:0. */
#include <stdlib.h>
#include "context/device_pack.h"
#include "device_matrix.h"
#include "packed_kernels.h"

mc_diag *diag;

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

static void try_values(mc_matrix *matrix, const matrix_packing *packing, mc_vsparse *fresh,
                       const char *text) {
    const int64_t most = mc_pack_most(packing->kernel, fresh->type);
    for (int turn = 0; turn < 4; turn++) {
        char what[400];
        snprintf(what, sizeof what, "%s, values set in way %d", text, turn);
        device_fill(fresh, 100 + (uint64_t)turn, most);
        if (turn < 3) device_set_values(matrix, fresh, turn);
        else (void)worked("set values", mc_matrix_set_values(matrix, fresh->values, NULL, diag));
        if (packing_values(packing) != NULL) compare_packing(packing, fresh, what);
        device_compare_host(matrix, fresh, what);
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
static bool try_kernel(const char *fields, const char *type_field, const device_shape *s, bool whole,
                       int *made_there) {
    mc_kernel *kernel = NULL;
    mc_type type = MC_F32;
    char text[300];
    if (mc_kernel_from_fields(fields, &kernel, NULL) != MC_OK) return false;
    if (type_field != NULL) (void)worked("type", mc_type_of(kernel, type_field, &type, diag));
    mc_vsparse host = device_make_host(type, (int)mc_kernel_field(kernel, "vec"), s);
    device_fill(&host, 1, mc_pack_most(kernel, type));
    snprintf(text, sizeof text, "%s, %s", fields, s->name);
    mc_matrix *matrix = device_from_bcrs(&host, false);
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
            const device_shape *other = &device_shapes[(i + (size_t)vec) % DEVICE_SHAPES];
            snprintf(fields, sizeof fields, "%s vec=%d", list[i], vec);
            tried += try_kernel(fields, type, &device_shapes[0], true, &made_there);
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
    for (size_t i = 0; i < DEVICE_SHAPES; i++) {
        CHECK(try_kernel("op=spmm lhs=u8 rhs=s8 heads=off stride=32", "lhs", &device_shapes[i], false,
                         &made_there));
        CHECK(try_kernel("op=spmm lhs=f16 rhs=f16 out=f16 tile_n=64 split=4 stride=64", "lhs",
                         &device_shapes[i], true, &made_there));
        CHECK(try_kernel("op=spmm mma=int4 lhs=s12 rhs=s4 digits=offset stride=64 vec=4", "lhs",
                         &device_shapes[i], true, &made_there));
    }
}

/* -- csr: rows of their own, of several warps and of several thread blocks ------------------------------ */

static bool has_long_rows(int64_t row, int64_t col) {
    if (row % 11 == 5) return col < row * 60; /* of every length */
    return row % 3 != 1 && (row * 37 + col * 11) % 41 == 0;
}

/* Rows of several of the blocks in which they are dealt out. */
static bool has_few(int64_t row, int64_t col) { return (row * 37 + col * 11) % 41 < row / 100; }

static const device_shape long_rows = {"long rows", 70, 4000, has_long_rows},
                          many_rows = {"many rows", 700, 120, has_few};

static void test_csr(void) {
    static const char *const kernels[] = {
        "op=spmm staging=csr lhs=f32 rhs=f32 out=f32 vec=1 tile_n=32 lanes=1 warps=4 share=2",
        "op=spmm staging=csr lhs=f16 rhs=f16 out=f16 vec=1 tile_n=8 lanes=4 warps=8 share=8",
        "op=spmm staging=csr lhs=bf16 rhs=bf16 out=f32 vec=1 tile_n=1 lanes=32 warps=1 share=2",
        "op=spmm staging=csr lhs=f32 rhs=f32 out=f32 vec=1 tile_n=64 lanes=1 warps=4 share=2 segmented=true",
        "op=spmm staging=csr lhs=f32 rhs=f32 out=f32 vec=1 tile_n=64 lanes=2 warps=4 deal=false"};
    enum { KERNELS = sizeof kernels / sizeof *kernels };
    int made_there = 0;
    for (int i = 0; i < KERNELS; i++) {
        for (size_t j = 0; j < DEVICE_SHAPES; j++)
            CHECK(try_kernel(kernels[i], "lhs", &device_shapes[j], j == 0, &made_there));
        CHECK(try_kernel(kernels[i], "lhs", &long_rows, true, &made_there));
        CHECK(try_kernel(kernels[i], "lhs", &many_rows, true, &made_there));
    }
    CHECK(made_there > 5 * KERNELS, "%d made on the device", made_there);
}

/* -- packed24: at most two of four neighbours ---------------------------------------------------------- */

static bool has_two(int64_t row, int64_t col) {
    static const unsigned members[] = {3, 5, 9, 6, 10, 12, 0, 1, 2, 4, 8};
    if (row % 9 == 4) return false;
    return members[(row * 7 + col / 4 * 5 + row * (col / 4) / 16) % 11] >> col % 4 & 1;
}
static bool has_row(int64_t row, int64_t col) { return row == 64 && has_two(row, col); }
static bool has_three(int64_t row, int64_t col) {
    return (row == 65 && col / 4 == 20 && col % 4 < 3) || has_two(row, col);
}

/* The same of pairs: of one that is there the first, the second or both. */
static bool has_two_pairs(int64_t row, int64_t col) {
    const int64_t pair = col / 2;
    return has_two(row, pair) && (1 + (row * 5 + pair * 7 + row * pair) % 3) >> col % 2 & 1;
}
/* All sets of columns of a group that are in two pairs at most, one after another. */
static bool has_all_pairs(int64_t row, int64_t col) {
    static const int firsts[] = {0, 0, 0, 1, 1, 2}, lasts[] = {1, 2, 3, 2, 3, 3};
    const int64_t number = (row + 8 * (col / 8)) % 96, pair = col % 8 / 2;
    if (pair == firsts[number / 16]) return number >> col % 2 & 1;
    return pair == lasts[number / 16] && number >> (2 + col % 2) & 1;
}
static bool has_row_of_pairs(int64_t row, int64_t col) { return row == 64 && has_two_pairs(row, col); }
static bool has_three_pairs(int64_t row, int64_t col) {
    return (row == 65 && (col == 161 || col == 162 || col == 166)) ||
           (row == 65 && col / 8 == 20 ? false : has_two_pairs(row, col));
}
static bool has_all_eight(int64_t row, int64_t col) {
    return (row == 3 && col / 8 == 2) || has_two_pairs(row, col);
}

static const device_shape grouped_shapes[] = {{"2:4", 70, 301, has_two},
                                              {"2:4, one row", 1, 3, has_two},
                                              {"2:4, long rows", 17, 2000, has_two},
                                              {"2:4, row 64", 130, 260, has_row},
                                              {"2:4, no rows", 0, 64, has_two},
                                              {"2:4, no columns", 3, 0, has_two}},
                          paired_shapes[] = {{"4:8", 70, 601, has_two_pairs},
                                             {"4:8, each set", 96, 96, has_all_pairs},
                                             {"4:8, one row", 1, 5, has_two_pairs},
                                             {"4:8, long rows", 17, 4001, has_two_pairs},
                                             {"4:8, row 64", 130, 520, has_row_of_pairs},
                                             {"4:8, no rows", 0, 64, has_two_pairs},
                                             {"4:8, no columns", 3, 0, has_two_pairs}};

static void try_grouped(const char *const *kernels, size_t count, const device_shape *shapes,
                        size_t shape_count) {
    int made_there = 0, tried = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t s = 0; s < shape_count; s++, tried++)
            CHECK(try_kernel(kernels[i], "lhs", &shapes[s], true, &made_there));
    CHECK(made_there == tried, "%d of %d on the device", made_there, tried);
}

#define GROUPED(kernels, shapes)                                                                             \
    try_grouped(kernels, sizeof(kernels) / sizeof *(kernels), shapes, sizeof(shapes) / sizeof *(shapes))

/* A group that is too full: the host says which. */
static void try_full(const char *fields, mc_type type, const device_shape *shape, const char *text) {
    mc_kernel *kernel = NULL;
    matrix_packing *packing = NULL;
    context_visit visit;
    if (!worked("kernel", mc_kernel_from_fields(fields, &kernel, diag))) return;
    mc_vsparse host = device_make_host(type, 1, shape);
    mc_matrix *matrix = device_from_bcrs(&host, false);
    (void)context_enter(context, &visit, diag);
    CHECK(matrix_pack_for(matrix, kernel, &packing, diag) == MC_CANNOT, "%s", shape->name);
    CHECK_TEXT(mc_diag_text(diag), text);
    mc_diag_clear(diag);
    context_leave(context, &visit);
    mc_matrix_destroy(matrix);
    mc_vsparse_free(&host);
    mc_kernel_destroy(kernel);
}

static void test_full(void) {
    try_full(packed_grouped[0], MC_F16, &(device_shape){"three", 70, 301, has_three},
             "1 group has more than 2 of 4 elements, the first one is row 65, columns 80 to 83");
    try_full(packed_grouped_pairs[0], MC_S4, &(device_shape){"three pairs", 70, 601, has_three_pairs},
             "1 group has more than 2 of 4 pairs, the first one is row 65, columns 160 to 167");
    try_full(packed_grouped_pairs[1], MC_U4, &(device_shape){"all eight", 4, 601, has_all_eight},
             "1 group has more than 2 of 4 pairs, the first one is row 3, columns 16 to 23");
}

/* Balanced digits: what the device would make the nearest value, device_set_values refuses, and nothing changes. */
static void test_digits(void) {
    mc_kernel *kernel = NULL;
    matrix_packing *packing = NULL;
    context_visit visit;
    if (!worked("kernel", mc_kernel_from_fields("op=spmm lhs=s16 rhs=s8 digits=balanced", &kernel, diag)))
        return;
    mc_vsparse host = device_make_host(MC_S16, 8, &device_shapes[0]);
    device_fill(&host, 5, mc_pack_most(kernel, MC_S16));
    mc_matrix *matrix = device_from_bcrs(&host, false);
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

/* The library asks for its helpers by all fields, in their order: so the cache keeps them. */
static void test_fields(void) {
    int helpers = 0;
    for (const loaded_kernel *k = context->kernels; k != NULL; k = k->next) {
        if (strncmp(k->fields, "op=pa", 5) != 0 && strncmp(k->fields, "op=values", 9) != 0 &&
            strncmp(k->fields, "op=compress24", 13) != 0)
            continue;
        CHECK(strcmp(k->fields, mc_kernel_fields(k->kernel)) == 0, "%s, not %s", k->fields,
              mc_kernel_fields(k->kernel));
        helpers++;
    }
    CHECK(helpers > 3, "%d", helpers);
}

int main(int argc, char **argv) {
    const mc_context_config config = {
        .size = sizeof config, .device = argc > 1 ? argv[1] : "sim", .cache = MC_CACHE_MEMORY, .records = ""};
    diag = mc_diag_create();
    if (worked("mc_context_create", mc_context_create(&config, &context, diag))) {
        test_digits();
        test_formats();
        test_csr();
        GROUPED(packed_grouped, grouped_shapes);
        GROUPED(packed_grouped_pairs, paired_shapes);
        test_full();
        test_fields();
    }
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return device_end(check_end());
}
