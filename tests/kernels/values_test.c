/* Values replaced in place: for every spec's default kernel and some others, mc_pack_values leaves what packing anew makes, in the same
 * memory, and the kernel computes with it. values_test SPEC... */
#include <stdlib.h>
#include "check.h"
#include "formats/sampled.h"
#include "problem_ops.h"
#include <string.h>

/* More windows than the rings hold, row blocks without vectors, row blocks longer than their heads. */
static const problem_case cases[] = {
    {.pattern = PATTERN_EMPTY_BLOCKS, .row_blocks = 7, .k = 900, .n = 96, .values = MC_VALUES_FULL},
    {.pattern = PATTERN_REALISTIC, .row_blocks = 9, .k = 2500, .n = 64, .values = MC_VALUES_EXTREME},
    {.pattern = PATTERN_ALL_EMPTY, .row_blocks = 3, .k = 40, .n = 32, .values = MC_VALUES_FULL},
};

/* Settings for the specs that take them. */
typedef enum demand {
    ANY_TYPES,
    WIDE_SIGNED,  /* A has signed values of several digits */
    NARROW_RIGHT, /* B has 4 bits */
    PANELS,       /* which the others have not */
    BRICKS,       /* of HRPB, likewise */
    ROWS,         /* of CSR, likewise */
    ITEMS,        /* of csr-stream */
    TILES,        /* out of bitmaps */
    FOURS         /* as sparse mma take them */
} demand;

static const struct choice {
    demand demand;
    mc_setting settings[3];
    size_t count;
} choices[] = {
    {ANY_TYPES, {{"vec", "8"}}, 1},
    {ANY_TYPES, {{"vec", "4"}}, 1},
    {ANY_TYPES, {{"vec", "2"}}, 1},
    {ANY_TYPES, {{"split", "1"}}, 1},
    {BRICKS, {{"panel_rows", "32"}, {"block_cols", "8"}}, 2},
    {BRICKS, {{"waves", "1"}}, 1},
    {ROWS, {{"deal", "false"}, {"share", "2"}, {"segmented", "false"}}, 3},
    {ROWS, {{"lhs", "f16"}, {"rhs", "f16"}}, 2},
    {ITEMS, {{"lhs", "f16"}, {"rhs", "f16"}, {"share", "2"}}, 3},
    {TILES, {{"vec", "16"}}, 1},
    {TILES, {{"lhs", "u8"}, {"parts", "2"}}, 2},
    {FOURS, {{"vec", "16"}}, 1},
    {FOURS, {{"lhs", "s16"}, {"digits", "balanced"}, {"tile_n", "64"}}, 3},
    {PANELS, {{"values", "slots"}}, 1},
    {PANELS, {{"values", "nonzeros"}, {"panel", "16"}}, 2},
    {PANELS, {{"values", "slots"}, {"reorder", "similarity"}}, 2},
    {PANELS, {{"values", "nonzeros"}, {"reorder", "degree"}}, 2},
    {WIDE_SIGNED, {{"digits", "balanced"}}, 1},
    {WIDE_SIGNED, {{"digits", "balanced"}, {"vec", "2"}, {"split", "1"}}, 3},
    {WIDE_SIGNED, {{"digits", "offset"}, {"vec", "4"}}, 2},
    {NARROW_RIGHT, {{"mma", "int4"}, {"arch", "sm_80"}}, 2},
    {NARROW_RIGHT, {{"mma", "int4"}, {"stride", "64"}, {"vec", "2"}}, 3},
    {NARROW_RIGHT, {{"mma", "int4"}, {"shuffle", "off"}, {"vec", "4"}}, 3},
    {NARROW_RIGHT, {{"mma", "int8"}, {"arch", "sm_80"}}, 2},
};

/* -- A kernel on arrays that are packed already -------------------------------------------------------- */

typedef struct runner {
    mc_device *device;
    mc_binding bindings[MC_MAX_ARRAYS + MC_MAX_MAPS + 10];
    size_t count;
    uint64_t buffers[MC_MAX_ARRAYS + 4];
    size_t buffer_count;
} runner;

static void bind(runner *r, const char *name, int64_t value) {
    r->bindings[r->count++] = (mc_binding){name, value};
}

static uint64_t upload(runner *r, const char *name, const void *data, size_t bytes, mc_diag *diag) {
    uint64_t address = 0;
    mc_status status = mc_device_alloc(r->device, bytes, &address, diag);
    CHECK(status == MC_OK, "%s: %s", name, mc_diag_text(diag));
    if (status != MC_OK) return 0;
    r->buffers[r->buffer_count++] = address;
    status = mc_device_write(r->device, address, data, bytes, diag);
    CHECK(status == MC_OK, "%s: %s", name, mc_diag_text(diag));
    bind(r, name, (int64_t)address);
    return address;
}

