/* SpMM by matrices without vectors where offsets leave 32 bits: columns near 2^26, rows of B, C and the residual that lie 4 GB and
 * more from the first one or from each other, and packed arrays of which the kernel reads the last elements that 32 bits count.
 * Results are those of the same kernel where nothing is far, which other tests compare with references.
 * far_test SPEC [NAME=VALUE ...] */
#include "far.h"

enum { GROUP = 32 /* slots of a stride */ };

/* -- Packed arrays far from their beginning ------------------------------------------------------------ */

/* An array's elements that are read begin so many bytes behind its address; what they hold is put right by ADD. */
typedef void add_shift(int32_t *words, int64_t count, int32_t shift);

static void add_to_all(int32_t *words, int64_t count, int32_t shift) {
    for (int64_t i = 0; i < count; i++) words[i] += shift;
}
static void add_to_numbers(int32_t *words, int64_t count, int32_t shift) {
    for (int64_t i = 1; i < count; i += 2) words[i] += shift;
}
static void add_to_items(int32_t *words, int64_t count, int32_t shift) {
    for (int64_t i = 0; i < count; i += PANEL_ITEM_WORDS) words[i + 1] += shift, words[i + 2] += shift;
}
/* Only those of parts of long rows hold nonzeros. */
static void add_to_long_items(int32_t *words, int64_t count, int32_t shift) {
    for (int64_t i = 0; i < count; i += PANEL_ITEM_WORDS)
        if (words[i + 3] < 0) words[i + 1] += shift, words[i + 2] += shift;
}

typedef enum shift_by { BY_NOTHING, BY_INDEX, BY_VALUE } shift_by;

typedef struct far_array {
    const char *format, *name;
    shift_by lies;  /* how far behind its address it is read */
    shift_by holds; /* what is added to the numbers it holds */
    add_shift *add;
} far_array;

static const far_array far_arrays[] = {
    {"csr", "items", BY_NOTHING, BY_INDEX, add_to_long_items},
    {"csr", "row_ptr", BY_NOTHING, BY_INDEX, add_to_all},
    {"csr", "col_idx", BY_INDEX, BY_NOTHING, NULL},
    {"csr", "values", BY_VALUE, BY_NOTHING, NULL},
    {"panels", "items", BY_NOTHING, BY_INDEX, add_to_items},
    {"panels", "col_idx", BY_INDEX, BY_NOTHING, NULL},
    {"panels", "masks", BY_INDEX, BY_VALUE, add_to_numbers},
    {"panels", "values", BY_VALUE, BY_NOTHING, NULL},
    {"strided-bcrs", "row_ptr", BY_NOTHING, BY_INDEX, add_to_all},
    {"strided-bcrs", "col_idx", BY_INDEX, BY_NOTHING, NULL},
    {"strided-bcrs", "values", BY_INDEX, BY_NOTHING, NULL},
    {"hrpb", "items", BY_NOTHING, BY_INDEX, add_to_items},
    {"hrpb", "size_ptr", BY_INDEX, BY_VALUE, add_to_all},
    {"hrpb", "active_cols", BY_INDEX, BY_NOTHING, NULL},
    {"hrpb", "packed_blocks", BY_VALUE, BY_NOTHING, NULL},
};

/* As many indices (nonzeros, strides, blocks) and values as 32 bits leave room for. */
typedef struct far_shift {
    int64_t index, indices; /* of the shift; those that the matrix has */
    int64_t heads;          /* of the latter so many stay where they are */
    int64_t value;          /* what numbers of values are shifted by */
    int64_t value_bytes;    /* where that is */
} far_shift;

static int64_t count_of(const mc_packed *packed, const char *name) {
    const mc_packed_array *array = mc_packed_find(packed, name);
    return array != NULL ? array->count : 0;
}

