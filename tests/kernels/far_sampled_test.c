/* SDDMM, softmax and its gradient by matrices without vectors where offsets leave 32 bits: rows of A and B that lie 4 GB and more
 * from the first one or from each other, and nonzeros of which the last is the last that 32 bits count. Results are those of the
 * same kernel where nothing is far, which other tests compare with references.
 * far_sampled_test SPEC [NAME=VALUE ...] */
#include "far.h"

static void make_mask(session *s, size_t matrix, mc_vsparse *mask) {
    mcrt_random random = random_start(matrix, 1);
    mc_csr csr;
    make_pattern(matrix, &csr);
    CHECK(mc_vsparse_dilate(&csr, 1, MC_F32, mask, s->diag) == MC_OK, "%s", mc_diag_text(s->diag));
    for (int64_t i = 0; i < csr.nnz; i++) mc_vsparse_set_value(mask, i, 0, number(MC_F32, &random));
    mc_csr_free(&csr);
}

static void make_dense(session *s, mc_type type, int64_t rows, int64_t cols, mc_dense *dense) {
    mcrt_random random = random_start((uint64_t)rows, (uint64_t)cols);
    CHECK(mc_dense_create(type, rows, cols, cols, dense, s->diag) == MC_OK, "%s", mc_diag_text(s->diag));
    for (int64_t i = 0; i < rows * cols; i++) mc_dense_set(dense, i / cols, i % cols, number(type, &random));
}

/* -- SDDMM --------------------------------------------------------------------------------------------- */

/* Leading dimensions: as of leading(). */
typedef struct sddmm_case {
    size_t matrix;
    int64_t n; /* 0: the mask's own */
    int64_t k, lda, ldb;
} sddmm_case;

static const sddmm_case sddmm_cases[] = {{8, 0, 64, -8, -8},
                                         {8, 0, 33, -1, -1},
                                         {9, FAR, 72, 1 << 25, 72},
                                         {10, FAR, 7, 9, 43},
                                         {2, FAR, 128, -7, 128}};

typedef struct sddmm_operands {
    mc_vsparse mask;
    mc_dense a, b, want;
} sddmm_operands;

/* C lies close together: it is as long as the mask has nonzeros. */
static void run_sddmm(launcher *l, const sddmm_case *of, const sddmm_operands *o, const mc_packed *packed) {
    const int64_t lda = leading(of->lda, of->k, most_leading(&o->a)),
                  ldb = leading(of->ldb, of->k, most_leading(&o->b));
    for (size_t i = 0; i < packed->array_count; i++) put_near(l, &packed->arrays[i]);
    put_rows(l, "a", &o->a, o->a.rows, lda);
    put_rows(l, "b", &o->b, o->mask.cols, ldb);
    const uint64_t c = room(l, "c", bytes_of(&o->want, o->want.rows * o->want.ld));
    bind_to(l, "m", o->mask.rows), bind_to(l, "n", o->mask.cols), bind_to(l, "k", of->k);
    bind_to(l, "lda", lda), bind_to(l, "ldb", ldb), bind_to(l, "item_count", mc_sampled_items(packed));
    run(l);
    check_rows(l, c, &o->want, o->want.ld);
    if (bytes_of(&o->b, (o->mask.cols - 1) * ldb) > INT32_MAX) l->s->far += o->mask.vectors;
}

static void check_sddmm(session *s, const sddmm_case *of) {
    mc_type type = MC_F32;
    sddmm_operands o = {0};
    mc_packed packed = {0};
    launcher l = {.s = s, .status = mc_type_of(s->kernel, "lhs", &type, s->diag)};
    make_mask(s, of->matrix, &o.mask);
    make_dense(s, type, o.mask.rows, of->k, &o.a);
    make_dense(s, type, o.mask.cols, of->k, &o.b);
    const mc_sddmm near = {.mask = &o.mask, .a = &o.a, .b = &o.b};
    if (l.status == MC_OK) l.status = mc_sddmm_run(s->device, s->kernel, NULL, &near, NULL, &o.want, s->diag);
    spread_columns(&o.mask, of->n);
    if (l.status == MC_OK) l.status = mc_pack(s->kernel, &o.mask, &packed, s->diag);
    if (l.status == MC_OK) run_sddmm(&l, of, &o, &packed);
    finish(&l);
    mc_packed_free(&packed);
    mc_vsparse_free(&o.mask);
    mc_dense_free(&o.a), mc_dense_free(&o.b), mc_dense_free(&o.want);
}

static void sddmm(session *s) {
    for (size_t i = 0; i < sizeof sddmm_cases / sizeof *sddmm_cases; i++) check_sddmm(s, &sddmm_cases[i]);
}

/* -- Softmax and its gradient -------------------------------------------------------------------------- */

