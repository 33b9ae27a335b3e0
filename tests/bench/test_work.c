/* The host's share of a run: variants and who packs alike, formats, matrices prepared ahead. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "check.h"
#include "matrix/unstructured.h"
#include "operation.h"
#include "shapes.h"

static mc_diag *diag;
static char *panel_spec, *csr_spec, *vector_spec;

#define OK(call) CHECK((call) == MC_OK, "%s", mc_diag_text(diag))

/* -- Halves and formats */

static double half_value(uint16_t bits) {
    mc_dense one;
    OK(mc_dense_create(MC_F16, 1, 1, 1, &one, diag));
    *(uint16_t *)one.data = bits;
    double value = mc_dense_real(&one, 0, 0);
    mc_dense_free(&one);
    return value;
}

static void test_halves(void) {
    int wrong = 0;
    for (int value = -128; value <= 127; value++)
        wrong += half_value(half_of_s8((int8_t)value)) != value / 128.0;
    CHECK(wrong == 0, "%d wrong", wrong);
}

/* The value that FORMAT stores at (row, col), in 128ths. */
static double stored(const mc_vsparse *a, int format, const sparse_arrays *s, int64_t row, int64_t col) {
    const uint16_t *halves = s->values;
    int64_t vec = a->vec, block = row / vec;
    if (format == SPARSE_CSR) {
        for (int64_t i = s->row_ptr[row]; i < s->row_ptr[row + 1]; i++)
            if (s->col_idx[i] == col) return 128 * half_value(halves[i]);
        return 0;
    }
    bool ell = format != SPARSE_BSR;
    int64_t first = ell ? block * s->ell_blocks : s->row_ptr[block],
            end = ell ? first + s->ell_blocks : s->row_ptr[block + 1];
    for (int64_t i = first; i < end; i++) {
        if (s->col_idx[i] != col / vec) continue;
        int64_t place = ell ? row * s->ell_blocks * vec + (i - first) * vec + col % vec
                            : (i * vec + row % vec) * vec + col % vec;
        return format == SPARSE_ELL_S8 ? ((const int8_t *)s->values)[place] : 128 * half_value(halves[place]);
    }
    return 0;
}

static double exact(const mc_vsparse *a, int64_t row, int64_t col) {
    int64_t block = row / a->vec;
    for (int64_t v = a->row_ptr[block]; v < a->row_ptr[block + 1]; v++)
        if (a->col_idx[v] == col) return (double)mc_vsparse_value(a, v, (int)(row % a->vec));
    return 0;
}

static void test_format(const mc_vsparse *a, int format, const sparse_arrays *s) {
    int wrong = 0;
    for (int64_t row = 0; row < a->rows; row++)
        for (int64_t col = 0; col < a->cols; col++)
            wrong += stored(a, format, s, row, col) != exact(a, row, col);
    CHECK(wrong == 0, "format %d: %d of %lld wrong", format, wrong, (long long)(a->rows * a->cols));
    CHECK(s->fill > 0 && s->fill <= 1, "%f", s->fill);
}

/* -- A run's preparation */

static char folder[] = "/tmp/mcbench_work_XXXXXX";

static void write_matrix(const char *name, int64_t rows, int64_t cols, double sparsity) {
    char path[128];
    mc_csr csr;
    const mc_pattern pattern = {.rows = rows, .cols = cols, .sparsity = sparsity, .seed = 9};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    OK(mc_csr_generate(&pattern, &csr, diag));
    OK(mc_csr_write_smtx(path, &csr, diag));
    mc_csr_free(&csr);
}

static void write_text(const char *name, const char *text) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0, "%s", path);
}

