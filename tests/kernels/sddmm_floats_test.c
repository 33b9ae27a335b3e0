/* The SDDMM of floats on the simulator. Values are small multiples of 1/4, so that sums are exact in f32 whatever their order, and
 * C is compared to the bit. What lies between rows is NaN; some runs have NaN and infinities among the values, too, also in
 * column 0 of B, which slots without a vector read, and in the last k.
 * sddmm_floats_test ARCH TYPES; TYPES as "f16,e4m3:e5m2", of both sides or of A and B. */
#include <math.h>
#include <stdlib.h>
#include "base/real.h"
#include "check.h"
#include "halves.h"
#include "pattern.h"

enum {
    COLUMNS = 130,
    ROW_BLOCKS = 13,
    MOST_ROWS = 16 * ROW_BLOCKS,
    MOST_ARRAYS = 12,
    FIELDS = 256,
    NAME = 16
};

/* A kernel of 16 bits, and the problem that it gets: rows of A and B (of a row-major B too) are GAP elements longer than they need
   be. For other widths k, tile_k and rows have as many bytes (widths, below). */
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
    {"groups=1 tile_k=256 k=256 reads=lines", 256, 0},
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
    {"method=window window=130 warps=8 groups=8 tile_k=256 k=256 interleave=2 prefetch=off", 256, 0},
    {"method=window window=70 warps=4 groups=2 tile_k=128 k=96 interleave=2 prefetch=off scale=column "
     "mask=values "
     "order=srbcrs32 vec=4",
     96, 8},
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
    {"method=window window=64 warps=4 groups=4 tile_k=128 k=96 vec=16 interleave=2 prefetch=off scale=row "
     "mask=values",
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
    {"method=window window=64 warps=4 groups=4 tile_k=128 k=128 vec=1 interleave=2 prefetch=off mask=values",
     128, 0},
    {"method=dense warps=4 k=128 vec=1 order=srbcrs32 scale=row", 128, 0},
    {"method=dense warps=8 tile_n=32 tile_rows=32 k=96 vec=1", 96, 8},
};

typedef struct sample {
    mc_type types[2], out; /* of A and B */
    mc_order order;
    bool by_rows, values;
    mc_per per; /* of the scale */
    mc_vsparse mask;
    mc_dense a, b;
    float scale[COLUMNS + MOST_ROWS];
} sample;

/* -- Widths ------------------------------------------------------------------------------------------- */

enum { USUAL_BITS = 16, LEAST_TILE = 32, MOST_ROWS_TILE = 128 };

/* As many k of TYPE as take the bytes of COUNT of 16 bits; an odd number of a narrow type stays odd. */
static int widened(mc_type type, int count) {
    int bits = mc_type_bits(type);
    return count * USUAL_BITS / bits - (bits < USUAL_BITS ? count % 2 : 0);
}

/* tile_k is 32 or more, of a row-major B at most 128, and of 32 bits half of that. */
static int tile_of(mc_type type, int tile_k, bool by_rows) {
    int tile = widened(type, tile_k),
        most = mc_type_bits(type) > USUAL_BITS ? MOST_ROWS_TILE / 2 : MOST_ROWS_TILE;
    if (by_rows && tile > most) tile = most;
    return tile < LEAST_TILE ? LEAST_TILE : tile;
}

/* RUN's fields for kernels for ARCH that multiply TYPES and give OUT. */
static void write_fields(const char *arch, const mc_type types[2], const char *out, const char *run,
                         char fields[FIELDS]) {
    bool by_rows = strstr(run, "layout=rows") != NULL;
    int used = snprintf(fields, FIELDS, "op=sddmm arch=%s lhs=%s rhs=%s out=%s", arch, mc_type_text(types[0]),
                        mc_type_text(types[1]), out);
    while (*run != '\0') {
        char name[FIELDS], value[FIELDS];
        int read = 0, number = sscanf(run, " %[^=]=%[^ ]%n", name, value, &read) == 2 ? atoi(value) : 0;
        if (strcmp(name, "tile_k") == 0)
            snprintf(value, sizeof value, "%d", tile_of(types[0], number, by_rows));
        else if (strcmp(name, "k") == 0 || strcmp(name, "lda") == 0 || strcmp(name, "ldb") == 0)
            snprintf(value, sizeof value, "%d", widened(types[0], number));
        used += snprintf(fields + used, FIELDS - (size_t)used, " %s=%s", name, value);
        run += read;
    }
}

/* -- Operands ------------------------------------------------------------------------------------------ */

static uint64_t seed = 88172645463325252u;

static unsigned draw(unsigned count) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (unsigned)(seed >> 33) % count;
}

static uint32_t nan_of(mc_type type) { return real_to_bits(type, NAN); }

