/* Every allocation of every operation fails once, in turn: MC_NOMEM, a message, no leak (ASan tells), no
   crash. Then sizes that no machine has. */
#include <sys/stat.h>
#include "failing_memory.h"
#include "matrix/bsr.h"
#include "matrix/calibrate.h"
#include "matrix/row_panels.h"
#include "matrix/prune.h"
#include "matrix/slide24.h"
#include "matrix/sparse24_layout.h"
#include "matrix/unstructured.h"
#include "scratch.h"

/* -- The operations, on inputs made before */

static mc_csr pattern;
static mc_vsparse matrix, real_mask;
static mc_dense dense, sums, left, right, samples;
static mc_packed strided, windowed, srbcrs, bcrs, sampled, in_tiles;
static const mc_strided form = {.stride = 32, .heads = 2};
static const mc_ring ring = {64, 2, 128, 2, 0, false, 1, 0, false};
static const mc_srbcrs stride_16 = {.k = 16, .piece_bits = 8};
static const mc_sampled_tiles tiles = {.tile_n = 32, .order = MC_ORDER_SRBCRS16};
static const mc_sampled items = {.groups = 2, .window = 32, .order = MC_ORDER_SRBCRS16, .values = true};

/* Frees what was made, if it was. */
static mc_status drop(mc_status status, mc_csr *made) {
    mc_csr_free(made);
    return status;
}
static mc_status read_csr(const char *name) {
    mc_csr out;
    return drop(mc_csr_read(scratch_path(name), &out, NULL), &out);
}
static mc_status make_smtx(void) { return read_csr("a.smtx"); }
static mc_status make_mtx(void) { return read_csr("a.mtx"); }
static mc_status make_gzip(void) { return read_csr("a.smtx.gz"); }
static mc_status make_npy(void) {
    mc_dense out;
    mc_status status = mc_npy_read(scratch_path("a.npy"), &out, NULL);
    mc_dense_free(&out);
    return status;
}
static mc_status make_pattern(mc_pattern_law law) {
    mc_csr out;
    return drop(mc_csr_generate(&(mc_pattern){40, 100, .5, law, .3, 1}, &out, NULL), &out);
}
static mc_status make_uniform(void) { return make_pattern(MC_PATTERN_UNIFORM); }
static mc_status make_realistic(void) { return make_pattern(MC_PATTERN_REALISTIC); }
static mc_status make_dilated(void) {
    mc_vsparse out;
    mc_status status = mc_vsparse_dilate(&pattern, 8, MC_S8, &out, NULL);
    mc_vsparse_free(&out);
    return status;
}
static mc_status make_union(void) {
    mc_vsparse out;
    double fill;
    uint8_t *mask;
    mc_status status = mc_vsparse_union(&pattern, 8, MC_S8, &out, &fill, &mask, NULL);
    CHECK(status == MC_OK || !mask, "a mask is left");
    free(mask);
    mc_vsparse_free(&out);
    return status;
}
static mc_status make_strided(void) {
    mc_packed out;
    mc_status status = mc_strided_pack(&matrix, &form, &out, NULL);
    mc_packed_free(&out);
    return status;
}
static mc_status make_windowed(void) {
    mc_packed out;
    mc_status status = mc_windowed_pack(&matrix, &ring, &out, NULL);
    CHECK(status == MC_OK || out.array_count == 0, "packed arrays are left");
    mc_packed_free(&out);
    return status;
}
static mc_status replace_strided(void) { return mc_strided_pack_values(&matrix, &form, &strided, NULL); }
static mc_status replace_windowed(void) { return mc_windowed_pack_values(&matrix, &ring, &windowed, NULL); }
static mc_status replace_srbcrs(void) { return mc_srbcrs_export_values(&matrix, &stride_16, &srbcrs, NULL); }
static mc_status make_unstrided(void) {
    mc_vsparse out;
    mc_status status = mc_strided_unpack(&strided, MC_S8, 8, &form, matrix.rows, matrix.cols, &out, NULL);
    mc_vsparse_free(&out);
    return status;
}
static mc_status make_srbcrs(void) {
    mc_packed out;
    mc_status status = mc_srbcrs_export(&matrix, &stride_16, &out, NULL);
    mc_packed_free(&out);
    return status;
}
static mc_status make_unsrbcrs(void) {
    mc_vsparse out;
    mc_status status = mc_srbcrs_import(&srbcrs, MC_S8, 8, &stride_16, matrix.rows, matrix.cols, &out, NULL);
    mc_vsparse_free(&out);
    return status;
}
static mc_status make_bcrs(void) {
    mc_packed out;
    mc_status status = mc_bcrs_export(&matrix, &out, NULL);
    CHECK(status == MC_OK || out.array_count == 0, "packed arrays are left");
    mc_packed_free(&out);
    return status;
}
static mc_status make_unbcrs(void) {
    mc_vsparse out;
    mc_status status = mc_bcrs_import(&bcrs, MC_S8, 8, matrix.rows, matrix.cols, &out, NULL);
    mc_vsparse_free(&out);
    return status;
}
static mc_status make_sampled(void) {
    mc_packed out;
    mc_status status = mc_sampled_pack(&real_mask, &items, &out, NULL);
    CHECK(status == MC_OK || out.array_count == 0, "packed arrays are left");
    mc_packed_free(&out);
    return status;
}
static mc_status replace_sampled(void) { return mc_sampled_pack_values(&real_mask, &items, &sampled, NULL); }
static mc_status make_unsampled(void) {
    mc_vsparse out;
    mc_status status = mc_sampled_unpack(&sampled, 8, &items, real_mask.rows, real_mask.cols, &out, NULL);
    CHECK(status == MC_OK || !out.values, "a mask is left");
    mc_vsparse_free(&out);
    return status;
}
static mc_status make_converted(void) {
    mc_dense out;
    mc_status status = mc_dense_convert(&dense, "B", MC_S16, dense.ld, &out, NULL);
    CHECK(status == MC_OK || !out.data, "a matrix is left");
    mc_dense_free(&out);
    return status;
}
static mc_status make_product(void) {
    mc_dense out;
    mc_status status = mc_reference_spmm(&matrix, &dense, &out, NULL);
    mc_dense_free(&out);
    return status;
}

