/* SDDMM: what all solvers have of the problem, from a point; its checks, and its part of a contract. */
#include "ops/sddmm/problem.h"
#include "ops/sddmm/fields.h"
#include "parts/fragment.h"
#include <stdarg.h>
#include <stdio.h>

const char *const sddmm_out_names[] = {"s32", "f16", "bf16", "f32", "s8", "u8", "e4m3", "e5m2", NULL};
static const out_element out_elements[] = {OUT_S32, OUT_F16, OUT_BF16, OUT_F32,
                                           OUT_S8,  OUT_U8,  OUT_E4M3, OUT_E5M2};
const char *const sddmm_order_names[] = {"bcrs", "srbcrs16", "srbcrs32", NULL};

/* -- Checks ------------------------------------------------------------------------------------------- */

static void check_ld(int field, int64_t ld, sddmm_values values, int64_t least, mc_complaints *complaints) {
    if (ld == MC_OPEN) return;
    if (least != MC_OPEN && ld < least)
        complain(complaints, field, "%lld is less than a row, %lld", (long long)ld, (long long)least);
    if (values_in_pairs(values) && ld % 2)
        complain(complaints, field, "\"%s\" wants an even number, not %lld", values.name, (long long)ld);
    if (ld > INT32_MAX / element_bytes(values))
        complain(complaints, field, "%lld: a row has 2^31 bytes or more", (long long)ld);
}

static void check_shapes(const sddmm_problem *p, mc_complaints *complaints) {
    const sddmm_arithmetic *a = &p->arithmetic;
    if (p->m != MC_OPEN && p->m % p->vec)
        complain(complaints, F_M, "%lld is not a multiple of vec = %d", (long long)p->m, p->vec);
    check_ld(F_LDA, p->lda, a->lhs, p->k, complaints);
    check_ld(F_LDB, p->ldb, a->rhs, p->layout == SDDMM_ROWS ? p->n : p->k, complaints);
}

static void check_output(const sddmm_problem *p, const mc_arch *arch, mc_complaints *complaints) {
    const out_kind *output = &p->output;
    static const out_fields fields = {.out = F_OUT, .scale = F_SCALE};
    out_check(output, &fields, arch, complaints);
    if (p->mask == SDDMM_VALUES && !out_is_scaled(output->element))
        complain(complaints, F_MASK, "out = \"%s\" is the sums as they are: mask values go with all others",
                 out_element_name(output->element));
}

/* -- Problem ------------------------------------------------------------------------------------------ */

static void list_batch(sddmm_problem *p) {
    const sddmm_arithmetic *a = &p->arithmetic;
    p->batch_arrays[0] =
        (mc_batch_array){"a", "a_stride", "elements from one product's A to the next's", a->lhs.bits};
    p->batch_arrays[1] =
        (mc_batch_array){"b", "b_stride", "elements from one product's B to the next's", a->rhs.bits};
    p->batch_arrays[2] = (mc_batch_array){"c", "c_stride", "elements from one product's C to the next's",
                                          8 * out_element_bytes(p->output.element)};
}

/* What C is, in the mask's order. */
static void write_c_doc(sddmm_problem *p) {
    static const char *const shapes[] = {[SDDMM_BCRS] = "[vectors][vec]",
                                         [SDDMM_SRBCRS16] = "[strides][vec][16]",
                                         [SDDMM_SRBCRS32] = "[strides][vec][32]"};
    const out_kind *output = &p->output;
    const char *type = out_element_name(output->element), *sum = output->real ? "sum" : "f32(sum)";
    bool scale = !output->real || output->scale != OUT_PER_NONE, values = p->mask == SDDMM_VALUES;
    int used = snprintf(p->c_doc, SDDMM_TEXT, "C: %s%s; ", type, shapes[p->order]);
    char *end = p->c_doc + used;
    size_t left = SDDMM_TEXT - (size_t)used;
    if (!out_is_scaled(output->element)) snprintf(end, left, "the sums");
    else if (values && scale) snprintf(end, left, "C = %s((%s * scale) * mask value)", type, sum);
    else snprintf(end, left, "C = %s(%s%s)", type, sum, values ? " * mask value" : scale ? " * scale" : "");
}

sddmm_problem sddmm_problem_of(const int64_t *point, mc_complaints *complaints) {
    sddmm_problem p = {
        .output = {.element = out_elements[point[F_OUT]], .scale = (out_per)point[F_SCALE]},
        .mask = (sddmm_mask)point[F_MASK],
        .order = (sddmm_order)point[F_ORDER],
        .layout = (sddmm_layout)point[F_LAYOUT],
        .vec = (int)point[F_VEC],
        .warps = (int)point[F_WARPS],
        .align = (int)point[F_ALIGN],
        .overlap = (family_overlap)point[F_OVERLAP],
        .batch = point[F_BATCH] != 0,
        .m = point[F_M],
        .n = point[F_N],
        .k = point[F_K],
        .lda = point[F_LDA],
        .ldb = point[F_LDB],
    };
    p.arithmetic = sddmm_arithmetic_of(point, p.layout == SDDMM_ROWS, complaints);
    bool pairs = p.align % (2 * out_element_bytes(p.output.element)) == 0;
    p.store = pairs && p.order == SDDMM_BCRS && p.vec > 1 ? 2 : 1;
    p.output.real = p.arithmetic.kind->real;
    list_batch(&p);
    write_c_doc(&p);
    check_shapes(&p, complaints);
    check_output(&p, &mc_archs[point[FIELD_ARCH]], complaints);
    check_overlap(point, F_OVERLAP, complaints);
    return p;
}