/* ROWS rows of COLS values, and NaN behind them. */
static mc_status make_dense(mc_type type, int64_t rows, int64_t cols, int64_t ld, bool special,
                            mc_dense *dense, mc_diag *diag) {
    static const float specials[] = {INFINITY, -INFINITY, NAN};
    mc_status status = mc_dense_create(type, rows, cols, ld, dense, diag);
    if (status != MC_OK) return status;
    mc_dense whole = *dense;
    whole.cols = ld;
    for (int64_t i = 0; i < rows * ld; i++) {
        float value = (float)((int)draw(17) - 8) / 4;
        if (special && draw(400) == 0) value = specials[draw(3)];
        mc_dense_set(&whole, i / ld, i % ld, i % ld < cols ? real_to_bits(type, value) : nan_of(type));
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
    s->types[0] = type_of(kernel, "lhs", diag), s->types[1] = type_of(kernel, "rhs", diag);
    s->out = type_of(kernel, "out", diag);
    s->by_rows = strcmp(mc_kernel_field_text(kernel, "layout"), "rows") == 0;
    s->values = strcmp(mc_kernel_field_text(kernel, "mask"), "values") == 0;
    while (strcmp(mc_kernel_field_text(kernel, "scale"), pers[s->per]) != 0) s->per++;
    for (size_t i = 0; i < sizeof s->scale / sizeof *s->scale; i++) s->scale[i] = (float)(1 + draw(100)) / 64;
    mc_status status = mc_order_of(kernel, &s->order, diag);
    if (status == MC_OK) status = make_mask(kernel, law, s, diag);
    int k = widened(s->types[0], run->k), ld = widened(s->types[0], run->k + run->gap);
    if (status == MC_OK) status = make_dense(s->types[0], s->mask.rows, k, ld, special, &s->a, diag);
    int64_t rows = s->by_rows ? k : COLUMNS, cols = s->by_rows ? COLUMNS : k;
    if (status == MC_OK)
        status =
            make_dense(s->types[1], rows, cols, s->by_rows ? COLUMNS + run->gap : ld, special, &s->b, diag);
    if (status != MC_OK || !special) return status;
    mc_dense_set(&s->b, 0, 0, real_to_bits(s->types[1], INFINITY));
    mc_dense_set(&s->b, rows - 1, cols - 1, nan_of(s->types[1]));
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
    sample s = {.out = MC_S8};
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

/* Whether there is a kernel of FIELDS for ARCH and TYPES. */
static bool has(const char *arch, const mc_type types[2], const char *fields) {
    return multiplies_as_stored(arch, types[0]) || !strstr(fields, "interleave=2");
}

static void test_runs(mc_device *device, const char *arch, const mc_type types[2], unsigned turn,
                      mc_diag *diag) {
    static const char *const outs[] = {"f32", "f16", "bf16"};
    static const pattern laws[] = {PATTERN_SIXTEENS, PATTERN_EMPTY_BLOCKS, PATTERN_ONE_FULL};
    for (unsigned i = 0; i < sizeof runs / sizeof *runs; i++)
        for (unsigned special = 0; special < 2 && has(arch, types, runs[i].fields); special++) {
            if (!check_takes((int)(2 * i + special + turn))) continue;
            char fields[FIELDS];
            write_fields(arch, types, outs[(i + turn + special) % 3], runs[i].fields, fields);
            test_run(device, fields, &runs[i], laws[(i + turn) % 3], special != 0, diag);
        }
}

/* TEXT: a type, or two with a colon between. */
static void test_types(mc_device *device, const char *arch, const char *text, unsigned turn, mc_diag *diag) {
    char names[2][NAME];
    mc_type types[2] = {MC_S8, MC_S8};
    int found = sscanf(text, "%15[^:,]:%15[^,]", names[0], names[1]);
    for (int i = 0; i < 2; i++)
        CHECK(mc_type_from_text(names[found > 1 ? i : 0], &types[i], diag) == MC_OK, "%s",
              mc_diag_text(diag));
    test_runs(device, arch, types, turn, diag);
}

int main(int argc, char **argv) {
    mc_diag *diag = mc_diag_create();
    mc_device *device = NULL;
    unsigned turn = 0;
    CHECK(mc_device_open("sim", &device, diag) == MC_OK, "%s", mc_diag_text(diag));
    char *text = argc > 2 && device != NULL ? strtok(argv[2], ",") : NULL;
    CHECK(text != NULL, "no types");
    for (; text != NULL; text = strtok(NULL, ",")) test_types(device, argv[1], text, turn++, diag);
    mc_device_close(device);
    mc_diag_destroy(diag);
    return check_end();
}
