/* The SDDMM of floats on the simulator. Values are small multiples of 1/4, so that sums are exact in f32 whatever their order, and
 * C is compared to the bit. What lies between rows is NaN; some runs have NaN and infinities among the values, too, also in
 * column 0 of B, which slots without a vector read, and in the last k. Then the order of sums, of values that tell it. */
#include <math.h>
#include <stdlib.h>
#include "base/real.h"
#include "check.h"
#include "pattern.h"

enum {
    COLUMNS = 130,
    ROW_BLOCKS = 13,
    MOST_ROWS = 16 * ROW_BLOCKS,
    NAN_BITS = 0x7fff,
    MOST_ARRAYS = 12,
    FIELDS = 256
};

/* A kernel, and the problem that it gets: rows of A and B (of a row-major B too) are GAP elements longer than they need be. */
static const struct run {
    const char *fields;
    int k, gap;
} runs[] = {
    {"groups=2 tile_k=128", 5, 3},
    {"groups=2 tile_k=128", 256, 0},
    {"groups=2 tile_k=128 prefetch=off vec=2", 300, 4},
    {"groups=4 tile_k=64 order=srbcrs32 vec=4 align=1", 333, 1},
    {"groups=1 tile_k=256 lhs_in=shared", 271, 9},
    {"groups=2 tile_k=64 prefetch_lhs=on", 340, 4},
    {"groups=2 tile_k=64 lhs_in=shared prefetch_lhs=on order=srbcrs16", 140, 4},
    {"groups=2 tile_k=128 reads=lines", 328, 0},
    {"groups=2 tile_k=64 reads=lines lhs_in=shared vec=4", 99, 5},
    {"groups=2 tile_k=64 layout=rows", 90, 2},
    {"groups=1 tile_k=128 layout=rows vec=2 order=srbcrs16", 201, 7},
    {"groups=1 tile_k=32 layout=rows k=70", 70, 2},
    {"groups=2 tile_k=256 k=256", 256, 0},
    {"groups=2 tile_k=128 k=200", 200, 8},
    {"groups=2 tile_k=256 k=253 order=srbcrs32", 253, 3},
    {"groups=2 tile_k=256 k=256 reads=lines", 256, 0},
    {"groups=1 tile_k=128 k=96 reads=lines scale=row", 96, 0},
    {"groups=2 tile_k=128 scale=row vec=4", 64, 0},
    {"groups=2 tile_k=128 scale=column mask=values order=srbcrs16", 72, 0},
    {"groups=2 tile_k=128 scale=tensor mask=values vec=2", 64, 0},
    {"groups=2 tile_k=128 mask=values", 100, 4},
    {"method=window window=64 warps=8 groups=2 tile_k=256 k=256", 256, 0},
    {"method=window window=50 warps=4 groups=1 tile_k=128 k=96 scale=column order=srbcrs32 vec=4 "
     "prefetch=off",
     96, 8},
    {"method=window window=130 warps=12 groups=4 tile_k=32 k=32 mask=values vec=2", 32, 16},
    {"method=dense warps=4 k=256", 256, 0},
    {"method=dense warps=8 tile_n=32 tile_rows=32 k=96 scale=row order=srbcrs16 vec=2", 96, 8},
    {"method=dense warps=2 tile_n=128 tile_rows=32 k=64 scale=column vec=4", 64, 0},
    {"groups=2 tile_k=128 vec=16", 256, 0},
    {"groups=2 tile_k=64 vec=16 order=srbcrs32 align=1", 333, 1},
    {"groups=1 tile_k=128 vec=16 lhs_in=shared order=srbcrs16", 139, 9},
    {"groups=1 tile_k=64 vec=16 prefetch_lhs=on", 340, 4},
    {"groups=1 tile_k=128 k=96 lda=96 ldb=96 vec=16 lhs_in=shared reads=lines", 96, 0},
    {"groups=2 tile_k=64 vec=16 reads=lines scale=row", 328, 0},
    {"groups=1 tile_k=64 vec=16 layout=rows", 90, 2},
    {"groups=2 tile_k=64 k=64 lda=64 ldb=64 vec=16 scale=row mask=values", 64, 0},
    {"groups=2 tile_k=64 vec=16 scale=column mask=values order=srbcrs16", 72, 0},
    {"method=window window=64 warps=8 groups=2 tile_k=128 k=128 vec=16 scale=row", 128, 0},
    {"method=window window=50 warps=4 groups=1 tile_k=128 k=96 vec=16 scale=column mask=values "
     "order=srbcrs32 prefetch=off",
     96, 8},
    {"method=dense warps=4 k=128 vec=16 order=srbcrs32", 128, 0},
    {"method=dense warps=8 tile_n=64 tile_rows=32 k=96 vec=16 scale=row", 96, 8},
    {"groups=2 tile_k=128 vec=1", 256, 0},
    {"groups=4 tile_k=64 vec=1 order=srbcrs32 align=1 scale=row", 333, 1},
    {"groups=1 tile_k=256 vec=1 lhs_in=shared order=srbcrs16 mask=values", 271, 9},
    {"groups=2 tile_k=128 vec=1 reads=lines mask=values scale=column", 328, 0},
    {"groups=2 tile_k=64 vec=1 layout=rows", 90, 2},
    {"groups=2 tile_k=256 k=256 lda=256 ldb=256 vec=1", 256, 0},
    {"method=window window=64 warps=8 groups=2 tile_k=128 k=128 vec=1 scale=row", 128, 0},
    {"method=window window=50 warps=4 groups=1 tile_k=128 k=96 vec=1 mask=values order=srbcrs32", 96, 8},
    {"method=dense warps=4 k=128 vec=1 order=srbcrs32 scale=row", 128, 0},
    {"method=dense warps=8 tile_n=32 tile_rows=32 k=96 vec=1", 96, 8},
};