static void test_prepared(const work *w, const work_plan *plan) {
    CHECK(w->error == NULL, "%s", w->error);
    if (w->error != NULL) return;
    for (int i = 0; i <= SPARSE_ELL_S8; i++) test_format(&w->a, i, &w->formats[i]);
    for (size_t i = 0; i < plan->size_count; i++) {
        const work_problem *d = &w->problems[i];
        const int8_t *b = d->b.data;
        int64_t n = plan->sizes[i];
        int wrong = 0;
        for (int64_t row = 0; row < w->a.rows; row++)
            for (int64_t j = 0; j < n; j++) {
                double sum = 0;
                for (int64_t k = 0; k < w->a.cols; k++) sum += exact(&w->a, row, k) * b[k * n + j];
                wrong += d->want[row * n + j] != (int32_t)sum;
            }
        CHECK(wrong == 0, "N %lld: %d wrong", (long long)n, wrong);
        CHECK(d->b_cols[2 * w->padded_cols + 3] == b[3 * n + 2]);
        CHECK(half_value(d->b_half[5]) == b[5] / 128.0);
    }
    CHECK(w->padded_cols % w->a.vec == 0 && w->padded_cols >= w->a.cols);
}

static void test_feeder(const variant_list *variants) {
    const work_plan plan = {.operation = operation_find("spmm"),
                            .sizes = {5, 12},
                            .size_count = 2,
                            .variants = variants,
                            .sparse_peers = true,
                            .seed = 3};
    work *items;
    size_t count;
    feeder *ahead;
    write_matrix("b_2.smtx", 3, 30, 0.8);
    write_matrix("b_1.smtx", 3, 30, 0.5);
    write_matrix("a.smtx", 2, 100, 0.9);
    write_text("c.mtx", "%%MatrixMarket matrix coordinate pattern general\n% 9 9 9\n4 50 2\n1 3\n4 50\n");
    write_text("no_matrix.npy", "9, 9, 0\n");
    OK(work_list(folder, NULL, 0, &items, &count, diag));
    CHECK(count == 4, "%zu", count);
    static const char *const order[] = {"b_1.smtx", "b_2.smtx", "c.mtx", "a.smtx"};
    OK(feeder_start(&ahead, items, count, &plan, 3, 2, diag));
    for (size_t i = 0; i + 1 < count; i++) {
        work *w = feeder_take(ahead);
        CHECK(strcmp(w->name, order[i]) == 0, "%s", w->name);
        test_prepared(w, &plan);
        work_release(w, &plan);
    }
    feeder_stop(ahead); /* with one that nobody took */
    work_list_free(items, count);
    OK(work_list(folder, "b_", 1, &items, &count, diag));
    CHECK(count == 1 && strcmp(items[0].name, "b_1.smtx") == 0);
    work_list_free(items, count);
    CHECK(work_list(folder, "absent", 0, &items, &count, diag) == MC_CANNOT);
    work_list_free(items, count);
}

/* -- SDDMM: what the helper kernels and the sparse peers get is what our kernels get */

static void test_widened(const work_problem *p, mc_layout layout, int64_t padded) {
    const problem_shape *s = &p->shape;
    int wrong = 0;
    for (int64_t i = 0; i < s->m * s->k; i++) {
        wrong += p->wide_a[i] != mc_dense_get(&p->a, i / s->k, i % s->k);
        wrong +=
            half_value(p->a_half[i]) != p->wide_a[i] / 128.0 || (double)p->a_float[i] != p->wide_a[i] / 128.0;
    }
    for (int64_t i = 0; i < padded * s->k; i++) {
        int64_t col = i / s->k, k = i % s->k, want = 0;
        if (col < s->n)
            want = layout == MC_LAYOUT_ROWS ? mc_dense_get(&p->b, k, col) : mc_dense_get(&p->b, col, k);
        wrong += p->wide_b[i] != want;
        wrong +=
            half_value(p->b_half[i]) != p->wide_b[i] / 128.0 || (double)p->b_float[i] != p->wide_b[i] / 128.0;
    }
    CHECK(wrong == 0, "layout %d: %d wrong", (int)layout, wrong);
}