static far_shift shift_of(const session *s, const mc_packed *packed, const mc_vsparse *a) {
    const char *format = mc_kernel_contract(s->kernel)->format;
    far_shift shift = {.indices = a->vectors};
    if (strcmp(format, "csr") == 0) {
        shift.index = INT32_MAX - a->vectors;
        shift.value_bytes = mc_type_size(a->type, shift.index);
    } else if (strcmp(format, "hrpb") == 0) {
        shift.indices = count_of(packed, "size_ptr") - 1;
        shift.index = INT32_MAX / (count_of(packed, "active_cols") / shift.indices) - shift.indices;
        shift.value = shift.value_bytes = (INT32_MAX - count_of(packed, "packed_blocks")) / 16 * 16;
    } else {
        const int64_t bytes = count_of(packed, "values"), slots = (a->vectors + GROUP - 1) / GROUP * GROUP;
        shift.indices = count_of(packed, "col_idx") / GROUP;
        shift.index = INT32_MAX / GROUP - shift.indices;
        shift.heads = strcmp(format, "strided-bcrs") == 0 ? a->rows : 0;
        shift.value = (INT32_MAX - slots) / GROUP * GROUP;
        shift.value_bytes =
            count_of(packed, "masks") > 0 ? bytes / slots * shift.value : bytes / shift.indices * shift.index;
    }
    return shift;
}

static const far_array *far_array_of(const session *s, const char *name) {
    const char *format = mc_kernel_contract(s->kernel)->format;
    for (size_t i = 0; i < sizeof far_arrays / sizeof *far_arrays; i++)
        if (strcmp(far_arrays[i].format, format) == 0 && strcmp(far_arrays[i].name, name) == 0)
            return &far_arrays[i];
    return NULL;
}

static void put_far(launcher *l, const mc_packed_array *array, const far_shift *shift) {
    const far_array *far = far_array_of(l->s, array->name);
    CHECK(far != NULL, "%s: what %s holds is not known", entry(l->s), array->name);
    if (far == NULL) return;
    const size_t bytes = (size_t)mc_type_size(array->type, array->count);
    const int64_t each = (int64_t)bytes / shift->indices;
    const size_t stays = far->lies == BY_INDEX ? (size_t)(each * shift->heads) : 0,
                 behind = (size_t)(far->lies == BY_INDEX   ? each * shift->index
                                   : far->lies == BY_VALUE ? shift->value_bytes
                                                           : 0);
    if (far->add != NULL)
        far->add(array->data, array->count, (int32_t)(far->holds == BY_VALUE ? shift->value : shift->index));
    const uint64_t address = room(l, array->name, behind + bytes);
    if (stays > 0) put(l, address, array->data, stays);
    put(l, address + behind + stays, (const char *)array->data + stays, bytes - stays);
}

static void put_packed(launcher *l, const mc_packed *packed, const mc_vsparse *a, bool shifted) {
    const far_shift shift = shifted ? shift_of(l->s, packed, a) : (far_shift){0};
    for (size_t i = 0; i < packed->array_count; i++)
        if (shifted) put_far(l, &packed->arrays[i], &shift);
        else put_near(l, &packed->arrays[i]);
}

/* -- SpMM ---------------------------------------------------------------------------------------------- */

/* Leading dimensions: as of leading(). */
typedef struct spmm_case {
    size_t matrix;
    int64_t k; /* 0: the matrix's own */
    int64_t n, ldb, ldc, ldr;
    bool shifted; /* packed arrays are read far behind their beginning */
} spmm_case;

static const spmm_case spmm_cases[] = {
    {9, FAR, 64, 64, 1 << 26, 64, false},
    {9, FAR, 33, 43, (1 << 25) + 1, (1 << 26) + 1, false},
    {8, 0, 40, -8, -8, -8, false},
    {8, 0, 29, -1, -1, -1, false},
    {9, 0, 64, 0, 0, 0, true},
    {9, FAR, 36, 41, 1 << 26, 36, true},
    {10, FAR, 8, 32, 1 << 26, 0, true},
    {6, FAR, 16, 32, 1 << 27, 1 << 26, false},
};