static const char *const types[] = {"f16", "bf16"};

typedef struct sample {
    mc_type type, out;
    mc_order order;
    bool by_rows, values;
    mc_per per; /* of the scale */
    mc_vsparse mask;
    mc_dense a, b;
    float scale[COLUMNS + MOST_ROWS];
} sample;

/* -- Operands ------------------------------------------------------------------------------------------ */

static uint64_t seed = 88172645463325252u;

static unsigned draw(unsigned count) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (unsigned)(seed >> 33) % count;
}

/* ROWS rows of COLS values, and NaN behind them. */
static mc_status make_dense(mc_type type, int64_t rows, int64_t cols, int64_t ld, bool special,
                            mc_dense *dense, mc_diag *diag) {
    static const float specials[] = {INFINITY, -INFINITY, NAN};
    mc_status status = mc_dense_create(type, rows, cols, ld, dense, diag);
    if (status != MC_OK) return status;
    uint16_t *bits = dense->data;
    for (int64_t i = 0; i < rows * ld; i++) {
        float value = (float)((int)draw(17) - 8) / 4;
        if (special && draw(400) == 0) value = specials[draw(3)];
        bits[i] = i % ld < cols ? (uint16_t)real_to_bits(type, value) : NAN_BITS;
    }
    return MC_OK;
}

static mc_type type_of(const mc_kernel *kernel, const char *field, mc_diag *diag) {
    mc_type type = MC_S8;
    mc_status status = mc_type_of(kernel, field, &type, diag);
    CHECK(status == MC_OK, "%s", mc_diag_text(diag));
    return type;
}

static mc_status make_mask(const mc_kernel *kernel, pattern law, sample *s, mc_diag *diag) {
    mc_csr csr = {0};
    mc_status status = pattern_make(law, ROW_BLOCKS, COLUMNS, &csr, diag);
    if (status == MC_OK)
        status = mc_vsparse_dilate(&csr, (int)mc_kernel_field(kernel, "vec"), MC_F32, &s->mask, diag);
    for (int64_t i = 0; status == MC_OK && i < s->mask.vectors * s->mask.vec; i++)
        ((float *)s->mask.values)[i] = (float)((int)draw(33) - 16) / 8;
    mc_csr_free(&csr);
    return status;
}