/* In both layouts; N is no multiple of V. */
static void test_sddmm(mc_layout layout) {
    const mc_pattern pattern = {.rows = 3, .cols = 17, .sparsity = 0.5, .seed = 9};
    const variant_list list = {
        .operation = operation_find("sddmm"), .vec = 4, .lhs = MC_S8, .rhs = MC_S8, .layout = layout};
    const work_plan plan = {.operation = operation_find("sddmm"),
                            .sizes = {5, 33},
                            .size_count = 2,
                            .variants = &list,
                            .sparse_peers = true};
    work w = {.padded_cols = 20};
    mc_csr csr;
    OK(mc_csr_generate(&pattern, &csr, diag));
    OK(operation_find("sddmm")->dilate(&list, &csr, 1, &w.a, diag));
    for (size_t i = 0; i < plan.size_count; i++) {
        w.problems[i].shape = operation_find("sddmm")->shape(&w.a, plan.sizes[i]);
        CHECK(w.problems[i].shape.m == 12 && w.problems[i].shape.n == 17 &&
              w.problems[i].shape.k == plan.sizes[i]);
    }
    OK(operation_find("sddmm")->prepare(&w, &plan, diag));
    for (size_t i = 0; i < plan.size_count; i++) test_widened(&w.problems[i], layout, w.padded_cols);
    const sparse_arrays *arrays = &w.formats[SPARSE_SAMPLED_CSR];
    CHECK(arrays->value_count == 4 * w.a.vectors && arrays->values == NULL);
    CHECK(w.orders[ORDER_CSR].elements == arrays->value_count && w.orders[ORDER_BCRS].slots == NULL);
    CHECK(w.orders[ORDER_BSR].elements == w.formats[SPARSE_SAMPLED_BSR].value_count);
    work_release(&w, &plan);
    mc_csr_free(&csr);
}

static void remove_folder(void) {
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
}

/* -- A matrix of which no padded format can be made: one row block of 3000 blocks, 5000 row blocks */

static void test_too_long(void) {
    enum { VEC = 8, BLOCKS = 5000, LONG = 3000 };
    const variant_list list = {.operation = operation_find("spmm"), .vec = VEC, .lhs = MC_F16, .rhs = MC_F16};
    const work_plan plan = {
        .operation = list.operation, .sizes = {1}, .size_count = 1, .variants = &list, .sparse_peers = true};
    work w = {.padded_cols = VEC * LONG};
    int64_t row_ptr[BLOCKS + 1];
    int32_t col_idx[LONG];
    mc_csr csr = {.rows = BLOCKS, .cols = VEC * LONG, .nnz = LONG, .row_ptr = row_ptr, .col_idx = col_idx};
    for (int i = 0; i <= BLOCKS; i++) row_ptr[i] = i < 7 ? 0 : LONG;
    for (int i = 0; i < LONG; i++) col_idx[i] = VEC * i;
    OK(list.operation->dilate(&list, &csr, 1, &w.a, diag));
    w.problems[0].shape = list.operation->shape(&w.a, 1);
    OK(list.operation->prepare(&w, &plan, diag));
    CHECK(w.formats[SPARSE_ELL].row_ptr == NULL && w.formats[SPARSE_ELL_F32].row_ptr == NULL);
    CHECK(w.formats[SPARSE_UNIFORM_8].row_ptr == NULL && w.formats[SPARSE_UNIFORM_16].row_ptr == NULL);
    CHECK(w.formats[SPARSE_BSR].indices == LONG && w.formats[SPARSE_CSR_F32].indices == VEC * LONG);
    work_release(&w, &plan);
}

/* -- Panels: three nonzeros of one panel, two of them in one column, make 2 of 32 slots */