static mc_status make_samples(void) {
    mc_dense out;
    mc_status status = mc_reference_sddmm(&real_mask, &left, &right, MC_LAYOUT_COLUMNS, &out, NULL);
    CHECK(status == MC_OK || !out.data, "sums are left");
    mc_dense_free(&out);
    return status;
}

static mc_status make_tiles(void) {
    mc_packed out;
    mc_status status = mc_sampled_dense_pack(&real_mask, &tiles, &out, NULL);
    CHECK(status == MC_OK || out.array_count == 0, "packed arrays are left");
    mc_packed_free(&out);
    return status;
}
static mc_status replace_tiles(void) {
    return mc_sampled_dense_pack_values(&real_mask, &tiles, &in_tiles, NULL);
}
static mc_status make_untiled(void) {
    mc_vsparse out;
    mc_status status =
        mc_sampled_dense_unpack(&in_tiles, 8, &tiles, real_mask.rows, real_mask.cols, &out, NULL);
    CHECK(status == MC_OK || !out.values, "a mask is left");
    mc_vsparse_free(&out);
    return status;
}
static mc_status make_sampled_output(void) {
    static const float scale = 0.5f;
    const mc_output output = {.type = MC_F16, .scale = MC_PER_TENSOR, .masked = true};
    mc_dense out;
    mc_status status =
        mc_reference_sampled(&output, &real_mask, MC_ORDER_SRBCRS32, &scale, &samples, &out, NULL);
    CHECK(status == MC_OK || !out.data, "an output is left");
    mc_dense_free(&out);
    return status;
}
static mc_status make_collected(void) {
    mc_dense out;
    mc_status status = mc_sampled_collect(&real_mask, MC_ORDER_BCRS, &samples, &out, NULL);
    CHECK(status == MC_OK || !out.data, "vectors are left");
    mc_dense_free(&out);
    return status;
}