static mc_status make(const mc_kernel *kernel, const struct run *run, pattern law, bool special, sample *s,
                      mc_diag *diag) {
    static const char *const pers[] = {"none", "tensor", "row", "column"};
    s->type = type_of(kernel, "lhs", diag), s->out = type_of(kernel, "out", diag);
    s->by_rows = strcmp(mc_kernel_field_text(kernel, "layout"), "rows") == 0;
    s->values = strcmp(mc_kernel_field_text(kernel, "mask"), "values") == 0;
    while (strcmp(mc_kernel_field_text(kernel, "scale"), pers[s->per]) != 0) s->per++;
    for (size_t i = 0; i < sizeof s->scale / sizeof *s->scale; i++) s->scale[i] = (float)(1 + draw(100)) / 64;
    mc_status status = mc_order_of(kernel, &s->order, diag);
    if (status == MC_OK) status = make_mask(kernel, law, s, diag);
    if (status == MC_OK)
        status = make_dense(s->type, s->mask.rows, run->k, run->k + run->gap, special, &s->a, diag);
    int64_t rows = s->by_rows ? run->k : COLUMNS, cols = s->by_rows ? COLUMNS : run->k;
    if (status == MC_OK) status = make_dense(s->type, rows, cols, cols + run->gap, special, &s->b, diag);
    if (status != MC_OK || !special) return status;
    uint16_t *bits = s->b.data;
    bits[0] = (uint16_t)real_to_bits(s->type, INFINITY);
    bits[(rows - 1) * (cols + run->gap) + cols - 1] = NAN_BITS;
    return status;
}

/* -- Reference ------------------------------------------------------------------------------------------ */

static float element(const sample *s, int64_t row_block, int64_t vector, int r) {
    int64_t row = row_block * s->mask.vec + r, column = s->mask.col_idx[vector], k = s->a.cols;
    double sum = 0;
    for (int64_t i = 0; i < k; i++)
        sum += mc_dense_real(&s->a, row, i) *
               (s->by_rows ? mc_dense_real(&s->b, i, column) : mc_dense_real(&s->b, column, i));
    float x = (float)sum;
    if (s->per != MC_PER_NONE)
        x *= s->scale[s->per == MC_PER_ROW ? row : s->per == MC_PER_COLUMN ? column : 0];
    if (s->values) x *= ((const float *)s->mask.values)[vector * s->mask.vec + r];
    return x;
}

static mc_status reference(const sample *s, mc_dense *c, mc_diag *diag) {
    mc_dense vectors = {0};
    mc_status status = mc_dense_create(s->out, s->mask.vectors, s->mask.vec, s->mask.vec, &vectors, diag);
    for (int64_t block = 0; status == MC_OK && block < s->mask.row_blocks; block++)
        for (int64_t v = s->mask.row_ptr[block]; v < s->mask.row_ptr[block + 1]; v++)
            for (int r = 0; r < s->mask.vec; r++)
                mc_dense_set(&vectors, v, r, real_to_bits(s->out, element(s, block, v, r)));
    if (status == MC_OK) status = mc_sampled_arrange(&s->mask, s->order, &vectors, c, diag);
    mc_dense_free(&vectors);
    return status;
}

/* -- A launch ------------------------------------------------------------------------------------------- */

typedef struct runner {
    mc_device *device;
    mc_binding bindings[MOST_ARRAYS + 10];
    size_t count;
    uint64_t buffers[MOST_ARRAYS];
    size_t buffer_count;
} runner;

static void bind(runner *r, const char *name, int64_t value) {
    r->bindings[r->count++] = (mc_binding){name, value};
}

static uint64_t upload(runner *r, const char *name, const void *data, size_t bytes, mc_diag *diag) {
    uint64_t address = 0;
    mc_status status = mc_device_alloc(r->device, bytes, &address, diag);
    if (status == MC_OK) status = mc_device_write(r->device, address, data, bytes, diag);
    CHECK(status == MC_OK, "%s: %s", name, mc_diag_text(diag));
    r->buffers[r->buffer_count++] = address;
    bind(r, name, (int64_t)address);
    return address;
}

static void upload_dense(runner *r, const char *name, const mc_dense *dense, mc_diag *diag) {
    upload(r, name, dense->data, (size_t)mc_type_size(dense->type, dense->rows * dense->ld), diag);
}