/* Slots of all rows in the kernel's order. */
static int64_t slots_of(const session *s, const mc_vsparse *mask) {
    mc_order order = MC_ORDER_BCRS;
    int64_t slots = 0;
    CHECK(mc_order_of(s->kernel, &order, s->diag) == MC_OK, "%s", mc_diag_text(s->diag));
    if (order == MC_ORDER_BCRS) return mask->vectors;
    const int64_t stride = (int64_t)order;
    for (int64_t row = 0; row < mask->rows; row++)
        slots += (mask->row_ptr[row + 1] - mask->row_ptr[row] + stride - 1) / stride * stride;
    return slots;
}

/* COUNT elements of TYPE that lie SHIFT elements behind the operand's address. */
static void put_behind(launcher *l, const char *name, mc_type type, const void *data, int64_t count,
                       int64_t shift) {
    const uint64_t address = room(l, name, (size_t)mc_type_size(type, shift + count));
    put(l, address + (size_t)mc_type_size(type, shift), data, (size_t)mc_type_size(type, count));
}

/* The rows' first slots are SHIFT further behind, and so are the mask's values. */
static void put_mask(launcher *l, mc_packed *packed, int64_t shift) {
    enum { ROW_WORDS = 4 };
    mc_packed_array *rows = &packed->arrays[0];
    for (int64_t i = 0; i < rows->count; i += ROW_WORDS) ((int32_t *)rows->data)[i] += (int32_t)shift;
    put_near(l, rows);
    for (size_t i = 1; i < packed->array_count; i++)
        put_behind(l, packed->arrays[i].name, MC_F32, packed->arrays[i].data, packed->arrays[i].count, shift);
}

/* All of C, which the call allocates, and further outputs; BYTES: how many that are. */
static char *run_softmax(launcher *l, const mc_vsparse *mask, int64_t shift, size_t *bytes) {
    static const char *const inputs[] = {"x", "p", "dp"};
    session *s = l->s;
    const int64_t slots = slots_of(s, mask);
    mc_packed packed = {0};
    mc_type in = MC_F32;
    mc_dense x, out = {0};
    l->status = mc_type_of(s->kernel, "lhs", &in, s->diag);
    if (l->status == MC_OK) l->status = mc_type_of(s->kernel, "out", &out.type, s->diag);
    if (l->status == MC_OK) l->status = mc_pack(s->kernel, mask, &packed, s->diag);
    if (l->status == MC_OK) put_mask(l, &packed, shift);
    mc_packed_free(&packed);
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        make_dense(s, in, (int64_t)i + 1, slots, &x);
        put_behind(l, inputs[i], in, (const char *)x.data + bytes_of(&x, (int64_t)i * slots), slots, shift);
        mc_dense_free(&x);
    }
    const size_t of_c = bytes_of(&out, slots), of_lse = (size_t)mask->rows * sizeof(float);
    const uint64_t c = room(l, "c", bytes_of(&out, shift + slots)) + bytes_of(&out, shift),
                   lse = room(l, "lse", of_lse);
    const char *with_lse = mc_kernel_field_text(s->kernel, "lse");
    bind_to(l, "m", mask->rows), bind_to(l, "n", mask->cols);
    l->bindings[l->count++] = mc_bind_f32("scale", .75F);
    run(l);
    char *got = calloc(of_c + of_lse, 1);
    if (l->status == MC_OK) l->status = mc_device_read(s->device, c, got, of_c, s->diag);
    if (l->status == MC_OK && with_lse != NULL && with_lse[0] == 'r')
        l->status = mc_device_read(s->device, lse, got + of_c, of_lse, s->diag);
    count_sums(s, slots, bytes_of(&out, shift));
    *bytes = of_c + of_lse;
    return got;
}

static void check_softmax(session *s, size_t matrix) {
    launcher near = {.s = s}, far = {.s = s};
    mc_vsparse mask;
    size_t bytes = 0;
    make_mask(s, matrix, &mask);
    const int64_t slots = slots_of(s, &mask), most = INT32_MAX - slots;
    char *want = run_softmax(&near, &mask, 0, &bytes),
         *got = run_softmax(&far, &mask, slots == mask.vectors ? most : most / 32 * 32, &bytes);
    CHECK(memcmp(got, want, bytes) == 0, "%s: matrix %d: another C", entry(s), (int)matrix);
    finish(&near), finish(&far);
    free(want), free(got);
    mc_vsparse_free(&mask);
}

static void softmax(session *s) {
    static const size_t matrices[] = {9, 10, 11, 12};
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++) check_softmax(s, matrices[i]);
}

static void any(session *s) {
    if (strcmp(mc_kernel_contract(s->kernel)->family, "sddmm") == 0) sddmm(s);
    else softmax(s);
}

int main(int argc, char **argv) { return far_main(argc - 1, argv + 1, any); }