static mc_status make_output(void) {
    static const float scale = 0.5f;
    const mc_output output = {.type = MC_F16, .scale = MC_PER_TENSOR};
    mc_dense out;
    mc_status status =
        mc_reference_output(&output, &(mc_factors){.scale = &scale, .bias = NULL}, &sums, &out, NULL);
    CHECK(status == MC_OK || !out.data, "an output is left");
    mc_dense_free(&out);
    return status;
}
static mc_status make_bounds(void) {
    mc_dense out;
    mc_vsparse real = {.type = MC_F32, .vec = 1, .rows = 0, .cols = 3};
    static int64_t no_rows[1];
    static float zeros[3];
    const mc_dense b = {MC_F32, 3, 1, 1, zeros};
    real.row_ptr = no_rows;
    mc_status status = mc_reference_spmm_bounds(&real, &b, &out, NULL);
    CHECK(status == MC_OK || !out.data, "bounds are left");
    mc_dense_free(&out);
    return status;
}
/* OF NULL: the gather kernel's. */
static mc_status sum_in_order(const mc_ring *of) {
    static const mc_gather_order order = {.stride = 32, .split = 2, .heads = true};
    static int64_t row_ptr[] = {0, 1};
    static int32_t column[1];
    static uint16_t value[1], rows[3];
    const mc_vsparse a = {MC_F16, 1, 1, 1, 1, 1, row_ptr, column, value, {0}};
    const mc_dense b = {MC_F16, 1, 3, 3, rows};
    mc_dense out;
    mc_status status = of ? mc_reference_spmm_ring_ordered(&a, &b, of, false, &out, NULL)
                          : mc_reference_spmm_ordered(&a, &b, &order, &out, NULL);
    CHECK(status == MC_OK || !out.data, "sums are left");
    mc_dense_free(&out);
    return status;
}
static mc_status make_ordered(void) { return sum_in_order(NULL); }
static mc_status make_ring_ordered(void) { return sum_in_order(&ring); }
static mc_status make_expected(void) {
    static const plan_problem problem = {.lhs = MC_S8, .rhs = MC_S8, .out = MC_S32};
    const mc_operator *spmm = operator_named("spmm");
    host_operands operands = {.problem = &problem, .matrix = &matrix};
    operands.inputs[operator_operand(spmm, "b")] = &dense;
    reference_result out;
    mc_status status = operator_expect(spmm, &operands, &out, NULL);
    CHECK(status == MC_OK || !out.low.data, "a result is left");
    mc_result_free(&out);
    return status;
}
static mc_status expect_floats(const char *op, const char *lhs, const char *rhs, mc_type type) {
    static int64_t row_ptr[] = {0, 1};
    static int32_t col_idx[] = {0};
    static float values[2];
    static uint16_t elements[4];
    const plan_problem problem = {.lhs = MC_F16, .rhs = MC_F16, .out = MC_F32, .layout = MC_LAYOUT_ROWS};
    const mc_operator *o = operator_named(op);
    const mc_vsparse a = {type, 2, 2, 1, 1, 1, row_ptr, col_idx, values, {0}};
    const mc_dense tall = {MC_F16, 2, 1, 1, elements}, one = {MC_F16, 1, 1, 1, elements};
    host_operands operands = {.problem = &problem, .matrix = &a};
    if (lhs != NULL) operands.inputs[operator_operand(o, lhs)] = &tall;
    operands.inputs[operator_operand(o, rhs)] = &one;
    reference_result out;
    mc_status status = operator_expect(o, &operands, &out, NULL);
    CHECK((status == MC_OK) == (out.low.data != NULL && out.high.data != NULL), "a result is left");
    mc_result_free(&out);
    return status;
}
static mc_status make_float_spmm(void) { return expect_floats("spmm", NULL, "b", MC_F16); }
static mc_status make_float_sddmm(void) { return expect_floats("sddmm", "a", "b", MC_F32); }
static mc_status make_vector(void) {
    mc_dense out;
    mc_status status = mc_npy_read_vector(scratch_path("a.npy"), &out, NULL);
    mc_dense_free(&out);
    return status;
}