static void bind_all(runner *r, const mc_packed *packed, const sample *s, mc_diag *diag) {
    for (size_t i = 0; i < packed->array_count; i++) {
        const mc_packed_array *array = &packed->arrays[i];
        upload(r, array->name, array->data, (size_t)mc_type_size(array->type, array->count), diag);
    }
    upload_dense(r, "a", &s->a, diag);
    upload_dense(r, "b", &s->b, diag);
    if (s->per == MC_PER_TENSOR) r->bindings[r->count++] = mc_bind_f32("scale", s->scale[0]);
    else if (s->per != MC_PER_NONE) upload(r, "scale", s->scale, sizeof s->scale, diag);
    bind(r, "m", s->mask.rows);
    bind(r, "n", COLUMNS);
    bind(r, "k", s->a.cols);
    bind(r, "lda", s->a.ld);
    bind(r, "ldb", s->b.ld);
    bind(r, "item_count", mc_sampled_items(packed));
    bind(r, "window_items", mc_sampled_longest(packed));
    bind(r, "multiprocessors", 2);
}

static mc_status launch(const runner *r, const mc_kernel *kernel, mc_diag *diag) {
    mc_launch launched;
    mc_module *module = NULL;
    mc_status status = mc_bind(kernel, r->bindings, r->count, &launched, diag);
    if (status == MC_OK)
        status = mc_module_load(r->device, mc_kernel_ptx(kernel), mc_kernel_contract(kernel)->entry, &module,
                                diag);
    if (status == MC_OK) status = mc_module_launch(module, &launched, diag);
    mc_module_unload(module);
    return status;
}

/* C as the kernel makes it: every byte was something else before. */
static mc_status compute(mc_device *device, const mc_kernel *kernel, const sample *s, mc_dense *c,
                         mc_diag *diag) {
    runner r = {.device = device};
    mc_packed packed = {0};
    size_t bytes = (size_t)mc_type_size(c->type, c->rows * c->ld);
    memset(c->data, 0xa5, bytes);
    mc_status status = mc_pack(kernel, &s->mask, &packed, diag);
    if (status == MC_OK) {
        bind_all(&r, &packed, s, diag);
        uint64_t address = upload(&r, "c", c->data, bytes, diag);
        status = launch(&r, kernel, diag);
        if (status == MC_OK) status = mc_device_read(device, address, c->data, bytes, diag);
    }
    for (size_t i = 0; i < r.buffer_count; i++) mc_device_free(device, r.buffers[i]);
    mc_packed_free(&packed);
    return status;
}

/* -- Tests ---------------------------------------------------------------------------------------------- */

static bool same(const mc_dense *got, const mc_dense *want, int64_t row, int64_t col) {
    double g = mc_dense_real(got, row, col), w = mc_dense_real(want, row, col);
    return isnan(g) ? isnan(w)
                    : mc_dense_get(got, row, col) == mc_dense_get(want, row, col) || (g == 0 && w == 0);
}

static int differing(const mc_dense *got, const mc_dense *want) {
    int count = 0;
    for (int64_t i = 0; i < want->rows; i++)
        for (int64_t j = 0; j < want->cols; j++) count += !same(got, want, i, j);
    return count;
}

static void test_run(mc_device *device, const char *fields, const struct run *run, pattern law, bool special,
                     mc_diag *diag) {
    mc_kernel *kernel = NULL;
    mc_dense got = {0}, want = {0};
    sample s = {.type = MC_S8};
    mc_status status = mc_kernel_from_fields(fields, &kernel, diag);
    if (status == MC_OK) status = make(kernel, run, law, special, &s, diag);
    if (status == MC_OK) status = reference(&s, &want, diag);
    if (status == MC_OK) status = reference(&s, &got, diag);
    if (status == MC_OK) status = compute(device, kernel, &s, &got, diag);
    CHECK(status == MC_OK, "%s: %s", fields, mc_diag_text(diag));
    if (status == MC_OK) {
        int wrong = differing(&got, &want);
        CHECK(wrong == 0, "%s%s: %d of %lld elements differ", fields, special ? ", NaN" : "", wrong,
              (long long)(want.rows * want.cols));
    }
    mc_diag_clear(diag);
    mc_dense_free(&got);
    mc_dense_free(&want);
    mc_dense_free(&s.a);
    mc_dense_free(&s.b);
    mc_vsparse_free(&s.mask);
    mc_kernel_destroy(kernel);
}

/* -- The order of sums ---------------------------------------------------------------------------------- */

/* In which order docs/sddmm.md says that a kernel adds. */
typedef enum sum_order { ONE_SUM, CHAINS, LINES } sum_order;