static void bind_factor(runner *r, const char *name, mc_per per, const float *values, const problem *p,
                        mc_diag *diag) {
    int64_t count = mc_per_count(per, p->a.rows, p->b.cols);
    if (per == MC_PER_TENSOR) r->bindings[r->count++] = mc_bind_f32(name, *values);
    else if (per != MC_PER_NONE) upload(r, name, values, (size_t)count * sizeof *values, diag);
}

static uint64_t bind_all(runner *r, const mc_kernel *kernel, const mc_packed *packed, const problem *p,
                         const mc_output *output, const mc_dense *c, mc_diag *diag) {
    for (size_t i = 0; i < packed->array_count; i++) {
        const mc_packed_array *array = &packed->arrays[i];
        upload(r, array->name, array->data, (size_t)mc_type_size(array->type, array->count), diag);
    }
    const mc_dense *b = p->kind.b_columns ? &p->stored_b : &p->b;
    upload(r, "b", b->data, (size_t)mc_type_size(b->type, b->rows * b->ld), diag);
    uint64_t address = upload(r, "c", c->data, (size_t)mc_type_size(c->type, c->rows * c->ld), diag);
    bind_factor(r, "scale", output->scale, p->scale, p, diag);
    bind_factor(r, "bias", output->bias, p->bias, p, diag);
    bind(r, "m", p->a.rows);
    bind(r, "n", p->b.cols);
    bind(r, "k", p->a.cols);
    bind(r, "ldb", b->ld);
    bind(r, "ldc", c->ld);
    bind(r, "multiprocessors", 2);
    bind(r, "item_count", mc_sampled_items(packed));
    size_t workspace = mc_workspace_bytes(kernel, packed, p->b.cols, 0);
    if (workspace == 0) bind(r, MC_WORKSPACE, 0);
    else {
        void *nothing = calloc(workspace, 1);
        upload(r, MC_WORKSPACE, nothing, workspace, diag);
        free(nothing);
    }
    return address;
}

static mc_status launch(runner *r, const mc_kernel *kernel, mc_diag *diag) {
    mc_tensor_map maps[MC_MAX_MAPS];
    mc_launch launched;
    mc_module *module = NULL;
    mc_status status = mc_bind_maps(r->device, kernel, r->bindings, &r->count, maps, diag);
    if (status == MC_OK) status = mc_bind(kernel, r->bindings, r->count, &launched, diag);
    if (status == MC_OK)
        status = mc_module_load(r->device, mc_kernel_ptx(kernel), mc_kernel_contract(kernel)->entry, &module,
                                diag);
    if (status == MC_OK) status = mc_module_launch(module, &launched, diag);
    mc_module_unload(module);
    return status;
}

/* As the kernel stores it: of integers, which have one result. */
static mc_status turn(mc_dense *c, mc_diag *diag) {
    mc_dense turned;
    mc_status status = mc_dense_transpose(c, c->rows, &turned, diag);
    mc_dense_free(c);
    *c = turned;
    return status;
}

static mc_status run_packed(mc_device *device, const mc_kernel *kernel, const mc_packed *packed,
                            const problem *p, mc_diag *diag) {
    runner r = {.device = device};
    mc_output output;
    mc_dense c = {0};
    reference_result want = {0};
    mc_status status = mc_output_of(kernel, &output, diag);
    const float *scale = output.scale ? p->scale : NULL, *bias = output.bias ? p->bias : NULL;
    if (status == MC_OK)
        status = problem_spmm_want(p, &output, &(mc_factors){.scale = scale, .bias = bias}, &want, diag);
    if (status == MC_OK && p->kind.c_columns) status = turn(&want.low, diag);
    if (status == MC_OK)
        status = mc_dense_create(want.low.type, want.low.rows, want.low.cols, want.low.cols, &c, diag);
    if (status == MC_OK) {
        uint64_t address = bind_all(&r, kernel, packed, p, &output, &c, diag);
        status = launch(&r, kernel, diag);
        if (status == MC_OK)
            status =
                mc_device_read(device, address, c.data, (size_t)mc_type_size(c.type, c.rows * c.ld), diag);
    }
    if (status == MC_OK) status = mc_result_compare(&c, &want, diag);
    for (size_t i = 0; i < r.buffer_count; i++) mc_device_free(device, r.buffers[i]);
    mc_dense_free(&c);
    mc_result_free(&want);
    return status;
}

/* -- Replacing ----------------------------------------------------------------------------------------- */