static mc_status make_bsr(void) {
    mc_csr out;
    mc_blocks blocks;
    mc_status status = mc_bsr_read(scratch_path("bsr"), &out, &blocks, NULL);
    mc_csr_free(&out);
    return status;
}
static mc_status calibrate(mc_calibrate_by by) {
    const mc_calibrate_config config = {MC_U8, by, 99};
    mc_calibration out;
    return mc_calibrate(&dense, &config, &out, NULL);
}
static mc_status find_percentile(void) { return calibrate(MC_CALIBRATE_PERCENTILE); }
static mc_status find_least_squares(void) { return calibrate(MC_CALIBRATE_LEAST_SQUARES); }
static mc_status make_errors(void) {
    static const quantiser how = {MC_U8, .5F, 3};
    const mc_prune_config config = {.vec = 8, .sparsity = .5, .type = MC_S8};
    mc_pruned pruned;
    mc_prune_errors errors;
    mc_dense bias = {0};
    mc_status status = mc_prune(&dense, &config, &pruned, NULL);
    if (status == MC_OK) status = mc_prune_error(&dense, &pruned, &left, &how, &errors, NULL);
    if (status == MC_OK) status = mc_prune_bias(&pruned, &how, &bias, NULL);
    mc_dense_free(&bias);
    mc_pruned_free(&pruned);
    return status;
}

/* 2:4 of a matrix that is spread, by a table, and back. */
static mc_status make_sparse24(void) {
    static int8_t offsets[] = {1, 0};
    const mc_dense table = {MC_S8, 1, 2, 2, offsets};
    mc_meta_layout layout = {0};
    mc_dense spread, meta = {0}, wide = {0}, back = {0}, rows = {0};
    mc_sparse24 s = {0};
    int64_t lost;
    mc_status status = mc_slide24_expand(&dense, 8, MC_SPARSE24_PRUNE, &spread, &lost, NULL);
    if (status == MC_OK) status = mc_sparse24_compress(&spread, MC_SPARSE24_STRICT, &s, NULL);
    if (status == MC_OK) status = mc_meta_layout_table(&table, 8, true, &layout, NULL);
    if (status == MC_OK) status = mc_meta_export(&s, &layout, &meta, NULL);
    if (status == MC_OK) status = mc_meta_import(&meta, &layout, &s, NULL);
    if (status == MC_OK) status = mc_sparse24_decompress(&s, &wide, NULL);
    if (status == MC_OK) status = mc_slide24_collapse(&wide, 8, dense.cols, &back, NULL);
    if (status == MC_OK) status = mc_slide24_rows(MC_S8, 8, dense.cols, &rows, NULL);
    mc_dense *const all[] = {&spread, &meta, &wide, &back, &rows};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) mc_dense_free(all[i]);
    mc_meta_layout_free(&layout);
    mc_sparse24_free(&s);
    return status;
}

static mc_status make_power(void) {
    mc_csr out;
    const mc_power_law law = {40, 100, 9, 2.5, MC_ROWS_POWER, 1};
    return drop(mc_csr_generate_power(&law, &out, NULL), &out);
}
static mc_status make_heavy(void) {
    mc_csr out;
    return drop(mc_csr_generate_heavy(&(mc_heavy_row){40, 100, 2, 1}, &out, NULL), &out);
}
static mc_status make_panels(void) {
    hrpb_facts facts;
    return hrpb_facts_of(&pattern, 16, &facts, NULL);
}

/* LEAST: allocations that the operation makes at least, so that the wrapping is known to work. */
static const struct {
    const char *name;
    mc_status (*run)(void);
    long least;
} operations[] = {
    {"smtx", make_smtx, 3},
    {"mtx", make_mtx, 8},
    {"gzip", make_gzip, 5},
    {"npy", make_npy, 2},
    {"uniform", make_uniform, 4},
    {"power", make_power, 8},
    {"heavy", make_heavy, 4},
    {"panels", make_panels, 3},
    {"realistic", make_realistic, 6},
    {"dilate", make_dilated, 3},
    {"union", make_union, 5},
    {"strided", make_strided, 4},
    {"windowed", make_windowed, 10},
    {"strided values", replace_strided, 1},
    {"windowed values", replace_windowed, 10},
    {"srbcrs values", replace_srbcrs, 1},
    {"unstrided", make_unstrided, 4},
    {"srbcrs", make_srbcrs, 4},
    {"unsrbcrs", make_unsrbcrs, 4},
    {"bcrs", make_bcrs, 4},
    {"unbcrs", make_unbcrs, 4},
    {"sampled", make_sampled, 4},
    {"sampled values", replace_sampled, 3},
    {"unsampled", make_unsampled, 7},
    {"tiles", make_tiles, 3},
    {"tiles again", replace_tiles, 3},
    {"untiled", make_untiled, 6},
    {"convert", make_converted, 1},
    {"reference", make_product, 2},
    {"bounds of a reference", make_bounds, 2},
    {"sums in order", make_ordered, 6},
    {"sums in the ring's order", make_ring_ordered, 6},
    {"what a kernel must give", make_expected, 2},
    {"what an SpMM of floats may give", make_float_spmm, 6},
    {"what an SDDMM of floats may give", make_float_sddmm, 6},
    {"samples", make_samples, 3},
    {"sampled output", make_sampled_output, 3},
    {"collect", make_collected, 2},
    {"output", make_output, 1},
    {"vector", make_vector, 2},
    {"bsr", make_bsr, 9},
    {"percentile", find_percentile, 2},
    {"least squares", find_least_squares, 2},
    {"errors of a product", make_errors, 14},
    {"2:4", make_sparse24, 9},
};