static const struct ordered_run {
    sum_order order;
    bool aligned; /* rows, so that whole units of k come first */
    struct run run;
} ordered_runs[] = {
    {ONE_SUM, true, {"groups=2 tile_k=64", 333, 3}},
    {ONE_SUM, false, {"groups=2 tile_k=64", 200, 1}},
    {ONE_SUM, true, {"groups=2 tile_k=64 layout=rows", 204, 4}},
    {ONE_SUM, true, {"method=window window=64 warps=8 groups=2 tile_k=256 k=192", 192, 0}},
    {ONE_SUM, true, {"method=dense warps=4 k=160", 160, 0}},
    {CHAINS, true, {"groups=2 tile_k=256 k=248 lda=248 ldb=248", 248, 0}},
    {CHAINS, true, {"groups=2 tile_k=64 k=64 lda=64 ldb=64", 64, 0}},
    {CHAINS, true, {"groups=1 tile_k=128 layout=rows k=96 lda=96 ldb=130", 96, 0}},
    {LINES, true, {"groups=2 tile_k=128 reads=lines", 339, 5}},
    {ONE_SUM, true, {"groups=2 tile_k=64 vec=16", 333, 3}},
    {CHAINS, true, {"groups=2 tile_k=128 k=120 lda=120 ldb=120 vec=16", 120, 0}},
    {CHAINS, true, {"groups=1 tile_k=64 layout=rows k=64 lda=64 ldb=130 vec=16", 64, 0}},
    {LINES, true, {"groups=2 tile_k=64 reads=lines vec=16", 339, 5}},
    {CHAINS, true, {"groups=2 tile_k=256 k=248 lda=248 ldb=248 vec=1", 248, 0}},
};

enum { MOST_SUMS = 4 };

/* Of product K: the sum that it is added to, and its mma's place in that sum's order. */
typedef struct summand {
    int sum, mma;
} summand;

/* Two octets of a row block have two chains each. */
static int most_chains(const struct ordered_run *of) {
    return strstr(of->run.fields, "vec=16") != NULL ? 2 : 4;
}

static summand summand_of(const struct ordered_run *of, bool by_rows, int k) {
    int units = of->aligned ? of->run.k / 8 * 8 : 0, i = k % 8 / 4;
    if (k >= units) {
        int left = k - units, round = by_rows ? 2 * (left / 32) + left % 8 / 4 : left / 16;
        return (summand){0, units + round};
    }
    int chunk = k / 32, mma = 2 * chunk + i, steps = (by_rows ? 1 : 2) * ((units + 31) / 32);
    int chains = steps >= most_chains(of) ? most_chains(of) : steps >= 2 ? 2 : 1;
    if (of->order == CHAINS) return (summand){(by_rows ? chunk : mma) % chains, mma};
    return (summand){of->order == LINES ? chunk % 2 : 0, mma};
}

/* The products of a row: 2^24, 1 and -2^24, at these k, each in an mma of its own. What they add up to says in
   which order: 0 or 1. */
typedef struct triple {
    int k[3];
} triple;

static const float products[3] = {16777216, 1, -16777216};