static void test_panels(void) {
    char *paths[] = {panel_spec, NULL};
    variant_list list;
    mc_vsparse a;
    mc_packed packed = {0};
    int64_t row_ptr[] = {0, 1, 3};
    int32_t col_idx[] = {4, 4, 70};
    const mc_csr csr = {.rows = 2, .cols = 90, .nnz = 3, .row_ptr = row_ptr, .col_idx = col_idx};
    const operation *op = operation_find("spmm");
    OK(variants_choose(&list, paths, NULL, 0, 0, "default", diag));
    OK(variants_load(&list, NULL, 1, diag));
    OK(op->dilate(&list, &csr, 1, &a, diag));
    OK(mc_pack(list.packings[0], &a, &packed, diag));
    CHECK(op->slots(&packed, &a) == 32 && op->named(&packed, &a) == 2, "%lld slots, %lld named",
          (long long)op->slots(&packed, &a), (long long)op->named(&packed, &a));
    mc_packed_free(&packed);
    mc_vsparse_free(&a);
    variants_close(&list);
}

/* -- Who packs alike */

static bool same_array(const mc_packed_array *a, const mc_packed_array *b) {
    return strcmp(a->name, b->name) == 0 && a->count == b->count &&
           memcmp(a->data, b->data, (size_t)mc_type_size(a->type, a->count)) == 0;
}

/* Of a graph: rows of one nonzero and of a thousand are dealt out by limits of their own. */
static void test_alike(void) {
    const mc_power_law law = {.rows = 3000, .cols = 3000, .degree = 12, .exponent = 2, .seed = 1};
    char *paths[] = {csr_spec, NULL};
    variant_list list;
    mc_csr csr;
    mc_vsparse a;
    OK(mc_csr_generate_power(&law, &csr, diag));
    OK(variants_choose(&list, paths, NULL, 0, 0, "all", diag));
    OK(variants_load(&list, NULL, 2, diag));
    OK(list.operation->dilate(&list, &csr, 1, &a, diag));
    CHECK(list.packing_count > 4 && list.packing_count < list.count, "%zu packings", list.packing_count);
    for (size_t i = 0; i < list.count; i++) {
        mc_packed packed = {0}, shared = {0};
        OK(mc_pack(list.items[i].kernel, &a, &packed, diag));
        OK(mc_pack(list.packings[list.items[i].packing], &a, &shared, diag));
        bool alike = packed.array_count == shared.array_count && packed.pieces == shared.pieces;
        for (size_t j = 0; alike && j < packed.array_count; j++)
            alike = same_array(&packed.arrays[j], &shared.arrays[j]);
        CHECK(alike, "variant %zu reads other arrays than its group", i);
        mc_packed_free(&packed);
        mc_packed_free(&shared);
    }
    mc_vsparse_free(&a);
    mc_csr_free(&csr);
    variants_close(&list);
}

/* -- Who takes part */

/* Of a work whose best variants take part: these have the least estimates, and their groups are packed. */
static void check_best(const work *w, const work_plan *plan) {
    const variant_list *list = plan->variants;
    for (size_t size = 0; size < plan->size_count; size++) {
        const work_problem *p = &w->problems[size];
        double most = 0, least = INFINITY; /* of those that take part, and of the others */
        int64_t count = 0;
        for (size_t i = 0; i < list->count; i++) {
            if (p->takes[i]) count++, most = fmax(most, p->estimates[i]);
            else least = fmin(least, p->estimates[i]);
        }
        CHECK(count == plan->best && most <= least && isfinite(most), "%lld: to %f, others from %f",
              (long long)count, most, least);
    }
    size_t packed = 0;
    for (size_t g = 0; g < list->packing_count; g++) {
        bool wanted = false;
        for (size_t i = 0; i < list->count; i++)
            if (list->items[i].packing == g)
                for (size_t size = 0; size < plan->size_count; size++) wanted |= w->problems[size].takes[i];
        CHECK(wanted == (w->packings[g].array_count > 0), "group %zu", g);
        packed += wanted;
    }
    CHECK(packed > 0 && packed < list->packing_count, "%zu of %zu are packed", packed, list->packing_count);
}

