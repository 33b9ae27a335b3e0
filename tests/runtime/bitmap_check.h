/* What the tests of bitmap-bcrs and bitmap-tiles have in common: matrices, kernels, round trips, damage, and
   allocations that fail. */
#ifndef TESTS_BITMAP_CHECK_H
#define TESTS_BITMAP_CHECK_H

#include "failing_memory.h"
#include "formats/slots.h"
#include "scratch.h"

static mc_diag *diag;

static const mc_type types[] = {MC_S8, MC_U8, MC_E4M3, MC_E5M2};
enum { TYPES = sizeof types / sizeof *types };

/* -- Matrices */

typedef struct shape {
    int64_t row_blocks, cols;
    double sparsity;
} shape;

static const shape shapes[] = {{0, 0, 0},     {0, 200, 0},   {3, 0, 0},    {1, 1, 0},     {1, 5, .5},
                               {4, 31, .7},   {4, 32, .3},   {3, 33, .5},  {5, 127, .6},  {5, 128, 0},
                               {1, 128, .95}, {4, 129, .97}, {9, 300, .9}, {2, 1024, .3}, {6, 160, 1},
                               {5, 64, .4},   {5, 65, .4},   {40, 130, .8}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static mc_vsparse make_matrix(const shape *s, mc_type type, int vec) {
    const mc_pattern pattern = {s->row_blocks, s->cols, s->sparsity, MC_PATTERN_UNIFORM, 0, 3};
    mc_csr csr;
    mc_vsparse a;
    expect_ok("generate", mc_csr_generate(&pattern, &csr, diag), diag);
    expect_ok("dilate", mc_vsparse_dilate(&csr, vec, type, &a, diag), diag);
    for (int64_t i = 0; i < a.vectors * vec; i++) /* all 256 bytes, so that floats are NaNs, too */
        mc_vsparse_set_value(&a, i / vec, (int)(i % vec), i * 7 + 1);
    mc_csr_free(&csr);
    return a;
}

/* Row block 0: columns 0, 31, 32 and 129; row block 1: none; row block 2: column 5. */
static mc_vsparse small_matrix(mc_type type) {
    int64_t row_ptr[] = {0, 4, 4, 5};
    int32_t col_idx[] = {0, 31, 32, 129, 5};
    const mc_csr csr = {.rows = 3, .cols = 130, .nnz = 5, .row_ptr = row_ptr, .col_idx = col_idx};
    mc_vsparse a;
    expect_ok("dilate", mc_vsparse_dilate(&csr, 8, type, &a, diag), diag);
    for (int i = 0; i < 40; i++) mc_vsparse_set_value(&a, i / 8, i % 8, i + 1);
    return a;
}

/* -- Through a kernel */

/* Its contract is changed to name FORMAT. */
static mc_kernel *outline_kernel(const char *fields, const char *format) {
    mc_kernel *kernel = NULL;
    expect_ok(fields, mc_kernel_outline_fields(fields, &kernel, diag), diag);
    if (kernel == NULL) exit(check_end());
    ((mc_contract *)mc_kernel_contract(kernel))->format = format;
    return kernel;
}

static bool same_packed(const mc_packed *a, const mc_packed *b) {
    bool same = a->array_count == b->array_count;
    for (size_t i = 0; same && i < a->array_count; i++) {
        const mc_packed_array *x = &a->arrays[i], *y = &b->arrays[i];
        same = x->type == y->type && x->count == y->count &&
               memcmp(x->data, y->data, (size_t)mc_type_size(x->type, x->count)) == 0;
    }
    return same;
}

/* Each vector has a slot, and from there it is read back. */
static void check_slots(const mc_kernel *kernel, const mc_vsparse *a, const mc_packed *packed,
                        const char *what) {
    packed_slots slots;
    expect_ok(what, mc_pack_slots(kernel, a, &slots, diag), diag);
    CHECK(slots.vec == a->vec && slots.period == a->vec * slots.group &&
              slots.groups * slots.period <= mc_packed_find(packed, "values")->count,
          "%s: slots reach beyond the values", what);
    mc_vsparse back = *a;
    back.values = calloc((size_t)(a->vectors * a->vec) + 1, 1);
    packed_slots_take(&slots, mc_packed_find(packed, slots.array)->data, &back);
    CHECK(same_vsparse(a, &back), "%s: slots", what);
    free(back.values);
    packed_slots_free(&slots);
}

/* Packs A, reads it back, and gives it new values. FORM is what mc_pack_form says. */
static void check_through(const mc_kernel *kernel, mc_vsparse *a, const char *want_form, const char *what) {
    char form[MC_PACK_FORM];
    mc_packed packed, anew;
    mc_vsparse back;
    expect_ok(what, mc_pack(kernel, a, &packed, diag), diag);
    check_slots(kernel, a, &packed, what);
    expect_ok(what, mc_unpack(kernel, &packed, a->rows, a->cols, &back, diag), diag);
    CHECK(back.row_ptr && same_vsparse(a, &back), "%s: unpacked", what);
    mc_vsparse_free(&back);
    mc_vsparse_fill(a, MC_VALUES_EXTREME, 5, NULL);
    expect_ok(what, mc_pack_values(kernel, a, &packed, diag), diag);
    expect_ok(what, mc_pack(kernel, a, &anew, diag), diag);
    CHECK(same_packed(&packed, &anew), "%s: new values", what);
    mc_pack_form(kernel, form);
    CHECK(strcmp(form, want_form) == 0, "%s", form);
    mc_packed_free(&anew);
    mc_packed_free(&packed);
}

/* -- What no matrix gives */

typedef struct damage {
    const char *array;
    int index;
    uint32_t value;
    const char *message;
} damage;

static void do_damage(const damage *d, const mc_packed *packed) {
    const mc_packed_array *array = mc_packed_find(packed, d->array);
    if (array->type == MC_S32) ((uint32_t *)array->data)[d->index] = d->value;
    else ((uint8_t *)array->data)[d->index] = (uint8_t)d->value;
}

/* -- No memory: each allocation fails once, in turn. */

static mc_packed kept; /* of small_matrix */

static mc_status make_packed(const mc_kernel *kernel, const mc_vsparse *a) {
    mc_packed out;
    const mc_status status = mc_pack(kernel, a, &out, NULL);
    CHECK(status == MC_OK || out.array_count == 0, "packed arrays are left");
    mc_packed_free(&out);
    return status;
}

static mc_status make_values(const mc_kernel *kernel, const mc_vsparse *a) {
    return mc_pack_values(kernel, a, &kept, NULL);
}

static mc_status make_unpacked(const mc_kernel *kernel, const mc_vsparse *a) {
    mc_vsparse out;
    const mc_status status = mc_unpack(kernel, &kept, a->rows, a->cols, &out, NULL);
    CHECK(status == MC_OK || out.values == NULL, "a matrix is left");
    mc_vsparse_free(&out);
    return status;
}

static mc_status make_slots(const mc_kernel *kernel, const mc_vsparse *a) {
    packed_slots out;
    const mc_status status = mc_pack_slots(kernel, a, &out, NULL);
    packed_slots_free(&out);
    return status;
}

/* How many each operation makes, at least. */
typedef struct allocations {
    long pack, values, unpack, slots;
} allocations;

static void check_memory(const mc_kernel *kernel, const allocations *least) {
    const struct {
        const char *name;
        mc_status (*run)(const mc_kernel *kernel, const mc_vsparse *a);
        long least;
    } operations[] = {{"pack", make_packed, least->pack},
                      {"values", make_values, least->values},
                      {"unpack", make_unpacked, least->unpack},
                      {"slots", make_slots, least->slots}};
    mc_vsparse a = small_matrix(MC_S8);
    expect_ok("pack", mc_pack(kernel, &a, &kept, diag), diag);
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        mc_status status = MC_NOMEM;
        long count = 0;
        for (; status != MC_OK && count < 10; count++) {
            failing_after = count;
            status = operations[i].run(kernel, &a);
            CHECK(status == MC_OK || status == MC_NOMEM, "%s: status %d", operations[i].name, (int)status);
        }
        failing_after = -1;
        CHECK(status == MC_OK && count > operations[i].least, "%s: %ld runs", operations[i].name, count);
    }
    mc_packed_free(&kept);
    mc_vsparse_free(&a);
}

#endif