static float sum_of(const struct ordered_run *of, bool by_rows, const triple *t) {
    float sums[MOST_SUMS] = {0};
    summand s[3];
    for (int i = 0; i < 3; i++) s[i] = summand_of(of, by_rows, t->k[i]);
    for (int mma = 0; mma <= 2 * of->run.k; mma++)
        for (int i = 0; i < 3; i++)
            if (s[i].mma == mma) sums[s[i].sum] += products[i];
    return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

static bool share_mma(const struct ordered_run *of, bool by_rows, int k, int other) {
    summand a = summand_of(of, by_rows, k), b = summand_of(of, by_rows, other);
    return a.sum == b.sum && a.mma == b.mma;
}

/* There are at least three mma. */
static triple draw_triple(const struct ordered_run *of, bool by_rows) {
    triple t = {{0}};
    while (share_mma(of, by_rows, t.k[0], t.k[1]) || share_mma(of, by_rows, t.k[0], t.k[2]) ||
           share_mma(of, by_rows, t.k[1], t.k[2]))
        for (int i = 0; i < 3; i++) t.k[i] = (int)draw((unsigned)of->run.k);
    return t;
}

/* A of three values a row, B of 2^12; WANT: the sums of each row. */
static mc_status make_ordered(const struct ordered_run *of, sample *s, float want[MOST_ROWS]) {
    uint16_t *a = s->a.data, *b = s->b.data;
    for (int64_t i = 0; i < s->b.rows * s->b.ld; i++) b[i] = (uint16_t)real_to_bits(s->type, 4096);
    memset(a, 0, (size_t)(s->a.rows * s->a.ld) * sizeof *a);
    for (int64_t row = 0; row < s->a.rows; row++) {
        triple t = draw_triple(of, s->by_rows);
        want[row] = sum_of(of, s->by_rows, &t);
        for (int i = 0; i < 3; i++)
            a[row * s->a.ld + t.k[i]] = (uint16_t)real_to_bits(s->type, products[i] / 4096);
    }
    return MC_OK;
}

static int misordered(const sample *s, const mc_dense *c, const float *want, int *ones) {
    int wrong = 0;
    for (int64_t block = 0; block < s->mask.row_blocks; block++)
        for (int64_t v = s->mask.row_ptr[block]; v < s->mask.row_ptr[block + 1]; v++)
            for (int r = 0; r < s->mask.vec; r++) {
                wrong += mc_dense_real(c, v, r) != (double)want[block * s->mask.vec + r];
                *ones += want[block * s->mask.vec + r] == 1;
            }
    return wrong;
}

static void test_order(mc_device *device, const char *fields, const struct ordered_run *of, mc_diag *diag) {
    float want[MOST_ROWS];
    int ones = 0;
    mc_kernel *kernel = NULL;
    mc_dense c = {0};
    sample s = {.type = MC_S8};
    mc_status status = mc_kernel_from_fields(fields, &kernel, diag);
    if (status == MC_OK) status = make(kernel, &of->run, PATTERN_SIXTEENS, false, &s, diag);
    if (status == MC_OK) status = reference(&s, &c, diag);
    if (status == MC_OK) status = make_ordered(of, &s, want);
    if (status == MC_OK) status = compute(device, kernel, &s, &c, diag);
    CHECK(status == MC_OK, "%s: %s", fields, mc_diag_text(diag));
    if (status == MC_OK) {
        int wrong = misordered(&s, &c, want, &ones);
        CHECK(wrong == 0, "%s: %d elements were added up in another order", fields, wrong);
        CHECK(ones > 0, "%s: nothing tells the order", fields);
    }
    mc_diag_clear(diag);
    mc_dense_free(&c);
    mc_dense_free(&s.a);
    mc_dense_free(&s.b);
    mc_vsparse_free(&s.mask);
    mc_kernel_destroy(kernel);
}

static void test_orders(mc_device *device, mc_diag *diag) {
    for (size_t i = 0; i < sizeof ordered_runs / sizeof *ordered_runs; i++)
        for (int t = 0; t < 2; t++) {
            char fields[FIELDS];
            snprintf(fields, sizeof fields, "op=sddmm arch=sm_90 lhs=%s rhs=%s out=f32 %s", types[t],
                     types[t], ordered_runs[i].run.fields);
            test_order(device, fields, &ordered_runs[i], diag);
        }
}

int main(void) {
    static const char *const outs[] = {"f32", "f16", "bf16"};
    static const pattern laws[] = {PATTERN_SIXTEENS, PATTERN_EMPTY_BLOCKS, PATTERN_ONE_FULL};
    mc_diag *diag = mc_diag_create();
    mc_device *device = NULL;
    CHECK(mc_device_open("sim", &device, diag) == MC_OK, "%s", mc_diag_text(diag));
    for (unsigned i = 0; device != NULL && i < sizeof runs / sizeof *runs; i++)
        for (unsigned t = 0; t < 2; t++)
            for (unsigned special = 0; special < 2; special++) {
                char fields[FIELDS];
                snprintf(fields, sizeof fields, "op=sddmm arch=sm_90 lhs=%s rhs=%s out=%s %s", types[t],
                         types[t], outs[(i + t + special) % 3], runs[i].fields);
                test_run(device, fields, &runs[i], laws[(i + t) % 3], special != 0, diag);
            }
    if (device != NULL) test_orders(device, diag);
    mc_device_close(device);
    mc_diag_destroy(diag);
    return check_end();
}