static void test_failing(void) {
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        long count = 0;
        mc_status status = MC_NOMEM;
        for (; status != MC_OK && count < 100; count++) {
            failing_after = count;
            status = operations[i].run();
            CHECK(status == MC_OK || status == MC_NOMEM, "%s: status %d", operations[i].name, (int)status);
        }
        failing_after = -1;
        CHECK(status == MC_OK && count > operations[i].least, "%s: %ld runs", operations[i].name, count);
    }
}

static void test_huge(mc_diag *diag) {
    mc_dense out;
    expect_failure("2^62",
                   mc_dense_create(MC_S8, (int64_t)1 << 31, (int64_t)1 << 31, (int64_t)1 << 31, &out, diag),
                   MC_NOMEM, diag, "no memory for 4611686018427387904 matrix elements");
    expect_failure("2^64", mc_dense_create(MC_S8, (int64_t)1 << 32, 1, (int64_t)1 << 32, &out, diag),
                   MC_NOMEM, diag, "the number of matrix elements overflows");
    expect_failure("bytes", mc_dense_create(MC_S64, (int64_t)1 << 61, 1, 1, &out, diag), MC_NOMEM, diag,
                   "no memory for 2305843009213693952 matrix elements");
    CHECK(!out.data && out.rows == 0, "the output is not zeroed");
    mc_csr csr;
    mc_pattern huge = {INT64_MAX, 5, .5, MC_PATTERN_UNIFORM, 0, 1};
    expect_failure("rows", mc_csr_generate(&huge, &csr, diag), MC_NOMEM, diag, "9223372036854775807 rows");
    int64_t none[1] = {0};
    mc_csr tall = {.rows = (int64_t)1 << 60, .cols = 5, .row_ptr = none};
    mc_vsparse a;
    expect_failure("rows", mc_vsparse_dilate(&tall, 8, MC_S8, &a, diag), MC_NOMEM, diag, "no memory");
    expect_failure("usage", mc_dense_create(MC_S8, 3, 5, 4, &out, diag), MC_USAGE, diag,
                   "leading dimension 4 is below the 5 columns");
    expect_failure("usage", mc_dense_create(MC_S8, -3, 5, 5, &out, diag), MC_USAGE, diag, "cannot be -3 x 5");
}

/* A matrix of 2 x 1 with one block. */
static void write_bsr(mc_diag *diag) {
    static const char *const names[] = {"indptr", "indices", "shape"};
    static const unsigned char numbers[][2] = {{0, 1}, {0}, {2, 1}};
    static const char blocks[] = "{'descr':'|i1','fortran_order':False,'shape':(1,2,1)}";
    char name[64], bytes[128];
    if (mkdir(scratch_path("bsr"), 0700) != 0) exit(1);
    for (size_t i = 0; i < 3; i++) {
        mc_dense array = {MC_U8, 1, i == 1 ? 1 : 2, 2, (void *)(uintptr_t)numbers[i]};
        snprintf(name, sizeof name, "bsr/%s.npy", names[i]);
        expect_ok(name, mc_npy_write_vector(scratch_path(name), &array, diag), diag);
    }
    memcpy(bytes, "\x93NUMPY\1\0", 8);
    bytes[8] = (char)(sizeof blocks - 1), bytes[9] = 0;
    memcpy(bytes + 10, blocks, sizeof blocks - 1);
    memcpy(bytes + 10 + sizeof blocks - 1, "\1\2", 2);
    scratch_write("bsr/data.npy", bytes, 10 + sizeof blocks - 1 + 2);
}