static void check_same(const char *what, const mc_packed *got, const mc_packed *want) {
    CHECK(got->array_count == want->array_count, "%s: %zu arrays", what, got->array_count);
    for (size_t i = 0; i < want->array_count; i++) {
        const mc_packed_array *array = &want->arrays[i], *other = mc_packed_find(got, array->name);
        size_t bytes = (size_t)mc_type_size(array->type, array->count);
        CHECK(other && other->count == array->count && memcmp(other->data, array->data, bytes) == 0,
              "%s: %s differs", what, array->name);
    }
}

static bool has_panels(const mc_kernel *kernel) {
    return strcmp(mc_kernel_contract(kernel)->format, "panels") == 0;
}

static bool has_bricks(const mc_kernel *kernel) {
    return strcmp(mc_kernel_contract(kernel)->format, "hrpb") == 0;
}

static bool has_tiles(const mc_kernel *kernel) {
    return strncmp(mc_kernel_contract(kernel)->format, "bitmap", strlen("bitmap")) == 0;
}

/* Of columns, which share a slot. */
static bool has_pairs(const mc_kernel *kernel) {
    return strcmp(mc_kernel_contract(kernel)->format, "bitmap-tiles") == 0;
}

static bool has_rows(const mc_kernel *kernel) {
    return strcmp(mc_kernel_contract(kernel)->format, "csr") == 0;
}

/* Where the last vector could lie instead; where it lies, if nowhere. Arrays of pairs do not say which of a
   pair's columns is taken, and so it is one of another pair. */
static int32_t another_column(const mc_kernel *kernel, const mc_vsparse *a) {
    const int32_t step = has_pairs(kernel) ? 2 : 1, *last = &a->col_idx[a->vectors - 1];
    const bool alone = a->row_ptr[a->row_blocks - 1] == a->vectors - 1;
    if (*last + step < a->cols) return *last + step;
    return *last >= step && (alone || last[-1] < *last - step) ? *last - step : *last;
}

/* Another matrix: a vector more in the last row block, or one in another column. */
static void check_refused(const char *what, const mc_kernel *kernel, const mc_vsparse *a, mc_packed *packed,
                          const mc_packed *want, mc_diag *diag) {
    mc_vsparse other = *a;
    const char *values = mc_kernel_field_text(kernel, "values");
    if (a->vectors == 0) return;
    /* Whether a row or its neighbour has something in a column such arrays do not say. */
    if (has_panels(kernel) && strcmp(values, "slots") == 0) return;
    other.vectors--;
    other.row_ptr[other.row_blocks]--;
    CHECK(mc_pack_values(kernel, &other, packed, diag) == MC_FORMAT, "%s: a vector less is taken: %s", what,
          mc_diag_text(diag));
    other.row_ptr[other.row_blocks]++;
    mc_diag_clear(diag);
    int32_t *last = &a->col_idx[a->vectors - 1], column = *last;
    *last = another_column(kernel, a);
    if (*last != column)
        CHECK(mc_pack_values(kernel, a, packed, diag) == MC_FORMAT, "%s: another column is taken", what);
    *last = column;
    mc_diag_clear(diag);
    check_same(what, packed, want);
}

/* A value that has no such digits changes nothing either. */
static void check_beyond(const char *what, const mc_kernel *kernel, mc_vsparse *a, mc_packed *packed,
                         const mc_packed *want, mc_diag *diag) {
    int64_t most = mc_type_max(a->type), last = a->vectors - 1;
    if (last < 0 || mc_pack_most(kernel, a->type) == most) return;
    int64_t before = mc_vsparse_value(a, last, 0);
    mc_vsparse_set_value(a, last, 0, most);
    CHECK(mc_pack_values(kernel, a, packed, diag) == MC_CANNOT, "%s: no digits, but taken", what);
    mc_vsparse_set_value(a, last, 0, before);
    mc_diag_clear(diag);
    check_same(what, packed, want);
}

static mc_status replace(const mc_kernel *kernel, problem *p, mc_packed *packed, mc_packed *anew,
                         mc_diag *diag) {
    int64_t most = mc_pack_most(kernel, p->a.type);
    mc_vsparse_clamp(&p->a, most);
    mc_status status = mc_pack(kernel, &p->a, packed, diag);
    if (status != MC_OK) return status;
    mc_vsparse_fill(&p->a, MC_VALUES_FULL, 77, NULL);
    mc_vsparse_clamp(&p->a, most);
    status = problem_spmm_sum(p, diag);
    if (status == MC_OK) status = mc_pack_values(kernel, &p->a, packed, diag);
    return status == MC_OK ? mc_pack(kernel, &p->a, anew, diag) : status;
}