typedef struct spmm_operands {
    mc_vsparse a;
    mc_dense b, residual, want;
} spmm_operands;

static const float beta = -1.5F;

static bool has(const session *s, const char *field) {
    const char *text = mc_kernel_field_text(s->kernel, field);
    return text != NULL && strcmp(text, "none") != 0;
}

static mc_status make_spmm(session *s, const spmm_case *of, spmm_operands *o) {
    mc_type types[2] = {MC_F32, MC_F32}, added;
    mcrt_random random = random_start(of->matrix, 7);
    mc_status status = mc_type_of(s->kernel, "lhs", &types[0], s->diag);
    if (status == MC_OK) status = mc_type_of(s->kernel, "rhs", &types[1], s->diag);
    make_operands(s->diag, of->matrix, types, of->n, of->n, &o->a, &o->b);
    const bool adds = has(s, "residual");
    if (status == MC_OK && adds) status = mc_type_of(s->kernel, "residual", &added, s->diag);
    if (status == MC_OK && adds)
        status = mc_dense_create(added, o->a.rows, of->n, of->n, &o->residual, s->diag);
    for (int64_t i = 0; status == MC_OK && adds && i < o->a.rows * of->n; i++)
        mc_dense_set(&o->residual, i / of->n, i % of->n, number(added, &random));
    const mc_spmm near = {.a = &o->a,
                          .b = &o->b,
                          .residual = adds ? &o->residual : NULL,
                          .beta = has(s, "beta") ? &beta : NULL};
    if (status == MC_OK) status = mc_spmm_run(s->device, s->kernel, NULL, &near, NULL, &o->want, s->diag);
    return status;
}

static void run_spmm(launcher *l, const spmm_case *of, const spmm_operands *o, const mc_packed *packed) {
    const int64_t ldb = leading(of->ldb, of->n, most_leading(&o->b)),
                  ldc = leading(of->ldc, of->n, INT32_MAX), ldr = leading(of->ldr, of->n, INT32_MAX);
    put_packed(l, packed, &o->a, of->shifted);
    put_rows(l, "b", &o->b, o->a.cols, ldb);
    const uint64_t c = room(l, "c", bytes_of(&o->want, o->a.rows * ldc));
    if (o->residual.data != NULL) put_rows(l, "residual", &o->residual, o->a.rows, ldr);
    room(l, MC_WORKSPACE, mc_workspace_bytes(l->s->kernel, packed, of->n, 0) + 1);
    bind_to(l, "m", o->a.rows), bind_to(l, "n", of->n), bind_to(l, "k", o->a.cols);
    bind_to(l, "ldb", ldb), bind_to(l, "ldc", ldc), bind_to(l, "ldr", ldr);
    bind_to(l, "item_count", mc_sampled_items(packed));
    l->bindings[l->count++] = mc_bind_f32("beta", beta);
    run(l);
    check_rows(l, c, &o->want, ldc);
}

static void check_spmm(session *s, const spmm_case *of) {
    spmm_operands o = {0};
    mc_packed packed = {0};
    launcher l = {.s = s, .status = make_spmm(s, of, &o)};
    spread_columns(&o.a, of->k);
    if (l.status == MC_OK) l.status = mc_pack(s->kernel, &o.a, &packed, s->diag);
    if (l.status == MC_OK) run_spmm(&l, of, &o, &packed);
    finish(&l);
    mc_packed_free(&packed);
    mc_vsparse_free(&o.a);
    mc_dense_free(&o.b), mc_dense_free(&o.residual), mc_dense_free(&o.want);
}

static void spmm(session *s) {
    for (size_t i = 0; i < sizeof spmm_cases / sizeof *spmm_cases; i++) check_spmm(s, &spmm_cases[i]);
}

int main(int argc, char **argv) { return far_main(argc - 1, argv + 1, spmm); }