static void prepare(mc_diag *diag) {
    static const unsigned char gzip[] = {/* printf '1, 1, 0\n0 0\n\n' | gzip -n */
                                         31, 139, 8,  0, 0,  0,  0, 0,   0,   3, 51, 212, 81, 48, 212, 81,
                                         48, 224, 50, 0, 98, 46, 0, 233, 228, 4, 98, 13,  0,  0,  0};
    static const char mtx[] = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n";
    mc_pattern wanted = {40, 100, .5, MC_PATTERN_UNIFORM, 0, 1};
    expect_ok("generate", mc_csr_generate(&wanted, &pattern, diag), diag);
    expect_ok("dilate", mc_vsparse_dilate(&pattern, 8, MC_S8, &matrix, diag), diag);
    expect_ok("create", mc_dense_create(MC_S8, 100, 9, 9, &dense, diag), diag);
    mc_dense_fill(&dense, MC_VALUES_FULL, 1);
    expect_ok("reference", mc_reference_spmm(&matrix, &dense, &sums, diag), diag);
    expect_ok("pack", mc_strided_pack(&matrix, &form, &strided, diag), diag);
    expect_ok("pack", mc_windowed_pack(&matrix, &ring, &windowed, diag), diag);
    expect_ok("pack", mc_srbcrs_export(&matrix, &stride_16, &srbcrs, diag), diag);
    expect_ok("pack", mc_bcrs_export(&matrix, &bcrs, diag), diag);
    expect_ok("dilate", mc_vsparse_dilate(&pattern, 8, MC_F32, &real_mask, diag), diag);
    expect_ok("create", mc_dense_create(MC_S8, real_mask.rows, 9, 9, &left, diag), diag);
    expect_ok("create", mc_dense_create(MC_S8, real_mask.cols, 9, 9, &right, diag), diag);
    expect_ok("reference", mc_reference_sddmm(&real_mask, &left, &right, MC_LAYOUT_COLUMNS, &samples, diag),
              diag);
    expect_ok("pack", mc_sampled_pack(&real_mask, &items, &sampled, diag), diag);
    expect_ok("pack", mc_sampled_dense_pack(&real_mask, &tiles, &in_tiles, diag), diag);
    expect_ok("write", mc_csr_write_smtx(scratch_path("a.smtx"), &pattern, diag), diag);
    expect_ok("write", mc_npy_write(scratch_path("a.npy"), &dense, diag), diag);
    scratch_write("a.mtx", mtx, sizeof mtx - 1);
    scratch_write("a.smtx.gz", gzip, sizeof gzip);
    write_bsr(diag);
}

static void clean_up(void) {
    mc_csr_free(&pattern);
    mc_vsparse_free(&matrix);
    mc_dense_free(&dense);
    mc_dense_free(&sums);
    mc_packed_free(&strided);
    mc_packed_free(&windowed);
    mc_packed_free(&srbcrs);
    mc_packed_free(&bcrs);
    mc_vsparse_free(&real_mask);
    mc_dense_free(&left);
    mc_dense_free(&right);
    mc_dense_free(&samples);
    mc_packed_free(&sampled);
    mc_packed_free(&in_tiles);
    unlink(scratch_path("a.smtx"));
    unlink(scratch_path("a.mtx"));
    unlink(scratch_path("a.smtx.gz"));
    unlink(scratch_path("a.npy"));
    static const char *const arrays[] = {"bsr/indptr.npy", "bsr/indices.npy", "bsr/data.npy",
                                         "bsr/shape.npy"};
    for (size_t i = 0; i < 4; i++) unlink(scratch_path(arrays[i]));
    rmdir(scratch_path("bsr"));
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    scratch_begin();
    prepare(diag);
    test_failing();
    test_huge(diag);
    clean_up();
    mc_diag_destroy(diag);
    return scratch_end();
}