/* -- Name --------------------------------------------------------------------------------------------- */

size_t sddmm_name_add(char name[MC_MAX_ENTRY], size_t length, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int more = vsnprintf(name + length, MC_MAX_ENTRY - length, format, args);
    va_end(args);
    return length + (size_t)more;
}

size_t sddmm_entry_name(const sddmm_problem *p, char name[MC_MAX_ENTRY]) {
    return sddmm_name_add(name, 0, "sddmm_%s%s%s%s_v%d_%s", p->arithmetic.lhs.name, p->arithmetic.rhs.name,
                          out_element_name(p->output.element), p->mask == SDDMM_VALUES ? "_values" : "",
                          p->vec, sddmm_order_names[p->order]);
}

const char *sddmm_computes(const void *plan) {
    const sddmm_problem *p = plan;
    static const char *const texts[][2] = {
        [SDDMM_COLUMNS] = {SDDMM_COMPUTES("by columns", "integers, sums in s32."),
                           SDDMM_COMPUTES("by columns", "floats, sums in f32.")},
        [SDDMM_ROWS] = {SDDMM_COMPUTES("row-major, too", "integers, sums in s32."),
                        SDDMM_COMPUTES("row-major, too", "floats, sums in f32.")}};
    return texts[p->layout][p->output.real];
}

/* -- Contract ----------------------------------------------------------------------------------------- */

static void add_ld(const sddmm_problem *p, bool is_b, unsigned multiple, mc_contract *c) {
    sddmm_values values = is_b ? p->arithmetic.rhs : p->arithmetic.lhs;
    int bytes = element_bytes(values);
    if (!multiple && values_in_pairs(values)) multiple = 2;
    int64_t limit = bytes > 1 ? INT32_MAX / bytes : 0;
    add_constraint(c, (mc_constraint){is_b ? "ldb" : "lda", multiple, limit, ROWS_FIT});
}

static void add_side(const sddmm_problem *p, bool is_b, unsigned multiple, mc_contract *c) {
    const sddmm_arithmetic *a = &p->arithmetic;
    sddmm_values values = is_b ? a->rhs : a->lhs;
    int bytes = element_bytes(values), align = p->align > bytes ? p->align : bytes;
    sddmm_matrix which = p->layout == SDDMM_ROWS ? SDDMM_MATRIX_ROWS : SDDMM_MATRIX_COLUMNS;
    if (!is_b) which = SDDMM_MATRIX_A;
    const char *doc = sddmm_matrix_doc(a, which);
    add_param(c, (mc_param){is_b ? "b" : "a", "u64", MC_PARAM_ARRAY, (unsigned)align, doc});
    add_ld(p, is_b, multiple, c);
}

static void add_c(const sddmm_problem *p, mc_contract *c) {
    out_element element = p->output.element;
    add_param(c, (mc_param){"c", "u64", MC_PARAM_ARRAY, out_align(element, (unsigned)p->align), p->c_doc});
    out_add_factors(&p->output, c);
}

void sddmm_add_matrices(const sddmm_problem *p, unsigned a_multiple, unsigned b_multiple, mc_contract *c) {
    add_side(p, false, a_multiple, c);
    add_side(p, true, b_multiple, c);
    add_c(p, c);
}

void sddmm_add_matrices_but_b(const sddmm_problem *p, unsigned a_multiple, unsigned b_multiple,
                              mc_contract *c) {
    add_side(p, false, a_multiple, c);
    add_ld(p, true, b_multiple, c);
    add_c(p, c);
}

void sddmm_add_map(const sddmm_problem *p, const mc_map_param *map, mc_contract *c) {
    add_map(c, *map, sddmm_matrix_doc(&p->arithmetic, SDDMM_MATRIX_COLUMNS));
}

void sddmm_add_shapes(const sddmm_problem *p, mc_contract *c) {
    add_shape(c, "k", p->k, "columns of A, rows of B");
    add_shape(c, "lda", p->lda, "elements from one row of A to the next");
    add_shape(c, "ldb", p->ldb,
              p->layout == SDDMM_ROWS ? "elements from one row of B to the next"
                                      : "elements from one column of B to the next");
}

void sddmm_end_contract(const sddmm_problem *p, mc_contract *c) {
    if (p->k == MC_OPEN) add_constraint(c, (mc_constraint){"k", 0, p->arithmetic.most_k, SUMS_ARE_EXACT});
    c->sums = sddmm_sums(&p->arithmetic, p->k);
    c->overlap = p->overlap;
    if (p->batch) batch_contract(c, p->batch_arrays, SDDMM_BATCH_ARRAYS);
    c->block[0] = (unsigned)(MC_WARP * p->warps);
    c->block[1] = c->block[2] = 1;
}

void sddmm_begin(const sddmm_problem *p, mc_builder *b) {
    if (p->batch) batch_begin(b, p->batch_arrays, SDDMM_BATCH_ARRAYS);
}