static void test_best(void) {
    char *paths[] = {csr_spec, NULL};
    variant_list list;
    work *items;
    size_t count;
    OK(variants_choose(&list, paths, NULL, 0, 90, "all", diag));
    OK(variants_load(&list, NULL, 2, diag));
    work_plan plan = {.operation = list.operation,
                      .sizes = {32, 512},
                      .size_count = 2,
                      .variants = &list,
                      .gpu = *mc_gpu_find(NULL, 90)};
    write_matrix("best.smtx", 40, 300, 0.95);
    OK(work_list(folder, "best", 0, &items, &count, diag));
    for (plan.best = 1; plan.best <= 3; plan.best += 2) {
        work_prepare(&items[0], &plan);
        CHECK(items[0].error == NULL, "%s", items[0].error);
        if (items[0].error == NULL) check_best(&items[0], &plan);
        work_release(&items[0], &plan);
    }
    work_list_free(items, count);
    char path[128];
    snprintf(path, sizeof path, "%s/best.smtx", folder);
    remove(path);
    variants_close(&list);
}

/* A matrix that some formats have no room for is packed in the others, and the variants that read the former
   take no part. */
static void test_refused(void) {
    char *paths[] = {vector_spec, NULL};
    variant_list list;
    work *items;
    size_t count, refused = 0;
    OK(variants_choose(&list, paths, NULL, 0, 90, "all", diag));
    OK(variants_load(&list, NULL, 2, diag));
    const work_plan plan = {.operation = list.operation,
                            .sizes = {1},
                            .size_count = 1,
                            .variants = &list,
                            .gpu = *mc_gpu_find(NULL, 90)};
    write_matrix("wide.smtx", 40, 70000, 0.999);
    OK(work_list(folder, "wide", 0, &items, &count, diag));
    work_prepare(&items[0], &plan);
    CHECK(items[0].error == NULL, "%s", items[0].error);
    for (size_t i = 0; items[0].error == NULL && i < list.count; i++) {
        const char *why = items[0].refused[list.items[i].packing];
        const bool wide = mc_kernel_field(list.items[i].kernel, "columns") == CSR_COLUMNS_U16;
        CHECK(wide == (why != NULL) && items[0].problems[0].takes[i] != wide, "variant %zu", i);
        CHECK(why == NULL || strstr(why, "columns of 16 bits") != NULL, "%s", why);
        refused += wide;
    }
    CHECK(refused > 0 && refused < list.count, "%zu of %zu are refused", refused, list.count);
    work_release(&items[0], &plan);
    work_list_free(items, count);
    char path[128];
    snprintf(path, sizeof path, "%s/wide.smtx", folder);
    remove(path);
    variants_close(&list);
}

/* -- Patterns without files */

static void test_patterns(void) {
    shape_pattern pattern = {MASK_PATTERN, 800, 500, 8, 0.9, 7};
    mc_csr csr;
    OK(shape_pattern_make(&pattern, &csr, diag));
    CHECK(csr.rows == 100 && csr.nnz > 4500 && csr.nnz < 5500, "%lld", (long long)csr.nnz);
    mc_csr_free(&csr);
    pattern.mask = MASK_SHAPE;
    OK(shape_pattern_make(&pattern, &csr, diag));
    CHECK(csr.rows == 100 && csr.cols == 500 && csr.nnz == 0, "%lld", (long long)csr.nnz);
    mc_csr_free(&csr);
    pattern.vec = 7;
    CHECK(shape_pattern_make(&pattern, &csr, diag) == MC_CANNOT, "800 rows of V = 7");
    mc_diag_clear(diag);
}