static void run_case(const char *what, const mc_kernel *kernel, const problem_case *c, mc_device *device,
                     mc_diag *diag) {
    problem_kind kind;
    problem p;
    mc_packed packed = {0}, anew = {0};
    mc_status status = problem_kind_of(kernel, &kind, diag);
    if (status == MC_OK) status = problem_make(c, &kind, &p, diag);
    CHECK(status == MC_OK, "%s: %s", what, mc_diag_text(diag));
    if (status != MC_OK) return;
    status = replace(kernel, &p, &packed, &anew, diag);
    CHECK(status == MC_OK, "%s: %s", what, mc_diag_text(diag));
    if (status == MC_OK) {
        check_same(what, &packed, &anew);
        check_refused(what, kernel, &p.a, &packed, &anew, diag);
        check_beyond(what, kernel, &p.a, &packed, &anew, diag);
        status = run_packed(device, kernel, &packed, &p, diag);
        CHECK(status == MC_OK, "%s: %s", what, mc_diag_text(diag));
    }
    mc_packed_free(&packed);
    mc_packed_free(&anew);
    problem_free(&p);
}

static bool meets(const mc_kernel *kernel, demand wanted, mc_diag *diag) {
    mc_type lhs = MC_S8, rhs = MC_S8;
    mc_status status = mc_type_of(kernel, "lhs", &lhs, diag);
    if (status == MC_OK) status = mc_type_of(kernel, "rhs", &rhs, diag);
    CHECK(status == MC_OK, "%s", mc_diag_text(diag));
    const char *staging = mc_kernel_field_text(kernel, "staging");
    bool ring = strcmp(staging, "tma") == 0 || strcmp(staging, "async") == 0;
    bool wide = mc_type_min(lhs) < 0 && mc_type_bits(lhs) > 8;
    bool narrow = mc_type_bits(rhs) == 4 && !ring; /* a 4-bit mma can take it */
    if (has_tiles(kernel) || wanted == TILES) return has_tiles(kernel) && wanted == TILES;
    const bool fours = mc_kernel_field(kernel, "sparse_mma") != 0;
    if (fours || wanted == FOURS) return fours && wanted == FOURS;
    if (has_bricks(kernel) || wanted == BRICKS) return has_bricks(kernel) && wanted == BRICKS;
    const bool has_items = strcmp(mc_kernel_contract(kernel)->format, "csr-stream") == 0;
    if (has_items || wanted == ITEMS) return has_items && wanted == ITEMS;
    if (has_rows(kernel) || wanted == ROWS) return has_rows(kernel) && wanted == ROWS;
    if (has_panels(kernel) || wanted == PANELS) return has_panels(kernel) && wanted == PANELS;
    return wanted == ANY_TYPES || (wanted == WIDE_SIGNED ? wide : narrow);
}

static mc_kernel *make_kernel(const char *path, const struct choice *choice, mc_diag *diag) {
    mc_spec *spec = NULL;
    mc_kernel *kernel = NULL;
    mc_status status =
        mc_spec_read(path, choice ? choice->settings : NULL, choice ? choice->count : 0, &spec, diag);
    if (status == MC_OK) status = mc_kernel_generate(spec, mc_spec_default(spec), &kernel, diag);
    CHECK(status == MC_OK, "%s: %s", path, mc_diag_text(diag));
    mc_spec_destroy(spec);
    mc_diag_clear(diag);
    return kernel;
}

static void run_choice(const char *path, const struct choice *choice, mc_device *device, mc_diag *diag) {
    char what[256];
    int used = snprintf(what, sizeof what, "%s", path);
    for (size_t i = 0; i < choice->count; i++)
        used += snprintf(what + used, sizeof what - (size_t)used, " %s=%s", choice->settings[i].field,
                         choice->settings[i].value);
    mc_kernel *kernel = make_kernel(path, choice, diag);
    for (size_t i = 0; kernel && i < sizeof cases / sizeof cases[0]; i++)
        run_case(what, kernel, &cases[i], device, diag);
    mc_kernel_destroy(kernel);
}

static void run_spec(const char *path, mc_device *device, mc_diag *diag) {
    mc_kernel *kernel = make_kernel(path, NULL, diag);
    for (size_t i = 0; kernel && i < sizeof choices / sizeof choices[0]; i++)
        if (meets(kernel, choices[i].demand, diag)) run_choice(path, &choices[i], device, diag);
    mc_kernel_destroy(kernel);
}

int main(int argc, char **argv) {
    mc_diag *diag = mc_diag_create();
    mc_device *device = NULL;
    CHECK(argc > 1, "no specs");
    CHECK(mc_device_open("sim", &device, diag) == MC_OK, "%s", mc_diag_text(diag));
    for (int i = 1; i < argc && device; i++) run_spec(argv[i], device, diag);
    mc_device_close(device);
    mc_diag_destroy(diag);
    return check_end();
}