static void test_sets(void) {
    work *items = NULL;
    size_t count = 0;
    OK(shape_set_list(&shape_sets[0], NULL, 0, &items, &count, diag));
    CHECK(count == 7 && items[6].rows == 28672 && items[6].cols == 8192, "%zu", count);
    work_list_free(items, count);
    OK(shape_set_list(&shape_sets[0], "4096", 3, &items, &count, diag));
    CHECK(count == 3 && strcmp(items[2].name, "4096x11008") == 0 && items[2].made, "%zu", count);
    work_list_free(items, count);
    CHECK(shape_set_list(&shape_sets[1], "5x5", 0, &items, &count, diag) == MC_CANNOT, "5x5");
    work_list_free(items, count);
    mc_diag_clear(diag);
}

/* A shape whose operands are drawn: normal values at two of each four places, and B without data. */
static void test_drawn(void) {
    const operation *op = operation_find("gemm24");
    const variant_list list = {.operation = op, .vec = 1, .lhs = MC_F16, .rhs = MC_F16};
    const work_plan plan = {.operation = op,
                            .sizes = {1, 40},
                            .size_count = 2,
                            .variants = &list,
                            .seed = 3,
                            .drawn = true,
                            .law = FILL_NORMAL_VALUES};
    char name[] = "64x96";
    work w = {.path = name, .name = name, .made = true, .rows = 64, .cols = 96};
    work_prepare(&w, &plan);
    CHECK(w.error == NULL && w.a.vectors == 64 * 48, "%s", w.error != NULL ? w.error : "");
    double sum = 0, square = 0, count = (double)w.a.vectors;
    for (int64_t v = 0; v < w.a.vectors; v++) {
        double x = half_value((uint16_t)mc_vsparse_value(&w.a, v, 0));
        sum += x / count;
        square += x * x / count;
    }
    CHECK(fabs(sum) < 0.1 && fabs(square - 1) < 0.1, "mean %f, variance %f", sum, square);
    const mc_dense *b = &w.problems[0].b, *more = &w.problems[1].b;
    CHECK(b->data == NULL && b->rows == 16 && b->cols == 96, "N = 1 has 16 columns");
    CHECK(more->rows == 48 && w.problems[1].shape.n == 40 && w.problems[1].shape.k == 96, "N = 40");
    work_release(&w, &plan);
}

int main(int argc, char **argv) {
    variant_list variants;
    diag = mc_diag_create();
    if (argc < 5 || mkdtemp(folder) == NULL) return 1;
    char *paths[] = {argv[1], NULL};
    panel_spec = argv[2], csr_spec = argv[3], vector_spec = argv[4];
    test_panels();
    test_alike();
    test_best();
    test_refused();
    test_halves();
    test_patterns();
    test_sets();
    test_drawn();
    test_too_long();
    OK(variants_choose(&variants, paths, NULL, 0, 0, "all", diag));
    OK(variants_load(&variants, NULL, 3, diag));
    CHECK(variants.count == 120, "%zu", variants.count);
    CHECK(variants.packing_count == 2 * 4 && variants.vec == 8, "strides of 32 and 64, 1 to 8 heads: %zu",
          variants.packing_count);
    for (size_t i = 0; i < variants.count; i++) {
        const variant *v = &variants.items[i], *first = &variants.items[0];
        bool alike = v->facts.stride == first->facts.stride &&
                     mc_kernel_field(v->kernel, "split") == mc_kernel_field(first->kernel, "split");
        CHECK(v->error == NULL && alike == (v->packing == first->packing));
        CHECK(v->facts.stride_mma > 0 && v->facts.tile_columns > 0 && v->facts.tile_rows > 0);
    }
    test_feeder(&variants);
    test_sddmm(MC_LAYOUT_COLUMNS);
    test_sddmm(MC_LAYOUT_ROWS);
    remove_folder();
    variants_close(&variants);
    OK(variants_choose(&variants, paths, NULL, 0, 0, "3,17", diag));
    CHECK(variants.count == 2 && variants.items[1].index == 17);
    variants_close(&variants);
    CHECK(variants_choose(&variants, paths, NULL, 0, 0, "3,1000", diag) == MC_USAGE);
    variants_close(&variants);
    mc_diag_destroy(diag);
    return check_end();
}
